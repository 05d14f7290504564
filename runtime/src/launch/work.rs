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
use crate::launch::printf_buffer::LaunchBuffer;
use crate::launch::printf_sink::{Printed, PrintfSink, receive};
use crate::launch::reporter::Reporter;
use crate::launch::scratch;

/// A part of an argument block, aligned as code may rely on.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct ArgPart([u8; 16]);

/// The values of a launch's arguments. Launches with the same values share them, and the kernel
/// does that they were set for.
#[derive(Clone, Debug)]
pub(crate) struct ArgBlock(Arc<[ArgPart]>);

impl ArgBlock {
    /// Zeros.
    pub(crate) fn new(bytes: usize) -> ArgBlock {
        let parts = bytes.div_ceil(size_of::<ArgPart>());
        ArgBlock(std::iter::repeat_n(ArgPart([0; 16]), parts).collect())
    }

    pub(crate) fn of(bytes: &[u8]) -> ArgBlock {
        let mut block = ArgBlock::new(bytes.len());
        block.write(0, bytes);
        block
    }

    /// Writes an argument, for launches from now on. It is never cut off: the block was made for
    /// all of them.
    pub(crate) fn write(&mut self, offset: u32, bytes: &[u8]) {
        let range = offset as usize..offset as usize + bytes.len();
        if self.bytes()[range.clone()] == *bytes {
            return;
        }
        let parts = Arc::make_mut(&mut self.0);
        // SAFETY: parts are as large as they are aligned, so bytes are all that a slice of them
        // has, and any are valid.
        let all = unsafe {
            std::slice::from_raw_parts_mut(parts.as_mut_ptr().cast(), size_of_val(parts))
        };
        all[range].copy_from_slice(bytes);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: as in `write`.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), size_of_val(&*self.0)) }
    }
}

/// What a launch of a kernel that may enqueue needs for it.
pub(crate) trait Spawner: Send + Sync {
    /// The launch from the host, and everything that comes of it.
    fn tree(&self) -> &Arc<Tree<Event>>;

    /// What a call of generated code for a command may ask for.
    fn enqueues<'a>(&'a self, event: &'a Arc<Event>) -> Box<dyn Enqueues + 'a>;
}

/// What launches have in common that differ in the values of arguments only: code and a range.
pub(crate) struct Plan {
    context: Arc<Context>,
    code: Arc<Code>,
    range: NdRange,
    num_groups: [u64; 3],
    local_mem_size: u64,
    scratch_size: ScratchSize,
}

impl Plan {
    /// `local_mem_size` counts the kernel's own variables and its arguments'.
    pub(crate) fn new(
        context: &Arc<Context>,
        code: Arc<Code>,
        range: NdRange,
        local_mem_size: u64,
    ) -> Arc<Plan> {
        // No group has more work-items than the whole range.
        let group = std::array::from_fn(|d| range.local_size[d]);
        Arc::new(Plan {
            context: Arc::clone(context),
            scratch_size: code.scratch_size(group, local_mem_size),
            num_groups: num_groups(&range),
            code,
            range,
            local_mem_size,
        })
    }

    /// Whether it is one of the same context for this.
    pub(crate) fn is_for(&self, code: &Arc<Code>, range: &NdRange, local_mem_size: u64) -> bool {
        Arc::ptr_eq(&self.code, code)
            && self.range == *range
            && self.local_mem_size == local_mem_size
    }
}

/// What a launch does. A queue may hold very many, so that what they share is apart.
pub(crate) struct LaunchWork {
    plan: Arc<Plan>,
    args: ArgBlock,
    /// Unless the kernel enqueues nothing.
    spawner: Option<Box<Arc<dyn Spawner>>>,
    printed: Printed,
    /// If work-items print by themselves, what they print to.
    buffer: Option<Box<LaunchBuffer>>,
    /// Whether it was said why it fails.
    has_told: AtomicBool,
    /// Whether some of it did not run to its end.
    failed: AtomicBool,
}

impl LaunchWork {
    pub(crate) fn new(
        plan: Arc<Plan>,
        args: ArgBlock,
        spawner: Option<Arc<dyn Spawner>>,
    ) -> LaunchWork {
        LaunchWork {
            plan,
            args,
            spawner: spawner.map(Box::new),
            printed: Printed::default(),
            buffer: None,
            has_told: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        }
    }

    /// The launch with memory that its arguments say to print to.
    pub(crate) fn printing_to(self, buffer: Option<LaunchBuffer>) -> LaunchWork {
        LaunchWork {
            buffer: buffer.map(Box::new),
            ..self
        }
    }

