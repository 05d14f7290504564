//! Command queues: what orders commands.
//!
//! Order is made of dependencies between events and nothing else. In an in-order queue each command
//! depends on the one before it. In an out-of-order queue a command depends on the last barrier,
//! and a barrier on everything since the one before. A queue refers to its commands weakly: they
//! are kept alive by what they wait for and by the pool, and one that is gone has nothing left to
//! wait for.
//!
//! The queue's lock is held while a command's dependencies are entered, so that two threads'
//! commands are ordered; the command is let go after that, outside the lock.
//!
//! The commands themselves are in `enqueue/`.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

use brolga_engine::Event;
use brolga_engine::awaited::Awaited;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::event::{Job, Lane, Owner};
use brolga_engine::job::Single;
use brolga_engine::weak_list::WeakList;
use brolga_engine::work::{Nothing, RetainedResources, Work};
use opencl_sys::*;
use parking_lot::Mutex;

use crate::base::device::Device;
use crate::base::root;
use crate::command::{Captured, Command};
use crate::context::device_queues::OnDevice;
use crate::context::{Commands, Context};

pub use brolga_engine::entry::Priority;

/// A command queue.
pub struct Queue {
    context: Arc<Context>,
    device: Arc<Device>,
    properties: u64,
    property_list: Vec<u64>,
    /// Of a queue that kernels enqueue to.
    on_device: Option<Arc<OnDevice>>,
    lane: Lane,
    order: Mutex<Order>,
}

/// What later commands depend on.
#[derive(Default)]
struct Order {
    /// The place of the last command.
    last_place: u64,
    /// In order: the last command. Out of order: the last barrier.
    last: Option<Weak<Event>>,
    /// Out of order: commands since the last barrier that are not done.
    since: WeakList<Event>,
}

/// What a command waits for besides its wait list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordering {
    /// What the kind of queue asks for.
    Queue,
    /// Everything enqueued before.
    AfterAll,
    /// What the kind of queue asks for, and everything enqueued later waits for it.
    Barrier,
    /// Both.
    FullBarrier,
}

impl Queue {
    /// `clCreateCommandQueue(WithProperties)`. `properties` are `CL_QUEUE_...` bits,
    /// `property_list` is what `CL_QUEUE_PROPERTIES_ARRAY` answers: as given, with the final 0, or
    /// empty. `size` is that of an on-device queue in bytes, if it is given. A default on-device
    /// queue replaces the one before.
    ///
    /// Errors: `CL_INVALID_DEVICE`, `CL_INVALID_VALUE` (unknown bits, or bits and a size that do
    /// not go together), `CL_INVALID_QUEUE_PROPERTIES` (unsupported).
    pub fn new(
        context: &Arc<Context>,
        device: &Arc<Device>,
        properties: u64,
        size: Option<u32>,
        property_list: Vec<u64>,
    ) -> CLResult<Arc<Queue>> {
        let priority = Priority::default();
        Queue::with_priority(context, device, properties, size, property_list, priority)
    }

