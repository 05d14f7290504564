//! Collects what one launch prints and writes it out when the launch is complete.
//!
//! "The output is written when the command completes" (OpenCL C Specification, "printf"): all of a
//! launch's output comes out in one piece, before its event is seen to be complete, and so in the
//! order of an in-order queue.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use brolga_host::notice;
use once_cell::race::OnceBox;
use parking_lot::Mutex;

use crate::base::root;
use crate::context::Context;
use crate::fault::{self, access};
use crate::launch::printf;
use crate::launch::printf_buffer::LaunchBuffer;
use brolga_engine::callbacks::{NO_TICKET, Ticket};

unsafe extern "C" {
    /// The C library's stream. Output goes through it, and not straight to the descriptor, so that
    /// it keeps its place among what the application prints.
    static stdout: *mut libc::FILE;
}

/// Where the output of one launch goes.
pub(crate) struct PrintfSink<'a> {
    context: &'a Arc<Context>,
    printed: &'a Printed,
}

/// What a launch has printed: most print nothing, and it takes one word then.
#[derive(Default)]
pub(crate) struct Printed(OnceBox<Mutex<PrintedText>>);

impl Printed {
    fn output(&self) -> &Mutex<PrintedText> {
        self.0.get_or_init(Box::default)
    }
}

#[derive(Default)]
struct PrintedText {
    text: Vec<u8>,
    /// Bytes that there was no room for.
    lost: usize,
}

impl PrintedText {
    /// Adds what a call prints: all of it, or nothing.
    fn add(&mut self, text: &[u8], room: usize) {
        // What comes later must not seem to follow what came before.
        if self.lost > 0 || self.text.len() + text.len() > room {
            self.lost = self.lost.saturating_add(text.len());
        } else {
            self.text.extend_from_slice(text);
        }
    }
}

impl<'a> PrintfSink<'a> {
    pub(crate) fn new(context: &'a Arc<Context>, printed: &'a Printed) -> PrintfSink<'a> {
        PrintfSink { context, printed }
    }

    /// What generated code is given as its context.
    pub(crate) fn as_context(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// "The maximum size in bytes of the internal buffer that holds the output of printf calls from
    /// a kernel" (`CL_DEVICE_PRINTF_BUFFER_SIZE`).
    fn room(&self) -> usize {
        self.context.device().printf_buffer_size
    }

    /// Takes what a launch has printed by itself.
    pub(crate) fn take(&self, buffer: &LaunchBuffer) {
        let room = self.room();
        let (text, lost) = buffer.take(room);
        if !text.is_empty() || lost > 0 {
            let mut output = self.printed.output().lock();
            output.add(&text, room);
            output.lost = output.lost.saturating_add(lost);
        }
    }

    /// Writes out what there is, or has the context's callback do so. Returns the callback that
    /// came due.
    pub(crate) fn flush(&self) -> Ticket {
        let Some(output) = self.printed.0.get() else {
            return NO_TICKET;
        };
        let PrintedText { text: output, lost } = std::mem::take(&mut *output.lock());
        if lost > 0 {
            let message = format!(
                "printf: at least {lost} bytes are lost, since the output of a kernel is {} bytes at most \
                 (CL_DEVICE_PRINTF_BUFFER_SIZE)",
                self.room()
            );
            notice(format_args!("{message}"));
            self.context.report(&message);
        }
        if output.is_empty() {
            return NO_TICKET;
        }
        if self.context.printf_output().is_some() {
            let context = Arc::clone(self.context);
            return root::callbacks().push(Box::new(move || {
                context
                    .printf_output()
                    .into_iter()
                    .for_each(|print| print(&output));
            }));
        }
        // SAFETY: the C library's own stream, which locks itself, and as many bytes as `output`
        // has.
        unsafe {
            libc::fwrite(output.as_ptr().cast(), 1, output.len(), stdout);
            libc::fflush(stdout);
        }
        NO_TICKET
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
        // SAFETY: the caller's contract: the sink is shared.
        let sink = unsafe { &*context.cast_const().cast::<PrintfSink>() };
        let room = sink.room();
        // A kernel may pass any address, as the format too. More than there is room for is lost
        // anyway.
        let read = |address: u64, most: usize| {
            // SAFETY: it points to bytes that end in NUL, if the kernel is right.
            let string = unsafe { access::read_string(address as usize, most) };
            string.map_err(|address| fault::record(address, "printf"))
        };
        let Ok(format) = read(format as u64, room + 1) else {
            return;
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
        let left = Cell::new(room + 1);
        let fetch = |address: u64, most: usize| {
            let string = read(address, most.min(left.get())).unwrap_or_default();
            left.set(left.get() - string.len());
            string
        };
        let text = printf::format(&format, types, lanes, room, fetch);
        sink.printed.output().lock().add(&text, sink.room());
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::platform::Platform;
    use crate::context::ContextOptions;

    #[test]
    fn output_is_bounded() {
        let mut output = PrintedText::default();
        output.add(b"abc", 8);
        output.add(b"defgh", 8);
        output.add(b"i", 8);
        output.add(b"", 8);
        assert_eq!((&output.text[..], output.lost), (&b"abcdefgh"[..], 1));
        let mut output = PrintedText::default();
        output.add(b"abc", 4);
        output.add(b"de", 4);
        output.add(b"f", 4);
        assert_eq!((&output.text[..], output.lost), (&b"abc"[..], 3));
    }

    /// What does not fit is lost with a notice, also if there is nothing else.
    #[test]
    fn output_that_is_lost_is_told_of() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let notices = Arc::clone(&told);
        let options = ContextOptions {
            notify: Some(Box::new(move |notice| {
                notices.lock().push(notice.to_owned())
            })),
            ..ContextOptions::default()
        };
        let context = Context::new(Platform::get().devices().to_vec(), options).unwrap();
        let printed = Printed::default();
        let sink = PrintfSink::new(&context, &printed);
        let room = sink.room();
        printed.output().lock().add(&vec![b'x'; room + 1], room);
        sink.flush();
        root::callbacks().wait_run(root::callbacks().last());
        let told = told.lock();
        let expected = format!("{} bytes are lost", room + 1);
        assert!(
            told.len() == 1 && told[0].contains(&expected),
            "{:?}",
            *told
        );
    }
}
