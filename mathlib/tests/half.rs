//! `half` functions in `float`: the unary ones at every encoding, `fma` against exact arithmetic.

use brolga_mathlib::{Accuracy, Func, eval_f16};
use brolga_mathlib_testing::{BINARY, Random, UNARY};
use half::f16;

/// The error in ulp of `half`.
fn error(got: f16, reference: f64) -> f64 {
    let got = got.to_f64();
    if got == reference || (got.is_nan() && reference.is_nan()) {
        return 0.0;
    }
    // A result above the largest finite number may be infinity within the error.
    let got = if got.is_infinite() {
        65536f64.copysign(got)
    } else {
        got
    };
    if reference.abs() >= 65536.0 && got.abs() == 65536.0 {
        return 0.0;
    }
    let exponent = if reference == 0.0 {
        -14
    } else {
        (reference.abs().log2().floor() as i32).clamp(-14, 15)
    };
    (got - reference).abs() * 2f64.powi(10 - exponent)
}

#[test]
fn unary_functions_at_every_encoding() {
    for u in UNARY {
        let Accuracy::Ulp(bound) = u.func.accuracy()[0] else {
            continue;
        };
        for bits in 0..=u16::MAX {
            let x = f16::from_bits(bits);
            let reference = (u.double)(x.to_f64());
            let error = error(eval_f16(u.func, &[x]), reference);
            assert!(
                error <= bound,
                "{}({x:e}): error {error} ulp",
                u.func.name()
            );
        }
    }
}

#[test]
fn binary_functions() {
    let mut random = Random(37);
    for b in BINARY {
        let Accuracy::Ulp(bound) = b.func.accuracy()[0] else {
            continue;
        };
        for _ in 0..200_000 {
            let bits = random.next();
            let (x, y) = (
                f16::from_bits(bits as u16),
                f16::from_bits((bits >> 16) as u16),
            );
            let reference = (b.double)(x.to_f64(), y.to_f64());
            let error = error(eval_f16(b.func, &[x, y]), reference);
            assert!(
                error <= bound,
                "{}({x:e}, {y:e}): error {error} ulp",
                b.func.name()
            );
        }
    }
}

/// The nearest `half` of a number within its range.
fn nearest_half(x: f64) -> f64 {
    let ulp = 2f64.powi((x.abs().log2().floor() as i32).max(-14) - 10);
    (x / ulp).round_ties_even() * ulp
}

#[test]
fn fma_is_correctly_rounded() {
    let mut random = Random(23);
    for i in 0..200_000 {
        // In f64 the product is exact; keep the exponents so close that the sum is, too.
        let mut number = |spread: i32| f16::from_f64(random.with_exponent(-spread, spread));
        let (x, y) = (number(6), number(6));
        let z = number(if i % 2 == 0 { 12 } else { 2 });
        let exact = x.to_f64() * y.to_f64() + z.to_f64();
        let got = eval_f16(Func::Fma, &[x, y, z]);
        assert_eq!(got.to_f64(), nearest_half(exact), "fma({x}, {y}, {z})");
    }
}

#[test]
fn format_functions() {
    let h = f16::from_f32;
    assert_eq!(
        eval_f16(Func::Nextafter, &[h(1.0), h(2.0)]),
        h(1.0 + 2f32.powi(-10))
    );
    assert_eq!(
        eval_f16(Func::Nextafter, &[f16::MAX, f16::INFINITY]),
        f16::INFINITY
    );
    assert_eq!(eval_f16(Func::Sqrt, &[h(2.0)]), h(2f32.sqrt()));
    assert_eq!(eval_f16(Func::Fmod, &[h(7.5), h(2.0)]), h(1.5));
}
