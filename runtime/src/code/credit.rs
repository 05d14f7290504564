//! How much is compiled that may never be launched.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Pieces of code that may still be made ahead of launches. One costs 1; a launch that finds its
/// code made ahead gives back 2. So a process that launches half of its kernels or more has all
/// made ahead, and one that launches fewer wastes [`Credit::MOST`] compiles at most.
pub(super) struct Credit(AtomicU32);

impl Credit {
    /// What there is at first, and the most that there can be.
    const MOST: u32 = 32;

    pub(super) const fn new() -> Credit {
        Credit(AtomicU32::new(Credit::MOST))
    }

    /// Whether one more may be made.
    pub(super) fn take(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        self.0.fetch_update(Relaxed, Relaxed, one_less).is_ok()
    }

    /// A launch has found what was made.
    pub(super) fn refund(&self) {
        let two_more = |left: u32| Some((left + 2).min(Credit::MOST));
        let _ = self.0.fetch_update(Relaxed, Relaxed, two_more);
    }
}

#[cfg(test)]
mod tests {
    use super::Credit;

    #[test]
    fn it_ends_unless_launches_find_what_was_made() {
        let credit = Credit::new();
        let made = (0..1000).take_while(|_| credit.take()).count();
        assert_eq!(made, Credit::MOST as usize);
        credit.refund();
        assert!(credit.take() && credit.take() && !credit.take());
        for launched in 0..1000 {
            credit.refund();
            assert!(credit.take(), "{launched}");
        }
        // It does not grow beyond what there was.
        (0..1000).for_each(|_| credit.refund());
        let made = (0..1000).take_while(|_| credit.take()).count();
        assert_eq!(made, Credit::MOST as usize);
    }
}
