//! The largest errors of functions, over all their arguments or very many.
//!
//! The reference takes most of the time. So functions that have it in common are tried together;
//! and where a `float` reference is at hand it goes first, and only a result that is not the
//! rounded one, and may be further off than any before, is compared with the `double` one.

use brolga_compiler::{Target, codegen};
use brolga_mathlib::{Accuracy, Func, Signature};
use brolga_mathlib_testing::Wide;
use half::f16;

use super::arguments::{Block, Effort, Source, Tried};
use super::exact;
use super::kernel::{ELEMENTS, Kernel, Lane};
use super::number::{Number, Type};
use super::reference::{Reference, Unary, plain_name, reference, reference_name};

/// Results that are compared at once.
const STRIP: usize = 16;

/// What a sweep found.
pub struct Found {
    /// In ulp, or absolute where the bound is.
    pub error: f64,
    /// Whether `error` is a distance from the rounded result, so that the error may be half an ulp
    /// more.
    pub of_rounded: bool,
    /// The arguments with that error; none where every result is the nearest.
    pub at: Vec<f64>,
    pub tried: Tried,
}

/// Tries functions that have the reference in common, and as many arguments.
pub fn sweep(funcs: &[Func], ty: Type, effort: Effort) -> Vec<Found> {
    match ty {
        Type::Half => sweep_of::<f16>(funcs, effort),
        Type::Float => sweep_of::<f32>(funcs, effort),
        Type::Double => sweep_of::<f64>(funcs, effort),
    }
}

fn sweep_of<T: Number + Lane>(funcs: &[Func], effort: Effort) -> Vec<Found> {
    let tried = Tried::of(funcs[0], T::TYPE, effort);
    let mut expected = Expected::<T>::new(reference(reference_name(funcs[0])));
    // A wide result is as good as exact, but for `rootn`, whose power is rounded.
    let of_rounded = T::TYPE == Type::Double && !expected.is_wide();
    let target = codegen::target();
    let mut targets = vec![target];
    // Results have other bits with the machine's estimates.
    targets.extend(target.estimates.then(|| target.without_estimates()));
    let make = |target: &Target| -> Vec<Subject<T>> {
        let subject = |&func| Subject::new(func, *target, tried, of_rounded);
        funcs.iter().map(subject).collect()
    };
    let mut subjects: Vec<Vec<Subject<T>>> = targets.iter().map(make).collect();
    let mut source = Source::<T>::new(funcs[0], tried);
    let mut block = Block::new();
    for _ in 0..tried.count(T::TYPE).div_ceil(ELEMENTS as u64) {
        source.fill(&mut block);
        expected.compute(&block);
        for subject in subjects.iter_mut().flatten() {
            subject.compare(&block, &expected);
        }
    }
    let mut found = subjects
        .into_iter()
        .map(|subjects| subjects.into_iter().map(|subject| subject.found));
    let first: Vec<Found> = found.next().expect("a target").collect();
    found.fold(first, |worst, other| {
        let pairs = worst.into_iter().zip(other);
        pairs
            .map(|(a, b)| if b.error > a.error { b } else { a })
            .collect()
    })
}

/// The results that a block should have.
struct Expected<T> {
    reference: Reference,
    /// Of each result of each element.
    nearest: [Vec<T>; 2],
    /// Likewise, where it is not computed when wanted.
    wide: [Vec<Wide>; 2],
}

impl<T: Number> Expected<T> {
    fn new(reference: Reference) -> Expected<T> {
        Expected {
            reference,
            nearest: [0; 2].map(|_| vec![T::default(); ELEMENTS]),
            wide: [0; 2].map(|_| vec![Wide::from(0.0); ELEMENTS]),
        }
    }

    fn is_wide(&self) -> bool {
        matches!(&self.reference, Reference::Unary(results) if !matches!(results[0], Unary::Rounded(..)))
    }

