//! Vectors taken apart and put together.

use smallvec::smallvec;

use super::{Rewrite, Rewrite::Value as Use, constant, def, op};
use crate::ir::{Function, Op, Type, Value};
use crate::transform::cursor::Cursor;

/// Vectors taken apart and put together.
pub(super) fn lanes(f: &mut Cursor, operation: &Op, args: &[Value], ty: Type) -> Option<Rewrite> {
    let func = &*f.func;
    match operation {
        Op::Splat if ty.is_scalar() => Some(Use(args[0])),
        Op::Build => build(func, args, ty),
        Op::Extract(lane) => extract(func, args[0], *lane, ty),
        Op::Insert(_) if ty.is_scalar() => Some(Use(args[1])),
        Op::ExtractDyn => {
            let lanes = func.ty(args[0]).lanes;
            let index = func.as_const(args[1])? & (u64::from(lanes).next_power_of_two() - 1);
            if index < u64::from(lanes) {
                op(Op::Extract(index as u8), &args[..1])
            } else {
                constant(0, ty)
            }
        }
        Op::InsertDyn => {
            let index = func.as_const(args[2])? & (u64::from(ty.lanes).next_power_of_two() - 1);
            if index < u64::from(ty.lanes) {
                op(Op::Insert(index as u8), &args[..2])
            } else {
                Some(Use(args[0]))
            }
        }
        Op::Shuffle(mask) => {
            let first = func.ty(args[0]).lanes;
            let from = |start: u8| {
                let mut lanes = mask.iter().enumerate();
                lanes.all(|(i, &lane)| usize::from(lane) == i + usize::from(start))
            };
            if func.ty(args[0]) == ty && from(0) {
                Some(Use(args[0]))
            } else if func.ty(args[1]) == ty && from(first) {
                Some(Use(args[1]))
            } else {
                None
            }
        }
        _ => None,
    }
}

fn build(func: &Function, args: &[Value], ty: Type) -> Option<Rewrite> {
    if args.iter().all(|&arg| arg == args[0]) {
        return if ty.is_scalar() {
            Some(Use(args[0]))
        } else {
            op(Op::Splat, &args[..1])
        };
    }
    // The lanes of one vector in order are that vector.
    let mut source = None;
    for (i, &arg) in args.iter().enumerate() {
        let (&Op::Extract(lane), from) = def(func, arg)? else {
            return None;
        };
        if usize::from(lane) != i || *source.get_or_insert(from[0]) != from[0] {
            return None;
        }
    }
    source
        .filter(|&source| func.ty(source) == ty)
        .map(Rewrite::Value)
}

fn extract(func: &Function, vector: Value, lane: u8, ty: Type) -> Option<Rewrite> {
    if func.ty(vector).is_scalar() {
        return Some(Use(vector));
    }
    let (inner, args) = def(func, vector)?;
    match inner {
        Op::Const(bits) => constant(*bits, ty),
        Op::Splat => Some(Use(args[0])),
        Op::Build => Some(Use(args[usize::from(lane)])),
        Op::Insert(at) if *at == lane => Some(Use(args[1])),
        Op::Insert(_) => op(Op::Extract(lane), &args[..1]),
        Op::Shuffle(mask) => {
            let first = func.ty(args[0]).lanes;
            match mask[usize::from(lane)] {
                255 => constant(0, ty),
                from if from < first => Some(Rewrite::Op(Op::Extract(from), smallvec![args[0]])),
                from => op(Op::Extract(from - first), &args[1..]),
            }
        }
        _ => None,
    }
}
