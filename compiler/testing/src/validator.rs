//! What `spirv-val` of the package spirv-tools says of modules.

use std::io::Write;
use std::process::{Command, Stdio};

/// Whether a module is valid in an environment, as `vulkan1.3` or `spv1.6`.
///
/// # Errors
/// What is wrong with it.
///
/// # Panics
/// Without the program.
pub fn validate(words: &[u32], environment: &str) -> Result<(), String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut validator = Command::new("spirv-val")
        .args(["--target-env", environment, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spirv-val (package spirv-tools) validates the modules");
    let mut stdin = validator.stdin.take().expect("the input is piped");
    stdin.write_all(&bytes).expect("spirv-val reads the module");
    drop(stdin);
    let output = validator.wait_with_output().expect("spirv-val ends");
    let text = [output.stdout, output.stderr].concat();
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{environment}: {}", String::from_utf8_lossy(&text))),
    }
}
