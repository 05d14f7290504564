//! What is true of a device and of every part of it: limits, capabilities, names.
//!
//! A field is named after the query it answers. Everything is constant for the life of the process.

use brolga_engine::system::topology::Topology;
use brolga_engine::tree;
use opencl_sys::*;

use crate::base::features;
use crate::base::version::{NameVersion, OPENCL_NUMERIC_VERSION, OPENCL_VERSION};
use crate::binary::BUILD;
use crate::fault;

/// Preferred or native vector widths in elements, by element type; 0 where the type is not
/// supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorWidths {
    pub char: u32,
    pub short: u32,
    pub int: u32,
    pub long: u32,
    pub float: u32,
    pub double: u32,
    pub half: u32,
}

/// How large images may be, in texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Also of rows.
    pub width_2d: u32,
    pub height_2d: u32,
    pub width_3d: u32,
    pub height_3d: u32,
    pub depth_3d: u32,
    /// Texels of a buffer that is an image.
    pub buffer: u32,
    /// Images in an array.
    pub array: u32,
}

/// Those that drivers for CPUs have. Nothing here depends on them; tests of the largest images, and
/// of random ones, take as long as they are large.
const IMAGE_LIMITS: ImageLimits = ImageLimits {
    width_2d: 16384,
    height_2d: 16384,
    width_3d: 2048,
    height_3d: 2048,
    depth_3d: 2048,
    buffer: 1 << 27,
    array: 2048,
};

/// Vectorization runs across work-items, so scalar code is what an application should write. That
/// is so of native widths, too: what a work-item has of a machine's vector is a lane, as on other
/// devices that run work-items in lanes. Programs choose their vectors by it (hashcat), and in
/// vectors of 4 each value takes four registers.
const VECTOR_WIDTHS: VectorWidths = VectorWidths {
    char: 1,
    short: 1,
    int: 1,
    long: 1,
    float: 1,
    double: 1,
    half: 1,
};

/// `CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR`
const CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR: u64 = 1 << 0;

/// `CL_DEVICE_{GLOBAL,LOCAL}_FP_ATOMIC_{LOAD_STORE,ADD,MIN_MAX}_EXT`.
const ALL_FP_ATOMICS: u64 = 0b111 | 0b111 << 16;

/// `CL_DEVICE_MAX_ON_DEVICE_EVENTS`
const MAX_ON_DEVICE_EVENTS: u32 = tree::MAX_COMMANDS as u32;

/// Work-items in a work-group at most, in each dimension and altogether: as many as other drivers
/// for CPUs take. They run one vector after the other, so that only what each keeps across barriers
/// grows with their number.
pub(crate) const MAX_WORK_GROUP_SIZE: usize = 8192;

/// Bytes of work-group memory, which is ordinary memory: half of the second-level cache, so that
/// what the work-group reads has the other half; but at least what programs find elsewhere.
fn local_mem_size(topology: &Topology) -> u64 {
    let mut caches = topology.caches.iter();
    let second = caches.find(|cache| cache.level == 2);
    let second = second.map_or(0, |cache| cache.size);
    (second / 2).clamp(256 << 10, 1 << 20)
}

/// Bytes of a program-scope variable at most, and of all of them at best. It is ordinary memory;
/// the compiler takes initialisers of this much.
const MAX_GLOBAL_VARIABLE_SIZE: usize = 64 << 20;

/// The directed modes are those of conversions that name one, and what
/// `cl_khr_select_fprounding_mode` selects.
const FP_CONFIG: cl_device_fp_config = CL_FP_DENORM
    | CL_FP_INF_NAN
    | CL_FP_ROUND_TO_NEAREST
    | CL_FP_ROUND_TO_ZERO
    | CL_FP_ROUND_TO_INF
    | CL_FP_FMA;

const ATOMIC_CAPABILITIES: cl_device_atomic_capabilities = CL_DEVICE_ATOMIC_ORDER_RELAXED
    | CL_DEVICE_ATOMIC_ORDER_ACQ_REL
    | CL_DEVICE_ATOMIC_ORDER_SEQ_CST
    | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
    | CL_DEVICE_ATOMIC_SCOPE_DEVICE
    | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES;

