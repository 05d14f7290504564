//! Records and arrays, which stay in memory: an expression of such a type is the address of what it
//! yields, which nothing changes before it is used.

use super::expr::memory_operands;
use super::function::FunctionEmitter;
use super::words::Id;
use crate::hir::{Access, Constant, ExprId, ExprKind};
use crate::spirv::{memory, op};
use crate::types::{Space, TypeId, Types};

/// Objects of at most so many bytes are stored as one constant, larger ones copied from one.
const MAX_STORED: u64 = 64;

impl FunctionEmitter<'_, '_> {
    /// Evaluates an expression of a record or array type: the address of the value.
    pub(super) fn aggregate(&mut self, id: ExprId) -> Id {
        let function = self.function;
        let expr = &function[id];
        match &expr.kind {
            ExprKind::Load { pointer, .. } => self.expr(*pointer),
            ExprKind::Temp(temp) => self.temp(*temp),
            ExprKind::Constant(constant) => self.module.constant_in_memory(constant, expr.ty),
            ExprKind::Field(base, field) => self.field_of_value(*base, *field, expr.ty),
            ExprKind::Sequence(all) => {
                let (last, effects) = all.split_last().expect("a sequence has a value");
                for &one in effects {
                    self.effects(one);
                }
                self.expr(*last)
            }
            ExprKind::Statements(statements, value) => {
                self.statements(statements);
                self.reopen();
                match value {
                    Some(value) => self.expr(*value),
                    None => self.scratch_variable(expr.ty),
                }
            }
            _ => {
                let place = self.scratch_variable(expr.ty);
                self.store_aggregate(place, id, expr.ty, None);
                place
            }
        }
    }

    /// Stores a record or array. Where `access` says nothing the address has the type's alignment.
    pub(super) fn store_aggregate(
        &mut self,
        address: Id,
        id: ExprId,
        ty: TypeId,
        access: Option<Access>,
    ) {
        let function = self.function;
        match &function[id].kind {
            ExprKind::Undefined => {}
            ExprKind::Constant(constant) if self.size_of(ty) <= MAX_STORED => {
                let value = self.module.constant(constant, ty);
                self.line(function[id].loc);
                match access.map(memory_operands) {
                    Some([mask, align]) => {
                        self.push(op::STORE, &[address.0, value.0, mask, align]);
                    }
                    None => self.push(op::STORE, &[address.0, value.0]),
                }
            }
            ExprKind::MakeRecord(fields) => {
                let fields: Vec<(ExprId, Id)> = fields
                    .iter()
                    .map(|&field| (field, self.bound_value(field)))
                    .collect();
                for (at, (field, value)) in fields.into_iter().enumerate() {
                    let field_ty = function[field].ty;
                    let pointer = self.module.pointer_to(field_ty, Space::Private);
                    let place = (ty, Space::Private);
                    let pointer = self.member_address(address, place, at as u32, pointer);
                    if self.module.in_memory(field_ty) {
                        self.copy(pointer, value, field_ty, None);
                    } else {
                        self.push(op::STORE, &[pointer.0, value.0]);
                    }
                }
            }
            ExprKind::Call(callee, args) => {
                let place = self.scratch_variable(ty);
                self.call(*callee, None, args, id, Some(place));
                self.copy(address, place, ty, access);
            }
            ExprKind::CallBlock {
                function: callee,
                block,
                args,
            } => {
                let block = self.expr(*block);
                let place = self.scratch_variable(ty);
                self.call(*callee, Some(block), args, id, Some(place));
                self.copy(address, place, ty, access);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.branches(
                    *condition,
                    |e| e.store_aggregate(address, *then, ty, access),
                    |e| e.store_aggregate(address, *otherwise, ty, access),
                );
            }
            _ => {
                let from = self.aggregate(id);
                self.line(function[id].loc);
                self.copy(address, from, ty, access);
            }
        }
    }

    fn size_of(&self, ty: TypeId) -> u64 {
        self.module.types.layout(ty).map_or(0, |(size, _)| size)
    }

    fn copy(&mut self, to: Id, from: Id, ty: TypeId, access: Option<Access>) {
        let (size, natural) = self.module.types.layout(ty).unwrap_or((0, 1));
        if size == 0 {
            return;
        }
        let align = access.map_or(natural, |access| access.align.min(natural));
        let mut mask = memory::ALIGNED;
        if access.is_some_and(|access| access.is_volatile) {
            mask |= memory::VOLATILE;
        }
        let size = self.module.int(Types::ULONG, size);
        let operands = [to.0, from.0, size.0, mask, align as u32];
        self.push(op::COPY_MEMORY_SIZED, &operands);
    }

    /// A value that stays what it is whatever is stored later.
    pub(super) fn bound_value(&mut self, id: ExprId) -> Id {
        let ty = self.function[id].ty;
        if !self.module.in_memory(ty) {
            return self.expr(id);
        }
        let place = self.scratch_variable(ty);
        self.store_aggregate(place, id, ty, None);
        place
    }

    /// An argument of a function of the program: records go by the address of a copy.
    pub(super) fn argument(&mut self, id: ExprId) -> Id {
        self.bound_value(id)
    }

    /// The address of a field of a record's value.
    pub(super) fn field_of_value(&mut self, base: ExprId, field: u32, ty: TypeId) -> Id {
        let function = self.function;
        let record = function[base].ty;
        let space = match &function[base].kind {
            ExprKind::Load { pointer, .. } => self.space_of(function[*pointer].ty),
            ExprKind::Constant(_) => Space::Constant,
            _ => Space::Private,
        };
        let base = if matches!(space, Space::Private) {
            self.bound_value(base)
        } else {
            self.expr(base)
        };
        let pointer = self.module.pointer_to(ty, space);
        self.member_address(base, (record, space), field, pointer)
    }

    /// Fills an object with zeros.
    pub(super) fn store_zero(&mut self, pointer: Id, ty: TypeId) {
        if self.module.in_memory(ty) && self.size_of(ty) > MAX_STORED {
            let zero = self.module.constant_in_memory(&Constant::Zero, ty);
            self.copy(pointer, zero, ty, None);
        } else {
            let zero = self.module.null(ty);
            self.push(op::STORE, &[pointer.0, zero.0]);
        }
    }
}
