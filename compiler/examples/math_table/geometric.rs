//! The geometric functions: their bounds, their largest errors, over random vectors.
//!
//! `half` and `float` are compared with the definitions in `double`, which is exact enough for
//! them; `double` with double-double arithmetic.

use brolga_compiler::{Target, codegen};
use brolga_mathlib_testing::{Random, Wide, geometric, special_values};
use half::f16;

use super::arguments::Tried;
use super::kernel::{ELEMENTS, Kernel, Lane};
use super::number::{Number, Type};
use super::sweep::Found;

/// A function of vectors of a size.
#[derive(Clone, Copy)]
pub struct Geometric {
    pub name: &'static str,
    /// Components of a vector.
    pub lanes: usize,
    kind: Kind,
    is_fast: bool,
}

/// What a function takes and returns, and how its error counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Two vectors to a number or a vector; in units of the square of the largest component and of
    /// epsilon.
    Dot,
    Cross,
    /// A number, in ulp.
    Length,
    Distance,
    /// A vector, each component in ulp.
    Normalize,
}

const NAMES: [&str; 8] = [
    "cross",
    "distance",
    "dot",
    "length",
    "normalize",
    "fast_distance",
    "fast_length",
    "fast_normalize",
];

impl Geometric {
    /// Every function of a type, for vectors of every size that it is for.
    pub fn all(ty: Type) -> impl Iterator<Item = Geometric> {
        let sizes = |name: &str| match name {
            "cross" => 3..=4,
            // That of numbers is a product.
            "dot" => 2..=4,
            _ => 1..=4,
        };
        NAMES
            .into_iter()
            .filter(move |name| ty == Type::Float || !name.starts_with("fast_"))
            .flat_map(move |name| sizes(name).map(move |lanes| Geometric::new(name, lanes)))
    }

    fn new(name: &'static str, lanes: usize) -> Geometric {
        let kind = match name.trim_start_matches("fast_") {
            "dot" => Kind::Dot,
            "cross" => Kind::Cross,
            "length" => Kind::Length,
            "distance" => Kind::Distance,
            _ => Kind::Normalize,
        };
        Geometric {
            name,
            lanes,
            kind,
            is_fast: name.starts_with("fast_"),
        }
    }

    /// In OpenCL C.
    pub fn type_name(self, ty: Type) -> String {
        match self.lanes {
            1 => ty.c_name().to_owned(),
            lanes => format!("{}{lanes}", ty.c_name()),
        }
    }

    /// What the error must not be above ("ULP Values for Math Instructions - Full Profile"), and in
    /// which unit.
    pub fn bound(self, ty: Type) -> (f64, &'static str) {
        let n = self.lanes as f64;
        let by_type = |bounds: [f64; 3]| bounds[ty as usize];
        let bound = match self.kind {
            Kind::Dot => return (2.0 * n - 1.0, " max² ε"),
            Kind::Cross => return (3.0, " max² ε"),
            Kind::Length if self.is_fast => 8191.5 + n,
            Kind::Distance if self.is_fast => 8191.5 + 2.0 * n,
            Kind::Normalize if self.is_fast => 8192.0 + n,
            Kind::Length => by_type([0.25 + 0.5 * n, 2.75 + 0.5 * n, 5.5 + n]),
            Kind::Distance => by_type([2.0 * n, 2.5 + 2.0 * n, 5.5 + 2.0 * n]),
            Kind::Normalize => by_type([1.0 + n, 2.0 + n, 4.5 + n]),
        };
        (bound, "")
    }

    /// The kernel of the function.
    pub fn kernel(self, ty: Type, how: (Target, u8)) -> Kernel {
        let scalar = ty.name().to_owned();
        let vector = match self.lanes {
            1 => scalar.clone(),
            lanes => format!("{scalar}x{lanes}"),
        };
        let arguments = vec![vector.clone(); self.arity()];
        let result = match self.kind {
            Kind::Cross | Kind::Normalize => vector,
            _ => scalar,
        };
        let operation = format!("builtin.{}", self.name);
        Kernel::new(&operation, &arguments, &[result], how)
    }

