//! Where the functions of this process that generated code calls are.
//!
//! `texels.rs` has those that read and write images.

mod texels;

use std::ffi::c_void;
use std::sync::OnceLock;
use std::time::Instant;

use brolga_mathlib::Format;

use crate::ir::{BinOp, HostFunction, Scalar, eval};

/// The entry point of a function.
pub fn address(function: HostFunction) -> usize {
    match function {
        HostFunction::Routine(routine, format) => routine.target(format).address(),
        HostFunction::FRem(Format::F32) => frem_f32 as *const () as usize,
        HostFunction::FRem(Format::F64) => frem_f64 as *const () as usize,
        HostFunction::FScale(Format::F32) => fscale_f32 as *const () as usize,
        HostFunction::FScale(Format::F64) => fscale_f64 as *const () as usize,
        HostFunction::Rounded => rounded as *const () as usize,
        HostFunction::AddHalves => add_halves as *const () as usize,
        HostFunction::MinHalves => min_halves as *const () as usize,
        HostFunction::MaxHalves => max_halves as *const () as usize,
        HostFunction::Clock => clock as *const () as usize,
        HostFunction::MemMove => memmove as *const () as usize,
        HostFunction::ReadTexel => texels::read_texel as *const () as usize,
        HostFunction::WriteTexel => texels::write_texel as *const () as usize,
    }
}

unsafe extern "C" {
    /// The C library's. It is called without anything in between, so that a fault in it can be told
    /// to be the kernel's.
    fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
}

/// Nanoseconds since this was first asked.
extern "C" fn clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

extern "C" fn frem_f32(a: f32, b: f32) -> f32 {
    a % b
}

extern "C" fn frem_f64(a: f64, b: f64) -> f64 {
    a % b
}

extern "C" fn fscale_f32(a: f32, b: f32) -> f32 {
    let (a, b) = (a.to_bits().into(), b.to_bits().into());
    f32::from_bits(eval::binary(BinOp::FScale, Scalar::F32, a, b) as u32)
}

extern "C" fn fscale_f64(a: f64, b: f64) -> f64 {
    let (a, b) = (a.to_bits(), b.to_bits());
    f64::from_bits(eval::binary(BinOp::FScale, Scalar::F64, a, b))
}

fn in_half(op: BinOp, a: u32, b: u32) -> u32 {
    eval::binary(op, Scalar::F16, a.into(), b.into()) as u32
}

extern "C" fn add_halves(a: u32, b: u32) -> u32 {
    in_half(BinOp::FAdd, a, b)
}

extern "C" fn min_halves(a: u32, b: u32) -> u32 {
    in_half(BinOp::FMin, a, b)
}

extern "C" fn max_halves(a: u32, b: u32) -> u32 {
    in_half(BinOp::FMax, a, b)
}

extern "C" fn rounded(code: u64, a: f64, b: f64, c: f64) -> f64 {
    let (op, rounding) = HostFunction::decode_rounded(code);
    let bits = [a, b, c].map(f64::to_bits);
    f64::from_bits(eval::rounded(
        op,
        rounding,
        Scalar::F64,
        &bits[..op.operands()],
    ))
}
