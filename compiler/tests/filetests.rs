//! Runs every `.bir` and `.spvasm` file under `tests/files`. `README.md` beside this file says what
//! they hold.
//!
//! Each file runs in a process of its own, because generated code that is wrong may crash or never
//! end. `cargo test -p brolga-compiler --test filetests -- words` runs the files whose path has one
//! of the words.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use brolga_compiler_testing::{assembly, filetest};

/// How long one file may take, on a machine busy with other things.
const LIMIT: Duration = Duration::from_secs(120);

/// The argument that makes this program run one file and nothing else.
const ONE: &str = "--one-file";

/// The test files under a folder, sorted.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder of test files");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files);
        } else if path
            .extension()
            .is_some_and(|e| e == "bir" || e == "spvasm")
        {
            files.push(path);
        }
    }
}

/// Runs one file in a child process.
fn run_apart(path: &Path) -> Result<(), String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut child = Command::new(exe)
        .arg(ONE)
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let mut pipes = (child.stdout.take(), child.stderr.take());
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = pipes.0.as_mut().map(|p| p.read_to_string(&mut text));
        let _ = pipes.1.as_mut().map(|p| p.read_to_string(&mut text));
        text
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break Some(status);
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = reader.join().unwrap_or_default();
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) if status.code() == Some(1) => Err(text),
        Some(status) => Err(format!("{status}; it said: {text}")),
        None => Err(format!("not done after {LIMIT:?}; it said: {text}")),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, path] = args.as_slice()
        && flag == ONE
    {
        return match filetest::run(Path::new(path)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                println!("{why}");
                ExitCode::FAILURE
            }
        };
    }
    let root = assembly::tests("files");
    let words: Vec<&String> = args.iter().filter(|word| !word.starts_with('-')).collect();
    let mut files = Vec::new();
    collect(&root, &mut files);
    let name = |path: &PathBuf| {
        let path = path.strip_prefix(&root).unwrap_or(path);
        path.display().to_string()
    };
    files.retain(|path| words.is_empty() || words.iter().any(|w| name(path).contains(w.as_str())));
    let failures = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run_apart(path);
                    let verdict = if result.is_ok() { "ok" } else { "FAILED" };
                    println!("test {} ... {verdict}", name(path));
                    if let Err(why) = result {
                        failures
                            .lock()
                            .expect("not poisoned")
                            .push((name(path), why));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("not poisoned");
    failures.sort();
    for (name, why) in &failures {
        println!("\n---- {name} ----\n{why}");
    }
    println!(
        "\nfile tests: {} passed, {} failed",
        files.len() - failures.len(),
        failures.len()
    );
    if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
