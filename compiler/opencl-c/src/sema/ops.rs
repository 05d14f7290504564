//! Unary, binary and conditional operators. OpenCL C Specification, "Operators".

use super::convert::common;
use super::{Operand, Place, Sema};
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::hir::{self, Comparison, Constant, ExprId, ExprKind};
use crate::options::Std;
use crate::token::{Loc, Span};
use crate::types::{QualType, Scalar, Type, TypeId, TypeQuals, Types};

impl Sema<'_> {
    pub(super) fn value(&self, id: ExprId, span: Span) -> Operand {
        Operand {
            place: Place::Value(id),
            ty: self.type_of(id).into(),
            span,
        }
    }

    pub(super) fn error(&mut self, span: Span) -> Operand {
        let id = self.error_value(span.first);
        self.value(id, span)
    }

    pub(super) fn unary(
        &mut self,
        op: UnaryOp,
        inner: ast::ExprId,
        span: Span,
        loc: Loc,
    ) -> Operand {
        match op {
            UnaryOp::Deref => {
                let operand = self.expr(inner);
                return self.deref(operand, span);
            }
            UnaryOp::AddressOf => return self.address_of(inner, span),
            UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                return self.increment(op, inner, span, loc);
            }
            UnaryOp::Extension => return self.expr(inner),
            _ => {}
        }
        let operand = self.expr(inner);
        if self.is_atomic(operand) {
            return self.invalid_unary(operand.ty, span);
        }
        let value = self.rvalue(operand);
        if self.is_error(self.type_of(value)) {
            return self.error(span);
        }
        let arithmetic = self.arithmetic_of(value);
        let result = match (op, arithmetic) {
            (UnaryOp::Plus, Some(_)) => Some(self.promote(value)),
            (UnaryOp::Minus, Some(_)) => {
                let value = self.promote(value);
                Some(self.fold_unary(hir::UnaryOp::Negate, value, loc))
            }
            (UnaryOp::BitNot, Some((scalar, _))) if scalar.is_integer() => {
                let value = self.promote(value);
                Some(self.fold_unary(hir::UnaryOp::BitNot, value, loc))
            }
            (UnaryOp::Not, Some((scalar, lanes))) if !self.is_early_float(value) => {
                let truth = self.truth(value, loc);
                let ty = self.type_of(truth);
                let not = self.negate(truth, ty, loc);
                let result = if lanes == 1 {
                    Types::INT
                } else {
                    self.types
                        .vector(Scalar::integer(scalar.bits(), true), lanes)
                };
                Some(self.truth_value(not, result, loc))
            }
            (UnaryOp::Not, None)
                if matches!(self.types.get(self.type_of(value)), Type::Pointer { .. }) =>
            {
                let truth = self.truth(value, loc);
                let not = self.negate(truth, Types::TRUTH, loc);
                Some(self.truth_value(not, Types::INT, loc))
            }
            _ => None,
        };
        match result {
            Some(id) => self.value(id, span),
            None => self.invalid_unary(self.type_of(value).into(), span),
        }
    }

    pub(super) fn invalid_unary(&mut self, ty: QualType, span: Span) -> Operand {
        let name = self.quote(ty);
        self.diags.error(
            span,
            format!("invalid argument type {name} to unary expression"),
        );
        self.error(span)
    }

    fn negate(&mut self, truth: ExprId, ty: TypeId, loc: Loc) -> ExprId {
        match *self.kind_of(truth) {
            ExprKind::Negate(inner) => inner,
            ExprKind::Constant(Constant::Int(bit)) => {
                self.add(ExprKind::Constant(Constant::Int(bit ^ 1)), ty, loc)
            }
            _ => self.add(ExprKind::Negate(truth), ty, loc),
        }
    }

    /// C's `int` of a `Truth`, a constant if that is one.
    pub(super) fn truth_value(&mut self, truth: ExprId, ty: TypeId, loc: Loc) -> ExprId {
        match *self.kind_of(truth) {
            ExprKind::Constant(Constant::Int(bit)) => self.int_constant(bit, ty, loc),
            _ => self.truth_as(truth, ty, loc),
        }
    }

    fn fold_unary(&mut self, op: hir::UnaryOp, value: ExprId, loc: Loc) -> ExprId {
        let ty = self.type_of(value);
        if let (ExprKind::Constant(constant), Some((scalar, 1))) =
            (self.kind_of(value), self.types.as_arithmetic(ty))
            && let Some(folded) = super::consteval::unary(op, constant, scalar)
        {
            return self.add(ExprKind::Constant(folded), ty, loc);
        }
        self.add(ExprKind::Unary(op, value), ty, loc)
    }

    pub(super) fn deref(&mut self, operand: Operand, span: Span) -> Operand {
        let value = self.rvalue(operand);
        match *self.types.get(self.type_of(value)) {
            Type::Pointer { pointee, .. } => {
                let align = self.types.layout_of(pointee).map_or(1, |(_, align)| align);
                Operand {
                    place: Place::Object(value, align),
                    ty: pointee,
                    span,
                }
            }
            Type::Error => self.error(span),
            Type::Block(_) => self.invalid_unary(self.type_of(value).into(), span),
            _ => {
                let name = self.quote(self.type_of(value));
                self.diags.error(
                    span,
                    format!("indirection requires pointer operand ({name} invalid)"),
                );
                self.error(span)
            }
        }
    }

    fn address_of(&mut self, inner: ast::ExprId, span: Span) -> Operand {
        let operand = self.expr(inner);
        if self.is_error(operand.ty.ty) {
            return self.error(span);
        }
        match operand.place {
            Place::Object(..)
                if matches!(
                    self.types.get(operand.ty.ty),
                    Type::Block(_) | Type::Image { .. } | Type::Pipe { .. } | Type::Sampler
                ) =>
            {
                self.invalid_unary(operand.ty, span)
            }
            Place::Object(address, _) if self.is_capture(address) => {
                self.diags
                    .error(span, "taking address of a capture is not allowed");
                self.error(span)
            }
            Place::Object(address, _) => {
                self.note_escape(address);
                // The address of a variable knows the pointee without qualifiers.
                let space = self.space_of(self.type_of(address));
                let ty = self.types.pointer(operand.ty, space);
                let id = self.pointer_as(address, ty, span.first);
                self.value(id, span)
            }
            Place::Lanes { .. } => {
                self.diags
                    .error(span, "address of vector element requested");
                self.error(span)
            }
            Place::Function => {
                self.diags
                    .error(span, "taking address of function is not allowed");
                self.error(span)
            }
            Place::Value(_) => {
                let name = self.quote(operand.ty);
                self.diags.error(
                    span,
                    format!("cannot take the address of an rvalue of type {name}"),
                );
                self.error(span)
            }
        }
    }

    /// The same pointer with another qualification of what it points to.
    fn pointer_as(&mut self, pointer: ExprId, ty: TypeId, loc: Loc) -> ExprId {
        if self.type_of(pointer) == ty {
            pointer
        } else {
            self.add(
                ExprKind::Convert(hir::Conversion::Pointer, pointer),
                ty,
                loc,
            )
        }
    }

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
            // "OpenCL C does not support operators with atomic types."
            if self.is_atomic(left) || self.is_atomic(right) {
                left = self.invalid_operands(left.ty, right.ty, left.span.to(right.span));
                continue;
            }
            let value = self.rvalue(left);
            let right_value = self.rvalue(right);
            let spans = (left.span, right.span);
            let result = self.binary(op, value, right_value, spans, loc);
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
        if self.is_atomic(left) || self.is_atomic(right) {
            return self.invalid_operands(left.ty, right.ty, span);
        }
        let (a, b) = (self.rvalue(left), self.rvalue(right));
        let is_and = op == BinaryOp::LogicalAnd;
        if self.is_error(self.type_of(a)) || self.is_error(self.type_of(b)) {
            return self.error(span);
        }
        if self.is_early_float(a) || self.is_early_float(b) {
            return self.invalid_values(a, b, span);
        }
        let lanes = |sema: &Self, id| sema.arithmetic_of(id).map_or(1, |(_, lanes)| lanes);
        if lanes(self, a) > 1 || lanes(self, b) > 1 {
            let Some((a, b, scalar, lanes)) = self.balance(a, b, (left.span, right.span), loc)
            else {
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
            return self.invalid_values(a, b, span);
        }
        let (a, b) = (self.truth(a, loc), self.truth(b, loc));
        let kind = if is_and {
            ExprKind::And(a, b)
        } else {
            ExprKind::Or(a, b)
        };
        let truth = self.add(kind, Types::TRUTH, loc);
        let truth = match self.eval_integer(truth) {
            Some(bit) => self.int_constant(bit, Types::TRUTH, loc),
            None => truth,
        };
        let id = self.truth_value(truth, Types::INT, loc);
        self.value(id, span)
    }

    /// OpenCL C 1.0 and 1.1 have logical operators on integers only. OpenCL 1.1 Specification,
    /// "Operators".
    fn is_early_float(&self, value: ExprId) -> bool {
        self.options.std < Std::C12
            && matches!(self.arithmetic_of(value), Some((scalar, _)) if scalar.is_float())
    }

    fn invalid_values(&mut self, a: ExprId, b: ExprId, span: Span) -> Operand {
        self.invalid_operands(self.type_of(a).into(), self.type_of(b).into(), span)
    }

    pub(super) fn invalid_operands(&mut self, a: QualType, b: QualType, span: Span) -> Operand {
        let (a, b) = (self.quote(a), self.quote(b));
        self.diags.error(
            span,
            format!("invalid operands to binary expression ({a} and {b})"),
        );
        self.error(span)
    }

    /// Both operands of one arithmetic type, with that type; `None` (told) if there is none.
    pub(super) fn balance(
        &mut self,
        a: ExprId,
        b: ExprId,
        spans: (Span, Span),
        loc: Loc,
    ) -> Option<(ExprId, ExprId, Scalar, u8)> {
        let span = spans.0.to(spans.1);
        let (Some((x, m)), Some((y, n))) = (self.arithmetic_of(a), self.arithmetic_of(b)) else {
            self.invalid_values(a, b, span);
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
                let (a, b) = (self.quote(self.type_of(a)), self.quote(self.type_of(b)));
                self.diags.error(
                    loc,
                    format!(
                        "implicit conversions between vector types ({a} and {b}) are not permitted"
                    ),
                );
                return None;
            }
            return Some((a, b, x, m));
        }
        let (vector, of_vector, of_scalar, lanes) = if m > 1 { (a, x, y, m) } else { (b, y, x, n) };
        let scalar = if m > 1 { b } else { a };
        if outranks(of_scalar, of_vector) {
            let (v, s) = (
                self.quote(self.type_of(vector)),
                self.quote(self.type_of(scalar)),
            );
            self.diags.error(
                loc,
                format!(
                    "scalar operand type has greater rank than the type of the vector element. \
                     ({v} and {s})"
                ),
            );
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
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        spans: (Span, Span),
        loc: Loc,
    ) -> ExprId {
        if self.is_error(self.type_of(a)) || self.is_error(self.type_of(b)) {
            return self.error_value(loc);
        }
        let span = spans.0.to(spans.1);
        if let Some(comparison) = comparison(op) {
            return self.compare(comparison, a, b, spans, loc);
        }
        let pointer =
            |sema: &Self, id| matches!(sema.types.get(sema.type_of(id)), Type::Pointer { .. });
        match (op, pointer(self, a), pointer(self, b)) {
            (BinaryOp::Add, true, false) | (BinaryOp::Sub, true, false) => {
                return self.pointer_add(a, b, op == BinaryOp::Sub, span, loc);
            }
            (BinaryOp::Add, false, true) => return self.pointer_add(b, a, false, span, loc),
            (BinaryOp::Sub, true, true) => return self.pointer_difference(a, b, span, loc),
            (_, true, _) | (_, _, true) => {
                let operand = self.invalid_values(a, b, span);
                return self.rvalue(operand);
            }
            _ => {}
        }
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            return self.shift(op, a, b, spans, loc);
        }
        let (Some((x, _)), Some((y, _))) = (self.arithmetic_of(a), self.arithmetic_of(b)) else {
            let operand = self.invalid_values(a, b, span);
            return self.rvalue(operand);
        };
        let integers_only = matches!(
            op,
            BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor
        );
        if integers_only && (x.is_float() || y.is_float()) {
            let operand = self.invalid_values(a, b, span);
            return self.rvalue(operand);
        }
        let Some((a, b, scalar, lanes)) = self.balance(a, b, spans, loc) else {
            return self.error_value(loc);
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
            self.diags.warning(
                "division-by-zero",
                loc,
                format!("{word} by zero is undefined"),
            );
        }
        self.fold_binary(hir_op(op), a, b, ty, loc)
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

    fn shift(
        &mut self,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        spans: (Span, Span),
        loc: Loc,
    ) -> ExprId {
        let span = spans.0.to(spans.1);
        let (Some((x, m)), Some((y, n))) = (self.arithmetic_of(a), self.arithmetic_of(b)) else {
            let operand = self.invalid_values(a, b, span);
            return self.rvalue(operand);
        };
        if x.is_float() || y.is_float() {
            let operand = self.invalid_values(a, b, span);
            return self.rvalue(operand);
        }
        if n > 1 && m != n {
            let (a, b) = (self.quote(self.type_of(a)), self.quote(self.type_of(b)));
            let message = if m == 1 {
                format!(
                    "requested shift is a vector of type {b} but the first operand is not a \
                     vector ({a})"
                )
            } else {
                format!("vector operands do not have the same number of elements ({a} and {b})")
            };
            self.diags.error(span, message);
            return self.error_value(loc);
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
            self.diags.warning("shift-count-overflow", loc, message);
        }
        let ty = self.type_of(a);
        self.fold_binary(hir_op(op), a, b, ty, loc)
    }

    /// An index is a `long`.
    pub(super) fn index(&mut self, id: ExprId) -> ExprId {
        self.arithmetic_as(id, Scalar::Long)
    }

    fn pointer_add(
        &mut self,
        pointer: ExprId,
        index: ExprId,
        negative: bool,
        span: Span,
        loc: Loc,
    ) -> ExprId {
        let is_index = matches!(self.arithmetic_of(index), Some((s, 1)) if s.is_integer());
        if !is_index {
            let operand = self.invalid_values(pointer, index, span);
            return self.rvalue(operand);
        }
        let ty = self.type_of(pointer);
        if let Type::Pointer { pointee, .. } = *self.types.get(ty)
            && pointee.ty != Types::VOID
            && self.types.layout(pointee.ty).is_none()
        {
            let name = self.quote(pointee);
            self.diags.error(
                loc,
                format!("arithmetic on a pointer to an incomplete type {name}"),
            );
            return self.error_value(loc);
        }
        let mut index = self.index(index);
        if negative {
            index = self.fold_unary(hir::UnaryOp::Negate, index, loc);
        }
        self.add(ExprKind::PtrAdd(pointer, index), ty, loc)
    }

    fn pointer_difference(&mut self, a: ExprId, b: ExprId, span: Span, loc: Loc) -> ExprId {
        let (x, y) = (self.type_of(a), self.type_of(b));
        let (
            Type::Pointer {
                pointee: p,
                space: s,
            },
            Type::Pointer {
                pointee: q,
                space: t,
            },
        ) = (self.types.get(x).clone(), self.types.get(y).clone())
        else {
            return self.error_value(loc);
        };
        if !self.compatible_pointees(p.ty, q.ty) {
            let (x, y) = (self.quote(x), self.quote(y));
            self.diags.error(
                span,
                format!("{x} and {y} are not pointers to compatible types"),
            );
            return self.error_value(loc);
        }
        let Some((a, b)) = self.common_space(a, b, s, t, span, loc) else {
            return self.error_value(loc);
        };
        self.add(ExprKind::PtrDiff(a, b), Types::LONG, loc)
    }

    /// Two pointers in one address space; `None` (told) if they have none in common.
    fn common_space(
        &mut self,
        a: ExprId,
        b: ExprId,
        s: crate::types::Space,
        t: crate::types::Space,
        span: Span,
        loc: Loc,
    ) -> Option<(ExprId, ExprId)> {
        use super::convert::converts;
        if s == t {
            return Some((a, b));
        }
        let (wide, narrow, is_a) = if converts(s, t) {
            (t, a, true)
        } else if converts(t, s) {
            (s, b, false)
        } else {
            let (x, y) = (self.quote(self.type_of(a)), self.quote(self.type_of(b)));
            self.diags.error(
                span,
                format!(
                    "operation with operands of types ({x} and {y}) which are pointers to \
                 non-overlapping address spaces"
                ),
            );
            return None;
        };
        let Type::Pointer { pointee, .. } = *self.types.get(self.type_of(narrow)) else {
            return None;
        };
        let ty = self.types.pointer(pointee, wide);
        let cast = self.pointer_cast(narrow, ty, loc);
        Some(if is_a { (cast, b) } else { (a, cast) })
    }

    /// Two pointers (or one and a null pointer constant) as one type.
    fn balance_pointers(
        &mut self,
        a: ExprId,
        b: ExprId,
        span: Span,
        loc: Loc,
    ) -> Option<(ExprId, ExprId)> {
        let (x, y) = (self.type_of(a), self.type_of(b));
        match (self.types.get(x).clone(), self.types.get(y).clone()) {
            (
                Type::Pointer {
                    pointee: p,
                    space: s,
                },
                Type::Pointer {
                    pointee: q,
                    space: t,
                },
            ) => {
                if self.is_null_constant(b) {
                    return Some((a, self.null(x, loc)));
                }
                if self.is_null_constant(a) {
                    return Some((self.null(y, loc), b));
                }
                let (a, b) = self.common_space(a, b, s, t, span, loc)?;
                if p.ty != Types::VOID
                    && q.ty != Types::VOID
                    && !self.compatible_pointees(p.ty, q.ty)
                {
                    let (x, y) = (self.quote(x), self.quote(y));
                    self.diags.warning(
                        "compare-distinct-pointer-types",
                        span,
                        format!("comparison of distinct pointer types ({x} and {y})"),
                    );
                }
                // `void *` is the composite of it and any other; the qualifiers of both count.
                let pointee = QualType {
                    ty: if q.ty == Types::VOID { q.ty } else { p.ty },
                    quals: TypeQuals {
                        is_const: p.quals.is_const || q.quals.is_const,
                        is_volatile: p.quals.is_volatile || q.quals.is_volatile,
                        ..TypeQuals::default()
                    },
                };
                let space = self.space_of(self.type_of(a));
                let ty = self.types.pointer(pointee, space);
                Some((self.pointer_cast(a, ty, loc), self.pointer_cast(b, ty, loc)))
            }
            (Type::Pointer { .. }, Type::Scalar(_)) if self.is_null_constant(b) => {
                Some((a, self.null(x, loc)))
            }
            (Type::Scalar(_), Type::Pointer { .. }) if self.is_null_constant(a) => {
                Some((self.null(y, loc), b))
            }
            (Type::Pointer { .. }, Type::Scalar(s)) if s.is_integer() => {
                self.warn_pointer_integer(x, y, span);
                let operand = self.value(b, span);
                Some((a, self.cast(operand, x.into(), span)))
            }
            (Type::Scalar(s), Type::Pointer { .. }) if s.is_integer() => {
                self.warn_pointer_integer(x, y, span);
                let operand = self.value(a, span);
                Some((self.cast(operand, y.into(), span), b))
            }
            _ => {
                self.invalid_values(a, b, span);
                None
            }
        }
    }

    fn warn_pointer_integer(&mut self, x: TypeId, y: TypeId, span: Span) {
        let (x, y) = (self.quote(x), self.quote(y));
        self.diags.warning(
            "pointer-integer-compare",
            span,
            format!("comparison between pointer and integer ({x} and {y})"),
        );
    }

    /// Scalars yield an `int`, vectors one of signed integers as wide.
    fn compare(
        &mut self,
        comparison: Comparison,
        a: ExprId,
        b: ExprId,
        spans: (Span, Span),
        loc: Loc,
    ) -> ExprId {
        let span = spans.0.to(spans.1);
        if self.arithmetic_of(a).is_some() && self.arithmetic_of(b).is_some() {
            let Some((a, b, scalar, lanes)) = self.balance(a, b, spans, loc) else {
                return self.error_value(loc);
            };
            let ty = self.types.intern(Type::Truth(lanes));
            let mut truth = self.add(ExprKind::Compare(comparison, a, b), ty, loc);
            if lanes == 1 {
                if let (ExprKind::Constant(x), ExprKind::Constant(y)) =
                    (self.kind_of(a), self.kind_of(b))
                    && let Some(bit) = super::consteval::compare(comparison, x, y, scalar)
                {
                    truth = self.int_constant(bit.into(), ty, loc);
                }
                return self.truth_value(truth, Types::INT, loc);
            }
            let result = self
                .types
                .vector(Scalar::integer(scalar.bits(), true), lanes);
            return self.truth_as(truth, result, loc);
        }
        let opaque = |sema: &Self, id| {
            matches!(
                sema.types.get(sema.type_of(id)),
                Type::Queue | Type::ClkEvent | Type::Event
            )
        };
        let (mut a, mut b) = (a, b);
        if opaque(self, a) && self.opaque_constant(b, self.type_of(a)) {
            b = self.null(self.type_of(a), loc);
        } else if opaque(self, b) && self.opaque_constant(a, self.type_of(b)) {
            a = self.null(self.type_of(b), loc);
        }
        let equality = matches!(comparison, Comparison::Eq | Comparison::Ne);
        if opaque(self, a) && self.type_of(a) == self.type_of(b) && equality {
            let truth = self.add(ExprKind::Compare(comparison, a, b), Types::TRUTH, loc);
            return self.truth_value(truth, Types::INT, loc);
        }
        match self.balance_pointers(a, b, span, loc) {
            Some((a, b)) => {
                let truth = self.add(ExprKind::Compare(comparison, a, b), Types::TRUTH, loc);
                self.truth_value(truth, Types::INT, loc)
            }
            None => self.error_value(loc),
        }
    }

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
        let spans = (then_operand.span, otherwise.span);
        let mut result = match self.arithmetic_of(value) {
            Some((scalar, lanes)) if lanes > 1 => {
                self.vector_conditional(value, scalar, lanes, a, b, spans, span, loc)
            }
            // "The first expression can be a scalar or vector integer type."
            Some((scalar, _)) if scalar.is_float() => {
                self.float_condition(self.type_of(value), operand.span)
            }
            _ => {
                let truth = self.truth_of(value, operand.span);
                self.scalar_conditional(truth, a, b, spans, loc)
            }
        };
        if let Some(bind) = bind {
            let ty = self.type_of(result);
            result = self.add(ExprKind::Sequence(vec![bind, result]), ty, loc);
        }
        self.value(result, span)
    }

    fn scalar_conditional(
        &mut self,
        truth: ExprId,
        a: ExprId,
        b: ExprId,
        spans: (Span, Span),
        loc: Loc,
    ) -> ExprId {
        let (x, y) = (self.type_of(a), self.type_of(b));
        if self.is_error(x) || self.is_error(y) {
            return self.error_value(loc);
        }
        if self.block_type(x).is_some() || self.block_type(y).is_some() {
            self.diags.error(
                spans.0.to(spans.1),
                "block type cannot be used as expression in ternary expression in OpenCL",
            );
            return self.error_value(loc);
        }
        let (a, b) = if x == y {
            match self.arithmetic_of(a) {
                Some((_, 1)) => (self.promote(a), self.promote(b)),
                _ => (a, b),
            }
        } else if self.arithmetic_of(a).is_some() && self.arithmetic_of(b).is_some() {
            match self.balance(a, b, spans, loc) {
                Some((a, b, ..)) => (a, b),
                None => return self.error_value(loc),
            }
        } else if x == Types::VOID || y == Types::VOID {
            (self.discard(a, loc), self.discard(b, loc))
        } else {
            match self.balance_pointers(a, b, spans.0.to(spans.1), loc) {
                Some(both) => both,
                None => return self.error_value(loc),
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
            return self.add(ExprKind::Constant(chosen), ty, loc);
        }
        self.add(ExprKind::Conditional(truth, a, b), ty, loc)
    }

    fn float_condition(&mut self, ty: TypeId, span: Span) -> ExprId {
        let name = self.quote(ty);
        self.diags.error(
            span,
            format!("used type {name} where floating point type is not allowed"),
        );
        self.error_value(span.first)
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
    #[allow(clippy::too_many_arguments)]
    fn vector_conditional(
        &mut self,
        condition: ExprId,
        scalar: Scalar,
        lanes: u8,
        a: ExprId,
        b: ExprId,
        spans: (Span, Span),
        span: Span,
        loc: Loc,
    ) -> ExprId {
        if self.is_error(self.type_of(a)) || self.is_error(self.type_of(b)) {
            return self.error_value(loc);
        }
        if scalar.is_float() {
            return self.float_condition(self.type_of(condition), span);
        }
        let balanced = match (self.arithmetic_of(a), self.arithmetic_of(b)) {
            // Of two scalars that of lower rank becomes the other's type; neither is promoted.
            (Some((x, 1)), Some((y, 1))) if x.is_integer() && y.is_integer() => {
                let rank = |scalar: Scalar| (scalar.bits(), !scalar.is_signed());
                let of = if rank(x) < rank(y) { y } else { x };
                Some((self.arithmetic_as(a, of), self.arithmetic_as(b, of), of, 1))
            }
            _ => self.balance(a, b, spans, loc),
        };
        let Some((a, b, of, n)) = balanced else {
            return self.error_value(loc);
        };
        let (a, b) = if n == 1 {
            (self.splat(a, of, lanes), self.splat(b, of, lanes))
        } else {
            (a, b)
        };
        if (n != 1 && n != lanes) || of.bits() != scalar.bits() {
            let (c, v) = (
                self.quote(self.type_of(condition)),
                self.quote(self.type_of(a)),
            );
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
            self.diags.error(span, message);
            return self.error_value(loc);
        }
        let truth = match *self.kind_of(condition) {
            ExprKind::Convert(hir::Conversion::FromTruth, truth) => truth,
            _ => {
                let signed = Scalar::integer(scalar.bits(), true);
                let value = self.arithmetic_as(condition, signed);
                let ty = self.type_of(value);
                let zero = self.add(ExprKind::Constant(Constant::Zero), ty, loc);
                let ty = self.types.intern(Type::Truth(lanes));
                self.add(ExprKind::Compare(Comparison::Lt, value, zero), ty, loc)
            }
        };
        let ty = self.type_of(a);
        self.add(ExprKind::Select(truth, a, b), ty, loc)
    }
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
