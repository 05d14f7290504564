//! Observing a command: waiting for it, queries of its status, and registration of callbacks.

use std::sync::Arc;

use opencl_sys::*;

use super::command::{Event, Profile, is_final};
use super::progress::EventCallback;
use crate::awaited::Awaited;
use crate::error::{CLResult, ClError};

impl Event {
    /// `CL_EVENT_COMMAND_EXECUTION_STATUS`. A query flushes, so that an application may poll. A
    /// failure counts as reported by it.
    pub fn status(&self) -> i32 {
        let status = self.polled_status();
        if status < 0 {
            self.failure_is_told();
        }
        status
    }

    /// As [`Event::status`], where the application does not see it.
    pub fn polled_status(&self) -> i32 {
        let status = self.progress.status();
        if !is_final(status) {
            self.pool().flush();
        }
        status
    }

    /// `clGetEventProfilingInfo`.
    ///
    /// Errors: `CL_PROFILING_INFO_NOT_AVAILABLE` for a user event, for a queue without
    /// `CL_QUEUE_PROFILING_ENABLE`, and while the command is not complete.
    pub fn profile(&self) -> CLResult<Profile> {
        // CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the
        // command-queue, if the execution status of the command identified by event is not
        // CL_COMPLETE or if event is a user event ("Profiling Operations on Memory Objects and
        // Kernels").
        if !self.lane().is_profiled() || self.status() != CL_COMPLETE {
            return Err(ClError::PROFILING_INFO_NOT_AVAILABLE);
        }
        Ok(self.times())
    }

    /// `clSetEventCallback`: `callback` runs on the thread for callbacks once the command has
    /// reached `status` or failed; soon, when it already has.
    ///
    /// Errors: `CL_INVALID_VALUE` for a status other than `CL_SUBMITTED`, `CL_RUNNING` and
    /// `CL_COMPLETE`.
    pub fn on_status(&self, status: i32, callback: EventCallback) -> CLResult<()> {
        // CL_INVALID_VALUE if command_exec_callback_type is not CL_SUBMITTED, CL_RUNNING, or
        // CL_COMPLETE ("Event Objects").
        if !(CL_COMPLETE..=CL_SUBMITTED).contains(&status) {
            return Err(ClError::INVALID_VALUE);
        }
        match self.progress.register(status, callback) {
            // Like a query, so that a callback can be waited for without a flush.
            Ok(()) => self.pool().flush_for_callback(),
            Err((reached, callback)) => {
                if reached < 0 {
                    self.failure_is_told();
                }
                self.hand_out(vec![(status, callback)], reached);
                self.pool().callbacks().call_overdue();
            }
        }
        Ok(())
    }

    /// Waits, helping, and returns the final status.
    pub fn wait(&self) -> i32 {
        match self.is_done() {
            true => self.wait_among(&Awaited::default()),
            false => self.wait_among(&Awaited::commands([self])),
        }
    }

    /// As [`Event::wait`], helping with whatever `awaited` depends on, which the event is one of.
    pub fn wait_among(&self, awaited: &Awaited<'_>) -> i32 {
        if !self.is_done() {
            self.pool().help_until_done(self, awaited);
            self.lane().line().has_seen(self.place());
        }
        self.wait_callbacks();
        self.progress.status()
    }

    /// The event is done: returns when its callbacks have been called, and those of the commands
    /// before it in an in-order queue, or soon will be (see `callbacks.rs`).
    fn wait_callbacks(&self) {
        let last = self.progress.last_due();
        self.pool().callbacks().wait_run(last);
        if self.lane().line().is_in_order() {
            self.lane().wait_callbacks();
        }
    }

    /// Tells of failures of commands that come before this one, which is done, in an in-order
    /// queue.
    ///
    /// Errors: `CL_OUT_OF_RESOURCES`.
    pub fn report_failures_before(&self) -> CLResult<()> {
        // CL_OUT_OF_RESOURCES if there is a failure to allocate resources required by the OpenCL
        // implementation on the device: the only error of clFinish and clWaitForEvents that the
        // failure of another command can be, and what other drivers return for it.
        let lane = self.lane();
        match lane.line().is_in_order() && lane.failures().take(self.place()) {
            true => Err(ClError::OUT_OF_RESOURCES),
            false => Ok(()),
        }
    }

    /// Ends a blocking enqueue.
    ///
    /// Errors: `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` when the command failed because of
    /// what it waited for, else the command's own error, or `CL_OUT_OF_RESOURCES` if one before it
    /// in an in-order queue has failed and the application has not been told.
    pub fn wait_as_blocking(&self) -> CLResult<()> {
        let status = self.wait();
        // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the read and write operations are
        // blocking and the execution status of any of the events in event_wait_list is a negative
        // integer value.
        if status < 0 {
            self.failure_is_told();
            return Err(ClError(status));
        }
        self.report_failures_before()
    }
}

/// `clWaitForEvents`: returns when all are done; this thread helps meanwhile.
///
/// Errors: `CL_INVALID_VALUE` for an empty list,
/// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` when one failed, `CL_OUT_OF_RESOURCES` when one
/// before them in an in-order queue did and the application has not been told.
pub fn wait_all(events: &[Arc<Event>]) -> CLResult<()> {
    // CL_INVALID_VALUE if num_events is zero or event_list is NULL ("Event Objects").
    if events.is_empty() {
        return Err(ClError::INVALID_VALUE);
    }
    let awaited = Awaited::commands(events.iter().map(|event| &**event));
    let mut failed = false;
    for event in events {
        if event.wait_among(&awaited) < 0 {
            event.failure_is_told();
            failed = true;
        }
    }
    // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in
    // event_list is a negative integer value.
    if failed {
        return Err(ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    }
    events
        .iter()
        .try_for_each(|event| event.report_failures_before())
}
