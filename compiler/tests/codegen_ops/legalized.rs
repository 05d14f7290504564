//! What legalising leaves, for every target: only operations that the target has, and the same
//! results, in the interpreter.

use brolga_compiler::interp::{Interpreter, Memory, Options};
use brolga_compiler::ir::{
    BinOp, Builder, ConvertOp, Function, InstData, Module, Op, Rounding, Scalar, Type, UnOp, Value,
};
use brolga_compiler::{Isa, Target, lower};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{compare, draw};

/// Of vectors, and of values of one lane.
const WIDTHS: [u8; 2] = [1, 8];
/// How many times W lanes each operation is tried on.
const ROUNDS: usize = 4;

fn targets() -> [(&'static str, Target); 4] {
    let extended = Target {
        popcounts: true,
        small_popcounts: true,
        byte_permutes: true,
        double_shifts: true,
        ..Target::avx512()
    };
    [
        ("Cranelift", Target::cranelift()),
        ("AVX2", Target::avx2()),
        ("AVX-512", Target::avx512()),
        ("AVX-512 with its extensions", extended),
    ]
}

/// Where the last operand of an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Lanes,
    /// One parameter, in every lane.
    Same,
    /// A constant.
    Constant(u64),
}

/// Checks an operation; with `same`, its last operand is the same in every lane.
pub fn check(op: &Op, args: &[Scalar], result: Scalar, same: bool) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (name, target) in targets() {
        for width in WIDTHS {
            for round in 0..ROUNDS {
                let mut lanes: Vec<Vec<u64>> = args
                    .iter()
                    .map(|&s| (0..width).map(|_| draw(&mut rng, s)).collect())
                    .collect();
                let last = lanes.last_mut().expect("an operand");
                let how = match same {
                    true if round % 2 == 0 => Last::Same,
                    true => Last::Constant(last[0]),
                    false => Last::Lanes,
                };
                if same {
                    let first = last[0];
                    last.fill(first);
                }
                let func = legalized(op, args, result, width, how, &target);
                check_instructions(&func, &target)
                    .and_then(|()| interpret(&func, &lanes, how))
                    .and_then(|found| compare(op, args, result, &lanes, &found))
                    .map_err(|error| format!("{name}: {error}, in\n{func}"))?;
            }
        }
    }
    Ok(())
}

fn legalized(
    op: &Op,
    args: &[Scalar],
    result: Scalar,
    width: u8,
    last: Last,
    target: &Target,
) -> Function {
    let types: Vec<Type> = (args.iter().enumerate())
        .map(
            |(n, &scalar)| match n + 1 == args.len() && last != Last::Lanes {
                true => Type::new(scalar, 1),
                false => Type::new(scalar, width),
            },
        )
        .collect();
    let result = Type::new(result, width);
    let mut func = Function::new("op", &types, &[result]);
    let entry = func.entry();
    let mut values: Vec<Value> = func.params().to_vec();
    let mut b = Builder::new(&mut func, entry);
    if let Some(value) = values.last_mut() {
        let ty = Type::new(args[args.len() - 1], width);
        match last {
            Last::Same if width > 1 => *value = b.splat(*value, width),
            Last::Constant(bits) => *value = b.iconst(ty, bits),
            _ => {}
        }
    }
    let value = b.val(op.clone(), &values, result);
    b.ret(&[value]);
    lower::builtins::expand(&mut func, target);
    lower::legalize::run(&mut func, target);
    func
}

fn interpret(func: &Function, lanes: &[Vec<u64>], last: Last) -> Result<Vec<u64>, String> {
    let module = Module::default();
    let mut interp = Interpreter::new(&module, Memory::new(), Options::default());
    let mut args: Vec<_> = lanes.iter().map(|l| l.iter().copied().collect()).collect();
    if let (Some(arg), true) = (args.last_mut(), last != Last::Lanes) {
        *arg = lanes[lanes.len() - 1][..1].iter().copied().collect();
    }
    let results = interp.call(func, &args).map_err(|e| e.to_string())?;
    Ok(results[0].to_vec())
}

/// Checks that no operation is left that the target lacks, as the head of `lower/legalize.rs` has
/// it.
fn check_instructions(func: &Function, target: &Target) -> Result<(), String> {
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if !is_left(func, data, target) {
                let types: Vec<Type> = data.args.iter().map(|&arg| func.ty(arg)).collect();
                return Err(format!("`{}` of {types:?} is left", data.op));
            }
        }
    }
    Ok(())
}

