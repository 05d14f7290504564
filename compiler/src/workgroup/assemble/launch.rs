//! What is read once a launch: its sizes, the kernel's parameters, where the barrier context is.

use super::super::Plan;
use super::round_up;
use crate::abi::Launch;
use crate::ir::{BinOp, Builder, Function, Mem, ParamSource, Type, Value};
use crate::kernel_info::AddressSpace;

/// What is the same for all work-groups.
pub(super) struct LaunchValues {
    pub global_offset: [Value; 3],
    pub global_size: [Value; 3],
    pub local_size: [Value; 3],
    pub num_groups: [Value; 3],
    pub work_dim: Value,
    /// The barrier context, and the number of elements of its arrays.
    pub context: Value,
    pub items: Value,
    pub scratch: Value,
}

impl LaunchValues {
    /// Reads them. The context's arrays have room for whole chunks, and what the plan adds.
    pub(super) fn read(
        b: &mut Builder<'_>,
        launch: Value,
        scratch: Value,
        plan: Plan,
        context_align: u64,
    ) -> LaunchValues {
        let mut triple =
            |offset: usize| [0, 1, 2].map(|d| field(b, launch, offset + 8 * d, Type::I64));
        let global_offset = triple(std::mem::offset_of!(Launch, global_offset));
        let global_size = triple(std::mem::offset_of!(Launch, global_size));
        let mut local_size = triple(std::mem::offset_of!(Launch, local_size));
        let num_groups = triple(std::mem::offset_of!(Launch, num_groups));
        let work_dim = field(b, launch, std::mem::offset_of!(Launch, work_dim), Type::I64);
        let local_bytes = std::mem::offset_of!(Launch, local_mem_size);
        let local_bytes = field(b, launch, local_bytes, Type::I64);
        let local_bytes = round_up(b, local_bytes, context_align);
        let context = b.ptr_add(scratch, local_bytes);
        if plan.row_is_chunk {
            local_size[0] = b.iconst(Type::I64, plan.width.into());
        }
        let rows = b.binary(BinOp::IMul, local_size[1], local_size[2]);
        let items = b.binary(BinOp::IMul, local_size[0], rows);
        let mut items = round_up(b, items, u64::from(plan.width));
        if plan.context_padding != 0 {
            let padding = b.iconst(Type::I64, plan.context_padding);
            items = b.binary(BinOp::IAdd, items, padding);
        }
        LaunchValues {
            global_offset,
            global_size,
            local_size,
            num_groups,
            work_dim,
            context,
            items,
            scratch,
        }
    }
}

/// The arguments of a kernel, or where they are.
pub(super) fn read_params(
    b: &mut Builder<'_>,
    launch: Value,
    scratch: Value,
    sources: &[ParamSource],
    kernel: &Function,
) -> Vec<Value> {
    let args = field(b, launch, std::mem::offset_of!(Launch, args), Type::PTR);
    let params = sources.iter().zip(kernel.params());
    params
        .map(|(&source, &param)| read_param(b, args, scratch, source, kernel.ty(param)))
        .collect()
}

fn read_param(
    b: &mut Builder<'_>,
    args: Value,
    scratch: Value,
    source: ParamSource,
    ty: Type,
) -> Value {
    let (ParamSource::Value { offset }
    | ParamSource::Address { offset }
    | ParamSource::Local { offset }) = source;
    let bytes = b.iconst(Type::I64, u64::from(offset));
    let ptr = b.ptr_add(args, bytes);
    match source {
        ParamSource::Value { .. } => {
            b.load(Mem::new(AddressSpace::Constant, ty.scalar.bytes()), ptr, ty)
        }
        ParamSource::Address { .. } => ptr,
        ParamSource::Local { .. } => {
            let offset = b.load(Mem::new(AddressSpace::Constant, 8), ptr, Type::I64);
            b.ptr_add(scratch, offset)
        }
    }
}

/// A field of the [`Launch`] structure.
fn field(b: &mut Builder<'_>, launch: Value, offset: usize, ty: Type) -> Value {
    let offset = b.iconst(Type::I64, offset as u64);
    let ptr = b.ptr_add(launch, offset);
    b.load(Mem::new(AddressSpace::Constant, 8), ptr, ty)
}
