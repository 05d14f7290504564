//! Sampled sweeps against correctly rounded references: no error above the specification's bound,
//! none far above what each function has, and the right zero, infinity or NaN.
//!
//! The compiler's example `math_table` is the exhaustive form.

use brolga_mathlib::{Accuracy, Float, Func, Table, Value, eval, eval_values};
use brolga_mathlib_testing::reference::rootn;
use brolga_mathlib_testing::ulp::{error_f32, error_f64};
use brolga_mathlib_testing::{
    BINARY, Estimated, Precision, RELAXED, Random, UNARY, pair, relaxed_limit, special_values,
};
use core_math as cr;
use std::num::Wrapping;

fn ulp(accuracy: Accuracy) -> f64 {
    match accuracy {
        Accuracy::Ulp(ulp) => ulp,
        Accuracy::Any => f64::INFINITY,
        other => panic!("{other:?} is not a number of ulp"),
    }
}

/// Zero, infinity and NaN have no error: both or neither, and with the same sign.
fn same_kind<T: Into<f64>>(got: T, expected: T) -> bool {
    let (got, expected) = (got.into(), expected.into());
    if expected == 0.0 || got.is_infinite() != expected.is_infinite() {
        // A denormal against zero, or the largest number against infinity, is a matter of ulp.
        return got.is_sign_negative() == expected.is_sign_negative();
    }
    got.is_nan() == expected.is_nan()
        && (got.is_nan() || got.is_sign_negative() == expected.is_sign_negative())
}

/// The function on a machine that has estimates.
fn with_estimates<F: Float<Mask = bool>>(func: Func, arguments: &[F]) -> F {
    let arguments: Vec<Estimated<F>> = arguments.iter().copied().map(Estimated).collect();
    eval(func, &arguments).0
}

fn check_f32(func: Func, arguments: &[f32], rounded: f32, reference: f64) {
    for got in [eval(func, arguments), with_estimates(func, arguments)] {
        let error = error_f32(got, reference);
        assert!(
            error <= ulp(func.accuracy()[1]) && same_kind(got, rounded),
            "{}{arguments:?} is {got:e}, expected {reference:e}, error {error} ulp",
            func.name(),
        );
    }
}

fn check_f64(func: Func, arguments: &[f64], reference: f64) {
    for got in [eval(func, arguments), with_estimates(func, arguments)] {
        let error = error_f64(got, reference);
        assert!(
            error <= ulp(func.accuracy()[2]) && same_kind(got, reference),
            "{}{arguments:?} is {got:e}, expected {reference:e}, error {error} ulp",
            func.name(),
        );
    }
}

#[test]
fn unary_functions_of_float() {
    for u in UNARY {
        for bits in (0..=u64::from(u32::MAX)).step_by(104_729) {
            let x = f32::from_bits(bits as u32);
            check_f32(u.func, &[x], (u.single)(x), (u.double)(f64::from(x)));
        }
        for x in special_values() {
            let x = x as f32;
            check_f32(u.func, &[x], (u.single)(x), (u.double)(f64::from(x)));
        }
    }
}

#[test]
fn unary_functions_of_double() {
    for u in UNARY {
        let mut random = Random(7);
        for i in 0..20_000 {
            let x = if i % 2 == 0 {
                f64::from_bits(random.next())
            } else {
                random.with_exponent(-12, 11)
            };
            check_f64(u.func, &[x], (u.double)(x));
        }
        for x in special_values() {
            check_f64(u.func, &[x], (u.double)(x));
        }
    }
}

/// The arguments closest to a multiple of pi/2, where the reduction cancels most (J.-M. Muller,
/// "Elementary Functions", chapter on range reduction), both sides of the inline limits, and what
/// is nearest to the first multiples and to some of the others.
#[test]
fn hard_arguments_of_trigonometry() {
    let hard = [
        6_381_956_970_095_103.0 * 2f64.powi(797),
        16_367_173.0 * 2f64.powi(72),
        131_072.0,
        131_073.0,
        2f64.powi(30),
        2f64.powi(30) + 1.0,
        f64::MAX,
        f64::from(f32::MAX),
    ];
    for u in UNARY
        .iter()
        .filter(|u| matches!(u.func, Func::Sin | Func::Cos | Func::Tan))
    {
        let multiples = (1..4000).chain((1..4000).map(|k| k * 170_003));
        let multiples = multiples.map(|k| f64::from(k) * std::f64::consts::FRAC_PI_2);
        for x in hard
            .into_iter()
            .chain(multiples)
            .flat_map(|x| [x, -x, x.next_up(), x.next_down()])
        {
            check_f64(u.func, &[x], (u.double)(x));
            let x = x as f32;
            check_f32(u.func, &[x], (u.single)(x), (u.double)(f64::from(x)));
        }
    }
}

