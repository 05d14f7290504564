//! A command of the host and everything that came of it: what commands enqueue themselves.
//!
//! Such a command, a *child*, is one like any other. What is added to it is a [`ParentLink`]:
//!
//! - its *parent* is complete when all its children are: each command of a tree counts those that
//!   are not, and itself. A failure of a child is one of the parent;
//! - its [`Tree`] is the root and all that came of it. It has a table of commands by handles, since
//!   nothing else can name them, and counts those that run or could. When there are none and the
//!   root is not complete, then what it still waits for never comes, and fails.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicI32, AtomicU32};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::weak_list::WeakList;

/// Commands in the table of a tree at most.
pub const MAX_COMMANDS: usize = 1 << 16;

/// Commands of a tree that are not complete, at most. A command is kept until all that it enqueued
/// is complete, so that kernels which enqueue themselves without an end would fill the memory: no
/// queue has them any more once they run.
const MAX_CHILDREN: u32 = 1 << 18;

/// Commands `E` of one root.
pub struct Tree<E: ?Sized> {
    /// Commands that can run, or do. While one does, user events may yet be set.
    active: AtomicU32,
    /// Commands that kernels have enqueued and that are not complete.
    children: AtomicU32,
    known: Mutex<Known<E>>,
}

struct Known<E: ?Sized> {
    /// The handle given out last. None is given out twice.
    last: u64,
    table: HashMap<u64, TableEntry<E>>,
    /// Commands that waited for others when they were enqueued.
    blocked: WeakList<E>,
}

impl<E: ?Sized> Default for Known<E> {
    fn default() -> Self {
        Known {
            last: 0,
            table: HashMap::new(),
            blocked: WeakList::default(),
        }
    }
}

struct TableEntry<E: ?Sized> {
    command: Arc<E>,
    references: u32,
}

