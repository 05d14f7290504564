//! Program objects: from source, intermediate language or binaries to something kernels can be made
//! from.
//!
//! A program goes through two stages. *Compiling* (`build.rs`, `source.rs`) yields SPIR-V modules:
//! an object, in the words of the specification. *Linking* (`link.rs`) gives modules to the
//! compiler, which checks them and yields an [`Executable`] (`translate.rs`), with one more that
//! has the built-in functions that they import (`imports.rs`). `clBuildProgram` is both. With a
//! callback they go on in the background (`code/background.rs`). `spirv.rs` knows what little of
//! SPIR-V the runtime has to.

mod build;
mod imports;
mod link;
mod source;
mod specialised;
mod translate;
mod zeroed;

use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use brolga_compiler::spirv::work_groups_may_differ;
use brolga_compiler::{BuildOptions, SpecConstantInfo, SpecConstants, spec_constants};
use opencl_sys::*;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::base::device::Device;
use crate::binary::{self, BinaryType, ProgramBinary};
use crate::code::executable::{Executable, KernelSource};
use crate::context::Context;
use crate::frontend::options;
use crate::spirv;
use brolga_engine::error::{CLResult, ClError};

/// The answers of `clGetProgramBuildInfo` for the one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildInfo {
    /// `CL_PROGRAM_BUILD_STATUS`
    pub status: i32,
    /// `CL_PROGRAM_BUILD_OPTIONS`
    pub options: String,
    /// `CL_PROGRAM_BUILD_LOG`
    pub log: String,
    /// `CL_PROGRAM_BINARY_TYPE`
    pub binary_type: u32,
    /// `CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE`, bytes.
    pub global_variable_total_size: usize,
}

/// Called once when a build that was started with it ends.
pub type BuildCallback = Box<dyn FnOnce() + Send>;

/// Called with the new program when linking that was started with it ends.
pub type LinkCallback = Box<dyn FnOnce(Arc<Program>) + Send>;

/// What a program was made from.
enum ProgramInput {
    Source(String),
    /// The bytes as given, and as words in the host's order.
    Il {
        bytes: Vec<u8>,
        words: Arc<Vec<u32>>,
    },
    Binary,
    Linked,
    Native,
}

/// A compiled program: what a linker takes.
#[derive(Clone, Debug, Default)]
struct CompiledProgram {
    /// Specialization constants have been written into them, since each module numbers its own.
    modules: Vec<Arc<Vec<u32>>>,
    compiler: BuildOptions,
    /// The text that all the rest was made with, for the binary.
    options: String,
    allows_non_uniform: bool,
    has_arg_info: bool,
    /// `-g`: kernels get more specific errors than `CLK_ENQUEUE_FAILURE`.
    tells_errors: bool,
}

/// A program object.
pub struct Program {
    context: Arc<Context>,
    origin: ProgramInput,
    /// Kernel objects that exist.
    attached: AtomicUsize,
    /// The specialization constants of the IL, found when first asked for.
    declared: OnceLock<CLResult<Vec<SpecConstantInfo>>>,
    state: Mutex<State>,
    /// A build has ended.
    concluded: Condvar,
}

struct State {
    info: BuildInfo,
    /// Values for the next compilation.
    spec: SpecConstants,
    object: Option<CompiledProgram>,
    executable: Option<Arc<Executable>>,
}

impl State {
    fn new() -> State {
        State {
            info: BuildInfo {
                status: CL_BUILD_NONE,
                options: String::new(),
                log: String::new(),
                binary_type: CL_PROGRAM_BINARY_TYPE_NONE,
                global_variable_total_size: 0,
            },
            spec: SpecConstants::new(),
            object: None,
            executable: None,
        }
    }
}

impl Program {
    fn create(context: &Arc<Context>, origin: ProgramInput, state: State) -> Arc<Program> {
        Arc::new(Program {
            context: Arc::clone(context),
            origin,
            attached: AtomicUsize::new(0),
            declared: OnceLock::new(),
            state: Mutex::new(state),
            concluded: Condvar::new(),
        })
    }

    /// `clCreateProgramWithSource`
    pub fn from_source(context: &Arc<Context>, source: String) -> CLResult<Arc<Program>> {
        Ok(Program::create(
            context,
            ProgramInput::Source(source),
            State::new(),
        ))
    }

