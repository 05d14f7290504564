//! What generated code is told of an image: the argument of a kernel is the address of one of
//! these.

use std::mem::offset_of;

use super::{ChannelOrder, DataType, Format, ImageDim};
use crate::named::named;

/// An image, as whoever runs a kernel describes it. It must not change while a kernel runs.
///
/// The texel at (x, y, z) is `texel_size` bytes at `data + x * texel_size + y * row_pitch + z *
/// slice_pitch`; the layer `l` of an array is `slice_pitch` bytes after the one before it.
/// Dimensions that an image does not have are 1, and their pitch is not looked at. A null pointer
/// instead of a descriptor is an image without texels.
///
/// A mipmapped image is as many descriptors in a row as it has levels. Each is an image like any
/// other, so that what reads and writes one level knows nothing of levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Descriptor {
    /// The address of the first texel. It need not be aligned.
    pub data: u64,
    /// Bytes from one row to the next.
    pub row_pitch: u64,
    /// Bytes from one plane to the next, and from one layer of an array to the next.
    pub slice_pitch: u64,
    /// In texels, as the next two; less than 2^31.
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    /// How many images an array has.
    pub layers: u32,
    /// `image_channel_order`, as the API numbers it (`CL_RGBA`).
    pub order: u32,
    /// `image_channel_data_type`, as the API numbers it (`CL_UNORM_INT8`).
    pub data_type: u32,
    /// Bytes.
    pub texel_size: u32,
    /// How many descriptors there are from here on, of the same image.
    pub levels: u32,
}

/// How large an image is, in texels; see [`Descriptor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    pub layers: u32,
}

named! {
    /// What a kernel can ask of an image, and what code that reads and writes its texels asks.
    pub enum Field {
        Width = "width",
        Height = "height",
        Depth = "depth",
        Layers = "layers",
        Order = "order",
        DataType = "data_type",
        Levels = "levels",
        Data = "data",
        /// The low half, which is all there is if the image is smaller than 2 GiB.
        RowPitch = "row_pitch",
        SlicePitch = "slice_pitch",
        /// Bytes.
        TexelSize = "texel_size",
    }
}

impl Field {
    /// Bytes of the answer: 4, or 8 for an address.
    pub fn size(self) -> usize {
        match self {
            Field::Data => 8,
            _ => 4,
        }
    }

    /// Where the answer is in a [`Descriptor`], in bytes.
    pub fn offset(self) -> usize {
        match self {
            Field::Width => offset_of!(Descriptor, width),
            Field::Height => offset_of!(Descriptor, height),
            Field::Depth => offset_of!(Descriptor, depth),
            Field::Layers => offset_of!(Descriptor, layers),
            Field::Order => offset_of!(Descriptor, order),
            Field::DataType => offset_of!(Descriptor, data_type),
            Field::Levels => offset_of!(Descriptor, levels),
            Field::Data => offset_of!(Descriptor, data),
            Field::RowPitch => offset_of!(Descriptor, row_pitch),
            Field::SlicePitch => offset_of!(Descriptor, slice_pitch),
            Field::TexelSize => offset_of!(Descriptor, texel_size),
        }
    }
}

impl Descriptor {
    /// Bytes that one takes.
    pub const SIZE: usize = size_of::<Descriptor>();

    /// An image without texels.
    pub const NONE: Descriptor = Descriptor {
        data: 0,
        row_pitch: 0,
        slice_pitch: 0,
        width: 0,
        height: 0,
        depth: 0,
        layers: 0,
        order: 0,
        data_type: 0,
        texel_size: 0,
        levels: 0,
    };

    /// An image of a format. Pitches are bytes.
    pub fn new(
        data: u64,
        extent: Extent,
        (row_pitch, slice_pitch): (u64, u64),
        format: Format,
    ) -> Descriptor {
        Descriptor {
            data,
            row_pitch,
            slice_pitch,
            width: extent.width,
            height: extent.height,
            depth: extent.depth,
            layers: extent.layers,
            order: format.order as u32,
            data_type: format.data_type as u32,
            texel_size: format.texel_size() as u32,
            levels: 1,
        }
    }

