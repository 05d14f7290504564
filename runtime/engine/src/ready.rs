//! The commands of a pool whose dependencies are done, and which of them a thread takes.
//!
//! They are in lists by line, and lines by the priority of their queues. A command that several
//! threads share stays in its line until all of it is claimed; another leaves it when a thread
//! takes it. Lines with something ready take turns: one that has given a command away is the last.
//!
//! No look at the lists takes longer the more is ready: a worker takes what comes first, and a
//! waiting thread looks at the lines of what it waits for, and at so many entries of each
//! (`LOOK`); what is further back is for the workers.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::awaited::{Awaited, DependentSearch};
use crate::entry::{Entry, Line, Priority};

/// Entries of a line, and lines, that are looked at for one that suits.
const LOOK: usize = 64;

const PRIORITIES: [Priority; 3] = [Priority::High, Priority::Medium, Priority::Low];

/// The kind of thread that takes.
#[derive(Clone, Copy)]
pub(crate) enum Taker {
    Worker,
    /// The one that calls callbacks.
    CallbackThread,
}

/// The commands of a line that are ready.
struct ReadyCommands<E: ?Sized> {
    /// The line's number; 0 if the slot is free.
    line: u64,
    entries: VecDeque<Arc<E>>,
}

/// The commands of a pool that threads may take.
pub(crate) struct ReadyLists<E: ?Sized> {
    /// By slot.
    lines: Vec<ReadyCommands<E>>,
    free: Vec<u32>,
    /// Slots of lines that have something ready, by priority, the highest first.
    turns: [VecDeque<u32>; 3],
    pub(crate) deferred: VecDeque<Arc<E>>,
}

impl<E: ?Sized> Default for ReadyLists<E> {
    fn default() -> Self {
        ReadyLists {
            lines: Vec::new(),
            free: Vec::new(),
            turns: Default::default(),
            deferred: VecDeque::new(),
        }
    }
}

impl<E: Entry + ?Sized> ReadyLists<E> {
    pub(crate) fn push(&mut self, command: Arc<E>) {
        let line = command.line();
        let slot = line.slot().unwrap_or_else(|| {
            let slot = self.free.pop().unwrap_or(self.lines.len() as u32);
            if slot as usize == self.lines.len() {
                self.lines.push(ReadyCommands {
                    line: 0,
                    entries: VecDeque::new(),
                });
            }
            self.lines[slot as usize].line = line.number();
            line.set_slot(slot);
            slot
        });
        let priority = line.priority() as usize;
        let entries = &mut self.lines[slot as usize].entries;
        if entries.is_empty() {
            self.turns[priority].push_back(slot);
        }
        entries.push_back(command);
    }

    /// The line's commands go elsewhere from now on; it has none that are ready.
    pub(crate) fn remove_line(&mut self, line: &Line) {
        if let Some(slot) = line.slot() {
            let ready = &mut self.lines[slot as usize];
            debug_assert!(ready.entries.is_empty(), "a ready command keeps its line");
            ready.line = 0;
            ready.entries = VecDeque::new();
            self.free.push(slot);
        }
    }

    /// Takes the first command of a line that has room for a thread and that the thread may run.
    /// What turns out to be claimed in full goes to `exhausted`.
    fn take_of(
        &mut self,
        slot: u32,
        exhausted: &mut Vec<Arc<E>>,
        mut may_run: impl FnMut(&E) -> bool,
    ) -> Option<Arc<E>> {
        let entries = &mut self.lines[slot as usize].entries;
        let (mut index, mut looked) = (0, 0);
        while let Some(command) = entries.get(index) {
            if command.is_exhausted() {
                exhausted.extend(entries.remove(index));
                continue;
            }
            if command.missing() == 0 || !may_run(command) {
                index += 1;
                looked += 1;
                if looked == LOOK {
                    return None;
                }
                continue;
            }
            command.join();
            return match command.is_single() {
                true => entries.remove(index),
                false => Some(Arc::clone(command)),
            };
        }
        None
    }

    /// Takes the command whose turn it is of those that a thread may run, other than a waiting one.
    pub(crate) fn take_next(
        &mut self,
        taker: Taker,
        exhausted: &mut Vec<Arc<E>>,
    ) -> Option<Arc<E>> {
        for priority in 0..self.turns.len() {
            let mut index = 0;
            while index < LOOK
                && let Some(&slot) = self.turns[priority].get(index)
            {
                let taken = self.take_of(slot, exhausted, |command| match taker {
                    Taker::Worker => true,
                    Taker::CallbackThread => command.is_short(),
                });
                let is_empty = self.lines[slot as usize].entries.is_empty();
                if is_empty {
                    self.turns[priority].remove(index);
                } else if taken.as_ref().is_some_and(|command| command.is_single()) {
                    self.turns[priority].remove(index);
                    self.turns[priority].push_back(slot);
                } else {
                    index += 1;
                }
                if taken.is_some() {
                    return taken;
                }
            }
        }
        None
    }

    /// Takes a command that is awaited, of its line.
    pub(crate) fn take_awaited(
        &mut self,
        awaited: &Awaited<'_>,
        stack: u64,
        exhausted: &mut Vec<Arc<E>>,
    ) -> Option<Arc<E>> {
        for line in awaited.lines() {
            // It may be another pool's.
            let is_here = |slot: &u32| {
                let ready = self.lines.get(*slot as usize);
                ready.is_some_and(|ready| ready.line == line.number())
            };
            let Some(slot) = line.slot().filter(is_here) else {
                continue;
            };
            let taken = self.take_of(slot, exhausted, |command| {
                command.may_help(stack) && awaited.contains(command)
            });
            self.end_turn_if_empty(slot, line.priority());
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    /// Takes a command that what is awaited depends on, as far as the search goes.
    pub(crate) fn take_before_awaited(
        &mut self,
        awaited: &Awaited<'_>,
        stack: u64,
        exhausted: &mut Vec<Arc<E>>,
        search: &mut DependentSearch<E>,
    ) -> Option<Arc<E>> {
        for (priority, turns) in PRIORITIES.iter().zip(0..) {
            let turns: &VecDeque<u32> = &self.turns[turns];
            let slots: Vec<u32> = turns.iter().copied().take(LOOK).collect();
            for slot in slots {
                let taken = self.take_of(slot, exhausted, |command| {
                    !search.is_over()
                        && command.may_help(stack)
                        && awaited.depends_on(command, search)
                });
                self.end_turn_if_empty(slot, *priority);
                if taken.is_some() || search.is_over() {
                    return taken;
                }
            }
        }
        None
    }

    fn end_turn_if_empty(&mut self, slot: u32, priority: Priority) {
        if self.lines[slot as usize].entries.is_empty() {
            let turns = &mut self.turns[priority as usize];
            if let Some(index) = turns.iter().position(|&turn| turn == slot) {
                turns.remove(index);
            }
        }
    }

    /// Takes a deferred command that suits.
    pub(crate) fn take_deferred(&mut self, may_run: impl FnMut(&Arc<E>) -> bool) -> Option<Arc<E>> {
        let index = self.deferred.iter().position(may_run)?;
        let command = self.deferred.remove(index)?;
        command.join();
        Some(command)
    }

    /// How many workers there is something for, up to `most`.
    pub(crate) fn missing(&self, most: u32) -> u32 {
        let mut threads = 0;
        for &slot in self.turns.iter().flatten().take(LOOK) {
            for command in self.lines[slot as usize].entries.iter().take(LOOK) {
                threads += command.missing();
                if threads >= most {
                    return most;
                }
            }
        }
        threads
    }
}
