//! Correctly rounded references (CORE-MATH), and ones that are wider than `double`.

use brolga_mathlib::Func;
use core_math as cr;

use crate::ulp::Wide;

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

/// |x|^(1/n) with the sign of x.
pub fn rootn(x: f64, n: i32) -> Wide {
    if n == 0 || (x < 0.0 && n % 2 == 0) {
        return f64::NAN.into();
    }
    let n = f64::from(n);
    // The rounded 1/n, and what it lacks.
    let y = 1.0 / n;
    let y_low = (-y).mul_add(n, 1.0) / n;
    let r = cr::pow(x.abs(), y);
    let lack = r * y_low * cr::log(x.abs());
    let lack = if lack.is_finite() { lack } else { 0.0 };
    // The sum in two words: what is lacking may be many ulp.
    let high = r + lack;
    let low = lack - (high - r);
    let low = if low.is_finite() { low } else { 0.0 };
    let sign = if n % 2.0 == 0.0 {
        1.0
    } else {
        1f64.copysign(x)
    };
    Wide {
        high: high * sign,
        low: low * sign,
        exponent: 0,
    }
}

/// The inverse of the square root.
pub fn rsqrt(x: f64) -> Wide {
    let r = cr::rsqrt(x);
    // The first term of Newton's iteration, on what x r^2 lacks of 1.
    let product = x * r;
    let product_low = x.mul_add(r, -product);
    let lack = -product_low.mul_add(r, product.mul_add(r, -1.0));
    let low = 0.5 * r * lack;
    Wide {
        high: r,
        low: if low.is_finite() && x.is_normal() {
            low
        } else {
            0.0
        },
        exponent: 0,
    }
}

/// x (high + low).
fn times(x: f64, high: f64, low: f64) -> Wide {
    let product = x * high;
    let rest = x.mul_add(high, -product) + x * low;
    let sum = product + rest;
    if rest == 0.0 || !sum.is_finite() {
        return product.into();
    }
    Wide {
        high: sum,
        low: rest - (sum - product),
        exponent: 0,
    }
}

/// Radians to degrees.
pub fn degrees(x: f64) -> Wide {
    times(x, 57.29577951308232, -1.9878495670576283e-15)
}

/// Degrees to radians.
pub fn radians(x: f64) -> Wide {
    times(x, 0.017453292519943295, 2.9486522708701687e-19)
}
