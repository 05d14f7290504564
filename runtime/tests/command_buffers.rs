//! Command-buffers: what is recorded runs in the order that was asked for, as often as it is
//! enqueued.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use brolga_runtime::command_buffer::Drafts;
use brolga_runtime::context::ContextOptions;
use brolga_runtime::device::Partition;
use brolga_runtime::error::ClError;
use brolga_runtime::{
    Buffer, CommandBuffer, Context, CopyRect, HostPtr, Kernel, Launch, Pattern, Platform, Queue,
    RecordingSite, RectSide, Sizes, SvmCopy, SvmFill, SyncPoint,
};
use brolga_runtime_testing::*;
use opencl_sys::*;

fn out_of_order(context: &Arc<brolga_runtime::Context>) -> Arc<Queue> {
    queue_with(
        context,
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE,
    )
}

fn command_buffer(queue: &Arc<Queue>) -> Arc<CommandBuffer> {
    CommandBuffer::new(vec![Arc::clone(queue)], false, Vec::new()).unwrap()
}

fn after(points: &[SyncPoint]) -> RecordingSite {
    RecordingSite {
        queue: 0,
        wait: points.to_vec(),
    }
}

/// The size of a launch of one dimension.
fn sizes(size: usize) -> Option<Sizes> {
    Some(Sizes::from_slice(&[size]))
}

/// A launch with the arguments that the kernel has.
fn launch(kernel: &Arc<Kernel>, global: usize, local: usize) -> Launch {
    Launch {
        kernel: Arc::clone(kernel),
        work_dim: 1,
        offset: None,
        global: sizes(global),
        local: sizes(local),
    }
}

/// `sum[0] += value`, ready to be recorded.
fn add(kernel: &Arc<Kernel>, sum: &Arc<Buffer>, value: u32) {
    kernel.set_arg_buffer(0, Some(sum)).unwrap();
    kernel.set_arg_value(1, &value.to_le_bytes()).unwrap();
}

fn record_add(
    commands: &CommandBuffer,
    place: &RecordingSite,
    kernel: &Arc<Kernel>,
    sum: &Arc<Buffer>,
    value: u32,
) -> SyncPoint {
    add(kernel, sum, value);
    commands.nd_range(place, &launch(kernel, 1, 1)).unwrap()
}

#[test]
fn an_in_order_queue_orders_what_is_recorded() {
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[7, 7]);
    let other = buffer(&context, &[0, 0]);
    let kernel = kernel(&context, "add");
    let commands = command_buffer(&queue);
    let place = RecordingSite::default();
    commands.record(&place, fill(&sum, &[0; 4], 0, 8)).unwrap();
    for value in 1..=100 {
        record_add(&commands, &place, &kernel, &sum, value);
    }
    commands
        .record(&place, copy(&sum, &other, [0, 4], 4))
        .unwrap();
    // Later changes of the kernel are not those of the recorded commands.
    add(&kernel, &other, 1000);
    assert_eq!(
        commands.enqueue(&[], &[]).unwrap_err(),
        ClError::INVALID_OPERATION
    );
    commands.finalize().unwrap();
    for _ in 0..3 {
        let event = commands.enqueue(&[], &[]).unwrap();
        assert_eq!(event.command_type(), CL_COMMAND_COMMAND_BUFFER_KHR);
        wait_for_events(&[Arc::clone(&event)]).unwrap();
        let times = event.profile().unwrap();
        assert!(times.queued <= times.submit && times.submit <= times.start);
        assert!(times.start < times.end && times.end <= times.complete);
        assert_eq!(words(&queue, &other), [0, 5050]);
    }
}

