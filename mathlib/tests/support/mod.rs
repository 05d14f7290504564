//! Correctly rounded references (CORE-MATH) and the measure of an error in ulp, shared by the
//! accuracy tests and the table that the compiler's example `math_table` makes.

// Each test uses its part.
#![allow(dead_code)]

use brolga_mathlib::Func;
use core_math as cr;

/// A function of one argument with its references.
#[derive(Clone, Copy)]
pub struct Unary {
    pub func: Func,
    pub single: fn(f32) -> f32,
    pub double: fn(f64) -> f64,
}

/// A function of two arguments with its references.
#[derive(Clone, Copy)]
pub struct Binary {
    pub func: Func,

    pub single: fn(f32, f32) -> f32,
    pub double: fn(f64, f64) -> f64,
}

macro_rules! unary {
    ($($func:ident $single:ident $double:ident),* $(,)?) => {
        &[$(Unary { func: Func::$func, single: cr::$single, double: cr::$double },)*]
    };
}

pub const UNARY: &[Unary] = unary![
    Acos acosf acos,
    Acosh acoshf acosh,
    Acospi acospif acospi,
    Asin asinf asin,
    Asinh asinhf asinh,
    Asinpi asinpif asinpi,
    Atan atanf atan,
    Atanh atanhf atanh,
    Atanpi atanpif atanpi,
    Cbrt cbrtf cbrt,
    Cos cosf cos,
    Cosh coshf cosh,
    Cospi cospif cospi,
    Erf erff erf,
    Erfc erfcf erfc,
    Exp expf exp,
    Exp2 exp2f exp2,
    Exp10 exp10f exp10,
    Expm1 expm1f expm1,
    Lgamma lgammaf lgamma,
    Log logf log,
    Log2 log2f log2,
    Log10 log10f log10,
    Log1p log1pf log1p,
    Rsqrt rsqrtf rsqrt,
    Sin sinf sin,
    Sinh sinhf sinh,
    Sinpi sinpif sinpi,
    Tan tanf tan,
    Tanh tanhf tanh,
    Tanpi tanpif tanpi,
    Tgamma tgammaf tgamma,
];

/// The relaxed functions, of `float` only.
pub const RELAXED: &[Unary] = unary![
    HalfCos cosf cos,
    HalfExp expf exp,
    HalfExp2 exp2f exp2,
    HalfExp10 exp10f exp10,
    HalfLog logf log,
    HalfLog2 log2f log2,
    HalfLog10 log10f log10,
    HalfRsqrt rsqrtf rsqrt,
    HalfSin sinf sin,
    HalfTan tanf tan,
    NativeExp expf exp,
    NativeExp2 exp2f exp2,
    NativeExp10 exp10f exp10,
    NativeLog logf log,
    NativeLog2 log2f log2,
    NativeLog10 log10f log10,
];

macro_rules! binary {
    ($($func:ident $single:ident $double:ident),* $(,)?) => {
        &[$(Binary { func: Func::$func, single: cr::$single, double: cr::$double },)*]
    };
}

pub const BINARY: &[Binary] = binary![
    Atan2 atan2f atan2,
    Atan2pi atan2pif atan2pi,
    Hypot hypotf hypot,
    Pow powf pow,
];

/// The largest argument the relaxed trigonometric functions are defined for.
pub fn relaxed_limit(func: Func) -> f32 {
    match func {
        Func::HalfSin | Func::HalfCos | Func::HalfTan => 65536.0,
        _ => f32::INFINITY,
    }
}

/// The error of `got` in ulp of `float`, against a reference good to `double`.
pub fn error_f32(got: f32, reference: f64) -> f64 {
    // A result above the largest finite number may be infinity within the error.
    error(f64::from(got), reference, 128, -126, 23)
}

/// The error of `got` in ulp of `double`, against a correctly rounded reference, so to within half
/// an ulp.
pub fn error_f64(got: f64, reference: f64) -> f64 {
    error(got, reference, 1024, -1022, 52)
}

/// The error of `got` in ulp of the format with these exponents and this many stored significand bits.
pub fn error(got: f64, reference: f64, overflow: i32, min_exponent: i32, width: i32) -> f64 {
    if got.is_nan() || reference.is_nan() {
        return if got.is_nan() && reference.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    // At half scale, so that infinity has a stand-in: 2^overflow.
    let limit = 2f64.powi(overflow - 1);
    let stand_in = |x: f64| {
        if x.is_infinite() {
            limit.copysign(x)
        } else {
            x * 0.5
        }
    };
    if got == reference {
        return 0.0;
    }
    let (g, r) = (stand_in(got), stand_in(reference));
    if r.abs() >= limit && g.abs() >= limit {
        return if g == r.signum() * g.abs() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = exponent(reference).clamp(min_exponent, overflow - 1);
    // In steps, as the ulp of a denormal has no inverse and a large difference no multiple.
    let half = exponent / 2;
    let scaled = (g - r) * 2.0 * 2f64.powi(-half) * 2f64.powi(width);
    (scaled * 2f64.powi(half - exponent)).abs()
}

fn exponent(x: f64) -> i32 {
    if x.abs() < f64::MIN_POSITIVE {
        -1022
    } else {
        ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
    }
}

/// A small generator of reproducible numbers (Weyl sequence, mixed as in SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A float of any sign with an exponent in a range, uniform in the encoding.
    pub fn with_exponent(&mut self, low: i32, high: i32) -> f64 {
        let e = low + (self.next() % (high - low + 1) as u64) as i32;
        let bits = self.next();
        let m = 1.0 + (bits >> 12) as f64 * 2f64.powi(-52);
        m * 2f64.powi(e) * if bits & 1 == 0 { 1.0 } else { -1.0 }
    }
}

/// Arguments for a function of two: anything, ordinary numbers, and ones whose power is in range.
pub fn pair(random: &mut Random, i: u64, any: fn(u64) -> f64) -> (f64, f64) {
    match i % 4 {
        0 => (any(random.next()), any(random.next())),
        1 => (random.with_exponent(-8, 8), random.with_exponent(-8, 8)),
        2 => (
            random.with_exponent(-1, 0).abs(),
            random.with_exponent(-3, 11),
        ),
        _ => {
            let x = random.with_exponent(-120, 120).abs();
            let y = random.with_exponent(-2, 9) / x.log2().abs().max(1e-3);
            (x, y)
        }
    }
}

/// Numbers where something happens, and their neighbours.
pub fn special_values() -> Vec<f64> {
    let mut values = vec![f64::NAN];
    let points = [
        0.0,
        1e-45,
        5e-324,
        1e-40,
        1e-310,
        1.17549435e-38,
        f64::MIN_POSITIVE,
        1e-10,
        0.25,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        5.0,
        10.0,
        16777216.0,
        8388607.5,
        1e10,
        9007199254740992.0,
        1e30,
        3.4028234663852886e38,
        f64::MAX,
        f64::INFINITY,
    ];
    for x in points {
        for x in [x, x.next_down(), x.next_up()] {
            values.extend([x, -x]);
        }
    }
    values
}
