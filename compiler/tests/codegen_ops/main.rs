//! Every pure operation, at every type and lane count, generated code against the evaluator.
//!
//! A function loads W lanes of each operand from memory, applies one operation, and stores the
//! result; operands are edge cases and random bits. Results must agree bit for bit, but for what a
//! NaN holds. What legalising makes of each operation, for any target, must agree as well
//! (`legalized.rs`).

mod legalized;

use brolga_compiler::ir::{
    Arith, BinOp, Builder, ConvertOp, FloatCC, Function, IntCC, Mem, Op, Rounding, Scalar, Type,
    UnOp, Value, Wrap, eval,
};
use brolga_compiler::jit::Code;
use brolga_compiler::{AddressSpace, KernelFn, Launch, Target};
use brolga_compiler_testing::machine;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WIDTHS: [u8; 6] = [1, 2, 4, 8, 16, 32];
/// How many times W lanes each operation is tried on.
const ROUNDS: usize = 12;
/// Bytes from one operand's lanes to the next's.
const OPERAND: usize = 256;

fn edge_cases(scalar: Scalar) -> Vec<u64> {
    match scalar {
        Scalar::I1 => vec![0, 1],
        Scalar::F16 => vec![
            0, 0x8000, 0x3c00, 0xbc00, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
            0x7e00, 0x3801, 0x5801,
        ],
        Scalar::F32 => [
            0.0f32,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            -2.5,
            2.5,
            3.5,
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            1e-45,
            65504.0,
            65520.0,
            65519.99,
            6e-8,
            2.9e-8,
            127.5,
            128.0,
            255.5,
            2147483648.0,
            -2147483648.0,
            4294967296.0,
            9.3e18,
            1.9e19,
        ]
        .map(|x| u64::from(x.to_bits()))
        .to_vec(),
        Scalar::F64 => [
            0.0f64,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            -2.5,
            2.5,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            5e-324,
            1e300,
            65504.0,
            65519.999999999,
            65520.0,
            3.4028235677973366e38,
            2147483647.5,
            -2147483648.5,
            4294967295.5,
            9.3e18,
            1.9e19,
            1e-40,
        ]
        .map(f64::to_bits)
        .to_vec(),
        _ => {
            let mask = scalar.mask();
            let top = [mask, mask - 1, mask >> 1, (mask >> 1) + 1, (mask >> 1) - 1];
            let small = [0, 1, 2, 3, 7, 8, 16, 31, 32, 33, 63, 64, 100];
            top.into_iter().chain(small).map(|x| x & mask).collect()
        }
    }
}

fn draw(rng: &mut ChaCha8Rng, scalar: Scalar) -> u64 {
    let edges = edge_cases(scalar);
    match rng.random_range(0..4) {
        0 | 1 => edges[rng.random_range(0..edges.len())],
        2 => rng.random::<u64>() & scalar.mask(),
        _ if scalar.is_float() => eval::from_f64(scalar, rng.random_range(-300.0..300.0)),
        _ => rng.random_range(0..20u64) & scalar.mask(),
    }
}

fn is_nan(scalar: Scalar, bits: u64) -> bool {
    scalar.is_float() && eval::to_f64(scalar, bits).is_nan()
}

/// A function that loads the operands from its first argument and stores the result to its second.
///
/// With `same`, the last operand is its first lane in every lane.
fn compile(
    target: &Target,
    op: &Op,
    args: &[Scalar],
    result: Scalar,
    width: u8,
    same: bool,
) -> Code {
    compile_expression(target, args, result, width, same, |b, values| {
        b.val(op.clone(), values, Type::new(result, width))
    })
}

