//! What each function should return: correctly rounded (CORE-MATH), wider than `double`, or exact.

use brolga_mathlib::Func;
use brolga_mathlib_testing::reference::{degrees, radians, rootn, rsqrt};
use brolga_mathlib_testing::{BINARY, UNARY, Wide};
use core_math as cr;

use super::exact::{Exact, definition};

/// One result of one argument.
#[derive(Clone, Copy)]
pub enum Unary {
    /// Rounded to `float` and to `double`.
    Rounded(fn(f32) -> f32, fn(f64) -> f64),
    /// Rounded to `float`, and wider than `double`.
    RoundedOrWide(fn(f32) -> f32, fn(f64) -> Wide),
    Wide(fn(f64) -> Wide),
}

/// A reference by the kind of its arguments.
#[derive(Clone)]
pub enum Reference {
    /// For each result.
    Unary(Vec<Unary>),
    /// Rounded to `float`, where there is such a function, and to `double`.
    Binary(Option<fn(f32, f32) -> f32>, fn(f64, f64) -> f64),
    Ternary(fn(f32, f32, f32) -> f32, fn(f64, f64, f64) -> f64),
    WithInt(fn(f64, i32) -> Wide),
    Exact(Exact),
    /// NaN, whatever the argument.
    NotANumber,
}

/// The name of the reference, the same for functions that can be tried together: that without
/// `half_`, `native_` or `relaxed_`, and of one that returns more results.
pub fn reference_name(func: Func) -> &'static str {
    match plain_name(func) {
        "sin" => "sincos",
        "lgamma" => "lgamma_r",
        "mad" => "fma",
        name => name,
    }
}

/// The reference of a name.
pub fn reference(name: &'static str) -> Reference {
    let unary = |single, double| Reference::Unary(vec![Unary::Rounded(single, double)]);
    if name == "rsqrt" {
        return Reference::Unary(vec![Unary::RoundedOrWide(cr::rsqrtf, rsqrt)]);
    }
    if let Some(u) = UNARY.iter().find(|u| u.func.name() == name) {
        return unary(u.single, u.double);
    }
    if let Some(b) = BINARY.iter().find(|b| b.func.name() == name) {
        return Reference::Binary(Some(b.single), b.double);
    }
    match name {
        "lgamma_r" => Reference::Unary(vec![
            Unary::Rounded(cr::lgammaf, cr::lgamma),
            Unary::Wide(|x| gamma_sign(x).into()),
        ]),
        "sincos" => Reference::Unary(vec![
            Unary::Rounded(cr::sinf, cr::sin),
            Unary::Rounded(cr::cosf, cr::cos),
        ]),
        "powr" => Reference::Binary(None, powr),
        "pown" => Reference::WithInt(|x, n| cr::pow(x, f64::from(n)).into()),
        "rootn" => Reference::WithInt(rootn),
        "divide" => Reference::Binary(Some(|x, y| x / y), |x, y| x / y),
        "recip" => unary(f32::recip, f64::recip),
        "sqrt" => unary(f32::sqrt, f64::sqrt),
        "ceil" => unary(f32::ceil, f64::ceil),
        "fabs" => unary(f32::abs, f64::abs),
        "floor" => unary(f32::floor, f64::floor),
        "rint" => unary(f32::round_ties_even, f64::round_ties_even),
        "round" => unary(f32::round, f64::round),
        "trunc" => unary(f32::trunc, f64::trunc),
        "degrees" => Reference::Unary(vec![Unary::Wide(degrees)]),
        "radians" => Reference::Unary(vec![Unary::Wide(radians)]),
        "copysign" => Reference::Binary(Some(f32::copysign), f64::copysign),
        "fmod" => Reference::Binary(Some(|x, y| x % y), |x, y| x % y),
        "fma" => Reference::Ternary(f32::mul_add, f64::mul_add),
        "nan" => Reference::NotANumber,
        name => Reference::Exact(definition(name).expect("every function has a reference")),
    }
}

/// The name without `half_`, `native_` or `relaxed_`.
pub fn plain_name(func: Func) -> &'static str {
    let name = func.name();
    ["half_", "native_", "relaxed_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

/// The sign of the gamma function, 0 where it has none ("OpExtInst lgamma_r": zero and negative
/// integers).
fn gamma_sign(x: f64) -> f64 {
    match x.floor() {
        floor if x == floor && x <= 0.0 => 0.0,
        floor if x < 0.0 && floor % 2.0 != 0.0 => -1.0,
        _ => 1.0,
    }
}

/// x^y, with what has no limit undefined ("Additional Requirements Beyond ISO/IEC 9899:TC2").
fn powr(x: f64, y: f64) -> f64 {
    let end = x == 0.0 || x == f64::INFINITY;
    if x < 0.0 || x.is_nan() || y.is_nan() || (end && y == 0.0) || (x == 1.0 && y.is_infinite()) {
        return f64::NAN;
    }
    cr::pow(x.abs(), y)
}
