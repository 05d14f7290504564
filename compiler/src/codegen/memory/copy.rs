//! Copies of bytes, lane by lane.

use cranelift_codegen::ir::{self as clif, types};

use super::super::function::Gen;
use crate::ir::Value;

impl Gen<'_> {
    /// Copies `size` bytes for each active lane.
    pub fn mem_copy(&mut self, to: Value, from: Value, size: clif::Value, mask: Option<Value>) {
        let lanes = self.func.ty(to).lanes.max(self.func.ty(from).lanes);
        let (to, from) = (self.spill(to), self.spill(from));
        let bits = self.active_bits(mask, lanes);
        self.for_set_bits(bits, |g, lane| {
            let (to, from) = (g.operand(to, lane), g.operand(from, lane));
            g.call(libc_memmove(), &[to, from, size], Some(types::I64));
        });
    }

    /// As [`Gen::mem_copy`], with a size for each lane.
    pub fn mem_copy_dyn(&mut self, to: Value, from: Value, size: Value, mask: Option<Value>) {
        let lanes = [to, from, size]
            .iter()
            .map(|&v| self.func.ty(v).lanes)
            .max()
            .expect("operands");
        let (to, from, size) = (self.spill(to), self.spill(from), self.spill(size));
        let bits = self.active_bits(mask, lanes);
        self.for_set_bits(bits, |g, lane| {
            let (to, from, size) = (
                g.operand(to, lane),
                g.operand(from, lane),
                g.operand(size, lane),
            );
            g.call(libc_memmove(), &[to, from, size], Some(types::I64));
        });
    }
}

/// `void *memmove(void *to, const void *from, size_t bytes)`
extern "C" fn move_bytes(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: generated code passes the kernel's own pointers; that they are valid for `bytes` is the
    // kernel's obligation, as for every access it makes.
    unsafe { std::ptr::copy(from, to, bytes) };
    to
}

fn libc_memmove() -> usize {
    move_bytes as *const () as usize
}