fn is_left(func: &Function, data: &InstData, target: &Target) -> bool {
    let (Some(&result), Some(&arg)) = (data.results.first(), data.args.first()) else {
        return true;
    };
    let (from, to) = (func.ty(arg).scalar, func.ty(result));
    let (vector, scalar, bits) = (to.lanes > 1, to.scalar, to.scalar.bits());
    let rounds = |rounding| rounding == Rounding::NearestEven || target.static_rounding;
    match data.op {
        Op::Unary(UnOp::PopCount) if vector => target.has_popcount(scalar),
        Op::Unary(UnOp::Clz) if vector => target.leading_zeros && bits >= 32,
        Op::Unary(UnOp::Ctz | UnOp::BitReverse) => !vector,
        Op::Unary(_) | Op::Fma => scalar != Scalar::F16,
        Op::FCmp(_) => from != Scalar::F16,
        Op::Rounded(..) => bits == 64 || bits == 32 && target.static_rounding,
        Op::Binary(op, _) => match op {
            BinOp::IMul => !vector || bits >= 16,
            BinOp::SMulHi | BinOp::UMulHi => !vector || target.has_high_products(scalar),
            BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem => !vector || bits == 64,
            BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotl if vector => {
                let by = func.def_op(data.args[1]);
                let by_lane = !matches!(by, Some(Op::Const(_) | Op::Splat));
                target.has_shift(op, scalar, by_lane)
            }
            BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax => {
                !vector || bits <= 32 || target.wide_integers
            }
            BinOp::SAddSat | BinOp::UAddSat | BinOp::SSubSat | BinOp::USubSat => {
                vector && bits <= 16
            }
            _ => scalar != Scalar::F16,
        },
        Op::Convert(op, rounding) => match op {
            ConvertOp::Trunc | ConvertOp::ZExt | ConvertOp::SExt | ConvertOp::Bitcast => true,
            ConvertOp::FToS | ConvertOp::FToU => {
                let unsigned = vector && op == ConvertOp::FToU && bits == 32;
                from != Scalar::F16
                    && bits >= 32
                    && rounding == Rounding::Zero
                    && (!unsigned || target.unsigned_conversions)
            }
            ConvertOp::SToF | ConvertOp::UToF => {
                let unsigned = vector && op == ConvertOp::UToF && from == Scalar::I32;
                from.bits() >= 32
                    && scalar != Scalar::F16
                    && rounds(rounding)
                    && (!unsigned || target.unsigned_conversions)
            }
            ConvertOp::FToF => match (from, scalar) {
                (Scalar::F32, Scalar::F64) => rounding == Rounding::NearestEven,
                (Scalar::F64, Scalar::F32) => rounds(rounding),
                (Scalar::F16, Scalar::F32) => {
                    target.f16_conversions && rounding == Rounding::NearestEven
                }
                (Scalar::F32, Scalar::F16) => target.f16_conversions,
                _ => false,
            },
            _ => false,
        },
        _ => true,
    }
}

/// Shifts by lane are instructions where vectors are wide.
#[test]
fn shifts_by_lane_stay() {
    for (target, ops) in [
        (
            Target::avx512(),
            &[BinOp::Shl, BinOp::AShr, BinOp::Rotl][..],
        ),
        (Target::avx2(), &[BinOp::Shl, BinOp::AShr]),
    ] {
        for &op in ops {
            let args = [Scalar::I32; 2];
            let binary = Op::Binary(op, Default::default());
            let func = legalized(&binary, &args, Scalar::I32, 16, Last::Lanes, &target);
            let insts = &func.blocks[func.entry()].insts;
            assert_eq!(insts.len(), 1, "{op:?} for {:?}", target.isa);
        }
    }
}

/// As are conversions of halves, and static rounding.
#[test]
fn rounding_stays() {
    let target = Target::avx512();
    assert_eq!(target.isa, Isa::Avx512);
    for &rounding in Rounding::ALL {
        for lanes in WIDTHS {
            let narrowing = Op::Convert(ConvertOp::FToF, rounding);
            for (from, to) in [(Scalar::F32, Scalar::F16), (Scalar::F64, Scalar::F32)] {
                let func = legalized(&narrowing, &[from], to, lanes, Last::Lanes, &target);
                assert_eq!(
                    func.blocks[func.entry()].insts.len(),
                    1,
                    "{from:?} {rounding:?}"
                );
            }
        }
    }
}
