//! Half precision without half-precision instructions: single precision and bit operations.
//!
//! Sums, products, quotients and square roots computed in single precision and rounded to half are correctly
//! rounded: 24 bits are at least twice 11 plus two (Figueroa, "When is double rounding innocuous?").

use super::emit::Emitter;
use super::rounding;
use crate::ir::{BinOp, ConvertOp, IntCC, Rounding, Scalar, UnOp, Value};

/// The same numbers in single precision.
pub fn widen(e: &mut Emitter<'_>, x: Value) -> Value {
    e.convert(ConvertOp::FToF, x, Scalar::F32)
}

fn narrow(e: &mut Emitter<'_>, x: Value) -> Value {
    e.convert(ConvertOp::FToF, x, Scalar::F16)
}

pub fn unary(e: &mut Emitter<'_>, op: UnOp, x: Value) -> Value {
    let sign_trick = match op {
        UnOp::FNeg => Some((BinOp::Xor, 0x8000)),
        UnOp::FAbs => Some((BinOp::And, 0x7fff)),
        _ => None,
    };
    if let Some((op, bits)) = sign_trick {
        let ints = e.bitcast(x, Scalar::I16);
        let ints = e.binary_imm(op, ints, bits);
        return e.bitcast(ints, Scalar::F16);
    }
    let wide = widen(e, x);
    let result = e.unary(op, wide);
    narrow(e, result)
}

pub fn binary(e: &mut Emitter<'_>, op: BinOp, x: Value, y: Value) -> Value {
    if op == BinOp::CopySign {
        let (x, y) = (e.bitcast(x, Scalar::I16), e.bitcast(y, Scalar::I16));
        let magnitude = e.binary_imm(BinOp::And, x, 0x7fff);
        let sign = e.binary_imm(BinOp::And, y, 0x8000);
        let both = e.binary(BinOp::Or, magnitude, sign);
        return e.bitcast(both, Scalar::F16);
    }
    let (x, y) = (widen(e, x), widen(e, y));
    let result = e.binary(op, x, y);
    narrow(e, result)
}

/// Through double precision. The product is exact there. A sum that is not has its operands so far apart that the larger one,
/// being a half or too large for one, is also far from a tie between halves.
pub fn fma(e: &mut Emitter<'_>, a: &[Value]) -> Value {
    let wide = |e: &mut Emitter<'_>, v| {
        let single = widen(e, v);
        e.convert(ConvertOp::FToF, single, Scalar::F64)
    };
    let (x, y, z) = (wide(e, a[0]), wide(e, a[1]), wide(e, a[2]));
    let result = e.fma(x, y, z);
    narrow(e, result)
}

/// Conversions between floating-point types, but for the machine's.
pub fn convert(e: &mut Emitter<'_>, rounding: Rounding, x: Value, to: Scalar) -> Option<Value> {
    let from = e.ty(x).scalar;
    let directed = rounding != Rounding::NearestEven;
    match (from, to) {
        (Scalar::F16, Scalar::F32) => Some(to_single(e, x)),
        (Scalar::F16, Scalar::F64) => {
            let single = widen(e, x);
            Some(e.convert(ConvertOp::FToF, single, Scalar::F64))
        }
        // Widening is exact in every mode.
        (Scalar::F32, Scalar::F64) => directed.then(|| e.convert(ConvertOp::FToF, x, to)),
        _ if directed => Some(rounding::narrow(e, rounding, x, to)),
        (Scalar::F32, Scalar::F16) => Some(from_single(e, x)),
        (Scalar::F64, Scalar::F16) => {
            let single = rounding::double_to_odd_single(e, x);
            Some(from_single(e, single))
        }
        _ => None,
    }
}

/// Moves exponent and significand to their places and scales by the difference of the biases, which
/// also normalises subnormals; infinities and NaN keep the largest exponent.
fn to_single(e: &mut Emitter<'_>, x: Value) -> Value {
    let bits = e.bitcast(x, Scalar::I16);
    let bits = e.convert(ConvertOp::ZExt, bits, Scalar::I32);
    let sign = e.binary_imm(BinOp::And, bits, 0x8000);
    let sign = e.binary_imm(BinOp::Shl, sign, 16);
    let magnitude = e.binary_imm(BinOp::And, bits, 0x7fff);
    let moved = e.binary_imm(BinOp::Shl, magnitude, 13);
    let unscaled = e.bitcast(moved, Scalar::F32);
    let scale = e.fconst(e.ty(unscaled), 2f64.powi(112));
    let scaled = e.binary(BinOp::FMul, unscaled, scale);
    let scaled = e.bitcast(scaled, Scalar::I32);
    let special = e.icmp_imm(IntCC::Uge, magnitude, 0x7c00);
    let with_exponent = e.binary_imm(BinOp::Or, moved, 0x7f80_0000);
    let magnitude = e.select(special, with_exponent, scaled);
    let result = e.binary(BinOp::Or, magnitude, sign);
    e.bitcast(result, Scalar::F32)
}

/// Rounds to nearest even: normal results by adding half a unit to the encoding, subnormal ones by adding
/// a number so large that the sum's unit is theirs.
fn from_single(e: &mut Emitter<'_>, x: Value) -> Value {
    let bits = e.bitcast(x, Scalar::I32);
    let sign = e.binary_imm(BinOp::LShr, bits, 16);
    let sign = e.binary_imm(BinOp::And, sign, 0x8000);
    let magnitude = e.binary_imm(BinOp::And, bits, 0x7fff_ffff);
    // Normal: re-bias the exponent, add 0xfff and the lowest kept bit.
    let lowest = e.binary_imm(BinOp::LShr, magnitude, 13);
    let lowest = e.binary_imm(BinOp::And, lowest, 1);
    let rebiased = e.binary_imm(BinOp::IAdd, magnitude, 0xc800_0fff);
    let rounded = e.binary(BinOp::IAdd, rebiased, lowest);
    let normal = e.binary_imm(BinOp::LShr, rounded, 13);
    // Subnormal: the unit of 0.5 is 2^-24, half's smallest number.
    let float = e.bitcast(magnitude, Scalar::F32);
    let half = e.fconst(e.ty(float), 0.5);
    let sum = e.binary(BinOp::FAdd, float, half);
    let sum = e.bitcast(sum, Scalar::I32);
    let subnormal = e.binary_imm(BinOp::ISub, sum, 0x3f00_0000);
    let is_small = e.icmp_imm(IntCC::Ult, magnitude, 0x3880_0000);
    let finite = e.select(is_small, subnormal, normal);
    // From 65520 on, the nearest half is infinity.
    let is_large = e.icmp_imm(IntCC::Uge, magnitude, 0x477f_f000);
    let infinity = e.iconst(e.ty(bits), 0x7c00);
    let limited = e.select(is_large, infinity, finite);
    let is_nan = e.icmp_imm(IntCC::Ugt, magnitude, 0x7f80_0000);
    let payload = e.binary_imm(BinOp::LShr, magnitude, 13);
    let payload = e.binary_imm(BinOp::And, payload, 0x3ff);
    let nan = e.binary_imm(BinOp::Or, payload, 0x7e00);
    let result = e.select(is_nan, nan, limited);
    let result = e.binary(BinOp::Or, result, sign);
    let result = e.convert(ConvertOp::Trunc, result, Scalar::I16);
    e.bitcast(result, Scalar::F16)
}