/// [`compile`] for what `expression` makes of the operands.
fn compile_expression(
    target: &Target,
    args: &[Scalar],
    result: Scalar,
    width: u8,
    same: bool,
    expression: impl FnOnce(&mut Builder<'_>, &[Value]) -> Value,
) -> Code {
    let mut func = Function::new("op", &[Type::PTR, Type::PTR, Type::I64, Type::I64], &[]);
    let entry = func.entry();
    let (input, output) = (func.params()[0], func.params()[1]);
    let mut b = Builder::new(&mut func, entry);
    let mem = |scalar: Scalar| {
        let stride = if width == 1 {
            0
        } else {
            i64::from(scalar.bytes())
        };
        Mem {
            stride,
            ..Mem::new(AddressSpace::Global, 1)
        }
    };
    let values: Vec<_> = args
        .iter()
        .enumerate()
        .map(|(i, &scalar)| {
            let offset = b.iconst(Type::I64, (OPERAND * i) as u64);
            let at = b.ptr_add(input, offset);
            if same && i + 1 == args.len() {
                let one = b.load(Mem::new(AddressSpace::Global, 1), at, Type::new(scalar, 1));
                return b.splat(one, width);
            }
            b.load(mem(scalar), at, Type::new(scalar, width))
        })
        .collect();
    let value = expression(&mut b, &values);
    b.store(mem(result), output, value);
    b.ret(&[]);
    machine::compile(func, target)
}

fn check(op: Op, args: &[Scalar], result: Scalar) -> Result<(), String> {
    check_with(op, args, result, false)
}

fn check_with(op: Op, args: &[Scalar], result: Scalar, same: bool) -> Result<(), String> {
    legalized::check(&op, args, result, same)?;
    for target in machine::targets() {
        check_for(&target, &op, args, result, same)
            .map_err(|why| format!("{why} (code for {target:?})"))?;
    }
    Ok(())
}

fn check_for(
    target: &Target,
    op: &Op,
    args: &[Scalar],
    result: Scalar,
    same: bool,
) -> Result<(), String> {
    run_lanes(target, op, args, result, same, compare)
}

/// Runs an operation on lanes of each operand, at every width, and has what comes out judged.
fn run_lanes(
    target: &Target,
    op: &Op,
    args: &[Scalar],
    result: Scalar,
    same: bool,
    judge: impl Fn(&Op, &[Scalar], Scalar, &[Vec<u64>], &[u64]) -> Result<(), String>,
) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for width in WIDTHS {
        let code = std::panic::catch_unwind(|| compile(target, op, args, result, width, same))
            .map_err(|_| format!("{op} {args:?} -> {result:?} x{width}: panicked"))?;
        // SAFETY: the function has this signature.
        let run: KernelFn = unsafe { std::mem::transmute(code.entry()) };
        for _ in 0..ROUNDS {
            let mut lanes: Vec<Vec<u64>> = args
                .iter()
                .map(|&s| (0..width).map(|_| draw(&mut rng, s)).collect())
                .collect();
            if same && let Some(last) = lanes.last_mut() {
                let first = last[0];
                last.fill(first);
            }
            let mut input = vec![0u8; OPERAND * args.len()];
            for (i, (values, scalar)) in lanes.iter().zip(args).enumerate() {
                let size = scalar.bytes() as usize;
                for (l, bits) in values.iter().enumerate() {
                    input[OPERAND * i + l * size..][..size]
                        .copy_from_slice(&bits.to_le_bytes()[..size]);
                }
            }
            let mut output = [0u8; OPERAND];
            // SAFETY: the function reads and writes within these arrays.
            unsafe { run(input.as_ptr().cast::<Launch>(), output.as_mut_ptr(), 0, 0) };
            let found: Vec<u64> = (0..usize::from(width))
                .map(|l| {
                    let mut bytes = [0u8; 8];
                    let size = result.bytes() as usize;
                    bytes[..size].copy_from_slice(&output[l * size..][..size]);
                    u64::from_le_bytes(bytes)
                })
                .collect();
            judge(op, args, result, &lanes, &found)?;
        }
    }
    Ok(())
}

/// Compares what was found of `op` on lanes of each operand with what the evaluator makes of them.
fn compare(
    op: &Op,
    args: &[Scalar],
    result: Scalar,
    lanes: &[Vec<u64>],
    found: &[u64],
) -> Result<(), String> {
    for (l, &found) in found.iter().enumerate() {
        let operands: Vec<(Type, &[u64])> = args
            .iter()
            .zip(lanes)
            .map(|(&s, v)| (Type::new(s, 1), &v[l..=l]))
            .collect();
        let expected =
            eval::pure(op, &operands, Type::new(result, 1)).expect("a pure operation")[0];
        if found != expected && !(is_nan(result, found) && is_nan(result, expected)) {
            let shown: Vec<String> = operands
                .iter()
                .map(|(_, v)| format!("{:#x}", v[0]))
                .collect();
            let width = lanes[0].len();
            return Err(format!(
                "{op} {args:?} -> {result:?} x{width}: of {shown:?} is {found:#x}, expected {expected:#x}"
            ));
        }
    }
    Ok(())
}

