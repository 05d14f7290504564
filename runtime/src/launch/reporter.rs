//! What a launch says when it fails.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use brolga_engine::Event;
use brolga_engine::domain::Domain;
use brolga_host::notice;

/// Says on standard error and to the context why a launch fails: one line for a launch, however
/// many threads run it.
pub(crate) struct Reporter<'a> {
    domain: &'a Arc<Domain<Event>>,
    /// Whether it has been said.
    has_told: &'a AtomicBool,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(domain: &'a Arc<Domain<Event>>, has_told: &'a AtomicBool) -> Reporter<'a> {
        Reporter { domain, has_told }
    }

    pub(crate) fn tell(&self, message: &str) {
        if !self.has_told.swap(true, Relaxed) {
            notice(format_args!("{message}"));
            self.domain.report(message);
        }
    }
}
