//! Built-ins that are not lane-wise, written out, before values lose their lanes.
//!
//! The geometric functions ("Geometric Functions" of the OpenCL C specification) and the shuffles
//! become plain operations on lanes; `mad` becomes a fused multiply-add. Halves are computed in
//! `float`, but for `mad`.
//!
//! `length`, `distance` and `normalize` must not overflow or underflow on the way. Each component
//! is first multiplied by the power of two that brings the largest one near 1: exact, and what it
//! pushes below the smallest number is too small to matter. `normalize` of zero is zero, and of a
//! vector with infinite components the direction of those. The `fast_` forms do none of this.

use smallvec::SmallVec;

use super::{
    BinOp, Builder, Builtin, ConvertOp, FloatCC, Function, Inst, IntCC, Op, Scalar, Type, UnOp,
    Value,
};

/// The components of a vector.
type Lanes = SmallVec<[Value; 16]>;

/// Expands what is to be expanded. Returns whether there was anything.
pub fn run(func: &mut Function) -> bool {
    let mut changed = false;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let insts = &func.blocks[block].insts;
        if !insts.iter().any(|&inst| expands(func, inst)) {
            continue;
        }
        changed = true;
        let insts = std::mem::take(&mut func.blocks[block].insts);
        for inst in insts {
            if !expands(func, inst) {
                func.blocks[block].insts.push(inst);
                continue;
            }
            let data = func.insts[inst].clone();
            let Op::Builtin(builtin) = data.op else {
                continue;
            };
            let mut b = Builder::new(func, block);
            b.loc = data.loc;
            let ty = b.ty(data.results[0]);
            let lanes = expand(&mut b, builtin, &data.args, ty);
            // The instruction itself becomes the last step, so that its result keeps its uses.
            func.insts[inst].op = Op::Build;
            func.insts[inst].args = SmallVec::from_slice(&lanes);
            func.blocks[block].insts.push(inst);
        }
    }
    changed
}

fn expands(func: &Function, inst: Inst) -> bool {
    match func.insts[inst].op {
        Op::Builtin(Builtin::Mad) => true,
        Op::Builtin(builtin) => !builtin.is_lane_wise(),
        _ => false,
    }
}

/// The lanes of a built-in's result.
fn expand(b: &mut Builder, builtin: Builtin, args: &[Value], ty: Type) -> Lanes {
    match builtin {
        Builtin::ShuffleDyn => return shuffle(b, &args[..1], args[1], ty),
        Builtin::Shuffle2Dyn => return shuffle(b, &args[..2], args[2], ty),
        _ => {}
    }
    if builtin == Builtin::Mad && ty.scalar == Scalar::F16 {
        return half_multiply_add(b, args, ty);
    }
    let x = components(b, args[0]);
    let y = args.get(1).map(|&y| components(b, y)).unwrap_or_default();
    let result: Lanes = match builtin {
        Builtin::Mad => {
            let z = components(b, args[2]);
            (0..x.len())
                .map(|i| multiply_add(b, x[i], y[i], z[i]))
                .collect()
        }
        Builtin::Cross => cross(b, &x, &y),
        Builtin::Dot => SmallVec::from_slice(&[dot(b, &x, &y)]),
        Builtin::Length => SmallVec::from_slice(&[length(b, &x)]),
        Builtin::Distance => {
            let difference = each(b, BinOp::FSub, &x, &y);
            SmallVec::from_slice(&[length(b, &difference)])
        }
        Builtin::Normalize => normalize(b, &x),
        Builtin::FastLength => SmallVec::from_slice(&[fast_length(b, &x)]),
        Builtin::FastDistance => {
            let difference = each(b, BinOp::FSub, &x, &y);
            SmallVec::from_slice(&[fast_length(b, &difference)])
        }
        Builtin::FastNormalize => fast_normalize(b, &x),
        other => unreachable!("{} is lane-wise", other.name()),
    };
    if ty.scalar == Scalar::F16 {
        let narrow = |b: &mut Builder, v| b.convert(ConvertOp::FToF, v, Type::F16);
        result.into_iter().map(|v| narrow(b, v)).collect()
    } else {
        result
    }
}

