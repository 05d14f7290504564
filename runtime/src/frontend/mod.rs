//! OpenCL C in, SPIR-V and a build log out.
//!
//! ```text
//! option string -> options.rs   the standard build options, parsed and checked
//! source        -> route.rs     which compiler translates this source exactly
//!               -> atomics.rs   definitions of functions that clang 22 does not know, dot.rs of those that clang 15 does not,
//!                  groups.rs    of those that neither does
//!               -> rounding.rs  selected rounding modes, for the sources that have them
//!               -> clang.rs     command lines, run by process.rs (source, headers and results in memory)
//!               -> module.rs   is what came out the SPIR-V that was meant?
//!               -> arg_info.rs  argument types for clGetKernelArgInfo, added to the module
//!               -> cache.rs     results on disk, keyed by everything above
//! ```
//!
//! The compiler is clang, as a child process (`tools.rs` finds it). There are two ways through it:
//! clang 15 writes LLVM bitcode that `llvm-spirv` translates, and what they stop at is tried with
//! clang 22, which writes SPIR-V itself but mistranslates a list of built-in functions. `route.rs`
//! holds that list and why each item is on it.
//!
//! Open [`compile_for`] below first.

mod arg_info;
mod atomics;
mod cache;
mod clang;
mod copies;
mod dot;
mod features;
mod groups;
mod module;
mod opencl_c;
pub mod options;
mod process;
mod rounding;
mod route;
mod tools;

pub use features::DeviceFeatures;
pub(crate) use opencl_c::device;
pub use options::Options;

/// What a compilation gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The module, when there was no error.
    pub spirv: Option<Vec<u32>>,
    /// The compiler's diagnostics; warnings even on success. Empty when there is nothing to say.
    pub log: String,
    pub error: Option<Failure>,
}

/// Why there is no module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The source is wrong (or beyond the compiler): `CL_BUILD_PROGRAM_FAILURE` or
    /// `CL_COMPILE_PROGRAM_FAILURE`.
    CompileError,
    /// No compiler is installed: `CL_COMPILER_NOT_AVAILABLE`.
    CompilerNotFound,
}

impl Output {
    fn failed(error: Failure, log: impl Into<String>) -> Self {
        Output {
            spirv: None,
            log: log.into(),
            error: Some(error),
        }
    }
}

/// The name that diagnostics and `__FILE__` give the program's source.
const SOURCE_NAME: &str = "kernel.cl";

/// Sources longer than this are refused: no compiler that we start would end in time.
const MAX_SOURCE_BYTES: usize = 64 << 20;

/// Translates `source` for a device with the given features. `headers` are the embedded headers of
/// `clCompileProgram`, as pairs of the name used by `#include` and the text; they are searched
/// before the `-I` directories.
pub fn compile_for(
    source: &str,
    headers: &[(String, String)],
    options: &Options,
    features: &DeviceFeatures,
) -> Output {
    let mut options = options.clone();
    // Remarks name source lines.
    options.debug_info |= brolga_compiler::dump::remarks_wanted();
    if let Some(std) = opencl_c::version(options.cl_std)
        && std::env::var_os("BROLGA_FRONTEND").is_none_or(|frontend| frontend != "clang")
    {
        return match check_text(source, headers) {
            Ok(()) => opencl_c::compile(source, headers, std, &options, features),
            Err(why) => Output::failed(Failure::CompileError, why),
        };
    }
    let cache = cache::Cache::from_environment();
    compile_cached(source, headers, &options, features, cache.as_ref())
}

fn compile_cached(
    source: &str,
    headers: &[(String, String)],
    options: &Options,
    features: &DeviceFeatures,
    cache: Option<&cache::Cache>,
) -> Output {
    let tools = match tools::Tools::find() {
        Ok(tools) => tools,
        Err(missing) => return Output::failed(Failure::CompilerNotFound, missing),
    };
    if let Err(why) = check_text(source, headers) {
        return Output::failed(Failure::CompileError, why);
    }
    let mut request = clang::Request {
        source,
        headers,
        options,
        features,
        tools: &tools,
        preprocessed: None,
    };
    // What a file on disk holds is known only after preprocessing, and so is a name that macros
    // paste together; both decide the route, and the first also whether a cached result is still
    // right.
    if route::needs_preprocessing(&request) {
        match clang::preprocess(&request) {
            Ok(text) => request.preprocessed = Some(text),
            Err(error) => return Output::failed(error.failure, error.log),
        }
    }
    let way = match route::choose(&request) {
        Ok(way) => way,
        Err(missing) => return Output::failed(Failure::CompileError, missing),
    };
    let key = cache::Key::new(&request);
    if let Some((spirv, log)) = cache.and_then(|cache| cache.load(&key)) {
        return Output {
            spirv: Some(spirv),
            log,
            error: None,
        };
    }
    let translated = if rounding::is_selected(&request) {
        rounding::translate(&request)
    } else {
        clang::translate(&request, way)
    };
    match translated {
        Ok((mut spirv, log)) => {
            arg_info::add(&request, way, &mut spirv);
            if let Some(cache) = cache {
                cache.store(&key, &spirv, &log);
            }
            Output {
                spirv: Some(spirv),
                log,
                error: None,
            }
        }
        Err(error) => Output::failed(error.failure, error.log),
    }
}

/// Refuses what would only confuse the compiler: NUL bytes (the C API ends a source at the first
/// NUL unless a length was given) and texts out of all proportion.
fn check_text(source: &str, headers: &[(String, String)]) -> Result<(), String> {
    let texts = std::iter::once((SOURCE_NAME, source))
        .chain(headers.iter().map(|(n, t)| (n.as_str(), t.as_str())));
    let mut total = 0;
    for (name, text) in texts {
        total += text.len();
        if let Some(at) = text.find('\0') {
            let line = text[..at].matches('\n').count() + 1;
            return Err(format!(
                "{name}:{line}:1: error: the source contains a NUL character (byte {at})\n"
            ));
        }
    }
    if total > MAX_SOURCE_BYTES {
        return Err(format!(
            "{SOURCE_NAME}: error: the source has {total} bytes; at most {MAX_SOURCE_BYTES} can be compiled\n"
        ));
    }
    for (name, _) in headers {
        if name.is_empty() || name.contains(['\0', '\n', '"']) || name.split('/').any(|p| p == "..")
        {
            return Err(format!(
                "{SOURCE_NAME}: error: {name:?} cannot name an embedded header\n"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
