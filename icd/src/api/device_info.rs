//! `clGetDeviceInfo`, by subject. Each function is a table of the queries of one subject.

use std::ffi::CString;
use std::sync::LazyLock;

use brolga_compiler::spirv::{
    supported_capabilities, supported_extensions, supported_instruction_sets,
};
use brolga_runtime::device::Device as RuntimeDevice;
use brolga_runtime::memory::unified_svm;
use brolga_runtime::platform::Platform as RuntimePlatform;
use brolga_runtime::storage::info::SVM_TYPES;
use opencl_sys::*;

use super::device::{Device, devices};
use super::external_handles::{EXTERNAL_MEMORY, EXTERNAL_SEMAPHORES};
use super::platform::platform;
use super::unified_svm::CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR;
use crate::abi::error::{CLResult, ClError};
use crate::abi::handle::{Object, Ref};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::RawHandle;

// cl_ext_float_atomics, "New API Enums".
const CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT: cl_device_info = 0x4231;
const CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT: cl_device_info = 0x4232;
const CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT: cl_device_info = 0x4233;

// What a device whose natural alignments are the preferred ones reports: zero, by the table of
// queries.
const NONE: cl_uint = 0;

/// The queries of a subject: `None` for any other.
type Part = fn(&Ref<Device>, cl_device_info, InfoWriter) -> Option<CLResult<()>>;

const PARTS: &[Part] = &[
    compute,
    images_and_pipes,
    queues,
    memory,
    identity,
    spirv,
    parts,
    shared_memory,
    groups,
    extensions,
];

/// `clGetDeviceInfo`
pub fn get_info(device: RawHandle, name: cl_device_info, writer: InfoWriter) -> CLResult<()> {
    let device = Device::from_raw(device)?;
    // > CL_INVALID_VALUE if param_name is not one of the supported values.
    PARTS
        .iter()
        .find_map(|part| part(&device, name, writer))
        .unwrap_or(Err(ClError::INVALID_VALUE))
}

/// Type, compute units, work-item sizes and vector widths.
fn compute(device: &Ref<Device>, name: cl_device_info, writer: InfoWriter) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_TYPE => writer.value(d.device_type),
        CL_DEVICE_VENDOR_ID => writer.value(d.vendor_id),
        CL_DEVICE_MAX_COMPUTE_UNITS => writer.value(d.max_compute_units),
        CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => writer.value(d.max_work_item_sizes.len() as cl_uint),
        // Also CL_DEVICE_MAX_WORK_GROUP_SIZES, its name in OpenCL 3.1.
        CL_DEVICE_MAX_WORK_ITEM_SIZES => writer.array(&d.max_work_item_sizes),
        CL_DEVICE_MAX_WORK_GROUP_SIZE => writer.value(d.max_work_group_size),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR => writer.value(d.preferred_vector_widths.char),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT => writer.value(d.preferred_vector_widths.short),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT => writer.value(d.preferred_vector_widths.int),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG => writer.value(d.preferred_vector_widths.long),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT => writer.value(d.preferred_vector_widths.float),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE => writer.value(d.preferred_vector_widths.double),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF => writer.value(d.preferred_vector_widths.half),
        CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR => writer.value(d.native_vector_widths.char),
        CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT => writer.value(d.native_vector_widths.short),
        CL_DEVICE_NATIVE_VECTOR_WIDTH_INT => writer.value(d.native_vector_widths.int),
        CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG => writer.value(d.native_vector_widths.long),
        CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => writer.value(d.native_vector_widths.float),
        CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => writer.value(d.native_vector_widths.double),
        CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => writer.value(d.native_vector_widths.half),
        CL_DEVICE_MAX_CLOCK_FREQUENCY => writer.value(d.max_clock_frequency),
        CL_DEVICE_ADDRESS_BITS => writer.value(d.address_bits),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE => writer.value(d.max_mem_alloc_size),
        _ => return None,
    })
}

