//! Vectors and `half`s in memory, copies between global and local memory: OpenCL C Specification,
//! "Vector Data Load and Store Functions", "Async Copies from Global to Local Memory, Local to
//! Global Memory, and Prefetch"; `cl_khr_extended_async_copies`.

use super::{Args, operands, scope};
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{op, scope::WORKGROUP};
use crate::token::{Loc, RoundingMode};
use crate::types::{TypeId, Types};

/// Loads by an instruction of OpenCL.std: offset, pointer, and for vectors the number of lanes.
pub(super) fn load(
    e: &mut FunctionEmitter<'_, '_>,
    instruction: u16,
    lanes: Option<u8>,
    args: Args<'_>,
    ty: TypeId,
) -> Id {
    let mut all = vec![e.module.opencl_std().0, instruction.into()];
    all.extend(operands(args));
    all.extend(lanes.map(u32::from));
    e.value(op::EXT_INST, ty, &all)
}

/// Stores of `half`s likewise: data, offset, pointer, and perhaps how to round.
pub(super) fn store_half(
    e: &mut FunctionEmitter<'_, '_>,
    mut instruction: u16,
    mut rounding: Option<RoundingMode>,
    args: Args<'_>,
    loc: Loc,
) -> Option<Id> {
    if rounding.is_none() {
        rounding = e.module.roundings.at(loc);
        // The instruction that says how to round is the next of the set.
        instruction += u16::from(rounding.is_some());
    }
    let mut all = vec![e.module.opencl_std().0, instruction.into()];
    all.extend(operands(args));
    all.extend(rounding.map(RoundingMode::number));
    e.value(op::EXT_INST, Types::VOID, &all);
    None
}

/// `wait_group_events`
pub(super) fn wait(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>) -> Option<Id> {
    let scope = scope(e, WORKGROUP);
    e.push(op::GROUP_WAIT_EVENTS, &[scope.0, args[0].0.0, args[1].0.0]);
    None
}

/// `async_work_group_copy` is a strided copy whose stride is one element.
pub(super) fn copy(
    e: &mut FunctionEmitter<'_, '_>,
    strided: bool,
    args: Args<'_>,
    ty: TypeId,
) -> Id {
    let mut all = vec![scope(e, WORKGROUP).0];
    all.extend(operands(args));
    if !strided {
        let one = e.module.int(Types::ULONG, 1);
        // Behind scope, pointers and number; the event follows.
        all.insert(4, one.0);
    }
    e.value(op::GROUP_ASYNC_COPY, ty, &all)
}

/// Lines of planes, in elements of so many bytes.
struct Side {
    pointer: (Id, TypeId),
    offset: Id,
    line: Id,
    plane: Option<Id>,
}

/// `async_work_group_copy_2D2D` and `..._3D3D`. SPIR-V copies lines: one after the other, each with
/// the event of the one before.
pub(super) fn copy_blocks(e: &mut FunctionEmitter<'_, '_>, dimensions: u8, args: Args<'_>) -> Id {
    let id = |at: usize| args[at].0;
    let (size, elements, lines, event) = (id(4), id(5), id(6), args[args.len() - 1].0);
    let (to, from, total) = if dimensions == 2 {
        let side = |at: usize, line: usize| Side {
            pointer: args[at],
            offset: id(at + 1),
            line: id(line),
            plane: None,
        };
        (side(0, 8), side(2, 7), lines)
    } else {
        let side = |at: usize, line: usize| Side {
            pointer: args[at],
            offset: id(at + 1),
            line: id(line),
            plane: Some(id(line + 1)),
        };
        let total = e.value(op::I_MUL, Types::ULONG, &[lines.0, id(7).0]);
        (side(0, 10), side(2, 8), total)
    };
    let bytes = e.value(op::I_MUL, Types::ULONG, &[size.0, elements.0]);
    let scope = scope(e, WORKGROUP);
    let (zero, one) = (e.module.int(Types::ULONG, 0), e.module.int(Types::ULONG, 1));
    let [ulong, event_ty] = [Types::ULONG, Types::EVENT].map(|ty| e.module.type_id(ty));
    let [header, body, after, next, copied] = [(); 5].map(|()| e.module.words.id());

    let before = e.block.expect("a call is in a block");
    e.branch(header);
    e.begin(header);
    let index = e.value_of(op::PHI, ulong, &[zero.0, before.0, next.0, body.0]);
    let event = e.value_of(op::PHI, event_ty, &[event.0, before.0, copied.0, body.0]);
    let more = e.value(op::U_LESS_THAN, Types::TRUTH, &[index.0, total.0]);
    e.branch_if(more, body, after);
    e.begin(body);
    let to = line(e, &to, index, lines, size);
    let from = line(e, &from, index, lines, size);
    e.push(
        op::GROUP_ASYNC_COPY,
        &[
            event_ty.0, copied.0, scope.0, to.0, from.0, bytes.0, one.0, event.0,
        ],
    );
    e.push(op::I_ADD, &[ulong.0, next.0, index.0, one.0]);
    e.branch(header);
    e.begin(after);
    event
}

/// Where a line begins, counted through all planes.
fn line(e: &mut FunctionEmitter<'_, '_>, side: &Side, index: Id, lines: Id, size: Id) -> Id {
    let ulong = |e: &mut FunctionEmitter<'_, '_>, opcode: u16, left: Id, right: Id| {
        e.value(opcode, Types::ULONG, &[left.0, right.0])
    };
    let mut element = side.offset;
    let mut in_plane = index;
    if let Some(plane) = side.plane {
        let number = ulong(e, op::U_DIV, index, lines);
        in_plane = ulong(e, op::U_MOD, index, lines);
        let elements = ulong(e, op::I_MUL, number, plane);
        element = ulong(e, op::I_ADD, element, elements);
    }
    let elements = ulong(e, op::I_MUL, in_plane, side.line);
    let element = ulong(e, op::I_ADD, element, elements);
    let byte = ulong(e, op::I_MUL, element, size);
    let (pointer, ty) = side.pointer;
    let space = e.space_of(ty);
    let bytes = e.module.types.pointer(Types::CHAR.into(), space);
    let pointer = e.bitcast(pointer, ty, bytes);
    e.value(op::IN_BOUNDS_PTR_ACCESS_CHAIN, bytes, &[pointer.0, byte.0])
}
