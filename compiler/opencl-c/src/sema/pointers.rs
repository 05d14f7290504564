//! Operators on pointers: sums, differences, and what both sides of a comparison become.

use super::convert::converts;
use super::{Operator, Sema};
use crate::hir::{self, ExprId, ExprKind};
use crate::types::{QualType, Scalar, Space, Type, TypeId, TypeQuals, Types};

impl Sema<'_> {
    /// An index is a `long`.
    pub(super) fn index(&mut self, id: ExprId) -> ExprId {
        self.arithmetic_as(id, Scalar::Long)
    }

    pub(super) fn pointer_add(
        &mut self,
        (pointer, index): (ExprId, ExprId),
        (a, b): (ExprId, ExprId),
        negative: bool,
        at: Operator,
    ) -> ExprId {
        let is_index = matches!(self.arithmetic_of(index), Some((s, 1)) if s.is_integer());
        if !is_index {
            return self.invalid_values(a, b, at);
        }
        let ty = self.type_of(pointer);
        if let Type::Pointer { pointee, .. } = *self.types.get(ty)
            && pointee.ty != Types::VOID
            && self.types.layout(pointee.ty).is_none()
        {
            let name = self.quote(pointee);
            let message = format!("arithmetic on a pointer to an incomplete type {name}");
            return self.wrong_operands(at, message);
        }
        let mut index = self.index(index);
        if negative {
            index = self.fold_unary(hir::UnaryOp::Negate, index, at.loc);
        }
        self.add(ExprKind::PtrAdd(pointer, index), ty, at.loc)
    }

    pub(super) fn pointer_difference(&mut self, a: ExprId, b: ExprId, at: Operator) -> ExprId {
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
            return self.error_value(at.loc);
        };
        if !self.compatible_pointees(p.ty, q.ty) {
            let (x, y) = (self.quote(x), self.quote(y));
            let message = format!("{x} and {y} are not pointers to compatible types");
            return self.wrong_operands(at, message);
        }
        let Some((a, b)) = self.common_space(a, b, (s, t), at) else {
            return self.error_value(at.loc);
        };
        self.add(ExprKind::PtrDiff(a, b), Types::LONG, at.loc)
    }

    /// Two pointers in one address space; `None` (told) if they have none in common.
    fn common_space(
        &mut self,
        a: ExprId,
        b: ExprId,
        (s, t): (Space, Space),
        at: Operator,
    ) -> Option<(ExprId, ExprId)> {
        if s == t {
            return Some((a, b));
        }
        let (wide, narrow, is_a) = if converts(s, t) {
            (t, a, true)
        } else if converts(t, s) {
            (s, b, false)
        } else {
            let (x, y) = (self.quote_value(a), self.quote_value(b));
            let message = format!(
                "operation with operands of types ({x} and {y}) which are pointers to \
                 non-overlapping address spaces"
            );
            self.wrong_operands(at, message);
            return None;
        };
        let Type::Pointer { pointee, .. } = *self.types.get(self.type_of(narrow)) else {
            return None;
        };
        let ty = self.types.pointer(pointee, wide);
        let cast = self.pointer_cast(narrow, ty, at.loc);
        Some(if is_a { (cast, b) } else { (a, cast) })
    }

    /// Two pointers (or one and a null pointer constant) as one type.
    pub(super) fn balance_pointers(
        &mut self,
        a: ExprId,
        b: ExprId,
        at: Operator,
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
                    return Some((a, self.null(x, at.loc)));
                }
                if self.is_null_constant(a) {
                    return Some((self.null(y, at.loc), b));
                }
                let (a, b) = self.common_space(a, b, (s, t), at)?;
                if p.ty != Types::VOID
                    && q.ty != Types::VOID
                    && !self.compatible_pointees(p.ty, q.ty)
                {
                    let (x, y) = (self.quote(x), self.quote(y));
                    let message = format!("comparison of distinct pointer types ({x} and {y})");
                    let group = "compare-distinct-pointer-types";
                    let reported = self.diags.warning(group, at.loc, message);
                    reported.range(at.left).range(at.right);
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
                Some((
                    self.pointer_cast(a, ty, at.loc),
                    self.pointer_cast(b, ty, at.loc),
                ))
            }
            (Type::Pointer { .. }, Type::Scalar(_)) if self.is_null_constant(b) => {
                Some((a, self.null(x, at.loc)))
            }
            (Type::Scalar(_), Type::Pointer { .. }) if self.is_null_constant(a) => {
                Some((self.null(y, at.loc), b))
            }
            (Type::Pointer { .. }, Type::Scalar(s)) if s.is_integer() => {
                self.warn_pointer_integer(x, y, at);
                let operand = self.value(b, at.right);
                Some((a, self.cast(operand, x.into(), at.right)))
            }
            (Type::Scalar(s), Type::Pointer { .. }) if s.is_integer() => {
                self.warn_pointer_integer(x, y, at);
                let operand = self.value(a, at.left);
                Some((self.cast(operand, y.into(), at.left), b))
            }
            _ => {
                self.invalid_values(a, b, at);
                None
            }
        }
    }

    fn warn_pointer_integer(&mut self, x: TypeId, y: TypeId, at: Operator) {
        let (x, y) = (self.quote(x), self.quote(y));
        let message = format!("comparison between pointer and integer ({x} and {y})");
        let reported = self
            .diags
            .warning("pointer-integer-compare", at.loc, message);
        reported.range(at.left).range(at.right);
    }
}
