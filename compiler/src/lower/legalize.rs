//! Rewrites what code generation has no instruction for into what it has: half-precision
//! arithmetic, directed rounding, saturation, integer operations that 128-bit vectors lack.

use smallvec::{SmallVec, smallvec};

use super::emit::{Emitter, rewrite};
use super::half::Halves;
use super::rounding as directed;
use crate::ir::{
    BinOp, ConvertOp, Function, InstData, IntCC, Op, Rounding, Scalar, Type, UnOp, Value,
};
use crate::transform::dce;

/// Legalises `func`. Afterwards `codegen` knows every instruction. Cost: linear.
pub fn run(func: &mut Function) {
    // What one step makes may itself need another: half to single, then its conversions.
    let mut has_halves = false;
    while {
        let mut again = false;
        let mut halves = Halves::default();
        rewrite(func, |e, data| {
            let value = expand(e, &mut halves, data)?;
            again = true;
            Some(smallvec![value])
        });
        has_halves |= !halves.is_empty();
        again
    } {}
    if has_halves {
        dce::run(func);
    }
}

fn expand(e: &mut Emitter<'_>, halves: &mut Halves, data: &InstData) -> Option<Value> {
    let a = &data.args;
    let ty = e.ty(*data.results.first()?);
    match data.op {
        Op::Unary(op) if ty.scalar == Scalar::F16 => Some(halves.unary(e, op, a[0])),
        Op::Binary(op, _) if ty.scalar == Scalar::F16 => Some(halves.binary(e, op, a[0], a[1])),
        Op::Fma if ty.scalar == Scalar::F16 => Some(halves.fma(e, a)),
        Op::Select if ty.scalar == Scalar::F16 => halves.select(e, data),
        Op::Rounded(op, rounding) if ty.scalar != Scalar::F64 => {
            Some(directed::arithmetic(e, op, rounding, a))
        }
        Op::FCmp(cc) if e.ty(a[0]).scalar == Scalar::F16 => {
            let (x, y) = (halves.widen(e, a[0]), halves.widen(e, a[1]));
            Some(e.fcmp(cc, x, y))
        }
        Op::Convert(op, rounding) => convert(e, halves, op, rounding, a[0], ty),
        Op::Unary(op) if ty.lanes > 1 => vector_unary(e, op, a[0], ty),
        Op::Binary(op, _) => binary(e, op, a, ty),
        _ => None,
    }
}

fn convert(
    e: &mut Emitter<'_>,
    halves: &mut Halves,
    op: ConvertOp,
    rounding: Rounding,
    x: Value,
    to: Type,
) -> Option<Value> {
    let from = e.ty(x).scalar;
    let to = to.scalar;
    match op {
        ConvertOp::SatSToS | ConvertOp::SatSToU | ConvertOp::SatUToS | ConvertOp::SatUToU => {
            Some(saturate(e, op, x, to))
        }
        ConvertOp::FToS | ConvertOp::FToU => {
            if from == Scalar::F16 {
                let wide = halves.widen(e, x);
                return Some(e.convert_rounding(op, rounding, wide, to));
            }
            let integral = match rounding {
                Rounding::Zero => None,
                Rounding::NearestEven => Some(UnOp::RoundEven),
                Rounding::Up => Some(UnOp::Ceil),
                Rounding::Down => Some(UnOp::Floor),
            };
            if let Some(integral) = integral {
                let x = e.unary(integral, x);
                return Some(e.convert_rounding(op, Rounding::Zero, x, to));
            }
            if to.bits() >= 32 {
                return None;
            }
            // Clamping to 32 bits and then to fewer clamps as once.
            let wide = e.convert_rounding(ConvertOp::FToS, Rounding::Zero, x, Scalar::I32);
            let narrow = if op == ConvertOp::FToS {
                ConvertOp::SatSToS
            } else {
                ConvertOp::SatSToU
            };
            Some(e.convert(narrow, wide, to))
        }
        ConvertOp::SToF | ConvertOp::UToF => {
            let extend = if op == ConvertOp::SToF {
                ConvertOp::SExt
            } else {
                ConvertOp::ZExt
            };
            if from.bits() < 32 {
                // Every 16-bit integer is a single-precision number.
                let wide = e.convert(extend, x, Scalar::I32);
                if to != Scalar::F16 {
                    return Some(e.convert(ConvertOp::SToF, wide, to));
                }
                let single = e.convert(ConvertOp::SToF, wide, Scalar::F32);
                return Some(e.convert_rounding(ConvertOp::FToF, rounding, single, to));
            }
            directed::from_integer(e, op, rounding, x, to)
        }
        ConvertOp::FToF => halves.convert(e, rounding, x, to),
        ConvertOp::Trunc | ConvertOp::ZExt | ConvertOp::SExt | ConvertOp::Bitcast => None,
    }
}

