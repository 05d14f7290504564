//! What is linked with a command until its end: the commands `E` that wait for it, and what it
//! keeps alive.

use std::sync::Arc;

use crate::work::{Resource, RetainedResources};

/// What waits for the end of a command, and what it keeps alive until then.
pub(super) struct Links<E: ?Sized> {
    pub(super) dependents: Dependents<E>,
    pub(super) retained: Option<Resource>,
    pub(super) of_kernels: Option<Box<LinksOfKernels<E>>>,
}

/// What kernels want of commands besides.
pub(super) struct LinksOfKernels<E: ?Sized> {
    /// Children that may begin when the command has ended.
    pub(super) after_end: Vec<Arc<E>>,
    /// Where the times are to be written (`capture_event_profiling_info`).
    pub(super) captures: Vec<usize>,
}

impl<E: ?Sized> Links<E> {
    /// Nothing waits.
    pub(super) fn new(retained: RetainedResources) -> Links<E> {
        Links {
            dependents: Dependents::None,
            retained: as_one(retained),
            of_kernels: None,
        }
    }

    pub(super) fn of_kernels(&mut self) -> &mut LinksOfKernels<E> {
        self.of_kernels.get_or_insert_with(|| {
            Box::new(LinksOfKernels {
                after_end: Vec::new(),
                captures: Vec::new(),
            })
        })
    }
}

/// Objects as one, which takes two words.
fn as_one(mut retained: RetainedResources) -> Option<Resource> {
    match retained.len() {
        0 | 1 => retained.pop(),
        _ => Some(Arc::new(retained)),
    }
}

/// What depends on a command: mostly one other.
#[derive(Default)]
#[expect(clippy::box_collection, reason = "a vector is three words")]
pub(super) enum Dependents<E: ?Sized> {
    #[default]
    None,
    One(Dependent<E>),
    Several(Box<Vec<Dependent<E>>>),
}

impl<E: ?Sized> Dependents<E> {
    pub(super) fn push(&mut self, dependent: Dependent<E>) {
        *self = match std::mem::take(self) {
            Dependents::None => Dependents::One(dependent),
            Dependents::One(first) => Dependents::Several(Box::new(vec![first, dependent])),
            Dependents::Several(mut all) => {
                all.push(dependent);
                Dependents::Several(all)
            }
        };
    }

    pub(super) fn as_slice(&self) -> &[Dependent<E>] {
        match self {
            Dependents::None => &[],
            Dependents::One(dependent) => std::slice::from_ref(dependent),
            Dependents::Several(all) => all,
        }
    }

    /// Calls `visit` with each, in their order.
    pub(super) fn for_each(self, mut visit: impl FnMut(Dependent<E>)) {
        match self {
            Dependents::None => {}
            Dependents::One(dependent) => visit(dependent),
            Dependents::Several(all) => all.into_iter().for_each(visit),
        }
    }
}

pub(super) struct Dependent<E: ?Sized> {
    pub(super) command: Arc<E>,
    /// Whether a failure of what it depends on is a failure of the dependent: true for wait lists,
    /// false for the mere order of an in-order queue.
    pub(super) inherits: bool,
}
