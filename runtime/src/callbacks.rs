//! Functions of the application that the driver calls back: of events, of objects that go, of
//! contexts.
//!
//! They have a thread of their own, so that no kernel holds them up, however long it runs, and none
//! of them holds up a kernel. They are called one after the other, in the order in which they came
//! due, with no lock of the driver's held, and never on a thread of the application that waits:
//! that may hold a mutex which the callback wants. What an application's thread destroys itself, by
//! a release, it is told of before the release returns, on that thread.
//!
//! A callback that waits for a command is against the specification ("The behavior of calling
//! [...] blocking OpenCL APIs from a callback is undefined", `clSetEventCallback`). It works here:
//! before the thread waits, another one takes its place.
//!
//! # When they have run
//!
//! Each has a [`Ticket`]. A thread that completes an event, or waits for one, returns when the
//! callbacks of that have run ([`wait_run`]), which is what applications rely on elsewhere; but it
//! waits no longer than [`PATIENCE`]: one of them, or one before them, may want a mutex that the
//! thread holds.
//!
//! # Short commands
//!
//! To wake a thread takes several times as long as a short command does, and a short command with a
//! callback would wake two, one after the other: a worker, and this thread. So this thread runs it
//! as well, if it has nothing to call when the callback is registered ([`ask`]).
//!
//! What was estimated to be short may go on for ever. So whoever finds a callback due while the
//! thread runs a command has another thread call from then on. The one that ran the command is
//! spare afterwards, and takes over the next time. Everything about that is decided under the lock
//! of the list.

use std::cell::Cell;
use std::collections::VecDeque;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::clock::timestamp;
use crate::command::Action;
use crate::pool::Pool;
use crate::stack;
use crate::threads;

/// How long a thread waits at most until a callback has run.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long the thread looks for callbacks before it sleeps, nanoseconds.
const SPIN: u64 = 10_000;

/// Counts callbacks in the order in which they came due; the first is 1.
pub(crate) type Ticket = u64;

/// No callback.
pub(crate) const NO_TICKET: Ticket = 0;

/// The callbacks of the process.
struct Callbacks {
    list: Mutex<List>,
    /// Callbacks that have come due. Written with the list locked.
    due: AtomicU64,
    /// Of these, the ones that have begun. Written with the list locked.
    begun: AtomicU64,
    /// The last one that has ended. Written with the list locked.
    ended: AtomicU64,
    /// Whether the thread is to run commands. Written with the list locked.
    is_asked: AtomicBool,
    /// The thread has something to do.
    news: Condvar,
    /// The spare thread is to call.
    takeover: Condvar,
    /// A callback has ended, and a thread may wait for it.
    progress: Condvar,
}

struct List {
    waiting: VecDeque<Action>,
    /// Counts the threads that there have been; each has the number that it was given.
    threads: u64,
    /// The one that calls; 0 if there is none.
    caller: u64,
    /// What that one does.
    activity: Activity,
    /// One that has called, and may again; 0 if there is none.
    spare: u64,
    /// Threads that wait until callbacks have run.
    waiters: u32,
    /// The last callback that was begun when a thread had waited for long enough.
    late: Ticket,
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
enum Task {
    Call(Action, Ticket),
    Execute,
}

static CALLBACKS: Callbacks = Callbacks {
    list: Mutex::new(List {
        waiting: VecDeque::new(),
        threads: 0,
        caller: 0,
        activity: Activity::Looking,
        spare: 0,
        waiters: 0,
        late: NO_TICKET,
    }),
    due: AtomicU64::new(0),
    begun: AtomicU64::new(0),
    ended: AtomicU64::new(0),
    is_asked: AtomicBool::new(false),
    news: Condvar::new(),
    takeover: Condvar::new(),
    progress: Condvar::new(),
};

thread_local! {
    /// The number of this thread, if it calls callbacks.
    static CALLER: Cell<u64> = const { Cell::new(0) };
    /// Whether this thread executes commands, so that it calls nothing itself.
    static EXECUTES: Cell<bool> = const { Cell::new(false) };
    /// The last callback that came due on this thread.
    static LAST: Cell<Ticket> = const { Cell::new(NO_TICKET) };
}

/// Has `callback` called soon.
pub(crate) fn push(callback: Action) -> Ticket {
    let all = &CALLBACKS;
    let mut list = all.list.lock();
    list.waiting.push_back(callback);
    let ticket = all.due.fetch_add(1, SeqCst) + 1;
    if list.caller == 0 && !start(&mut list) {
        // Better here than never.
        let callback = list.waiting.pop_back();
        all.begun.store(ticket, SeqCst);
        drop(list);
        callback
            .into_iter()
            .for_each(|callback| call(callback, ticket));
        return ticket;
    }
    // What a thread finds due by the command that it runs has its turn when that is done, or before
    // it is begun ([`make_way`]).
    if list.activity == Activity::Executing && list.caller != this_thread() {
        start(&mut list);
    }
    wake(&mut list);
    drop(list);
    let _ = LAST.try_with(|last| last.set(ticket));
    ticket
}

/// Has `callback` called before this returns, or soon if this thread executes commands.
pub(crate) fn call_or_push(callback: Action) {
    match EXECUTES.try_with(Cell::get) {
        Ok(true) => {
            push(callback);
        }
        Ok(false) | Err(_) => callback(),
    }
}

/// Runs `work`, which executes commands: what goes by it is for the thread of the callbacks to
/// tell.
pub(crate) fn executing<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = EXECUTES.try_with(|executes| executes.set(self.0));
        }
    }
    let _restore = Restore(EXECUTES.try_with(|it| it.replace(true)).unwrap_or(true));
    work()
}

