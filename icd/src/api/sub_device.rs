//! Sub-devices, by the core's functions and by those of `cl_ext_device_fission`, which differ in
//! how they spell a partition.

use std::sync::Arc;

use brolga_runtime::device::Partition;
use opencl_sys::*;

use super::device::Device;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref};
use crate::abi::pointers::{OutList, OutPtr, RawHandle};
use crate::abi::property_list::{
    ListLayout, NAMES_END, PartitionProperties, PartitionPropertiesExt, PropertyList,
};

/// The domains of `cl_ext_device_fission` and of the core.
const DOMAINS: [(u32, u64); 6] = [
    (CL_AFFINITY_DOMAIN_NUMA_EXT, CL_DEVICE_AFFINITY_DOMAIN_NUMA),
    (
        CL_AFFINITY_DOMAIN_L4_CACHE_EXT,
        CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE,
    ),
    (
        CL_AFFINITY_DOMAIN_L3_CACHE_EXT,
        CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE,
    ),
    (
        CL_AFFINITY_DOMAIN_L2_CACHE_EXT,
        CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE,
    ),
    (
        CL_AFFINITY_DOMAIN_L1_CACHE_EXT,
        CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE,
    ),
    (
        CL_AFFINITY_DOMAIN_NEXT_FISSIONABLE_EXT,
        CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
    ),
];

/// `clCreateSubDevices`
pub fn create(
    device: RawHandle,
    properties: PropertyList<PartitionProperties>,
    out: OutList<RawHandle>,
    num_devices_ret: OutPtr<cl_uint>,
) -> CLResult<()> {
    let device = Device::from_raw(device)?;
    let how = read(properties)?;
    hand_out(&device, &how, out, num_devices_ret)
}

/// `clCreateSubDevicesEXT`
pub fn create_ext(
    device: RawHandle,
    properties: PropertyList<PartitionPropertiesExt>,
    out: OutList<RawHandle>,
    num_devices: OutPtr<cl_uint>,
) -> CLResult<()> {
    let device = Device::from_raw(device)?;
    let how = read_ext(properties)?;
    // The extension has codes of its own.
    hand_out(&device, &how, out, num_devices).map_err(|error| match error {
        ClError::DEVICE_PARTITION_FAILED => ClError(CL_DEVICE_PARTITION_FAILED_EXT),
        ClError::INVALID_DEVICE_PARTITION_COUNT => ClError(CL_INVALID_PARTITION_COUNT_EXT),
        ClError::INVALID_VALUE if matches!(how, Partition::ByNames(_)) => {
            ClError(CL_INVALID_PARTITION_NAME_EXT)
        }
        other => other,
    })
}

fn hand_out(
    device: &Ref<Device>,
    how: &Partition,
    out: OutList<RawHandle>,
    count: OutPtr<cl_uint>,
) -> CLResult<()> {
    let parts = device.runtime.partition(how)?;
    // > CL_INVALID_VALUE if out_devices is not NULL and num_devices is less than the number of
    // > sub-devices created by the partition scheme.
    require(
        out.is_null() || parts.len() <= out.count(),
        ClError::INVALID_VALUE,
    )?;
    count.set(parts.len() as cl_uint);
    if !out.is_null() {
        let handles: Vec<RawHandle> = parts
            .into_iter()
            .map(|runtime| {
                let parent = Some(Arc::clone(device));
                // The reference that the application holds keeps it alive.
                Handle::new(Device { runtime, parent }).raw()
            })
            .collect();
        out.set(&handles);
    }
    Ok(())
}

