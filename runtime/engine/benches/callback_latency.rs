//! How long a short command with a callback takes from its enqueue to the callback, and what that
//! costs: when the thread that calls back runs it as well, and when a worker runs it.
//!
//! `cargo bench -p brolga-engine [-- THREADS]`

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use brolga_engine::callbacks::Callbacks;
use brolga_engine::chunks::WorkShape;
use brolga_engine::domain::Domain;
use brolga_engine::entry::Priority;
use brolga_engine::event::{Lane, Owner};
use brolga_engine::job::Single;
use brolga_engine::pool::{Pool, Push};
use brolga_engine::system::nodes::Nodes;
use brolga_engine::work::{RetainedResources, Work};
use brolga_engine::{CLResult, Event};
use opencl_sys::{CL_COMMAND_NDRANGE_KERNEL, CL_COMPLETE};

/// Commands in a round, and rounds of each kind in turn.
const COMMANDS: usize = 400;
const ROUNDS: usize = 20;

struct Queue(Lane);

impl Owner for Queue {
    fn lane(&self) -> &Lane {
        &self.0
    }

    fn for_each_reporting(&self, _: &mut dyn FnMut(&Lane)) {}
}

/// Takes so many nanoseconds.
struct Busy(u64);

impl Work<Event> for Busy {
    fn shape(&self) -> WorkShape {
        WorkShape {
            estimate: self.0,
            ..WorkShape::SINGLE
        }
    }

    fn run(&self, _: Option<&Arc<Event>>, _: Range<u64>) -> CLResult<()> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_nanos(self.0) {
            std::hint::spin_loop();
        }
        Ok(())
    }
}

/// Which thread runs the command.
#[derive(Clone, Copy)]
enum Runner {
    Callbacks,
    Worker,
}

/// Enqueues a command and sleeps until it is called back. The time that took.
fn call_back(queue: &Arc<Queue>, nanoseconds: u64, runner: Runner) -> Duration {
    let start = Instant::now();
    let job = Single::new(Busy(nanoseconds));
    let retained = RetainedResources::new();
    let event = Event::new(queue, CL_COMMAND_NDRANGE_KERNEL, job, retained);
    let (send, receive) = channel();
    let called = Box::new(move |_| send.send(()).expect("the host waits"));
    match runner {
        // As `clSetEventCallback` after `clEnqueueNDRangeKernel` does.
        Runner::Callbacks => {
            event.release(Push::Defer);
            event.on_status(CL_COMPLETE, called).expect("a status");
        }
        Runner::Worker => {
            event.on_status(CL_COMPLETE, called).expect("a status");
            event.release(Push::Notify);
        }
    }
    receive.recv().expect("it is called");
    start.elapsed()
}

/// Processor time of the process, and how often a thread of it gave its processor up.
fn usage() -> (Duration, i64) {
    // SAFETY: numbers may be zero.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: one structure is written.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let time = |it: libc::timeval| {
        Duration::from_secs(it.tv_sec as u64) + Duration::from_micros(it.tv_usec as u64)
    };
    (time(usage.ru_utime) + time(usage.ru_stime), usage.ru_nvcsw)
}

fn main() {
    let threads = std::env::args().find_map(|it| it.parse().ok()).unwrap_or(2);
    let callbacks = Callbacks::new();
    let pool = Pool::start_root(threads, Nodes::default(), Arc::clone(&callbacks));
    let domain = Domain::new(false, None, None, &callbacks);
    let lane = Lane::new(Priority::default(), true, false, &pool, &domain);
    let queue = Arc::new(Queue(lane));
    for nanoseconds in [0, 3_000, 7_000] {
        for pause in [0, 100] {
            println!("commands of {nanoseconds} ns, each {pause} us after the one before:");
            let runners = [("callbacks", Runner::Callbacks), ("worker", Runner::Worker)];
            let mut all = runners.map(|_| (Vec::<Duration>::new(), Duration::ZERO, 0));
            for _ in 0..ROUNDS {
                for ((_, runner), (times, processors, switches)) in runners.iter().zip(&mut all) {
                    let before = usage();
                    for _ in 0..COMMANDS {
                        std::thread::sleep(Duration::from_micros(pause));
                        times.push(call_back(&queue, nanoseconds, *runner));
                    }
                    let after = usage();
                    *processors += after.0 - before.0;
                    *switches += after.1 - before.1;
                }
            }
            for ((name, _), (times, processors, switches)) in runners.iter().zip(&mut all) {
                times.sort_unstable();
                let count = times.len();
                let at =
                    |percent: usize| times[percent * (count - 1) / 100].as_nanos() as f64 / 1e3;
                println!(
                    "  {name:9} {:5.1} us ({:.1} to {:.1}), {:5.1} us of processors, {:.2} switches",
                    at(50),
                    at(10),
                    at(90),
                    processors.as_nanos() as f64 / 1e3 / count as f64,
                    *switches as f64 / count as f64,
                );
            }
        }
    }
    pool.stop();
    callbacks.stop();
}