#[test]
fn runs_are_commands_of_their_queue() {
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    let commands = command_buffer(&queue);
    record_add(&commands, &RecordingSite::default(), &kernel, &sum, 1);
    record_add(&commands, &RecordingSite::default(), &kernel, &sum, 2);
    commands.finalize().unwrap();
    for _ in 0..1000 {
        commands.enqueue(&[], &[]).unwrap();
        add(&kernel, &sum, 10);
        queue
            .enqueue_nd_range(&kernel, 1, None, Some(&[1]), Some(&[1]), &[])
            .unwrap();
    }
    assert_eq!(words(&queue, &sum), [13_000]);
}

#[test]
fn nothing_recorded_is_a_command_too() {
    let context = context();
    let queue = queue(&context);
    let empty = command_buffer(&queue);
    empty.finalize().unwrap();
    assert_eq!(empty.finalize().unwrap_err(), ClError::INVALID_OPERATION);
    let barriers = command_buffer(&queue);
    for _ in 0..1000 {
        barriers.barrier(&RecordingSite::default()).unwrap();
    }
    barriers.finalize().unwrap();
    for commands in [empty, barriers] {
        let user = user_event(&context);
        let event = commands.enqueue(&[], &[Arc::clone(&user)]).unwrap();
        assert_ne!(event.status(), CL_COMPLETE);
        user.set_user_status(CL_COMPLETE).unwrap();
        wait_for_events(&[event]).unwrap();
    }
}

#[test]
fn barriers_order_everything() {
    let context = context();
    let queue = out_of_order(&context);
    let cells: Vec<_> = (0..8).map(|_| buffer(&context, &[0])).collect();
    let total = buffer(&context, &[0; 8]);
    let kernel = kernel(&context, "add");
    let slow = self::kernel(&context, "slow");
    slow.set_arg_value(0, &20u32.to_le_bytes()).unwrap();
    let commands = command_buffer(&queue);
    let place = RecordingSite::default();
    for cell in &cells {
        commands.record(&place, fill(cell, &[0; 4], 0, 4)).unwrap();
    }
    commands.barrier(&place).unwrap();
    for round in 1..=4 {
        for cell in &cells {
            commands.nd_range(&place, &launch(&slow, 2, 1)).unwrap();
            record_add(&commands, &place, &kernel, cell, round);
        }
        commands.barrier(&place).unwrap();
    }
    // A barrier that waits for one command holds back what is recorded later all the same.
    let first_cell = copy(&cells[0], &total, [0, 0], 4);
    let last = commands.record(&place, first_cell).unwrap();
    commands.barrier(&after(&[last])).unwrap();
    for at in 1..8 {
        commands
            .record(&place, copy(&total, &total, [0, 4 * at], 4))
            .unwrap();
    }
    commands.finalize().unwrap();
    for _ in 0..20 {
        wait_for_events(&[commands.enqueue(&[], &[]).unwrap()]).unwrap();
        assert_eq!(words(&queue, &total), [10; 8]);
    }
}

