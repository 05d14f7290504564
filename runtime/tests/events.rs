//! Events: order, failure, callbacks, user events, out-of-order queues; and all of it at once from
//! many threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use brolga_runtime::queue::Priority;
use brolga_runtime::{ClError, Direction, Event, Queue};
use brolga_runtime_testing::*;
use opencl_sys::*;

const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Runs a test's body on a thread and fails when it does not end: a lost wake-up must not hang the
/// suite.
fn in_time(body: impl FnOnce() + Send + 'static) {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        body();
        send.send(()).unwrap();
    });
    match receive.recv_timeout(TIME_LIMIT) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("did not end within {TIME_LIMIT:?}"),
        _ => thread.join().unwrap(),
    }
}

/// Waits until `condition` holds.
fn eventually(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < TIME_LIMIT);
        std::thread::yield_now();
    }
}

#[test]
fn commands_wait_for_user_events() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let sum = buffer(&context, &[0]);
        let kernel = kernel(&context, "add");
        kernel.set_arg_buffer(0, Some(&sum)).unwrap();
        kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
        let user = user_event(&context);
        assert_eq!(user.status(), CL_SUBMITTED);
        assert_eq!(user.command_type(), CL_COMMAND_USER);
        assert!(Queue::of_event(&user).is_none());
        let event = queue
            .enqueue_task(&kernel, std::slice::from_ref(&user))
            .unwrap();
        let later = queue.enqueue_task(&kernel, &[]).unwrap();
        queue.flush().unwrap();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(event.status(), CL_QUEUED);
        assert_eq!(later.status(), CL_QUEUED);
        assert_eq!(event.profile(), Err(ClError::PROFILING_INFO_NOT_AVAILABLE));
        let setter = {
            let user = user.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(5));
                user.set_user_status(CL_COMPLETE).unwrap();
            })
        };
        wait_for_events(&[later, event]).unwrap();
        setter.join().unwrap();
        assert_eq!(words(&queue, &sum), [2]);
    });
}

#[test]
fn user_events_are_checked() {
    let context = context();
    let user = user_event(&context);
    assert_eq!(
        user.set_user_status(CL_RUNNING),
        Err(ClError::INVALID_VALUE)
    );
    assert_eq!(user.set_user_status(CL_QUEUED), Err(ClError::INVALID_VALUE));
    user.set_user_status(-7).unwrap();
    assert_eq!(user.status(), -7);
    assert_eq!(
        user.set_user_status(CL_COMPLETE),
        Err(ClError::INVALID_OPERATION)
    );
    let marker = queue(&context).enqueue_marker(&[]).unwrap();
    assert_eq!(
        marker.set_user_status(CL_COMPLETE),
        Err(ClError::INVALID_EVENT)
    );
    assert_eq!(user.profile(), Err(ClError::PROFILING_INFO_NOT_AVAILABLE));
    assert_eq!(
        user.on_status(CL_QUEUED, Box::new(|_| ())),
        Err(ClError::INVALID_VALUE)
    );
    assert_eq!(wait_for_events(&[]), Err(ClError::INVALID_VALUE));
    let foreign = user_event(&brolga_runtime_testing::context());
    assert_eq!(
        wait_for_events(&[user, foreign.clone()]),
        Err(ClError::INVALID_CONTEXT)
    );
    let error = queue(&context).enqueue_marker(&[foreign]).unwrap_err();
    assert_eq!(error, ClError::INVALID_CONTEXT);
}

#[test]
fn failures_reach_those_who_wait_and_nobody_else() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let other = brolga_runtime_testing::queue(&context);
        let sum = buffer(&context, &[0]);
        let kernel = kernel(&context, "add");
        kernel.set_arg_buffer(0, Some(&sum)).unwrap();
        kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
        let user = user_event(&context);
        let failed = queue
            .enqueue_task(&kernel, std::slice::from_ref(&user))
            .unwrap();
        // Behind it in the queue, but not waiting for it.
        let ordered = queue.enqueue_task(&kernel, &[]).unwrap();
        let dependent = other
            .enqueue_task(&kernel, std::slice::from_ref(&failed))
            .unwrap();
        let marker = other
            .enqueue_marker(std::slice::from_ref(&dependent))
            .unwrap();
        user.set_user_status(-42).unwrap();
        queue.finish().unwrap();
        other.finish().unwrap();
        assert!(failed.status() < 0);
        assert!(dependent.status() < 0);
        assert!(marker.status() < 0);
        assert_eq!(ordered.status(), CL_COMPLETE);
        let error = Err(ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        assert_eq!(wait_for_events(&[ordered, marker]), error);
        let mut word = [0u32];
        let host = host(&mut word);
        let read = host_copy(Direction::Read, &sum, 0, 4, host);
        let read = queue.submit_blocking(read, true, std::slice::from_ref(&failed));
        assert_eq!(read.map(|_| ()), error);
        let map = queue.enqueue_map(&sum, true, CL_MAP_READ, 0, 4, &[failed]);
        assert_eq!(map.map(|_| ()), error);
        assert_eq!(sum.memory().map_count(), 0);
        assert_eq!(words(&queue, &sum), [1]);
    });
}

