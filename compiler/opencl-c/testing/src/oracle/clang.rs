//! What programs compute by way of clang 15 and llvm-spirv 15, for comparison where they are
//! installed.

use std::path::Path;
use std::process::Command;

use brolga_opencl_c::Std;

use super::finish;
use crate::programs::Program;

/// What the programs use beyond the language.
const EXTENSIONS: &str = "-cl-ext=-all,+cl_khr_fp16,+cl_khr_fp64,+__opencl_c_fp64,\
    +__opencl_c_generic_address_space,+__opencl_c_program_scope_global_variables,\
    +__opencl_c_int64";

/// The SPIR-V of programs that are of one version and whose prefixes differ.
///
/// # Errors
/// What the compilers say.
pub fn compile(programs: &[&Program], folder: &Path) -> Result<Vec<u32>, String> {
    let std = match programs.first().map(|program| program.std) {
        // The newest that it knows.
        Some(Std::C31) | None => Std::C30,
        Some(std) => std,
    };
    let [source, bitcode, spirv] =
        ["programs.cl", "programs.bc", "programs.spv"].map(|name| folder.join(name));
    let text: String = programs.iter().map(|program| &*program.text.cl).collect();
    std::fs::write(&source, text).map_err(|why| why.to_string())?;
    let mut clang = Command::new("clang-15");
    clang
        .args([
            "--target=spir64",
            "-x",
            "cl",
            "-w",
            "-O0",
            "-c",
            "-emit-llvm",
        ])
        .arg(format!("-cl-std=CL{:.1}", f64::from(std.number()) / 100.0))
        .args(["-Xclang", EXTENSIONS, "-Xclang", "-finclude-default-header"])
        .args(["-fgnu89-inline", "-fno-crash-diagnostics", "-o"])
        .args([&bitcode, &source]);
    finish(&mut clang)?;
    let mut translator = Command::new("llvm-spirv-15");
    translator
        .arg("--spirv-mem2reg")
        .arg("-o")
        .args([&spirv, &bitcode]);
    finish(&mut translator)?;
    let bytes = std::fs::read(&spirv).map_err(|why| why.to_string())?;
    let words = bytes.chunks_exact(4);
    Ok(words
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect())
}
