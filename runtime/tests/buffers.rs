//! Buffers, transfers, rectangles, mapping and shared virtual memory.

use std::sync::Arc;

use brolga_runtime::storage::info::{SvmProperties, UsmKind};
use brolga_runtime::{
    Buffer, ClError, CommandBuffer, CopyRect, Direction, HostPtr, HostRect, Pattern, Queue,
    Recordable, RecordingSite, RectSide, SvmCopy, SvmFill,
};
use brolga_runtime_testing::*;
use opencl_sys::*;
use parking_lot::Mutex;

/// Why a description is refused: by a queue and by a command-buffer for the same reason.
fn refused(
    queue: &Arc<Queue>,
    commands: &CommandBuffer,
    description: impl Recordable + Clone,
) -> ClError {
    let error = queue.submit(description.clone(), &[]).unwrap_err();
    let recorded = commands.record(&RecordingSite::default(), description);
    assert_eq!(recorded, Err(error));
    error
}

fn plain(context: &Arc<brolga_runtime::Context>, flags: u64, size: usize) -> Arc<Buffer> {
    Buffer::new(context, flags, size, HostPtr::null(), Vec::new()).unwrap()
}

#[test]
fn creation_is_checked() {
    let context = context();
    let mut memory = [0u8; 16];
    let some = host(&mut memory);
    let new = |flags, size, host| Buffer::new(&context, flags, size, host, Vec::new()).map(|_| ());
    let null = HostPtr::null();
    let limit = context.device().max_mem_alloc_size as usize;
    assert_eq!(new(0, 0, null), Err(ClError::INVALID_BUFFER_SIZE));
    assert_eq!(new(0, limit + 1, null), Err(ClError::INVALID_BUFFER_SIZE));
    assert_eq!(new(0, 16, some), Err(ClError::INVALID_HOST_PTR));
    assert_eq!(
        new(CL_MEM_ALLOC_HOST_PTR, 16, some),
        Err(ClError::INVALID_HOST_PTR)
    );
    assert_eq!(
        new(CL_MEM_USE_HOST_PTR, 16, null),
        Err(ClError::INVALID_HOST_PTR)
    );
    assert_eq!(
        new(CL_MEM_COPY_HOST_PTR, 16, null),
        Err(ClError::INVALID_HOST_PTR)
    );
    for flags in [
        1 << 40,
        CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
        CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
        CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
    ] {
        assert_eq!(
            new(flags, 16, some),
            Err(ClError::INVALID_VALUE),
            "{flags:#x}"
        );
    }
    new(CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR, 16, some).unwrap();
    assert_eq!(plain(&context, 0, 16).memory().flags(), CL_MEM_READ_WRITE);
}

#[test]
fn sub_buffers_are_windows() {
    let context = context();
    let queue = queue(&context);
    let parent = buffer(&context, &vec![0; 1024]);
    let part = parent.sub_buffer(0, 1024, 512).unwrap();
    let memory = part.memory();
    assert_eq!(
        (memory.size(), memory.offset(), memory.flags()),
        (512, 1024, parent.memory().flags())
    );
    assert!(Arc::ptr_eq(memory.parent().unwrap(), parent.memory()));
    assert_eq!(
        memory.as_ptr() as usize,
        parent.memory().as_ptr() as usize + 1024
    );
    queue
        .submit(fill(&part, &[1, 0, 0, 0], 0, 512), &[])
        .unwrap();
    let all = words(&queue, &parent);
    assert!(
        all.iter()
            .enumerate()
            .all(|(i, &n)| n == u32::from((256..384).contains(&i)))
    );

    let error = |flags, origin, size| parent.sub_buffer(flags, origin, size).unwrap_err();
    assert_eq!(
        part.sub_buffer(0, 0, 128).unwrap_err(),
        ClError::INVALID_MEM_OBJECT
    );
    assert_eq!(error(0, 0, 0), ClError::INVALID_BUFFER_SIZE);
    assert_eq!(error(0, 4096 - 128, 129), ClError::INVALID_VALUE);
    assert_eq!(error(0, 128, usize::MAX), ClError::INVALID_VALUE);
    assert_eq!(error(0, 64, 64), ClError::MISALIGNED_SUB_BUFFER_OFFSET);
    assert_eq!(error(CL_MEM_USE_HOST_PTR, 0, 64), ClError::INVALID_VALUE);
    let read_only = plain(&context, CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, 1024);
    for flags in [CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_HOST_WRITE_ONLY] {
        assert_eq!(
            read_only.sub_buffer(flags, 0, 64).unwrap_err(),
            ClError::INVALID_VALUE
        );
    }
    let inherited = read_only.sub_buffer(CL_MEM_HOST_NO_ACCESS, 0, 64).unwrap();
    assert_eq!(
        inherited.memory().flags(),
        CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS
    );
}

