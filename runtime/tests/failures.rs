//! Commands that fail by themselves, and where the application is told.

use std::sync::{Arc, mpsc};

use brolga_runtime::{ClError, Direction, Kernel, Queue};
use brolga_runtime_testing::*;
use opencl_sys::*;

/// A kernel that writes to an address that nothing has.
fn wild() -> (Arc<Queue>, Arc<Kernel>) {
    let context = context();
    let source = "kernel void wild(ulong at) { *(global int *)at = 1; }";
    let kernel = built(&context, source, "").kernel("wild").unwrap();
    kernel.set_arg_value(0, &64u64.to_le_bytes()).unwrap();
    (queue(&context), kernel)
}

fn empty(queue: &Queue) -> Arc<Kernel> {
    kernel(queue.context(), "empty")
}

const TOLD: Result<(), ClError> = Err(ClError::OUT_OF_RESOURCES);

#[test]
fn finish_tells_of_a_failure_once() {
    let (queue, wild) = wild();
    queue.enqueue_task(&wild, &[]).unwrap();
    queue.enqueue_task(&empty(&queue), &[]).unwrap();
    assert_eq!(queue.finish(), TOLD);
    assert_eq!(queue.finish(), Ok(()));
    queue.enqueue_task(&wild, &[]).unwrap();
    queue.enqueue_task(&wild, &[]).unwrap();
    assert_eq!(queue.finish(), TOLD);
    assert_eq!(queue.finish(), Ok(()));
}

/// In-order execution is an order: what comes later runs.
#[test]
fn a_blocking_command_runs_and_tells_of_a_failure_before_it() {
    let (queue, wild) = wild();
    let buffer = buffer(queue.context(), &[1, 2]);
    queue.enqueue_task(&wild, &[]).unwrap();
    let mut words = [0u32; 2];
    let to = host(&mut words);
    let read = || {
        let read = host_copy(Direction::Read, &buffer, 0, 8, to);
        queue.submit_blocking(read, true, &[])
    };
    assert_eq!(read().map(|_| ()), TOLD);
    assert_eq!(words, [1, 2]);
    read().unwrap();
    assert_eq!(queue.finish(), Ok(()));
}

/// The application does not get the address, so that there is nothing to unmap.
#[test]
fn a_blocking_map_tells_of_a_failure_before_it_and_maps_nothing() {
    let (queue, wild) = wild();
    let buffer = buffer(queue.context(), &[1, 2]);
    queue.enqueue_task(&wild, &[]).unwrap();
    let map = || queue.enqueue_map(&buffer, true, CL_MAP_WRITE, 0, 8, &[]);
    assert_eq!(map().map(|_| ()), TOLD);
    let (_, address) = map().unwrap();
    queue
        .enqueue_unmap(buffer.memory(), address as usize, &[])
        .unwrap();
    assert_eq!(queue.finish(), Ok(()));
}

#[test]
fn a_wait_for_a_later_command_tells_of_a_failure() {
    let (queue, wild) = wild();
    queue.enqueue_task(&wild, &[]).unwrap();
    let later = queue.enqueue_task(&empty(&queue), &[]).unwrap();
    assert_eq!(wait_for_events(std::slice::from_ref(&later)), TOLD);
    assert_eq!(later.status(), CL_COMPLETE);
    assert_eq!(wait_for_events(&[later]), Ok(()));
    assert_eq!(queue.finish(), Ok(()));
}

#[test]
fn a_wait_for_an_earlier_command_does_not() {
    let (queue, wild) = wild();
    let earlier = queue.enqueue_task(&empty(&queue), &[]).unwrap();
    queue.enqueue_task(&wild, &[]).unwrap();
    queue.flush().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(wait_for_events(&[earlier]), Ok(()));
    assert_eq!(queue.finish(), TOLD);
}

#[test]
fn an_event_that_tells_is_enough() {
    let (queue, wild) = wild();
    let failed = -5;
    // By its status.
    let event = queue.enqueue_task(&wild, &[]).unwrap();
    while event.status() > CL_COMPLETE {
        std::thread::yield_now();
    }
    assert_eq!(event.status(), failed);
    assert_eq!(queue.finish(), Ok(()));
    // By a wait.
    let event = queue.enqueue_task(&wild, &[]).unwrap();
    let waited = wait_for_events(&[event]);
    assert_eq!(
        waited,
        Err(ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    );
    assert_eq!(queue.finish(), Ok(()));
    // By a callback, before and after the end.
    for is_done in [false, true] {
        let event = queue.enqueue_task(&wild, &[]).unwrap();
        let (send, receive) = mpsc::channel();
        if is_done {
            let marker = queue.enqueue_marker(&[]).unwrap();
            // Its dependents are let go after it has ended.
            assert_eq!(wait_for_events(std::slice::from_ref(&marker)), TOLD);
        }
        let tell = move |status| send.send(status).unwrap();
        event.on_status(CL_COMPLETE, Box::new(tell)).unwrap();
        assert_eq!(receive.recv().unwrap(), failed);
        assert_eq!(queue.finish(), Ok(()));
    }
}

/// The application knows of what it has done itself.
#[test]
fn what_is_inherited_is_not_told_of() {
    let (queue, _) = wild();
    let user = user_event(queue.context());
    queue
        .enqueue_task(&empty(&queue), std::slice::from_ref(&user))
        .unwrap();
    user.set_user_status(-7).unwrap();
    assert_eq!(queue.finish(), Ok(()));
}

#[test]
fn an_out_of_order_queue_tells_by_finish_only() {
    let (in_order, wild) = wild();
    let queue = queue_with(in_order.context(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    queue.enqueue_task(&wild, &[]).unwrap();
    let barrier = queue.enqueue_barrier(&[]).unwrap();
    assert_eq!(wait_for_events(&[barrier]), Ok(()));
    assert_eq!(queue.finish(), TOLD);
    assert_eq!(in_order.finish(), Ok(()));
}
