//! What is done with what the children find.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use brolga_compiler_testing::children::{self, End, Found};
use brolga_compiler_testing::modules::{corpus, mutate};
use brolga_compiler_testing::{judge, kernels};

use crate::{DIFFERS, INVALID, shrink};

/// How long a candidate of the shrinker may take.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Findings to shrink; the others are only listed.
const SHRUNK: usize = 10;

/// Lists the findings, and writes some to files.
pub fn tell(mode: &str, found: &Found) -> ExitCode {
    for (i, (seed, why)) in found.findings.iter().enumerate() {
        println!("{mode} {seed}: {why}");
        if i < SHRUNK {
            match keep(mode, *seed) {
                Ok(path) => println!("  see {}", path.display()),
                Err(e) => println!("  not written: {e}"),
            }
        }
    }
    if mode == "spirv" {
        println!("{} modules were accepted and compiled", found.accepted);
    }
    if found.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
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
    match children::ask(&args, TIME_LIMIT) {
        Ok(End::Exit(0, _)) => Outcome::Same,
        Ok(End::Exit(DIFFERS, out)) => {
            // Panics shrink to the same panic, wrong results to any wrong result.
            let kind = match out.split_once("panicked: ") {
                Some((_, message)) => message.chars().take(30).collect(),
                None => String::new(),
            };
            Outcome::Differs(kind)
        }
        Ok(End::Exit(INVALID, _)) | Err(_) => Outcome::Invalid,
        Ok(End::Exit(..) | End::Crash) => Outcome::Crash,
        Ok(End::Endless) => Outcome::Endless,
    }
}
