//! Names the build, for program binaries (`src/binary.rs`): a hash of all that decides which SPIR-V
//! the front ends make and which the compiler takes, and of the compiler that compiled it.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates whose sources count, from this one's folder on.
const CRATES: [&str; 3] = [".", "../compiler", "../mathlib"];

/// Folders that decide nothing.
const SKIPPED: [&str; 6] = ["benches", "docs", "examples", "target", "testing", "tests"];

fn main() {
    let mut sources = BTreeSet::new();
    for name in CRATES {
        find(Path::new(name), &mut sources);
    }
    let mut hash = DefaultHasher::new();
    for path in sources {
        path.hash(&mut hash);
        fs::read(&path)
            .expect("a source can be read")
            .hash(&mut hash);
    }
    let rustc = env::var_os("RUSTC").expect("cargo says which compiler");
    let version = Command::new(rustc).arg("-vV").output();
    version.expect("the compiler runs").stdout.hash(&mut hash);
    println!("cargo::rustc-env=BROLGA_BUILD={:016x}", hash.finish());
}

/// Sources below a folder. A new file is a change of its folder; of a crate's folder only `src` is
/// watched, since changes of tests are none of the driver.
fn find(folder: &Path, sources: &mut BTreeSet<PathBuf>) {
    if folder.iter().any(|part| part == "src") {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    for entry in fs::read_dir(folder).expect("a folder of sources can be read") {
        let entry = entry.expect("its entries can be read");
        let path = entry.path();
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !SKIPPED.iter().any(|&skipped| name == skipped) {
            find(&path, sources);
        } else if folder.iter().any(|part| part == "src")
            && path.extension().is_some_and(|ending| ending == "rs")
        {
            sources.insert(path);
        }
    }
}
