//! Semaphores: each wait is for one signal, whatever the queues they are in.

use std::os::fd::IntoRawFd;
use std::sync::Arc;

use brolga_runtime::Semaphore;
use brolga_runtime::error::ClError;
use brolga_runtime_testing::*;
use opencl_sys::*;

#[test]
fn a_wait_is_done_when_its_signal_is() {
    let context = context();
    let (first, second) = (queue(&context), queue(&context));
    let semaphore = Semaphore::new(&context);
    let user = user_event(&context);
    let list = [Arc::clone(&semaphore)];
    assert_eq!(semaphore.payload(), 0);
    let signal = first.enqueue_signal(&list, &[Arc::clone(&user)]).unwrap();
    assert_eq!(signal.command_type(), CL_COMMAND_SEMAPHORE_SIGNAL_KHR);
    let wait = second.enqueue_wait(&list, &[]).unwrap();
    assert_eq!(wait.command_type(), CL_COMMAND_SEMAPHORE_WAIT_KHR);
    assert_ne!(wait.status(), CL_COMPLETE);
    user.set_user_status(CL_COMPLETE).unwrap();
    wait_for_events(&[signal, wait]).unwrap();
    assert_eq!(semaphore.payload(), 0);
    first.enqueue_signal(&list, &[]).unwrap();
    first.finish().unwrap();
    assert_eq!(semaphore.payload(), 1);
    let user = user_event(&context);
    let wait = second.enqueue_wait(&list, &[Arc::clone(&user)]).unwrap();
    // The command that takes it has not run.
    assert_eq!(semaphore.payload(), 1);
    user.set_user_status(CL_COMPLETE).unwrap();
    wait_for_events(&[wait]).unwrap();
    assert_eq!(semaphore.payload(), 0);
}

/// Signalled again as soon as the wait is enqueued, while neither signal nor wait has run: none of
/// them is lost.
#[test]
fn pairs_are_made_when_they_are_enqueued() {
    let context = context();
    let (producer, consumer) = (queue(&context), queue(&context));
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    kernel.set_arg_buffer(0, Some(&sum)).unwrap();
    let (full, empty) = (Semaphore::new(&context), Semaphore::new(&context));
    let (full, empty) = ([full], [empty]);
    let user = user_event(&context);
    producer.enqueue_marker(&[Arc::clone(&user)]).unwrap();
    let add = |queue: &Arc<brolga_runtime::Queue>, value: u32| {
        kernel.set_arg_value(1, &value.to_le_bytes()).unwrap();
        queue
            .enqueue_nd_range(&kernel, 1, None, Some(&[1]), Some(&[1]), &[])
            .unwrap();
    };
    // Each adds without atomics, so that a sum that is right was ordered.
    for round in 0..500 {
        if round > 0 {
            producer.enqueue_wait(&empty, &[]).unwrap();
        }
        add(&producer, 1);
        producer.enqueue_signal(&full, &[]).unwrap();
        consumer.enqueue_wait(&full, &[]).unwrap();
        add(&consumer, 1000);
        consumer.enqueue_signal(&empty, &[]).unwrap();
    }
    user.set_user_status(CL_COMPLETE).unwrap();
    consumer.finish().unwrap();
    assert_eq!(words(&producer, &sum), [500_500]);
}

#[test]
fn a_wait_may_come_before_its_signal() {
    let context = context();
    let (first, second) = (queue(&context), queue(&context));
    let list = [Semaphore::new(&context), Semaphore::new(&context)];
    let waits: Vec<_> = (0..3)
        .map(|_| first.enqueue_wait(&list, &[]).unwrap())
        .collect();
    for wait in &waits {
        assert_ne!(wait.status(), CL_COMPLETE);
        second.enqueue_signal(&list[..1], &[]).unwrap();
        assert_ne!(wait.status(), CL_COMPLETE);
        second.enqueue_signal(&list[1..], &[]).unwrap();
        wait_for_events(&[Arc::clone(wait)]).unwrap();
    }
}

#[test]
fn what_nobody_will_signal_fails() {
    let context = context();
    let (first, second) = (queue(&context), queue(&context));
    let semaphore = Semaphore::new(&context);
    let wait = first.enqueue_wait(&[Arc::clone(&semaphore)], &[]).unwrap();
    drop(semaphore);
    assert!(wait_for_events(&[wait]).is_err());
    // A signal that fails fails what waits for it.
    let list = [Semaphore::new(&context)];
    let user = user_event(&context);
    second.enqueue_signal(&list, &[Arc::clone(&user)]).unwrap();
    let wait = first.enqueue_wait(&list, &[]).unwrap();
    user.set_user_status(-1).unwrap();
    assert!(wait_for_events(&[wait]).is_err());
    let failed = Err(ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    let refused = first.enqueue_wait(&list, &[user]).map(|_| ());
    assert_eq!(refused, failed);
}

/// Two semaphores with one payload, in two contexts: signals of one are taken by waits of the
/// other, early or late.
#[test]
fn a_payload_is_shared_across_contexts() {
    let contexts = [context(), context()];
    let queues = [queue(&contexts[0]), queue(&contexts[1])];
    let made = Semaphore::exportable(&contexts[0]).unwrap();
    let fd = made.export().unwrap().into_raw_fd();
    let taken = [Semaphore::imported(&contexts[1], fd).unwrap()];
    let made = [made];
    for round in 0..100 {
        assert_eq!((made[0].payload(), taken[0].payload()), (0, 0));
        let (user, wait);
        if round % 2 == 0 {
            wait = queues[1].enqueue_wait(&taken, &[]).unwrap();
            assert_ne!(wait.status(), CL_COMPLETE);
            queues[0].enqueue_signal(&made, &[]).unwrap();
        } else {
            queues[0].enqueue_signal(&made, &[]).unwrap();
            queues[0].finish().unwrap();
            assert_eq!((made[0].payload(), taken[0].payload()), (1, 1));
            user = user_event(&contexts[1]);
            wait = queues[1]
                .enqueue_wait(&taken, &[Arc::clone(&user)])
                .unwrap();
            // It is not taken before the command runs.
            assert_eq!(made[0].payload(), 1);
            user.set_user_status(CL_COMPLETE).unwrap();
        }
        wait_for_events(&[wait]).unwrap();
    }
    // A wait whose wait list fails takes nothing.
    queues[0].enqueue_signal(&made, &[]).unwrap();
    queues[0].finish().unwrap();
    let user = user_event(&contexts[1]);
    let wait = queues[1]
        .enqueue_wait(&taken, &[Arc::clone(&user)])
        .unwrap();
    user.set_user_status(-1).unwrap();
    assert!(wait_for_events(&[wait]).is_err());
    assert_eq!(made[0].payload(), 1);
    for wrong in [-1, 100_000, 0] {
        assert!(Semaphore::imported(&contexts[1], wrong).is_err());
    }
    assert!(Semaphore::new(&contexts[0]).export().is_err());
}
