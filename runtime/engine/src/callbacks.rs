//! Functions of the application that the driver calls back: of events, of contexts, and when
//! objects are destroyed.
//!
//! They have a thread of their own, so that no kernel holds them up, however long it runs, and none
//! of them holds up a kernel. They are called one after the other, in the order in which they came
//! due, with no lock of the driver's held, and never on a thread of the application that waits:
//! that may hold a mutex which the callback locks. The destructor callbacks of what a thread of the
//! application destroys, by a release, are called on that thread before the release returns.
//!
//! A callback that waits for a command is against the specification ("The behavior of calling
//! [...] blocking OpenCL APIs from a callback is undefined", `clSetEventCallback`). It works here:
//! before the thread waits, another one takes its place.
//!
//! # When they have run
//!
//! Each has a [`Ticket`]. A thread that completes an event, or waits for one, returns when the
//! callbacks of that have run ([`Callbacks::wait_run`]), which is what applications rely on
//! elsewhere; but it waits no longer than `PATIENCE`: one of them, or one before them, may lock a
//! mutex that the thread holds.
//!
//! # Short commands
//!
//! To wake a thread takes several times as long as a short command does, and a short command with a
//! callback would wake two, one after the other: a worker, and this thread. So this thread runs it
//! as well, if it has nothing to call when the callback is registered ([`Callbacks::ask`]).
//!
//! What was estimated to be short may go on for ever. So a callback that comes due while the thread
//! runs a command has another thread take over the calling. The one that ran the command is spare
//! afterwards, and takes over the next time. The alternative, callbacks that never run commands,
//! costs every short command with a callback a second wake-up.
//!
//! # States
//!
//! Everything about the threads is decided under the lock of the list:
//!
//! ```text
//!            push, ask                     callback due             returned
//!  Asleep ------------> Looking ------------------------> Calling ----------> Looking
//!                          |  asked                        command ended
//!                          +-----------> Executing -----------------------> Looking
//! ```
//!
//! - *No callback is forgotten.* `push` adds it under the lock and then finds the thread that calls
//!   in one of these states: `Asleep`, and wakes it; `Looking` or `Calling`, after which it takes
//!   the lock again and finds the callback before it sleeps; `Executing`, and has another thread
//!   call, or is that thread itself, which looks when the command has ended. A command that makes a
//!   callback due by beginning is the last case, so before it runs one the thread looks whether it
//!   has ([`Callbacks::make_way`]).
//! - *No command is forgotten.* `ask` says yes in the states `Looking` and `Asleep` only, while
//!   nothing is to be called, and the thread looks at `asked` first when it has the lock next: so
//!   it does run commands after that, and wakes a worker for what it leaves. If `ask` says no, the
//!   thread that asked wakes a worker.
//! - *One at a time.* Only the thread whose number is `caller` takes callbacks. Another is given
//!   the number, in `start`, while this one runs a command, or is in a callback and waits for a
//!   command; when it comes back it finds that it is not the caller, and waits as the spare one, or
//!   ends.
//!
//! # Without a thread
//!
//! If no thread can be started callbacks are called by the thread on which they came due, once what
//! made them due is over, or by one that waits for them ([`Callbacks::call_overdue`]).

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use brolga_host::notice;

use crate::sync::Ordering::SeqCst;
use crate::sync::{self, AtomicBool, AtomicU64, Condvar, Mutex};
use crate::system::stack;

/// How long a thread waits at most until a callback has run.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long the thread looks for callbacks before it sleeps, nanoseconds.
const SPIN: u64 = 10_000;

/// Counts callbacks in the order in which they came due; the first is 1.
pub type Ticket = u64;

/// No callback.
pub const NO_TICKET: Ticket = 0;

/// Starts a thread that is called so, with as many bytes of stack.
pub type Spawn = fn(&str, usize, Box<dyn FnOnce() + Send>) -> io::Result<()>;

/// A function that is called once.
pub type Callback = Box<dyn FnOnce() + Send>;

/// A source of short commands.
pub trait ShortCommands: Send + Sync {
    /// Runs some until there are none, or callbacks are due.
    fn run_short(&self);
}

