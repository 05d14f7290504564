//! Callbacks that the application wants called when an object goes away.

use parking_lot::Mutex;

/// A callback of `clSet...DestructorCallback`.
pub type DestructorCallback = Box<dyn FnOnce() + Send>;

/// The destructor callbacks of one object.
#[derive(Default)]
pub(crate) struct DestructorCallbacks(Mutex<Vec<DestructorCallback>>);

impl DestructorCallbacks {
    pub(crate) fn register(&self, callback: DestructorCallback) {
        self.0.lock().push(callback);
    }

    /// Calls each once: "callback functions are called in the reverse order in which they were
    /// registered". The object's `drop` does this first, since its resources are freed after that.
    pub(crate) fn call_all(&mut self) {
        while let Some(callback) = self.0.get_mut().pop() {
            callback();
        }
    }
}