/// Reads a partition. Errors: `CL_INVALID_VALUE`, `CL_INVALID_DEVICE_PARTITION_COUNT` (a negative
/// count).
fn read(properties: PropertyList<PartitionProperties>) -> CLResult<Partition> {
    // > CL_INVALID_VALUE if values specified in properties are not valid or if values specified in
    // > properties are valid but not supported by the device.
    let first = properties.first().ok_or(ClError::INVALID_VALUE)?;
    match first.name {
        CL_DEVICE_PARTITION_EQUALLY => {
            let each = u32::try_from(single(properties)?).map_err(|_| ClError::INVALID_VALUE)?;
            Ok(Partition::Equally(each))
        }
        CL_DEVICE_PARTITION_BY_COUNTS => {
            let error = ClError::INVALID_DEVICE_PARTITION_COUNT;
            Ok(Partition::ByCounts(small(first.values, error)?))
        }
        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN => {
            Ok(Partition::ByAffinityDomain(single(properties)? as u64))
        }
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// As [`read`], with errors of the extension's own.
fn read_ext(properties: PropertyList<PartitionPropertiesExt>) -> CLResult<Partition> {
    let first = properties.first().ok_or(ClError::INVALID_VALUE)?;
    match first.name {
        CL_DEVICE_PARTITION_EQUALLY_EXT => {
            let each = u32::try_from(single(properties)?).map_err(|_| ClError::INVALID_VALUE)?;
            Ok(Partition::Equally(each))
        }
        CL_DEVICE_PARTITION_BY_COUNTS_EXT => {
            let error = ClError(CL_INVALID_PARTITION_COUNT_EXT);
            Ok(Partition::ByCounts(small(first.values, error)?))
        }
        CL_DEVICE_PARTITION_BY_NAMES_EXT => {
            let error = ClError(CL_INVALID_PARTITION_NAME_EXT);
            Ok(Partition::ByNames(small(first.values, error)?))
        }
        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN_EXT => {
            let domain = single(properties)?;
            let known = DOMAINS.iter().find(|(ext, _)| u64::from(*ext) == domain);
            let (_, domain) = known.ok_or(ClError::INVALID_VALUE)?;
            Ok(Partition::ByAffinityDomain(*domain))
        }
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// The value of the only property of a list.
fn single<L: ListLayout>(properties: PropertyList<L>) -> CLResult<L::Word> {
    let properties = properties.read();
    match (&properties.list[..], properties.is_known) {
        ([only], true) => Ok(only.values[0]),
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// Numbers that fit, or an error.
fn small<T: TryInto<u32>>(values: Vec<T>, error: ClError) -> CLResult<Vec<u32>> {
    let small = values.into_iter().map(T::try_into);
    small.collect::<Result<_, _>>().map_err(|_| error)
}

impl Device {
    /// `CL_DEVICE_PARTITION_PROPERTIES`: how the device can be partitioned; a value of 0 if it
    /// cannot.
    pub fn partition_properties(&self) -> Vec<cl_device_partition_property> {
        if self.runtime.max_sub_devices() == 0 {
            return vec![0];
        }
        let mut all = vec![CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_BY_COUNTS];
        if self.runtime.affinity_domains() != 0 {
            all.push(CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN);
        }
        all
    }

    /// `CL_DEVICE_PARTITION_TYPE`: what it was made with, 0 for the root device or where the core
    /// has no word for it.
    pub fn partition_type(&self) -> Vec<cl_device_partition_property> {
        match self.runtime.parent.as_ref().map(|(_, how)| how) {
            Some(Partition::Equally(each)) => vec![CL_DEVICE_PARTITION_EQUALLY, *each as isize, 0],
            Some(Partition::ByCounts(counts)) => {
                let counts = counts.iter().map(|&count| count as isize);
                let end = [CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0];
                let name = std::iter::once(CL_DEVICE_PARTITION_BY_COUNTS);
                name.chain(counts).chain(end).collect()
            }
            Some(Partition::ByAffinityDomain(domain)) => {
                vec![CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, *domain as isize, 0]
            }
            Some(Partition::ByNames(_)) | None => vec![0],
        }
    }

    /// `CL_DEVICE_PARTITION_TYPES_EXT`: as [`Device::partition_properties`].
    pub fn partition_types_ext(&self) -> Vec<cl_device_partition_property_ext> {
        if self.runtime.max_sub_devices() == 0 {
            return vec![CL_PROPERTIES_LIST_END_EXT];
        }
        let mut all = vec![
            CL_DEVICE_PARTITION_EQUALLY_EXT,
            CL_DEVICE_PARTITION_BY_COUNTS_EXT,
            CL_DEVICE_PARTITION_BY_NAMES_EXT,
        ];
        if self.runtime.affinity_domains() != 0 {
            all.push(CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN_EXT);
        }
        all
    }

    /// `CL_DEVICE_AFFINITY_DOMAINS_EXT`
    pub fn affinity_domains_ext(&self) -> Vec<cl_device_partition_property_ext> {
        let domains = self.runtime.affinity_domains();
        let listed = DOMAINS.iter().filter(|(_, core)| domains & core != 0);
        listed.map(|(ext, _)| u64::from(*ext)).collect()
    }

    /// `CL_DEVICE_PARTITION_STYLE_EXT`: as [`Device::partition_type`].
    pub fn partition_style_ext(&self) -> Vec<cl_device_partition_property_ext> {
        let list = |name, values: &[u32], end| {
            let values = values.iter().copied().map(u64::from);
            let end = [end, CL_PROPERTIES_LIST_END_EXT];
            std::iter::once(name).chain(values).chain(end).collect()
        };
        match self.runtime.parent.as_ref().map(|(_, how)| how) {
            Some(Partition::Equally(each)) => vec![
                CL_DEVICE_PARTITION_EQUALLY_EXT,
                u64::from(*each),
                CL_PROPERTIES_LIST_END_EXT,
            ],
            Some(Partition::ByCounts(counts)) => list(
                CL_DEVICE_PARTITION_BY_COUNTS_EXT,
                counts,
                CL_PARTITION_BY_COUNTS_LIST_END_EXT,
            ),
            Some(Partition::ByNames(names)) => {
                list(CL_DEVICE_PARTITION_BY_NAMES_EXT, names, NAMES_END[0])
            }
            Some(Partition::ByAffinityDomain(domain)) => {
                let (ext, _) = DOMAINS
                    .iter()
                    .find(|(_, core)| core == domain)
                    .expect("a domain that devices are divided by");
                vec![
                    CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN_EXT,
                    u64::from(*ext),
                    CL_PROPERTIES_LIST_END_EXT,
                ]
            }
            None => vec![CL_PROPERTIES_LIST_END_EXT],
        }
    }

    /// `CL_DEVICE_PARENT_DEVICE`
    pub fn parent(&self) -> RawHandle {
        self.parent
            .as_ref()
            .map_or(RawHandle::NULL, |parent| parent.raw())
    }
}