    /// `clCreateProgramWithIL`. Errors: `CL_INVALID_VALUE` unless the bytes have the form of a
    /// SPIR-V module, in either byte order.
    pub fn from_il(context: &Arc<Context>, il: &[u8]) -> CLResult<Arc<Program>> {
        // CL_INVALID_VALUE if il is not well-formed intermediate language ("Creating Program
        // Objects").
        let words = spirv::words(il).ok_or(ClError::INVALID_VALUE)?;
        let origin = ProgramInput::Il {
            bytes: il.to_vec(),
            words: Arc::new(words),
        };
        Ok(Program::create(context, origin, State::new()))
    }

    /// `clCreateProgramWithBinary` for the one device. Errors: `CL_INVALID_BINARY`.
    pub fn from_binary(context: &Arc<Context>, bytes: &[u8]) -> CLResult<Arc<Program>> {
        // CL_INVALID_BINARY if an invalid program binary was encountered for any device ("Creating
        // Program Objects").
        let binary = binary::decode(bytes).map_err(|error| {
            context.report(&format!("clCreateProgramWithBinary: {error}"));
            ClError::INVALID_BINARY
        })?;
        let options = options::parse(&binary.options).map_err(|_| ClError::INVALID_BINARY)?;
        let mut state = State::new();
        state.info.binary_type = binary.binary_type as u32;
        state.object = Some(CompiledProgram {
            // A program created with clCreateProgramWithBinary supports non-uniform work-groups
            // when it was built without -cl-uniform-work-group-size ("Executing Kernels").
            allows_non_uniform: !options.uniform_work_group_size
                && binary
                    .modules
                    .iter()
                    .all(|words| work_groups_may_differ(words)),
            modules: binary.modules.into_iter().map(Arc::new).collect(),
            has_arg_info: options.kernel_arg_info,
            tells_errors: options.debug_info,
            compiler: options.compiler,
            options: binary.options,
        });
        Ok(Program::create(context, ProgramInput::Binary, state))
    }

    /// Compiles ahead of launches, unless the context has no queue: the application may yet fork
    /// then, and has no threads of the driver until something is enqueued.
    pub(crate) fn compile_ahead(&self, compile: impl FnOnce()) {
        if self.context.has_queue() {
            compile();
        }
    }

    /// The state when no build is going on. Applications ask for what a build in the background
    /// makes without waiting for its callback, and other implementations answer.
    fn after_build(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        let is_going_on = |state: &mut State| state.info.status == CL_BUILD_IN_PROGRESS;
        self.concluded.wait_while(&mut state, is_going_on);
        state
    }

    /// `CL_PROGRAM_BINARIES`: empty if the program is not compiled. Waits for a build in the
    /// background.
    pub fn binary(&self) -> Vec<u8> {
        let state = self.after_build();
        let binary_type = match state.info.binary_type {
            CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT => BinaryType::CompiledObject,
            CL_PROGRAM_BINARY_TYPE_LIBRARY => BinaryType::Library,
            CL_PROGRAM_BINARY_TYPE_EXECUTABLE => BinaryType::Executable,
            _ => return Vec::new(),
        };
        let Some(object) = &state.object else {
            return Vec::new();
        };
        binary::encode(&ProgramBinary {
            binary_type,
            options: object.options.clone(),
            modules: object.modules.iter().map(|words| words.to_vec()).collect(),
        })
    }

    /// A program whose kernels need no compiler. It is built from the start.
    pub fn from_kernels(context: &Arc<Context>, kernels: Box<dyn KernelSource>) -> Arc<Program> {
        let mut state = State::new();
        state.info.status = CL_BUILD_SUCCESS;
        state.info.binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
        state.executable = Some(Arc::new(Executable::new(kernels, true, true)));
        Program::create(context, ProgramInput::Native, state)
    }

