//! Expands built-in functions: floating-point ones through `brolga-mathlib`, integer ones here.

use brolga_mathlib::func::{Func, Value as MathValue, eval_values};
use smallvec::{SmallVec, smallvec};

use super::emit::{Emitter, rewrite};
use super::math::{FloatValue, IntValue, Sink};
use crate::ir::{BinOp, Builtin, ConvertOp, FloatCC, Function, InstData, IntCC, Op, Scalar, Value};
use crate::target::Target;

/// The function of the built-in library that computes a built-in, if it is one of its.
pub fn library_function(builtin: Builtin) -> Option<Func> {
    Func::from_name(builtin.name())
}

/// Expands every built-in of `func`, at whatever lane counts it has, and divisions that vectors do
/// better otherwise. The target has a say in which operations are used, not in results. Cost:
/// linear.
pub fn expand(func: &mut Function, target: &Target) {
    rewrite(func, |e, data| match data.op {
        Op::Builtin(builtin) => Some(expand_one(e, target, builtin, data)),
        // Exact either way; here without a call but for quotients that are large.
        Op::Binary(BinOp::FRem, _) if e.ty(data.args[0]).lanes > 1 => {
            Some(through_library(e, target, Func::Fmod, data))
        }
        Op::Binary(op, _) => Some(smallvec![super::division::expand(
            e,
            op,
            data.args[0],
            data.args[1]
        )?]),
        _ => None,
    });
}

fn expand_one(
    e: &mut Emitter<'_>,
    target: &Target,
    builtin: Builtin,
    data: &InstData,
) -> SmallVec<[Value; 2]> {
    let a = &data.args;
    let one = |v: Value| smallvec![v];
    match builtin {
        Builtin::NextAfter if e.ty(a[0]).scalar == Scalar::F16 => {
            one(next_after_half(e, a[0], a[1]))
        }
        // What is below 1 in single precision may round to 1.
        Builtin::Fract if e.ty(a[0]).scalar == Scalar::F16 => {
            let mut results = through_library(e, target, Func::Fract, data);
            let ty = e.ty(results[0]);
            let (one, below) = (e.iconst(ty, 0x3c00), e.iconst(ty, 0x3bff));
            let rounded = e.fcmp(FloatCC::Oge, results[0], one);
            results[0] = e.select(rounded, below, results[0]);
            results
        }
        _ => match library_function(builtin) {
            Some(func) => through_library(e, target, func, data),
            None => one(integer(e, builtin, a)),
        },
    }
}

/// Runs the library's text on the operands. Half goes through single precision; integers are as
/// wide as the float in the library and 32 bits wide outside it.
fn through_library(
    e: &mut Emitter<'_>,
    target: &Target,
    func: Func,
    data: &InstData,
) -> SmallVec<[Value; 2]> {
    let outside: SmallVec<[_; 2]> = data.results.iter().map(|&r| e.ty(r)).collect();
    let float = data
        .args
        .iter()
        .chain(&data.results)
        .map(|&v| e.ty(v).scalar)
        .find(|s| s.is_float())
        .expect("a library function has a float");
    let inside = if float == Scalar::F64 {
        Scalar::F64
    } else {
        Scalar::F32
    };
    let args: SmallVec<[Value; 3]> = data
        .args
        .iter()
        .map(|&arg| {
            if e.ty(arg).scalar.is_float() {
                e.convert(ConvertOp::FToF, arg, inside)
            } else if e.ty(arg).scalar.bits() < inside.bits() {
                e.convert(ConvertOp::SExt, arg, inside.as_int())
            } else {
                e.convert(ConvertOp::Trunc, arg, inside.as_int())
            }
        })
        .collect();
    // A value of the float type, for functions whose operands are all integers.
    let like = args.iter().copied().find(|&v| e.ty(v).scalar.is_float());
    let like = like.unwrap_or_else(|| e.fconst(outside[0].with_scalar(inside), 0.0));
    let is_float: SmallVec<[bool; 3]> = args.iter().map(|&v| e.ty(v).scalar.is_float()).collect();
    let (first, second) = {
        let sink = Sink::for_target(e, target);
        let args: SmallVec<[MathValue<FloatValue<'_>>; 3]> = args
            .iter()
            .zip(is_float)
            .map(|(&v, float)| {
                if float {
                    MathValue::Float(FloatValue::new(&sink, v))
                } else {
                    MathValue::Int(IntValue::new(&sink, v))
                }
            })
            .collect();
        let value = |v: MathValue<FloatValue<'_>>| match v {
            MathValue::Float(v) => v.value(),
            MathValue::Int(v) => v.value(),
        };
        let (first, second) = eval_values(func, FloatValue::new(&sink, like), &args);
        (value(first), second.map(value))
    };
    [Some(first), second]
        .into_iter()
        .flatten()
        .zip(outside)
        .map(|(v, ty)| match ty.scalar {
            to if to.is_float() => e.convert(ConvertOp::FToF, v, to),
            to if to.bits() < e.ty(v).scalar.bits() => e.convert(ConvertOp::Trunc, v, to),
            to => e.convert(ConvertOp::SExt, v, to),
        })
        .collect()
}

