//! The device: the processors this process may use, and the threads on them.
//!
//! What it has in common with its parts, which is nearly all that can be asked of it, is in
//! `limits.rs`; `partition.rs` divides devices.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use brolga_engine::Event;
use brolga_engine::pool::{PinnedPool, Pool};
use brolga_engine::system::topology::available_processors;

use crate::base::limits::DeviceLimits;
use crate::base::root::{self, thread_count};

/// How a device is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Into as many as possible of so many compute units each.
    Equally(u32),
    /// One of each count.
    ByCounts(Vec<u32>),
    /// One, of these compute units, counted from 0 (`cl_ext_device_fission`).
    ByNames(Vec<u32>),
    /// By what processors share: one `CL_DEVICE_AFFINITY_DOMAIN_...`.
    ByAffinityDomain(u64),
}

/// The CPU as an OpenCL device, or a part of it.
#[derive(Clone, Debug)]
pub struct Device {
    pub(super) limits: Arc<DeviceLimits>,
    /// Worker threads: the processors in the affinity mask, or `BROLGA_THREADS`.
    pub max_compute_units: u32,
    /// The logical processor of each compute unit.
    pub compute_units: Vec<usize>,
    /// What it is a part of, and how it was divided; nothing for the root device.
    pub parent: Option<(Arc<Device>, Partition)>,
    /// The threads of a sub-device, once it has a queue.
    pub(crate) own_pool: Arc<OnceLock<PinnedPool<Event>>>,
}

/// A device has all that its kind has.
impl Deref for Device {
    type Target = DeviceLimits;

    fn deref(&self) -> &DeviceLimits {
        &self.limits
    }
}

impl Device {
    /// The whole machine.
    pub(crate) fn detect() -> Device {
        let processors = available_processors();
        let count = thread_count() as usize;
        Device {
            limits: Arc::new(DeviceLimits::detect()),
            max_compute_units: thread_count(),
            compute_units: processors.iter().copied().cycle().take(count).collect(),
            parent: None,
            own_pool: Arc::default(),
        }
    }

    /// The threads that execute commands of its queues.
    pub(crate) fn pool(&self) -> &Arc<Pool<Event>> {
        match &self.parent {
            None => root::pool(),
            Some(_) => {
                let start = || PinnedPool::new(root::pool(), self.compute_units.clone());
                self.own_pool.get_or_init(start).pool()
            }
        }
    }
}