const QUEUE_PROPERTIES: cl_command_queue_properties =
    CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

const COMMAND_BUFFER_CAPABILITIES: cl_device_command_buffer_capabilities_khr =
    CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR
        | CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR
        | CL_COMMAND_BUFFER_CAPABILITY_MULTIPLE_QUEUE_KHR;

const MUTABLE_DISPATCH_CAPABILITIES: cl_mutable_dispatch_fields_khr =
    CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
        | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
        | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
        | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
        | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;

const SVM_CAPABILITIES: cl_device_svm_capabilities = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
    | CL_DEVICE_SVM_FINE_GRAIN_BUFFER
    | CL_DEVICE_SVM_FINE_GRAIN_SYSTEM
    | CL_DEVICE_SVM_ATOMICS;

const USM_CAPABILITIES: cl_device_unified_shared_memory_capabilities_intel =
    CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL
        | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
        | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL
        | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;

/// What a device and its sub-devices have in common. Sizes are in bytes unless said otherwise.
#[derive(Debug)]
pub struct DeviceLimits {
    pub topology: Topology,
    pub device_type: u64,
    pub vendor_id: u32,
    pub max_work_item_sizes: [usize; 3],
    pub max_work_group_size: usize,
    pub preferred_vector_widths: VectorWidths,
    pub native_vector_widths: VectorWidths,
    pub max_clock_frequency: u32,
    pub address_bits: u32,
    pub max_mem_alloc_size: u64,
    pub global_mem_size: u64,
    pub global_mem_cache_size: u64,
    pub global_mem_cacheline_size: u32,
    pub local_mem_size: u64,
    pub max_parameter_size: usize,
    /// Bits.
    pub mem_base_addr_align: u32,
    pub min_data_type_align_size: u32,
    pub single_fp_config: u64,
    pub double_fp_config: u64,
    pub half_fp_config: u64,
    pub max_constant_buffer_size: u64,
    pub max_constant_args: u32,
    /// Nanoseconds.
    pub profiling_timer_resolution: usize,
    pub execution_capabilities: u64,
    pub queue_on_host_properties: u64,
    pub device_enqueue_capabilities: u64,
    pub queue_on_device_properties: u64,
    /// Bytes.
    pub queue_on_device_preferred_size: u32,
    /// Bytes.
    pub queue_on_device_max_size: u32,
    pub max_on_device_queues: u32,
    pub max_on_device_events: u32,
    pub command_buffer_capabilities: u64,
    /// What queues may be created with for command-buffers to run on them.
    pub command_buffer_queue_properties: u64,
    /// What of a recorded launch may change.
    pub mutable_dispatch_capabilities: u64,
    /// Whether contexts can be terminated while kernels run.
    pub terminate_capability: u64,
    pub printf_buffer_size: usize,
    pub svm_capabilities: u64,
    /// What may be done with unified shared memory of every kind
    /// (`cl_intel_unified_shared_memory`).
    pub usm_capabilities: u64,
    pub atomic_memory_capabilities: u64,
    pub atomic_fence_capabilities: u64,
    /// Which atomics there are for floating-point types of 16, 32 and 64 bits
    /// (`cl_ext_float_atomics`).
    pub half_fp_atomic_capabilities: u64,
    pub single_fp_atomic_capabilities: u64,
    pub double_fp_atomic_capabilities: u64,
    pub preferred_work_group_size_multiple: usize,
    pub non_uniform_work_group_support: bool,
    pub generic_address_space_support: bool,
    pub work_group_collective_functions_support: bool,
    pub max_num_sub_groups: u32,
    /// In a work-group.
    pub max_named_barrier_count: u32,
    pub max_global_variable_size: usize,
    pub image_support: bool,
    pub image_limits: ImageLimits,
    /// Images among the arguments of a kernel: those that are only read, those that are only
    /// written, and those that are both.
    pub max_read_image_args: u32,
    pub max_write_image_args: u32,
    pub max_read_write_image_args: u32,
    /// In a kernel.
    pub max_samplers: u32,
    /// Of images made from buffers, in texels.
    pub image_pitch_alignment: u32,
    pub image_base_address_alignment: u32,
    pub pipe_support: bool,
    /// Pipes among the arguments of a kernel.
    pub max_pipe_args: u32,
    pub pipe_max_active_reservations: u32,
    pub pipe_max_packet_size: u32,
    pub name: String,
    pub vendor: String,
    pub driver_version: &'static str,
    pub version: &'static str,
    pub numeric_version: u32,
    pub opencl_c_version: &'static str,
    pub il_version: String,
    /// Space separated.
    pub extensions: String,
    /// Identifies the kind of device, the same in every process on this machine.
    pub uuid: [u8; 16],
    pub driver_uuid: [u8; 16],
}

