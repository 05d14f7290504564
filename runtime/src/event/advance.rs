//! What follows from a command's being ready, at its end or complete, up to where there is work for
//! a pool.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

use smallvec::SmallVec;

use super::{Event, EventCallback, Submitted, is_final};
use crate::callbacks::{self, NO_TICKET, Ticket};
use crate::clock::timestamp;
use crate::error::ClError;
use crate::on_device::LaunchTree;
use crate::pool::{Pool, Push};

/// Something that happens to a command and that others may follow from.
pub(super) enum Step {
    /// All dependencies are done.
    Ready(Arc<Event>),
    /// The command itself has ended, or will not run.
    Ended(Arc<Event>),
    /// It is complete, with this status.
    Complete(Arc<Event>, i32),
    /// What followed from the end of a command of the tree has been seen to.
    Rest(Arc<LaunchTree>),
}

/// Does all that follows from something without work. A list instead of recursion: a queue may hold
/// thousands of markers. What comes last in it comes first, with all that follows from that.
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
                let Some(parent_link) = &event.parent_link else {
                    let status = event.failure();
                    steps.push(Step::Complete(event, status));
                    continue;
                };
                event.end.store(timestamp(), Release);
                steps.push(Step::Rest(Arc::clone(&parent_link.tree)));
                let children = event
                    .progress
                    .with_links(|links| std::mem::take(&mut links.after_end));
                for child in children {
                    if event.failure() < 0 {
                        child.inherit_failure();
                    }
                    if child.resolve() {
                        steps.push(Step::Ready(child));
                    }
                }
                if parent_link.finish_one() {
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
                let Some(parent_link) = &event.parent_link else {
                    continue;
                };
                let Some(parent) = parent_link.take_parent() else {
                    parent_link.tree.release_events();
                    continue;
                };
                if let Some(parent_link) = &parent.parent_link {
                    if status < 0 {
                        parent_link.fail(status);
                    }
                    if parent_link.finish_one() {
                        let status = parent.outcome();
                        steps.push(Step::Complete(parent, status));
                    }
                }
            }
            Step::Rest(tree) => {
                if tree.became_idle() {
                    give_up(tree, &mut steps);
                }
            }
        }
    }
}

/// Nothing of a tree can run. Fails what it waits for, if it waits for anything; that may not be
/// all.
fn give_up(tree: Arc<LaunchTree>, steps: &mut SmallVec<[Step; 4]>) {
    let stuck = tree.stuck();
    if stuck.is_empty() {
        return;
    }
    let failed = ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    tree.wake();
    steps.push(Step::Rest(tree));
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

/// Has callbacks called soon, each with its own status, or with the error. Returns the last of
/// them.
pub(super) fn hand_out(callbacks: Vec<(i32, EventCallback)>, reached: i32) -> Ticket {
    let mut last = NO_TICKET;
    for (status, callback) in callbacks {
        let argument = if reached < 0 { reached } else { status };
        last = callbacks::push(Box::new(move || callback(argument)));
    }
    last
}