    fn sink(&self) -> PrintfSink<'_> {
        PrintfSink::new(&self.plan.context, &self.printed)
    }

    fn items(&self) -> u64 {
        self.plan.range.global_size.iter().product()
    }

    /// How the launch may be shared.
    fn shape_of_launch(&self) -> WorkShape {
        let units: u64 = self.plan.num_groups.iter().product();
        let estimate = self.plan.code.cost().estimate(self.items());
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
        let plan = &*self.plan;
        let reporter = Reporter::new(plan.context.domain(), &self.has_told);
        let sink = self.sink();
        let stack_bytes = plan.code.stack_bytes();
        if stack::left().is_some_and(|left| left < stack_bytes) {
            let line = plan.code.line(0);
            reporter.tell(&format!(
                "kernel `{}`: its values do not fit on the stack ({} bytes){}",
                plan.code.name(),
                stack_bytes,
                line.map_or(String::new(), |line| format!(", at {line}"))
            ));
            return Err(ClError::OUT_OF_RESOURCES);
        }
        let spawner = self.spawner.as_ref().zip(event);
        let enqueues = spawner.map(|(spawner, event)| spawner.enqueues(event));
        let device_runtime = DeviceRuntime::new(&reporter, &sink, enqueues);
        let launch = Launch {
            args: self.args.bytes().as_ptr(),
            global_offset: plan.range.global_offset,
            global_size: plan.range.global_size,
            local_size: plan.range.local_size,
            num_groups: plan.num_groups,
            work_dim: u64::from(plan.range.work_dim),
            local_mem_size: plan.local_mem_size,
            printf: receive,
            printf_context: sink.as_context(),
            device: host_call,
            device_context: device_runtime.as_context(),
        };
        let (entry, machine) = (plan.code.entry(), plan.code.machine());
        let stop = plan.context.domain().termination();
        let is_stopped = || stop.is_some_and(|stop| stop.load(SeqCst));
        let mut is_outside = false;
        let ran = scratch::with(plan.scratch_size, &is_stopped, |scratch| {
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
            if !plan.context.initializes_local_memory() {
                return call(begin..end);
            }
            (begin..end).try_for_each(|group| {
                // SAFETY: as many bytes were asked for.
                unsafe {
                    scratch
                        .pointer()
                        .write_bytes(0, plan.local_mem_size as usize)
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
            } = plan.scratch_size;
            reporter.tell(&format!(
                "kernel `{}`: there is no memory for its private variables ({private} bytes a \
                 thread) and for what work-groups share and keep ({shared} bytes)",
                plan.code.name()
            ));
        }
        match ran? {
            Ok(()) if !failed => Ok(()),
            Err(ExitReason::Terminated) => Err(ClError::CONTEXT_TERMINATED),
            Err(ExitReason::Fault(fault)) => {
                let line = fault.offset().and_then(|offset| plan.code.line(offset));
                let line = line.map_or(String::new(), |line| format!(", at {line}"));
                let outside = match is_outside {
                    true => ", outside of its private variables and work-group memory",
                    false => "",
                };
                let name = plan.code.name();
                reporter.tell(&format!("kernel `{name}` {fault}{outside}{line}"));
                Err(ClError::OUT_OF_RESOURCES)
            }
            Ok(()) | Err(ExitReason::Left) => Err(ClError::OUT_OF_RESOURCES),
        }
    }

    /// The last work-group is done: `busy` is the time that threads spent, nanoseconds. Returns the
    /// callback that came due.
    pub(crate) fn finish(&self, busy: u64) -> Ticket {
        // A command-buffer may run it again. Work-items that did not run say nothing of their cost.
        self.has_told.store(false, Relaxed);
        if !self.failed.swap(false, Relaxed) {
            self.plan.code.cost().learn(self.items(), busy);
        }
        // What work-items have printed.
        let sink = self.sink();
        if let Some(buffer) = &self.buffer {
            sink.take(buffer);
        }
        sink.flush()
    }
}

impl Work<Event> for LaunchWork {
    fn shape(&self) -> WorkShape {
        self.shape_of_launch()
    }

    fn stack_bytes(&self) -> u64 {
        self.plan.code.stack_bytes()
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
        let range = &self.plan.range;
        let sizes = |sizes: &[u64; 3]| sizes[..range.work_dim as usize].to_vec();
        TraceInfo {
            pieces: Some(("work-groups", self.plan.code.name().into())),
            kernel: Some(self.plan.code.name()),
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
            let plan = Plan::new(&context, code, range, local_mem_size);
            LaunchWork::new(plan, ArgBlock::new(0), None)
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
