//! From coordinates to the texels that are read: "Addressing and Filter Modes".
//!
//! Single precision throughout, in the order in which the specification's formulas are written.
//! Only the plain cases must be exact ("Precision of Addressing and Filter Modes"), and they are.

use super::{Addressing, Sampler};

/// One coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coordinate {
    Int(i32),
    Float(f32),
}

/// The texels that are read along one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tap {
    One(i64),
    /// Two, and how much the second one counts.
    Between([i64; 2], f32),
}

/// `clamp` of the specification, which is defined for an image without texels too.
fn clamp(a: i64, least: i64, most: i64) -> i64 {
    a.min(most).max(least)
}

/// "Addressing Modes to Generate Texel Location", of the modes that do not repeat.
fn address_mode(addressing: Addressing, at: i64, size: i64) -> i64 {
    match addressing {
        Addressing::Clamp => clamp(at, -1, size),
        Addressing::ClampToEdge => clamp(at, 0, size - 1),
        _ => at,
    }
}

/// Where to read along a coordinate of the picture, `size` texels long. What comes out may lie
/// outside.
pub(super) fn place(sampler: Sampler, coordinate: Coordinate, size: u32) -> Tap {
    let (addressing, texels) = (sampler.addressing, size as f32);
    let size = i64::from(size);
    let repeats = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
    let s = match coordinate {
        // "Precision of Addressing and Filter Modes": without any loss.
        Coordinate::Int(at) if !sampler.normalized && !sampler.linear && !repeats => {
            return Tap::One(address_mode(addressing, i64::from(at), size));
        }
        Coordinate::Int(at) => at as f32,
        Coordinate::Float(at) => at,
    };
    let u = match addressing {
        // "Repeat Addressing Mode"
        Addressing::Repeat => (s - s.floor()) * texels,
        // "Mirrored Repeat Addressing Mode"
        Addressing::MirroredRepeat => {
            let even = 2.0 * (0.5 * s).round_ties_even();
            (s - even).abs() * texels
        }
        _ if sampler.normalized => s * texels,
        _ => s,
    };
    if !sampler.linear {
        let i = u.floor() as i64;
        return Tap::One(match addressing {
            Addressing::Repeat if i > size - 1 => i - size,
            Addressing::Repeat => i,
            Addressing::MirroredRepeat => i.min(size - 1),
            _ => address_mode(addressing, i, size),
        });
    }
    let low = (u - 0.5).floor();
    let (i0, i1) = (low as i64, (low as i64).saturating_add(1));
    let both = match addressing {
        Addressing::Repeat => [
            if i0 < 0 { size + i0 } else { i0 },
            if i1 > size - 1 { i1 - size } else { i1 },
        ],
        Addressing::MirroredRepeat => [i0.max(0), i1.min(size - 1)],
        _ => [i0, i1].map(|i| address_mode(addressing, i, size)),
    };
    Tap::Between(both, (u - 0.5) - low)
}

/// "Selecting an Image from an Image Array": which of an array's `layers` images is read.
pub(super) fn layer(coordinate: Coordinate, layers: u32) -> i64 {
    let at = match coordinate {
        Coordinate::Int(at) => i64::from(at),
        Coordinate::Float(at) => at.round_ties_even() as i64,
    };
    clamp(at, 0, i64::from(layers) - 1)
}
