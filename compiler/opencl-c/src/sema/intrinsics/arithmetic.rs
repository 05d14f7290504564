//! Arithmetic that says whether it overflowed, operations on all lanes of a vector that yield a
//! scalar, and alignment of addresses and integers.

use crate::ast;
use crate::hir::{BinaryOp, Comparison, ExprId, ExprKind, UnaryOp};
use crate::sema::Sema;
use crate::token::{Loc, Span};
use crate::types::{Scalar, Type, Types};

impl Sema<'_> {
    pub(super) fn arithmetic_intrinsic(
        &mut self,
        stem: &str,
        args: &[ast::ExprId],
        span: Span,
    ) -> Option<ExprId> {
        if let (Some(stem), &[a, b, result]) = (stem.strip_suffix("_overflow"), args) {
            let (op, scalar) = checked_operation(stem)?;
            return self.checked(op, scalar, [a, b], result, span);
        }
        match (stem, args) {
            (_, &[vector]) => self.reduced(stem.strip_prefix("reduce_")?, vector, span),
            ("is_aligned" | "align_up" | "align_down", &[value, align]) => {
                self.alignment(stem, value, align, span)
            }
            _ => None,
        }
    }

    /// `__builtin_add_overflow(a, b, &result)` and its kind: the result as far as its type has
    /// bits, and whether the true one needs more.
    fn checked(
        &mut self,
        op: BinaryOp,
        scalar: Option<Scalar>,
        operands: [ast::ExprId; 2],
        result: ast::ExprId,
        span: Span,
    ) -> Option<ExprId> {
        let loc = span.first;
        let values = operands.map(|arg| match scalar {
            Some(scalar) => self.argument_as(arg, scalar),
            None => {
                let operand = self.expr(arg);
                self.rvalue(operand)
            }
        });
        let operand = self.expr(result);
        let pointer = self.rvalue(operand);
        let pointee = match *self.types.get(self.type_of(pointer)) {
            Type::Pointer { pointee, .. } if !pointee.quals.is_const => Some(pointee.ty),
            _ => None,
        };
        let target = pointee.and_then(|ty| match self.types.as_arithmetic(ty) {
            Some((scalar, 1)) if scalar.is_integer() && scalar != Scalar::Bool => Some(scalar),
            _ => None,
        });
        let Some(target) = target else {
            if !self.is_error(self.type_of(pointer)) {
                let name = self.quote_value(pointer);
                self.diags.error(
                    operand.span,
                    format!(
                        "result argument to overflow builtin must be a pointer to a non-const \
                         integer ({name} invalid)"
                    ),
                );
            }
            return Some(self.error_value(loc));
        };
        for (value, arg) in values.into_iter().zip(operands) {
            let is_integer = matches!(self.arithmetic_of(value), Some((s, 1)) if s.is_integer());
            if !is_integer {
                let (name, at) = (self.quote_value(value), self.ast[arg].span);
                self.diags.error(
                    at,
                    format!(
                        "operand argument to overflow builtin must be an integer ({name} invalid)"
                    ),
                );
                return Some(self.error_value(loc));
            }
        }
        self.note_escape(pointer);
        let (exact, wide) = self.common_width(values, target)?;
        let [a, b] = exact;
        let mut all = Vec::new();
        let [a, b, pointer] = [a, b, pointer].map(|value| {
            let (bind, value) = self.bind(value, loc);
            all.push(bind);
            value
        });
        let ty = self.types.scalar(wide);
        let sum = self.add(ExprKind::Binary(op, a, b), ty, loc);
        let sum = match wide.is_signed() {
            // Signed overflow must not be undefined here.
            true => self.wrapping(op, a, b, wide, loc),
            false => sum,
        };
        let (bind, sum) = self.bind(sum, loc);
        let narrow = self.arithmetic_as(sum, target);
        let store = self.plain_store(pointer, narrow, u64::from(target.bits() / 8), loc);
        all.extend([bind, store]);
        let overflows = if wide.bits() > target.bits() {
            let back = self.arithmetic_as(narrow, wide);
            self.add(
                ExprKind::Compare(Comparison::Ne, back, sum),
                Types::TRUTH,
                loc,
            )
        } else {
            self.overflows(op, [a, b, sum], wide, span)
        };
        let bool = self.types.scalar(Scalar::Bool);
        all.push(self.truth_as(overflows, bool, loc));
        Some(self.add(ExprKind::Sequence(all), bool, loc))
    }

    /// Operands in a type that has all their values: one wide enough for the result too, or that of
    /// the result. `None` if there is none.
    fn common_width(
        &mut self,
        values: [ExprId; 2],
        target: Scalar,
    ) -> Option<([ExprId; 2], Scalar)> {
        let scalars = values.map(|value| self.arithmetic_of(value).map_or(target, |(s, _)| s));
        let all_narrow = scalars.iter().all(|scalar| scalar.bits() <= 32);
        let any_signed = scalars.iter().any(|scalar| scalar.is_signed());
        let wide = if all_narrow && target.bits() <= 32 {
            // The difference of unsigned numbers may be negative; their product needs all bits.
            let is_signed = any_signed || target.is_signed();
            Scalar::integer(64, is_signed)
        } else {
            target
        };
        let fits = |sema: &Self, value: ExprId, from: Scalar| {
            let contains = from == wide
                || from.bits() < wide.bits() && (wide.is_signed() || !from.is_signed());
            let known = sema.eval_integer(value);
            contains || known.is_some_and(|bits| (bits as i64) >= 0)
        };
        let both = values.into_iter().zip(scalars);
        let fit = both.clone().all(|(value, from)| fits(self, value, from));
        fit.then(|| (values.map(|value| self.arithmetic_as(value, wide)), wide))
    }

    /// Signed arithmetic modulo the type's size.
    fn wrapping(&mut self, op: BinaryOp, a: ExprId, b: ExprId, scalar: Scalar, loc: Loc) -> ExprId {
        let unsigned = Scalar::integer(scalar.bits(), false);
        let [a, b] = [a, b].map(|value| self.arithmetic_as(value, unsigned));
        let ty = self.types.scalar(unsigned);
        let result = self.add(ExprKind::Binary(op, a, b), ty, loc);
        self.arithmetic_as(result, scalar)
    }

    /// Whether a result of the operands' own type is not the true one.
    fn overflows(
        &mut self,
        op: BinaryOp,
        [a, b, result]: [ExprId; 3],
        scalar: Scalar,
        span: Span,
    ) -> ExprId {
        let (ty, loc) = (self.types.scalar(scalar), span.first);
        let zero = self.int_constant(0, ty, loc);
        let compare = |sema: &mut Self, comparison, a, b| {
            sema.add(ExprKind::Compare(comparison, a, b), Types::TRUTH, loc)
        };
        let binary = |sema: &mut Self, op, a, b| sema.add(ExprKind::Binary(op, a, b), ty, loc);
        match (op, scalar.is_signed()) {
            (BinaryOp::Mul, signed) => {
                let high = self.call_with("mul_hi", &[a, b], span);
                let expected = match signed {
                    true => {
                        let bits = self.int_constant(u64::from(scalar.bits() - 1), ty, loc);
                        binary(self, BinaryOp::Shr, result, bits)
                    }
                    false => zero,
                };
                compare(self, Comparison::Ne, high, expected)
            }
            (BinaryOp::Add, false) => compare(self, Comparison::Lt, result, a),
            (_, false) => compare(self, Comparison::Lt, a, b),
            // The sign is wrong: that of neither operand of a sum, of a difference that of the
            // second one.
            (_, true) => {
                let one = binary(self, BinaryOp::Xor, a, result);
                let other = match op {
                    BinaryOp::Add => binary(self, BinaryOp::Xor, b, result),
                    _ => binary(self, BinaryOp::Xor, a, b),
                };
                let both = binary(self, BinaryOp::And, one, other);
                compare(self, Comparison::Lt, both, zero)
            }
        }
    }

    /// `__builtin_reduce_add` and its kind: in order of the lanes.
    fn reduced(&mut self, operation: &str, vector: ast::ExprId, span: Span) -> Option<ExprId> {
        let loc = span.first;
        let operand = self.expr(vector);
        let value = self.rvalue(operand);
        let ty = self.type_of(value);
        let Type::Vector(scalar, lanes) = *self.types.get(ty) else {
            if !self.is_error(ty) {
                let name = self.quote(ty);
                self.diags.error(
                    operand.span,
                    format!("1st argument must be a vector type (was {name})"),
                );
            }
            return Some(self.error_value(loc));
        };
        let op = match operation {
            "add" => Some(BinaryOp::Add),
            "mul" => Some(BinaryOp::Mul),
            "and" => Some(BinaryOp::And),
            "or" => Some(BinaryOp::Or),
            "xor" => Some(BinaryOp::Xor),
            "max" | "min" => None,
            _ => return None,
        };
        if scalar.is_float() && op.is_some() {
            let name = self.quote(ty);
            self.diags.error(
                operand.span,
                format!("1st argument must be a vector of integers (was {name})"),
            );
            return Some(self.error_value(loc));
        }
        let (bind, value) = self.bind(value, loc);
        let element = self.types.scalar(scalar);
        let lane = |sema: &mut Self, lane: u8| {
            sema.add(
                ExprKind::Shuffle(value, None, vec![Some(lane)]),
                element,
                loc,
            )
        };
        let mut result = lane(self, 0);
        for at in 1..lanes {
            let next = lane(self, at);
            result = match op {
                Some(op) => self.add(ExprKind::Binary(op, result, next), element, loc),
                None if scalar.is_float() => {
                    self.call_with(&format!("f{operation}"), &[result, next], span)
                }
                None => self.call_with(operation, &[result, next], span),
            };
        }
        Some(self.add(ExprKind::Sequence(vec![bind, result]), element, loc))
    }

    /// `__builtin_is_aligned`, `__builtin_align_up` and `__builtin_align_down`, of integers and
    /// pointers.
    fn alignment(
        &mut self,
        stem: &str,
        value: ast::ExprId,
        align: ast::ExprId,
        span: Span,
    ) -> Option<ExprId> {
        let loc = span.first;
        let operand = self.expr(value);
        let value = self.rvalue(operand);
        let align = self.argument_as(align, Scalar::ULong);
        let ty = self.type_of(value);
        let as_number = self.types.scalar(Scalar::ULong);
        let operand = self.value(value, span);
        let number = self.cast(operand, as_number.into(), span);
        let one = self.int_constant(1, as_number, loc);
        let below = self.add(ExprKind::Binary(BinaryOp::Sub, align, one), as_number, loc);
        let (bind, below) = self.bind(below, loc);
        let binary = |sema: &mut Self, op, a, b: ExprId| {
            sema.add(ExprKind::Binary(op, a, b), as_number, loc)
        };
        let result = if stem == "is_aligned" {
            let rest = binary(self, BinaryOp::And, number, below);
            let zero = self.int_constant(0, as_number, loc);
            let truth = ExprKind::Compare(Comparison::Eq, rest, zero);
            let truth = self.add(truth, Types::TRUTH, loc);
            let bool = self.types.scalar(Scalar::Bool);
            self.truth_as(truth, bool, loc)
        } else {
            let number = match stem {
                "align_up" => binary(self, BinaryOp::Add, number, below),
                _ => number,
            };
            let mask = self.add(ExprKind::Unary(UnaryOp::BitNot, below), as_number, loc);
            let number = binary(self, BinaryOp::And, number, mask);
            let operand = self.value(number, span);
            self.cast(operand, ty.into(), span)
        };
        let ty = self.type_of(result);
        Some(self.add(ExprKind::Sequence(vec![bind, result]), ty, loc))
    }
}

