//! Device-side enqueue with one launch after another: what is enqueued runs when the launch that
//! enqueued it is done, first come, first served, as soon as what it waits for is done.
//!
//! That is one of the orders that all flags allow. A command is complete when all that it enqueued
//! is, and fails if any of that does. When nothing is left that could run, user events that are not
//! set fail, then what waits at all, so that there is an end. Queues are any numbers but 0, the
//! default one is 1, and none is ever full. The time that a command takes is one nanosecond.

use std::collections::VecDeque;

use super::{
    COMPLETE, ENQUEUE_FAILURE, Enqueue, EventOperands, MAX_LITERAL, Marker,
    PROFILING_COMMAND_EXEC_TIME, Range, SUCCESS, nd_range,
};
use crate::ir::{DeviceOp, FuncId};
use crate::launch::NdRange;

/// Most work-items in a work-group, for those who ask.
const WORK_GROUP_SIZE: u64 = 1024;

/// Memory as kernels address it.
pub trait Host {
    type Error;

    fn read(&mut self, address: u64, to: &mut [u8]) -> Result<(), Self::Error>;
    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Self::Error>;
}

/// A launch of a block.
#[derive(Clone, Debug)]
pub struct Command {
    pub block: FuncId,
    pub range: NdRange,
    pub literal: Vec<u8>,
    pub locals: Vec<u64>,
    event: usize,
}

/// A command that waits, or a marker.
#[derive(Debug)]
struct Waiting {
    launch: Option<Command>,
    event: usize,
    /// Indices of events.
    wait: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Pending,
    Done,
    Failed,
}

#[derive(Debug)]
struct Event {
    references: u32,
    status: Status,
    is_user: bool,
    /// The event of the launch that enqueued it, unless that is the first.
    parent: Option<usize>,
    /// What it enqueued that is not complete, and itself.
    unfinished: u32,
    has_failed: bool,
    /// Where to write how long it took.
    captures: Vec<u64>,
}

/// The state between launches.
#[derive(Debug)]
pub struct Sequence {
    sub_group_size: u64,
    /// The handle of an event is its index and one.
    events: Vec<Event>,
    waiting: VecDeque<Waiting>,
    /// The event of the launch that runs, unless it is the first.
    running: Option<usize>,
}

impl Default for Sequence {
    fn default() -> Sequence {
        Sequence::new(1)
    }
}

impl Sequence {
    pub fn new(sub_group_size: u64) -> Sequence {
        Sequence {
            sub_group_size,
            events: Vec::new(),
            waiting: VecDeque::new(),
            running: None,
        }
    }

    fn add(&mut self, references: u32, is_user: bool) -> usize {
        self.events.push(Event {
            references,
            status: Status::Pending,
            is_user,
            parent: None,
            unfinished: 1,
            has_failed: false,
            captures: Vec::new(),
        });
        self.events.len() - 1
    }

    fn find(&self, handle: u64) -> Option<usize> {
        let index = usize::try_from(handle.checked_sub(1)?).ok()?;
        let event = self.events.get(index)?;
        (event.references > 0).then_some(index)
    }

    fn event(&mut self, handle: u64) -> Option<&mut Event> {
        let index = self.find(handle)?;
        Some(&mut self.events[index])
    }

