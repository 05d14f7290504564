//! What the machine's primitives cost, measured.

use std::fmt;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use brolga_runtime::clock::timestamp;
use rustix::thread::futex;

/// Nanoseconds. Each is a low one of many, since other load on the machine only adds.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// To enqueue and wait, without work and other threads.
    pub launch: u64,
    /// Of the call that wakes a thread, to the caller.
    pub wake_call: u64,
    /// From that call's beginning until the thread runs.
    pub wake: u64,
    /// Of an atomic operation on a cache line that another processor wrote last.
    pub line: u64,
    /// Of one on a line that this processor wrote last.
    pub own_line: u64,
    /// To look at the clock.
    pub clock: u64,
}

impl Costs {
    /// `launch` is measured elsewhere.
    pub fn measure(launch: u64) -> Costs {
        let (wake_call, wake) = wake();
        let word = AtomicU32::new(0);
        Costs {
            launch,
            wake_call,
            wake,
            line: line(),
            own_line: each(|| {
                black_box(&word).fetch_add(1, SeqCst);
            }),
            clock: each(|| {
                black_box(timestamp());
            }),
        }
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Costs, ns: launch without work {}; wake-up {} to the waking thread, {} until the other runs; \
             atomic operation {} on a line of another processor, {} on its own; clock {}",
            self.launch, self.wake_call, self.wake, self.line, self.own_line, self.clock
        )
    }
}

/// The tenth of the way from the least to the largest.
fn low(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times[times.len() / 10]
}

/// Of something short.
fn each(mut run: impl FnMut()) -> u64 {
    const COUNT: u64 = 10_000;
    let times = (0..51).map(|_| {
        let start = Instant::now();
        (0..COUNT).for_each(|_| run());
        start.elapsed().as_nanos() as u64 / COUNT
    });
    low(times.collect()).max(1)
}

/// A thread that sleeps on a futex, long enough to be asleep, is woken.
fn wake() -> (u64, u64) {
    const COUNT: u32 = 501;
    let (word, ready) = (AtomicU32::new(0), AtomicU32::new(0));
    let woken = std::sync::Mutex::new(Vec::new());
    let mut calls = Vec::new();
    let mut begun = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..COUNT {
                ready.store(turn + 1, SeqCst);
                while word.load(SeqCst) == turn {
                    let _ = futex::wait(&word, futex::Flags::PRIVATE, turn, None);
                }
                woken.lock().unwrap().push(timestamp());
            }
        });
        for turn in 0..COUNT {
            while ready.load(SeqCst) <= turn {
                spin_loop();
            }
            thread::sleep(Duration::from_micros(200));
            let before = timestamp();
            word.store(turn + 1, SeqCst);
            let _ = futex::wake(&word, futex::Flags::PRIVATE, 1);
            calls.push(timestamp() - before);
            begun.push(before);
        }
    });
    let woken = woken.into_inner().unwrap();
    let pairs = woken.iter().zip(&begun);
    let latencies = pairs.map(|(woken, begun)| woken.saturating_sub(*begun));
    (low(calls), low(latencies.collect()))
}

/// Two threads write a word in turn.
fn line() -> u64 {
    const TURNS: u32 = 200;
    let times = (0..51).map(|_| {
        let word = AtomicU32::new(0);
        // A thread's turns; it looks at the clock in the middle, when both are there for sure.
        let play = |odd: u32| {
            let mut middle = Instant::now();
            for turn in 0..TURNS {
                while word.load(SeqCst) != 2 * turn + odd {
                    spin_loop();
                }
                if turn == TURNS / 2 {
                    middle = Instant::now();
                }
                word.fetch_add(1, SeqCst);
            }
            middle
        };
        thread::scope(|scope| {
            scope.spawn(|| play(1));
            let start = play(0);
            start.elapsed().as_nanos() as u64 / u64::from(TURNS)
        })
    });
    low(times.collect())
}
