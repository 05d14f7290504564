//! Callbacks that the application wants called when an object goes away.

use parking_lot::Mutex;

use crate::base::root;

/// A callback of `clSet...DestructorCallback`.
pub type DestructorCallback = Box<dyn FnOnce() + Send>;

/// The destructor callbacks of one object.
#[derive(Default)]
pub(crate) struct DestructorCallbacks(Mutex<Vec<DestructorCallback>>);

impl DestructorCallbacks {
    pub(crate) fn register(&self, callback: DestructorCallback) {
        self.0.lock().push(callback);
    }

    /// Has each called once: "callback functions are called in the reverse order in which they were
    /// registered". Then `destroy`: "The registered callback functions are called and then the
    /// memory object's resources are freed" (`clSetMemObjectDestructorCallback`).
    ///
    /// That is before this returns on a thread of the application, which lets go of the object. On
    /// a thread that executes commands it is soon.
    pub(crate) fn call_all(&mut self, destroy: impl FnOnce() + Send + 'static) {
        let callbacks = std::mem::take(self.0.get_mut());
        if callbacks.is_empty() {
            return destroy();
        }
        root::callbacks().call_or_push(Box::new(move || {
            callbacks.into_iter().rev().for_each(|callback| callback());
            destroy();
        }));
    }
}
