//! Which jumps are short: all that can be, in linear time.
//!
//! Jumps begin short, and become near when their targets are out of reach; that takes the targets
//! of jumps around them further away, and so on. Only jumps that are short can be hit by that, and
//! they reach 128 bytes: each that grows looks at the few neighbours within that distance.

use super::Cc;
use super::buffer::Bound;

/// What has no length before all code is there. Meanwhile it is as long as it can be.
pub(super) struct Piece {
    pub start: u32,
    pub kind: Kind,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Jump {
        /// Where to: a label's number, whether it is near, and when the jump is taken.
        label: u32,
        near: bool,
        condition: Option<Cc>,
    },
    /// To a multiple of a power of two.
    Padding { align: u32 },
}

pub(super) const SHORT_BYTES: u32 = 2;

impl Kind {
    /// The most that it can take.
    pub fn max_bytes(self) -> u32 {
        match self {
            Kind::Jump { condition, .. } => match condition {
                Some(_) => 6,
                None => 5,
            },
            Kind::Padding { align } => align - 1,
        }
    }

    /// What a jump takes as it is, and padding at most: so what aligns it does not matter here.
    fn bytes(self) -> u32 {
        match self {
            Kind::Jump { near: false, .. } => SHORT_BYTES,
            _ => self.max_bytes(),
        }
    }
}

/// Makes jumps near that cannot be short. `labels` are where they are in the code of maximal
/// lengths.
pub(super) fn relax(pieces: &mut [Piece], labels: &[Bound]) {
    let starts = Starts::new(pieces);
    let mut reach: Vec<i32> = (0..pieces.len())
        .map(|piece| match pieces[piece].kind {
            Kind::Jump { label, .. } => starts.distance(pieces, piece, labels[label as usize]),
            Kind::Padding { .. } => 0,
        })
        .collect();
    let mut growing: Vec<usize> = (0..pieces.len())
        .filter(|&piece| i8::try_from(reach[piece]).is_err())
        .collect();
    while let Some(grown) = growing.pop() {
        let before = pieces[grown].kind.bytes();
        if let Kind::Jump { near, .. } = &mut pieces[grown].kind {
            *near = true;
        }
        let more = (pieces[grown].kind.bytes() - before) as i32;
        let mut visit = |other: usize| {
            let Kind::Jump {
                label, near: false, ..
            } = pieces[other].kind
            else {
                return;
            };
            let was_short = i8::try_from(reach[other]).is_ok();
            let beyond = labels[label as usize].pieces as usize > grown;
            match other < grown {
                true if beyond => reach[other] += more,
                false if !beyond => reach[other] -= more,
                _ => {}
            }
            if was_short && i8::try_from(reach[other]).is_err() {
                growing.push(other);
            }
        };
        let at = starts.of(pieces, grown);
        let in_reach = |&other: &usize| starts.of(pieces, other).abs_diff(at) <= REACH;
        (0..grown).rev().take_while(in_reach).for_each(&mut visit);
        (grown + 1..pieces.len())
            .take_while(in_reach)
            .for_each(&mut visit);
    }
}

/// The distance of two jumps of which one can span the other while it is short: 128 bytes back
/// from its end.
const REACH: u32 = 128;

/// Where pieces start when all jumps are short.
struct Starts {
    /// What the pieces before are shorter than their maximum, for each piece and the end.
    saved: Vec<u32>,
}

impl Starts {
    fn new(pieces: &[Piece]) -> Starts {
        let mut saved = Vec::with_capacity(pieces.len() + 1);
        let mut sum = 0;
        saved.push(sum);
        for piece in pieces {
            sum += piece.kind.max_bytes() - piece.kind.bytes();
            saved.push(sum);
        }
        Starts { saved }
    }

    fn of(&self, pieces: &[Piece], piece: usize) -> u32 {
        pieces[piece].start - self.saved[piece]
    }

    /// From the end of a short jump to a label.
    fn distance(&self, pieces: &[Piece], jump: usize, to: Bound) -> i32 {
        debug_assert!(
            to.offset != Bound::NOWHERE.offset,
            "a jump to a label that is not bound"
        );
        let target = to.offset - self.saved[to.pieces as usize];
        target as i32 - (self.of(pieces, jump) + SHORT_BYTES) as i32
    }
}
