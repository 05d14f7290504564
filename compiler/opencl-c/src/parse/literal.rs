//! The values of constants: integers, floating-point numbers, characters, strings.
//!
//! C99 6.4.4 and OpenCL C Specification, "Built-in Scalar Data Types": `h` is a suffix of `half`.

use super::Parser;
use crate::ast::{FloatSuffix, Number};
use crate::float::{half_from_f64, round};
use crate::token::TokenKind;

/// What an escape sequence or a character stands for.
enum Unit {
    /// A code point that the source spells.
    Char(char),
    /// A byte given by number.
    Byte(u32),
}

impl Parser<'_> {
    /// The value of the number that comes next; tells what is wrong with it.
    pub(super) fn number(&mut self) -> Option<Number> {
        let text = self.spelled(self.token().symbol);
        match parse_number(&text) {
            Ok(number) => Some(number),
            Err(why) => {
                let loc = self.loc();
                self.diags.error(loc, why);
                None
            }
        }
    }

    /// The value of the character constant that comes next.
    pub(super) fn character(&mut self) -> i32 {
        let text = self.spelled(self.token().symbol);
        let loc = self.loc();
        match character(&text) {
            Ok(value) => value,
            Err(why) => {
                self.diags.error(loc, why);
                0
            }
        }
    }

    /// Takes adjacent string literals and joins them.
    pub(super) fn strings(&mut self) -> Box<[u8]> {
        let mut bytes = Vec::new();
        while self.is(TokenKind::Str) {
            let text = self.spelled(self.token().symbol);
            let loc = self.bump();
            let Some(start) = text.find('"') else {
                continue;
            };
            if matches!(&text[..start], "L" | "u" | "U") {
                self.diags
                    .error(loc, "wide string literals are not supported in OpenCL C");
            }
            let body = &text[start + 1..];
            let body = body.strip_suffix('"').unwrap_or(body);
            if let Err(why) = unescape(body, |unit| push_unit(&mut bytes, unit)) {
                self.diags.error(loc, why);
            }
        }
        bytes.into()
    }
}

/// The value of a character constant with its quotes: `int`, of one `char` (which is signed) or
/// several.
pub(super) fn character(text: &str) -> Result<i32, String> {
    let body = text
        .trim_start_matches(['L', 'u', 'U'])
        .strip_prefix('\'')
        .map(|rest| rest.strip_suffix('\'').unwrap_or(rest))
        .unwrap_or_default();
    let mut bytes = Vec::new();
    unescape(body, |unit| push_unit(&mut bytes, unit))?;
    match bytes.as_slice() {
        [] => Err("empty character constant".to_owned()),
        [byte] => Ok(i32::from(*byte as i8)),
        many => Ok(many
            .iter()
            .fold(0, |value, byte| (value << 8) | i32::from(*byte))),
    }
}

/// The text of a string literal, what is no character replaced.
pub(super) fn string_text(text: &str) -> String {
    let body = text.find('"').map_or(text, |start| &text[start + 1..]);
    let mut bytes = Vec::new();
    // What is wrong with an escape sequence is of no importance here.
    let _ = unescape(body.strip_suffix('"').unwrap_or(body), |unit| {
        push_unit(&mut bytes, unit);
    });
    String::from_utf8_lossy(&bytes).into_owned()
}

fn push_unit(bytes: &mut Vec<u8>, unit: Unit) {
    match unit {
        Unit::Byte(byte) => bytes.push(byte as u8),
        Unit::Char(char) => {
            let mut buffer = [0; 4];
            bytes.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes());
        }
    }
}

