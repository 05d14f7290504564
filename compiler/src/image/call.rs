//! What generated code that calls for a texel, and what it calls, agree on.

use super::{Component, Descriptor, ImageDim};

/// What null pointers to images point to.
pub static NO_IMAGE: Descriptor = Descriptor::NONE;

/// How a texel is accessed, as one number. `floats` says what coordinates are.
pub fn code(dim: ImageDim, component: Component, floats: bool) -> u32 {
    dim as u32 | (component as u32) << 8 | u32::from(floats) << 16
}

/// The reverse of [`code`]; higher bits may be anything.
pub fn decode(code: u32) -> (ImageDim, Component, bool) {
    (
        ImageDim::ALL[code as usize & 0xff],
        Component::ALL[(code >> 8) as usize & 0xff],
        code >> 16 & 1 != 0,
    )
}
