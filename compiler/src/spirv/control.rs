//! Control flow, calls, barriers, and copies by a whole work-group.

use std::collections::HashSet;

use rspirv::spirv::{MemorySemantics, Op};
use smallvec::SmallVec;

use super::atomics::order_of;
use super::body::{Body, Values};
use super::decode::{Id, Inst, Result};
use super::function::{FunctionTranslator, Pointer};
use super::rules::{REQUIRED, VALIDATION};
use super::types::Kind;
use crate::ir::{
    BinOp, BlockCall, Collective, DimQuery, Fence, IntCC, Mem, Op as IrOp, Order, Query, Scalar,
    Scope, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;

/// What a group's copy copies.
pub(super) struct Elements {
    pub ty: Type,
    /// Bytes from one to the next.
    pub size: u64,
    pub align: u32,
}

impl FunctionTranslator<'_, '_> {
    fn jump(&self, inst: &Inst<'_>, label: Id) -> Result<BlockCall> {
        Ok(BlockCall::new(self.target(inst, label)?, &[]))
    }

    /// Ends the block. Jumps get their arguments when all blocks are translated.
    pub(super) fn terminator(&mut self, inst: &Inst<'_>) -> Result<()> {
        let words = inst.operands;
        let term = match inst.op() {
            Op::Branch => Terminator::Br(self.jump(inst, words[0])?),
            Op::BranchConditional => {
                let cond = self.typed(inst, words[0], Type::I1)?;
                Terminator::CondBr {
                    cond,
                    then: self.jump(inst, words[1])?,
                    els: self.jump(inst, words[2])?,
                }
            }
            Op::Switch => self.switch(inst)?,
            Op::Return => {
                if !self.body.func.results.is_empty() {
                    return Err(self.error(inst, "the function must return a value"));
                }
                Terminator::Ret(SmallVec::new())
            }
            Op::ReturnValue => {
                let ty = self.unit.type_of(inst, words[0])?;
                if !self.unit.same_type(ty, self.def.result) {
                    return Err(self.error(
                        inst,
                        "the returned value's type is not the function's result type",
                    ));
                }
                Terminator::Ret(self.values(inst, words[0])?.into_iter().collect())
            }
            Op::Unreachable => Terminator::Unreachable,
            _ => {
                return Err(self
                    .error(inst, "this terminator is not allowed in kernels")
                    .under(REQUIRED));
            }
        };
        self.body.terminate(term);
        Ok(())
    }

    fn switch(&mut self, inst: &Inst<'_>) -> Result<Terminator> {
        let value = self.integer(inst, inst.operands[0])?;
        let ty = self.body.ty(value);
        if !ty.is_scalar() {
            return Err(self.error(inst, "the selector is a vector"));
        }
        let words = ty.scalar.bits().div_ceil(32) as usize;
        let default = self.jump(inst, inst.operands[1])?;
        let mut cases = Vec::new();
        let mut seen = HashSet::new();
        for case in inst.operands[2..].chunks_exact(words + 1) {
            let high = if words == 2 { case[1] } else { 0 };
            let bits = (u64::from(case[0]) | u64::from(high) << 32) & ty.scalar.mask();
            if !seen.insert(bits) {
                return Err(self.error(inst, format!("the case {bits} occurs twice")));
            }
            cases.push((bits, self.jump(inst, case[words])?));
        }
        Ok(Terminator::Switch {
            value,
            cases,
            default,
        })
    }

    pub(super) fn call(&mut self, inst: &Inst<'_>) -> Result<()> {
        let callee = self.unit.linked(inst.operands[0]);
        if self.unit.is_of_driver(callee) {
            return self.fail_assertion(inst);
        }
        let func = self.out.function(self.unit, inst, callee)?;
        let def = &self.unit.functions[&callee];
        let given = &inst.operands[1..];
        if given.len() != def.params.len() {
            return Err(self.error(
                inst,
                format!(
                    "{} arguments for a function of {} parameters",
                    given.len(),
                    def.params.len()
                ),
            ));
        }
        let mut args: SmallVec<[Value; 8]> = SmallVec::new();
        for (&id, param) in given.iter().zip(&def.params) {
            let (of_arg, of_param) = (self.unit.type_of(inst, id)?, self.unit.result_type(param)?);
            if !self.unit.same_type(of_arg, of_param) {
                return Err(self.error(
                    inst,
                    format!(
                        "the argument {} does not have its parameter's type",
                        self.unit.binary.describe(id)
                    ),
                ));
            }
            args.extend(self.values(inst, id)?);
        }
        self.out.calls.push((
            self.id,
            func,
            Inst {
                // Only for messages.
                operands: &[],
                ..*inst
            },
        ));
        let results: SmallVec<[Type; 4]> = self
            .unit
            .leaves(inst, def.result)?
            .iter()
            .map(|leaf| leaf.ty)
            .collect();
        let call = self.body.b().ins(IrOp::Call(func), &args, &results);
        let void = {
            let ty = self.unit.result_type(inst)?;
            matches!(self.unit.type_of_id(inst, ty)?.kind, Kind::Void)
        };
        if void && results.is_empty() {
            return Ok(());
        }
        let values: Values = self.body.func.insts[call].results.iter().copied().collect();
        self.define_values(inst, values)
    }

    /// Translates barriers, fences, group copies and clocks; false for other instructions.
    pub(super) fn synchronization(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        let words = inst.operands;
        match op {
            Op::ControlBarrier => {
                let fence = self.fence(inst, words[1], words[2])?;
                let allowed = [Scope::WorkGroup, Scope::SubGroup];
                let scope = self.execution_scope(inst, words[0], &allowed)?;
                self.body.barrier(scope, fence);
            }
            Op::MemoryBarrier => {
                let fence = self.fence(inst, words[0], words[1])?;
                self.body.b().ins(IrOp::Fence(fence), &[], &[]);
            }
            Op::ReadClockKHR => self.read_clock(inst)?,
            Op::GroupAsyncCopy => self.async_copy(inst)?,
            Op::GroupWaitEvents => {
                self.group_scope(inst, words[0])?;
                self.size_value(inst, words[1])?;
                self.pointer(inst, words[2])?;
                let fence = Fence {
                    scope: Scope::WorkGroup,
                    order: Order::AcqRel,
                    local: true,
                    global: true,
                };
                self.body.b().ins(IrOp::Barrier(fence), &[], &[]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// "OpReadClockKHR": one clock serves every scope. A result of two components has the low half
    /// first.
    fn read_clock(&mut self, inst: &Inst<'_>) -> Result<()> {
        let allowed = [Scope::Device, Scope::WorkGroup, Scope::SubGroup];
        self.execution_scope(inst, inst.operands[0], &allowed)?;
        let ty = self.unit.result_ir(inst)?;
        let mut now = self.body.b().val(IrOp::Clock, &[], Type::I64);
        if ty != Type::I64 {
            now = self.body.b().bitcast(now, Type::new(Scalar::I32, 2));
        }
        self.define(inst, now)
    }

    /// The execution scope, which is one of these.
    pub(super) fn execution_scope(
        &mut self,
        inst: &Inst<'_>,
        id: Id,
        allowed: &[Scope],
    ) -> Result<Scope> {
        if self.unit.integer_constant(id).is_none() {
            return Err(self
                .error(inst, "the execution scope is not a constant")
                .under(VALIDATION));
        }
        let scope = self.scope(inst, id)?;
        if allowed.contains(&scope) {
            return Ok(scope);
        }
        let names: Vec<&str> = allowed.iter().map(|scope| scope.name()).collect();
        let message = format!(
            "the execution scope is {}, where it may be {}",
            scope.name(),
            names.join(" or ")
        );
        Err(self.error(inst, message).under(VALIDATION))
    }

    /// The execution scope of what only a work-group does together.
    pub(super) fn group_scope(&mut self, inst: &Inst<'_>, id: Id) -> Result<()> {
        self.execution_scope(inst, id, &[Scope::WorkGroup])?;
        Ok(())
    }

    /// What a barrier orders. Images lie in global memory. A barrier with an order but no storage
    /// class is what LLVM's `fence` is translated to, which orders all memory.
    pub(super) fn fence(&mut self, inst: &Inst<'_>, scope: Id, semantics: Id) -> Result<Fence> {
        let semantics = self.semantics(inst, semantics)?;
        let local = MemorySemantics::WORKGROUP_MEMORY;
        let global = MemorySemantics::CROSS_WORKGROUP_MEMORY | MemorySemantics::IMAGE_MEMORY;
        let order = order_of(semantics);
        let all = order != Order::Relaxed && !semantics.intersects(local | global);
        Ok(Fence {
            scope: self.scope(inst, scope)?,
            order,
            local: all || semantics.intersects(local),
            global: all || semantics.intersects(global),
        })
    }

    /// A copy by the work-items of a group together ("OpGroupAsyncCopy"): the work-item with local
    /// linear id `i` copies the elements `i`, `i + group size`, .. Who waits for the event meets
    /// the others at a barrier. The stride, in elements, is of the global side.
    fn async_copy(&mut self, inst: &Inst<'_>) -> Result<()> {
        let words = inst.operands;
        self.group_scope(inst, words[0])?;
        let to = self.pointer(inst, words[1])?;
        let from = self.pointer(inst, words[2])?;
        let count = self.size_value(inst, words[3])?;
        let stride = self.size_value(inst, words[4])?;
        let event = self.value(inst, words[5])?;
        if self.body.ty(event) != Type::I64 {
            return Err(self.error(inst, "the event is not an event"));
        }
        let (Some(pointee), Some(of_target)) = (from.pointee, to.pointee) else {
            return Err(self.error(inst, "the pointers do not point to the same type"));
        };
        if !self.unit.same_type(pointee, of_target) {
            return Err(self.error(inst, "the pointers do not point to the same type"));
        }
        let info = self.unit.type_of_id(inst, pointee)?;
        let Some(mut ty) = info.ir() else {
            return Err(self.error(inst, "the elements are not scalars or vectors"));
        };
        // The fourth component's room of a vector of three is copied too.
        if ty.lanes == 3 {
            ty.lanes = 4;
        }
        let elements = Elements {
            ty,
            size: info.size,
            align: info.align,
        };
        self.body.copy_elements(&to, &from, count, stride, elements);
        self.define(inst, event)
    }
}

impl Body {
    /// A barrier of the work-group or the sub-group.
    pub(super) fn barrier(&mut self, scope: Scope, fence: Fence) {
        if scope == Scope::WorkGroup {
            self.b().ins(IrOp::Barrier(fence), &[], &[]);
            return;
        }
        let sync = IrOp::Collective {
            what: Collective::Sync,
            scope: Scope::SubGroup,
            masked: false,
        };
        self.b().ins(sync, &[], &[]);
        self.b().ins(IrOp::Fence(fence), &[], &[]);
    }

    /// The loop of a group's copy.
    pub(super) fn copy_elements(
        &mut self,
        to: &Pointer,
        from: &Pointer,
        count: Value,
        stride: Value,
        elements: Elements,
    ) {
        let Elements { ty, size, align } = elements;
        let size = self.iconst(Type::I64, size);
        let mut f = self.b();
        let first = f.val(IrOp::Query(Query::LocalLinearId), &[], Type::I64);
        let [x, y, z] =
            [0, 1, 2].map(|d| f.val(IrOp::DimQuery(DimQuery::LocalSize, d), &[], Type::I64));
        let xy = f.binary(BinOp::IMul, x, y);
        let group = f.binary(BinOp::IMul, xy, z);
        let head = f.new_block(&[Type::I64]);
        let body = f.new_block(&[]);
        let done = f.new_block(&[]);
        f.br(head, &[first]);

        f.switch_to(head);
        let index = f.param(head, 0);
        let more = f.icmp(IntCC::Ult, index, count);
        f.cond_br(more, body, &[], done, &[]);

        f.switch_to(body);
        let strided = f.binary(BinOp::IMul, index, stride);
        let (to_index, from_index) = if to.space == AddressSpace::Local {
            (index, strided)
        } else {
            (strided, index)
        };
        let offset = f.binary(BinOp::IMul, from_index, size);
        let source = f.ptr_add(from.address, offset);
        let value = f.load(Mem::new(from.space, align), source, ty);
        let offset = f.binary(BinOp::IMul, to_index, size);
        let target = f.ptr_add(to.address, offset);
        f.store(Mem::new(to.space, align), target, value);
        let next = f.binary(BinOp::IAdd, index, group);
        f.br(head, &[next]);

        self.block = done;
    }
}
