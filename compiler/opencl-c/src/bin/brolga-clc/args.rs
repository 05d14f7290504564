//! The command line.
//!
//! Options are clang's where clang has them, and those of `clBuildProgram` (OpenCL API
//! Specification, "Compiler Options").

use brolga_opencl_c::options::Define;
use brolga_opencl_c::vulkan::{GlobalOffset, Pods, Target, Version};
use brolga_opencl_c::{Device, Options, Std};

pub const USAGE: &str = "\
Compiles OpenCL C to SPIR-V.

brolga-clc [options] FILE.cl     (- reads standard input)

What is made:
  -o FILE             where it goes: - is standard output; a module goes to FILE.spv otherwise
  -c                  a module to be linked; without it the module is a whole program
  -E                  the preprocessed source; -P leaves line markers out
  -fsyntax-only       nothing: the source is checked
  --print-ast         the syntax tree as text
  --print-hir         the typed tree as text

Source:
  -cl-std=VERSION     CL1.0, CL1.1, CL1.2 (the default), CL2.0, CL3.0 or CL3.1
  -D NAME[=VALUE]     defines a macro; -U NAME takes one back
  -I FOLDER           looks for headers there, too; -include FILE reads one first
  -cl-ext=LIST        extensions and features of the device (+NAME, -NAME, +all, -all, separated by
                      commas; all is where it begins)
  -x cl               taken, as the language is always OpenCL C

Diagnostics:
  -w                  no warnings
  -Werror[=NAME]      warnings (or those of a group) are errors
  -WNAME, -Wno-NAME   with or without the warnings of a group

Code:
  -g                  source lines and names of variables in the module
  -O0, -cl-opt-disable  without optimisations; -O1, -O2, -O3 and -Os say what is so anyway
  -cl-single-precision-constant, -cl-denorms-are-zero, -cl-finite-math-only,
  -cl-fast-relaxed-math, -cl-unsafe-math-optimizations, -cl-mad-enable, -cl-no-signed-zeros,
  -cl-fp32-correctly-rounded-divide-sqrt, -cl-strict-aliasing, -cl-uniform-work-group-size,
  -cl-no-subgroup-ifp, -cl-kernel-arg-info

SPIR-V for Vulkan, with NonSemantic.ClspvReflection:
  --target=VERSION    vulkan1.0, vulkan1.1, vulkan1.2 or vulkan1.3
  --descriptor-map=FILE  how the host binds arguments, in comma-separated values
  -pod-ubo, -pod-pushconstant  arguments passed by value in a uniform buffer, or push constants
  -cluster-pod-kernel-args=0   each argument passed by value in a buffer of its own
  -max-pushconstant-size=N     bytes of push constants (128)
  -constant-args-ubo  constant buffers are uniform buffers
  -global-offset, -global-offset-push-constant  get_global_offset() is a specialization constant,
                      or a push constant; without these it is 0
  -work-dim=0         get_work_dim() is 3, and no specialization constant
  -distinct-kernel-descriptor-sets  a descriptor set for each kernel
  -module-constants-in-storage-buffer  constants of the program in a buffer, not in the module
  -printf-buffer-size=N  bytes of the buffer that printf() writes to (1048576)
  -int8=0             no integers of 8 bits
  -no-8bit-storage=LIST, -no-16bit-storage=LIST  no numbers of so many bits in ssbo, ubo or
                      pushconstant
  -arch=spir64        size_t has 64 bits, and not 32

  --help, --version

As an offline compiler of the OpenCL conformance tests:
  brolga-clc --mode=spir-v --source=FILE --output=FILE --cl-device-info=FILE -- [options]

The exit status is 0, 1 after an error in the source, or 2 after one in the command line.
";

