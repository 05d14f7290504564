//! Test modules as text: SPIR-V assembly with directives in comments, assembled by `spirv-as`.

#![allow(dead_code)] // Each test binary uses a part.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The `.spvasm` files of a folder of `tests/spirv`, sorted.
pub fn assembly(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spirv");
    files(&root.join(folder), "spvasm")
}

/// The `.spv` files of a folder.
pub fn binaries(folder: &Path) -> Vec<Vec<u32>> {
    files(folder, "spv")
        .iter()
        .map(|path| words(&std::fs::read(path).expect("readable")))
        .filter(|words| words.len() > 5)
        .collect()
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

/// A module's words. Needs `spirv-as` (Debian's `spirv-tools`).
pub fn assemble(path: &Path) -> Vec<u32> {
    let output = Command::new("spirv-as")
        .args([
            "--preserve-numeric-ids",
            "--target-env",
            "spv1.5",
            "-o",
            "-",
        ])
        .arg(path)
        .stderr(Stdio::piped())
        .output()
        .expect("spirv-as is installed");
    assert!(
        output.status.success(),
        "{}: {}",
        path.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    words(&output.stdout)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

/// What follows `; DIRECTIVE:` on each line that has it.
pub fn directives(text: &str, directive: &str) -> Vec<String> {
    let prefix = format!("; {directive}:");
    text.lines()
        .filter_map(|line| line.trim().strip_prefix(&prefix))
        .map(|rest| rest.trim().to_string())
        .collect()
}