/// The callbacks of the process.
pub struct Callbacks {
    list: Mutex<List>,
    spawn: Spawn,
    /// Callbacks that have come due. Written with the list locked.
    due: AtomicU64,
    /// Of these, the ones that have begun. Written with the list locked.
    begun: AtomicU64,
    /// The last one that has ended. Written with the list locked.
    ended: AtomicU64,
    /// Whether the thread is to run commands. Written with the list locked.
    is_asked: AtomicBool,
    /// Whether callbacks are due and no thread can be started. Written with the list locked.
    is_overdue: AtomicBool,
    /// Notified when the thread has something to do.
    news: Condvar,
    /// Notified when the spare thread is to take over.
    takeover: Condvar,
    /// Notified when a callback has ended and threads wait.
    progress: Condvar,
}

struct List {
    waiting: VecDeque<Callback>,
    /// Whose commands the thread is to run, if it is asked to.
    asked: Option<Arc<dyn ShortCommands>>,
    /// Counts the threads that there have been; each has the number that it was given.
    threads: u64,
    /// The one that calls; 0 if there is none.
    caller: u64,
    /// What that one does.
    activity: Activity,
    /// A thread that has called, and may take over again; 0 if there is none.
    spare: u64,
    /// Threads that wait until callbacks have run.
    waiters: u32,
    /// The last callback that was begun when a thread had waited for long enough.
    late: Ticket,
    /// Whether the threads are to end.
    is_stopped: bool,
}

/// What the thread that calls does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// It looks for something to do.
    Looking,
    Asleep,
    Calling,
    /// It runs commands.
    Executing,
}

/// What a thread is to do next.
enum NextStep {
    Call(Callback, Ticket),
    Execute(Arc<dyn ShortCommands>),
}

sync::locals! {
    /// If this thread calls callbacks, or did: which ones, and its number.
    static CALLER: Cell<(usize, u64)> = Cell::new((0, 0));
    /// Whether this thread executes commands, so that it calls nothing itself.
    static EXECUTES: Cell<bool> = Cell::new(false);
    /// The last callback that came due on this thread.
    static LAST: Cell<Ticket> = Cell::new(NO_TICKET);
}

/// The number of a thread that calls because there is none for it.
const WITHOUT_THREAD: u64 = u64::MAX;

/// Sets a thread's own value while `work` is done.
fn with_set<T: Copy + 'static, R>(
    local: &'static sync::LocalKey<Cell<T>>,
    value: T,
    work: impl FnOnce() -> R,
) -> R {
    struct Restore<T: Copy + 'static>(&'static sync::LocalKey<Cell<T>>, Option<T>);
    impl<T: Copy + 'static> Drop for Restore<T> {
        fn drop(&mut self) {
            if let Some(before) = self.1 {
                let _ = self.0.try_with(|it| it.set(before));
            }
        }
    }
    let _restore = Restore(local, local.try_with(|it| it.replace(value)).ok());
    work()
}

/// Runs `work`, which executes commands: callbacks that come due in it are called on the thread for
/// them.
pub fn executing<R>(work: impl FnOnce() -> R) -> R {
    with_set(&EXECUTES, true, work)
}

/// Whether this thread executes commands.
pub fn is_executing() -> bool {
    // A thread that is ending does not.
    EXECUTES.try_with(Cell::get).unwrap_or(false)
}

/// The last callback that came due on this thread, of all that ever did.
pub fn last_of_this_thread() -> Ticket {
    LAST.try_with(Cell::get).unwrap_or(NO_TICKET)
}

impl Callbacks {
    /// No thread is started before there is a callback.
    pub fn new() -> Arc<Callbacks> {
        Callbacks::with(sync::spawn)
    }

    /// As [`Callbacks::new`], with threads that are started so.
    pub fn with(spawn: Spawn) -> Arc<Callbacks> {
        Arc::new(Callbacks {
            list: Mutex::new(List {
                waiting: VecDeque::new(),
                asked: None,
                threads: 0,
                caller: 0,
                activity: Activity::Looking,
                spare: 0,
                waiters: 0,
                late: NO_TICKET,
                is_stopped: false,
            }),
            spawn,
            due: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            is_asked: AtomicBool::new(false),
            is_overdue: AtomicBool::new(false),
            news: Condvar::new(),
            takeover: Condvar::new(),
            progress: Condvar::new(),
        })
    }

