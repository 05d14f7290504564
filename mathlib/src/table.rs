//! Tables of sixteen numbers.
//!
//! They are looked up by the significand's four high bits, as `double_word.rs` has them moved: the
//! first nine numbers are for significands from 0.7036 on in steps of 1/32, the tenth is for those
//! between 0.98486 and 1.03223, the others for those beyond in steps of 1/16.

/// What a function looks up with [`crate::Float::lookup`]. All are of `double`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Table {
    /// About 1/m for a significand m. It has so few bits that `c m - 1` is exact, is 1 where m may
    /// be, and is otherwise that of the numbers with so few bits for which `|c m - 1|` remains
    /// smallest: below 0.0335.
    Inverse,
    /// The logarithm of 1/c, to 21 bits: multiples of 2^-42.
    Logarithm,
    /// What that lacks.
    LogarithmLow,
}

impl Table {
    /// Every table.
    pub const ALL: [Table; 3] = [Table::Inverse, Table::Logarithm, Table::LogarithmLow];

    /// The numbers.
    pub const fn entries(self) -> &'static [f64; 16] {
        match self {
            Table::Inverse => &INVERSE,
            Table::Logarithm => &LOGARITHM,
            Table::LogarithmLow => &LOGARITHM_LOW,
        }
    }
}

static INVERSE: [f64; 16] = [
    1.375, 1.34375, 1.28125, 1.21875, 1.1875, 1.15625, 1.09375, 1.0625, 1.03125, 1.0, 0.9375,
    0.890625, 0.84375, 0.796875, 0.765625, 0.71875,
];

static LOGARITHM: [f64; 16] = [
    -0.3184537887573242,
    -0.29546427726745605,
    -0.24783611297607422,
    -0.19782578945159912,
    -0.17185020446777344,
    -0.14518201351165771,
    -0.08961218595504761,
    -0.0606246292591095,
    -0.030771657824516296,
    0.0,
    0.06453853845596313,
    0.11583179235458374,
    0.16989898681640625,
    0.22705745697021484,
    0.2670629024505615,
    0.33024168014526367,
];

static LOGARITHM_LOW: [f64; 16] = [
    5.763878960293975e-08,
    6.437362017830082e-08,
    -5.0928507038030605e-08,
    4.612167924073118e-08,
    -5.24588857848401e-08,
    3.667159817561815e-09,
    2.7265360474801925e-08,
    7.442674654489706e-09,
    -8.422373919843094e-10,
    0.0,
    -1.7318391963092702e-08,
    2.3170537964864744e-08,
    4.9978991222900427e-08,
    -6.334868758891387e-09,
    -1.1720151627714481e-07,
    6.7253131844044075e-09,
];
