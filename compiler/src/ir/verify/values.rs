//! Instructions that compute values from values: constants, arithmetic, comparisons, conversions,
//! lanes, built-ins.

use super::{Operands, Verifier, is};
use crate::ir::{BinOp, ConvertOp, Op, Rounding, Scalar, Type, UnOp};

impl Verifier<'_> {
    /// The operands and results of an instruction that touches nothing but values.
    pub(super) fn check_value(&self, o: &Operands<'_>) -> Result<(), String> {
        let (args, results) = (&o.args[..], &o.results[..]);
        match &o.data.op {
            Op::Const(bits) => {
                o.counts(0, 1)?;
                is(
                    *bits <= results[0].scalar.mask(),
                    "a constant has no bits beyond its type",
                )
            }
            Op::Unary(op) => {
                o.counts(1, 1)?;
                is(args[0] == results[0], "operand and result have one type")?;
                is(
                    unary_takes(*op, args[0].scalar),
                    "the operation does not take this type",
                )
            }
            Op::Binary(op, _) => {
                o.counts(2, 1)?;
                is(
                    args[0] == results[0] && args[1] == results[0],
                    "operands and result have one type",
                )?;
                is(
                    binary_takes(*op, args[0].scalar),
                    "the operation does not take this type",
                )
            }
            Op::Fma => {
                o.counts(3, 1)?;
                is(
                    args.iter().all(|&ty| ty == results[0]) && results[0].scalar.is_float(),
                    "operands and result have one floating-point type",
                )
            }
            Op::Rounded(op, rounding) => {
                o.counts(op.operands(), 1)?;
                is(
                    args.iter().all(|&ty| ty == results[0]) && results[0].scalar.is_float(),
                    "operands and result have one floating-point type",
                )?;
                is(
                    *rounding != Rounding::NearestEven,
                    "the plain operation rounds to nearest",
                )
            }
            Op::ICmp(_) | Op::FCmp(_) => {
                o.counts(2, 1)?;
                is(
                    args[0] == args[1] && results[0] == args[0].as_mask(),
                    "a comparison of one type gives i1 lanes",
                )?;
                is(
                    args[0].scalar.is_float() == matches!(o.data.op, Op::FCmp(_)),
                    "the comparison does not take this type",
                )
            }
            Op::Select => {
                o.counts(3, 1)?;
                is(
                    args[1] == results[0] && args[2] == results[0],
                    "both choices have the result's type",
                )?;
                is(
                    args[0].scalar == Scalar::I1
                        && (args[0].is_scalar() || args[0].lanes == results[0].lanes),
                    "the condition is i1 of one lane or as many as the result",
                )
            }
            Op::Convert(op, _) => {
                o.counts(1, 1)?;
                is(
                    convert_takes(*op, args[0], results[0]),
                    "the conversion does not take these types",
                )
            }
            Op::Splat => {
                o.counts(1, 1)?;
                is(args[0] == results[0].lane(), "a splat repeats one lane")
            }
            Op::Build => {
                o.counts(usize::from(results.first().map_or(0, |ty| ty.lanes)), 1)?;
                is(
                    args.iter().all(|&ty| ty == results[0].lane()),
                    "a vector is built of its lanes",
                )
            }
            Op::Extract(lane) => {
                o.counts(1, 1)?;
                is(
                    results[0] == args[0].lane() && *lane < args[0].lanes,
                    "a lane is extracted from a vector that has it",
                )
            }
            Op::Insert(lane) => {
                o.counts(2, 1)?;
                is(
                    results[0] == args[0] && args[1] == args[0].lane() && *lane < args[0].lanes,
                    "a lane is inserted into a vector that has it",
                )
            }
            Op::ExtractDyn => {
                o.counts(2, 1)?;
                is(
                    results[0] == args[0].lane() && args[1].is_scalar() && args[1].scalar.is_int(),
                    "a lane is extracted by an integer",
                )
            }
            Op::InsertDyn => {
                o.counts(3, 1)?;
                is(
                    results[0] == args[0]
                        && args[1] == args[0].lane()
                        && args[2].is_scalar()
                        && args[2].scalar.is_int(),
                    "a lane is inserted by an integer",
                )
            }
            Op::Shuffle(mask) => {
                o.counts(2, 1)?;
                let lanes = u16::from(args[0].lanes) + u16::from(args[1].lanes);
                is(
                    args[0].scalar == results[0].scalar
                        && args[1].scalar == results[0].scalar
                        && mask.len() == usize::from(results[0].lanes)
                        && mask.iter().all(|&l| l == 255 || u16::from(l) < lanes),
                    "a shuffle picks lanes of its operands",
                )
            }
            Op::Builtin(builtin) => {
                is(
                    results.len() == builtin.results(),
                    "a built-in has as many results as it is declared with",
                )?;
                is(
                    !builtin.is_lane_wise()
                        || args
                            .iter()
                            .chain(results)
                            .all(|ty| ty.lanes == results[0].lanes),
                    "a lane-wise built-in has one lane count",
                )
            }
            Op::Lookup(_) => {
                o.counts(1, 1)?;
                is(
                    args[0].scalar == Scalar::I64 && results[0] == args[0].with_scalar(Scalar::F64),
                    "a table gives f64 by i64",
                )
            }
            Op::Routine(routine, format) => {
                let target = routine.target(*format);
                o.counts(target.arity() + 2, 1)?;
                let float = Scalar::float(format.bits());
                let floats = &args[..target.arity()];
                let lanes = results[0].lanes;
                is(
                    floats
                        .iter()
                        .all(|ty| Some(ty.scalar) == float && ty.lanes == lanes)
                        && args[target.arity()] == results[0]
                        && args[target.arity() + 1] == Type::new(Scalar::I1, lanes),
                    "a routine takes floats of its format, what its result is elsewhere, and a mask",
                )?;
                let expected = match float {
                    Some(float) if target.returns_int() => Some(float.as_int()),
                    other => other,
                };
                is(
                    Some(results[0].scalar) == expected,
                    "a routine gives a value of its format",
                )
            }
            _ => unreachable!("no operation on values"),
        }
    }
}

