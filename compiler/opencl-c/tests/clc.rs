//! The program `brolga-clc`, as a user calls it.

use std::path::Path;
use std::process::{Command, Output};

fn clc(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_brolga-clc"));
    command.current_dir(folder).args(line.split_whitespace());
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with a source that is right and one that is wrong.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("good.cl", "kernel void k(global int *p) { *p = N; }\n");
    write("bad.cl", "kernel void k(global int *p) { *p = q; }\n");
    folder
}

#[test]
fn a_module_goes_where_it_is_wanted() {
    let folder = folder();
    let good = clc(folder.path(), "-DN=1 good.cl");
    assert_eq!(
        (good.status.code(), text(&good.stderr)),
        (Some(0), String::new())
    );
    let module = std::fs::read(folder.path().join("good.spv")).unwrap();
    assert_eq!(module[..4], 0x0723_0203u32.to_le_bytes());
    assert!(
        clc(folder.path(), "-D N=1 -o other good.cl")
            .status
            .success()
    );
    assert_eq!(std::fs::read(folder.path().join("other")).unwrap(), module);
    assert_eq!(clc(folder.path(), "-D N=1 good.cl -o -").stdout, module);
}

#[test]
fn the_exit_status_says_what_was_wrong() {
    let folder = folder();
    let bad = clc(folder.path(), "bad.cl");
    assert_eq!(bad.status.code(), Some(1));
    assert!(
        text(&bad.stderr).contains("bad.cl:1:37: error:"),
        "{}",
        text(&bad.stderr)
    );
    assert!(!folder.path().join("bad.spv").exists());
    for line in [
        "",
        "-foo good.cl",
        "missing.cl",
        "-DN=1 good.cl -o no/such/folder",
    ] {
        let output = clc(folder.path(), line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(
            text(&output.stderr).starts_with("brolga-clc: error: "),
            "{line}"
        );
        assert!(output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn text_goes_to_standard_output() {
    let folder = folder();
    let preprocessed = clc(folder.path(), "-E -P -DN=17 good.cl");
    assert_eq!(
        text(&preprocessed.stdout).trim(),
        "kernel void k(global int *p) { *p = 17; }"
    );
    let help = clc(folder.path(), "--help");
    assert!(help.status.success() && text(&help.stdout).contains("-cl-std="));
    assert!(text(&clc(folder.path(), "--version").stdout).starts_with("brolga-clc "));
}

#[test]
fn it_is_an_offline_compiler_of_the_conformance_tests() {
    let folder = folder();
    let info = "CL_DEVICE_EXTENSIONS=\"\"\nCL_DEVICE_VERSION=\"OpenCL 3.0 x\"\n";
    std::fs::write(folder.path().join("info"), info).unwrap();
    let line = "--mode=spir-v --source=good.cl --output=a.spv --cl-device-info=info -- -D N=2";
    let output = clc(folder.path(), line);
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (Some(0), String::new())
    );
    assert!(folder.path().join("a.spv").exists());
}
