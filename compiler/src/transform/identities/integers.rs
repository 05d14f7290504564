//! Arithmetic and bits of integers.

use super::truth::truth_binary;
use super::{Rewrite, Rewrite::Value as Use, bin, constant, convert_op, def, op, operand_of, un};
use crate::ir::{BinOp, ConvertOp, Function, Op, Scalar, Type, UnOp, Value, Wrap, eval};
use crate::transform::cursor::Cursor;

pub(super) fn int_binary(
    f: &mut Cursor,
    operation: BinOp,
    wrap: Wrap,
    a: Value,
    b: Value,
    ty: Type,
) -> Option<Rewrite> {
    let func = &*f.func;
    let cb = func.as_const(b);
    let mask = ty.scalar.mask();
    let bits = u64::from(ty.scalar.bits());
    if a == b {
        match operation {
            BinOp::And | BinOp::Or | BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax => {
                return Some(Use(a));
            }
            BinOp::Xor | BinOp::ISub | BinOp::SSubSat | BinOp::USubSat => return constant(0, ty),
            _ => {}
        }
    }
    if let Some(rewrite) = truth_binary(f, operation, a, b, ty) {
        return Some(rewrite);
    }
    let func = &*f.func;
    let Some(c) = cb else {
        return of_two_values(func, operation, wrap, a, b, ty);
    };
    let amount = c % bits;
    match operation {
        BinOp::IAdd
        | BinOp::ISub
        | BinOp::Or
        | BinOp::Xor
        | BinOp::SAddSat
        | BinOp::UAddSat
        | BinOp::SSubSat
        | BinOp::USubSat
        | BinOp::UMax
            if c == 0 =>
        {
            return Some(Use(a));
        }
        BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotl if amount == 0 => {
            return Some(Use(a));
        }
        BinOp::IMul | BinOp::SDiv | BinOp::UDiv if c == 1 => return Some(Use(a)),
        BinOp::And | BinOp::UMin if c == mask => return Some(Use(a)),
        BinOp::And | BinOp::IMul | BinOp::UMin | BinOp::SMulHi | BinOp::UMulHi if c == 0 => {
            return constant(0, ty);
        }
        BinOp::Or | BinOp::UMax if c == mask => return constant(mask, ty),
        BinOp::SRem | BinOp::URem if c <= 1 => return constant(0, ty),
        BinOp::Xor if c == mask => return un(UnOp::Not, a),
        // The low half of 64 bits is a 32-bit integer widened.
        BinOp::And if bits == 64 && c == 0xffff_ffff => {
            let low = f.make(
                convert_op(ConvertOp::Trunc),
                &[a],
                ty.with_scalar(Scalar::I32),
            );
            return op(convert_op(ConvertOp::ZExt), &[low]);
        }
        BinOp::UDiv if c.is_power_of_two() => {
            let shift = f.constant(ty, u64::from(c.trailing_zeros()));
            return bin(BinOp::LShr, a, shift);
        }
        BinOp::URem if c.is_power_of_two() => {
            let low = f.constant(ty, c - 1);
            return bin(BinOp::And, a, low);
        }
        BinOp::IMul if c == mask => return un(UnOp::INeg, a),
        // Subtraction of a constant is addition, so that chains meet. No signed overflow stays none
        // unless the constant has no negation.
        BinOp::ISub => {
            let negated = f.constant(ty, c.wrapping_neg());
            let nsw = wrap.nsw && c != (mask ^ (mask >> 1));
            let wrap = Wrap {
                nsw,
                ..Wrap::default()
            };
            return op(Op::Binary(BinOp::IAdd, wrap), &[a, negated]);
        }
        _ => {}
    }
    chained(f, operation, wrap, a, c, ty)
}

