//! Device-side enqueue: OpenCL C Specification, "Enqueuing Kernels".
//!
//! An instruction that takes a block is given the block's function and the record of what it
//! captured, with its size and alignment.

use super::Args;
use crate::builtins::{Call, Enqueue};
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, op};
use crate::types::{QualType, Space, Type, TypeId, Types};

pub(super) fn emit(
    e: &mut FunctionEmitter<'_, '_>,
    enqueue: Enqueue,
    call: &Call,
    args: Args<'_>,
    ty: TypeId,
) -> Option<Id> {
    e.module.capability(capability::DEVICE_ENQUEUE);
    Some(match enqueue {
        Enqueue::Kernel => {
            let none = e.module.int(Types::UINT, 0);
            let events = e
                .module
                .types
                .pointer(Types::CLK_EVENT.into(), Space::Generic);
            let null = e.module.null(events);
            kernel(e, call, args, [none, null, null], 3, ty)
        }
        Enqueue::KernelAfter => {
            let events = [args[3].0, args[4].0, args[5].0];
            kernel(e, call, args, events, 6, ty)
        }
        Enqueue::Marker => e.value(op::ENQUEUE_MARKER, ty, &super::operands(args)),
        Enqueue::Query { opcode, has_range } => {
            let at = usize::from(has_range);
            let mut all = super::operands(&args[..at]);
            all.extend(block(e, call, args, at));
            e.value(opcode, ty, &all)
        }
        Enqueue::Plain(opcode) => return super::plain(e, opcode, args, ty),
        Enqueue::IsValidEvent => {
            let valid = e.value(op::IS_VALID_EVENT, Types::TRUTH, &[args[0].0.0]);
            e.truth_as(valid, ty)
        }
        Enqueue::NdRange(dimensions) => nd_range(e, dimensions, args, ty),
    })
}

/// Queue, flags and ND-range come first; the block is argument number `at`, followed by the sizes
/// of its arguments, which are local memory.
fn kernel(
    e: &mut FunctionEmitter<'_, '_>,
    call: &Call,
    args: Args<'_>,
    events: [Id; 3],
    at: usize,
    ty: TypeId,
) -> Id {
    let mut all = super::operands(&args[..3]);
    all.extend(events.map(|id| id.0));
    all.extend(block(e, call, args, at));
    for &(size, of) in &args[at + 1..] {
        all.push(e.convert_arithmetic(size, of, Types::UINT, None, false).0);
    }
    e.value(op::ENQUEUE_KERNEL, ty, &all)
}

/// The operands Invoke, Param, Param Size and Param Align.
fn block(e: &mut FunctionEmitter<'_, '_>, call: &Call, args: Args<'_>, at: usize) -> [u32; 4] {
    let block = call
        .blocks
        .iter()
        .find(|block| block.argument == at)
        .expect("sema knows the function of a block that is an argument");
    let function = e.module.function_id(block.function);
    let [size, align] = [block.size, block.align].map(|number| e.module.int(Types::UINT, number));
    [function.0, args[at].0.0, size.0, align.0]
}

/// The last argument but one is the global size, unless it is the only one; the local size comes
/// after it and the offset before it. In SPIR-V the offset is last.
fn nd_range(e: &mut FunctionEmitter<'_, '_>, dimensions: u8, args: Args<'_>, ty: TypeId) -> Id {
    let (offset, global, local) = match *args {
        [global] => (None, global, None),
        [global, local] => (None, global, Some(local)),
        [offset, global, local] => (Some(offset), global, Some(local)),
        _ => unreachable!("the table has no other signatures"),
    };
    let of = if dimensions == 1 {
        Types::ULONG
    } else {
        e.module.types.intern(Type::Array {
            element: Types::ULONG.into(),
            len: Some(dimensions.into()),
        })
    };
    let sizes = [Some(global), local, offset].map(|given| match given {
        None => e.module.null(of).0,
        Some((size, _)) if dimensions == 1 => size.0,
        Some((pointer, pointer_ty)) => load_array(e, pointer, pointer_ty, of).0,
    });
    e.value(op::BUILD_NDRANGE, ty, &sizes)
}

/// An array, given by a pointer to its first element.
fn load_array(
    e: &mut FunctionEmitter<'_, '_>,
    pointer: Id,
    pointer_ty: TypeId,
    array: TypeId,
) -> Id {
    let space = e.space_of(pointer_ty);
    let to_array = e.module.types.pointer(QualType::from(array), space);
    let pointer = e.bitcast(pointer, pointer_ty, to_array);
    e.value(op::LOAD, array, &[pointer.0])
}
