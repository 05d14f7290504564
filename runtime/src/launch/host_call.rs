//! The host's side of device-side enqueue: the functions that generated code calls, each time for
//! one work-item.
//!
//! They run on the thread that runs the kernel. Errors are returned to the kernel; nothing here
//! waits for another command, or runs one.

use std::cell::RefCell;
use std::sync::Arc;

use brolga_compiler::NdRange;
use brolga_compiler::device::{
    self, DEVICE_QUEUE_FULL, ENQUEUE_FAILURE, EVENT_ALLOCATION_FAILURE, Enqueue, EventOperands,
    INVALID_ARG_SIZE, INVALID_EVENT_WAIT_LIST, INVALID_NDRANGE, INVALID_QUEUE, MAX_LITERAL, Marker,
    OUT_OF_RESOURCES, PROFILING_COMMAND_EXEC_TIME, Range, SUCCESS, When,
};
use brolga_compiler::ir::{DeviceOp, FuncId};
use brolga_engine::Event;
use brolga_engine::job::Single;
use brolga_engine::pool::Push;
use brolga_engine::tree::Tree;
use brolga_engine::work::{Nothing, Work};
use brolga_host::notice;
use opencl_sys::*;

use crate::code::executable::Executable;
use crate::code::ndrange::{self, Limits};
use crate::context::device_queues::{COMMAND_SIZE, OnDevice};
use crate::context::{self, Context};
use crate::launch::device_runtime::Enqueues;
use crate::launch::work::{ArgBlock, LaunchWork, Plan, Spawner};

/// What the launch of a kernel that may enqueue blocks needs for that.
pub(crate) struct Blocks {
    context: Arc<Context>,
    /// The program that the blocks are of.
    executable: Arc<Executable>,
    tree: Arc<Tree<Event>>,
    /// The handle of the default queue when the host enqueued.
    default_queue: u64,
}

impl Blocks {
    /// For a launch that the host enqueues.
    pub(crate) fn new(
        context: &Arc<Context>,
        executable: &Arc<Executable>,
        default_queue: u64,
    ) -> Arc<Blocks> {
        Arc::new(Blocks {
            context: Arc::clone(context),
            executable: Arc::clone(executable),
            tree: Tree::new(),
            default_queue,
        })
    }
}

/// [`Blocks`], shared by the launches of a tree.
pub(crate) struct SharedBlocks(pub(crate) Arc<Blocks>);

impl Spawner for SharedBlocks {
    fn tree(&self) -> &Arc<Tree<Event>> {
        &self.0.tree
    }

    fn enqueues<'a>(&'a self, event: &'a Arc<Event>) -> Box<dyn Enqueues + 'a> {
        Box::new(Enqueuer {
            event,
            spawner: &self.0,
            after_groups: RefCell::default(),
        })
    }
}

/// A call of generated code that may enqueue.
struct Enqueuer<'a> {
    event: &'a Arc<Event>,
    spawner: &'a Arc<Blocks>,
    /// Children that may begin when the work-groups of this call are done.
    after_groups: RefCell<Vec<Arc<Event>>>,
}

/// Why something is not enqueued: `CLK_...`.
type Refusal = i32;

impl Enqueues for Enqueuer<'_> {
    fn finish(self: Box<Self>, faulted: bool) {
        for child in self.after_groups.into_inner() {
            if faulted {
                child.inherit_failure();
            }
            child.release(Push::Notify);
        }
    }

    fn host_call(&self, what: DeviceOp, block: Option<FuncId>, words: &[u64]) -> u64 {
        let tree = &self.spawner.tree;
        let block = block.and_then(|block| self.spawner.executable.block(block));
        let code = |result: Result<(), Refusal>| match result {
            Ok(()) => SUCCESS as u64,
            // "If the -g compile option is specified [...] the following errors may be returned
            // instead of CLK_ENQUEUE_FAILURE".
            Err(error) if self.spawner.executable.tells_errors => u64::from(error as u32),
            Err(_) => u64::from(ENQUEUE_FAILURE as u32),
        };
        match what {
            DeviceOp::EnqueueKernel => {
                let block = block.ok_or(OUT_OF_RESOURCES);
                code(block.and_then(|block| self.enqueue_kernel(block, &Enqueue::new(words))))
            }
            DeviceOp::EnqueueMarker => code(self.enqueue_marker(&Marker::new(words))),
            DeviceOp::RetainEvent => {
                tree.retain(words[0]);
                0
            }
            DeviceOp::ReleaseEvent => {
                tree.release(words[0]);
                0
            }
            DeviceOp::CreateUserEvent => match tree.has_room() {
                true => tree.add(&context::user_event(&self.spawner.context)),
                false => 0,
            },
            DeviceOp::IsValidEvent => u64::from(tree.find(words[0]).is_some()),
            DeviceOp::SetUserEventStatus => {
                if let Some(event) = tree.find(words[0]) {
                    // Not a user event, a status that is none, or set before: "behavior is
                    // undefined", and nothing happens.
                    let _ = event.set_user_status(words[1] as u32 as i32);
                }
                0
            }
            DeviceOp::CaptureProfilingInfo => {
                if words[1] == PROFILING_COMMAND_EXEC_TIME
                    && words[2] != 0
                    && let Some(event) = tree.find(words[0])
                    && !event.is_user()
                {
                    event.capture_times(words[2] as usize);
                }
                0
            }
            DeviceOp::DefaultQueue => self.spawner.default_queue,
            // Done by the caller.
            DeviceOp::FailAssertion => 0,
            DeviceOp::SubGroupCount
            | DeviceOp::MaxSubGroupSize
            | DeviceOp::WorkGroupSize
            | DeviceOp::PreferredMultiple
            | DeviceOp::LocalSizeForSubGroups
            | DeviceOp::MaxSubGroups => block.map_or(0, |block| self.query(what, block, words)),
        }
    }
}