/// Whether the two are a value shifted to the left and what is lost of it on that side: the value,
/// and by how much it is so rotated. `always` is whether that holds for amounts that are not known,
/// and so may be 0, for which both are the value.
fn rotation(func: &Function, a: Value, b: Value, ty: Type, always: bool) -> Option<(Value, Value)> {
    let bits = u64::from(ty.scalar.bits());
    let shifted = |value, operation| match def(func, value)? {
        (Op::Binary(found, _), &[x, by]) if *found == operation => Some((x, by)),
        _ => None,
    };
    let ((x, up), (y, down)) = match shifted(a, BinOp::Shl) {
        Some(left) => (left, shifted(b, BinOp::LShr)?),
        None => (shifted(b, BinOp::Shl)?, shifted(a, BinOp::LShr)?),
    };
    let complements = match (func.as_const(up), func.as_const(down)) {
        (Some(up), Some(down)) => up > 0 && up < bits && up + down == bits,
        _ => {
            // The amounts are taken modulo the width.
            always
                && match def(func, down) {
                    Some((Op::Binary(BinOp::ISub, _), &[from, n])) => {
                        n == up && func.as_const(from).is_some_and(|c| c % bits == 0)
                    }
                    Some((Op::Unary(UnOp::INeg), &[n])) => n == up,
                    _ => false,
                }
        }
    };
    (x == y && complements).then_some((x, up))
}

/// `a op b`, where `b` is no constant.
fn of_two_values(
    func: &Function,
    operation: BinOp,
    wrap: Wrap,
    a: Value,
    b: Value,
    ty: Type,
) -> Option<Rewrite> {
    if matches!(operation, BinOp::IAdd | BinOp::Or | BinOp::Xor)
        && let Some((x, by)) = rotation(func, a, b, ty, operation == BinOp::Or)
    {
        return bin(BinOp::Rotl, x, by);
    }
    match (operation, func.as_const(a)) {
        (operation, Some(_)) if operation.is_commutative() => {
            op(Op::Binary(operation, wrap), &[b, a])
        }
        (BinOp::ISub, Some(0)) => un(UnOp::INeg, b),
        (
            BinOp::Shl
            | BinOp::LShr
            | BinOp::AShr
            | BinOp::UDiv
            | BinOp::SDiv
            | BinOp::URem
            | BinOp::SRem,
            Some(0),
        ) => constant(0, ty),
        (BinOp::IAdd, _) => match (
            operand_of(func, a, UnOp::INeg),
            operand_of(func, b, UnOp::INeg),
        ) {
            (_, Some(negated)) => bin(BinOp::ISub, a, negated),
            (Some(negated), _) => bin(BinOp::ISub, b, negated),
            _ => None,
        },
        (BinOp::ISub, _) => match operand_of(func, b, UnOp::INeg) {
            Some(negated) => bin(BinOp::IAdd, a, negated),
            None => None,
        },
        _ => None,
    }
}

