//! Reproducible random arguments, and special ones.

/// A small generator of reproducible numbers (Weyl sequence, mixed as in SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// 64 bits.
    #[allow(clippy::should_implement_trait)] // It never ends.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A float of any sign with an exponent in a range of those of normal numbers, uniform in the
    /// encoding.
    pub fn with_exponent(&mut self, low: i32, high: i32) -> f64 {
        let e = low + (self.next() % (high - low + 1) as u64) as i32;
        let bits = self.next();
        f64::from_bits((bits & 1) << 63 | ((e + 1023) as u64) << 52 | bits >> 12)
    }
}

/// Arguments for a function of two: anything, ordinary numbers, and ones whose power is in range.
pub fn pair(random: &mut Random, i: u64, any: fn(u64) -> f64) -> (f64, f64) {
    match i % 4 {
        0 => (any(random.next()), any(random.next())),
        1 => (random.with_exponent(-8, 8), random.with_exponent(-8, 8)),
        2 => (
            random.with_exponent(-1, 0).abs(),
            random.with_exponent(-3, 11),
        ),
        _ => {
            let x = random.with_exponent(-120, 120).abs();
            let y = random.with_exponent(-2, 9) / x.log2().abs().max(1e-3);
            (x, y)
        }
    }
}

/// Numbers where something happens, and their neighbours among `double` and `float`.
pub fn special_values() -> Vec<f64> {
    let mut values = vec![f64::NAN];
    let points = [
        0.0,
        1e-45,
        5e-324,
        1e-40,
        1e-310,
        1.17549435e-38,
        f64::MIN_POSITIVE,
        1e-10,
        0.25,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        5.0,
        10.0,
        16777216.0,
        8388607.5,
        1e10,
        9007199254740992.0,
        1e30,
        3.4028234663852886e38,
        f64::MAX,
        f64::INFINITY,
    ];
    for x in points {
        let narrow = x as f32;
        let neighbours = [x.next_down(), x.next_up()];
        let of_float = [narrow.next_down(), narrow.next_up()].map(f64::from);
        for x in [x].into_iter().chain(neighbours).chain(of_float) {
            values.extend([x, -x]);
        }
    }
    values
}
