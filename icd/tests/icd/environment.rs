//! Environment variables: a value that means nothing is told of.

use std::ffi::OsStr;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{self, Link};

/// What `tests/c/environment.c` and the driver say on standard error with each of these variables,
/// in turn; nothing where it cannot be compiled.
fn said(variables: &[(&str, &str)]) -> Vec<String> {
    if !support::can_compile_c() {
        return Vec::new();
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/environment.c");
    let folder = TempDir::new().expect("a temporary folder can be made");
    let program = support::compile(&source, folder.path(), Link::Loader);
    let run = |&(name, value): &(&str, &str)| {
        let dumps = ("BROLGA_DUMP_DIR", folder.path().as_os_str());
        let variables = [(name, OsStr::new(value)), dumps];
        let output = support::run_with(&program, &[], &variables);
        assert!(
            output.status.success(),
            "{name}={value}: {}",
            support::text(&output)
        );
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    variables.iter().map(run).collect()
}

#[test]
fn a_value_that_means_nothing_is_told_of_once() {
    let wrong = [
        ("BROLGA_THREADS", "many", "from 1 to 1024"),
        ("BROLGA_THREADS", "0", "from 1 to 1024"),
        ("BROLGA_THREADS", "1025", "from 1 to 1024"),
        ("BROLGA_WIDTH", "3", "1, 2, 4, 8, 16 or 32"),
        ("BROLGA_DUMP", "spirv,irr", "lowered"),
        ("BROLGA_TOOLS", "perf", "jitdump"),
        ("BROLGA_FRONTEND", "llvm", "clang"),
        ("BROLGA_NUMA", "off", "0 or 1"),
        ("BROLGA_FAULTS", "2", "0 or 1"),
        ("BROLGA_REMARKS", "all", "0 or 1"),
        ("BROLGA_ISA", "mmx", "sse4.2"),
    ];
    let variables = wrong.map(|(name, value, _)| (name, value));
    for (said, (name, value, expected)) in said(&variables).iter().zip(wrong) {
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 1, "{name}={value}: {said}");
        for part in [name, value, expected] {
            assert!(lines[0].contains(part), "{name}={value}: {said}");
        }
    }
}

#[test]
fn values_that_mean_something_are_taken_in_silence() {
    let right = [
        ("BROLGA_THREADS", " 3 "),
        ("BROLGA_THREADS", ""),
        ("BROLGA_WIDTH", "8"),
        ("BROLGA_DUMP", "spirv, ir,images,wg,vec,lowered,clif,asm"),
        ("BROLGA_DUMP", "all"),
        ("BROLGA_TOOLS", "gdb"),
        ("BROLGA_NUMA", "0"),
        ("BROLGA_FAULTS", "0"),
        ("BROLGA_REMARKS", "0"),
        ("BROLGA_ISA", "sse4.2"),
    ];
    for (said, (name, value)) in said(&right).iter().zip(right) {
        assert_eq!(said, "", "{name}={value}");
    }
}

/// Whatever ends a timeline before its time: the file system is full as soon as it is opened.
#[test]
fn a_timeline_that_cannot_be_written_is_told_of() {
    for said in said(&[("BROLGA_TRACE", "/dev/full")]) {
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 1, "{said}");
        assert!(lines[0].contains("BROLGA_TRACE"), "{said}");
    }
}
