//! OpenCL C through the compiler in this library, `brolga-opencl-c`.

use brolga_opencl_c as opencl_c;
use brolga_opencl_c::options::Define;
use brolga_opencl_c::{Device, Std};

use super::{Options, Output, SOURCE_NAME};

pub(super) fn compile(
    source: &str,
    headers: &[(String, String)],
    std: Std,
    options: &Options,
    device: &Device,
) -> Output {
    let defines = options.defines.iter().cloned().map(Define::Define);
    let compiler = &options.compiler;
    let options = opencl_c::Options {
        std,
        defines: defines.collect(),
        include_dirs: options.include_dirs.clone(),
        no_warnings: options.no_warnings,
        warnings_are_errors: options.warnings_are_errors,
        opt_disable: compiler.opt_disable,
        single_precision_constant: options.single_precision_constant,
        kernel_arg_info: options.kernel_arg_info,
        debug_info: options.debug_info,
        fast_relaxed_math: compiler.fast_relaxed_math,
        finite_math_only: compiler.finite_math_only,
        uniform_work_group_size: options.uniform_work_group_size,
        whole_program: options.whole_program,
        zeroed_variables: options.zeroed_variables,
        ..opencl_c::Options::default()
    };
    let input = opencl_c::Input {
        name: SOURCE_NAME,
        source,
        headers,
    };
    let compiled = opencl_c::compile(&input, &options, device);
    Output {
        spirv: compiled.words,
        log: compiled.log,
        looked_for: Some(compiled.looked_for),
    }
}