    /// Has `callback` called soon.
    pub fn push(self: &Arc<Self>, callback: Callback) -> Ticket {
        let mut list = self.list.lock();
        list.waiting.push_back(callback);
        let ticket = self.due.fetch_add(1, SeqCst) + 1;
        if list.caller == 0 && !self.start(&mut list) {
            self.is_overdue.store(true, SeqCst);
        }
        // What a thread finds due by the command that it runs has its turn when that is done, or
        // before it is begun ([`Callbacks::make_way`]).
        if list.activity == Activity::Executing && list.caller != self.this_thread() {
            self.start(&mut list);
        }
        self.wake(&mut list);
        drop(list);
        let _ = LAST.try_with(|last| last.set(ticket));
        ticket
    }

    /// Has `callback` called before this returns, or soon if this thread executes commands.
    pub fn call_or_push(self: &Arc<Self>, callback: Callback) {
        match is_executing() {
            true => {
                self.push(callback);
            }
            false => callback(),
        }
    }

    /// The last callback that came due.
    pub fn last(&self) -> Ticket {
        self.due.load(SeqCst)
    }

    /// Returns when the callback has run, or after a while.
    pub fn wait_run(&self, ticket: Ticket) {
        // The callback of another event cannot begin before this one, on whose thread this is,
        // ends.
        if self.ended.load(SeqCst) >= ticket || self.this_thread() != 0 {
            return;
        }
        self.call_overdue();
        let until = Instant::now() + PATIENCE;
        let mut list = self.list.lock();
        list.waiters += 1;
        while self.ended.load(SeqCst) < ticket {
            let begun = self.begun.load(SeqCst);
            // Another thread has waited for this one in vain.
            let is_late = begun > self.ended.load(SeqCst) && begun == list.late;
            if is_late || self.progress.wait_until(&mut list, until).timed_out() {
                list.late = begun;
                break;
            }
        }
        list.waiters -= 1;
    }

    /// Calls here what is due if no thread can be started, unless this thread is in the middle of
    /// something.
    pub fn call_overdue(&self) {
        if !self.is_overdue.load(SeqCst) || is_executing() || self.this_thread() != 0 {
            return;
        }
        let own = (std::ptr::from_ref(self) as usize, WITHOUT_THREAD);
        with_set(&CALLER, own, || {
            loop {
                let (callback, ticket) = {
                    let mut list = self.list.lock();
                    let callback = match list.caller {
                        0 => list.waiting.pop_front(),
                        _ => None,
                    };
                    let Some(callback) = callback else {
                        self.is_overdue.store(false, SeqCst);
                        return;
                    };
                    (callback, self.begun.fetch_add(1, SeqCst) + 1)
                };
                self.call(callback, ticket);
            }
        });
    }

    /// This thread is about to wait for a command: if it is in a callback, another one takes over.
    pub fn about_to_wait(self: &Arc<Self>) {
        let number = self.this_thread();
        if number != 0 {
            let mut list = self.list.lock();
            if list.caller == number {
                self.start(&mut list);
            }
        }
    }

    /// Has the thread run short commands that are ready. False if it is busy.
    pub fn ask(&self, commands: Arc<dyn ShortCommands>) -> bool {
        let mut list = self.list.lock();
        let is_free = matches!(list.activity, Activity::Looking | Activity::Asleep);
        if list.caller == 0 || !is_free || !list.waiting.is_empty() {
            return false;
        }
        list.asked = Some(commands);
        self.is_asked.store(true, SeqCst);
        self.wake(&mut list);
        true
    }

    /// Whether something is to be called.
    pub fn are_due(&self) -> bool {
        self.due.load(SeqCst) != self.begun.load(SeqCst)
    }

    /// This thread, which was asked to run commands, has marked one as running and is about to run
    /// it: if that made a callback due, another thread takes over.
    pub fn make_way(self: &Arc<Self>) {
        let mut list = self.list.lock();
        if list.caller == self.this_thread() && !list.waiting.is_empty() {
            self.start(&mut list);
        }
    }