#[test]
fn binary_functions() {
    for b in BINARY {
        let mut random = Random(11);
        for i in 0..40_000 {
            let (x, y) = pair(&mut random, i, |bits| {
                f64::from(f32::from_bits(bits as u32))
            });
            let (x, y) = (x as f32, y as f32);
            check_f32(
                b.func,
                &[x, y],
                (b.single)(x, y),
                (b.double)(x.into(), y.into()),
            );
            let (x, y) = pair(&mut random, i, f64::from_bits);
            check_f64(b.func, &[x, y], (b.double)(x, y));
        }
        for x in special_values() {
            for y in special_values() {
                check_f64(b.func, &[x, y], (b.double)(x, y));
                let (x, y) = (x as f32, y as f32);
                check_f32(
                    b.func,
                    &[x, y],
                    (b.single)(x, y),
                    (b.double)(x.into(), y.into()),
                );
            }
        }
    }
}

/// The specification leaves them open. Near zeros on the negative axis a `double` is as near as the
/// logarithms are that it is the difference of.
#[test]
fn logarithm_of_gamma() {
    let mut random = Random(23);
    for i in 0..40_000 {
        let x = match i % 4 {
            0 => random.with_exponent(-1022, 1022),
            1 => random.with_exponent(-12, 9),
            2 => 1.0 + random.with_exponent(-50, -1),
            _ => random.with_exponent(-1, 3),
        };
        let expected = cr::lgamma(x);
        let got = eval(Func::Lgamma, &[x]);
        if x > 0.0 {
            let error = error_f64(got, expected);
            assert!(error <= 8.0, "lgamma({x:e}) is {got:e}, error {error} ulp");
        } else if expected.is_finite() {
            let logarithm = cr::lgamma(-x).abs().max(1.0);
            let error = (got - expected).abs() / (logarithm * f64::EPSILON);
            assert!(
                error <= 8.0,
                "lgamma({x:e}) is {got:e}, expected {expected:e}"
            );
        }
        let x = x as f32;
        let error = error_f32(eval(Func::Lgamma, &[x]), cr::lgamma(f64::from(x)));
        assert!(error <= 16.0, "lgamma({x:e}): error {error} ulp");
        let sign = |x: f64| match eval_values(Func::LgammaR, x, &[Value::Float(x)]) {
            (_, Some(Value::Int(sign))) => sign.0 as i64,
            other => panic!("lgamma_r returned {other:?}"),
        };
        let x = f64::from(x);
        if x.abs() < 40.0 && x != x.floor() {
            assert_eq!(
                sign(x),
                cr::tgamma(x).signum() as i64,
                "sign of gamma({x:e})"
            );
            assert_eq!(sign(x.floor()), i64::from(x > 1.0), "sign of gamma({x:e})");
        }
    }
}

#[test]
fn half_functions_keep_to_8192_ulp_and_the_edge_cases() {
    for u in RELAXED
        .iter()
        .filter(|u| u.func.name().starts_with("half_"))
    {
        let sampled = (0..=u64::from(u32::MAX))
            .step_by(104_729)
            .map(|b| f32::from_bits(b as u32));
        let special = special_values().into_iter().map(|x| x as f32);
        for x in sampled
            .chain(special)
            .filter(|x| x.abs() <= relaxed_limit(u.func))
        {
            check_f32(u.func, &[x], (u.single)(x), (u.double)(f64::from(x)));
        }
    }
}

#[test]
fn native_functions_have_twenty_bits_for_ordinary_arguments() {
    for u in RELAXED
        .iter()
        .filter(|u| u.func.name().starts_with("native_"))
    {
        let mut random = Random(13);
        for _ in 0..20_000 {
            let x = random.with_exponent(-6, 4) as f32;
            let got = eval(u.func, &[x]);
            let expected = (u.double)(f64::from(x));
            // Near a zero of the function only the absolute error is of interest.
            let scale = expected.abs().max(1.0) * (1.0 + f64::from(x).abs());
            let error = (f64::from(got) - expected).abs() / scale;
            let both_nan = got.is_nan() && expected.is_nan();
            let both_tiny = f64::from(got).abs().max(expected.abs()) < 1e-37;
            assert!(
                error < 2e-6 || both_nan || both_tiny || f64::from(got) == expected,
                "{}({x:e}) is {got:e}, expected {expected:e}",
                u.func.name()
            );
        }
    }
}

