//! `OpenCL.std` built-ins on lanes of bits: floating-point ones by `brolga-mathlib`, integer ones
//! exactly.
//!
//! Halves are computed in `f32` and rounded, which is exact or innocuous for all but the two
//! functions that know the spacing of halves: `nextafter` and `fract`.

use std::collections::HashMap;
use std::num::Wrapping;

use brolga_mathlib::{Format, Func, Target, Value as Number, eval_values};
use half::f16;
use smallvec::SmallVec;

use crate::ir::eval::{self, Lanes, signed};
use crate::ir::expansion;
use crate::ir::{
    BinOp, Builder, Builtin, ConvertOp, Function, HostFunction, Op, Rounding, Scalar, Type, Value,
};

/// What a built-in has computed, a value for each result.
pub type Results = SmallVec<[Lanes; 2]>;

/// The results of a built-in, given its operands and the types of its results; `None` when they are
/// not types that it takes.
pub fn eval(builtin: Builtin, args: &[(Type, &[u64])], results: &[Type]) -> Option<Results> {
    let result = *results.first()?;
    if !builtin.is_lane_wise() {
        let lanes = across(builtin, args, result)?;
        return Some(SmallVec::from_elem(lanes, 1));
    }
    let count = usize::from(result.lanes);
    let fits = args.iter().all(|(_, lanes)| lanes.len() == count);
    if !fits || results.len() != builtin.results() {
        return None;
    }
    let mut values: Results = results.iter().map(|_| Lanes::new()).collect();
    for l in 0..count {
        let lane: SmallVec<[(Scalar, u64); 4]> = args
            .iter()
            .map(|&(ty, lanes)| (ty.scalar, lanes[l]))
            .collect();
        if let Some(bits) = integer(builtin, &lane, result.scalar) {
            values[0].push(bits);
            continue;
        }
        let bits = float(builtin, &lane, results)?;
        for (value, bits) in values.iter_mut().zip(bits) {
            value.push(bits);
        }
    }
    Some(values)
}

/// One lane of an integer built-in; `None` when it is not one.
fn integer(builtin: Builtin, args: &[(Scalar, u64)], result: Scalar) -> Option<u64> {
    let scalar = args.first()?.0;
    if !args.iter().all(|&(s, _)| s.is_int()) || !result.is_int() {
        return None;
    }
    let bits = |n: usize| args.get(n).map(|&(_, bits)| bits);
    let unsigned = |n: usize| bits(n).map(i128::from);
    let signed = |n: usize| bits(n).map(|bits| i128::from(signed(scalar, bits)));
    let top = i128::from(scalar.mask() >> 1);
    let value = match builtin {
        Builtin::SAbsDiff => (signed(0)? - signed(1)?).abs(),
        Builtin::UAbsDiff => (unsigned(0)? - unsigned(1)?).abs(),
        Builtin::SHadd => (signed(0)? + signed(1)?) >> 1,
        Builtin::UHadd => (unsigned(0)? + unsigned(1)?) >> 1,
        Builtin::SRhadd => (signed(0)? + signed(1)? + 1) >> 1,
        Builtin::URhadd => (unsigned(0)? + unsigned(1)? + 1) >> 1,
        Builtin::SMadSat => (signed(0)? * signed(1)? + signed(2)?).clamp(-top - 1, top),
        Builtin::UMadSat => {
            // The product of two 64-bit values and a third fit 128 unsigned bits, not signed ones.
            let sum = u128::from(bits(0)?) * u128::from(bits(1)?) + u128::from(bits(2)?);
            sum.min(u128::from(scalar.mask())) as i128
        }
        Builtin::UUpsample | Builtin::SUpsample => (unsigned(0)? << scalar.bits()) | unsigned(1)?,
        Builtin::SClamp => signed(0)?.max(signed(1)?).min(signed(2)?),
        Builtin::UClamp => unsigned(0)?.max(unsigned(1)?).min(unsigned(2)?),
        _ => return None,
    };
    Some(value as u64 & result.mask())
}

