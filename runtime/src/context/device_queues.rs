//! On-device queues: what they are besides queues, and which there are.
//!
//! Kernels know a queue by a number that is never given out twice, so that whatever a kernel passes
//! is found to be a queue or not.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::{Arc, Weak};

use brolga_engine::event::{Lane, Owner};
use parking_lot::Mutex;

use crate::base::device::Device;

/// Bytes of a queue that a command takes besides what it captured.
pub(crate) const COMMAND_SIZE: u64 = 128;

/// What an on-device queue has. Commands that kernels enqueue to it belong to this.
pub(crate) struct OnDevice {
    pub(crate) handle: u64,
    /// `CL_QUEUE_SIZE`, bytes.
    pub(crate) size: u32,
    used: AtomicU64,
    lane: Lane,
}

impl OnDevice {
    /// What a new queue of so many bytes is to have, whose commands are of a lane.
    pub(crate) fn new(queues: &DeviceQueues, size: u32, lane: Lane) -> Arc<OnDevice> {
        let mut inner = queues.inner.lock();
        inner.last += 1;
        Arc::new(OnDevice {
            handle: inner.last,
            size,
            used: AtomicU64::new(0),
            lane,
        })
    }

    /// Takes bytes for a command that waits to begin; none if the queue is full.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64) -> Option<Arc<Room>> {
        let fits = |used: u64| {
            used.checked_add(bytes)
                .filter(|&used| used <= u64::from(self.size))
        };
        let taken = self.used.fetch_update(AcqRel, Relaxed, fits);
        taken.ok().map(|_| {
            Arc::new(Room {
                of: Arc::clone(self),
                bytes,
            })
        })
    }
}

impl Owner for OnDevice {
    fn lane(&self) -> &Lane {
        &self.lane
    }

    /// A failure is one of the launch from the host.
    fn for_each_reporting(&self, _: &mut dyn FnMut(&Lane)) {}
}

/// Bytes of a queue, which it has again when this goes.
pub(crate) struct Room {
    of: Arc<OnDevice>,
    bytes: u64,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.of.used.fetch_sub(self.bytes, AcqRel);
    }
}

/// The on-device queues of a context.
#[derive(Default)]
pub(crate) struct DeviceQueues {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last: u64,
    queues: HashMap<u64, Weak<OnDevice>>,
    /// The default queue of each device that has one.
    defaults: Vec<(Arc<Device>, u64)>,
}

impl DeviceQueues {
    pub(crate) fn add(&self, queue: &Arc<OnDevice>) {
        let mut inner = self.inner.lock();
        inner.queues.insert(queue.handle, Arc::downgrade(queue));
    }

    pub(crate) fn remove(&self, handle: u64) {
        let mut inner = self.inner.lock();
        inner.queues.remove(&handle);
        inner.defaults.retain(|&(_, default)| default != handle);
    }

    pub(crate) fn find(&self, handle: u64) -> Option<Arc<OnDevice>> {
        self.inner.lock().queues.get(&handle)?.upgrade()
    }

    pub(crate) fn set_default(&self, device: &Arc<Device>, handle: u64) {
        let mut inner = self.inner.lock();
        inner.defaults.retain(|(of, _)| !Arc::ptr_eq(of, device));
        inner.defaults.push((Arc::clone(device), handle));
    }

    /// The handle of a device's default queue, 0 if there is none.
    pub(crate) fn default_of(&self, device: &Arc<Device>) -> u64 {
        let inner = self.inner.lock();
        let mut defaults = inner.defaults.iter();
        let found = defaults.find(|(of, _)| Arc::ptr_eq(of, device));
        found.map_or(0, |&(_, handle)| handle)
    }
}
