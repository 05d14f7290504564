//! Which bytes a command on an image is of. See "Reading, Writing and Copying Image Objects" for
//! the rules, "Specifying Mipmap Levels to Image Operations" for where a level is told.

use super::{Image, ImageType};
use crate::memory::mappings::Area;
use crate::memory::rect::RectLayout;
use brolga_engine::error::{CLResult, ClError};

/// A region of an image that a command is of, checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageRegion {
    pub(crate) area: Area,
    /// Relative to the image's first byte.
    pub(crate) layout: RectLayout,
    /// Bytes of a row, rows of a slice, slices.
    pub(crate) bytes: [usize; 3],
}

/// A level, by the coordinates that the API numbers its texels with: what follows the x of an array
/// of rows is the row's index.
struct Level {
    /// Bytes from the beginning of the image.
    offset: usize,
    size: [usize; 3],
    /// Bytes from one texel to the next in the second and third dimension.
    pitch: [usize; 2],
}

impl Image {
    fn level(&self, index: usize) -> Level {
        let level = &self.descriptors[index];
        let [width, height, depth, layers] =
            [level.width, level.height, level.depth, level.layers].map(|size| size as usize);
        let [row, slice] = [level.row_pitch, level.slice_pitch].map(|pitch| pitch as usize);
        let (size, pitch) = match self.image_type() {
            ImageType::Dim1 | ImageType::Dim1Buffer => ([width, 1, 1], [row, slice]),
            ImageType::Dim1Array => ([width, layers, 1], [slice, slice * layers]),
            ImageType::Dim2 => ([width, height, 1], [row, slice]),
            ImageType::Dim2Array => ([width, height, layers], [row, slice]),
            ImageType::Dim3 => ([width, height, depth], [row, slice]),
        };
        Level {
            offset: (level.data - self.descriptors[0].data) as usize,
            size,
            pitch,
        }
    }

    /// `CL_IMAGE_NUM_MIP_LEVELS`, as the image was made with.
    pub fn mip_levels(&self) -> u32 {
        self.layout.levels
    }

    /// The element of an origin that is the level, if the image is mipmapped: the first that its
    /// texels do not need.
    pub fn level_coordinate(&self) -> Option<usize> {
        (self.layout.levels > 1).then(|| self.image_type().dim().coordinates())
    }

    /// Checks a region of `region` texels from `origin` on, whose last element is the level of
    /// images that need all three others.
    ///
    /// Errors: `CL_INVALID_VALUE`, `CL_INVALID_MIP_LEVEL`.
    pub(crate) fn region(
        &self,
        mut origin: [usize; 4],
        region: [usize; 3],
    ) -> CLResult<ImageRegion> {
        let mut level = 0;
        if let Some(at) = self.level_coordinate() {
            level = std::mem::take(&mut origin[at]);
            // CL_INVALID_MIP_LEVEL if the mip level specified in origin is not a valid level for
            // image.
            if level >= self.descriptors.len() {
                return Err(ClError::INVALID_MIP_LEVEL);
            }
        }
        let at = self.level(level);
        // CL_INVALID_VALUE if the region specified by origin and region is out of bounds, or if
        // values in origin and region do not follow the rules: 0 and 1 in the dimensions that the
        // image does not have, and nothing of region is 0.
        let inside = (0..3).all(|n| {
            let end = origin[n].checked_add(region[n]);
            region[n] != 0 && end.is_some_and(|end| end <= at.size[n])
        });
        if !inside {
            return Err(ClError::INVALID_VALUE);
        }
        let element = self.element_size();
        let bytes_to = |[x, y, z]: [usize; 3]| x * element + y * at.pitch[0] + z * at.pitch[1];
        let offset = at.offset + bytes_to([origin[0], origin[1], origin[2]]);
        Ok(ImageRegion {
            area: Area {
                origin: [origin[0], origin[1], origin[2], level],
                region: [region[0], region[1], region[2], 1],
            },
            layout: RectLayout {
                offset,
                row_pitch: at.pitch[0],
                slice_pitch: at.pitch[1],
                end: offset + bytes_to([region[0], region[1] - 1, region[2] - 1]),
            },
            bytes: [region[0] * element, region[1], region[2]],
        })
    }

    /// Where the texels of a region are in memory of the host's with these pitches, of which 0
    /// means tight.
    ///
    /// Errors: `CL_INVALID_VALUE`.
    pub(crate) fn host_layout(
        &self,
        region: &ImageRegion,
        row_pitch: usize,
        slice_pitch: usize,
    ) -> CLResult<RectLayout> {
        let [row, height, depth] = region.bytes;
        let row_pitch = pitch(row_pitch, Some(row))?;
        // CL_INVALID_VALUE if image is a 1D or 2D image and slice_pitch or input_slice_pitch is not
        // zero.
        if !self.image_type().has_slices() && slice_pitch != 0 {
            return Err(ClError::INVALID_VALUE);
        }
        // slice_pitch is the size in bytes of each image of a 1D image array, whose rows they are.
        let (row_pitch, slice_pitch) = match self.image_type() {
            ImageType::Dim1Array => {
                let between = pitch(slice_pitch, Some(row_pitch))?;
                (between, between.checked_mul(height))
            }
            _ => (
                row_pitch,
                Some(pitch(slice_pitch, row_pitch.checked_mul(height))?),
            ),
        };
        let slice_pitch = slice_pitch.ok_or(ClError::INVALID_VALUE)?;
        let slices = slice_pitch.checked_mul(depth - 1);
        let rows = row_pitch.checked_mul(height - 1);
        let end = slices.zip(rows).and_then(|(slices, rows)| {
            let end = slices.checked_add(rows)?;
            end.checked_add(row)
        });
        Ok(RectLayout {
            offset: 0,
            row_pitch,
            slice_pitch,
            end: end.ok_or(ClError::INVALID_VALUE)?,
        })
    }
}

impl Image {
    /// The row and slice pitch of a region that is mapped; 0 for no slices.
    pub(crate) fn mapped_pitches(&self, region: &ImageRegion) -> [usize; 2] {
        let RectLayout {
            row_pitch,
            slice_pitch,
            ..
        } = region.layout;
        match self.image_type() {
            ImageType::Dim1Array if self.layout.levels > 1 => [row_pitch, row_pitch],
            ImageType::Dim1Array => [self.layout.row_pitch, row_pitch],
            ImageType::Dim2Array | ImageType::Dim3 => [row_pitch, slice_pitch],
            ImageType::Dim1 | ImageType::Dim1Buffer | ImageType::Dim2 => [row_pitch, 0],
        }
    }
}

impl ImageRegion {
    /// The texels one after the other in a buffer: "Copying Between Image and Buffer Objects".
    ///
    /// Errors: `CL_INVALID_VALUE` when no address space has room for them there.
    pub(crate) fn tight(&self, offset: usize) -> CLResult<RectLayout> {
        // The image has as many bytes, so the products are numbers.
        let [row, height, depth] = self.bytes;
        Ok(RectLayout {
            offset,
            row_pitch: row,
            slice_pitch: row * height,
            end: offset
                .checked_add(row * height * depth)
                .ok_or(ClError::INVALID_VALUE)?,
        })
    }
}

/// A pitch that was given, which is `least` if it is 0.
fn pitch(given: usize, least: Option<usize>) -> CLResult<usize> {
    let least = least.ok_or(ClError::INVALID_VALUE)?;
    // This value must be greater than or equal to the element size in bytes x width, and row_pitch
    // x height.
    match given {
        0 => Ok(least),
        given if given < least => Err(ClError::INVALID_VALUE),
        given => Ok(given),
    }
}
