//! What work-items of a sub-group or work-group do together: the operations and their meaning.
//!
//! A collective is done by the work-items that arrive at it in the same iteration of the same
//! loops: its *active* work-items. What it gives each of them follows from what each of them
//! brought ([`evaluate`]).

use super::eval;
use super::{BinOp, FloatCC, Scalar};

/// Operand and result types are in the variants' docs; `T` is any type, of several lanes before
/// `scalarize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collective {
    /// `()`: work-items wait for each other. Of sub-groups only; [`super::Op::Barrier`] is for
    /// work-groups.
    Sync,
    /// `() -> i1`: whether this is the first of the active work-items.
    Elect,
    /// `i1 -> i1`
    All,
    /// `i1 -> i1`
    Any,
    /// `T -> i1`, one lane. Floating-point numbers are equal when they compare so.
    AllEqual,
    /// `i1 -> i64`: bit `l` is set when the `l`-th work-item is active and brought 1.
    Ballot,
    /// `T, i32 -> T`: what the work-item of that number brought; 0 when it is not active or there
    /// is none. The number that the first active work-item brought counts.
    Broadcast,
    /// `T -> T`: what the first active work-item brought.
    BroadcastFirst,
    /// `T, i32 -> T`: what the work-item of that number brought, each its own number; 0 as for
    /// `Broadcast`.
    Shuffle,
    /// `T -> T`
    Reduce(BinOp),
    /// `T -> T`: of the work-items up to this one.
    Inclusive(BinOp),
    /// `T -> T`: of the work-items before this one, beginning with the operation's identity.
    Exclusive(BinOp),
    /// `T -> T`: a reduction among this many neighbours, a power of two.
    Cluster(BinOp, u8),
}

impl Collective {
    /// The name in the text form, without the operation and size of reductions.
    pub fn name(self) -> &'static str {
        match self {
            Collective::Sync => "sync",
            Collective::Elect => "elect",
            Collective::All => "all",
            Collective::Any => "any",
            Collective::AllEqual => "all_equal",
            Collective::Ballot => "ballot",
            Collective::Broadcast => "broadcast",
            Collective::BroadcastFirst => "broadcast_first",
            Collective::Shuffle => "shuffle",
            Collective::Reduce(_) => "reduce",
            Collective::Inclusive(_) => "inclusive",
            Collective::Exclusive(_) => "exclusive",
            Collective::Cluster(..) => "cluster",
        }
    }

    /// What it combines operands with.
    pub fn op(self) -> Option<BinOp> {
        match self {
            Collective::Reduce(op)
            | Collective::Inclusive(op)
            | Collective::Exclusive(op)
            | Collective::Cluster(op, _) => Some(op),
            _ => None,
        }
    }

    /// How many operands it has, without a mask.
    pub fn operands(self) -> usize {
        match self {
            Collective::Sync | Collective::Elect => 0,
            Collective::Broadcast | Collective::Shuffle => 2,
            _ => 1,
        }
    }

    /// Whether all active work-items get the same.
    pub fn is_uniform(self) -> bool {
        matches!(
            self,
            Collective::All
                | Collective::Any
                | Collective::AllEqual
                | Collective::Ballot
                | Collective::Broadcast
                | Collective::BroadcastFirst
                | Collective::Reduce(_)
        )
    }
}

/// The result of a scan where there is nothing to combine (OpenCL C, "Work-group Collective
/// Functions").
pub fn identity(op: BinOp, scalar: Scalar) -> u64 {
    let top = 1 << (scalar.bits() - 1);
    match op {
        BinOp::IMul => 1,
        BinOp::And | BinOp::UMin => scalar.mask(),
        BinOp::SMin => scalar.mask() & !top,
        BinOp::SMax => top,
        BinOp::FMul => eval::from_f64(scalar, 1.0),
        BinOp::FMin => eval::from_f64(scalar, f64::INFINITY),
        BinOp::FMax => eval::from_f64(scalar, f64::NEG_INFINITY),
        // Addition, or, exclusive or, unsigned maximum.
        _ => 0,
    }
}

/// What stands for a work-item that is not active: combined with anything, on either side, it gives
/// that thing's bits.
pub fn neutral(op: BinOp, scalar: Scalar) -> u64 {
    match op {
        BinOp::FAdd => eval::from_f64(scalar, -0.0),
        BinOp::FMin | BinOp::FMax => eval::from_f64(scalar, f64::NAN),
        _ => identity(op, scalar),
    }
}

/// How reductions of a group are parenthesized: it matters to sums of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// One after another.
    InOrder,
    /// As a vector of so many lanes, a power of two, does it: neighbours, then pairs of neighbours,
    /// and so on.
    Tree(usize),
}