#[test]
fn a_user_event_that_goes_away_fails_its_dependents() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let user = user_event(&context);
        let first = queue.enqueue_marker(std::slice::from_ref(&user)).unwrap();
        let second = queue.enqueue_marker(&[]).unwrap();
        drop(user);
        queue.finish().unwrap();
        assert!(first.status() < 0);
        assert_eq!(second.status(), CL_COMPLETE);
    });
}

#[test]
fn callbacks_come_once_with_the_status() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let kernel = kernel(&context, "slow");
        kernel.set_arg_value(0, &50u32.to_le_bytes()).unwrap();
        let user = user_event(&context);
        let event = queue
            .enqueue_nd_range(
                &kernel,
                1,
                None,
                Some(&[8]),
                Some(&[1]),
                std::slice::from_ref(&user),
            )
            .unwrap();
        let (send, receive) = mpsc::channel();
        for status in [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE] {
            let send = send.clone();
            event
                .on_status(
                    status,
                    Box::new(move |got| send.send((status, got)).unwrap()),
                )
                .unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
        assert!(receive.try_recv().is_err());
        user.set_user_status(CL_COMPLETE).unwrap();
        // No wait and no flush: registering a callback is enough to get the command going.
        let mut got: Vec<_> = (0..3)
            .map(|_| receive.recv_timeout(TIME_LIMIT).unwrap())
            .collect();
        got.sort_unstable();
        assert_eq!(got, [(0, 0), (1, 1), (2, 2)]);
        // Too late for the status: called all the same.
        event
            .on_status(
                CL_COMPLETE,
                Box::new(move |got| send.send((9, got)).unwrap()),
            )
            .unwrap();
        assert_eq!(receive.recv_timeout(TIME_LIMIT), Ok((9, 0)));
    });
}

#[test]
fn callbacks_of_failed_commands_get_the_error() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let user = user_event(&context);
        let event = queue.enqueue_marker(std::slice::from_ref(&user)).unwrap();
        let (send, receive) = mpsc::channel();
        event
            .on_status(CL_COMPLETE, Box::new(move |got| send.send(got).unwrap()))
            .unwrap();
        user.set_user_status(-5).unwrap();
        let got = receive.recv_timeout(TIME_LIMIT).unwrap();
        assert_eq!(got, ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.0);
    });
}

#[test]
fn callbacks_run_without_locks_held_and_may_enqueue() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let sum = buffer(&context, &[0]);
        let kernel = kernel(&context, "add");
        kernel.set_arg_buffer(0, Some(&sum)).unwrap();
        kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let event = queue.enqueue_task(&kernel, &[]).unwrap();
        let again = (queue.clone(), kernel.clone(), done.clone(), event.clone());
        let callback = move |_| {
            let (queue, kernel, done, event) = again;
            assert_eq!(event.status(), CL_COMPLETE);
            queue.enqueue_task(&kernel, &[event]).unwrap();
            queue.finish().unwrap();
            done.store(true, Ordering::Release);
        };
        event.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
        // A mutex that both the waiting thread and a callback want must not deadlock.
        let mutex = Arc::new(std::sync::Mutex::new(0));
        let guard = mutex.lock().unwrap();
        let event = queue.enqueue_task(&kernel, &[]).unwrap();
        let locked = mutex.clone();
        let callback = move |_| *locked.lock().unwrap() += 1;
        event.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
        queue.finish().unwrap();
        drop(guard);
        eventually(|| done.load(Ordering::Acquire) && *mutex.lock().unwrap() == 1);
        assert_eq!(words(&queue, &sum), [3]);
    });
}

#[test]
fn a_wait_is_not_held_up_by_what_it_does_not_depend_on() {
    in_time(|| {
        let context = context();
        // Deferred, since nobody knows how long it takes.
        let handshake = enqueue_handshake(&context);
        let user = user_event(&context);
        let waited = queue(&context)
            .enqueue_task(&kernel(&context, "empty"), std::slice::from_ref(&user))
            .unwrap();
        let setter = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            user.set_user_status(CL_COMPLETE).unwrap();
        });
        wait_for_events(&[waited]).unwrap();
        setter.join().unwrap();
        assert!(
            set_flag(&handshake),
            "the wait ran the kernel that waits for the host"
        );
    });
}

