//! What commands have in common that may be ended together: those of a context.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use crate::callbacks::Callbacks;
use crate::error::{CLResult, ClError};
use crate::sync::Mutex;
use crate::weak_list::WeakList;

/// Is told of what runs when.
pub trait Observer<E: ?Sized>: Send + Sync {
    /// This thread did some of the units of a command's work.
    fn took_part(&self, pieces: (&str, &str), units: (u64, u64, u64), times: (u64, u64));

    /// A command is about to be complete with this status.
    fn ended(&self, command: &E, status: i32);
}

/// Commands `E` that may be ended together.
pub struct Domain<E: ?Sized + 'static> {
    terminated: AtomicBool,
    /// What a termination ends, if there may be one: commands that are not complete.
    commands: Option<Mutex<WeakList<E>>>,
    /// Told of everything that runs, if it is to be.
    observer: Option<&'static dyn Observer<E>>,
    /// Told of errors that no return value can carry.
    notify: Option<Notify>,
    callbacks: Arc<Callbacks>,
}

/// Receives messages about errors.
pub type Notify = Box<dyn Fn(&str) + Send + Sync>;

impl<E: Send + Sync + ?Sized> Domain<E> {
    pub fn new(
        may_be_terminated: bool,
        observer: Option<&'static dyn Observer<E>>,
        notify: Option<Notify>,
        callbacks: &Arc<Callbacks>,
    ) -> Arc<Domain<E>> {
        Arc::new(Domain {
            terminated: AtomicBool::new(false),
            commands: may_be_terminated.then(Mutex::default),
            observer,
            notify,
            callbacks: Arc::clone(callbacks),
        })
    }

    /// Tells the application of an error that no return value can carry, soon.
    pub fn report(self: &Arc<Self>, message: &str) {
        if self.notify.is_some() {
            let (domain, message) = (Arc::clone(self), message.to_owned());
            let tell = move || domain.notify.iter().for_each(|notify| notify(&message));
            self.callbacks.push(Box::new(tell));
            self.callbacks.call_overdue();
        }
    }

    pub(crate) fn observer(&self) -> Option<&'static dyn Observer<E>> {
        self.observer
    }

    /// Whether the commands were ended.
    pub fn is_terminated(&self) -> bool {
        self.terminated.load(SeqCst)
    }

    /// What is true from the termination on, if there may be one.
    pub fn termination(&self) -> Option<&AtomicBool> {
        self.commands.as_ref().map(|_| &self.terminated)
    }

    /// No command begins any more: those that are to be ended.
    ///
    /// Errors: `CL_CONTEXT_TERMINATED_KHR` if that was so before, `CL_INVALID_OPERATION` if it
    /// cannot be.
    pub(crate) fn begin_termination(&self) -> CLResult<Vec<Arc<E>>> {
        let commands = self.commands.as_ref().ok_or(ClError::INVALID_OPERATION)?;
        // Under the lock, so that each command is either in the list or finds that it is too late.
        let commands = commands.lock();
        if self.terminated.swap(true, SeqCst) {
            return Err(ClError::CONTEXT_TERMINATED);
        }
        Ok(commands.alive().collect())
    }

    /// Remembers a new command, so that a termination finds it. Others stay in the list as long as
    /// they `matter`. Errors: `CL_CONTEXT_TERMINATED_KHR` if there was one.
    pub(crate) fn add(
        &self,
        command: &Arc<E>,
        matter: impl Fn(&std::sync::Weak<E>) -> bool,
    ) -> CLResult<()> {
        let Some(commands) = &self.commands else {
            return Ok(());
        };
        let mut commands = commands.lock();
        if self.is_terminated() {
            return Err(ClError::CONTEXT_TERMINATED);
        }
        commands.add(command, matter);
        Ok(())
    }

    /// The commands that had been begun when all were ended, or are remembered still. None if they
    /// were not.
    pub(crate) fn terminated_commands(&self) -> Vec<Arc<E>> {
        match self.commands.as_ref().filter(|_| self.is_terminated()) {
            Some(commands) => commands.lock().alive().collect(),
            None => Vec::new(),
        }
    }
}
