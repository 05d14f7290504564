//! The largest error of a function, over all its arguments or very many.

use std::fmt;

use brolga_mathlib::{Accuracy, Func, Signature};
use half::f16;

use super::Type;
use super::exact::defined;
use super::kernel::{ELEMENTS, Kernel};
use super::reference::{Reference, plain_name, reference};
use super::support::{Random, error, pair, special_values};

/// How many arguments to try.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Every so many encodings of a `float` are tried as the one argument.
    pub stride: u64,
    /// So many arguments where all are too many.
    pub points: u64,
}

/// What a sweep found.
pub struct Found {
    /// In ulp, or absolute where the bound is.
    pub error: f64,
    /// Whether `error` is a distance from the rounded result, so that the error may be half an ulp more.
    pub of_rounded: bool,
    /// The arguments with that error.
    pub at: Vec<f64>,
    pub tried: Tried,
}

/// Which arguments a sweep tries.
#[derive(Clone, Copy)]
pub enum Tried {
    /// Every so many encodings of the one argument.
    Every(u64),
    /// So many, special and random.
    Points(u64),
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tried::Every(1) => f.write_str("all"),
            Tried::Every(stride) => write!(f, "every {stride}th"),
            Tried::Points(points) => write!(f, "{:.0e}", *points as f64),
        }
    }
}

impl Tried {
    fn of(func: Func, ty: Type, effort: Effort) -> Tried {
        match (func.signature().arity(), ty) {
            (1, Type::Half) => Tried::Every(1),
            (1, Type::Float) => Tried::Every(effort.stride),
            _ => Tried::Points(effort.points),
        }
    }

    /// How many there are.
    fn count(self, ty: Type) -> u64 {
        match (self, ty) {
            (Tried::Points(points), _) => points,
            (Tried::Every(stride), Type::Half) => (1u64 << 16).div_ceil(stride),
            (Tried::Every(stride), _) => (1u64 << 32).div_ceil(stride),
        }
    }
}

/// The arguments of one element.
#[derive(Clone, Copy, Default)]
struct Arguments {
    floats: [f64; 3],
    integer: i32,
}

/// Tries a function. None if there is nothing to compare it with.
pub fn sweep(func: Func, ty: Type, effort: Effort) -> Option<Found> {
    let reference = reference(func)?;
    let mut kernel = Kernel::new(func, ty, 8);
    let tried = Tried::of(func, ty, effort);
    let total = tried.count(ty);
    let mut source = Source::new(func, ty, tried);
    let mut found = Found {
        error: 0.0,
        of_rounded: ty == Type::Double,
        at: Vec::new(),
        tried,
    };
    let mut arguments = vec![Arguments::default(); ELEMENTS];
    let mut done = 0;
    while done < total {
        for (at, to) in arguments.iter_mut().enumerate() {
            *to = source.next();
            store(&mut kernel, func, ty, at, to);
        }
        kernel.run();
        for (at, args) in arguments.iter().enumerate() {
            for result in 0..2 {
                let error = judge(&kernel, func, ty, reference, result, at, args);
                if error > found.error {
                    found.error = error;
                    found.at = args.floats[..func.signature().arity().min(3)].to_vec();
                    if func.signature() == Signature::WithInt {
                        found.at[1] = f64::from(args.integer);
                    }
                }
                if !has_two_results(func) {
                    break;
                }
            }
        }
        done += ELEMENTS as u64;
    }
    Some(found)
}

fn store(kernel: &mut Kernel, func: Func, ty: Type, at: usize, args: &Arguments) {
    let arity = func.signature().arity();
    for index in 0..arity {
        if index == 1 && func.signature() == Signature::WithInt {
            kernel.set(index, at, args.integer);
            continue;
        }
        let x = args.floats[index];
        match ty {
            Type::Half => kernel.set(index, at, f16::from_f64(x)),
            Type::Float => kernel.set(index, at, x as f32),
            Type::Double => kernel.set(index, at, x),
        }
    }
}

/// The error of one result.
fn judge(
    kernel: &Kernel,
    func: Func,
    ty: Type,
    reference: Reference,
    result: usize,
    at: usize,
    args: &Arguments,
) -> f64 {
    let [x, y, z] = args.floats;
    if !in_domain(func, args) {
        return 0.0;
    }
    let (expected, lack) = match reference {
        Reference::Unary(single, double) => {
            // The exact error is only of interest where the result is not the nearest.
            if ty == Type::Float && kernel.get::<f32>(0, at).to_bits() == single(x as f32).to_bits()
            {
                return 0.5;
            }
            (double(x), 0.0)
        }
        Reference::Pair(of) => (of[result](x), 0.0),
        Reference::Binary(of) => (of(x, y), 0.0),
        Reference::Ternary(of) => (of(x, y, z), 0.0),
        Reference::WithInt(of) => of(x, args.integer),
        Reference::Exact(of) => (of(ty, args.floats, args.integer)[result], 0.0),
    };
    if !is_judged(func, expected) {
        return 0.0;
    }
    if is_integer(func, result) {
        return (f64::from(kernel.get::<i32>(result, at)) - expected).abs();
    }
    if let Accuracy::Absolute(_) = func.accuracy()[ty as usize] {
        return (f64::from(kernel.get::<f32>(result, at)) - expected).abs();
    }
    match ty {
        Type::Half => error(
            kernel.get::<f16>(result, at).to_f64(),
            expected,
            16,
            -14,
            10,
        ),
        Type::Float => error(
            f64::from(kernel.get::<f32>(result, at)),
            expected,
            128,
            -126,
            23,
        ),
        Type::Double => {
            let got = kernel.get::<f64>(result, at);
            if lack != 0.0 && got.is_finite() {
                let of_ulp = error(expected.next_up(), expected, 1024, -1022, 52);
                let ulp = (expected.next_up() - expected) / of_ulp;
                return ((got - expected) - lack).abs() / ulp;
            }
            error(got, expected, 1024, -1022, 52)
        }
    }
}

