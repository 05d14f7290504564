//! What surrounds every entry point: panics stop here, results become codes, and the
//! application's floating-point environment stays outside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use brolga_host::notice;
use brolga_runtime::{float_env, threads};

use opencl_sys::{CL_SUCCESS, cl_int};

use super::error::{CLResult, ClError};
use super::pointers::{OutPtr, RawHandle};

/// Runs the `body` of an entry point.
fn enter<T>(name: &str, body: impl FnOnce() -> CLResult<T>) -> CLResult<T> {
    float_env::in_default(|| catch_panic(name, body))
}

/// Runs `body`; a panic becomes `CL_OUT_OF_HOST_MEMORY` with a message on stderr. In a child
/// process that has lost the driver's threads the answer is `CL_OUT_OF_RESOURCES`.
fn catch_panic<T>(name: &str, body: impl FnOnce() -> CLResult<T>) -> CLResult<T> {
    if threads::are_gone() {
        tell_of_fork();
        return Err(ClError::OUT_OF_RESOURCES);
    }
    // Whatever a panic leaves half done is behind locks that do not poison and registries that stay
    // consistent.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        notice(format_args!(
            "{name} failed inside the driver: {message}; this is a bug in Brolga"
        ));
        Err(ClError::OUT_OF_HOST_MEMORY)
    })
}

/// Writes once to standard error why no entry point works in this process.
fn tell_of_fork() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Relaxed) {
        notice(format_args!(
            "OpenCL was in use when this process was forked, so it has no OpenCL"
        ));
    }
}

/// An entry point that returns its status.
pub fn status(name: &str, body: impl FnOnce() -> CLResult<()>) -> cl_int {
    match enter(name, body) {
        Ok(()) => CL_SUCCESS,
        Err(error) => error.0,
    }
}

/// An entry point that returns a pointer or handle, and its status through `errcode_ret`, which may
/// be null.
pub fn created<T: IntoC>(
    name: &str,
    errcode_ret: OutPtr<cl_int>,
    body: impl FnOnce() -> CLResult<T>,
) -> T::Raw {
    match enter(name, body) {
        Ok(value) => {
            errcode_ret.set(value.status());
            value.into_c()
        }
        Err(error) => {
            errcode_ret.set(error.0);
            T::NOTHING
        }
    }
}

/// An entry point that reports failure only by what it returns.
pub fn plain<T: IntoC>(name: &str, body: impl FnOnce() -> CLResult<T>) -> T::Raw {
    enter(name, body).map_or(T::NOTHING, T::into_c)
}

/// A result as C has it.
pub trait IntoC {
    type Raw;
    /// What an entry point returns when it fails.
    const NOTHING: Self::Raw;
    fn into_c(self) -> Self::Raw;

    /// The status that goes with the result.
    fn status(&self) -> cl_int {
        CL_SUCCESS
    }
}

impl IntoC for () {
    type Raw = ();
    const NOTHING: () = ();
    fn into_c(self) {}
}

impl IntoC for RawHandle {
    type Raw = *mut std::ffi::c_void;
    const NOTHING: Self::Raw = std::ptr::null_mut();
    fn into_c(self) -> Self::Raw {
        self.to_c()
    }
}

impl IntoC for *mut std::ffi::c_void {
    type Raw = *mut std::ffi::c_void;
    const NOTHING: Self::Raw = std::ptr::null_mut();
    fn into_c(self) -> Self::Raw {
        self
    }
}

/// A handle that is returned together with an error: a program that failed to link.
pub struct Created {
    pub handle: RawHandle,
    pub status: cl_int,
}

impl IntoC for Created {
    type Raw = *mut std::ffi::c_void;
    const NOTHING: Self::Raw = std::ptr::null_mut();

    fn into_c(self) -> Self::Raw {
        self.handle.to_c()
    }

    fn status(&self) -> cl_int {
        self.status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_code() {
        assert_eq!(
            status("clTest", || panic!("on purpose")),
            ClError::OUT_OF_HOST_MEMORY.0
        );
        assert_eq!(status("clTest", || Ok(())), CL_SUCCESS);
    }
}