/// Images and pipes.
fn images_and_pipes(
    device: &Ref<Device>,
    name: cl_device_info,
    writer: InfoWriter,
) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_IMAGE_SUPPORT => writer.boolean(d.image_support),
        CL_DEVICE_MAX_READ_IMAGE_ARGS => writer.value(d.max_read_image_args),
        CL_DEVICE_MAX_WRITE_IMAGE_ARGS => writer.value(d.max_write_image_args),
        CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => writer.value(d.max_read_write_image_args),
        CL_DEVICE_MAX_SAMPLERS => writer.value(d.max_samplers),
        CL_DEVICE_IMAGE_PITCH_ALIGNMENT => writer.value(d.image_pitch_alignment),
        CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => writer.value(d.image_base_address_alignment),
        CL_DEVICE_IMAGE2D_MAX_WIDTH => writer.value(d.image_limits.width_2d as usize),
        CL_DEVICE_IMAGE2D_MAX_HEIGHT => writer.value(d.image_limits.height_2d as usize),
        CL_DEVICE_IMAGE3D_MAX_WIDTH => writer.value(d.image_limits.width_3d as usize),
        CL_DEVICE_IMAGE3D_MAX_HEIGHT => writer.value(d.image_limits.height_3d as usize),
        CL_DEVICE_IMAGE3D_MAX_DEPTH => writer.value(d.image_limits.depth_3d as usize),
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => writer.value(d.image_limits.buffer as usize),
        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => writer.value(d.image_limits.array as usize),

        CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR => writer.value(d.max_named_barrier_count),

        CL_DEVICE_PIPE_SUPPORT => writer.boolean(d.pipe_support),
        CL_DEVICE_MAX_PIPE_ARGS => writer.value(d.max_pipe_args),
        CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => writer.value(d.pipe_max_active_reservations),
        CL_DEVICE_PIPE_MAX_PACKET_SIZE => writer.value(d.pipe_max_packet_size),
        _ => return None,
    })
}

/// Queues on the device.
fn queues(device: &Ref<Device>, name: cl_device_info, writer: InfoWriter) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => writer.value(d.device_enqueue_capabilities),
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => writer.value(d.queue_on_device_properties),
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE => writer.value(d.queue_on_device_preferred_size),
        CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE => writer.value(d.queue_on_device_max_size),
        CL_DEVICE_MAX_ON_DEVICE_QUEUES => writer.value(d.max_on_device_queues),
        CL_DEVICE_MAX_ON_DEVICE_EVENTS => writer.value(d.max_on_device_events),
        _ => return None,
    })
}

/// Memory and floating point.
fn memory(device: &Ref<Device>, name: cl_device_info, writer: InfoWriter) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_MAX_PARAMETER_SIZE => writer.value(d.max_parameter_size),
        CL_DEVICE_MEM_BASE_ADDR_ALIGN => writer.value(d.mem_base_addr_align),
        CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => writer.value(d.min_data_type_align_size),
        CL_DEVICE_SINGLE_FP_CONFIG => writer.value(d.single_fp_config),
        CL_DEVICE_DOUBLE_FP_CONFIG => writer.value(d.double_fp_config),
        CL_DEVICE_HALF_FP_CONFIG => writer.value(d.half_fp_config),
        CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => writer.value(match d.global_mem_cache_size {
            0 => CL_NONE as cl_uint,
            _ => CL_READ_WRITE_CACHE,
        }),
        CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => writer.value(d.global_mem_cacheline_size),
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => writer.value(d.global_mem_cache_size),
        CL_DEVICE_GLOBAL_MEM_SIZE => writer.value(d.global_mem_size),
        CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => writer.value(d.max_constant_buffer_size),
        CL_DEVICE_MAX_CONSTANT_ARGS => writer.value(d.max_constant_args),
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE | CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => {
            writer.value(d.max_global_variable_size)
        }
        // Work-group memory is ordinary memory that stays in a core's cache.
        CL_DEVICE_LOCAL_MEM_TYPE => writer.value(CL_GLOBAL),
        CL_DEVICE_LOCAL_MEM_SIZE => writer.value(d.local_mem_size),
        CL_DEVICE_ERROR_CORRECTION_SUPPORT => writer.boolean(false),
        CL_DEVICE_HOST_UNIFIED_MEMORY => writer.boolean(true),
        CL_DEVICE_PROFILING_TIMER_RESOLUTION => writer.value(d.profiling_timer_resolution),
        CL_DEVICE_ENDIAN_LITTLE => writer.boolean(cfg!(target_endian = "little")),
        CL_DEVICE_AVAILABLE => writer.boolean(true),
        CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => writer.boolean(true),
        CL_DEVICE_EXECUTION_CAPABILITIES => writer.value(d.execution_capabilities),
        // Also CL_DEVICE_QUEUE_PROPERTIES, its name before OpenCL 2.0.
        CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => writer.value(d.queue_on_host_properties),
        _ => return None,
    })
}

