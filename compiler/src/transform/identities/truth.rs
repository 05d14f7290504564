//! Truth values, also where they went through integers: comparisons, selects, one of two constants.

use super::{Rewrite, Rewrite::Value as Use, bin, constant, convert_op, def, op, operand_of, un};
use crate::ir::{BinOp, ConvertOp, Function, IntCC, Op, Scalar, Type, UnOp, Value, Wrap, eval};
use crate::transform::cursor::Cursor;

/// A value that is one of two constants: a truth value, the bits when it holds, and when not.
fn choice(func: &Function, value: Value) -> Option<(Value, u64, u64)> {
    let (op, args) = def(func, value)?;
    let ty = func.ty(value);
    match op {
        Op::Convert(ConvertOp::ZExt, _) if func.ty(args[0]).scalar == Scalar::I1 => {
            Some((args[0], 1, 0))
        }
        Op::Convert(ConvertOp::SExt, _) if func.ty(args[0]).scalar == Scalar::I1 => {
            Some((args[0], ty.scalar.mask(), 0))
        }
        Op::Select if func.ty(args[0]).lanes == ty.lanes => {
            Some((args[0], func.as_const(args[1])?, func.as_const(args[2])?))
        }
        _ => None,
    }
}

/// One of two constants; `None` when only a select says it.
fn choose(f: &mut Cursor, truth: Value, set: u64, clear: u64, ty: Type) -> Option<Rewrite> {
    let all = ty.scalar.mask();
    if set == clear {
        return constant(set, ty);
    }
    if ty.scalar == Scalar::I1 {
        return if set == 1 {
            Some(Use(truth))
        } else {
            un(UnOp::Not, truth)
        };
    }
    if !ty.scalar.is_int() {
        return None;
    }
    let (widen, negate) = match (set, clear) {
        (1, 0) => (ConvertOp::ZExt, false),
        (0, 1) => (ConvertOp::ZExt, true),
        (set, 0) if set == all => (ConvertOp::SExt, false),
        (0, clear) if clear == all => (ConvertOp::SExt, true),
        _ => return None,
    };
    let truth = if negate {
        let mask_ty = f.func.ty(truth);
        f.make(Op::Unary(UnOp::Not), &[truth], mask_ty)
    } else {
        truth
    };
    op(convert_op(widen), &[truth])
}

/// A pure operation on one of two constants (and constants) is one of two others.
pub(super) fn of_choice(
    f: &mut Cursor,
    operation: &Op,
    x: Value,
    more: &[(Type, u64)],
    ty: Type,
) -> Option<Rewrite> {
    let (truth, set, clear) = choice(f.func, x)?;
    let one = f.func.ty(x).lane();
    let eval = |bits: u64| {
        let bits = [bits];
        let mut args = vec![(one, &bits[..])];
        args.extend(
            more.iter()
                .map(|(ty, bits)| (ty.lane(), std::slice::from_ref(bits))),
        );
        Some(eval::pure(operation, &args, ty.lane())?[0])
    };
    let (set, clear) = (eval(set)?, eval(clear)?);
    if let Some(rewrite) = choose(f, truth, set, clear, ty) {
        return Some(rewrite);
    }
    let (set, clear) = (f.constant(ty, set), f.constant(ty, clear));
    op(Op::Select, &[truth, set, clear])
}

/// The truth value that was widened to 0 or 1.
fn zero_or_one(func: &Function, value: Value) -> Option<Value> {
    match def(func, value)? {
        (Op::Convert(ConvertOp::ZExt, _), args) if func.ty(args[0]).scalar == Scalar::I1 => {
            Some(args[0])
        }
        _ => None,
    }
}

/// Truth values that went through integers, as `bool` variables in memory do.
pub(super) fn truth_binary(
    f: &mut Cursor,
    operation: BinOp,
    a: Value,
    b: Value,
    ty: Type,
) -> Option<Rewrite> {
    let bitwise = matches!(operation, BinOp::And | BinOp::Or | BinOp::Xor);
    if let Some(c) = f.func.as_const(b) {
        let selected = matches!(def(f.func, a), Some((Op::Select, _)));
        // Arithmetic on a widened truth value is as good as a select.
        if selected || bitwise && c <= 1 {
            let operation = Op::Binary(operation, Wrap::default());
            return of_choice(f, &operation, a, &[(ty, c)], ty);
        }
        return None;
    }
    if bitwise && let (Some(x), Some(y)) = (zero_or_one(f.func, a), zero_or_one(f.func, b)) {
        let mask_ty = f.func.ty(x);
        let both = f.make(Op::Binary(operation, Wrap::default()), &[x, y], mask_ty);
        return op(convert_op(ConvertOp::ZExt), &[both]);
    }
    None
}

