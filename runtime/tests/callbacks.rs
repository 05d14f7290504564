//! When callbacks are called. Tests of their own, since a callback that takes long holds up all
//! others of the process.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use brolga_runtime::Event;
use brolga_runtime_testing::*;
use opencl_sys::CL_COMPLETE;

#[test]
fn callbacks_have_run_when_a_wait_or_a_status_returns() {
    let context = context();
    let queue = queue(&context);
    let kernel = kernel(&context, "empty");
    for _ in 0..100 {
        let ran = Arc::new(AtomicU32::new(0));
        let count = |event: &Event| {
            let ran = Arc::clone(&ran);
            let callback = move |_| {
                ran.fetch_add(1, Ordering::AcqRel);
            };
            event.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
        };
        let user = Event::user(&context);
        count(&user);
        user.set_user_status(CL_COMPLETE).unwrap();
        assert_eq!(ran.load(Ordering::Acquire), 1);
        let event = queue.enqueue_task(&kernel, &[]).unwrap();
        count(&event);
        queue.finish().unwrap();
        assert_eq!(ran.load(Ordering::Acquire), 2);
    }
}

#[test]
fn kernels_do_not_hold_up_callbacks() {
    let context = context();
    // More of them than there are threads.
    let threads = context.device().max_compute_units as usize;
    let handshakes: Vec<_> = (0..threads + 2)
        .map(|_| enqueue_handshake(&context))
        .collect();
    handshakes
        .iter()
        .for_each(|(queue, _)| queue.flush().unwrap());
    std::thread::sleep(Duration::from_millis(20));
    let user = Event::user(&context);
    let (send, receive) = mpsc::channel();
    let callback = move |got| send.send(got).unwrap();
    user.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
    user.set_user_status(CL_COMPLETE).unwrap();
    assert_eq!(
        receive.recv_timeout(Duration::from_secs(3)),
        Ok(CL_COMPLETE)
    );
    for handshake in &handshakes {
        let pointer = handshake.1.as_ptr().cast::<AtomicU32>();
        // SAFETY: the buffer lives, and only atomics touch it.
        unsafe { (*pointer).store(1, Ordering::Release) };
    }
    assert!(handshakes.iter().all(set_flag));
}