/// What a collective gives each work-item of a group, in order; 0 for those not active. `values`
/// and `numbers` are the operands of each, `scalar` the type of a value.
pub fn evaluate(
    what: Collective,
    scalar: Scalar,
    grouping: Grouping,
    active: &[bool],
    values: &[u64],
    numbers: &[u64],
) -> Vec<u64> {
    let count = active.len();
    let first = active.iter().position(|&a| a);
    let ours = || (0..count).filter(|&l| active[l]);
    let all = |value: u64| vec![value; count];
    let pick = |number: u64| match usize::try_from(number) {
        Ok(l) if l < count && active[l] => values[l],
        _ => 0,
    };
    let mut results = match what {
        Collective::Sync => all(0),
        Collective::Elect => (0..count).map(|l| u64::from(Some(l) == first)).collect(),
        Collective::All => all(u64::from(ours().all(|l| values[l] != 0))),
        Collective::Any => all(u64::from(ours().any(|l| values[l] != 0))),
        Collective::AllEqual => all(u64::from(first.is_none_or(|f| {
            ours().all(|l| match scalar.is_float() {
                true => eval::fcmp(FloatCC::Oeq, scalar, values[l], values[f]),
                false => values[l] == values[f],
            })
        }))),
        Collective::Ballot => all(ours().map(|l| (values[l] & 1) << l).sum()),
        Collective::Broadcast => all(first.map_or(0, |f| pick(numbers[f]))),
        Collective::BroadcastFirst => all(first.map_or(0, |f| values[f])),
        Collective::Shuffle => numbers.iter().map(|&number| pick(number)).collect(),
        Collective::Reduce(op)
        | Collective::Inclusive(op)
        | Collective::Exclusive(op)
        | Collective::Cluster(op, _) => {
            let nothing = neutral(op, scalar);
            let mut lanes: Vec<u64> = (0..count)
                .map(|l| if active[l] { values[l] } else { nothing })
                .collect();
            if let Grouping::Tree(width) = grouping {
                lanes.resize(width.max(count), nothing);
            }
            let mut results = combine(what, op, scalar, grouping, lanes);
            results.truncate(count);
            results
        }
    };
    for (l, result) in results.iter_mut().enumerate() {
        if !active[l] {
            *result = 0;
        }
    }
    results
}

fn combine(
    what: Collective,
    op: BinOp,
    scalar: Scalar,
    grouping: Grouping,
    lanes: Vec<u64>,
) -> Vec<u64> {
    let count = lanes.len();
    let both = |a: u64, b: u64| eval::binary(op, scalar, a, b);
    match (what, grouping) {
        (Collective::Cluster(_, size), _) => among(lanes, usize::from(size).min(count), both),
        (Collective::Reduce(_), Grouping::Tree(_)) => among(lanes, count, both),
        (Collective::Reduce(_), Grouping::InOrder) => {
            let sum = lanes.iter().copied().fold(neutral(op, scalar), both);
            vec![sum; count]
        }
        (Collective::Exclusive(_), _) => {
            let mut sums = prefixes(lanes, grouping, neutral(op, scalar), both);
            sums.insert(0, neutral(op, scalar));
            let start = identity(op, scalar);
            sums.into_iter().map(|sum| both(start, sum)).collect()
        }
        _ => prefixes(lanes, grouping, neutral(op, scalar), both),
    }
}

/// In each lane, the combination of the aligned run of `size` lanes around it.
fn among(mut lanes: Vec<u64>, size: usize, both: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    let mut step = 1;
    while step < size {
        lanes = (0..lanes.len())
            .map(|l| both(lanes[l & !step], lanes[l | step]))
            .collect();
        step *= 2;
    }
    lanes
}

/// In each lane, the combination of the lanes up to it.
fn prefixes(
    mut lanes: Vec<u64>,
    grouping: Grouping,
    nothing: u64,
    both: impl Fn(u64, u64) -> u64,
) -> Vec<u64> {
    match grouping {
        Grouping::InOrder => {
            let mut sum = nothing;
            for lane in &mut lanes {
                sum = both(sum, *lane);
                *lane = sum;
            }
        }
        Grouping::Tree(_) => {
            let mut step = 1;
            while step < lanes.len() {
                lanes = (0..lanes.len())
                    .map(|l| match l.checked_sub(step) {
                        Some(before) => both(lanes[before], lanes[l]),
                        None => lanes[l],
                    })
                    .collect();
                step *= 2;
            }
        }
    }
    lanes
}
