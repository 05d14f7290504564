//! Kernels on Mesa's software implementation of Vulkan, by what their reflection says.
//!
//! Arguments are bound as a host would bind them that knows nothing else: `reflection.rs` has what
//! it is told, `images.rs` images and samplers, `faults.rs` what goes wrong there. Objects of
//! Vulkan's live until the process ends.

pub mod faults;
mod images;
mod reflection;

use std::collections::BTreeMap;

use ash::vk;
use brolga_compiler_testing::engines::Arg;

use images::StoredImage;
use reflection::{Bound, Interface, Place, Told};

pub struct Lavapipe {
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    /// Capabilities of SPIR-V that it lacks.
    lacks: Vec<u32>,
    _entry: ash::Entry,
}

/// What a launch left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Buffers and images that are arguments, in order; empty ones that nothing is bound for.
    pub buffers: Vec<Vec<u8>>,
    /// Calls of `printf`, in some order: formats with the words of their arguments.
    pub printed: Vec<(String, Vec<u32>)>,
}

/// Memory that the host has mapped.
struct Memory {
    buffer: vk::Buffer,
    at: *mut u8,
    size: usize,
}

impl Memory {
    fn read(&self, size: usize) -> Vec<u8> {
        debug_assert!(size <= self.size);
        // SAFETY: the memory stays mapped, and the device is idle.
        unsafe { std::slice::from_raw_parts(self.at, size) }.to_vec()
    }
}

/// What is bound at a place.
enum Object {
    Buffer(vk::DescriptorType, Memory),
    Image(vk::DescriptorType, StoredImage),
    Sampler(vk::Sampler),
}

impl Object {
    fn kind(&self) -> vk::DescriptorType {
        match self {
            Object::Buffer(kind, _) | Object::Image(kind, _) => *kind,
            Object::Sampler(_) => vk::DescriptorType::SAMPLER,
        }
    }
}

/// What a launch specializes and pushes.
struct Launch<'a> {
    words: &'a [u32],
    kernel: &'a str,
    special: BTreeMap<u32, u32>,
    pushed: Vec<u8>,
    groups: u32,
}

impl Lavapipe {
    /// The device.
    ///
    /// # Errors
    /// What is missing.
    pub fn open() -> Result<Lavapipe, String> {
        let say = |what: &'static str| move |why: vk::Result| format!("{what}: {why}");
        // SAFETY: the loader is initialised by being loaded, and the library is kept.
        let entry = unsafe { ash::Entry::load() }
            .map_err(|why| format!("package libvulkan1 is missing: {why}"))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: all structures are valid for the calls, here and below; handles are the ones
        // that the calls before have returned.
        unsafe {
            let instance = entry
                .create_instance(&info, None)
                .map_err(say("vkCreateInstance"))?;
            let all = instance
                .enumerate_physical_devices()
                .map_err(say("vkEnumeratePhysicalDevices"))?;
            let is_cpu = |device: &vk::PhysicalDevice| {
                let properties = instance.get_physical_device_properties(*device);
                properties.device_type == vk::PhysicalDeviceType::CPU
            };
            let physical = all.into_iter().find(is_cpu);
            let physical = physical.ok_or("package mesa-vulkan-drivers is missing")?;
            let mut of_11 = vk::PhysicalDeviceVulkan11Features::default();
            let mut of_12 = vk::PhysicalDeviceVulkan12Features::default();
            let mut of_13 = vk::PhysicalDeviceVulkan13Features::default();
            let mut features = vk::PhysicalDeviceFeatures2::default()
                .push_next(&mut of_11)
                .push_next(&mut of_12)
                .push_next(&mut of_13);
            instance.get_physical_device_features2(physical, &mut features);
            let core = features.features;
            let mut lacks = Vec::new();
            for (has, capability) in [
                (core.shader_float64, 10),
                (core.shader_int64, 11),
                (core.shader_int16, 22),
                (of_12.shader_float16, 9),
                (of_12.shader_int8, 39),
                (of_12.storage_buffer8_bit_access, 4448),
                (of_11.storage_buffer16_bit_access, 4433),
                (of_12.shader_buffer_int64_atomics, 12),
            ] {
                if has == vk::FALSE {
                    lacks.push(capability);
                }
            }
            // The same structures, in a chain of their own.
            of_11.p_next = std::ptr::null_mut();
            of_12.p_next = std::ptr::null_mut();
            of_13.p_next = std::ptr::null_mut();
            let mut features = vk::PhysicalDeviceFeatures2::default()
                .features(core)
                .push_next(&mut of_11)
                .push_next(&mut of_12)
                .push_next(&mut of_13);
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(0)
                .queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .push_next(&mut features);
            let device = instance
                .create_device(physical, &info, None)
                .map_err(say("vkCreateDevice"))?;
            let queue = device.get_device_queue(0, 0);
            Ok(Lavapipe {
                instance,
                physical,
                device,
                queue,
                lacks,
                _entry: entry,
            })
        }
    }

