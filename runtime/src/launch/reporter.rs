//! What a launch says when it fails.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use brolga_engine::Event;
use brolga_engine::domain::Domain;
use brolga_host::notice;

/// Says on standard error and to the context why a launch fails: one line for a launch, however
/// many threads run it.
pub(crate) struct Reporter {
    domain: Arc<Domain<Event>>,
    has_told: AtomicBool,
}

impl Reporter {
    pub(crate) fn new(domain: &Arc<Domain<Event>>) -> Reporter {
        Reporter {
            domain: Arc::clone(domain),
            has_told: AtomicBool::new(false),
        }
    }

    pub(crate) fn tell(&self, message: &str) {
        if !self.has_told.swap(true, Relaxed) {
            notice(format_args!("{message}"));
            self.domain.report(message);
        }
    }

    /// The launch is over; a command-buffer may run it again.
    pub(crate) fn reset(&self) {
        self.has_told.store(false, Relaxed);
    }
}
