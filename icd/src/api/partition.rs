//! Sub-devices, by the core's names and by those of `cl_ext_device_fission`, which came before.

use brolga_runtime::device::Device as RuntimeDevice;
use brolga_runtime::partition::Partition;
use opencl_sys::*;

use super::device::Device;
use crate::abi::edge::{In, Out, RawHandle};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref};

/// Pairs of domains, the core's flag and the extension's number.
const DOMAINS: [(cl_device_affinity_domain, cl_uint); 6] = [
    (CL_DEVICE_AFFINITY_DOMAIN_NUMA, CL_AFFINITY_DOMAIN_NUMA_EXT),
    (
        CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE,
        CL_AFFINITY_DOMAIN_L4_CACHE_EXT,
    ),
    (
        CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE,
        CL_AFFINITY_DOMAIN_L3_CACHE_EXT,
    ),
    (
        CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE,
        CL_AFFINITY_DOMAIN_L2_CACHE_EXT,
    ),
    (
        CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE,
        CL_AFFINITY_DOMAIN_L1_CACHE_EXT,
    ),
    (
        CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
        CL_AFFINITY_DOMAIN_NEXT_FISSIONABLE_EXT,
    ),
];

/// Pairs of schemes, the core's number and the extension's.
const SCHEMES: [(
    cl_device_partition_property,
    cl_device_partition_property_ext,
); 3] = [
    (CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_EQUALLY_EXT),
    (
        CL_DEVICE_PARTITION_BY_COUNTS,
        CL_DEVICE_PARTITION_BY_COUNTS_EXT,
    ),
    (
        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
        CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN_EXT,
    ),
];

/// `CL_DEVICE_PARTITION_PROPERTIES`: the schemes that yield at least two sub-devices.
pub fn schemes(device: &RuntimeDevice) -> Vec<cl_device_partition_property> {
    let mut schemes = Vec::new();
    if device.max_compute_units > 1 {
        schemes.extend([CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_BY_COUNTS]);
        if device.affinity_domains() != 0 {
            schemes.push(CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN);
        }
    } else {
        // > If the device cannot be partitioned, a value of 0 is returned.
        schemes.push(0);
    }
    schemes
}

/// `CL_DEVICE_PARTITION_TYPES_EXT`: the same by the extension's numbers.
pub fn schemes_ext(device: &RuntimeDevice) -> Vec<cl_device_partition_property_ext> {
    let own = schemes(device);
    let ext = SCHEMES.iter().filter(|(core, _)| own.contains(core));
    ext.map(|&(_, ext)| ext).collect()
}

/// `CL_DEVICE_AFFINITY_DOMAINS_EXT`
pub fn domains_ext(device: &RuntimeDevice) -> Vec<cl_device_partition_property_ext> {
    let own = device.affinity_domains();
    let ext = DOMAINS.iter().filter(|(core, _)| own & core != 0);
    ext.map(|&(_, ext)| ext.into()).collect()
}

/// `CL_DEVICE_PARTITION_STYLE_EXT`: how the device was divided, by the extension's numbers; for the whole device the end of a list.
pub fn style_ext(device: &RuntimeDevice) -> Vec<cl_device_partition_property_ext> {
    let Some((&kind, values)) = device.partition_type.split_first() else {
        return vec![CL_PROPERTIES_LIST_END_EXT];
    };
    let ext = SCHEMES.iter().find(|(core, _)| *core == kind);
    let mut style = vec![ext.map_or(0, |&(_, ext)| ext)];
    style.extend(values.iter().map(|&value| {
        let domain = DOMAINS.iter().find(|&&(core, _)| {
            kind == CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN && core == value as u64
        });
        domain.map_or(value as u64, |&(_, ext)| ext.into())
    }));
    style
}

