//! Binary operators, of arithmetic types above all. OpenCL C Specification, "Operators".

use super::convert::common;
use super::{Operand, Operator, Sema};
use crate::ast::{self, BinaryOp};
use crate::hir::{self, Comparison, Constant, ExprId, ExprKind};
use crate::options::Std;
use crate::token::{Loc, Span};
use crate::types::{QualType, Scalar, Type, TypeId, Types};

impl Sema<'_> {
    /// A left-leaning tree may be very deep: its spine is walked, not recursed into.
    pub(super) fn binary_tree(&mut self, id: ast::ExprId) -> Operand {
        let ast = self.ast;
        let mut spine = Vec::new();
        let mut at = id;
        while let ast::ExprKind::Binary(op, left, right) = ast[at].kind {
            if matches!(op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr) {
                break;
            }
            spine.push((at, op, right));
            at = left;
        }
        if spine.is_empty() {
            let ast::ExprKind::Binary(op, left, right) = ast[at].kind else {
                unreachable!("the caller saw a binary operator");
            };
            return self.logical(op, left, right, ast[at].span, ast[at].loc);
        }
        let mut left = self.expr(at);
        for (node, op, right) in spine.into_iter().rev() {
            let right = self.expr(right);
            let (span, loc) = (ast[node].span, ast[node].loc);
            let at = Operator::between(left, right, loc);
            // "OpenCL C does not support operators with atomic types."
            if self.is_atomic(left) || self.is_atomic(right) {
                let wrong = self.invalid_operands(left.ty, right.ty, at);
                left = self.value(wrong, span);
                continue;
            }
            let value = self.rvalue(left);
            let right_value = self.rvalue(right);
            let result = self.binary(op, value, right_value, at);
            left = self.value(result, span);
        }
        left
    }

    fn logical(
        &mut self,
        op: BinaryOp,
        left: ast::ExprId,
        right: ast::ExprId,
        span: Span,
        loc: Loc,
    ) -> Operand {
        let (left, right) = (self.expr(left), self.expr(right));
        let at = Operator::between(left, right, loc);
        if self.is_atomic(left) || self.is_atomic(right) {
            let wrong = self.invalid_operands(left.ty, right.ty, at);
            return self.value(wrong, span);
        }
        let (a, b) = (self.rvalue(left), self.rvalue(right));
        let is_and = op == BinaryOp::LogicalAnd;
        if self.is_error(self.type_of(a)) || self.is_error(self.type_of(b)) {
            return self.error(span);
        }
        if self.is_early_float(a) || self.is_early_float(b) {
            let wrong = self.invalid_values(a, b, at);
            return self.value(wrong, span);
        }
        let lanes = |sema: &Self, id| sema.arithmetic_of(id).map_or(1, |(_, lanes)| lanes);
        if lanes(self, a) > 1 || lanes(self, b) > 1 {
            let Some((a, b, scalar, lanes)) = self.balance(a, b, at) else {
                return self.error(span);
            };
            let result = self
                .types
                .vector(Scalar::integer(scalar.bits(), true), lanes);
            let (a, b) = (self.truth(a, loc), self.truth(b, loc));
            let (a, b) = (self.truth_as(a, result, loc), self.truth_as(b, result, loc));
            let bits = if is_and {
                hir::BinaryOp::And
            } else {
                hir::BinaryOp::Or
            };
            let id = self.add(ExprKind::Binary(bits, a, b), result, loc);
            return self.value(id, span);
        }
        let scalar = |sema: &Self, id| {
            sema.arithmetic_of(id).is_some()
                || matches!(
                    sema.types.get(sema.type_of(id)),
                    Type::Pointer { .. } | Type::Block(_)
                )
        };
        if !scalar(self, a) || !scalar(self, b) {
            let wrong = self.invalid_values(a, b, at);
            return self.value(wrong, span);
        }
        let (a, b) = (self.truth(a, loc), self.truth(b, loc));
        let kind = if is_and {
            ExprKind::And(a, b)
        } else {
            ExprKind::Or(a, b)
        };
        let decided = match self.known_truth(a) {
            Some(left) if left != is_and => Some(left),
            Some(_) => self.known_truth(b),
            None => None,
        };
        let truth = match decided {
            Some(bit) => self.int_constant(bit.into(), Types::TRUTH, loc),
            None => self.add(kind, Types::TRUTH, loc),
        };
        let id = self.truth_value(truth, Types::INT, loc);
        self.value(id, span)
    }

    /// The value of a truth that is a constant. A conjunction or disjunction was looked at when it
    /// was made, and is not again: they are chained as long as a source likes.
    fn known_truth(&self, truth: ExprId) -> Option<bool> {
        match self.kind_of(truth) {
            ExprKind::And(..) | ExprKind::Or(..) => None,
            _ => self.eval_integer(truth).map(|bit| bit != 0),
        }
    }

    /// OpenCL C 1.0 and 1.1 have logical operators on integers only. OpenCL 1.1 Specification,
    /// "Operators".
    pub(super) fn is_early_float(&self, value: ExprId) -> bool {
        self.options.std < Std::C12
            && matches!(self.arithmetic_of(value), Some((scalar, _)) if scalar.is_float())
    }

    /// Tells what is wrong with the operands of an operator, whose value is then an error.
    pub(super) fn wrong_operands(&mut self, at: Operator, message: impl Into<String>) -> ExprId {
        let reported = self.diags.error(at.loc, message);
        reported.range(at.left).range(at.right);
        self.error_value(at.loc)
    }

    pub(super) fn invalid_values(&mut self, a: ExprId, b: ExprId, at: Operator) -> ExprId {
        let (a, b) = (self.quote_value(a), self.quote_value(b));
        self.wrong_operands(at, invalid(&a, &b))
    }

    pub(super) fn invalid_operands(&mut self, a: QualType, b: QualType, at: Operator) -> ExprId {
        let (a, b) = (self.quote(a), self.quote(b));
        self.wrong_operands(at, invalid(&a, &b))
    }

    /// Both operands of one arithmetic type, with that type; `None` (told) if there is none.
    pub(super) fn balance(
        &mut self,
        a: ExprId,
        b: ExprId,
        at: Operator,
    ) -> Option<(ExprId, ExprId, Scalar, u8)> {
        let (Some((x, m)), Some((y, n))) = (self.arithmetic_of(a), self.arithmetic_of(b)) else {
            self.invalid_values(a, b, at);
            return None;
        };
        if m == 1 && n == 1 {
            let scalar = common(x, y);
            return Some((
                self.arithmetic_as(a, scalar),
                self.arithmetic_as(b, scalar),
                scalar,
                1,
            ));
        }
        if m > 1 && n > 1 {
            if (x, m) != (y, n) {
                let (a, b) = (self.quote_value(a), self.quote_value(b));
                let message = format!(
                    "implicit conversions between vector types ({a} and {b}) are not permitted"
                );
                self.wrong_operands(at, message);
                return None;
            }
            return Some((a, b, x, m));
        }
        let (vector, of_vector, of_scalar, lanes) = if m > 1 { (a, x, y, m) } else { (b, y, x, n) };
        let scalar = if m > 1 { b } else { a };
        if outranks(of_scalar, of_vector) {
            let (v, s) = (self.quote_value(vector), self.quote_value(scalar));
            let message = format!(
                "scalar operand type has greater rank than the type of the vector element. \
                 ({v} and {s})"
            );
            self.wrong_operands(at, message);
            return None;
        }
        let wide = self.splat(scalar, of_vector, lanes);
        Some(if m > 1 {
            (a, wide, x, m)
        } else {
            (wide, b, y, n)
        })
    }

    /// `a op b` of values, without `&&` and `||`.
    pub(super) fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId, at: Operator) -> ExprId {
        if self.is_error(self.type_of(a)) || self.is_error(self.type_of(b)) {
            return self.error_value(at.loc);
        }
        if let Some(comparison) = comparison(op) {
            return self.compare(comparison, a, b, at);
        }
        let pointer =
            |sema: &Self, id| matches!(sema.types.get(sema.type_of(id)), Type::Pointer { .. });
        match (op, pointer(self, a), pointer(self, b)) {
            (BinaryOp::Add, true, false) | (BinaryOp::Sub, true, false) => {
                return self.pointer_add((a, b), (a, b), op == BinaryOp::Sub, at);
            }
            (BinaryOp::Add, false, true) => return self.pointer_add((b, a), (a, b), false, at),
            (BinaryOp::Sub, true, true) => return self.pointer_difference(a, b, at),
            (_, true, _) | (_, _, true) => {
                return self.invalid_values(a, b, at);
            }
            _ => {}
        }
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            return self.shift(op, a, b, at);
        }
        let (Some((x, _)), Some((y, _))) = (self.arithmetic_of(a), self.arithmetic_of(b)) else {
            return self.invalid_values(a, b, at);
        };
        let integers_only = matches!(
            op,
            BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor
        );
        if integers_only && (x.is_float() || y.is_float()) {
            return self.invalid_values(a, b, at);
        }
        let Some((a, b, scalar, lanes)) = self.balance(a, b, at) else {
            return self.error_value(at.loc);
        };
        let ty = self.types.vector(scalar, lanes);
        if matches!(op, BinaryOp::Div | BinaryOp::Rem)
            && scalar.is_integer()
            && matches!(self.kind_of(b), ExprKind::Constant(Constant::Int(0)))
        {
            let word = if op == BinaryOp::Div {
                "division"
            } else {
                "remainder"
            };
            let message = format!("{word} by zero is undefined");
            let reported = self.diags.warning("division-by-zero", at.loc, message);
            reported.range(at.right);
        }
        self.fold_binary(hir_op(op), a, b, ty, at.loc)
    }

    fn fold_binary(
        &mut self,
        op: hir::BinaryOp,
        a: ExprId,
        b: ExprId,
        ty: TypeId,
        loc: Loc,
    ) -> ExprId {
        if let (ExprKind::Constant(x), ExprKind::Constant(y), Some((scalar, 1))) = (
            self.kind_of(a),
            self.kind_of(b),
            self.types.as_arithmetic(ty),
        ) && let Some(folded) = super::consteval::binary(op, x, y, scalar, self.rounding(loc))
        {
            return self.add(ExprKind::Constant(folded), ty, loc);
        }
        self.add(ExprKind::Binary(op, a, b), ty, loc)
    }

    fn shift(&mut self, op: BinaryOp, a: ExprId, b: ExprId, at: Operator) -> ExprId {
        let (Some((x, m)), Some((y, n))) = (self.arithmetic_of(a), self.arithmetic_of(b)) else {
            return self.invalid_values(a, b, at);
        };
        if x.is_float() || y.is_float() {
            return self.invalid_values(a, b, at);
        }
        if n > 1 && m != n {
            let (a, b) = (self.quote_value(a), self.quote_value(b));
            let message = if m == 1 {
                format!(
                    "requested shift is a vector of type {b} but the first operand is not a \
                     vector ({a})"
                )
            } else {
                format!("vector operands do not have the same number of elements ({a} and {b})")
            };
            return self.wrong_operands(at, message);
        }
        let a = self.promote(a);
        let (x, m) = self.arithmetic_of(a).unwrap_or((Scalar::Int, m));
        // The amount has the width of what is shifted; its low bits alone count.
        let amount = Scalar::integer(x.bits(), y.is_signed());
        let mut b = self.arithmetic_as(b, amount);
        if m > 1 && n == 1 {
            b = self.splat(b, amount, m);
        }
        if m == 1
            && let ExprKind::Constant(Constant::Int(bits)) = *self.kind_of(b)
            && bits >= u64::from(x.bits())
        {
            let message = if y.is_signed() && (bits as i64) < 0 {
                "shift count is negative"
            } else {
                "shift count >= width of type"
            };
            let reported = self.diags.warning("shift-count-overflow", at.loc, message);
            reported.range(at.right);
        }
        let ty = self.type_of(a);
        self.fold_binary(hir_op(op), a, b, ty, at.loc)
    }

    /// Scalars yield an `int`, vectors one of signed integers as wide.
    fn compare(&mut self, comparison: Comparison, a: ExprId, b: ExprId, at: Operator) -> ExprId {
        if self.arithmetic_of(a).is_some() && self.arithmetic_of(b).is_some() {
            let Some((a, b, scalar, lanes)) = self.balance(a, b, at) else {
                return self.error_value(at.loc);
            };
            let ty = self.types.intern(Type::Truth(lanes));
            let mut truth = self.add(ExprKind::Compare(comparison, a, b), ty, at.loc);
            if lanes == 1 {
                if let (ExprKind::Constant(x), ExprKind::Constant(y)) =
                    (self.kind_of(a), self.kind_of(b))
                    && let Some(bit) = super::consteval::compare(comparison, x, y, scalar)
                {
                    truth = self.int_constant(bit.into(), ty, at.loc);
                }
                return self.truth_value(truth, Types::INT, at.loc);
            }
            let result = self
                .types
                .vector(Scalar::integer(scalar.bits(), true), lanes);
            return self.truth_as(truth, result, at.loc);
        }
        let opaque = |sema: &Self, id| {
            matches!(
                sema.types.get(sema.type_of(id)),
                Type::Queue | Type::ClkEvent | Type::Event
            )
        };
        let (mut a, mut b) = (a, b);
        if opaque(self, a) && self.opaque_constant(b, self.type_of(a)) {
            b = self.null(self.type_of(a), at.loc);
        } else if opaque(self, b) && self.opaque_constant(a, self.type_of(b)) {
            a = self.null(self.type_of(b), at.loc);
        }
        let equality = matches!(comparison, Comparison::Eq | Comparison::Ne);
        if opaque(self, a) && self.type_of(a) == self.type_of(b) && equality {
            let truth = self.add(ExprKind::Compare(comparison, a, b), Types::TRUTH, at.loc);
            return self.truth_value(truth, Types::INT, at.loc);
        }
        match self.balance_pointers(a, b, at) {
            Some((a, b)) => {
                let truth = self.add(ExprKind::Compare(comparison, a, b), Types::TRUTH, at.loc);
                self.truth_value(truth, Types::INT, at.loc)
            }
            None => self.error_value(at.loc),
        }
    }
}

