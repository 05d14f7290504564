//! Bits counted, reversed and moved around, of one integer.

use crate::ast;
use crate::builtins::Lowering;
use crate::hir::{BinaryOp, Comparison, Conversion, ExprId, ExprKind};
use crate::sema::Sema;
use crate::spirv::std;
use crate::token::Loc;
use crate::types::{Scalar, Types};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bits {
    PopCount,
    LeadingZeros,
    TrailingZeros,
    /// One more than the number of the lowest bit that is set; 0 of 0.
    FindFirst,
    Parity,
    SwapBytes,
    Reverse,
    /// `clrsb`: how many bits below the sign are like it.
    SignCopies,
}

/// What a name says and the type of its argument.
fn parse(stem: &str) -> Option<(Bits, Scalar)> {
    for (name, bits, short) in [
        ("popcount", Bits::PopCount, Scalar::UInt),
        ("clz", Bits::LeadingZeros, Scalar::UInt),
        ("ctz", Bits::TrailingZeros, Scalar::UInt),
        ("ffs", Bits::FindFirst, Scalar::Int),
        ("parity", Bits::Parity, Scalar::UInt),
        ("clrsb", Bits::SignCopies, Scalar::Int),
    ] {
        let Some(suffix) = stem.strip_prefix(name) else {
            continue;
        };
        let scalar = match suffix {
            "" => short,
            "s" if matches!(name, "clz" | "ctz") => Scalar::UShort,
            "l" | "ll" => Scalar::integer(64, short.is_signed()),
            _ => return None,
        };
        return Some((bits, scalar));
    }
    let (bits, width) = if let Some(width) = stem.strip_prefix("bswap") {
        (Bits::SwapBytes, width)
    } else {
        (Bits::Reverse, stem.strip_prefix("bitreverse")?)
    };
    let scalar = match (width, bits) {
        ("8", Bits::Reverse) => Scalar::UChar,
        ("16", _) => Scalar::UShort,
        ("32", _) => Scalar::UInt,
        ("64", _) => Scalar::ULong,
        _ => return None,
    };
    Some((bits, scalar))
}

impl Bits {
    /// Of a constant of so many bits; `None` where it is not defined.
    fn fold(self, value: u64, width: u32) -> Option<u64> {
        let value = value & (u64::MAX >> (64 - width));
        let spare = 64 - width;
        Some(match self {
            Bits::PopCount => value.count_ones().into(),
            Bits::Parity => u64::from(value.count_ones() & 1),
            Bits::LeadingZeros if value != 0 => u64::from(value.leading_zeros() - spare),
            Bits::TrailingZeros if value != 0 => value.trailing_zeros().into(),
            Bits::LeadingZeros | Bits::TrailingZeros => return None,
            Bits::FindFirst if value == 0 => 0,
            Bits::FindFirst => u64::from(value.trailing_zeros() + 1),
            Bits::SwapBytes => value.swap_bytes() >> spare,
            Bits::Reverse => value.reverse_bits() >> spare,
            Bits::SignCopies => {
                let signed = ((value << spare) as i64) >> spare;
                let differs = (signed ^ (signed >> 63)) as u64;
                u64::from(differs.leading_zeros() - spare - 1)
            }
        })
    }
}

