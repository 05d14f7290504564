//! The functions of this process that generated code calls, and codes shared with them.

use std::sync::OnceLock;
use std::time::Instant;

use crate::abi::PrintfScalar;
use crate::ir::{Arith, BinOp, Rounding, Scalar, eval};

/// How a `printf` argument of one lane is described to the sink.
pub fn printf_code(scalar: Scalar) -> u8 {
    let code = match scalar {
        Scalar::I1 | Scalar::I8 => PrintfScalar::I8,
        Scalar::I16 => PrintfScalar::I16,
        Scalar::I32 => PrintfScalar::I32,
        Scalar::I64 => PrintfScalar::I64,
        Scalar::F16 => PrintfScalar::F16,
        Scalar::F32 => PrintfScalar::F32,
        Scalar::F64 => PrintfScalar::F64,
        Scalar::Ptr => PrintfScalar::Pointer,
    };
    code as u8
}

/// Nanoseconds since this was first asked.
pub extern "C" fn clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// C `fmodf`.
pub extern "C" fn frem_f32(a: f32, b: f32) -> f32 {
    a % b
}

/// C `fmod`.
pub extern "C" fn frem_f64(a: f64, b: f64) -> f64 {
    a % b
}

fn in_half(op: BinOp, a: u16, b: u16) -> u16 {
    eval::binary(op, Scalar::F16, a.into(), b.into()) as u16
}

/// What an atomic sum in half precision stores.
pub extern "C" fn fadd_f16(a: u16, b: u16) -> u16 {
    in_half(BinOp::FAdd, a, b)
}

/// What an atomic minimum in half precision stores.
pub extern "C" fn fmin_f16(a: u16, b: u16) -> u16 {
    in_half(BinOp::FMin, a, b)
}

/// What an atomic maximum in half precision stores.
pub extern "C" fn fmax_f16(a: u16, b: u16) -> u16 {
    in_half(BinOp::FMax, a, b)
}

/// Double-precision arithmetic in a direction, as the number that [`rounded`] takes.
pub fn rounded_code(op: Arith, rounding: Rounding) -> u64 {
    op as u64 | (rounding as u64) << 8
}

/// Does one lane of [`crate::ir::Op::Rounded`] on doubles; operands that the operation does not
/// have are ignored.
pub extern "C" fn rounded(code: u64, a: u64, b: u64, c: u64) -> u64 {
    let op = Arith::ALL[code as usize & 0xff];
    let rounding = Rounding::ALL[(code >> 8) as usize & 0xff];
    eval::rounded(op, rounding, Scalar::F64, &[a, b, c][..op.operands()])
}
