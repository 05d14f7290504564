//! Images and samplers: texels are copied to and from memory that the host has mapped.

use ash::vk;
use brolga_compiler::image::{ChannelOrder, DataType, Format};
use brolga_compiler_testing::engines::Image;

use super::{Lavapipe, Memory};

pub struct StoredImage {
    image: vk::Image,
    pub view: vk::ImageView,
    extent: vk::Extent3D,
    layers: u32,
    bytes: usize,
}

/// The format of Vulkan's that is one of OpenCL's; none for those that tests do not use.
fn format(format: Format) -> Option<vk::Format> {
    Some(match (format.order, format.data_type) {
        (ChannelOrder::Rgba, DataType::Float) => vk::Format::R32G32B32A32_SFLOAT,
        (ChannelOrder::Rgba, DataType::SignedInt32) => vk::Format::R32G32B32A32_SINT,
        (ChannelOrder::Rgba, DataType::UnsignedInt32) => vk::Format::R32G32B32A32_UINT,
        (ChannelOrder::Rgba, DataType::UnormInt8) => vk::Format::R8G8B8A8_UNORM,
        (ChannelOrder::Rgba, DataType::HalfFloat) => vk::Format::R16G16B16A16_SFLOAT,
        (ChannelOrder::R, DataType::Float) => vk::Format::R32_SFLOAT,
        (ChannelOrder::R, DataType::UnsignedInt32) => vk::Format::R32_UINT,
        _ => return None,
    })
}

const WHOLE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: vk::REMAINING_ARRAY_LAYERS,
};

impl StoredImage {
    fn all_of_it(&self) -> [vk::BufferImageCopy; 1] {
        let layers = vk::ImageSubresourceLayers::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .layer_count(self.layers);
        [vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_extent(self.extent)]
    }
}

impl Lavapipe {
    /// An image with its texels, whose rows lie end to end.
    pub(super) fn stored_image(&self, source: &Image) -> Result<StoredImage, vk::Result> {
        let unknown = vk::Result::ERROR_FORMAT_NOT_SUPPORTED;
        let format = format(source.format).ok_or(unknown)?;
        let of = source.extent;
        // Images of one dimension are not told from those of two.
        let (dim, view, layers) = match (of.depth > 1, of.layers > 1) {
            (true, _) => (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D, 1),
            (false, true) => {
                let view = vk::ImageViewType::TYPE_2D_ARRAY;
                (vk::ImageType::TYPE_2D, view, of.layers)
            }
            (false, false) => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D, 1),
        };
        let extent = vk::Extent3D {
            width: of.width,
            height: of.height.max(1),
            depth: of.depth.max(1),
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(dim)
            .format(format)
            .extent(extent)
            .mip_levels(1)
            .array_layers(layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(
                vk::ImageUsageFlags::SAMPLED
                    | vk::ImageUsageFlags::STORAGE
                    | vk::ImageUsageFlags::TRANSFER_SRC
                    | vk::ImageUsageFlags::TRANSFER_DST,
            );
        // SAFETY: all structures are valid for the calls, here and below; handles are the ones that
        // the calls before have returned.
        let (image, view) = unsafe {
            let image = self.device.create_image(&info, None)?;
            let needs = self.device.get_image_memory_requirements(image);
            let memory = self.allocate(needs)?;
            self.device.bind_image_memory(image, memory, 0)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(view)
                .format(format)
                .subresource_range(WHOLE);
            (image, self.device.create_image_view(&info, None)?)
        };
        let stored = StoredImage {
            image,
            view,
            extent,
            layers,
            bytes: source.texels.len(),
        };
        let memory = self.memory(&source.texels)?;
        self.submit(|list| {
            let barrier = [vk::ImageMemoryBarrier::default()
                .image(image)
                .new_layout(vk::ImageLayout::GENERAL)
                .subresource_range(WHOLE)];
            let (before, after) = (
                vk::PipelineStageFlags::TOP_OF_PIPE,
                vk::PipelineStageFlags::ALL_COMMANDS,
            );
            let none = vk::DependencyFlags::empty();
            let (layout, copies) = (vk::ImageLayout::GENERAL, stored.all_of_it());
            // SAFETY: as above.
            unsafe {
                self.device
                    .cmd_pipeline_barrier(list, before, after, none, &[], &[], &barrier);
                self.device
                    .cmd_copy_buffer_to_image(list, memory.buffer, image, layout, &copies);
            }
        })?;
        Ok(stored)
    }

    /// The texels of an image as they are now.
    pub(super) fn texels(&self, image: &StoredImage) -> Result<Memory, vk::Result> {
        let memory = self.memory(&vec![0; image.bytes])?;
        self.submit(|list| {
            let (layout, copies) = (vk::ImageLayout::GENERAL, image.all_of_it());
            // SAFETY: as above.
            unsafe {
                self.device.cmd_copy_image_to_buffer(
                    list,
                    image.image,
                    layout,
                    memory.buffer,
                    &copies,
                );
            }
        })?;
        Ok(memory)
    }

    /// A sampler by the bits of OpenCL C's constants.
    pub(super) fn sampler(&self, bits: u32) -> Result<vk::Sampler, vk::Result> {
        let filter = match bits & 0x30 {
            0x20 => vk::Filter::LINEAR,
            _ => vk::Filter::NEAREST,
        };
        let mode = match bits & 0xe {
            2 => vk::SamplerAddressMode::CLAMP_TO_EDGE,
            6 => vk::SamplerAddressMode::REPEAT,
            8 => vk::SamplerAddressMode::MIRRORED_REPEAT,
            _ => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        };
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
            .address_mode_u(mode)
            .address_mode_v(mode)
            .address_mode_w(mode)
            .border_color(vk::BorderColor::FLOAT_TRANSPARENT_BLACK)
            .unnormalized_coordinates(bits & 1 == 0);
        // SAFETY: as above.
        unsafe { self.device.create_sampler(&info, None) }
    }
}