/// The last callback that came due on this thread, of all that ever did.
pub(crate) fn last_of_this_thread() -> Ticket {
    LAST.try_with(Cell::get).unwrap_or(NO_TICKET)
}

/// The last callback that came due.
pub(crate) fn last() -> Ticket {
    CALLBACKS.due.load(SeqCst)
}

/// Returns when the callback has run, or after a while.
pub(crate) fn wait_run(ticket: Ticket) {
    let all = &CALLBACKS;
    // The callback of another event cannot begin before this one, on whose thread this is, ends.
    if all.ended.load(SeqCst) >= ticket || is_caller() {
        return;
    }
    let until = Instant::now() + PATIENCE;
    let mut list = all.list.lock();
    list.waiters += 1;
    while all.ended.load(SeqCst) < ticket {
        let begun = all.begun.load(SeqCst);
        // Another thread has waited for this one in vain.
        let is_late = begun > all.ended.load(SeqCst) && begun == list.late;
        if is_late || all.progress.wait_until(&mut list, until).timed_out() {
            list.late = begun;
            break;
        }
    }
    list.waiters -= 1;
}

/// This thread is about to wait for a command: if it is in a callback, another one takes over.
pub(crate) fn about_to_wait() {
    let number = this_thread();
    if number != 0 {
        let mut list = CALLBACKS.list.lock();
        if list.caller == number {
            start(&mut list);
        }
    }
}

/// Has the thread run short commands that are ready. False if it is busy.
pub(crate) fn ask() -> bool {
    let all = &CALLBACKS;
    let mut list = all.list.lock();
    let is_free = matches!(list.activity, Activity::Looking | Activity::Asleep);
    if list.caller == 0 || !is_free || !list.waiting.is_empty() {
        return false;
    }
    all.is_asked.store(true, SeqCst);
    wake(&mut list);
    true
}

/// Whether something is to be called.
pub(crate) fn are_due() -> bool {
    CALLBACKS.due.load(SeqCst) != CALLBACKS.begun.load(SeqCst)
}

/// This thread, which was asked to run commands, has marked one as running and is about to run it:
/// if that made a callback due, another thread takes over.
pub(crate) fn make_way() {
    let mut list = CALLBACKS.list.lock();
    if list.caller == this_thread() && !list.waiting.is_empty() {
        start(&mut list);
    }
}

/// The number of this thread, if it calls callbacks or did; 0 for others.
fn this_thread() -> u64 {
    CALLER.try_with(Cell::get).unwrap_or(0)
}

/// Whether this is a thread of the callbacks.
fn is_caller() -> bool {
    this_thread() != 0
}

/// Wakes the thread that calls, if it sleeps.
fn wake(list: &mut List) {
    if list.activity == Activity::Asleep {
        list.activity = Activity::Looking;
        CALLBACKS.news.notify_one();
    }
}

/// Has another thread call from now on. False if there is none.
fn start(list: &mut List) -> bool {
    if list.spare != 0 {
        list.caller = std::mem::take(&mut list.spare);
        list.activity = Activity::Looking;
        CALLBACKS.takeover.notify_one();
        return true;
    }
    let number = list.threads + 1;
    let spawned = threads::spawn("brolga-callbacks", Some(stack::WORKER), move || {
        let _ = CALLER.try_with(|caller| caller.set(number));
        serve(number);
    });
    match spawned {
        Ok(_) => {
            list.threads = number;
            list.caller = number;
            list.activity = Activity::Looking;
        }
        Err(error) => eprintln!("brolga: cannot start a thread for callbacks: {error}"),
    }
    list.caller == number
}

/// The life of a thread that calls, or has called.
fn serve(number: u64) {
    while let Some(task) = next(number) {
        match task {
            Task::Call(callback, ticket) => call(callback, ticket),
            Task::Execute => {
                // A panic must not end the thread.
                let _ = catch_unwind(|| Pool::get().run_short());
                rest(&mut CALLBACKS.list.lock());
            }
        }
    }
}

/// What there is to do; nothing for a thread that is not needed any more.
fn next(number: u64) -> Option<Task> {
    let all = &CALLBACKS;
    let limit = timestamp() + SPIN;
    while !are_due() && !all.is_asked.load(SeqCst) && timestamp() < limit {
        for _ in 0..16 {
            spin_loop();
        }
    }
    let mut list = all.list.lock();
    loop {
        if list.caller != number {
            if list.spare != 0 && list.spare != number {
                return None;
            }
            list.spare = number;
            all.takeover.wait(&mut list);
        } else if all.is_asked.swap(false, SeqCst) {
            // First, so that a callback that has come due since does not hold up the commands:
            // they are then left to a worker.
            list.activity = Activity::Executing;
            return Some(Task::Execute);
        } else if let Some(callback) = list.waiting.pop_front() {
            let ticket = all.begun.fetch_add(1, SeqCst) + 1;
            list.activity = Activity::Calling;
            return Some(Task::Call(callback, ticket));
        } else {
            list.activity = Activity::Asleep;
            all.news.wait(&mut list);
        }
    }
}

/// A panic (of a function in Rust) is the application's, and not the end of the thread.
fn call(callback: Action, ticket: Ticket) {
    let _ = catch_unwind(AssertUnwindSafe(callback));
    let all = &CALLBACKS;
    let mut list = all.list.lock();
    rest(&mut list);
    // Another thread may have taken over while this one was in its callback.
    let ended = all.ended.load(SeqCst).max(ticket);
    all.ended.store(ended, SeqCst);
    if list.waiters > 0 {
        all.progress.notify_all();
    }
}

/// This thread has done what it was to do.
fn rest(list: &mut List) {
    if list.caller == this_thread() {
        list.activity = Activity::Looking;
    }
}