    /// Has the threads end, when they have called what is due.
    pub fn stop(&self) {
        let mut list = self.list.lock();
        list.is_stopped = true;
        if list.activity == Activity::Asleep {
            list.activity = Activity::Looking;
        }
        self.news.notify_all();
        self.takeover.notify_all();
    }

    /// The number of this thread, if it calls callbacks or did; 0 for others.
    fn this_thread(&self) -> u64 {
        match CALLER.try_with(Cell::get) {
            Ok((of, number)) if of == std::ptr::from_ref(self) as usize => number,
            _ => 0,
        }
    }

    /// Wakes the thread that calls, if it sleeps.
    fn wake(&self, list: &mut List) {
        if list.activity == Activity::Asleep {
            list.activity = Activity::Looking;
            self.news.notify_one();
        }
    }

    /// Has another thread call from now on. False if there is none.
    fn start(self: &Arc<Self>, list: &mut List) -> bool {
        if list.spare != 0 {
            list.caller = std::mem::take(&mut list.spare);
            list.activity = Activity::Looking;
            self.takeover.notify_one();
            return true;
        }
        let number = list.threads + 1;
        let all = Arc::clone(self);
        let life = move || {
            let own = (Arc::as_ptr(&all) as usize, number);
            let _ = CALLER.try_with(|caller| caller.set(own));
            all.serve(number);
        };
        match (self.spawn)("brolga-callbacks", stack::WORKER, Box::new(life)) {
            Ok(()) => {
                list.threads = number;
                list.caller = number;
                list.activity = Activity::Looking;
            }
            Err(error) => notice(format_args!("cannot start a thread for callbacks: {error}")),
        }
        list.caller == number
    }

    /// The life of a thread that calls, or has called.
    fn serve(self: &Arc<Self>, number: u64) {
        while let Some(step) = self.next(number) {
            match step {
                NextStep::Call(callback, ticket) => self.call(callback, ticket),
                NextStep::Execute(commands) => {
                    // A panic must not end the thread.
                    let _ = catch_unwind(AssertUnwindSafe(|| commands.run_short()));
                    self.rest(&mut self.list.lock());
                }
            }
        }
    }

    /// What there is to do; nothing for a thread that is not needed any more.
    fn next(&self, number: u64) -> Option<NextStep> {
        sync::spin(SPIN, || {
            (self.are_due() || self.is_asked.load(SeqCst)).then_some(())
        });
        let mut list = self.list.lock();
        loop {
            if list.is_stopped && (list.caller != number || list.waiting.is_empty()) {
                return None;
            }
            if list.caller != number {
                if list.spare != 0 && list.spare != number {
                    return None;
                }
                list.spare = number;
                self.takeover.wait(&mut list);
            } else if let Some(commands) = list.asked.take() {
                self.is_asked.store(false, SeqCst);
                // First, so that a callback that has come due since does not hold up the commands:
                // they are then left to a worker.
                list.activity = Activity::Executing;
                return Some(NextStep::Execute(commands));
            } else if let Some(callback) = list.waiting.pop_front() {
                let ticket = self.begun.fetch_add(1, SeqCst) + 1;
                list.activity = Activity::Calling;
                return Some(NextStep::Call(callback, ticket));
            } else {
                list.activity = Activity::Asleep;
                self.news.wait(&mut list);
            }
        }
    }

    /// A panic (of a function in Rust) is the application's, and not the end of the thread.
    fn call(&self, callback: Callback, ticket: Ticket) {
        let _ = catch_unwind(AssertUnwindSafe(callback));
        let mut list = self.list.lock();
        self.rest(&mut list);
        // Another thread may have taken over while this one was in its callback.
        let ended = self.ended.load(SeqCst).max(ticket);
        self.ended.store(ended, SeqCst);
        if list.waiters > 0 {
            self.progress.notify_all();
        }
    }

    /// This thread has done what it was to do.
    fn rest(&self, list: &mut List) {
        if list.caller == self.this_thread() {
            list.activity = Activity::Looking;
        }
    }
}