#[test]
fn transfers_are_checked() {
    let context = context();
    let queue = queue(&context);
    let data = plain(&context, 0, 64);
    let mut memory = [0u8; 64];
    let to = host(&mut memory);
    let read = |offset, size, host| {
        let read = host_copy(Direction::Read, &data, offset, size, host);
        queue.submit_blocking(read, true, &[]).map(|_| ())
    };
    assert_eq!(read(0, 65, to), Err(ClError::INVALID_VALUE));
    assert_eq!(read(60, 5, to), Err(ClError::INVALID_VALUE));
    assert_eq!(read(usize::MAX, 2, to), Err(ClError::INVALID_VALUE));
    assert_eq!(read(0, 64, HostPtr::null()), Err(ClError::INVALID_VALUE));
    read(64, 0, to).unwrap();
    let write_only = plain(&context, CL_MEM_HOST_WRITE_ONLY, 64);
    let no_access = plain(&context, CL_MEM_HOST_NO_ACCESS, 64);
    let invalid = Err(ClError::INVALID_OPERATION);
    let read_it = host_copy(Direction::Read, &write_only, 0, 4, to);
    assert_eq!(queue.submit(read_it, &[]).map(|_| ()), invalid);
    let write_it = host_copy(Direction::Write, &no_access, 0, 4, to);
    assert_eq!(queue.submit(write_it, &[]).map(|_| ()), invalid);
    assert_eq!(
        queue
            .enqueue_map(&write_only, true, CL_MAP_READ, 0, 4, &[])
            .map(|_| ()),
        invalid
    );
    let write_it = host_copy(Direction::Write, &write_only, 0, 4, to);
    queue.submit_blocking(write_it, true, &[]).unwrap();
    for length in [0, 3, 256] {
        let pattern = Pattern::new(&[1; 256][..length]);
        assert_eq!(pattern.unwrap_err(), ClError::INVALID_VALUE);
    }
    let foreign = plain(&brolga_runtime_testing::context(), 0, 64);
    let commands = CommandBuffer::new(vec![queue.clone()], false, Vec::new()).unwrap();
    let refused = |description| refused(&queue, &commands, description);
    assert_eq!(
        refused(copy(&data, &foreign, [0, 0], 4)),
        ClError::INVALID_CONTEXT
    );
    assert_eq!(
        refused(copy(&foreign, &data, [0, 0], 4)),
        ClError::INVALID_CONTEXT
    );
    for (offsets, size, error) in [
        ([0, 16], 17, ClError::MEM_COPY_OVERLAP),
        ([16, 0], 17, ClError::MEM_COPY_OVERLAP),
        ([0, 60], 5, ClError::INVALID_VALUE),
        ([60, 0], 5, ClError::INVALID_VALUE),
    ] {
        assert_eq!(refused(copy(&data, &data, offsets, size)), error);
    }
    let refused_fill = |buffer, offset, size| {
        let fill = fill(buffer, &[1; 4], offset, size);
        self::refused(&queue, &commands, fill)
    };
    assert_eq!(refused_fill(&foreign, 0, 4), ClError::INVALID_CONTEXT);
    for (offset, size) in [(2, 4), (0, 6), (64, 4)] {
        assert_eq!(refused_fill(&data, offset, size), ClError::INVALID_VALUE);
    }
    queue.submit(copy(&data, &data, [0, 16], 16), &[]).unwrap();
    assert_eq!(
        queue.enqueue_migrate(&[], 0, &[]).map(|_| ()),
        Err(ClError::INVALID_VALUE)
    );
    assert_eq!(
        queue
            .enqueue_migrate(std::slice::from_ref(data.memory()), 8, &[])
            .map(|_| ()),
        Err(ClError::INVALID_VALUE)
    );
    queue
        .enqueue_migrate(
            std::slice::from_ref(data.memory()),
            CL_MIGRATE_MEM_OBJECT_HOST,
            &[],
        )
        .unwrap();
}

