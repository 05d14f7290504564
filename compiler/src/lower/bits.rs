//! Counts and shifts of bits that vectors lack.

use super::emit::Emitter;
use crate::ir::{BinOp, ConvertOp, IntCC, Op, Scalar, Type, UnOp, Value};
use crate::target::Target;

/// Expands a count or reversal of the bits of vectors, if the target has none.
pub fn unary(e: &mut Emitter<'_>, target: &Target, op: UnOp, x: Value) -> Option<Value> {
    let scalar = e.ty(x).scalar;
    match op {
        UnOp::PopCount if target.has_popcount(scalar) => None,
        UnOp::PopCount => Some(pop_count(e, target, x)),
        UnOp::Ctz => {
            // The bits below the lowest set one.
            let less = e.binary_imm(BinOp::ISub, x, 1);
            let clear = e.unary(UnOp::Not, x);
            let below = e.binary(BinOp::And, less, clear);
            if target.has_popcount(Scalar::I32) || !target.leading_zeros {
                return Some(pop_count(e, target, below));
            }
            let wide = scalar.bits().max(32);
            let zeros = leading_zeros(e, below);
            let all = e.iconst(e.ty(zeros), wide.into());
            let ones = e.binary(BinOp::ISub, all, zeros);
            Some(e.convert(ConvertOp::Trunc, ones, scalar))
        }
        UnOp::Clz if target.leading_zeros && scalar.bits() >= 32 => None,
        UnOp::Clz if target.leading_zeros => {
            let zeros = leading_zeros(e, x);
            let own = e.binary_imm(BinOp::ISub, zeros, u64::from(32 - scalar.bits()));
            Some(e.convert(ConvertOp::Trunc, own, scalar))
        }
        UnOp::Clz if lacks_shifts(target, scalar) => {
            let wide = e.convert(ConvertOp::ZExt, x, Scalar::I16);
            let zeros = e.unary(UnOp::Clz, wide);
            let own = e.binary_imm(BinOp::ISub, zeros, 8);
            Some(e.convert(ConvertOp::Trunc, own, scalar))
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
            Some(pop_count(e, target, clear))
        }
        UnOp::BitReverse if lacks_shifts(target, scalar) => {
            let wide = e.convert(ConvertOp::ZExt, x, Scalar::I16);
            let reversed = e.unary(UnOp::BitReverse, wide);
            let own = e.binary_imm(BinOp::LShr, reversed, 8);
            Some(e.convert(ConvertOp::Trunc, own, scalar))
        }
        UnOp::BitReverse => Some(reverse(e, x)),
        _ => None,
    }
}

fn lacks_shifts(target: &Target, scalar: Scalar) -> bool {
    !target.has_shift(BinOp::LShr, scalar, false)
}

/// Of 32 bits at least.
fn leading_zeros(e: &mut Emitter<'_>, x: Value) -> Value {
    let wide = match e.ty(x).scalar {
        Scalar::I64 => x,
        _ => e.convert(ConvertOp::ZExt, x, Scalar::I32),
    };
    e.unary(UnOp::Clz, wide)
}

fn reverse(e: &mut Emitter<'_>, x: Value) -> Value {
    let scalar = e.ty(x).scalar;
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
    v
}

/// The constant whose `width`-bit groups each hold `pattern`.
fn repeat(scalar: Scalar, pattern: u64, width: u32) -> u64 {
    (0..64 / width).fold(0, |acc, i| acc | pattern << (i * width)) & scalar.mask()
}

/// Counts set bits by whatever means the target has.
fn pop_count(e: &mut Emitter<'_>, target: &Target, x: Value) -> Value {
    let scalar = e.ty(x).scalar;
    if target.has_popcount(scalar) {
        return e.unary(UnOp::PopCount, x);
    }
    let wider = if scalar.bits() < 32 && target.has_popcount(Scalar::I32) {
        Scalar::I32
    } else if lacks_shifts(target, scalar) {
        Scalar::I16
    } else {
        return sum_bits(e, x);
    };
    let wide = e.convert(ConvertOp::ZExt, x, wider);
    let count = pop_count(e, target, wide);
    e.convert(ConvertOp::Trunc, count, scalar)
}

