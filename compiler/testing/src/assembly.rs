//! SPIR-V as text: assembled by `spirv-as` (Debian's `spirv-tools`), with directives in comments.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder of the compiler's tests.
pub fn tests(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests")
        .join(folder)
}

/// The `.spvasm` files of a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "spvasm"))
        .collect();
    files.sort();
    files
}

/// The words of a module given as text, for a version of SPIR-V such as `1.4`.
///
/// # Errors
/// What `spirv-as` says, or that it cannot be run.
pub fn assemble(text: &str, version: &str) -> Result<Vec<u32>, String> {
    let failed = |e: std::io::Error| format!("spirv-as (package spirv-tools) cannot be run: {e}");
    let mut child = Command::new("spirv-as")
        .args(["--target-env", &format!("spv{version}")])
        .args(["--preserve-numeric-ids", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut stdin = child.stdin.take().expect("it is piped");
    // It reads all before it writes.
    stdin.write_all(text.as_bytes()).map_err(failed)?;
    drop(stdin);
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(words(&output.stdout))
}

/// Bytes as the little-endian words of a module.
pub fn words(bytes: &[u8]) -> Vec<u32> {
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
