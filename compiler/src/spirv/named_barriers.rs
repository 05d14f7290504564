//! Named barriers: a record in work-group memory for each `OpNamedBarrierInitialize`, whose address
//! is the barrier ([`IrOp::NamedBarrier`]).

use rspirv::spirv::Op;

use super::decode::{Inst, Result};
use super::function::FunctionTranslator;
use super::types::Kind;
use crate::ir::{Fence, IntCC, LocalVar, Mem, Op as IrOp, Order, Query, Scope, Type, Value};
use crate::kernel_info::AddressSpace;

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn named_barrier(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        match op {
            Op::NamedBarrierInitialize => {
                let ty = self.unit.result_type(inst)?;
                self.check_named_barrier(inst, ty)?;
                let count = self.typed(inst, inst.operands[0], Type::I32)?;
                let record = self.make_record(count);
                let handle = self.body.b().bitcast(record, Type::I64);
                self.define(inst, handle)?;
            }
            Op::MemoryNamedBarrier => {
                let words = inst.operands;
                let ty = self.unit.type_of(inst, words[0])?;
                self.check_named_barrier(inst, ty)?;
                let handle = self.value(inst, words[0])?;
                let fence = self.fence(inst, words[1], words[2])?;
                let record = self.body.b().bitcast(handle, Type::PTR);
                self.body.b().ins(IrOp::NamedBarrier(fence), &[record], &[]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn check_named_barrier(&self, inst: &Inst<'_>, ty: u32) -> Result<()> {
        match self.unit.type_of_id(inst, ty)?.kind {
            Kind::Handle {
                op: Op::TypeNamedBarrier,
                ..
            } => Ok(()),
            _ => Err(self.error(
                inst,
                format!(
                    "{} is not an OpTypeNamedBarrier",
                    self.unit.binary.describe(ty)
                ),
            )),
        }
    }

    /// A barrier is made by all work-items of the group together, so one of them can do it while
    /// the others wait; those who still used the one made here before have arrived.
    fn make_record(&mut self, count: Value) -> Value {
        let local = self.body.func.locals.push(LocalVar {
            name: self.out.unique("named barrier"),
            size: 12,
            align: 4,
        });
        let record = self.body.prologue(IrOp::LocalAddr(local), &[], Type::PTR);
        let fence = Fence {
            scope: Scope::WorkGroup,
            order: Order::AcqRel,
            local: true,
            global: false,
        };
        self.body.barrier(Scope::WorkGroup, fence);
        let (arrived, times) = (
            self.body.at_offset(record, 4),
            self.body.at_offset(record, 8),
        );
        let zero = self.body.iconst(Type::I32, 0);
        let first = self.body.iconst(Type::I64, 0);
        let mem = Mem::new(AddressSpace::Local, 4);
        let mut f = self.body.b();
        let item = f.val(IrOp::Query(Query::LocalLinearId), &[], Type::I64);
        let is_first = f.icmp(IntCC::Eq, item, first);
        self.body.when(is_first, |body| {
            let mut f = body.b();
            f.store(mem, record, count);
            f.store(mem, arrived, zero);
            f.store(mem, times, zero);
        });
        self.body.barrier(Scope::WorkGroup, fence);
        record
    }
}