/// Names, versions, and source languages.
fn identity(
    device: &Ref<Device>,
    name: cl_device_info,
    writer: InfoWriter,
) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_BUILT_IN_KERNELS => writer.string(""),
        CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => writer.names(&[]),
        CL_DEVICE_PLATFORM => writer.value(platform().raw()),
        CL_DEVICE_NAME => writer.string(&d.name),
        CL_DEVICE_VENDOR => writer.string(&d.vendor),
        CL_DRIVER_VERSION => writer.string(d.driver_version),
        CL_DEVICE_PROFILE => writer.string(RuntimePlatform::get().profile()),
        CL_DEVICE_VERSION => writer.string(d.version),
        CL_DEVICE_NUMERIC_VERSION => writer.value(d.numeric_version),
        CL_DEVICE_OPENCL_C_VERSION => writer.string(d.opencl_c_version),
        CL_DEVICE_OPENCL_C_ALL_VERSIONS => writer.names(d.opencl_c_all_versions()),
        CL_DEVICE_OPENCL_C_FEATURES => writer.names(&d.opencl_c_features()),
        // cl_khr_extended_versioning asks for the version by number; the core query replaced it.
        CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => writer.value(opencl_c_numeric_version(d)),
        CL_DEVICE_EXTENSIONS => writer.string(&d.extensions),
        CL_DEVICE_EXTENSIONS_WITH_VERSION => writer.names(&d.extensions_with_version()),
        CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT => match d.cxx_for_opencl_version() {
            Some(version) => writer.value(version),
            None => return None,
        },
        CL_DEVICE_IL_VERSION => writer.string(&d.il_version),
        CL_DEVICE_ILS_WITH_VERSION => writer.names(d.ils_with_version()),
        // The format demands a date; this one says that no version has been passed.
        CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => writer.string("v0000-01-01-00"),
        _ => return None,
    })
}

/// The SPIR-V that it supports.
#[expect(
    non_upper_case_globals,
    reason = "constants are spelled as in the headers (4x8BIT)"
)]
fn spirv(device: &Ref<Device>, name: cl_device_info, writer: InfoWriter) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS => {
            static SETS: LazyLock<Vec<CString>> = LazyLock::new(|| {
                supported_instruction_sets()
                    .filter_map(|name| CString::new(name).ok())
                    .collect()
            });
            writer.static_strings(&SETS)
        }
        CL_DEVICE_SPIRV_EXTENSIONS => {
            static EXTENSIONS: LazyLock<Vec<CString>> = LazyLock::new(|| {
                supported_extensions()
                    .filter_map(|name| CString::new(name).ok())
                    .collect()
            });
            writer.static_strings(&EXTENSIONS)
        }
        CL_DEVICE_SPIRV_CAPABILITIES => writer.array(&spirv_capabilities(d)),
        CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES => writer.value(
            CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED
                | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT,
        ),
        // Multiplications and additions, no instruction of its own.
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT
        | CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED => {
            writer.value([CL_FALSE; 6])
        }
        CL_DEVICE_PRINTF_BUFFER_SIZE => writer.value(d.printf_buffer_size),
        CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => writer.boolean(true),
        _ => return None,
    })
}

/// Sub-devices and partitions.
fn parts(device: &Ref<Device>, name: cl_device_info, writer: InfoWriter) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_PARENT_DEVICE | CL_DEVICE_PARENT_DEVICE_EXT => writer.value(device.parent()),
        CL_DEVICE_PARTITION_MAX_SUB_DEVICES => writer.value(d.max_sub_devices()),
        CL_DEVICE_PARTITION_PROPERTIES => writer.array(&device.partition_properties()),
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN => writer.value(d.affinity_domains()),
        CL_DEVICE_PARTITION_TYPE => writer.array(&device.partition_type()),
        // > If the device is a root-level device, a reference count of one is returned.
        CL_DEVICE_REFERENCE_COUNT | CL_DEVICE_REFERENCE_COUNT_EXT => {
            writer.value(device.reference_count())
        }
        CL_DEVICE_PARTITION_TYPES_EXT => writer.array(&device.partition_types_ext()),
        CL_DEVICE_AFFINITY_DOMAINS_EXT => writer.array(&device.affinity_domains_ext()),
        CL_DEVICE_PARTITION_STYLE_EXT => writer.array(&device.partition_style_ext()),
        _ => return None,
    })
}

/// Shared virtual memory and atomics.
fn shared_memory(
    device: &Ref<Device>,
    name: cl_device_info,
    writer: InfoWriter,
) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_SVM_CAPABILITIES => writer.value(d.svm_capabilities),
        CL_DEVICE_SVM_TYPE_CAPABILITIES_KHR => writer.array(&SVM_TYPES),
        CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR => {
            writer.array(&unified_svm::concurrent_access_atom_sizes())
        }
        CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL => writer.value(d.usm_capabilities),
        // Natural alignment of the type.
        CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => writer.value(NONE),
        CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => writer.value(d.atomic_memory_capabilities),
        CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => writer.value(d.atomic_fence_capabilities),
        CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT => writer.value(d.half_fp_atomic_capabilities),
        CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT => {
            writer.value(d.single_fp_atomic_capabilities)
        }
        CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT => {
            writer.value(d.double_fp_atomic_capabilities)
        }
        _ => return None,
    })
}

