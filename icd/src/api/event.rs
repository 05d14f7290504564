//! Events.

use std::sync::Arc;

use brolga_runtime::Event as RuntimeEvent;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::queue::Queue;
use crate::abi::callback::{self, EventNotify};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InList, List, RawHandle, UserData};

/// `cl_event`
pub struct Event {
    pub runtime: Arc<RuntimeEvent>,
    pub context: Ref<Context>,
    /// None for a user event, and for a command of several queues.
    pub queue: Option<Ref<Queue>>,
}

object!(Event, ClError::INVALID_EVENT);

/// `clCreateUserEvent`
pub fn create_user(context: RawHandle) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    Ok(Handle::new(Event {
        runtime: brolga_runtime::user_event(&context.runtime),
        context,
        queue: None,
    })
    .raw())
}

/// `clSetUserEventStatus`
pub fn set_user_status(event: RawHandle, status: cl_int) -> CLResult<()> {
    let event = Event::from_raw(event)?;
    // > CL_INVALID_EVENT if event is not a valid user event object.
    require(event.queue.is_none(), ClError::INVALID_EVENT)?;
    // > CL_INVALID_VALUE if the execution_status is not CL_COMPLETE or a negative integer value.
    require(status <= CL_COMPLETE, ClError::INVALID_VALUE)?;
    // > CL_INVALID_OPERATION if the execution_status for event has already been changed.
    event.runtime.set_user_status(status)
}

/// `clWaitForEvents`
pub fn wait(list: InList<RawHandle>) -> CLResult<()> {
    // > CL_INVALID_VALUE if num_events is zero or event_list is NULL.
    require(list.count() != 0, ClError::INVALID_VALUE)?;
    let raws = list.get()?.ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_EVENT if event objects specified in event_list are not valid event objects.
    let events = Event::from_raws(&raws)?;
    // > CL_INVALID_CONTEXT if events specified in event_list do not belong to the same context.
    require(
        events
            .iter()
            .all(|event| Arc::ptr_eq(&event.context, &events[0].context)),
        ClError::INVALID_CONTEXT,
    )?;
    let runtime: List<_> = events.iter().map(|event| event.runtime.clone()).collect();
    // > CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events
    // > in event_list is a negative integer value.
    brolga_runtime::wait_for_events(&runtime)
}

/// `clGetEventInfo`
pub fn get_info(event: RawHandle, name: cl_event_info, writer: InfoWriter) -> CLResult<()> {
    let event = Event::from_raw(event)?;
    match name {
        // > If event is a user event object, a NULL value is returned.
        CL_EVENT_COMMAND_QUEUE => writer.value(
            event
                .queue
                .as_ref()
                .map_or(RawHandle::NULL, |queue| queue.raw()),
        ),
        CL_EVENT_CONTEXT => writer.value(event.context.raw()),
        CL_EVENT_COMMAND_TYPE => writer.value(event.runtime.command_type()),
        CL_EVENT_COMMAND_EXECUTION_STATUS => writer.value(event.runtime.status()),
        CL_EVENT_REFERENCE_COUNT => writer.value(event.reference_count()),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clGetEventProfilingInfo`
pub fn get_profiling_info(
    event: RawHandle,
    name: cl_profiling_info,
    writer: InfoWriter,
) -> CLResult<()> {
    let event = Event::from_raw(event)?;
    // > CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the
    // > command-queue, if the execution status of the command identified by event is not
    // > CL_COMPLETE, or if event is a user event object.
    let profile = event.runtime.profile()?;
    match name {
        CL_PROFILING_COMMAND_QUEUED => writer.value(profile.queued),
        CL_PROFILING_COMMAND_SUBMIT => writer.value(profile.submit),
        CL_PROFILING_COMMAND_START => writer.value(profile.start),
        CL_PROFILING_COMMAND_END => writer.value(profile.end),
        CL_PROFILING_COMMAND_COMPLETE => writer.value(profile.complete),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clSetEventCallback`
pub fn set_callback(
    event: RawHandle,
    status: cl_int,
    notify: EventNotify,
    user_data: UserData,
) -> CLResult<()> {
    let event = Event::from_raw(event)?;
    // > CL_INVALID_VALUE if pfn_event_notify is NULL or if command_exec_callback_type is not
    // > CL_SUBMITTED, CL_RUNNING, or CL_COMPLETE.
    let notify = notify.ok_or(ClError::INVALID_VALUE)?;
    require(
        matches!(status, CL_SUBMITTED | CL_RUNNING | CL_COMPLETE),
        ClError::INVALID_VALUE,
    )?;
    let call = callback::on_event(notify, event.raw(), user_data);
    // The handle that the callback is given must be alive then, even if the application has
    // released it.
    let alive = event.clone();
    event.runtime.on_status(
        status,
        Box::new(move |status| {
            call(status);
            drop(alive);
        }),
    )
}
