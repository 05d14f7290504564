//! `fmod`, `remainder` and the quotient of `remquo`, exact.

/// x rem y rounded to nearest even, and the low seven bits of the quotient's magnitude, for finite
/// x and finite y > 0, both non-negative. A `float` is done in `double`, exactly.
fn reduce(x: f64, y: f64) -> (f64, u32) {
    // The remainder by 2^7 y keeps the low bits of the quotient, if 2^7 y is finite.
    let big = y * 128.0;
    let mut x = if big.is_finite() { x % big } else { x };
    let mut quotient = 0u32;
    for bit in (0..7).rev() {
        let step = y * f64::from(1u32 << bit);
        // Exact: x < 2 step.
        if step.is_finite() && x >= step {
            x -= step;
            quotient |= 1 << bit;
        }
    }
    // Nearest: compare x with y - x, which is exact when it matters.
    let rest = y - x;
    if x > rest || (x == rest && quotient & 1 == 1) {
        x -= y;
        quotient += 1;
    }
    (x, quotient & 0x7f)
}

/// The remainder and the quotient modulo 2^7 with the quotient's sign; NaN and 0 where undefined.
fn remquo(x: f64, y: f64) -> (f64, i32) {
    if !x.is_finite() || y == 0.0 || y.is_nan() {
        return (f64::NAN, 0);
    }
    if y.is_infinite() {
        return (x, 0);
    }
    let (r, quotient) = reduce(x.abs(), y.abs());
    let quotient = quotient as i32;
    // A zero has the sign of x.
    let r = if x.is_sign_negative() { -r } else { r };
    let negative = x.is_sign_negative() != y.is_sign_negative();
    (r, if negative { -quotient } else { quotient })
}

pub(crate) extern "C" fn fmod_f32(x: f32, y: f32) -> f32 {
    x % y
}

pub(crate) extern "C" fn fmod_f64(x: f64, y: f64) -> f64 {
    x % y
}

pub(crate) extern "C" fn remainder_f32(x: f32, y: f32) -> f32 {
    remquo(f64::from(x), f64::from(y)).0 as f32
}

pub(crate) extern "C" fn remainder_f64(x: f64, y: f64) -> f64 {
    remquo(x, y).0
}

pub(crate) extern "C" fn quotient_f32(x: f32, y: f32) -> i32 {
    remquo(f64::from(x), f64::from(y)).1
}

pub(crate) extern "C" fn quotient_f64(x: f64, y: f64) -> i64 {
    i64::from(remquo(x, y).1)
}
