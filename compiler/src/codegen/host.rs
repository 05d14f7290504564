//! The functions of this process that generated code calls, and codes shared with them.

use crate::abi::PrintfScalar;
use crate::ir::Scalar;

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

/// C `fmodf`.
pub extern "C" fn frem_f32(a: f32, b: f32) -> f32 {
    a % b
}

/// C `fmod`.
pub extern "C" fn frem_f64(a: f64, b: f64) -> f64 {
    a % b
}