    /// Does a service. The result is 0 where there is none.
    ///
    /// # Errors
    /// The host's, if memory is not there.
    pub fn call<H: Host>(
        &mut self,
        host: &mut H,
        what: DeviceOp,
        block: Option<FuncId>,
        words: &[u64],
    ) -> Result<u64, H::Error> {
        let size = self.sub_group_size;
        Ok(match what {
            DeviceOp::EnqueueKernel => {
                let Some(block) = block else {
                    return Ok(ENQUEUE_FAILURE as u32 as u64);
                };
                self.enqueue(host, block, &Enqueue::new(words))? as u32 as u64
            }
            DeviceOp::EnqueueMarker => {
                let Marker { queue, events } = Marker::new(words);
                // "event_ret must not be NULL as otherwise this is a no-op."
                if queue == 0 || events.count == 0 || !events.is_consistent() {
                    return Ok(ENQUEUE_FAILURE as u32 as u64);
                }
                let Some(wait) = self.wait_list(host, &events)? else {
                    return Ok(ENQUEUE_FAILURE as u32 as u64);
                };
                if events.returned != 0 {
                    self.push(host, None, wait, &events)?;
                }
                SUCCESS as u64
            }
            DeviceOp::SubGroupCount => self.local_items(words).div_ceil(size),
            DeviceOp::MaxSubGroupSize => self.local_items(words).min(size),
            DeviceOp::WorkGroupSize => WORK_GROUP_SIZE,
            DeviceOp::PreferredMultiple => size,
            DeviceOp::LocalSizeForSubGroups => match words[0] * size {
                items if items <= WORK_GROUP_SIZE => items,
                _ => 0,
            },
            DeviceOp::MaxSubGroups => WORK_GROUP_SIZE / size,
            DeviceOp::RetainEvent => {
                if let Some(event) = self.event(words[0]) {
                    event.references += 1;
                }
                0
            }
            DeviceOp::ReleaseEvent => {
                if let Some(event) = self.event(words[0]) {
                    event.references -= 1;
                }
                0
            }
            DeviceOp::CreateUserEvent => self.add(1, true) as u64 + 1,
            DeviceOp::IsValidEvent => u64::from(self.find(words[0]).is_some()),
            DeviceOp::SetUserEventStatus => {
                let status = words[1] as u32 as i32;
                if let Some(event) = self.event(words[0])
                    && event.is_user
                    && event.status == Status::Pending
                    && status <= COMPLETE
                {
                    event.status = match status {
                        COMPLETE => Status::Done,
                        _ => Status::Failed,
                    };
                }
                0
            }
            DeviceOp::CaptureProfilingInfo => {
                if words[1] == PROFILING_COMMAND_EXEC_TIME
                    && let Some(event) = self.event(words[0])
                    && !event.is_user
                {
                    match event.status {
                        Status::Pending => event.captures.push(words[2]),
                        _ => write_times(host, words[2])?,
                    }
                }
                0
            }
            DeviceOp::DefaultQueue => 1,
            // The launch goes on.
            DeviceOp::FailAssertion => 0,
        })
    }

    /// Work-items in a work-group of a range.
    fn local_items(&self, words: &[u64]) -> u64 {
        let range = Range::new(words);
        let local = nd_range(&range, range.local).map_or([1; 3], |range| range.local_size);
        local.iter().map(|&n| n.max(1)).product()
    }

    /// The events of a wait list; `None` if one is none.
    fn wait_list<H: Host>(
        &self,
        host: &mut H,
        events: &EventOperands,
    ) -> Result<Option<Vec<usize>>, H::Error> {
        let mut list = Vec::new();
        for n in 0..u64::from(events.count) {
            let mut handle = [0; 8];
            host.read(events.wait.wrapping_add(8 * n), &mut handle)?;
            match self.find(u64::from_le_bytes(handle)) {
                Some(event) => list.push(event),
                None => return Ok(None),
            }
        }
        Ok(Some(list))
    }

    fn enqueue<H: Host>(
        &mut self,
        host: &mut H,
        block: FuncId,
        enqueue: &Enqueue<'_>,
    ) -> Result<i32, H::Error> {
        let unspecified = enqueue.range.local.iter().all(|&size| size == 0);
        let local = match unspecified {
            true => [1; 3],
            false => enqueue.range.local,
        };
        let range = nd_range(&enqueue.range, local)
            .filter(|range| range.local_size.iter().all(|&size| size > 0));
        let (Some(range), true) = (range, enqueue.queue != 0) else {
            return Ok(ENQUEUE_FAILURE);
        };
        if !enqueue.events.is_consistent() || enqueue.locals.contains(&0) {
            return Ok(ENQUEUE_FAILURE);
        }
        let Some(wait) = self.wait_list(host, &enqueue.events)? else {
            return Ok(ENQUEUE_FAILURE);
        };
        let (address, size) = enqueue.literal;
        if size > MAX_LITERAL {
            return Ok(ENQUEUE_FAILURE);
        }
        let mut literal = vec![0; size as usize];
        host.read(address, &mut literal)?;
        let launch = Command {
            block,
            range,
            literal,
            locals: enqueue.locals.to_vec(),
            event: 0,
        };
        // A range without work-items is over as soon as it may begin.
        let launch = (!range.global_size.contains(&0)).then_some(launch);
        self.push(host, launch, wait, &enqueue.events)?;
        Ok(SUCCESS)
    }

