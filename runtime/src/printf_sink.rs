//! Collects what one launch prints and writes it out when the launch is complete.
//!
//! "The output is written when the command completes" (OpenCL C Specification, "printf"): all of a
//! launch's output comes out in one piece, before its event is seen to be complete, and so in the
//! order of an in-order queue.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::context::Context;
use crate::fault::{self, access};
use crate::printf;

unsafe extern "C" {
    /// The C library's stream. Output goes through it, and not straight to the descriptor, so that
    /// it keeps its place among what the application prints.
    static stdout: *mut libc::FILE;
}

/// The output of one launch.
pub(crate) struct PrintfSink {
    context: Arc<Context>,
    output: Mutex<Vec<u8>>,
}

impl PrintfSink {
    pub(crate) fn new(context: &Arc<Context>) -> PrintfSink {
        PrintfSink {
            context: Arc::clone(context),
            output: Mutex::default(),
        }
    }

    /// What generated code is given as its context.
    pub(crate) fn as_context(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// Writes out what there is.
    pub(crate) fn flush(&self) {
        let output = std::mem::take(&mut *self.output.lock());
        if output.is_empty() {
            return;
        }
        match self.context.printf_output() {
            Some(callback) => callback(&output),
            // SAFETY: the C library's own stream, which locks itself, and as many bytes as `output`
            // has.
            None => unsafe {
                libc::fwrite(output.as_ptr().cast(), 1, output.len(), stdout);
                libc::fflush(stdout);
            },
        }
    }
}

/// [`brolga_compiler::PrintfFn`]: formats one call of one work-item into the sink.
///
/// # Safety
/// As documented there; `context` comes from [`PrintfSink::as_context`] of a sink that still lives.
pub(crate) unsafe extern "C" fn receive(
    context: *mut c_void,
    format: *const u8,
    types: *const u8,
    lanes: *const u64,
    count: u64,
) {
    // Nothing may unwind into generated code; a formatter that panics prints nothing.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller's contract: the sink is shared, the format ends in NUL.
        let (sink, format) = unsafe {
            let sink = &*context.cast_const().cast::<PrintfSink>();
            (sink, c_string(format))
        };
        let count = count as usize;
        let (types, lanes) = if count == 0 {
            (&[][..], &[][..])
        } else {
            // SAFETY: two bytes describe each argument, the second is its number of lanes.
            let types = unsafe { std::slice::from_raw_parts(types, 2 * count) };
            let total = types.chunks_exact(2).map(|pair| usize::from(pair[1])).sum();
            // SAFETY: every lane of every argument is there.
            (types, unsafe { std::slice::from_raw_parts(lanes, total) })
        };
        // SAFETY: a string argument points to bytes that end in NUL, if the kernel is right.
        let fetch = |address: u64| match unsafe { access::read_string(address as usize) } {
            Ok(string) => string,
            Err(address) => {
                fault::record(address, "printf");
                Vec::new()
            }
        };
        let text = printf::format(format, types, lanes, fetch);
        sink.output.lock().extend_from_slice(&text);
    }));
}

/// The bytes before the NUL; a null pointer has none.
///
/// # Safety
/// `string` must be null or point to bytes that end in NUL and live while the result is used.
unsafe fn c_string<'a>(string: *const u8) -> &'a [u8] {
    if string.is_null() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(string.cast::<c_char>()) }.to_bytes()
}
