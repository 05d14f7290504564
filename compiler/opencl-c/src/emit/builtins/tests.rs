//! Every overload of the table becomes a module that Brolga's reader and the validator take.

use brolga_compiler::{BuildOptions, KernelRole, SpecConstants};
use brolga_compiler_testing::validator::validate;

use crate::builtins::overloads::{Source, sources};
use crate::{Device, Input, Options, Std, compile};

fn module(source: &str) -> Vec<u32> {
    let input = Input {
        name: "overloads.cl",
        source,
        headers: &[],
    };
    let options = Options {
        std: Std::C31,
        whole_program: true,
        ..Options::default()
    };
    let compiled = compile(&input, &options, &Device::full());
    let words = compiled.words;
    words.unwrap_or_else(|| panic!("{}\n{source}", compiled.log))
}

/// What the reader refuses: the device has no images of several samples.
fn is_served(source: &Source) -> bool {
    !source.text.contains("msaa")
}

#[test]
fn every_overload_translates() {
    let mut failures = Vec::new();
    for source in sources() {
        let words = module(&source.text);
        if !is_served(&source) {
            continue;
        }
        let (spec, options) = (SpecConstants::default(), BuildOptions::default());
        match brolga_compiler::Program::from_spirv(&[&words], &spec, &options) {
            Ok(program) => {
                // Blocks are kernels too, but not the application's.
                let kernels = program.kernels_with_role(KernelRole::Ordinary);
                assert_eq!(kernels.len(), source.kernels, "{}", source.name);
            }
            Err(error) => failures.push(format!("{}: {error}\n{}", source.name, source.text)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Rows whose modules the validator refuses, though their extensions allow them: the clock of a
/// work-group (`cl_khr_kernel_clock`), writes to a level of detail (`cl_khr_mipmap_image_writes`),
/// and capabilities that are newer than it.
const NOT_KNOWN_TO_VALIDATOR: [&str; 6] = [
    "__opencl_c_kernel_clock_scope_work_group",
    "cl_khr_mipmap_image_writes",
    "cl_intel_bfloat16_conversions",
    "cl_intel_split_work_group_barrier",
    "2.0&cl_intel_split_work_group_barrier",
    "cl_intel_subgroup_buffer_prefetch",
];

/// One module for the rows that the same thing brings.
#[test]
fn every_overload_is_valid() {
    let mut sources = sources();
    sources.retain(|source| !NOT_KNOWN_TO_VALIDATOR.contains(&source.need));
    sources.sort_by_key(|source| source.need);
    for group in sources.chunk_by(|one, other| one.need == other.need) {
        let text: String = group.iter().map(|source| source.text.as_str()).collect();
        let words = module(&text);
        assert_eq!(validate(&words, "spv1.6"), Ok(()), "{:?}", group[0].need);
    }
}
