//! Loom's: atomics, locks with the interface of `parking_lot`, a futex made of loom's locks, and
//! threads. Time does not pass: nothing is waited for in vain, and who spins looks once.

use std::io;
use std::ops::{Deref, DerefMut};
use std::time::Instant;

pub(crate) use loom::sync::atomic::Ordering;
use loom::sync::atomic::{self, fence};
pub(crate) use loom::thread::{LocalKey, yield_now};

macro_rules! locals {
    ($($item:tt)*) => {
        loom::thread_local! { $($item)* }
    };
}
pub(crate) use locals;

/// Loom takes sequentially consistent accesses for less than they are (acquire and release),
/// but knows such fences. With one on each side an access is what it should be.
fn ordered<T>(order: Ordering, access: impl FnOnce() -> T) -> T {
    if order != Ordering::SeqCst {
        return access();
    }
    fence(Ordering::SeqCst);
    let result = access();
    fence(Ordering::SeqCst);
    result
}

macro_rules! atomic {
    ($name:ident, $value:ty) => {
        #[derive(Debug)]
        pub(crate) struct $name(atomic::$name);

        impl Default for $name {
            fn default() -> Self {
                $name::new(<$value>::default())
            }
        }

        #[allow(dead_code, reason = "each type has what one of them needs")]
        impl $name {
            pub(crate) fn new(value: $value) -> Self {
                $name(atomic::$name::new(value))
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                ordered(order, || self.0.load(order))
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                ordered(order, || self.0.store(value, order));
            }

            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                ordered(order, || self.0.swap(value, order))
            }

            pub(crate) fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                ordered(success, || {
                    self.0.compare_exchange(old, new, success, failure)
                })
            }
        }
    };
    ($name:ident, $value:ty, arithmetic) => {
        atomic!($name, $value);

        #[allow(dead_code, reason = "each type has what one of them needs")]
        impl $name {
            pub(crate) fn compare_exchange_weak(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(old, new, success, failure)
            }

            pub(crate) fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                ordered(order, || self.0.fetch_add(value, order))
            }

            pub(crate) fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                ordered(order, || self.0.fetch_sub(value, order))
            }

            pub(crate) fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                ordered(order, || self.0.fetch_max(value, order))
            }

            pub(crate) fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                ordered(order, || self.0.fetch_min(value, order))
            }
        }
    };
}

atomic!(AtomicBool, bool);
atomic!(AtomicI32, i32, arithmetic);
atomic!(AtomicU64, u64, arithmetic);
atomic!(AtomicUsize, usize, arithmetic);

mod word {
    use super::*;

    atomic!(AtomicU32, u32, arithmetic);
}

/// A word and its futex.
#[derive(Debug)]
pub(crate) struct AtomicU32 {
    word: word::AtomicU32,
    /// Held while a thread compares and goes to sleep, as in the kernel.
    asleep: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

impl AtomicU32 {
    pub(crate) fn new(value: u32) -> AtomicU32 {
        AtomicU32 {
            word: word::AtomicU32::new(value),
            asleep: loom::sync::Mutex::new(()),
            woken: loom::sync::Condvar::new(),
        }
    }
}

impl Deref for AtomicU32 {
    type Target = word::AtomicU32;

    fn deref(&self) -> &word::AtomicU32 {
        &self.word
    }
}

pub(crate) fn futex_wait(word: &AtomicU32, value: u32) {
    let asleep = word.asleep.lock().unwrap();
    if word.load(Ordering::SeqCst) == value {
        drop(word.woken.wait(asleep).unwrap());
    }
}

pub(crate) fn futex_wake(word: &AtomicU32, threads: u32) {
    let asleep = word.asleep.lock().unwrap();
    match threads {
        0..3 => (0..threads).for_each(|_| word.woken.notify_one()),
        _ => word.woken.notify_all(),
    }
    drop(asleep);
}

pub(crate) fn spawn(_: &str, _: usize, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    loom::thread::spawn(work);
    Ok(())
}

pub(crate) fn spin<T>(_nanoseconds: u64, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    look()
}

#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

pub(crate) struct MutexGuard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap()))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap()
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("only a wait has none")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("only a wait has none")
    }
}

#[derive(Debug)]
pub(crate) struct Condvar(loom::sync::Condvar);

/// What a wait with an end says: it never came to it.
pub(crate) struct NotTimedOut;

impl NotTimedOut {
    pub(crate) fn timed_out(&self) -> bool {
        false
    }
}

impl Condvar {
    pub(crate) fn new() -> Condvar {
        Condvar(loom::sync::Condvar::new())
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let own = guard.0.take().expect("only a wait has none");
        guard.0 = Some(self.0.wait(own).unwrap());
    }

    pub(crate) fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, _: Instant) -> NotTimedOut {
        self.wait(guard);
        NotTimedOut
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}
