//! Device-side enqueue ("Device-Side Enqueue Instructions"): services of whoever runs the kernel
//! ([`crate::device`]).
//!
//! The function that an instruction invokes becomes a kernel of its own, a block, translated with
//! the kernel that reaches it. LLVM's translator declares such functions as entry points as well;
//! those are no kernels of the application, and left out.
//!
//! It writes ND-ranges and sizes of work-group memory as pointers to them, where SPIR-V has the
//! values; both are taken.

use std::collections::HashSet;

use rspirv::spirv::{Op, StorageClass};
use smallvec::SmallVec;

use super::body::Values;
use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::memory::mem_at;
use super::module::Unit;
use super::module_builder::ModuleBuilder;
use super::rules::{KERNEL_ARGUMENTS, Rule};
use super::types::Kind;
use crate::device::literal_offset;
use crate::ir::{
    DeviceOp, FuncId, IntCC, Kernel, KernelRole, Mem, Op as IrOp, ParamSource, Scalar, Type, Value,
};
use crate::kernel_info::{AddressSpace, ArgInfo, ArgKind, KernelInfo};

/// Which operand of an instruction names the function to invoke.
fn invoke_operand(op: Op) -> Option<usize> {
    Some(match op {
        Op::EnqueueKernel => 6,
        Op::GetKernelNDrangeSubGroupCount
        | Op::GetKernelNDrangeMaxSubGroupSize
        | Op::GetKernelLocalSizeForSubgroupCount => 1,
        Op::GetKernelWorkGroupSize
        | Op::GetKernelPreferredWorkGroupSizeMultiple
        | Op::GetKernelMaxNumSubgroups => 0,
        _ => return None,
    })
}

impl<'a> Unit<'a> {
    /// The names of the functions that are invoked.
    pub(super) fn invoked_names(&self) -> HashSet<String> {
        let bodies = self.functions.values().flat_map(|def| def.body);
        let ids = bodies.filter_map(|inst| inst.operands.get(invoke_operand(inst.op())?));
        let ids: HashSet<Id> = ids.map(|&id| self.linked(id)).collect();
        ids.into_iter()
            .filter_map(|id| Some(self.linkage(id)?.0))
            .collect()
    }

    /// The kernel that launches a function as a block.
    fn block(&self, inst: &Inst<'_>, id: Id, func: FuncId) -> Result<Kernel> {
        let id = self.linked(id);
        let def = &self.functions[&id];
        let refused = |message: &str| {
            let message = format!("{} {message}", self.binary.describe(id));
            Err(self.error(inst, message).under(KERNEL_ARGUMENTS))
        };
        let result = self.type_of_id(&def.inst, def.result)?;
        if !matches!(result.kind, Kind::Void) {
            return refused("is invoked and returns something");
        }
        let Some((literal, locals)) = def.params.split_first() else {
            return refused("is invoked and takes no pointer to what it captured");
        };
        let class = |param: &Inst<'_>| -> Result<Option<StorageClass>> {
            let ty = self.result_type(param)?;
            Ok(match self.type_of_id(param, ty)?.kind {
                Kind::Pointer { class, .. } => Some(class),
                _ => None,
            })
        };
        if !matches!(class(literal)?, Some(class) if class != StorageClass::Workgroup) {
            return refused("is invoked and takes no pointer to what it captured");
        }
        for local in locals {
            if class(local)? != Some(StorageClass::Workgroup) {
                return refused("is invoked and takes more than pointers to work-group memory");
            }
        }
        let linkage = self.linkage(id);
        let name = linkage.as_ref().map(|(name, _)| name.as_str());
        let name = name.or_else(|| self.binary.name(id)).unwrap_or("block");
        let offsets = (0..locals.len() as u32).map(|n| 8 * n);
        let end = literal_offset(locals.len()) as u32;
        let mut params = vec![ParamSource::Address { offset: end }];
        params.extend(offsets.clone().map(|offset| ParamSource::Local { offset }));
        let local = ArgKind::Pointer(AddressSpace::Local);
        let mut kernel = Kernel {
            info: KernelInfo {
                args: offsets.map(|at| ArgInfo::new(local, 8, at)).collect(),
                args_size: end,
                ..KernelInfo::new(name)
            },
            func,
            params,
            contract: true,
            role: KernelRole::Ordinary,
        };
        let entry = self
            .entry_points
            .iter()
            .find(|entry| entry.func == id || entry.name == name);
        let modes = entry.and_then(|entry| self.modes.get(&entry.func));
        for mode in modes.into_iter().flatten() {
            self.execution_mode(mode, &mut kernel)?;
        }
        kernel.role = KernelRole::Block;
        Ok(kernel)
    }
}

