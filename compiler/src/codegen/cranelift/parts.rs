//! What an IR value is in CLIF.
//!
//! - One lane: one CLIF scalar. `i1` is an `i8` of 0 or 1, `ptr` an `i64`, `f16` its bits as `i16`.
//! - W lanes of a type of b bits: `max(1, W * b / 128)` vectors of 128 bits. When `W * b < 128`
//!   the low lanes of one vector count and the others hold anything.
//! - W lanes of `i1`: the same for integers of some width b, each all ones or zero. A comparison of
//!   b-bit values gives width b; other widths are made when a use asks for them. Block parameters
//!   have the function's [`usual_mask_bits`].

use cranelift_codegen::ir::{self as clif, types};
use smallvec::SmallVec;

#[cfg(doc)]
use crate::codegen::usual_mask_bits;
use crate::ir::Scalar;

pub type Parts = SmallVec<[clif::Value; 4]>;

/// A translated value.
#[derive(Clone, Debug, Default)]
pub enum Repr {
    /// Not translated (yet).
    #[default]
    None,
    Scalar(clif::Value),
    /// The same bits in every lane: loaded from the constant pool by each use. Held in registers, a
    /// loop's constants would crowd out its values.
    Constant(u64),
    Vector(Parts),
    /// Lane width in bits, and the parts.
    Mask(u32, Parts),
}

/// The CLIF type of one lane.
pub fn lane_type(scalar: Scalar) -> clif::Type {
    match scalar {
        Scalar::I1 | Scalar::I8 => types::I8,
        Scalar::I16 | Scalar::F16 => types::I16,
        Scalar::I32 => types::I32,
        Scalar::I64 | Scalar::Ptr => types::I64,
        Scalar::F32 => types::F32,
        Scalar::F64 => types::F64,
    }
}

/// The CLIF type of one 128-bit part.
pub fn part_type(scalar: Scalar) -> clif::Type {
    match scalar {
        Scalar::F32 => types::F32X4,
        Scalar::F64 => types::F64X2,
        other => int_part_type(other.bits().max(8)),
    }
}

/// 128 bits of integers of `bits` bits.
pub fn int_part_type(bits: u32) -> clif::Type {
    match bits {
        8 => types::I8X16,
        16 => types::I16X8,
        32 => types::I32X4,
        _ => types::I64X2,
    }
}

/// How many parts W lanes of `bits` bits take.
pub fn part_count(lanes: u8, bits: u32) -> usize {
    (usize::from(lanes) * bits as usize).div_ceil(128).max(1)
}