pub(super) fn icmp(f: &mut Cursor, cc: IntCC, a: Value, b: Value) -> Option<Rewrite> {
    let func = &*f.func;
    let ty = func.ty(a);
    let mask_ty = ty.as_mask();
    if a == b {
        let holds = matches!(
            cc,
            IntCC::Eq | IntCC::Sle | IntCC::Sge | IntCC::Ule | IntCC::Uge
        );
        return constant(u64::from(holds), mask_ty);
    }
    let Some(c) = func.as_const(b) else {
        if func.as_const(a).is_some() {
            return op(Op::ICmp(cc.swapped()), &[b, a]);
        }
        // Two truth values.
        if let (Some(x), Some(y)) = (zero_or_one(func, a), zero_or_one(func, b)) {
            return match cc {
                IntCC::Ne => bin(BinOp::Xor, x, y),
                IntCC::Eq => {
                    let differ = f.make(Op::Binary(BinOp::Xor, Wrap::default()), &[x, y], mask_ty);
                    un(UnOp::Not, differ)
                }
                _ => None,
            };
        }
        return None;
    };
    match (cc, c) {
        (IntCC::Ult, 0) => return constant(0, mask_ty),
        (IntCC::Uge, 0) => return constant(1, mask_ty),
        (IntCC::Ule, 0) => return op(Op::ICmp(IntCC::Eq), &[a, b]),
        (IntCC::Ugt, 0) => return op(Op::ICmp(IntCC::Ne), &[a, b]),
        (IntCC::Ult, 1) => {
            let zero = f.constant(ty, 0);
            return op(Op::ICmp(IntCC::Eq), &[a, zero]);
        }
        _ => {}
    }
    // A truth value made an integer and compared with a constant again.
    if ty.scalar == Scalar::I1 {
        return match (cc, c) {
            (IntCC::Eq, 1) | (IntCC::Ne, 0) => Some(Use(a)),
            (IntCC::Eq, 0) | (IntCC::Ne, 1) => un(UnOp::Not, a),
            _ => None,
        };
    }
    let Some((truth, when_set, when_clear)) = choice(func, a) else {
        return match def(func, a)? {
            (Op::Convert(ConvertOp::ZExt, _), args) if matches!(cc, IntCC::Eq | IntCC::Ne) => {
                // Compare before widening.
                let narrow = func.ty(args[0]);
                let x = args[0];
                if c > narrow.scalar.mask() {
                    return constant(u64::from(cc == IntCC::Ne), mask_ty);
                }
                let c = f.constant(narrow, c);
                op(Op::ICmp(cc), &[x, c])
            }
            _ => None,
        };
    };
    let set = eval::icmp(cc, ty.scalar, when_set, c);
    let clear = eval::icmp(cc, ty.scalar, when_clear, c);
    match (set, clear) {
        (true, false) => Some(Use(truth)),
        (false, true) => un(UnOp::Not, truth),
        (same, _) => constant(u64::from(same), mask_ty),
    }
}

pub(super) fn select(f: &mut Cursor, args: &[Value]) -> Option<Rewrite> {
    let (cond, a, b) = (args[0], args[1], args[2]);
    let func = &*f.func;
    if a == b {
        return Some(Use(a));
    }
    match func.as_const(cond) {
        Some(0) => return Some(Use(b)),
        Some(_) => return Some(Use(a)),
        None => {}
    }
    if let Some(negated) = operand_of(func, cond, UnOp::Not) {
        return op(Op::Select, &[negated, b, a]);
    }
    if func.ty(a).scalar == Scalar::I1 && func.ty(cond) == func.ty(a) {
        match (func.as_const(a), func.as_const(b)) {
            (Some(1), Some(0)) => return Some(Use(cond)),
            (Some(0), Some(1)) => return un(UnOp::Not, cond),
            (_, Some(0)) => return bin(BinOp::And, cond, a),
            (Some(1), _) => return bin(BinOp::Or, cond, b),
            _ => {}
        }
    }
    let ty = func.ty(a);
    if ty.scalar.is_int() && func.ty(cond).lanes == ty.lanes {
        let (ca, cb) = (func.as_const(a), func.as_const(b));
        if let (Some(set), Some(clear)) = (ca, cb) {
            return choose(f, cond, set, clear, ty);
        }
        // Truth values and their constants are selected before they are widened.
        let (x, y) = (zero_or_one(func, a), zero_or_one(func, b));
        let other = |known: Option<u64>| known.filter(|&c| c <= 1);
        let mask_ty = ty.as_mask();
        let narrow = match (x, y) {
            (Some(x), Some(y)) => Some((x, y)),
            (Some(x), None) => other(cb).map(|c| (x, f.constant(mask_ty, c))),
            (None, Some(y)) => other(ca).map(|c| (f.constant(mask_ty, c), y)),
            (None, None) => None,
        };
        if let Some((x, y)) = narrow {
            let truth = f.make(Op::Select, &[cond, x, y], mask_ty);
            return op(convert_op(ConvertOp::ZExt), &[truth]);
        }
    }
    let func = &*f.func;
    // A select on the same condition inside.
    match def(func, a) {
        Some((Op::Select, inner)) if inner[0] == cond => {
            return op(Op::Select, &[cond, inner[1], b]);
        }
        _ => {}
    }
    match def(func, b) {
        Some((Op::Select, inner)) if inner[0] == cond => op(Op::Select, &[cond, a, inner[2]]),
        _ => None,
    }
}
