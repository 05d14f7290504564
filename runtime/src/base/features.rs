//! One table of every extension and OpenCL C feature that Brolga supports.
//!
//! All extension and feature queries, of the platform and of the device, and which functions of
//! extensions are found by name are generated from here. A row is added by the change that makes it
//! work, never before.

use opencl_sys::{version_major, version_minor};

use crate::base::tools::Tools;
use crate::base::version::{NameVersion, OPENCL_NUMERIC_VERSION};

/// Where an extension is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// A property of the installation (entry points): listed by the platform, and so by each of its
    /// devices.
    Platform,
    /// A property of the device (what kernels may do).
    Device,
}

use Scope::{Device, Platform};

/// A row of the table.
struct Extension {
    scope: Scope,
    name: NameVersion,
    /// What `clGetExtensionFunctionAddressForPlatform` finds because of it.
    functions: &'static [&'static str],
    /// Whether it is there because programs are installed ([`Tools`]).
    needs_tools: bool,
}

impl Extension {
    /// The same at a patch of its version.
    const fn patch(self, patch: u32) -> Extension {
        let NameVersion { name, version } = self.name;
        let (major, minor) = (version_major(version), version_minor(version));
        Extension {
            name: NameVersion::new(name, major, minor, patch),
            ..self
        }
    }

    /// The same with functions.
    const fn with(self, functions: &'static [&'static str]) -> Extension {
        Extension { functions, ..self }
    }

    /// The same where [`Tools`] are installed only.
    const fn with_tools(self) -> Extension {
        Extension {
            needs_tools: true,
            ..self
        }
    }
}

const fn row(scope: Scope, name: &'static str, major: u32, minor: u32) -> Extension {
    Extension {
        scope,
        name: NameVersion::new(name, major, minor, 0),
        functions: &[],
        needs_tools: false,
    }
}

/// A language of its own, so that no macro of this name is defined in OpenCL C.
const CXX_FOR_OPENCL: &str = "cl_ext_cxx_for_opencl";

