//! What `src/atomics.rs` is for the driver: loom's atomics, and its lock with the interface of
//! `parking_lot`.

pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
pub use loom::thread::yield_now;

pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap()
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap()
    }
}
