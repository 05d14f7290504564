//! When callbacks are called. Tests of their own, since a callback that takes long holds up all
//! others of the process.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use brolga_runtime::Event;
use brolga_runtime_testing::*;
use opencl_sys::{CL_COMPLETE, CL_RUNNING};

/// Held by each test: what one has the threads do must not hold up another.
static ALONE: Mutex<()> = Mutex::new(());
/// Until threads that have nothing to do sleep.
const REST: Duration = Duration::from_millis(20);
/// Longer than anything here may take.
const LIMIT: Duration = Duration::from_secs(3);

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the status told that the event was called with.
fn tell(event: &Event, status: i32) -> mpsc::Receiver<i32> {
    let (send, receive) = mpsc::channel();
    let callback = move |got| send.send(got).unwrap();
    event.on_status(status, Box::new(callback)).unwrap();
    receive
}

/// Returns when the event has the status, without helping.
fn wait_for(event: &Event, status: i32) {
    let until = Instant::now() + LIMIT;
    while event.status() > status && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(event.status(), status);
}

#[test]
fn callbacks_have_run_when_a_wait_or_a_status_returns() {
    let _alone = alone();
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
        let user = user_event(&context);
        count(&user);
        user.set_user_status(CL_COMPLETE).unwrap();
        assert_eq!(ran.load(Ordering::Acquire), 1);
        let event = queue.enqueue_task(&kernel, &[]).unwrap();
        count(&event);
        queue.finish().unwrap();
        assert_eq!(ran.load(Ordering::Acquire), 2);
    }
}

/// A callback that takes a while, and the flag that it sets at its end.
fn slow_callback(event: &Event) -> Arc<AtomicBool> {
    let has_run = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&has_run);
    let callback = move |_| {
        std::thread::sleep(REST);
        flag.store(true, Ordering::Release);
    };
    event.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
    has_run
}

/// What a callback is given may be on the stack of the thread that waits.
#[test]
fn callbacks_of_earlier_commands_have_run_when_a_wait_returns() {
    let _alone = alone();
    let context = context();
    let queue = queue(&context);
    let kernel = kernel(&context, "empty");
    let early = queue.enqueue_task(&kernel, &[]).unwrap();
    let has_run = slow_callback(&early);
    queue.enqueue_task(&kernel, &[]).unwrap();
    queue.finish().unwrap();
    assert!(has_run.load(Ordering::Acquire), "clFinish");
    let early = queue.enqueue_task(&kernel, &[]).unwrap();
    let has_run = slow_callback(&early);
    let late = queue.enqueue_task(&kernel, &[]).unwrap();
    wait_for_events(&[late]).unwrap();
    assert!(has_run.load(Ordering::Acquire), "clWaitForEvents");
    let user = user_event(&context);
    let marker = queue.enqueue_marker(std::slice::from_ref(&user)).unwrap();
    let has_run = slow_callback(&marker);
    user.set_user_status(CL_COMPLETE).unwrap();
    assert!(has_run.load(Ordering::Acquire), "clSetUserEventStatus");
}

/// Commands that follow one another begin while the host goes on, whether or not it flushes.
#[test]
fn an_in_order_queue_that_nobody_flushes_runs() {
    let _alone = alone();
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    kernel.set_arg_buffer(0, Some(&sum)).unwrap();
    kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
    for _ in 0..100 {
        queue.enqueue_task(&kernel, &[]).unwrap();
    }
    let until = Instant::now() + LIMIT;
    // SAFETY: the buffer lives; the kernel writes words, atomically.
    let word = unsafe { AtomicU32::from_ptr(sum.memory().as_ptr().cast()) };
    let run = || word.load(Ordering::Relaxed);
    while run() < 50 && Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(run() >= 50, "{}", run());
    queue.finish().unwrap();
    assert_eq!(run(), 100);
}

#[test]
fn kernels_do_not_hold_up_callbacks() {
    let _alone = alone();
    let context = context();
    // More of them than there are threads.
    let threads = context.device().max_compute_units as usize;
    let handshakes: Vec<_> = (0..threads + 2)
        .map(|_| enqueue_handshake(&context))
        .collect();
    handshakes
        .iter()
        .for_each(|(queue, _)| queue.flush().unwrap());
    std::thread::sleep(REST);
    let user = user_event(&context);
    let told = tell(&user, CL_COMPLETE);
    user.set_user_status(CL_COMPLETE).unwrap();
    assert_eq!(told.recv_timeout(LIMIT), Ok(CL_COMPLETE));
    for handshake in &handshakes {
        let pointer = handshake.1.memory().as_ptr().cast::<AtomicU32>();
        // SAFETY: the buffer lives, and only atomics touch it.
        unsafe { (*pointer).store(1, Ordering::Release) };
    }
    assert!(handshakes.iter().all(set_flag));
}

