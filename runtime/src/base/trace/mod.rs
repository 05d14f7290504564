//! A record of what ran when, for a viewer: `BROLGA_TRACE=FILE`.
//!
//! The file is in the JSON array form of the Trace Event Format, which Perfetto and
//! `chrome://tracing` open. Two groups of rows come out of it: one row for each command queue, with
//! its commands from start to end ([`command`]), and one for each thread, with the ranges of
//! work-groups that it executed and what it compiled ([`span`]).
//!
//! Commands of an out-of-order queue overlap, and events of one row must not: such a queue gets as
//! many rows as it has commands at once. Time stamps are those of profiling ([`timestamp`]), in
//! microseconds as the format wants them.
//!
//! At the process's end comes what was kept to be used again ([`keep`], [`use_again`]): for the
//! code of each kernel and for freed memory, how much that was, what it cost to make, and how often
//! it was found. Then the array is closed, so that the file is valid JSON. A line is complete
//! whenever the file is flushed, and the format lets the array's end be missing, so what a killed
//! process leaves can be opened too. Without the variable everything here costs a load and a
//! branch.

mod names;

pub(crate) use names::{READ_GLOBAL_VARIABLE, WRITE_GLOBAL_VARIABLE};

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::LazyLock;

use brolga_engine::Event;
use brolga_engine::domain::Observer;
use brolga_engine::system::clock::timestamp;
use brolga_engine::system::float_env;
use brolga_host::{environment, notice};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// The process that the queues' rows belong to: above every process id of Linux (`PID_MAX_LIMIT`,
/// 2^22).
const QUEUES: u32 = (1 << 22) + 1;

/// The file and what was written to it so far.
struct Trace {
    /// The process that opened the file. A fork writes nothing: what the buffer holds is its
    /// parent's.
    process: u32,
    state: Mutex<State>,
}

struct State {
    /// Nothing more is written once the array is closed.
    file: Option<BufWriter<File>>,
    /// The rows of each queue, by the queue's number: when the last command in each ended.
    queues: HashMap<u64, Vec<Row>>,
    rows: u32,
    kept: BTreeMap<String, Kept>,
}

/// Things of a kind that were kept to be used again.
#[derive(Default)]
struct Kept {
    count: u64,
    bytes: u64,
    /// Nanoseconds that making them took.
    time: u64,
    /// How often one was found.
    hits: u64,
}

/// A row of a queue's commands.
struct Row {
    id: u32,
    free_from: u64,
}

/// The trace, if one is asked for and can be written.
fn trace() -> Option<&'static Trace> {
    static TRACE: LazyLock<Option<Trace>> = LazyLock::new(|| {
        let path = environment::trusted("BROLGA_TRACE")?;
        let process = std::process::id();
        // Processes that share an environment do not share a file.
        let path = path.to_string_lossy().replace("%p", &process.to_string());
        match Trace::create(&path, process) {
            Ok(trace) => {
                // SAFETY: the function is one of this library, which is never unloaded.
                unsafe { libc::atexit(flush) };
                Some(trace)
            }
            Err(error) => {
                notice(format_args!("BROLGA_TRACE: cannot write {path}: {error}"));
                None
            }
        }
    });
    TRACE
        .as_ref()
        .filter(|trace| trace.process == std::process::id())
}

/// Whether `BROLGA_TRACE` asks for anything; cheap.
pub(crate) fn is_on() -> bool {
    static ON: LazyLock<bool> = LazyLock::new(|| trace().is_some());
    *ON
}

/// At the process's end.
extern "C" fn flush() {
    float_env::in_default(|| {
        if let Some(trace) = trace() {
            // Another thread may hold the lock, and have been stopped with it.
            if let Some(mut state) = trace.state.try_lock() {
                state.end(trace.process);
            }
        }
    });
}

impl Trace {
    fn create(path: &str, process: u32) -> std::io::Result<Trace> {
        let mut file = BufWriter::new(File::create(path)?);
        // Every other event comes after one, and so after a comma.
        let first = metadata("process_name", process, 0, "threads");
        write!(file, "[\n{first}")?;
        let mut state = State {
            file: Some(file),
            queues: HashMap::new(),
            rows: 0,
            kept: BTreeMap::new(),
        };
        state.write(&metadata("process_name", QUEUES, 0, "command queues"));
        Ok(Trace {
            process,
            state: Mutex::new(state),
        })
    }
}

impl State {
    /// One event, one line. A full disk ends the trace, with a notice, and nothing else.
    fn write(&mut self, event: &Value) {
        if let Some(file) = &mut self.file {
            let written = write!(file, ",\n{event}");
            self.check(written);
        }
    }

    /// Writes nothing more after an error.
    fn check(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written {
            notice(format_args!(
                "BROLGA_TRACE: the timeline is cut short: {error}"
            ));
            // Dropped without another attempt to write what is left.
            if let Some(file) = self.file.take() {
                let _ = file.into_parts();
            }
        }
    }

    /// Says what was kept, and closes the array.
    fn end(&mut self, process: u32) {
        let now = timestamp() as f64 / 1000.0;
        for (what, kept) in std::mem::take(&mut self.kept) {
            let args = json!({
                "count": kept.count, "bytes": kept.bytes, "made in, us": kept.time as f64 / 1000.0,
                "found": kept.hits,
            });
            self.write(&json!({
                "ph": "i", "s": "p", "cat": "kept", "name": what, "pid": process, "tid": process,
                "ts": now, "args": args,
            }));
        }
        if let Some(file) = &mut self.file {
            let written = file.write_all(b"\n]\n").and_then(|()| file.flush());
            self.check(written);
        }
        self.file = None;
    }

