//! A launch from the host and everything that came of it: its events, and whether anything of it
//! can still run.

use std::collections::HashMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::context::Context;
use crate::device::MAX_ON_DEVICE_EVENTS;
use crate::event::Event;
use crate::weak_list::WeakList;

/// See the head of `mod.rs`.
pub(crate) struct LaunchTree {
    pub(crate) context: Arc<Context>,
    /// The handle of the default queue when the host enqueued.
    pub(crate) default_queue: u64,
    /// Commands that can run, or do. While one does, user events may yet be set.
    active: AtomicU32,
    events: Mutex<Events>,
}

#[derive(Default)]
struct Events {
    /// Of the handle given out last. None is given out twice.
    last: u64,
    table: HashMap<u64, Entry>,
    /// Commands that waited for others when they were enqueued.
    blocked: WeakList<Event>,
}

struct Entry {
    event: Arc<Event>,
    references: u32,
}

impl LaunchTree {
    /// The tree of a launch, which can run.
    pub(crate) fn new(context: &Arc<Context>, default_queue: u64) -> Arc<LaunchTree> {
        Arc::new(LaunchTree {
            context: Arc::clone(context),
            default_queue,
            active: AtomicU32::new(1),
            events: Mutex::default(),
        })
    }

    /// A command can run.
    pub(crate) fn wake(&self) {
        self.active.fetch_add(1, Relaxed);
    }

    /// A command has ended, and what waited for that can run; whether nothing else can.
    pub(crate) fn became_idle(&self) -> bool {
        self.active.fetch_sub(1, AcqRel) == 1
    }

    /// Whether the table has room for one more.
    pub(super) fn has_room(&self) -> bool {
        self.events.lock().table.len() < MAX_ON_DEVICE_EVENTS as usize
    }

    /// Gives an event a handle, with one reference.
    pub(super) fn add(&self, event: &Arc<Event>) -> u64 {
        let mut events = self.events.lock();
        events.last += 1;
        let handle = events.last;
        let entry = Entry {
            event: Arc::clone(event),
            references: 1,
        };
        events.table.insert(handle, entry);
        handle
    }

    pub(super) fn find(&self, handle: u64) -> Option<Arc<Event>> {
        let events = self.events.lock();
        events
            .table
            .get(&handle)
            .map(|entry| Arc::clone(&entry.event))
    }

    pub(super) fn retain(&self, handle: u64) {
        if let Some(entry) = self.events.lock().table.get_mut(&handle) {
            entry.references = entry.references.saturating_add(1);
        }
    }

    pub(super) fn release(&self, handle: u64) {
        let mut events = self.events.lock();
        let Some(entry) = events.table.get_mut(&handle) else {
            return;
        };
        entry.references -= 1;
        if entry.references == 0 {
            let entry = events.table.remove(&handle);
            // Outside the lock: if this was the last reference, what waits for the event fails.
            drop(events);
            drop(entry);
        }
    }

    /// Remembers a command that waits for others.
    pub(super) fn note_blocked(&self, event: &Arc<Event>) {
        let mut events = self.events.lock();
        let is_blocked = |event: &Weak<Event>| event.upgrade().is_some_and(|e| e.is_blocked());
        events.blocked.add(event, is_blocked);
    }

    /// What keeps the tree from coming to its end, once nothing can run: user events that are not
    /// set, else commands that wait for each other.
    pub(crate) fn stuck(&self) -> Vec<Arc<Event>> {
        let mut events = self.events.lock();
        let user = events.table.values().map(|entry| &entry.event);
        let user: Vec<_> = user
            .filter(|event| event.is_user() && !event.is_done())
            .cloned()
            .collect();
        if !user.is_empty() {
            return user;
        }
        let blocked = std::mem::take(&mut events.blocked);
        blocked.alive().filter(|event| event.is_blocked()).collect()
    }

    /// The launch from the host is complete, and no kernel is left that could use a handle: lets
    /// the events go.
    pub(crate) fn release_events(&self) {
        let events = std::mem::take(&mut *self.events.lock());
        drop(events);
    }
}