/// Extensions. OpenCL Extension Specification, "Extensions Overview". Sub-groups are a feature of
/// the core; `cl_khr_subgroups` would promise that the sub-groups of a work-group make progress
/// independently of each other.
// `cl_khr_spirv_extended_debug_info` would be supported as well, but the CTS does not count it
// among the extensions of Khronos.
const EXTENSIONS: &[Extension] = &[
    row(Platform, "cl_khr_icd", 2, 0).with(&[
        "clIcdGetPlatformIDsKHR",
        "clIcdGetFunctionAddressForPlatformKHR",
        "clIcdSetPlatformDispatchDataKHR",
    ]),
    row(Platform, "cl_khr_extended_versioning", 1, 0),
    row(Platform, "cl_khr_icd_unloadable", 1, 0),
    row(Device, "cl_ext_buffer_device_address", 1, 0)
        .patch(2)
        .with(&["clSetKernelArgDevicePointerEXT"]),
    row(Device, CXX_FOR_OPENCL, 1, 0).with_tools(),
    row(Device, "cl_ext_device_fission", 1, 0).with(&[
        "clCreateSubDevicesEXT",
        "clReleaseDeviceEXT",
        "clRetainDeviceEXT",
    ]),
    row(Device, "cl_ext_float_atomics", 1, 0),
    row(Device, "cl_ext_image_from_buffer", 1, 0),
    row(Device, "cl_ext_image_requirements_info", 0, 5).with(&["clGetImageRequirementsInfoEXT"]),
    row(Device, "cl_ext_image_unorm_int_2_101010", 1, 0),
    row(Device, "cl_ext_image_unsigned_10x6_12x4_14x2", 1, 0),
    row(Device, "cl_ext_immutable_memory_objects", 1, 0),
    row(Device, "cl_ext_migrate_memobject", 1, 0).with(&["clEnqueueMigrateMemObjectEXT"]),
    row(Device, "cl_intel_bfloat16_conversions", 1, 0),
    row(Device, "cl_intel_create_buffer_with_properties", 1, 0)
        .with(&["clCreateBufferWithPropertiesINTEL"]),
    row(Device, "cl_intel_devicelib_assert", 1, 0),
    // A draft, and the version is that of the draft; the pointer comes from drafts of
    // `cl_intel_unified_shared_memory`.
    row(Device, "cl_intel_global_variable_access", 0, 9).with(&[
        "clEnqueueReadGlobalVariableINTEL",
        "clEnqueueWriteGlobalVariableINTEL",
        "clGetDeviceGlobalVariablePointerINTEL",
    ]),
    row(Device, "cl_intel_media_block_io", 1, 0),
    row(Device, "cl_intel_required_subgroup_size", 1, 0),
    row(Device, "cl_intel_spirv_media_block_io", 1, 0),
    row(Device, "cl_intel_spirv_subgroups", 1, 0),
    row(Device, "cl_intel_split_work_group_barrier", 1, 0),
    row(Device, "cl_intel_subgroup_buffer_prefetch", 1, 0),
    row(Device, "cl_intel_subgroup_local_block_io", 1, 0),
    row(Device, "cl_intel_subgroups", 1, 0),
    row(Device, "cl_intel_subgroups_char", 1, 0),
    row(Device, "cl_intel_subgroups_long", 1, 0),
    row(Device, "cl_intel_subgroups_short", 1, 0),
    row(Device, "cl_intel_unified_shared_memory", 1, 2).with(&[
        "clDeviceMemAllocINTEL",
        "clEnqueueMemAdviseINTEL",
        "clEnqueueMemFillINTEL",
        "clEnqueueMemcpyINTEL",
        "clEnqueueMemsetINTEL",
        "clEnqueueMigrateMemINTEL",
        "clGetMemAllocInfoINTEL",
        "clHostMemAllocINTEL",
        "clMemBlockingFreeINTEL",
        "clMemFreeINTEL",
        "clSetKernelArgMemPointerINTEL",
        "clSharedMemAllocINTEL",
    ]),
    row(Device, "cl_khr_3d_image_writes", 1, 0),
    row(Device, "cl_khr_async_work_group_copy_fence", 1, 0),
    row(Device, "cl_khr_byte_addressable_store", 1, 0),
    row(Device, "cl_khr_command_buffer", 0, 9).patch(8).with(&[
        "clCommandBarrierWithWaitListKHR",
        "clCommandCopyBufferKHR",
        "clCommandCopyBufferRectKHR",
        "clCommandCopyBufferToImageKHR",
        "clCommandCopyImageKHR",
        "clCommandCopyImageToBufferKHR",
        "clCommandFillBufferKHR",
        "clCommandFillImageKHR",
        "clCommandNDRangeKernelKHR",
        "clCommandSVMMemFillKHR",
        "clCommandSVMMemcpyKHR",
        "clCreateCommandBufferKHR",
        "clEnqueueCommandBufferKHR",
        "clFinalizeCommandBufferKHR",
        "clGetCommandBufferInfoKHR",
        "clReleaseCommandBufferKHR",
        "clRetainCommandBufferKHR",
    ]),
    row(Device, "cl_khr_command_buffer_multi_device", 0, 9)
        .patch(2)
        .with(&["clRemapCommandBufferKHR"]),
    row(Device, "cl_khr_command_buffer_mutable_dispatch", 0, 9)
        .patch(5)
        .with(&["clGetMutableCommandInfoKHR", "clUpdateMutableCommandsKHR"]),
    row(Device, "cl_khr_create_command_queue", 1, 0)
        .with(&["clCreateCommandQueueWithPropertiesKHR"]),
    row(Device, "cl_khr_depth_images", 1, 0),
    row(Device, "cl_khr_device_enqueue_local_arg_types", 1, 0),
    row(Device, "cl_khr_device_uuid", 1, 0),
    row(Device, "cl_khr_expect_assume", 1, 0),
    row(Device, "cl_khr_extended_async_copies", 1, 0),
    row(Device, "cl_khr_extended_bit_ops", 1, 0),
    row(Device, "cl_khr_external_memory", 1, 0).patch(1).with(&[
        "clEnqueueAcquireExternalMemObjectsKHR",
        "clEnqueueReleaseExternalMemObjectsKHR",
    ]),
    // Of drivers that let processors map them. No test has seen a real one: the tests' is a file
    // that says it is one.
    row(Device, "cl_khr_external_memory_dma_buf", 1, 0),
    // Whatever can be mapped shared and has a size.
    row(Device, "cl_khr_external_memory_opaque_fd", 1, 0),
    row(Device, "cl_khr_external_semaphore", 1, 0)
        .patch(1)
        .with(&["clGetSemaphoreHandleForTypeKHR"]),
    row(Device, "cl_khr_external_semaphore_opaque_fd", 1, 0),
    row(Device, "cl_khr_fp16", 1, 0),
    row(Device, "cl_khr_fp64", 1, 0),
    row(Device, "cl_khr_global_int32_base_atomics", 1, 0),
    row(Device, "cl_khr_global_int32_extended_atomics", 1, 0),
    row(Device, "cl_khr_il_program", 1, 0).with(&["clCreateProgramWithILKHR"]),
    row(Device, "cl_khr_image2d_from_buffer", 1, 0),
    row(Device, "cl_khr_initialize_memory", 1, 0),
    row(Device, "cl_khr_int64_base_atomics", 1, 0),
    row(Device, "cl_khr_int64_extended_atomics", 1, 0),
    row(Device, "cl_khr_integer_dot_product", 2, 0),
    row(Device, "cl_khr_kernel_clock", 1, 0),
    row(Device, "cl_khr_local_int32_base_atomics", 1, 0),
    row(Device, "cl_khr_local_int32_extended_atomics", 1, 0),
    row(Device, "cl_khr_mipmap_image", 1, 0),
    row(Device, "cl_khr_mipmap_image_writes", 1, 0),
    row(Device, "cl_khr_priority_hints", 1, 0),
    row(Device, "cl_khr_select_fprounding_mode", 1, 0),
    row(Device, "cl_khr_semaphore", 1, 0).with(&[
        "clCreateSemaphoreWithPropertiesKHR",
        "clEnqueueSignalSemaphoresKHR",
        "clEnqueueWaitSemaphoresKHR",
        "clGetSemaphoreInfoKHR",
        "clReleaseSemaphoreKHR",
        "clRetainSemaphoreKHR",
    ]),
    row(Device, "cl_khr_spirv_linkonce_odr", 1, 0),
    row(Device, "cl_khr_spirv_no_integer_wrap_decoration", 1, 0),
    row(Device, "cl_khr_spirv_queries", 1, 0),
    row(Device, "cl_khr_srgb_image_writes", 1, 0),
    row(Device, "cl_khr_subgroup_ballot", 1, 0),
    row(Device, "cl_khr_subgroup_clustered_reduce", 1, 0),
    row(Device, "cl_khr_subgroup_extended_types", 1, 0),
    row(Device, "cl_khr_subgroup_named_barrier", 1, 0),
    row(Device, "cl_khr_subgroup_non_uniform_arithmetic", 1, 0),
    row(Device, "cl_khr_subgroup_non_uniform_vote", 1, 0),
    row(Device, "cl_khr_subgroup_rotate", 1, 0),
    row(Device, "cl_khr_subgroup_shuffle", 1, 0),
    row(Device, "cl_khr_subgroup_shuffle_relative", 1, 0),
    row(Device, "cl_khr_suggested_local_work_size", 1, 0)
        .with(&["clGetKernelSuggestedLocalWorkSizeKHR"]),
    row(Device, "cl_khr_terminate_context", 1, 0).with(&["clTerminateContextKHR"]),
    row(Device, "cl_khr_throttle_hints", 1, 0),
    // A draft, and the version is that of the draft.
    row(Device, "cl_khr_unified_svm", 0, 9).with(&[
        "clEnqueueSVMMemcpyWithPropertiesKHR",
        "clGetSVMPointerInfoKHR",
        "clGetSVMSuggestedTypeIndexKHR",
        "clSVMAllocWithPropertiesKHR",
        "clSVMFreeWithPropertiesKHR",
    ]),
    row(Device, "cl_khr_work_group_uniform_arithmetic", 1, 0),
];

