//! The results the specification prescribes beyond C99 ("Additional Requirements Beyond ISO/IEC
//! 9899:TC2"), for the functions no reference covers, and a few of the others.

use brolga_mathlib::{Func, Value, eval, eval_values};
use std::num::Wrapping;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[track_caller]
fn same(what: &str, got: f64, expected: f64) {
    assert!(
        (got.is_nan() && expected.is_nan()) || got.to_bits() == expected.to_bits(),
        "{what}: got {got:e}, expected {expected:e}"
    );
}

/// Evaluates in both formats.
#[track_caller]
fn both(func: Func, arguments: &[f64], expected: f64) {
    let what = format!("{}{arguments:?}", func.name());
    same(&what, eval(func, arguments), expected);
    let narrow: Vec<f32> = arguments.iter().map(|&x| x as f32).collect();
    same(&what, f64::from(eval(func, &narrow)), expected);
}

#[track_caller]
fn both_int(func: Func, x: f64, n: i32, expected: f64) {
    let what = format!("{}({x}, {n})", func.name());
    let wide = [Value::Float(x), Value::Int(Wrapping(i64::from(n) as u64))];
    let narrow = [Value::Float(x as f32), Value::Int(Wrapping(n as u32))];
    match (
        eval_values(func, x, &wide).0,
        eval_values(func, 0f32, &narrow).0,
    ) {
        (Value::Float(double), Value::Float(single)) => {
            same(&what, double, expected);
            same(&what, f64::from(single), expected);
        }
        other => panic!("{what} returned {other:?}"),
    }
}

#[test]
fn powr() {
    for powr in [Func::Powr, Func::HalfPowr] {
        both(powr, &[2.0, 0.0], 1.0);
        both(powr, &[2.0, -0.0], 1.0);
        for zero in [0.0, -0.0] {
            both(powr, &[zero, -2.5], INF);
            both(powr, &[zero, -INF], INF);
            both(powr, &[zero, 2.5], 0.0);
            both(powr, &[zero, INF], 0.0);
            both(powr, &[zero, 0.0], NAN);
            both(powr, &[INF, zero], NAN);
        }
        both(powr, &[1.0, 5.0], 1.0);
        both(powr, &[1.0, INF], NAN);
        both(powr, &[1.0, -INF], NAN);
        both(powr, &[-1.0, 2.0], NAN);
        both(powr, &[-INF, 2.0], NAN);
        both(powr, &[1.0, NAN], NAN);
        both(powr, &[0.0, NAN], NAN);
        both(powr, &[NAN, 0.0], NAN);
        both(powr, &[INF, -1.0], 0.0);
        both(powr, &[0.5, INF], 0.0);
        both(powr, &[0.5, -INF], INF);
    }
}

#[test]
fn pown() {
    for x in [0.0, -0.0, 1.0, -3.0, INF, -INF, NAN] {
        both_int(Func::Pown, x, 0, 1.0);
    }
    for zero in [0.0, -0.0f64] {
        both_int(Func::Pown, zero, -3, INF.copysign(zero));
        both_int(Func::Pown, zero, -4, INF);
        both_int(Func::Pown, zero, 4, 0.0);
        both_int(Func::Pown, zero, 3, zero);
    }
    both_int(Func::Pown, -INF, 3, -INF);
    both_int(Func::Pown, -INF, -3, -0.0);
    both_int(Func::Pown, NAN, 2, NAN);
    both_int(Func::Pown, -2.0, 5, -32.0);
    both_int(Func::Pown, -1.0, i32::MAX, -1.0);
    both_int(Func::Pown, -1.0, i32::MIN, 1.0);
    both_int(Func::Pown, 2.0, i32::MIN, 0.0);
}

#[test]
fn rootn() {
    for zero in [0.0, -0.0f64] {
        both_int(Func::Rootn, zero, -3, INF.copysign(zero));
        both_int(Func::Rootn, zero, -4, INF);
        both_int(Func::Rootn, zero, 4, 0.0);
        both_int(Func::Rootn, zero, 3, zero);
    }
    both_int(Func::Rootn, -8.0, 2, NAN);
    both_int(Func::Rootn, -8.0, 3, -2.0);
    both_int(Func::Rootn, 8.0, 0, NAN);
    both_int(Func::Rootn, NAN, 3, NAN);
    both_int(Func::Rootn, INF, 5, INF);
    both_int(Func::Rootn, -INF, 5, -INF);
    both_int(Func::Rootn, INF, -5, 0.0);
    both_int(Func::Rootn, 8.0, 1, 8.0);
}

