//! What rows are made with: an opcode's name, form and classes, then one call for each column that
//! is not as usual.

use crate::info::{
    Class, Encoding, Extension, Form, ImmKind, Info, Length, Map, Masking, MemorySize, Pp,
    Rounding, W, sizes,
};

impl Info {
    /// Registers only, no sizes, no encoding.
    pub(super) const fn new(mnemonic: &'static str, form: Form, class: Class) -> Info {
        Info {
            mnemonic,
            form,
            reg: class,
            vvvv: class,
            rm: class,
            reg_is_half: false,
            element: 0,
            memory: MemorySize::None,
            register: true,
            broadcast: false,
            imm: ImmKind::None,
            masking: Masking::None,
            rounding: Rounding::None,
            needs: None,
            commutes: false,
            sizes: 0,
            digit: 0,
            lock: false,
            length: Length::BySize,
            vex_registers_only: false,
            legacy: None,
            vex: None,
            evex: None,
        }
    }

    /// On general registers, whose sizes are given.
    pub(super) const fn general(mnemonic: &'static str, form: Form, sizes: u8) -> Info {
        let info = Info::new(mnemonic, form, Class::General).sizes(sizes);
        info.memory(MemorySize::Full)
    }

    /// On whole vectors, without a mask.
    pub(super) const fn vector(mnemonic: &'static str, form: Form) -> Info {
        let info = Info::new(mnemonic, form, Class::Vector).sizes(sizes::VECTORS);
        info.memory(MemorySize::Full)
    }

    /// On one element in a vector register, without a mask.
    pub(super) const fn scalar(mnemonic: &'static str, form: Form, element: u8) -> Info {
        let info = Info::new(mnemonic, form, Class::Vector).sizes(sizes::V128);
        info.length(Length::L0).at(element, MemorySize::Element)
    }

    pub(super) const fn classes(mut self, reg: Class, rm: Class) -> Info {
        self.reg = reg;
        self.rm = rm;
        self
    }

    pub(super) const fn sizes(mut self, sizes: u8) -> Info {
        self.sizes = sizes;
        self
    }

    pub(super) const fn memory(mut self, memory: MemorySize) -> Info {
        self.memory = memory;
        self
    }

    pub(super) const fn element(mut self, bytes: u8) -> Info {
        self.element = bytes;
        self
    }

    pub(super) const fn at(self, element: u8, memory: MemorySize) -> Info {
        self.element(element).memory(memory)
    }

    /// `rm` cannot be a register.
    pub(super) const fn memory_only(mut self) -> Info {
        self.register = false;
        self
    }

    /// One element of so many bytes can be in every lane.
    pub(super) const fn broadcast(mut self, bytes: u8) -> Info {
        self.broadcast = true;
        self.element(bytes)
    }

    pub(super) const fn no_broadcast(mut self) -> Info {
        self.broadcast = false;
        self
    }

    pub(super) const fn to_half(mut self) -> Info {
        self.reg_is_half = true;
        self
    }

    pub(super) const fn imm(mut self, imm: ImmKind) -> Info {
        self.imm = imm;
        self
    }

    pub(super) const fn masking(mut self, masking: Masking) -> Info {
        self.masking = masking;
        self
    }

    pub(super) const fn rounding(mut self, rounding: Rounding) -> Info {
        self.rounding = rounding;
        self
    }

    pub(super) const fn needs(mut self, extension: Extension) -> Info {
        self.needs = Some(extension);
        self
    }

    pub(super) const fn commutes(mut self) -> Info {
        self.commutes = true;
        self
    }

    pub(super) const fn digit(mut self, digit: u8) -> Info {
        self.digit = digit;
        self
    }

    pub(super) const fn locked(mut self) -> Info {
        self.lock = true;
        self
    }

    pub(super) const fn length(mut self, length: Length) -> Info {
        self.length = length;
        self
    }

    pub(super) const fn vex_registers_only(mut self) -> Info {
        self.vex_registers_only = true;
        self
    }

    pub(super) const fn legacy(mut self, pp: Pp, map: Map, w: W, opcode: u8) -> Info {
        self.legacy = Some(Encoding { pp, map, w, opcode });
        self
    }

    pub(super) const fn vex(mut self, pp: Pp, map: Map, w: W, opcode: u8) -> Info {
        self.vex = Some(Encoding { pp, map, w, opcode });
        self
    }

    pub(super) const fn evex(mut self, pp: Pp, map: Map, w: W, opcode: u8) -> Info {
        self.evex = Some(Encoding { pp, map, w, opcode });
        self
    }
}