/// A random program over a few cells, in which sync-points alone order what must be ordered,
/// against the same program step by step.
#[test]
fn sync_points_order_random_graphs() {
    const CELLS: usize = 6;
    let context = context();
    let queue = out_of_order(&context);
    let kernel = kernel(&context, "add");
    let count = self::kernel(&context, "count");
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % limit
    };
    for size in [1, 2, 10, 100, 1000] {
        let cells: Vec<_> = (0..CELLS).map(|_| buffer(&context, &[0; 512])).collect();
        let mut expected = vec![[0u32; 512]; CELLS];
        let commands = command_buffer(&queue);
        // The last writer of each cell, and its readers since then.
        let mut writer = [None; CELLS];
        let mut readers = vec![Vec::new(); CELLS];
        let mut record =
            |reads: &[usize], write: usize, command: &dyn Fn(&RecordingSite) -> SyncPoint| {
                let mut wait: Vec<SyncPoint> = readers[write].drain(..).collect();
                wait.extend(
                    reads
                        .iter()
                        .chain([&write])
                        .filter_map(|&cell| writer[cell]),
                );
                let point = command(&after(&wait));
                writer[write] = Some(point);
                reads.iter().for_each(|&cell| readers[cell].push(point));
            };
        for (cell, memory) in cells.iter().enumerate() {
            record(&[], cell, &|place| {
                commands
                    .record(place, fill(memory, &[0; 4], 0, 2048))
                    .unwrap()
            });
        }
        for _ in 0..size {
            let (from, to, value) = (random(CELLS), random(CELLS), random(1000) as u32);
            match random(4) {
                0 => {
                    record(&[], to, &|place| {
                        record_add(&commands, place, &kernel, &cells[to], value)
                    });
                    expected[to][0] = expected[to][0].wrapping_add(value);
                }
                1 => {
                    // Shared between threads.
                    count.set_arg_buffer(0, Some(&cells[to])).unwrap();
                    record(&[], to, &|place| {
                        commands.nd_range(place, &launch(&count, 512, 1)).unwrap()
                    });
                    expected[to].iter_mut().for_each(|word| *word += 1);
                }
                2 if from != to => {
                    record(&[from], to, &|place| {
                        let copy = copy(&cells[from], &cells[to], [0, 0], 1024);
                        commands.record(place, copy).unwrap()
                    });
                    let (left, right) = (expected[from], &mut expected[to]);
                    right[..256].copy_from_slice(&left[..256]);
                }
                _ if from != to => {
                    // The left half of a square of 16 rows, moved to the right half.
                    let side = |x| RectSide {
                        origin: [x, 0, 0],
                        row_pitch: 64,
                        slice_pitch: 0,
                    };
                    record(&[from], to, &|place| {
                        let rect = CopyRect {
                            source: &cells[from],
                            destination: &cells[to],
                            source_side: side(0),
                            destination_side: side(32),
                            region: [32, 16, 1],
                        };
                        commands.record(place, rect).unwrap()
                    });
                    let source = expected[from];
                    for row in 0..16 {
                        let target = &mut expected[to][row * 16 + 8..row * 16 + 16];
                        target.copy_from_slice(&source[row * 16..row * 16 + 8]);
                    }
                }
                _ => {}
            }
        }
        commands.finalize().unwrap();
        for _ in 0..10 {
            wait_for_events(&[commands.enqueue(&[], &[]).unwrap()]).unwrap();
            for (cell, expected) in cells.iter().zip(&expected) {
                assert_eq!(words(&queue, cell), expected, "{size}");
            }
        }
    }
}

/// Runs of one command-buffer at the same time, from several threads: every work-group of each of
/// them runs once.
#[test]
fn runs_at_the_same_time() {
    let context = context();
    let queue = out_of_order(&context);
    let counts = buffer(&context, &[0; 4096]);
    let kernel = kernel(&context, "count");
    kernel.set_arg_buffer(0, Some(&counts)).unwrap();
    let commands = command_buffer(&queue);
    for size in [1usize, 64, 1024, 4096, 16] {
        commands
            .nd_range(&RecordingSite::default(), &launch(&kernel, size, 1))
            .unwrap();
    }
    commands.finalize().unwrap();
    let (threads, rounds) = (4, 200);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for round in 0..rounds {
                    let event = commands.enqueue(&[], &[]).unwrap();
                    if round % 3 == 0 {
                        wait_for_events(&[event]).unwrap();
                    }
                }
            });
        }
    });
    queue.finish().unwrap();
    let runs = threads * rounds;
    let counts = words(&queue, &counts);
    assert_eq!(counts[0], 5 * runs);
    assert_eq!(counts[15], 4 * runs);
    assert_eq!(counts[63], 3 * runs);
    assert_eq!(counts[1023], 2 * runs);
    assert!(counts[1024..].iter().all(|&count| count == runs));
}

