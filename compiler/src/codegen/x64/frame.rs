//! Where private variables are: at constant offsets from the stack pointer.

use cranelift_entity::SecondaryMap;

use crate::diagnostic::Diagnostic;
use crate::ir::{Function, Op, Value};

/// The layout of a function's private variables.
#[derive(Default)]
pub struct Frame {
    /// The addresses known at compile time.
    pub offsets: SecondaryMap<Value, Option<i32>>,
    /// Bytes.
    pub size: u32,
    /// Bytes, a power of two.
    pub align: u32,
}

impl Frame {
    /// Lays out the variables of a function.
    pub fn new(func: &Function, order: &[crate::ir::Block]) -> Result<Frame, Diagnostic> {
        let mut frame = Frame {
            align: 1,
            ..Frame::default()
        };
        // Definitions come before uses in this order.
        for &block in order {
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                match (&data.op, &data.args[..], &data.results[..]) {
                    (Op::Alloca { size, align }, _, &[result]) => {
                        let start = frame.place(*size, *align)?;
                        frame.offsets[result] = Some(start);
                    }
                    (Op::PtrAdd, &[ptr, bytes], &[result]) if func.ty(result).lanes == 1 => {
                        let constant = func.as_const(bytes).map(|bits| bits as i64);
                        let sum = frame.offsets[ptr]
                            .zip(constant)
                            .and_then(|(offset, bytes)| i64::from(offset).checked_add(bytes));
                        frame.offsets[result] = sum.and_then(|sum| i32::try_from(sum).ok());
                    }
                    _ => {}
                }
            }
        }
        Ok(frame)
    }

    /// Room for `size` bytes: its offset.
    pub fn place(&mut self, size: u32, align: u32) -> Result<i32, Diagnostic> {
        let align = align.next_power_of_two();
        let start = self.size.checked_next_multiple_of(align);
        let end = start.and_then(|start| start.checked_add(size.max(1)));
        let (Some(start), Some(end)) = (start, end.filter(|&end| end <= 1 << 30)) else {
            return Err(Diagnostic::new("private variables of more than 1 GiB"));
        };
        (self.size, self.align) = (end, self.align.max(align));
        Ok(start as i32)
    }
}