#[test]
fn large_transfers_arrive_whole() {
    let context = context();
    let queue = queue(&context);
    let count = (8 << 20) + 3;
    let source: Vec<u32> = (0..count)
        .map(|i: u32| i.wrapping_mul(2_654_435_761))
        .collect();
    let first = buffer(&context, &source);
    let second = plain(&context, 0, first.memory().size());
    assert_eq!(second.memory().as_ptr() as usize % 4096, 0);
    let sevens = fill(
        &second,
        &7u64.to_le_bytes(),
        0,
        first.memory().size() / 8 * 8,
    );
    queue.submit(sevens, &[]).unwrap();
    let all = copy(&first, &second, [0, 0], first.memory().size());
    queue.submit(all, &[]).unwrap();
    assert!(words(&queue, &second) == source);
}

#[test]
fn rectangles_match_a_simple_loop() {
    let context = context();
    let queue = queue(&context);
    let size = 4096usize;
    let mut random = 12345u32;
    let mut next = |limit: usize| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random as usize % limit
    };
    for _ in 0..300 {
        let region = [1 + next(9), 1 + next(5), 1 + next(4)];
        let mut side = || {
            let row_pitch = if next(2) == 0 { 0 } else { region[0] + next(6) };
            let row = if row_pitch == 0 { region[0] } else { row_pitch };
            let slice_pitch = if next(2) == 0 {
                0
            } else {
                row * (region[1] + next(3))
            };
            RectSide {
                origin: [next(5), next(4), next(3)],
                row_pitch,
                slice_pitch,
            }
        };
        let (near, far) = (side(), side());
        let index = |side: &RectSide, x: usize, y: usize, z: usize| {
            let row = if side.row_pitch == 0 {
                region[0]
            } else {
                side.row_pitch
            };
            let slice = if side.slice_pitch == 0 {
                row * region[1]
            } else {
                side.slice_pitch
            };
            (side.origin[2] + z) * slice + (side.origin[1] + y) * row + side.origin[0] + x
        };
        let source: Vec<u8> = (0..size).map(|i| (i * 31 % 255) as u8).collect();
        let mut expected = vec![255u8; size];
        for z in 0..region[2] {
            for y in 0..region[1] {
                for x in 0..region[0] {
                    expected[index(&far, x, y, z)] = source[index(&near, x, y, z)];
                }
            }
        }
        let filled = || {
            let data = plain(&context, 0, size);
            queue.submit(fill(&data, &[255], 0, size), &[]).unwrap();
            data
        };
        let bytes = |data: &Arc<Buffer>| {
            let mut out = vec![0u8; size];
            let read = host_copy(Direction::Read, data, 0, size, host(&mut out));
            queue.submit_blocking(read, true, &[]).unwrap();
            out
        };
        let mut from = source.clone();
        let (a, b) = (filled(), filled());
        let write = host_copy(Direction::Write, &a, 0, size, host(&mut from));
        queue.submit_blocking(write, true, &[]).unwrap();
        let copy = CopyRect {
            source: &a,
            destination: &b,
            source_side: near,
            destination_side: far,
            region,
        };
        queue.submit(copy, &[]).unwrap();
        assert!(bytes(&b) == expected, "copy {near:?} {far:?} {region:?}");
        let c = filled();
        let write = HostRect {
            direction: Direction::Write,
            buffer: &c,
            buffer_side: far,
            host: host(&mut from),
            host_side: near,
            region,
        };
        queue.submit_blocking(write, true, &[]).unwrap();
        assert!(bytes(&c) == expected, "write {near:?} {far:?} {region:?}");
        let mut out = vec![255u8; size];
        let read = HostRect {
            direction: Direction::Read,
            buffer: &a,
            buffer_side: near,
            host: host(&mut out),
            host_side: far,
            region,
        };
        queue.submit_blocking(read, true, &[]).unwrap();
        assert!(out == expected, "read {near:?} {far:?} {region:?}");
    }
}

