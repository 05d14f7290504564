//! Functions of the application that the driver calls back.

use std::ffi::{c_char, c_void};

use opencl_sys::{
    cl_command_queue, cl_context, cl_event, cl_int, cl_mem, cl_program, cl_uint,
};

use super::edge::{RawHandle, UserData};

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

/// A callback of the form `f(handle, user_data)`, ready to be called once.
pub fn on_handle(
    notify: unsafe extern "C" fn(*mut c_void, *mut c_void),
    handle: RawHandle,
    user_data: UserData,
) -> impl FnOnce() + Send + Sync + 'static {
    // SAFETY: the application gave the function for this use, with these arguments.
    move || unsafe { notify(handle.to_c(), user_data.to_c()) }
}

/// A callback of the form `f(event, status, user_data)`.
pub fn on_event(
    notify: unsafe extern "C" fn(cl_event, cl_int, *mut c_void),
    handle: RawHandle,
    user_data: UserData,
) -> impl FnOnce(cl_int) + Send + Sync + 'static {
    // SAFETY: the application gave the function for this use, with these arguments.
    move |status| unsafe { notify(handle.to_c(), status, user_data.to_c()) }
}
