//! Conversions, and addresses, whose offsets are widened integers.

use super::truth::of_choice;
use super::{Rewrite, Rewrite::Value as Use, bin, def, op};
use crate::ir::{BinOp, ConvertOp, Op, Rounding, Scalar, Type, Value, Wrap, eval};
use crate::transform::cursor::Cursor;

pub(super) fn convert(
    f: &mut Cursor,
    operation: ConvertOp,
    rounding: Rounding,
    x: Value,
    ty: Type,
) -> Option<Rewrite> {
    let func = &*f.func;
    let from = func.ty(x);
    if operation == ConvertOp::Bitcast && from == ty {
        return Some(Use(x));
    }
    if operation != ConvertOp::Bitcast
        && (matches!(def(func, x), Some((Op::Select, _)))
            || matches!(operation, ConvertOp::SToF | ConvertOp::UToF))
        && let Some(rewrite) = of_choice(f, &Op::Convert(operation, rounding), x, &[], ty)
    {
        return Some(rewrite);
    }
    let func = &*f.func;
    let (&Op::Convert(inner, inner_rounding), args) = def(func, x)? else {
        return widen_sum(f, operation, x, ty);
    };
    let y = args[0];
    let source = func.ty(y);
    let again = |o: ConvertOp| op(Op::Convert(o, Rounding::NearestEven), &[y]);
    match (operation, inner) {
        (ConvertOp::Bitcast, ConvertOp::Bitcast) => {
            if source == ty {
                Some(Use(y))
            } else {
                again(ConvertOp::Bitcast)
            }
        }
        (ConvertOp::Trunc, ConvertOp::Trunc) => again(ConvertOp::Trunc),
        (ConvertOp::Trunc, ConvertOp::ZExt | ConvertOp::SExt) => {
            match source.scalar.bits().cmp(&ty.scalar.bits()) {
                std::cmp::Ordering::Equal => Some(Use(y)),
                std::cmp::Ordering::Greater => again(ConvertOp::Trunc),
                std::cmp::Ordering::Less => again(inner),
            }
        }
        (ConvertOp::ZExt, ConvertOp::ZExt)
        | (ConvertOp::SExt, ConvertOp::SExt | ConvertOp::ZExt) => again(inner),
        (ConvertOp::ZExt, ConvertOp::Trunc) if source == ty && from.scalar != Scalar::I32 => {
            let low = from.scalar.mask();
            let low = f.constant(ty, low);
            bin(BinOp::And, y, low)
        }
        // Narrowing what was widened gives it back.
        (ConvertOp::FToF, ConvertOp::FToF) if source.scalar.bits() < from.scalar.bits() => {
            if source == ty {
                Some(Use(y))
            } else {
                op(Op::Convert(ConvertOp::FToF, rounding), &[y])
            }
        }
        // An integer is converted from its narrow form.
        (ConvertOp::SToF, ConvertOp::SExt) if source.scalar != Scalar::I1 => {
            op(Op::Convert(ConvertOp::SToF, rounding), &[y])
        }
        (ConvertOp::SToF | ConvertOp::UToF, ConvertOp::ZExt) if source.scalar != Scalar::I1 => {
            op(Op::Convert(ConvertOp::UToF, rounding), &[y])
        }
        _ => {
            let _ = inner_rounding;
            None
        }
    }
}

/// `widen(x + c)` is `widen(x) + widen(c)` when `x + c` does not overflow: the constant part of an
/// index comes out of it.
fn widen_sum(f: &mut Cursor, operation: ConvertOp, x: Value, ty: Type) -> Option<Rewrite> {
    let (&Op::Binary(BinOp::IAdd, wrap), args) = def(f.func, x)? else {
        return None;
    };
    let (y, c) = (args[0], f.func.as_const(args[1])?);
    let from = f.func.ty(x).scalar;
    let c = match operation {
        ConvertOp::SExt if wrap.nsw => eval::signed(from, c) as u64,
        ConvertOp::ZExt if wrap.nuw => c,
        _ => return None,
    };
    let wide = f.make(Op::Convert(operation, Rounding::NearestEven), &[y], ty);
    let c = f.constant(ty, c);
    let wrap = Wrap {
        nsw: true,
        nuw: operation == ConvertOp::ZExt,
        strict: false,
    };
    op(Op::Binary(BinOp::IAdd, wrap), &[wide, c])
}

pub(super) fn ptr_add(f: &mut Cursor, ptr: Value, bytes: Value, ty: Type) -> Option<Rewrite> {
    let func = &*f.func;
    let bytes_ty = func.ty(bytes);
    let inner = match def(func, ptr) {
        Some((Op::PtrAdd, inner)) => Some((inner[0], inner[1])),
        _ => None,
    };
    if let Some(c) = func.as_const(bytes) {
        if c == 0 {
            return Some(Use(ptr));
        }
        let (base, d) = inner?;
        let sum = func.as_const(d)?.wrapping_add(c);
        let sum = f.constant(bytes_ty, sum);
        return op(Op::PtrAdd, &[base, sum]);
    }
    // Constants last: `(p + c) + x` is `(p + x) + c`.
    if let Some((base, c)) = inner
        && func.as_const(c).is_some()
    {
        let moved = f.make(Op::PtrAdd, &[base, bytes], ty);
        return op(Op::PtrAdd, &[moved, c]);
    }
    let (x, c) = constant_part(f, bytes)?;
    let moved = f.make(Op::PtrAdd, &[ptr, x], ty);
    let c = f.constant(bytes_ty, c);
    op(Op::PtrAdd, &[moved, c])
}

/// `bytes` as a value without a constant part, and that part: of `x + c`, `(x + c) * k` or `(x + c)
/// << k`.
fn constant_part(f: &mut Cursor, bytes: Value) -> Option<(Value, u64)> {
    let func = &*f.func;
    let ty = func.ty(bytes);
    let sum = |value: Value| match def(func, value) {
        Some((Op::Binary(BinOp::IAdd, _), args)) => Some((args[0], func.as_const(args[1])?)),
        _ => None,
    };
    if let Some(parts) = sum(bytes) {
        return Some(parts);
    }
    let (&Op::Binary(scale, _), args) = def(func, bytes)? else {
        return None;
    };
    let k = args[1];
    let amount = func.as_const(k)?;
    let (x, c) = sum(args[0])?;
    let c = match scale {
        BinOp::IMul => c.wrapping_mul(amount),
        BinOp::Shl => c << (amount % 64),
        _ => return None,
    };
    let scaled = f.make(Op::Binary(scale, Wrap::default()), &[x, k], ty);
    Some((scaled, c))
}
