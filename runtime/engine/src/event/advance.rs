//! The life of a command, and what follows from it for others up to where there is work for a pool.

use std::sync::Arc;
use std::sync::atomic::Ordering::Release;

use opencl_sys::*;
use smallvec::SmallVec;

use super::command::{Command, Event, Job, is_final};
use super::links::Dependents;
use crate::callbacks;
use crate::domain::Domain;
use crate::error::{CLResult, ClError};
use crate::pool::{Pool, Push};
use crate::sync::Ordering::{AcqRel, Relaxed};
use crate::system::clock::timestamp;
use crate::tree::Tree;

/// Something that happens to a command and that others may follow from.
enum Step {
    /// All dependencies are done.
    Ready(Arc<Event>),
    /// The command itself has ended, or will not run.
    Ended(Arc<Event>),
    /// It is complete, with this status.
    Complete(Arc<Event>, i32),
    /// What followed from the end of a command of the tree has been seen to.
    Rest(Arc<Tree<Event>>),
}

/// What became of a command that was to be submitted.
enum Submitted {
    /// It had been.
    Before,
    /// There is something to do for the pool.
    WithWork,
    /// There is not.
    WithoutWork,
}

/// Steps that are to be taken; the last comes first, with all that follows from it.
type Steps = SmallVec<[Step; 4]>;

/// Does all that follows from something without work. A list instead of recursion: a queue may hold
/// thousands of markers.
fn advance(event: Arc<Event>, step: impl FnOnce(Arc<Event>) -> Step, push: Push) {
    // This thread looks for work in its own pool only.
    let own = Arc::clone(event.pool());
    let mut steps = Steps::new();
    steps.push(step(event));
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
            Step::Ended(event) => after_end(event, &mut steps),
            Step::Complete(event, status) => after_completion(event, status, &mut steps),
            Step::Rest(tree) => {
                if tree.became_idle() {
                    give_up(tree, &mut steps);
                }
            }
        }
    }
    // Not before: a callback may wait for what these steps were about.
    own.callbacks().call_overdue();
}

fn after_end(event: Arc<Event>, steps: &mut Steps) {
    let Some(parent_link) = &event.parent_link else {
        let status = event.failure();
        steps.push(Step::Complete(event, status));
        return;
    };
    if let Some(times) = &event.times {
        times.end.store(timestamp(), Release);
    }
    steps.push(Step::Rest(Arc::clone(&parent_link.tree)));
    let children = event.progress.with_links(|links| {
        let links = links.of_kernels.as_mut();
        links.map_or(Vec::new(), |links| std::mem::take(&mut links.after_end))
    });
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

fn after_completion(event: Arc<Event>, status: i32, steps: &mut Steps) {
    debug_assert!(is_final(status));
    event.make_final(status).for_each(|dependent| {
        if dependent.inherits && status < 0 {
            dependent.command.inherit_failure();
        }
        if dependent.command.resolve() {
            steps.push(Step::Ready(dependent.command));
        }
    });
    let Some(parent_link) = &event.parent_link else {
        return;
    };
    let Some(parent) = parent_link.take_parent() else {
        parent_link.tree.release_all();
        return;
    };
    parent_link.tree.remove_child();
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

/// Nothing of a tree can run. Fails what it waits for, if it waits for anything; that may not be
/// all.
fn give_up(tree: Arc<Tree<Event>>, steps: &mut Steps) {
    let is_unset = |event: &Event| event.is_user() && !event.is_done();
    let stuck = tree.stuck(is_unset, Event::is_blocked);
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
        } else if event.take_hold() {
            steps.push(Step::Complete(event, failed.0));
        }
    }
}

impl Event {
    /// Ends the enqueue: from now on the command runs as soon as its dependencies allow.
    pub fn release(self: &Arc<Self>, push: Push) {
        if self.domain().is_terminated() {
            // The termination may not have come to this one yet; it waits for nothing any more.
            self.fail(ClError::CONTEXT_TERMINATED);
        } else if !self.resolve() {
            self.pool().line_has_grown(self.lane().line(), self.place());
            return;
        }
        match self.submit() {
            Submitted::Before => {}
            Submitted::WithWork => self.pool().push(Arc::clone(self), push),
            // Whatever hangs on it was enqueued by other threads in the meantime.
            Submitted::WithoutWork => advance(Arc::clone(self), Step::Ended, Push::Notify),
        }
    }

    /// The last chunk is done. Everything that follows from it without work is done here:
    /// dependents that become ready are pushed as `push` says, those with nothing to do complete in
    /// turn.
    pub(crate) fn end(self: &Arc<Self>, push: Push) {
        advance(Arc::clone(self), Step::Ended, push);
    }

