//! The number that a sampler is.
//!
//! It is the one that OpenCL C's `CLK_` constants add up to, and `OpConstantSampler` is translated
//! to:
//!
//! | bits | meaning |
//! | --- | --- |
//! | 0 | whether coordinates are normalized |
//! | 1 to 3 | the addressing mode, as SPIR-V numbers it |
//! | 4, 5 | the filter: 1 is nearest, 2 is linear |
//! | 6 | whether two levels are filtered |
//! | 7 to 18 | the least level of detail, in steps of 1/256 |
//! | 19 to 30 | how far the greatest level of detail is below 4095/256, in steps of 1/256 |

/// What is read at coordinates outside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// Undefined; here the border color.
    None,
    ClampToEdge,
    /// The border color.
    Clamp,
    Repeat,
    MirroredRepeat,
}

/// How an image is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    pub normalized: bool,
    pub addressing: Addressing,
    pub linear: bool,
}

/// Which levels of a mipmapped image are read: the rest of the number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelsOfDetail {
    /// Whether the two nearest levels are filtered; else the nearest is read.
    pub linear: bool,
    /// What a level of detail is clamped to.
    pub least: f32,
    pub most: f32,
}

impl LevelsOfDetail {
    /// Bits of a bound, and where they are.
    pub const BOUND: u32 = 0xfff;
    pub const LINEAR_AT: u32 = 6;
    pub const LEAST_AT: u32 = 7;
    pub const MOST_AT: u32 = 19;
    /// Steps of a bound in a level. No image has as many levels as there are bounds.
    pub const STEPS: f32 = 256.0;

    /// What literal samplers have: the nearest level, whatever it is.
    pub const DEFAULT: LevelsOfDetail = LevelsOfDetail {
        linear: false,
        least: 0.0,
        most: Self::BOUND as f32 / Self::STEPS,
    };

    /// The bits of the number.
    pub fn bits(self) -> u32 {
        let steps = |level: f32| ((level * Self::STEPS).round_ties_even() as u32).min(Self::BOUND);
        u32::from(self.linear) << Self::LINEAR_AT
            | steps(self.least) << Self::LEAST_AT
            | (Self::BOUND - steps(self.most)) << Self::MOST_AT
    }

    /// Those of a number.
    pub fn from_bits(bits: u32) -> LevelsOfDetail {
        let level = |steps: u32| (steps & Self::BOUND) as f32 / Self::STEPS;
        LevelsOfDetail {
            linear: bits >> Self::LINEAR_AT & 1 != 0,
            least: level(bits >> Self::LEAST_AT),
            most: level(Self::BOUND - (bits >> Self::MOST_AT & Self::BOUND)),
        }
    }
}

impl Sampler {
    /// "Sampled and Sampler-less Reads": what a read without a sampler is like.
    pub const NONE: Sampler = Sampler {
        normalized: false,
        addressing: Addressing::None,
        linear: false,
    };

    /// The number.
    pub const fn bits(self) -> u32 {
        let filter = if self.linear { 2 } else { 1 };
        self.normalized as u32 | (self.addressing as u32) << 1 | filter << 4
    }

    /// The sampler that a number is. Any number is one.
    pub fn from_bits(bits: u32) -> Sampler {
        Sampler {
            normalized: bits & 1 != 0,
            addressing: match bits >> 1 & 7 {
                1 => Addressing::ClampToEdge,
                2 => Addressing::Clamp,
                3 => Addressing::Repeat,
                4 => Addressing::MirroredRepeat,
                _ => Addressing::None,
            },
            linear: bits >> 4 & 3 == 2,
        }
    }
}
