//! Functions found by name, and the driver's side of `cl_khr_icd`.

use std::ffi::{c_char, c_void};

use brolga_runtime::platform::Platform as RuntimePlatform;

use super::device::devices;
use super::platform::{Platform, platform};
use crate::abi::error::CLResult;
use crate::abi::handle::{Object, set_loader_data};
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// The address of the entry point of a name, if there is one: `entry_points.rs`, above this file,
/// has them.
pub type Find = fn(&str) -> Option<*mut c_void>;

/// The address of the function of a name, or null unless it is `among` those that may be found.
fn address(find: Find, name: InPtr<c_char>, among: impl Fn(&str) -> bool) -> *mut c_void {
    name.string()
        .and_then(|name| String::from_utf8(name).ok())
        .filter(|name| among(name))
        .and_then(|name| find(&name))
        .unwrap_or(std::ptr::null_mut())
}

/// `clGetExtensionFunctionAddress`: functions of the extensions that are advertised.
pub fn get_address(find: Find, name: InPtr<c_char>) -> CLResult<*mut c_void> {
    let platform = RuntimePlatform::get();
    let is_advertised = |name: &str| platform.has_extension_function(name);
    Ok(address(find, name, is_advertised))
}

/// `clGetExtensionFunctionAddressForPlatform`
pub fn get_address_for_platform(
    find: Find,
    platform: RawHandle,
    name: InPtr<c_char>,
) -> CLResult<*mut c_void> {
    // > A return value of NULL indicates that the specified function does not exist or platform is
    // > not a valid platform.
    Platform::from_raw(platform)?;
    get_address(find, name)
}

/// `clIcdGetFunctionAddressForPlatformKHR`: any entry point, core or extension, for the dispatch
/// table that a loader with `cl_khr_icd` 2.0.0 makes.
pub fn get_any_address(
    find: Find,
    platform: RawHandle,
    name: InPtr<c_char>,
) -> CLResult<*mut c_void> {
    Platform::from_raw(platform)?;
    Ok(address(find, name, |_| true))
}

/// `clIcdSetPlatformDispatchDataKHR`: from now on the second word of every handle is the loader's.
pub fn set_dispatch_data(raw: RawHandle, data: OutPtr<c_void>) -> CLResult<()> {
    // > CL_INVALID_PLATFORM if platform is not a valid platform.
    Platform::from_raw(raw)?;
    set_loader_data(data.pointer());
    platform().set_loader_data(data.pointer());
    for device in devices() {
        device.set_loader_data(data.pointer());
    }
    Ok(())
}