    /// The row of `queue` for a command that ran from `start` to `end`. Commands come in the order
    /// of their ends.
    fn row(&mut self, queue: u64, start: u64, end: u64) -> u32 {
        let rows = self.queues.entry(queue).or_default();
        if let Some(row) = rows.iter_mut().find(|row| row.free_from <= start) {
            row.free_from = end;
            return row.id;
        }
        self.rows += 1;
        let id = self.rows;
        rows.push(Row { id, free_from: end });
        let name = match rows.len() {
            1 => format!("queue {queue}"),
            several => format!("queue {queue} ({several})"),
        };
        self.write(&metadata("thread_name", QUEUES, id, &name));
        id
    }
}

/// A name for a process or a thread.
fn metadata(what: &str, process: u32, thread: u32, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": process, "tid": thread, "args": { "name": name } })
}

/// Something that took from `start` to `end`, nanoseconds.
fn complete(
    (process, thread): (u32, u32),
    category: &str,
    name: &str,
    (start, end): (u64, u64),
    args: &Value,
) -> Value {
    let microseconds = |nanoseconds: u64| nanoseconds as f64 / 1000.0;
    json!({
        "ph": "X", "cat": category, "name": name, "pid": process, "tid": thread,
        "ts": microseconds(start), "dur": microseconds(end.saturating_sub(start)), "args": args,
    })
}

/// What is told of commands, if a trace is written.
pub(crate) fn observer() -> Option<&'static dyn Observer<Event>> {
    is_on().then_some(&ToTrace)
}

struct ToTrace;

impl Observer<Event> for ToTrace {
    fn took_part(
        &self,
        (category, name): (&str, &str),
        (begin, end, of): (u64, u64, u64),
        times: (u64, u64),
    ) {
        let args = json!({ "begin": begin, "end": end, "of": of });
        record(category, name, times, &args);
    }

    /// A user event's life is the application's.
    fn ended(&self, event: &Event, status: i32) {
        if event.is_user() {
            return;
        }
        let (times, description) = (event.times(), event.trace_info());
        command(EndedCommand {
            queue: event.lane().line().number(),
            command_type: event.command_type(),
            kernel: description.kernel,
            times: [times.queued, times.submit, times.start, times.end],
            status,
            args: description.details,
        });
    }
}

/// A command that has ended.
struct EndedCommand<'a> {
    queue: u64,
    /// `CL_EVENT_COMMAND_TYPE`
    command_type: u32,
    /// The kernel's name, for a launch.
    kernel: Option<&'a str>,
    /// `CL_PROFILING_COMMAND_...`: queued, submit, start, end.
    times: [u64; 4],
    /// The final execution status.
    status: i32,
    /// Whatever else describes it.
    args: Value,
}

/// Records a command.
fn command(command: EndedCommand) {
    let Some(trace) = trace() else { return };
    let [queued, submit, start, end] = command.times;
    let what = names::command(command.command_type);
    let mut args = json!({
        "command": what,
        "status": command.status,
        "queued to submit, us": submit.saturating_sub(queued) as f64 / 1000.0,
        "submit to start, us": start.saturating_sub(submit) as f64 / 1000.0,
    });
    if let (Value::Object(args), Value::Object(more)) = (&mut args, command.args) {
        args.extend(more);
    }
    let name = command.kernel.unwrap_or(what);
    let mut state = trace.state.lock();
    let row = state.row(command.queue, start, end);
    let event = complete((QUEUES, row), "command", name, (start, end), &args);
    state.write(&event);
}

/// Something is kept to be used again, which took so many nanoseconds to make.
pub(crate) fn keep(what: &str, bytes: u64, nanoseconds: u64) {
    count(what, |kept| {
        kept.count += 1;
        kept.bytes += bytes;
        kept.time += nanoseconds;
    });
}

/// Something that was kept is used again.
pub(crate) fn use_again(what: &str) {
    count(what, |kept| kept.hits += 1);
}

fn count(what: &str, change: impl FnOnce(&mut Kept)) {
    let Some(trace) = trace() else { return };
    change(trace.state.lock().kept.entry(what.to_owned()).or_default());
}

/// Does `work`, and records it as this thread's if a trace is written. `trace_info` gives a name
/// and arguments.
pub(crate) fn span<T>(
    category: &str,
    work: impl FnOnce() -> T,
    trace_info: impl FnOnce(&T) -> (String, Value),
) -> T {
    if !is_on() {
        return work();
    }
    let start = timestamp();
    let result = work();
    let (name, args) = trace_info(&result);
    record(category, &name, (start, timestamp()), &args);
    result
}

/// Records what this thread did from `start` to `end`.
pub(crate) fn record(category: &str, name: &str, times: (u64, u64), args: &Value) {
    thread_local!(static NAMED: Cell<bool> = const { Cell::new(false) });
    let Some(trace) = trace() else { return };
    let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    let place = (trace.process, thread);
    let mut state = trace.state.lock();
    if !NAMED.replace(true) {
        let current = std::thread::current();
        let name = current.name().unwrap_or("application");
        state.write(&metadata("thread_name", trace.process, thread, name));
    }
    state.write(&complete(place, category, name, times, args));
}
