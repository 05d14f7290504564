//! Floating-point arithmetic. `x` may be any number, infinity, NaN or zero of either sign.

use super::{Rewrite, Rewrite::Value as Use, bin, op, operand_of, un};
use crate::ir::{BinOp, Function, Op, Scalar, Type, UnOp, Value, eval};
use crate::transform::cursor::Cursor;

pub(super) fn float_binary(
    f: &mut Cursor,
    operation: BinOp,
    a: Value,
    b: Value,
    ty: Type,
) -> Option<Rewrite> {
    let func = &*f.func;
    let scalar = ty.scalar;
    let (na, nb) = (
        operand_of(func, a, UnOp::FNeg),
        operand_of(func, b, UnOp::FNeg),
    );
    let ca = func.as_const(a).map(|c| eval::to_f64(scalar, c));
    let cb = func.as_const(b).map(|c| eval::to_f64(scalar, c));
    if ca.is_some() && cb.is_none() && operation.is_commutative() {
        return bin(operation, b, a);
    }
    match operation {
        // `x + -0` is `x`, also for `-0`; `x + 0` is not.
        BinOp::FAdd if cb.is_some_and(|c| c == 0.0 && c.is_sign_negative()) => Some(Use(a)),
        BinOp::FSub if cb.is_some_and(|c| c == 0.0 && c.is_sign_positive()) => Some(Use(a)),
        BinOp::FMul | BinOp::FDiv if cb == Some(1.0) => Some(Use(a)),
        BinOp::FMul | BinOp::FDiv if cb == Some(-1.0) => un(UnOp::FNeg, a),
        BinOp::FDiv => {
            // Dividing by a power of two is multiplying by its inverse, when that is a normal
            // number.
            if let Some(c) = cb
                && c.is_normal()
                && c.to_bits() << 12 == 0
                && is_normal(scalar, 1.0 / c)
            {
                let inverse = f.constant(ty, eval::from_f64(scalar, 1.0 / c));
                return bin(BinOp::FMul, a, inverse);
            }
            match (na, nb) {
                (Some(x), Some(y)) => bin(BinOp::FDiv, x, y),
                _ => None,
            }
        }
        BinOp::FMul => match (na, nb) {
            (Some(x), Some(y)) => bin(BinOp::FMul, x, y),
            _ => None,
        },
        BinOp::FAdd => match (na, nb) {
            (_, Some(y)) => bin(BinOp::FSub, a, y),
            (Some(x), None) => bin(BinOp::FSub, b, x),
            _ => None,
        },
        BinOp::FSub => nb.and_then(|y| bin(BinOp::FAdd, a, y)),
        BinOp::FMin | BinOp::FMax if a == b => Some(Use(a)),
        _ => None,
    }
}

/// Whether a value is a normal number of a format, or its inverse's inverse would not be exact.
fn is_normal(scalar: Scalar, value: f64) -> bool {
    let (least, greatest) = match scalar {
        Scalar::F16 => (6.2e-5, 65504.0),
        Scalar::F32 => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
        _ => (f64::MIN_POSITIVE, f64::MAX),
    };
    (least..=greatest).contains(&value.abs())
}

pub(super) fn fma(func: &Function, args: &[Value]) -> Option<Rewrite> {
    let negated = |v| operand_of(func, v, UnOp::FNeg);
    match (negated(args[0]), negated(args[1])) {
        (Some(x), Some(y)) => op(Op::Fma, &[x, y, args[2]]),
        _ => {
            // `a * 1 + c` is `a + c`.
            let scalar = func.ty(args[0]).scalar;
            let one = |v| func.as_const(v).map(|c| eval::to_f64(scalar, c)) == Some(1.0);
            if one(args[1]) {
                bin(BinOp::FAdd, args[0], args[2])
            } else if one(args[0]) {
                bin(BinOp::FAdd, args[1], args[2])
            } else {
                None
            }
        }
    }
}