/// `(x op c1) op c2`, with `a` the inner result and `c` the outer constant.
fn chained(
    f: &mut Cursor,
    operation: BinOp,
    wrap: Wrap,
    a: Value,
    c: u64,
    ty: Type,
) -> Option<Rewrite> {
    let func = &*f.func;
    let mask = ty.scalar.mask();
    let bits = u64::from(ty.scalar.bits());
    let amount = c % bits;
    let (inner, inner_args) = def(func, a)?;
    let Op::Binary(inner, inner_wrap) = *inner else {
        return None;
    };
    let (x, shift) = (inner_args[0], inner_args[1]);
    let d = func.as_const(shift)?;
    match (operation, inner) {
        (BinOp::IAdd, BinOp::IAdd) => {
            let sum = d.wrapping_add(c) & mask;
            // Two steps without overflow in one direction are one.
            let signed = |c| eval::signed(ty.scalar, c);
            let same_way = (signed(d) < 0) == (signed(c) < 0);
            let fits = (signed(sum) < 0) == (signed(c) < 0);
            let nsw = wrap.nsw && inner_wrap.nsw && same_way && fits;
            let sum = f.constant(ty, sum);
            let wrap = Wrap {
                nsw,
                ..Wrap::default()
            };
            op(Op::Binary(BinOp::IAdd, wrap), &[x, sum])
        }
        (BinOp::IMul, BinOp::IMul) => {
            let product = f.constant(ty, d.wrapping_mul(c));
            bin(BinOp::IMul, x, product)
        }
        (BinOp::And, BinOp::And) => {
            let both = f.constant(ty, c & d);
            bin(BinOp::And, x, both)
        }
        // All that the shift leaves.
        (BinOp::And, BinOp::LShr) if (mask >> (d % bits)) & !c == 0 => Some(Use(a)),
        (BinOp::Or, BinOp::Or) => {
            let both = f.constant(ty, c | d);
            bin(BinOp::Or, x, both)
        }
        (BinOp::Xor, BinOp::Xor) => {
            let both = f.constant(ty, c ^ d);
            bin(BinOp::Xor, x, both)
        }
        (BinOp::Shl, BinOp::Shl) | (BinOp::LShr, BinOp::LShr) => {
            let total = d % bits + amount;
            if total >= bits {
                return constant(0, ty);
            }
            let total = f.constant(ty, total);
            bin(operation, x, total)
        }
        (BinOp::AShr, BinOp::AShr) => {
            let total = f.constant(ty, (d % bits + amount).min(bits - 1));
            bin(BinOp::AShr, x, total)
        }
        // `(x << d) + c` where `c` has nothing below `d` either, for the rule above to see through.
        (BinOp::IAdd, BinOp::Shl)
            if d % bits >= bits / 2 && c.trailing_zeros() as u64 >= d % bits =>
        {
            let c = f.constant(ty, c >> (d % bits));
            let sum = f.make(Op::Binary(BinOp::IAdd, Wrap::default()), &[x, c], ty);
            bin(BinOp::Shl, sum, shift)
        }
        _ => opposite_shifts(f, (operation, amount), (inner, d % bits), x, ty),
    }
}

/// `(x inner d) operation c`, shifts one way and back by constants below the width.
fn opposite_shifts(
    f: &mut Cursor,
    (operation, amount): (BinOp, u64),
    (inner, before): (BinOp, u64),
    x: Value,
    ty: Type,
) -> Option<Rewrite> {
    let mask = ty.scalar.mask();
    let bits = u64::from(ty.scalar.bits());
    match (operation, inner) {
        // What is left of a narrow integer after it was shifted to the top is that integer widened,
        // maybe scaled. Said so, it is seen to be an id or an index.
        (BinOp::AShr, BinOp::Shl) => {
            let top = before;
            let narrow = Scalar::int((bits - top) as u32)
                .filter(|narrow| narrow.is_int() && *narrow != ty.scalar)?;
            let low = f.make(convert_op(ConvertOp::Trunc), &[x], ty.with_scalar(narrow));
            if amount == top {
                return op(convert_op(ConvertOp::SExt), &[low]);
            }
            let wide = f.make(convert_op(ConvertOp::SExt), &[low], ty);
            let (shift, by) = if amount < top {
                (BinOp::Shl, top - amount)
            } else {
                (BinOp::AShr, amount - top)
            };
            let by = f.constant(ty, by);
            bin(shift, wide, by)
        }
        (BinOp::LShr, BinOp::Shl) if before == 32 && bits == 64 && amount < 32 => {
            let low = f.constant(ty, 0xffff_ffff);
            let low = f.make(Op::Binary(BinOp::And, Wrap::default()), &[x, low], ty);
            let by = f.constant(ty, 32 - amount);
            bin(BinOp::Shl, low, by)
        }
        (BinOp::Shl, BinOp::LShr) if before == amount => {
            let high = f.constant(ty, mask << amount);
            bin(BinOp::And, x, high)
        }
        (BinOp::LShr, BinOp::Shl) if before == amount => {
            let low = f.constant(ty, mask >> amount);
            bin(BinOp::And, x, low)
        }
        _ => None,
    }
}
