//! One launch of a kernel as work: arguments captured by value, code, and the range of work-groups.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use brolga_compiler::abi::ScratchSize;
use brolga_compiler::{Launch, NdRange};
use brolga_engine::Event;
use brolga_engine::callbacks::Ticket;
use brolga_engine::chunks::{NANOSECONDS_PER_THREAD, WorkShape, nanoseconds_per_chunk};
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::system::{float_env, stack};
use brolga_engine::tree::Tree;
use brolga_engine::work::{TraceInfo, Work};
use serde_json::json;

use crate::base::root::thread_count;
use crate::code::executable::Code;
use crate::code::ndrange::num_groups;
use crate::context::Context;
use crate::fault::{self, ExitReason};
use crate::launch::device_runtime::{DeviceRuntime, Enqueues, host_call};
use crate::launch::printf_sink::{PrintfSink, receive};
use crate::launch::reporter::Reporter;
use crate::launch::scratch;

/// 128 bytes of an argument block, aligned for the largest type.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(128))]
pub(crate) struct ArgBlock(pub(crate) [u8; 128]);

impl ArgBlock {
    /// As many as bytes need.
    pub(crate) fn of(bytes: &[u8]) -> Vec<ArgBlock> {
        let chunks = bytes.chunks(128);
        chunks
            .map(|chunk| {
                let mut block = [0; 128];
                block[..chunk.len()].copy_from_slice(chunk);
                ArgBlock(block)
            })
            .collect()
    }

    /// The bytes of a whole argument block.
    pub(crate) fn bytes(blocks: &[ArgBlock]) -> &[u8] {
        // SAFETY: blocks are as large as they are aligned, so bytes are all that a slice of them
        // has.
        unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), size_of_val(blocks)) }
    }
}

/// What a launch of a kernel that may enqueue needs for it.
pub(crate) trait Spawner: Send + Sync {
    /// The launch from the host, and everything that comes of it.
    fn tree(&self) -> &Arc<Tree<Event>>;

    /// What a call of generated code for a command may ask for.
    fn enqueues<'a>(&'a self, event: &'a Arc<Event>) -> Box<dyn Enqueues + 'a>;
}

/// What a launch does.
pub(crate) struct LaunchWork {
    code: Arc<Code>,
    args: Vec<ArgBlock>,
    range: NdRange,
    num_groups: [u64; 3],
    local_mem_size: u64,
    scratch_size: ScratchSize,
    sink: PrintfSink,
    /// Unless the kernel enqueues nothing.
    spawner: Option<Arc<dyn Spawner>>,
    context: Arc<Context>,
    reporter: Reporter,
    /// Whether some of it did not run to its end.
    failed: AtomicBool,
}

impl LaunchWork {
    /// `args` is the argument block, `local_mem_size` counts the kernel's own variables and its
    /// arguments'.
    pub(crate) fn new(
        context: &Arc<Context>,
        code: Arc<Code>,
        args: Vec<ArgBlock>,
        range: NdRange,
        local_mem_size: u64,
        spawner: Option<Arc<dyn Spawner>>,
    ) -> LaunchWork {
        // No group has more work-items than the whole range.
        let group = std::array::from_fn(|d| range.local_size[d]);
        LaunchWork {
            scratch_size: code.scratch_size(group, local_mem_size),
            num_groups: num_groups(&range),
            sink: PrintfSink::new(context),
            spawner,
            context: Arc::clone(context),
            reporter: Reporter::new(context.domain()),
            failed: AtomicBool::new(false),
            code,
            args,
            range,
            local_mem_size,
        }
    }

    fn items(&self) -> u64 {
        self.range.global_size.iter().product()
    }

    /// How the launch may be shared.
    fn shape_of_launch(&self) -> WorkShape {
        let units: u64 = self.num_groups.iter().product();
        let estimate = self.code.cost().estimate(self.items());
        let threads = (estimate / NANOSECONDS_PER_THREAD)
            .min(units)
            .clamp(1, u64::from(thread_count())) as u32;
        let per_unit = (estimate / units).max(1);
        WorkShape {
            units,
            threads,
            min_chunk: (nanoseconds_per_chunk(threads) / per_unit).max(1),
            estimate,
            is_guess: true,
        }
    }

    /// Runs the work-groups `begin..end` on this thread, for a command if there is one. Errors:
    /// `CL_OUT_OF_RESOURCES` without scratch memory or stack, or if the kernel faults.
    pub(crate) fn run(&self, event: Option<&Arc<Event>>, begin: u64, end: u64) -> CLResult<()> {
        let result = self.run_groups(event, begin, end);
        if result.is_err() {
            self.failed.store(true, Relaxed);
        }
        result
    }

