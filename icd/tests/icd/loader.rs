//! The driver as an ICD loader meets it: by exported names, by the functions of `cl_khr_icd`, and
//! through the `libOpenCL.so.1` of the system.

use std::ffi::{CStr, CString, c_char, c_void};
use std::process::Command;
use std::ptr::{null, null_mut};

use brolga::dispatch::{CL_ICD2_TAG_KHR, SLOTS};
use brolga_runtime_testing::skip;
use libloading::{Library, Symbol};
use opencl_sys::*;

use crate::support;

type GetAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type GetAddressForPlatform = unsafe extern "C" fn(cl_platform_id, *const c_char) -> *mut c_void;
type GetPlatformIds = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
type SetDispatchData = unsafe extern "C" fn(cl_platform_id, *mut c_void) -> cl_int;
type GetDeviceIds = unsafe extern "C" fn(
    cl_platform_id,
    cl_device_type,
    cl_uint,
    *mut cl_device_id,
    *mut cl_uint,
) -> cl_int;
type CreateContext = unsafe extern "C" fn(
    *const cl_context_properties,
    cl_uint,
    *const cl_device_id,
    *mut c_void,
    *mut c_void,
    *mut cl_int,
) -> cl_context;
type Release = unsafe extern "C" fn(*mut c_void) -> cl_int;
type PlatformInfo = unsafe extern "C" fn(
    cl_platform_id,
    cl_platform_info,
    usize,
    *mut c_void,
    *mut usize,
) -> cl_int;

fn open() -> Library {
    // SAFETY: the driver's initialisation is that of any Rust library.
    unsafe { Library::new(support::library()) }.expect("the driver opens")
}

fn symbol<'l, T>(library: &'l Library, name: &str) -> Symbol<'l, T> {
    // SAFETY: each caller gives the type of the OpenCL function it names.
    unsafe { library.get(name) }.unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_entry_point_is_exported() {
    let library = open();
    for slot in SLOTS.iter().filter(|slot| !slot.is_empty()) {
        let name = slot.strip_suffix("_icd2_tag").unwrap_or(slot);
        symbol::<*const c_void>(&library, name);
    }
    for name in [
        "clIcdGetPlatformIDsKHR",
        "clIcdGetFunctionAddressForPlatformKHR",
        "clIcdSetPlatformDispatchDataKHR",
    ] {
        symbol::<*const c_void>(&library, name);
    }
}

