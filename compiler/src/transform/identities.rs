//! The rules of `fold.rs`: what an instruction is equal to, given what defines its operands.
//!
//! One function for each group of operations, each a `match` that says the rule.

use smallvec::{SmallVec, smallvec};

use super::fold::Folder;
use crate::ir::{
    BinOp, ConvertOp, Function, Inst, IntCC, Op, Rounding, Scalar, Type, UnOp, Value, Wrap, eval,
};

/// What to put in an instruction's place.
pub(super) enum Rewrite {
    /// Use this value instead.
    Value(Value),
    /// Another operation with the same result.
    Op(Op, SmallVec<[Value; 4]>),
}

use Rewrite::Value as Use;

/// The rule that applies to an instruction, if any.
pub(super) fn rewrite(f: &mut Folder, inst: Inst) -> Option<Rewrite> {
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

fn int_binary(
    f: &mut Folder,
    operation: BinOp,
    wrap: Wrap,
    a: Value,
    b: Value,
    ty: Type,
) -> Option<Rewrite> {
    let func = &*f.func;
    let (ca, cb) = (func.as_const(a), func.as_const(b));
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
        return match (operation, ca) {
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
        };
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
    // `(x op c1) op c2`.
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
        // What is left of a narrow integer after it was shifted to the top is that integer widened, maybe scaled. Said so, it
        // is seen to be an id or an index.
        (BinOp::AShr, BinOp::Shl) => {
            let top = d % bits;
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
        (BinOp::LShr, BinOp::Shl) if d % bits == 32 && bits == 64 && amount < 32 => {
            let low = f.constant(ty, 0xffff_ffff);
            let low = f.make(Op::Binary(BinOp::And, Wrap::default()), &[x, low], ty);
            let by = f.constant(ty, 32 - amount);
            bin(BinOp::Shl, low, by)
        }
        // `(x << d) + c` where `c` has nothing below `d` either, for the rule above to see through.
        (BinOp::IAdd, BinOp::Shl)
            if d % bits >= bits / 2 && c.trailing_zeros() as u64 >= d % bits =>
        {
            let c = f.constant(ty, c >> (d % bits));
            let sum = f.make(Op::Binary(BinOp::IAdd, Wrap::default()), &[x, c], ty);
            bin(BinOp::Shl, sum, shift)
        }
        (BinOp::Shl, BinOp::LShr) if d % bits == amount => {
            let high = f.constant(ty, mask << amount);
            bin(BinOp::And, x, high)
        }
        (BinOp::LShr, BinOp::Shl) if d % bits == amount => {
            let low = f.constant(ty, mask >> amount);
            bin(BinOp::And, x, low)
        }
        _ => None,
    }
}

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
fn choose(f: &mut Folder, truth: Value, set: u64, clear: u64, ty: Type) -> Option<Rewrite> {
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
fn of_choice(
    f: &mut Folder,
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
fn truth_binary(f: &mut Folder, operation: BinOp, a: Value, b: Value, ty: Type) -> Option<Rewrite> {
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

fn float_binary(f: &mut Folder, operation: BinOp, a: Value, b: Value, ty: Type) -> Option<Rewrite> {
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
            // Dividing by a power of two is multiplying by its inverse, when that is a normal number.
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

fn fma(func: &Function, args: &[Value]) -> Option<Rewrite> {
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

fn icmp(f: &mut Folder, cc: IntCC, a: Value, b: Value) -> Option<Rewrite> {
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

fn select(f: &mut Folder, args: &[Value]) -> Option<Rewrite> {
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

fn convert(
    f: &mut Folder,
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

/// `widen(x + c)` is `widen(x) + widen(c)` when `x + c` does not overflow: the constant part of an index comes out of it.
fn widen_sum(f: &mut Folder, operation: ConvertOp, x: Value, ty: Type) -> Option<Rewrite> {
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

fn ptr_add(f: &mut Folder, ptr: Value, bytes: Value, ty: Type) -> Option<Rewrite> {
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

/// `bytes` as a value without a constant part, and that part: of `x + c`, `(x + c) * k` or `(x + c) << k`.
fn constant_part(f: &mut Folder, bytes: Value) -> Option<(Value, u64)> {
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

/// Vectors taken apart and put together.
fn lanes(f: &mut Folder, operation: &Op, args: &[Value], ty: Type) -> Option<Rewrite> {
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
