//! Work done by child processes, so that a crash or an endless loop is a finding like any other.
//!
//! A child runs a range of numbers. It prints each number before it starts on it, so when it dies
//! or falls silent the parent knows which one did it, notes that, and starts another child behind
//! it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long one number may take on a machine busy with other things.
const SILENCE: Duration = Duration::from_secs(30);
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

/// A child says that what it was given was accepted and compiled.
pub fn accepted() {
    println!("accepted");
}

/// This program with other arguments, its memory limited.
pub fn command(args: &[String]) -> Command {
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
pub struct Found {
    /// What is wrong with which number.
    pub findings: BTreeMap<u64, String>,
    /// How much was accepted and compiled.
    pub accepted: u64,
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

/// Runs `count` numbers from `seed` in `jobs` processes: this program with the arguments
/// `child-MODE --seed SEED --count COUNT`.
pub fn run(mode: &str, seed: u64, count: u64, jobs: usize) -> Found {
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
    println!(
        "{mode} {seed}..{}: {} found in {:.1} s",
        seed + count,
        found.findings.len(),
        started.elapsed().as_secs_f64()
    );
    found
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

/// How a child ended that was asked one question.
#[derive(Debug)]
pub enum End {
    /// With this exit code and output.
    Exit(u8, String),
    Crash,
    Endless,
}

/// Runs this program with other arguments.
pub fn ask(args: &[String], limit: Duration) -> std::io::Result<End> {
    let mut child = command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) => {
                let out = child.wait_with_output()?.stdout;
                let out = String::from_utf8_lossy(&out).into_owned();
                let code = status.code().and_then(|code| u8::try_from(code).ok());
                return Ok(code.map_or(End::Crash, |code| End::Exit(code, out)));
            }
            None if start.elapsed() > limit => {
                child.kill()?;
                child.wait()?;
                return Ok(End::Endless);
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