    /// `clSetUserEventStatus`.
    ///
    /// Errors: `CL_INVALID_EVENT` when it is not a user event, `CL_INVALID_VALUE` for a status that
    /// is neither `CL_COMPLETE` nor negative, `CL_INVALID_OPERATION` when it was set before.
    pub fn set_user_status(self: &Arc<Self>, status: i32) -> CLResult<()> {
        // CL_INVALID_EVENT if event is not a valid user event object ("User Events").
        if !self.is_user() {
            return Err(ClError::INVALID_EVENT);
        }
        // CL_INVALID_VALUE if the execution_status is not CL_COMPLETE or a negative integer value.
        if !is_final(status) {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_OPERATION if the execution_status for event has already been changed.
        if !self.take_hold() {
            return Err(ClError::INVALID_OPERATION);
        }
        let before = callbacks::last_of_this_thread();
        let complete = |event| Step::Complete(event, status);
        advance(Arc::clone(self), complete, Push::Notify);
        // Also those of commands without work that waited for it.
        let last = callbacks::last_of_this_thread();
        if last != before {
            self.pool().callbacks().wait_run(last);
        }
        Ok(())
    }

    /// The enqueue's hold, which nothing else lets go of for a user event, decides between two
    /// threads that set the status.
    fn take_hold(&self) -> bool {
        let taken = self.pending.compare_exchange(1, 0, AcqRel, Relaxed);
        taken.is_ok()
    }

    /// All dependencies are done, or need not be since the command has failed. Only the first call
    /// counts.
    fn submit(&self) -> Submitted {
        let times = self.times.as_deref();
        let times = times.map(|times| (times, timestamp()));
        if !self.reach(CL_SUBMITTED) {
            return Submitted::Before;
        }
        if let Some((times, now)) = times {
            times.submit.store(now, Relaxed);
        }
        if let Some(parent_link) = &self.parent_link {
            parent_link.begin();
        }
        let is_failed = self.failure() < 0;
        if !is_failed && !self.job.is_instant() {
            self.job.prepare(self.pool());
            return Submitted::WithWork;
        }
        if let Some((times, now)) = times {
            times.start.store(now, Relaxed);
        }
        if !is_failed {
            self.job.run_instant();
        }
        Submitted::WithoutWork
    }

    /// Makes `status` final and wakes the threads that wait for it; returns the dependents.
    fn make_final(self: &Arc<Self>, status: i32) -> Dependents<Event> {
        // What the command kept alive goes first, so that a waiter finds destructor callbacks
        // called.
        let retained = self
            .progress
            .with_links(|links| std::mem::take(&mut links.retained));
        let unused = self.job.take_unused();
        if retained.is_some() || unused.is_some() {
            let before = callbacks::last_of_this_thread();
            callbacks::executing(|| drop((retained, unused)));
            let last = callbacks::last_of_this_thread();
            if last != before {
                self.note_due(last);
            }
        }
        if status < 0 {
            // Perhaps some thread has reported the failure to the context.
            self.note_due(self.pool().callbacks().last());
        }
        if let Some(times) = &self.times {
            let now = timestamp();
            let _ = times.end.compare_exchange(0, now, Release, Relaxed);
            times.complete.store(now, Release);
        }
        if let Some(observer) = self.domain().observer() {
            observer.ended(self, status);
        }
        let (dependents, due) = self.progress.make_final(status, |links, is_called| {
            // Before the status can be seen. A callback tells of it.
            if !is_called && self.is_own_failure(status) {
                let failed = Arc::downgrade(self);
                self.owner().for_each_reporting(&mut |lane| {
                    lane.failures().add(self.place(), failed.clone());
                });
            }
            if let Some(links) = &mut links.of_kernels {
                for address in std::mem::take(&mut links.captures) {
                    self.write_times(address);
                }
            }
            std::mem::take(&mut links.dependents)
        });
        self.hand_out(due, status);
        self.progress.told_all();
        dependents
    }
}

impl Domain<Event> {
    /// Ends all commands: none is begun any more, and what waits for something waits no longer.
    ///
    /// Errors: `CL_CONTEXT_TERMINATED_KHR` if that was done before, `CL_INVALID_OPERATION` if it
    /// cannot be.
    pub fn terminate(&self, root: &Arc<Pool<Event>>) -> CLResult<()> {
        let commands = self.begin_termination()?;
        for event in &commands {
            event.failure.store(ClError::CONTEXT_TERMINATED.0, Release);
        }
        for event in commands {
            advance(event, Step::Ready, Push::Notify);
        }
        // What is ready but deferred would wait for a thread to wait for it.
        root.flush();
        Ok(())
    }

    /// Waits for the commands that had been begun when all were ended, as far as they are of
    /// concern.
    pub fn wait_terminated(&self, is_of_concern: impl Fn(&Event) -> bool) {
        for event in self.terminated_commands() {
            if is_of_concern(&event) {
                event.wait();
            }
        }
    }
}

impl<J: Job + ?Sized> Drop for Command<J> {
    /// An event that goes away unfinished (a user event released before its status was set) can
    /// never let its dependents run: they fail, so that no thread waits for them for ever.
    fn drop(&mut self) {
        let dependents = std::mem::take(&mut self.progress.links_mut().dependents);
        dependents.for_each(|dependent| {
            dependent.command.inherit_failure();
            if dependent.command.resolve() {
                advance(dependent.command, Step::Ready, Push::Notify);
            }
        });
    }
}
