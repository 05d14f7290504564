//! Rounding in other directions than the machine's one, to nearest even, on targets without static
//! rounding ([`Target::static_rounding`]); and rounding to odd.
//!
//! A result rounded to nearest is a neighbour of the exact one. Where a comparison shows it on the
//! wrong side, the number next to it is taken: a step of the encoding, which also goes from the
//! largest number to infinity and from zero to the smallest one. What is left to do is to learn the
//! side:
//!
//! - of a narrowed number, by widening it again, which is exact;
//! - of arithmetic in half and single precision, by computing it in double precision, narrowed
//!   then. Products are exact there. Quotients and square roots are not, but they are no nearer
//!   than 2^-48 of themselves to a number of 24 bits unless they are it, so that rounding to 53
//!   bits takes them neither to it nor past it. The error of a sum is computed (Knuth's two-sum),
//!   and the sum rounded to odd: of its two neighbours the one whose last bit is set, which keeps,
//!   for any later rounding to two bits less or fewer, that it is inexact and its side (Boldo and
//!   Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
//!   odd").
//!
//! Double precision arithmetic is left to `codegen`, which calls out: there is no wider format, and
//! its errors overflow and underflow.

use super::emit::Emitter;
use crate::ir::{Arith, BinOp, ConvertOp, FloatCC, IntCC, Op, Rounding, Scalar, UnOp, Value};
use crate::target::Target;

/// Where a number lies, lane by lane: below what it should be exactly, or above. Neither when it is
/// exact, or NaN.
struct Side {
    below: Value,
    above: Value,
}

impl Side {
    /// Of `rounded`, when `exact` has the same type.
    fn of(e: &mut Emitter<'_>, rounded: Value, exact: Value) -> Side {
        Side {
            below: e.fcmp(FloatCC::Olt, rounded, exact),
            above: e.fcmp(FloatCC::Ogt, rounded, exact),
        }
    }

    /// Of a number whose error, what it lacks, has this sign.
    fn of_error(e: &mut Emitter<'_>, error: Value) -> Side {
        let zero = e.fconst(e.ty(error), 0.0);
        Side::of(e, zero, error)
    }
}

/// Adds 1 or -1 to the encoding where `wrong` holds: away from zero where `away` does, else toward
/// it.
fn step(e: &mut Emitter<'_>, x: Value, wrong: Value, away: Value) -> Value {
    let float = e.ty(x).scalar;
    let bits = e.bitcast(x, float.as_int());
    let ty = e.ty(bits);
    let (one, minus_one, zero) = (e.iconst(ty, 1), e.iconst(ty, u64::MAX), e.iconst(ty, 0));
    let by = e.select(away, one, minus_one);
    let by = e.select(wrong, by, zero);
    let bits = e.binary(BinOp::IAdd, bits, by);
    e.bitcast(bits, float)
}

fn is_negative(e: &mut Emitter<'_>, x: Value) -> Value {
    let bits = e.bitcast(x, e.ty(x).scalar.as_int());
    e.icmp_imm(IntCC::Slt, bits, 0)
}

/// `x`, a neighbour of the exact result and of its sign, or the other neighbour where that is the
/// one to round to.
fn correct(e: &mut Emitter<'_>, rounding: Rounding, x: Value, side: &Side) -> Value {
    let negative = is_negative(e, x);
    let positive = e.unary(UnOp::Not, negative);
    match rounding {
        Rounding::NearestEven => x,
        Rounding::Up => step(e, x, side.below, positive),
        Rounding::Down => step(e, x, side.above, negative),
        Rounding::Zero => {
            let over = e.binary(BinOp::And, positive, side.above);
            let under = e.binary(BinOp::And, negative, side.below);
            let wrong = e.binary(BinOp::Or, over, under);
            let never = e.iconst(e.ty(wrong), 0);
            step(e, x, wrong, never)
        }
    }
}

/// `x`, a neighbour of the exact result and of its sign, rounded to odd.
fn to_odd(e: &mut Emitter<'_>, x: Value, side: &Side) -> Value {
    let bits = e.bitcast(x, e.ty(x).scalar.as_int());
    let last = e.binary_imm(BinOp::And, bits, 1);
    let even = e.icmp_imm(IntCC::Eq, last, 0);
    let inexact = e.binary(BinOp::Or, side.below, side.above);
    let wrong = e.binary(BinOp::And, even, inexact);
    let negative = is_negative(e, x);
    let away = e.binary(BinOp::Xor, side.below, negative);
    step(e, x, wrong, away)
}