/// Counts set bits: pairs, nibbles, bytes, then the bytes' sum.
fn sum_bits(e: &mut Emitter<'_>, x: Value) -> Value {
    let scalar = e.ty(x).scalar;
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

/// Expands a shift or rotation of vectors, if the target has none.
pub fn shift(
    e: &mut Emitter<'_>,
    target: &Target,
    op: BinOp,
    x: Value,
    by: Value,
) -> Option<Value> {
    let ty = e.ty(x);
    let amount = Amount::of(e, by);
    let by_lane = matches!(amount, Amount::Lanes(_));
    if target.has_shift(op, ty.scalar, by_lane) {
        return None;
    }
    let bits = ty.scalar.bits();
    if op == BinOp::Rotl && bits > 8 {
        if matches!(amount, Amount::Constant(n) if target.has_rotation_by(n)) {
            return None;
        }
        let left = e.binary(BinOp::Shl, x, by);
        let back = amount.negated(e, ty);
        let right = e.binary(BinOp::LShr, x, back);
        return Some(e.binary(BinOp::Or, left, right));
    }
    if op == BinOp::AShr && bits == 64 {
        // The bits of a negative number are flipped meanwhile, so that zeros come in for ones.
        let negative = e.icmp_imm(IntCC::Slt, x, 0);
        let (ones, zero) = (e.iconst(ty, u64::MAX), e.iconst(ty, 0));
        let flip = e.select(negative, ones, zero);
        let magnitude = e.binary(BinOp::Xor, x, flip);
        let shifted = e.binary(BinOp::LShr, magnitude, by);
        return Some(e.binary(BinOp::Xor, shifted, flip));
    }
    let wider = [Scalar::I16, Scalar::I32].into_iter();
    let mut wider = wider.filter(|wide| wide.bits() > bits);
    let wide = wider.find(|&wide| target.has_shift(BinOp::Shl, wide, by_lane))?;
    let by = amount.extended(e, ty.with_scalar(wide), bits - 1);
    let result = match op {
        BinOp::Rotl => {
            let x = e.convert(ConvertOp::ZExt, x, wide);
            let again = e.binary_imm(BinOp::Shl, x, bits.into());
            let twice = e.binary(BinOp::Or, x, again);
            let rotated = e.binary(BinOp::Shl, twice, by);
            e.binary_imm(BinOp::LShr, rotated, bits.into())
        }
        BinOp::AShr => {
            let x = e.convert(ConvertOp::SExt, x, wide);
            e.binary(op, x, by)
        }
        _ => {
            let x = e.convert(ConvertOp::ZExt, x, wide);
            e.binary(op, x, by)
        }
    };
    Some(e.convert(ConvertOp::Trunc, result, ty.scalar))
}

/// By how much lanes are shifted.
#[derive(Clone, Copy)]
enum Amount {
    Constant(u64),
    /// All by this value of one lane.
    Same(Value),
    Lanes(Value),
}

impl Amount {
    fn of(e: &Emitter<'_>, by: Value) -> Amount {
        match e.func.def_inst(by).map(|inst| &e.func.insts[inst]) {
            Some(data) => match data.op {
                Op::Const(bits) => Amount::Constant(bits),
                Op::Splat => Amount::Same(data.args[0]),
                _ => Amount::Lanes(by),
            },
            None => Amount::Lanes(by),
        }
    }

    /// As lanes of `ty`.
    fn emit(self, e: &mut Emitter<'_>, ty: Type) -> Value {
        match self {
            Amount::Constant(bits) => e.iconst(ty, bits),
            Amount::Same(one) => e.emit(Op::Splat, &[one], ty),
            Amount::Lanes(lanes) => lanes,
        }
    }

    fn negated(self, e: &mut Emitter<'_>, ty: Type) -> Value {
        let negated = match self {
            Amount::Constant(bits) => Amount::Constant(bits.wrapping_neg()),
            Amount::Same(one) => Amount::Same(e.unary(UnOp::INeg, one)),
            Amount::Lanes(lanes) => Amount::Lanes(e.unary(UnOp::INeg, lanes)),
        };
        negated.emit(e, ty)
    }

    /// Those bits of the amount that `mask` has, as lanes of a wider type.
    fn extended(self, e: &mut Emitter<'_>, ty: Type, mask: u32) -> Value {
        let mut extend = |v| {
            let wide = e.convert(ConvertOp::ZExt, v, ty.scalar);
            e.binary_imm(BinOp::And, wide, mask.into())
        };
        let extended = match self {
            Amount::Constant(bits) => Amount::Constant(bits & u64::from(mask)),
            Amount::Same(one) => Amount::Same(extend(one)),
            Amount::Lanes(lanes) => Amount::Lanes(extend(lanes)),
        };
        extended.emit(e, ty)
    }
}
