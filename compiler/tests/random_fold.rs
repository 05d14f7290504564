//! Folding keeps the meaning of short expressions over corner cases, where identities are most
//! easily wrong.
//!
//! Each function computes a few operations on two parameters of every type and on constants such as
//! 0, 1, -1 and the least integer, and returns every value on the way; it must return the same
//! before and after, for corner cases as arguments. NaNs are all alike.

use brolga_compiler::interp::{Interpreter, Memory, Options};
use brolga_compiler::ir::{
    Arith, BinOp, Builder, ConvertOp, FloatCC, Function, IntCC, Module, Op, Rounding, Scalar,
    Stage, Type, UnOp, Value, Wrap, eval, verify::verify,
};
use brolga_compiler::transform::{dce, fold, gvn};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TYPES: [Scalar; 5] = [
    Scalar::I1,
    Scalar::I8,
    Scalar::I16,
    Scalar::I64,
    Scalar::F32,
];

fn corner(rng: &mut ChaCha8Rng, scalar: Scalar) -> u64 {
    if scalar.is_float() {
        let floats = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            2.0,
            0.5,
            -3.25,
            1e-40,
            -1e38,
            f64::INFINITY,
            f64::NAN,
            f64::from(rng.random::<f32>()),
        ];
        return eval::from_f64(scalar, floats[rng.random_range(0..floats.len())]);
    }
    let mask = scalar.mask();
    let integers = [
        0,
        1,
        2,
        3,
        4,
        8,
        u64::from(scalar.bits()) - 1,
        u64::from(scalar.bits()),
        mask,
        mask - 1,
        mask >> 1,
        (mask >> 1) + 1,
        rng.random(),
    ];
    integers[rng.random_range(0..integers.len())] & mask
}

/// A random short function.
fn function(rng: &mut ChaCha8Rng) -> Function {
    let types: Vec<Type> = TYPES
        .iter()
        .flat_map(|&scalar| [Type::new(scalar, 1); 2])
        .collect();
    let mut func = Function::new("f", &types, &[]);
    let mut values = func.params().to_vec();
    let entry = func.entry();
    let mut b = Builder::new(&mut func, entry);
    for _ in 0..rng.random_range(1..7) {
        let value = step(&mut b, rng, &values);
        values.push(value);
    }
    b.ret(&values);
    func.results = values.iter().map(|&v| func.ty(v)).collect();
    func
}

fn step(b: &mut Builder, rng: &mut ChaCha8Rng, values: &[Value]) -> Value {
    let scalar = TYPES[rng.random_range(0..TYPES.len())];
    let mut operand = |b: &mut Builder, scalar: Scalar| {
        if rng.random_bool(0.4) {
            let bits = corner(rng, scalar);
            return b.iconst(Type::new(scalar, 1), bits);
        }
        let of_type = values.iter().copied().filter(|&v| b.ty(v).scalar == scalar);
        let of_type: Vec<Value> = of_type.collect();
        // New values are rarer than parameters, and meant to meet rules for chains.
        let newest = rng.random_bool(0.7);
        let from = if newest { of_type.len() - 1 } else { 0 };
        of_type[rng.random_range(from..of_type.len())]
    };
    let (x, y, z) = (operand(b, scalar), operand(b, scalar), operand(b, scalar));
    let cond = operand(b, Scalar::I1);
    let ty = Type::new(scalar, 1);
    let pick = |rng: &mut ChaCha8Rng, n: usize| rng.random_range(0..n);
    match pick(rng, 6) {
        0 => b.select(cond, x, y),
        1 if scalar.is_float() => {
            let cc = FloatCC::ALL[pick(rng, FloatCC::ALL.len())];
            b.fcmp(cc, x, y)
        }
        1 => {
            let cc = IntCC::ALL[pick(rng, IntCC::ALL.len())];
            b.icmp(cc, x, y)
        }
        2 => convert(b, rng, x, scalar),
        3 if scalar.is_float() => {
            let ops = &UnOp::ALL[UnOp::FNeg as usize..];
            b.unary(ops[pick(rng, ops.len())], x)
        }
        3 if scalar == Scalar::I1 => b.unary(UnOp::Not, x),
        3 => {
            let ops = &UnOp::ALL[..UnOp::FNeg as usize];
            b.unary(ops[pick(rng, ops.len())], x)
        }
        4 if scalar.is_float() && rng.random_bool(0.5) => {
            let op = Arith::ALL[pick(rng, Arith::ALL.len())];
            // The first one is to nearest, which the plain operations do.
            let rounding = Rounding::ALL[1 + pick(rng, 3)];
            b.val(Op::Rounded(op, rounding), &[x, y, z][..op.operands()], ty)
        }
        4 if scalar.is_float() => b.val(Op::Fma, &[x, y, z], ty),
        _ => {
            let ops: Vec<BinOp> = BinOp::ALL
                .iter()
                .copied()
                .filter(|op| op.is_float() == scalar.is_float())
                // The sign of a NaN is nobody's.
                .filter(|&op| op != BinOp::CopySign)
                .filter(|op| {
                    scalar != Scalar::I1 || matches!(op, BinOp::And | BinOp::Or | BinOp::Xor)
                })
                .collect();
            let op = ops[pick(rng, ops.len())];
            b.val(Op::Binary(op, Wrap::default()), &[x, y], ty)
        }
    }
}

