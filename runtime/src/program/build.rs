//! Compiling: from a program's origin to an object, and with `clBuildProgram` on to an executable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;

use brolga_compiler::SpecConstants;
use brolga_compiler::spirv::work_groups_may_differ;
use opencl_sys::*;
use parking_lot::MutexGuard;
use serde_json::json;

use super::source;
use super::specialised::specialised;
use super::translate::translate;
use super::{BuildCallback, BuildInfo, CompiledProgram, Program, ProgramInput, State};
use crate::base::features;
use crate::base::trace;
use crate::code::background::in_background;
use crate::code::executable::Executable;
use crate::frontend::{Options, options};
use brolga_engine::error::{CLResult, ClError};

/// How far a build goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Build,
    Compile,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Build => "build program",
            Stage::Compile => "compile program",
        }
    }

    fn failure(self) -> ClError {
        match self {
            Stage::Build => ClError::BUILD_PROGRAM_FAILURE,
            Stage::Compile => ClError::COMPILE_PROGRAM_FAILURE,
        }
    }
}

/// What a build produced, besides its log.
pub(super) struct Product {
    pub(super) object: CompiledProgram,
    pub(super) executable: Option<Arc<Executable>>,
    pub(super) binary_type: u32,
}

/// Why a build failed: the code and the last lines of the log.
pub(super) struct BuildError {
    pub(super) code: ClError,
    pub(super) log: String,
}

impl Program {
    /// `clBuildProgram`. With a callback the build goes on in the background: errors of the options
    /// are returned, the rest is in [`Program::build_info`] when the callback is called.
    ///
    /// Errors: `CL_INVALID_OPERATION` (kernels attached, a build going on, or a linked program),
    /// `CL_INVALID_BUILD_OPTIONS`, `CL_BUILD_PROGRAM_FAILURE`.
    pub fn build(self: &Arc<Self>, options: &str, callback: Option<BuildCallback>) -> CLResult<()> {
        // CL_INVALID_OPERATION if program was not created with clCreateProgramWithSource,
        // clCreateProgramWithIL or clCreateProgramWithBinary ("Building Program Executables").
        if matches!(self.origin, ProgramInput::Linked) {
            return Err(ClError::INVALID_OPERATION);
        }
        self.start(Stage::Build, options, Vec::new(), callback)
    }

    /// `clCompileProgram`. `headers` are pairs of the name used by `#include` and a program created
    /// from source.
    ///
    /// Errors: as [`Program::build`], with `CL_INVALID_COMPILER_OPTIONS` and
    /// `CL_COMPILE_PROGRAM_FAILURE`; `CL_INVALID_OPERATION` also for a program or header without
    /// source or intermediate language.
    pub fn compile(
        self: &Arc<Self>,
        options: &str,
        headers: &[(String, Arc<Program>)],
        callback: Option<BuildCallback>,
    ) -> CLResult<()> {
        // CL_INVALID_OPERATION if program has no source or IL available, i.e. it has not been
        // created with clCreateProgramWithSource or clCreateProgramWithIL ("Separate Compilation
        // and Linking of Programs").
        if !matches!(
            self.origin,
            ProgramInput::Source(_) | ProgramInput::Il { .. }
        ) {
            return Err(ClError::INVALID_OPERATION);
        }
        let mut texts = Vec::new();
        for (name, header) in headers {
            let ProgramInput::Source(source) = &header.origin else {
                return Err(ClError::INVALID_OPERATION);
            };
            texts.push((name.clone(), source.clone()));
        }
        self.start(Stage::Compile, options, texts, callback)
    }

    fn start(
        self: &Arc<Self>,
        stage: Stage,
        text: &str,
        headers: Vec<(String, String)>,
        callback: Option<BuildCallback>,
    ) -> CLResult<()> {
        // Programs that need no compiler are built already.
        if matches!(self.origin, ProgramInput::Native) {
            if let Some(callback) = callback {
                callback();
            }
            return Ok(());
        }
        let mut state = self.state.lock();
        self.check_may_begin(&state)?;
        // CL_INVALID_BUILD_OPTIONS (CL_INVALID_COMPILER_OPTIONS) if the options specified by
        // options are invalid.
        let mut options = options::parse(text).map_err(|why| {
            state.info.log = why;
            match stage {
                Stage::Build => ClError::INVALID_BUILD_OPTIONS,
                Stage::Compile => ClError::INVALID_COMPILER_OPTIONS,
            }
        })?;
        options.whole_program = matches!(stage, Stage::Build);
        options.zeroed_variables = self.context.initializes_private_memory();
        drop(state);
        let mut state = self.without_executable()?;
        state.info = BuildInfo {
            status: CL_BUILD_IN_PROGRESS,
            options: text.to_owned(),
            ..State::new().info
        };
        let spec = state.spec.clone();
        // A binary's object is its origin; anything else is compiled afresh.
        let object = match self.origin {
            ProgramInput::Source(_) | ProgramInput::Il { .. } => None,
            _ => state.object.clone(),
        };
        drop(state);

        let program = Arc::clone(self);
        let text = text.to_owned();
        let work = move || {
            let produce = || program.produce(stage, (&text, &options), &headers, spec, object);
            let produce = || catch_panic(stage.failure(), produce);
            let result = trace::span("compile", produce, |result| {
                let args = json!({ "options": text, "ok": result.is_ok() });
                (stage.name().to_owned(), args)
            });
            program.conclude(result)
        };
        match callback {
            None => work(),
            Some(callback) => {
                in_background(
                    move || {
                        let _ = work();
                    },
                    callback,
                );
                Ok(())
            }
        }
    }