/// One lane of a floating-point built-in, one value for each result.
fn float(builtin: Builtin, args: &[(Scalar, u64)], results: &[Type]) -> Option<SmallVec<[u64; 2]>> {
    let func = Func::from_name(builtin.name())?;
    if args.len() != func.signature().arity() {
        return None;
    }
    let kinds = args.iter().map(|&(scalar, _)| scalar);
    let scalar = kinds
        .chain(results.iter().map(|ty| ty.scalar))
        .find(|scalar| scalar.is_float())?;
    let (resize, rte) = (ConvertOp::FToF, Rounding::NearestEven);
    match (builtin, scalar) {
        (Builtin::NextAfter, Scalar::F16) => {
            return Some(SmallVec::from_elem(next_after(args[0].1, args[1].1), 1));
        }
        // Rounded once, as `ir::expansion` writes it.
        (Builtin::Mad, Scalar::F16) => {
            let operands: SmallVec<[(Type, &[u64]); 3]> = args
                .iter()
                .map(|(_, bits)| (Type::F16, std::slice::from_ref(bits)))
                .collect();
            let sum = eval::pure(&Op::Fma, &operands, Type::F16)?;
            return Some(SmallVec::from_slice(&sum));
        }
        // What is below 1 in single precision may round to 1: the largest half below it instead.
        (Builtin::Fract, Scalar::F16) => {
            let single = [(
                Scalar::F32,
                eval::convert(resize, rte, scalar, Scalar::F32, args[0].1),
            )];
            let results = float(builtin, &single, &[Type::F32, Type::F32])?;
            let narrow = |bits| eval::convert(resize, rte, Scalar::F32, scalar, bits);
            let (fraction, floor) = (narrow(results[0]), narrow(results[1]));
            let fraction = if fraction == 0x3c00 { 0x3bff } else { fraction };
            return Some(SmallVec::from_slice(&[fraction, floor]));
        }
        _ => {}
    }
    let one = |n: usize| results.get(n).map(|ty| ty.scalar);
    let pair = if scalar == Scalar::F64 {
        let args: SmallVec<[Number<f64>; 3]> = args
            .iter()
            .map(|&(scalar, bits)| match scalar {
                Scalar::F64 => Number::Float(f64::from_bits(bits)),
                _ => Number::Int(Wrapping(signed(scalar, bits) as u64)),
            })
            .collect();
        let (a, b) = eval_values(func, 0.0, &args);
        let bits = |value: Number<f64>, to: Scalar| match value {
            Number::Float(x) => x.to_bits(),
            Number::Int(i) => i.0 & to.mask(),
        };
        [
            Some(bits(a, one(0)?)),
            b.zip(one(1)).map(|(b, to)| bits(b, to)),
        ]
    } else {
        let args: SmallVec<[Number<f32>; 3]> = args
            .iter()
            .map(|&(scalar, bits)| match scalar {
                Scalar::F32 => Number::Float(f32::from_bits(bits as u32)),
                Scalar::F16 => Number::Float(f16::from_bits(bits as u16).to_f32()),
                _ => Number::Int(Wrapping(signed(scalar, bits) as u32)),
            })
            .collect();
        let (a, b) = eval_values(func, 0.0, &args);
        let bits = |value: Number<f32>, to: Scalar| match value {
            Number::Float(x) if to == Scalar::F16 => u64::from(f16::from_f32(x).to_bits()),
            Number::Float(x) => u64::from(x.to_bits()),
            Number::Int(i) => i64::from(i.0 as i32) as u64 & to.mask(),
        };
        [
            Some(bits(a, one(0)?)),
            b.zip(one(1)).map(|(b, to)| bits(b, to)),
        ]
    };
    Some(pair.into_iter().flatten().collect())
}

