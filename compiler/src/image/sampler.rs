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
