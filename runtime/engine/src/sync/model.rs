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

/// An atomic of loom's.
pub(crate) trait Access {
    type Value: Default;

    fn new(value: Self::Value) -> Self;
    fn load(&self, order: Ordering) -> Self::Value;
    fn store(&self, value: Self::Value, order: Ordering);
    fn swap(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn compare_exchange(
        &self,
        old: Self::Value,
        new: Self::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self::Value, Self::Value>;
}

/// One that counts.
pub(crate) trait Arithmetic: Access {
    fn fetch_add(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn fetch_sub(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn fetch_max(&self, value: Self::Value, order: Ordering) -> Self::Value;
    fn fetch_min(&self, value: Self::Value, order: Ordering) -> Self::Value;
}

macro_rules! access {
    ($name:ident, $value:ty) => {
        impl Access for atomic::$name {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self::new(value)
            }

            fn load(&self, order: Ordering) -> $value {
                self.load(order)
            }

            fn store(&self, value: $value, order: Ordering) {
                self.store(value, order);
            }

            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.swap(value, order)
            }

            fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(old, new, success, failure)
            }
        }
    };
    ($name:ident, $value:ty, arithmetic) => {
        access!($name, $value);

        impl Arithmetic for atomic::$name {
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.fetch_add(value, order)
            }

            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.fetch_sub(value, order)
            }

            fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.fetch_max(value, order)
            }

            fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                self.fetch_min(value, order)
            }
        }
    };
}

access!(AtomicBool, bool);
access!(AtomicI32, i32, arithmetic);
access!(AtomicU32, u32, arithmetic);
access!(AtomicU64, u64, arithmetic);
access!(AtomicUsize, usize, arithmetic);

/// An atomic whose sequentially consistent accesses are.
#[derive(Debug)]
pub(crate) struct Atomic<A>(A);

pub(crate) type AtomicBool = Atomic<atomic::AtomicBool>;
pub(crate) type AtomicI32 = Atomic<atomic::AtomicI32>;
pub(crate) type AtomicU64 = Atomic<atomic::AtomicU64>;
pub(crate) type AtomicUsize = Atomic<atomic::AtomicUsize>;

impl<A: Access> Default for Atomic<A> {
    fn default() -> Self {
        Atomic::new(A::Value::default())
    }
}

impl<A: Access> Atomic<A> {
    pub(crate) fn new(value: A::Value) -> Self {
        Atomic(A::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> A::Value {
        ordered(order, || self.0.load(order))
    }

    pub(crate) fn store(&self, value: A::Value, order: Ordering) {
        ordered(order, || self.0.store(value, order));
    }

    pub(crate) fn swap(&self, value: A::Value, order: Ordering) -> A::Value {
        ordered(order, || self.0.swap(value, order))
    }

    pub(crate) fn compare_exchange(
        &self,
        old: A::Value,
        new: A::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<A::Value, A::Value> {
        ordered(success, || {
            self.0.compare_exchange(old, new, success, failure)
        })
    }

    pub(crate) fn compare_exchange_weak(
        &self,
        old: A::Value,
        new: A::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<A::Value, A::Value> {
        self.compare_exchange(old, new, success, failure)
    }
}

impl<A: Arithmetic> Atomic<A> {
    pub(crate) fn fetch_add(&self, value: A::Value, order: Ordering) -> A::Value {
        ordered(order, || self.0.fetch_add(value, order))
    }

    pub(crate) fn fetch_sub(&self, value: A::Value, order: Ordering) -> A::Value {
        ordered(order, || self.0.fetch_sub(value, order))
    }

    pub(crate) fn fetch_max(&self, value: A::Value, order: Ordering) -> A::Value {
        ordered(order, || self.0.fetch_max(value, order))
    }

    pub(crate) fn fetch_min(&self, value: A::Value, order: Ordering) -> A::Value {
        ordered(order, || self.0.fetch_min(value, order))
    }
}

/// A word and its futex.
#[derive(Debug)]
pub(crate) struct AtomicU32 {
    word: Atomic<atomic::AtomicU32>,
    /// Held while a thread compares and goes to sleep, as in the kernel.
    asleep: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

impl AtomicU32 {
    pub(crate) fn new(value: u32) -> AtomicU32 {
        AtomicU32 {
            word: Atomic::new(value),
            asleep: loom::sync::Mutex::new(()),
            woken: loom::sync::Condvar::new(),
        }
    }
}

impl Deref for AtomicU32 {
    type Target = Atomic<atomic::AtomicU32>;

    fn deref(&self) -> &Self::Target {
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