/// "ULP Values for Math Instructions - Unsafe Math Optimizations Enabled", where arguments and
/// results are normal.
#[test]
fn what_stands_in_for_plain_functions_keeps_the_relaxed_bounds() {
    let normal = |x: f64| x.abs() >= 2f64.powi(-125) && x.abs() < 2f64.powi(127);
    let mut random = Random(31);
    for i in 0..40_000u64 {
        let (x, y) = pair(&mut random, i, |bits| {
            f64::from(f32::from_bits(bits as u32))
        });
        let (x, y) = (x as f32, y as f32);
        let (xd, yd) = (f64::from(x), f64::from(y));
        if !x.is_normal() || !y.is_normal() {
            continue;
        }
        let within = |func: Func, arguments: &[f32], expected: f64, bound: f64| {
            let error = error_f32(eval(func, arguments), expected);
            assert!(
                error <= bound || !normal(expected),
                "{}{arguments:?}: error {error} ulp",
                func.name()
            );
        };
        let exponential = |x: f64| 3.0 + (2.0 * x).abs().floor();
        within(Func::NativeExp, &[x], cr::exp(xd), exponential(xd));
        within(Func::NativeExp2, &[x], cr::exp2(xd), exponential(xd));
        within(Func::NativeExp10, &[x], cr::exp10(xd), 8192.0);
        for (func, expected) in [
            (Func::NativeLog, cr::log(xd)),
            (Func::NativeLog2, cr::log2(xd)),
            (Func::NativeLog10, cr::log10(xd)),
        ] {
            // Between 1/2 and 2 the bound is absolute.
            if (0.5..=2.0).contains(&xd) {
                let error = (f64::from(eval(func, &[x])) - expected).abs();
                assert!(
                    error <= 2f64.powi(-21),
                    "{}({x:e}): off by {error:e}",
                    func.name()
                );
            } else {
                within(func, &[x], expected, 3.0);
            }
        }
        within(Func::RelaxedAtan2, &[y, x], cr::atan2(yd, xd), 8192.0);
        within(
            Func::NativePowr,
            &[x.abs(), y],
            cr::pow(xd.abs(), yd),
            8192.0,
        );
        if x > 0.0 || y == y.trunc() {
            within(Func::RelaxedPow, &[x, y], cr::pow(xd, yd), 8192.0);
        }
        let n = random.next() as i32 >> (random.next() % 32);
        let of_int = |func: Func| match eval_values(
            func,
            0f32,
            &[Value::Float(x), Value::Int(Wrapping(n as u32))],
        ) {
            (Value::Float(r), None) => r,
            other => panic!("{} returned {other:?}", func.name()),
        };
        let expected = cr::pow(xd, f64::from(n));
        let error = error_f32(of_int(Func::RelaxedPown), expected);
        assert!(
            error <= 8192.0 || !normal(expected),
            "relaxed_pown({x:e}, {n}): error {error} ulp"
        );
        if n != 0 && (x > 0.0 || n % 2 != 0) {
            let expected = cr::pow(xd.abs(), 1.0 / f64::from(n)).copysign(xd);
            let expected = if n % 2 == 0 { expected.abs() } else { expected };
            let error = error_f32(of_int(Func::RelaxedRootn), expected);
            assert!(
                error <= 8192.0 || !normal(expected),
                "relaxed_rootn({x:e}, {n}): error {error} ulp"
            );
        }
    }
}

#[test]
fn powers_agree_with_pow() {
    let mut random = Random(17);
    for i in 0..40_000 {
        let (x, y) = pair(&mut random, i, |bits| {
            f64::from(f32::from_bits(bits as u32))
        });
        let x = (x as f32).abs();
        let y = y as f32;
        let (xd, yd) = (f64::from(x), f64::from(y));
        if x > 0.0 && x.is_finite() && y.is_finite() {
            check_f32(Func::Powr, &[x, y], cr::powf(x, y), cr::pow(xd, yd));
            check_f32(Func::HalfPowr, &[x, y], cr::powf(x, y), cr::pow(xd, yd));
            check_f64(Func::Powr, &[xd, yd], cr::pow(xd, yd));
        }
    }
}

