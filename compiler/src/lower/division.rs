//! Division of vectors of 32-bit integers, in double precision.
//!
//! Both operands are exact there. With n and d below 2^32 the quotient n / d differs from the
//! nearest other integer by at least 1 / d, while rounding moves it by less than 2^-20 / d, so
//! truncation is right. A divisor that is the same in all lanes is inverted once, and hoisted out
//! of loops: then (n + 1/2) * (1 / d), which lies at least 1 / 2d from any integer, is truncated,
//! since n * (1 / d) might fall short of a whole quotient.
//!
//! Adding 2^52 (one and a half times that, to allow for a sign) to a truncated quotient leaves its
//! low 32 bits in the low bits of the encoding, where the wrapping quotient of the smallest integer
//! by -1 is right as well.

use crate::ir::{BinOp, ConvertOp, IntCC, Op, Scalar, Type, UnOp, Value};

use super::emit::Emitter;

/// Expands a division or remainder of `i32` vectors; other operations and types are left alone.
pub fn expand(e: &mut Emitter<'_>, op: BinOp, n: Value, d: Value) -> Option<Value> {
    let ty = e.ty(n);
    let (signed, remainder) = match op {
        BinOp::UDiv => (false, false),
        BinOp::URem => (false, true),
        BinOp::SDiv => (true, false),
        BinOp::SRem => (true, true),
        _ => return None,
    };
    if ty.scalar != Scalar::I32 || ty.lanes == 1 {
        return None;
    }
    let to_double = if signed {
        ConvertOp::SToF
    } else {
        ConvertOp::UToF
    };
    let same = uniform(e, d);
    // The divisor of a division by 0 is 1: `x / 0` is `x`.
    let divisor = nonzero(e, same.unwrap_or(d));
    let d = if same.is_some() {
        e.emit(Op::Splat, &[divisor], ty)
    } else {
        divisor
    };
    let number = e.convert(to_double, n, Scalar::F64);
    let wide = e.ty(number);
    let quotient = if same.is_some() {
        let divisor = e.convert(to_double, divisor, Scalar::F64);
        let one = e.fconst(Type::F64, 1.0);
        let inverse = e.binary(BinOp::FDiv, one, divisor);
        let inverse = e.emit(Op::Splat, &[inverse], wide);
        let half = e.fconst(wide, 0.5);
        let half = if signed {
            e.binary(BinOp::CopySign, half, number)
        } else {
            half
        };
        let number = e.binary(BinOp::FAdd, number, half);
        e.binary(BinOp::FMul, number, inverse)
    } else {
        let divisor = e.convert(to_double, d, Scalar::F64);
        e.binary(BinOp::FDiv, number, divisor)
    };
    let whole = e.unary(UnOp::Trunc, quotient);
    let shift = e.fconst(
        wide,
        if signed {
            1.5 * 2f64.powi(52)
        } else {
            2f64.powi(52)
        },
    );
    let shifted = e.binary(BinOp::FAdd, whole, shift);
    let bits = e.bitcast(shifted, Scalar::I64);
    let quotient = e.convert(ConvertOp::Trunc, bits, Scalar::I32);
    if !remainder {
        return Some(quotient);
    }
    let product = e.binary(BinOp::IMul, quotient, d);
    Some(e.binary(BinOp::ISub, n, product))
}

/// The one-lane value that every lane of `v` holds, if that is plain.
fn uniform(e: &mut Emitter<'_>, v: Value) -> Option<Value> {
    let inst = e.func.def_inst(v)?;
    match e.func.insts[inst].op {
        Op::Splat => Some(e.func.insts[inst].args[0]),
        Op::Const(bits) => {
            let ty = e.ty(v).lane();
            Some(e.iconst(ty, bits))
        }
        _ => None,
    }
}

fn nonzero(e: &mut Emitter<'_>, d: Value) -> Value {
    if e.func.as_const(d).is_some_and(|bits| bits != 0) {
        return d;
    }
    let zero = e.icmp_imm(IntCC::Eq, d, 0);
    let one = e.iconst(e.ty(d), 1);
    e.select(zero, one, d)
}
