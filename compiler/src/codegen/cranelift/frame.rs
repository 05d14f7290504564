//! The private variables' stack slot, and the addresses in it and in private memory.
//!
//! The slot's address and the scratch pointer are the only values that live through the whole
//! function. A variable's own address,
//! and one a constant further, is computed again in each block that needs it, which mostly costs
//! nothing, as it folds into the accesses. Kept in registers from the entry on, hundreds of
//! variables would be spilled and reloaded, and the register allocator takes time for each block
//! that a value lives through.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use cranelift_entity::SecondaryMap;
use cranelift_frontend::FunctionBuilder;

use super::parts::Repr;
use crate::codegen::frame::{Base, FrameLayout, PrivateMemory};
use crate::diagnostic::Diagnostic;
use crate::ir::{Function, Value};

/// A function's private variables.
pub struct Frame {
    layout: FrameLayout,
    /// The address of offset 0 on the stack, if there are variables.
    base: Option<clif::Value>,
    /// The addresses computed in the current block.
    computed: Vec<Value>,
}

impl Frame {
    pub fn new(func: &Function, private: Option<PrivateMemory>) -> Result<Frame, Diagnostic> {
        Ok(Frame {
            layout: FrameLayout::new(func, private)?,
            base: None,
            computed: Vec::new(),
        })
    }

    /// Makes room for the variables, in the entry block.
    pub fn make(&mut self, b: &mut FunctionBuilder) {
        if self.layout.size == 0 {
            return;
        }
        // Frames are aligned to 16 bytes whatever their slots ask for; more takes room to move in.
        let align = self.layout.align.max(16);
        let room = align - 16;
        let size = self.layout.size + room;
        let data = clif::StackSlotData::new(clif::StackSlotKind::ExplicitSlot, size, 4);
        let slot = b.create_sized_stack_slot(data);
        let start = b.ins().stack_addr(types::I64, slot, room as i32);
        self.base = Some(match room {
            0 => start,
            _ => b.ins().band_imm_s(start, -i64::from(align)),
        });
    }

    /// Whether `value` is an address of a variable, which is computed where it is used.
    pub fn contains(&self, value: Value) -> bool {
        self.layout.places[value].is_some()
    }

    /// Bytes of private memory, and how its end is aligned.
    pub fn private_memory(&self) -> (u32, u32) {
        (self.layout.private_size, self.layout.private_align)
    }

    /// Before a use of `value`: if it is an address of a variable, computes it unless this block
    /// has done so.
    pub fn compute(
        &mut self,
        b: &mut FunctionBuilder,
        values: &mut SecondaryMap<Value, Repr>,
        value: Value,
    ) {
        let (Some(place), Repr::None) = (self.layout.places[value], &values[value]) else {
            return;
        };
        let base = match place.base {
            Base::Stack => self.base.expect("a slot for what is on the stack"),
            Base::Scratch(scratch) => match &values[scratch] {
                Repr::Scalar(base) => *base,
                other => unreachable!("the scratch pointer is {other:?}"),
            },
        };
        let address = match place.offset {
            0 => base,
            offset => b.ins().iadd_imm_s(base, i64::from(offset)),
        };
        values[value] = Repr::Scalar(address);
        self.computed.push(value);
    }

    /// At the start of a block nothing has been computed.
    pub fn forget(&mut self, values: &mut SecondaryMap<Value, Repr>) {
        for value in std::mem::take(&mut self.computed) {
            values[value] = Repr::None;
        }
    }
}
