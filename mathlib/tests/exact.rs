//! The functions whose results are exact, against definitions that are slow or obvious.

use brolga_mathlib::common::{fdim, maxmag, minmag, round, sign, smoothstep};
use brolga_mathlib::parts::{fract, nan};
use brolga_mathlib::parts::{
    fract_half, frexp, ilogb, ldexp, logb, modf, nextafter, nextafter_half,
};
use brolga_mathlib::rem::{fmod, remainder, remquo};
use brolga_mathlib_testing::{Random, special_values};
use std::num::Wrapping;

fn int32(n: i32) -> Wrapping<u32> {
    Wrapping(n as u32)
}

fn int64(n: i32) -> Wrapping<u64> {
    Wrapping(i64::from(n) as u64)
}

/// Equal, the sign of zero and NaN included.
#[track_caller]
fn same<T: Into<f64>>(got: T, expected: T) {
    let (got, expected) = (got.into(), expected.into());
    assert!(
        (got.is_nan() && expected.is_nan()) || got.to_bits() == expected.to_bits(),
        "got {got:e}, expected {expected:e}"
    );
}

/// Everything special and a few thousand encodings.
fn doubles() -> Vec<f64> {
    let mut random = Random(3);
    let mut values = special_values();
    values.extend((0..5000).map(|_| f64::from_bits(random.next())));
    values.extend((0..5000).map(|_| random.with_exponent(-4, 60)));
    values
}

#[test]
fn parts_put_together_again() {
    for x in doubles() {
        let (m, e) = frexp(x);
        same(ldexp(m, e), x);
        if x != 0.0 && x.is_finite() {
            assert!((0.5..1.0).contains(&m.abs()), "frexp({x:e}) is {m:e}");
            assert_eq!(ilogb(x), e - Wrapping(1));
            same(logb(x), (e.0 as i64 - 1) as f64);
        } else {
            same(m, x);
            assert_eq!(e.0, 0);
        }
        let x = x as f32;
        let (m, e) = frexp(x);
        same(ldexp(m, e), x);
        assert!(
            !x.is_normal() || (0.5..1.0).contains(&m.abs()),
            "frexp({x:e}) is {m:e}"
        );
    }
    assert_eq!(ilogb(0f32).0 as i32, i32::MIN);
    assert_eq!(ilogb(f32::NAN).0 as i32, i32::MAX);
    assert_eq!(ilogb(f64::INFINITY).0 as i32, i32::MAX);
    same(logb(0f32), f32::NEG_INFINITY);
    same(logb(f32::NEG_INFINITY), f32::INFINITY);
    same(logb(f64::NAN), f64::NAN);
}

#[test]
fn ldexp_rounds_once() {
    let mut random = Random(5);
    for i in 0..20_000 {
        let x = f32::from_bits(random.next() as u32);
        let n = if i % 8 == 0 {
            random.next() as i32
        } else {
            random.next() as i32 % 300
        };
        // In double the product is exact, so its conversion is the only rounding.
        let expected = f64::from(x) * f64::from(n.clamp(-400, 400)).exp2();
        same(ldexp(x, int32(n)), expected as f32);
    }
    same(ldexp(3f64, int64(-1075)), 1e-323);
    same(ldexp(1f64, int64(-1075)), 0.0);
    same(ldexp(5e-324f64, int64(i32::MAX)), f64::INFINITY);
    same(ldexp(-5e-324f64, int64(1074)), -1.0);
}

#[test]
fn integer_and_fraction() {
    for x in doubles() {
        same(round(x), x.round());
        same(round(x as f32), (x as f32).round());
        let (fraction, whole) = modf(x);
        same(whole, x.trunc());
        same(
            fraction,
            if x.is_infinite() {
                0f64.copysign(x)
            } else {
                x.fract().copysign(x)
            },
        );
        let (fraction, floor) = fract(x as f32);
        same(floor, (x as f32).floor());
        let plain = (x as f32) - floor;
        if plain.is_nan() {
            same(
                fraction,
                if x.is_nan() {
                    f32::NAN
                } else {
                    0f32.copysign(x as f32)
                },
            );
        } else {
            assert!((0.0..1.0).contains(&fraction), "fract({x:e}) is {fraction}");
            assert!(fraction == plain.min(1f32.next_down()));
        }
    }
    same(fract(-0f32).0, -0f32);
    same(fract(f64::NEG_INFINITY).0, -0f64);
    assert_eq!(fract_half(-1e-7f32).0, 1.0 - 2f32.powi(-11));
}

#[test]
fn neighbours() {
    for x in doubles() {
        same(nextafter(x, f64::INFINITY), x.next_up());
        same(nextafter(x, f64::NEG_INFINITY), x.next_down());
        same(nextafter(x, x), x);
        let x = x as f32;
        same(nextafter(x, f32::INFINITY), x.next_up());
        same(nextafter(x, f32::NEG_INFINITY), x.next_down());
        same(nextafter(x, f32::NAN), f32::NAN);
    }
    same(nextafter(0f32, -0f32), -0f32);
}

