//! The engine without OpenCL's objects: what it takes, and what it does without threads.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use brolga_engine::CLResult;
use brolga_engine::Event;
use brolga_engine::callbacks::{Callbacks, Spawn};
use brolga_engine::chunks::WorkShape;
use brolga_engine::domain::Domain;
use brolga_engine::entry::Priority;
use brolga_engine::event::{Lane, Owner};
use brolga_engine::job::Single;
use brolga_engine::pool::{PinnedPool, Pool, Push};
use brolga_engine::system::nodes::Nodes;
use brolga_engine::system::threads;
use brolga_engine::work::{Once, RetainedResources, Runner, Work};
use opencl_sys::{CL_COMMAND_NATIVE_KERNEL, CL_COMMAND_NDRANGE_KERNEL, CL_COMPLETE};

/// Longer than anything here may take.
const LIMIT: Duration = Duration::from_secs(10);

struct Queue(Lane);

impl Owner for Queue {
    fn lane(&self) -> &Lane {
        &self.0
    }

    fn for_each_reporting(&self, _: &mut dyn FnMut(&Lane)) {}
}

/// Some work: short, and counted; how often it was considered is, too.
#[derive(Clone, Default)]
struct Counted {
    runs: Arc<AtomicU32>,
    looks: Arc<AtomicU64>,
    /// Holds up the thread that runs it until it is set.
    gate: Option<Arc<AtomicBool>>,
}

impl Work<Event> for Counted {
    fn runner(&self) -> Runner {
        self.looks.fetch_add(1, SeqCst);
        Runner::Any
    }

    fn shape(&self) -> WorkShape {
        WorkShape {
            estimate: 1,
            ..WorkShape::SINGLE
        }
    }

    fn run(&self, _: Option<&Arc<Event>>, _: Range<u64>) -> CLResult<()> {
        let until = Instant::now() + LIMIT;
        if let Some(gate) = &self.gate {
            while !gate.load(SeqCst) && Instant::now() < until {
                std::thread::yield_now();
            }
        }
        self.runs.fetch_add(1, SeqCst);
        Ok(())
    }
}

struct Process {
    callbacks: Arc<Callbacks>,
    pool: Arc<Pool<Event>>,
    domain: Arc<Domain<Event>>,
}

impl Process {
    fn new(threads: u32, spawn: Spawn) -> Process {
        let callbacks = Callbacks::with(spawn);
        let own = Arc::clone(&callbacks);
        Process {
            pool: Pool::start_root_with(threads, Nodes::default(), own, spawn),
            domain: Domain::new(false, None, None, &callbacks),
            callbacks,
        }
    }

    fn queue(&self, is_in_order: bool) -> Arc<Queue> {
        self.queue_of(&self.pool, is_in_order)
    }

    fn queue_of(&self, pool: &Arc<Pool<Event>>, is_in_order: bool) -> Arc<Queue> {
        let priority = Priority::default();
        Arc::new(Queue(Lane::new(
            priority,
            is_in_order,
            false,
            pool,
            &self.domain,
        )))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.pool.stop();
        self.callbacks.stop();
    }
}

fn command(queue: &Arc<Queue>, work: &Counted) -> Arc<Event> {
    let job = Single::new(work.clone());
    let retained = RetainedResources::new();
    Event::new(queue, CL_COMMAND_NDRANGE_KERNEL, job, retained)
}

fn with_threads(name: &str, stack: usize, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    threads::spawn(name, Some(stack), work).map(|_| ())
}