    /// `CL_PROGRAM_CONTEXT`
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_PROGRAM_DEVICES`
    pub fn devices(&self) -> &[Arc<Device>] {
        self.context.devices()
    }

    /// `CL_PROGRAM_SOURCE`: empty unless created from source.
    pub fn source(&self) -> &str {
        match &self.origin {
            ProgramInput::Source(source) => source,
            _ => "",
        }
    }

    /// `CL_PROGRAM_IL`: empty unless created from intermediate language.
    pub fn il(&self) -> &[u8] {
        match &self.origin {
            ProgramInput::Il { bytes, .. } => bytes,
            _ => &[],
        }
    }

    pub(crate) fn kernels_attached(&self) -> &AtomicUsize {
        &self.attached
    }

    /// The size of a specialization constant in bytes.
    ///
    /// Errors: `CL_INVALID_PROGRAM` when not created from intermediate language,
    /// `CL_INVALID_SPEC_ID`.
    pub fn spec_constant_size(&self, id: u32) -> CLResult<usize> {
        // CL_INVALID_PROGRAM if program is not a valid program object created from an intermediate
        // language ("Setting SPIR-V specialization constants").
        let ProgramInput::Il { words, .. } = &self.origin else {
            return Err(ClError::INVALID_PROGRAM);
        };
        let declared = self
            .declared
            .get_or_init(|| spec_constants(words).map_err(|_| ClError::INVALID_PROGRAM));
        let mut all = declared.as_ref().map_err(|&error| error)?.iter();
        // CL_INVALID_SPEC_ID if spec_id is not a valid specialization constant identifier.
        let constant = all.find(|constant| constant.spec_id == id);
        Ok(constant.ok_or(ClError::INVALID_SPEC_ID)?.size)
    }

    /// `clSetProgramSpecializationConstant`: the value for builds from now on.
    ///
    /// Errors: those of [`Program::spec_constant_size`]; `CL_INVALID_VALUE` when the size is not
    /// the constant's.
    pub fn set_spec_constant(&self, id: u32, value: &[u8]) -> CLResult<()> {
        // CL_INVALID_VALUE if spec_size does not match the size of the specialization constant in
        // the SPIR-V module.
        if self.spec_constant_size(id)? != value.len() {
            return Err(ClError::INVALID_VALUE);
        }
        self.state.lock().spec.insert(id, value.to_vec());
        Ok(())
    }

    /// `CL_PROGRAM_BUILD_STATUS`: `CL_BUILD_IN_PROGRESS` while a build goes on in the background.
    pub fn build_status(&self) -> i32 {
        self.state.lock().info.status
    }

    /// `clGetProgramBuildInfo`. Waits for a build in the background.
    pub fn build_info(&self) -> BuildInfo {
        self.after_build().info.clone()
    }

    /// What kernels are made from. Waits for a build in the background.
    pub(crate) fn executable(&self) -> CLResult<Arc<Executable>> {
        // CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for program
        // ("Creating Kernel Objects").
        let state = self.after_build();
        state
            .executable
            .clone()
            .ok_or(ClError::INVALID_PROGRAM_EXECUTABLE)
    }

    /// `CL_PROGRAM_KERNEL_NAMES` and `CL_PROGRAM_NUM_KERNELS`. Errors:
    /// `CL_INVALID_PROGRAM_EXECUTABLE`.
    pub fn kernel_names(&self) -> CLResult<Vec<String>> {
        let executable = self.executable()?;
        let names = executable.ordinary().iter();
        Ok(names
            .map(|&index| executable.kernels()[index].name.clone())
            .collect())
    }

    /// `CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT` and `CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT`. Errors:
    /// `CL_INVALID_PROGRAM_EXECUTABLE`.
    pub fn scope_ctors_and_dtors(&self) -> CLResult<(bool, bool)> {
        let executable = self.executable()?;
        Ok((executable.has_initializers, executable.has_finalizers()))
    }

    /// `clGetDeviceGlobalVariablePointerINTEL`: address and bytes. Errors:
    /// `CL_INVALID_PROGRAM_EXECUTABLE`, `CL_INVALID_ARG_VALUE` if there is no such variable.
    pub fn global_variable(&self, name: &str) -> CLResult<(usize, usize)> {
        let variable = self.executable()?.host_variable(name);
        let variable = variable.ok_or(ClError::INVALID_ARG_VALUE)?;
        Ok((variable.address as usize, variable.size as usize))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Program")
            .field("status", &state.info.status)
            .field("kernels", &state.executable)
            .finish()
    }
}