/// A double rounded to single precision, to odd.
pub fn double_to_odd_single(e: &mut Emitter<'_>, target: &Target, x: Value) -> Value {
    if target.static_rounding {
        // Of the two neighbours, the one that is nearer to zero, or the other if it is even: the
        // next away from zero.
        let near = e.convert_rounding(ConvertOp::FToF, Rounding::Zero, x, Scalar::F32);
        let back = e.convert(ConvertOp::FToF, near, Scalar::F64);
        let inexact = e.fcmp(FloatCC::One, back, x);
        let bits = e.bitcast(near, Scalar::I32);
        let odd = e.binary_imm(BinOp::Or, bits, 1);
        let bits = e.select(inexact, odd, bits);
        return e.bitcast(bits, Scalar::F32);
    }
    let near = e.convert(ConvertOp::FToF, x, Scalar::F32);
    let back = e.convert(ConvertOp::FToF, near, Scalar::F64);
    let side = Side::of(e, back, x);
    to_odd(e, near, &side)
}

/// A product plus a number, rounded to odd: of the neighbours below and above, the odd one. Both
/// are the result where it is exact; but for the sign of a zero, which is that of rounding up.
pub fn odd_fma(e: &mut Emitter<'_>, x: Value, y: Value, z: Value) -> Value {
    let ty = e.ty(x);
    let below = e.emit(Op::Rounded(Arith::Fma, Rounding::Down), &[x, y, z], ty);
    let above = e.emit(Op::Rounded(Arith::Fma, Rounding::Up), &[x, y, z], ty);
    let bits = e.bitcast(below, ty.scalar.as_int());
    let last = e.binary_imm(BinOp::And, bits, 1);
    let odd = e.icmp_imm(IntCC::Ne, last, 0);
    e.select(odd, below, above)
}

/// To a narrower floating-point type in a direction other than to nearest.
pub fn narrow(e: &mut Emitter<'_>, rounding: Rounding, x: Value, to: Scalar) -> Value {
    let from = e.ty(x).scalar;
    let near = e.convert(ConvertOp::FToF, x, to);
    let back = e.convert(ConvertOp::FToF, near, from);
    let side = Side::of(e, back, x);
    correct(e, rounding, near, &side)
}

/// From an integer of at least 32 bits to floating point, where there is something to do.
pub fn from_integer(
    e: &mut Emitter<'_>,
    target: &Target,
    op: ConvertOp,
    rounding: Rounding,
    x: Value,
    to: Scalar,
) -> Option<Value> {
    if target.static_rounding {
        // What single precision rounds is beyond half's range, whichever way.
        return (to == Scalar::F16).then(|| {
            let single = e.convert(op, x, Scalar::F32);
            e.convert_rounding(ConvertOp::FToF, rounding, single, to)
        });
    }
    let directed = rounding != Rounding::NearestEven;
    let signed = op == ConvertOp::SToF;
    match (e.ty(x).scalar, to) {
        // Every 32-bit integer is a double.
        (Scalar::I32, Scalar::F64) if directed => Some(e.convert(op, x, to)),
        (Scalar::I32, Scalar::F16) => {
            let double = e.convert(op, x, Scalar::F64);
            Some(e.convert_rounding(ConvertOp::FToF, rounding, double, to))
        }
        (Scalar::I32, Scalar::F32) if directed => {
            let near = e.convert(op, x, to);
            let back = e.convert(ConvertOp::FToF, near, Scalar::F64);
            let exact = e.convert(op, x, Scalar::F64);
            let side = Side::of(e, back, exact);
            Some(correct(e, rounding, near, &side))
        }
        // What is beyond 2^17 is as far out of half's range as 2^17.
        (Scalar::I64, Scalar::F16) => {
            let limit = 1u64 << 17;
            let clamped = if signed {
                let low = e.binary_imm(BinOp::SMax, x, limit.wrapping_neg());
                e.binary_imm(BinOp::SMin, low, limit)
            } else {
                e.binary_imm(BinOp::UMin, x, limit)
            };
            let narrow = e.convert(ConvertOp::Trunc, clamped, Scalar::I32);
            Some(e.convert_rounding(ConvertOp::SToF, rounding, narrow, to))
        }
        (Scalar::I64, Scalar::F64 | Scalar::F32) if directed => {
            // Each half of the integer is a double; the error of their sum is exact.
            let shift = if signed { BinOp::AShr } else { BinOp::LShr };
            let high = e.binary_imm(shift, x, 32);
            let high = e.convert(ConvertOp::Trunc, high, Scalar::I32);
            let high = e.convert(op, high, Scalar::F64);
            let unit = e.fconst(e.ty(high), 2f64.powi(32));
            let high = e.binary(BinOp::FMul, high, unit);
            let low = e.convert(ConvertOp::Trunc, x, Scalar::I32);
            let low = e.convert(ConvertOp::UToF, low, Scalar::F64);
            let sum = e.binary(BinOp::FAdd, high, low);
            let taken = e.binary(BinOp::FSub, sum, high);
            let error = e.binary(BinOp::FSub, low, taken);
            let side = Side::of_error(e, error);
            if to == Scalar::F64 {
                return Some(correct(e, rounding, sum, &side));
            }
            let odd = to_odd(e, sum, &side);
            Some(e.convert_rounding(ConvertOp::FToF, rounding, odd, to))
        }
        _ => None,
    }
}

