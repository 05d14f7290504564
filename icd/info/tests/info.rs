//! `brolga-info` as a user runs it: with the driver registered in folders that are made for it, or
//! not registered, each way in which that may be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use brolga_runtime::binary::BUILD;
use brolga_runtime_testing::skip;
use tempfile::TempDir;

/// The library that cargo built with the running test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libbrolga.so");
    assert!(library.exists(), "{} is not built", library.display());
    library
}

/// A folder with a file of some name and text.
fn folder_with(name: &str, text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

/// A line that names the library.
fn line() -> String {
    format!("{}\n", library().display())
}

/// Runs the program with a value for `OCL_ICD_VENDORS`.
fn run(vendors: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_brolga-info"));
    for name in ["OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"] {
        command.env_remove(name);
    }
    let command = command.args(options).env("OCL_ICD_VENDORS", vendors);
    command.output().expect("brolga-info runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether there is a loader; without one the program says so, and ends with 1.
fn has_loader() -> bool {
    let folder = folder_with("brolga.icd", &line());
    let output = run(folder.path(), &["--no-test"]);
    let found = !text(&output).contains("There is no libOpenCL.so.1");
    if !found {
        assert_eq!(output.status.code(), Some(1));
        skip("an ICD loader (Debian: ocl-icd-libopencl1)");
    }
    found
}

/// Asserts that the driver is not found, and that this is why.
fn not_found(vendors: &Path, why: &str) {
    let output = run(vendors, &[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Brolga is not among them"), "{said}");
    assert!(said.contains(why), "{why:?} is not said:\n{said}");
}

#[test]
fn what_is_found_is_described_and_tested() {
    if !has_loader() {
        return;
    }
    let folder = folder_with("brolga.icd", &line());
    let output = run(folder.path(), &[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let file = folder.path().join("brolga.icd").display().to_string();
    let library = library().display().to_string();
    for part in [
        BUILD,
        "Linux",
        "glibc",
        "instruction set",
        "data caches",
        "memory",
        "libOpenCL.so",
        &file,
        &library,
        "has Brolga",
        "the build that this program is of",
        "right",
    ] {
        assert!(said.contains(part), "{part:?} is not said:\n{said}");
    }
    assert_eq!(said.matches("right, ").count(), 4, "{said}");
    assert!(!said.contains("WRONG"), "{said}");
}

/// As the driver is told how many threads to have.
#[test]
fn threads_and_variables_are_those_of_the_process() {
    if !has_loader() {
        return;
    }
    let folder = folder_with("brolga.icd", &line());
    let mut command = Command::new(env!("CARGO_BIN_EXE_brolga-info"));
    let variables = [
        ("BROLGA_THREADS", "3"),
        ("BROLGA_ISA", "sse4.2"),
        ("BROLGA_CACHE", "0"),
    ];
    let command = command.arg("--no-test").envs(variables);
    let output = command.env("OCL_ICD_VENDORS", folder.path()).output();
    let said = text(&output.expect("brolga-info runs"));
    let lines: Vec<Vec<&str>> = said
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    for expected in [
        ["threads", "3"],
        ["BROLGA_THREADS", "3"],
        ["BROLGA_ISA", "sse4.2"],
    ] {
        assert!(
            lines.iter().any(|line| line[..] == expected),
            "{expected:?}:\n{said}"
        );
    }
    assert!(said.contains("sse4.2, vectors of 128 bits"), "{said}");
    assert!(said.contains("nowhere: BROLGA_CACHE is 0"), "{said}");
    assert!(!said.contains("self-test"), "{said}");
}

#[test]
fn why_the_driver_is_not_found_is_said() {
    if !has_loader() {
        return;
    }
    let empty = TempDir::new().unwrap();
    not_found(empty.path(), "No .icd file in");
    let ending = folder_with("brolga.icd.txt", &line());
    not_found(ending.path(), "only files that end in .icd are read");
    let lost = folder_with("brolga.icd", "/nowhere/libbrolga.so.0\n");
    not_found(
        lost.path(),
        "It is registered, but /nowhere/libbrolga.so.0: cannot open",
    );
    let no_line = folder_with("brolga.icd", "");
    not_found(no_line.path(), "the file is empty");
    let no_driver = folder_with("brolga.icd", "libm.so.6\n");
    not_found(no_driver.path(), "no OpenCL driver");
    let nowhere = empty.path().join("none");
    not_found(&nowhere, "does NOT open");
}

/// A driver of another, which ends the process that opens it: the page is whole.
#[test]
fn a_library_that_crashes_is_told_of() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("crash.c");
    fs::write(
        &source,
        "__attribute__((constructor)) void crash(void) { __builtin_trap(); }",
    )
    .unwrap();
    let crash = folder.path().join("libcrash.so");
    let cc = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&crash)
        .arg(&source)
        .status();
    if !cc.is_ok_and(|status| status.success()) {
        return skip("cc");
    }
    let mut probe = Command::new(env!("CARGO_BIN_EXE_brolga-info"));
    let probed = probe.arg("--probe").arg(&crash).output().unwrap();
    assert_eq!(probed.status.code(), None);
    let file = folder_with("crash.icd", &format!("{}\n", crash.display()));
    // The loader itself is given the driver alone, since it would open the other one too.
    let mut command = Command::new(env!("CARGO_BIN_EXE_brolga-info"));
    command
        .env("OCL_ICD_VENDORS", file.path())
        .env("LD_LIBRARY_PATH", folder.path());
    fs::write(folder.path().join("libOpenCL.so.1"), "no library").unwrap();
    let said = text(&command.output().unwrap());
    assert!(said.contains("the process that opened it ended"), "{said}");
    assert!(said.contains("There is no libOpenCL.so.1"), "{said}");
}

#[test]
fn the_command_line() {
    let none = Path::new("");
    assert_eq!(
        text(&run(none, &["--version"])),
        format!("brolga-info {BUILD}\n")
    );
    assert!(text(&run(none, &["--help"])).contains("--no-test"));
    let wrong = run(none, &["--nonsense"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("Usage"));
}