/// `add`, or with the type that it is of, `uaddll`.
fn checked_operation(stem: &str) -> Option<(BinaryOp, Option<Scalar>)> {
    let operation = |word: &str| match word {
        "add" => Some(BinaryOp::Add),
        "sub" => Some(BinaryOp::Sub),
        "mul" => Some(BinaryOp::Mul),
        _ => None,
    };
    if let Some(op) = operation(stem) {
        return Some((op, None));
    }
    let (is_signed, rest) = match stem.strip_prefix('s') {
        Some(rest) => (true, rest),
        None => (false, stem.strip_prefix('u')?),
    };
    let bits = match rest.get(3..)? {
        "" => 32,
        "l" | "ll" => 64,
        _ => return None,
    };
    Some((
        operation(&rest[..3])?,
        Some(Scalar::integer(bits, is_signed)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_operation_and_type() {
        assert_eq!(checked_operation("mul"), Some((BinaryOp::Mul, None)));
        let of = |stem| checked_operation(stem);
        assert_eq!(of("sadd"), Some((BinaryOp::Add, Some(Scalar::Int))));
        assert_eq!(of("usubll"), Some((BinaryOp::Sub, Some(Scalar::ULong))));
        assert_eq!(of("sub"), Some((BinaryOp::Sub, None)));
        assert_eq!(of("udiv"), None);
        assert_eq!(of("s"), None);
    }
}