    /// Whether it has all capabilities that a module declares.
    pub fn can(&self, words: &[u32]) -> bool {
        let mut rest = &words[5..];
        // `OpCapability` is 17; these come first.
        while let [first, capability, ..] = rest {
            if first & 0xffff != 17 {
                return true;
            }
            if self.lacks.contains(capability) {
                return false;
            }
            rest = &rest[2..];
        }
        true
    }

    /// Memory of a kind of buffer with these contents.
    fn memory(&self, bytes: &[u8]) -> Result<Memory, vk::Result> {
        let size = bytes.len().max(4).next_multiple_of(16);
        let info = vk::BufferCreateInfo::default().size(size as u64).usage(
            vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::UNIFORM_BUFFER
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST,
        );
        // SAFETY: as above; what is mapped has the size that is written to.
        unsafe {
            let buffer = self.device.create_buffer(&info, None)?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let memory = self.allocate(needs)?;
            self.device.bind_buffer_memory(buffer, memory, 0)?;
            let flags = vk::MemoryMapFlags::empty();
            let at = self
                .device
                .map_memory(memory, 0, vk::WHOLE_SIZE, flags)?
                .cast::<u8>();
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
            Ok(Memory { buffer, at, size })
        }
    }

    fn allocate(&self, needs: vk::MemoryRequirements) -> Result<vk::DeviceMemory, vk::Result> {
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        // SAFETY: as above.
        unsafe {
            let properties = self
                .instance
                .get_physical_device_memory_properties(self.physical);
            let kind = (0..properties.memory_type_count).find(|&at| {
                let flags = properties.memory_types[at as usize].property_flags;
                needs.memory_type_bits & (1 << at) != 0 && flags.contains(wanted)
            });
            let kind = kind.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind);
            self.device.allocate_memory(&info, None)
        }
    }

    /// Runs a kernel in one dimension.
    ///
    /// # Errors
    /// The call that failed, or what the reflection lacks.
    pub fn run(
        &self,
        (words, kernel): (&[u32], &str),
        args: &[Arg],
        (global, local): (u32, u32),
    ) -> Result<Outcome, String> {
        let interface = Interface::of(words, kernel)
            .ok_or_else(|| format!("the reflection has no kernel {kernel}"))?;
        let run = self.run_on(words, kernel, &interface, args, (global, local));
        run.map_err(|why| format!("Vulkan: {why}"))
    }

    fn run_on(
        &self,
        words: &[u32],
        kernel: &str,
        interface: &Interface,
        args: &[Arg],
        (global, local): (u32, u32),
    ) -> Result<Outcome, vk::Result> {
        let mut launch = Launch {
            words,
            kernel,
            special: BTreeMap::new(),
            pushed: Vec::new(),
            groups: global / local,
        };
        for (&id, &told) in &interface.special {
            let value = told_number(told, args, local)?;
            launch.special.insert(id, value);
        }
        for &(offset, told) in &interface.pushed {
            let bytes = match told {
                Told::Value(ordinal) => value_of(args, ordinal)?.to_vec(),
                told => told_number(told, args, local)?.to_ne_bytes().to_vec(),
            };
            put(&mut launch.pushed, offset, &bytes);
        }
        let mut objects = BTreeMap::new();
        for (&place, bound) in &interface.bound {
            objects.insert(place, self.object(bound, args)?);
        }
        self.dispatch(&launch, &objects)?;
        self.outcome(interface, args, &objects)
    }

    /// What a host makes for what is bound.
    fn object(&self, bound: &Bound, args: &[Arg]) -> Result<Object, vk::Result> {
        let (storage, uniform) = (
            vk::DescriptorType::STORAGE_BUFFER,
            vk::DescriptorType::UNIFORM_BUFFER,
        );
        let buffer = |kind, bytes: &[u8]| Ok(Object::Buffer(kind, self.memory(bytes)?));
        match *bound {
            Bound::StorageBuffer(ordinal) => buffer(storage, contents_of(args, ordinal)?),
            Bound::UniformBuffer(ordinal) => {
                // The block is as large as uniform buffers may be.
                let mut bytes = contents_of(args, ordinal)?.to_vec();
                bytes.resize(bytes.len().max(1 << 16), 0);
                buffer(uniform, &bytes)
            }
            Bound::Pods {
                uniform: is_uniform,
                ref values,
            } => {
                let mut block = Vec::new();
                for &(ordinal, offset) in values {
                    put(&mut block, offset, value_of(args, ordinal)?);
                }
                buffer(if is_uniform { uniform } else { storage }, &block)
            }
            Bound::Data(ref bytes) => buffer(storage, bytes),
            Bound::Printf(size) => buffer(storage, &vec![0; size]),
            Bound::SampledImage(ordinal) => {
                let image = self.stored_image(image_of(args, ordinal)?)?;
                Ok(Object::Image(vk::DescriptorType::SAMPLED_IMAGE, image))
            }
            Bound::StorageImage(ordinal) => {
                let image = self.stored_image(image_of(args, ordinal)?)?;
                Ok(Object::Image(vk::DescriptorType::STORAGE_IMAGE, image))
            }
            Bound::Sampler(ordinal) => match args.get(ordinal) {
                Some(&Arg::Sampler(bits)) => Ok(Object::Sampler(self.sampler(bits)?)),
                _ => Err(vk::Result::ERROR_UNKNOWN),
            },
            Bound::LiteralSampler(bits) => Ok(Object::Sampler(self.sampler(bits)?)),
        }
    }

    fn outcome(
        &self,
        interface: &Interface,
        args: &[Arg],
        objects: &BTreeMap<Place, Object>,
    ) -> Result<Outcome, vk::Result> {
        let mut buffers: BTreeMap<usize, Vec<u8>> = (0..)
            .zip(args)
            .filter(|(_, arg)| matches!(arg, Arg::Buffer(_) | Arg::Image(_)))
            .map(|(ordinal, _)| (ordinal, Vec::new()))
            .collect();
        let mut printed = Vec::new();
        for (place, bound) in &interface.bound {
            match (bound, &objects[place]) {
                (
                    &(Bound::StorageBuffer(ordinal) | Bound::UniformBuffer(ordinal)),
                    Object::Buffer(_, memory),
                ) => {
                    let size = contents_of(args, ordinal)?.len();
                    buffers.insert(ordinal, memory.read(size));
                }
                (
                    &(Bound::SampledImage(ordinal) | Bound::StorageImage(ordinal)),
                    Object::Image(_, image),
                ) => {
                    let size = image_of(args, ordinal)?.texels.len();
                    buffers.insert(ordinal, self.texels(image)?.read(size));
                }
                (&Bound::Printf(size), Object::Buffer(_, memory)) => {
                    printed = calls(interface, &memory.read(size));
                }
                _ => {}
            }
        }
        let buffers = buffers.into_values().collect();
        Ok(Outcome { buffers, printed })
    }

    /// Commands that the device has done when this returns.
    fn submit(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), vk::Result> {
        let device = &self.device;
        // SAFETY: as above.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default();
            let pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?;
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            record(commands[0]);
            device.end_command_buffer(commands[0])?;
            let submit = vk::SubmitInfo::default().command_buffers(&commands);
            device.queue_submit(self.queue, &[submit], vk::Fence::null())?;
            device.queue_wait_idle(self.queue)
        }
    }

    fn dispatch(
        &self,
        launch: &Launch<'_>,
        objects: &BTreeMap<Place, Object>,
    ) -> Result<(), vk::Result> {
        let device = &self.device;
        // All sets up to the last one, of which some may have no binding.
        let count = objects.keys().map(|&(set, _)| set + 1).max().unwrap_or(0);
        let bindings = |set: u32| -> Vec<vk::DescriptorSetLayoutBinding<'_>> {
            let of_set = objects.iter().filter(|((of, _), _)| *of == set);
            of_set
                .map(|(&(_, binding), object)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding)
                        .descriptor_type(object.kind())
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect()
        };
        let data: Vec<u8> = launch
            .special
            .values()
            .flat_map(|v| v.to_ne_bytes())
            .collect();
        let entries: Vec<vk::SpecializationMapEntry> = (0..)
            .zip(launch.special.keys())
            .map(|(at, &id)| {
                vk::SpecializationMapEntry::default()
                    .constant_id(id)
                    .offset(4 * at)
                    .size(4)
            })
            .collect();
        let special = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(launch.pushed.len() as u32)];
        let ranges = if launch.pushed.is_empty() {
            &[][..]
        } else {
            &ranges
        };
        let name = std::ffi::CString::new(launch.kernel).map_err(|_| vk::Result::ERROR_UNKNOWN)?;
        // SAFETY: as above.
        unsafe {
            let mut layouts = Vec::new();
            for set in 0..count {
                let bindings = bindings(set);
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
                layouts.push(device.create_descriptor_set_layout(&info, None)?);
            }
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&layouts)
                .push_constant_ranges(ranges);
            let layout = device.create_pipeline_layout(&info, None)?;
            let info = vk::ShaderModuleCreateInfo::default().code(launch.words);
            let module = device.create_shader_module(&info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&name)
                .specialization_info(&special);
            let info = [vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout)];
            let cache = vk::PipelineCache::null();
            let pipeline = device
                .create_compute_pipelines(cache, &info, None)
                .map_err(|(_, why)| why)?[0];
            let sets = self.descriptor_sets(&layouts, objects)?;
            self.submit(|list| {
                let point = vk::PipelineBindPoint::COMPUTE;
                device.cmd_bind_pipeline(list, point, pipeline);
                if !sets.is_empty() {
                    device.cmd_bind_descriptor_sets(list, point, layout, 0, &sets, &[]);
                }
                if !launch.pushed.is_empty() {
                    let stages = vk::ShaderStageFlags::COMPUTE;
                    device.cmd_push_constants(list, layout, stages, 0, &launch.pushed);
                }
                device.cmd_dispatch(list, launch.groups, 1, 1);
            })
        }
    }

    fn descriptor_sets(
        &self,
        layouts: &[vk::DescriptorSetLayout],
        objects: &BTreeMap<Place, Object>,
    ) -> Result<Vec<vk::DescriptorSet>, vk::Result> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        let device = &self.device;
        let kinds = [
            vk::DescriptorType::STORAGE_BUFFER,
            vk::DescriptorType::UNIFORM_BUFFER,
            vk::DescriptorType::SAMPLED_IMAGE,
            vk::DescriptorType::STORAGE_IMAGE,
            vk::DescriptorType::SAMPLER,
        ];
        let sizes = kinds.map(|kind| {
            vk::DescriptorPoolSize::default()
                .ty(kind)
                .descriptor_count(objects.len().max(1) as u32)
        });
        // SAFETY: as above.
        unsafe {
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(layouts.len() as u32)
                .pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(layouts);
            let sets = device.allocate_descriptor_sets(&info)?;
            for (&(set, binding), object) in objects {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(sets[set as usize])
                    .dst_binding(binding)
                    .descriptor_type(object.kind());
                match object {
                    Object::Buffer(_, memory) => {
                        let info = [vk::DescriptorBufferInfo::default()
                            .buffer(memory.buffer)
                            .range(vk::WHOLE_SIZE)];
                        device.update_descriptor_sets(&[write.buffer_info(&info)], &[]);
                    }
                    Object::Image(_, image) => {
                        let info = [vk::DescriptorImageInfo::default()
                            .image_view(image.view)
                            .image_layout(vk::ImageLayout::GENERAL)];
                        device.update_descriptor_sets(&[write.image_info(&info)], &[]);
                    }
                    Object::Sampler(sampler) => {
                        let info = [vk::DescriptorImageInfo::default().sampler(*sampler)];
                        device.update_descriptor_sets(&[write.image_info(&info)], &[]);
                    }
                }
            }
            Ok(sets)
        }
    }
}

