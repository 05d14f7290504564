//! Calls of built-in functions to instructions: what every [`Lowering`] becomes.
//!
//! In flows a call with its arguments' values, which `sema` has converted to the types of the
//! overload; out flow instructions in the function that is being written, and the result's value.
//! Numbers are those of SPIR-V; what is C's way of telling a truth (`int`, or lanes of all bits)
//! becomes a Boolean for an instruction and the instruction's Boolean becomes C's.
//!
//! Files are families, as the table's are. Open `math.rs` first for the common shape, then
//! `memory_model.rs` for orders, scopes and fences, which atomics and barriers share.

mod atomic;
mod enqueue;
mod group;
mod image;
mod integer;
mod math;
mod memory;
mod memory_model;
mod pipe;
mod sub_group;
mod sync;
#[cfg(test)]
mod tests;
mod work_item;

use super::function::FunctionEmitter;
use super::words::Id;
use crate::builtins::{Call, Lowering};
use crate::spirv::{op, std};
use crate::token::Loc;
use crate::types::{TypeId, Types};

/// Arguments of a call: values and their types.
type Args<'a> = &'a [(Id, TypeId)];

/// Writes a call of a built-in function. `None` for `void`.
pub(super) fn emit(
    e: &mut FunctionEmitter<'_, '_>,
    call: &Call,
    args: Args<'_>,
    ty: TypeId,
    loc: Loc,
) -> Option<Id> {
    let value = match call.lowering {
        Lowering::Std(instruction) => return math::std(e, instruction, args, ty),
        Lowering::StdInt(signed, unsigned) => {
            let is_signed = e.scalar(args[0].1).is_signed();
            let instruction = if is_signed { signed } else { unsigned };
            return math::std(e, instruction, args, ty);
        }
        Lowering::Op(opcode) => return plain(e, opcode, args, ty),
        Lowering::Test(opcode) => math::test(e, opcode, args, ty),
        Lowering::Any => math::any_or_all(e, op::ANY, args[0], ty),
        Lowering::All => math::any_or_all(e, op::ALL, args[0], ty),
        Lowering::Dot => math::dot(e, args, ty),
        Lowering::Convert { rounding, saturate } => {
            let (value, from) = args[0];
            let rounding = rounding.or(e.rounding_to(ty, loc));
            e.convert_arithmetic(value, from, ty, rounding, saturate)
        }
        Lowering::Reinterpret => e.bits(args[0].0, args[0].1, ty),
        Lowering::VectorLoad(lanes) => memory::load(e, std::vloadn, Some(lanes), args, ty),
        Lowering::VectorStore => return plain_std(e, std::vstoren, args, ty),
        Lowering::HalfLoad(instruction, lanes) => {
            // `vload_half` is the one of scalars, which says no number of them.
            let lanes = (instruction != std::vload_half).then_some(lanes);
            memory::load(e, instruction, lanes, args, ty)
        }
        Lowering::HalfStore(instruction, rounding) => {
            return memory::store_half(e, instruction, rounding, args, loc);
        }
        Lowering::WorkItem { builtin, default } => {
            work_item::place(e, builtin, default, args[0].0, ty)
        }
        Lowering::Variable(builtin) => work_item::variable(e, builtin, ty),
        Lowering::MaskVariable(builtin) => work_item::mask(e, builtin, ty),
        Lowering::Barrier(barrier) => return sync::barrier(e, barrier, args),
        Lowering::Fence(order) => return sync::fence(e, order, args[0].0),
        Lowering::ScopedFence => return sync::scoped_fence(e, args),
        Lowering::ToSpace(space) => sync::to_space(e, space, args[0].0, ty),
        Lowering::GetFence => sync::get_fence(e, args[0].0, ty),
        Lowering::WaitEvents => return memory::wait(e, args),
        Lowering::AsyncCopy { strided } => memory::copy(e, strided, args, ty),
        Lowering::AsyncCopyBlocks(dimensions) => memory::copy_blocks(e, dimensions, args),
        Lowering::CopyFence => return sync::copy_fence(e, args[0].0),
        Lowering::Printf => return plain_std(e, std::printf, args, ty),
        Lowering::Atomic(atomic) => return atomic::emit(e, atomic, args, ty),
        Lowering::Group { scope, function } => group::emit(e, scope, function, args, ty),
        Lowering::NonUniform { opcode, operation } => {
            sub_group::non_uniform(e, opcode, operation, args, ty)
        }
        Lowering::NonUniformArithmetic { opcodes, operation } => {
            let opcode = group::by_type(opcodes, e.scalar(args[0].1));
            sub_group::non_uniform(e, opcode, Some(operation), args, ty)
        }
        Lowering::NonUniformLogical { opcode, operation } => {
            sub_group::logical(e, opcode, operation, args, ty)
        }
        Lowering::NonUniformVote(opcode) => sub_group::vote(e, opcode, args, ty),
        Lowering::BallotTest(opcode) => sub_group::ballot_test(e, opcode, args, ty),
        Lowering::Extended {
            opcode,
            capability,
            extension,
        } => {
            e.module.capability(capability);
            e.module.extension(extension);
            return plain(e, opcode, args, ty);
        }
        Lowering::IntelBlockRead => sub_group::block_read(e, args, ty),
        Lowering::IntelBlockWrite => return sub_group::block_write(e, args),
        Lowering::IntelMediaBlockRead => sub_group::media_block_read(e, args, ty),
        Lowering::IntelMediaBlockWrite => return sub_group::media_block_write(e, args),
        Lowering::IntelBlockPrefetch(bytes) => {
            return sub_group::block_prefetch(e, args, bytes);
        }
        Lowering::IntDot {
            kind,
            packed,
            accumulate,
        } => integer::dot(e, kind, packed, accumulate, args, ty),
        Lowering::BitFieldInsert => integer::bits(e, op::BIT_FIELD_INSERT, args, ty),
        Lowering::BitFieldExtract { signed: true } => {
            integer::bits(e, op::BIT_FIELD_S_EXTRACT, args, ty)
        }
        Lowering::BitFieldExtract { signed: false } => {
            integer::bits(e, op::BIT_FIELD_U_EXTRACT, args, ty)
        }
        Lowering::BitReverse => integer::bits(e, op::BIT_REVERSE, args, ty),
        Lowering::Clock { scope, .. } => work_item::clock(e, scope, ty),
        Lowering::Expect => integer::expect(e, args, ty),
        Lowering::Assume => return integer::assume(e, args[0]),
        Lowering::Image(image) => return image::emit(e, image, args, ty),
        Lowering::Pipe(pipe) => return pipe::emit(e, pipe, args, ty),
        Lowering::Enqueue(enqueue) => return enqueue::emit(e, enqueue, call, args, ty),
    };
    Some(value)
}

/// The values of arguments, as operands.
fn operands(args: Args<'_>) -> Vec<u32> {
    args.iter().map(|(value, _)| value.0).collect()
}

/// An instruction of the arguments in order.
fn plain(e: &mut FunctionEmitter<'_, '_>, opcode: u16, args: Args<'_>, ty: TypeId) -> Option<Id> {
    let operands = operands(args);
    if ty == Types::VOID {
        e.push(opcode, &operands);
        return None;
    }
    Some(e.value(opcode, ty, &operands))
}

/// An instruction of OpenCL.std of the arguments in order.
fn plain_std(
    e: &mut FunctionEmitter<'_, '_>,
    instruction: u16,
    args: Args<'_>,
    ty: TypeId,
) -> Option<Id> {
    let values: Vec<Id> = args.iter().map(|&(value, _)| value).collect();
    let result = e.std(instruction, ty, &values);
    (ty != Types::VOID).then_some(result)
}

/// A scope as an operand: a constant.
fn scope(e: &mut FunctionEmitter<'_, '_>, scope: u32) -> Id {
    e.module.int(Types::UINT, scope.into())
}
