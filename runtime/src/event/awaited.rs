//! What a thread waits for, and which commands have to be done for that.
//!
//! A waiting thread runs only commands that what it waits for depends on. Anything else may take
//! for ever: a kernel may spin until the host writes a flag, which the host does when its wait has
//! ended.
//!
//! A command knows those that depend on it, not those that it depends on. So the question is asked
//! from the ready command on: do its dependents lead to something that is awaited? In an in-order
//! queue the answer is in two numbers, since each command waits for those before it. Where that
//! finds nothing the dependents are searched, but only so many of them; where the search ends too
//! early the command is a worker's.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Event;
use crate::queue::Queue;

/// The events that a thread waits for.
#[derive(Default)]
pub(crate) struct Awaited {
    /// Addresses, sorted.
    events: SmallVec<[usize; 4]>,
    /// Numbers of queues, each with the place of the last command awaited: all before it are, too.
    queues: SmallVec<[(u64, u64); 4]>,
}

/// Events that one look at the ready commands searches at most.
const MAX_STEPS: usize = 64;

/// The events that a search has come to. They are to be dropped without a lock of the pool's held,
/// since the last reference to an event may be the last to its queue, which flushes when it goes.
#[derive(Default)]
pub(crate) struct Search {
    found: Vec<Arc<Event>>,
    steps: usize,
}

impl Awaited {
    /// Some events.
    pub(crate) fn events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Awaited {
        let mut awaited = Awaited::default();
        for event in events {
            match event.queue() {
                Some(queue) if !queue.is_out_of_order() => {
                    awaited.add_queue(queue.number(), event.place());
                }
                _ => awaited.events.push(std::ptr::from_ref(event) as usize),
            }
        }
        awaited.events.sort_unstable();
        awaited
    }

    /// Every command of a queue up to the one at `place`, and those among `events` that other
    /// queues have, too.
    pub(crate) fn queue(queue: &Queue, place: u64, events: &[Arc<Event>]) -> Awaited {
        let shared = events.iter().filter(|event| event.queue().is_none());
        let mut awaited = Awaited::events(shared.map(|event| &**event));
        awaited.add_queue(queue.number(), place);
        awaited
    }

    fn add_queue(&mut self, number: u64, place: u64) {
        match self.queues.iter_mut().find(|(queue, _)| *queue == number) {
            Some((_, last)) => *last = place.max(*last),
            None => self.queues.push((number, place)),
        }
    }

    /// Whether the event is awaited itself, or comes before one that is in a queue.
    pub(crate) fn contains(&self, event: &Event) -> bool {
        let is_before = |queue: &Arc<Queue>| {
            self.queues
                .iter()
                .any(|&(number, last)| number == queue.number() && event.place() <= last)
        };
        event.queue().is_some_and(is_before)
            || self
                .events
                .binary_search(&(std::ptr::from_ref(event) as usize))
                .is_ok()
    }

    /// Whether something that is awaited depends on `event`, as far as the search goes.
    pub(crate) fn depends_on(&self, event: &Event, search: &mut Search) -> bool {
        if self.contains(event) {
            return true;
        }
        // What has been searched before did not lead here.
        let mut next = search.found.len();
        search.visit_dependents(event);
        while let Some(event) = search.found.get(next).cloned() {
            if self.contains(&event) {
                return true;
            }
            search.visit_dependents(&event);
            next += 1;
        }
        false
    }
}

impl Search {
    /// Adds what depends on an event, as far as there are steps left.
    fn visit_dependents(&mut self, event: &Event) {
        event.for_each_dependent(|dependent| {
            let goes_on = self.steps < MAX_STEPS;
            if goes_on && !self.found.iter().any(|found| Arc::ptr_eq(found, dependent)) {
                self.steps += 1;
                self.found.push(Arc::clone(dependent));
            }
            goes_on
        });
    }
}