/// Calls `each` for every character or escape sequence.
fn unescape(text: &str, mut each: impl FnMut(Unit)) -> Result<(), String> {
    let mut error = Ok(());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '\\' {
            each(Unit::Char(char));
            continue;
        }
        let Some(escape) = chars.next() else { break };
        let simple = match escape {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\x07'),
            'b' => Some('\x08'),
            'f' => Some('\x0c'),
            'v' => Some('\x0b'),
            'e' | 'E' => Some('\x1b'),
            '\\' | '\'' | '"' | '?' => Some(escape),
            _ => None,
        };
        if let Some(simple) = simple {
            each(Unit::Byte(simple as u32));
            continue;
        }
        let mut digits = |radix: u32, most: usize, first: Option<u32>| {
            let mut value = first.unwrap_or(0);
            let mut count = usize::from(first.is_some());
            while count < most
                && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
            {
                value = value.wrapping_mul(radix).wrapping_add(digit);
                count += 1;
                chars.next();
            }
            (value, count)
        };
        match escape {
            '0'..='7' => {
                let (value, _) = digits(8, 3, escape.to_digit(8));
                if value > 0xff {
                    error = Err("octal escape sequence out of range".to_owned());
                }
                each(Unit::Byte(value));
            }
            'x' => {
                let (value, count) = digits(16, usize::MAX, None);
                if count == 0 {
                    error = Err("\\x used with no following hex digits".to_owned());
                } else if count > 2 && value > 0xff {
                    error = Err("hex escape sequence out of range".to_owned());
                }
                each(Unit::Byte(value));
            }
            'u' | 'U' => {
                let most = if escape == 'u' { 4 } else { 8 };
                let (value, count) = digits(16, most, None);
                match char::from_u32(value) {
                    Some(char) if count == most => each(Unit::Char(char)),
                    _ => error = Err("invalid universal character".to_owned()),
                }
            }
            // An unknown escape is the character itself, as clang has it.
            _ => each(Unit::Char(escape)),
        }
    }
    error
}

/// The value of a preprocessing number.
pub(super) fn parse_number(text: &str) -> Result<Number, String> {
    let lower = text.to_ascii_lowercase();
    let hex = lower.strip_prefix("0x");
    let is_float = match hex {
        Some(hex) => hex.contains(['.', 'p']),
        None => !lower.starts_with("0b") && lower.contains(['.', 'e']),
    };
    if is_float {
        float(text, &lower)
    } else {
        integer(text, &lower)
    }
}

fn integer(text: &str, lower: &str) -> Result<Number, String> {
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower),
    };
    let end = digits
        .find(|c: char| !c.is_digit(if radix == 8 { 10 } else { radix }))
        .unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let (unsigned, longs) = match suffix {
        "" => (false, 0),
        "u" => (true, 0),
        "l" => (false, 1),
        "ul" | "lu" => (true, 1),
        "ll" => (false, 2),
        "ull" | "llu" => (true, 2),
        _ => {
            let spelled = &text[text.len() - suffix.len()..];
            return Err(format!("invalid suffix '{spelled}' on integer constant"));
        }
    };
    if radix == 8
        && let Some(bad) = digits.chars().find(|c| !c.is_digit(8))
    {
        return Err(format!("invalid digit '{bad}' in octal constant"));
    }
    if digits.is_empty() && radix != 8 {
        return Err(format!(
            "invalid suffix '{}' on integer constant",
            &text[1..]
        ));
    }
    let mut value = 0u64;
    for digit in digits.chars() {
        let digit = u64::from(digit.to_digit(radix).unwrap_or(0));
        value = value
            .checked_mul(u64::from(radix))
            .and_then(|value| value.checked_add(digit))
            .ok_or_else(|| {
                "integer literal is too large to be represented in any integer type".to_owned()
            })?;
    }
    Ok(Number::Int {
        value,
        unsigned,
        longs,
        decimal: radix == 10,
    })
}

fn float(text: &str, lower: &str) -> Result<Number, String> {
    let is_hex = lower.starts_with("0x");
    let end = lower
        .trim_end_matches(|c: char| {
            matches!(c, 'h' | 'l') || c == 'f' && (!is_hex || lower.contains('p'))
        })
        .len();
    let suffix = match &lower[end..] {
        "" => FloatSuffix::None,
        "f" => FloatSuffix::F,
        "h" => FloatSuffix::H,
        "l" => FloatSuffix::L,
        _ => {
            let spelled = &text[end..];
            return Err(format!("invalid suffix '{spelled}' on floating constant"));
        }
    };
    let digits = &lower[..end];
    let (value, single, half) = if is_hex {
        hex_float(&digits[2..])?
    } else {
        let bad = || format!("invalid suffix on floating constant '{text}'");
        if digits.ends_with(['e', '+', '-']) {
            return Err("exponent has no digits".to_owned());
        }
        let value: f64 = digits.parse().map_err(|_| bad())?;
        let single: f32 = digits.parse().map_err(|_| bad())?;
        (value, single, half_of_decimal(value, digits))
    };
    Ok(Number::Float {
        value,
        single,
        half,
        suffix,
    })
}