#[test]
fn rectangles_are_checked() {
    let context = context();
    let queue = queue(&context);
    let data = plain(&context, 0, 4096);
    let at = |x| RectSide {
        origin: [x, 0, 0],
        row_pitch: 64,
        slice_pitch: 0,
    };
    let commands = CommandBuffer::new(vec![queue.clone()], false, Vec::new()).unwrap();
    let copy = |source_side, destination_side, region| CopyRect {
        source: &data,
        destination: &data,
        source_side,
        destination_side,
        region,
    };
    let refused = |description| refused(&queue, &commands, description);
    assert_eq!(
        refused(copy(at(0), at(8), [16, 4, 1])),
        ClError::MEM_COPY_OVERLAP
    );
    queue.submit(copy(at(0), at(16), [16, 4, 1]), &[]).unwrap();
    let other = RectSide {
        row_pitch: 128,
        ..at(1024)
    };
    for (to, region) in [
        (at(16), [0, 4, 1]),
        (at(4090), [16, 1, 1]),
        (at(usize::MAX), [16, 1, 1]),
        (other, [16, 4, 1]),
    ] {
        assert_eq!(refused(copy(at(0), to, region)), ClError::INVALID_VALUE);
    }
    let foreign = plain(&brolga_runtime_testing::context(), 0, 4096);
    let to_foreign = CopyRect {
        destination: &foreign,
        ..copy(at(0), at(16), [16, 4, 1])
    };
    assert_eq!(refused(to_foreign), ClError::INVALID_CONTEXT);
}

#[test]
fn mapping_never_copies() {
    let context = context();
    let queue = queue(&context);
    let data = buffer(&context, &[1, 2, 3, 4]);
    let (event, pointer) = queue
        .enqueue_map(&data, true, CL_MAP_READ | CL_MAP_WRITE, 4, 8, &[])
        .unwrap();
    assert_eq!(event.command_type(), CL_COMMAND_MAP_BUFFER);
    assert_eq!(pointer as usize, data.memory().as_ptr() as usize + 4);
    assert_eq!(data.memory().map_count(), 1);
    // SAFETY: mapped for reading and writing.
    unsafe {
        assert_eq!(pointer.cast::<u32>().read(), 2);
        pointer.cast::<u32>().write(20);
    }
    // Overlapping a region mapped for writing: reading is fine, writing is not.
    queue
        .enqueue_map(&data, true, CL_MAP_READ, 0, 16, &[])
        .unwrap();
    let again = queue.enqueue_map(&data, true, CL_MAP_WRITE, 0, 16, &[]);
    assert_eq!(again.unwrap_err(), ClError::INVALID_OPERATION);
    queue
        .enqueue_map(&data, true, CL_MAP_WRITE, 12, 4, &[])
        .unwrap();
    assert_eq!(data.memory().map_count(), 3);
    let base = data.memory().as_ptr() as usize;
    assert_eq!(
        queue
            .enqueue_unmap(data.memory(), base + 8, &[])
            .unwrap_err(),
        ClError::INVALID_VALUE
    );
    for address in [base + 4, base, base + 12] {
        queue.enqueue_unmap(data.memory(), address, &[]).unwrap();
    }
    assert_eq!(
        queue.enqueue_unmap(data.memory(), base, &[]).unwrap_err(),
        ClError::INVALID_VALUE
    );
    queue.finish().unwrap();
    assert_eq!(data.memory().map_count(), 0);
    assert_eq!(words(&queue, &data), [1, 20, 3, 4]);
    for (flags, size) in [
        (CL_MAP_READ, 0),
        (CL_MAP_READ, 17),
        (1 << 9, 4),
        (CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 4),
    ] {
        let result = queue.enqueue_map(&data, true, flags, 0, size, &[]);
        assert_eq!(result.unwrap_err(), ClError::INVALID_VALUE);
    }
}

