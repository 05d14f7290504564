//! When callbacks are called. A test of its own, since one that takes long holds up the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
