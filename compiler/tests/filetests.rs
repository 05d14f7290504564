//! Runs every `.bir` and `.spvasm` file under `tests/files`. `README.md` beside this file says what they hold.
//!
//! `cargo test -p brolga-compiler --test filetests -- words` runs the files whose path has one of the words.

mod filetest;
mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

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

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let mut files = Vec::new();
    collect(&root, &mut files);
    let name = |path: &PathBuf| {
        let path = path.strip_prefix(&root).unwrap_or(path);
        path.display().to_string()
    };
    files.retain(|path| words.is_empty() || words.iter().any(|w| name(path).contains(w)));
    let mut failures = Vec::new();
    for path in &files {
        let result = std::panic::catch_unwind(|| filetest::run(path))
            .unwrap_or_else(|_| Err("panicked".into()));
        match result {
            Ok(()) => println!("test {} ... ok", name(path)),
            Err(why) => {
                println!("test {} ... FAILED", name(path));
                failures.push((name(path), why));
            }
        }
    }
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
