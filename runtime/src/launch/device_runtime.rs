//! What kernels ask of the driver by a call while they run: device-side enqueue (`on_device/`), and
//! what to do about an assertion that has failed.
//!
//! A failed assertion (`cl_intel_devicelib_assert`) is said on standard error and to the context,
//! and ends the launch as a fault does: "the function is free to terminate the current kernel
//! invocation". Where faults are not handled the process is aborted, as by `assert` of C.

use std::cell::Cell;
use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use brolga_compiler::device::{self, Assertion};
use brolga_compiler::ir::{DeviceOp, FuncId};

use crate::fault::{self, access};
use crate::launch::printf_sink::PrintfSink;
use crate::launch::reporter::Reporter;

/// What kernels ask for that may enqueue, in one call of generated code.
pub(crate) trait Enqueues {
    /// Does what is asked for. The result is 0 where there is none.
    fn host_call(&self, what: DeviceOp, block: Option<FuncId>, words: &[u64]) -> u64;

    /// The call has returned, or did not because the kernel faulted.
    fn finish(self: Box<Self>, faulted: bool);
}

/// What one call of generated code may ask for.
pub(crate) struct DeviceRuntime<'a> {
    reporter: &'a Reporter<'a>,
    sink: &'a PrintfSink<'a>,
    /// Unless the kernel enqueues nothing.
    enqueues: Option<Box<dyn Enqueues + 'a>>,
    /// Whether an assertion has.
    failed: Cell<bool>,
}

impl<'a> DeviceRuntime<'a> {
    pub(crate) fn new(
        reporter: &'a Reporter<'a>,
        sink: &'a PrintfSink<'a>,
        enqueues: Option<Box<dyn Enqueues + 'a>>,
    ) -> DeviceRuntime<'a> {
        DeviceRuntime {
            reporter,
            sink,
            enqueues,
            failed: Cell::new(false),
        }
    }

    /// What generated code is given as its context.
    pub(crate) fn as_context(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// The call has returned, or has not because the kernel faulted. Whether an assertion has
    /// failed.
    pub(crate) fn finish(self, faulted: bool) -> bool {
        let failed = self.failed.get();
        if let Some(enqueues) = self.enqueues {
            enqueues.finish(faulted || failed);
        }
        failed
    }

    fn fail_assertion(&self, words: &[u64]) {
        self.failed.set(true);
        // SAFETY: the texts are literals of the program.
        let message = unsafe { Failed::new(&Assertion::new(words)) }.to_string();
        self.reporter.tell(&message);
        if !fault::is_handled() {
            self.sink.flush();
            std::process::abort();
        }
    }
}

/// Bytes of each text of an assertion that are told.
const MAX_TEXT: usize = 64 << 10;

/// A text of the program's; nothing for null, or where there is none.
///
/// # Safety
/// Nothing is written there meanwhile.
unsafe fn text(address: u64) -> Option<String> {
    // SAFETY: the caller's.
    let text =
        (address != 0).then(|| unsafe { access::read_string(address as usize, MAX_TEXT) })?;
    Some(String::from_utf8_lossy(&text.ok()?).into_owned())
}

/// `file:line: function: global id: [x,y,z], local id: [x,y,z] Assertion ... failed.`
struct Failed {
    expression: Option<String>,
    file: Option<String>,
    line: u32,
    function: Option<String>,
    ids: [[u64; 3]; 2],
}

impl Failed {
    /// # Safety
    /// Nothing writes to the texts meanwhile.
    unsafe fn new(assertion: &Assertion) -> Failed {
        // SAFETY: the caller's.
        unsafe {
            Failed {
                expression: text(assertion.expression),
                file: text(assertion.file),
                line: assertion.line,
                function: text(assertion.function),
                ids: [assertion.global_id, assertion.local_id],
            }
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_deref().unwrap_or("<unknown file>");
        write!(f, "{file}:{}: ", self.line)?;
        if let Some(function) = &self.function {
            write!(f, "{function}: ")?;
        }
        let [[x, y, z], [u, v, w]] = self.ids;
        write!(f, "global id: [{x},{y},{z}], local id: [{u},{v},{w}] ")?;
        let expression = self.expression.as_deref().unwrap_or_default();
        write!(f, "Assertion `{expression}` failed.")
    }
}

/// A [`brolga_compiler::DeviceFn`] whose context is a [`DeviceRuntime`].
///
/// # Safety
/// `context` is a [`DeviceRuntime`], `words` as many words as `count` says.
pub(crate) unsafe extern "C" fn host_call(
    context: *mut c_void,
    what: u64,
    words: *const u64,
    count: u64,
) -> u64 {
    // SAFETY: as above.
    let (device_runtime, given) = unsafe {
        (
            &*context.cast_const().cast::<DeviceRuntime<'_>>(),
            match count {
                0 => &[],
                _ => std::slice::from_raw_parts(words, count as usize),
            },
        )
    };
    let Some((op, block)) = device::decode(what) else {
        return 0;
    };
    // A panic in here is a bug of the driver; it must not go through generated code.
    let answer = catch_unwind(AssertUnwindSafe(|| match &device_runtime.enqueues {
        _ if op == DeviceOp::FailAssertion => {
            device_runtime.fail_assertion(given);
            0
        }
        Some(enqueues) => enqueues.host_call(op, block, given),
        // SAFETY: as above.
        None => unsafe { device::refuse(context, what, words, count) },
    }));
    if op == DeviceOp::FailAssertion {
        fault::leave();
    }
    answer.unwrap_or(u64::from(device::ENQUEUE_FAILURE as u32))
}
