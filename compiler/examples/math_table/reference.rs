//! What each function should return, correctly rounded to `double` (CORE-MATH) or exact.

use brolga_mathlib::Func;
use core_math as cr;

use super::exact::{Exact, definition};
use super::support::{BINARY, UNARY};

/// A reference by the kind of its arguments.
#[derive(Clone, Copy)]
pub enum Reference {
    /// Rounded to `float` and to `double`.
    Unary(fn(f32) -> f32, fn(f64) -> f64),
    /// Both results of one argument.
    Pair([fn(f64) -> f64; 2]),
    Binary(fn(f64, f64) -> f64),
    Ternary(fn(f64, f64, f64) -> f64),
    /// The result, and what it lacks.
    WithInt(fn(f64, i32) -> (f64, f64)),
    Exact(Exact),
}

/// The reference of a function, whatever its form; none for `nan`, which only `mathlib/tests/exact.rs` tests.
pub fn reference(func: Func) -> Option<Reference> {
    let name = plain_name(func);
    if let Some(u) = UNARY.iter().find(|u| u.func.name() == name) {
        return Some(Reference::Unary(u.single, u.double));
    }
    if let Some(b) = BINARY.iter().find(|b| b.func.name() == name) {
        return Some(Reference::Binary(b.double));
    }
    Some(match name {
        "lgamma_r" => Reference::Pair([cr::lgamma, gamma_sign]),
        "sincos" => Reference::Pair([cr::sin, cr::cos]),
        "powr" => Reference::Binary(powr),
        "pown" => Reference::WithInt(|x, n| (cr::pow(x, f64::from(n)), 0.0)),
        "rootn" => Reference::WithInt(rootn),
        "divide" => Reference::Binary(|x, y| x / y),
        "recip" => Reference::Unary(f32::recip, f64::recip),
        "sqrt" => Reference::Unary(f32::sqrt, f64::sqrt),
        "ceil" => Reference::Unary(f32::ceil, f64::ceil),
        "fabs" => Reference::Unary(f32::abs, f64::abs),
        "floor" => Reference::Unary(f32::floor, f64::floor),
        "rint" => Reference::Unary(f32::round_ties_even, f64::round_ties_even),
        "round" => Reference::Unary(f32::round, f64::round),
        "trunc" => Reference::Unary(f32::trunc, f64::trunc),
        "degrees" => Reference::Unary(|x| f64::from(x).to_degrees() as f32, f64::to_degrees),
        "radians" => Reference::Unary(|x| f64::from(x).to_radians() as f32, f64::to_radians),
        "copysign" => Reference::Binary(f64::copysign),
        "fmod" => Reference::Binary(|x, y| x % y),
        "fma" | "mad" => Reference::Ternary(f64::mul_add),
        name => return definition(name).map(Reference::Exact),
    })
}

/// The name without `half_`, `native_` or `relaxed_`.
pub fn plain_name(func: Func) -> &'static str {
    let name = func.name();
    ["half_", "native_", "relaxed_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

/// The sign of the gamma function, 0 where it has none ("OpExtInst lgamma_r": zero and negative integers).
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

/// |x|^(1/n) with the sign, by the rounded 1/n; then what the rounding of 1/n makes it lack.
fn rootn(x: f64, n: i32) -> (f64, f64) {
    if n == 0 || (x < 0.0 && n % 2 == 0) {
        return (f64::NAN, 0.0);
    }
    let n = f64::from(n);
    let y = 1.0 / n;
    let r = cr::pow(x.abs(), y);
    let r = if n % 2.0 == 0.0 { r } else { r.copysign(x) };
    let y_low = (-y).mul_add(n, 1.0) / n;
    let lack = r * y_low * cr::log(x.abs());
    (r, if lack.is_finite() { lack } else { 0.0 })
}
