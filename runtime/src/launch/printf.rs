//! Formatting what kernels print.
//!
//! OpenCL C Specification, "printf". The conversions are those of C99 without `n` and `*`, and with
//! vector specifiers (`v4`) and the length modifier `hl`; `z` and `t` came with OpenCL C 3.1.
//! Written out rather than handed to the C library, whose decimal point depends on the locale that
//! the application chose; the tests compare with it.

use brolga_compiler::PrintfScalar;
use half::f16;

/// Widths and precisions above this are taken as this, so that a mistyped format does not fill the
/// memory.
const MAX_WIDTH: usize = 4096;

/// Formats one call of `printf`.
///
/// `types` holds two bytes an argument: a [`PrintfScalar`] code and a lane count. `lanes` holds the
/// lanes of all arguments in order, zero-extended to 64 bits. `fetch_string` gives the bytes of a
/// NUL-terminated string at an address, without the NUL, and no more than it is told: "if the
/// precision is specified, no more than that many bytes are written", and none beyond need be
/// there. Formatting stops once there is more text than `room` bytes.
///
/// What the specification leaves undefined (unknown conversions, missing arguments) prints the
/// conversion specification itself.
pub fn format(
    format: &[u8],
    types: &[u8],
    lanes: &[u64],
    room: usize,
    fetch_string: impl Fn(u64, usize) -> Vec<u8>,
) -> Vec<u8> {
    let mut arguments = Arguments { types, lanes };
    let mut out = Vec::with_capacity(format.len() + 32);
    let mut rest = format;
    while out.len() <= room
        && let Some(at) = rest.iter().position(|&b| b == b'%')
    {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let Some((spec, length)) = Spec::parse(rest) else {
            // No conversion: the percent sign stands for itself.
            out.push(b'%');
            rest = &rest[1..];
            continue;
        };
        let text = &rest[..length];
        rest = &rest[length..];
        if spec.conversion == b'%' {
            out.push(b'%');
        } else if let Some(argument) = arguments.take(spec.vector) {
            convert(&mut out, &spec, &argument, &fetch_string);
        } else {
            out.extend_from_slice(text);
        }
    }
    out.extend_from_slice(rest);
    out
}

/// One argument: its lanes, each with the same scalar type.
struct Argument<'a> {
    scalar: u8,
    lanes: &'a [u64],
}

struct Arguments<'a> {
    types: &'a [u8],
    lanes: &'a [u64],
}

impl<'a> Arguments<'a> {
    /// The argument of a conversion of `components` lanes. The components of a vector may come as
    /// arguments of their own, as the compiler takes vectors apart; more lanes than the conversion
    /// names are passed over.
    fn take(&mut self, components: usize) -> Option<Argument<'a>> {
        let (&[scalar, count], mut types) = self.types.split_first_chunk::<2>()?;
        let mut lanes = usize::from(count);
        while lanes < components
            && let Some((&[next, more], rest)) = types.split_first_chunk::<2>()
            && next == scalar
        {
            lanes += usize::from(more);
            types = rest;
        }
        let (lanes, rest) = self.lanes.split_at_checked(lanes)?;
        (self.types, self.lanes) = (types, rest);
        Some(Argument {
            scalar,
            lanes: &lanes[..components.min(lanes.len())],
        })
    }
}

/// Length modifiers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    None,
    Hh,
    H,
    Hl,
    L,
}

/// A conversion specification: `%[flags][width][.precision][vector][length]conversion`.
pub(super) struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Components of a vector; 1 for a scalar.
    pub(super) vector: usize,
    pub(super) length: Length,
    pub(super) conversion: u8,
}

impl Spec {
    /// Those of a format that take an argument.
    pub(super) fn of(format: &[u8]) -> Vec<Spec> {
        let mut found = Vec::new();
        let mut rest = format;
        while let Some(at) = rest.iter().position(|&b| b == b'%') {
            rest = &rest[at..];
            let length = match Spec::parse(rest) {
                Some((spec, length)) => {
                    if spec.conversion != b'%' {
                        found.push(spec);
                    }
                    length
                }
                None => 1,
            };
            rest = &rest[length..];
        }
        found
    }