#[test]
fn unmapping_takes_effect_in_order() {
    let context = context();
    let queue = queue(&context);
    let data = buffer(&context, &[0]);
    let (_, pointer) = queue
        .enqueue_map(&data, true, CL_MAP_WRITE, 0, 4, &[])
        .unwrap();
    let user = user_event(&context);
    let unmap = queue
        .enqueue_unmap(data.memory(), pointer as usize, std::slice::from_ref(&user))
        .unwrap();
    assert_eq!(data.memory().map_count(), 1);
    user.set_user_status(CL_COMPLETE).unwrap();
    wait_for_events(&[unmap]).unwrap();
    assert_eq!(data.memory().map_count(), 0);
}

#[test]
fn destructors_run_in_reverse_order() {
    let context = context();
    let order = Arc::new(Mutex::new(Vec::new()));
    let data = buffer(&context, &[0]);
    let part = data.sub_buffer(0, 0, 4).unwrap();
    for n in 0..3 {
        let order = Arc::clone(&order);
        data.memory()
            .on_destroy(Box::new(move || order.lock().push(n)));
    }
    drop(data);
    assert!(order.lock().is_empty(), "the sub-buffer needs it");
    drop(part);
    assert_eq!(*order.lock(), [2, 1, 0]);
}

#[test]
fn shared_virtual_memory() {
    let context = context();
    let queue = queue(&context);
    let alloc = |flags, size, align| context.svm_alloc(flags, size, align);
    assert_eq!(alloc(0, 0, 0), Err(ClError::INVALID_VALUE));
    assert_eq!(alloc(0, 8, 3), Err(ClError::INVALID_VALUE));
    assert_eq!(alloc(0, 8, 256), Err(ClError::INVALID_VALUE));
    assert_eq!(alloc(CL_MEM_SVM_ATOMICS, 8, 0), Err(ClError::INVALID_VALUE));
    assert_eq!(
        alloc(CL_MEM_USE_HOST_PTR, 8, 0),
        Err(ClError::INVALID_VALUE)
    );
    let a = alloc(CL_MEM_SVM_FINE_GRAIN_BUFFER, 4096, 64).unwrap();
    let b = alloc(0, 4096, 0).unwrap();
    // SAFETY: 4096 bytes each, freed after the commands are done.
    let (pa, pb) = unsafe { (HostPtr::new(a), HostPtr::new(b)) };
    queue
        .enqueue_svm_map(true, CL_MAP_WRITE, pa, 4096, &[])
        .unwrap();
    queue.enqueue_svm_unmap(pa, &[]).unwrap();
    let fill = |destination, size| {
        let pattern = Pattern::new(&5u32.to_le_bytes()).unwrap();
        let fill = SvmFill {
            destination,
            pattern,
            size,
        };
        queue.submit(fill, &[])
    };
    let copy = |destination, source, size| {
        let copy = SvmCopy {
            destination,
            source,
            size,
        };
        queue.submit_blocking(copy, true, &[])
    };
    fill(pa, 4096).unwrap();
    copy(pb, pa, 4096).unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { b.cast::<u32>().add(1023).read() }, 5);
    let overlap = copy(pb, pb.offset(8), 64);
    assert_eq!(overlap.unwrap_err(), ClError::MEM_COPY_OVERLAP);
    for (to, size) in [(pa.offset(2), 8), (pa, 6), (HostPtr::null(), 4)] {
        assert_eq!(fill(to, size).unwrap_err(), ClError::INVALID_VALUE);
    }
    let from_null = copy(pb, HostPtr::null(), 4);
    assert_eq!(from_null.unwrap_err(), ClError::INVALID_VALUE);
    // Of no bytes.
    fill(HostPtr::null(), 0).unwrap();
    copy(HostPtr::null(), HostPtr::null(), 0).unwrap();
    queue
        .enqueue_svm_migrate(&[pa, pb], &[0, 4096], 0, &[])
        .unwrap();
    let outside = queue.enqueue_svm_migrate(&[pa], &[4097], 0, &[]);
    assert_eq!(outside.unwrap_err(), ClError::INVALID_VALUE);

    let found = context.shared().find_svm(a as usize + 4095).unwrap();
    assert_eq!((found.as_ptr(), found.size()), (a, 4096));
    let wrapped = Buffer::new(&context, CL_MEM_USE_HOST_PTR, 64, pa, Vec::new()).unwrap();
    assert!(wrapped.memory().uses_svm_pointer());
    let too_large = Buffer::new(&context, CL_MEM_USE_HOST_PTR, 4097, pa, Vec::new());
    assert_eq!(too_large.unwrap_err(), ClError::INVALID_BUFFER_SIZE);

    let (send, receive) = std::sync::mpsc::channel();
    let callback = move |pointers: &[HostPtr]| send.send(pointers.to_vec()).unwrap();
    queue
        .enqueue_svm_free(vec![pb], Some(Box::new(callback)), &[])
        .unwrap();
    queue.finish().unwrap();
    assert_eq!(receive.recv().unwrap(), [pb]);
    context.svm_free(b as usize);
    queue.enqueue_svm_free(vec![pa], None, &[]).unwrap();
    queue.finish().unwrap();
    drop(found);
    assert!(context.shared().find_svm(a as usize).is_none());
}

