//! The process that starts children, watches them, and collects what they find.
//!
//! A child runs a range of numbers. It prints each number before it starts on it, so when it dies
//! or falls silent the parent knows which one did it, notes that, and starts another child behind
//! it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use brolga_compiler_testing::modules::{corpus, mutate};
use brolga_compiler_testing::{judge, kernels};

use crate::{DIFFERS, INVALID, shrink};

/// How long one number may take on a machine busy with other things.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a candidate of the shrinker may take.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Findings to shrink; the others are only listed.
const SHRUNK: usize = 10;
/// KiB of address space of a child, so that a module cannot take the machine's memory.
const MEMORY: u64 = 8 << 20;

/// A child says that it starts on a number.
pub fn announce(seed: u64) {
    println!("at {seed}");
    let _ = std::io::stdout().flush();
}

/// A child says what it found.
pub fn report(seed: u64, why: &str) {
    println!("found {seed} {}", why.replace('\n', " | "));
    let _ = std::io::stdout().flush();
}

/// A child says that a module was accepted and compiled.
pub fn accepted() {
    println!("accepted");
}

/// This program with other arguments, its memory limited.
fn command(args: &[String]) -> Command {
    let exe = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!(
            "ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\""
        ))
        .arg(exe)
        .args(args);
    command
}

/// What the children said.
#[derive(Default)]
struct Found {
    findings: BTreeMap<u64, String>,
    /// Modules that the compiler accepted.
    accepted: u64,
}

struct Worker {
    child: Child,
    lines: Receiver<String>,
    /// The number it is at, and the end of its range.
    at: u64,
    end: u64,
    since: Instant,
}

fn start(mode: &str, from: u64, end: u64) -> Worker {
    let args = [
        format!("child-{mode}"),
        "--seed".into(),
        from.to_string(),
        "--count".into(),
        (end - from).to_string(),
    ];
    let mut child = command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child starts");
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Worker {
        child,
        lines,
        at: from,
        end,
        since: Instant::now(),
    }
}