#[test]
fn bad_sync_points_are_refused() {
    let context = context();
    let queue = queue(&context);
    let commands = command_buffer(&queue);
    let invalid = Err(ClError::INVALID_SYNC_POINT_WAIT_LIST);
    assert_eq!(commands.barrier(&after(&[0])), invalid);
    assert_eq!(commands.barrier(&after(&[1])), invalid);
    let first = commands.barrier(&RecordingSite::default()).unwrap();
    let second = commands.barrier(&after(&[first, first])).unwrap();
    assert_eq!(commands.barrier(&after(&[first, second + 1])), invalid);
    assert_eq!(commands.check_sync_points(&[first, second]), Ok(()));
    commands.finalize().unwrap();
    assert_eq!(
        commands.barrier(&after(&[first])),
        Err(ClError::INVALID_OPERATION)
    );
}

#[test]
fn a_failure_before_keeps_it_from_running() {
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    let commands = command_buffer(&queue);
    record_add(&commands, &RecordingSite::default(), &kernel, &sum, 1);
    commands.finalize().unwrap();
    let user = user_event(&context);
    let event = commands.enqueue(&[], &[Arc::clone(&user)]).unwrap();
    user.set_user_status(-1).unwrap();
    assert!(wait_for_events(&[Arc::clone(&event)]).is_err());
    assert_eq!(event.status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(words(&queue, &sum), [0]);
}

#[test]
fn what_commands_use_lives_as_long_as_they_may_run() {
    let context = context();
    let queue = queue(&context);
    let destroyed = Arc::new(AtomicU32::new(0));
    let source = buffer(&context, &[3]);
    let flag = Arc::clone(&destroyed);
    source.memory().on_destroy(Box::new(move || {
        flag.fetch_add(1, Ordering::SeqCst);
    }));
    let sum = buffer(&context, &[0]);
    let commands = command_buffer(&queue);
    commands
        .record(&RecordingSite::default(), copy(&source, &sum, [0, 0], 4))
        .unwrap();
    commands.finalize().unwrap();
    drop(source);
    let user = user_event(&context);
    let event = commands.enqueue(&[], &[Arc::clone(&user)]).unwrap();
    drop(commands);
    assert_eq!(destroyed.load(Ordering::SeqCst), 0);
    user.set_user_status(CL_COMPLETE).unwrap();
    wait_for_events(&[Arc::clone(&event)]).unwrap();
    assert_eq!(destroyed.load(Ordering::SeqCst), 1);
    assert_eq!(words(&queue, &sum), [3]);
}

#[test]
fn other_queues_of_the_same_kind_take_it() {
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    let commands = command_buffer(&queue);
    record_add(&commands, &RecordingSite::default(), &kernel, &sum, 1);
    commands.finalize().unwrap();
    let other = out_of_order(&context);
    let event = commands.enqueue(&[Arc::clone(&other)], &[]).unwrap();
    assert!(Arc::ptr_eq(&Queue::of_event(&event).unwrap(), &other));
    other.finish().unwrap();
    assert_eq!(words(&queue, &sum), [1]);
    let two = [Arc::clone(&other), other];
    assert_eq!(
        commands.enqueue(&two, &[]).unwrap_err(),
        ClError::INVALID_VALUE
    );
    let foreign = self::queue(&self::context());
    assert_eq!(
        commands.enqueue(&[foreign], &[]).unwrap_err(),
        ClError::INVALID_CONTEXT
    );
}

#[test]
fn a_command_of_two_queues_is_in_the_order_of_both() {
    let context = context();
    let queues = [queue(&context), queue(&context)];
    let sums = [buffer(&context, &[0]), buffer(&context, &[0])];
    let kernel = kernel(&context, "add");
    let commands = CommandBuffer::new(queues.to_vec(), false, Vec::new()).unwrap();
    for (index, sum) in sums.iter().enumerate() {
        let place = RecordingSite {
            queue: index,
            wait: Vec::new(),
        };
        record_add(&commands, &place, &kernel, sum, 1);
        record_add(&commands, &place, &kernel, sum, 2);
    }
    commands.finalize().unwrap();
    // Each thread names the queues the other way round.
    let swapped = [Arc::clone(&queues[1]), Arc::clone(&queues[0])];
    std::thread::scope(|scope| {
        for order in [&queues, &swapped] {
            let commands = &commands;
            scope.spawn(move || {
                for _ in 0..500 {
                    let event = commands.enqueue(order, &[]).unwrap();
                    assert!(Queue::of_event(&event).is_none());
                }
            });
        }
    });
    let event = commands.enqueue(&[], &[]).unwrap();
    for (queue, sum) in queues.iter().zip(&sums) {
        assert_eq!(words(queue, sum), [3003]);
    }
    assert_eq!(event.status(), CL_COMPLETE);
    assert!(event.profile().is_ok());
}

#[test]
fn shared_virtual_memory() {
    let context = context();
    let queue = queue(&context);
    let mut source = [1u32, 2, 3, 4];
    let mut target = [0u32; 8];
    let commands = command_buffer(&queue);
    let (from, to) = (host(&mut source), host(&mut target));
    let place = RecordingSite::default();
    let fill = |destination, pattern: &[u8], size| {
        let pattern = Pattern::new(pattern).unwrap();
        let fill = SvmFill {
            destination,
            pattern,
            size,
        };
        commands.record(&place, fill)
    };
    let copy = |destination, source, size| {
        let copy = SvmCopy {
            destination,
            source,
            size,
        };
        commands.record(&place, copy)
    };
    fill(to, &[9, 0, 0, 0], 32).unwrap();
    copy(to.offset(4), from, 16).unwrap();
    let overlap = copy(to, to.offset(4), 16);
    assert_eq!(overlap, Err(ClError::MEM_COPY_OVERLAP));
    let null = fill(HostPtr::null(), &[0], 1);
    assert_eq!(null, Err(ClError::INVALID_VALUE));
    // Of no bytes.
    fill(HostPtr::null(), &[0], 0).unwrap();
    copy(HostPtr::null(), HostPtr::null(), 0).unwrap();
    commands.finalize().unwrap();
    wait_for_events(&[commands.enqueue(&[], &[]).unwrap()]).unwrap();
    assert_eq!(target, [9, 1, 2, 3, 4, 9, 9, 9]);
}

#[test]
fn launches_change_between_runs() {
    let context = context();
    let queue = queue(&context);
    let sums = [buffer(&context, &[0]), buffer(&context, &[0])];
    let kernel = kernel(&context, "add");
    let commands = CommandBuffer::new(vec![Arc::clone(&queue)], true, Vec::new()).unwrap();
    let place = RecordingSite::default();
    add(&kernel, &sums[0], 1);
    let first = commands
        .mutable_nd_range(&place, launch(&kernel, 1, 1), false)
        .unwrap();
    let fixed = commands.nd_range(&place, &launch(&kernel, 1, 1)).unwrap();
    let draft = |value: u32| {
        let draft = commands.draft(first).unwrap();
        draft.kernel.set_arg_value(1, &value.to_le_bytes()).unwrap();
        Drafts::from([(first, draft)])
    };
    // Not before it is finalized.
    assert_eq!(commands.update(draft(5)), Err(ClError::INVALID_OPERATION));
    commands.finalize().unwrap();
    assert!(commands.draft(fixed).is_err());
    let user = user_event(&context);
    commands.enqueue(&[], &[Arc::clone(&user)]).unwrap();
    commands.update(draft(10)).unwrap();
    commands.enqueue(&[], &[]).unwrap();
    commands.update(draft(100)).unwrap();
    commands.enqueue(&[], &[]).unwrap();
    // Each run is what the command-buffer was when it was enqueued.
    user.set_user_status(CL_COMPLETE).unwrap();
    assert_eq!(words(&queue, &sums[0]), [1 + 10 + 100 + 3]);
    // Other memory, and more of it: a range of nothing does nothing.
    let mut other = commands.draft(first).unwrap();
    other.kernel.set_arg_buffer(0, Some(&sums[1])).unwrap();
    other.global = sizes(7);
    commands
        .update(Drafts::from([(first, other.clone())]))
        .unwrap();
    commands.enqueue(&[], &[]).unwrap();
    assert_eq!(words(&queue, &sums[1]), [700]);
    other.global = sizes(0);
    commands
        .update(Drafts::from([(first, other.clone())]))
        .unwrap();
    commands.enqueue(&[], &[]).unwrap();
    assert_eq!(words(&queue, &sums[1]), [700]);
    // Work-groups that are uniform stay so, and nothing of a wrong update is kept.
    other.global = sizes(7);
    other.local = sizes(2);
    let mut drafts = draft(1);
    drafts.insert(first, other);
    assert_eq!(commands.update(drafts), Err(ClError::INVALID_OPERATION));
    assert_eq!(commands.launch(first).unwrap().global, sizes(0));
}

#[test]
fn arguments_may_come_later() {
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    kernel.set_arg_buffer(0, Some(&sum)).unwrap();
    let commands = CommandBuffer::new(vec![Arc::clone(&queue)], true, Vec::new()).unwrap();
    let place = RecordingSite::default();
    let invalid = Err(ClError::INVALID_KERNEL_ARGS);
    assert_eq!(commands.nd_range(&place, &launch(&kernel, 1, 1)), invalid);
    let record = |may_defer| commands.mutable_nd_range(&place, launch(&kernel, 1, 1), may_defer);
    assert_eq!(record(false), invalid);
    let point = record(true).unwrap();
    commands.finalize().unwrap();
    assert_eq!(commands.state(), CL_COMMAND_BUFFER_STATE_FINALIZED_KHR);
    assert!(commands.enqueue(&[], &[]).is_err());
    let draft = commands.draft(point).unwrap();
    draft.kernel.set_arg_value(1, &6u32.to_le_bytes()).unwrap();
    commands.update(Drafts::from([(point, draft)])).unwrap();
    assert_eq!(commands.state(), CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    commands.enqueue(&[], &[]).unwrap();
    assert_eq!(words(&queue, &sum), [6]);
}

#[test]
fn a_copy_for_other_queues_is_a_command_buffer_of_its_own() {
    let context = context();
    let (ordered, unordered) = (queue(&context), out_of_order(&context));
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    let queues = vec![Arc::clone(&ordered), Arc::clone(&unordered)];
    let original = CommandBuffer::new(queues, true, Vec::new()).unwrap();
    add(&kernel, &sum, 1);
    let point = original
        .mutable_nd_range(&RecordingSite::default(), launch(&kernel, 1, 1), false)
        .unwrap();
    // Recorded on: in the copy, both are commands of the only queue, which is in order.
    let copy = original.remap(vec![Arc::clone(&ordered)]).unwrap();
    add(&kernel, &sum, 10);
    copy.nd_range(&RecordingSite::default(), &launch(&kernel, 1, 1))
        .unwrap();
    original.finalize().unwrap();
    assert_eq!(copy.state(), CL_COMMAND_BUFFER_STATE_RECORDING_KHR);
    copy.finalize().unwrap();
    let draft = copy.draft(point).unwrap();
    draft.kernel.set_arg_value(1, &5u32.to_le_bytes()).unwrap();
    copy.update(Drafts::from([(point, draft)])).unwrap();
    copy.enqueue(&[], &[]).unwrap();
    assert_eq!(words(&ordered, &sum), [15]);
    original.enqueue(&[], &[]).unwrap();
    assert_eq!(words(&ordered, &sum), [16]);
    let foreign = self::queue(&self::context());
    assert!(original.remap(vec![foreign]).is_err());
}

/// Each command runs on the device of the queue that it was recorded to, in the order that
/// sync-points ask for.
#[test]
fn several_devices() {
    let root = &Platform::get().devices()[0];
    // A machine of one processor has no sub-devices.
    let Ok(devices) = root.partition(&Partition::ByCounts(vec![1, 1])) else {
        assert_eq!(root.max_compute_units, 1);
        return;
    };
    let context = Context::new(devices.clone(), ContextOptions::default()).unwrap();
    let with = |device| Queue::new(&context, device, 0, None, Vec::new()).unwrap();
    let queues: Vec<_> = devices.iter().map(with).collect();
    let (add, record) = (kernel(&context, "add"), kernel(&context, "record_thread"));
    let sum = buffer(&context, &[0]);
    let at = |queue, wait: &[SyncPoint]| RecordingSite {
        queue,
        wait: wait.to_vec(),
    };
    let commands = CommandBuffer::new(queues.clone(), false, Vec::new()).unwrap();
    let mut point = record_add(&commands, &at(0, &[]), &add, &sum, 1);
    for step in 1..100 {
        // Without atomics: a sum that is right was ordered.
        point = record_add(&commands, &at(step % 2, &[point]), &add, &sum, 1);
    }
    commands
        .nd_range(&at(1, &[point]), &launch(&record, 20, 1))
        .unwrap();
    commands.finalize().unwrap();
    let threads = || std::mem::take(&mut *THREADS.lock());
    queues[0]
        .enqueue_nd_range(&record, 1, None, Some(&[20]), Some(&[1]), &[])
        .unwrap();
    queues[0].finish().unwrap();
    let of_first = threads();
    for run in 1..=20 {
        // In the order of both queues, whichever is asked.
        let event = commands.enqueue(&[], &[]).unwrap();
        queues[run % 2].finish().unwrap();
        assert_eq!(event.status(), CL_COMPLETE);
        assert_eq!(words(&queues[0], &sum), [100 * run as u32]);
        assert!(threads().is_disjoint(&of_first));
    }
    let user = user_event(&context);
    let event = commands.enqueue(&[], &[Arc::clone(&user)]).unwrap();
    user.set_user_status(-1).unwrap();
    assert!(wait_for_events(&[event]).is_err());
    assert_eq!(words(&queues[1], &sum), [2000]);
    // All on one of them.
    let copy = commands.remap(vec![Arc::clone(&queues[0])]).unwrap();
    wait_for_events(&[copy.enqueue(&[], &[]).unwrap()]).unwrap();
    assert_eq!(threads(), of_first);
    let swapped = [Arc::clone(&queues[1]), Arc::clone(&queues[0])];
    let refused = commands.enqueue(&swapped, &[]).map(|_| ());
    assert_eq!(refused, Err(ClError::INVALID_DEVICE));
}

/// What an update replaces may be destroyed by it: the callback that is told may ask the
/// command-buffer.
#[test]
fn an_update_lets_go_without_a_lock() {
    let context = context();
    let queue = queue(&context);
    let (old, new) = (buffer(&context, &[0]), buffer(&context, &[0]));
    let kernel = kernel(&context, "add");
    let commands = CommandBuffer::new(vec![queue], true, Vec::new()).unwrap();
    add(&kernel, &old, 1);
    let point = commands
        .mutable_nd_range(&RecordingSite::default(), launch(&kernel, 1, 1), false)
        .unwrap();
    commands.finalize().unwrap();
    let draft = commands.draft(point).unwrap();
    draft.kernel.set_arg_buffer(0, Some(&new)).unwrap();
    let (send, receive) = mpsc::channel();
    let asked = Arc::downgrade(&commands);
    old.memory().on_destroy(Box::new(move || {
        let commands = asked.upgrade().expect("it is updated");
        send.send(commands.state()).unwrap();
    }));
    drop(old);
    let updating = std::thread::spawn(move || commands.update(Drafts::from([(point, draft)])));
    let state = receive.recv_timeout(Duration::from_secs(20));
    assert_eq!(state, Ok(CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR));
    assert_eq!(updating.join().unwrap(), Ok(()));
}