#[test]
fn one_table_remembers_all_memory_used_by_address() {
    let context = context();
    let svm = context.svm_alloc(0, 64, 0).unwrap() as usize;
    let properties = SvmProperties::default();
    let typed = context.svm_alloc_of_type(1, properties, 64).unwrap() as usize;
    let usm = context
        .usm_alloc(UsmKind::Shared, None, &[], 64, 0)
        .unwrap() as usize;
    let table = context.shared();
    assert!(table.find_svm(svm).is_some() && table.find_usm(svm).is_none());
    assert!(table.find_svm(typed + 63).is_some() && table.find_usm(typed + 63).is_none());
    assert!(table.find_usm(usm + 1).is_some() && table.find_svm(usm + 1).is_none());
    // What one interface allocated another does not free.
    context.svm_free(usm);
    assert_eq!(context.svm_free_checked(usm), Err(ClError::INVALID_VALUE));
    assert_eq!(context.usm_free(svm), Err(ClError::INVALID_VALUE));
    assert_eq!(context.usm_free(typed), Err(ClError::INVALID_VALUE));
    assert!(table.find(svm).is_some() && table.find(typed).is_some() && table.find(usm).is_some());
    context.svm_free_checked(svm).unwrap();
    context.svm_free(typed);
    context.usm_free(usm).unwrap();
    assert!(table.find(svm).is_none() && table.find(typed).is_none() && table.find(usm).is_none());
}

#[test]
fn a_blocking_free_waits_for_every_queue() {
    let context = context();
    let usm = context
        .usm_alloc(UsmKind::Device, Some(context.device()), &[], 64, 0)
        .unwrap() as usize;
    let gate = user_event(&context);
    let events: Vec<_> = [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE]
        .into_iter()
        .map(|properties| {
            let queue = queue_with(&context, properties);
            // The queue is gone before its command can run.
            queue.enqueue_marker(&[Arc::clone(&gate)]).unwrap()
        })
        .collect();
    assert_eq!(
        context.usm_blocking_free(usm + 1),
        Err(ClError::INVALID_VALUE)
    );
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(events.iter().all(|event| event.status() > CL_COMPLETE));
            assert!(context.shared().find_usm(usm).is_some());
            gate.set_user_status(CL_COMPLETE).unwrap();
        });
        context.usm_blocking_free(usm).unwrap();
        assert!(events.iter().all(|event| event.status() == CL_COMPLETE));
    });
}
