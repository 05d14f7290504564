//! Every `.cl` file below `tests/files` is a test; adding one needs no Rust.
//!
//! Comments in the file say what is done with it and what must come of it:
//!
//! - `// RUN: preprocess` writes the preprocessed text without line markers, `// RUN: print-hir`
//!   the typed tree, `// RUN: check` looks for errors only, `// RUN: execute` compiles, and runs
//!   kernels in all engines of the compiler's file tests: `// run:`, `// arg:`, `// expect:` are
//!   some of the directives that `../../tests/README.md` describes. After the word may come
//!   `-cl-std=...`, `-DNAME=VALUE`, `-UNAME`, `-c` (something is to be linked
//!   to it), `-Werror`, `-Wno-NAME`, `-cl-...` and `-ext=NAME,NAME` for what the device has.
//!   What is executed is compiled for Vulkan, too, and if that can express it, executed again,
//!   unless `-opencl-only` says that Vulkan leaves open what comes of it.
//! - `// RUN: vulkan` compiles for all versions of Vulkan; each module must be valid. The output is
//!   the descriptor map, if there is any `OUT`. Kernels are executed as for `execute`. With
//!   `-since=vulkan1.1` versions before are to refuse it; other options are `brolga-clc`'s.
//! - `// HEADER: name text` is a header in memory; `\n` in the text ends a line.
//! - `// OUT: text` is a line of the output. These are all lines that are not empty, in order,
//!   without the white space around them.
//! - `// ERROR: 3:5: text` and `// WARNING: 3:5: text` are diagnostics, all of them and in order.
//!   In another file than the test itself the place is `name:3:5`.
//! - `// LOG: text` is a line that must be in the log.

use std::path::{Path, PathBuf};

use brolga_compiler_testing::filetest;
use brolga_compiler_testing::validator::validate;
use brolga_opencl_c::options::Define;
use brolga_opencl_c::vulkan::{GlobalOffset, Pods, Target, Version, compile_for_vulkan};
use brolga_opencl_c::{Device, Input, Options, Std, check, compile, hir, preprocess};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Preprocess,
    PrintHir,
    Check,
    Execute,
    /// Compiles for all versions of Vulkan, and executes the last module.
    Vulkan,
}

struct Test {
    action: Action,
    options: Options,
    device: Device,
    headers: Vec<(String, String)>,
    output: Vec<String>,
    diagnostics: Vec<String>,
    log: Vec<String>,
    target: Target,
    /// The first version of Vulkan that can express it.
    since: Version,
    opencl_only: bool,
}

fn parse(source: &str) -> Test {
    let mut test = Test {
        action: Action::Check,
        options: Options {
            whole_program: true,
            ..Options::default()
        },
        device: Device {
            version: 310,
            ..Device::default()
        },
        headers: Vec::new(),
        output: Vec::new(),
        diagnostics: Vec::new(),
        log: Vec::new(),
        target: Target::new(Version::V1_0),
        since: Version::V1_0,
        opencl_only: false,
    };
    let mut has_run = false;
    for line in source.lines() {
        let Some((_, comment)) = line.split_once("// ") else {
            continue;
        };
        let Some((directive, rest)) = comment.split_once(':') else {
            continue;
        };
        let rest = rest.trim();
        match directive {
            "RUN" => {
                has_run = true;
                let mut words = rest.split_whitespace();
                test.action = match words.next() {
                    Some("preprocess") => Action::Preprocess,
                    Some("print-hir") => Action::PrintHir,
                    Some("check") => Action::Check,
                    Some("execute") => Action::Execute,
                    Some("vulkan") => Action::Vulkan,
                    other => panic!("no such action: {other:?}"),
                };
                words.for_each(|word| option(&mut test, word));
            }
            "HEADER" => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let text = text.replace("\\n", "\n") + "\n";
                test.headers.push((name.to_owned(), text));
            }
            "OUT" => test.output.push(rest.to_owned()),
            "ERROR" => test.diagnostics.push(diagnostic("error", rest)),
            "FATAL" => test.diagnostics.push(diagnostic("fatal error", rest)),
            "WARNING" => test.diagnostics.push(diagnostic("warning", rest)),
            "LOG" => test.log.push(rest.to_owned()),
            _ => {}
        }
    }
    assert!(has_run, "no RUN line");
    test
}

fn option(test: &mut Test, word: &str) {
    let options = &mut test.options;
    if let Some(define) = word.strip_prefix("-D") {
        options.defines.push(Define::Define(define.to_owned()));
    } else if let Some(name) = word.strip_prefix("-U") {
        options.defines.push(Define::Undefine(name.to_owned()));
    } else if let Some(std) = word.strip_prefix("-cl-std=") {
        options.std = Std::parse(std).expect("a version of OpenCL C");
    } else if let Some(name) = word.strip_prefix("-since=") {
        test.since = Version::parse(name).expect("a version of Vulkan");
    } else if word == "-opencl-only" {
        test.opencl_only = true;
    } else if word == "-pod-ubo" {
        test.target.pods = Pods::Uniform;
    } else if word == "-pod-pushconstant" {
        test.target.pods = Pods::PushConstant;
    } else if word == "-cluster-pod-kernel-args=0" {
        test.target.cluster_pods = false;
    } else if word == "-constant-args-ubo" {
        test.target.constant_args_ubo = true;
    } else if word == "-global-offset" {
        test.target.global_offset = GlobalOffset::SpecConstant;
    } else if word == "-global-offset-push-constant" {
        test.target.global_offset = GlobalOffset::PushConstant;
    } else if word == "-distinct-kernel-descriptor-sets" {
        test.target.distinct_sets = true;
    } else if let Some(list) = word.strip_prefix("-no-8bit-storage=") {
        assert!(test.target.no_8bit.add(list), "{list}");
    } else if let Some(list) = word.strip_prefix("-no-16bit-storage=") {
        assert!(test.target.no_16bit.add(list), "{list}");
    } else if word == "-module-constants-in-storage-buffer" {
        test.target.constants_in_buffer = true;
    } else if word == "-int8=0" {
        test.target.int8 = false;
    } else if word == "-c" {
        options.whole_program = false;
    } else if word == "-Werror" {
        options.warnings_are_errors = true;
    } else if let Some(warning) = word.strip_prefix("-W") {
        options.warnings.push(warning.to_owned());
    } else if let Some(names) = word.strip_prefix("-ext=") {
        for name in names.split(',') {
            let is_feature = name.starts_with("__opencl_c_");
            let list = match is_feature {
                true => &mut test.device.features,
                false => &mut test.device.extensions,
            };
            list.push(name.to_owned());
        }
    } else {
        panic!("no such option: {word}");
    }
}