fn convert(b: &mut Builder, rng: &mut ChaCha8Rng, x: Value, from: Scalar) -> Value {
    let to = TYPES[rng.random_range(0..TYPES.len())];
    let rounding = Rounding::ALL[rng.random_range(0..Rounding::ALL.len())];
    let op = match (from, to) {
        (Scalar::F32, Scalar::I1) | (Scalar::I1, Scalar::F32 | Scalar::I1) => return x,
        (Scalar::F32, Scalar::F32) => return x,
        (Scalar::F32, _) => [ConvertOp::FToS, ConvertOp::FToU][rng.random_range(0..2)],
        (_, Scalar::F32) => [ConvertOp::SToF, ConvertOp::UToF][rng.random_range(0..2)],
        (_, Scalar::I1) => ConvertOp::Trunc,
        _ if from.bits() < to.bits() => [ConvertOp::ZExt, ConvertOp::SExt][rng.random_range(0..2)],
        _ if from.bits() > to.bits() => {
            [ConvertOp::Trunc, ConvertOp::SatSToS, ConvertOp::SatUToS][rng.random_range(0..3)]
        }
        _ => return x,
    };
    b.val(Op::Convert(op, rounding), &[x], Type::new(to, 1))
}

/// What a function returns, with one bit pattern for all NaNs.
fn results(func: &Function, args: &[eval::Lanes]) -> Vec<u64> {
    let module = Module::default();
    let mut interp = Interpreter::new(&module, Memory::new(), Options::default());
    let results = interp.call(func, args).unwrap();
    let canonical = |(lanes, ty): (&eval::Lanes, &Type)| {
        if ty.scalar.is_float() && eval::to_f64(ty.scalar, lanes[0]).is_nan() {
            u64::MAX
        } else {
            lanes[0]
        }
    };
    results.iter().zip(&func.results).map(canonical).collect()
}

/// `(x op1 c1) op2 c2` for every two operations and the constants given.
fn two_operations(ty: Type, constants: &[u64]) {
    let ops = || BinOp::ALL.iter().copied().filter(|op| !op.is_float());
    for (first, second) in ops().flat_map(|a| ops().map(move |b| (a, b))) {
        let mut before = Function::new("f", &[ty], &[]);
        let (x, entry) = (before.params()[0], before.entry());
        let mut b = Builder::new(&mut before, entry);
        let mut values = Vec::new();
        let mut pairs = Vec::new();
        for &c in constants {
            for &d in constants {
                let (c_value, d_value) = (b.iconst(ty, c), b.iconst(ty, d));
                let inner = b.binary(first, x, c_value);
                values.push(b.binary(second, inner, d_value));
                pairs.push((c, d));
            }
        }
        b.ret(&values);
        before.results = vec![ty; values.len()];
        let mut after = before.clone();
        fold::run(&mut after);
        fold::run(&mut after);
        verify(&after, Stage::Scalarized, None).unwrap();
        let mask = ty.scalar.mask();
        let some = 0x1234_5678_9abc_def0_u64;
        for x in [0, 1, 2, 0x35, mask >> 1, (mask >> 1) + 1, some, !some, mask] {
            let args = [eval::Lanes::from_elem(x & mask, 1)];
            let (expected, got) = (results(&before, &args), results(&after, &args));
            let wrong = expected.iter().zip(&got).position(|(e, g)| e != g);
            let pair = wrong.map(|n| pairs[n]);
            assert_eq!(
                pair, None,
                "(c, d) in ({x:#x} {first:?} c) {second:?} d, {ty}"
            );
        }
    }
}

#[test]
fn two_operations_on_bytes_keep_the_meaning() {
    two_operations(Type::I8, &[0, 1, 3, 6, 0x80, 0xff]);
}

#[test]
fn two_operations_on_wide_integers_keep_the_meaning() {
    let constants = [
        1,
        16,
        30,
        32,
        34,
        48,
        63,
        0xffff_ffff,
        1 << 32,
        0xffff_0000_0000_0000,
    ];
    two_operations(Type::I64, &constants);
    two_operations(
        Type::I32,
        &[1, 8, 14, 16, 18, 24, 31, 0xffff, 0xff00_0000, 0xffff_ffff],
    );
}

#[test]
fn folding_keeps_the_meaning() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let count = std::env::var("BROLGA_COUNT").map_or(20_000, |n| n.parse().unwrap());
    for _ in 0..count {
        let before = function(&mut rng);
        verify(&before, Stage::Scalarized, None).unwrap();
        let mut after = before.clone();
        for _ in 0..3 {
            fold::run(&mut after);
            gvn::run(&mut after);
            dce::run(&mut after);
        }
        verify(&after, Stage::Scalarized, None).unwrap();
        for _ in 0..12 {
            let args: Vec<eval::Lanes> = before
                .params()
                .iter()
                .map(|&p| eval::Lanes::from_elem(corner(&mut rng, before.ty(p).scalar), 1))
                .collect();
            let (expected, got) = (results(&before, &args), results(&after, &args));
            assert_eq!(expected, got, "\n{before}\n{after}\n{args:x?}");
        }
    }
}