#[test]
fn neighbours_of_half() {
    for bits in 0..0x7c00u16 {
        let (x, up) = (half::f16::from_bits(bits), half::f16::from_bits(bits + 1));
        let (x, up) = (x.to_f32(), up.to_f32());
        same(nextafter_half(x, f32::INFINITY), up);
        same(nextafter_half(up, -1f32), x);
        same(nextafter_half(-x, f32::NEG_INFINITY), -up);
        same(nextafter_half(-up, 1f32), -x);
    }
}

/// The remainder by its definition, in integers, for numbers that are integers times 2^-20.
fn slow_remainder(x: f64, y: f64) -> (f64, f64, i128) {
    let unit = 2f64.powi(-20);
    let (a, b) = ((x / unit) as i128, (y / unit) as i128);
    let truncated = a % b;
    let mut quotient = a / b;
    let mut nearest = truncated;
    let twice = nearest.abs() * 2;
    if twice > b.abs() || (twice == b.abs() && quotient % 2 != 0) {
        let away = if (a < 0) == (b < 0) { 1 } else { -1 };
        quotient += away;
        nearest -= away * b;
    }
    let signed_zero = |r: i128| {
        if r == 0 {
            0f64.copysign(x)
        } else {
            r as f64 * unit
        }
    };
    (signed_zero(truncated), signed_zero(nearest), quotient)
}

#[test]
fn remainders() {
    let mut random = Random(9);
    for i in 0..60_000u64 {
        // Few bits, so that ties and exact quotients occur; some with large quotients.
        let mut number = |bits: u32, low: i32, high: i32| {
            let e = low + (random.next() % (high - low) as u64) as i32;
            let m = (random.next() % (1 << bits)) as f64 + 1.0;
            m * 2f64.powi(e) * if random.next() & 1 == 0 { 1.0 } else { -1.0 }
        };
        let x = number(if i % 2 == 0 { 4 } else { 24 }, -20, 50);
        let y = number(if i % 3 == 0 { 3 } else { 24 }, -20, 10);
        let (truncated, nearest, quotient) = slow_remainder(x, y);
        let low = ((quotient.abs() & 0x7f) as i64 * quotient.signum() as i64) as u64;
        same(fmod(x, y), truncated);
        same(remainder(x, y), nearest);
        let (r, q) = remquo(x, y);
        same(r, nearest);
        assert_eq!(q.0, low, "quotient of {x:e} and {y:e}");
        let (xs, ys) = (x as f32, y as f32);
        same(fmod(xs, ys), truncated as f32);
        same(remainder(xs, ys), nearest as f32);
        assert_eq!(
            remquo(xs, ys).1.0,
            low as u32,
            "quotient of {x:e} and {y:e}"
        );
    }
    for x in doubles() {
        for y in special_values() {
            same(fmod(x, y), x % y);
            same(fmod(x as f32, y as f32), x as f32 % y as f32);
            let (r, n) = remquo(x, y);
            if x.is_infinite() || y == 0.0 || x.is_nan() || y.is_nan() {
                assert!(r.is_nan() && n.0 == 0, "remquo({x:e}, {y:e}) is {r:e}, {n}");
            } else {
                assert!(
                    r.abs() <= y.abs() / 2.0 || y.abs() < 1e-300,
                    "remquo({x:e}, {y:e}) is {r:e}"
                );
                assert!(y.is_finite() || r.to_bits() == x.to_bits());
            }
        }
    }
}

/// "Returns 0.0 if x <= edge0 and 1.0 if x >= edge1", whatever overflows.
#[test]
fn smoothstep_beyond_its_edges() {
    let values: Vec<f64> = special_values()
        .into_iter()
        .filter(|x| !x.is_nan())
        .collect();
    for &lo in &values {
        for &hi in values.iter().filter(|&&hi| lo < hi) {
            for &x in &values {
                let (wide, narrow) = (
                    smoothstep(lo, hi, x),
                    smoothstep(lo as f32, hi as f32, x as f32),
                );
                assert!(
                    (0.0..=1.0).contains(&wide),
                    "smoothstep({lo:e}, {hi:e}, {x:e}) is {wide:e}"
                );
                assert!(lo as f32 >= hi as f32 || (0.0..=1.0).contains(&narrow));
                if x <= lo || x >= hi {
                    same(wide, f64::from(u8::from(x >= hi)));
                }
            }
        }
    }
}

#[test]
fn selections() {
    same(fdim(1f32, f32::NAN), f32::NAN);
    same(fdim(f32::NAN, 1f32), f32::NAN);
    same(fdim(1f32, 3f32), 0f32);
    same(fdim(3f32, 1f32), 2f32);
    same(fdim(f32::INFINITY, f32::INFINITY), 0f32);
    same(maxmag(-3f32, 2f32), -3f32);
    same(maxmag(-3f32, 3f32), 3f32);
    same(minmag(-3f32, 3f32), -3f32);
    same(maxmag(f32::NAN, 2f32), 2f32);
    same(minmag(2f32, f32::NAN), 2f32);
    same(sign(-0f32), -0f32);
    same(sign(f32::NAN), 0f32);
    same(sign(-1e-45f32), -1f32);
    assert_eq!(nan(0f32, Wrapping(5)).to_bits(), 0x7fc0_0005);
    assert_eq!(nan(0f64, Wrapping(5)).to_bits(), 0x7ff8_0000_0000_0005);
}