impl Sema<'_> {
    pub(super) fn bit_intrinsic(
        &mut self,
        stem: &str,
        args: &[ast::ExprId],
        loc: Loc,
    ) -> Option<ExprId> {
        if let (Some(rotation), [value, amount]) = (stem.strip_prefix("rotate"), args) {
            return self.rotate(rotation, *value, *amount, loc);
        }
        let (bits, scalar) = parse(stem)?;
        let &[arg] = args else {
            return None;
        };
        let value = self.argument_as(arg, scalar);
        let keeps_type = matches!(bits, Bits::SwapBytes | Bits::Reverse);
        let result = if keeps_type { scalar } else { Scalar::Int };
        if let Some(known) = self.eval_integer(value)
            && let Some(folded) = bits.fold(known, scalar.bits())
        {
            let ty = self.types.scalar(result);
            return Some(self.int_constant(folded, ty, loc));
        }
        let ty = self.types.scalar(scalar);
        let value = match bits {
            Bits::PopCount => self.builtin(Lowering::Std(std::popcount), vec![value], ty, loc),
            Bits::LeadingZeros => self.builtin(Lowering::Std(std::clz), vec![value], ty, loc),
            Bits::TrailingZeros => self.builtin(Lowering::Std(std::ctz), vec![value], ty, loc),
            Bits::Reverse => self.builtin(Lowering::BitReverse, vec![value], ty, loc),
            Bits::SwapBytes => self.reverse_bytes(value, scalar, loc),
            Bits::Parity => {
                let count = self.builtin(Lowering::Std(std::popcount), vec![value], ty, loc);
                let one = self.int_constant(1, ty, loc);
                self.add(ExprKind::Binary(BinaryOp::And, count, one), ty, loc)
            }
            Bits::FindFirst => {
                let (bind, value) = self.bind(value, loc);
                let zeros = self.builtin(Lowering::Std(std::ctz), vec![value], ty, loc);
                let [zero, one] = [0, 1].map(|number| self.int_constant(number, ty, loc));
                let found = self.add(ExprKind::Binary(BinaryOp::Add, zeros, one), ty, loc);
                let is_zero = ExprKind::Compare(Comparison::Eq, value, zero);
                let is_zero = self.add(is_zero, Types::TRUTH, loc);
                let chosen = self.add(ExprKind::Conditional(is_zero, zero, found), ty, loc);
                self.add(ExprKind::Sequence(vec![bind, chosen]), ty, loc)
            }
            Bits::SignCopies => {
                let (bind, value) = self.bind(value, loc);
                let amount = self.int_constant(u64::from(scalar.bits() - 1), ty, loc);
                let sign = self.add(ExprKind::Binary(BinaryOp::Shr, value, amount), ty, loc);
                let differs = self.add(ExprKind::Binary(BinaryOp::Xor, value, sign), ty, loc);
                let zeros = self.builtin(Lowering::Std(std::clz), vec![differs], ty, loc);
                let one = self.int_constant(1, ty, loc);
                let copies = self.add(ExprKind::Binary(BinaryOp::Sub, zeros, one), ty, loc);
                self.add(ExprKind::Sequence(vec![bind, copies]), ty, loc)
            }
        };
        Some(self.arithmetic_as(value, result))
    }

    /// As a vector of bytes whose components change places.
    fn reverse_bytes(&mut self, value: ExprId, scalar: Scalar, loc: Loc) -> ExprId {
        let bytes = (scalar.bits() / 8) as u8;
        let vector = self.types.vector(Scalar::UChar, bytes);
        let split = self.add(ExprKind::Convert(Conversion::Bits, value), vector, loc);
        let lanes = (0..bytes).rev().map(Some).collect();
        let reversed = self.add(ExprKind::Shuffle(split, None, lanes), vector, loc);
        let ty = self.types.scalar(scalar);
        self.add(ExprKind::Convert(Conversion::Bits, reversed), ty, loc)
    }

    /// `left32` and the like.
    fn rotate(
        &mut self,
        rotation: &str,
        value: ast::ExprId,
        amount: ast::ExprId,
        loc: Loc,
    ) -> Option<ExprId> {
        let (is_left, width) = match rotation.strip_prefix("left") {
            Some(width) => (true, width),
            None => (false, rotation.strip_prefix("right")?),
        };
        let scalar = match width {
            "8" => Scalar::UChar,
            "16" => Scalar::UShort,
            "32" => Scalar::UInt,
            "64" => Scalar::ULong,
            _ => return None,
        };
        let value = self.argument_as(value, scalar);
        let mut amount = self.argument_as(amount, scalar);
        let ty = self.types.scalar(scalar);
        if !is_left {
            let negate = ExprKind::Unary(crate::hir::UnaryOp::Negate, amount);
            amount = self.add(negate, ty, loc);
        }
        Some(self.builtin(Lowering::Std(std::rotate), vec![value, amount], ty, loc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_fold_as_the_instructions_compute() {
        let of = |name: &str, value: u64| {
            let (bits, scalar) = parse(name).expect("a name");
            bits.fold(value, scalar.bits())
        };
        assert_eq!(of("popcount", 7 | 1 << 40), Some(3));
        assert_eq!(of("popcountll", 7 | 1 << 40), Some(4));
        assert_eq!(of("clz", 1), Some(31));
        assert_eq!(of("clz", 0), None);
        assert_eq!(of("ctzl", 1 << 40), Some(40));
        assert_eq!(of("ffs", 0), Some(0));
        assert_eq!(of("ffs", 8), Some(4));
        assert_eq!(of("parity", 7), Some(1));
        assert_eq!(of("bswap32", 0x0102_0304), Some(0x0403_0201));
        assert_eq!(of("bswap16", 0x0102), Some(0x0201));
        assert_eq!(of("bitreverse8", 1), Some(128));
        assert_eq!(of("clrsb", u64::MAX), Some(31));
        assert_eq!(of("clrsb", 1), Some(30));
        assert_eq!(parse("popcounts"), None);
        assert_eq!(parse("bswap8"), None);
    }
}