#[test]
fn finish_is_not_held_up_by_another_queue() {
    in_time(|| {
        let context = context();
        for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            let handshake = enqueue_handshake(&context);
            let other = queue_with(&context, properties);
            let slow = kernel(&context, "slow");
            slow.set_arg_value(0, &2000u32.to_le_bytes()).unwrap();
            for _ in 0..4 {
                other.enqueue_task(&slow, &[]).unwrap();
            }
            other.finish().unwrap();
            assert!(set_flag(&handshake));
        }
    });
}

#[test]
fn a_waiting_thread_runs_what_its_event_depends_on() {
    in_time(|| {
        let context = context();
        let sum = buffer(&context, &[0]);
        let kernel = kernel(&context, "add");
        kernel.set_arg_buffer(0, Some(&sum)).unwrap();
        kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
        // Through wait lists, from queue to queue and of both kinds; nothing is flushed.
        let kinds = [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE];
        let queues = kinds.map(|kind| queue_with(&context, kind));
        let mut last: Option<Arc<Event>> = None;
        for n in 0..200 {
            let wait: Vec<_> = last.into_iter().collect();
            let queue = &queues[n / 3 % 2];
            last = Some(queue.enqueue_task(&kernel, &wait).unwrap());
        }
        wait_for_events(&[last.unwrap()]).unwrap();
        assert_eq!(words(&queues[0], &sum), [200]);
    });
}

#[test]
fn a_callback_may_wait_for_another() {
    in_time(|| {
        let context = context();
        let (first, second) = (user_event(&context), user_event(&context));
        let marker = queue(&context)
            .enqueue_marker(std::slice::from_ref(&second))
            .unwrap();
        let (send, receive) = mpsc::channel();
        let callback = move |_| {
            wait_for_events(std::slice::from_ref(&marker)).unwrap();
            send.send(()).unwrap();
        };
        first.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
        let third = user_event(&context);
        let callback = move |_| second.set_user_status(CL_COMPLETE).unwrap();
        third.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
        first.set_user_status(CL_COMPLETE).unwrap();
        third.set_user_status(CL_COMPLETE).unwrap();
        receive.recv_timeout(TIME_LIMIT).unwrap();
    });
}

#[test]
fn destructors_are_not_called_by_a_thread_that_waits() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let kernel = kernel(&context, "add");
        kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
        let here = std::thread::current().id();
        // The application's, held while it waits; the callback wants it, too.
        let mutex = Arc::new(std::sync::Mutex::new(()));
        let (send, receive) = mpsc::channel();
        // Each holds up the callbacks of other tests while it wants the mutex.
        for _ in 0..3 {
            let sum = buffer(&context, &[0]);
            kernel.set_arg_buffer(0, Some(&sum)).unwrap();
            let (wanted, send) = (Arc::clone(&mutex), send.clone());
            let callback = move || {
                send.send(std::thread::current().id()).unwrap();
                drop(wanted.lock().unwrap());
            };
            sum.memory().on_destroy(Box::new(callback));
            let user = user_event(&context);
            queue
                .enqueue_task(&kernel, std::slice::from_ref(&user))
                .unwrap();
            // The command has the last reference.
            drop(sum);
            let guard = mutex.lock().unwrap();
            let setter = std::thread::spawn(move || user.set_user_status(CL_COMPLETE).unwrap());
            queue.finish().unwrap();
            drop(guard);
            setter.join().unwrap();
            assert_ne!(receive.recv_timeout(TIME_LIMIT).unwrap(), here);
        }
        // A release calls on the thread that releases.
        let sum = buffer(&context, &[0]);
        let callback = move || send.send(std::thread::current().id()).unwrap();
        sum.memory().on_destroy(Box::new(callback));
        drop(sum);
        assert_eq!(receive.try_recv(), Ok(here));
    });
}

#[test]
fn polling_without_a_flush_sees_the_command_end() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let event = queue.enqueue_task(&kernel(&context, "empty"), &[]).unwrap();
        eventually(|| event.status() == CL_COMPLETE);
    });
}

