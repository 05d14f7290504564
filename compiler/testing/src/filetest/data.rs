//! Typed contents: `i32 [1 2 3*4]`, `f32 iota 16`, several types in turn for structures.

use brolga_compiler::ir::{ConvertOp, Rounding, Scalar, eval};
use half::f16;

/// What a buffer must hold afterwards.
#[derive(Debug)]
pub struct Expect {
    pub arg: usize,
    items: Vec<(Scalar, u64)>,
    /// How far, in units in the last place, floating-point elements may be off.
    ulps: u64,
}

fn scalar(name: &str) -> Result<Scalar, String> {
    let mut all = Scalar::ALL.into_iter();
    all.find(|s| s.name() == name)
        .ok_or_else(|| format!("unknown element type {name:?}"))
}

/// One number of a type: decimal, hexadecimal bits (`0x`), `nan`, `inf`, `-inf`.
fn element(scalar: Scalar, word: &str) -> Result<u64, String> {
    let bad = || format!("{word:?} is not an {}", scalar.name());
    if let Some(digits) = word.strip_prefix("0x") {
        let bits = u64::from_str_radix(digits, 16).map_err(|_| bad())?;
        return (bits <= scalar.mask() || scalar == Scalar::I1)
            .then_some(bits)
            .ok_or_else(bad);
    }
    if scalar.is_float() {
        let value: f64 = word.parse().map_err(|_| bad())?;
        return Ok(match scalar {
            // Straight to single precision: through double could round twice.
            Scalar::F32 => u64::from(word.parse::<f32>().map_err(|_| bad())?.to_bits()),
            Scalar::F16 => u64::from(f16::from_f64(value).to_bits()),
            _ => value.to_bits(),
        });
    }
    let value: i128 = word.parse().map_err(|_| bad())?;
    let fits = value >= -(i128::from(scalar.mask() >> 1) + 1) && value <= i128::from(scalar.mask());
    fits.then_some(value as u64 & scalar.mask()).ok_or_else(bad)
}

/// Arbitrary elements, the same ones every time: any bits, small numbers, and the ends of the
/// range.
fn random(scalar: Scalar, count: u64, seed: u64) -> impl Iterator<Item = (Scalar, u64)> {
    // SplitMix64.
    let mut state = seed.wrapping_mul(0xd134_2543_de82_ef95);
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    (0..count).map(move |_| {
        let (kind, x) = (next() % 8, next());
        let small = (x % 41) as i64 - 20;
        let bits = match kind {
            0..=2 if scalar.is_float() => eval::from_f64(scalar, small as f64 * 0.25),
            0..=2 => small as u64,
            3 => (scalar.mask() >> 1).wrapping_add(x % 3),
            4 => x % 2,
            5 => eval::convert(
                ConvertOp::SToF,
                Rounding::NearestEven,
                Scalar::I16,
                if scalar.is_float() {
                    scalar
                } else {
                    Scalar::F64
                },
                x & 0xffff,
            ),
            _ => x,
        };
        (scalar, bits & scalar.mask())
    })
}

/// Groups of a type and its elements, one after another.
fn items(text: &str) -> Result<Vec<(Scalar, u64)>, String> {
    let spaced = text.replace('[', " [ ").replace(']', " ] ");
    let mut words = spaced.split_whitespace().peekable();
    let mut items = Vec::new();
    while let Some(name) = words.next() {
        let scalar = scalar(name)?;
        let count = |word: Option<&str>| -> Result<u64, String> {
            word.and_then(|w| w.parse().ok())
                .ok_or_else(|| "expected a count".to_string())
        };
        match words.next().ok_or("expected contents")? {
            "[" => loop {
                let word = words.next().ok_or("expected `]`")?;
                if word == "]" {
                    break;
                }
                let (word, times) = match word.split_once('*') {
                    Some((word, times)) => (word, count(Some(times))?),
                    None => (word, 1),
                };
                let bits = element(scalar, word)?;
                items.extend((0..times).map(|_| (scalar, bits)));
            },
            "zero" => items.extend((0..count(words.next())?).map(|_| (scalar, 0))),
            "iota" => {
                for i in 0..count(words.next())? {
                    items.push((scalar, element(scalar, &i.to_string())?));
                }
            }
            "random" => {
                let n = count(words.next())?;
                let seed = words.peek().and_then(|word| word.parse().ok());
                if seed.is_some() {
                    words.next();
                }
                items.extend(random(scalar, n, seed.unwrap_or(0)));
            }
            word => items.push((scalar, element(scalar, word)?)),
        }
    }
    Ok(items)
}

/// The little-endian bytes of typed contents.
pub fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let items = items(text)?;
    let bytes = items
        .iter()
        .flat_map(|&(s, bits)| bits.to_le_bytes().into_iter().take(s.bytes() as usize));
    Ok(bytes.collect())
}

/// `0 i32 [..]` or `0 ulp 3 f32 [..]`.
pub fn expect(text: &str) -> Result<Expect, String> {
    let (arg, rest) = text.split_once(' ').ok_or("expected contents")?;
    let arg = arg.parse().map_err(|_| format!("not an argument: {arg}"))?;
    let (ulps, rest) = match rest.trim().strip_prefix("ulp ") {
        Some(rest) => {
            let (ulps, rest) = rest.split_once(' ').ok_or("expected contents")?;
            (ulps.parse().map_err(|_| "expected a count of ulp")?, rest)
        }
        None => (0, rest),
    };
    Ok(Expect {
        arg,
        items: items(rest)?,
        ulps,
    })
}

fn show(scalar: Scalar, bits: u64) -> String {
    let width = scalar.bytes() as usize * 2;
    if scalar.is_float() {
        format!("{:?} (0x{bits:0width$x})", eval::to_f64(scalar, bits))
    } else {
        format!("{} (0x{bits:0width$x})", eval::signed(scalar, bits))
    }
}

/// Whether two elements are the same: equal bits, both NaN, or near enough.
fn same(scalar: Scalar, ulps: u64, a: u64, b: u64) -> bool {
    if a == b {
        return true;
    }
    if !scalar.is_float() {
        return false;
    }
    let (x, y) = (eval::to_f64(scalar, a), eval::to_f64(scalar, b));
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    // Bits in the order of the numbers they are.
    let rank = |bits: u64| {
        let sign = (scalar.mask() >> 1) + 1;
        let magnitude = i128::from(bits & (sign - 1));
        if bits & sign == 0 {
            magnitude
        } else {
            -magnitude
        }
    };
    ulps > 0 && (rank(a) - rank(b)).unsigned_abs() <= u128::from(ulps)
}

/// Compares a buffer with what is expected of it.
///
/// # Errors
/// The first element that differs.
pub fn compare(expect: &Expect, got: &[u8]) -> Result<(), String> {
    let mut at = 0;
    for (n, &(scalar, expected)) in expect.items.iter().enumerate() {
        let size = scalar.bytes() as usize;
        let Some(bytes) = got.get(at..at + size) else {
            return Err(format!("has no element {n}: it has {} bytes", got.len()));
        };
        let mut lane = [0; 8];
        lane[..size].copy_from_slice(bytes);
        let actual = u64::from_le_bytes(lane);
        if !same(scalar, expect.ulps, expected, actual) {
            return Err(format!(
                "element {n} is {}, expected {}",
                show(scalar, actual),
                show(scalar, expected)
            ));
        }
        at += size;
    }
    if at != got.len() {
        return Err(format!("has {} bytes, expected {at}", got.len()));
    }
    Ok(())
}
