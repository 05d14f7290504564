//! How threads share one piece of work: its units are claimed in chunks from a counter.
//!
//! A chunk is a share of what is left, so chunks shrink towards the end and the threads finish
//! together.
//!
//! On a machine of several NUMA nodes each node has a contiguous range of the units, with a counter
//! of its own, and its threads claim from that until it is empty; then they help the others. The
//! ranges are the same from launch to launch, so that what a node's threads have written, and
//! pages that they were the first to touch, are found near them again. Work for one thread is not
//! divided.
//!
//! How many threads are worth their while is guessed beforehand, from earlier launches of the same
//! code. A guess may be far off (code that never ran, work that depends on the data), so a thread
//! alone on a command claims a sixteenth first and looks at the clock; whenever what is left turns
//! out to be worth more threads than were guessed, they are called.
//!
//! `models/chunks.rs` goes through all orders in which two threads can share something.

use std::mem::{MaybeUninit, offset_of};
use std::ops;

use crate::sync::Ordering::{self, AcqRel, Acquire, Relaxed, SeqCst};
use crate::sync::{AtomicU32, AtomicU64};

/// Nanoseconds of work that are worth another thread.
pub const NANOSECONDS_PER_THREAD: u64 = 10_000;
/// Nanoseconds that a chunk should take at least, and for each thread: a claim waits for those of
/// the others, since the counter is on one core's cache line at a time.
const NANOSECONDS_PER_CHUNK: (u64, u64) = (2_000, 200);

/// Nanoseconds that a chunk should take at least where so many threads claim.
pub fn nanoseconds_per_chunk(threads: u32) -> u64 {
    let (least, per_thread) = NANOSECONDS_PER_CHUNK;
    least + per_thread * u64::from(threads)
}

/// How work may be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkShape {
    /// How many units there are.
    pub units: u64,
    /// How many threads are worth their while, however many there are.
    pub threads: u32,
    /// Units in a chunk at least.
    pub min_chunk: u64,
    /// How long it takes one thread, nanoseconds, as far as can be guessed.
    pub estimate: u64,
    /// Whether the rest is a guess that the clock may correct.
    pub is_guess: bool,
}

impl WorkShape {
    pub const SINGLE: WorkShape = WorkShape {
        units: 1,
        threads: 1,
        min_chunk: 1,
        estimate: u64::MAX,
        is_guess: false,
    };
}

/// A chunk is this fraction of a thread's part of what is left: small enough that no thread waits
/// long for a thread that the system has interrupted.
const PARTS: u64 = 8;

/// Work turned out to be worth more threads than one, or than several.
pub enum MoreThreads {
    FromOne,
    FromSeveral,
}

/// As many bytes as a cache line has: what is before and what is after are never on one.
///
/// Fields that are aligned to cache lines would say the same, but align all that they are part of:
/// every event would be allocated so, which the C library does without its thread's free list, and
/// would grow by what rounding up to the next line adds to each field.
type Gap = MaybeUninit<[u8; 64]>;

/// The units of a NUMA node.
struct Range {
    /// The first unit that is not claimed.
    next: AtomicU64,
    end: u64,
}

impl Range {
    fn new(units: ops::Range<u64>) -> Range {
        Range {
            next: AtomicU64::new(units.start),
            end: units.end,
        }
    }

    /// Units that are not claimed.
    fn left(&self, order: Ordering) -> u64 {
        self.end.saturating_sub(self.next.load(order))
    }

    /// Claims what `chunk` says, of what is left.
    fn claim(&self, chunk: impl Fn(u64) -> u64) -> Option<(u64, u64)> {
        let mut begin = self.next.load(Relaxed);
        while begin < self.end {
            let end = begin + chunk(self.end - begin);
            match self.next.compare_exchange_weak(begin, end, SeqCst, Relaxed) {
                Ok(_) => return Some((begin, end)),
                Err(now) => begin = now,
            }
        }
        None
    }
}

/// The state of sharing one piece of work.
///
/// What every claim reads, what every claim writes, and what threads write when they leave are on
/// cache lines of their own.
#[repr(C)]
pub struct ChunkScheduler {
    shape: WorkShape,
    /// Threads that there are.
    limit: u32,
    /// Threads that are worth their while, as known by now.
    threads: AtomicU32,
    /// Units in a chunk at least, as known by now.
    min_chunk: AtomicU64,
    /// Those of the NUMA nodes but the first, if the work is divided among nodes.
    others: Box<[(Range, Gap)]>,
    _before_first: Gap,
    /// All units, or those of the first NUMA node.
    first: Range,
    _after_first: Gap,
    /// Units done.
    done: AtomicU64,
    /// Nanoseconds that threads have spent on it.
    busy: AtomicU64,
}

const _: () = {
    let first = offset_of!(ChunkScheduler, first);
    assert!(first - offset_of!(ChunkScheduler, others) > 64);
    assert!(offset_of!(ChunkScheduler, done) - first > 64);
};

/// The units of the first NUMA node and of the others, each as many as it has threads.
#[inline(never)]
fn divide(units: u64, nodes: &[u32]) -> (Range, Box<[(Range, Gap)]>) {
    let total: u128 = nodes.iter().copied().map(u128::from).sum();
    let mut before = 0;
    let mut ranges = nodes.iter().map(|&threads| {
        let place = |threads| (u128::from(units) * threads / total) as u64;
        let begin = place(before);
        before += u128::from(threads);
        Range::new(begin..place(before))
    });
    let first = ranges.next().unwrap_or(Range::new(0..units));
    let others = ranges.map(|range| (range, MaybeUninit::uninit()));
    (first, others.collect())
}