fn put(block: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let size = block.len().max(offset + bytes.len());
    block.resize(size.next_multiple_of(4), 0);
    block[offset..offset + bytes.len()].copy_from_slice(bytes);
}

fn contents_of(args: &[Arg], ordinal: usize) -> Result<&[u8], vk::Result> {
    let contents = args.get(ordinal).and_then(Arg::contents);
    contents.ok_or(vk::Result::ERROR_UNKNOWN)
}

fn value_of(args: &[Arg], ordinal: usize) -> Result<&[u8], vk::Result> {
    match args.get(ordinal) {
        Some(Arg::Value(bytes)) => Ok(bytes),
        _ => Err(vk::Result::ERROR_UNKNOWN),
    }
}

fn image_of(
    args: &[Arg],
    ordinal: usize,
) -> Result<&brolga_compiler_testing::engines::Image, vk::Result> {
    match args.get(ordinal) {
        Some(Arg::Image(image)) => Ok(image),
        _ => Err(vk::Result::ERROR_UNKNOWN),
    }
}

/// A number that a launch is told.
fn told_number(told: Told, args: &[Arg], local: u32) -> Result<u32, vk::Result> {
    Ok(match told {
        Told::GroupSize(0) => local,
        Told::GroupSize(_) | Told::WorkDim => 1,
        Told::GlobalOffset => 0,
        Told::Elements(ordinal, size) => match args.get(ordinal) {
            Some(&Arg::Local(bytes)) => (bytes as usize / size.max(1)) as u32,
            _ => return Err(vk::Result::ERROR_UNKNOWN),
        },
        Told::ChannelOrder(ordinal) => image_of(args, ordinal)?.format.order as u32,
        Told::DataType(ordinal) => image_of(args, ordinal)?.format.data_type as u32,
        Told::Value(_) => return Err(vk::Result::ERROR_UNKNOWN),
    })
}

/// The calls in a buffer that was printed to: the first word is how many of the others are taken.
fn calls(interface: &Interface, bytes: &[u8]) -> Vec<(String, Vec<u32>)> {
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let taken = words.first().map_or(0, |&taken| taken as usize);
    let end = (1 + taken).min(words.len());
    let mut rest = words.get(1..end).unwrap_or_default();
    let mut calls = Vec::new();
    while let [number, others @ ..] = rest {
        let Some((text, sizes)) = interface.formats.get(number) else {
            break;
        };
        let count: usize = sizes.iter().map(|size| size.div_ceil(4)).sum();
        let Some((args, others)) = others.split_at_checked(count) else {
            break;
        };
        calls.push((text.clone(), args.to_vec()));
        rest = others;
    }
    calls
}
