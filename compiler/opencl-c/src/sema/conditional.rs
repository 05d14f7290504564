//! `?:`, of scalar and of vector conditions. OpenCL C Specification, "Ternary Selection Operator".

use super::{Operand, Operator, Sema};
use crate::ast;
use crate::hir::{self, Comparison, Constant, ExprId, ExprKind};
use crate::token::{Loc, Span};
use crate::types::{Scalar, Type, TypeId, Types};

impl Sema<'_> {
    /// `c ? a : b` and GNU's `c ?: b`.
    pub(super) fn conditional(
        &mut self,
        condition: ast::ExprId,
        then: Option<ast::ExprId>,
        otherwise: ast::ExprId,
        span: Span,
        loc: Loc,
    ) -> Operand {
        let operand = self.expr(condition);
        let mut value = self.rvalue(operand);
        let mut bind = None;
        let then_operand = match then {
            Some(then) => self.expr(then),
            // A constant needs no name.
            None if matches!(self.kind_of(value), ExprKind::Constant(_)) => {
                self.value(value, operand.span)
            }
            None => {
                let (store, temp) = self.bind(value, loc);
                bind = Some(store);
                value = temp;
                self.value(temp, operand.span)
            }
        };
        let otherwise = self.expr(otherwise);
        let (a, b) = (self.rvalue(then_operand), self.rvalue(otherwise));
        let at = Operator::between(then_operand, otherwise, loc);
        let mut result = match self.arithmetic_of(value) {
            Some((_, lanes)) if lanes > 1 => {
                self.vector_conditional(value, operand.span, (a, b), at)
            }
            // "The first expression can be a scalar or vector integer type."
            Some((scalar, _)) if scalar.is_float() => {
                self.float_condition(self.type_of(value), operand.span, loc)
            }
            _ => {
                let truth = self.truth_of(value, operand.span);
                self.scalar_conditional(truth, a, b, at)
            }
        };
        if let Some(bind) = bind {
            let ty = self.type_of(result);
            result = self.add(ExprKind::Sequence(vec![bind, result]), ty, loc);
        }
        self.value(result, span)
    }

    fn scalar_conditional(&mut self, truth: ExprId, a: ExprId, b: ExprId, at: Operator) -> ExprId {
        let (x, y) = (self.type_of(a), self.type_of(b));
        if self.is_error(x) || self.is_error(y) {
            return self.error_value(at.loc);
        }
        if self.block_type(x).is_some() || self.block_type(y).is_some() {
            self.diags.error(
                at.left.to(at.right),
                "block type cannot be used as expression in ternary expression in OpenCL",
            );
            return self.error_value(at.loc);
        }
        let (a, b) = if x == y {
            match self.arithmetic_of(a) {
                Some((_, 1)) => (self.promote(a), self.promote(b)),
                _ => (a, b),
            }
        } else if self.arithmetic_of(a).is_some() && self.arithmetic_of(b).is_some() {
            match self.balance(a, b, at) {
                Some((a, b, ..)) => (a, b),
                None => return self.error_value(at.loc),
            }
        } else if x == Types::VOID || y == Types::VOID {
            (self.discard(a, at.loc), self.discard(b, at.loc))
        } else {
            match self.balance_pointers(a, b, at) {
                Some(both) => both,
                None => return self.error_value(at.loc),
            }
        };
        let ty = self.type_of(a);
        if let (
            ExprKind::Constant(Constant::Int(bit)),
            ExprKind::Constant(p),
            ExprKind::Constant(q),
        ) = (self.kind_of(truth), self.kind_of(a), self.kind_of(b))
        {
            let chosen = if *bit != 0 { p.clone() } else { q.clone() };
            return self.add(ExprKind::Constant(chosen), ty, at.loc);
        }
        self.add(ExprKind::Conditional(truth, a, b), ty, at.loc)
    }

    fn float_condition(&mut self, ty: TypeId, condition: Span, loc: Loc) -> ExprId {
        let name = self.quote(ty);
        let message = format!("used type {name} where floating point type is not allowed");
        self.diags.error(loc, message).range(condition);
        self.error_value(loc)
    }

    pub(super) fn discard(&mut self, id: ExprId, loc: Loc) -> ExprId {
        if self.type_of(id) == Types::VOID {
            return id;
        }
        let nothing = self.add(ExprKind::Undefined, Types::VOID, loc);
        self.add(ExprKind::Sequence(vec![id, nothing]), Types::VOID, loc)
    }

    /// "The result of the ternary selection operator with a vector condition is that of `select`":
    /// by the sign bit.
    fn vector_conditional(
        &mut self,
        condition: ExprId,
        condition_span: Span,
        (a, b): (ExprId, ExprId),
        at: Operator,
    ) -> ExprId {
        let Some((scalar, lanes)) = self.arithmetic_of(condition) else {
            return self.error_value(at.loc);
        };
        if self.is_error(self.type_of(a)) || self.is_error(self.type_of(b)) {
            return self.error_value(at.loc);
        }
        if scalar.is_float() {
            return self.float_condition(self.type_of(condition), condition_span, at.loc);
        }
        let balanced = match (self.arithmetic_of(a), self.arithmetic_of(b)) {
            // Of two scalars that of lower rank becomes the other's type; neither is promoted.
            (Some((x, 1)), Some((y, 1))) if x.is_integer() && y.is_integer() => {
                let rank =
                    |scalar: Scalar| (scalar.bits(), scalar.is_long_long(), !scalar.is_signed());
                let of = if rank(x) < rank(y) { y } else { x };
                Some((self.arithmetic_as(a, of), self.arithmetic_as(b, of), of, 1))
            }
            _ => self.balance(a, b, at),
        };
        let Some((a, b, of, n)) = balanced else {
            return self.error_value(at.loc);
        };
        let (a, b) = if n == 1 {
            (self.splat(a, of, lanes), self.splat(b, of, lanes))
        } else {
            (a, b)
        };
        if (n != 1 && n != lanes) || of.bits() != scalar.bits() {
            let (c, v) = (self.quote_value(condition), self.quote_value(a));
            let message = if n != 1 && n != lanes {
                format!(
                    "vector condition type {c} and result type {v} do not have the same number \
                     of elements"
                )
            } else {
                format!(
                    "vector condition type {c} and result type {v} do not have elements of the \
                     same size"
                )
            };
            self.diags.error(at.loc, message).range(condition_span);
            return self.error_value(at.loc);
        }
        let truth = match *self.kind_of(condition) {
            ExprKind::Convert(hir::Conversion::FromTruth, truth) => truth,
            _ => {
                let signed = Scalar::integer(scalar.bits(), true);
                let value = self.arithmetic_as(condition, signed);
                let ty = self.type_of(value);
                let zero = self.add(ExprKind::Constant(Constant::Zero), ty, at.loc);
                let ty = self.types.intern(Type::Truth(lanes));
                self.add(ExprKind::Compare(Comparison::Lt, value, zero), ty, at.loc)
            }
        };
        let ty = self.type_of(a);
        self.add(ExprKind::Select(truth, a, b), ty, at.loc)
    }
}
