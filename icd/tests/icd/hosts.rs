//! The driver inside other languages' runtimes: `tests/hosts/run` has them, of which Python is on
//! every machine that runs tests.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use brolga_runtime_testing::skip;

use crate::support;

#[test]
fn python_with_faulthandler_forks_and_signals() {
    if !support::can_compile_c() {
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("python3");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/run");
    let output = support::run(&script, &[OsStr::new("python")]);
    assert!(output.status.success(), "{}", support::text(&output));
}
