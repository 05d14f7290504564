//! Device-side enqueue: what kernels ask for while they run ([`brolga_compiler::device`]).
//!
//! What a kernel enqueues is a command like any other: an [`Event`] with a launch or nothing to do,
//! with dependencies, run by the pool. It never runs inside the call that enqueues it, so nothing
//! recurses and no thread waits. What is different is
//!
//! - its *parent*, the launch that enqueued it. That is complete when all its children are
//!   ("Determining When a Parent Kernel has Finished Execution"): each event counts those that are
//!   not, and itself. A failure of a child is one of the parent;
//! - when it may begin: with `CLK_ENQUEUE_FLAGS_WAIT_KERNEL` when the parent's own work has
//!   *ended*, with `CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP` when the call of generated code that runs
//!   the work-group returns;
//! - its *tree*: the launch that the host enqueued and everything that came of it. Events are
//!   handles of a table of the tree's, since they can be passed to nothing else. When nothing of a
//!   tree can run any more, what it still waits for never comes, and fails.
//!
//! - `tree.rs`: launch trees, the table of events. `host_call.rs`: the device_runtime, open it
//!   first. `queues.rs`: on-device queues.

mod host_call;
pub(crate) mod queues;
mod tree;

use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use parking_lot::Mutex;

use crate::event::Event;
use crate::executable::Executable;

pub(crate) use host_call::Caller;
pub(crate) use queues::DeviceQueues;
pub(crate) use tree::LaunchTree;

/// What a launch of a kernel that may enqueue needs for it.
#[derive(Clone)]
pub(crate) struct Spawner {
    /// Where the blocks are.
    pub(crate) executable: Arc<Executable>,
    pub(crate) tree: Arc<LaunchTree>,
}

/// An event's place in its tree.
pub(crate) struct ParentLink {
    pub(crate) tree: Arc<LaunchTree>,
    /// Until the event is complete, so that a long line of them is not dropped in one go.
    parent: Mutex<Option<Arc<Event>>>,
    /// Children that are not complete, and one while the command itself has not ended.
    unfinished: AtomicU32,
    /// The first error of a child; 0 while there is none.
    failure: AtomicI32,
    /// Bytes of its queue that the command takes until it begins.
    room: AtomicU64,
    /// Whether the host enqueued it: then the tree counts it from the start.
    is_root: bool,
}

impl ParentLink {
    /// Of what the host enqueued.
    pub(crate) fn root(tree: &Arc<LaunchTree>) -> ParentLink {
        ParentLink {
            tree: Arc::clone(tree),
            parent: Mutex::new(None),
            unfinished: AtomicU32::new(1),
            failure: AtomicI32::new(0),
            room: AtomicU64::new(0),
            is_root: true,
        }
    }

    /// Of a child, which takes so many bytes of its queue. The parent, which has not ended, has one
    /// child more.
    fn child(parent: &Arc<Event>, tree: &Arc<LaunchTree>, room: u64) -> ParentLink {
        if let Some(parent_link) = parent.parent_link() {
            parent_link.unfinished.fetch_add(1, Relaxed);
        }
        ParentLink {
            parent: Mutex::new(Some(Arc::clone(parent))),
            room: AtomicU64::new(room),
            is_root: false,
            ..ParentLink::root(tree)
        }
    }

    /// The command can run, or end without.
    pub(crate) fn wake(&self) {
        if !self.is_root {
            self.tree.wake();
        }
    }

    /// The command itself or a child is complete; whether nothing is left.
    pub(crate) fn finish_one(&self) -> bool {
        self.unfinished.fetch_sub(1, AcqRel) == 1
    }

    /// Calls `visit` with the parent, while there is one that is not complete.
    pub(crate) fn with_parent(&self, visit: impl FnOnce(&Arc<Event>) -> bool) {
        if let Some(parent) = &*self.parent.lock() {
            visit(parent);
        }
    }

    pub(crate) fn take_parent(&self) -> Option<Arc<Event>> {
        self.parent.lock().take()
    }

    pub(crate) fn fail(&self, status: i32) {
        let _ = self.failure.compare_exchange(0, status, AcqRel, Relaxed);
    }

    pub(crate) fn failure(&self) -> i32 {
        self.failure.load(Acquire)
    }

    /// The command begins, or will never: it takes no room in its queue any more. Gives the bytes.
    pub(crate) fn take_room(&self) -> u64 {
        self.room.swap(0, AcqRel)
    }
}
