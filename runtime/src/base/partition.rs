//! Sub-devices: some of a device's compute units, and threads that stay on them (OpenCL API
//! Specification, "Partitioning a Device").
//!
//! A compute unit is a logical processor. A sub-device is the same CPU otherwise: all limits are
//! its parent's, memory objects and programs are the context's, and code is compiled once for all.
//! What it has of its own is a pool (`PinnedPool`), made by its first queue, whose threads run on
//! its processors only.

use std::sync::Arc;

use opencl_sys::*;

use crate::base::device::{Device, Partition};
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::system::topology::{self, Sharing};

/// Domains, outermost first: the order in which `CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE`
/// tries them.
const DOMAINS: [(u64, Sharing); 5] = [
    (CL_DEVICE_AFFINITY_DOMAIN_NUMA, Sharing::NumaNode),
    (CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, Sharing::Cache(4)),
    (CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, Sharing::Cache(3)),
    (CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, Sharing::Cache(2)),
    (CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, Sharing::Cache(1)),
];

impl Device {
    /// `CL_DEVICE_PARTITION_MAX_SUB_DEVICES`: none of a device of one compute unit.
    pub fn max_sub_devices(&self) -> u32 {
        match self.max_compute_units {
            1 => 0,
            units => units,
        }
    }

    /// `CL_DEVICE_PARTITION_AFFINITY_DOMAIN`: the domains that divide the device into more than
    /// one.
    pub fn affinity_domains(&self) -> u64 {
        let domains = DOMAINS
            .iter()
            .filter(|(_, sharing)| self.sharing(*sharing).len() > 1)
            .fold(0, |all, (domain, _)| all | domain);
        match domains {
            0 => 0,
            _ => domains | CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
        }
    }

    /// Compute units that share something, as lists of their numbers.
    fn sharing(&self, what: Sharing) -> Vec<Vec<u32>> {
        topology::groups(what, &self.compute_units)
    }

    /// `clCreateSubDevices`: the sub-devices, and for each what `CL_DEVICE_PARTITION_TYPE` says of
    /// how it came about.
    ///
    /// Errors: `CL_INVALID_VALUE` (0 units each, more domains than one),
    /// `CL_INVALID_DEVICE_PARTITION_COUNT`, `CL_DEVICE_PARTITION_FAILED`.
    pub fn partition(self: &Arc<Self>, how: &Partition) -> CLResult<Vec<Arc<Device>>> {
        let mut used = how.clone();
        let parts = match how {
            Partition::Equally(each) => self.equal_parts(*each)?,
            Partition::ByCounts(counts) => self.counted_parts(counts)?,
            Partition::ByNames(names) => vec![self.named_part(names)?],
            Partition::ByAffinityDomain(domain) => {
                let (domain, parts) = self.domain_parts(*domain)?;
                used = Partition::ByAffinityDomain(domain);
                parts
            }
        };
        Ok(parts
            .iter()
            .map(|units| Arc::new(self.part(units, &used)))
            .collect())
    }