    pub fn arity(self) -> usize {
        match self.kind {
            Kind::Length | Kind::Normalize => 1,
            _ => 2,
        }
    }

    /// From one vector to the next in memory: three components take the space of four.
    pub fn stride(self) -> usize {
        self.lanes.next_power_of_two()
    }

    /// The largest error among so many points.
    pub fn sweep(self, ty: Type, points: u64) -> Found {
        match ty {
            Type::Half => self.sweep_of::<f16>(points),
            Type::Float => self.sweep_of::<f32>(points),
            Type::Double => self.sweep_of::<f64>(points),
        }
    }

    fn sweep_of<T: Number + Lane>(self, points: u64) -> Found {
        let mut kernel = self.kernel(T::TYPE, (codegen::target(), 8));
        let mut source = Vectors::<T>::new(self.lanes);
        let (n, stride) = (self.lanes, self.stride());
        let mut found = Found {
            error: 0.0,
            of_rounded: false,
            at: Vec::new(),
            tried: Tried::Points(points),
        };
        let mut arguments = [[[T::default(); 4]; 2]; ELEMENTS];
        for _ in 0..points.div_ceil(ELEMENTS as u64) {
            for (at, vectors) in arguments.iter_mut().enumerate() {
                *vectors = source.next();
                for (index, vector) in vectors.iter().enumerate().take(self.arity()) {
                    kernel.argument(index)[at * stride..][..n].copy_from_slice(&vector[..n]);
                }
            }
            kernel.run();
            for (at, vectors) in arguments.iter().enumerate() {
                let [x, y] = vectors.map(|vector| vector.map(T::value));
                let (x, y) = (&x[..n], &y[..n]);
                let error = match self.kind {
                    Kind::Cross | Kind::Normalize => {
                        self.error(T::TYPE, &kernel.result::<T>(0)[at * stride..][..n], x, y)
                    }
                    _ => self.error(T::TYPE, &kernel.result::<T>(0)[at..=at], x, y),
                };
                if error > found.error {
                    found.error = error;
                    found.at = x.to_vec();
                    if self.arity() == 2 {
                        found.at.extend(y);
                    }
                }
            }
        }
        found
    }

    /// The error of a result, 0 where nothing is asked of it.
    fn error<T: Number>(self, ty: Type, got: &[T], x: &[f64], y: &[f64]) -> f64 {
        let arguments = || {
            x.iter()
                .chain(&y[..if self.arity() == 2 { y.len() } else { 0 }])
        };
        let precision = ty.precision();
        let (least, most) = (precision.min_positive(), precision.max());
        let is_finite = arguments().all(|x| x.is_finite());
        if !is_finite && (self.is_fast || self.kind == Kind::Distance) {
            return 0.0;
        }
        if self.is_fast {
            // Squares may overflow and underflow.
            let square = match self.kind {
                Kind::Distance => x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>(),
                _ => x.iter().map(|x| x * x).sum(),
            };
            if !(least..=most).contains(&square) {
                return 0.0;
            }
        }
        let infinite_and_nan = x.iter().any(|x| x.is_infinite()) && x.iter().any(|x| x.is_nan());
        if infinite_and_nan && self.kind == Kind::Length {
            return 0.0;
        }
        let in_double = ty != Type::Double;
        let of = |got: &T, exact: Wide| precision.error(got.value(), exact);
        match self.kind {
            Kind::Dot | Kind::Cross => {
                let largest = arguments().fold(0f64, |most, x| most.max(x.abs()));
                let unit = largest * largest;
                // Where the bound itself neither overflows nor underflows.
                if !is_finite || unit < least || unit * 8.0 > most {
                    return 0.0;
                }
                let unit = unit * precision.epsilon();
                let off = |got: &T, exact: Wide| {
                    let high = exact.to_f64();
                    ((got.value() - high) / unit).abs()
                };
                if self.kind == Kind::Dot {
                    let exact = if in_double {
                        x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>().into()
                    } else {
                        geometric::dot(x, y)
                    };
                    return off(&got[0], exact);
                }
                let exact = geometric::cross(x, y);
                got.iter()
                    .zip(exact)
                    .map(|(got, e)| off(got, e))
                    .fold(0.0, f64::max)
            }
            Kind::Length if in_double => {
                let special = x.iter().any(|x| !x.is_finite());
                let square = x.iter().map(|x| x * x).sum::<f64>();
                of(
                    &got[0],
                    if special {
                        geometric::length(x)
                    } else {
                        square.sqrt().into()
                    },
                )
            }
            Kind::Length => of(&got[0], geometric::length(x)),
            Kind::Distance if in_double => {
                let square = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                of(&got[0], square.sqrt().into())
            }
            Kind::Distance => of(&got[0], geometric::distance(x, y)),
            Kind::Normalize => {
                let special = x.iter().any(|x| !x.is_finite()) || x.iter().all(|&x| x == 0.0);
                if in_double && !special {
                    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                    let errors = got
                        .iter()
                        .zip(x)
                        .map(|(got, x)| of(got, (x / length).into()));
                    return errors.fold(0.0, f64::max);
                }
                let exact = geometric::normalize(x);
                got.iter()
                    .zip(exact)
                    .map(|(got, e)| of(got, e))
                    .fold(0.0, f64::max)
            }
        }
    }
}