/// Rounds decimal digits to half precision once. The double nearest to them decides, unless it lies
/// exactly between two halves: then the digits may lie on one side of it, which the neighbouring
/// doubles' distance from the digits tells.
fn half_of_decimal(value: f64, digits: &str) -> u16 {
    let half = half::f16::from_bits(half_from_f64(value));
    let below = half::f16::from_bits(half_from_f64(value.next_down()));
    let above = half::f16::from_bits(half_from_f64(value.next_up()));
    // What comes after the largest finite number, were there no infinity.
    let upper = if above.is_infinite() {
        65536.0
    } else {
        above.to_f64()
    };
    if below.is_infinite() || value != (below.to_f64() + upper) / 2.0 {
        return half.to_bits();
    }
    // `value` is the midpoint. A double's exact decimal expansion compares with the digits as text
    // of equal scale.
    match compare_decimal(digits, value) {
        std::cmp::Ordering::Less => below.to_bits(),
        std::cmp::Ordering::Equal => half.to_bits(),
        std::cmp::Ordering::Greater => above.to_bits(),
    }
}

/// Compares decimal digits with a double exactly.
fn compare_decimal(digits: &str, value: f64) -> std::cmp::Ordering {
    // Midpoints of halves have few digits: this writes all of them.
    let exact = format!("{value:.40}");
    normalised(digits).cmp(&normalised(&exact))
}

/// The exponent of the first digit that is not zero, and the digits from there on without trailing
/// zeros.
fn normalised(text: &str) -> (i64, Vec<u8>) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let first = all.iter().position(|&d| d != b'0');
    let Some(first) = first else {
        return (i64::MIN, Vec::new());
    };
    let last = all.iter().rposition(|&d| d != b'0').unwrap_or(first);
    let scale = whole.len() as i64 - first as i64 + exponent;
    (scale, all[first..=last].to_vec())
}

/// The value of `h.hhhp±d`, rounded once to each format.
fn hex_float(text: &str) -> Result<(f64, f32, u16), String> {
    let Some((mantissa, exponent)) = text.split_once('p') else {
        return Err("hexadecimal floating constant requires an exponent".to_owned());
    };
    let exponent: i64 = match exponent.trim_start_matches('+').parse() {
        Ok(exponent) => exponent,
        Err(_) if exponent.trim_start_matches(['+', '-']).is_empty() => {
            return Err("exponent has no digits".to_owned());
        }
        Err(_)
            if !exponent
                .trim_start_matches(['+', '-'])
                .bytes()
                .all(|b| b.is_ascii_digit()) =>
        {
            return Err(format!("invalid suffix '{exponent}' on floating constant"));
        }
        Err(_) if exponent.starts_with('-') => -(1 << 40),
        Err(_) => 1 << 40,
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err("hexadecimal floating constant requires a significand".to_owned());
    }
    // The leading digits exactly, and whether anything follows them.
    let (mut bits, mut scale, mut rest) = (0u64, exponent, false);
    for (at, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let Some(digit) = digit.to_digit(16) else {
            return Err("invalid digit in hexadecimal floating constant".to_owned());
        };
        let fractional = at >= whole.len();
        if bits >> 59 == 0 {
            bits = (bits << 4) | u64::from(digit);
            scale -= if fractional { 4 } else { 0 };
        } else {
            rest |= digit != 0;
            scale += if fractional { 0 } else { 4 };
        }
    }
    let bits = bits | u64::from(rest);
    Ok((
        f64::from_bits(round(bits, scale, 53, -1074, 1024)),
        f32::from_bits(to_single(round(bits, scale, 24, -149, 128))),
        half_from_f64(f64::from_bits(round(bits, scale, 11, -24, 16))),
    ))
}

/// A double that is a single's value, as that.
fn to_single(double: u64) -> u32 {
    (f64::from_bits(double) as f32).to_bits()
}
