//! Images and samplers: what it means to read, write and ask about one.
//!
//! ```text
//! a Descriptor, a Sampler, coordinates -> address.rs   which texels, and how much of each
//!                                      -> texel.rs     words of a texel to its components and back; convert.rs has the numbers
//!                                      -> access.rs    the two together: `read` and `write`
//! ```
//!
//! `descriptor.rs` is what whoever runs a kernel fills in; open it first. `sampler.rs` is the
//! number that a sampler is, `format.rs` the table of formats, `bindings.rs` what is known of a
//! launch's images and samplers when code is made for it. `call.rs` is what generated code and the
//! functions that it calls for a texel agree on.
//!
//! The formulas are written once, over what can be computed and accessed (`machine.rs`): for
//! numbers of Rust (`host.rs`), with texels fetched through [`Texels`], and for code that is being
//! made (`crate::lower::images`). The interpreter calls the first with its own memory, and so does
//! generated code where it does not know format and sampler (`codegen/host/texels.rs`), one lane
//! at a time. All do the same operations in the same order and so get the same bits.
//!
//! Sections cited are of "Image Addressing and Filtering" in the OpenCL SPIR-V Environment
//! Specification.

pub(crate) mod access;
pub(crate) mod address;
mod bindings;
pub(crate) mod call;
mod convert;
mod descriptor;
mod format;
mod host;
pub(crate) mod machine;
mod sampler;
mod texel;

#[cfg(test)]
mod tests;

pub use access::{At, read, write};
pub use bindings::{Binding, Bindings, MOST_BINDINGS};
pub use descriptor::{Descriptor, Extent, Field};
pub use format::{ChannelOrder, DataType, Format};
pub use sampler::{Addressing, LevelsOfDetail, Sampler};

use serde::{Deserialize, Serialize};

use crate::named::named;

named! {
    #[derive(Serialize, Deserialize)]
    /// How many dimensions an image has, and whether it is an array of such images.
    pub enum ImageDim {
        /// A row, or a buffer as one.
        Dim1 = "1d",
        /// Rows, each an image of its own.
        Dim1Array = "1d_array",
        Dim2 = "2d",
        /// Planes, each an image of its own.
        Dim2Array = "2d_array",
        Dim3 = "3d",
    }
}

impl ImageDim {
    /// How many coordinates a texel has. The last one of an array is the layer.
    pub fn coordinates(self) -> usize {
        self.dimensions() + usize::from(self.is_array())
    }

    /// How many of the coordinates are of the picture.
    pub fn dimensions(self) -> usize {
        match self {
            ImageDim::Dim1 | ImageDim::Dim1Array => 1,
            ImageDim::Dim2 | ImageDim::Dim2Array => 2,
            ImageDim::Dim3 => 3,
        }
    }

    pub fn is_array(self) -> bool {
        matches!(self, ImageDim::Dim1Array | ImageDim::Dim2Array)
    }

    /// What says how many texels there are along each coordinate.
    pub(crate) fn sizes(self) -> &'static [Field] {
        match self {
            ImageDim::Dim1 => &[Field::Width],
            ImageDim::Dim1Array => &[Field::Width, Field::Layers],
            ImageDim::Dim2 => &[Field::Width, Field::Height],
            ImageDim::Dim2Array => &[Field::Width, Field::Height, Field::Layers],
            ImageDim::Dim3 => &[Field::Width, Field::Height, Field::Depth],
        }
    }

    /// What says how many bytes lie between texels that are neighbours along each coordinate but
    /// the first.
    pub(crate) fn pitches(self) -> &'static [Field] {
        match self {
            ImageDim::Dim1 => &[],
            ImageDim::Dim1Array => &[Field::SlicePitch],
            ImageDim::Dim2 => &[Field::RowPitch],
            ImageDim::Dim2Array | ImageDim::Dim3 => &[Field::RowPitch, Field::SlicePitch],
        }
    }
}

named! {
    /// What a kernel sees of a texel's components.
    pub enum Component {
        F32 = "f32",
        F16 = "f16",
        /// 32 bits, signed if the image's are.
        Int = "int",
        /// 32 bits, signed whatever the image's are.
        Signed = "sint",
        /// 32 bits, unsigned whatever the image's are.
        Unsigned = "uint",
    }
}

impl Component {
    pub fn is_float(self) -> bool {
        matches!(self, Component::F32 | Component::F16)
    }
}

/// Where the bytes of texels are.
pub trait Texels {
    type Error;

    /// Fills `to` from an address.
    fn fetch(&mut self, address: u64, to: &mut [u8]) -> Result<(), Self::Error>;

    /// Puts `from` at an address.
    fn put(&mut self, address: u64, from: &[u8]) -> Result<(), Self::Error>;
}
