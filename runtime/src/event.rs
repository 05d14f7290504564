//! Events.
use crate::{CLResult, Context, Queue};
use std::sync::Arc;

/// `CL_PROFILING_COMMAND_...` time stamps, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub queued: u64,
    pub submit: u64,
    pub start: u64,
    pub end: u64,
    pub complete: u64,
}

#[derive(Debug)]
pub struct Event {
    _private: (),
}
#[allow(unused_variables)]
impl Event {
    /// `clCreateUserEvent`
    pub fn user(context: &Arc<Context>) -> Arc<Event> {
        todo!()
    }
    /// `clSetUserEventStatus`; checks everything (not a user event: `CL_INVALID_EVENT`).
    pub fn set_user_status(self: &Arc<Self>, status: i32) -> CLResult<()> {
        todo!()
    }
    /// `CL_EVENT_COMMAND_EXECUTION_STATUS`; also makes sure that the command gets going.
    pub fn status(&self) -> i32 {
        todo!()
    }
    pub fn command_type(&self) -> u32 {
        todo!()
    }
    pub fn context(&self) -> &Arc<Context> {
        todo!()
    }
    pub fn queue(&self) -> Option<&Arc<Queue>> {
        todo!()
    }
    /// `clGetEventProfilingInfo`; `CL_PROFILING_INFO_NOT_AVAILABLE` when unavailable.
    pub fn profile(&self) -> CLResult<Profile> {
        todo!()
    }
    /// `clSetEventCallback`. `status`: `CL_COMPLETE`, `CL_RUNNING` or `CL_SUBMITTED` (checked). The callback gets the status.
    pub fn on_status(
        self: &Arc<Self>,
        status: i32,
        callback: Box<dyn FnOnce(i32) + Send>,
    ) -> CLResult<()> {
        todo!()
    }
    /// `clWaitForEvents`: `CL_INVALID_VALUE` when empty, `CL_INVALID_CONTEXT` when contexts differ,
    /// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST`.
    pub fn wait_all(events: &[Arc<Event>]) -> CLResult<()> {
        todo!()
    }
}