    fn equal_parts(&self, each: u32) -> CLResult<Vec<Vec<u32>>> {
        // CL_INVALID_VALUE if values specified in properties are not valid.
        if each == 0 {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_DEVICE_PARTITION_COUNT if the total number of compute units requested exceeds
        // CL_DEVICE_MAX_COMPUTE_UNITS for in_device.
        if each > self.max_compute_units {
            return Err(ClError::INVALID_DEVICE_PARTITION_COUNT);
        }
        // CL_DEVICE_PARTITION_FAILED if the partition name is supported by the implementation but
        // in_device could not be further partitioned: the whole device is no part of it.
        if each == self.max_compute_units {
            return Err(ClError::DEVICE_PARTITION_FAILED);
        }
        let units: Vec<u32> = (0..self.max_compute_units).collect();
        // "If this value does not divide evenly [...], the remaining compute units are not used."
        Ok(units.chunks_exact(each as usize).map(Vec::from).collect())
    }

    fn counted_parts(&self, counts: &[u32]) -> CLResult<Vec<Vec<u32>>> {
        if self.max_sub_devices() == 0 {
            return Err(ClError::DEVICE_PARTITION_FAILED);
        }
        // CL_INVALID_DEVICE_PARTITION_COUNT if the number of sub-devices requested exceeds
        // CL_DEVICE_PARTITION_MAX_SUB_DEVICES or the total number of compute units requested
        // exceeds CL_DEVICE_MAX_COMPUTE_UNITS for in_device, or the number of compute units
        // requested for one or more sub-devices is less than zero.
        let total: u64 = counts.iter().copied().map(u64::from).sum();
        if counts.is_empty()
            || counts.len() > self.max_sub_devices() as usize
            || total > u64::from(self.max_compute_units)
        {
            return Err(ClError::INVALID_DEVICE_PARTITION_COUNT);
        }
        let mut units = 0..self.max_compute_units;
        Ok(counts
            .iter()
            .map(|&count| units.by_ref().take(count as usize).collect())
            .collect())
    }

    fn named_part(&self, names: &[u32]) -> CLResult<Vec<u32>> {
        let exists = |unit: &u32| *unit < self.max_compute_units;
        match !names.is_empty() && names.iter().all(exists) {
            true => Ok(names.to_vec()),
            false => Err(ClError::INVALID_VALUE),
        }
    }

    fn domain_parts(&self, domain: u64) -> CLResult<(u64, Vec<Vec<u32>>)> {
        let next = domain == CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE;
        let mut tried = DOMAINS
            .iter()
            .filter(|(one, _)| next || *one == domain)
            .peekable();
        if tried.peek().is_none() {
            return Err(ClError::INVALID_VALUE);
        }
        tried
            .map(|(one, sharing)| (*one, self.sharing(*sharing)))
            .find(|(_, parts)| parts.len() > 1)
            .ok_or(ClError::DEVICE_PARTITION_FAILED)
    }

    /// The sub-device of some compute units.
    fn part(self: &Arc<Self>, units: &[u32], how: &Partition) -> Device {
        Device {
            max_compute_units: units.len() as u32,
            compute_units: units
                .iter()
                .map(|&unit| self.compute_units[unit as usize])
                .collect(),
            parent: Some((Arc::clone(self), how.clone())),
            own_pool: Arc::default(),
            ..Device::clone(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of eight compute units, which are the machine's processors over and over.
    fn device() -> Arc<Device> {
        let real = Device::detect();
        let units = real.compute_units.iter().copied().cycle().take(8).collect();
        Arc::new(Device {
            max_compute_units: 8,
            compute_units: units,
            ..real
        })
    }

    fn counts(how: &Partition) -> CLResult<Vec<u32>> {
        let parts = device().partition(how)?;
        Ok(parts.iter().map(|part| part.max_compute_units).collect())
    }

    #[test]
    fn parts_have_the_units_asked_for() {
        assert_eq!(counts(&Partition::Equally(2)), Ok(vec![2; 4]));
        assert_eq!(counts(&Partition::Equally(3)), Ok(vec![3; 2]));
        assert_eq!(counts(&Partition::Equally(5)), Ok(vec![5]));
        let by_counts = Partition::ByCounts(vec![1, 4, 2]);
        assert_eq!(counts(&by_counts), Ok(vec![1, 4, 2]));
        let whole = device();
        let parts = whole.partition(&Partition::ByNames(vec![7, 0])).unwrap();
        assert_eq!(parts.len(), 1);
        let units = &whole.compute_units;
        assert_eq!(parts[0].compute_units, [units[7], units[0]]);
    }

    #[test]
    fn parts_know_where_they_come_from() {
        let whole = device();
        let how = Partition::Equally(4);
        let parts = whole.partition(&how).unwrap();
        let (parent, by) = parts[1].parent.as_ref().unwrap();
        assert!(Arc::ptr_eq(parent, &whole));
        assert_eq!(*by, how);
        let smaller = parts[1].partition(&Partition::Equally(1)).unwrap();
        assert_eq!(smaller.len(), 4);
        assert_eq!(smaller[0].compute_units[0], parts[1].compute_units[0]);
        // A single unit cannot be divided.
        assert_eq!(smaller[0].max_sub_devices(), 0);
        let again = smaller[0].partition(&Partition::Equally(1));
        assert_eq!(again.unwrap_err(), ClError::DEVICE_PARTITION_FAILED);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let count = ClError::INVALID_DEVICE_PARTITION_COUNT;
        for (how, error) in [
            (Partition::Equally(0), ClError::INVALID_VALUE),
            (Partition::Equally(8), ClError::DEVICE_PARTITION_FAILED),
            (Partition::Equally(9), count),
            (Partition::ByCounts(vec![]), count),
            (Partition::ByCounts(vec![5, 4]), count),
            (Partition::ByCounts(vec![u32::MAX, u32::MAX]), count),
            (Partition::ByCounts(vec![1; 9]), count),
            (Partition::ByNames(vec![]), ClError::INVALID_VALUE),
            (Partition::ByNames(vec![0, 8]), ClError::INVALID_VALUE),
            (Partition::ByAffinityDomain(0), ClError::INVALID_VALUE),
            (
                Partition::ByAffinityDomain(
                    CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE | CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE,
                ),
                ClError::INVALID_VALUE,
            ),
        ] {
            assert_eq!(counts(&how), Err(error), "{how:?}");
        }
    }

    #[test]
    fn domains_that_are_listed_divide() {
        let device = Arc::new(Device::detect());
        for (domain, _) in DOMAINS {
            let parts = device.partition(&Partition::ByAffinityDomain(domain));
            match device.affinity_domains() & domain {
                0 => assert_eq!(parts.unwrap_err(), ClError::DEVICE_PARTITION_FAILED),
                _ => assert!(parts.unwrap().len() > 1),
            }
        }
    }
}
