//! Half precision without half-precision arithmetic: single precision, and bit operations where the
//! target does not convert.
//!
//! Sums, products, quotients and square roots computed in single precision and rounded to half are
//! correctly rounded: 24 bits are at least twice 11 plus two (Figueroa, "When is double rounding
//! innocuous?").
//!
//! Each result is a half twice: as a number in single precision, rounded to what a half holds, and
//! as the half itself. What goes on with it takes the single; the half is dead code, unless it is
//! stored or leaves its block.

use std::collections::HashMap;

use super::emit::Emitter;
use super::rounding;
use crate::ir::{Arith, BinOp, Block, ConvertOp, InstData, Op, Rounding, Scalar, UnOp, Value};
use crate::target::Target;

/// The halves of a function that are known in single precision.
pub struct Halves {
    target: Target,
    /// The single was made with the half, and is there wherever the half is.
    made: HashMap<Value, Value>,
    /// The single was made from the half, in this block.
    widened: HashMap<(Block, Value), Value>,
}

impl Halves {
    pub fn new(target: &Target) -> Halves {
        Halves {
            target: *target,
            made: HashMap::new(),
            widened: HashMap::new(),
        }
    }

    /// Whether nothing was made that may not have been needed.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// The same number in single precision.
    pub fn widen(&mut self, e: &mut Emitter<'_>, x: Value) -> Value {
        if let Some(&single) = self.made.get(&x) {
            return single;
        }
        if let Some(&single) = self.widened.get(&(e.block, x)) {
            return single;
        }
        let single = match self.target.f16_conversions {
            true => e.convert(ConvertOp::FToF, x, Scalar::F32),
            false => to_single(e, x),
        };
        self.widened.insert((e.block, x), single);
        single
    }

    /// The half that is nearest to a single.
    fn narrow(&mut self, e: &mut Emitter<'_>, x: Value) -> Value {
        if self.target.f16_conversions {
            return e.convert(ConvertOp::FToF, x, Scalar::F16);
        }
        let rounded = round(e, x);
        self.narrow_exactly(e, rounded)
    }

    /// The half of a single that one holds.
    fn narrow_exactly(&mut self, e: &mut Emitter<'_>, x: Value) -> Value {
        let half = match self.target.f16_conversions {
            true => e.convert(ConvertOp::FToF, x, Scalar::F16),
            false => from_single(e, x),
        };
        self.made.insert(half, x);
        half
    }

    pub fn unary(&mut self, e: &mut Emitter<'_>, op: UnOp, x: Value) -> Value {
        let sign_trick = match op {
            UnOp::FNeg => Some((BinOp::Xor, 0x8000)),
            UnOp::FAbs => Some((BinOp::And, 0x7fff)),
            _ => None,
        };
        if let Some((trick, bits)) = sign_trick {
            let ints = e.bitcast(x, Scalar::I16);
            let ints = e.binary_imm(trick, ints, bits);
            let half = e.bitcast(ints, Scalar::F16);
            if let Some(&single) = self.made.get(&x) {
                let single = e.unary(op, single);
                self.made.insert(half, single);
            }
            return half;
        }
        let wide = self.widen(e, x);
        let result = e.unary(op, wide);
        match op {
            UnOp::Sqrt | UnOp::RecipEstimate | UnOp::RsqrtEstimate => self.narrow(e, result),
            // Integral numbers next to a half are halves.
            _ => self.narrow_exactly(e, result),
        }
    }

    pub fn binary(&mut self, e: &mut Emitter<'_>, op: BinOp, x: Value, y: Value) -> Value {
        if op == BinOp::CopySign {
            let (x, y) = (e.bitcast(x, Scalar::I16), e.bitcast(y, Scalar::I16));
            let magnitude = e.binary_imm(BinOp::And, x, 0x7fff);
            let sign = e.binary_imm(BinOp::And, y, 0x8000);
            let both = e.binary(BinOp::Or, magnitude, sign);
            return e.bitcast(both, Scalar::F16);
        }
        let (mut x, y) = (self.widen(e, x), self.widen(e, y));
        if op == BinOp::FScale {
            // Only quiet NaNs are the same to it on all targets, and a product is.
            let one = e.fconst(e.ty(x), 1.0);
            x = e.binary(BinOp::FMul, x, one);
        }
        let result = e.binary(op, x, y);
        match op {
            BinOp::FMin | BinOp::FMax | BinOp::FRem => self.narrow_exactly(e, result),
            _ => self.narrow(e, result),
        }
    }

