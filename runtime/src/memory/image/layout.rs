//! Where the texels of an image are.

use brolga_compiler::image::Extent;

use super::ImageType;

/// How an image's texels lie in its memory. Pitches are those of the first level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) image_type: ImageType,
    pub(super) extent: Extent,
    /// Bytes.
    pub(super) element_size: usize,
    pub(super) row_pitch: usize,
    pub(super) slice_pitch: usize,
    /// How many levels there are; 0 is the 1 of an image that is not mipmapped.
    pub(super) levels: u32,
}

/// A level, by the coordinates that the API numbers its texels with: what follows the x of an array
/// of rows is the row's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// Bytes from the beginning of the image.
    pub offset: usize,
    pub size: [usize; 3],
    /// Bytes from one texel to the next in the second and third dimension.
    pub pitch: [usize; 2],
}

impl Layout {
    /// Bytes of the image, unless no address space has as many. The last row and slice are whole.
    pub fn size(&self) -> Option<usize> {
        match self.levels {
            0 | 1 => self.level_size(0),
            levels => (0..levels).try_fold(0usize, |sum, level| {
                sum.checked_add(self.level_size(level)?)
            }),
        }
    }

    /// How many levels there are, the first included.
    pub fn level_count(&self) -> u32 {
        self.levels.max(1)
    }

    /// Bytes of a level.
    fn level_size(&self, level: u32) -> Option<usize> {
        let [width, height, depth] = self.sizes(level);
        match (self.levels > 1, self.image_type) {
            (true, _) => [height, depth, self.element_size]
                .iter()
                .try_fold(width, |product, &n| product.checked_mul(n)),
            (false, ImageType::Dim1 | ImageType::Dim1Buffer) => {
                width.checked_mul(self.element_size)
            }
            (false, ImageType::Dim2) => height.checked_mul(self.row_pitch),
            (false, ImageType::Dim1Array) => height.checked_mul(self.slice_pitch),
            (false, ImageType::Dim2Array | ImageType::Dim3) => depth.checked_mul(self.slice_pitch),
        }
    }

    /// The sizes of a level by the coordinates of the API. Each is half of the one before, rounded
    /// down, and an array has all its layers at each level ("Mipmap Images").
    fn sizes(&self, level: u32) -> [usize; 3] {
        let half = |size: u32| (size >> level).max(1) as usize;
        let layers = self.extent.layers as usize;
        let Extent {
            width,
            height,
            depth,
            ..
        } = self.extent;
        match self.image_type {
            ImageType::Dim1 | ImageType::Dim1Buffer => [half(width), 1, 1],
            ImageType::Dim1Array => [half(width), layers, 1],
            ImageType::Dim2 => [half(width), half(height), 1],
            ImageType::Dim2Array => [half(width), half(height), layers],
            ImageType::Dim3 => [half(width), half(height), half(depth)],
        }
    }

    /// A level of an image that is not larger than [`Layout::size`] can say.
    pub(super) fn level(&self, level: u32) -> Level {
        let size = self.sizes(level);
        let row = size[0] * self.element_size;
        let pitch = match (self.levels > 1, self.image_type) {
            // Nothing but the first level could have other pitches, and it does not: mipmapped
            // images are in memory of the driver's.
            (true, _) => [row, row * size[1]],
            (false, ImageType::Dim1Array) => [self.slice_pitch, self.slice_pitch * size[1]],
            (false, _) => [self.row_pitch, self.slice_pitch],
        };
        let before = (0..level).filter_map(|level| self.level_size(level));
        Level {
            offset: before.sum(),
            size,
            pitch,
        }
    }
}

#[cfg(test)]
mod tests {
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
            extent,
            element_size: 4,
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

    /// Levels are halves, rounded down, and lie end to end.
    #[test]
    fn levels_follow_each_other() {
        for (image_type, extent, sizes) in [
            (
                ImageType::Dim2,
                [13, 4, 1, 1],
                [[13, 4, 1], [6, 2, 1], [3, 1, 1], [1, 1, 1]],
            ),
            (
                ImageType::Dim1Array,
                [9, 1, 1, 5],
                [[9, 5, 1], [4, 5, 1], [2, 5, 1], [1, 5, 1]],
            ),
            (
                ImageType::Dim3,
                [8, 5, 3, 1],
                [[8, 5, 3], [4, 2, 1], [2, 1, 1], [1, 1, 1]],
            ),
        ] {
            let layout = Layout {
                levels: 4,
                ..layout(image_type, extent)
            };
            let mut end = 0;
            for (level, size) in (0..).zip(sizes) {
                let found = layout.level(level);
                assert_eq!(found.size, size);
                assert_eq!(found.offset, end);
                assert_eq!(found.pitch, [size[0] * 4, size[0] * 4 * size[1]]);
                end += size.iter().product::<usize>() * 4;
            }
            assert_eq!(layout.size(), Some(end));
        }
    }
}