/// The thread that calls runs a command that has a callback and should be short, and may be wrong
/// about it.
#[test]
fn kernels_that_were_to_be_short_do_not_hold_up_callbacks() {
    let _alone = alone();
    let context = context();
    let queue = queue(&context);
    // As many as there are threads, in case other threads run them.
    let threads = context.device().max_compute_units.min(4);
    for _ in 0..3 {
        let mut flags = Vec::new();
        for number in 0..threads {
            let buffer = buffer(&context, &[0, 0]);
            // How long it takes is not known yet, so it counts as short.
            let kernel = kernel(&context, "handshake");
            kernel.set_arg_buffer(0, Some(&buffer)).unwrap();
            let own = brolga_runtime_testing::queue(&context);
            std::thread::sleep(REST);
            let event = own.enqueue_task(&kernel, &[]).unwrap();
            // The command itself makes a callback due, or nothing does before it is run.
            let running = (number % 2 == 0).then(|| tell(&event, CL_RUNNING));
            let complete = tell(&event, CL_COMPLETE);
            match running {
                Some(running) => assert_eq!(running.recv_timeout(LIMIT), Ok(CL_RUNNING)),
                None => wait_for(&event, CL_RUNNING),
            }
            let user = user_event(&context);
            let told = tell(&user, CL_COMPLETE);
            user.set_user_status(CL_COMPLETE).unwrap();
            assert_eq!(told.recv_timeout(LIMIT), Ok(CL_COMPLETE));
            flags.push((event, buffer, complete));
        }
        for (event, buffer, complete) in flags {
            assert_eq!(event.status(), CL_RUNNING);
            // SAFETY: the buffer lives, and only atomics touch it.
            unsafe { (*buffer.memory().as_ptr().cast::<AtomicU32>()).store(1, Ordering::Release) };
            assert_eq!(complete.recv_timeout(LIMIT), Ok(CL_COMPLETE));
            assert_eq!(words(&queue, &buffer)[1], 1);
        }
    }
}

#[test]
fn callbacks_do_not_hold_up_commands() {
    let _alone = alone();
    let context = context();
    let queue = queue(&context);
    for _ in 0..3 {
        // How long these kernels take is not known yet, so they count as short.
        let (begun, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let blocking = queue.enqueue_task(&kernel(&context, "empty"), &[]).unwrap();
        let callback = move |_| {
            begun.send(()).unwrap();
            may_go_on.recv().unwrap();
        };
        blocking.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
        has_begun.recv_timeout(LIMIT).unwrap();
        std::thread::sleep(REST);

        let event = queue.enqueue_task(&kernel(&context, "empty"), &[]).unwrap();
        let told = tell(&event, CL_COMPLETE);
        wait_for(&event, CL_COMPLETE);
        assert!(told.try_recv().is_err(), "one after the other");
        go_on.send(()).unwrap();
        assert_eq!(told.recv_timeout(LIMIT), Ok(CL_COMPLETE));
    }
}

/// Whichever threads run the commands and call.
#[test]
fn callbacks_are_called_once_and_one_after_the_other() {
    static CALLING: AtomicBool = AtomicBool::new(false);
    let _alone = alone();
    let context = context();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let queue = queue(&context);
                let kernel = kernel(&context, "empty");
                let (send, receive) = mpsc::channel();
                for number in 0..500 {
                    let event = queue.enqueue_task(&kernel, &[]).unwrap();
                    let send = send.clone();
                    let callback = move |_| {
                        let overlaps = CALLING.swap(true, Ordering::AcqRel);
                        std::thread::yield_now();
                        CALLING.store(false, Ordering::Release);
                        send.send((number, overlaps)).unwrap();
                    };
                    event.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
                    if number % 3 == 0 {
                        std::thread::sleep(Duration::from_micros(number % 50));
                    }
                }
                drop(send);
                let mut called: Vec<_> = (0..500)
                    .map(|_| receive.recv_timeout(LIMIT).unwrap())
                    .collect();
                called.sort_unstable();
                assert!(
                    called
                        .into_iter()
                        .eq((0..500).map(|number| (number, false)))
                );
                assert!(receive.recv_timeout(LIMIT).is_err());
            });
        }
    });
}