fn invalid(a: &str, b: &str) -> String {
    format!("invalid operands to binary expression ({a} and {b})")
}

/// Whether widening the scalar to the vector's elements would lose what it is.
fn outranks(scalar: Scalar, element: Scalar) -> bool {
    match (scalar.is_float(), element.is_float()) {
        (true, true) => scalar > element,
        (true, false) => true,
        (false, true) => false,
        (false, false) => scalar.bits() > element.bits(),
    }
}

fn comparison(op: BinaryOp) -> Option<Comparison> {
    Some(match op {
        BinaryOp::Lt => Comparison::Lt,
        BinaryOp::Gt => Comparison::Gt,
        BinaryOp::Le => Comparison::Le,
        BinaryOp::Ge => Comparison::Ge,
        BinaryOp::Eq => Comparison::Eq,
        BinaryOp::Ne => Comparison::Ne,
        _ => return None,
    })
}

fn hir_op(op: BinaryOp) -> hir::BinaryOp {
    match op {
        BinaryOp::Mul => hir::BinaryOp::Mul,
        BinaryOp::Div => hir::BinaryOp::Div,
        BinaryOp::Rem => hir::BinaryOp::Rem,
        BinaryOp::Add => hir::BinaryOp::Add,
        BinaryOp::Sub => hir::BinaryOp::Sub,
        BinaryOp::Shl => hir::BinaryOp::Shl,
        BinaryOp::Shr => hir::BinaryOp::Shr,
        BinaryOp::And => hir::BinaryOp::And,
        BinaryOp::Xor => hir::BinaryOp::Xor,
        BinaryOp::Or => hir::BinaryOp::Or,
        _ => unreachable!("comparisons and logical operators are made elsewhere"),
    }
}