    /// The product is exact in single precision, and the sum is rounded to odd there, which keeps
    /// what the second rounding needs.
    pub fn fma(&mut self, e: &mut Emitter<'_>, args: &[Value]) -> Value {
        let (x, y) = (self.widen(e, args[0]), self.widen(e, args[1]));
        let z = self.widen(e, args[2]);
        let sum = if self.target.static_rounding {
            rounding::odd_fma(e, x, y, z)
        } else {
            let product = e.binary(BinOp::FMul, x, y);
            rounding::odd_sum(e, product, z)
        };
        self.narrow(e, sum)
    }

    /// In a direction that single precision has, too: rounding twice in one direction is rounding
    /// once.
    pub fn rounded(
        &mut self,
        e: &mut Emitter<'_>,
        op: Arith,
        rounding: Rounding,
        args: &[Value],
    ) -> Value {
        let wide: Vec<Value> = args.iter().map(|&x| self.widen(e, x)).collect();
        let ty = e.ty(wide[0]);
        let result = e.emit(Op::Rounded(op, rounding), &wide, ty);
        e.convert_rounding(ConvertOp::FToF, rounding, result, Scalar::F16)
    }

    /// A choice between halves that are known in single precision is one, too.
    pub fn select(&mut self, e: &mut Emitter<'_>, data: &InstData) -> Option<Value> {
        let [cond, x, y] = data.args[..] else {
            return None;
        };
        let (&wide_x, &wide_y) = (self.made.get(&x)?, self.made.get(&y)?);
        let half = e.emit(Op::Select, &[cond, x, y], e.ty(x));
        let single = e.select(cond, wide_x, wide_y);
        self.made.insert(half, single);
        Some(half)
    }

    /// Conversions between floating-point types, but for the machine's.
    pub fn convert(
        &mut self,
        e: &mut Emitter<'_>,
        rounding: Rounding,
        x: Value,
        to: Scalar,
    ) -> Option<Value> {
        let from = e.ty(x).scalar;
        let directed = rounding != Rounding::NearestEven;
        let (converts, rounds) = (self.target.f16_conversions, self.target.static_rounding);
        match (from, to) {
            (Scalar::F16, Scalar::F32) if converts => {
                directed.then(|| e.convert(ConvertOp::FToF, x, to))
            }
            (Scalar::F16, Scalar::F32) => Some(self.widen(e, x)),
            (Scalar::F16, Scalar::F64) => {
                let single = self.widen(e, x);
                Some(e.convert(ConvertOp::FToF, single, Scalar::F64))
            }
            // Widening is exact in every mode.
            (Scalar::F32, Scalar::F64) => directed.then(|| e.convert(ConvertOp::FToF, x, to)),
            (Scalar::F32, Scalar::F16) if converts => None,
            (Scalar::F64, Scalar::F16) if converts => {
                let single = match directed && rounds {
                    true => e.convert_rounding(ConvertOp::FToF, rounding, x, Scalar::F32),
                    false => rounding::double_to_odd_single(e, &self.target, x),
                };
                Some(e.convert_rounding(ConvertOp::FToF, rounding, single, to))
            }
            (Scalar::F64, Scalar::F32) if rounds => None,
            _ if directed => Some(rounding::narrow(e, rounding, x, to)),
            (Scalar::F32, Scalar::F16) => Some(self.narrow(e, x)),
            (Scalar::F64, Scalar::F16) => {
                let single = rounding::double_to_odd_single(e, &self.target, x);
                Some(self.narrow(e, single))
            }
            _ => None,
        }
    }
}

/// Moves exponent and significand to their places and scales by the difference of the biases, which
/// also normalises subnormals. Infinities and NaN, which are 65536 and more then, overflow when
/// scaled once more, and scaled back are infinities still; other numbers come back as they were. So
/// the bits of both together have the largest exponent where it belongs.
fn to_single(e: &mut Emitter<'_>, x: Value) -> Value {
    let moved = match high_half(e, x) {
        Some(word) => e.binary_imm(BinOp::AShr, word, 3),
        None => {
            let bits = e.bitcast(x, Scalar::I16);
            let bits = e.convert(ConvertOp::SExt, bits, Scalar::I32);
            e.binary_imm(BinOp::Shl, bits, 13)
        }
    };
    let moved = e.binary_imm(BinOp::And, moved, 0x8fff_e000);
    let unscaled = e.bitcast(moved, Scalar::F32);
    let ty = e.ty(unscaled);
    let (up, down) = (e.fconst(ty, 2f64.powi(112)), e.fconst(ty, 2f64.powi(-112)));
    let scaled = e.binary(BinOp::FMul, unscaled, up);
    let beyond = e.binary(BinOp::FMul, scaled, up);
    let back = e.binary(BinOp::FMul, beyond, down);
    let (scaled, back) = (e.bitcast(scaled, Scalar::I32), e.bitcast(back, Scalar::I32));
    let result = e.binary(BinOp::Or, scaled, back);
    e.bitcast(result, Scalar::F32)
}