#[test]
fn flushed_commands_end_without_anybody_waiting() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let data = buffer(&context, &[0; 8]);
        let kernel = kernel(&context, "count");
        kernel.set_arg_buffer(0, Some(&data)).unwrap();
        let pointer = data.memory().as_ptr().cast::<AtomicU32>();
        for round in 1..50u32 {
            queue
                .enqueue_nd_range(&kernel, 1, None, Some(&[8]), None, &[])
                .unwrap();
            queue.flush().unwrap();
            // SAFETY: the buffer lives, and only atomics touch it.
            eventually(|| unsafe { (*pointer.add(7)).load(Ordering::Acquire) } == round);
        }
    });
}

#[test]
fn native_kernels_run_once_on_a_pool_thread() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let here = std::thread::current().id();
        let (send, receive) = mpsc::channel();
        let function = move || send.send(std::thread::current().id()).unwrap();
        let event = queue.enqueue_native(Box::new(function), &[], &[]).unwrap();
        queue.finish().unwrap();
        assert_ne!(receive.recv().unwrap(), here);
        assert_eq!(event.command_type(), CL_COMMAND_NATIVE_KERNEL);
        // A panic in one is the command's failure.
        let event = queue
            .enqueue_native(
                Box::new(|| std::panic::resume_unwind(Box::new(1))),
                &[],
                &[],
            )
            .unwrap();
        // Nobody has been told of it yet.
        assert_eq!(queue.finish(), Err(ClError::OUT_OF_RESOURCES));
        assert_eq!(event.status(), ClError::OUT_OF_RESOURCES.0);
    });
}

#[test]
fn out_of_order_queues_obey_wait_lists_and_barriers() {
    in_time(|| {
        let context = context();
        let queue = queue_with(&context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        let blocked = user_event(&context);
        let kernel = kernel(&context, "empty");
        let first = queue
            .enqueue_task(&kernel, std::slice::from_ref(&blocked))
            .unwrap();
        let second = queue.enqueue_task(&kernel, &[]).unwrap();
        // Not held up by the first.
        wait_for_events(std::slice::from_ref(&second)).unwrap();
        let marker = queue.enqueue_marker(&[]).unwrap();
        let partial = queue.enqueue_barrier(&[second]).unwrap();
        let third = queue.enqueue_task(&kernel, &[]).unwrap();
        wait_for_events(&[partial, third]).unwrap();
        let barrier = queue.enqueue_barrier(&[]).unwrap();
        let fourth = queue.enqueue_task(&kernel, &[]).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        for event in [&first, &marker, &barrier, &fourth] {
            assert_eq!(event.status(), CL_QUEUED);
        }
        blocked.set_user_status(CL_COMPLETE).unwrap();
        queue.finish().unwrap();
        for event in [first, marker, barrier, fourth] {
            assert_eq!(event.status(), CL_COMPLETE);
        }
        for _ in 0..500 {
            queue.enqueue_task(&kernel, &[]).unwrap();
        }
        queue.finish().unwrap();
    });
}

#[test]
fn long_chains_of_markers_do_not_recurse() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let user = user_event(&context);
        let mut last = queue.enqueue_marker(std::slice::from_ref(&user)).unwrap();
        for _ in 0..100_000 {
            last = queue.enqueue_marker(&[last]).unwrap();
        }
        user.set_user_status(-3).unwrap();
        queue.finish().unwrap();
        assert!(last.status() < 0);
        // And when all of it is dropped unfinished.
        let user = user_event(&context);
        let mut last = queue.enqueue_marker(std::slice::from_ref(&user)).unwrap();
        for _ in 0..100_000 {
            last = queue.enqueue_marker(&[last]).unwrap();
        }
        drop(last);
        drop(user);
        queue.finish().unwrap();
    });
}

/// A thread that helps stops when its own event is done; what it was in the middle of must not be
/// lost.
#[test]
fn helpers_leave_nothing_half_done() {
    in_time(|| {
        let context = context();
        let queue = queue(&context);
        let counts = buffer(&context, &[0; 256]);
        let kernel = kernel(&context, "count");
        kernel.set_arg_buffer(0, Some(&counts)).unwrap();
        let (send, receive) = mpsc::channel::<Arc<Event>>();
        let setter = std::thread::spawn(move || {
            for user in receive {
                user.set_user_status(CL_COMPLETE).unwrap();
            }
        });
        for _ in 0..2000 {
            for _ in 0..3 {
                queue
                    .enqueue_nd_range(&kernel, 1, None, Some(&[256]), Some(&[4]), &[])
                    .unwrap();
            }
            let user = user_event(&context);
            send.send(user.clone()).unwrap();
            wait_for_events(&[user]).unwrap();
        }
        queue.finish().unwrap();
        drop(send);
        setter.join().unwrap();
        assert!(words(&queue, &counts).iter().all(|&n| n == 6000));
    });
}