impl<'a> ModuleBuilder<'a> {
    /// The function of a block that takes so many pointers to work-group memory, or any number.
    fn block(
        &mut self,
        unit: &Unit<'a>,
        inst: &Inst<'_>,
        id: Id,
        locals: Option<usize>,
    ) -> Result<FuncId> {
        let func = self.function(unit, inst, id)?;
        let kernel = match self.blocks.get(&func) {
            Some(&kernel) => kernel,
            None => {
                let kernel = self.module.kernels.len();
                self.module.kernels.push(unit.block(inst, id, func)?);
                self.blocks.insert(func, kernel);
                kernel
            }
        };
        let takes = self.module.kernels[kernel].info.args.len();
        match locals {
            Some(given) if given != takes => Err(unit.error(
                inst,
                format!(
                    "{} takes {takes} pointers to work-group memory, not {given}",
                    unit.binary.describe(id)
                ),
            )),
            _ => Ok(func),
        }
    }
}

type Operands = SmallVec<[Value; 20]>;

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn device_enqueue(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        let words = inst.operands;
        let mut args = Operands::new();
        let what = match op {
            Op::EnqueueKernel => {
                args.push(self.device_object(inst, words[0], Op::TypeQueue)?);
                args.push(self.typed(inst, words[1], Type::I32)?);
                args.extend(self.nd_range(inst, words[2])?);
                self.events(inst, &words[3..6], &mut args)?;
                args.push(self.pointer(inst, words[7])?.address);
                args.push(self.typed(inst, words[8], Type::I32)?);
                args.push(self.typed(inst, words[9], Type::I32)?);
                for &size in &words[10..] {
                    args.push(self.local_size(inst, size)?);
                }
                DeviceOp::EnqueueKernel
            }
            Op::EnqueueMarker => {
                args.push(self.device_object(inst, words[0], Op::TypeQueue)?);
                self.events(inst, &words[1..4], &mut args)?;
                DeviceOp::EnqueueMarker
            }
            Op::GetKernelNDrangeSubGroupCount => {
                args.extend(self.nd_range(inst, words[0])?);
                DeviceOp::SubGroupCount
            }
            Op::GetKernelNDrangeMaxSubGroupSize => {
                args.extend(self.nd_range(inst, words[0])?);
                DeviceOp::MaxSubGroupSize
            }
            Op::GetKernelWorkGroupSize => DeviceOp::WorkGroupSize,
            Op::GetKernelPreferredWorkGroupSizeMultiple => DeviceOp::PreferredMultiple,
            Op::GetKernelLocalSizeForSubgroupCount => {
                args.push(self.typed(inst, words[0], Type::I32)?);
                DeviceOp::LocalSizeForSubGroups
            }
            Op::GetKernelMaxNumSubgroups => DeviceOp::MaxSubGroups,
            Op::RetainEvent | Op::ReleaseEvent | Op::IsValidEvent => {
                args.push(self.device_object(inst, words[0], Op::TypeDeviceEvent)?);
                match op {
                    Op::RetainEvent => DeviceOp::RetainEvent,
                    Op::ReleaseEvent => DeviceOp::ReleaseEvent,
                    _ => DeviceOp::IsValidEvent,
                }
            }
            Op::CreateUserEvent => DeviceOp::CreateUserEvent,
            Op::SetUserEventStatus => {
                args.push(self.device_object(inst, words[0], Op::TypeDeviceEvent)?);
                args.push(self.typed(inst, words[1], Type::I32)?);
                DeviceOp::SetUserEventStatus
            }
            Op::CaptureEventProfilingInfo => {
                args.push(self.device_object(inst, words[0], Op::TypeDeviceEvent)?);
                args.push(self.typed(inst, words[1], Type::I32)?);
                args.push(self.pointer(inst, words[2])?.address);
                DeviceOp::CaptureProfilingInfo
            }
            Op::GetDefaultQueue => DeviceOp::DefaultQueue,
            Op::BuildNDRange => {
                self.build_nd_range(inst)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let block = match invoke_operand(op) {
            Some(at) => {
                let locals = (op == Op::EnqueueKernel).then(|| words.len() - 10);
                Some(self.out.block(self.unit, inst, words[at], locals)?)
            }
            None => None,
        };
        self.ask(inst, what, block, &args)?;
        Ok(true)
    }

    fn ask(
        &mut self,
        inst: &Inst<'_>,
        what: DeviceOp,
        block: Option<FuncId>,
        args: &[Value],
    ) -> Result<()> {
        let op = IrOp::Device {
            what,
            block,
            masked: false,
        };
        let Some(scalar) = what.result() else {
            self.body.b().ins(op, args, &[]);
            return Ok(());
        };
        let mut answer = self.body.b().val(op, args, Type::new(scalar, 1));
        if what == DeviceOp::IsValidEvent {
            let zero = self.body.iconst(Type::I32, 0);
            answer = self.body.b().icmp(IntCC::Ne, answer, zero);
        }
        self.define(inst, answer)
    }

    /// A queue or an event.
    fn device_object(&mut self, inst: &Inst<'_>, id: Id, wanted: Op) -> Result<Value> {
        let ty = self.unit.type_of(inst, id)?;
        self.unit.handle_of(inst, ty, wanted)?;
        self.value(inst, id)
    }

    /// The operands Num Events, Wait Events and Ret Event.
    fn events(&mut self, inst: &Inst<'_>, words: &[Id], args: &mut Operands) -> Result<()> {
        args.push(self.typed(inst, words[0], Type::I32)?);
        args.push(self.pointer(inst, words[1])?.address);
        args.push(self.pointer(inst, words[2])?.address);
        Ok(())
    }

    /// Bytes of work-group memory, as an `i64`.
    fn local_size(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let ty = self.unit.type_of(inst, id)?;
        if !matches!(self.unit.type_of_id(inst, ty)?.kind, Kind::Pointer { .. }) {
            return self.size_value(inst, id);
        }
        let pointer = self.pointer(inst, id)?;
        let pointee = match pointer.pointee {
            Some(pointee) => self.unit.type_of_id(inst, pointee)?.ir(),
            None => None,
        };
        let Some(ty @ (Type::I32 | Type::I64)) = pointee else {
            return Err(self.error(inst, "the size of work-group memory is not an integer"));
        };
        let mem = Mem::new(pointer.space, ty.bytes());
        let size = self.body.b().load(mem, pointer.address, ty);
        Ok(self.body.resize(size, Scalar::I64))
    }

    /// The leaves of an ND-range: how many dimensions, then offset, global and local size for each
    /// of three.
    fn nd_range(&mut self, inst: &Inst<'_>, id: Id) -> Result<Values> {
        let ty = self.unit.type_of(inst, id)?;
        let range = match self.unit.type_of_id(inst, ty)?.kind {
            Kind::Pointer {
                pointee: Some(pointee),
                ..
            } => {
                let pointer = self.pointer(inst, id)?;
                let align = self.unit.type_of_id(inst, pointee)?.align;
                let mem = Mem::new(pointer.space, align);
                let mut values = Values::new();
                for leaf in self.unit.leaves(inst, pointee)? {
                    let address = self.body.at_offset(pointer.address, leaf.offset);
                    let mem = mem_at(mem, leaf.offset);
                    values.push(self.body.b().load(mem, address, leaf.ty));
                }
                values
            }
            _ => self.values(inst, id)?,
        };
        let mut types = range.iter().map(|&value| self.body.ty(value));
        let sane = types.next() == Some(Type::I32) && types.len() == 9;
        if !sane || types.any(|ty| ty != Type::I64) {
            return Err(self
                .error(inst, "the ND-range is not what OpBuildNDRange gives")
                .under(Rule::of(Op::BuildNDRange)));
        }
        Ok(range)
    }

    /// "OpBuildNDRange": sizes are scalars, or arrays of as many elements as there are dimensions.
    fn build_nd_range(&mut self, inst: &Inst<'_>) -> Result<()> {
        let zero = self.body.iconst(Type::I64, 0);
        let mut sizes = [[zero; 3]; 3];
        let mut dimensions = 0;
        // Global size, local size, offset.
        for (n, (to, &id)) in sizes.iter_mut().zip(inst.operands).enumerate() {
            let given = self.values(inst, id)?;
            if n == 0 {
                dimensions = given.len();
            }
            if given.len() != dimensions || !(1..=3).contains(&dimensions) {
                return Err(self.error(inst, "the sizes are not of one, two or three dimensions"));
            }
            for (to, &size) in to.iter_mut().zip(&given) {
                let ty = self.body.ty(size);
                if !ty.is_scalar() || !ty.scalar.is_int() {
                    return Err(self.error(inst, "a size is not an integer"));
                }
                *to = self.body.resize(size, Scalar::I64);
            }
        }
        let [global, local, offset] = sizes;
        let mut range = Values::new();
        range.push(self.body.iconst(Type::I32, dimensions as u64));
        range.extend([offset, global, local].into_iter().flatten());
        self.define_values(inst, range)
    }
}
