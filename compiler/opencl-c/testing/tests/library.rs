//! Functions that Vulkan lacks, as they are emitted for it: once the module is a kernel again, and
//! on Mesa's software implementation of Vulkan, they are what `brolga-mathlib` computes here.

use brolga_compiler::NdRange;
use brolga_compiler_testing::engines::{Arg, Case, Engine};
use brolga_compiler_testing::validator::validate;
use brolga_mathlib::{Accuracy, Float, Func, Signature, Value, eval_values};
use brolga_opencl_c::vulkan::compile_for_vulkan;
use brolga_opencl_c::{Input, Options, Std};
use brolga_opencl_c_testing::judge;
use brolga_opencl_c_testing::lavapipe::Lavapipe;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Functions of `double` that Vulkan has for smaller numbers only, or not at all.
const OF_DOUBLE: &[&str] = &[
    "acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atan2", "atan2pi", "atanh",
    "atanpi", "cbrt", "cos", "cosh", "cospi", "degrees", "erf", "erfc", "exp", "exp10", "exp2",
    "expm1", "ldexp", "lgamma", "lgamma_r", "log", "log10", "log1p", "log2", "pow", "pown", "powr",
    "radians", "remquo", "rootn", "sin", "sincos", "sinh", "sinpi", "tan", "tanh", "tanpi",
    "tgamma",
];

/// Functions that it has for no number.
const OF_FLOAT: &[&str] = &["erf", "erfc", "lgamma", "lgamma_r", "remquo", "tgamma"];

const COUNT: usize = 256;
const GROUP: usize = 16;
/// Instructions that an interpreter may run.
const BUDGET: u64 = 1_000_000_000;

/// The kernel of a function: what it gives, and behind all of it its second results.
fn kernel(func: Func, float: &str) -> String {
    let name = func.name();
    let call = match func.signature() {
        Signature::Unary => format!("{name}(x[i])"),
        Signature::Binary => format!("{name}(x[i], y[i])"),
        Signature::WithInt => format!("{name}(x[i], n[i])"),
        Signature::UnaryPair => format!("{name}(x[i], &number)"),
        Signature::UnaryAndInt => format!("{name}(x[i], &whole)"),
        Signature::BinaryAndInt => format!("{name}(x[i], y[i], &whole)"),
        other => panic!("{name}: {other:?}"),
    };
    format!(
        "kernel void k_{name}(global const {float} *x, global const {float} *y,
                             global const int *n, global {float} *out) {{
            size_t i = get_global_id(0);
            {float} number = 0;
            int whole = 0;
            out[i] = {call};
            out[{COUNT} + i] = number + whole;
        }}\n"
    )
}

/// A number of either format, with what is asked of it here.
trait Format: Float<Mask = bool> + PartialEq + std::fmt::Debug {
    const NAME: &'static str;
    const ACCURACY: usize;
    fn of(number: f64) -> Self;
    fn of_random_bits(random: &mut ChaCha8Rng) -> Self;
    fn bytes(self) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Self;
    /// The encoding as a number that grows with the value.
    fn order(self) -> i128;
    fn integer(number: i32) -> Self::Int;
    fn of_integer(number: Self::Int) -> Self;
}

macro_rules! numbers {
    ($float:ty, $name:literal, $accuracy:literal, $uint:ty, $sint:ty) => {
        impl Format for $float {
            const NAME: &'static str = $name;
            const ACCURACY: usize = $accuracy;
            fn of(number: f64) -> Self {
                number as $float
            }
            fn of_random_bits(random: &mut ChaCha8Rng) -> Self {
                <$float>::from_bits(random.random())
            }
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn read(bytes: &[u8]) -> Self {
                <$float>::from_le_bytes(bytes.try_into().expect("a number"))
            }
            fn order(self) -> i128 {
                let size = i128::from(<$float>::abs(self).to_bits());
                if self.is_sign_negative() { -size } else { size }
            }
            fn integer(number: i32) -> Self::Int {
                std::num::Wrapping(<$sint>::from(number) as $uint)
            }
            fn of_integer(number: Self::Int) -> Self {
                number.0 as $sint as i32 as $float
            }
        }
    };
}

numbers!(f32, "float", 1, u32, i32);
numbers!(f64, "double", 2, u64, i64);

/// Arguments where something happens, and others.
fn arguments<F: Format>(random: &mut ChaCha8Rng) -> (Vec<F>, Vec<F>, Vec<i32>) {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.0,
        -2.0,
        3.0,
        -2.5,
        10.0,
        0.1,
        1e-5,
        -1e-5,
        1e-9,
        1e-30,
        1e30,
        -1e30,
        1e-300,
        1e300,
        -1e300,
        5e-324,
        1e-310,
        1e-40,
        700.0,
        -700.0,
        745.2,
        88.0,
        -104.0,
        171.5,
        -170.5,
        33.3,
        -33.3,
        1e6,
        1e10,
        6e9,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::PI,
        1e22,
        5.319372648326541e255,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut x: Vec<F> = special.map(F::of).to_vec();
    let mut y: Vec<F> = special.iter().rev().map(|&number| F::of(number)).collect();
    while x.len() < COUNT {
        let (one, other) = match x.len() % 3 {
            0 => (F::of_random_bits(random), F::of_random_bits(random)),
            1 => (
                F::of(random.random_range(-9.0..9.0)),
                F::of(random.random_range(-9.0..9.0)),
            ),
            _ => (
                F::of(random.random_range(-1.0..1.0)),
                F::of(random.random_range(-300.0..300.0)),
            ),
        };
        x.push(one);
        y.push(other);
    }
    let n = (0..COUNT as i32).map(|at| match at % 7 {
        0 => at - 100,
        1 => i32::MAX - at,
        _ => at % 11 - 5,
    });
    (x, y, n.collect())
}

