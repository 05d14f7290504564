//! One launch, played step by step.
//!
//! Threads are asleep at first but for the one that enqueues the launch and waits for it. Each has
//! a clock of its own; what is next in time happens next. What threads share are cache lines and a
//! lock: one thread has them at a time, the others queue, in the order in which they come. An
//! operation on a line costs more if another thread had it before.
//!
//! Left out: retries of compare-exchange (a claim takes the line once), what threads do after the
//! launch, other load, and differences between processors near and far. The estimate of the work is
//! right, as after a few launches of a kernel.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::costs::Costs;
use brolga_engine::chunks::{
    ChunkScheduler, NANOSECONDS_PER_THREAD, WorkShape, nanoseconds_per_chunk,
};

/// Nanoseconds that a chunk took at least before, however many threads there were.
const CHUNK_BEFORE: u64 = 2_000;

/// Nanoseconds of work for which no thread is woken.
const DEFERRED: u64 = 8_000;

/// Which scheduler is played.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// A thread that takes part wakes one more; claims, and what is done after each chunk, are
    /// operations on one cache line.
    Before,
    /// A thread that takes part wakes two more; what it has done it counts when it leaves, on
    /// another line; chunks take longer the more threads there are.
    Now,
}

/// What is launched.
#[derive(Clone, Copy)]
pub struct Launch {
    /// Threads that there are.
    pub threads: u32,
    pub groups: u64,
    /// Nanoseconds that a group takes.
    pub group: u64,
}

impl Launch {
    fn work(&self) -> u64 {
        self.groups * self.group
    }

    /// Threads that the work is worth.
    pub fn worth(&self) -> u32 {
        (self.work() / NANOSECONDS_PER_THREAD)
            .min(self.groups)
            .clamp(1, self.threads.into()) as u32
    }
}

/// What came of it, nanoseconds.
pub struct Outcome {
    /// From the enqueue to the end of the wait.
    pub time: u64,
    /// Until the last of the threads that the work is worth began, if all of them did.
    pub all_at_work: u64,
}

impl Outcome {
    /// Of the time of the threads that the work is worth, what was work.
    pub fn efficiency(&self, launch: Launch) -> f64 {
        launch.work() as f64 / (self.time as f64 * f64::from(launch.worth()))
    }

    /// Of the same time, what was no work, for each group.
    pub fn lost_per_group(&self, launch: Launch) -> f64 {
        let time = self.time as f64 * f64::from(launch.worth());
        (time - launch.work() as f64) / launch.groups as f64
    }
}

/// A cache line, or what a lock guards.
#[derive(Default)]
struct Shared {
    free: u64,
    last: Option<usize>,
}

impl Shared {
    /// A thread that comes at `now` keeps it for `extra` longer than it takes to get; returns when
    /// it is done.
    fn pass(&mut self, thread: usize, now: u64, extra: u64, costs: &Costs) -> u64 {
        let cost = match self.last {
            Some(last) if last != thread => costs.line,
            _ => costs.own_line,
        };
        self.last = Some(thread);
        self.free = now.max(self.free) + cost + extra;
        self.free
    }
}

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Wakes so many threads.
    Offer(u32),
    /// Looks for something to do in the list of ready commands.
    Take,
    Claim,
    /// Has run a chunk of so many groups.
    Ran(u64),
    /// Counts so many groups.
    Count {
        groups: u64,
        leaves: bool,
    },
}

