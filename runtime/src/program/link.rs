//! Linking: from objects to an executable or a library.

use std::sync::Arc;

use brolga_compiler::BuildOptions;
use opencl_sys::*;

use super::build::{BuildError, Product, catch_panic};
use super::translate::translate;
use super::{CompiledProgram, LinkCallback, Program, ProgramInput, State};
use crate::code::background::in_background;
use crate::context::Context;
use crate::frontend::{Options, options};
use brolga_engine::error::{CLResult, ClError};

impl Program {
    /// `clLinkProgram`. When linking fails there is a program, which has the log, *and* an error.
    /// With a callback linking goes on in the background.
    ///
    /// Errors: `CL_INVALID_VALUE` (no inputs), `CL_INVALID_PROGRAM` (another context),
    /// `CL_INVALID_LINKER_OPTIONS`, `CL_INVALID_OPERATION` (an input that is not a compiled object
    /// or library), `CL_LINK_PROGRAM_FAILURE`.
    pub fn link(
        context: &Arc<Context>,
        text: &str,
        inputs: &[Arc<Program>],
        callback: Option<LinkCallback>,
    ) -> (Option<Arc<Program>>, CLResult<()>) {
        let (options, object) = match link_inputs(context, text, inputs) {
            Ok(parts) => parts,
            Err(error) => return (None, Err(error)),
        };
        let mut state = State::new();
        state.info.status = CL_BUILD_IN_PROGRESS;
        state.info.options = text.to_owned();
        let program = Program::create(context, ProgramInput::Linked, state);
        let linked = Arc::clone(&program);
        let program_context = Arc::clone(context);
        let produce = move || {
            let translated = match options.create_library {
                true => Ok(None),
                false => translate(&program_context, &object).map(Some),
            };
            match translated {
                Ok(translated) => {
                    let log = translated.as_ref().map(|it| it.log(&options));
                    let binary_type = match translated {
                        Some(_) => CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
                        None => CL_PROGRAM_BINARY_TYPE_LIBRARY,
                    };
                    let product = Product {
                        object,
                        executable: translated.map(|it| it.executable),
                        binary_type,
                    };
                    let log = log.unwrap_or_default();
                    Ok((product, log))
                }
                Err(log) => Err(BuildError {
                    code: ClError::LINK_PROGRAM_FAILURE,
                    log,
                }),
            }
        };
        let work = move || linked.conclude(catch_panic(ClError::LINK_PROGRAM_FAILURE, produce));
        let result = match callback {
            None => work(),
            Some(callback) => {
                let program = Arc::clone(&program);
                in_background(
                    move || {
                        let _ = work();
                    },
                    move || callback(program),
                );
                Ok(())
            }
        };
        (Some(program), result)
    }
}

/// Checks the arguments of `clLinkProgram` and puts the inputs together.
fn link_inputs(
    context: &Arc<Context>,
    text: &str,
    inputs: &[Arc<Program>],
) -> CLResult<(Options, CompiledProgram)> {
    // CL_INVALID_VALUE if num_input_programs is zero ("Separate Compilation and Linking of
    // Programs").
    if inputs.is_empty() {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_LINKER_OPTIONS if the linker options specified by options are invalid.
    let options = options::parse(text).map_err(|_| ClError::INVALID_LINKER_OPTIONS)?;
    // "-enable-link-options: [...] This option must be specified with the create-library option"
    // ("Library Linking Options").
    if options.enable_link_options && !options.create_library {
        return Err(ClError::INVALID_LINKER_OPTIONS);
    }
    // "The following options can be specified when linking a program executable" ("Program Linking
    // Options"), and creating a library is not that.
    if options.create_library && options.has_program_linking_option() {
        return Err(ClError::INVALID_LINKER_OPTIONS);
    }
    let mut object = CompiledProgram {
        allows_non_uniform: true,
        has_arg_info: true,
        options: text.to_owned(),
        ..CompiledProgram::default()
    };
    let mut compiler: Option<BuildOptions> = None;
    for input in inputs {
        if !Arc::ptr_eq(&input.context, context) {
            return Err(ClError::INVALID_PROGRAM);
        }
        let state = input.after_build();
        // CL_INVALID_OPERATION if the compilation or build of a program executable for any of the
        // devices listed by a previous call has not completed, or an input has no compiled binary
        // or library.
        let linkable = matches!(
            state.info.binary_type,
            CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT | CL_PROGRAM_BINARY_TYPE_LIBRARY
        );
        let part = state
            .object
            .as_ref()
            .filter(|_| linkable)
            .ok_or(ClError::INVALID_OPERATION)?;
        object.modules.extend(part.modules.iter().cloned());
        // All input programs must support non-uniform work-groups ("Executing Kernels").
        object.allows_non_uniform &= part.allows_non_uniform;
        object.has_arg_info &= part.has_arg_info;
        object.tells_errors |= part.tells_errors;
        object.options = format!("{} {}", part.options, object.options);
        compiler = Some(match compiler {
            None => part.compiler.clone(),
            Some(so_far) => common_options(&so_far, &part.compiler),
        });
    }
    object.compiler = either_option(&compiler.unwrap_or_default(), &options.compiler);
    Ok((options, object))
}

/// What relaxes the rules only when every input allows it, and tightens them when one asks.
fn common_options(a: &BuildOptions, b: &BuildOptions) -> BuildOptions {
    BuildOptions {
        opt_disable: a.opt_disable || b.opt_disable,
        mad_enable: a.mad_enable && b.mad_enable,
        unsafe_math: a.unsafe_math && b.unsafe_math,
        finite_math_only: a.finite_math_only && b.finite_math_only,
        no_signed_zeros: a.no_signed_zeros && b.no_signed_zeros,
        fast_relaxed_math: a.fast_relaxed_math && b.fast_relaxed_math,
        denorms_are_zero: a.denorms_are_zero && b.denorms_are_zero,
        inline_limit: a.inline_limit,
    }
}

/// What the inputs were compiled with and what the link asks for ("Program Linking Options").
fn either_option(a: &BuildOptions, b: &BuildOptions) -> BuildOptions {
    BuildOptions {
        opt_disable: a.opt_disable || b.opt_disable,
        mad_enable: a.mad_enable || b.mad_enable,
        unsafe_math: a.unsafe_math || b.unsafe_math,
        finite_math_only: a.finite_math_only || b.finite_math_only,
        no_signed_zeros: a.no_signed_zeros || b.no_signed_zeros,
        fast_relaxed_math: a.fast_relaxed_math || b.fast_relaxed_math,
        denorms_are_zero: a.denorms_are_zero || b.denorms_are_zero,
        inline_limit: a.inline_limit,
    }
}
