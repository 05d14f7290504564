//! Machine instructions over virtual registers.
//!
//! Nearly all are an opcode of [`super::encoding`] with its operands, one instruction of the
//! machine each; the opcode's form says which operand is encoded where, and so what the register
//! allocator is told. Control flow, calls and what works in given registers is apart.

use regalloc2::{Operand, OperandConstraint, OperandKind, OperandPos, PReg, RegClass, VReg};
use smallvec::SmallVec;

use super::encoding::{Cc, Class, Form, Info, Opcode, RoundingControl, Size};

/// General registers are of class `Int`, vector registers `Float`, mask registers `Vector`.
pub const GENERAL: RegClass = RegClass::Int;
pub const VECTOR: RegClass = RegClass::Float;
pub const MASK: RegClass = RegClass::Vector;

/// No register: the form has none there.
pub const NONE: VReg = VReg::invalid();

/// Hardware numbers of general registers.
pub const RAX: u8 = 0;
pub const RCX: u8 = 1;
pub const RDX: u8 = 2;
pub const RBX: u8 = 3;
pub const RSP: u8 = 4;
pub const RBP: u8 = 5;
pub const RSI: u8 = 6;
pub const RDI: u8 = 7;
pub const R11: u8 = 11;

/// A general register by its hardware number.
pub const fn gpr(number: u8) -> PReg {
    PReg::new(number as usize, GENERAL)
}

/// A vector register by its hardware number.
pub const fn zmm(number: u8) -> PReg {
    PReg::new(number as usize, VECTOR)
}

/// A mask register by its hardware number.
pub const fn kreg(number: u8) -> PReg {
    PReg::new(number as usize, MASK)
}

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    None,
    Reg(VReg),
    /// The function's private variables.
    Frame,
    /// The constant pool.
    Pool,
}

/// base + (index << shift) + displacement. The index of a gather or scatter is a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amode {
    pub base: Base,
    pub index: VReg,
    pub shift: u8,
    pub disp: i32,
}

impl Amode {
    pub fn base(reg: VReg) -> Amode {
        Amode {
            base: Base::Reg(reg),
            index: NONE,
            shift: 0,
            disp: 0,
        }
    }

    pub fn pool(offset: u32) -> Amode {
        Amode {
            base: Base::Pool,
            index: NONE,
            shift: 0,
            disp: offset as i32,
        }
    }

    pub fn frame(offset: i32) -> Amode {
        Amode {
            base: Base::Frame,
            index: NONE,
            shift: 0,
            disp: offset,
        }
    }

    /// The address some bytes further, if the displacement can say it.
    pub fn offset(self, bytes: i64) -> Option<Amode> {
        let disp = i64::from(self.disp).checked_add(bytes)?;
        Some(Amode {
            disp: i32::try_from(disp).ok()?,
            ..self
        })
    }
}

/// The operand that can be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    None,
    Reg(VReg),
    Mem(Amode),
    /// One element in memory, in every lane.
    Broadcast(Amode),
}

impl From<VReg> for Rm {
    fn from(reg: VReg) -> Rm {
        Rm::Reg(reg)
    }
}

impl From<Amode> for Rm {
    fn from(amode: Amode) -> Rm {
        Rm::Mem(amode)
    }
}

/// An opcode with its operands, named as in [`Form`].
#[derive(Clone, Debug)]
pub struct Plain {
    pub opcode: Opcode,
    pub size: Size,
    pub dst: VReg,
    pub a: VReg,
    pub b: Rm,
    /// What is in the destination register before: an accumulator, or what lanes keep that a mask
    /// leaves out.
    pub c: VReg,
    /// What says which lanes there are: a mask register or, where the opcode has it, a vector one.
    pub mask: VReg,
    /// What is left in the mask's register by an instruction that clears it on the way.
    pub mask_after: VReg,
    pub zeroing: bool,
    pub rounding: Option<RoundingControl>,
    pub imm: i64,
}

impl Plain {
    pub fn new(opcode: Opcode, size: Size) -> Plain {
        Plain {
            opcode,
            size,
            dst: NONE,
            a: NONE,
            b: Rm::None,
            c: NONE,
            mask: NONE,
            mask_after: NONE,
            zeroing: false,
            rounding: None,
            imm: 0,
        }
    }
}

/// An instruction whose operands are in given registers.
#[derive(Clone, Debug)]
pub struct Fixed {
    pub plain: Plain,
    pub uses: SmallVec<[(VReg, PReg); 3]>,
    pub defs: SmallVec<[(VReg, PReg); 2]>,
    pub clobbers: SmallVec<[PReg; 2]>,
}

/// A call of a function by the System V ABI.
#[derive(Clone, Debug)]
pub struct Call {
    pub target: VReg,
    /// The call is by way of [`super::preserve`], after which all registers but rax and the
    /// result's are as before. Else all that the ABI lets it change are lost.
    pub preserves: bool,
    pub uses: SmallVec<[(VReg, PReg); 6]>,
    pub result: Option<(VReg, PReg)>,
}

#[derive(Clone, Debug)]
pub enum Inst {
    Plain(Plain),
    Fixed(Box<Fixed>),
    /// The parameters of the function, as they come.
    Params(Box<[(VReg, PReg)]>),
    Call(Box<Call>),
    /// To the block's only successor.
    Jump,
    /// To the first successor if the condition holds, else to the second.
    Branch(Cc),
    Return(SmallVec<[(VReg, PReg); 1]>),
}

impl Inst {
    pub fn is_branch(&self) -> bool {
        matches!(self, Inst::Jump | Inst::Branch(_))
    }