/// The lanes of a value, halves widened to `float`.
fn components(b: &mut Builder, value: Value) -> Lanes {
    let ty = b.ty(value);
    let lane = |b: &mut Builder, i| {
        let lane = if ty.is_scalar() {
            value
        } else {
            b.extract(value, i)
        };
        if ty.scalar == Scalar::F16 {
            b.convert(ConvertOp::FToF, lane, Type::F32)
        } else {
            lane
        }
    };
    (0..ty.lanes).map(|i| lane(b, i)).collect()
}

fn each(b: &mut Builder, op: BinOp, x: &[Value], y: &[Value]) -> Lanes {
    x.iter().zip(y).map(|(&x, &y)| b.binary(op, x, y)).collect()
}

/// `mad` of halves, rounded once: a fused sum in `float` would be rounded again to `half`, which
/// "ULP Values for Math Instructions - Full Profile" does not allow.
fn half_multiply_add(b: &mut Builder, args: &[Value], ty: Type) -> Lanes {
    let lane = |b: &mut Builder, n: usize, i: u8| {
        if ty.is_scalar() {
            args[n]
        } else {
            b.extract(args[n], i)
        }
    };
    (0..ty.lanes)
        .map(|i| {
            let (x, y, z) = (lane(b, 0, i), lane(b, 1, i), lane(b, 2, i));
            b.fma(x, y, z)
        })
        .collect()
}

fn multiply_add(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.fma(x, y, z)
}

fn dot(b: &mut Builder, x: &[Value], y: &[Value]) -> Value {
    let mut sum = b.binary(BinOp::FMul, x[0], y[0]);
    for (&x, &y) in x.iter().zip(y).skip(1) {
        sum = b.fma(x, y, sum);
    }
    sum
}

/// Three components; a fourth is 0.
fn cross(b: &mut Builder, x: &[Value], y: &[Value]) -> Lanes {
    let mut result = Lanes::new();
    for (i, j) in [(1, 2), (2, 0), (0, 1)] {
        let first = b.binary(BinOp::FMul, x[i], y[j]);
        let second = b.binary(BinOp::FMul, x[j], y[i]);
        result.push(b.binary(BinOp::FSub, first, second));
    }
    if x.len() == 4 {
        let ty = b.ty(x[0]);
        result.push(b.fconst(ty, 0.0));
    }
    result
}

/// The largest magnitude; a NaN only if all are.
fn largest(b: &mut Builder, x: &[Value]) -> Value {
    let mut largest = b.unary(UnOp::FAbs, x[0]);
    for &x in &x[1..] {
        let magnitude = b.unary(UnOp::FAbs, x);
        largest = b.binary(BinOp::FMax, magnitude, largest);
    }
    largest
}

/// `2^-e` and `2^e` for `e` the exponent of a magnitude, kept where both are normal numbers.
fn scales(b: &mut Builder, magnitude: Value) -> (Value, Value) {
    let ty = b.ty(magnitude);
    let int = ty.with_scalar(ty.scalar.as_int());
    let (stored, bias) = match ty.scalar {
        Scalar::F64 => (52, 1023u64),
        _ => (23, 127),
    };
    let bits = b.bitcast(magnitude, int);
    let field = b.iconst(int, (2 * bias + 1) << stored);
    let exponent = b.binary(BinOp::And, bits, field);
    let least = b.iconst(int, 1 << stored);
    let exponent = b.binary(BinOp::UMax, exponent, least);
    let greatest = b.iconst(int, (2 * bias - 1) << stored);
    let exponent = b.binary(BinOp::UMin, exponent, greatest);
    let twice = b.iconst(int, (2 * bias) << stored);
    let inverse = b.binary(BinOp::ISub, twice, exponent);
    (b.bitcast(inverse, ty), b.bitcast(exponent, ty))
}