fn unary_takes(op: UnOp, scalar: Scalar) -> bool {
    match op {
        UnOp::Not => scalar.is_int() || scalar == Scalar::I1,
        UnOp::INeg | UnOp::PopCount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse => scalar.is_int(),
        UnOp::FNeg
        | UnOp::FAbs
        | UnOp::Sqrt
        | UnOp::Ceil
        | UnOp::Floor
        | UnOp::Trunc
        | UnOp::RoundEven
        | UnOp::RecipEstimate
        | UnOp::RsqrtEstimate => scalar.is_float(),
    }
}

pub(super) fn binary_takes(op: BinOp, scalar: Scalar) -> bool {
    match op {
        BinOp::And | BinOp::Or | BinOp::Xor => scalar.is_int() || scalar == Scalar::I1,
        op if op.is_float() => scalar.is_float(),
        _ => scalar.is_int(),
    }
}

fn convert_takes(op: ConvertOp, from: Type, to: Type) -> bool {
    let (a, b) = (from.scalar, to.scalar);
    let ints = a.is_int() && b.is_int();
    if op == ConvertOp::Bitcast {
        let bits = |ty: Type| ty.scalar.bits() * u32::from(ty.lanes);
        return bits(from) == bits(to) && (from == to || a != Scalar::I1 && b != Scalar::I1);
    }
    from.lanes == to.lanes
        && match op {
            ConvertOp::Trunc => {
                a.is_int() && (b.is_int() || b == Scalar::I1) && a.bits() > b.bits()
            }
            ConvertOp::ZExt | ConvertOp::SExt => {
                (a.is_int() || a == Scalar::I1) && b.is_int() && a.bits() < b.bits()
            }
            ConvertOp::SatSToS | ConvertOp::SatUToU => ints && a.bits() > b.bits(),
            ConvertOp::SatSToU | ConvertOp::SatUToS => ints && a.bits() >= b.bits(),
            ConvertOp::FToS | ConvertOp::FToU => a.is_float() && b.is_int(),
            ConvertOp::SToF | ConvertOp::UToF => a.is_int() && b.is_float(),
            ConvertOp::FToF => a.is_float() && b.is_float() && a != b,
            ConvertOp::Bitcast => unreachable!("handled above"),
        }
}
