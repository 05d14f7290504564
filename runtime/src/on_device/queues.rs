//! On-device queues: what they are besides queues, and which there are.
//!
//! Kernels know a queue by a number that is never given out twice, so that whatever a kernel passes
//! is found to be a queue or not.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::device::Device;
use crate::queue::Queue;

/// Bytes of a queue that a command takes besides what it captured.
pub(super) const COMMAND_SIZE: u64 = 128;

/// What an on-device queue has.
#[derive(Debug)]
pub(crate) struct OnDevice {
    pub(crate) handle: u64,
    /// `CL_QUEUE_SIZE`, bytes.
    pub(crate) size: u32,
    used: AtomicU64,
}

impl OnDevice {
    /// Takes bytes for a command that waits to begin; false if the queue is full.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let fits = |used: u64| {
            used.checked_add(bytes)
                .filter(|&used| used <= u64::from(self.size))
        };
        self.used.fetch_update(AcqRel, Relaxed, fits).is_ok()
    }

    /// Gives them back.
    pub(crate) fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, AcqRel);
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
    queues: HashMap<u64, Weak<Queue>>,
    /// The default queue of each device that has one.
    defaults: Vec<(Arc<Device>, u64)>,
}

impl DeviceQueues {
    /// What a new queue of so many bytes is to have.
    pub(crate) fn reserve(&self, size: u32) -> OnDevice {
        let mut inner = self.inner.lock();
        inner.last += 1;
        OnDevice {
            handle: inner.last,
            size,
            used: AtomicU64::new(0),
        }
    }

    pub(crate) fn add(&self, handle: u64, queue: &Arc<Queue>) {
        let mut inner = self.inner.lock();
        inner.queues.insert(handle, Arc::downgrade(queue));
    }

    pub(crate) fn remove(&self, handle: u64) {
        let mut inner = self.inner.lock();
        inner.queues.remove(&handle);
        inner.defaults.retain(|&(_, default)| default != handle);
    }

    pub(crate) fn find(&self, handle: u64) -> Option<Arc<Queue>> {
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