    /// The `count` levels of an image whose first one this is: each is half of the one before,
    /// rounded down, with as many layers ("Mipmap Images" of the OpenCL API Specification). They
    /// lie end to end in memory, as do their rows and planes.
    pub fn levels(self, count: u32) -> Vec<Descriptor> {
        let mut data = self.data;
        (0..count)
            .map(|level| {
                let half = |size: u32| (size >> level).max(1);
                let (width, height, depth) =
                    (half(self.width), half(self.height), half(self.depth));
                let row_pitch = u64::from(width) * u64::from(self.texel_size);
                let slice_pitch = row_pitch * u64::from(height);
                let of_level = Descriptor {
                    data,
                    row_pitch,
                    slice_pitch,
                    width,
                    height,
                    depth,
                    levels: count - level,
                    ..self
                };
                data += slice_pitch * u64::from(depth) * u64::from(self.layers);
                of_level
            })
            .collect()
    }

    /// As it lies in memory.
    pub fn to_bytes(&self) -> [u8; Descriptor::SIZE] {
        let mut bytes = [0; Descriptor::SIZE];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        for field in [self.data, self.row_pitch, self.slice_pitch] {
            put(&field.to_le_bytes());
        }
        for field in [
            self.width,
            self.height,
            self.depth,
            self.layers,
            self.order,
            self.data_type,
            self.texel_size,
            self.levels,
        ] {
            put(&field.to_le_bytes());
        }
        bytes
    }

    /// The one that lies in memory as these bytes.
    pub fn from_bytes(bytes: &[u8; Descriptor::SIZE]) -> Descriptor {
        let bits = |at: usize, size: usize| {
            let field = bytes[at..at + size].iter().rev();
            field.fold(0, |bits, &byte| bits << 8 | u64::from(byte))
        };
        let word = |at| bits(at, 4) as u32;
        Descriptor {
            data: bits(offset_of!(Descriptor, data), 8),
            row_pitch: bits(offset_of!(Descriptor, row_pitch), 8),
            slice_pitch: bits(offset_of!(Descriptor, slice_pitch), 8),
            width: word(offset_of!(Descriptor, width)),
            height: word(offset_of!(Descriptor, height)),
            depth: word(offset_of!(Descriptor, depth)),
            layers: word(offset_of!(Descriptor, layers)),
            order: word(offset_of!(Descriptor, order)),
            data_type: word(offset_of!(Descriptor, data_type)),
            texel_size: word(offset_of!(Descriptor, texel_size)),
            levels: word(offset_of!(Descriptor, levels)),
        }
    }

    /// The format, if it is one that there is.
    pub(super) fn format(&self) -> Option<Format> {
        Format::new(
            ChannelOrder::from_number(self.order)?,
            DataType::from_number(self.data_type)?,
        )
    }

    /// What a kernel that asks is told.
    pub fn field(&self, field: Field) -> u64 {
        match field {
            Field::Width => self.width.into(),
            Field::Height => self.height.into(),
            Field::Depth => self.depth.into(),
            Field::Layers => self.layers.into(),
            Field::Order => self.order.into(),
            Field::DataType => self.data_type.into(),
            Field::Levels => self.levels.into(),
            Field::Data => self.data,
            Field::RowPitch => (self.row_pitch as u32).into(),
            Field::SlicePitch => (self.slice_pitch as u32).into(),
            Field::TexelSize => self.texel_size.into(),
        }
    }

    /// The address of a texel that there is.
    pub(super) fn address(&self, dim: ImageDim, at: [u32; 3]) -> u64 {
        let pitches = match dim {
            ImageDim::Dim1Array => [u64::from(self.texel_size), self.slice_pitch, 0],
            _ => [u64::from(self.texel_size), self.row_pitch, self.slice_pitch],
        };
        let bytes = at.iter().zip(pitches);
        bytes.fold(self.data, |sum, (&at, pitch)| {
            sum.wrapping_add(u64::from(at).wrapping_mul(pitch))
        })
    }

    /// Whether there are texels, all less than 2^31 bytes from the first, so that 32 bits are
    /// enough to compute where each is.
    pub(super) fn is_small(&self) -> bool {
        let steps = [
            (self.width, u64::from(self.texel_size)),
            (self.height, self.row_pitch),
            (self.depth, self.slice_pitch),
            (self.layers, self.slice_pitch),
        ];
        let mut end = u64::from(self.texel_size);
        for (size, pitch) in steps {
            let Some(last) = size.checked_sub(1) else {
                return false;
            };
            // Pitches along which there is nothing are not looked at.
            if last != 0 {
                end = end.saturating_add(u64::from(last).saturating_mul(pitch));
            }
        }
        end < 1 << 31
    }
}
