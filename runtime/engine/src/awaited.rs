//! What a thread waits for, and which commands have to be done for that.
//!
//! A waiting thread runs only commands that what it waits for depends on. Anything else may take
//! for ever: a kernel may spin until the host writes a flag, which the host does when its wait has
//! ended.
//!
//! A command knows those that depend on it, not those that it depends on. In an in-order queue the
//! answer is in two numbers, since each command waits for those before it. Where that finds nothing
//! the dependents of what is ready are searched, but only so many of them; where the search ends
//! too early the command is a worker's.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::entry::{Entry, Line};

/// The commands that a thread waits for.
pub struct Awaited<'a> {
    /// Addresses, sorted.
    commands: SmallVec<[usize; 4]>,
    /// The lines of all commands, by number, each with the place of the last command awaited of one
    /// in order: all before it are, too.
    lines: SmallVec<[(&'a Line, u64); 4]>,
}

impl Default for Awaited<'_> {
    fn default() -> Self {
        Awaited {
            commands: SmallVec::new(),
            lines: SmallVec::new(),
        }
    }
}

/// Commands that one look at what is ready searches at most.
const MAX_STEPS: usize = 64;

/// The commands that a search has come to. They are to be dropped without a lock of the pool's
/// held, since the last reference to a command may be the last to its queue, which flushes when it
/// goes.
pub(crate) struct DependentSearch<E: ?Sized> {
    found: Vec<Arc<E>>,
    steps: usize,
}

impl<E: ?Sized> Default for DependentSearch<E> {
    fn default() -> Self {
        DependentSearch {
            found: Vec::new(),
            steps: 0,
        }
    }
}

/// What tells a command from all others as long as it lives.
fn address<E: ?Sized>(command: &E) -> usize {
    std::ptr::from_ref(command).cast::<u8>() as usize
}

impl<'a> Awaited<'a> {
    /// Some commands.
    pub fn commands<E: Entry + ?Sized>(commands: impl IntoIterator<Item = &'a E>) -> Awaited<'a> {
        let mut awaited = Awaited::default();
        for command in commands {
            awaited.add(command);
        }
        awaited.commands.sort_unstable();
        awaited
    }

    /// Every command of a line up to the one at `place`, and some others.
    pub fn line<E: Entry + ?Sized>(
        line: &'a Line,
        place: u64,
        others: impl IntoIterator<Item = &'a E>,
    ) -> Awaited<'a> {
        let mut awaited = Awaited::commands(others);
        awaited.add_line(line, place);
        awaited
    }

    fn add<E: Entry + ?Sized>(&mut self, command: &'a E) {
        let line = command.line();
        if line.is_in_order() && command.place() > 0 {
            return self.add_line(line, command.place());
        }
        self.add_line(line, 0);
        self.commands.push(address(command));
    }

    fn add_line(&mut self, line: &'a Line, place: u64) {
        let number = line.number();
        match self
            .lines
            .binary_search_by_key(&number, |(line, _)| line.number())
        {
            Ok(index) => {
                let last = &mut self.lines[index].1;
                *last = place.max(*last);
            }
            Err(index) => self.lines.insert(index, (line, place)),
        }
    }

    /// The lines that the commands are of.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'a Line> {
        self.lines.iter().map(|&(line, _)| line)
    }

    /// Whether the command is awaited itself, or comes before one that is.
    pub fn contains<E: Entry + ?Sized>(&self, command: &E) -> bool {
        let number = command.line().number();
        let line = self
            .lines
            .binary_search_by_key(&number, |(line, _)| line.number());
        // A command without a place in its line comes before nothing.
        line.is_ok_and(|index| (1..=self.lines[index].1).contains(&command.place()))
            || self.commands.binary_search(&address(command)).is_ok()
    }

    /// Whether something that is awaited depends on `command`, as far as the search goes.
    pub(crate) fn depends_on<E: Entry + ?Sized>(
        &self,
        command: &E,
        search: &mut DependentSearch<E>,
    ) -> bool {
        // What has been searched before did not lead here.
        let mut next = search.found.len();
        search.visit_dependents(command);
        while let Some(command) = search.found.get(next).cloned() {
            if self.contains(&*command) {
                return true;
            }
            search.visit_dependents(&command);
            next += 1;
        }
        false
    }
}

impl<E: Entry + ?Sized> DependentSearch<E> {
    /// Whether it has gone as far as it may.
    pub(crate) fn is_over(&self) -> bool {
        self.steps >= MAX_STEPS
    }

    /// Adds what depends on a command, as far as there are steps left.
    fn visit_dependents(&mut self, command: &E) {
        self.steps += 1;
        command.for_each_dependent(&mut |dependent| {
            let goes_on = !self.is_over();
            if goes_on && !self.found.iter().any(|found| Arc::ptr_eq(found, dependent)) {
                self.steps += 1;
                self.found.push(Arc::clone(dependent));
            }
            goes_on
        });
    }
}
