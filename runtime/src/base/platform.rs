//! The platform: what Brolga says of itself before any device is asked.

use std::sync::{Arc, LazyLock};

use crate::base::device::Device;
use crate::base::features;
use crate::base::version::{NameVersion, OPENCL_NUMERIC_VERSION, OPENCL_VERSION};

/// The one platform. Everything here is constant for the life of the process.
#[derive(Debug)]
pub struct Platform {
    devices: [Arc<Device>; 1],
    extensions: String,
}

impl Platform {
    /// The platform; detects the device when first called.
    pub fn get() -> &'static Platform {
        static PLATFORM: LazyLock<Platform> = LazyLock::new(|| Platform {
            devices: [Arc::new(Device::detect())],
            extensions: features::names(features::platform_extensions()),
        });
        &PLATFORM
    }

    /// Every device, whatever its type: one CPU.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// `CL_PLATFORM_NAME`
    pub fn name(&self) -> &'static str {
        "Brolga"
    }

    /// `CL_PLATFORM_VENDOR`
    pub fn vendor(&self) -> &'static str {
        "Brolga"
    }

    /// `CL_PLATFORM_VERSION`
    pub fn version(&self) -> &'static str {
        OPENCL_VERSION
    }

    /// `CL_PLATFORM_NUMERIC_VERSION`
    pub fn numeric_version(&self) -> u32 {
        OPENCL_NUMERIC_VERSION
    }

    /// `CL_PLATFORM_PROFILE`
    pub fn profile(&self) -> &'static str {
        "FULL_PROFILE"
    }

    /// `CL_PLATFORM_EXTENSIONS`: space separated names.
    pub fn extensions(&self) -> &str {
        &self.extensions
    }

    /// `CL_PLATFORM_EXTENSIONS_WITH_VERSION`
    pub fn extensions_with_version(&self) -> Vec<NameVersion> {
        features::platform_extensions().collect()
    }

    /// Whether `clGetExtensionFunctionAddressForPlatform` finds this function: those of the
    /// extensions that are supported.
    pub fn has_extension_function(&self, name: &str) -> bool {
        features::has_function(name)
    }

    /// All of them.
    pub fn extension_functions(&self) -> impl Iterator<Item = &'static str> {
        features::functions()
    }

    /// `CL_PLATFORM_HOST_TIMER_RESOLUTION`: nanoseconds between ticks of the clock that time stamps
    /// come from.
    pub fn host_timer_resolution(&self) -> u64 {
        1
    }

    /// `CL_PLATFORM_COMMAND_BUFFER_CAPABILITIES_KHR`: all devices are the same processors, so that
    /// nothing keeps commands of one from running on another.
    pub fn command_buffer_capabilities(&self) -> u64 {
        opencl_sys::CL_COMMAND_BUFFER_PLATFORM_UNIVERSAL_SYNC_KHR
            | opencl_sys::CL_COMMAND_BUFFER_PLATFORM_REMAP_QUEUES_KHR
            | opencl_sys::CL_COMMAND_BUFFER_PLATFORM_AUTOMATIC_REMAP_KHR
    }

    /// `CL_PLATFORM_ICD_SUFFIX_KHR`
    pub fn icd_suffix(&self) -> &'static str {
        "BROLGA"
    }
}
