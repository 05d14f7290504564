//! Values that are computed again where they are needed rather than kept.

use crate::ir::{BinOp, ConvertOp, Function, InstData, Op, Query};

/// A value computed again costs at most this many instructions.
pub(super) const CHEAP: u32 = 8;
/// The same where one lane's value tells those of a whole chunk: they are computed once for all,
/// and an address stays consecutive, which it would not in the context.
pub(super) const CHEAP_IN_ONE_LANE: u32 = 24;

/// What an instruction costs without its operands; `None` for what gives something else the second
/// time, may trap, or takes long.
pub(super) fn cost(func: &Function, data: &InstData) -> Option<u32> {
    let is_float = || func.ty(data.results[0]).scalar.is_float();
    match &data.op {
        Op::Const(_) | Op::Alloca { .. } => Some(0),
        Op::DimQuery(..) => Some(1),
        Op::Query(Query::GlobalLinearId) => Some(3),
        Op::Query(_) | Op::LocalAddr(_) | Op::GlobalAddr(_) => Some(1),
        Op::PtrAdd | Op::Select | Op::ICmp(_) => Some(1),
        Op::Unary(_) if !is_float() => Some(1),
        Op::Binary(BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem, _) => None,
        Op::Binary(..) if !is_float() => Some(1),
        // The low part of a register: `tile[y][x]` is cheap to address with local ids as `int`s.
        Op::Convert(ConvertOp::Trunc, _) => Some(0),
        Op::Convert(ConvertOp::SExt | ConvertOp::ZExt | ConvertOp::Bitcast, _) => Some(1),
        _ => None,
    }
}
