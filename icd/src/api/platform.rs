//! Platforms: there is one.

use std::sync::LazyLock;

use brolga_runtime::platform::Platform as RuntimePlatform;
use brolga_runtime::storage::info::SVM_TYPES;
use opencl_sys::*;

use super::external_handles::{EXTERNAL_MEMORY, EXTERNAL_SEMAPHORES};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{OutPtr, RawHandle};

/// `cl_platform_id`
pub struct Platform {
    pub runtime: &'static RuntimePlatform,
}

object!(Platform, ClError::INVALID_PLATFORM);

/// The platform's handle, which is never released.
pub fn platform() -> &'static Ref<Platform> {
    static PLATFORM: LazyLock<Ref<Platform>> = LazyLock::new(|| {
        Handle::new(Platform {
            runtime: RuntimePlatform::get(),
        })
    });
    &PLATFORM
}

/// The platform that `raw` means. A null handle is implementation-defined in most places; here it
/// means the only one.
pub fn platform_or_default(raw: RawHandle) -> CLResult<Ref<Platform>> {
    if raw.is_null() {
        return Ok(platform().clone());
    }
    Platform::from_raw(raw)
}

/// `clGetPlatformIDs`
pub fn get_ids(
    num_entries: cl_uint,
    platforms: OutPtr<RawHandle>,
    num_platforms: OutPtr<cl_uint>,
) -> CLResult<()> {
    // > CL_INVALID_VALUE if num_entries is equal to zero and platforms is not NULL, or if both
    // > num_platforms and platforms are NULL.
    require(
        num_entries != 0 || platforms.is_null(),
        ClError::INVALID_VALUE,
    )?;
    require(
        !num_platforms.is_null() || !platforms.is_null(),
        ClError::INVALID_VALUE,
    )?;
    platforms.set(platform().raw());
    num_platforms.set(1);
    Ok(())
}

/// `clIcdGetPlatformIDsKHR`: as [`get_ids`], for the loader.
pub fn get_ids_for_loader(
    num_entries: cl_uint,
    platforms: OutPtr<RawHandle>,
    num_platforms: OutPtr<cl_uint>,
) -> CLResult<()> {
    get_ids(num_entries, platforms, num_platforms)
}

/// `clGetPlatformInfo`
pub fn get_info(platform: RawHandle, name: cl_platform_info, writer: InfoWriter) -> CLResult<()> {
    // > platform refers to the platform ID returned by clGetPlatformIDs or can be NULL. If platform
    // > is NULL, the behavior is implementation-defined.
    let platform = platform_or_default(platform)?.runtime;
    match name {
        CL_PLATFORM_PROFILE => writer.string(platform.profile()),
        CL_PLATFORM_VERSION => writer.string(platform.version()),
        CL_PLATFORM_NUMERIC_VERSION => writer.value(platform.numeric_version()),
        CL_PLATFORM_NAME => writer.string(platform.name()),
        CL_PLATFORM_VENDOR => writer.string(platform.vendor()),
        CL_PLATFORM_EXTENSIONS => writer.string(platform.extensions()),
        CL_PLATFORM_EXTENSIONS_WITH_VERSION => writer.names(&platform.extensions_with_version()),
        CL_PLATFORM_SVM_TYPE_CAPABILITIES_KHR => writer.array(&SVM_TYPES),
        CL_PLATFORM_HOST_TIMER_RESOLUTION => writer.value(platform.host_timer_resolution()),
        CL_PLATFORM_COMMAND_BUFFER_CAPABILITIES_KHR => {
            writer.value(platform.command_buffer_capabilities())
        }
        CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR => writer.array(&EXTERNAL_MEMORY),
        CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR
        | CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => writer.array(&EXTERNAL_SEMAPHORES),
        CL_PLATFORM_SEMAPHORE_TYPES_KHR => writer.array(&[CL_SEMAPHORE_TYPE_BINARY_KHR]),
        // The library stays where it is (`build.rs`), so that a loader may let go of it.
        CL_PLATFORM_UNLOADABLE_KHR => writer.value(CL_TRUE),
        CL_PLATFORM_ICD_SUFFIX_KHR => writer.string(platform.icd_suffix()),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clUnloadPlatformCompiler`: a hint, and there is nothing to unload.
pub fn unload_compiler(platform: RawHandle) -> CLResult<()> {
    // > CL_INVALID_PLATFORM if platform is not a valid platform.
    Platform::from_raw(platform)?;
    Ok(())
}

/// `clUnloadCompiler`
pub fn unload_any_compiler() -> CLResult<()> {
    Ok(())
}
