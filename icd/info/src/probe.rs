//! Whether a registered library opens, and which platforms it has. It is another driver's code as
//! often as not, so it is opened in a process of its own, whose end is no harm.

use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::process::{Command, ExitCode};
use std::ptr;

use libloading::Library;
use opencl_sys::{CL_PLATFORM_NAME, CL_SUCCESS, cl_int, cl_platform_id, cl_uint};

/// The option with which this program is that process.
pub const OPTION: &str = "--probe";

type PlatformIds = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
type FunctionAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type PlatformInfo =
    unsafe extern "C" fn(cl_platform_id, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;

/// The names of the library's platforms, or why it has none.
pub fn ask(library: &str) -> Result<Vec<String>, String> {
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    let output = Command::new(program).args([OPTION, library]).output();
    let output = output.map_err(|why| why.to_string())?;
    match output.status.code() {
        Some(0) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(text.lines().map(str::to_owned).collect())
        }
        Some(_) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        None => Err(format!(
            "the process that opened it ended: {}",
            output.status
        )),
    }
}

/// What the process does: prints a name a line.
pub fn answer(library: &str) -> ExitCode {
    match platforms(library) {
        Ok(names) => {
            names.iter().for_each(|name| println!("{name}"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// What the dynamic linker says of a library that does not open.
fn reason(why: &dyn Error) -> String {
    why.source()
        .map_or_else(|| why.to_string(), |source| source.to_string())
}

/// As loaders do it: "cl_khr_icd", "How the loader gets the platforms".
fn platforms(library: &str) -> Result<Vec<String>, String> {
    // SAFETY: opening a driver is what a loader does with it; the functions have these types by the
    // extension. A platform's first word is the address of the table of functions, of which the
    // second is clGetPlatformInfo.
    unsafe {
        let library = Library::new(library).map_err(|why| reason(&why))?;
        let library: &'static Library = Box::leak(Box::new(library));
        let exported = library.get::<PlatformIds>(b"clIcdGetPlatformIDsKHR\0");
        let ids: PlatformIds = match exported {
            Ok(ids) => *ids,
            Err(_) => {
                let find = library
                    .get::<FunctionAddress>(b"clGetExtensionFunctionAddress\0")
                    .map_err(|_| "it has no clGetExtensionFunctionAddress: no OpenCL driver")?;
                let ids = find(c"clIcdGetPlatformIDsKHR".as_ptr());
                if ids.is_null() {
                    return Err("it has no clIcdGetPlatformIDsKHR: not for loaders".to_owned());
                }
                std::mem::transmute::<*mut c_void, PlatformIds>(ids)
            }
        };
        let mut count = 0;
        let status = ids(0, ptr::null_mut(), &mut count);
        if status != CL_SUCCESS || count == 0 {
            return Err(format!("it has no platforms: status {status}"));
        }
        let mut handles = vec![ptr::null_mut(); count as usize];
        ids(count, handles.as_mut_ptr(), ptr::null_mut());
        let name = |&platform: &cl_platform_id| {
            let table: *const PlatformInfo = *platform.cast();
            let mut name = [0_u8; 256];
            let info = *table.add(1);
            info(
                platform,
                CL_PLATFORM_NAME,
                name.len(),
                name.as_mut_ptr().cast(),
                ptr::null_mut(),
            );
            let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        Ok(handles.iter().map(name).collect())
    }
}