/// A word whose upper half is a half, if it was taken from a word: so that it need not be packed
/// with its neighbours and unpacked.
fn high_half(e: &mut Emitter<'_>, x: Value) -> Option<Value> {
    let def = |e: &Emitter<'_>, value| e.func.def_inst(value).map(|i| e.func.insts[i].clone());
    let cast = def(e, x).filter(|data| matches!(data.op, Op::Convert(ConvertOp::Bitcast, _)))?;
    let low = def(e, cast.args[0]);
    let low = low.filter(|data| matches!(data.op, Op::Convert(ConvertOp::Trunc, _)))?;
    let word = low.args[0];
    if e.ty(word).scalar != Scalar::I32 {
        return None;
    }
    let moved = def(e, word).filter(|data| matches!(data.op, Op::Binary(BinOp::LShr, _)));
    match moved {
        Some(moved) if e.func.as_const(moved.args[1]) == Some(16) => Some(moved.args[0]),
        _ => Some(e.binary_imm(BinOp::Shl, word, 16)),
    }
}

/// Rounds a single to the nearest that a half holds, in single precision.
///
/// 1.5 times the power of two whose unit is the result's is added and taken away again. The unit is
/// 2^-10 of the number's own power of two, and for half's subnormal numbers 2^-24.
fn round(e: &mut Emitter<'_>, x: Value) -> Value {
    const ONE_AND_A_HALF_BY_2_TO_13: u64 = 13 << 23 | 1 << 22;
    let bits = e.bitcast(x, Scalar::I32);
    let power = e.binary_imm(BinOp::And, bits, 0xff << 23);
    let power = e.binary_imm(BinOp::SMax, power, (127 - 14) << 23);
    // All above is infinity in the end; this keeps the sum below it.
    let power = e.binary_imm(BinOp::SMin, power, (127 + 16) << 23);
    let large = e.binary_imm(BinOp::IAdd, power, ONE_AND_A_HALF_BY_2_TO_13);
    let large = e.bitcast(large, Scalar::F32);
    let sum = e.binary(BinOp::FAdd, x, large);
    let rounded = e.binary(BinOp::FSub, sum, large);
    // From 2^16 on, this overflows.
    let ty = e.ty(x);
    let (up, down) = (e.fconst(ty, 2f64.powi(112)), e.fconst(ty, 2f64.powi(-112)));
    let scaled = e.binary(BinOp::FMul, rounded, up);
    let limited = e.binary(BinOp::FMul, scaled, down);
    // A zero has lost its sign.
    let sign = e.binary_imm(BinOp::And, bits, 1 << 31);
    let limited = e.bitcast(limited, Scalar::I32);
    let result = e.binary(BinOp::Or, limited, sign);
    e.bitcast(result, Scalar::F32)
}

/// The encoding as a half of a single that one holds. Scaled by the difference of the biases,
/// subnormal numbers included, its exponent and significand are in place but for a shift.
fn from_single(e: &mut Emitter<'_>, x: Value) -> Value {
    let scale = e.fconst(e.ty(x), 2f64.powi(-112));
    let scaled = e.binary(BinOp::FMul, x, scale);
    let scaled = e.bitcast(scaled, Scalar::I32);
    let moved = e.binary_imm(BinOp::LShr, scaled, 13);
    let magnitude = e.binary_imm(BinOp::And, moved, 0x7fff);
    let bits = e.bitcast(x, Scalar::I32);
    let sign = e.binary_imm(BinOp::LShr, bits, 16);
    let sign = e.binary_imm(BinOp::And, sign, 0x8000);
    let result = e.binary(BinOp::Or, magnitude, sign);
    let result = e.convert(ConvertOp::Trunc, result, Scalar::I16);
    e.bitcast(result, Scalar::F16)
}