    /// Checks that a build may begin. Errors: `CL_INVALID_OPERATION`.
    fn check_may_begin(&self, state: &State) -> CLResult<()> {
        // CL_INVALID_OPERATION if there are kernel objects attached to program, or if the build of
        // a program executable for any of the devices by a previous call has not completed
        // ("Building Program Executables").
        let attached = self.attached.load(Acquire) > 0;
        match attached || state.info.status == CL_BUILD_IN_PROGRESS {
            true => Err(ClError::INVALID_OPERATION),
            false => Ok(()),
        }
    }

    /// The state, when what the last build made is gone. The program's destructors run here, with
    /// no lock held and before the build begins: they may take long, and the application may ask
    /// for the program meanwhile, or build it, on this thread too, which would wait for itself.
    ///
    /// Errors: as [`Program::check_may_begin`].
    fn without_executable(&self) -> CLResult<MutexGuard<'_, State>> {
        loop {
            let mut state = self.state.lock();
            self.check_may_begin(&state)?;
            let Some(executable) = state.executable.take() else {
                return Ok(state);
            };
            state.info = State::new().info;
            drop(state);
            drop(executable);
        }
    }

    /// The build proper; touches nothing of the program's state. Returns the product and the log.
    fn produce(
        &self,
        stage: Stage,
        (text, options): (&str, &Options),
        headers: &[(String, String)],
        spec: SpecConstants,
        object: Option<CompiledProgram>,
    ) -> Result<(Product, String), BuildError> {
        let (object, log) = match (&self.origin, object) {
            (_, Some(object)) => (object, String::new()),
            (ProgramInput::Source(source), None) => {
                compile_source(stage, source, headers, (text, options))?
            }
            (ProgramInput::Il { words, .. }, None) => {
                let object = CompiledProgram {
                    modules: vec![specialised(words, &spec)],
                    compiler: options.compiler.clone(),
                    options: text.to_owned(),
                    // A program created with clCreateProgramWithIL supports non-uniform work-groups
                    // when it is built without -cl-uniform-work-group-size ("Executing Kernels").
                    allows_non_uniform: !options.uniform_work_group_size
                        && work_groups_may_differ(words),
                    has_arg_info: true,
                    tells_errors: options.debug_info,
                };
                (object, String::new())
            }
            _ => {
                return Err(BuildError {
                    code: ClError::INVALID_OPERATION,
                    log: "the program has nothing to build\n".to_owned(),
                });
            }
        };
        if stage == Stage::Compile {
            let product = Product {
                object,
                executable: None,
                binary_type: CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
            };
            return Ok((product, log));
        }
        match translate(&self.context, &object) {
            Ok(translated) => {
                let log = log + &translated.log(options);
                let product = Product {
                    object,
                    executable: Some(translated.executable),
                    binary_type: CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
                };
                Ok((product, log))
            }
            Err(why) => Err(BuildError {
                code: stage.failure(),
                log: log + &why,
            }),
        }
    }

    /// Records how a build ended.
    pub(super) fn conclude(&self, result: Result<(Product, String), BuildError>) -> CLResult<()> {
        // What it replaces goes without the lock.
        let _replaced;
        let mut state = self.state.lock();
        // Seen by a thread that waits when the lock is let go.
        self.concluded.notify_all();
        match result {
            Ok((product, log)) => {
                state.info.log = log;
                state.info.binary_type = product.binary_type;
                _replaced = state.object.replace(product.object);
                state.info.global_variable_total_size = product
                    .executable
                    .as_ref()
                    .map_or(0, |executable| executable.global_variable_size());
                state.executable = product.executable;
                state.info.status = CL_BUILD_SUCCESS;
                let executable = state.executable.clone();
                drop(state);
                if let Some(executable) = executable {
                    self.compile_ahead(|| executable.compile_all_ahead());
                }
                Ok(())
            }
            Err(error) => {
                state.info.log = error.log;
                state.info.status = CL_BUILD_ERROR;
                Err(error.code)
            }
        }
    }
}