/// Optional features of OpenCL C 3.0. OpenCL C Specification, "Features".
const OPENCL_C_FEATURES: &[NameVersion] = &[
    NameVersion::new("__opencl_c_3d_image_writes", 3, 0, 0),
    NameVersion::new("__opencl_c_atomic_order_acq_rel", 3, 0, 0),
    NameVersion::new("__opencl_c_atomic_order_seq_cst", 3, 0, 0),
    NameVersion::new("__opencl_c_atomic_scope_all_devices", 3, 0, 0),
    NameVersion::new("__opencl_c_atomic_scope_device", 3, 0, 0),
    NameVersion::new("__opencl_c_device_enqueue", 3, 0, 0),
    NameVersion::new("__opencl_c_fp64", 3, 0, 0),
    NameVersion::new("__opencl_c_generic_address_space", 3, 0, 0),
    NameVersion::new("__opencl_c_images", 3, 0, 0),
    NameVersion::new("__opencl_c_int64", 3, 0, 0),
    NameVersion::new("__opencl_c_kernel_clock_scope_device", 3, 0, 0),
    NameVersion::new("__opencl_c_kernel_clock_scope_sub_group", 3, 0, 0),
    NameVersion::new("__opencl_c_kernel_clock_scope_work_group", 3, 0, 0),
    NameVersion::new("__opencl_c_pipes", 3, 0, 0),
    NameVersion::new("__opencl_c_program_scope_global_variables", 3, 0, 0),
    NameVersion::new("__opencl_c_read_write_images", 3, 0, 0),
    NameVersion::new("__opencl_c_subgroups", 3, 0, 0),
    NameVersion::new("__opencl_c_work_group_collective_functions", 3, 0, 0),
];