impl DeviceLimits {
    /// Looks at the machine.
    pub(crate) fn detect() -> DeviceLimits {
        let topology = Topology::detect();
        let cache = topology.last_level_cache();
        // Halves of what is there: the host's own data shares the memory with the device's.
        let global_mem_size = topology.memory;
        let max_mem_alloc_size = (global_mem_size / 2).max(128 << 20);
        DeviceLimits {
            device_type: CL_DEVICE_TYPE_CPU,
            vendor_id: pci_vendor(&topology.vendor),
            max_work_item_sizes: [MAX_WORK_GROUP_SIZE; 3],
            max_work_group_size: MAX_WORK_GROUP_SIZE,
            preferred_vector_widths: VECTOR_WIDTHS,
            native_vector_widths: VECTOR_WIDTHS,
            max_clock_frequency: topology.max_mhz,
            address_bits: 64,
            max_mem_alloc_size,
            global_mem_size,
            global_mem_cache_size: cache.map_or(0, |cache| cache.size),
            global_mem_cacheline_size: cache.map_or(64, |cache| cache.line_size),
            local_mem_size: local_mem_size(&topology),
            max_parameter_size: 4096,
            mem_base_addr_align: 1024,
            min_data_type_align_size: 128,
            single_fp_config: FP_CONFIG | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
            double_fp_config: FP_CONFIG,
            half_fp_config: FP_CONFIG,
            // Constant memory is ordinary memory; tests fill as much of it as is promised.
            max_constant_buffer_size: max_mem_alloc_size.min(64 << 20),
            max_constant_args: 512,
            profiling_timer_resolution: 1,
            execution_capabilities: CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL,
            queue_on_host_properties: QUEUE_PROPERTIES,
            device_enqueue_capabilities: CL_DEVICE_QUEUE_SUPPORTED
                | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT,
            queue_on_device_properties: QUEUE_PROPERTIES,
            queue_on_device_preferred_size: 256 << 10,
            queue_on_device_max_size: 64 << 20,
            max_on_device_queues: 1024,
            max_on_device_events: MAX_ON_DEVICE_EVENTS,
            command_buffer_capabilities: COMMAND_BUFFER_CAPABILITIES,
            command_buffer_queue_properties: QUEUE_PROPERTIES,
            terminate_capability: match fault::IS_SUPPORTED {
                true => CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR,
                false => 0,
            },
            mutable_dispatch_capabilities: MUTABLE_DISPATCH_CAPABILITIES,
            printf_buffer_size: 16 << 20,
            svm_capabilities: SVM_CAPABILITIES,
            usm_capabilities: USM_CAPABILITIES,
            atomic_memory_capabilities: ATOMIC_CAPABILITIES,
            atomic_fence_capabilities: ATOMIC_CAPABILITIES | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM,
            half_fp_atomic_capabilities: if features::has_half() {
                ALL_FP_ATOMICS
            } else {
                0
            },
            single_fp_atomic_capabilities: ALL_FP_ATOMICS,
            double_fp_atomic_capabilities: ALL_FP_ATOMICS,
            preferred_work_group_size_multiple: 8,
            non_uniform_work_group_support: true,
            generic_address_space_support: true,
            work_group_collective_functions_support: true,
            // Sub-groups of one work-item, in the worst case.
            max_num_sub_groups: MAX_WORK_GROUP_SIZE as u32,
            // Each takes twelve bytes of work-group memory; this leaves most of that to others.
            max_named_barrier_count: 1024,
            max_global_variable_size: MAX_GLOBAL_VARIABLE_SIZE,
            image_support: true,
            image_limits: IMAGE_LIMITS,
            // Images and samplers are arguments like others, so that these are round numbers that
            // the parameters of a kernel have room for.
            max_read_image_args: 128,
            max_write_image_args: 128,
            max_read_write_image_args: 128,
            max_samplers: 32,
            image_pitch_alignment: 1,
            image_base_address_alignment: 1,
            pipe_support: true,
            // All arguments could be pipes, a reservation takes nothing but its packets, and a
            // packet may be as large as there is memory: these are round numbers that are larger
            // than any application needs.
            max_pipe_args: 64,
            pipe_max_active_reservations: 1 << 16,
            pipe_max_packet_size: 64 << 10,
            name: topology.name.clone(),
            vendor: topology.vendor.clone(),
            // With the build: applications that keep binaries know them by it.
            driver_version: BUILD,
            version: OPENCL_VERSION,
            numeric_version: OPENCL_NUMERIC_VERSION,
            opencl_c_version: "OpenCL C 1.2 Brolga",
            il_version: features::il_version_string(),
            extensions: features::names(features::device_extensions()),
            uuid: uuid(&[b"device", topology.name.as_bytes()]),
            driver_uuid: uuid(&[b"driver", BUILD.as_bytes()]),
            topology,
        }
    }