/// What is asked for.
#[derive(Debug)]
pub enum Request {
    Help,
    Version,
    Run(Box<Arguments>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Compile,
    Check,
    Preprocess,
    PrintAst,
    PrintHir,
}

#[derive(Debug)]
pub struct Arguments {
    pub action: Action,
    /// Preprocessed text says what comes from where.
    pub markers: bool,
    pub input: String,
    pub output: Option<String>,
    pub options: Options,
    pub device: Device,
    /// For Vulkan, and not for OpenCL.
    pub target: Option<Target>,
    pub descriptor_map: Option<String>,
}

impl Arguments {
    pub fn new(device: Device) -> Arguments {
        Arguments {
            action: Action::Compile,
            markers: true,
            input: String::new(),
            output: None,
            options: Options {
                whole_program: true,
                ..Options::default()
            },
            device,
            target: None,
            descriptor_map: None,
        }
    }
}

/// Options of the lowering to Vulkan. `None` for one that is not known.
fn vulkan(word: &str, target: &mut Target) -> Option<Result<(), String>> {
    // With one hyphen or two, as LLVM's options are.
    let option = word.strip_prefix("--").or(word.strip_prefix('-'))?;
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    let switch = |place: &mut bool| match value {
        None | Some("1" | "true") => {
            *place = true;
            Ok(())
        }
        Some("0" | "false") => {
            *place = false;
            Ok(())
        }
        Some(value) => Err(format!("-{name}: {value:?} is neither 0 nor 1")),
    };
    let (mut on, mut chosen) = (false, Ok(()));
    match name {
        "cluster-pod-kernel-args" => chosen = switch(&mut target.cluster_pods),
        "constant-args-ubo" => chosen = switch(&mut target.constant_args_ubo),
        "work-dim" => chosen = switch(&mut target.work_dim),
        "distinct-kernel-descriptor-sets" => chosen = switch(&mut target.distinct_sets),
        "arch" => match value {
            Some("spir") => target.wide_sizes = false,
            Some("spir64") => target.wide_sizes = true,
            _ => chosen = Err("-arch is spir or spir64".to_owned()),
        },
        "int8" => chosen = switch(&mut target.int8),
        "module-constants-in-storage-buffer" => chosen = switch(&mut target.constants_in_buffer),
        // It is there where it is called.
        "enable-printf" => chosen = switch(&mut on),
        "printf-buffer-size" => match value.and_then(|value| value.parse().ok()) {
            Some(size) if size >= 4 => target.printf_bytes = size,
            _ => chosen = Err("-printf-buffer-size wants a number of bytes".to_owned()),
        },
        "pod-ubo" => {
            chosen = switch(&mut on);
            target.pods = if on {
                Pods::Uniform
            } else {
                Pods::StorageBuffer
            };
        }
        "pod-pushconstant" => {
            chosen = switch(&mut on);
            target.pods = if on {
                Pods::PushConstant
            } else {
                Pods::StorageBuffer
            };
        }
        "global-offset" => {
            chosen = switch(&mut on);
            target.global_offset = match on {
                true => GlobalOffset::SpecConstant,
                false => GlobalOffset::None,
            };
        }
        "global-offset-push-constant" => {
            chosen = switch(&mut on);
            target.global_offset = match on {
                true => GlobalOffset::PushConstant,
                false => GlobalOffset::None,
            };
        }
        "no-8bit-storage" | "no-16bit-storage" => {
            let storage = match name {
                "no-8bit-storage" => &mut target.no_8bit,
                _ => &mut target.no_16bit,
            };
            if !value.is_some_and(|list| storage.add(list)) {
                chosen = Err(format!(
                    "-{name} wants a list of ssbo, ubo and pushconstant"
                ));
            }
        }
        "max-pushconstant-size" => match value.and_then(|value| value.parse().ok()) {
            Some(size) => target.max_push_constants = size,
            None => chosen = Err("-max-pushconstant-size wants a number of bytes".to_owned()),
        },
        _ => return None,
    }
    Some(chosen)
}

/// Options without a value: what each sets. `None` for one that is not known.
fn flag(word: &str, arguments: &mut Arguments) -> Option<()> {
    let options = &mut arguments.options;
    match word {
        "-E" => arguments.action = Action::Preprocess,
        "-P" => arguments.markers = false,
        "-c" => options.whole_program = false,
        "-fsyntax-only" => arguments.action = Action::Check,
        "--print-ast" => arguments.action = Action::PrintAst,
        "--print-hir" => arguments.action = Action::PrintHir,
        "-g" => options.debug_info = true,
        "-w" => options.no_warnings = true,
        "-Werror" => options.warnings_are_errors = true,
        "-O0" | "-cl-opt-disable" => options.opt_disable = true,
        "-cl-single-precision-constant" => options.single_precision_constant = true,
        "-cl-fast-relaxed-math" => options.fast_relaxed_math = true,
        "-cl-finite-math-only" => options.finite_math_only = true,
        // A permission for whoever compiles the module.
        "-cl-denorms-are-zero" => {}
        "-cl-uniform-work-group-size" => options.uniform_work_group_size = true,
        "-cl-kernel-arg-info" => options.kernel_arg_info = true,
        // Of no consequence to a module: who runs it gets them, too.
        "-O1"
        | "-O2"
        | "-O3"
        | "-Os"
        | "-cl-mad-enable"
        | "-cl-no-signed-zeros"
        | "-cl-unsafe-math-optimizations"
        | "-cl-strict-aliasing"
        | "-cl-fp32-correctly-rounded-divide-sqrt"
        | "-cl-no-subgroup-ifp"
        | "-create-library"
        | "-enable-link-options" => {}
        _ => return None,
    }
    Some(())
}

/// Reads one option or file name; `rest` is behind it.
pub fn option(
    word: &str,
    rest: &mut dyn Iterator<Item = String>,
    arguments: &mut Arguments,
) -> Result<(), String> {
    if flag(word, arguments).is_some() {
        return Ok(());
    }
    // `-D NAME` and `-DNAME` are the same, and so with others.
    let mut value = |option: &str| match &word[option.len()..] {
        "" => rest.next().ok_or(format!("{option} wants a value")),
        joined => Ok(joined.to_owned()),
    };
    let options = &mut arguments.options;
    if let Some(name) = word.strip_prefix("-cl-std=") {
        options.std = Std::parse(&name.to_uppercase())
            .ok_or_else(|| format!("-cl-std=: no version {name:?} of OpenCL C"))?;
    } else if let Some(list) = word.strip_prefix("-cl-ext=") {
        extensions(list, &mut arguments.device)?;
    } else if word.starts_with("-include") {
        options.includes.push(value("-include")?);
    } else if word.starts_with("-D") {
        options.defines.push(Define::Define(value("-D")?));
    } else if word.starts_with("-U") {
        options.defines.push(Define::Undefine(value("-U")?));
    } else if word.starts_with("-I") {
        options.include_dirs.push(value("-I")?);
    } else if word.starts_with("-x") {
        let language = value("-x")?;
        if language != "cl" {
            return Err(format!(
                "-x: {language:?} is another language than OpenCL C"
            ));
        }
    } else if let Some(warning) = word.strip_prefix("-W").filter(|name| !name.is_empty()) {
        options.warnings.push(warning.to_owned());
    } else if word.starts_with("-o") {
        arguments.output = Some(value("-o")?);
    } else if word != "-" && word.starts_with('-') {
        return Err(format!("unknown option {word:?}"));
    } else if arguments.input.is_empty() {
        word.clone_into(&mut arguments.input);
    } else {
        return Err(format!(
            "one source at a time: {:?} and {word:?} were given",
            arguments.input
        ));
    }
    Ok(())
}

/// `-cl-ext=+all,-cl_khr_fp64`, as clang has it.
fn extensions(list: &str, device: &mut Device) -> Result<(), String> {
    for item in list.split(',').filter(|item| !item.is_empty()) {
        let (is_there, name) = match item.split_at(1) {
            ("+", name) => (true, name),
            ("-", name) => (false, name),
            _ => (true, item),
        };
        let version = device.version;
        match (is_there, name) {
            (true, "all") => *device = Device::full(),
            (false, "all") => *device = Device::default(),
            _ => {
                let names = if name.starts_with("__opencl_c_") {
                    &mut device.features
                } else {
                    &mut device.extensions
                };
                names.retain(|other| other != name);
                if is_there {
                    names.push(name.to_owned());
                }
            }
        }
        device.version = version;
    }
    Ok(())
}

/// Push constants are one block.
fn target_conflict(arguments: &Arguments) -> bool {
    let target = arguments.target.as_ref();
    target.is_some_and(|target| target.pods == Pods::PushConstant && !target.cluster_pods)
}

/// Reads a command line.
///
/// # Errors
/// A sentence that names the option and what was expected of it.
pub fn parse(words: Vec<String>) -> Result<Request, String> {
    let mut arguments = Arguments::new(Device::full());
    let mut for_vulkan = None;
    let mut target = Target::new(Version::V1_0);
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        if let Some(name) = word.strip_prefix("--target=") {
            target.version = Version::parse(name)
                .ok_or_else(|| format!("--target=: no target {name:?} (vulkan1.0 to vulkan1.3)"))?;
            arguments.target = Some(target.clone());
            continue;
        }
        if let Some(path) = word.strip_prefix("--descriptor-map=") {
            arguments.descriptor_map = Some(path.to_owned());
            for_vulkan = Some(word);
            continue;
        }
        if let Some(done) = vulkan(&word, &mut target) {
            done?;
            for_vulkan = Some(word);
            continue;
        }
        match word.as_str() {
            "-h" | "-help" | "--help" => return Ok(Request::Help),
            "-v" | "--version" => return Ok(Request::Version),
            _ => option(&word, &mut rest, &mut arguments)?,
        }
    }
    if arguments.input.is_empty() {
        return Err("no source was given".to_owned());
    }
    match (&mut arguments.target, for_vulkan) {
        (Some(of), _) => *of = target,
        (None, Some(word)) => return Err(format!("{word} wants --target=vulkan1.0 or later")),
        (None, None) => {}
    }
    if target_conflict(&arguments) {
        return Err("-pod-pushconstant excludes -cluster-pod-kernel-args=0".to_owned());
    }
    Ok(Request::Run(Box::new(arguments)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> Arguments {
        match parse(line.split(' ').map(str::to_owned).collect()) {
            Ok(Request::Run(arguments)) => *arguments,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn values_attach_or_follow() {
        let arguments = run("-DA -D B=3 -UC -I inc -Irel -o out.spv -cl-std=cl3.0 -Wno-x k.cl");
        let (input, output) = (arguments.input, arguments.output);
        assert_eq!((&*input, output.as_deref()), ("k.cl", Some("out.spv")));
        let options = arguments.options;
        let define = |text: &str| Define::Define(text.to_owned());
        let undefine = Define::Undefine("C".to_owned());
        assert_eq!(options.defines, [define("A"), define("B=3"), undefine]);
        assert_eq!(options.include_dirs, ["inc", "rel"]);
        assert_eq!(options.warnings, ["no-x"]);
        assert_eq!(options.std, Std::C30);
        assert!(options.whole_program);
        assert!(!run("-c k.cl").options.whole_program);
    }

    #[test]
    fn options_of_vulkan_begin_with_a_hyphen() {
        for name in ["arch", "int8", "pod-ubo", "work-dim"] {
            let arguments = run(name);
            assert_eq!(arguments.input, name);
            assert!(arguments.target.is_none());
        }
        for line in [
            "--target=vulkan1.1 -pod-ubo k.cl",
            "--pod-ubo k.cl --target=vulkan1.1",
        ] {
            let target = run(line).target.unwrap();
            assert_eq!(
                (target.version, target.pods),
                (Version::V1_1, Pods::Uniform)
            );
        }
        for line in [
            "---pod-ubo k.cl",
            "pod-ubo k.cl",
            "-arch k.cl",
            "-int8=2 k.cl",
        ] {
            let error = parse(line.split(' ').map(str::to_owned).collect());
            assert!(error.is_err(), "{line}");
        }
    }

    #[test]
    fn the_device_has_what_the_list_says() {
        assert!(run("k.cl").device.has("cl_khr_fp64"));
        let device = run("-cl-ext=-all,+cl_khr_fp16,+__opencl_c_pipes k.cl").device;
        assert_eq!(device.extensions, ["cl_khr_fp16"]);
        assert_eq!(device.features, ["__opencl_c_pipes"]);
        assert_eq!(device.version, 310);
        assert!(!run("-cl-ext=-cl_khr_fp16 k.cl").device.has("cl_khr_fp16"));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, expected) in [
            ("-w", "no source"),
            ("a.cl b.cl", "\"b.cl\""),
            ("-foo a.cl", "unknown option \"-foo\""),
            ("-cl-foo a.cl", "unknown option \"-cl-foo\""),
            ("a.cl -o", "-o wants a value"),
            ("-cl-std=CL9.9 a.cl", "\"CL9.9\""),
            ("-x c a.cl", "\"c\""),
        ] {
            let error = parse(line.split(' ').map(str::to_owned).collect()).unwrap_err();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
