//! Which formats images may have: what `clGetSupportedImageFormats` lists, and nothing else, can be
//! created, read and written.
//!
//! The compiler knows what goes together as a [`Format`] ("Image Format Descriptor"); the rules of
//! the API that are not about texels are here.

use brolga_compiler::image::{ChannelOrder, DataType, Format};
use opencl_sys::*;

use super::ImageType;

/// Every format of the device.
fn all() -> impl Iterator<Item = Format> {
    ChannelOrder::ALL.iter().flat_map(|&order| {
        let types = DataType::ALL.iter();
        types.filter_map(move |&data_type| Format::new(order, data_type))
    })
}

/// Whether images of a type may have a format, for `flags` of a memory object or
/// `CL_MEM_KERNEL_READ_AND_WRITE`.
pub fn is_supported(format: Format, image_type: ImageType, flags: u64) -> bool {
    let Format { order, data_type } = format;
    // The number of bits per element determined by the image_channel_data_type and
    // image_channel_order must be a power of two ("Image Format Descriptor").
    if !format.texel_size().is_power_of_two() {
        return false;
    }
    match order {
        // The CTS takes the first to be of one channel, and wants another border color of the
        // others than "Determining the Border Color or Value" (OpenCL C Specification) says.
        ChannelOrder::Rx | ChannelOrder::Rgx | ChannelOrder::Rgbx | ChannelOrder::Srgbx => false,
        // Kernels have types for depth images of two dimensions only ("Minimum List of Supported
        // Image Formats", "Depth Images").
        ChannelOrder::Depth => {
            matches!(image_type, ImageType::Dim2 | ImageType::Dim2Array)
                && matches!(data_type, DataType::UnormInt16 | DataType::Float)
        }
        // These are to be looked at or to be drawn; the minimum list for both at once has none.
        ChannelOrder::Srgb | ChannelOrder::Srgba | ChannelOrder::Sbgra => {
            flags & CL_MEM_KERNEL_READ_AND_WRITE == 0
        }
        _ => true,
    }
}

/// `clGetSupportedImageFormats`
pub fn supported(flags: u64, image_type: ImageType) -> impl Iterator<Item = Format> {
    all().filter(move |&format| is_supported(format, image_type, flags))
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
        let read_write = [of(R), of(Rgba)].concat();
        let bgra = Format {
            order: Bgra,
            data_type: UnormInt8,
        };
        let either = [&read_write[..], &of(Rg), &[bgra]].concat();
        for image_type in ImageType::ALL {
            let has = |flags, wanted: &[Format]| {
                let there: Vec<Format> = supported(flags, image_type).collect();
                wanted.iter().all(|format| there.contains(format))
            };
            assert!(has(CL_MEM_READ_ONLY, &either), "{image_type:?}");
            assert!(has(CL_MEM_WRITE_ONLY, &either), "{image_type:?}");
            assert!(has(CL_MEM_READ_WRITE, &either), "{image_type:?}");
            assert!(has(CL_MEM_KERNEL_READ_AND_WRITE, &read_write));
        }
        for image_type in [ImageType::Dim2, ImageType::Dim2Array] {
            let wanted = [UnormInt16, Float].map(|data_type| Format {
                order: Depth,
                data_type,
            });
            let there: Vec<Format> = supported(CL_MEM_READ_ONLY, image_type).collect();
            assert!(wanted.iter().all(|format| there.contains(format)));
        }
    }

    #[test]
    fn elements_are_a_power_of_two() {
        for image_type in ImageType::ALL {
            let sizes = supported(CL_MEM_READ_ONLY, image_type).map(Format::texel_size);
            assert!(
                sizes
                    .into_iter()
                    .all(|size| [1, 2, 4, 8, 16].contains(&size))
            );
        }
    }
}
