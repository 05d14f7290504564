//! Where private variables are: all in one stack slot, at offsets from one address.
//!
//! That address is the only value that lives through the whole function. A variable's own address,
//! and one a constant further, is computed again in each block that needs it, which mostly costs
//! nothing, as it folds into the accesses. Kept in registers from the entry on, hundreds of
//! variables would be spilled and reloaded, and the register allocator takes time for each block
//! that a value lives through.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use cranelift_entity::SecondaryMap;
use cranelift_frontend::FunctionBuilder;

use super::parts::Repr;
use crate::diagnostic::Diagnostic;
use crate::ir::{Function, Op, Value, ValueDef};

/// The layout of a function's private variables.
pub struct Frame {
    /// The addresses known at compile time, as offsets.
    offsets: SecondaryMap<Value, Option<i32>>,
    size: u32,
    align: u32,
    /// The address of offset 0, if there are variables.
    base: Option<clif::Value>,
    /// The addresses computed in the current block.
    computed: Vec<Value>,
}

impl Frame {
    /// Lays out the variables of a function.
    pub fn new(func: &Function) -> Result<Frame, Diagnostic> {
        let mut frame = Frame {
            offsets: SecondaryMap::new(),
            size: 0,
            align: 1,
            base: None,
            computed: Vec::new(),
        };
        // Definitions come before uses in this order.
        for block in func.reverse_post_order() {
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                match (&data.op, &data.args[..], &data.results[..]) {
                    (Op::Alloca { size, align }, _, &[result]) => {
                        let align = align.next_power_of_two();
                        let start = aligned(frame.size, align);
                        let end = start.and_then(|start| start.checked_add((*size).max(1)));
                        let (Some(start), Some(end)) = (start, end) else {
                            return Err(Diagnostic::new("private variables of more than 1 GiB"));
                        };
                        frame.offsets[result] = Some(start as i32);
                        (frame.size, frame.align) = (end, frame.align.max(align));
                    }
                    (Op::PtrAdd, &[ptr, bytes], &[result]) => {
                        let sum = frame.offsets[ptr]
                            .zip(constant(func, bytes))
                            .and_then(|(offset, bytes)| i64::from(offset).checked_add(bytes));
                        frame.offsets[result] = sum.and_then(|sum| i32::try_from(sum).ok());
                    }
                    _ => {}
                }
            }
        }
        Ok(frame)
    }

    /// Makes room for the variables, in the entry block.
    pub fn make(&mut self, b: &mut FunctionBuilder) {
        if self.size == 0 {
            return;
        }
        // Frames are aligned to 16 bytes whatever their slots ask for; more takes room to move in.
        let align = self.align.max(16);
        let room = align - 16;
        let size = self.size + room;
        let data = clif::StackSlotData::new(clif::StackSlotKind::ExplicitSlot, size, 4);
        let slot = b.create_sized_stack_slot(data);
        let start = b.ins().stack_addr(types::I64, slot, room as i32);
        self.base = Some(match room {
            0 => start,
            _ => b.ins().band_imm_s(start, -i64::from(align)),
        });
    }

    /// Whether `value` is an address in the frame, which is computed where it is used.
    pub fn contains(&self, value: Value) -> bool {
        self.offsets[value].is_some()
    }

    /// Before a use of `value`: if it is an address in the frame, computes it unless this block has
    /// done so.
    pub fn compute(
        &mut self,
        b: &mut FunctionBuilder,
        values: &mut SecondaryMap<Value, Repr>,
        value: Value,
    ) {
        if let (Some(offset), Some(base), Repr::None) =
            (self.offsets[value], self.base, &values[value])
        {
            let address = match offset {
                0 => base,
                _ => b.ins().iadd_imm_s(base, i64::from(offset)),
            };
            values[value] = Repr::Scalar(address);
            self.computed.push(value);
        }
    }

    /// At the start of a block nothing has been computed.
    pub fn forget(&mut self, values: &mut SecondaryMap<Value, Repr>) {
        for value in std::mem::take(&mut self.computed) {
            values[value] = Repr::None;
        }
    }
}

/// `size` rounded up, unless that is more than a frame may have.
fn aligned(size: u32, align: u32) -> Option<u32> {
    size.checked_next_multiple_of(align)
        .filter(|&start| start <= 1 << 30)
}

fn constant(func: &Function, value: Value) -> Option<i64> {
    let ValueDef::Result(inst, _) = func.values[value].def else {
        return None;
    };
    match func.insts[inst].op {
        Op::Const(bits) if func.ty(value).lanes == 1 => Some(bits as i64),
        _ => None,
    }
}