/// `nextafter` of halves: one step in the order of their bits.
fn next_after(x: u64, y: u64) -> u64 {
    let (a, b) = (f16::from_bits(x as u16), f16::from_bits(y as u16));
    if a.is_nan() || b.is_nan() {
        return 0x7e00;
    }
    if a == b {
        return y;
    }
    if x & 0x7fff == 0 {
        return (y & 0x8000) | 1;
    }
    if (a < b) == (x & 0x8000 == 0) {
        x + 1
    } else {
        x - 1
    }
}

/// A built-in that is not lane-wise: the operations that [`crate::ir::expansion`] writes it out as,
/// one after another. They are its definition, so that a program means the same written out or not.
fn across(builtin: Builtin, args: &[(Type, &[u64])], result: Type) -> Option<Lanes> {
    let types: SmallVec<[Type; 4]> = args.iter().map(|&(ty, _)| ty).collect();
    let mut func = Function::new("", &types, &[]);
    let params = func.params().to_vec();
    let entry = func.entry();
    let mut b = Builder::new(&mut func, entry);
    let value = b.val(Op::Builtin(builtin), &params, result);
    expansion::run(&mut func);
    let mut known: HashMap<Value, Lanes> = params
        .iter()
        .zip(args)
        .map(|(&param, &(_, lanes))| (param, Lanes::from_slice(lanes)))
        .collect();
    for &inst in &func.blocks[entry].insts {
        let data = &func.insts[inst];
        let operands: Option<Vec<(Type, &[u64])>> = data
            .args
            .iter()
            .map(|arg| Some((func.ty(*arg), known.get(arg)?.as_slice())))
            .collect();
        let lanes = eval::pure(&data.op, &operands?, func.ty(data.results[0]))?;
        known.insert(data.results[0], lanes);
    }
    known.remove(&value)
}

/// A scalar routine of `brolga-mathlib` on bits.
pub(super) fn routine(target: Target, args: &[u64]) -> u64 {
    let single = |n: usize| f32::from_bits(args[n] as u32);
    let double = |n: usize| f64::from_bits(args[n]);
    match target {
        Target::F32ToF32(f) => f(single(0)).to_bits().into(),
        Target::F32F32ToF32(f) => f(single(0), single(1)).to_bits().into(),
        Target::F32F32F32ToF32(f) => f(single(0), single(1), single(2)).to_bits().into(),
        Target::F32F32ToI32(f) => u64::from(f(single(0), single(1)) as u32),
        Target::F64ToF64(f) => f(double(0)).to_bits(),
        Target::F64F64ToF64(f) => f(double(0), double(1)).to_bits(),
        Target::F64F64F64ToF64(f) => f(double(0), double(1), double(2)).to_bits(),
        Target::F64F64ToI64(f) => f(double(0), double(1)) as u64,
    }
}

/// A pure function of the process on bits; `None` of others.
pub(super) fn host_function(function: HostFunction, args: &[u64]) -> Option<u64> {
    let half = |op| eval::binary(op, Scalar::F16, args[0], args[1]);
    let binary = |op, format: Format| {
        let scalar = format.pick(Scalar::F32, Scalar::F64);
        eval::binary(op, scalar, args[0], args[1])
    };
    Some(match function {
        HostFunction::Routine(which, format) => routine(which.target(format), args),
        HostFunction::FRem(format) => binary(BinOp::FRem, format),
        HostFunction::FScale(format) => binary(BinOp::FScale, format),
        HostFunction::Rounded => {
            let (op, rounding) = HostFunction::decode_rounded(args[0]);
            eval::rounded(op, rounding, Scalar::F64, &args[1..=op.operands()])
        }
        HostFunction::AddHalves => half(BinOp::FAdd),
        HostFunction::MinHalves => half(BinOp::FMin),
        HostFunction::MaxHalves => half(BinOp::FMax),
        HostFunction::Clock
        | HostFunction::MemMove
        | HostFunction::ReadTexel
        | HostFunction::WriteTexel => return None,
    })
}
