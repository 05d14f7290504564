//! What follows from a command's being ready, at its end or complete, up to where there is work for a pool.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

use smallvec::SmallVec;

use super::{Event, EventCallback, Submitted, is_final, timestamp};
use crate::error::ClError;
use crate::on_device::Family;
use crate::pool::{Pool, Push};

/// Something that happens to a command and that others may follow from.
pub(super) enum Step {
    /// All dependencies are done.
    Ready(Arc<Event>),
    /// The command itself has ended, or will not run.
    Ended(Arc<Event>),
    /// It is complete, with this status.
    Complete(Arc<Event>, i32),
    /// What followed from the end of a command of the family has been seen to.
    Rest(Arc<Family>),
}

/// Does all that follows from something without work. A list instead of recursion: a queue may hold thousands of markers. What comes last
/// in it comes first, with all that follows from that.
pub(super) fn advance(step: Step, push: Push) {
    // This thread looks for work in its own pool only.
    let own = match &step {
        Step::Ready(event) | Step::Ended(event) | Step::Complete(event, _) => {
            Arc::clone(event.pool())
        }
        Step::Rest(_) => Arc::clone(Pool::get()),
    };
    let mut steps: SmallVec<[Step; 4]> = SmallVec::new();
    steps.push(step);
    while let Some(step) = steps.pop() {
        match step {
            Step::Ready(event) => match event.submit() {
                // Given up since it waited for itself, or terminated.
                Submitted::Before => {}
                Submitted::WithWork => {
                    let pool = Arc::clone(event.pool());
                    let same = Arc::ptr_eq(&pool, &own);
                    pool.push(event, if same { push } else { Push::Notify });
                }
                Submitted::WithoutWork => steps.push(Step::Ended(event)),
            },
            Step::Ended(event) => {
                let Some(lineage) = &event.lineage else {
                    let status = event.failure();
                    steps.push(Step::Complete(event, status));
                    continue;
                };
                event.end.store(timestamp(), Release);
                steps.push(Step::Rest(Arc::clone(&lineage.family)));
                let children = std::mem::take(&mut event.links.lock().after_end);
                for child in children {
                    if event.failure() < 0 {
                        child.inherit_failure();
                    }
                    if child.resolve() {
                        steps.push(Step::Ready(child));
                    }
                }
                if lineage.finish_one() {
                    let status = event.outcome();
                    steps.push(Step::Complete(event, status));
                }
            }
            Step::Complete(event, status) => {
                debug_assert!(is_final(status));
                for dependent in event.settle(status) {
                    if dependent.inherits && status < 0 {
                        dependent.event.inherit_failure();
                    }
                    if dependent.event.resolve() {
                        steps.push(Step::Ready(dependent.event));
                    }
                }
                let Some(lineage) = &event.lineage else {
                    continue;
                };
                let Some(parent) = lineage.take_parent() else {
                    lineage.family.dissolve();
                    continue;
                };
                if let Some(lineage) = &parent.lineage {
                    if status < 0 {
                        lineage.fail(status);
                    }
                    if lineage.finish_one() {
                        let status = parent.outcome();
                        steps.push(Step::Complete(parent, status));
                    }
                }
            }
            Step::Rest(family) => {
                if family.rest() {
                    give_up(family, &mut steps);
                }
            }
        }
    }
}

/// Nothing of a family can run. Fails what it waits for, if it waits for anything; that may not be all.
fn give_up(family: Arc<Family>, steps: &mut SmallVec<[Step; 4]>) {
    let stuck = family.stuck();
    if stuck.is_empty() {
        return;
    }
    let failed = ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    family.wake();
    steps.push(Step::Rest(family));
    for event in stuck {
        if !event.is_user() {
            event.inherit_failure();
            steps.push(Step::Ready(event));
        } else if event
            .pending
            .compare_exchange(1, 0, AcqRel, Relaxed)
            .is_ok()
        {
            steps.push(Step::Complete(event, failed.0));
        }
    }
}

/// Gives callbacks to the pool, each to be called with its own status, or with the error.
pub(super) fn hand_out(callbacks: Vec<(i32, EventCallback)>, reached: i32) {
    for (status, callback) in callbacks {
        let argument = if reached < 0 { reached } else { status };
        Pool::get().push_callback(Box::new(move || callback(argument)));
    }
}
