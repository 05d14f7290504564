//! Which formats images may have: what `clGetSupportedImageFormats` lists, and nothing else, can be
//! created, read and written.
//!
//! The compiler knows what goes together as a [`Format`] ("Image Format Descriptor"); the rules of
//! the API that are not about texels are here.

use brolga_compiler::image::{ChannelOrder, DataType, Format};
use opencl_sys::*;

use super::ImageType;
use crate::memory::flags;
use brolga_engine::error::CLResult;

/// Every format of the device.
fn all() -> impl Iterator<Item = Format> {
    ChannelOrder::ALL.iter().flat_map(|&order| {
        let types = DataType::ALL.iter();
        types.filter_map(move |&data_type| Format::new(order, data_type))
    })
}

/// Whether images of a type may have a format. What they are for does not matter: what can be read
/// can be written, and both by one kernel.
pub fn is_supported(format: Format, image_type: ImageType) -> bool {
    let Format { order, data_type } = format;
    // The number of bits per element determined by the image_channel_data_type and
    // image_channel_order must be a power of two ("Image Format Descriptor").
    if !format.texel_size().is_power_of_two() {
        return false;
    }
    match order {
        // The CTS takes the first to be of one channel. Of the others it wants another border color
        // than "Determining the Border Color or Value" (OpenCL C Specification) says, and 0 for the
        // alpha of integers, which is 1 in the table of "Mapping Image Channels to Color Values
        // Returned by read_image". Three channels are never a power of two of bits.
        ChannelOrder::Rx | ChannelOrder::Rgx | ChannelOrder::Rgbx | ChannelOrder::Srgbx => false,
        // Kernels have types for depth images of two dimensions only ("Minimum List of Supported
        // Image Formats", "Depth Images").
        ChannelOrder::Depth => {
            matches!(image_type, ImageType::Dim2 | ImageType::Dim2Array)
                && matches!(data_type, DataType::UnormInt16 | DataType::Float)
        }
        _ => true,
    }
}

/// Checks flags that a question is about: those of an image, `CL_MEM_KERNEL_READ_AND_WRITE`, and
/// `CL_MEM_IMMUTABLE_EXT` without anything to make such an image of.
///
/// Errors: `CL_INVALID_VALUE`.
pub fn check_query_flags(flags: u64) -> CLResult<()> {
    flags::check(
        flags & !(CL_MEM_KERNEL_READ_AND_WRITE | CL_MEM_IMMUTABLE_EXT),
        false,
    )
}

/// `clGetSupportedImageFormats`, for any flags.
pub fn supported(image_type: ImageType) -> impl Iterator<Item = Format> {
    all().filter(move |&format| is_supported(format, image_type))
}

/// Whether an image with an order may be seen as one with another ("Compatible Image Channel
/// Orders").
pub(super) fn is_compatible(view: ChannelOrder, of: ChannelOrder) -> bool {
    use ChannelOrder::*;
    matches!(
        (view, of),
        (Sbgra, Bgra)
            | (Bgra, Sbgra)
            | (Srgba, Rgba)
            | (Rgba, Srgba)
            | (Srgb, Rgb)
            | (Rgb, Srgb)
            | (Depth, R)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Minimum List of Supported Image Formats": of every version of OpenCL.
    #[test]
    fn the_minimum_is_there() {
        use ChannelOrder::*;
        use DataType::*;
        let types = [
            UnormInt8,
            UnormInt16,
            SnormInt8,
            SnormInt16,
            SignedInt8,
            SignedInt16,
            SignedInt32,
            UnsignedInt8,
            UnsignedInt16,
            UnsignedInt32,
            HalfFloat,
            Float,
        ];
        let of = |order| types.map(|data_type| Format { order, data_type });
        let pictures = [Bgra, Srgba].map(|order| Format {
            order,
            data_type: UnormInt8,
        });
        let wanted = [&of(R)[..], &of(Rg), &of(Rgba), &pictures].concat();
        for image_type in ImageType::ALL {
            let there: Vec<Format> = supported(image_type).collect();
            for format in &wanted {
                assert!(there.contains(format), "{image_type:?} {format:?}");
            }
        }
        for image_type in [ImageType::Dim2, ImageType::Dim2Array] {
            let wanted = [UnormInt16, Float].map(|data_type| Format {
                order: Depth,
                data_type,
            });
            let there: Vec<Format> = supported(image_type).collect();
            assert!(wanted.iter().all(|format| there.contains(format)));
        }
    }

    #[test]
    fn elements_are_a_power_of_two() {
        for image_type in ImageType::ALL {
            let sizes = supported(image_type).map(Format::texel_size);
            assert!(
                sizes
                    .into_iter()
                    .all(|size| [1, 2, 4, 8, 16].contains(&size))
            );
        }
    }
}