    /// Parses at a percent sign; also gives the number of bytes.
    fn parse(text: &[u8]) -> Option<(Spec, usize)> {
        let mut at = 1;
        let mut spec = Spec {
            minus: false,
            plus: false,
            space: false,
            alternative: false,
            zero: false,
            width: 0,
            precision: None,
            vector: 1,
            length: Length::None,
            conversion: 0,
        };
        loop {
            match text.get(at)? {
                b'-' => spec.minus = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternative = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize| {
            let mut value = None;
            while let Some(digit) = text.get(*at).filter(|b| b.is_ascii_digit()) {
                let so_far: usize = value.unwrap_or(0);
                let digit = usize::from(digit - b'0');
                value = Some(so_far.saturating_mul(10).saturating_add(digit));
                *at += 1;
            }
            value
        };
        spec.width = number(&mut at).unwrap_or(0).min(MAX_WIDTH);
        if text.get(at) == Some(&b'.') {
            at += 1;
            spec.precision = Some(number(&mut at).unwrap_or(0));
        }
        if text.get(at) == Some(&b'v') {
            at += 1;
            spec.vector = number(&mut at).filter(|n| matches!(n, 2 | 3 | 4 | 8 | 16))?;
        }
        let (length, size) = match (text.get(at)?, text.get(at + 1)) {
            (b'h', Some(b'h')) => (Length::Hh, 2),
            (b'h', Some(b'l')) => (Length::Hl, 2),
            (b'h', _) => (Length::H, 1),
            // `ll` is reserved; kernels ported from C have it.
            (b'l', Some(b'l')) => (Length::L, 2),
            // `size_t` and `ptrdiff_t` have as many bits as the address: 64.
            (b'l' | b'z' | b't', _) => (Length::L, 1),
            _ => (Length::None, 0),
        };
        spec.length = length;
        at += size;
        spec.conversion = *text.get(at)?;
        // Of a string it is a bound, which adds nothing.
        if spec.conversion != b's' {
            spec.precision = spec.precision.map(|precision| precision.min(MAX_WIDTH));
        }
        b"diouxXfFeEgGaAcsp%"
            .contains(&spec.conversion)
            .then_some((spec, at + 1))
    }
}

fn convert(
    out: &mut Vec<u8>,
    spec: &Spec,
    argument: &Argument,
    fetch_string: &impl Fn(u64, usize) -> Vec<u8>,
) {
    // A vector prints as its components separated by commas, each by the whole specification.
    for (index, &lane) in argument.lanes.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match spec.conversion {
            b'd' | b'i' => signed(out, spec, integer(spec, argument.scalar, lane)),
            b'o' | b'u' | b'x' | b'X' => {
                let bits = integer_bits(spec, argument.scalar);
                let value = integer(spec, argument.scalar, lane) as u64;
                unsigned(out, spec, value & (u64::MAX >> (64 - bits)));
            }
            b'c' => pad(out, spec, b"", &[lane as u8], false),
            b's' if argument.scalar == PrintfScalar::Pointer as u8 => {
                let most = spec.precision.unwrap_or(usize::MAX);
                let mut text = if lane == 0 {
                    b"(null)".to_vec()
                } else {
                    fetch_string(lane, most)
                };
                text.truncate(most);
                pad(out, spec, b"", &text, false);
            }
            // A %s of something that is no string has no meaning; its bits are better than a wild
            // read.
            b's' | b'p' => pad(out, spec, b"0x", format!("{lane:x}").as_bytes(), false),
            _ => float(out, spec, float_value(argument.scalar, lane)),
        }
    }
}

/// How many bits of an integer argument are printed: what the length modifier says, or for vectors
/// without one, what the argument has.
fn integer_bits(spec: &Spec, scalar: u8) -> u32 {
    match spec.length {
        Length::Hh => 8,
        Length::H => 16,
        Length::Hl => 32,
        Length::L => 64,
        Length::None if spec.vector > 1 => scalar_bits(scalar),
        Length::None => 32,
    }
}

fn scalar_bits(scalar: u8) -> u32 {
    const I8: u8 = PrintfScalar::I8 as u8;
    const I16: u8 = PrintfScalar::I16 as u8;
    const I32: u8 = PrintfScalar::I32 as u8;
    const F16: u8 = PrintfScalar::F16 as u8;
    const F32: u8 = PrintfScalar::F32 as u8;
    match scalar {
        I8 => 8,
        I16 | F16 => 16,
        I32 | F32 => 32,
        _ => 64,
    }
}

/// The lane, narrowed to what is printed and then sign-extended. A lane narrower than that is
/// sign-extended first: it was promoted.
fn integer(spec: &Spec, scalar: u8, lane: u64) -> i64 {
    let bits = integer_bits(spec, scalar).min(scalar_bits(scalar));
    ((lane << (64 - bits)) as i64) >> (64 - bits)
}

fn float_value(scalar: u8, lane: u64) -> f64 {
    const F16: u8 = PrintfScalar::F16 as u8;
    const F32: u8 = PrintfScalar::F32 as u8;
    const F64: u8 = PrintfScalar::F64 as u8;
    match scalar {
        F16 => f64::from(f16::from_bits(lane as u16)),
        F32 => f64::from(f32::from_bits(lane as u32)),
        F64 => f64::from_bits(lane),
        // An integer where a floating-point number belongs.
        _ => lane as f64,
    }
}

/// Writes `prefix` (sign, `0x`) and `body` in the field's width. Zeros go between the two.
fn pad(out: &mut Vec<u8>, spec: &Spec, prefix: &[u8], body: &[u8], zeros_allowed: bool) {
    let fill = spec.width.saturating_sub(prefix.len() + body.len());
    let zeros = zeros_allowed && spec.zero && !spec.minus;
    if !zeros && !spec.minus {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(prefix);
    if zeros {
        out.resize(out.len() + fill, b'0');
    }
    out.extend_from_slice(body);
    if spec.minus {
        out.resize(out.len() + fill, b' ');
    }
}

fn sign(spec: &Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// Digits with at least the precision's number of them; zero with precision zero has none.
fn with_precision(spec: &Spec, digits: String) -> String {
    match spec.precision {
        Some(0) if digits == "0" => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    }
}

fn signed(out: &mut Vec<u8>, spec: &Spec, value: i64) {
    let digits = with_precision(spec, value.unsigned_abs().to_string());
    // "For d, i, o, u, x and X conversions, if a precision is specified, the 0 flag is ignored."
    let zeros = spec.precision.is_none();
    pad(
        out,
        spec,
        sign(spec, value < 0).as_bytes(),
        digits.as_bytes(),
        zeros,
    );
}

fn unsigned(out: &mut Vec<u8>, spec: &Spec, value: u64) {
    let mut digits = with_precision(
        spec,
        match spec.conversion {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            _ => value.to_string(),
        },
    );
    let mut prefix = "";
    if spec.alternative {
        match spec.conversion {
            // "it increases the precision to force the first digit of the result to be a zero"
            b'o' if !digits.starts_with('0') => digits.insert(0, '0'),
            b'x' if value != 0 => prefix = "0x",
            b'X' if value != 0 => prefix = "0X",
            _ => {}
        }
    }
    let zeros = spec.precision.is_none();
    pad(out, spec, prefix.as_bytes(), digits.as_bytes(), zeros);
}

fn float(out: &mut Vec<u8>, spec: &Spec, value: f64) {
    let negative = value.is_sign_negative();
    let upper = spec.conversion.is_ascii_uppercase();
    let magnitude = value.abs();
    let mut prefix = sign(spec, negative).to_owned();
    let (mut body, finite) = if magnitude.is_nan() {
        ("nan".to_owned(), false)
    } else if magnitude.is_infinite() {
        ("inf".to_owned(), false)
    } else {
        let body = match spec.conversion.to_ascii_lowercase() {
            b'f' => fixed(magnitude, spec.precision.unwrap_or(6), spec.alternative),
            b'e' => exponential(magnitude, spec.precision.unwrap_or(6), spec.alternative),
            b'g' => general(magnitude, spec.precision.unwrap_or(6), spec.alternative),
            _ => {
                prefix.push_str("0x");
                hexadecimal(magnitude, spec.precision, spec.alternative)
            }
        };
        (body, true)
    };
    if upper {
        prefix.make_ascii_uppercase();
        body.make_ascii_uppercase();
    }
    pad(out, spec, prefix.as_bytes(), body.as_bytes(), finite);
}

fn fixed(value: f64, precision: usize, keep_point: bool) -> String {
    let mut text = format!("{value:.precision$}");
    if precision == 0 && keep_point {
        text.push('.');
    }
    text
}

fn exponential(value: f64, precision: usize, keep_point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if precision == 0 && keep_point {
        "."
    } else {
        ""
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.unsigned_abs())
}

/// C99, 7.19.6.1, `g`: style `e` if the exponent X of that style is below -4 or not below the
/// precision P, else style `f` with precision P - 1 - X; trailing zeros removed.
fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let exponent: i64 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let places = precision as i64 - 1 - exponent;
    if exponent < -4 || places < 0 {
        let text = exponential(value, precision - 1, keep_zeros);
        match text.split_once('e') {
            Some((mantissa, exponent)) if !keep_zeros => {
                format!("{}e{exponent}", without_trailing_zeros(mantissa))
            }
            _ => text,
        }
    } else {
        let text = fixed(value, places as usize, keep_zeros);
        if keep_zeros {
            text
        } else {
            without_trailing_zeros(&text).to_owned()
        }
    }
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// `1.8p+3` without the `0x`: one digit before the point, which is 1 unless the value is subnormal
/// or zero.
fn hexadecimal(value: f64, precision: Option<usize>, keep_point: bool) -> String {
    const FRACTION_BITS: u32 = 52;
    let bits = value.to_bits();
    let biased = (bits >> FRACTION_BITS) as i64;
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let mut mantissa = if biased == 0 {
        fraction
    } else {
        fraction | 1 << FRACTION_BITS
    };
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    const DIGITS: usize = FRACTION_BITS as usize / 4;
    if let Some(precision) = precision.filter(|&p| p < DIGITS) {
        // Round half to even in the last digit that is kept; a carry may make the first digit 2.
        let dropped = 4 * (DIGITS - precision) as u32;
        let half = 1 << (dropped - 1);
        let rest = mantissa & ((1 << dropped) - 1);
        mantissa >>= dropped;
        mantissa += u64::from(rest > half || (rest == half && mantissa & 1 == 1));
        mantissa <<= dropped;
    }
    let first = mantissa >> FRACTION_BITS;
    let mut digits = format!("{:013x}", mantissa & ((1 << FRACTION_BITS) - 1));
    match precision {
        Some(precision) if precision < DIGITS => digits.truncate(precision),
        Some(precision) => digits.push_str(&"0".repeat(precision - DIGITS)),
        None => digits.truncate(digits.trim_end_matches('0').len()),
    }
    let point = if !digits.is_empty() || keep_point {
        "."
    } else {
        ""
    };
    format!("{first}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    fn one(text: &str, scalar: PrintfScalar, lanes: &[u64]) -> String {
        let types = [scalar as u8, lanes.len() as u8];
        let out = format(text.as_bytes(), &types, lanes, usize::MAX, |_, most| {
            b"string"[..most.min(6)].to_vec()
        });
        String::from_utf8(out).unwrap()
    }

    /// What the C library makes of the same scalar.
    macro_rules! reference {
        ($format:expr, $value:expr) => {{
            let format = CString::new($format).unwrap();
            let mut buffer = vec![0_u8; 8192];
            // SAFETY: the buffer is as long as stated and the format takes one argument of the
            // value's type.
            let length = unsafe {
                libc::snprintf(
                    buffer.as_mut_ptr().cast(),
                    buffer.len(),
                    format.as_ptr(),
                    $value,
                )
            };
            buffer.truncate(length as usize);
            String::from_utf8(buffer).unwrap()
        }};
    }

    /// Every combination of flags, widths and precisions.
    fn decorations() -> Vec<String> {
        let mut all = Vec::new();
        for flags in 0..32 {
            let mut text = String::new();
            for (bit, flag) in ['-', '+', ' ', '#', '0'].into_iter().enumerate() {
                if flags >> bit & 1 == 1 {
                    text.push(flag);
                }
            }
            for width in ["", "1", "12", "30"] {
                for precision in ["", ".", ".0", ".1", ".3", ".17", ".40"] {
                    all.push(format!("{text}{width}{precision}"));
                }
            }
        }
        all
    }

    #[test]
    fn floating_point_agrees_with_the_c_library() {
        let mut values = vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.5,
            0.1,
            9.5,
            9.995,
            99999.95,
            1e5,
            1e6,
            1e-4,
            1e-5,
            123456789.0,
            1e100,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            1.0 / 3.0,
            0.125,
            0.375,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::EPSILON,
            4503599627370497.5,
            1.9999999999999998,
        ];
        let mut state = 1_u64;
        for _ in 0..60 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            values.push(f64::from_bits(state));
        }
        for decoration in decorations() {
            for conversion in ["f", "F", "e", "E", "g", "G", "a", "A"] {
                let text = format!("[%{decoration}{conversion}]");
                for &value in &values {
                    if value.is_nan() && value.is_sign_negative() {
                        continue;
                    }
                    let ours = one(&text, PrintfScalar::F64, &[value.to_bits()]);
                    assert_eq!(
                        ours,
                        reference!(text.as_str(), value),
                        "{text} of {value:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn integers_agree_with_the_c_library() {
        for decoration in decorations() {
            for conversion in ["d", "i", "o", "u", "x", "X"] {
                for value in [
                    0_i64,
                    1,
                    -1,
                    8,
                    127,
                    -128,
                    255,
                    32768,
                    65535,
                    i64::from(i32::MIN),
                    i64::MAX,
                    i64::MIN,
                ] {
                    for (length, scalar, lane) in [
                        ("hh", PrintfScalar::I32, value as u32 as u64),
                        ("h", PrintfScalar::I32, value as u32 as u64),
                        ("", PrintfScalar::I32, value as u32 as u64),
                        ("l", PrintfScalar::I64, value as u64),
                        ("z", PrintfScalar::I64, value as u64),
                        ("t", PrintfScalar::I64, value as u64),
                    ] {
                        let text = format!("[%{decoration}{length}{conversion}]");
                        let ours = one(&text, scalar, &[lane]);
                        assert_eq!(ours, reference!(text.as_str(), value), "{text} of {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn vectors_are_separated_by_commas() {
        let floats: Vec<u64> = [1.0_f32, 2.5, -3.0, 4.0]
            .iter()
            .map(|f| u64::from(f.to_bits()))
            .collect();
        assert_eq!(
            one("%v4hlf", PrintfScalar::F32, &floats),
            "1.000000,2.500000,-3.000000,4.000000"
        );
        assert_eq!(
            one("%2.2v4hlf", PrintfScalar::F32, &floats),
            "1.00,2.50,-3.00,4.00"
        );
        assert_eq!(
            one("[%5v3hhd]", PrintfScalar::I8, &[1, 0xff, 7]),
            "[    1,   -1,    7]"
        );
        assert_eq!(
            one("%#v2hx", PrintfScalar::I16, &[0xffff, 16]),
            "0xffff,0x10"
        );
        let apart = [PrintfScalar::I32 as u8, 1].repeat(5);
        let printed = format(
            b"%v4hld|%d",
            &apart,
            &[1, 2, 3, 4, 5],
            usize::MAX,
            |_, _| vec![],
        );
        assert_eq!(printed, b"1,2,3,4|5");
        assert_eq!(one("%v2ld", PrintfScalar::I64, &[u64::MAX, 1]), "-1,1");
        assert_eq!(
            one("%v2hlu", PrintfScalar::I32, &[0xffff_ffff, 1]),
            "4294967295,1"
        );
        assert_eq!(
            one("%v2hx", PrintfScalar::F16, &[0x3c00, 0x4000]),
            "3c00,4000"
        );
        assert_eq!(
            one("%v2hf", PrintfScalar::F16, &[0x3c00, 0x4000]),
            "1.000000,2.000000"
        );
    }

    #[test]
    fn characters_strings_pointers_and_percent_signs() {
        assert_eq!(one("[%3c]", PrintfScalar::I32, &[65]), "[  A]");
        assert_eq!(one("[%-8.3s]", PrintfScalar::Pointer, &[16]), "[str     ]");
        assert_eq!(one("%s", PrintfScalar::Pointer, &[0]), "(null)");
        assert_eq!(one("%p", PrintfScalar::Pointer, &[0xabc]), "0xabc");
        assert_eq!(one("100%% %d", PrintfScalar::I32, &[5]), "100% 5");
        assert_eq!(one("%s", PrintfScalar::I32, &[5]), "0x5");
    }

    /// "If the precision is specified, no more than that many bytes are written."
    #[test]
    fn no_more_of_a_string_is_read_than_is_printed() {
        let pointer = [PrintfScalar::Pointer as u8, 1];
        for (text, expected) in [
            ("%.3s", 3),
            ("%9.0s", 0),
            ("%.5000s", 5000),
            ("%s", usize::MAX),
        ] {
            let asked = std::cell::Cell::new(None);
            format(text.as_bytes(), &pointer, &[16], usize::MAX, |_, most| {
                asked.set(Some(most));
                Vec::new()
            });
            assert_eq!(asked.get(), Some(expected), "{text}");
        }
    }

    /// A format of any address may ask for more than there is memory.
    #[test]
    fn text_beyond_the_room_is_not_made() {
        let types = [PrintfScalar::I32 as u8, 1].repeat(1000);
        let text = "%4096d".repeat(1000);
        let printed = format(text.as_bytes(), &types, &[1; 1000], 10_000, |_, _| vec![]);
        assert!(
            (10_001..20_000).contains(&printed.len()),
            "{}",
            printed.len()
        );
    }

    #[test]
    fn negative_nan_and_infinities_are_spelt_like_in_c99() {
        assert_eq!(
            one("[%08f]", PrintfScalar::F32, &[0xff80_0000]),
            "[    -inf]"
        );
        assert_eq!(one("%E", PrintfScalar::F32, &[0x7fc0_0000]), "NAN");
    }

    #[test]
    fn general_style_counts_the_digits_after_rounding() {
        // glibc 2.36 prints `1.e+06` for the second.
        let bits = 999_999.5_f64.to_bits();
        assert_eq!(one("%g", PrintfScalar::F64, &[bits]), "1e+06");
        assert_eq!(one("%#g", PrintfScalar::F64, &[bits]), "1.00000e+06");
    }

    #[test]
    fn malformed_formats_print_as_they_are() {
        for text in [
            "%", "100%", "%q", "%v5d", "%-", "%.", "%l", "%*d", "%v", "%n", "%5",
        ] {
            assert_eq!(one(text, PrintfScalar::I32, &[1]), text);
        }
        assert_eq!(one("%d %d", PrintfScalar::I32, &[1]), "1 %d");
        assert_eq!(
            one("%99999999999999999999d", PrintfScalar::I32, &[1]).len(),
            MAX_WIDTH
        );
        assert_eq!(
            format(b"%d%v4d", &[99, 0, 3, 200], &[1], usize::MAX, |_, _| vec![]),
            b"%v4d"
        );
        assert_eq!(
            format(b"%f%s", &[77, 1, 77], &[1], usize::MAX, |_, _| vec![]),
            b"1.000000%s"
        );
    }
}
