//! Devices. The one root device is the CPU; `sub_device.rs` partitions it, and `device_info.rs`
//! answers the queries.

use std::sync::{Arc, LazyLock};

use brolga_runtime::clock::timestamp;
use brolga_runtime::device::Device as RuntimeDevice;
use brolga_runtime::platform::Platform as RuntimePlatform;
use opencl_sys::*;

use super::platform::platform_or_default;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::pointers::{OutList, OutPtr, RawHandle};

/// `cl_device_id`
pub struct Device {
    pub runtime: Arc<RuntimeDevice>,
    /// The device that a sub-device was created from.
    pub parent: Option<Ref<Device>>,
}

object!(Device, ClError::INVALID_DEVICE);

/// The handles of every device, which are never released.
pub fn devices() -> &'static [Ref<Device>] {
    static DEVICES: LazyLock<Vec<Ref<Device>>> = LazyLock::new(|| {
        RuntimePlatform::get()
            .devices()
            .iter()
            .map(|runtime| {
                Handle::new(Device {
                    runtime: runtime.clone(),
                    parent: None,
                })
            })
            .collect()
    });
    &DEVICES
}

/// Every type that `clGetDeviceIDs` may ask for.
const DEVICE_TYPES: cl_device_type = CL_DEVICE_TYPE_DEFAULT
    | CL_DEVICE_TYPE_CPU
    | CL_DEVICE_TYPE_GPU
    | CL_DEVICE_TYPE_ACCELERATOR
    | CL_DEVICE_TYPE_CUSTOM;

/// The devices of a type, which may be none.
pub fn devices_of_type(device_type: cl_device_type) -> CLResult<Vec<Ref<Device>>> {
    // > CL_INVALID_DEVICE_TYPE if device_type is not a valid value.
    require(
        device_type == CL_DEVICE_TYPE_ALL || (device_type != 0 && device_type & !DEVICE_TYPES == 0),
        ClError::INVALID_DEVICE_TYPE,
    )?;
    Ok(devices()
        .iter()
        // The only device is also the default one.
        .filter(|device| device_type & (device.runtime.device_type | CL_DEVICE_TYPE_DEFAULT) != 0)
        .cloned()
        .collect())
}

/// `clGetDeviceIDs`
pub fn get_ids(
    platform: RawHandle,
    device_type: cl_device_type,
    out: OutList<RawHandle>,
    num_devices: OutPtr<cl_uint>,
) -> CLResult<()> {
    // > CL_INVALID_PLATFORM if platform is not a valid platform. If it is NULL, the behavior is
    // > implementation-defined.
    platform_or_default(platform)?;
    let found = devices_of_type(device_type)?;
    // > CL_INVALID_VALUE if num_entries is equal to zero and devices is not NULL or if both
    // > num_devices and devices are NULL.
    require(out.count() != 0 || out.is_null(), ClError::INVALID_VALUE)?;
    require(
        !num_devices.is_null() || !out.is_null(),
        ClError::INVALID_VALUE,
    )?;
    num_devices.set(found.len() as cl_uint);
    // > CL_DEVICE_NOT_FOUND if no OpenCL devices that matched device_type were found.
    require(!found.is_empty(), ClError::DEVICE_NOT_FOUND)?;
    let handles: Vec<RawHandle> = found.iter().map(|device| device.raw()).collect();
    out.set(&handles);
    Ok(())
}

/// `clRetainDevice`
pub fn retain(device: RawHandle) -> CLResult<()> {
    let device = Device::from_raw(device)?;
    // > The function has no effect on a root-level device.
    if device.parent.is_some() {
        device.retain();
    }
    Ok(())
}

/// `clReleaseDevice`
pub fn release(device: RawHandle) -> CLResult<()> {
    let device = Device::from_raw(device)?;
    match device.parent {
        Some(_) => device.release(),
        None => Ok(()),
    }
}

/// `clGetDeviceAndHostTimer`
pub fn get_device_and_host_timer(
    device: RawHandle,
    device_timestamp: OutPtr<cl_ulong>,
    host_timestamp: OutPtr<cl_ulong>,
) -> CLResult<()> {
    Device::from_raw(device)?;
    // > CL_INVALID_VALUE if host_timestamp or device_timestamp is NULL.
    require(
        !device_timestamp.is_null() && !host_timestamp.is_null(),
        ClError::INVALID_VALUE,
    )?;
    // The device's clock is the host's.
    let now = timestamp();
    device_timestamp.set(now);
    host_timestamp.set(now);
    Ok(())
}

/// `clGetHostTimer`
pub fn get_host_timer(device: RawHandle, host_timestamp: OutPtr<cl_ulong>) -> CLResult<()> {
    Device::from_raw(device)?;
    // > CL_INVALID_VALUE if host_timestamp is NULL.
    require(!host_timestamp.is_null(), ClError::INVALID_VALUE)?;
    host_timestamp.set(timestamp());
    Ok(())
}
