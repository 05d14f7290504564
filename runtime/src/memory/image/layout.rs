//! Where the texels of an image are.

use brolga_compiler::image::{Descriptor, Extent, Format};

use super::ImageType;

/// How an image's texels lie in its memory. Pitches are those of the first level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) image_type: ImageType,
    pub(super) format: Format,
    pub(super) extent: Extent,
    /// Bytes.
    pub(super) row_pitch: usize,
    pub(super) slice_pitch: usize,
    /// How many levels there are; 0 is the 1 of an image that is not mipmapped.
    pub(super) levels: u32,
}

impl Layout {
    /// Bytes of the image, unless no address space has as many. The last row and slice are whole.
    pub fn size(&self) -> Option<usize> {
        let (count, pitch) = match self.image_type {
            _ if self.levels > 1 => {
                let first = self.first_level(0);
                let last = *first.levels(self.levels).last()?;
                let planes = u64::from(last.depth) * u64::from(last.layers);
                return usize::try_from(last.data + last.slice_pitch * planes).ok();
            }
            ImageType::Dim1 | ImageType::Dim1Buffer => (self.extent.width, self.element_size()),
            ImageType::Dim2 => (self.extent.height, self.row_pitch),
            ImageType::Dim1Array | ImageType::Dim2Array => (self.extent.layers, self.slice_pitch),
            ImageType::Dim3 => (self.extent.depth, self.slice_pitch),
        };
        pitch.checked_mul(count as usize)
    }

    /// Bytes of a texel.
    pub(super) fn element_size(&self) -> usize {
        self.format.texel_size()
    }

    /// What kernels are told of each level, if the image is at an address.
    pub(super) fn descriptors(&self, address: u64) -> Box<[Descriptor]> {
        let first = self.first_level(address);
        match self.levels {
            0 | 1 => Box::new([first]),
            levels => first.levels(levels).into(),
        }
    }

    fn first_level(&self, address: u64) -> Descriptor {
        let pitches = (self.row_pitch as u64, self.slice_pitch as u64);
        Descriptor::new(address, self.extent, pitches, self.format)
    }
}

#[cfg(test)]
mod tests {
    use brolga_compiler::image::{ChannelOrder, DataType};

    use super::*;

    fn layout(image_type: ImageType, [width, height, depth, layers]: [u32; 4]) -> Layout {
        let extent = Extent {
            width,
            height,
            depth,
            layers,
        };
        Layout {
            image_type,
            format: Format {
                order: ChannelOrder::Rgba,
                data_type: DataType::UnormInt8,
            },
            extent,
            row_pitch: 40,
            slice_pitch: 200,
            levels: 0,
        }
    }

    #[test]
    fn pitches_decide_how_large_an_image_is() {
        let size = |image_type, extent| layout(image_type, extent).size();
        assert_eq!(size(ImageType::Dim1, [9, 1, 1, 1]), Some(36));
        assert_eq!(size(ImageType::Dim1Buffer, [9, 1, 1, 1]), Some(36));
        assert_eq!(size(ImageType::Dim1Array, [9, 1, 1, 3]), Some(600));
        assert_eq!(size(ImageType::Dim2, [9, 4, 1, 1]), Some(160));
        assert_eq!(size(ImageType::Dim2Array, [9, 4, 1, 3]), Some(600));
        assert_eq!(size(ImageType::Dim3, [9, 4, 2, 1]), Some(400));
        let huge = Layout {
            slice_pitch: usize::MAX,
            ..layout(ImageType::Dim3, [1, 1, 2, 1])
        };
        assert_eq!(huge.size(), None);
    }

    #[test]
    fn levels_are_a_part_of_the_size() {
        let layout = Layout {
            levels: 4,
            ..layout(ImageType::Dim2Array, [13, 4, 1, 5])
        };
        let texels = 13 * 4 + 6 * 2 + 3 + 1;
        assert_eq!(layout.size(), Some(texels * 5 * 4));
        assert_eq!(layout.descriptors(0).len(), 4);
    }
}
