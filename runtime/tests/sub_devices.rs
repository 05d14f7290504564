//! Parts of the device.

use std::sync::Arc;

use brolga_runtime::context::ContextOptions;
use brolga_runtime::partition::Partition;
use brolga_runtime::{ClError, Context, Device, Platform, Queue};
use brolga_runtime_testing::*;
use opencl_sys::*;

/// A device like the machine's, whatever that is, with this many compute units.
fn device(units: usize) -> Arc<Device> {
    let whole = &Platform::get().devices()[0];
    Arc::new(Device {
        processors: whole
            .processors
            .iter()
            .copied()
            .cycle()
            .take(units)
            .collect(),
        max_compute_units: units as u32,
        ..Device::clone(whole)
    })
}

fn units(parts: &[Arc<Device>]) -> Vec<u32> {
    parts.iter().map(|part| part.max_compute_units).collect()
}

#[test]
fn parts_are_as_large_as_asked_for_and_do_not_overlap() {
    let whole = Arc::new(Device {
        processors: (0..7).collect(),
        ..Device::clone(&device(7))
    });
    let equal = whole.partition(&Partition::Equally(3)).unwrap();
    assert_eq!(units(&equal), [3, 3]);
    assert_eq!(equal[0].processors, [0, 1, 2]);
    assert_eq!(equal[1].processors, [3, 4, 5]);
    assert_eq!(equal[1].partition_type, [CL_DEVICE_PARTITION_EQUALLY, 3, 0]);
    let counted = whole.partition(&Partition::ByCounts(vec![1, 4])).unwrap();
    assert_eq!(units(&counted), [1, 4]);
    assert_eq!(counted[1].processors, [1, 2, 3, 4]);
    assert_eq!(
        counted[0].partition_type,
        [CL_DEVICE_PARTITION_BY_COUNTS, 1, 4, 0, 0]
    );
    let inner = counted[1].partition(&Partition::Equally(2)).unwrap();
    assert_eq!(inner[1].processors, [3, 4]);
    assert!(Arc::ptr_eq(inner[1].parent.as_ref().unwrap(), &counted[1]));
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let whole = device(4);
    let error = |partition| whole.partition(&partition).unwrap_err();
    assert_eq!(error(Partition::Equally(0)), ClError::INVALID_VALUE);
    assert_eq!(
        error(Partition::Equally(4)),
        ClError::DEVICE_PARTITION_FAILED
    );
    assert_eq!(error(Partition::ByCounts(vec![])), ClError::INVALID_VALUE);
    assert_eq!(
        error(Partition::ByCounts(vec![2, 3])),
        ClError::INVALID_DEVICE_PARTITION_COUNT
    );
    assert_eq!(
        error(Partition::ByCounts(vec![usize::MAX, 2])),
        ClError::INVALID_DEVICE_PARTITION_COUNT
    );
    assert_eq!(
        error(Partition::ByAffinityDomain(1 << 20)),
        ClError::INVALID_VALUE
    );
    let single = device(1);
    let next = Partition::ByAffinityDomain(CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE);
    assert_eq!(single.affinity_domains(), 0);
    assert_eq!(
        single.partition(&next).unwrap_err(),
        ClError::DEVICE_PARTITION_FAILED
    );
}

#[test]
fn one_compute_unit_is_one_thread_at_a_time() {
    let part = device(2)
        .partition(&Partition::Equally(1))
        .unwrap()
        .remove(0);
    let context = Context::new(vec![Arc::clone(&part)], ContextOptions::default()).unwrap();
    let queue = Queue::new(&context, &part, 0, Vec::new()).unwrap();
    let kernel = kernel(&context, "who");
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[64]), Some(&[1]), &[])
        .unwrap();
    queue.finish().unwrap();
    assert_eq!(WHO.lock().len(), 1);
}