    fn run_groups(&self, event: Option<&Arc<Event>>, begin: u64, end: u64) -> CLResult<()> {
        let stack_bytes = self.code.stack_bytes();
        if stack::left().is_some_and(|left| left < stack_bytes) {
            let line = self.code.line(0);
            self.reporter.tell(&format!(
                "kernel `{}`: its values do not fit on the stack ({} bytes){}",
                self.code.name(),
                stack_bytes,
                line.map_or(String::new(), |line| format!(", at {line}"))
            ));
            return Err(ClError::OUT_OF_RESOURCES);
        }
        let spawner = self.spawner.as_ref().zip(event);
        let enqueues = spawner.map(|(spawner, event)| spawner.enqueues(event));
        let device_runtime = DeviceRuntime::new(&self.reporter, &self.sink, enqueues);
        let launch = Launch {
            args: self.args.as_ptr().cast(),
            global_offset: self.range.global_offset,
            global_size: self.range.global_size,
            local_size: self.range.local_size,
            num_groups: self.num_groups,
            work_dim: u64::from(self.range.work_dim),
            local_mem_size: self.local_mem_size,
            printf: receive,
            printf_context: self.sink.as_context(),
            device: host_call,
            device_context: device_runtime.as_context(),
        };
        let (entry, machine) = (self.code.entry(), self.code.machine());
        let stop = self.context.domain().termination();
        let is_stopped = || stop.is_some_and(|stop| stop.load(SeqCst));
        let mut is_outside = false;
        let ran = scratch::with(self.scratch_size, &is_stopped, |scratch| {
            debug_assert!(float_env::is_default());
            let mut call = |groups: Range<u64>| {
                // SAFETY: the contract of `KernelFn`: launch and arguments outlive the call, the
                // scratch memory is as large and aligned as asked for and this thread's alone. What
                // the arguments point to is kept alive by the command, or vouched for by the
                // application (SVM).
                let ran = unsafe {
                    let pointer = scratch.pointer();
                    fault::call(entry, machine.clone(), &launch, pointer, groups, stop)
                };
                if let Err(ExitReason::Fault(fault)) = &ran {
                    let address = fault.address();
                    is_outside = address.is_some_and(|address| scratch.surrounds(address));
                }
                ran
            };
            if !self.context.initializes_local_memory() {
                return call(begin..end);
            }
            (begin..end).try_for_each(|group| {
                // SAFETY: as many bytes were asked for.
                unsafe {
                    scratch
                        .pointer()
                        .write_bytes(0, self.local_mem_size as usize)
                };
                call(group..group + 1)
            })
        });
        let failed = device_runtime.finish(!matches!(ran, Ok(Ok(()))));
        if event.is_none() {
            scratch::trim();
        }
        if ran.is_err() && is_stopped() {
            return Err(ClError::CONTEXT_TERMINATED);
        }
        if ran.is_err() {
            let ScratchSize {
                private, shared, ..
            } = self.scratch_size;
            self.reporter.tell(&format!(
                "kernel `{}`: there is no memory for its private variables ({private} bytes a \
                 thread) and for what work-groups share and keep ({shared} bytes)",
                self.code.name()
            ));
        }
        match ran? {
            Ok(()) if !failed => Ok(()),
            Err(ExitReason::Terminated) => Err(ClError::CONTEXT_TERMINATED),
            Err(ExitReason::Fault(fault)) => {
                let line = fault.offset().and_then(|offset| self.code.line(offset));
                let line = line.map_or(String::new(), |line| format!(", at {line}"));
                let outside = match is_outside {
                    true => ", outside of its private variables and work-group memory",
                    false => "",
                };
                let name = self.code.name();
                self.reporter
                    .tell(&format!("kernel `{name}` {fault}{outside}{line}"));
                Err(ClError::OUT_OF_RESOURCES)
            }
            Ok(()) | Err(ExitReason::Left) => Err(ClError::OUT_OF_RESOURCES),
        }
    }

    /// The last work-group is done: `busy` is the time that threads spent, nanoseconds. Returns the
    /// callback that came due.
    pub(crate) fn finish(&self, busy: u64) -> Ticket {
        // A command-buffer may run it again. Work-items that did not run say nothing of their cost.
        self.reporter.reset();
        if !self.failed.swap(false, Relaxed) {
            self.code.cost().learn(self.items(), busy);
        }
        // What work-items have printed.
        self.sink.flush()
    }
}

impl Work<Event> for LaunchWork {
    fn shape(&self) -> WorkShape {
        self.shape_of_launch()
    }

    fn stack_bytes(&self) -> u64 {
        self.code.stack_bytes()
    }

    fn run(&self, event: Option<&Arc<Event>>, groups: Range<u64>) -> CLResult<()> {
        LaunchWork::run(self, event, groups.start, groups.end)
    }

    fn finish(&self, busy: u64) -> Ticket {
        LaunchWork::finish(self, busy)
    }

    fn leave(&self) -> bool {
        scratch::trim();
        true
    }

    fn tree(&self) -> Option<&Arc<Tree<Event>>> {
        self.spawner.as_ref().map(|spawner| spawner.tree())
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        let range = &self.range;
        let sizes = |sizes: &[u64; 3]| sizes[..range.work_dim as usize].to_vec();
        TraceInfo {
            pieces: Some(("work-groups", self.code.name().into())),
            kernel: Some(self.code.name()),
            details: json!({
                "global size": sizes(&range.global_size),
                "local size": sizes(&range.local_size),
                "global offset": sizes(&range.global_offset),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::platform::Platform;
    use crate::context::ContextOptions;

    unsafe extern "C" fn nothing(_: *const Launch, _: *mut u8, _: u64, _: u64) {}

    /// What did not run took no time: that is not what it costs.
    #[test]
    fn a_launch_that_failed_teaches_nothing() {
        let devices = Platform::get().devices().to_vec();
        let context = Context::new(devices, ContextOptions::default()).unwrap();
        let code = Arc::new(Code::native(nothing));
        let range = NdRange {
            work_dim: 1,
            global_offset: [0; 3],
            global_size: [1000, 1, 1],
            local_size: [1; 3],
        };
        let launch = |local_mem_size| {
            let code = Arc::clone(&code);
            LaunchWork::new(&context, code, Vec::new(), range, local_mem_size, None)
        };
        launch(0).finish(1_000_000);
        let known = code.cost().estimate(1000);
        // More memory than there is.
        let fails = launch(1 << 60);
        assert_eq!(fails.run(None, 0, 1000), Err(ClError::OUT_OF_RESOURCES));
        fails.finish(10);
        assert_eq!(code.cost().estimate(1000), known);
        // The next run of it may be a better one.
        fails.finish(2_000_000);
        assert!(code.cost().estimate(1000) > known);
    }
}
