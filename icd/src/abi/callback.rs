//! Functions of the application that the driver calls back, each in the application's
//! floating-point environment.

use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};

use brolga_runtime::{SvmFreeCallback, float_env};
use opencl_sys::{cl_command_queue, cl_context, cl_event, cl_int, cl_mem, cl_program, cl_uint};

use super::pointers::{RawHandle, UserData};

/// `pfn_notify` of `clCreateContext`.
pub type ContextNotify =
    Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>;
/// `pfn_notify` of `clSetContextDestructorCallback`.
pub type ContextDestroyed = Option<unsafe extern "C" fn(cl_context, *mut c_void)>;
/// `pfn_notify` of `clSetEventCallback`.
pub type EventNotify = Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>;
/// `pfn_notify` of `clSetMemObjectDestructorCallback`.
pub type MemNotify = Option<unsafe extern "C" fn(cl_mem, *mut c_void)>;
/// `pfn_notify` of the program builders and `clSetProgramReleaseCallback`.
pub type ProgramNotify = Option<unsafe extern "C" fn(cl_program, *mut c_void)>;
/// `pfn_free_func` of `clEnqueueSVMFree`.
pub type SvmFreeNotify =
    Option<unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void)>;
/// `user_func` of `clEnqueueNativeKernel`.
pub type NativeKernel = Option<unsafe extern "C" fn(*mut c_void)>;

/// The receiver of a context's error reports.
pub fn on_context_error(
    notify: unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void),
    user_data: UserData,
) -> Box<dyn Fn(&str) + Send + Sync> {
    Box::new(move |message| {
        let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the application gave the function for this use, with these arguments; the text
        // outlives the call.
        float_env::in_application(|| unsafe { notify(text.as_ptr(), null(), 0, user_data.to_c()) })
    })
}

/// A callback of the form `f(handle, user_data)`, ready to be called once.
pub fn on_handle(
    notify: unsafe extern "C" fn(*mut c_void, *mut c_void),
    handle: RawHandle,
    user_data: UserData,
) -> impl FnOnce() + Send + Sync + 'static {
    // SAFETY: the application gave the function for this use, with these arguments.
    move || float_env::in_application(|| unsafe { notify(handle.to_c(), user_data.to_c()) })
}

/// A callback of the form `f(event, status, user_data)`.
pub fn on_event(
    notify: unsafe extern "C" fn(cl_event, cl_int, *mut c_void),
    handle: RawHandle,
    user_data: UserData,
) -> impl FnOnce(cl_int) + Send + Sync + 'static {
    // SAFETY: the application gave the function for this use, with these arguments.
    move |status| {
        float_env::in_application(|| unsafe { notify(handle.to_c(), status, user_data.to_c()) })
    }
}

/// `pfn_free_func`: frees the pointers of one `clEnqueueSVMFree`.
pub fn on_svm_free(
    notify: unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void),
    queue: RawHandle,
    user_data: UserData,
) -> SvmFreeCallback {
    Box::new(move |pointers| {
        let mut list: Vec<*mut c_void> = pointers.iter().map(|p| p.as_ptr().cast()).collect();
        // SAFETY: the application gave the function for this use, with these arguments.
        float_env::in_application(|| unsafe {
            notify(
                queue.to_c(),
                list.len() as cl_uint,
                list.as_mut_ptr(),
                user_data.to_c(),
            )
        })
    })
}

/// A native kernel: `function` applied to a copy of its arguments, or to null when there are none.
pub fn native_kernel(
    function: unsafe extern "C" fn(*mut c_void),
    args: Option<Vec<u8>>,
) -> Box<dyn FnOnce() + Send> {
    // Whole 16-byte units, so that the block is aligned for any C type.
    let mut block = args.map(|args| {
        let mut block = vec![0u128; args.len().div_ceil(size_of::<u128>())];
        for (unit, bytes) in block.iter_mut().zip(args.chunks(size_of::<u128>())) {
            let mut whole = [0; size_of::<u128>()];
            whole[..bytes.len()].copy_from_slice(bytes);
            *unit = u128::from_ne_bytes(whole);
        }
        block
    });
    Box::new(move || {
        let args = block
            .as_mut()
            .map_or(null_mut(), |block| block.as_mut_ptr().cast());
        // SAFETY: the application gave the function for this use, with this argument.
        float_env::in_application(|| unsafe { function(args) })
    })
}
