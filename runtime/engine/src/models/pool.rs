//! Commands, the pool and callbacks together: whatever order threads come in, each command runs
//! once, each callback is called once, and no thread sleeps for ever.

use std::ops::Range;
use std::sync::Arc;

use loom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use loom::thread;
use opencl_sys::{CL_COMMAND_NDRANGE_KERNEL, CL_COMPLETE, CL_RUNNING};

use super::{Gate, in_every_order};
use crate::callbacks::Callbacks;
use crate::chunks::WorkShape;
use crate::domain::Domain;
use crate::entry::{Entry, Priority};
use crate::error::CLResult;
use crate::event::{Event, Lane, Owner};
use crate::job::Single;
use crate::pool::{PinnedPool, Pool, Push};
use crate::system::nodes::Nodes;
use crate::work::{RetainedResources, Work};

/// A queue.
struct Queue(Lane);

impl Owner for Queue {
    fn lane(&self) -> &Lane {
        &self.0
    }

    fn for_each_reporting(&self, _: &mut dyn FnMut(&Lane)) {}
}

/// Some short work that counts how often it was done, once it may be.
struct Short {
    runs: Arc<AtomicU32>,
    gate: Option<Arc<Gate>>,
    stack_bytes: u64,
}

impl Work<Event> for Short {
    fn shape(&self) -> WorkShape {
        WorkShape {
            estimate: 1,
            ..WorkShape::SINGLE
        }
    }

    fn stack_bytes(&self) -> u64 {
        self.stack_bytes
    }

    fn run(&self, _: Option<&Arc<Event>>, _: Range<u64>) -> CLResult<()> {
        if let Some(gate) = &self.gate {
            gate.wait();
        }
        self.runs.fetch_add(1, SeqCst);
        Ok(())
    }
}

/// A process.
struct Process {
    callbacks: Arc<Callbacks>,
    pool: Arc<Pool<Event>>,
    domain: Arc<Domain<Event>>,
    runs: Arc<AtomicU32>,
}

impl Process {
    fn new() -> Process {
        Process::with_workers(1)
    }

    fn with_workers(workers: u32) -> Process {
        let callbacks = Callbacks::new();
        let pool = Pool::start_root(workers, Nodes::default(), Arc::clone(&callbacks));
        let domain = Domain::new(false, None, None, &callbacks);
        let runs = Arc::new(AtomicU32::new(0));
        Process {
            callbacks,
            pool,
            domain,
            runs,
        }
    }

    fn queue(&self, pool: &Arc<Pool<Event>>) -> Arc<Queue> {
        let (priority, is_in_order) = (Priority::default(), false);
        let lane = Lane::new(priority, is_in_order, false, pool, &self.domain);
        Arc::new(Queue(lane))
    }

    fn command(&self, queue: &Arc<Queue>, gate: Option<Arc<Gate>>) -> Arc<Event> {
        self.command_with(queue, gate, 0)
    }

    fn command_with(
        &self,
        queue: &Arc<Queue>,
        gate: Option<Arc<Gate>>,
        stack_bytes: u64,
    ) -> Arc<Event> {
        let job = Single::new(Short {
            runs: Arc::clone(&self.runs),
            gate,
            stack_bytes,
        });
        Event::new(
            queue,
            CL_COMMAND_NDRANGE_KERNEL,
            job,
            RetainedResources::new(),
        )
    }

    /// The thread that calls is there, and perhaps asleep.
    fn start_calling(&self) {
        let called = Gate::new();
        let open = Arc::clone(&called);
        self.callbacks.push(Box::new(move || open.open()));
        called.wait();
    }

    fn end(self, runs: u32) {
        self.pool.stop();
        self.callbacks.stop();
        assert_eq!(self.runs.load(SeqCst), runs);
    }
}

/// Waits as a thread does that runs nothing.
fn sleep_until_done(event: &Event) {
    while !event.is_done() {
        Entry::sleep(event);
    }
}

/// The worker takes part, or not.
#[test]
fn a_waiting_thread_has_its_command_run_once() {
    in_every_order(2, || {
        let process = Process::new();
        let queue = process.queue(&process.pool);
        let event = process.command(&queue, None);
        event.release(Push::Defer);
        assert_eq!(event.wait(), CL_COMPLETE);
        process.end(1);
    });
}

/// A flush finds what is deferred, or its thread finds it later.
#[test]
fn what_is_deferred_is_run_after_a_flush() {
    in_every_order(2, || {
        let process = Process::new();
        let queue = process.queue(&process.pool);
        let event = process.command(&queue, None);
        event.release(Push::Defer);
        process.pool.flush();
        sleep_until_done(&event);
        process.end(1);
    });
}

/// A thread waits for a deferred command that it has not the stack for.
#[test]
fn what_a_waiting_thread_may_not_run_is_run_by_a_worker() {
    in_every_order(2, || {
        let process = Process::new();
        let queue = process.queue(&process.pool);
        let event = process.command_with(&queue, None, u64::MAX);
        event.release(Push::Defer);
        assert_eq!(event.wait(), CL_COMPLETE);
        process.end(1);
    });
}

/// Two threads wait, each for its own command, of which one depends on the other.
#[test]
fn threads_that_wait_for_one_another_come_to_an_end() {
    in_every_order(2, || {
        let process = Process::new();
        let queue = process.queue(&process.pool);
        let first = process.command(&queue, None);
        let second = process.command(&queue, None);
        second.depend_on(&first, true);
        second.release(Push::Defer);
        let waiting = Arc::clone(&second);
        let waiter = thread::spawn(move || waiting.wait());
        first.release(Push::Defer);
        assert_eq!(first.wait(), CL_COMPLETE);
        assert_eq!(waiter.join().unwrap(), CL_COMPLETE);
        process.end(2);
    });
}