/// Clamps to the range of the result, then drops high bits.
fn saturate(e: &mut Emitter<'_>, op: ConvertOp, x: Value, to: Scalar) -> Value {
    let from = e.ty(x).scalar;
    let signed_max = to.mask() >> 1;
    let narrower = to.bits() < from.bits();
    let clamped = match op {
        ConvertOp::SatSToS if !narrower => x,
        ConvertOp::SatSToS => {
            let low = e.binary_imm(BinOp::SMax, x, !signed_max);
            e.binary_imm(BinOp::SMin, low, signed_max)
        }
        ConvertOp::SatSToU => {
            let low = e.binary_imm(BinOp::SMax, x, 0);
            if narrower {
                e.binary_imm(BinOp::SMin, low, to.mask())
            } else {
                low
            }
        }
        ConvertOp::SatUToS => e.binary_imm(BinOp::UMin, x, signed_max),
        _ if narrower => e.binary_imm(BinOp::UMin, x, to.mask()),
        _ => x,
    };
    e.convert(ConvertOp::Trunc, clamped, to)
}

/// The constant whose `width`-bit groups each hold `pattern`.
fn repeat(scalar: Scalar, pattern: u64, width: u32) -> u64 {
    (0..64 / width).fold(0, |acc, i| acc | pattern << (i * width)) & scalar.mask()
}

fn vector_unary(e: &mut Emitter<'_>, op: UnOp, x: Value, ty: Type) -> Option<Value> {
    let scalar = ty.scalar;
    match op {
        UnOp::PopCount => Some(pop_count(e, x, scalar)),
        UnOp::Ctz => {
            // The bits below the lowest set one.
            let less = e.binary_imm(BinOp::ISub, x, 1);
            let clear = e.unary(UnOp::Not, x);
            let below = e.binary(BinOp::And, less, clear);
            Some(pop_count(e, below, scalar))
        }
        UnOp::Clz => {
            // The highest set bit, and every bit below it.
            let mut smeared = x;
            let mut shift = 1;
            while shift < scalar.bits() {
                let shifted = e.binary_imm(BinOp::LShr, smeared, u64::from(shift));
                smeared = e.binary(BinOp::Or, smeared, shifted);
                shift *= 2;
            }
            let clear = e.unary(UnOp::Not, smeared);
            Some(pop_count(e, clear, scalar))
        }
        UnOp::BitReverse => {
            let mut v = x;
            let mut width = 1;
            while width < scalar.bits() {
                let mask = repeat(scalar, (1 << width) - 1, 2 * width);
                let high = e.binary_imm(BinOp::LShr, v, u64::from(width));
                let high = e.binary_imm(BinOp::And, high, mask);
                let low = e.binary_imm(BinOp::And, v, mask);
                let low = e.binary_imm(BinOp::Shl, low, u64::from(width));
                v = e.binary(BinOp::Or, high, low);
                width *= 2;
            }
            Some(v)
        }
        _ => None,
    }
}

/// Counts set bits: pairs, nibbles, bytes, then the bytes' sum.
fn pop_count(e: &mut Emitter<'_>, x: Value, scalar: Scalar) -> Value {
    let masked = |e: &mut Emitter<'_>, v, shift, pattern| {
        let shifted = if shift == 0 {
            v
        } else {
            e.binary_imm(BinOp::LShr, v, shift)
        };
        e.binary_imm(BinOp::And, shifted, pattern)
    };
    let odd = masked(e, x, 1, repeat(scalar, 1, 2));
    let pairs = e.binary(BinOp::ISub, x, odd);
    let low = masked(e, pairs, 0, repeat(scalar, 3, 4));
    let high = masked(e, pairs, 2, repeat(scalar, 3, 4));
    let nibbles = e.binary(BinOp::IAdd, low, high);
    let shifted = e.binary_imm(BinOp::LShr, nibbles, 4);
    let sum = e.binary(BinOp::IAdd, nibbles, shifted);
    let mut bytes = e.binary_imm(BinOp::And, sum, repeat(scalar, 15, 8));
    let mut width = 8;
    while width < scalar.bits() {
        let shifted = e.binary_imm(BinOp::LShr, bytes, width.into());
        bytes = e.binary(BinOp::IAdd, bytes, shifted);
        width *= 2;
    }
    e.binary_imm(BinOp::And, bytes, 0x7f)
}