/// Pairs of vectors, one after another.
struct Vectors<T> {
    lanes: usize,
    index: u64,
    random: Random,
    special: Vec<T>,
}

impl<T: Number> Vectors<T> {
    fn new(lanes: usize) -> Vectors<T> {
        Vectors {
            lanes,
            index: 0,
            random: Random(1),
            special: special_values().into_iter().map(T::nearest).collect(),
        }
    }

    fn next(&mut self) -> [[T; 4]; 2] {
        let i = self.index;
        self.index += 1;
        let special = self.special.len() as u64;
        let mut x = [T::default(); 4];
        let mut y = x;
        let n = self.lanes;
        // A common size.
        let limits = T::TYPE.precision().exponents();
        let size = limits.0 + (self.random.next() % (limits.1 - limits.0 + 1) as u64) as i32;
        let (low, high) = ((size - 3).max(limits.0), (size + 3).min(limits.1));
        for lane in 0..n {
            let random = &mut self.random;
            let mut number = || match i % 8 {
                0 => T::from_bits(random.next()),
                1 | 2 => T::nearest(random.with_exponent(-8, 8)),
                3 => T::nearest(random.with_exponent(low, high)),
                4 => T::nearest(((random.next() % 33) as f64) - 16.0),
                5 => {
                    // Subnormal, or nearly.
                    let least = T::nearest(T::TYPE.precision().min_positive()).bits();
                    T::from_bits(random.next() % (4 * least))
                }
                6 => match random.next() {
                    r if r % 4 == 0 => self.special[(r / 4 % special) as usize],
                    _ => T::nearest(random.with_exponent(-2, 2)),
                },
                _ => T::nearest(random.with_exponent(-4, 4)),
            };
            (x[lane], y[lane]) = (number(), number());
        }
        match i % 16 {
            // Near each other: differences cancel.
            7 => {
                for lane in 0..n {
                    y[lane] = x[lane].step((self.random.next() % 9) as i64 - 4);
                }
            }
            // Nearly at right angles, or parallel: products cancel.
            15 if n > 1 => {
                let of = [
                    x[1],
                    T::nearest(-x[0].value()),
                    x[n - 1],
                    T::nearest(-x[n - 2].value()),
                ];
                let parallel = self.random.next().is_multiple_of(2);
                for lane in 0..n {
                    let from = if parallel { x[lane] } else { of[lane] };
                    y[lane] = from.step((self.random.next() % 5) as i64 - 2);
                }
                if !parallel && n == 3 {
                    y[2] = T::default();
                }
            }
            _ => {}
        }
        [x, y]
    }
}
