//! A command as it is described, checked and captured by value: what a queue runs once as the work
//! of an event, or a command-buffer records as a node of a graph, which runs again and again.

use std::ops::Range;
use std::sync::Arc;

use brolga_engine::Event;
use brolga_engine::callbacks::{NO_TICKET, Ticket};
use brolga_engine::chunks::WorkShape;
use brolga_engine::error::CLResult;
use brolga_engine::tree::Tree;
use brolga_engine::work::{RetainedResources, Runner, TraceInfo, Work};

use crate::launch::work::LaunchWork;
use crate::memory::transfer::Transfer;

/// A command before it has a place in any order.
pub struct Command {
    /// `CL_COMMAND_...`
    pub(crate) command_type: u32,
    pub(crate) work: Captured,
    pub(crate) retained: RetainedResources,
}

impl Command {
    /// A command on memory that the application keeps alive, or on none.
    pub(crate) fn retaining_nothing(command_type: u32, work: Captured) -> Command {
        Command {
            command_type,
            work,
            retained: RetainedResources::new(),
        }
    }
}

/// What is captured of a description. Queues have other work besides, which is described by no
/// structure.
pub(crate) enum Captured {
    Nothing,
    Transfer(Transfer),
    Launch(LaunchWork),
}

impl Captured {
    fn work(&self) -> Option<&dyn Work<Event>> {
        match self {
            Captured::Nothing => None,
            Captured::Transfer(transfer) => Some(transfer),
            Captured::Launch(launch) => Some(launch),
        }
    }
}

impl Work<Event> for Captured {
    fn runner(&self) -> Runner {
        self.work().map_or(Runner::Finder, |work| work.runner())
    }

    fn shape(&self) -> WorkShape {
        let shape = self.work().map(|work| work.shape());
        shape.unwrap_or(WorkShape::SINGLE)
    }

    fn stack_bytes(&self) -> u64 {
        self.work().map_or(0, |work| work.stack_bytes())
    }

    fn run(&self, event: Option<&Arc<Event>>, units: Range<u64>) -> CLResult<()> {
        let run = |work: &dyn Work<Event>| work.run(event, units);
        self.work().map_or(Ok(()), run)
    }

    fn finish(&self, busy: u64) -> Ticket {
        self.work().map_or(NO_TICKET, |work| work.finish(busy))
    }

    fn leave(&self) -> bool {
        self.work().is_some_and(|work| work.leave())
    }

    fn tree(&self) -> Option<&Arc<Tree<Event>>> {
        self.work()?.tree()
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        let description = self.work().map(|work| work.trace_info());
        description.unwrap_or_default()
    }
}
