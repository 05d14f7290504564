//! Where private variables are: at offsets from one address.

use cranelift_entity::SecondaryMap;

use crate::diagnostic::Diagnostic;
use crate::ir::{Function, Op, Value};

/// The layout of a function's private variables.
#[derive(Default)]
pub struct FrameLayout {
    /// The addresses known at compile time.
    pub offsets: SecondaryMap<Value, Option<i32>>,
    /// Bytes.
    pub size: u32,
    /// Bytes, a power of two.
    pub align: u32,
}

impl FrameLayout {
    /// Lays out the variables of a function.
    pub fn new(func: &Function) -> Result<FrameLayout, Diagnostic> {
        let mut layout = FrameLayout {
            align: 1,
            ..FrameLayout::default()
        };
        // Definitions come before uses in this order.
        for block in func.reverse_post_order() {
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                match (&data.op, &data.args[..], &data.results[..]) {
                    (Op::Alloca { size, align, .. }, _, &[result]) => {
                        layout.offsets[result] = Some(layout.place(*size, *align)?);
                    }
                    (Op::PtrAdd, &[ptr, bytes], &[result]) if func.ty(result).lanes == 1 => {
                        let sum = layout.offsets[ptr].zip(func.as_const(bytes)).and_then(
                            |(offset, bytes)| i64::from(offset).checked_add(bytes as i64),
                        );
                        layout.offsets[result] = sum.and_then(|sum| i32::try_from(sum).ok());
                    }
                    _ => {}
                }
            }
        }
        Ok(layout)
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