impl Enqueuer<'_> {
    fn limits(&self, block: usize) -> Limits<'_> {
        let executable = &self.spawner.executable;
        Limits {
            device: self.spawner.context.device(),
            info: &executable.kernels()[block],
            width: executable.width(block),
            rows: executable.preferred_rows(block),
            allows_non_uniform: executable.allows_non_uniform,
        }
    }

    fn query(&self, what: DeviceOp, block: usize, words: &[u64]) -> u64 {
        let limits = self.limits(block);
        let width = u64::from(limits.width);
        let group = ndrange::max_group(&limits) as u64;
        match what {
            DeviceOp::SubGroupCount => match nd_range(&limits, &Range::new(words)) {
                Ok(Some(range)) => range.local_size.iter().product::<u64>().div_ceil(width),
                _ => 0,
            },
            DeviceOp::WorkGroupSize => group,
            DeviceOp::LocalSizeForSubGroups => words[0]
                .checked_mul(width)
                .filter(|&n| n <= group)
                .unwrap_or(0),
            DeviceOp::MaxSubGroups => group.div_ceil(width),
            // All sub-groups but the last of a work-group are as large.
            _ => width,
        }
    }

    fn queue(&self, handle: u64) -> Result<Arc<OnDevice>, Refusal> {
        let queues = self.spawner.context.device_queues();
        queues.find(handle).ok_or(INVALID_QUEUE)
    }

    fn enqueue_kernel(&self, block: usize, enqueue: &Enqueue<'_>) -> Result<(), Refusal> {
        let executable = &self.spawner.executable;
        let queue = self.queue(enqueue.queue)?;
        let limits = self.limits(block);
        let range = nd_range(&limits, &enqueue.range)?;
        let wait = self.wait_list(&enqueue.events)?;
        // CLK_INVALID_ARG_SIZE if size of local memory arguments is 0.
        if enqueue.locals.contains(&0) {
            return Err(INVALID_ARG_SIZE);
        }
        let (address, size) = enqueue.literal;
        if size > MAX_LITERAL {
            return Err(OUT_OF_RESOURCES);
        }
        // SAFETY: the instruction's operands Param and Param Size say that so many bytes are there,
        // and the kernel has touched them; nothing writes them while the work-item that made them
        // enqueues them.
        let literal = match (address, size) {
            (0, _) | (_, 0) => &[],
            _ => unsafe { std::slice::from_raw_parts(address as *const u8, size as usize) },
        };
        let (bytes, local_mem_size) =
            device::arguments(literal, enqueue.locals, limits.info.local_mem_size)
                .filter(|(_, size)| *size <= limits.device.local_mem_size)
                .ok_or(OUT_OF_RESOURCES)?;
        let work = match &range {
            None => None,
            Some(range) => {
                // The kernel may have left too little of this thread's stack for the compiler.
                let code = executable
                    .code_apart(block, range, range.local_size, &bytes)
                    .map_err(|diagnostic| {
                        let message = format!("kernel `{}`: {diagnostic}", limits.info.name);
                        notice(format_args!("{message}"));
                        self.spawner.context.report(&message);
                        OUT_OF_RESOURCES
                    })?;
                let spawner = limits.info.enqueues.then(|| {
                    let blocks = SharedBlocks(Arc::clone(self.spawner));
                    Arc::new(blocks) as Arc<dyn Spawner>
                });
                let args = ArgBlock::of(&bytes);
                let plan = Plan::new(&self.spawner.context, code, *range, local_mem_size);
                Some(LaunchWork::new(plan, args, spawner))
            }
        };
        let room = COMMAND_SIZE + size;
        let when = enqueue.when();
        let event = self.command(
            &queue,
            CL_COMMAND_NDRANGE_KERNEL,
            work,
            room,
            &enqueue.events,
        )?;
        self.begin(event, &wait, when);
        Ok(())
    }

    fn enqueue_marker(&self, marker: &Marker) -> Result<(), Refusal> {
        let queue = self.queue(marker.queue)?;
        // CLK_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL, or if event_wait_list is not NULL
        // and num_events_in_wait_list is 0.
        if marker.events.count == 0 {
            return Err(INVALID_EVENT_WAIT_LIST);
        }
        let wait = self.wait_list(&marker.events)?;
        // "event_ret must not be NULL as otherwise this is a no-op."
        if marker.events.returned == 0 {
            return Ok(());
        }
        let event = self.command(
            &queue,
            CL_COMMAND_MARKER,
            Nothing,
            COMMAND_SIZE,
            &marker.events,
        )?;
        self.begin(event, &wait, When::NoWait);
        Ok(())
    }

    /// The events of a wait list.
    fn wait_list(&self, events: &EventOperands) -> Result<Vec<Arc<Event>>, Refusal> {
        if !events.is_consistent() {
            return Err(INVALID_EVENT_WAIT_LIST);
        }
        (0..events.count as usize)
            .map(|n| {
                let at = (events.wait as usize).wrapping_add(8 * n) as *const u64;
                // SAFETY: the instruction's operands say that there are as many events; private
                // variables may be anywhere.
                let handle = unsafe { at.read_unaligned() };
                let event = self.spawner.tree.find(handle);
                event.ok_or(INVALID_EVENT_WAIT_LIST)
            })
            .collect()
    }

    /// Creates a child's event, and returns its handle to the kernel if that wants it.
    fn command(
        &self,
        queue: &Arc<OnDevice>,
        command_type: u32,
        work: impl Work<Event> + 'static,
        room: u64,
        events: &EventOperands,
    ) -> Result<Arc<Event>, Refusal> {
        let tree = &self.spawner.tree;
        // CLK_EVENT_ALLOCATION_FAILURE if event_ret is not NULL and an event could not be
        // allocated.
        if events.returned != 0 && !tree.has_room() {
            return Err(EVENT_ALLOCATION_FAILURE);
        }
        // CLK_OUT_OF_RESOURCES if there is a failure to queue the block in queue because of
        // insufficient resources needed to execute the kernel.
        if !tree.add_child() {
            return Err(OUT_OF_RESOURCES);
        }
        // CLK_DEVICE_QUEUE_FULL if queue is full.
        let Some(room) = queue.take(room) else {
            tree.remove_child();
            return Err(DEVICE_QUEUE_FULL);
        };
        let (job, parent) = (Single::new(work), (self.event, tree));
        let event = Event::child(queue, command_type, job, parent, room);
        if events.returned != 0 {
            // "If an event is returned, enqueue_kernel performs an implicit retain on the returned
            // event."
            let handle = tree.add(&event);
            // SAFETY: the instruction's operand Ret Event says that there is room for one.
            unsafe { (events.returned as *mut u64).write_unaligned(handle) };
        }
        Ok(event)
    }

    /// Has a child begin as soon as what it waits for is done.
    fn begin(&self, child: Arc<Event>, wait: &[Arc<Event>], when: When) {
        for other in wait {
            child.depend_on(other, true);
        }
        if when == When::Kernel {
            child.depend_on_end(self.event);
        }
        if !wait.is_empty() {
            self.spawner.tree.note_blocked(&child, Event::is_blocked);
        }
        match when {
            When::WorkGroup => self.after_groups.borrow_mut().push(child),
            When::NoWait | When::Kernel => child.release(Push::Notify),
        }
    }
}

/// The index space that a range means; `None` if it is empty.
fn nd_range(limits: &Limits<'_>, range: &Range) -> Result<Option<NdRange>, Refusal> {
    let sizes = |sizes: [u64; 3]| sizes.map(|size| size as usize);
    let (offset, global, local) = (sizes(range.offset), sizes(range.global), sizes(range.local));
    let dimensions = range.dimensions.min(3) as usize;
    let given = local[..dimensions].iter().any(|&size| size != 0);
    ndrange::check(
        limits,
        range.dimensions,
        Some(&offset),
        Some(&global),
        given.then_some(&local[..]),
    )
    // CLK_INVALID_NDRANGE if ndrange is not a valid ND-range descriptor.
    .map_err(|_| INVALID_NDRANGE)
}