/// What a build produces, also if the compiler panics: a program may not be left in a build that
/// never ends.
pub(super) fn catch_panic<T>(
    code: ClError,
    produce: impl FnOnce() -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    // Nothing of what the build has left half done is used again.
    catch_unwind(AssertUnwindSafe(produce)).unwrap_or_else(|_| {
        Err(BuildError {
            code,
            log: "error: the compiler failed; this is a bug of the driver\n".to_owned(),
        })
    })
}

fn compile_source(
    stage: Stage,
    text_of_source: &str,
    headers: &[(String, String)],
    (text, options): (&str, &Options),
) -> Result<(CompiledProgram, String), BuildError> {
    let device = features::for_compiler();
    let (output, _) = trace::span(
        "compile",
        || source::compile(text_of_source, headers, options, &device),
        |(output, is_kept)| {
            let args = json!({
                "source bytes": text_of_source.len(),
                "ok": output.spirv.is_some(),
                "kept": is_kept,
            });
            ("source to SPIR-V".to_owned(), args)
        },
    );
    match output.spirv {
        Some(words) => {
            let object = CompiledProgram {
                modules: vec![Arc::new(words)],
                compiler: options.compiler.clone(),
                options: text.to_owned(),
                // The program must be compiled for OpenCL C 2.0 or newer and without
                // -cl-uniform-work-group-size ("Executing Kernels").
                allows_non_uniform: options.language.number() >= 200
                    && !options.uniform_work_group_size,
                has_arg_info: options.kernel_arg_info,
                tells_errors: options.debug_info,
            };
            Ok((object, output.log))
        }
        None => Err(BuildError {
            code: stage.failure(),
            log: output.log,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    use super::*;
    use crate::base::platform::Platform;
    use crate::context::{Context, ContextOptions};

    /// Asks for a program, and builds it, when something goes that belongs to it.
    struct Asks(Weak<Program>, Sender<[CLResult<()>; 2]>);

    impl Drop for Asks {
        fn drop(&mut self) {
            if let Some(program) = self.0.upgrade() {
                assert_eq!(program.build_info().status, CL_BUILD_NONE);
                assert!(program.binary().is_empty());
                let names = program.kernel_names().map(|_| ());
                self.1.send([names, program.build("", None)]).unwrap();
            }
        }
    }

    /// What a build destroys of the one before may call back into the program.
    #[test]
    fn destructors_of_a_rebuild_may_ask_for_the_program() {
        let devices = Platform::get().devices().to_vec();
        let context = Context::new(devices, ContextOptions::default()).unwrap();
        let source = "kernel void k() {}".to_owned();
        let program = Program::from_source(&context, source).unwrap();
        program.build("", None).unwrap();
        let (send, receive) = channel();
        {
            let mut state = program.state.lock();
            let executable = state.executable.as_mut().and_then(Arc::get_mut).unwrap();
            executable.drop_at_end(Box::new(Asks(Arc::downgrade(&program), send)));
        }
        let rebuilt = Arc::clone(&program);
        let (done, is_done) = channel();
        std::thread::spawn(move || done.send(rebuilt.build("", None)).unwrap());
        let limit = Duration::from_secs(60);
        let answers = receive.recv_timeout(limit).expect("it does not wait");
        // The build before is gone, and the next one has not begun.
        assert_eq!(answers, [Err(ClError::INVALID_PROGRAM_EXECUTABLE), Ok(())]);
        assert_eq!(is_done.recv_timeout(limit), Ok(Ok(())));
        assert_eq!(program.kernel_names(), Ok(vec!["k".to_owned()]));
    }

    #[test]
    fn a_panic_is_a_failed_build() {
        let failed: Result<(), _> = catch_panic(ClError::BUILD_PROGRAM_FAILURE, || {
            std::panic::resume_unwind(Box::new(1))
        });
        let error = failed.expect_err("it panicked");
        assert_eq!(error.code, ClError::BUILD_PROGRAM_FAILURE);
        assert!(error.log.starts_with("error: "), "{}", error.log);
        let fine = catch_panic(ClError::BUILD_PROGRAM_FAILURE, || Ok(3));
        assert!(matches!(fine, Ok(3)));
    }
}