/// What a list of properties asks for: a scheme, and numbers up to the first zero.
fn partition(
    scheme: cl_device_partition_property,
    values: &[cl_device_partition_property],
) -> CLResult<Partition> {
    match (scheme, values) {
        (CL_DEVICE_PARTITION_EQUALLY, &[count]) => match usize::try_from(count) {
            Ok(count) => Ok(Partition::Equally(count)),
            Err(_) => Err(ClError::INVALID_VALUE),
        },
        (CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, &[domain]) => {
            Ok(Partition::ByAffinityDomain(domain as u64))
        }
        (CL_DEVICE_PARTITION_BY_COUNTS, counts) => {
            // > CL_INVALID_DEVICE_PARTITION_COUNT if the number of compute units requested for one or more sub-devices is
            // > less than zero.
            let counts = counts.iter().map(|&count| usize::try_from(count));
            let counts = counts
                .collect::<Result<_, _>>()
                .map_err(|_| ClError::INVALID_DEVICE_PARTITION_COUNT)?;
            Ok(Partition::ByCounts(counts))
        }
        // > CL_INVALID_VALUE if values specified in properties are not valid. Only one of the listed partitioning schemes
        // > can be specified in properties.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// Divides the device, and hands out the parts if there is room for all of them.
fn create(
    device: &Ref<Device>,
    partition: &Partition,
    room: cl_uint,
    out: Out<RawHandle>,
    count: Out<cl_uint>,
) -> CLResult<()> {
    let parts = device.runtime.partition(partition)?;
    // > CL_INVALID_VALUE if out_devices is not NULL and num_devices is less than the number of sub-devices created by
    // > the partition scheme.
    require(
        out.is_null() || room as usize >= parts.len(),
        ClError::INVALID_VALUE,
    )?;
    count.set(parts.len() as cl_uint);
    if !out.is_null() {
        let handles: Vec<RawHandle> = parts
            .into_iter()
            .map(|runtime| {
                let parent = Some(device.clone());
                Handle::new(Device { runtime, parent }).raw()
            })
            .collect();
        out.set_all(&handles);
    }
    Ok(())
}

/// `clCreateSubDevices`
pub fn create_sub_devices(
    device: RawHandle,
    properties: In<cl_device_partition_property>,
    num_devices: cl_uint,
    out: Out<RawHandle>,
    num_devices_ret: Out<cl_uint>,
) -> CLResult<()> {
    let device = Device::from_raw(device)?;
    // > CL_INVALID_VALUE if values specified in properties are not valid.
    let list = properties.up_to_zero();
    let (&scheme, values) = list.split_first().ok_or(ClError::INVALID_VALUE)?;
    let partition = partition(scheme, values)?;
    create(&device, &partition, num_devices, out, num_devices_ret)
}

/// `clCreateSubDevicesEXT`
pub fn create_sub_devices_ext(
    device: RawHandle,
    properties: In<cl_device_partition_property_ext>,
    num_entries: cl_uint,
    out: Out<RawHandle>,
    num_devices: Out<cl_uint>,
) -> CLResult<()> {
    let device = Device::from_raw(device)?;
    // There must be somewhere to write to, and room for what is written.
    require(
        out.is_null() == (num_entries == 0) && !(out.is_null() && num_devices.is_null()),
        ClError::INVALID_VALUE,
    )?;
    let list = properties.up_to_zero();
    let (scheme, values) = list.split_first().ok_or(ClError::INVALID_VALUE)?;
    let schemes = SCHEMES.iter().find(|(_, ext)| ext == scheme);
    let &(scheme, _) = schemes.ok_or(ClError::INVALID_VALUE)?;
    let values: Vec<cl_device_partition_property> = values
        .iter()
        .map(|&value| {
            let domain = DOMAINS.iter().find(|&&(_, ext)| {
                scheme == CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN && u64::from(ext) == value
            });
            domain.map_or(value as isize, |&(core, _)| core as isize)
        })
        .collect();
    partition(scheme, &values)
        .and_then(|partition| create(&device, &partition, num_entries, out, num_devices))
        .map_err(|error| match error {
            ClError::DEVICE_PARTITION_FAILED => ClError(CL_DEVICE_PARTITION_FAILED_EXT),
            ClError::INVALID_DEVICE_PARTITION_COUNT => ClError(CL_INVALID_PARTITION_COUNT_EXT),
            other => other,
        })
}
