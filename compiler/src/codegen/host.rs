//! The functions of this process that generated code calls, and codes shared with them.

use std::sync::OnceLock;
use std::time::Instant;

use crate::abi::PrintfScalar;
use crate::ir::{ConvertOp, Rounding, Scalar, eval};

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

/// The conversions that generated code leaves to [`convert`]: inexact ones that do not round to nearest, and
/// those to half that single precision would round twice.
pub fn is_slow_conversion(op: ConvertOp, rounding: Rounding, from: Scalar, to: Scalar) -> bool {
    match op {
        ConvertOp::SToF | ConvertOp::UToF => rounding != Rounding::NearestEven || to == Scalar::F16,
        ConvertOp::FToF => {
            to.bits() < from.bits() && (rounding != Rounding::NearestEven || to == Scalar::F16)
        }
        _ => false,
    }
}

/// A conversion as the number that [`convert`] takes.
pub fn conversion_code(op: ConvertOp, rounding: Rounding, from: Scalar, to: Scalar) -> u64 {
    let position = |found: Option<usize>| found.expect("listed") as u64;
    let scalar = |s| position(Scalar::ALL.iter().position(|&x| x == s));
    position(ConvertOp::ALL.iter().position(|&x| x == op))
        | position(Rounding::ALL.iter().position(|&x| x == rounding)) << 8
        | scalar(from) << 16
        | scalar(to) << 24
}

/// Converts one lane's bits as [`crate::ir::eval::convert`] does.
pub extern "C" fn convert(code: u64, bits: u64) -> u64 {
    let byte = |shift: u32| (code >> shift) as usize & 0xff;
    eval::convert(
        ConvertOp::ALL[byte(0)],
        Rounding::ALL[byte(8)],
        Scalar::ALL[byte(16)],
        Scalar::ALL[byte(24)],
        bits,
    )
}
