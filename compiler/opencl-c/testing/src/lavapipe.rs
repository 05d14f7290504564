//! Kernels on Mesa's software implementation of Vulkan, by what the descriptor map says.
//!
//! Arguments are bound as a host would bind them that knows nothing but the map: buffers and blocks
//! of values as storage buffers, sizes as specialization constants. Objects of Vulkan's live until
//! the process ends.

use std::collections::BTreeMap;

use ash::vk;
use brolga_compiler_testing::engines::Arg;

pub struct Lavapipe {
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    /// Capabilities of SPIR-V that it lacks.
    lacks: Vec<u32>,
    _entry: ash::Entry,
}

/// Memory that the host has mapped.
struct Memory {
    buffer: vk::Buffer,
    at: *mut u8,
    size: usize,
}

/// `key,value` pairs of a line of the map.
fn field<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == key)?;
    words.get(at + 1).copied()
}

fn number(words: &[&str], key: &str) -> Option<u32> {
    field(words, key)?.parse().ok()
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

    fn memory(&self, bytes: &[u8]) -> Result<Memory, vk::Result> {
        let size = bytes.len().max(4).next_multiple_of(16);
        let info = vk::BufferCreateInfo::default()
            .size(size as u64)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        // SAFETY: as above; what is mapped has the size that is written to.
        unsafe {
            let buffer = self.device.create_buffer(&info, None)?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let properties = self
                .instance
                .get_physical_device_memory_properties(self.physical);
            let wanted =
                vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let kind = (0..properties.memory_type_count).find(|&at| {
                let flags = properties.memory_types[at as usize].property_flags;
                needs.memory_type_bits & (1 << at) != 0 && flags.contains(wanted)
            });
            let kind = kind.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind);
            let memory = self.device.allocate_memory(&info, None)?;
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

    /// Runs a kernel in one dimension. The buffers' contents behind it, in order of arguments.
    ///
    /// # Errors
    /// The call that failed, or what the map lacks.
    pub fn run(
        &self,
        (words, map, kernel): (&[u32], &str, &str),
        args: &[Arg],
        (global, local): (u32, u32),
    ) -> Result<Vec<Vec<u8>>, String> {
        let run = self.run_on(words, map, kernel, args, global, local);
        run.map_err(|why| format!("Vulkan: {why}"))
    }

    fn run_on(
        &self,
        words: &[u32],
        map: &str,
        kernel: &str,
        args: &[Arg],
        global: u32,
        local: u32,
    ) -> Result<Vec<Vec<u8>>, vk::Result> {
        let mut contents: BTreeMap<(u32, u32), Vec<u8>> = BTreeMap::new();
        let mut buffers = BTreeMap::new();
        let mut special = BTreeMap::new();
        for line in map.lines() {
            let words: Vec<&str> = line.split(',').collect();
            if let ["spec_constant", what, _, id] = words[..] {
                let value = match what {
                    "workgroup_size_x" => local,
                    "work_dim" | "workgroup_size_y" | "workgroup_size_z" => 1,
                    _ => 0,
                };
                special.insert(id.parse::<u32>().unwrap_or(0), value);
            }
            if words[0] != "kernel" || words[1] != kernel {
                continue;
            }
            let ordinal = number(&words, "argOrdinal").unwrap_or(0) as usize;
            let place = number(&words, "descriptorSet").zip(number(&words, "binding"));
            match (args.get(ordinal), place) {
                (Some(Arg::Buffer(bytes)), Some(place)) => {
                    contents.insert(place, bytes.clone());
                    buffers.insert(ordinal, place);
                }
                (Some(Arg::Value(bytes)), Some(place)) => {
                    let offset = number(&words, "offset").unwrap_or(0) as usize;
                    let block = contents.entry(place).or_default();
                    let size = block.len().max(offset + bytes.len());
                    block.resize(size, 0);
                    block[offset..offset + bytes.len()].copy_from_slice(bytes);
                }
                (Some(Arg::Local(bytes)), _) => {
                    let size = number(&words, "arrayElemSize").unwrap_or(1);
                    let id = number(&words, "arrayNumElemSpecId").unwrap_or(0);
                    special.insert(id, *bytes as u32 / size);
                }
                _ => return Err(vk::Result::ERROR_UNKNOWN),
            }
        }
        let mut memories = BTreeMap::new();
        for (&place, bytes) in &contents {
            memories.insert(place, self.memory(bytes)?);
        }
        self.dispatch(words, kernel, &memories, &special, global / local)?;
        let read = |(ordinal, place): (&usize, &(u32, u32))| {
            let memory: &Memory = &memories[place];
            let Arg::Buffer(bytes) = &args[*ordinal] else {
                return Vec::new();
            };
            debug_assert!(bytes.len() <= memory.size);
            // SAFETY: the memory stays mapped, and the device is idle.
            unsafe { std::slice::from_raw_parts(memory.at, bytes.len()) }.to_vec()
        };
        Ok(buffers.iter().map(read).collect())
    }

    fn dispatch(
        &self,
        words: &[u32],
        kernel: &str,
        memories: &BTreeMap<(u32, u32), Memory>,
        special: &BTreeMap<u32, u32>,
        groups: u32,
    ) -> Result<(), vk::Result> {
        let device = &self.device;
        let bindings: Vec<vk::DescriptorSetLayoutBinding<'_>> = memories
            .keys()
            .map(|&(_, binding)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let data: Vec<u8> = special.values().flat_map(|v| v.to_ne_bytes()).collect();
        let entries: Vec<vk::SpecializationMapEntry> = (0..)
            .zip(special.keys())
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
        let name = std::ffi::CString::new(kernel).map_err(|_| vk::Result::ERROR_UNKNOWN)?;
        // SAFETY: as above.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [device.create_descriptor_set_layout(&info, None)?];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = device.create_pipeline_layout(&info, None)?;
            let info = vk::ShaderModuleCreateInfo::default().code(words);
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
            let sizes = [vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(bindings.len().max(1) as u32)];
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&sets);
            let set = device.allocate_descriptor_sets(&info)?[0];
            for (&(_, binding), memory) in memories {
                let buffer = [vk::DescriptorBufferInfo::default()
                    .buffer(memory.buffer)
                    .range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&buffer);
                device.update_descriptor_sets(&[write], &[]);
            }
            let info = vk::CommandPoolCreateInfo::default();
            let pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?;
            let list = commands[0];
            device.begin_command_buffer(list, &vk::CommandBufferBeginInfo::default())?;
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(list, point, pipeline);
            device.cmd_bind_descriptor_sets(list, point, layout, 0, &[set], &[]);
            device.cmd_dispatch(list, groups, 1, 1);
            device.end_command_buffer(list)?;
            let submit = vk::SubmitInfo::default().command_buffers(&commands);
            device.queue_submit(self.queue, &[submit], vk::Fence::null())?;
            device.queue_wait_idle(self.queue)
        }
    }
}