#[test]
fn pi_functions() {
    for sign in [1.0, -1.0] {
        both(Func::Sinpi, &[sign * 0.0], sign * 0.0);
        both(Func::Cospi, &[sign * 0.0], 1.0);
        both(Func::Tanpi, &[sign * 0.0], sign * 0.0);
        both(Func::Sinpi, &[sign * 1e30], sign * 0.0);
        for of_pi in [Func::Sinpi, Func::Cospi, Func::Tanpi] {
            both(of_pi, &[sign * INF], NAN);
        }
    }
    for n in [1.0, 2.0, 3.0, 4.0, 1e6, 1e6 + 1.0] {
        both(Func::Sinpi, &[n], 0.0);
        both(Func::Sinpi, &[-n], -0.0);
        both(Func::Cospi, &[n + 0.5], 0.0);
        both(Func::Cospi, &[-n - 0.5], 0.0);
        let even = n % 2.0 == 0.0;
        both(Func::Tanpi, &[n], if even { 0.0 } else { -0.0 });
        both(Func::Tanpi, &[-n], if even { -0.0 } else { 0.0 });
        both(Func::Tanpi, &[n + 0.5], if even { INF } else { -INF });
    }
    both(Func::Tanpi, &[-0.5], -INF);
    both(Func::Atan2pi, &[0.0, -0.0], 1.0);
    both(Func::Atan2pi, &[-0.0, -3.0], -1.0);
    both(Func::Atan2pi, &[INF, -INF], 0.75);
    both(Func::Atan2pi, &[-INF, INF], -0.25);
    both(Func::Atan2pi, &[-2.0, 0.0], -0.5);
    both(Func::Atanpi, &[-INF], -0.5);
    both(Func::Acospi, &[1.0], 0.0);
}

#[test]
fn common_functions() {
    both(Func::Rint, &[-0.5], -0.0);
    both(Func::Round, &[-0.4], -0.0);
    both(Func::Ceil, &[-0.9], -0.0);
    both(Func::Trunc, &[-0.9], -0.0);
    both(Func::Fmin, &[NAN, 1.0], 1.0);
    both(Func::Fmax, &[1.0, NAN], 1.0);
    both(Func::Fmin, &[NAN, NAN], NAN);
    both(Func::Step, &[1.0, 1.0], 1.0);
    both(Func::Smoothstep, &[0.0, 1.0, 0.5], 0.5);
    both(Func::Smoothstep, &[0.0, 1.0, 2.0], 1.0);
    both(Func::Mix, &[1.0, 3.0, 0.5], 2.0);
    both(Func::Fclamp, &[5.0, 0.0, 1.0], 1.0);
    both(Func::Fclamp, &[NAN, 0.0, 1.0], 0.0);
    both(Func::FminCommon, &[2.0, 1.0], 1.0);
    both(Func::FmaxCommon, &[INF, 1.0], INF);
    // "Common Functions": "Returns y if y < x, otherwise it returns x".
    for zero in [0.0, -0.0] {
        both(Func::FminCommon, &[zero, -zero], zero);
        both(Func::FmaxCommon, &[zero, -zero], zero);
    }
    both(Func::Degrees, &[0.0], 0.0);
    both(Func::Exp10, &[-INF], 0.0);
    both(Func::Pow, &[-0.0, -INF], INF);
    both(Func::Pow, &[-1.0, INF], 1.0);
    both(Func::Pow, &[1.0, NAN], 1.0);
}

#[test]
fn every_function_has_one_name() {
    for &func in Func::ALL {
        assert_eq!(Func::from_name(func.name()), Some(func));
    }
    assert_eq!(Func::from_name("sine"), None);
}

#[test]
fn half_trigonometry_beyond_its_range_stays_in_the_functions_range() {
    for x in [65537.0, -1e6, 3e20, -f64::from(f32::MAX)] {
        let x = x as f32;
        for (func, expected) in [
            (Func::HalfSin, 0.0),
            (Func::HalfCos, 1.0),
            (Func::HalfTan, 0.0),
        ] {
            let got = eval(func, &[x]);
            assert_eq!(got, expected, "{}({x:e})", func.name());
        }
    }
    for func in [Func::HalfSin, Func::HalfCos, Func::HalfTan] {
        assert!(eval(func, &[f32::INFINITY]).is_nan());
        assert!(eval(func, &[f32::NAN]).is_nan());
    }
}