    fn compute(&mut self, block: &Block<T>) {
        let [x, y, z] = &block.floats;
        let single = T::TYPE == Type::Float;
        let of = |x: &T| f32::from_bits(x.bits() as u32);
        let float = |x: f32| T::from_bits(x.to_bits().into());
        let (wide, nearest) = (&mut self.wide, &mut self.nearest);
        // One result of all elements.
        macro_rules! nearest {
            ($result:expr, $f:expr) => {
                for (at, to) in nearest[$result].iter_mut().enumerate() {
                    *to = $f(at);
                }
            };
        }
        macro_rules! wide {
            ($result:expr, $f:expr) => {
                for (at, to) in wide[$result].iter_mut().enumerate() {
                    *to = Wide::from($f(at));
                    nearest[$result][at] = T::nearest(to.high);
                }
            };
        }
        match &self.reference {
            Reference::Unary(results) => {
                for (result, &function) in results.iter().enumerate() {
                    match function {
                        Unary::Rounded(f, _) if single => {
                            nearest!(result, |at| float(f(of(&x[at]))))
                        }
                        Unary::RoundedOrWide(f, _) if single => {
                            nearest!(result, |at| float(f(of(&x[at]))));
                        }
                        Unary::Rounded(_, f) => wide!(result, |at: usize| f(x[at].value())),
                        Unary::Wide(f) | Unary::RoundedOrWide(_, f) => {
                            wide!(result, |at: usize| f(x[at].value()))
                        }
                    }
                }
            }
            &Reference::Binary(Some(f), _) if single => {
                nearest!(0, |at| float(f(of(&x[at]), of(&y[at]))));
            }
            &Reference::Binary(_, f) => {
                wide!(0, |at: usize| f(x[at].value(), y[at].value()));
            }
            &Reference::Ternary(f, _) if single => {
                nearest!(0, |at| float(f(of(&x[at]), of(&y[at]), of(&z[at]))));
            }
            &Reference::Ternary(_, f) => {
                wide!(0, |at: usize| f(
                    x[at].value(),
                    y[at].value(),
                    z[at].value()
                ));
            }
            &Reference::WithInt(f) => {
                wide!(0, |at: usize| f(x[at].value(), block.integers[at]));
            }
            &Reference::Exact(f) => {
                for at in 0..ELEMENTS {
                    let results = f(T::TYPE, block.values(at), block.integers[at]);
                    for (result, value) in results.into_iter().enumerate() {
                        wide[result][at] = value.into();
                        nearest[result][at] = T::nearest(value);
                    }
                }
            }
            Reference::NotANumber => {
                wide!(0, |_| f64::NAN);
            }
        }
    }

    fn wide(&self, result: usize, at: usize, block: &Block<T>) -> Wide {
        let [x, y, z] = &block.floats;
        let single = T::TYPE == Type::Float;
        match &self.reference {
            Reference::Unary(results) if single => match results[result] {
                Unary::Rounded(_, f) => f(x[at].value()).into(),
                Unary::RoundedOrWide(_, f) => f(x[at].value()),
                Unary::Wide(_) => self.wide[result][at],
            },
            Reference::Binary(Some(_), f) if single => f(x[at].value(), y[at].value()).into(),
            Reference::Ternary(_, f) if single => {
                f(x[at].value(), y[at].value(), z[at].value()).into()
            }
            _ => self.wide[result][at],
        }
    }
}

/// A function, and the worst of it.
struct Subject<T> {
    func: Func,
    kernel: Kernel,
    found: Found,
    results: usize,
    /// Whether the sign of a zero counts.
    signed_zeros: bool,
    /// Whether the bound is.
    absolute: bool,
    domain: fn([f64; 3]) -> bool,
    range: fn(f64) -> bool,
    of: std::marker::PhantomData<T>,
}

impl<T: Number + Lane> Subject<T> {
    fn new(func: Func, target: Target, tried: Tried, of_rounded: bool) -> Subject<T> {
        let absolute = matches!(func.accuracy()[T::TYPE as usize], Accuracy::Absolute(_));
        let results = match func.signature() {
            Signature::UnaryPair | Signature::UnaryAndInt | Signature::BinaryAndInt => 2,
            _ => 1,
        };
        Subject {
            func,
            kernel: Kernel::of(func, T::TYPE, (target, 8)),
            found: Found {
                error: if of_rounded || absolute { 0.0 } else { 0.5 },
                of_rounded,
                at: Vec::new(),
                tried,
            },
            results,
            signed_zeros: !is_relaxed(func)
                && matches!(
                    reference(reference_name(func)),
                    Reference::Unary(_) | Reference::Binary(..)
                ),
            absolute,
            domain: domain(func),
            range: range(func),
            of: std::marker::PhantomData,
        }
    }

    fn compare(&mut self, block: &Block<T>, expected: &Expected<T>) {
        for index in 0..self.func.signature().arity() {
            if index == 1 && self.func.signature() == Signature::WithInt {
                self.kernel.argument(1)[..ELEMENTS].copy_from_slice(&block.integers);
            } else {
                self.kernel.argument(index)[..ELEMENTS].copy_from_slice(&block.floats[index]);
            }
        }
        self.kernel.run();
        for result in 0..self.results {
            if is_integer(self.func, result) {
                for at in 0..ELEMENTS {
                    let got = self.kernel.result::<i32>(result)[at];
                    let off = f64::from(got) - expected.wide[result][at].high;
                    self.note(block, at, off.abs());
                }
                continue;
            }
            let nearest = &expected.nearest[result][..ELEMENTS];
            for from in (0..ELEMENTS).step_by(STRIP) {
                let to = from + STRIP;
                let got = &self.kernel.result::<T>(result)[from..to];
                let same = |(got, nearest): (&T, &T)| got.bits() == nearest.bits();
                if got
                    .iter()
                    .zip(&nearest[from..to])
                    .fold(true, |all, pair| all & same(pair))
                {
                    continue;
                }
                for (at, &nearest) in nearest.iter().enumerate().take(to).skip(from) {
                    let got = self.kernel.result::<T>(result)[at];
                    if got.bits() != nearest.bits() {
                        let error = self.judge(block, expected, result, at, got, nearest);
                        self.note(block, at, error);
                    }
                }
            }
        }
    }

