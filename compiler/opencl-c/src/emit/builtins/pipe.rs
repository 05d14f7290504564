//! Pipes: OpenCL C Specification, "Pipe Functions". Every instruction is told the size and
//! alignment of the pipe's packets.

use super::{Args, scope};
use crate::builtins::Pipe;
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, op};
use crate::types::{Space, Type, TypeId, Types};

pub(super) fn emit(
    e: &mut FunctionEmitter<'_, '_>,
    pipe: Pipe,
    args: Args<'_>,
    ty: TypeId,
) -> Option<Id> {
    e.module.capability(capability::PIPES);
    if pipe == Pipe::IsValid {
        let valid = e.value(op::IS_VALID_RESERVE_ID, Types::TRUTH, &[args[0].0.0]);
        return Some(e.truth_as(valid, ty));
    }
    let (opcode, group) = instruction(pipe);
    let mut operands = Vec::new();
    if let Some(group) = group {
        operands.push(scope(e, group).0);
    }
    for &(value, of) in args {
        operands.push(generic(e, value, of).0);
    }
    operands.extend(packet(e, args[0].1));
    if ty == Types::VOID {
        e.push(opcode, &operands);
        return None;
    }
    Some(e.value(opcode, ty, &operands))
}

/// The opcode, and the scope of what a group does together.
fn instruction(pipe: Pipe) -> (u16, Option<u32>) {
    match pipe {
        Pipe::Read => (op::READ_PIPE, None),
        Pipe::Write => (op::WRITE_PIPE, None),
        Pipe::ReadReserved => (op::RESERVED_READ_PIPE, None),
        Pipe::WriteReserved => (op::RESERVED_WRITE_PIPE, None),
        Pipe::ReserveRead(None) => (op::RESERVE_READ_PIPE_PACKETS, None),
        Pipe::ReserveRead(group) => (op::GROUP_RESERVE_READ_PIPE_PACKETS, group),
        Pipe::ReserveWrite(None) => (op::RESERVE_WRITE_PIPE_PACKETS, None),
        Pipe::ReserveWrite(group) => (op::GROUP_RESERVE_WRITE_PIPE_PACKETS, group),
        Pipe::CommitRead(None) => (op::COMMIT_READ_PIPE, None),
        Pipe::CommitRead(group) => (op::GROUP_COMMIT_READ_PIPE, group),
        Pipe::CommitWrite(None) => (op::COMMIT_WRITE_PIPE, None),
        Pipe::CommitWrite(group) => (op::GROUP_COMMIT_WRITE_PIPE, group),
        Pipe::IsValid => (op::IS_VALID_RESERVE_ID, None),
        Pipe::NumPackets => (op::GET_NUM_PIPE_PACKETS, None),
        Pipe::MaxPackets => (op::GET_MAX_PIPE_PACKETS, None),
    }
}

/// SPIR-V has packets behind generic pointers.
fn generic(e: &mut FunctionEmitter<'_, '_>, value: Id, ty: TypeId) -> Id {
    match *e.module.types.get(ty) {
        Type::Pointer { pointee, space } if space != Space::Constant => {
            let generic = e.module.types.pointer(pointee, Space::Generic);
            e.address_space_cast(value, ty, generic)
        }
        _ => value,
    }
}

/// Size and alignment of a pipe's packets.
fn packet(e: &mut FunctionEmitter<'_, '_>, pipe: TypeId) -> [u32; 2] {
    let Type::Pipe { element, .. } = *e.module.types.get(pipe) else {
        unreachable!("the first argument is a pipe");
    };
    let (size, align) = e
        .module
        .types
        .layout(element)
        .expect("packets are of complete types");
    [size, align].map(|number| e.module.int(Types::UINT, number).0)
}