/// Results, and second results as numbers, 0 if there are none.
fn expected<F: Format>(func: Func, x: F, y: F, n: i32) -> (F, F) {
    let args: Vec<Value<F>> = match func.signature() {
        Signature::Binary | Signature::BinaryAndInt => vec![Value::Float(x), Value::Float(y)],
        Signature::WithInt => vec![Value::Float(x), Value::Int(F::integer(n))],
        _ => vec![Value::Float(x)],
    };
    let number = |value| match value {
        Value::Float(number) => number,
        Value::Int(number) => F::of_integer(number),
    };
    let (first, second) = eval_values(func, x, &args);
    (number(first), second.map_or(F::of(0.0), number))
}

/// Whether a number is within so many units in the last place of another.
fn is_near<F: Format>(found: F, wanted: F, ulp: f64) -> bool {
    let is_nan = |number: F| number.is_nan();
    is_nan(found) && is_nan(wanted)
        || !is_nan(found)
            && !is_nan(wanted)
            && (found.order() - wanted.order()).unsigned_abs() as f64 <= ulp
}

fn functions_are_mathlibs<F: Format>(names: &[&str]) {
    let funcs: Vec<Func> = names
        .iter()
        .map(|name| Func::from_name(name).expect("a function"))
        .collect();
    let source: String = funcs.iter().map(|&func| kernel(func, F::NAME)).collect();
    let input = Input {
        name: "library.cl",
        source: &source,
        headers: &[],
    };
    let options = Options {
        std: Std::C30,
        ..Options::default()
    };
    let target = judge::device_target();
    let compiled = compile_for_vulkan(&input, &options, &judge::device(), &target);
    let words = compiled.words.unwrap_or_else(|| panic!("{}", compiled.log));
    validate(&words, "vulkan1.3").unwrap();
    let module = judge::translated(&words).unwrap();
    let device = Lavapipe::open().expect("an implementation of Vulkan");

    let mut random = ChaCha8Rng::seed_from_u64(31);
    let (x, y, n) = arguments::<F>(&mut random);
    let bytes = |numbers: &[F]| numbers.iter().flat_map(|x| x.bytes()).collect::<Vec<u8>>();
    let empty = vec![F::of(0.0); 2 * COUNT];
    let args = [
        Arg::Buffer(bytes(&x)),
        Arg::Buffer(bytes(&y)),
        Arg::Buffer(n.iter().flat_map(|n| n.to_le_bytes()).collect()),
        Arg::Buffer(bytes(&empty)),
    ];
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [COUNT as u64, 1, 1],
        local_size: [GROUP as u64, 1, 1],
    };
    let mut wrong = Vec::new();
    for func in funcs {
        let name = format!("k_{}", func.name());
        let mut kernels = module.kernels.iter();
        let index = kernels.position(|kernel| kernel.info.name == name).unwrap();
        let case = Case::new(&module, index, range, args.to_vec());
        let mut found: Vec<(String, Vec<u8>)> = Engine::all()[..2]
            .iter()
            .map(|engine| {
                let outcome = engine.run(&case, BUDGET).unwrap();
                (engine.name().to_string(), outcome.buffers[3].clone())
            })
            .collect();
        let sizes = (COUNT as u32, GROUP as u32);
        let on_device = device.run((&words, &name), &args, sizes).unwrap();
        found.push(("Vulkan".to_owned(), on_device.buffers[3].clone()));
        // What mathlib is allowed, and what divisions and roots of Vulkan's may add.
        let ulp = match func.accuracy()[F::ACCURACY] {
            Accuracy::Ulp(ulp) => ulp / 2.0,
            Accuracy::Any => 64.0,
            _ => 0.0,
        };
        for (engine, bytes) in &found {
            let size = F::of(0.0).bytes().len();
            let numbers: Vec<F> = bytes.chunks_exact(size).map(F::read).collect();
            for at in 0..COUNT {
                let (first, second) = expected(func, x[at], y[at], n[at]);
                let (one, other) = (numbers[at], numbers[COUNT + at]);
                if !is_near(one, first, ulp) || !is_near(other, second, ulp) {
                    wrong.push(format!(
                        "{engine}: {}({:?}, {:?} or {}) is {one:?} and {other:?}, not {first:?} \
                         and {second:?}",
                        func.name(),
                        x[at],
                        y[at],
                        n[at]
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn functions_of_double_are_those_of_mathlib() {
    functions_are_mathlibs::<f64>(OF_DOUBLE);
}

#[test]
fn functions_of_float_that_vulkan_lacks_are_those_of_mathlib() {
    functions_are_mathlibs::<f32>(OF_FLOAT);
}
