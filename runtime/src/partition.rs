//! Sub-devices: parts of the device, each some of its compute units.
//!
//! A compute unit is a worker thread's worth of processor, so a sub-device is a list of processors. What is enqueued on it is
//! executed by any thread, but only as many at once as it has compute units, and each with its affinity set to
//! the sub-device's processors meanwhile ([`Confinement`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use opencl_sys::*;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::device::Device;
use crate::error::{CLResult, ClError};
use crate::topology::{self, Domain};

/// How to divide a device. "Partitioning a Device".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partition {
    /// `CL_DEVICE_PARTITION_EQUALLY`: as many sub-devices as can be made of this many compute units.
    Equally(usize),
    /// `CL_DEVICE_PARTITION_BY_COUNTS`: a sub-device for each number of compute units.
    ByCounts(Vec<usize>),
    /// `CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN`: one of `CL_DEVICE_AFFINITY_DOMAIN_...`.
    ByAffinityDomain(u64),
}

/// The domains that processors may share, outermost first: the order of `CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE`.
const DOMAINS: [(u64, Domain); 5] = [
    (CL_DEVICE_AFFINITY_DOMAIN_NUMA, Domain::Numa),
    (CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, Domain::Cache(4)),
    (CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, Domain::Cache(3)),
    (CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, Domain::Cache(2)),
    (CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, Domain::Cache(1)),
];

impl Device {
    /// `CL_DEVICE_PARTITION_AFFINITY_DOMAIN`: the domains along which the device falls into several parts.
    pub fn affinity_domains(&self) -> u64 {
        let found = DOMAINS
            .iter()
            .filter(|(_, domain)| self.divided_by(*domain).is_some());
        match found.map(|(flag, _)| flag).sum() {
            0 => 0,
            domains => domains | CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
        }
    }

    /// The processors of each part, if there are several.
    fn divided_by(&self, domain: Domain) -> Option<Vec<Vec<usize>>> {
        let mut parts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &processor in &self.processors {
            let shared = topology::sharing(processor, domain)?;
            parts.entry(shared).or_default().push(processor);
        }
        (parts.len() > 1).then(|| parts.into_values().collect())
    }

    /// `clCreateSubDevices`.
    ///
    /// Errors: `CL_INVALID_VALUE`, `CL_INVALID_DEVICE_PARTITION_COUNT`, `CL_DEVICE_PARTITION_FAILED`.
    pub fn partition(self: &Arc<Self>, partition: &Partition) -> CLResult<Vec<Arc<Device>>> {
        let units = &self.processors;
        // CL_INVALID_VALUE if values specified in properties are not valid.
        if *partition == Partition::Equally(0) {
            return Err(ClError::INVALID_VALUE);
        }
        match partition {
            // CL_DEVICE_PARTITION_FAILED if the partition name is supported by the implementation but in_device could not be further
            // partitioned: one part is none.
            Partition::Equally(count) if *count >= units.len() => {
                Err(ClError::DEVICE_PARTITION_FAILED)
            }
            Partition::Equally(count) => {
                let kind = [CL_DEVICE_PARTITION_EQUALLY, *count as isize, 0];
                let parts = units.chunks_exact(*count);
                Ok(parts.map(|part| self.part(part, &kind)).collect())
            }
            Partition::ByCounts(counts) => self.by_counts(counts),
            Partition::ByAffinityDomain(domain) => self.by_domain(*domain),
        }
    }

    fn by_counts(self: &Arc<Self>, counts: &[usize]) -> CLResult<Vec<Arc<Device>>> {
        // CL_INVALID_VALUE if values specified in properties are not valid: no counts, or a zero that is not the end.
        if counts.is_empty() || counts.contains(&0) {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_DEVICE_PARTITION_COUNT if the number of sub-devices requested exceeds CL_DEVICE_PARTITION_MAX_SUB_DEVICES or the
        // total number of compute units requested exceeds CL_DEVICE_MAX_COMPUTE_UNITS for in_device.
        let total = counts
            .iter()
            .fold(0usize, |sum, &count| sum.saturating_add(count));
        if total > self.processors.len() {
            return Err(ClError::INVALID_DEVICE_PARTITION_COUNT);
        }
        let mut kind = vec![CL_DEVICE_PARTITION_BY_COUNTS];
        kind.extend(counts.iter().map(|&count| count as isize));
        kind.extend([CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0]);
        let mut rest = self.processors.as_slice();
        let parts = counts.iter().map(|&count| {
            let (part, after) = rest.split_at(count);
            rest = after;
            self.part(part, &kind)
        });
        Ok(parts.collect())
    }

    fn by_domain(self: &Arc<Self>, wanted: u64) -> CLResult<Vec<Arc<Device>>> {
        // CL_INVALID_VALUE if values specified in properties are not valid.
        let next = wanted == CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE;
        if !next && DOMAINS.iter().all(|(flag, _)| *flag != wanted) {
            return Err(ClError::INVALID_VALUE);
        }
        // "The implementation shall find the first level along which the device or sub-device may be further subdivided".
        let mut domains = DOMAINS.iter().filter(|(flag, _)| next || *flag == wanted);
        let divided = domains.find_map(|(flag, domain)| Some((*flag, self.divided_by(*domain)?)));
        // CL_DEVICE_PARTITION_FAILED if the partition name is supported by the implementation but in_device could not be further
        // partitioned; CL_INVALID_VALUE if values specified in properties are valid but are not supported by in_device.
        let (flag, parts) = divided.ok_or(match self.processors.len() {
            1 => ClError::DEVICE_PARTITION_FAILED,
            _ => ClError::INVALID_VALUE,
        })?;
        let kind = [CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, flag as isize, 0];
        Ok(parts.iter().map(|part| self.part(part, &kind)).collect())
    }

    fn part(self: &Arc<Self>, processors: &[usize], kind: &[isize]) -> Arc<Device> {
        Arc::new(Device {
            parent: Some(Arc::clone(self)),
            partition_type: kind.to_vec(),
            processors: processors.to_vec(),
            max_compute_units: processors.len() as u32,
            ..Device::clone(self)
        })
    }
}

/// Keeps this thread on a sub-device's processors for as long as it lives, then lets it go where it could go before.
pub(crate) struct Confinement {
    before: CpuSet,
}

impl Confinement {
    /// Nothing for the whole device.
    pub(crate) fn enter(device: &Device) -> Option<Confinement> {
        device.parent.as_ref()?;
        let mut set = CpuSet::new();
        for &processor in &device.processors {
            set.set(processor);
        }
        let confined = sched_getaffinity(None).and_then(|before| {
            sched_setaffinity(None, &set)?;
            Ok(Confinement { before })
        });
        static TOLD: AtomicBool = AtomicBool::new(false);
        if let Err(error) = &confined
            && !TOLD.swap(true, Relaxed)
        {
            let processors = &device.processors;
            eprintln!("brolga: cannot keep a sub-device to processors {processors:?}: {error}");
        }
        confined.ok()
    }
}

impl Drop for Confinement {
    fn drop(&mut self) {
        // It was the thread's own setting, so it is a possible one, unless the processors have gone since.
        let _ = sched_setaffinity(None, &self.before);
    }
}
