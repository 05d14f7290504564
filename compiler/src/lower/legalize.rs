//! Rewrites what code generation has no instruction for into what it has: half-precision
//! arithmetic, directed rounding, saturation, integer operations that the target's vectors lack.
//!
//! # What is left
//!
//! After this pass code generation meets these operations of arithmetic, and no others. *Vectors*
//! are values of more than one lane; what is said of vectors alone holds for values of one lane in
//! all types that the operation has.
//!
//! | operation | left for |
//! | --- | --- |
//! | `INeg`, `Not`, `IAdd`, `ISub`, `And`, `Or`, `Xor`, `ICmp`, `Select` | all types; `Select` of `f16`, too |
//! | `IMul` | vectors: 16, 32, 64 bits |
//! | `SMulHi`, `UMulHi` | vectors: 64 bits on [`Isa::Sse42`], 16 bits on others |
//! | `SDiv`, `UDiv`, `SRem`, `URem` | vectors: 64 bits ([`super::builtins`] has seen to 32) |
//! | `Shl`, `LShr`, `AShr`, `Rotl` | vectors: as [`Target::has_shift`] says. Amounts are modulo the width, as ever |
//! | `SMin`, `SMax`, `UMin`, `UMax` | vectors: 8, 16, 32 bits; 64 where [`Target::wide_integers`] |
//! | `SAddSat`, `UAddSat`, `SSubSat`, `USubSat` | vectors of 8 and 16 bits only |
//! | `PopCount` | vectors: 32, 64 bits where [`Target::popcounts`]; 8, 16 bits where [`Target::small_popcounts`] |
//! | `Clz` | vectors: 32, 64 bits where [`Target::leading_zeros`] |
//! | `Ctz`, `BitReverse` | one lane only |
//! | other floating-point `Unary`, `Binary`, `Fma`, `FCmp` | 32, 64 bits |
//! | `RecipEstimate`, `RsqrtEstimate` | 32, 64 bits where [`Target::estimates`] |
//! | `Lookup` | all |
//! | `FScale` | 32, 64 bits; [`super::lanes`] calls for it but where [`Target::scaling`] |
//! | `Rounded` | 64 bits; 32, too, where [`Target::static_rounding`] |
//! | `Convert`: `Trunc`, `ZExt`, `SExt`, `Bitcast` | all types, to and from `i1` as well |
//! | `Convert`: `FToS`, `FToU` | `f32` and `f64` to 32 and 64 bits, [`Rounding::Zero`]; vectors by `FToU` to 32 bits where [`Target::unsigned_conversions`] |
//! | `Convert`: `SToF`, `UToF` | 32 and 64 bits to `f32` and `f64`; to nearest, or any way where [`Target::static_rounding`]; vectors by `UToF` from 32 bits where [`Target::unsigned_conversions`] |
//! | `Convert`: `FToF` | `f32` to `f64`, to nearest (it is exact); `f64` to `f32` to nearest, or any way where [`Target::static_rounding`]; `f16` to `f32` (to nearest) and `f32` to `f16` (any way) where [`Target::f16_conversions`] |
//!
//! So on [`Isa::Avx512`] vectors are shifted by amounts of their own in 16, 32 and 64 bits and
//! rotated in 32 and 64 (in 16, too, where [`Target::double_shifts`]), all of which code generation
//! has in one instruction, and there are neither byte shifts nor corrections of rounding.

use smallvec::{SmallVec, smallvec};

use super::emit::{Emitter, rewrite};
use super::half::Halves;
use super::{bits, rounding as directed};
use crate::ir::{
    BinOp, ConvertOp, FloatCC, Function, InstData, IntCC, Op, Rounding, Scalar, Type, UnOp, Value,
};
#[cfg(doc)]
use crate::target::Isa;
use crate::target::Target;
use crate::transform::dce;

