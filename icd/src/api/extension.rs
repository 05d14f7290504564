//! Functions found by name, and the driver's side of `cl_khr_icd`.

use std::ffi::{c_char, c_void};

use brolga_runtime::platform::Platform as RuntimePlatform;

use super::device::devices;
use super::platform::{Platform, platform};
use crate::abi::entry_points;
use crate::abi::error::CLResult;
use crate::abi::handle::{Object, set_loader_data};
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// The address of an advertised extension's function, or null.
fn find(name: InPtr<c_char>, among: impl Fn(&str) -> bool) -> *mut c_void {
    name.string()
        .and_then(|name| String::from_utf8(name).ok())
        .filter(|name| among(name))
        .and_then(|name| entry_points::find(&name))
        .unwrap_or(std::ptr::null_mut())
}

/// `clGetExtensionFunctionAddress`: functions of the extensions that are advertised.
pub fn get_address(name: InPtr<c_char>) -> CLResult<*mut c_void> {
    let platform = RuntimePlatform::get();
    Ok(find(name, |name| platform.has_extension_function(name)))
}

/// `clGetExtensionFunctionAddressForPlatform`
pub fn get_address_for_platform(platform: RawHandle, name: InPtr<c_char>) -> CLResult<*mut c_void> {
    // > A return value of NULL indicates that the specified function does not exist or platform is
    // > not a valid platform.
    Platform::from_raw(platform)?;
    get_address(name)
}

/// `clIcdGetFunctionAddressForPlatformKHR`: any entry point, core or extension, for the table that
/// a loader with `cl_khr_icd` 2.0.0 makes of its own.
pub fn get_any_address(platform: RawHandle, name: InPtr<c_char>) -> CLResult<*mut c_void> {
    Platform::from_raw(platform)?;
    Ok(find(name, |_| true))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_an_extension_is_an_entry_point() {
        for name in RuntimePlatform::get().extension_functions() {
            assert!(entry_points::find(name).is_some(), "{name}");
        }
    }
}