fn length(b: &mut Builder, x: &[Value]) -> Value {
    if let [only] = x {
        return b.unary(UnOp::FAbs, *only);
    }
    let magnitude = largest(b, x);
    let (down, up) = scales(b, magnitude);
    let scaled: Lanes = x.iter().map(|&x| b.binary(BinOp::FMul, x, down)).collect();
    let sum = dot(b, &scaled, &scaled);
    let root = b.unary(UnOp::Sqrt, sum);
    b.binary(BinOp::FMul, root, up)
}

fn normalize(b: &mut Builder, x: &[Value]) -> Lanes {
    let ty = b.ty(x[0]);
    let magnitude = largest(b, x);
    let (down, _) = scales(b, magnitude);
    let infinity = b.fconst(ty, f64::INFINITY);
    let (zero, one) = (b.fconst(ty, 0.0), b.fconst(ty, 1.0));
    let infinite = b.fcmp(FloatCC::Oeq, magnitude, infinity);
    let mut scaled = Lanes::new();
    for &x in x {
        let finite = b.binary(BinOp::FMul, x, down);
        let magnitude = b.unary(UnOp::FAbs, x);
        let is_infinite = b.fcmp(FloatCC::Oeq, magnitude, infinity);
        let direction = b.binary(BinOp::CopySign, one, x);
        // A zero with the sign of a finite component; NaN stays NaN.
        let vanished = b.binary(BinOp::FMul, x, zero);
        let beside = b.select(is_infinite, direction, vanished);
        scaled.push(b.select(infinite, beside, finite));
    }
    let sum = dot(b, &scaled, &scaled);
    let root = b.unary(UnOp::Sqrt, sum);
    let inverse = b.binary(BinOp::FDiv, one, root);
    let is_zero = b.fcmp(FloatCC::Oeq, sum, zero);
    let unit = |b: &mut Builder, (&scaled, &x): (&Value, &Value)| {
        let unit = b.binary(BinOp::FMul, scaled, inverse);
        b.select(is_zero, x, unit)
    };
    scaled.iter().zip(x).map(|pair| unit(b, pair)).collect()
}

fn fast_length(b: &mut Builder, x: &[Value]) -> Value {
    if let [only] = x {
        return b.unary(UnOp::FAbs, *only);
    }
    let sum = dot(b, x, x);
    b.unary(UnOp::Sqrt, sum)
}

fn fast_normalize(b: &mut Builder, x: &[Value]) -> Lanes {
    let ty = b.ty(x[0]);
    let sum = dot(b, x, x);
    let root = b.unary(UnOp::Sqrt, sum);
    let one = b.fconst(ty, 1.0);
    let inverse = b.binary(BinOp::FDiv, one, root);
    let least = b.fconst(
        ty,
        if ty.scalar == Scalar::F64 {
            f64::MIN_POSITIVE
        } else {
            f64::from(f32::MIN_POSITIVE)
        },
    );
    // "If the sum of squares is less than FLT_MIN, the implementation may return back p."
    let is_small = b.fcmp(FloatCC::Olt, sum, least);
    let unit = |b: &mut Builder, x| {
        let unit = b.binary(BinOp::FMul, x, inverse);
        b.select(is_small, x, unit)
    };
    x.iter().map(|&x| unit(b, x)).collect()
}

/// Lanes of one or two vectors by the low bits of each index.
fn shuffle(b: &mut Builder, vectors: &[Value], indices: Value, ty: Type) -> Lanes {
    let count = b.ty(indices).lanes;
    let mut result = Lanes::new();
    for i in 0..count {
        let index = if count == 1 {
            indices
        } else {
            b.extract(indices, i)
        };
        let index_ty = b.ty(index);
        let low = b.val(Op::ExtractDyn, &[vectors[0], index], ty.lane());
        result.push(match vectors.get(1) {
            None => low,
            Some(&second) => {
                let high = b.val(Op::ExtractDyn, &[second, index], ty.lane());
                let lanes = u64::from(b.ty(second).lanes).next_power_of_two();
                let bit = b.iconst(index_ty, lanes);
                let masked = b.binary(BinOp::And, index, bit);
                let zero = b.iconst(index_ty, 0);
                let in_second = b.icmp(IntCC::Ne, masked, zero);
                b.select(in_second, high, low)
            }
        });
    }
    result
}
