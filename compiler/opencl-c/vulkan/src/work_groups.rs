//! Functions of a whole work-group, which Vulkan has not: each work-item leaves its value in local
//! memory, and takes what it needs of all. OpenCL C Specification, "Work-group Collective
//! Functions".

use rspirv::spirv::{BuiltIn, GlslStd450Op as Gl, GroupOperation, Op, Scope, StorageClass};

use super::ir::{Arg, Id, Inst};
use super::lower::{Lower, Result};
use super::types::{Ty, Type};

/// `AcquireRelease` of local memory.
const LOCAL_MEMORY: u32 = 0x108;

impl Lower<'_> {
    fn work_group_barrier(&mut self) {
        let scope = self.target.u32(Scope::Workgroup as u32);
        let bits = self.target.u32(LOCAL_MEMORY);
        self.push(Inst::of(Op::ControlBarrier, &[scope, scope, bits]));
    }

    /// The number of work-items in a work-group: of the module, as the length of an array is.
    fn work_group_items(&mut self) -> Id {
        let word = self.u32_ty();
        if let (Some(size), false) = (self.required_size, self.shared.has_size()) {
            return self.target.u32(size.iter().product());
        }
        let size = self.shared.size(self.target);
        let part = |lower: &mut Self, at: u32| {
            let args = vec![
                Arg::Lit(Op::CompositeExtract as u32),
                Arg::Id(size),
                Arg::Lit(at),
            ];
            lower.target.spec_op(word, args)
        };
        let mut product = part(self, 0);
        for at in 1..3 {
            let factor = part(self, at);
            let args = vec![Arg::Lit(Op::IMul as u32), Arg::Id(product), Arg::Id(factor)];
            product = self.target.spec_op(word, args);
        }
        product
    }

    /// An element of the array of a type that work-items have for their values.
    fn in_work_group(&mut self, ty: Ty, at: Id) -> Id {
        let array = match self.group_arrays.get(&ty) {
            Some(&array) => array,
            None => {
                let length = self.work_group_items();
                let of = self.target.types.add(Type::Sized(ty, length));
                let array = self.target.variable(StorageClass::Workgroup, of, None);
                self.group_arrays.insert(ty, array);
                array
            }
        };
        let pointer = self.target.types.pointer(StorageClass::Workgroup, ty);
        self.emit(Op::AccessChain, pointer, &[array, at])
    }

    pub fn work_group(&mut self, inst: &Inst) -> Result<Id> {
        let (ty, word) = (self.result_ty(inst)?, self.u32_ty());
        let bool = self.target.types.bool();
        let (zero, one) = (self.target.u32(0), self.target.u32(1));
        let reduces = !matches!(inst.op, Op::GroupAll | Op::GroupAny | Op::GroupBroadcast);
        let mut value = self.id(inst.id_at(1 + usize::from(reduces)))?;
        let mut stored = ty;
        if ty == bool {
            value = self.emit(Op::Select, word, &[value, one, zero]);
            stored = word;
        }
        let own = self.input_scalar(BuiltIn::LocalInvocationIndex);
        // All have taken what they needed of what was there.
        self.work_group_barrier();
        let place = self.in_work_group(stored, own);
        self.push(Inst::of(Op::Store, &[place, value]));
        self.work_group_barrier();
        if inst.op == Op::GroupBroadcast {
            let from = self.local_index(inst.id_at(2))?;
            let place = self.in_work_group(stored, from);
            return Ok(self.emit(Op::Load, stored, &[place]));
        }
        let first = self.neutral(inst.op, stored)?;
        let total = self.variable(stored);
        self.store_variable(total, first);
        let end = match GroupOperation::from_u32(inst.literal_at(1)) {
            Some(GroupOperation::InclusiveScan) if reduces => {
                self.emit(Op::IAdd, word, &[own, one])
            }
            Some(GroupOperation::ExclusiveScan) if reduces => own,
            _ => self.work_group_items(),
        };
        self.repeat(zero, end, one, |lower, at| {
            let place = lower.in_work_group(stored, at);
            let right = lower.emit(Op::Load, stored, &[place]);
            let left = lower.load_variable(stored, total);
            let sum = lower.combined(inst.op, stored, left, right)?;
            lower.store_variable(total, sum);
            Ok(())
        })?;
        let total = self.load_variable(stored, total);
        Ok(match ty == bool {
            true => self.emit(Op::INotEqual, bool, &[total, zero]),
            false => total,
        })
    }

    /// The linear index of a work-item by its local ids, one to three.
    fn local_index(&mut self, id: Id) -> Result<Id> {
        let (word, ty) = (self.u32_ty(), self.ty_of(id)?);
        let scalar = self.target.types.lanes(ty).0;
        let mut index = None;
        for (dimension, lane) in self.lanes_of(id)?.into_iter().enumerate().rev() {
            let lane = self.low(lane, scalar);
            index = Some(match index {
                None => lane,
                Some(index) => {
                    let size = self.local_size(dimension as u32);
                    let rows = self.emit(Op::IMul, word, &[index, size]);
                    self.emit(Op::IAdd, word, &[rows, lane])
                }
            });
        }
        match index {
            Some(index) => Ok(index),
            None => self.error("a work-item without ids"),
        }
    }

    /// What changes nothing.
    fn neutral(&mut self, op: Op, ty: Ty) -> Result<Id> {
        let bits = self.target.types.bits(ty);
        Ok(match op {
            Op::GroupAll => self.target.u32(1),
            Op::GroupAny | Op::GroupIAdd | Op::GroupUMax => self.target.null(ty),
            Op::GroupFAdd => self.target.number(ty, -0.0),
            Op::GroupUMin => self.target.bits(ty, u64::MAX),
            Op::GroupSMin => self.target.bits(ty, (1 << (bits - 1)) - 1),
            Op::GroupSMax => self.target.bits(ty, 1 << (bits - 1)),
            Op::GroupFMin => self.target.number(ty, f64::INFINITY),
            Op::GroupFMax => self.target.number(ty, f64::NEG_INFINITY),
            _ => {
                return self.error(format!(
                    "Op{op:?} of a whole work-group is not made for Vulkan"
                ));
            }
        })
    }

    fn combined(&mut self, op: Op, ty: Ty, left: Id, right: Id) -> Result<Id> {
        let both = [left, right];
        Ok(match op {
            Op::GroupAll => self.emit(Op::BitwiseAnd, ty, &both),
            Op::GroupAny => self.emit(Op::BitwiseOr, ty, &both),
            Op::GroupIAdd => self.emit(Op::IAdd, ty, &both),
            Op::GroupFAdd => self.emit(Op::FAdd, ty, &both),
            Op::GroupUMin => self.glsl(Gl::UMin, ty, &both),
            Op::GroupSMin => self.glsl(Gl::SMin, ty, &both),
            Op::GroupUMax => self.glsl(Gl::UMax, ty, &both),
            Op::GroupSMax => self.glsl(Gl::SMax, ty, &both),
            Op::GroupFMin => self.glsl(Gl::FMin, ty, &both),
            _ => self.glsl(Gl::FMax, ty, &both),
        })
    }
}
