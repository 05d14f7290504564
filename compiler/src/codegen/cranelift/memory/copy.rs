//! Copies of bytes, lane by lane.

use std::ffi::c_void;

use cranelift_codegen::ir::{self as clif, types};

use super::super::values::Gen;
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

unsafe extern "C" {
    /// The C library's. It is called without anything in between, so that a fault in it can be told
    /// to be the kernel's.
    fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
}

fn libc_memmove() -> usize {
    memmove as *const () as usize
}