fn binary(e: &mut Emitter<'_>, op: BinOp, a: &[Value], ty: Type) -> Option<Value> {
    let scalar = ty.scalar;
    let vector = ty.lanes > 1;
    match op {
        BinOp::IMul if vector && scalar == Scalar::I8 => {
            Some(in_twice_the_width(e, BinOp::IMul, a, true, 0))
        }
        BinOp::SMulHi | BinOp::UMulHi if vector && scalar != Scalar::I64 => Some(
            in_twice_the_width(e, BinOp::IMul, a, op == BinOp::SMulHi, scalar.bits()),
        ),
        BinOp::SAddSat | BinOp::SSubSat if !vector || scalar.bits() > 16 => {
            Some(signed_saturating(e, op, a))
        }
        BinOp::UAddSat if !vector || scalar.bits() > 16 => {
            let sum = e.binary(BinOp::IAdd, a[0], a[1]);
            let over = e.icmp(IntCC::Ult, sum, a[0]);
            let max = e.iconst(ty, u64::MAX);
            Some(e.select(over, max, sum))
        }
        BinOp::USubSat if !vector || scalar.bits() > 16 => {
            let difference = e.binary(BinOp::ISub, a[0], a[1]);
            let under = e.icmp(IntCC::Ult, a[0], a[1]);
            let zero = e.iconst(ty, 0);
            Some(e.select(under, zero, difference))
        }
        BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem if vector && scalar.bits() <= 16 => {
            small_division(e, op, a, scalar)
        }
        _ => None,
    }
}

/// Quotients of 8- and 16-bit integers in single precision: both operands are exact, and the
/// quotient of integers below 2^16 truncates to the right integer, being at least 2^-16 away from
/// the next unless it is one.
fn small_division(e: &mut Emitter<'_>, op: BinOp, a: &[Value], scalar: Scalar) -> Option<Value> {
    let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
    let extend = if signed {
        ConvertOp::SExt
    } else {
        ConvertOp::ZExt
    };
    let wide: SmallVec<[Value; 2]> = a
        .iter()
        .map(|&v| e.convert(extend, v, Scalar::I32))
        .collect();
    let zero = e.icmp_imm(IntCC::Eq, wide[1], 0);
    let one = e.iconst(e.ty(wide[1]), 1);
    let divisor = e.select(zero, one, wide[1]);
    let x = e.convert(ConvertOp::SToF, wide[0], Scalar::F32);
    let y = e.convert(ConvertOp::SToF, divisor, Scalar::F32);
    let quotient = e.binary(BinOp::FDiv, x, y);
    let quotient = e.convert_rounding(ConvertOp::FToS, Rounding::Zero, quotient, Scalar::I32);
    let result = if matches!(op, BinOp::UDiv | BinOp::SDiv) {
        quotient
    } else {
        let product = e.binary(BinOp::IMul, quotient, divisor);
        e.binary(BinOp::ISub, wide[0], product)
    };
    Some(e.convert(ConvertOp::Trunc, result, scalar))
}

/// `(extend(a) op extend(b)) >> shift`, truncated.
fn in_twice_the_width(
    e: &mut Emitter<'_>,
    op: BinOp,
    a: &[Value],
    signed: bool,
    shift: u32,
) -> Value {
    let scalar = e.ty(a[0]).scalar;
    let wide = Scalar::int(scalar.bits() * 2).expect("narrower than 64 bits");
    let extend = if signed {
        ConvertOp::SExt
    } else {
        ConvertOp::ZExt
    };
    let (x, y) = (e.convert(extend, a[0], wide), e.convert(extend, a[1], wide));
    let full = e.binary(op, x, y);
    let high = if shift == 0 {
        full
    } else {
        e.binary_imm(BinOp::LShr, full, shift.into())
    };
    e.convert(ConvertOp::Trunc, high, scalar)
}

/// Overflow shows in the signs: of operands alike (sum) or apart (difference) with a result unlike
/// the first.
fn signed_saturating(e: &mut Emitter<'_>, op: BinOp, a: &[Value]) -> Value {
    let ty = e.ty(a[0]);
    let top = u64::from(ty.scalar.bits() - 1);
    let plain = if op == BinOp::SAddSat {
        BinOp::IAdd
    } else {
        BinOp::ISub
    };
    let result = e.binary(plain, a[0], a[1]);
    let changed = e.binary(BinOp::Xor, a[0], result);
    let other = if op == BinOp::SAddSat {
        e.binary(BinOp::Xor, a[1], result)
    } else {
        e.binary(BinOp::Xor, a[0], a[1])
    };
    let over = e.binary(BinOp::And, changed, other);
    let over = e.icmp_imm(IntCC::Slt, over, 0);
    let sign = e.binary_imm(BinOp::AShr, a[0], top);
    let limit = e.binary_imm(BinOp::Xor, sign, ty.scalar.mask() >> 1);
    e.select(over, limit, result)
}
