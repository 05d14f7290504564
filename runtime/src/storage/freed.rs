//! Mappings that were freed, kept for those that will be asked for.
//!
//! The first access to each page of a new block is a fault, in which the system zeroes it: for an
//! image that one command writes and another reads, that takes longer than the commands, and
//! applications make such images for every step of what they do. So blocks are used again, oldest
//! ones last, and a sixteenth of the machine's memory is as much as is kept. Meanwhile the system
//! may take pages back; and before there is no memory for a new one, all that is kept is let go.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::pages::Pages;
use crate::base::trace;

/// What a trace calls them.
const KEPT: &str = "freed memory";

/// Freed blocks of pages, the oldest first.
pub(super) struct Freed {
    /// Bytes that are kept at most.
    limit: usize,
    kept: Mutex<VecDeque<Pages>>,
}

impl Freed {
    pub fn new(limit: usize) -> Freed {
        Freed {
            limit,
            kept: Mutex::new(VecDeque::new()),
        }
    }

    /// The latest block of at least `size` bytes of which no more than a quarter would be too
    /// much, with whatever contents.
    pub fn take(&self, size: usize) -> Option<Pages> {
        let fits = size..=size.saturating_add(size / 4);
        let mut kept = self.kept.lock();
        let place = kept.iter().rposition(|m| fits.contains(&m.size()))?;
        let found = kept.remove(place);
        drop(kept);
        if trace::is_on() {
            trace::use_again(KEPT);
        }
        found
    }

    /// Keeps a block, and lets the oldest ones go if that is too much.
    pub fn keep(&self, pages: Pages) {
        if pages.size() > self.limit {
            return;
        }
        if trace::is_on() {
            trace::keep(KEPT, pages.size() as u64, 0);
        }
        pages.offer();
        // Unmapped once others may go on.
        let mut too_much = Vec::new();
        let mut kept = self.kept.lock();
        kept.push_back(pages);
        let mut bytes: usize = kept.iter().map(Pages::size).sum();
        while bytes > self.limit
            && let Some(oldest) = kept.pop_front()
        {
            bytes -= oldest.size();
            too_much.push(oldest);
        }
        drop(kept);
    }

    /// Lets all go.
    pub fn clear(&self) {
        let all = std::mem::take(&mut *self.kept.lock());
        drop(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn pages(size: usize) -> Pages {
        Pages::new(size).expect("memory")
    }

    #[test]
    fn a_block_is_used_again_by_one_nearly_as_large() {
        let freed = Freed::new(64 * MIB);
        let first = pages(5 * MIB);
        let address = first.pointer();
        freed.keep(first);
        assert!(freed.take(5 * MIB + 1).is_none());
        assert!(freed.take(3 * MIB).is_none());
        let again = freed.take(4 * MIB).expect("what was kept");
        assert_eq!((again.pointer(), again.size()), (address, 5 * MIB));
        assert!(freed.take(4 * MIB).is_none());
    }

    #[test]
    fn the_oldest_go_first() {
        let freed = Freed::new(10 * MIB);
        freed.keep(pages(11 * MIB));
        assert!(freed.take(11 * MIB).is_none());
        for size in [3, 4, 5] {
            freed.keep(pages(size * MIB));
        }
        assert!(freed.take(3 * MIB).is_none());
        assert!(freed.take(4 * MIB).is_some());
        freed.clear();
        assert!(freed.take(5 * MIB).is_none());
    }
}