/// A thread waits in the pool of a sub-device, where it cannot help, for what waits for a command
/// that is being deferred in the root's: the flush of the one sees the command, or the other thread
/// sees the one that sleeps.
#[test]
fn what_a_sleeping_waiter_needs_is_not_deferred() {
    in_every_order(2, || {
        let process = Process::new();
        let pinned = PinnedPool::new(&process.pool, vec![0]);
        let here = process.queue(&process.pool);
        let there = process.queue(pinned.pool());
        let first = process.command(&here, None);
        let second = process.command(&there, None);
        second.depend_on(&first, true);
        second.release(Push::Notify);
        let waiting = Arc::clone(&second);
        let waiter = thread::spawn(move || waiting.wait());
        first.release(Push::Defer);
        assert_eq!(waiter.join().unwrap(), CL_COMPLETE);
        drop(pinned);
        process.end(2);
    });
}

/// Somebody runs a deferred command that has a callback: the thread that calls, or a worker in its
/// place.
#[test]
fn a_command_with_a_callback_is_run_and_its_callback_called() {
    in_every_order(1, || {
        let process = Process::new();
        process.start_calling();
        let queue = process.queue(&process.pool);
        let event = process.command(&queue, None);
        event.release(Push::Defer);
        let done = Gate::new();
        let open = Arc::clone(&done);
        let callback = Box::new(move |status| {
            assert_eq!(status, CL_COMPLETE);
            open.open();
        });
        event.on_status(CL_COMPLETE, callback).unwrap();
        done.wait();
        process.end(1);
    });
}

/// A command that was to be short, and that the thread that calls may have been asked to run, waits
/// for another that has a callback, too.
#[test]
fn a_command_with_a_callback_does_not_hold_up_another() {
    in_every_order(1, || {
        let process = Process::with_workers(2);
        process.start_calling();
        let queue = process.queue(&process.pool);
        let gate = Gate::new();
        let first = process.command(&queue, Some(Arc::clone(&gate)));
        let second = process.command(&queue, None);
        for event in [&first, &second] {
            event.release(Push::Defer);
            event.on_status(CL_COMPLETE, Box::new(|_| ())).unwrap();
        }
        sleep_until_done(&second);
        gate.open();
        sleep_until_done(&first);
        process.end(2);
    });
}

/// A command that was to be short waits for a callback. Whichever thread runs it, another calls.
#[test]
fn a_command_does_not_hold_up_callbacks() {
    in_every_order(1, || {
        let process = Process::new();
        process.start_calling();
        let queue = process.queue(&process.pool);
        let gate = Gate::new();
        let event = process.command(&queue, Some(Arc::clone(&gate)));
        event.release(Push::Defer);
        event.on_status(CL_COMPLETE, Box::new(|_| ())).unwrap();
        process.callbacks.push(Box::new(move || gate.open()));
        sleep_until_done(&event);
        process.end(1);
    });
}

/// A command that was to be short waits for a callback that comes due when it begins.
#[test]
fn a_command_does_not_hold_up_the_callback_of_its_beginning() {
    in_every_order(1, || {
        let process = Process::new();
        process.start_calling();
        let queue = process.queue(&process.pool);
        let gate = Gate::new();
        let event = process.command(&queue, Some(Arc::clone(&gate)));
        event.release(Push::Defer);
        let open = Box::new(move |_| gate.open());
        event.on_status(CL_RUNNING, open).unwrap();
        sleep_until_done(&event);
        process.end(1);
    });
}

/// Waiting for one command is a flush of the others.
#[test]
fn what_is_deferred_is_run_after_a_wait_for_another() {
    in_every_order(1, || {
        let process = Process::new();
        let queue = process.queue(&process.pool);
        let events = [(); 2].map(|()| process.command(&queue, None));
        events.iter().for_each(|event| event.release(Push::Defer));
        assert_eq!(events[0].wait(), CL_COMPLETE);
        sleep_until_done(&events[1]);
        process.end(2);
    });
}

/// A waiting thread runs the command that it waits for, and goes. What that made ready is not
/// forgotten.
#[test]
fn what_a_waiting_thread_makes_ready_is_run() {
    in_every_order(1, || {
        let process = Process::new();
        let queue = process.queue(&process.pool);
        let first = process.command(&queue, None);
        let second = process.command(&queue, None);
        second.depend_on(&first, true);
        second.release(Push::Defer);
        first.release(Push::Defer);
        assert_eq!(first.wait(), CL_COMPLETE);
        sleep_until_done(&second);
        process.end(2);
    });
}

/// Two commands become ready by one flush, which wakes one worker, and one waits for the other.
#[test]
fn a_worker_wakes_another_for_what_is_left() {
    in_every_order(1, || {
        let process = Process::with_workers(2);
        while process.pool.sleepers() < 2 {
            thread::yield_now();
        }
        let queue = process.queue(&process.pool);
        let gate = Gate::new();
        let first = process.command(&queue, Some(Arc::clone(&gate)));
        let second = process.command(&queue, None);
        for event in [&first, &second] {
            event.release(Push::Defer);
        }
        process.pool.flush();
        sleep_until_done(&second);
        gate.open();
        sleep_until_done(&first);
        process.end(2);
    });
}
