//! Command-buffers (`cl_khr_command_buffer`): commands that are recorded once and run again and
//! again.
//!
//! What flows in is what queues take: the descriptions of `enqueue/`, checked, with arguments
//! captured and code found when they are recorded. They become the nodes of a `Graph`, whose edges
//! are all the order there is: sync-points, barriers, and the order of in-order queues. What flows
//! out is one command of a queue for each enqueue, with one event.
//!
//! `record.rs` adds commands, `graph.rs` runs a graph as `schedule.rs` says, `spread.rs` one of
//! several devices, `mutable.rs` changes recorded launches.

mod mutable;
mod record;
mod spread;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::graph::{Graph, GraphRun};
use brolga_engine::work::RetainedResources;
use opencl_sys::*;
use parking_lot::Mutex;

use crate::context::Context;
use crate::enqueue::Launch;
use crate::queue::Queue;
pub use mutable::Drafts;

/// A command of a command-buffer, for later ones to wait for (`cl_sync_point_khr`): its index and
/// one, so that 0 is never valid.
pub type SyncPoint = u32;

/// Where a command is recorded.
#[derive(Clone, Debug, Default)]
pub struct RecordingSite {
    /// Index of the queue in the list that the command-buffer was created with.
    pub queue: usize,
    /// What to wait for.
    pub wait: Vec<SyncPoint>,
}

/// A command-buffer.
pub struct CommandBuffer {
    context: Arc<Context>,
    queues: Vec<Arc<Queue>>,
    is_mutable: bool,
    property_list: Vec<u64>,
    recording: Mutex<Recording>,
}

/// What has been recorded. Runs hold on to the graph and to what its commands use, so that both are
/// copied if they change meanwhile.
#[derive(Clone)]
struct Recording {
    is_finalized: bool,
    graph: Arc<Graph>,
    retained: Arc<Vec<RetainedResources>>,
    /// The last command of each queue.
    last: Vec<Option<u32>>,
    barrier: Option<u32>,
    /// Launches that may change.
    launches: BTreeMap<SyncPoint, Launch>,
    /// Those of them that lack arguments.
    incomplete: BTreeSet<SyncPoint>,
}

impl CommandBuffer {
    /// `clCreateCommandBufferKHR`. Launches may change if `is_mutable`; `property_list` is what
    /// `CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR` answers.
    ///
    /// Errors: `CL_INVALID_VALUE` without queues, `CL_INVALID_CONTEXT` if they are of different
    /// contexts.
    pub fn new(
        queues: Vec<Arc<Queue>>,
        is_mutable: bool,
        property_list: Vec<u64>,
    ) -> CLResult<Arc<CommandBuffer>> {
        let first = queues.first().ok_or(ClError::INVALID_VALUE)?;
        let context = Arc::clone(first.context());
        // CL_INVALID_CONTEXT if all the command-queues in queues do not have the same OpenCL
        // context ("Creating Command-Buffer Objects").
        if queues
            .iter()
            .any(|queue| !Arc::ptr_eq(queue.context(), &context))
        {
            return Err(ClError::INVALID_CONTEXT);
        }
        let recording = Recording {
            is_finalized: false,
            graph: Arc::default(),
            retained: Arc::default(),
            last: vec![None; queues.len()],
            barrier: None,
            launches: BTreeMap::new(),
            incomplete: BTreeSet::new(),
        };
        Ok(Arc::new(CommandBuffer {
            context,
            queues,
            is_mutable,
            property_list,
            recording: Mutex::new(recording),
        }))
    }

