use super::literal::parse_number;
use crate::ast::{FloatSuffix, Number};

fn float(text: &str) -> (f64, f32, u16, FloatSuffix) {
    match parse_number(text) {
        Ok(Number::Float {
            value,
            single,
            half,
            suffix,
        }) => (value, single, half, suffix),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn integers_of_every_base_and_suffix() {
    let int = |text| match parse_number(text) {
        Ok(Number::Int {
            value,
            unsigned,
            longs,
            decimal,
        }) => (value, unsigned, longs, decimal),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(int("0"), (0, false, 0, true));
    assert_eq!(int("017"), (15, false, 0, false));
    assert_eq!(int("0xFfUL"), (255, true, 1, false));
    assert_eq!(int("0b101u"), (5, true, 0, false));
    assert_eq!(int("18446744073709551615ull"), (u64::MAX, true, 2, true));
}

#[test]
fn wrong_numbers_are_told() {
    for (text, why) in [
        ("18446744073709551616", "too large"),
        ("089", "invalid digit '8' in octal"),
        ("12abc", "invalid suffix 'abc'"),
        ("1f", "invalid suffix 'f'"),
        ("0x1.8", "requires an exponent"),
        ("1.0e", "exponent has no digits"),
        ("1.0q", "invalid suffix"),
        ("0x", "invalid suffix 'x'"),
    ] {
        let error = parse_number(text).expect_err(text);
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn decimal_floats_are_rounded_once_to_each_format() {
    // Between two singles; the double nearest to the digits is their midpoint, the digits are above
    // it.
    let (_, single, _, suffix) = float("1.00000005960464477539062500001f");
    assert_eq!(single, 1.0 + f32::EPSILON);
    assert_eq!(suffix, FloatSuffix::F);
    // The same for half precision: 1 + 2^-11 and a little, and exactly.
    assert_eq!(float("1.00048828125000000000000001h").2, 0x3c01);
    assert_eq!(float("1.00048828125h").2, 0x3c00);
    assert_eq!(float("65519.99h").2, 0x7bff);
    assert_eq!(float("65520.0h").2, 0x7c00);
}

#[test]
fn hexadecimal_floats_are_exact() {
    assert_eq!(float("0x1.fffffep127f").1, f32::MAX);
    assert_eq!(float("0x1p-149f").1, f32::from_bits(1));
    assert_eq!(float("0x1p-150f").1, 0.0);
    assert_eq!(float("0x1.8p-150f").1, f32::from_bits(1));
    assert_eq!(float("0x1.fffffffffffffp1023").0, f64::MAX);
    assert_eq!(float("0x0.0000000000001p-1022").0, f64::from_bits(1));
    assert_eq!(
        float("0x1.00000100000000000000001p0f").1,
        1.0 + f32::EPSILON
    );
    assert_eq!(float("0x1p+5").0, 32.0);
    assert_eq!(float("0x.8p1").0, 1.0);
    assert_eq!(float("0x1.004p0h").2, 0x3c01);
    assert_eq!(float("0x1p99999999999999999999").0, f64::INFINITY);
}
