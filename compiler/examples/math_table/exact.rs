//! The functions that are exact, or nearly so, by their definitions in plain arithmetic.

use half::f16;

use super::number::Type;

/// Floats of some type, and an integer, to one result or two; integers are numbers here.
pub type Exact = fn(Type, [f64; 3], i32) -> [f64; 2];

/// The definition of a function.
pub fn definition(name: &str) -> Option<Exact> {
    Some(match name {
        "fclamp" => |_, [x, low, high], _| [x.max(low).min(high), 0.0],
        "fdim" => |ty, [x, y, _], _| match x > y {
            _ if x.is_nan() || y.is_nan() => [f64::NAN, 0.0],
            true => [difference(ty, x, y), 0.0],
            false => [0.0, 0.0],
        },
        "fmax" | "fmax_common" => |_, [x, y, _], _| [x.max(y), 0.0],
        "fmin" | "fmin_common" => |_, [x, y, _], _| [x.min(y), 0.0],
        "fract" => |ty, [x, ..], _| match x.floor() {
            floor if x.is_infinite() => [0.0, floor],
            floor if x.is_nan() => [x, floor],
            floor => [difference(ty, x, floor).min(below_one(ty)), floor],
        },
        "frexp" => |_, [x, ..], _| frexp(x),
        "ilogb" => |_, [x, ..], _| match frexp(x) {
            _ if x == 0.0 => [f64::from(i32::MIN), 0.0],
            _ if !x.is_finite() => [f64::from(i32::MAX), 0.0],
            [_, e] => [e - 1.0, 0.0],
        },
        "ldexp" => |_, [x, ..], n| {
            let [m, e] = frexp(x);
            // One rounding: the first step is exact.
            let n = (i64::from(n) + e as i64).clamp(-1200, 1200) as i32;
            [m * exp2(n / 2) * exp2(n - n / 2), 0.0]
        },
        "logb" => |_, [x, ..], _| match frexp(x) {
            _ if x == 0.0 => [f64::NEG_INFINITY, 0.0],
            _ if !x.is_finite() => [x.abs(), 0.0],
            [_, e] => [e - 1.0, 0.0],
        },
        "maxmag" => |_, [x, y, _], _| match (x.abs(), y.abs()) {
            (a, b) if a > b => [x, 0.0],
            (a, b) if b > a => [y, 0.0],
            _ => [x.max(y), 0.0],
        },
        "minmag" => |_, [x, y, _], _| match (x.abs(), y.abs()) {
            (a, b) if a < b => [x, 0.0],
            (a, b) if b < a => [y, 0.0],
            _ => [x.min(y), 0.0],
        },
        "mix" => |_, [x, y, a], _| [(y - x).mul_add(a, x), 0.0],
        "modf" => |_, [x, ..], _| match x.trunc() {
            whole if x.is_infinite() => [0.0, whole],
            whole => [x - whole, whole],
        },
        "nextafter" => |ty, [x, y, _], _| [next(ty, x, y), 0.0],
        "remainder" => |_, [x, y, _], _| [remquo(x, y)[0], 0.0],
        "remquo" => |_, [x, y, _], _| remquo(x, y),
        "sign" => |_, [x, ..], _| match x {
            x if x == 0.0 || x.is_nan() => [0.0, 0.0],
            x => [x.signum(), 0.0],
        },
        "smoothstep" => |_, [low, high, x], _| {
            let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
            [t * t * (3.0 - 2.0 * t), 0.0]
        },
        "step" => |_, [edge, x, _], _| [f64::from(u8::from(x >= edge)), 0.0],
        _ => return None,
    })
}

/// The arguments that a definition is for: the common functions leave NaN and infinity open,
/// `fclamp` and `smoothstep` bounds that are not in order, and `mix` a beyond 1.
pub fn domain(name: &str) -> fn([f64; 3]) -> bool {
    const fn finite([x, y, z]: [f64; 3]) -> bool {
        x.is_finite() && y.is_finite() && z.is_finite()
    }
    match name {
        "fclamp" => |[x, low, high]| finite([x, low, high]) && low <= high,
        "fmax_common" | "fmin_common" | "step" => |[x, y, _]| x.is_finite() && y.is_finite(),
        "mix" => {
            |[x, y, a]| finite([x, y, a]) && (0.0..=1.0).contains(&a) && x.abs().max(y.abs()) < 1e3
        }
        "smoothstep" => |[low, high, x]| {
            let ordered = low < high && (high - low) > 1e-3;
            finite([low, high, x]) && ordered && low.abs().max(high.abs()) < 1e3
        },
        _ => |_| true,
    }
}

/// The remainder of x to the nearest multiple of y, and the low seven bits of that multiple with
/// its sign.
fn remquo(x: f64, y: f64) -> [f64; 2] {
    if !x.is_finite() || y == 0.0 || y.is_nan() {
        return [f64::NAN, 0.0];
    }
    let (a, b) = (x.abs(), y.abs());
    // Without multiples of the divisor that have no part in the bits wanted, so that the quotient
    // is small enough for its rounding to undo those of the subtraction and the division.
    let a = a % (b * exp2(32));
    let rest = a % b;
    let quotient = ((a - rest) / b).round() as i64;
    // b - rest is exact, or else greater than rest.
    let nearer = b - rest;
    let up = i64::from(rest > nearer || (rest == nearer && quotient % 2 == 1));
    let rest = if up == 1 { rest - b } else { rest };
    let quotient = ((quotient + up) & 0x7f) as f64;
    let sign = 1f64.copysign(x) * 1f64.copysign(y);
    [rest * 1f64.copysign(x), quotient * sign]
}

/// x - y, rounded to the type.
fn difference(ty: Type, x: f64, y: f64) -> f64 {
    match ty {
        Type::Half => f16::from_f64(x - y).to_f64(),
        Type::Float => f64::from(x as f32 - y as f32),
        Type::Double => x - y,
    }
}

fn below_one(ty: Type) -> f64 {
    match ty {
        Type::Half => 1.0 - 2f64.powi(-11),
        Type::Float => f64::from(1f32.next_down()),
        Type::Double => 1f64.next_down(),
    }
}

/// 2^n for n of a normal number.
fn exp2(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// x as m 2^e with m in [1/2, 1); itself and 0 if it has no exponent.
fn frexp(x: f64) -> [f64; 2] {
    if x == 0.0 || !x.is_finite() {
        return [x, 0.0];
    }
    let (scaled, down) = if x.is_normal() {
        (x, 0)
    } else {
        (x * exp2(64), 64)
    };
    let bits = scaled.to_bits();
    let e = ((bits >> 52) & 0x7ff) as i32 - 1022;
    let m = f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52));
    [m, f64::from(e - down)]
}

/// The neighbour of x toward y among the values of a type.
fn next(ty: Type, x: f64, y: f64) -> f64 {
    match (ty, y > x) {
        _ if x.is_nan() || y.is_nan() => f64::NAN,
        _ if x == y => y,
        (Type::Half, up) => {
            let bits = f16::from_f64(x).to_bits();
            let bits = match bits {
                0 | 0x8000 => 1 | (u16::from(!up) << 15),
                _ if up == (bits >> 15 == 0) => bits + 1,
                _ => bits - 1,
            };
            f16::from_bits(bits).to_f64()
        }
        (Type::Float, true) => f64::from((x as f32).next_up()),
        (Type::Float, false) => f64::from((x as f32).next_down()),
        (Type::Double, true) => x.next_up(),
        (Type::Double, false) => x.next_down(),
    }
}