fn without_threads(_: &str, _: usize, _: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Commands that nobody waits for run, by whoever asks for them to get going.
#[test]
fn without_threads_commands_run() {
    let process = Process::new(2, without_threads);
    let queue = process.queue(false);
    let work = Counted::default();
    let polled = command(&queue, &work);
    polled.release(Push::Defer);
    assert_eq!(work.runs.load(SeqCst), 0);
    polled.status();
    assert_eq!(polled.status(), CL_COMPLETE);
    let flushed = command(&queue, &work);
    flushed.release(Push::Defer);
    process.pool.flush();
    assert_eq!(work.runs.load(SeqCst), 2);
    let long = command(&queue, &work);
    long.release(Push::Notify);
    assert_eq!(work.runs.load(SeqCst), 3);
}

/// A callback is called, also one that waits for the event that it is of.
#[test]
fn without_threads_callbacks_are_called() {
    let process = Process::new(2, without_threads);
    let queue = process.queue(false);
    let work = Counted::default();
    let event = command(&queue, &work);
    event.release(Push::Defer);
    let called = Arc::new(AtomicU32::new(0));
    let (own, counted) = (Arc::clone(&event), Arc::clone(&called));
    let start = Instant::now();
    let callback = move |status| {
        assert_eq!(status, CL_COMPLETE);
        assert_eq!(own.wait(), CL_COMPLETE);
        counted.fetch_add(1, SeqCst);
    };
    event.on_status(CL_COMPLETE, Box::new(callback)).unwrap();
    assert_eq!(called.load(SeqCst), 1);
    // It does not wait for itself.
    assert!(start.elapsed() < Duration::from_millis(90));
    let counted = Arc::clone(&called);
    let late = move |_| {
        counted.fetch_add(1, SeqCst);
    };
    event.on_status(CL_COMPLETE, Box::new(late)).unwrap();
    assert_eq!(called.load(SeqCst), 2);
}

/// A chain that nobody flushes runs when it has grown long.
#[test]
fn an_in_order_queue_runs_without_a_flush() {
    let process = Process::new(1, with_threads);
    let queue = process.queue(true);
    let work = Counted::default();
    let mut last: Option<Arc<Event>> = None;
    for place in 1..=64 {
        let event = command(&queue, &work);
        event.set_place(place);
        if let Some(last) = &last {
            event.depend_on(last, false);
        }
        event.release(event.push());
        last = Some(event);
    }
    let until = Instant::now() + LIMIT;
    while work.runs.load(SeqCst) < 32 {
        assert!(Instant::now() < until, "{}", work.runs.load(SeqCst));
        std::thread::yield_now();
    }
}

/// However much is ready, a thread that waits looks at what it waits for, and at little more.
#[test]
fn what_a_waiting_thread_looks_at_does_not_grow_with_what_is_ready() {
    let looks = [1_000u32, 4_000].map(|count| {
        let process = Process::new(1, with_threads);
        let busy = Counted {
            gate: Some(Arc::default()),
            ..Counted::default()
        };
        // The worker is held up, and much is ready.
        let held = command(&process.queue(false), &busy);
        held.release(Push::Notify);
        let others = process.queue(false);
        let ready = Counted::default();
        for place in 1..=count {
            let event = command(&others, &ready);
            event.set_place(u64::from(place));
            event.release(Push::Notify);
        }
        let before = ready.looks.load(SeqCst);
        let (queue, awaited) = (process.queue(true), Counted::default());
        for place in 1..=100 {
            let event = command(&queue, &awaited);
            event.set_place(place);
            event.release(Push::Notify);
            assert_eq!(event.wait(), CL_COMPLETE);
        }
        assert_eq!(awaited.runs.load(SeqCst), 100);
        let looks = ready.looks.load(SeqCst) - before;
        busy.gate.iter().for_each(|gate| gate.store(true, SeqCst));
        let last = command(&others, &ready);
        last.release(Push::Notify);
        while !last.is_done() {
            std::thread::yield_now();
        }
        looks
    });
    // At most so many for each of the waits.
    assert!(
        looks.iter().all(|&looks| looks <= 100 * 2 * 64),
        "{looks:?}"
    );
}

/// So many short commands are worth a wake-up, though nobody flushes.
#[test]
fn sixteen_deferred_commands_run_without_a_flush() {
    let process = Process::new(1, with_threads);
    let queue = process.queue(false);
    let work = Counted::default();
    for _ in 0..16 {
        command(&queue, &work).release(Push::Defer);
    }
    let until = Instant::now() + LIMIT;
    while work.runs.load(SeqCst) < 16 {
        assert!(Instant::now() < until, "{}", work.runs.load(SeqCst));
        std::thread::yield_now();
    }
}

/// The processors that this thread may run on.
fn processors() -> Vec<usize> {
    // SAFETY: the set is written before it is read, and is as large as the call is told.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        let is_in = |&processor: &usize| libc::CPU_ISSET(processor, &set);
        (0..libc::CPU_SETSIZE as usize).filter(is_in).collect()
    }
}

/// The workers of a sub-device stay on its processors. Threads of the driver that these start, as
/// the one for callbacks, do not.
#[test]
fn a_worker_that_stays_on_processors_starts_threads_that_do_not() {
    let process = Process::new(1, with_threads);
    let all = processors();
    let first = vec![all[0]];
    let pinned = PinnedPool::new(&process.pool, first.clone());
    let (send, receive) = std::sync::mpsc::channel();
    let started = move || {
        let of_started = send.clone();
        send.send(processors()).unwrap();
        let life = move || of_started.send(processors()).unwrap();
        threads::spawn("test", None, life).unwrap().join().unwrap();
    };
    let job = Single::new(Once::application(started));
    let queue = process.queue_of(pinned.pool(), false);
    let retained = RetainedResources::new();
    let event = Event::new(&queue, CL_COMMAND_NATIVE_KERNEL, job, retained);
    event.release(Push::Notify);
    assert_eq!(event.wait(), CL_COMPLETE);
    assert_eq!(receive.recv().unwrap(), first);
    assert_eq!(receive.recv().unwrap(), all);
}
