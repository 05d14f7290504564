//! A program's source in, SPIR-V and a build log out.
//!
//! ```text
//! option string -> options.rs    the standard build options, parsed and checked
//! OpenCL C      -> opencl_c.rs   the compiler in this library
//! C++           -> clang/        C++ for OpenCL, by another compiler as child processes
//! ```
//!
//! With `BROLGA_FRONTEND=clang` OpenCL C goes through clang as well, to compare the two.
//!
//! Open [`compile_for`] below first.

mod clang;
mod opencl_c;
pub mod options;

use std::path::PathBuf;
use std::sync::Arc;

use brolga_host::environment;
use brolga_opencl_c::Device;
use options::Language;
pub use options::Options;

/// What a compilation gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The module, when there was no error.
    pub spirv: Option<Vec<u32>>,
    /// The compiler's diagnostics; warnings even on success. Empty when there is nothing to say.
    pub log: String,
    /// Files on disk that were looked for, and what they held: the same input gives the same as
    /// long as they do. `None` if more than that decides.
    pub looked_for: Option<LookedFor>,
}

/// Paths, and what was there.
pub type LookedFor = Vec<(PathBuf, Option<Arc<[u8]>>)>;

impl Output {
    fn failed(log: String) -> Self {
        Output {
            spirv: None,
            log,
            looked_for: None,
        }
    }
}

/// The name that diagnostics and `__FILE__` give the program's source.
const SOURCE_NAME: &str = "kernel.cl";

/// Translates `source` for a device. `headers` are the embedded headers of `clCompileProgram`, as
/// pairs of the name used by `#include` and the text; they are searched before the `-I`
/// directories.
pub fn compile_for(
    source: &str,
    headers: &[(String, String)],
    options: &Options,
    device: &Device,
) -> Output {
    let mut options = options.clone();
    // Remarks name source lines.
    options.debug_info |= brolga_compiler::dump::remarks_wanted();
    match options.language {
        Language::C(std) if !compares() => {
            opencl_c::compile(source, headers, std, &options, device)
        }
        _ => clang::compile(source, headers, &options, device),
    }
}

/// Whether OpenCL C goes through clang.
pub fn compares() -> bool {
    environment::chosen("BROLGA_FRONTEND", "clang", |value| {
        (value == "clang").then_some(())
    })
    .is_some()
}

#[cfg(test)]
mod tests;