/// Work-groups and sub-groups.
fn groups(device: &Ref<Device>, name: cl_device_info, writer: InfoWriter) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_MAX_NUM_SUB_GROUPS => writer.value(d.max_num_sub_groups),
        CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => writer.boolean(false),
        CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR => writer.value(
            CL_DEVICE_KERNEL_CLOCK_SCOPE_DEVICE_KHR
                | CL_DEVICE_KERNEL_CLOCK_SCOPE_WORK_GROUP_KHR
                | CL_DEVICE_KERNEL_CLOCK_SCOPE_SUB_GROUP_KHR,
        ),
        CL_DEVICE_SUB_GROUP_SIZES_INTEL => {
            writer.array(&brolga_compiler::SUB_GROUP_SIZES.map(|size| size as usize))
        }
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => {
            writer.boolean(d.non_uniform_work_group_support)
        }
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
            writer.value(d.preferred_work_group_size_multiple)
        }
        CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT => {
            writer.boolean(d.work_group_collective_functions_support)
        }
        CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => writer.boolean(d.generic_address_space_support),
        _ => return None,
    })
}

/// Command-buffers, external memory, semaphores and other extensions.
fn extensions(
    device: &Ref<Device>,
    name: cl_device_info,
    writer: InfoWriter,
) -> Option<CLResult<()>> {
    let d = &*device.runtime;
    Some(match name {
        CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR => writer.value(d.command_buffer_capabilities),
        CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR => writer.value(0 as cl_bitfield),
        CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR => {
            writer.value(d.command_buffer_queue_properties)
        }
        CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR => {
            writer.value(d.mutable_dispatch_capabilities)
        }
        // > Return the list of root devices device can use device-side synchronization with.
        CL_DEVICE_COMMAND_BUFFER_NUM_SYNC_DEVICES_KHR => writer.value(devices().len() as cl_uint),
        CL_DEVICE_COMMAND_BUFFER_SYNC_DEVICES_KHR => {
            let raws: Vec<RawHandle> = devices().iter().map(|device| device.raw()).collect();
            writer.array(&raws)
        }

        CL_DEVICE_TERMINATE_CAPABILITY_KHR => writer.value(d.terminate_capability),

        CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR => writer.array(&EXTERNAL_MEMORY),
        CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR => {
            writer.array(&EXTERNAL_MEMORY)
        }
        CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR
        | CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => writer.array(&EXTERNAL_SEMAPHORES),
        CL_DEVICE_SEMAPHORE_TYPES_KHR => writer.array(&[CL_SEMAPHORE_TYPE_BINARY_KHR]),

        CL_DEVICE_UUID => writer.value(d.uuid),
        CL_DRIVER_UUID => writer.value(d.driver_uuid),
        CL_DEVICE_LUID_VALID => writer.boolean(false),
        // > It is not an error to query CL_DEVICE_LUID or CL_DEVICE_NODE_MASK when
        // > CL_DEVICE_LUID_VALID is CL_FALSE, but the value is undefined.
        CL_DEVICE_LUID => writer.value([0u8; CL_LUID_SIZE as usize]),
        CL_DEVICE_NODE_MASK => writer.value(NONE),
        _ => return None,
    })
}

/// The SPIR-V capabilities that the compiler supports and the device has the types and objects for.
fn spirv_capabilities(device: &RuntimeDevice) -> Vec<cl_uint> {
    // > ImageBasic: for devices supporting Images (where CL_DEVICE_IMAGE_SUPPORT is CL_TRUE)
    let of_images = |name: &str| {
        ["Image", "Sampled", "LiteralSampler"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    supported_capabilities()
        .filter(|(_, name)| name != "Float16" || device.half_fp_config != 0)
        .filter(|(_, name)| !of_images(name) || device.image_support)
        .map(|(number, _)| number)
        .collect()
}

/// The version in `OpenCL C <major>.<minor>`, as a number.
fn opencl_c_numeric_version(device: &RuntimeDevice) -> cl_version {
    device
        .opencl_c_version
        .strip_prefix("OpenCL C ")
        .and_then(|rest| rest.split(' ').next()?.split_once('.'))
        .and_then(|(major, minor)| Some(make_version(major.parse().ok()?, minor.parse().ok()?, 0)))
        .unwrap_or_default()
}