/// Many threads, each with queues of its own, launches of all sizes, waits of all kinds. What is
/// ready at the same time is begun by priority: little of a queue of low priority has begun when
/// all of one of high priority is done.
#[test]
fn priorities_are_obeyed() {
    in_time(|| {
        let context = context();
        let with = |priority| {
            let bits = CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
            let device = context.device();
            Queue::with_priority(&context, device, bits, None, Vec::new(), priority).unwrap()
        };
        let slow = kernel(&context, "slow");
        slow.set_arg_value(0, &100u32.to_le_bytes()).unwrap();
        let user_event = user_event(&context);
        let enqueue = |priority, count| -> Vec<Arc<Event>> {
            let queue = with(priority);
            (0..count)
                .map(|_| {
                    let wait = [Arc::clone(&user_event)];
                    queue
                        .enqueue_nd_range(&slow, 1, None, Some(&[1]), Some(&[1]), &wait)
                        .unwrap()
                })
                .collect()
        };
        let low = enqueue(Priority::Low, 200);
        let medium = enqueue(Priority::Medium, 10);
        let high = enqueue(Priority::High, 10);
        user_event.set_user_status(CL_COMPLETE).unwrap();
        for events in [&low, &medium, &high] {
            wait_for_events(events).unwrap();
        }
        let last_end = |events: &[Arc<Event>]| {
            let ends = events.iter().map(|event| event.profile().unwrap().end);
            ends.max().unwrap()
        };
        let begun_before = |time: u64| {
            let started = low.iter().map(|event| event.profile().unwrap().start);
            started.filter(|&start| start < time).count()
        };
        let (early, later) = (
            begun_before(last_end(&high)),
            begun_before(last_end(&medium)),
        );
        assert!(early < 100 && later < 100, "{early} {later}");
    });
}

#[test]
fn stress() {
    in_time(|| {
        let context = context();
        let threads: Vec<_> = (0..8u32)
            .map(|seed| {
                let context = context.clone();
                std::thread::spawn(move || stress_thread(&context, seed))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

fn stress_thread(context: &Arc<brolga_runtime::Context>, seed: u32) {
    let in_order = queue(context);
    let out_of_order = queue_with(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let counts = buffer(context, &vec![0; 50_000]);
    let program = program(context);
    let count = program.kernel("count").unwrap();
    count.set_arg_buffer(0, Some(&counts)).unwrap();
    let sum = buffer(context, &[0]);
    let add = program.kernel("add").unwrap();
    add.set_arg_buffer(0, Some(&sum)).unwrap();
    add.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
    let called = Arc::new(AtomicI32::new(0));
    let mut random = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = |limit: u32| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random % limit
    };
    let (mut launched, mut added, mut callbacks) = (0, 0, 0);
    let mut previous: Option<Arc<Event>> = None;
    for _ in 0..600 {
        let wait: Vec<_> = previous.iter().cloned().collect();
        let event = match next(8) {
            0 => out_of_order.enqueue_barrier(&wait).unwrap(),
            1..=3 => {
                launched += 1;
                let local = [1usize, 7, 64][next(3) as usize];
                let queue = [&in_order, &out_of_order][next(2) as usize];
                queue
                    .enqueue_nd_range(&count, 1, None, Some(&[50_000]), Some(&[local]), &wait)
                    .unwrap()
            }
            _ => {
                added += 1;
                in_order.enqueue_task(&add, &wait).unwrap()
            }
        };
        match next(16) {
            0 => wait_for_events(std::slice::from_ref(&event)).unwrap(),
            1 => in_order.finish().unwrap(),
            2 => out_of_order.finish().unwrap(),
            3 => in_order.flush().unwrap(),
            4 => {
                callbacks += 1;
                let called = called.clone();
                let callback = move |_| {
                    called.fetch_add(1, Ordering::AcqRel);
                };
                event.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
            }
            5 => {
                let user = user_event(context);
                let marker = in_order
                    .enqueue_marker(std::slice::from_ref(&user))
                    .unwrap();
                user.set_user_status(CL_COMPLETE).unwrap();
                wait_for_events(&[marker]).unwrap();
            }
            _ => {}
        }
        previous = (next(3) > 0).then_some(event);
    }
    in_order.finish().unwrap();
    out_of_order.finish().unwrap();
    assert!(words(&in_order, &counts).iter().all(|&n| n == launched));
    assert_eq!(words(&in_order, &sum), [added]);
    eventually(|| called.load(Ordering::Acquire) == callbacks);
}