    /// All virtual registers that are read.
    pub fn for_each_use_mut(&mut self, f: &mut impl FnMut(&mut VReg)) {
        match self {
            Inst::Plain(plain) => plain.for_each_use_mut(f),
            Inst::Fixed(fixed) => {
                fixed.plain.for_each_use_mut(f);
                fixed.uses.iter_mut().for_each(|(reg, _)| f(reg));
            }
            Inst::Call(call) => {
                f(&mut call.target);
                call.uses.iter_mut().for_each(|(reg, _)| f(reg));
            }
            Inst::Return(values) => values.iter_mut().for_each(|(reg, _)| f(reg)),
            Inst::Params(_) | Inst::Jump | Inst::Branch(_) => {}
        }
    }

    /// Tells the register allocator's operands, in the order in which [`super::emit`] gets their
    /// allocations.
    pub fn operands(&self, tell: &mut impl FnMut(Operand)) {
        match self {
            Inst::Plain(plain) => plain.operands(tell),
            Inst::Fixed(fixed) => {
                fixed.plain.operands(tell);
                for &(reg, at) in &fixed.uses {
                    tell(Operand::reg_fixed_use(reg, at));
                }
                for &(reg, at) in &fixed.defs {
                    tell(Operand::reg_fixed_def(reg, at));
                }
            }
            Inst::Params(params) => {
                for &(reg, at) in params {
                    tell(Operand::reg_fixed_def(reg, at));
                }
            }
            Inst::Call(call) => {
                tell(Operand::reg_fixed_use(call.target, gpr(RAX)));
                for &(reg, at) in &call.uses {
                    tell(Operand::reg_fixed_use(reg, at));
                }
                if let Some((reg, at)) = call.result {
                    tell(Operand::reg_fixed_def(reg, at));
                }
            }
            Inst::Return(values) => {
                for &(reg, at) in values {
                    tell(Operand::reg_fixed_use(reg, at));
                }
            }
            Inst::Jump | Inst::Branch(_) => {}
        }
    }
}

impl Plain {
    /// Sources first, then the destination. One that the instruction changes in place is tied to
    /// its source.
    fn operands(&self, tell: &mut impl FnMut(Operand)) {
        let gathers = self.opcode.info().form == Form::Gather;
        // What a gather writes must not be what it still reads.
        let position = match gathers {
            true => OperandPos::Late,
            false => OperandPos::Early,
        };
        let used = |reg, place| Operand::new(reg, place, OperandKind::Use, position);
        let used_in_register = |reg| used(reg, OperandConstraint::Reg);
        let mut count = 0;
        let mut source = |operand: Operand| {
            tell(operand);
            count += 1;
        };
        let tied = self.tied();
        if tied != NONE {
            source(Operand::reg_use(tied));
        }
        if self.a != NONE && !self.ties_a() {
            source(used_in_register(self.a));
        }
        match self.b {
            Rm::None => {}
            Rm::Reg(reg) if self.reads_spill_slots() => source(used(reg, OperandConstraint::Any)),
            Rm::Reg(reg) => source(used_in_register(reg)),
            Rm::Mem(amode) | Rm::Broadcast(amode) => {
                if let Base::Reg(base) = amode.base {
                    source(used_in_register(base));
                }
                if amode.index != NONE {
                    source(used_in_register(amode.index));
                }
            }
        }
        if self.mask != NONE {
            source(Operand::reg_use(self.mask));
        }
        if self.dst != NONE {
            tell(match tied {
                NONE => Operand::reg_def(self.dst),
                _ => Operand::reg_reuse_def(self.dst, 0),
            });
        }
        if self.mask_after != NONE {
            tell(Operand::reg_reuse_def(self.mask_after, count - 1));
        }
    }

    fn for_each_use_mut(&mut self, f: &mut impl FnMut(&mut VReg)) {
        let mut used = |reg: &mut VReg| {
            if *reg != NONE {
                f(reg);
            }
        };
        used(&mut self.a);
        used(&mut self.c);
        used(&mut self.mask);
        match &mut self.b {
            Rm::None => {}
            Rm::Reg(reg) => used(reg),
            Rm::Mem(amode) | Rm::Broadcast(amode) => {
                if let Base::Reg(base) = &mut amode.base {
                    used(base);
                }
                used(&mut amode.index);
            }
        }
    }

    /// Whether `b` may as well be in memory if there is no register for it.
    fn reads_spill_slots(&self) -> bool {
        self.rounding.is_none() && self.opcode.info().reads_memory_like_a_register()
    }

    /// Whether the instruction changes its first source in place.
    pub fn ties_a(&self) -> bool {
        let form = self.opcode.info().form;
        let in_place = matches!(form, Form::Rma | Form::Ma | Form::Mra | Form::O);
        in_place && self.dst != NONE && self.a != NONE
    }

    /// The source that the destination's register holds before.
    pub fn tied(&self) -> VReg {
        if self.ties_a() { self.a } else { self.c }
    }
}

/// The register class of what an opcode defines.
pub fn destination(info: &Info) -> RegClass {
    let class = match info.form {
        Form::Mr | Form::Ma | Form::M => info.rm,
        Form::Vm => info.vvvv,
        _ => info.reg,
    };
    match class {
        Class::General => GENERAL,
        Class::Vector => VECTOR,
        Class::Mask => MASK,
    }
}

/// How whole registers of a class are loaded, copied and stored; `vector` is how much of a vector
/// register.
pub fn move_opcodes(class: RegClass, vector: Size) -> (Opcode, Opcode, Size) {
    match class {
        GENERAL => (Opcode::Mov, Opcode::MovStore, Size::B64),
        VECTOR => (Opcode::Vmovaps, Opcode::VmovapsStore, vector),
        _ => (Opcode::Kmovq, Opcode::KmovqStore, Size::B64),
    }
}