/// Runs `count` numbers from `seed` in `jobs` processes.
pub fn run(mode: &str, seed: u64, count: u64, jobs: usize) -> ExitCode {
    let started = Instant::now();
    let mut found = Found::default();
    // Ranges are interleaved by halves rather than handed out: simple, and the numbers cost about
    // the same.
    let share = count.div_ceil(jobs.max(1) as u64).max(1);
    let mut workers: Vec<Worker> = (0..jobs as u64)
        .map(|j| (seed + j * share, (seed + count).min(seed + (j + 1) * share)))
        .filter(|(from, end)| from < end)
        .map(|(from, end)| start(mode, from, end))
        .collect();
    let mut shown = Instant::now();
    while !workers.is_empty() {
        let mut next = Vec::new();
        for worker in workers {
            next.extend(watch(mode, worker, &mut found));
        }
        workers = next;
        if shown.elapsed() > Duration::from_secs(10) {
            shown = Instant::now();
            let left: u64 = workers.iter().map(|w| w.end - w.at).sum();
            eprintln!(
                "{} of {count} done, {} found",
                count - left,
                found.findings.len()
            );
        }
    }
    let findings = found.findings;
    for (i, (seed, why)) in findings.iter().enumerate() {
        println!("{mode} {seed}: {why}");
        if i < SHRUNK {
            match keep(mode, *seed) {
                Ok(path) => println!("  see {}", path.display()),
                Err(e) => println!("  not written: {e}"),
            }
        }
    }
    println!(
        "{mode} {seed}..{}: {} found in {:.1} s",
        seed + count,
        findings.len(),
        started.elapsed().as_secs_f64()
    );
    if mode == "spirv" {
        println!("{} modules were accepted and compiled", found.accepted);
    }
    if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Reads what a worker says; gives it back, or the one that follows it, unless its range is done.
fn watch(mode: &str, mut worker: Worker, found: &mut Found) -> Option<Worker> {
    loop {
        match worker.lines.recv_timeout(Duration::from_millis(20)) {
            Ok(line) => {
                worker.since = Instant::now();
                if line == "accepted" {
                    found.accepted += 1;
                } else if let Some(at) = line.strip_prefix("at ") {
                    worker.at = at.parse().unwrap_or(worker.at);
                } else if let Some((at, why)) = line
                    .strip_prefix("found ")
                    .and_then(|rest| rest.split_once(' '))
                {
                    found
                        .findings
                        .insert(at.parse().unwrap_or(worker.at), why.into());
                }
            }
            Err(RecvTimeoutError::Timeout) if worker.since.elapsed() < SILENCE => {
                return Some(worker);
            }
            Err(RecvTimeoutError::Timeout) => {
                let _ = worker.child.kill();
                let _ = worker.child.wait();
                found
                    .findings
                    .insert(worker.at, format!("not done after {SILENCE:?}"));
                break;
            }
            Err(RecvTimeoutError::Disconnected) => {
                match worker.child.wait() {
                    Ok(status) if status.success() => return None,
                    status => {
                        let why = status.map_or_else(|e| e.to_string(), |s| s.to_string());
                        found.findings.insert(worker.at, format!("crashed: {why}"));
                    }
                }
                break;
            }
        }
    }
    let from = worker.at + 1;
    (from < worker.end).then(|| start(mode, from, worker.end))
}

/// Writes a finding to a file, a kernel shrunk.
fn keep(mode: &str, seed: u64) -> std::io::Result<PathBuf> {
    let folder = PathBuf::from("fuzz-failures");
    std::fs::create_dir_all(&folder)?;
    if mode == "spirv" {
        let path = folder.join(format!("{seed}.spv"));
        let words = mutate::module(&corpus::modules(), seed);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(&path, bytes)?;
        return Ok(path);
    }
    let path = folder.join(format!("{seed}.bir"));
    let text = kernels::test(seed);
    std::fs::write(&path, &text)?;
    std::fs::write(&path, shrunk(&path, &text))?;
    Ok(path)
}

/// A smaller test that fails as this one does, with what it should do; candidates go to a file
/// beside `path`.
pub fn shrunk(path: &Path, text: &str) -> String {
    let candidate = path.with_extension("candidate.bir");
    let first = outcome(&candidate, text);
    let small = if matches!(first, Outcome::Same | Outcome::Invalid) {
        text.to_string()
    } else {
        shrink::shrink(text, |text| outcome(&candidate, text) == first)
    };
    let _ = std::fs::remove_file(&candidate);
    judge::with_expectations(&small).unwrap_or(small)
}

/// How a child fared with a test.
#[derive(PartialEq, Eq)]
enum Outcome {
    Same,
    Invalid,
    /// With this engine.
    Differs(String),
    Crash,
    Endless,
}

fn outcome(path: &Path, text: &str) -> Outcome {
    if std::fs::write(path, text).is_err() {
        return Outcome::Invalid;
    }
    let args = [
        "judge".into(),
        path.display().to_string(),
        "--checked".into(),
    ];
    let child = command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        return Outcome::Invalid;
    };
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                return match status.code() {
                    Some(0) => Outcome::Same,
                    Some(code) if code == i32::from(DIFFERS) => {
                        let text = child
                            .wait_with_output()
                            .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
                            .unwrap_or_default();
                        // Panics shrink to the same panic, wrong results to any wrong result.
                        let kind = match text.split_once("panicked: ") {
                            Some((_, message)) => message.chars().take(30).collect(),
                            None => String::new(),
                        };
                        Outcome::Differs(kind)
                    }
                    Some(code) if code == i32::from(INVALID) => Outcome::Invalid,
                    _ => Outcome::Crash,
                };
            }
            Ok(None) if start.elapsed() > TIME_LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                return Outcome::Endless;
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(_) => return Outcome::Invalid,
        }
    }
}