    /// As [`Queue::new`], with a priority.
    pub fn with_priority(
        context: &Arc<Context>,
        device: &Arc<Device>,
        properties: u64,
        size: Option<u32>,
        property_list: Vec<u64>,
        priority: Priority,
    ) -> CLResult<Arc<Queue>> {
        // CL_INVALID_DEVICE if device is not a valid device or is not associated with context
        // ("Command-Queues").
        if !context.has_device(device) {
            return Err(ClError::INVALID_DEVICE);
        }
        // CL_INVALID_VALUE if values specified in properties are not valid.
        let known = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
            | CL_QUEUE_PROFILING_ENABLE
            | CL_QUEUE_ON_DEVICE
            | CL_QUEUE_ON_DEVICE_DEFAULT;
        if properties & !known != 0 {
            return Err(ClError::INVALID_VALUE);
        }
        let is_on_device = properties & CL_QUEUE_ON_DEVICE != 0;
        // If CL_QUEUE_ON_DEVICE is set, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE must also be set.
        // CL_QUEUE_ON_DEVICE_DEFAULT can only be used with CL_QUEUE_ON_DEVICE, and so can
        // CL_QUEUE_SIZE.
        let sane = match is_on_device {
            true => properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0,
            false => properties & CL_QUEUE_ON_DEVICE_DEFAULT == 0 && size.is_none(),
        };
        // CL_QUEUE_SIZE must be a value <= CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE.
        let size = size.unwrap_or(device.queue_on_device_preferred_size);
        if !sane || is_on_device && size > device.queue_on_device_max_size {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_QUEUE_PROPERTIES if values specified in properties are valid but are not
        // supported by the device.
        let supported = match is_on_device {
            true => {
                device.queue_on_device_properties | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT
            }
            false => device.queue_on_host_properties,
        };
        if properties & !supported != 0 {
            return Err(ClError::INVALID_QUEUE_PROPERTIES);
        }
        let is_in_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0;
        let is_profiled = properties & CL_QUEUE_PROFILING_ENABLE != 0;
        // This starts the threads, so that the first command does not wait for them.
        let pool = device.pool();
        let lane = || Lane::new(priority, is_in_order, is_profiled, pool, context.domain());
        let queue = Arc::new(Queue {
            context: Arc::clone(context),
            device: Arc::clone(device),
            properties,
            property_list,
            on_device: is_on_device.then(|| OnDevice::new(context.device_queues(), size, lane())),
            lane: lane(),
            order: Mutex::default(),
        });
        if let Some(on_device) = &queue.on_device {
            context.device_queues().add(on_device);
            if properties & CL_QUEUE_ON_DEVICE_DEFAULT != 0 {
                queue.make_default()?;
            }
        }
        context.add_queue(Arc::clone(&queue) as Arc<dyn Commands>);
        Ok(queue)
    }

    /// `clSetDefaultDeviceCommandQueue`: launches from now on find it as the default queue of its
    /// device.
    ///
    /// Errors: `CL_INVALID_COMMAND_QUEUE` unless it is on the device.
    pub fn make_default(&self) -> CLResult<()> {
        // CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for device.
        let on_device = self.on_device().ok_or(ClError::INVALID_COMMAND_QUEUE)?;
        let queues = self.context.device_queues();
        queues.set_default(&self.device, on_device.handle);
        Ok(())
    }

    /// `CL_EVENT_COMMAND_QUEUE`: none of a user event, and of a command of several queues.
    pub fn of_event(event: &Event) -> Option<Arc<Queue>> {
        let owner = Arc::clone(event.owner()) as Arc<dyn Any + Send + Sync>;
        owner.downcast().ok()
    }

    /// What a queue on the device has besides.
    pub(crate) fn on_device(&self) -> Option<&Arc<OnDevice>> {
        self.on_device.as_ref()
    }

    /// Whether kernels, and not the host, enqueue to it.
    pub fn is_on_device(&self) -> bool {
        self.on_device.is_some()
    }

    /// `CL_QUEUE_SIZE`, bytes, of a queue on the device.
    pub fn size(&self) -> Option<u32> {
        Some(self.on_device()?.size)
    }

    /// `CL_QUEUE_CONTEXT`
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_QUEUE_DEVICE`
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// `CL_QUEUE_PROPERTIES`
    pub fn properties(&self) -> u64 {
        self.properties
    }

    /// `CL_QUEUE_PROPERTIES_ARRAY`
    pub fn property_list(&self) -> &[u64] {
        &self.property_list
    }

    pub(crate) fn is_out_of_order(&self) -> bool {
        self.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0
    }

    /// `clFlush`: from now on the commands enqueued so far progress by themselves.
    ///
    /// Errors: `CL_INVALID_COMMAND_QUEUE` for a queue on the device.
    pub fn flush(&self) -> CLResult<()> {
        self.check_host()?;
        self.lane.pool().flush();
        Ok(())
    }

    /// `clFinish`: returns when everything enqueued so far is done; this thread helps.
    ///
    /// Errors: `CL_INVALID_COMMAND_QUEUE` for a queue on the device, `CL_OUT_OF_RESOURCES` if a
    /// command has failed and the application has not been told.
    pub fn finish(&self) -> CLResult<()> {
        self.check_host()?;
        let place = self.wait_for_all_placed();
        match self.lane.failures().take(place) {
            true => Err(ClError::OUT_OF_RESOURCES),
            false => Ok(()),
        }
    }

    /// Returns when everything enqueued so far is done, with the place of the last command; this
    /// thread helps.
    fn wait_for_all_placed(&self) -> u64 {
        let (events, place) = {
            let order = self.order.lock();
            let last = order.last.as_ref().and_then(Weak::upgrade);
            let events: Vec<_> = order.since.alive().chain(last).collect();
            (events, order.last_place)
        };
        let is_shared = |event: &&Arc<Event>| !std::ptr::eq(event.lane(), &self.lane);
        let shared = events.iter().filter(is_shared).map(|event| &**event);
        let awaited = Awaited::line(self.lane.line(), place, shared);
        for event in &events {
            event.wait_among(&awaited);
        }
        // If the context was terminated the last one did not wait for those before it.
        let domain = self.context.domain();
        domain.wait_terminated(|event| {
            let queue = Queue::of_event(event);
            queue.is_none_or(|queue| std::ptr::eq(&*queue, self))
        });
        self.lane.wait_callbacks();
        place
    }

    /// Enqueues a command.
    ///
    /// Errors: `CL_INVALID_CONTEXT` when an event of `wait` belongs to another context;
    /// `CL_INVALID_COMMAND_QUEUE` for a queue on the device.
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        command_type: u32,
        work: impl Work<Event> + 'static,
        retained: RetainedResources,
        wait: &[Arc<Event>],
        ordering: Ordering,
    ) -> CLResult<Arc<Event>> {
        self.check_wait_list(wait)?;
        self.check_host()?;
        let event = Event::new(self, command_type, Single::new(work), retained);
        let push = event.push();
        self.place(&event, wait, ordering);
        event.release(push);
        Ok(event)
    }

    /// Enqueues a command of which only the place in the order matters. Errors: as
    /// [`Queue::enqueue`].
    pub(crate) fn enqueue_nothing(
        self: &Arc<Self>,
        command_type: u32,
        wait: &[Arc<Event>],
        ordering: Ordering,
    ) -> CLResult<Arc<Event>> {
        let retained = RetainedResources::new();
        self.enqueue(command_type, Nothing, retained, wait, ordering)
    }

    /// Gives a new command its place in the order.
    pub(crate) fn place(&self, event: &Arc<Event>, wait: &[Arc<Event>], ordering: Ordering) {
        let mut order = self.order.lock();
        for other in wait {
            event.depend_on(other, true);
        }
        self.enter(&mut order, event, ordering);
    }

    /// Enqueues a command that has its place in the order of the queue, and nothing special about
    /// it.
    ///
    /// Errors: as [`Queue::enqueue`].
    pub(crate) fn submit_checked(
        self: &Arc<Self>,
        command: Command,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let Command {
            command_type,
            work,
            retained,
        } = command;
        // Each as it is: an event takes as much memory as what it is to do.
        let order = Ordering::Queue;
        match work {
            Captured::Nothing => self.enqueue(command_type, Nothing, retained, wait, order),
            Captured::Transfer(it) => self.enqueue(command_type, it, retained, wait, order),
            Captured::Launch(it) => self.enqueue(command_type, it, retained, wait, order),
        }
    }

    /// Enqueues one command that has its place in the order of each of several queues of a context.
    ///
    /// Errors: as [`Queue::enqueue`].
    pub(crate) fn submit_to_all(
        queues: &[Arc<Queue>],
        command_type: u32,
        job: impl Job,
        retained: RetainedResources,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        Queue::submit_with_parts(queues, command_type, job, retained, wait, &[])
    }

    /// As [`Queue::submit_to_all`], with commands that are parts of it: each has its place in the
    /// order of its own queue.
    pub(crate) fn submit_with_parts(
        queues: &[Arc<Queue>],
        command_type: u32,
        job: impl Job,
        retained: RetainedResources,
        wait: &[Arc<Event>],
        parts: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // A queue that is named twice is one queue. All are locked in one order, so that commands
        // of several threads cannot come to wait for each other.
        let mut distinct: Vec<&Arc<Queue>> = queues.iter().collect();
        distinct.sort_by_key(|queue| Arc::as_ptr(queue));
        distinct.dedup_by_key(|queue| Arc::as_ptr(queue));
        for queue in &distinct {
            queue.check_host()?;
            queue.check_wait_list(wait)?;
        }
        let event = match (&distinct[..], queues) {
            ([queue], [_]) => Event::new(queue, command_type, job, retained),
            _ => Event::new(&Several::new(&distinct), command_type, job, retained),
        };
        let push = event.push();
        {
            let mut orders: Vec<_> = distinct.iter().map(|queue| queue.order.lock()).collect();
            for other in wait {
                event.depend_on(other, true);
            }
            for (queue, order) in distinct.iter().zip(&mut orders) {
                queue.enter(order, &event, Ordering::Queue);
            }
            for part in parts {
                let is_own = |queue: &&Arc<Queue>| std::ptr::eq(part.lane(), &queue.lane);
                let index = distinct.iter().position(is_own);
                let place = index.map(|index| orders[index].last_place);
                part.set_place(place.unwrap_or(0));
            }
        }
        event.release(push);
        Ok(event)
    }

    /// Errors: `CL_INVALID_COMMAND_QUEUE` for a queue on the device.
    pub(crate) fn check_host(&self) -> CLResult<()> {
        // CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue.
        match self.is_on_device() {
            true => Err(ClError::INVALID_COMMAND_QUEUE),
            false => Ok(()),
        }
    }

    /// Enters a command into the order, and its dependencies into the command.
    fn enter(&self, order: &mut Order, event: &Arc<Event>, ordering: Ordering) {
        order.last_place += 1;
        if std::ptr::eq(event.lane(), &self.lane) {
            event.set_place(order.last_place);
        }
        if let Some(last) = order.last.as_ref().and_then(Weak::upgrade) {
            event.depend_on(&last, false);
        }
        if matches!(ordering, Ordering::AfterAll | Ordering::FullBarrier) {
            for other in order.since.alive() {
                event.depend_on(&other, false);
            }
        }
        if !self.is_out_of_order() || ordering == Ordering::FullBarrier {
            order.last = Some(Arc::downgrade(event));
            order.since.clear();
        } else if ordering == Ordering::Barrier {
            // What came before is not ordered by this barrier, but clFinish and later barriers wait
            // for it.
            order.last = Some(Arc::downgrade(event));
        } else {
            order.since.add(event, Event::may_run);
        }
    }

    /// Checks a wait list, as every command does. Errors: `CL_INVALID_CONTEXT`.
    pub fn check_wait_list(&self, wait: &[Arc<Event>]) -> CLResult<()> {
        // CL_INVALID_CONTEXT if the context associated with command_queue and events in
        // event_wait_list are not the same.
        match wait
            .iter()
            .all(|event| Arc::ptr_eq(event.lane().domain(), self.context.domain()))
        {
            true => Ok(()),
            false => Err(ClError::INVALID_CONTEXT),
        }
    }
}

/// Ends an enqueue that may be blocking: waits when `blocking` says so.
///
/// Errors: those of [`Event::wait_as_blocking`].
pub(crate) fn wait_if_blocking(event: Arc<Event>, blocking: bool) -> CLResult<Arc<Event>> {
    if blocking {
        event.wait_as_blocking()?;
    }
    Ok(event)
}

impl Commands for Queue {
    fn wait_for_all(&self) {
        self.wait_for_all_placed();
    }
}

impl Owner for Queue {
    fn lane(&self) -> &Lane {
        &self.lane
    }

    fn for_each_reporting(&self, tell: &mut dyn FnMut(&Lane)) {
        tell(&self.lane);
    }
}

/// The queues of a command that has its place in the order of each. It runs on the first one's
/// device, and has time stamps if it would have them in each.
struct Several {
    queues: Vec<Arc<Queue>>,
    lane: Lane,
}

impl Several {
    fn new(queues: &[&Arc<Queue>]) -> Arc<Several> {
        let is_profiled = queues.iter().all(|queue| queue.lane.is_profiled());
        let first = &queues[0].lane;
        Arc::new(Several {
            queues: queues.iter().map(|&queue| Arc::clone(queue)).collect(),
            // Not the place in any one of them says what comes before it.
            lane: Lane::new(
                Priority::default(),
                false,
                is_profiled,
                first.pool(),
                first.domain(),
            ),
        })
    }
}

impl Owner for Several {
    fn lane(&self) -> &Lane {
        &self.lane
    }

    fn for_each_reporting(&self, tell: &mut dyn FnMut(&Lane)) {
        self.queues.iter().for_each(|queue| tell(&queue.lane));
    }
}

impl Drop for Queue {
    /// "clReleaseCommandQueue performs an implicit flush". Commands hold their queue, so nothing of
    /// its own is left; but the last reference may be a command's.
    fn drop(&mut self) {
        root::pool().flush();
        if let Some(on_device) = &self.on_device {
            self.context.device_queues().remove(on_device.handle);
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("properties", &format_args!("{:#x}", self.properties))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::platform::Platform;
    use crate::context::ContextOptions;

    /// A thread that waits for a queue runs nothing that comes later, as the parts of a command of
    /// several queues do, which are enqueued with it.
    #[test]
    fn parts_of_a_command_come_when_it_does() {
        let devices = Platform::get().devices().to_vec();
        let context = Context::new(devices, ContextOptions::default()).unwrap();
        let queue = Queue::new(&context, context.device(), 0, None, Vec::new()).unwrap();
        let marker = CL_COMMAND_MARKER;
        let first = queue.enqueue_nothing(marker, &[], Ordering::Queue).unwrap();
        let nothing = || Single::new(Nothing);
        let retained = RetainedResources::new;
        let part = Event::new(&queue, marker, nothing(), retained());
        let until = |place| Awaited::line::<Event>(queue.lane.line(), place, []);
        assert!(until(first.place()).contains(&*first));
        assert!(!until(first.place()).contains(&*part));
        let (queues, parts) = ([Arc::clone(&queue)], [Arc::clone(&part)]);
        Queue::submit_with_parts(&queues, marker, nothing(), retained(), &[], &parts).unwrap();
        assert!(!until(first.place()).contains(&*part));
        assert!(until(first.place() + 1).contains(&*part));
        part.release(brolga_engine::pool::Push::Notify);
    }
}