/// `3:5: text` as the log has it.
fn diagnostic(severity: &str, text: &str) -> String {
    let (place, message) = text.split_once(": ").expect("a place and a message");
    let place = match place.matches(':').count() {
        1 => format!("t.cl:{place}"),
        _ => place.to_owned(),
    };
    format!("{place}: {severity}: {message}")
}

/// The first lines of errors and warnings in a log.
fn told(log: &str) -> Vec<&str> {
    let is = |line: &&str| {
        let kinds = [": error: ", ": warning: ", ": fatal error: "];
        kinds.iter().any(|kind| line.contains(kind))
    };
    log.lines().filter(is).collect()
}

fn run(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|why| why.to_string())?;
    let test = parse(&source);
    let input = Input {
        name: "t.cl",
        source: &source,
        headers: &test.headers,
    };
    let (text, log) = match test.action {
        Action::Preprocess => preprocess(&input, &test.options, &test.device, false),
        Action::Check => {
            let checked = check(&input, &test.options, &test.device);
            (checked.module.map(|_| String::new()), checked.log)
        }
        Action::PrintHir => {
            let checked = check(&input, &test.options, &test.device);
            let tree = checked
                .module
                .map(|module| hir::print::print(&module, &checked.interner));
            (tree, checked.log)
        }
        Action::Execute => {
            let compiled = compile(&input, &test.options, &test.device);
            if let Some(words) = &compiled.words {
                filetest::run_compiled(&source, words)?;
                if !test.opencl_only {
                    also_for_vulkan(&source, &input, &test)?;
                }
            }
            (compiled.words.map(|_| String::new()), compiled.log)
        }
        Action::Vulkan => for_vulkan(&source, &input, &test)?,
    };
    if told(&log) != test.diagnostics {
        return Err(format!(
            "expected the diagnostics {:#?}, got\n{log}",
            test.diagnostics
        ));
    }
    if let Some(missing) = test
        .log
        .iter()
        .find(|&line| !log.lines().any(|l| l.trim() == line))
    {
        return Err(format!("no line {missing:?} in the log\n{log}"));
    }
    let text = text.unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    if lines != test.output {
        return Err(format!(
            "expected the output {:#?}, got {lines:#?}",
            test.output
        ));
    }
    Ok(())
}

/// Compiles for each version of Vulkan. What the last one gives is run, after what the source gives
/// for OpenCL. The text is the descriptor map.
fn for_vulkan(
    source: &str,
    input: &Input<'_>,
    test: &Test,
) -> Result<(Option<String>, String), String> {
    if source.contains("// run:") {
        let compiled = compile(input, &test.options, &test.device);
        let words = compiled.words.ok_or("the source is refused for OpenCL")?;
        filetest::run_compiled(source, &words)?;
    }
    let mut last = (None, String::new());
    for name in ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"] {
        let version = Version::parse(name).expect("a version of Vulkan");
        let target = Target {
            version,
            ..test.target.clone()
        };
        let compiled = compile_for_vulkan(input, &test.options, &test.device, &target);
        if version < test.since {
            if compiled.words.is_some() {
                return Err(format!("{name} was to be refused"));
            }
            continue;
        }
        if let Some(words) = &compiled.words {
            validate(words, name)?;
            if version == Version::V1_3 && source.contains("// run:") {
                filetest::run_compiled(source, words).map_err(|why| format!("{name}: {why}"))?;
            }
        }
        let map = compiled.words.map(|_| compiled.descriptor_map);
        last = (map.map(|map| wanted_map(map, test)), compiled.log);
    }
    Ok(last)
}

/// What can be expressed for Vulkan computes the same.
fn also_for_vulkan(source: &str, input: &Input<'_>, test: &Test) -> Result<(), String> {
    let target = Target {
        wide_sizes: true,
        global_offset: GlobalOffset::SpecConstant,
        ..Target::new(Version::V1_3)
    };
    let compiled = compile_for_vulkan(input, &test.options, &test.device, &target);
    match compiled.words {
        None => Ok(()),
        Some(words) => {
            validate(&words, "vulkan1.3")?;
            filetest::run_compiled(source, &words).map_err(|why| format!("for Vulkan: {why}"))
        }
    }
}

/// The descriptor map, if the test says something of it.
fn wanted_map(map: String, test: &Test) -> String {
    match test.output.is_empty() {
        true => String::new(),
        false => map,
    }
}

fn files(directory: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory of tests") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "cl") {
            all.push(path);
        }
    }
}

#[test]
fn every_file_does_what_it_says() {
    let mut all = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    files(&root, &mut all);
    all.sort();
    assert!(!all.is_empty());
    let failures: Vec<String> = all
        .iter()
        .filter_map(|path| Some(format!("{}: {}", path.display(), run(path).err()?)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
