//! What may be computed whether it is wanted or not: then `&&`, `||` and `?:` need no blocks.
//!
//! Every block costs those who compile the module, and where work-items go different ways, masks at
//! run time.

use super::function::FunctionEmitter;
use crate::hir::{BinaryOp, Constant, Conversion, ExprId, ExprKind};

/// Operations on the right of `&&` and `||` that are done in any case; what tests of bounds in two
/// dimensions take.
pub(super) const MAX_CONDITION: u32 = 8;

/// Operations on either side of `?:` that are done in any case.
pub(super) const MAX_CHOICE: u32 = 3;

impl FunctionEmitter<'_, '_> {
    /// Whether nothing but arithmetic happens, and at most so many operations of it.
    pub(super) fn is_speculatable(&self, id: ExprId, limit: u32) -> bool {
        self.left_of(id, limit).is_some()
    }

    /// Whether `&&` and `||` need no blocks for being branched on: the right side is computed in any
    /// case, and the left side has no blocks of its own.
    pub(super) fn is_one_condition(&self, left: ExprId, right: ExprId) -> bool {
        let has_sides = matches!(
            self.function[left].kind,
            ExprKind::And(..) | ExprKind::Or(..)
        );
        match self.left_of(right, MAX_CONDITION) {
            Some(limit) => !has_sides || self.is_speculatable(left, limit),
            None => false,
        }
    }

    /// What an expression leaves of a number of operations; `None` if it takes more, or does
    /// anything else.
    fn left_of(&self, id: ExprId, limit: u32) -> Option<u32> {
        let expr = &self.function[id];
        if self.module.in_memory(expr.ty) {
            return None;
        }
        match &expr.kind {
            ExprKind::Constant(Constant::Int(_) | Constant::Float(_) | Constant::Zero)
            | ExprKind::Temp(_) => Some(limit),
            ExprKind::Load { pointer, access } => {
                let is_local = matches!(self.function[*pointer].kind, ExprKind::Local(_));
                (is_local && !access.is_volatile).then_some(limit)
            }
            ExprKind::Unary(_, inner)
            | ExprKind::Negate(inner)
            | ExprKind::Convert(
                Conversion::Arithmetic { .. } | Conversion::FromTruth | Conversion::ToTruth,
                inner,
            ) => self.left_of(*inner, limit.checked_sub(1)?),
            // Quotients of integers may trap.
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..)
                if !self.scalar(expr.ty).is_float() =>
            {
                None
            }
            ExprKind::Binary(_, left, right)
            | ExprKind::Compare(_, left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => {
                let limit = self.left_of(*left, limit.checked_sub(1)?)?;
                self.left_of(*right, limit)
            }
            _ => None,
        }
    }
}