/// Where the powers of `double` leave its normal numbers, and what is computed otherwise then.
#[test]
fn powers_at_the_ends_of_the_range() {
    let mut random = Random(37);
    let check = |x: f64, y: f64| {
        let expected = cr::pow(x, y);
        for func in [Func::Pow, Func::Powr] {
            let got = eval(func, &[x, y]);
            let error = error_f64(got, expected);
            assert!(
                error <= 2.0,
                "{}({x:e}, {y:e}) is {got:e}, error {error} ulp",
                func.name()
            );
        }
    };
    for i in 0..40_000u64 {
        // Of the exponents that are about to change how it is done, and of others.
        let log2 = match i % 4 {
            0 => 1020.0 + random.with_exponent(-10, 1),
            1 => -1020.0 - random.with_exponent(-10, 1),
            2 => -1022.0 - random.with_exponent(-5, 5),
            _ => random.with_exponent(-1, 9),
        };
        let x = match i % 3 {
            // Next to 1, where the logarithm is that of a table's entry of zero, or nearly so.
            0 => 1.0 + random.with_exponent(-40, -2),
            1 => 1.0 / (1.0 + random.with_exponent(-9, -1)),
            _ => random.with_exponent(-300, 300),
        };
        check(x.abs(), log2 / x.abs().log2());
    }
    for e in [-1022.0, -1021.0, 1021.0, 1022.0, 1023.0] {
        let end = 2f64.powf(e);
        for x in [end.next_down(), end, end.next_up()] {
            check(x, 1.0);
            check(x, 0.5);
            check(x, -0.75);
        }
    }
}

/// The parts of the table of logarithms add up, and what is multiplied by its numbers stays exact.
#[test]
fn table_of_logarithms() {
    let [inverse, high, low] = Table::ALL.map(Table::entries);
    let start = 0x3fe6_8400_0000_0000u64;
    for n in 0..16 {
        assert_eq!(high[n] * 2f64.powi(42), (high[n] * 2f64.powi(42)).trunc());
        let (sum, c) = (high[n] + low[n], inverse[n]);
        assert!((sum + cr::log(c)).abs() <= sum.abs() * f64::EPSILON);
        assert_eq!(c == 1.0, sum == 0.0);
        for i in 0..1000u64 {
            let step = (1u64 << 48) / 999;
            let m = f64::from_bits(start + ((n as u64) << 48) + i * step - u64::from(i == 999));
            let r = m.mul_add(c, -1.0);
            assert!(r.abs() < 0.0335, "{m:e}");
            // Of the product, what the sum may have lost.
            let product = m * c;
            assert_eq!(r - (product - 1.0), m.mul_add(c, -product), "{m:e}");
        }
    }
}

/// `pown` and `rootn` of both formats.
fn with_int(func: Func, x: f64, n: i32) -> (f32, f64) {
    let narrow = [Value::Float(x as f32), Value::Int(Wrapping(n as u32))];
    let wide = [Value::Float(x), Value::Int(Wrapping(i64::from(n) as u64))];
    match (
        eval_values(func, 0f32, &narrow).0,
        eval_values(func, 0f64, &wide).0,
    ) {
        (Value::Float(single), Value::Float(double)) => (single, double),
        other => panic!("{} returned {other:?}", func.name()),
    }
}

#[test]
fn integer_powers_and_roots() {
    let mut random = Random(19);
    for i in 0..40_000u64 {
        let n = match i % 3 {
            0 => random.next() as i32 % 20,
            1 => random.next() as i32 % 2000,
            _ => random.next() as i32,
        };
        let spread = 100.0 / f64::from(n).abs().max(1.0);
        let x = (spread * random.with_exponent(-3, -1)).exp2() as f32;
        let x = if i % 2 == 0 { x } else { -x };
        let (xd, nd) = (f64::from(x), f64::from(n));
        let expected = cr::pow(xd, nd);
        let (single, double) = with_int(Func::Pown, xd, n);
        assert!(
            error_f32(single, expected) <= 16.0,
            "pown({x:e}, {n}) is {single:e}"
        );
        assert!(
            error_f64(double, expected) <= 16.0,
            "pown({xd:e}, {n}) is {double:e}"
        );

        let expected = rootn(xd, n);
        let (single, double) = with_int(Func::Rootn, xd, n);
        if n == 0 || (x < 0.0 && n % 2 == 0) {
            assert!(
                single.is_nan() && double.is_nan(),
                "rootn({x:e}, {n}) is {single:e}"
            );
        } else {
            // The bound is 16 ulp; this is what they have.
            assert!(
                Precision::FLOAT.error(single.into(), expected) <= 2.1,
                "rootn({x:e}, {n}) is {single:e}"
            );
            assert!(
                Precision::DOUBLE.error(double, expected) <= 2.1,
                "rootn({xd:e}, {n}) is {double:e}"
            );
        }
        let (_, third) = with_int(Func::Rootn, xd, 3);
        assert!(
            error_f64(third, cr::cbrt(xd)) <= 2.0,
            "rootn({xd:e}, 3) is {third:e}"
        );
    }
}
