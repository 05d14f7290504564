//! The timeline that `BROLGA_TRACE` asks for: `tests/c/trace.c` runs, and the file is read as a
//! viewer reads it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{self, Link};

/// The events of a run of `trace.c`; none where it cannot run.
fn events() -> Option<Vec<Value>> {
    events_of("trace.c")
}

/// The events of a run of one of `tests/c`.
fn events_of(program: &str) -> Option<Vec<Value>> {
    events_with(program, &[])
}

/// The same with some environment variables set.
pub fn events_with(program: &str, variables: &[(&str, &OsStr)]) -> Option<Vec<Value>> {
    if !support::can_compile_c() {
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(program);
    let folder = TempDir::new().expect("a temporary folder can be made");
    let program = support::compile(&source, folder.path(), Link::Loader);
    let file = folder.path().join("trace-%p.json");
    let trace = ("BROLGA_TRACE", file.as_os_str());
    let output = support::run_with(&program, &[], &[&[trace], variables].concat());
    assert!(output.status.success(), "{}", support::text(&output));

    let mut files = std::fs::read_dir(folder.path())
        .expect("the folder is there")
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let file = files.next().expect("a trace was written");
    assert_eq!(files.next(), None, "one process, one file");
    assert!(!file.to_string_lossy().contains('%'), "{}", file.display());
    let text = std::fs::read_to_string(&file).expect("it is text");
    let Value::Array(events) = serde_json::from_str(&text).expect("it is JSON") else {
        panic!("not an array");
    };
    Some(events)
}

/// Start and end of a complete event, microseconds.
fn times(event: &Value) -> (f64, f64) {
    let start = event["ts"].as_f64().expect("a time");
    (start, start + event["dur"].as_f64().expect("a duration"))
}

#[test]
fn a_timeline_shows_commands_ranges_and_compiles() {
    let Some(events) = events() else { return };
    let complete: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    let named = |category: &str, name: &str| -> Vec<&Value> {
        let wanted = |event: &&&Value| event["cat"] == category && event["name"] == name;
        complete.iter().filter(wanted).copied().collect()
    };

    // Every command once, with what became of it.
    assert_eq!(named("command", "fill buffer").len(), 2);
    assert_eq!(named("command", "shift").len(), 8);
    let scale = named("command", "scale");
    assert_eq!(scale.len(), 2);
    assert_eq!(scale[0]["args"]["status"], 0);
    assert_eq!(
        scale[0]["args"]["global size"],
        serde_json::json!([1 << 20])
    );
    assert_eq!(scale[0]["args"]["local size"], serde_json::json!([64]));
    assert!(scale[1]["args"]["status"].as_i64() < Some(0));

    // All work-groups of the launch that ran, each once.
    let groups = 1 << 14;
    let mut ranges: Vec<(u64, u64)> = named("work-groups", "scale")
        .iter()
        .map(|event| {
            let number = |key: &str| event["args"][key].as_u64().expect("a number");
            assert_eq!(number("of"), groups);
            (number("begin"), number("end"))
        })
        .collect();
    ranges.sort_unstable();
    let mut next = 0;
    for (begin, end) in ranges {
        assert_eq!(begin, next);
        next = end;
    }
    assert_eq!(next, groups);

    // The build, its parts within it, and the code.
    let (start, end) = times(named("compile", "build program")[0]);
    for part in ["source to SPIR-V", "SPIR-V to IR"] {
        let (first, last) = times(named("compile", part)[0]);
        assert!(start <= first && last <= end, "{part}");
    }
    assert_eq!(named("compile", "compile scale").len(), 1);
    assert_eq!(named("compile", "compile shift").len(), 1);
}

/// What is kept says what it cost and saves: one compile and the launches that found the code, all
/// of them or all but the first, and a buffer's memory that the next buffer takes.
#[test]
fn a_timeline_ends_with_what_was_kept() {
    let Some(events) = events() else { return };
    let kept = |name: &str| {
        let mut all = events.iter().filter(|event| event["cat"] == "kept");
        let found = all.find(|event| event["name"] == name);
        found.unwrap_or_else(|| panic!("{name}"))["args"].clone()
    };
    for (name, launches) in [("code of scale", 2), ("code of shift", 8)] {
        let code = kept(name);
        assert_eq!(code["count"], 1);
        let found = code["found"].as_u64().expect("a number");
        assert!((launches - 1..=launches).contains(&found), "{code}");
        assert!(code["bytes"].as_u64() > Some(0), "{code}");
        assert!(code["made in, us"].as_f64() > Some(0.0), "{code}");
    }
    let memory = kept("freed memory");
    assert_eq!((&memory["count"], &memory["found"]), (&2.into(), &1.into()));
    assert!(memory["bytes"].as_u64() >= Some(2 << 22), "{memory}");
}

#[test]
fn rows_of_a_timeline_have_names_and_hold_one_thing_at_a_time() {
    let Some(events) = events() else { return };
    let mut rows: HashMap<(u64, u64), Vec<(f64, f64)>> = HashMap::new();
    let row = |event: &Value| {
        let number = |key: &str| event[key].as_u64().expect("a number");
        (number("pid"), number("tid"))
    };
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let named = events.iter().any(|other| {
            other["ph"] == "M" && other["name"] == "thread_name" && row(other) == row(event)
        });
        assert!(named, "{event}");
        // Compiles lie within one another; the rest comes one after the other.
        if event["cat"] != "compile" {
            rows.entry(row(event)).or_default().push(times(event));
        }
    }
    for (row, mut spans) in rows {
        spans.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        for pair in spans.windows(2) {
            // Nanoseconds, as fractions of microseconds.
            assert!(pair[0].1 <= pair[1].0 + 0.0005, "{row:?}: {pair:?}");
        }
    }
}

/// A kernel that enqueues another may have taken nearly all of its thread's stack: what it enqueues
/// is compiled on a thread that has the compiler's.
#[test]
fn what_a_kernel_enqueues_is_compiled_on_another_thread() {
    let Some(events) = events_of("enqueue.c") else {
        return;
    };
    let compiles = |event: &&Value| {
        let name = event["name"].as_str().unwrap_or_default();
        event["cat"] == "compile" && name.starts_with("compile ") && name != "compile parent"
    };
    let compiled: Vec<&Value> = events.iter().filter(compiles).collect();
    assert_eq!(compiled.len(), 1, "the block");
    let names = |event: &&Value| event["name"] == "thread_name";
    let named = events.iter().filter(names);
    let mut named = named.filter(|event| event["tid"] == compiled[0]["tid"]);
    let thread = named.next().expect("the thread has a name");
    assert_eq!(thread["args"]["name"], "brolga-compile");
}