    /// `CL_DEVICE_EXTENSIONS_WITH_VERSION`
    pub fn extensions_with_version(&self) -> Vec<NameVersion> {
        features::device_extensions().collect()
    }

    /// `CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT`, where the language is there.
    pub fn cxx_for_opencl_version(&self) -> Option<u32> {
        features::cxx_for_opencl_version()
    }

    /// `CL_DEVICE_OPENCL_C_FEATURES`
    pub fn opencl_c_features(&self) -> Vec<NameVersion> {
        features::opencl_c_features()
    }

    /// `CL_DEVICE_OPENCL_C_ALL_VERSIONS`
    pub fn opencl_c_all_versions(&self) -> &'static [NameVersion] {
        features::opencl_c_versions()
    }

    /// `CL_DEVICE_ILS_WITH_VERSION`
    pub fn ils_with_version(&self) -> &'static [NameVersion] {
        features::il_versions()
    }
}

/// `CL_DEVICE_VENDOR_ID`: the PCI vendor of the processor's maker, 0 when unknown.
fn pci_vendor(cpuid_vendor: &str) -> u32 {
    match cpuid_vendor {
        "GenuineIntel" => 0x8086,
        "AuthenticAMD" => 0x1022,
        "HygonGenuine" => 0x1d94,
        "CentaurHauls" => 0x1106,
        _ => 0,
    }
}

/// A name-based UUID (version 8, RFC 9562) of a few byte strings.
fn uuid(parts: &[&[u8]]) -> [u8; 16] {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update(b"brolga");
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&hash.finalize()[..16]);
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OpenCL API Specification, "Querying Devices": minimum values of the full profile.
    #[test]
    fn limits_reach_the_full_profile_minimum() {
        let device = DeviceLimits::detect();
        assert!(device.max_work_group_size >= 1);
        assert!(device.max_mem_alloc_size >= (device.global_mem_size / 4).min(1 << 30));
        assert!(device.max_mem_alloc_size <= device.global_mem_size.max(128 << 20));
        assert!(device.max_parameter_size >= 1024);
        assert!(device.local_mem_size >= 32 << 10);
        assert!(device.max_constant_buffer_size >= 64 << 10);
        assert!(device.max_constant_args >= 8);
        assert!(device.mem_base_addr_align >= 128 * 8);
        assert!(device.printf_buffer_size >= 1 << 20);
        assert!(device.max_named_barrier_count >= 8);
        assert!(device.max_pipe_args >= 16);
        assert!(device.pipe_max_active_reservations >= 1);
        assert!(device.pipe_max_packet_size >= 1024);
    }

    #[test]
    fn uuids_differ_and_are_well_formed() {
        let device = DeviceLimits::detect();
        assert_ne!(device.uuid, device.driver_uuid);
        assert_eq!(device.uuid[6] >> 4, 8);
        assert_eq!(device.uuid[8] >> 6, 2);
    }
}