    fn note(&mut self, block: &Block<T>, at: usize, error: f64) {
        if error <= self.found.error {
            return;
        }
        self.found.error = error;
        let arity = self.func.signature().arity();
        self.found.at = block.values(at)[..arity].to_vec();
        if self.func.signature() == Signature::WithInt {
            self.found.at[1] = f64::from(block.integers[at]);
        }
    }

    /// The error of a result that is not the nearest; any smaller number if it is not the largest
    /// yet.
    fn judge(
        &self,
        block: &Block<T>,
        expected: &Expected<T>,
        result: usize,
        at: usize,
        got: T,
        nearest: T,
    ) -> f64 {
        if got.is_nan() && nearest.is_nan() {
            // One that is made, and not passed on, is quiet ("Additional Requirements Beyond
            // ISO/IEC 9899:TC2").
            return if self.func == Func::Nan && !is_quiet(got) {
                f64::INFINITY
            } else {
                0.0
            };
        }
        let zeros = got.value() == 0.0 && nearest.value() == 0.0;
        if zeros && !self.signed_zeros {
            return 0.0;
        }
        if !self.absolute && !zeros && at_most(got, nearest) <= self.found.error {
            return 0.0;
        }
        if !(self.domain)(block.values(at)) {
            return 0.0;
        }
        let exact = expected.wide(result, at, block);
        if !(self.range)(exact.high) {
            return 0.0;
        }
        if zeros {
            // Either may have underflowed only in the reference.
            return if exact.high == 0.0 {
                f64::INFINITY
            } else {
                0.0
            };
        }
        if self.absolute {
            return (got.value() - exact.high).abs();
        }
        T::TYPE.precision().error(got.value(), exact)
    }
}

fn is_quiet<T: Number>(nan: T) -> bool {
    nan.bits() >> (T::TYPE.precision().stored_bits() - 1) & 1 == 1
}

/// No less than the error in ulp of the exact result, which rounds to `nearest`.
fn at_most<T: Number>(got: T, nearest: T) -> f64 {
    let bits = T::TYPE.precision().stored_bits();
    // Encodings count magnitudes.
    let sign = T::nearest(-0.0).bits();
    let order = |x: T| match x.bits() {
        bits if bits & sign == 0 => bits as i64,
        bits => -((bits & !sign) as i64),
    };
    let steps = order(got).abs_diff(order(nearest)) as f64;
    let inside = nearest.bits() & ((1 << bits) - 1) != 0;
    if inside && got.bits() >> bits == nearest.bits() >> bits {
        steps + 0.5
    } else {
        // Steps have another size across a power of two. More than one such change is more steps
        // than any error here.
        2.0 * steps + 1.0
    }
}

/// The arguments that the bound of a function is for.
fn domain(func: Func) -> fn([f64; 3]) -> bool {
    let name = func.name();
    match plain_name(func) {
        "sin" | "cos" | "tan" if name != plain_name(func) => |[x, ..]| x.abs() <= 65536.0,
        // From 1/2 to 2 the bound is absolute, and far.
        _ if name.starts_with("native_log") => {
            |[x, ..]| x.is_finite() && x.abs() >= 2f64.powi(-126) && !(0.5..=2.0).contains(&x)
        }
        "powr" | "pow" | "pown" | "rootn" if is_relaxed(func) => {
            |[x, y, _]| x.is_finite() && x.abs() >= 2f64.powi(-126) && y.is_finite()
        }
        _ if is_relaxed(func) => |[x, y, _]| x.is_finite() && y.is_finite(),
        name => exact::domain(name),
    }
}

/// The results that the bound of a function is for: relaxed forms may flush denormals and take
/// arguments and results for valid.
fn range(func: Func) -> fn(f64) -> bool {
    if !is_relaxed(func) || plain_name(func).starts_with("log") {
        return |_| true;
    }
    |expected| (2f64.powi(-125)..2f64.powi(127)).contains(&expected.abs())
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
