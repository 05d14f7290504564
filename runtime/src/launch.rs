//! One launch of a kernel as work: arguments captured by value, code, and the range of work-groups.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use brolga_compiler::{Launch, NdRange};
use serde_json::{Value, json};

use crate::callbacks::Ticket;
use crate::chunks::{NANOSECONDS_PER_THREAD, WorkShape, nanoseconds_per_chunk};
use crate::context::Context;
use crate::device_runtime::{DeviceRuntime, host_call};
use crate::error::{CLResult, ClError};
use crate::event::Event;
use crate::executable::Code;
use crate::fault::{self, ExitReason};
use crate::float_env::FloatEnv;
use crate::ndrange::num_groups;
use crate::on_device::{Caller, Spawner};
use crate::pool::thread_count;
use crate::printf_sink::{PrintfSink, receive};
use crate::scratch;
use crate::stack;

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

/// What a launch does.
pub(crate) struct LaunchWork {
    code: Arc<Code>,
    args: Vec<ArgBlock>,
    range: NdRange,
    num_groups: [u64; 3],
    local_mem_size: u64,
    scratch_size: u64,
    sink: PrintfSink,
    /// Unless the kernel enqueues nothing.
    spawner: Option<Spawner>,
    context: Arc<Context>,
    faulted: AtomicBool,
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
        spawner: Option<Spawner>,
    ) -> LaunchWork {
        // No group has more work-items than the whole range.
        let group = std::array::from_fn(|d| range.local_size[d]);
        LaunchWork {
            scratch_size: code.scratch_size(group, local_mem_size),
            num_groups: num_groups(&range),
            sink: PrintfSink::new(context),
            spawner,
            context: Arc::clone(context),
            faulted: AtomicBool::new(false),
            code,
            args,
            range,
            local_mem_size,
        }
    }

    /// Bytes of stack that a thread needs for it.
    pub(crate) fn stack_bytes(&self) -> u64 {
        self.code.stack_bytes()
    }

    pub(crate) fn spawner(&self) -> Option<&Spawner> {
        self.spawner.as_ref()
    }

    fn items(&self) -> u64 {
        self.range.global_size.iter().product()
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &str {
        self.code.name()
    }

    /// What a trace says of it.
    pub(crate) fn describe(&self) -> Value {
        let range = &self.range;
        let sizes = |sizes: &[u64; 3]| sizes[..range.work_dim as usize].to_vec();
        json!({
            "global size": sizes(&range.global_size),
            "local size": sizes(&range.local_size),
            "global offset": sizes(&range.global_offset),
        })
    }

    /// How the launch may be shared.
    pub(crate) fn shape(&self) -> WorkShape {
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
        if stack::left().is_some_and(|left| left < self.stack_bytes()) {
            let line = self.code.line(0);
            self.tell(&format!(
                "kernel `{}`: its private variables do not fit on the stack ({} bytes){}",
                self.code.name(),
                self.stack_bytes(),
                line.map_or(String::new(), |line| format!(", at {line}"))
            ));
            return Err(ClError::OUT_OF_RESOURCES);
        }
        let caller = self
            .spawner
            .as_ref()
            .zip(event)
            .map(|(spawner, event)| Caller::new(event, spawner));
        let device_runtime = DeviceRuntime::new(self, caller);
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
        let stop = self.context.termination();
        let ran = scratch::with(self.scratch_size, |scratch| {
            let _environment = FloatEnv::enter();
            let call = |groups: Range<u64>| {
                // SAFETY: the contract of `KernelFn`: launch and arguments outlive the call, the
                // scratch memory is as large and aligned as asked for and this thread's alone. What
                // the arguments point to is kept alive by the command, or vouched for by the
                // application (SVM).
                unsafe { fault::call(entry, machine.clone(), &launch, scratch, groups, stop) }
            };
            if !self.context.initializes_local_memory() {
                return call(begin..end);
            }
            (begin..end).try_for_each(|group| {
                // SAFETY: as many bytes were asked for.
                unsafe { scratch.write_bytes(0, self.scratch_size as usize) };
                call(group..group + 1)
            })
        });
        let failed = device_runtime.finish(!matches!(ran, Ok(Ok(()))));
        match ran? {
            Ok(()) if !failed => Ok(()),
            Err(ExitReason::Terminated) => Err(ClError::CONTEXT_TERMINATED),
            Err(ExitReason::Fault(fault)) => {
                let line = fault.offset().and_then(|offset| self.code.line(offset));
                let line = line.map_or(String::new(), |line| format!(", at {line}"));
                self.tell(&format!("kernel `{}` {fault}{line}", self.code.name()));
                Err(ClError::OUT_OF_RESOURCES)
            }
            Ok(()) | Err(ExitReason::Left) => Err(ClError::OUT_OF_RESOURCES),
        }
    }

    /// Says on standard error and to the context why the launch fails. One line for a launch,
    /// however many threads run it.
    pub(crate) fn tell(&self, message: &str) {
        if !self.faulted.swap(true, Relaxed) {
            eprintln!("brolga: {message}");
            self.context.report(message);
        }
    }

    /// Writes out what work-items have printed. Returns the callback that came due.
    pub(crate) fn flush(&self) -> Ticket {
        self.sink.flush()
    }

    /// The last work-group is done: `busy` is the time that threads spent, nanoseconds. Returns the
    /// callback that came due.
    pub(crate) fn finish(&self, busy: u64) -> Ticket {
        self.code.cost().learn(self.items(), busy);
        // A command-buffer may run it again.
        self.faulted.store(false, Relaxed);
        self.flush()
    }
}