/// Legalises `func` for a target. Cost: linear.
pub fn run(func: &mut Function, target: &Target) {
    // What one step makes may itself need another: half to single, then its conversions.
    let mut has_halves = false;
    while {
        let mut again = false;
        let mut halves = Halves::new(target);
        rewrite(func, |e, data| {
            let value = expand(e, target, &mut halves, data)?;
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

fn expand(
    e: &mut Emitter<'_>,
    target: &Target,
    halves: &mut Halves,
    data: &InstData,
) -> Option<Value> {
    let a = &data.args;
    let ty = e.ty(*data.results.first()?);
    match data.op {
        Op::Unary(op) if ty.scalar == Scalar::F16 => Some(halves.unary(e, op, a[0])),
        Op::Binary(op, _) if ty.scalar == Scalar::F16 => Some(halves.binary(e, op, a[0], a[1])),
        Op::Fma if ty.scalar == Scalar::F16 => Some(halves.fma(e, a)),
        Op::Select if ty.scalar == Scalar::F16 => halves.select(e, data),
        Op::Rounded(op, rounding) if ty.scalar != Scalar::F64 => match target.static_rounding {
            true if ty.scalar == Scalar::F32 => None,
            true => Some(halves.rounded(e, op, rounding, a)),
            false => Some(directed::arithmetic(e, op, rounding, a)),
        },
        Op::FCmp(cc) if e.ty(a[0]).scalar == Scalar::F16 => {
            let (x, y) = (halves.widen(e, a[0]), halves.widen(e, a[1]));
            Some(e.fcmp(cc, x, y))
        }
        Op::Convert(op, rounding) => convert(e, target, halves, op, rounding, a[0], ty),
        Op::Unary(UnOp::RecipEstimate) if !target.estimates => Some(reciprocal(e, a[0])),
        Op::Unary(UnOp::RsqrtEstimate) if !target.estimates => {
            let root = e.unary(UnOp::Sqrt, a[0]);
            Some(reciprocal(e, root))
        }
        Op::Unary(op) if ty.lanes > 1 => bits::unary(e, target, op, a[0]),
        Op::Binary(op, _) => binary(e, target, op, a, ty),
        _ => None,
    }
}

fn reciprocal(e: &mut Emitter<'_>, x: Value) -> Value {
    let one = e.fconst(e.ty(x), 1.0);
    e.binary(BinOp::FDiv, one, x)
}

fn convert(
    e: &mut Emitter<'_>,
    target: &Target,
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
                let expands = op == ConvertOp::FToU && to == Scalar::I32;
                let expands = expands && e.ty(x).lanes > 1 && !target.unsigned_conversions;
                return expands.then(|| float_to_unsigned(e, x));
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
            let expands = op == ConvertOp::UToF && from == Scalar::I32 && to != Scalar::F16;
            let directed = rounding != Rounding::NearestEven;
            if expands && !directed && e.ty(x).lanes > 1 && !target.unsigned_conversions {
                return Some(unsigned_to_float(e, x, to));
            }
            directed::from_integer(e, target, op, rounding, x, to)
        }
        ConvertOp::FToF => halves.convert(e, rounding, x, to),
        ConvertOp::Trunc | ConvertOp::ZExt | ConvertOp::SExt | ConvertOp::Bitcast => None,
    }
}

/// From unsigned 32-bit integers: their halves are exact, so that only the sum is rounded.
fn unsigned_to_float(e: &mut Emitter<'_>, x: Value, to: Scalar) -> Value {
    let high = e.binary_imm(BinOp::LShr, x, 16);
    let low = e.binary_imm(BinOp::And, x, 0xffff);
    let high = e.convert(ConvertOp::SToF, high, to);
    let low = e.convert(ConvertOp::SToF, low, to);
    let unit = e.fconst(e.ty(high), 65536.0);
    let high = e.binary(BinOp::FMul, high, unit);
    e.binary(BinOp::FAdd, high, low)
}

/// To unsigned 32-bit integers toward zero: from 2^31 on, of what is left without that.
fn float_to_unsigned(e: &mut Emitter<'_>, x: Value) -> Value {
    let signed = |e: &mut Emitter<'_>, x| {
        e.convert_rounding(ConvertOp::FToS, Rounding::Zero, x, Scalar::I32)
    };
    let half = e.fconst(e.ty(x), 2f64.powi(31));
    let small = signed(e, x);
    let small = e.binary_imm(BinOp::SMax, small, 0);
    let rest = e.binary(BinOp::FSub, x, half);
    let rest = signed(e, rest);
    let large = e.binary_imm(BinOp::Xor, rest, 1 << 31);
    let is_large = e.fcmp(FloatCC::Oge, x, half);
    e.select(is_large, large, small)
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

fn binary(e: &mut Emitter<'_>, target: &Target, op: BinOp, a: &[Value], ty: Type) -> Option<Value> {
    let scalar = ty.scalar;
    let vector = ty.lanes > 1;
    match op {
        BinOp::IMul if vector && scalar == Scalar::I8 => {
            Some(in_twice_the_width(e, BinOp::IMul, a, true, 0))
        }
        BinOp::SMulHi | BinOp::UMulHi if vector && !target.has_high_products(scalar) => {
            let signed = op == BinOp::SMulHi;
            Some(match scalar {
                Scalar::I64 => high_product(e, signed, a[0], a[1]),
                _ => in_twice_the_width(e, BinOp::IMul, a, signed, scalar.bits()),
            })
        }
        BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotl if vector => {
            bits::shift(e, target, op, a[0], a[1])
        }
        BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax
            if vector && scalar == Scalar::I64 && !target.wide_integers =>
        {
            let cc = match op {
                BinOp::SMin => IntCC::Slt,
                BinOp::SMax => IntCC::Sgt,
                BinOp::UMin => IntCC::Ult,
                _ => IntCC::Ugt,
            };
            let first = e.icmp(cc, a[0], a[1]);
            Some(e.select(first, a[0], a[1]))
        }
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

/// The high half of a product of 64-bit integers, from products of their halves.
fn high_product(e: &mut Emitter<'_>, signed: bool, a: Value, b: Value) -> Value {
    let low = |e: &mut Emitter<'_>, v| e.binary_imm(BinOp::And, v, 0xffff_ffff);
    let high = |e: &mut Emitter<'_>, v| e.binary_imm(BinOp::LShr, v, 32);
    let (a_low, a_high) = (low(e, a), high(e, a));
    let (b_low, b_high) = (low(e, b), high(e, b));
    let lows = e.binary(BinOp::IMul, a_low, b_low);
    let carry = high(e, lows);
    let middle = e.binary(BinOp::IMul, a_high, b_low);
    let middle = e.binary(BinOp::IAdd, middle, carry);
    let other = e.binary(BinOp::IMul, a_low, b_high);
    let carry = low(e, middle);
    let other = e.binary(BinOp::IAdd, other, carry);
    let highs = e.binary(BinOp::IMul, a_high, b_high);
    let (middle, other) = (high(e, middle), high(e, other));
    let sum = e.binary(BinOp::IAdd, highs, middle);
    let mut product = e.binary(BinOp::IAdd, sum, other);
    if signed {
        // A negative factor counts 2^64 more when it is read as unsigned.
        for (factor, by) in [(a, b), (b, a)] {
            let negative = e.icmp_imm(IntCC::Slt, factor, 0);
            let zero = e.iconst(e.ty(by), 0);
            let excess = e.select(negative, by, zero);
            product = e.binary(BinOp::ISub, product, excess);
        }
    }
    product
}