/// Checks estimates, as [`UnOp::RecipEstimate`] says what they are.
fn compare_estimates(
    op: &Op,
    _: &[Scalar],
    scalar: Scalar,
    lanes: &[Vec<u64>],
    found: &[u64],
) -> Result<(), String> {
    for (&bits, &found) in lanes[0].iter().zip(found) {
        let x = eval::to_f64(scalar, bits);
        let exact = match op {
            Op::Unary(UnOp::RecipEstimate) => 1.0 / x,
            _ => 1.0 / x.sqrt(),
        };
        let estimate = eval::to_f64(scalar, found);
        let rounded = eval::to_f64(scalar, eval::from_f64(scalar, exact));
        let right = match rounded {
            _ if rounded.is_nan() => estimate.is_nan(),
            _ if rounded == 0.0 || rounded.is_infinite() => estimate == rounded,
            _ => (estimate / exact - 1.0).abs() < 1.0 / 16384.0,
        };
        if !right {
            return Err(format!("{op} {scalar:?} of {x:e} is {estimate:e}"));
        }
    }
    Ok(())
}

fn report(failures: Vec<String>) {
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

const INTS: [Scalar; 4] = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
const FLOATS: [Scalar; 3] = [Scalar::F16, Scalar::F32, Scalar::F64];

#[test]
fn unary_operations() {
    let mut failures = Vec::new();
    for &op in UnOp::ALL {
        let int = matches!(
            op,
            UnOp::INeg | UnOp::Not | UnOp::PopCount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse
        );
        let scalars: &[Scalar] = if int { &INTS } else { &FLOATS };
        for &s in scalars {
            failures.extend(check(Op::Unary(op), &[s], s).err());
        }
    }
    failures.extend(check(Op::Unary(UnOp::Not), &[Scalar::I1], Scalar::I1).err());
    report(failures);
}

#[test]
fn estimates_are_near() {
    let mut failures = Vec::new();
    let here = Target::detect();
    for target in [here, here.without_estimates()] {
        for op in [UnOp::RecipEstimate, UnOp::RsqrtEstimate] {
            for s in [Scalar::F32, Scalar::F64] {
                let op = Op::Unary(op);
                failures.extend(run_lanes(&target, &op, &[s], s, false, compare_estimates).err());
            }
        }
    }
    report(failures);
}

#[test]
fn binary_operations() {
    let mut failures = Vec::new();
    for &op in BinOp::ALL {
        let float = matches!(
            op,
            BinOp::FAdd
                | BinOp::FSub
                | BinOp::FMul
                | BinOp::FDiv
                | BinOp::FRem
                | BinOp::FMin
                | BinOp::FMax
                | BinOp::CopySign
                | BinOp::FScale
        );
        let scalars: &[Scalar] = if float { &FLOATS } else { &INTS };
        let op_ = Op::Binary(op, Wrap::default());
        for &s in scalars {
            failures.extend(check(op_.clone(), &[s, s], s).err());
            failures.extend(check_with(op_.clone(), &[s, s], s, true).err());
        }
        if matches!(op, BinOp::And | BinOp::Or | BinOp::Xor) {
            failures.extend(check(op_, &[Scalar::I1; 2], Scalar::I1).err());
        }
    }
    report(failures);
}

#[test]
fn comparisons_selects_and_fma() {
    let mut failures = Vec::new();
    for &cc in IntCC::ALL {
        for s in INTS {
            failures.extend(check(Op::ICmp(cc), &[s, s], Scalar::I1).err());
        }
    }
    for cc in [IntCC::Eq, IntCC::Ne] {
        failures.extend(check(Op::ICmp(cc), &[Scalar::I1; 2], Scalar::I1).err());
        failures.extend(check(Op::ICmp(cc), &[Scalar::Ptr; 2], Scalar::I1).err());
    }
    for &cc in FloatCC::ALL {
        for s in FLOATS {
            failures.extend(check(Op::FCmp(cc), &[s, s], Scalar::I1).err());
        }
    }
    for s in Scalar::ALL {
        failures.extend(check(Op::Select, &[Scalar::I1, s, s], s).err());
    }
    for s in FLOATS {
        failures.extend(check(Op::Fma, &[s, s, s], s).err());
    }
    for &op in Arith::ALL {
        for rounding in [Rounding::Zero, Rounding::Up, Rounding::Down] {
            for s in FLOATS {
                let operands = vec![s; op.operands()];
                failures.extend(check(Op::Rounded(op, rounding), &operands, s).err());
            }
        }
    }
    failures.extend(check(Op::PtrAdd, &[Scalar::Ptr, Scalar::I64], Scalar::Ptr).err());
    report(failures);
}

#[test]
fn lookups() {
    let tables = brolga_mathlib::Table::ALL.into_iter();
    let failures = tables.filter_map(|t| check(Op::Lookup(t), &[Scalar::I64], Scalar::F64).err());
    report(failures.collect());
}

/// Whether a conversion exists, and whether the rounding mode can matter to it.
fn conversion_is_valid(op: ConvertOp, from: Scalar, to: Scalar) -> (bool, bool) {
    let narrower = to.bits() < from.bits();
    let ints = from.is_int() && to.is_int();
    match op {
        ConvertOp::Trunc => (
            narrower && from.is_int() && (to.is_int() || to == Scalar::I1),
            false,
        ),
        ConvertOp::ZExt | ConvertOp::SExt => (
            (from.is_int() || from == Scalar::I1) && to.is_int() && to.bits() > from.bits(),
            false,
        ),
        ConvertOp::SatSToS | ConvertOp::SatUToU => (ints && narrower, false),
        ConvertOp::SatSToU | ConvertOp::SatUToS => (ints && to.bits() <= from.bits(), false),
        ConvertOp::FToS | ConvertOp::FToU => (from.is_float() && to.is_int(), true),
        ConvertOp::SToF | ConvertOp::UToF => (from.is_int() && to.is_float(), true),
        ConvertOp::FToF => (from.is_float() && to.is_float() && from != to, true),
        ConvertOp::Bitcast => (
            from != to && from.bits() == to.bits() && from != Scalar::I1,
            false,
        ),
    }
}

#[test]
fn conversions() {
    let mut failures = Vec::new();
    for &op in ConvertOp::ALL {
        for from in Scalar::ALL {
            for to in Scalar::ALL {
                let (valid, rounds) = conversion_is_valid(op, from, to);
                for &rounding in Rounding::ALL {
                    if valid && (rounds || rounding == Rounding::NearestEven) {
                        failures.extend(check(Op::Convert(op, rounding), &[from], to).err());
                    }
                }
            }
        }
    }
    report(failures);
}

/// Every half, the singles half-way to the next one, and the singles next to those.
#[test]
fn singles_round_to_the_nearest_half() {
    let mut singles = Vec::new();
    for bits in 0..=u16::MAX {
        let x = half::f16::from_bits(bits).to_f32();
        let next = half::f16::from_bits(bits.wrapping_add(1)).to_f32();
        let middle = match next.is_finite() {
            true => x / 2.0 + next / 2.0,
            // Where rounding to infinity begins.
            false => 65520f32.copysign(x),
        };
        singles.extend([x, middle, middle.next_up(), middle.next_down()]);
    }
    for target in machine::targets() {
        check_halves(&target, &singles);
    }
}

fn check_halves(target: &Target, singles: &[f32]) {
    const WIDTH: usize = 8;
    let op = Op::Convert(ConvertOp::FToF, Rounding::NearestEven);
    let code = compile(target, &op, &[Scalar::F32], Scalar::F16, WIDTH as u8, false);
    // SAFETY: the function has this signature.
    let run: KernelFn = unsafe { std::mem::transmute(code.entry()) };
    for chunk in singles.chunks_exact(WIDTH) {
        let mut halves = [0u16; WIDTH];
        let output = halves.as_mut_ptr().cast::<u8>();
        // SAFETY: the function reads and writes one vector.
        unsafe { run(chunk.as_ptr().cast::<Launch>(), output, 0, 0) };
        for (&x, &found) in chunk.iter().zip(&halves) {
            let expected = half::f16::from_f32(x);
            let found = half::f16::from_bits(found);
            assert!(
                found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                "{x:e} becomes {found}, expected {expected}"
            );
        }
    }
}

/// What is computed of a result in half precision uses the rounded result, whatever stands between.
#[test]
fn halves_are_rounded_after_every_operation() {
    for target in machine::targets() {
        check_rounding_of_halves(&target);
    }
}

fn check_rounding_of_halves(target: &Target) {
    const WIDTH: usize = 8;
    let half = Type::new(Scalar::F16, WIDTH as u8);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let ops = [BinOp::FAdd, BinOp::FSub, BinOp::FMul, BinOp::FDiv]
        .map(|op| Op::Binary(op, Wrap::default()));
    let between = [
        None,
        Some(Op::Unary(UnOp::FNeg)),
        Some(Op::Unary(UnOp::FAbs)),
        Some(Op::Select),
    ];
    let cases = ops
        .iter()
        .flat_map(|first| ops.iter().map(move |second| (first, second)));
    for ((first, second), between) in cases.flat_map(|pair| between.iter().map(move |b| (pair, b)))
    {
        let scalars = [Scalar::F16; 4];
        let width = WIDTH as u8;
        let code = compile_expression(target, &scalars, Scalar::F16, width, false, |b, values| {
            let x = b.val(first.clone(), &values[..2], half);
            let x = match between {
                Some(Op::Select) => {
                    let y = b.val(second.clone(), &values[..2], half);
                    let less = b.val(Op::FCmp(FloatCC::Olt), &values[2..], half.as_mask());
                    b.val(Op::Select, &[less, x, y], half)
                }
                Some(op) => b.val(op.clone(), &[x], half),
                None => x,
            };
            b.val(second.clone(), &[x, values[2]], half)
        });
        // SAFETY: the function has this signature.
        let run: KernelFn = unsafe { std::mem::transmute(code.entry()) };
        for _ in 0..100 {
            let lanes: Vec<[u16; WIDTH]> = (0..4)
                .map(|_| std::array::from_fn(|_| draw(&mut rng, Scalar::F16) as u16))
                .collect();
            let mut input = vec![0u16; OPERAND / 2 * 4];
            for (operand, values) in input.chunks_mut(OPERAND / 2).zip(&lanes) {
                operand[..WIDTH].copy_from_slice(values);
            }
            let mut output = [0u16; WIDTH];
            // SAFETY: the function reads and writes within these arrays.
            unsafe {
                run(
                    input.as_ptr().cast::<Launch>(),
                    output.as_mut_ptr().cast(),
                    0,
                    0,
                )
            };
            for (lane, &found) in output.iter().enumerate() {
                let operands = [0, 1, 2, 3].map(|i| u64::from(lanes[i][lane]));
                let apply = |op: &Op, args: &[u64], types: &[Type]| {
                    let args: Vec<(Type, &[u64])> =
                        types.iter().copied().zip(args.chunks(1)).collect();
                    let result = match op {
                        Op::FCmp(_) => Type::I1,
                        _ => Type::F16,
                    };
                    eval::pure(op, &args, result).expect("a pure operation")[0]
                };
                let halves = [Type::F16; 2];
                let x = apply(first, &operands[..2], &halves);
                let x = match between {
                    Some(Op::Select) => {
                        let y = apply(second, &operands[..2], &halves);
                        let less = apply(&Op::FCmp(FloatCC::Olt), &operands[2..], &halves);
                        if less != 0 { x } else { y }
                    }
                    Some(op) => apply(op, &[x], &halves[..1]),
                    None => x,
                };
                let expected = apply(second, &[x, operands[2]], &halves);
                let nan = is_nan(Scalar::F16, expected) && is_nan(Scalar::F16, found.into());
                assert!(
                    u64::from(found) == expected || nan,
                    "{second} of {between:?} of {first} of {operands:#x?} is {found:#x}, expected {expected:#x}"
                );
            }
        }
    }
}