/// What a loader with `cl_khr_icd` 2.0.0 does when it meets the driver.
#[test]
fn dispatch_managed_by_the_loader() {
    let library = open();
    let find: Symbol<GetAddress> = symbol(&library, "clGetExtensionFunctionAddress");
    let find = |name: &str| {
        let name = CString::new(name).expect("no zero inside");
        // SAFETY: a zero-terminated name.
        unsafe { find(name.as_ptr()) }
    };
    assert!(find("clNoSuchFunctionKHR").is_null());
    let (ids, for_platform, set_data) = (
        find("clIcdGetPlatformIDsKHR"),
        find("clIcdGetFunctionAddressForPlatformKHR"),
        find("clIcdSetPlatformDispatchDataKHR"),
    );
    assert!(!ids.is_null() && !for_platform.is_null() && !set_data.is_null());
    // SAFETY: functions of these types, called with valid arguments; handles are two readable words
    // at least.
    unsafe {
        let ids: GetPlatformIds = std::mem::transmute(ids);
        let for_platform: GetAddressForPlatform = std::mem::transmute(for_platform);
        let set_data: SetDispatchData = std::mem::transmute(set_data);
        let find_core = |platform, name: &str| {
            let name = CString::new(name).expect("no zero inside");
            for_platform(platform, name.as_ptr())
        };
        let mut count = 0;
        assert_eq!(ids(0, null_mut(), &mut count), CL_SUCCESS);
        assert_eq!(count, 1);
        let mut platform = null_mut();
        assert_eq!(ids(1, &mut platform, null_mut()), CL_SUCCESS);

        let words: *const *const usize = platform.cast();
        let table = *words;
        let unload = SLOTS
            .iter()
            .position(|slot| slot.starts_with("clUnloadCompiler"))
            .expect("a slot");
        assert_eq!(*table, CL_ICD2_TAG_KHR as usize);
        assert_eq!(*table.add(unload), CL_ICD2_TAG_KHR as usize);
        for slot in SLOTS.iter().filter(|slot| !slot.is_empty()) {
            let name = slot.strip_suffix("_icd2_tag").unwrap_or(slot);
            assert!(!find_core(platform, name).is_null(), "{name}");
        }
        assert!(find_core(platform, "clNoSuchFunction").is_null());
        assert!(find_core(null_mut(), "clGetPlatformInfo").is_null());

        // Every handle carries the data from then on, those made before included.
        let get_devices: GetDeviceIds = std::mem::transmute(find_core(platform, "clGetDeviceIDs"));
        let create: CreateContext = std::mem::transmute(find_core(platform, "clCreateContext"));
        let release: Release = std::mem::transmute(find_core(platform, "clReleaseContext"));
        let mut device = null_mut();
        let all = CL_DEVICE_TYPE_ALL;
        assert_eq!(
            get_devices(platform, all, 1, &mut device, null_mut()),
            CL_SUCCESS
        );
        let mut data = [0usize; 4];
        let data: *mut c_void = data.as_mut_ptr().cast();
        assert_eq!(set_data(null_mut(), data), CL_INVALID_PLATFORM);
        assert_eq!(set_data(platform, data), CL_SUCCESS);
        let mut status = 1;
        let context = create(null(), 1, &device, null_mut(), null_mut(), &mut status);
        assert_eq!(status, CL_SUCCESS);
        for handle in [platform, device, context] {
            let words: *const *mut c_void = handle.cast();
            assert_eq!(*words, table.cast_mut().cast());
            assert_eq!(*words.add(1), data);
        }
        assert_eq!(release(context), CL_SUCCESS);
        assert_eq!(release(context), CL_INVALID_CONTEXT);
    }
}

/// Set in the child process that [`through_the_system_loader`] starts, because a loader reads its
/// environment once.
const CHILD: &str = "BROLGA_TEST_LOADER_CHILD";

#[test]
fn through_the_system_loader() {
    // SAFETY: the loader's initialisation is that of any OpenCL application's.
    let Ok(loader) = (unsafe { Library::new("libOpenCL.so.1") }) else {
        skip("an ICD loader (Debian: ocl-icd-libopencl1)");
        return;
    };
    if std::env::var_os(CHILD).is_some() {
        use_loader(&loader);
        return;
    }
    let vendors = support::vendors();
    let mut child = Command::new(std::env::current_exe().expect("a running test has a path"));
    child
        .args([
            "--exact",
            "loader::through_the_system_loader",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .env("OCL_ICD_VENDORS", vendors.path())
        .env_remove("OCL_ICD_FILENAMES");
    let output = support::run_command(&mut child);
    assert!(output.status.success(), "{}", support::text(&output));
    assert!(support::text(&output).contains("found Brolga"));
}

fn use_loader(loader: &Library) {
    // SAFETY: functions of these types, called with valid arguments.
    unsafe {
        let ids: Symbol<GetPlatformIds> = symbol(loader, "clGetPlatformIDs");
        let info: Symbol<PlatformInfo> = symbol(loader, "clGetPlatformInfo");
        let mut count = 0;
        assert_eq!(ids(0, null_mut(), &mut count), CL_SUCCESS);
        let mut platforms = vec![null_mut(); count as usize];
        assert_eq!(ids(count, platforms.as_mut_ptr(), null_mut()), CL_SUCCESS);
        for platform in platforms {
            let mut name = [0u8; 64];
            let status = info(
                platform,
                CL_PLATFORM_NAME,
                name.len(),
                name.as_mut_ptr().cast(),
                null_mut(),
            );
            assert_eq!(status, CL_SUCCESS);
            let name = CStr::from_bytes_until_nul(&name).expect("zero-terminated");
            println!("found {}", name.to_string_lossy());
        }
    }
}
