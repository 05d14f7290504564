//! Unary operators. OpenCL C Specification, "Operators".

use super::init::is_compound_literal;
use super::{Operand, Place, Sema};
use crate::ast::{self, UnaryOp};
use crate::hir::{self, Constant, ExprId, ExprKind};
use crate::token::{Loc, Span};
use crate::types::{QualType, Scalar, Type, TypeId, Types};

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

    pub(super) fn fold_unary(&mut self, op: hir::UnaryOp, value: ExprId, loc: Loc) -> ExprId {
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
                let name = self.quote_value(value);
                self.diags.error(
                    span,
                    format!("indirection requires pointer operand ({name} invalid)"),
                );
                self.error(span)
            }
        }
    }

    fn address_of(&mut self, inner: ast::ExprId, span: Span) -> Operand {
        let before = self.wants_address;
        self.wants_address = is_compound_literal(self.ast, inner);
        let operand = self.expr(inner);
        self.wants_address = before;
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
}