/// The neighbour of a half toward another: a step of the encoding, seen as sign and magnitude.
fn next_after_half(e: &mut Emitter<'_>, x: Value, y: Value) -> Value {
    let bits = e.bitcast(x, Scalar::I16);
    let magnitude = e.binary_imm(BinOp::And, bits, 0x7fff);
    let zero = e.icmp_imm(IntCC::Eq, magnitude, 0);
    let down = e.fcmp(FloatCC::Olt, y, x);
    let sign = e.binary_imm(BinOp::And, bits, 0x8000);
    let is_negative = e.icmp_imm(IntCC::Ne, sign, 0);
    // Toward zero when going down from a positive number or up from a negative one.
    let toward = e.binary(BinOp::Xor, down, is_negative);
    let less = e.binary_imm(BinOp::ISub, bits, 1);
    let more = e.binary_imm(BinOp::IAdd, bits, 1);
    let stepped = e.select(toward, less, more);
    let ty = e.ty(bits);
    let (plus, minus) = (e.iconst(ty, 1), e.iconst(ty, 0x8001));
    let smallest = e.select(down, minus, plus);
    let stepped = e.select(zero, smallest, stepped);
    let stepped = e.bitcast(stepped, Scalar::F16);
    let equal = e.fcmp(FloatCC::Oeq, x, y);
    let result = e.select(equal, y, stepped);
    let nan = e.fcmp(FloatCC::Uno, x, y);
    let sum = e.binary(BinOp::FAdd, x, y);
    e.select(nan, sum, result)
}

fn integer(e: &mut Emitter<'_>, builtin: Builtin, a: &[Value]) -> Value {
    let ty = e.ty(a[0]);
    match builtin {
        Builtin::SAbsDiff | Builtin::UAbsDiff => {
            let cc = if builtin == Builtin::SAbsDiff {
                IntCC::Sgt
            } else {
                IntCC::Ugt
            };
            let greater = e.icmp(cc, a[0], a[1]);
            let forth = e.binary(BinOp::ISub, a[0], a[1]);
            let back = e.binary(BinOp::ISub, a[1], a[0]);
            e.select(greater, forth, back)
        }
        // x + y = 2 (x & y) + (x ^ y)
        Builtin::SHadd | Builtin::UHadd => {
            let shift = if builtin == Builtin::SHadd {
                BinOp::AShr
            } else {
                BinOp::LShr
            };
            let both = e.binary(BinOp::And, a[0], a[1]);
            let differ = e.binary(BinOp::Xor, a[0], a[1]);
            let half = e.binary_imm(shift, differ, 1);
            e.binary(BinOp::IAdd, both, half)
        }
        // x + y = 2 (x | y) - (x ^ y)
        Builtin::SRhadd | Builtin::URhadd => {
            let shift = if builtin == Builtin::SRhadd {
                BinOp::AShr
            } else {
                BinOp::LShr
            };
            let either = e.binary(BinOp::Or, a[0], a[1]);
            let differ = e.binary(BinOp::Xor, a[0], a[1]);
            let half = e.binary_imm(shift, differ, 1);
            e.binary(BinOp::ISub, either, half)
        }
        Builtin::SMadSat | Builtin::UMadSat => mad_sat(e, builtin == Builtin::SMadSat, a),
        Builtin::SUpsample | Builtin::UUpsample => {
            let bits = ty.scalar.bits();
            let wide = Scalar::int(bits * 2).expect("upsample of at most 32 bits");
            let high = e.convert(ConvertOp::ZExt, a[0], wide);
            let low = e.convert(ConvertOp::ZExt, a[1], wide);
            let high = e.binary_imm(BinOp::Shl, high, u64::from(bits));
            e.binary(BinOp::Or, high, low)
        }
        Builtin::SClamp => {
            let low = e.binary(BinOp::SMax, a[0], a[1]);
            e.binary(BinOp::SMin, low, a[2])
        }
        Builtin::UClamp => {
            let low = e.binary(BinOp::UMax, a[0], a[1]);
            e.binary(BinOp::UMin, low, a[2])
        }
        other => unreachable!("`{}` is expanded before", other.name()),
    }
}

/// `a * b + c`, clamped: in twice the width where there is one.
fn mad_sat(e: &mut Emitter<'_>, signed: bool, a: &[Value]) -> Value {
    let ty = e.ty(a[0]);
    let scalar = ty.scalar;
    if let Some(wide) = Scalar::int(scalar.bits() * 2) {
        let extend = if signed {
            ConvertOp::SExt
        } else {
            ConvertOp::ZExt
        };
        let w: SmallVec<[Value; 3]> = a.iter().map(|&v| e.convert(extend, v, wide)).collect();
        let product = e.binary(BinOp::IMul, w[0], w[1]);
        let sum = e.binary(BinOp::IAdd, product, w[2]);
        let saturate = if signed {
            ConvertOp::SatSToS
        } else {
            ConvertOp::SatUToU
        };
        return e.convert(saturate, sum, scalar);
    }
    let low = e.binary(BinOp::IMul, a[0], a[1]);
    let sum = e.binary(BinOp::IAdd, low, a[2]);
    let carry = e.icmp(IntCC::Ult, sum, low);
    if !signed {
        let high = e.binary(BinOp::UMulHi, a[0], a[1]);
        let product_over = e.icmp_imm(IntCC::Ne, high, 0);
        let over = e.binary(BinOp::Or, carry, product_over);
        let max = e.iconst(ty, u64::MAX);
        return e.select(over, max, sum);
    }
    let high = e.binary(BinOp::SMulHi, a[0], a[1]);
    let c_high = e.binary_imm(BinOp::AShr, a[2], 63);
    let high = e.binary(BinOp::IAdd, high, c_high);
    let carry = e.convert(ConvertOp::ZExt, carry, scalar);
    let high = e.binary(BinOp::IAdd, high, carry);
    let sign = e.binary_imm(BinOp::AShr, sum, 63);
    let fits = e.icmp(IntCC::Eq, high, sign);
    let negative = e.icmp_imm(IntCC::Slt, high, 0);
    let (min, max) = (e.iconst(ty, 1 << 63), e.iconst(ty, u64::MAX >> 1));
    let limit = e.select(negative, min, max);
    e.select(fits, sum, limit)
}