/// Optional features that an extension of OpenCL C adds: `cl_ext_float_atomics`, "New OpenCL C
/// Feature Names"; `cl_khr_integer_dot_product`; those of formats of images.
const EXTENSION_FEATURES: &[&str] = &[
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
    "__opencl_c_ext_image_unorm_int_2_101010",
    "__opencl_c_ext_image_unsigned_10x6_12x4_14x2",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
];

/// Those that are there if the device has half precision.
const HALF_FEATURES: &[&str] = &[
    "__opencl_c_ext_fp16_global_atomic_add",
    "__opencl_c_ext_fp16_global_atomic_load_store",
    "__opencl_c_ext_fp16_global_atomic_min_max",
    "__opencl_c_ext_fp16_local_atomic_add",
    "__opencl_c_ext_fp16_local_atomic_load_store",
    "__opencl_c_ext_fp16_local_atomic_min_max",
];

/// Versions of OpenCL C that are supported. 2.0 requires what are optional features of 3.0, all of
/// which are there.
const OPENCL_C_VERSIONS: &[NameVersion] = &[
    NameVersion::new("OpenCL C", 1, 0, 0),
    NameVersion::new("OpenCL C", 1, 1, 0),
    NameVersion::new("OpenCL C", 1, 2, 0),
    NameVersion::new("OpenCL C", 2, 0, 0),
    NameVersion::new("OpenCL C", 3, 0, 0),
    NameVersion::new("OpenCL C", 3, 1, 0),
];

/// Versions of SPIR-V that `clCreateProgramWithIL` takes.
const IL_VERSIONS: &[NameVersion] = &[
    NameVersion::new("SPIR-V", 1, 0, 0),
    NameVersion::new("SPIR-V", 1, 1, 0),
    NameVersion::new("SPIR-V", 1, 2, 0),
    NameVersion::new("SPIR-V", 1, 3, 0),
    NameVersion::new("SPIR-V", 1, 4, 0),
    NameVersion::new("SPIR-V", 1, 5, 0),
    NameVersion::new("SPIR-V", 1, 6, 0),
];

/// What `CL_PLATFORM_EXTENSIONS` lists.
pub(crate) fn platform_extensions() -> impl Iterator<Item = NameVersion> {
    EXTENSIONS
        .iter()
        .filter(|extension| extension.scope == Platform)
        .map(|extension| extension.name)
}

