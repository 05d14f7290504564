//! Functions of floating-point numbers that GNU C names by the type (`__builtin_sqrt`,
//! `__builtin_sqrtf`) and OpenCL C by the arguments.

use crate::ast;
use crate::hir::{Constant, ExprId, ExprKind};
use crate::sema::Sema;
use crate::token::Span;
use crate::types::{Scalar, Types};

/// Of numbers of one type, with how many.
const OF_NUMBERS: &[(&str, usize)] = &[
    ("acos", 1),
    ("acosh", 1),
    ("asin", 1),
    ("asinh", 1),
    ("atan", 1),
    ("atan2", 2),
    ("atanh", 1),
    ("cbrt", 1),
    ("ceil", 1),
    ("copysign", 2),
    ("cos", 1),
    ("cosh", 1),
    ("erf", 1),
    ("erfc", 1),
    ("exp", 1),
    ("exp2", 1),
    ("expm1", 1),
    ("fabs", 1),
    ("fdim", 2),
    ("floor", 1),
    ("fma", 3),
    ("fmax", 2),
    ("fmin", 2),
    ("fmod", 2),
    ("hypot", 2),
    ("log", 1),
    ("log10", 1),
    ("log1p", 1),
    ("log2", 1),
    ("logb", 1),
    ("nextafter", 2),
    ("pow", 2),
    ("remainder", 2),
    ("rint", 1),
    ("round", 1),
    ("sin", 1),
    ("sinh", 1),
    ("sqrt", 1),
    ("tan", 1),
    ("tanh", 1),
    ("tgamma", 1),
    ("trunc", 1),
];

/// Of arguments of any floating-point type, by OpenCL C's name.
const OF_ANY: &[(&str, &str, usize)] = &[
    ("isnan", "isnan", 1),
    ("isinf", "isinf", 1),
    ("isfinite", "isfinite", 1),
    ("isnormal", "isnormal", 1),
    ("signbit", "signbit", 1),
    ("isgreater", "isgreater", 2),
    ("isgreaterequal", "isgreaterequal", 2),
    ("isless", "isless", 2),
    ("islessequal", "islessequal", 2),
    ("islessgreater", "islessgreater", 2),
    ("isunordered", "isunordered", 2),
    ("signbitf", "signbit", 1),
    ("elementwise_acos", "acos", 1),
    ("elementwise_add_sat", "add_sat", 2),
    ("elementwise_asin", "asin", 1),
    ("elementwise_atan", "atan", 1),
    ("elementwise_atan2", "atan2", 2),
    ("elementwise_ceil", "ceil", 1),
    ("elementwise_copysign", "copysign", 2),
    ("elementwise_cos", "cos", 1),
    ("elementwise_cosh", "cosh", 1),
    ("elementwise_exp", "exp", 1),
    ("elementwise_exp10", "exp10", 1),
    ("elementwise_exp2", "exp2", 1),
    ("elementwise_floor", "floor", 1),
    ("elementwise_fma", "fma", 3),
    ("elementwise_fmod", "fmod", 2),
    ("elementwise_log", "log", 1),
    ("elementwise_log10", "log10", 1),
    ("elementwise_log2", "log2", 1),
    ("elementwise_max", "max", 2),
    ("elementwise_min", "min", 2),
    ("elementwise_nearbyint", "rint", 1),
    ("elementwise_popcount", "popcount", 1),
    ("elementwise_pow", "pow", 2),
    ("elementwise_rint", "rint", 1),
    ("elementwise_round", "round", 1),
    ("elementwise_roundeven", "rint", 1),
    ("elementwise_sin", "sin", 1),
    ("elementwise_sinh", "sinh", 1),
    ("elementwise_sqrt", "sqrt", 1),
    ("elementwise_sub_sat", "sub_sat", 2),
    ("elementwise_tan", "tan", 1),
    ("elementwise_tanh", "tanh", 1),
    ("elementwise_trunc", "trunc", 1),
];

/// The row of [`OF_NUMBERS`] that a name means, and the type it says.
fn of_numbers(stem: &str) -> Option<(&'static str, usize, Scalar)> {
    let find = |name: &str| OF_NUMBERS.iter().find(|(known, _)| *known == name);
    let (row, scalar) = if let Some(row) = find(stem) {
        (row, Scalar::Double)
    } else if let Some(stem) = stem.strip_suffix("f16") {
        (find(stem)?, Scalar::Half)
    } else {
        (find(stem.strip_suffix('f')?)?, Scalar::Float)
    };
    Some((row.0, row.1, scalar))
}