impl ChunkScheduler {
    /// `limit` is how many threads there are, `nodes` how many of them each NUMA node has.
    pub fn new(shape: WorkShape, limit: u32, nodes: &[u32]) -> ChunkScheduler {
        debug_assert!(shape.units > 0 && shape.threads > 0 && shape.min_chunk > 0 && limit > 0);
        let shape = WorkShape {
            threads: shape.threads.min(limit),
            ..shape
        };
        let (first, others) = match nodes.len() > 1 && shape.threads > 1 {
            true => divide(shape.units, nodes),
            false => (Range::new(0..shape.units), Box::default()),
        };
        ChunkScheduler {
            shape,
            limit,
            threads: AtomicU32::new(shape.threads),
            min_chunk: AtomicU64::new(shape.min_chunk),
            others,
            first,
            _before_first: MaybeUninit::uninit(),
            _after_first: MaybeUninit::uninit(),
            done: AtomicU64::new(0),
            busy: AtomicU64::new(0),
        }
    }

    pub fn shape(&self) -> &WorkShape {
        &self.shape
    }

    /// Threads that are worth their while, as known by now.
    pub fn threads(&self) -> u32 {
        self.threads.load(SeqCst)
    }

    /// Whether every unit is claimed.
    pub fn is_exhausted(&self) -> bool {
        self.left(SeqCst) == 0
    }

    /// Units that are not claimed.
    fn left(&self, order: Ordering) -> u64 {
        let others = self.others.iter().map(|(range, _)| range.left(order));
        self.first.left(order) + others.sum::<u64>()
    }

    /// Claims the next chunk of units for a thread of a NUMA node: of another node's units if there
    /// is none left of its own.
    pub fn claim(&self, node: usize) -> Option<(u64, u64)> {
        match self.others.is_empty() {
            true => self.claim_of(&self.first),
            false => self.claim_near(node),
        }
    }

    /// As [`ChunkScheduler::claim`], of work that is divided among nodes.
    #[inline(never)]
    fn claim_near(&self, node: usize) -> Option<(u64, u64)> {
        let first = std::iter::once(&self.first);
        let ranges = first.chain(self.others.iter().map(|(range, _)| range));
        let mut ranges = ranges.clone().skip(node).chain(ranges.take(node));
        ranges.find_map(|range| self.claim_of(range))
    }

    /// Claims a chunk of what is left of a range.
    fn claim_of(&self, range: &Range) -> Option<(u64, u64)> {
        let threads = self.threads.load(Relaxed);
        range.claim(|left| match threads {
            1 if left == self.shape.units && self.shape.is_guess => left.div_ceil(16),
            1 => left,
            _ => {
                // The threads of a node share its units.
                let nodes = 1 + self.others.len() as u64;
                let part = left / (PARTS * u64::from(threads)) * nodes;
                part.max(self.min_chunk.load(Relaxed)).min(left)
            }
        })
    }

    /// `units` units took `nanoseconds`: corrects the guess. Tells when more threads should come
    /// than before.
    pub fn record_time(&self, units: u64, nanoseconds: u64) -> Option<MoreThreads> {
        let left = self.left(Relaxed);
        if left == 0 || !self.shape.is_guess {
            return None;
        }
        let time_left = u128::from(nanoseconds) * u128::from(left) / u128::from(units);
        let wanted = (time_left / u128::from(NANOSECONDS_PER_THREAD))
            .min(u128::from(left))
            .min(u128::from(self.limit)) as u32;
        if wanted <= self.threads.load(Relaxed) {
            return None;
        }
        let chunk = nanoseconds_per_chunk(wanted).saturating_mul(units) / nanoseconds.max(1);
        self.min_chunk.fetch_min(chunk.max(1), Relaxed);
        match self.threads.fetch_max(wanted, SeqCst) {
            1 => Some(MoreThreads::FromOne),
            before if before < wanted => Some(MoreThreads::FromSeveral),
            _ => None,
        }
    }

    /// Counts what a thread has done, which took it so many nanoseconds. True if these units were
    /// the last. A thread does this once, when it leaves, and not for each chunk.
    ///
    /// *Orderings.* `done` is a chain of read-modify-write operations that acquire and release: the
    /// thread that finds the last units done sees what all others wrote before, in the memory of
    /// the command too, and their parts of `busy`, which each adds before. The ranges' `next`,
    /// `threads` and `min_chunk` pass on no memory: a claim must only be of units that nobody else
    /// has, which the compare-exchange sees to. That is sequentially consistent, as `threads` is
    /// where it is raised, since the pool's `is_exhausted` and `has_room` are part of "work made
    /// available" (`sleep.rs`).
    pub fn done(&self, units: u64, nanoseconds: u64) -> bool {
        self.busy.fetch_add(nanoseconds, Relaxed);
        self.done.fetch_add(units, AcqRel) + units == self.shape.units
    }

    /// Nanoseconds that threads have spent on it.
    pub fn busy(&self) -> u64 {
        self.busy.load(Acquire)
    }
}