/// Arithmetic on halves or singles in a direction other than to nearest.
pub fn arithmetic(e: &mut Emitter<'_>, op: Arith, rounding: Rounding, args: &[Value]) -> Value {
    let ty = e.ty(args[0]);
    let wide: Vec<Value> = args
        .iter()
        .map(|&x| e.convert(ConvertOp::FToF, x, Scalar::F64))
        .collect();
    let result = match op {
        Arith::FMul => e.binary(BinOp::FMul, wide[0], wide[1]),
        Arith::FDiv => e.binary(BinOp::FDiv, wide[0], wide[1]),
        Arith::Sqrt => e.unary(UnOp::Sqrt, wide[0]),
        Arith::FAdd => sum(e, rounding, wide[0], wide[1]),
        Arith::FSub => {
            let negated = e.unary(UnOp::FNeg, wide[1]);
            sum(e, rounding, wide[0], negated)
        }
        Arith::Fma => {
            let product = e.binary(BinOp::FMul, wide[0], wide[1]);
            sum(e, rounding, product, wide[2])
        }
    };
    e.convert_rounding(ConvertOp::FToF, rounding, result, ty.scalar)
}

/// A sum that can neither overflow nor, inexact, underflow; rounded to odd.
pub fn odd_sum(e: &mut Emitter<'_>, x: Value, y: Value) -> Value {
    let sum = e.binary(BinOp::FAdd, x, y);
    let y_taken = e.binary(BinOp::FSub, sum, x);
    let x_taken = e.binary(BinOp::FSub, sum, y_taken);
    let x_lost = e.binary(BinOp::FSub, x, x_taken);
    let y_lost = e.binary(BinOp::FSub, y, y_taken);
    let error = e.binary(BinOp::FAdd, x_lost, y_lost);
    let side = Side::of_error(e, error);
    to_odd(e, sum, &side)
}

/// As [`odd_sum`], of doubles, with the zero that `rounding` asks for.
fn sum(e: &mut Emitter<'_>, rounding: Rounding, x: Value, y: Value) -> Value {
    let odd = odd_sum(e, x, y);
    if rounding != Rounding::Down {
        return odd;
    }
    // IEEE 754, "The sign bit": rounding down, a zero sum is +0 only if both operands are.
    let zero = e.fconst(e.ty(odd), 0.0);
    let is_zero = e.fcmp(FloatCC::Oeq, odd, zero);
    let (x, y) = (e.bitcast(x, Scalar::I64), e.bitcast(y, Scalar::I64));
    let either = e.binary(BinOp::Or, x, y);
    let sign = e.binary_imm(BinOp::And, either, 1 << 63);
    let sign = e.bitcast(sign, Scalar::F64);
    e.select(is_zero, sign, odd)
}
