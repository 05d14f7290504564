//! Versions, and names that have one.

/// A name with a `cl_version`, as the `..._WITH_VERSION` and `..._ALL_VERSIONS` queries return
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameVersion {
    pub name: &'static str,
    /// `CL_MAKE_VERSION(major, minor, patch)`.
    pub version: u32,
}

impl NameVersion {
    /// Packs a version the way `CL_MAKE_VERSION` does: 10 bits major, 10 bits minor, 12 bits patch.
    pub const fn new(name: &'static str, major: u32, minor: u32, patch: u32) -> NameVersion {
        NameVersion {
            name,
            version: opencl_sys::make_version(major, minor, patch),
        }
    }
}

/// `CL_PLATFORM_VERSION` and `CL_DEVICE_VERSION` share the OpenCL version.
pub(crate) const OPENCL_VERSION: &str = "OpenCL 3.1 Brolga";
/// [`OPENCL_VERSION`] as `CL_PLATFORM_NUMERIC_VERSION` and `CL_DEVICE_NUMERIC_VERSION` give it.
pub(crate) const OPENCL_NUMERIC_VERSION: u32 = opencl_sys::make_version(3, 1, 0);
