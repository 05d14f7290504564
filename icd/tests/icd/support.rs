//! What the tests of this crate share: where the built library is, how to reach it through the
//! system's ICD loader, and how to compile and run the C programs in `tests/c`.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use brolga_runtime_testing::skip;
use tempfile::TempDir;

/// The `libbrolga.so` that cargo built with the running test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.parent().expect("a test lies in a folder");
    let library = folder.join("libbrolga.so");
    assert!(library.exists(), "{} is not built", library.display());
    library
}

/// A folder with one `.icd` file, which names the built library: a value for `OCL_ICD_VENDORS`.
pub fn vendors() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let line = format!("{}\n", library().display());
    std::fs::write(folder.path().join("brolga.icd"), line).expect("the folder is writable");
    folder
}

/// How a C program reaches the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Linked with the system's `libOpenCL.so`, which finds the driver through `OCL_ICD_VENDORS`.
    Loader,
    /// Linked with `libbrolga.so` itself.
    Direct,
}

/// Whether a C program with OpenCL headers can be compiled here; says so when not.
pub fn can_compile_c() -> bool {
    let source = "#include <CL/cl_icd.h>\nint main(void) { return 0; }\n";
    let folder = TempDir::new().expect("a temporary folder can be made");
    let file = folder.path().join("probe.c");
    std::fs::write(&file, source).expect("the folder is writable");
    let works = Command::new("cc")
        .arg("-o")
        .arg(folder.path().join("probe"))
        .arg(&file)
        .output()
        .is_ok_and(|output| output.status.success());
    if !works {
        skip("cc and the OpenCL C headers (Debian: opencl-c-headers)");
    }
    works
}

/// Compiles `source` into `folder`.
pub fn compile(source: &Path, folder: &Path, link: Link) -> PathBuf {
    let program = folder.join(format!("{link:?}"));
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-O1", "-o"])
        .arg(&program)
        .arg(source);
    match link {
        Link::Loader => cc.arg("-lOpenCL"),
        Link::Direct => {
            // The program finds the library by the name that it has for those linked with it.
            let named = folder.join("libbrolga.so.0");
            if !named.exists() {
                symlink(library(), &named).expect("the folder is writable");
            }
            cc.arg(&named)
                .arg(format!("-Wl,-rpath,{}", folder.display()))
        }
    };
    cc.arg("-lpthread");
    let output = cc.output().expect("cc runs");
    assert!(output.status.success(), "{}", text(&output));
    program
}

/// Runs `program` with the driver in reach.
pub fn run(program: &Path, arguments: &[&OsStr]) -> Output {
    run_with(program, arguments, &[])
}

/// Runs `program` with the driver in reach and some environment variables set.
pub fn run_with(program: &Path, arguments: &[&OsStr], variables: &[(&str, &OsStr)]) -> Output {
    let vendors = vendors();
    run_command(
        Command::new(program)
            .args(arguments)
            .env("OCL_ICD_VENDORS", vendors.path())
            .env_remove("OCL_ICD_FILENAMES")
            .envs(variables.iter().copied()),
    )
}

/// The variables with which code is kept in a folder.
pub fn keeping_in(folder: &Path) -> [(&str, &OsStr); 2] {
    [
        ("BROLGA_CACHE", OsStr::new("1")),
        ("BROLGA_CACHE_DIR", folder.as_os_str()),
    ]
}

/// Longer than any of these programs may take.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Runs a command to its end, or kills it and fails when it takes too long.
pub fn run_command(command: &mut Command) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(TIME_LIMIT) {
        Ok(output) => output.expect("the output can be read"),
        Err(_) => {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
            panic!("{command:?} did not end in {TIME_LIMIT:?}");
        }
    }
}

/// Compiles and runs one of `tests/c`, in both ways of linking, and demands success. The second run
/// finds the code that the first has left.
pub fn c_program(name: &str) {
    if !can_compile_c() {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name);
    let folder = TempDir::new().expect("a temporary folder can be made");
    let kept = folder.path().join("kept");
    for link in [Link::Loader, Link::Direct] {
        let program = compile(&source, folder.path(), link);
        let arguments: &[&OsStr] = match link {
            Link::Loader => &[],
            Link::Direct => &[OsStr::new("direct")],
        };
        let output = run_with(&program, arguments, &keeping_in(&kept));
        assert!(
            output.status.success(),
            "{name}, {link:?}: {}\n{}",
            output.status,
            text(&output)
        );
    }
}

/// Compiles one of `tests/c` and has another program run it, and demands success.
pub fn c_program_under(runner: &str, options: &[&str], name: &str) {
    if !can_compile_c() {
        return;
    }
    if Command::new(runner).arg("--version").output().is_err() {
        return skip(runner);
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name);
    let folder = TempDir::new().expect("a temporary folder can be made");
    let program = compile(&source, folder.path(), Link::Direct);
    let options = options.iter().map(OsStr::new);
    let arguments = [program.as_os_str(), OsStr::new("direct")];
    let arguments: Vec<&OsStr> = options.chain(arguments).collect();
    let output = run(Path::new(runner), &arguments);
    assert!(
        output.status.success(),
        "{runner} {name}: {}\n{}",
        output.status,
        text(&output)
    );
}

/// Compiles and runs one of `tests/c` with an argument and some environment variables, of which
/// empty ones are not set, and demands success.
pub fn c_program_with(name: &str, argument: &str, variables: &[(&str, &str)]) {
    if !can_compile_c() {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name);
    let folder = TempDir::new().expect("a temporary folder can be made");
    let program = compile(&source, folder.path(), Link::Direct);
    let set = variables.iter().filter(|(_, value)| !value.is_empty());
    let set: Vec<(&str, &OsStr)> = set.map(|&(name, value)| (name, value.as_ref())).collect();
    let output = run_with(&program, &[OsStr::new(argument)], &set);
    assert!(
        output.status.success(),
        "{name} {argument}, {variables:?}: {}\n{}",
        output.status,
        text(&output)
    );
}

/// What a program printed.
pub fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