impl Sema<'_> {
    pub(super) fn math_intrinsic(
        &mut self,
        stem: &str,
        args: &[ast::ExprId],
        span: Span,
    ) -> Option<ExprId> {
        if let Some(id) = self.special_value(stem, args, span) {
            return Some(id);
        }
        if let Some((plain, arity, scalar)) = of_numbers(stem) {
            if arity != args.len() {
                return None;
            }
            // Without `double` all there is are `float`s.
            let scalar = match scalar {
                Scalar::Double if !self.has_fp64 => Scalar::Float,
                scalar => scalar,
            };
            let values: Vec<ExprId> = args
                .iter()
                .map(|&arg| self.argument_as(arg, scalar))
                .collect();
            return Some(self.call_with(plain, &values, span));
        }
        if let Some(&(_, plain, arity)) = OF_ANY.iter().find(|(name, ..)| *name == stem) {
            if arity != args.len() {
                return None;
            }
            let operands = self.arguments(args);
            let values: Vec<ExprId> = operands.iter().map(|&one| self.rvalue(one)).collect();
            let is_float = |sema: &Self, id| {
                let arithmetic = sema.arithmetic_of(id);
                arithmetic.is_some_and(|(scalar, _)| scalar.is_float())
            };
            let plain = match plain {
                "max" if is_float(self, values[0]) => "fmax",
                "min" if is_float(self, values[0]) => "fmin",
                plain => plain,
            };
            return Some(self.call_with(plain, &values, span));
        }
        match (stem, args) {
            ("ldexp" | "ldexpf", [number, exponent]) => {
                let is_double = stem == "ldexp" && self.has_fp64;
                let scalar = if is_double {
                    Scalar::Double
                } else {
                    Scalar::Float
                };
                let number = self.argument_as(*number, scalar);
                let exponent = self.argument_as(*exponent, Scalar::Int);
                Some(self.call_with("ldexp", &[number, exponent], span))
            }
            ("abs", [value]) => Some(self.absolute(*value, Scalar::Int, span)),
            ("labs" | "llabs", [value]) => Some(self.absolute(*value, Scalar::Long, span)),
            _ => None,
        }
    }

    pub(super) fn call_with(&mut self, plain: &str, values: &[ExprId], span: Span) -> ExprId {
        let plain = self.interner.intern(plain);
        let operands = values.iter().map(|&id| self.value(id, span)).collect();
        let result = self.call_plain_operands(plain, operands, span);
        self.rvalue(result)
    }

    /// OpenCL C's `abs` yields an unsigned integer, C's one of the same type.
    fn absolute(&mut self, value: ast::ExprId, scalar: Scalar, span: Span) -> ExprId {
        let value = self.argument_as(value, scalar);
        let result = self.call_with("abs", &[value], span);
        self.arithmetic_as(result, scalar)
    }

    /// Infinities and NaNs.
    fn special_value(&mut self, stem: &str, args: &[ast::ExprId], span: Span) -> Option<ExprId> {
        let (name, is_float) = match stem.strip_suffix('f') {
            // `inf` ends with its own.
            Some(name) if stem != "inf" => (name, true),
            _ => (stem, false),
        };
        let (double, single) = match (name, args) {
            ("huge_val" | "inf", []) => (f64::INFINITY.to_bits(), f32::INFINITY.to_bits()),
            ("nan", &[payload]) => {
                let operand = self.unevaluated(payload);
                let payload = self.rvalue(operand);
                let text = self.literal(payload)?;
                let payload = nan_payload(&text)?;
                (
                    f64::NAN.to_bits() | (payload & ((1 << 51) - 1)),
                    f32::NAN.to_bits() | (payload & ((1 << 22) - 1)) as u32,
                )
            }
            _ => return None,
        };
        let (bits, ty) = if is_float || !self.has_fp64 {
            (single.into(), Types::FLOAT)
        } else {
            (double, Types::DOUBLE)
        };
        let constant = ExprKind::Constant(Constant::Float(bits));
        Some(self.add(constant, ty, span.first))
    }
}

/// The number in a string, as `strtoull` reads it with base 0; an empty one is 0.
fn nan_payload(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok();
    }
    match text.strip_prefix('0') {
        Some("") => Some(0),
        Some(digits) => u64::from_str_radix(digits, 8).ok(),
        None if text.is_empty() => Some(0),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_their_type() {
        assert_eq!(of_numbers("sqrtf"), Some(("sqrt", 1, Scalar::Float)));
        assert_eq!(of_numbers("erf"), Some(("erf", 1, Scalar::Double)));
        assert_eq!(of_numbers("erff"), Some(("erf", 1, Scalar::Float)));
        assert_eq!(of_numbers("sqr"), None);
    }

    #[test]
    fn payloads_are_numbers_of_any_base() {
        assert_eq!(nan_payload(b""), Some(0));
        assert_eq!(nan_payload(b"0x1f"), Some(31));
        assert_eq!(nan_payload(b"017"), Some(15));
        assert_eq!(nan_payload(b"12"), Some(12));
        assert_eq!(nan_payload(b"1z"), None);
    }
}
