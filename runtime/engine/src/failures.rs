//! Failures of a queue's commands that the application has not been told of.
//!
//! A command that fails by itself (its kernel faults, an assertion of it fails, there is no memory
//! for it) may be one that the application has no event of. It is told where it looks next: by
//! `clFinish`, by a blocking command that comes later in an in-order queue, or by
//! `clWaitForEvents` of one that does. Each failure is told of once; reading the status of the
//! event, waiting for it, and its callback count.

use std::sync::Weak;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

use parking_lot::Mutex;

/// Failures that are remembered one by one. Beyond that many there is something to report in any
/// case, which stands for the others, too.
const MOST: usize = 1024;

/// Of commands `E`, each with its place in the queue.
pub struct Failures<E: ?Sized> {
    /// Whether there are any. Written with the list locked.
    any: AtomicBool,
    list: Mutex<Vec<(u64, Weak<E>)>>,
}

impl<E: ?Sized> Default for Failures<E> {
    fn default() -> Self {
        Failures {
            any: AtomicBool::new(false),
            list: Mutex::default(),
        }
    }
}

impl<E: ?Sized> Failures<E> {
    /// A command has failed.
    pub fn add(&self, place: u64, command: Weak<E>) {
        let mut list = self.list.lock();
        if list.len() < MOST {
            list.push((place, command));
            self.any.store(true, Release);
        }
    }

    /// The application has been told of the command's failure, if it has failed.
    pub fn forget(&self, command: &E) {
        self.take_where(|_, failed| std::ptr::addr_eq(failed.as_ptr(), command));
    }

    /// Whether there is something to tell of the commands up to a place, which is done by that.
    pub fn take(&self, up_to: u64) -> bool {
        self.take_where(|place, _| place <= up_to)
    }

    fn take_where(&self, is_told: impl Fn(u64, &Weak<E>) -> bool) -> bool {
        if !self.any.load(Acquire) {
            return false;
        }
        let told: Vec<_> = {
            let mut list = self.list.lock();
            let told = list.extract_if(.., |(place, failed)| is_told(*place, failed));
            let told = told.collect();
            self.any.store(!list.is_empty(), Release);
            told
        };
        !told.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn each_failure_is_told_of_once() {
        let failures = Failures::default();
        let commands: Vec<_> = (0..4u64).map(Arc::new).collect();
        for command in &commands {
            failures.add(**command, Arc::downgrade(command));
        }
        failures.forget(&commands[1]);
        failures.forget(&commands[1]);
        assert!(failures.take(1), "the first");
        assert!(!failures.take(1));
        failures.forget(&commands[2]);
        assert!(!failures.take(2));
        assert!(failures.take(9));
        assert!(!failures.take(9));
    }

    #[test]
    fn they_are_bounded() {
        let failures = Failures::default();
        let command = Arc::new(());
        for place in 0..4 * MOST as u64 {
            failures.add(place, Arc::downgrade(&command));
        }
        assert_eq!(failures.list.lock().len(), MOST);
        assert!(failures.take(u64::MAX));
    }
}