impl<E: ?Sized> Tree<E> {
    /// The tree of a root, which can run.
    pub fn new() -> Arc<Tree<E>> {
        Arc::new(Tree {
            active: AtomicU32::new(1),
            children: AtomicU32::new(0),
            known: Mutex::default(),
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

    /// Counts one more child; false if there are too many.
    pub fn add_child(&self) -> bool {
        let next = |children| (children < MAX_CHILDREN).then_some(children + 1);
        let added = self.children.fetch_update(Relaxed, Relaxed, next);
        added.is_ok()
    }

    /// A child is complete, or was not enqueued after all.
    pub fn remove_child(&self) {
        self.children.fetch_sub(1, Relaxed);
    }

    /// Whether the table has room for one more.
    pub fn has_room(&self) -> bool {
        self.known.lock().table.len() < MAX_COMMANDS
    }

    /// Gives a command a handle, with one reference.
    pub fn add(&self, command: &Arc<E>) -> u64 {
        let mut known = self.known.lock();
        known.last += 1;
        let handle = known.last;
        let entry = TableEntry {
            command: Arc::clone(command),
            references: 1,
        };
        known.table.insert(handle, entry);
        handle
    }

    pub fn find(&self, handle: u64) -> Option<Arc<E>> {
        let known = self.known.lock();
        let entry = known.table.get(&handle);
        entry.map(|entry| Arc::clone(&entry.command))
    }

    pub fn retain(&self, handle: u64) {
        if let Some(entry) = self.known.lock().table.get_mut(&handle) {
            entry.references = entry.references.saturating_add(1);
        }
    }

    pub fn release(&self, handle: u64) {
        let mut known = self.known.lock();
        let Some(entry) = known.table.get_mut(&handle) else {
            return;
        };
        entry.references -= 1;
        if entry.references == 0 {
            let entry = known.table.remove(&handle);
            // Outside the lock: if this was the last reference, what waits for the command fails.
            drop(known);
            drop(entry);
        }
    }

    /// Remembers a command that waits for others.
    pub fn note_blocked(&self, command: &Arc<E>, is_blocked: impl Fn(&E) -> bool) {
        let mut known = self.known.lock();
        let matters = |command: &Weak<E>| command.upgrade().is_some_and(|it| is_blocked(&it));
        known.blocked.add(command, matters);
    }

    /// What keeps the tree from coming to its end, once nothing can run: user events that are not
    /// set, else commands that wait for each other.
    pub(crate) fn stuck(
        &self,
        is_unset: impl Fn(&E) -> bool,
        is_blocked: impl Fn(&E) -> bool,
    ) -> Vec<Arc<E>> {
        let mut known = self.known.lock();
        let commands = known.table.values().map(|entry| &entry.command);
        let unset: Vec<_> = commands.filter(|it| is_unset(it)).cloned().collect();
        if !unset.is_empty() {
            return unset;
        }
        let blocked = std::mem::take(&mut known.blocked);
        blocked.alive().filter(|it| is_blocked(it)).collect()
    }

    /// The root is complete, and nothing is left that could use a handle: lets the commands go.
    pub(crate) fn release_all(&self) {
        let known = std::mem::take(&mut *self.known.lock());
        drop(known);
    }
}

/// A command's place in its tree.
pub struct ParentLink<E: ?Sized> {
    pub(crate) tree: Arc<Tree<E>>,
    /// Until the command is complete, so that a long line of them is not dropped in one go.
    parent: Mutex<Option<Arc<E>>>,
    /// Children that are not complete, and one while the command itself has not ended.
    unfinished: AtomicU32,
    /// The first error of a child; 0 while there is none.
    failure: AtomicI32,
    /// What the command holds until it begins: room in its queue.
    until_begun: Mutex<Option<Arc<dyn Any + Send + Sync>>>,
    /// Whether the host enqueued it: then the tree counts it from the start.
    is_root: bool,
}

impl<E: ?Sized> ParentLink<E> {
    /// Of what the host enqueued.
    pub(crate) fn root(tree: &Arc<Tree<E>>) -> ParentLink<E> {
        ParentLink {
            tree: Arc::clone(tree),
            parent: Mutex::new(None),
            unfinished: AtomicU32::new(1),
            failure: AtomicI32::new(0),
            until_begun: Mutex::new(None),
            is_root: true,
        }
    }

    /// Of a child of `parent`, which has this link itself and has not ended, so that it has one
    /// child more.
    pub(crate) fn child(
        parent: &Arc<E>,
        of_parent: Option<&ParentLink<E>>,
        tree: &Arc<Tree<E>>,
        until_begun: Arc<dyn Any + Send + Sync>,
    ) -> ParentLink<E> {
        if let Some(of_parent) = of_parent {
            of_parent.unfinished.fetch_add(1, Relaxed);
        }
        ParentLink {
            parent: Mutex::new(Some(Arc::clone(parent))),
            until_begun: Mutex::new(Some(until_begun)),
            is_root: false,
            ..ParentLink::root(tree)
        }
    }

    /// The command can run, or end without.
    pub(crate) fn begin(&self) {
        if !self.is_root {
            self.tree.wake();
        }
        let held = self.until_begun.lock().take();
        drop(held);
    }

    /// The command itself or a child is complete; whether nothing is left.
    pub(crate) fn finish_one(&self) -> bool {
        self.unfinished.fetch_sub(1, AcqRel) == 1
    }

    /// Calls `visit` with the parent, while there is one that is not complete.
    pub(crate) fn with_parent(&self, visit: impl FnOnce(&Arc<E>) -> bool) {
        if let Some(parent) = &*self.parent.lock() {
            visit(parent);
        }
    }

    pub(crate) fn take_parent(&self) -> Option<Arc<E>> {
        self.parent.lock().take()
    }

    pub(crate) fn fail(&self, status: i32) {
        let _ = self.failure.compare_exchange(0, status, AcqRel, Relaxed);
    }

    pub(crate) fn failure(&self) -> i32 {
        self.failure.load(Acquire)
    }
}
