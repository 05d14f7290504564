//! The rules of `fold.rs`: what an instruction is equal to, given what defines its operands.
//!
//! One function for each group of operations, each a `match` that says the rule; [`rewrite`] below
//! chooses.

mod convert;
mod floats;
mod integers;
mod lanes;
mod truth;

use smallvec::SmallVec;

use self::convert::{convert, ptr_add};
use self::floats::{float_binary, fma};
use self::integers::int_binary;
use self::lanes::lanes;
use self::truth::{icmp, select};
use super::cursor::Cursor;
use crate::ir::{BinOp, ConvertOp, Function, Inst, Op, Rounding, Type, UnOp, Value, Wrap};

/// What to put in an instruction's place.
pub(super) enum Rewrite {
    /// Use this value instead.
    Value(Value),
    /// Another operation with the same result.
    Op(Op, SmallVec<[Value; 4]>),
}

use Rewrite::Value as Use;

/// The rule that applies to an instruction, if any.
pub(super) fn rewrite(f: &mut Cursor, inst: Inst) -> Option<Rewrite> {
    let data = &f.func.insts[inst];
    let args = data.args.clone();
    let ty = f.func.ty(data.results[0]);
    match data.op.clone() {
        Op::Unary(op) => unary(f.func, op, args[0]),
        // What is to stay as it is must not become an operation that need not.
        Op::Binary(_, wrap) if wrap.strict => None,
        Op::Binary(op, _) if op.is_float() => float_binary(f, op, args[0], args[1], ty),
        Op::Binary(op, wrap) => int_binary(f, op, wrap, args[0], args[1], ty),
        Op::Fma => fma(f.func, &args),
        Op::ICmp(cc) => icmp(f, cc, args[0], args[1]),
        Op::Select => select(f, &args),
        Op::Convert(op, rounding) => convert(f, op, rounding, args[0], ty),
        Op::PtrAdd => ptr_add(f, args[0], args[1], ty),
        Op::Splat
        | Op::Build
        | Op::Extract(_)
        | Op::Insert(_)
        | Op::ExtractDyn
        | Op::InsertDyn
        | Op::Shuffle(_) => lanes(f, &data_op(f.func, inst), &args, ty),
        Op::AnyTrue | Op::AllTrue => match def(f.func, args[0]) {
            Some((Op::Splat, inner)) => Some(Use(inner[0])),
            _ if f.func.ty(args[0]).is_scalar() => Some(Use(args[0])),
            _ => None,
        },
        _ => None,
    }
}

fn data_op(func: &Function, inst: Inst) -> Op {
    func.insts[inst].op.clone()
}

/// The operation and operands that define a value.
fn def(func: &Function, value: Value) -> Option<(&Op, &[Value])> {
    let data = &func.insts[func.def_inst(value)?];
    Some((&data.op, &data.args))
}

/// The operand of a unary operation that defines a value.
fn operand_of(func: &Function, value: Value, op: UnOp) -> Option<Value> {
    match def(func, value)? {
        (Op::Unary(found), args) if *found == op => Some(args[0]),
        _ => None,
    }
}

fn op(op: Op, args: &[Value]) -> Option<Rewrite> {
    Some(Rewrite::Op(op, SmallVec::from_slice(args)))
}

fn bin(operation: BinOp, a: Value, b: Value) -> Option<Rewrite> {
    op(Op::Binary(operation, Wrap::default()), &[a, b])
}

fn un(operation: UnOp, a: Value) -> Option<Rewrite> {
    op(Op::Unary(operation), &[a])
}

/// A conversion that does not round.
fn convert_op(operation: ConvertOp) -> Op {
    Op::Convert(operation, Rounding::NearestEven)
}

fn constant(bits: u64, ty: Type) -> Option<Rewrite> {
    op(Op::Const(bits & ty.scalar.mask()), &[])
}

fn unary(func: &Function, operation: UnOp, x: Value) -> Option<Rewrite> {
    let (inner, args) = def(func, x)?;
    match (operation, inner) {
        (UnOp::INeg, Op::Unary(UnOp::INeg))
        | (UnOp::Not, Op::Unary(UnOp::Not))
        | (UnOp::FNeg, Op::Unary(UnOp::FNeg)) => Some(Use(args[0])),
        (UnOp::Not, Op::ICmp(cc)) => op(Op::ICmp(cc.negated()), args),
        (UnOp::Not, Op::FCmp(cc)) => op(Op::FCmp(cc.negated()), args),
        (UnOp::INeg, Op::Binary(BinOp::ISub, _)) => bin(BinOp::ISub, args[1], args[0]),
        (UnOp::FAbs, Op::Unary(UnOp::FNeg)) => un(UnOp::FAbs, args[0]),
        (UnOp::FAbs, Op::Unary(UnOp::FAbs)) => Some(Use(x)),
        (
            UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::RoundEven,
            Op::Unary(UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::RoundEven),
        ) => Some(Use(x)),
        _ => None,
    }
}