/// Plays a launch.
pub fn play(scheduler: Scheduler, launch: Launch, costs: &Costs) -> Outcome {
    let worth = launch.worth();
    let per_chunk = match scheduler {
        Scheduler::Before => CHUNK_BEFORE,
        Scheduler::Now => nanoseconds_per_chunk(worth),
    };
    let shape = WorkShape {
        units: launch.groups,
        threads: worth,
        min_chunk: (per_chunk / launch.group).max(1),
        estimate: launch.work(),
        is_guess: true,
    };
    let chunks = ChunkScheduler::new(shape, launch.threads, &[]);
    let fan_out = match scheduler {
        Scheduler::Before => 1,
        Scheduler::Now => 2,
    };
    let (mut pool, mut next, mut counts) =
        (Shared::default(), Shared::default(), Shared::default());
    // Groups that each thread has run and not counted; those counted.
    let mut uncounted = vec![0; launch.threads as usize + 1];
    let mut counted = 0;
    let (mut participants, mut asleep) = (0, launch.threads as usize);
    let mut outcome = Outcome {
        time: 0,
        all_at_work: 0,
    };
    let mut completed = 0;
    // Half of what a launch costs comes before it is offered to other threads.
    let offered = match (scheduler, worth) {
        (_, 1) if launch.work() < DEFERRED => 0,
        (Scheduler::Before, _) | (Scheduler::Now, 1 | 2) => 1,
        (Scheduler::Now, _) => 2,
    };
    let first = (costs.launch / 2, 0, Step::Offer(offered));
    let mut steps = BinaryHeap::from([Reverse(first)]);
    while let Some(Reverse((now, thread, step))) = steps.pop() {
        match step {
            Step::Offer(wanted) => {
                // There is none to wake when all are awake, or about to be.
                let wanted = asleep.min(wanted as usize);
                let mut now = now;
                for _ in 0..wanted {
                    asleep -= 1;
                    let woken = launch.threads as usize - asleep;
                    steps.push(Reverse((now + costs.wake, woken, Step::Take)));
                    now += costs.wake_call;
                }
                let next = match participants {
                    0 => (now, thread, Step::Take),
                    _ => (now + costs.clock, thread, Step::Claim),
                };
                steps.push(Reverse(next));
            }
            Step::Take => {
                let now = pool.pass(thread, now, costs.own_line, costs);
                if participants >= worth || chunks.is_exhausted() {
                    continue;
                }
                participants += 1;
                if participants == worth {
                    outcome.all_at_work = now;
                }
                let wanted = (worth - participants).min(fan_out);
                steps.push(Reverse((now, thread, Step::Offer(wanted))));
            }
            Step::Claim => {
                let now = next.pass(thread, now, 0, costs);
                let step = match chunks.claim(0) {
                    Some((begin, end)) => {
                        let groups = end - begin;
                        let took = groups * launch.group + costs.clock;
                        (now + took, thread, Step::Ran(groups))
                    }
                    None => {
                        let groups = std::mem::take(&mut uncounted[thread]);
                        let leaves = true;
                        (now, thread, Step::Count { groups, leaves })
                    }
                };
                steps.push(Reverse(step));
            }
            Step::Ran(groups) => steps.push(Reverse(match scheduler {
                Scheduler::Before => {
                    let leaves = false;
                    (now, thread, Step::Count { groups, leaves })
                }
                Scheduler::Now => {
                    uncounted[thread] += groups;
                    // It reads how much is left.
                    let read = match next.last == Some(thread) {
                        true => 0,
                        false => costs.line,
                    };
                    (now + read, thread, Step::Claim)
                }
            })),
            Step::Count { groups, leaves } => {
                let mut now = now;
                if groups > 0 {
                    // The time, and the number of groups.
                    let line = match scheduler {
                        Scheduler::Before => &mut next,
                        Scheduler::Now => &mut counts,
                    };
                    now = line.pass(thread, now, costs.own_line, costs);
                    counted += groups;
                }
                if counted == launch.groups && completed == 0 {
                    completed = now;
                    // The thread that waits sees it.
                    let seen = match thread {
                        0 => 0,
                        _ => costs.line,
                    };
                    outcome.time = now + seen + costs.launch / 2;
                } else if !leaves {
                    steps.push(Reverse((now, thread, Step::Claim)));
                }
            }
        }
    }
    outcome
}