    /// `CL_COMMAND_BUFFER_CONTEXT_KHR`
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_COMMAND_BUFFER_QUEUES_KHR`
    pub fn queues(&self) -> &[Arc<Queue>] {
        &self.queues
    }

    /// `CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR`
    pub fn property_list(&self) -> &[u64] {
        &self.property_list
    }

    /// `CL_COMMAND_BUFFER_STATE_KHR`
    pub fn state(&self) -> u32 {
        self.recording.lock().state()
    }

    /// `clRemapCommandBufferKHR`: the same commands in the same order, for other queues. If there
    /// are not as many as before, the old ones share them in turn.
    ///
    /// Errors: as [`CommandBuffer::new`].
    pub fn remap(&self, queues: Vec<Arc<Queue>>) -> CLResult<Arc<CommandBuffer>> {
        let first = queues.first().ok_or(ClError::INVALID_VALUE)?;
        // CL_INVALID_CONTEXT if command_buffer and all the command-queues in queues do not have the
        // same OpenCL context ("Remapping Command-Buffers").
        if !Arc::ptr_eq(first.context(), &self.context) {
            return Err(ClError::INVALID_CONTEXT);
        }
        let count = queues.len();
        let new = CommandBuffer::new(queues, self.is_mutable, self.property_list.clone())?;
        {
            let mut recording = self.recording.lock().clone();
            let mut last = vec![None; count];
            for (queue, &node) in recording.last.iter().enumerate() {
                last[queue % count] = last[queue % count].max(node);
            }
            recording.last = last;
            *new.recording.lock() = recording;
        }
        Ok(new)
    }

    /// Checks that commands may be recorded. Errors: `CL_INVALID_OPERATION`.
    pub fn check_recording(&self) -> CLResult<()> {
        // CL_INVALID_OPERATION if command_buffer has been finalized ("Recording Commands to a
        // Command-Buffer").
        match self.recording.lock().is_finalized {
            false => Ok(()),
            true => Err(ClError::INVALID_OPERATION),
        }
    }

    /// `clFinalizeCommandBufferKHR`. Errors: `CL_INVALID_OPERATION`.
    pub fn finalize(&self) -> CLResult<()> {
        let mut recording = self.recording.lock();
        // CL_INVALID_OPERATION if command_buffer is not in the Recording state ("Enqueuing a
        // Command-Buffer").
        if recording.is_finalized {
            return Err(ClError::INVALID_OPERATION);
        }
        recording.is_finalized = true;
        Ok(())
    }

    /// `clEnqueueCommandBufferKHR`: runs all commands as one command of `queues`, or of the queues
    /// that it was created with if there are none.
    ///
    /// Errors: `CL_INVALID_OPERATION` (not executable), `CL_INVALID_VALUE` (another number of
    /// queues), `CL_INCOMPATIBLE_COMMAND_QUEUE_KHR`, `CL_INVALID_DEVICE`, `CL_INVALID_CONTEXT`.
    pub fn enqueue(&self, queues: &[Arc<Queue>], wait: &[Arc<Event>]) -> CLResult<Arc<Event>> {
        let (graph, retained) = {
            let recording = self.recording.lock();
            // CL_INVALID_OPERATION if command_buffer is not in the Executable state ("Enqueuing a
            // Command-Buffer").
            if recording.state() != CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR {
                return Err(ClError::INVALID_OPERATION);
            }
            (
                Arc::clone(&recording.graph),
                Arc::clone(&recording.retained),
            )
        };
        self.check_queues(queues)?;
        let queues = match queues {
            [] => &self.queues[..],
            _ => queues,
        };
        let retained = RetainedResources::from_iter([retained as _]);
        if spread::is_needed(queues) {
            return spread::enqueue(&graph, retained, queues, wait);
        }
        let job = GraphRun::new(&graph, queues[0].device().pool());
        Queue::submit_to_all(queues, CL_COMMAND_COMMAND_BUFFER_KHR, job, retained, wait)
    }

    /// Checks queues that take the place of those that the command-buffer was created with; none do
    /// always.
    ///
    /// Errors: those of [`CommandBuffer::enqueue`].
    pub fn check_queues(&self, queues: &[Arc<Queue>]) -> CLResult<()> {
        if queues.is_empty() {
            return Ok(());
        }
        // CL_INVALID_VALUE if num_queues is > 0 and not the same value as num_queues set on
        // command_buffer creation.
        if queues.len() != self.queues.len() {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INCOMPATIBLE_COMMAND_QUEUE_KHR if the properties of any command-queue in queues
        // contains a property not specified by
        // CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR. None is required.
        if queues
            .iter()
            .any(|queue| queue.properties() & !queue.device().command_buffer_queue_properties != 0)
        {
            return Err(ClError::INCOMPATIBLE_COMMAND_QUEUE);
        }
        // CL_INVALID_DEVICE if any element of queues does not have the same device as the
        // command-queue set on command_buffer creation at the same list index.
        let mut pairs = queues.iter().zip(&self.queues);
        if pairs.any(|(new, old)| !Arc::ptr_eq(new.device(), old.device())) {
            return Err(ClError::INVALID_DEVICE);
        }
        // CL_INVALID_CONTEXT if any element of queues does not have the same context as the
        // command-queue set on command_buffer creation at the same list index.
        if queues
            .iter()
            .any(|queue| !Arc::ptr_eq(queue.context(), &self.context))
        {
            return Err(ClError::INVALID_CONTEXT);
        }
        Ok(())
    }
}

impl Recording {
    fn state(&self) -> u32 {
        match (self.is_finalized, self.incomplete.is_empty()) {
            (false, _) => CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
            (true, false) => CL_COMMAND_BUFFER_STATE_FINALIZED_KHR,
            (true, true) => CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
        }
    }
}

impl fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recording = self.recording.lock();
        f.debug_struct("CommandBuffer")
            .field("commands", &recording.graph.len())
            .field("is_finalized", &recording.is_finalized)
            .finish()
    }
}
