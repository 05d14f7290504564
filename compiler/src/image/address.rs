//! From coordinates to the texels that are read: "Addressing and Filter Modes".
//!
//! Single precision throughout, in the order in which the specification's formulas are written.
//! Only the plain cases must be exact ("Precision of Addressing and Filter Modes"), and they are.
//! Every texel named is one of the image's, whatever the coordinates are: what is read at others is
//! decided by a mask.

use brolga_mathlib::{Float, Int};

use super::machine::{Machine, Outside};
use super::{Addressing, Sampler};

/// One coordinate.
pub(crate) enum Coordinate<M: Machine> {
    Int(M::Int),
    Float(M::Float),
}

/// The number of a texel along a coordinate.
pub(crate) struct Texel<M: Machine> {
    /// Inside the image.
    pub at: M::Int,
    /// Whether the border color is read instead.
    pub outside: Outside<M>,
}

/// The texels that are read along one coordinate.
pub(crate) enum Tap<M: Machine> {
    One(Texel<M>),
    /// Two, and how much each counts.
    Between([Texel<M>; 2], [M::Float; 2]),
}

/// A number clamped to those below `size`. Code that knows how neighbouring work-items' coordinates
/// lie understands this order and these operations (`analysis/shape.rs`).
fn clamp<M: Machine>(m: &mut M, at: M::Int, size: M::Int) -> M::Int {
    let (zero, one) = (at.lit(0), at.lit(1));
    let at = m.smax(at, zero);
    m.umin(at, size - one)
}

/// "Addressing Modes to Generate Texel Location", of the modes that do not repeat.
fn address_mode<M: Machine>(
    m: &mut M,
    addressing: Addressing,
    at: M::Int,
    size: M::Int,
) -> Texel<M> {
    let clamped = clamp(m, at, size);
    Texel {
        at: clamped,
        outside: (addressing == Addressing::Clamp).then(|| at.ne(clamped)),
    }
}

/// A number that is not negative, and where it is too large the greatest.
fn inside<M: Machine>(m: &mut M, at: M::Int, size: M::Int) -> Texel<M> {
    let one = at.lit(1);
    Texel {
        at: m.umin(at, size - one),
        outside: None,
    }
}

/// Where to read along a coordinate of the picture, `size` texels long.
pub(crate) fn place<M: Machine>(
    m: &mut M,
    sampler: Sampler,
    coordinate: &Coordinate<M>,
    size: M::Int,
) -> Tap<M> {
    let addressing = sampler.addressing;
    let repeats = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
    let s = match *coordinate {
        // "Precision of Addressing and Filter Modes": without any loss.
        Coordinate::Int(at) if !sampler.normalized && !sampler.linear && !repeats => {
            return Tap::One(address_mode(m, addressing, at, size));
        }
        Coordinate::Int(at) => m.signed_to_float(at),
        Coordinate::Float(at) => at,
    };
    let u = match addressing {
        // "Repeat Addressing Mode"
        Addressing::Repeat => (s - s.floor()) * m.unsigned_to_float(size),
        // "Mirrored Repeat Addressing Mode"
        Addressing::MirroredRepeat => {
            let even = s.lit(2.0) * (s.lit(0.5) * s).round_even();
            (s - even).abs() * m.unsigned_to_float(size)
        }
        _ if sampler.normalized => s * m.unsigned_to_float(size),
        _ => s,
    };
    if sampler.linear {
        return between(m, addressing, u, size);
    }
    let i = m.to_signed(u.floor());
    Tap::One(match addressing {
        Addressing::Repeat => inside(m, wrap::<M>(i, size), size),
        Addressing::MirroredRepeat => inside(m, i, size),
        _ => address_mode(m, addressing, i, size),
    })
}

/// `i > size - 1 ? i - size : i`
fn wrap<M: Machine>(i: M::Int, size: M::Int) -> M::Int {
    M::Int::select(i.slt(size), i, i - size)
}

/// The texels on both sides of `u`: "Linear Filtering".
fn between<M: Machine>(m: &mut M, addressing: Addressing, u: M::Float, size: M::Int) -> Tap<M> {
    let u = u - u.lit(0.5);
    let low = u.floor();
    let weight = u - low;
    let i0 = m.to_signed(low);
    let (zero, one) = (i0.lit(0), i0.lit(1));
    let both = match addressing {
        Addressing::Repeat => {
            let i1 = wrap::<M>(i0 + one, size);
            let i0 = M::Int::select(i0.slt(zero), size + i0, i0);
            [inside(m, i0, size), inside(m, i1, size)]
        }
        Addressing::MirroredRepeat => {
            let (i0, i1) = (m.smax(i0, zero), i0 + one);
            [inside(m, i0, size), inside(m, i1, size)]
        }
        _ => {
            // The next texel's number must not wrap.
            let below = m.smin(i0, size - one);
            let at = m.smax(below, zero);
            let bordered = addressing == Addressing::Clamp;
            let first = Texel {
                at,
                outside: bordered.then(|| i0.ne(at)),
            };
            [first, address_mode(m, addressing, below + one, size)]
        }
    };
    Tap::Between(both, [weight.lit(1.0) - weight, weight])
}

/// "Selecting an Image from an Image Array": which of an array's `layers` images is read.
pub(crate) fn layer<M: Machine>(m: &mut M, coordinate: &Coordinate<M>, layers: M::Int) -> M::Int {
    let at = match *coordinate {
        Coordinate::Int(at) => at,
        Coordinate::Float(at) => m.to_signed(at.round_even()),
    };
    clamp(m, at, layers)
}
