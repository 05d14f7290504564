//! Barriers, atomics, and copies by a whole work-group.
//!
//! Vulkan has no sequential consistency, and knows the memory of storage buffers as uniform memory:
//! "Vulkan Environment for SPIR-V", "Validation Rules within a Module".

use rspirv::spirv::{BuiltIn, Op, Scope, StorageClass};

use super::ir::{Id, Inst};
use super::lower::{Lower, Result, Val};
use super::pointers::{Copy, Stride, pointee};
use super::types::Type;

const ACQUIRE: u32 = 0x2;
const RELEASE: u32 = 0x4;
const ACQUIRE_RELEASE: u32 = 0x8;
const SEQUENTIALLY_CONSISTENT: u32 = 0x10;
const UNIFORM: u32 = 0x40;
const WORKGROUP: u32 = 0x100;
const CROSS_WORKGROUP: u32 = 0x200;
const IMAGE: u32 = 0x800;

/// What an access does with the order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Load,
    Store,
    Both,
}

impl Lower<'_> {
    fn known(&self, id: Id, what: &str) -> Result<u32> {
        match self.input.number(id) {
            Some(number) => Ok(number as u32),
            None => self.error(format!("{what} has to be a constant for Vulkan")),
        }
    }

    fn scope(&mut self, id: Id) -> Result<Id> {
        let scope = self.known(id, "the scope")?;
        if scope == Scope::CrossDevice as u32 {
            return self.error("memory_scope_all_devices: Vulkan knows no scope beyond a device");
        }
        if scope == Scope::Subgroup as u32 {
            self.needs_sub_groups()?;
        }
        Ok(self.target.u32(scope))
    }

    /// The bits of memory semantics: the order, and which memory.
    fn semantics(&mut self, id: Id, way: Way, class: Option<StorageClass>) -> Result<u32> {
        let bits = self.known(id, "the memory order")?;
        let order = bits & (ACQUIRE | RELEASE | ACQUIRE_RELEASE | SEQUENTIALLY_CONSISTENT);
        let order = match (way, order) {
            (_, 0) => return Ok(0),
            (Way::Load, _) => ACQUIRE,
            (Way::Store, _) => RELEASE,
            (Way::Both, SEQUENTIALLY_CONSISTENT) => ACQUIRE_RELEASE,
            (Way::Both, order) => order,
        };
        let mut memory = bits & (WORKGROUP | IMAGE);
        if bits & CROSS_WORKGROUP != 0 {
            memory |= UNIFORM;
        }
        match class {
            Some(StorageClass::Workgroup) => memory |= WORKGROUP,
            Some(_) => memory |= UNIFORM,
            None => {}
        }
        Ok(match memory {
            0 => 0,
            _ => order | memory,
        })
    }

    pub fn barrier(&mut self, inst: &Inst) -> Result<()> {
        let is_control = inst.op == Op::ControlBarrier;
        let first = usize::from(is_control);
        let scope = self.scope(inst.id_at(first))?;
        let semantics = self.semantics(inst.id_at(first + 1), Way::Both, None)?;
        let bits = self.target.u32(semantics);
        if is_control {
            let execution = self.scope(inst.id_at(0))?;
            self.push(Inst::of(Op::ControlBarrier, &[execution, scope, bits]));
        } else if semantics != 0 {
            self.push(Inst::of(Op::MemoryBarrier, &[scope, bits]));
        }
        Ok(())
    }

    pub fn atomic(&mut self, inst: &Inst) -> Result<()> {
        let pointer = self.pointer(inst.id_at(0))?;
        let scope = self.scope(inst.id_at(1))?;
        let word = self.u32_ty();
        let is_flag = matches!(inst.op, Op::AtomicFlagTestAndSet | Op::AtomicFlagClear);
        let of = match (inst.ty, inst.op) {
            _ if is_flag => word,
            (Some(ty), _) => ty,
            (None, _) => self.ty_of(inst.id_at(3))?,
        };
        self.check_type(of)?;
        let size = self.target.types.bits(of);
        if size != 32 && size != 64 && !self.target.types.is_float(of) {
            return self.error("Vulkan has atomic operations of 32 and 64 bits only");
        }
        let by_bits = matches!(
            inst.op,
            Op::AtomicExchange | Op::AtomicLoad | Op::AtomicStore
        );
        let ty = if by_bits {
            self.target.types.int(size)
        } else {
            of
        };
        let way = match inst.op {
            Op::AtomicLoad => Way::Load,
            Op::AtomicStore | Op::AtomicFlagClear => Way::Store,
            _ => Way::Both,
        };
        let op = match inst.op {
            Op::AtomicFlagTestAndSet => Op::AtomicExchange,
            Op::AtomicFlagClear => Op::AtomicStore,
            op => op,
        };
        let two = op == Op::AtomicCompareExchange;
        let mut values = Vec::new();
        for id in inst.ids().skip(if two { 4 } else { 3 }) {
            let value = self.id(id)?;
            let from = self.ty_of(id)?;
            values.push(self.cast_bits(value, from, ty)?);
        }
        match inst.op {
            Op::AtomicFlagTestAndSet => values.push(self.target.u32(1)),
            Op::AtomicFlagClear => values.push(self.target.u32(0)),
            _ => {}
        }
        let has_result = op != Op::AtomicStore;
        let result = self.with_place(
            &pointer,
            ty,
            has_result.then_some(ty),
            |lower, at, class| {
                if !matches!(class, StorageClass::Workgroup | StorageClass::StorageBuffer) {
                    return lower.error(
                    "an atomic operation on memory that is neither global nor local, which Vulkan \
                     has not",
                );
                }
                let semantics = lower.semantics(inst.id_at(2), way, Some(class))?;
                let mut args = vec![at, scope, lower.target.u32(semantics)];
                if two {
                    let unequal = lower.semantics(inst.id_at(3), Way::Load, Some(class))?;
                    args.push(lower.target.u32(unequal));
                }
                args.extend(&values);
                if has_result {
                    return Ok(Some(lower.emit(op, ty, &args)));
                }
                lower.push(Inst::of(op, &args));
                Ok(None)
            },
        )?;
        let Some(result) = result else { return Ok(()) };
        let id = match inst.op {
            Op::AtomicFlagTestAndSet => {
                let (bool, zero) = (self.target.types.bool(), self.target.u32(0));
                self.emit(Op::INotEqual, bool, &[result, zero])
            }
            _ => self.cast_bits(result, ty, of)?,
        };
        self.set(inst, id);
        Ok(())
    }

    /// `async_work_group_copy`: each work-item copies its part. It is done when all have waited.
    pub fn async_copy(&mut self, inst: &Inst) -> Result<()> {
        let (to, from) = (inst.id_at(1), inst.id_at(2));
        let Some(element) = pointee(self.input, &self.target.types, to) else {
            return self.error("a copy of an unknown type");
        };
        let is_global = |lower: &Self, id: Id| {
            let ty = lower
                .input
                .value_ty
                .get(&id)
                .map(|&ty| lower.target.types.get(ty));
            matches!(ty, Some(Type::Pointer(class, _)) if *class != StorageClass::Workgroup)
        };
        let to_global = is_global(self, to);
        let (to, from) = (self.pointer(to)?, self.pointer(from)?);
        let word = self.u32_ty();
        let low = |lower: &mut Self, at: usize| -> Result<Id> {
            let ty = lower.ty_of(inst.id_at(at))?;
            let value = lower.id(inst.id_at(at))?;
            Ok(lower.low(value, ty))
        };
        let (count, stride) = (low(self, 3)?, low(self, 4)?);
        let index = self.target.input(BuiltIn::LocalInvocationIndex, word);
        let first = self.emit(Op::Load, word, &[index]);
        let mut step = self.local_size(0);
        for dimension in 1..3 {
            let size = self.local_size(dimension);
            step = self.emit(Op::IMul, word, &[step, size]);
        }
        let size = self.target.types.size(element);
        self.repeat(first, count, step, |lower, index| {
            let apart = match lower.target.known_bits(stride) {
                Some(1) => index,
                _ => lower.emit(Op::IMul, word, &[index, stride]),
            };
            let (mut to, mut from) = (to.clone(), from.clone());
            let (at_to, at_from) = if to_global {
                (apart, index)
            } else {
                (index, apart)
            };
            to.terms.push((Stride::anywhere(size), at_to));
            from.terms.push((Stride::anywhere(size), at_from));
            lower.copy(&to, &from, &Copy { element, count: 1 })
        })?;
        self.values.insert(inst.id, Val::Event);
        Ok(())
    }

    /// `wait_group_events`
    pub fn wait(&mut self) -> Result<()> {
        let scope = self.target.u32(Scope::Workgroup as u32);
        let bits = self.target.u32(ACQUIRE_RELEASE | UNIFORM | WORKGROUP);
        self.push(Inst::of(Op::ControlBarrier, &[scope, scope, bits]));
        Ok(())
    }
}