/// What `CL_DEVICE_EXTENSIONS` lists: the device's own and the platform's.
pub(crate) fn device_extensions() -> impl Iterator<Item = NameVersion> {
    let has_tools = Tools::find().is_ok();
    EXTENSIONS
        .iter()
        .filter(move |extension| has_tools || !extension.needs_tools)
        .map(|extension| extension.name)
}

/// `CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT`, if that language is there: the version that
/// `-cl-std=CLC++` means.
pub(crate) fn cxx_for_opencl_version() -> Option<u32> {
    let version = NameVersion::new(CXX_FOR_OPENCL, 1, 0, 0).version;
    device_extensions()
        .any(|extension| extension.name == CXX_FOR_OPENCL)
        .then_some(version)
}

/// Whether an extension in the table has a function of this name.
pub(crate) fn has_function(name: &str) -> bool {
    EXTENSIONS
        .iter()
        .any(|extension| extension.functions.contains(&name))
}

/// The functions of every extension in the table.
pub(crate) fn functions() -> impl Iterator<Item = &'static str> {
    EXTENSIONS
        .iter()
        .flat_map(|extension| extension.functions.iter().copied())
}

/// Whether `half` is a type that kernels compute with.
pub(crate) fn has_half() -> bool {
    EXTENSIONS
        .iter()
        .any(|extension| extension.name.name == "cl_khr_fp16")
}

/// What `CL_DEVICE_OPENCL_C_FEATURES` lists.
pub(crate) fn opencl_c_features() -> Vec<NameVersion> {
    let half: &[&str] = if has_half() { HALF_FEATURES } else { &[] };
    let of_extensions = EXTENSION_FEATURES.iter().chain(half);
    OPENCL_C_FEATURES
        .iter()
        .copied()
        .chain(of_extensions.map(|name| NameVersion::new(name, 3, 0, 0)))
        .collect()
}

pub(crate) fn opencl_c_versions() -> &'static [NameVersion] {
    OPENCL_C_VERSIONS
}

pub(crate) fn il_versions() -> &'static [NameVersion] {
    IL_VERSIONS
}

/// `CL_DEVICE_IL_VERSION`: `SPIR-V_1.6 SPIR-V_1.5 ...`, newest first.
pub(crate) fn il_version_string() -> String {
    let names: Vec<String> = IL_VERSIONS
        .iter()
        .rev()
        .map(|il| {
            format!(
                "{}_{}.{}",
                il.name,
                version_major(il.version),
                version_minor(il.version)
            )
        })
        .collect();
    names.join(" ")
}

/// The same table as compilers of programs need it.
pub(crate) fn for_compiler() -> brolga_opencl_c::Device {
    let version = OPENCL_NUMERIC_VERSION;
    brolga_opencl_c::Device {
        version: version_major(version) * 100 + version_minor(version) * 10,
        extensions: EXTENSIONS
            .iter()
            .filter(|extension| !extension.needs_tools)
            .map(|extension| extension.name.name.to_owned())
            .collect(),
        features: opencl_c_features()
            .iter()
            .map(|f| f.name.to_owned())
            .collect(),
    }
}

/// Names separated by spaces.
pub(crate) fn names(list: impl Iterator<Item = NameVersion>) -> String {
    list.map(|entry| entry.name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platform_extensions_are_also_device_extensions() {
        let device: Vec<_> = device_extensions().map(|e| e.name).collect();
        assert!(platform_extensions().all(|e| device.contains(&e.name)));
    }

    /// So that modules compiled by `brolga-clc` may use all that the driver takes.
    #[test]
    fn the_compilers_full_device_has_every_feature() {
        let full = brolga_opencl_c::Device::full();
        for feature in for_compiler().features {
            assert!(full.has(&feature), "{feature}");
        }
    }

    #[test]
    fn il_version_string_lists_every_version_newest_first() {
        let text = il_version_string();
        assert!(text.starts_with("SPIR-V_1.6 SPIR-V_1.5"), "{text}");
        assert!(text.ends_with("SPIR-V_1.0"), "{text}");
    }
}