    fn push<H: Host>(
        &mut self,
        host: &mut H,
        mut launch: Option<Command>,
        wait: Vec<usize>,
        events: &EventOperands,
    ) -> Result<(), H::Error> {
        // "If an event is returned, enqueue_kernel performs an implicit retain on the returned
        // event."
        let event = self.add(u32::from(events.returned != 0), false);
        if events.returned != 0 {
            host.write(events.returned, &(event as u64 + 1).to_le_bytes())?;
        }
        if let Some(launch) = &mut launch {
            launch.event = event;
        }
        if let Some(parent) = self.running {
            self.events[event].parent = Some(parent);
            self.events[parent].unfinished += 1;
        }
        self.waiting.push_back(Waiting {
            launch,
            event,
            wait,
        });
        Ok(())
    }

    /// The launch that comes next, once the one before has ended; `None` when all is done.
    ///
    /// # Errors
    /// The host's, if memory is not there.
    pub fn next<H: Host>(&mut self, host: &mut H) -> Result<Option<Command>, H::Error> {
        if let Some(ended) = self.running.take() {
            self.finish(host, ended, false)?;
        }
        loop {
            let pending = |&event: &usize| self.events[event].status == Status::Pending;
            let ready = |waiting: &Waiting| !waiting.wait.iter().any(pending);
            let found = self.waiting.iter().position(ready);
            // What cannot go on has failed.
            let stuck = found.is_none();
            if stuck && self.fail_user_events() {
                continue;
            }
            let Some(waiting) = self.waiting.remove(found.unwrap_or(0)) else {
                return Ok(None);
            };
            let failed = |&event: &usize| self.events[event].status == Status::Failed;
            let fails = stuck || waiting.wait.iter().any(failed);
            match waiting.launch {
                Some(launch) if !fails => {
                    self.running = Some(launch.event);
                    return Ok(Some(launch));
                }
                _ => self.finish(host, waiting.event, fails)?,
            }
        }
    }

    /// Fails the user events that are not set; whether there are any.
    fn fail_user_events(&mut self) -> bool {
        let mut any = false;
        for event in self.events.iter_mut().filter(|event| event.is_user) {
            if event.status == Status::Pending {
                event.status = Status::Failed;
                any = true;
            }
        }
        any
    }

    /// A command has ended, or something that it enqueued is complete.
    fn finish<H: Host>(
        &mut self,
        host: &mut H,
        event: usize,
        has_failed: bool,
    ) -> Result<(), H::Error> {
        let (mut next, mut has_failed) = (Some(event), has_failed);
        while let Some(index) = next {
            let event = &mut self.events[index];
            event.has_failed |= has_failed;
            event.unfinished -= 1;
            if event.unfinished > 0 {
                break;
            }
            has_failed = event.has_failed;
            event.status = match has_failed {
                true => Status::Failed,
                false => Status::Done,
            };
            next = event.parent;
            for address in std::mem::take(&mut event.captures) {
                write_times(host, address)?;
            }
        }
        Ok(())
    }
}

/// "value is a pointer to two 64-bit values": how long the command took, and how long with all that
/// it enqueued.
fn write_times<H: Host>(host: &mut H, address: u64) -> Result<(), H::Error> {
    let one = 1u64.to_le_bytes();
    host.write(address, &[one, one].concat())
}