/// The arguments that a bound is for.
fn in_domain(func: Func, args: &Arguments) -> bool {
    let name = func.name();
    let [x, y, _] = args.floats;
    match plain_name(func) {
        "sin" | "cos" | "tan" if name != plain_name(func) => x.abs() <= 65536.0,
        // From 1/2 to 2 the bound is absolute, and far.
        _ if name.starts_with("native_log") => {
            x.is_finite() && x.abs() >= 2f64.powi(-126) && !(0.5..=2.0).contains(&x)
        }
        "powr" | "pow" | "pown" | "rootn" if is_relaxed(func) => {
            x.is_finite() && x.abs() >= 2f64.powi(-126) && y.is_finite()
        }
        _ if is_relaxed(func) => x.is_finite() && y.is_finite(),
        name => defined(name, args.floats),
    }
}

/// The results that a bound is for: relaxed forms may flush denormals and take arguments and results for valid.
fn is_judged(func: Func, expected: f64) -> bool {
    !is_relaxed(func)
        || (expected.is_finite()
            && expected.abs() >= 2f64.powi(-125)
            && expected.abs() < 2f64.powi(127))
        || plain_name(func).starts_with("log")
}

fn has_two_results(func: Func) -> bool {
    matches!(
        func.signature(),
        Signature::UnaryPair | Signature::UnaryAndInt | Signature::BinaryAndInt
    )
}

fn is_integer(func: Func, result: usize) -> bool {
    match func.signature() {
        Signature::ToInt => true,
        Signature::UnaryAndInt | Signature::BinaryAndInt => result == 1,
        _ => false,
    }
}

/// Whether a function is native or relaxed.
fn is_relaxed(func: Func) -> bool {
    func.name().starts_with("native_") || func.name().starts_with("relaxed_")
}

/// Arguments, one after another.
struct Source {
    func: Func,
    ty: Type,
    tried: Tried,
    index: u64,
    random: Random,
    special: Vec<f64>,
}

impl Source {
    fn new(func: Func, ty: Type, tried: Tried) -> Source {
        Source {
            func,
            ty,
            tried,
            index: 0,
            random: Random(1),
            special: special_values(),
        }
    }

    /// Any encoding.
    fn any(ty: Type, bits: u64) -> f64 {
        match ty {
            Type::Half => f16::from_bits(bits as u16).to_f64(),
            Type::Float => f64::from(f32::from_bits(bits as u32)),
            Type::Double => f64::from_bits(bits),
        }
    }

    fn next(&mut self) -> Arguments {
        let i = self.index;
        self.index += 1;
        let unary = self.func.signature().arity() == 1;
        let mut args = Arguments::default();
        let special = self.special.len() as u64;
        args.floats = match (self.ty, self.tried) {
            (ty, Tried::Every(stride)) => [Self::any(ty, i * stride), 0.0, 0.0],
            _ if i < special * special => {
                let of = |n: u64| self.special[(n % special) as usize];
                [of(i), of(i / special), of(i / 3)]
            }
            (Type::Double, _) if unary => match i % 2 {
                0 => [f64::from_bits(self.random.next()), 0.0, 0.0],
                _ => [self.random.with_exponent(-12, 11), 0.0, 0.0],
            },
            _ => {
                let any: fn(u64) -> f64 = match self.ty {
                    Type::Half => |bits| Self::any(Type::Half, bits),
                    Type::Float => |bits| Self::any(Type::Float, bits),
                    Type::Double => f64::from_bits,
                };
                let (x, y) = pair(&mut self.random, i, any);
                [x, y, self.random.with_exponent(-6, 6)]
            }
        };
        if self.func.signature() == Signature::WithInt {
            args.integer = match i % 4 {
                0 => self.random.next() as i32,
                1 => (self.random.next() % 64) as i32 - 32,
                2 => (self.random.next() % 4096) as i32 - 2048,
                _ => (self.random.next() as i32) >> (self.random.next() % 32),
            };
            if plain_name(self.func) == "pown" && !i.is_multiple_of(4) {
                // A base whose power is in range.
                let spread = 140.0 / f64::from(args.integer).abs().max(1.0);
                let sign = if self.random.next() & 1 == 0 {
                    1.0
                } else {
                    -1.0
                };
                args.floats[0] = sign * (spread * self.random.with_exponent(-4, -1)).exp2();
            }
        }
        // As the kernel sees them.
        let round = |x: f64| match self.ty {
            Type::Half => f16::from_f64(x).to_f64(),
            Type::Float => f64::from(x as f32),
            Type::Double => x,
        };
        args.floats = args.floats.map(round);
        args
    }
}
