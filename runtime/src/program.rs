//! Program objects: from source, intermediate language or binaries to something kernels can be made from.
//!
//! A program goes through two stages. *Compiling* yields SPIR-V modules (an object, in the words of the specification); *linking* gives modules to the
//! compiler, which checks them and yields an [`Executable`]. `clBuildProgram` is both.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Acquire;
use std::sync::{Arc, OnceLock};

use brolga_compiler::{BuildOptions, SpecConstantInfo, SpecConstants, spec_constants};
use opencl_sys::*;
use parking_lot::Mutex;

use crate::binary::{self, BinaryType, ProgramBinary};
use crate::context::Context;
use crate::device::Device;
use crate::error::{CLResult, ClError};
use crate::executable::{Executable, KernelSource};
use crate::features;
use crate::frontend::{self, Failure, Options, options};
use crate::kernel::Kernel;

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
enum Origin {
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
struct Object {
    modules: Vec<Arc<Vec<u32>>>,
    spec: SpecConstants,
    compiler: BuildOptions,
    /// The text that all the rest was made with, for the binary.
    options: String,
    allows_non_uniform: bool,
    has_arg_info: bool,
}

/// A program object.
pub struct Program {
    context: Arc<Context>,
    origin: Origin,
    /// Kernel objects that exist.
    attached: AtomicUsize,
    /// The specialization constants of the IL, found when first asked for.
    declared: OnceLock<CLResult<Vec<SpecConstantInfo>>>,
    state: Mutex<State>,
}

struct State {
    info: BuildInfo,
    /// Values for the next compilation.
    spec: SpecConstants,
    object: Option<Object>,
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

/// How far a build goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Build,
    Compile,
}

impl Stage {
    fn failure(self) -> ClError {
        match self {
            Stage::Build => ClError::BUILD_PROGRAM_FAILURE,
            Stage::Compile => ClError::COMPILE_PROGRAM_FAILURE,
        }
    }
}

/// What a build produced, besides its log.
struct Product {
    object: Object,
    executable: Option<Arc<Executable>>,
    binary_type: u32,
}

/// Why a build failed: the code and the last lines of the log.
struct BuildError {
    code: ClError,
    log: String,
}

impl Program {
    fn create(context: &Arc<Context>, origin: Origin, state: State) -> Arc<Program> {
        Arc::new(Program {
            context: Arc::clone(context),
            origin,
            attached: AtomicUsize::new(0),
            declared: OnceLock::new(),
            state: Mutex::new(state),
        })
    }

    /// `clCreateProgramWithSource`
    pub fn from_source(context: &Arc<Context>, source: String) -> CLResult<Arc<Program>> {
        Ok(Program::create(
            context,
            Origin::Source(source),
            State::new(),
        ))
    }

    /// `clCreateProgramWithIL`. Errors: `CL_INVALID_VALUE` unless the bytes have the form of a SPIR-V module, in either
    /// byte order.
    pub fn from_il(context: &Arc<Context>, il: &[u8]) -> CLResult<Arc<Program>> {
        // CL_INVALID_VALUE if il is not well-formed intermediate language ("Creating Program Objects").
        let words = spirv_words(il).ok_or(ClError::INVALID_VALUE)?;
        let origin = Origin::Il {
            bytes: il.to_vec(),
            words: Arc::new(words),
        };
        Ok(Program::create(context, origin, State::new()))
    }

    /// `clCreateProgramWithBinary` for the one device. Errors: `CL_INVALID_BINARY`.
    pub fn from_binary(context: &Arc<Context>, bytes: &[u8]) -> CLResult<Arc<Program>> {
        // CL_INVALID_BINARY if an invalid program binary was encountered for any device ("Creating Program Objects").
        let binary = binary::decode(bytes).map_err(|_| ClError::INVALID_BINARY)?;
        let options = options::parse(&binary.options).map_err(|_| ClError::INVALID_BINARY)?;
        let mut state = State::new();
        state.info.binary_type = binary.binary_type as u32;
        state.object = Some(Object {
            modules: binary.modules.into_iter().map(Arc::new).collect(),
            // A program created with clCreateProgramWithBinary supports non-uniform work-groups when it was built
            // without -cl-uniform-work-group-size ("Executing Kernels").
            allows_non_uniform: !options.uniform_work_group_size,
            has_arg_info: options.kernel_arg_info,
            compiler: options.compiler,
            options: binary.options,
            spec: SpecConstants::new(),
        });
        Ok(Program::create(context, Origin::Binary, state))
    }

    /// `CL_PROGRAM_BINARIES`: empty while the program is not compiled.
    pub fn binary(&self) -> Vec<u8> {
        let state = self.state.lock();
        let binary_type = match state.info.binary_type {
            CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT => BinaryType::CompiledObject,
            CL_PROGRAM_BINARY_TYPE_LIBRARY => BinaryType::Library,
            CL_PROGRAM_BINARY_TYPE_EXECUTABLE => BinaryType::Executable,
            _ => return Vec::new(),
        };
        let Some(object) = &state.object else {
            return Vec::new();
        };
        let modules = object.modules.iter();
        binary::encode(&ProgramBinary {
            binary_type,
            options: object.options.clone(),
            modules: modules
                .map(|words| specialised(words, &object.spec))
                .collect(),
        })
    }

    /// A program whose kernels need no compiler. It is built from the start.
    pub fn from_kernels(context: &Arc<Context>, kernels: Box<dyn KernelSource>) -> Arc<Program> {
        let mut state = State::new();
        state.info.status = CL_BUILD_SUCCESS;
        state.info.binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
        state.executable = Some(Arc::new(Executable::new(kernels, true, true)));
        Program::create(context, Origin::Native, state)
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
            Origin::Source(source) => source,
            _ => "",
        }
    }

    /// `CL_PROGRAM_IL`: empty unless created from intermediate language.
    pub fn il(&self) -> &[u8] {
        match &self.origin {
            Origin::Il { bytes, .. } => bytes,
            _ => &[],
        }
    }

    pub(crate) fn kernels_attached(&self) -> &AtomicUsize {
        &self.attached
    }

    /// The size of a specialization constant in bytes.
    ///
    /// Errors: `CL_INVALID_PROGRAM` when not created from intermediate language, `CL_INVALID_SPEC_ID`.
    pub fn spec_constant_size(&self, id: u32) -> CLResult<usize> {
        // CL_INVALID_PROGRAM if program is not a valid program object created from an intermediate language
        // ("Setting SPIR-V specialization constants").
        let Origin::Il { words, .. } = &self.origin else {
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
    /// Errors: those of [`Program::spec_constant_size`]; `CL_INVALID_VALUE` when the size is not the constant's.
    pub fn set_spec_constant(&self, id: u32, value: &[u8]) -> CLResult<()> {
        // CL_INVALID_VALUE if spec_size does not match the size of the specialization constant in the SPIR-V module.
        if self.spec_constant_size(id)? != value.len() {
            return Err(ClError::INVALID_VALUE);
        }
        self.state.lock().spec.insert(id, value.to_vec());
        Ok(())
    }

    /// `clGetProgramBuildInfo`
    pub fn build_info(&self) -> BuildInfo {
        self.state.lock().info.clone()
    }

    /// `clBuildProgram`. With a callback the build goes on in the background: errors of the options are returned, the
    /// rest is in [`Program::build_info`] when the callback is called.
    ///
    /// Errors: `CL_INVALID_OPERATION` (kernels attached, or a build going on), `CL_INVALID_BUILD_OPTIONS`,
    /// `CL_COMPILER_NOT_AVAILABLE`, `CL_BUILD_PROGRAM_FAILURE`.
    pub fn build(self: &Arc<Self>, options: &str, callback: Option<BuildCallback>) -> CLResult<()> {
        self.start(Stage::Build, options, Vec::new(), callback)
    }

    /// `clCompileProgram`. `headers` are pairs of the name used by `#include` and a program created from source.
    ///
    /// Errors: as [`Program::build`], with `CL_INVALID_COMPILER_OPTIONS` and `CL_COMPILE_PROGRAM_FAILURE`;
    /// `CL_INVALID_OPERATION` also for a program or header without source or intermediate language.
    pub fn compile(
        self: &Arc<Self>,
        options: &str,
        headers: &[(String, Arc<Program>)],
        callback: Option<BuildCallback>,
    ) -> CLResult<()> {
        // CL_INVALID_OPERATION if program has no source or IL available, i.e. it has not been created with
        // clCreateProgramWithSource or clCreateProgramWithIL ("Separate Compilation and Linking of Programs").
        if !matches!(self.origin, Origin::Source(_) | Origin::Il { .. }) {
            return Err(ClError::INVALID_OPERATION);
        }
        let mut texts = Vec::new();
        for (name, header) in headers {
            let Origin::Source(source) = &header.origin else {
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
        if matches!(self.origin, Origin::Native) {
            if let Some(callback) = callback {
                callback();
            }
            return Ok(());
        }
        let mut state = self.state.lock();
        // CL_INVALID_OPERATION if there are kernel objects attached to program, or if the build of a program executable for
        // any of the devices by a previous call has not completed ("Building Program Executables").
        let attached = self.attached.load(Acquire) > 0;
        if attached || state.info.status == CL_BUILD_IN_PROGRESS {
            return Err(ClError::INVALID_OPERATION);
        }
        // CL_INVALID_BUILD_OPTIONS (CL_INVALID_COMPILER_OPTIONS) if the options specified by options are invalid.
        let options = options::parse(text).map_err(|why| {
            state.info.log = why;
            match stage {
                Stage::Build => ClError::INVALID_BUILD_OPTIONS,
                Stage::Compile => ClError::INVALID_COMPILER_OPTIONS,
            }
        })?;
        state.info = BuildInfo {
            status: CL_BUILD_IN_PROGRESS,
            options: text.to_owned(),
            ..State::new().info
        };
        state.executable = None;
        let spec = state.spec.clone();
        // A binary's object is its origin; anything else is compiled afresh.
        let object = match self.origin {
            Origin::Source(_) | Origin::Il { .. } => {
                state.object = None;
                None
            }
            _ => state.object.clone(),
        };
        drop(state);

        let program = Arc::clone(self);
        let text = text.to_owned();
        let work = move || {
            let result = program.produce(stage, (&text, &options), &headers, spec, object);
            program.conclude(result)
        };
        match callback {
            None => work(),
            Some(callback) => in_background(move || {
                let _ = work();
                callback();
            }),
        }
    }

    /// The build proper; touches nothing of the program's state. Returns the product and the log.
    fn produce(
        &self,
        stage: Stage,
        (text, options): (&str, &Options),
        headers: &[(String, String)],
        spec: SpecConstants,
        object: Option<Object>,
    ) -> Result<(Product, String), BuildError> {
        let (object, log) = match (&self.origin, object) {
            (_, Some(object)) => (object, String::new()),
            (Origin::Source(source), None) => {
                compile_source(stage, source, headers, (text, options))?
            }
            (Origin::Il { words, .. }, None) => {
                let object = Object {
                    modules: vec![Arc::clone(words)],
                    spec,
                    compiler: options.compiler.clone(),
                    options: text.to_owned(),
                    // A program created with clCreateProgramWithIL supports non-uniform work-groups when it is built
                    // without -cl-uniform-work-group-size ("Executing Kernels").
                    allows_non_uniform: !options.uniform_work_group_size,
                    has_arg_info: true,
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
        match link_object(&object) {
            Ok(executable) => {
                let product = Product {
                    object,
                    executable: Some(executable),
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
    fn conclude(&self, result: Result<(Product, String), BuildError>) -> CLResult<()> {
        let mut state = self.state.lock();
        match result {
            Ok((product, log)) => {
                state.info.log = log;
                state.info.binary_type = product.binary_type;
                state.object = Some(product.object);
                state.executable = product.executable;
                state.info.status = CL_BUILD_SUCCESS;
                Ok(())
            }
            Err(error) => {
                state.info.log = error.log;
                state.info.status = CL_BUILD_ERROR;
                Err(error.code)
            }
        }
    }

    /// `clLinkProgram`. When linking fails there is a program, which has the log, *and* an error. With a callback
    /// linking goes on in the background.
    ///
    /// Errors: `CL_INVALID_VALUE` (no inputs), `CL_INVALID_PROGRAM` (another context),
    /// `CL_INVALID_LINKER_OPTIONS`, `CL_INVALID_OPERATION` (an input that is not a compiled object or library),
    /// `CL_LINK_PROGRAM_FAILURE`.
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
        let program = Program::create(context, Origin::Linked, state);
        let linked = Arc::clone(&program);
        let work = move || {
            let product = if options.create_library {
                Ok((None, CL_PROGRAM_BINARY_TYPE_LIBRARY))
            } else {
                link_object(&object).map(|code| (Some(code), CL_PROGRAM_BINARY_TYPE_EXECUTABLE))
            };
            linked.conclude(match product {
                Ok((executable, binary_type)) => Ok((
                    Product {
                        object,
                        executable,
                        binary_type,
                    },
                    String::new(),
                )),
                Err(log) => Err(BuildError {
                    code: ClError::LINK_PROGRAM_FAILURE,
                    log,
                }),
            })
        };
        let result = match callback {
            None => work(),
            Some(callback) => {
                let program = Arc::clone(&program);
                in_background(move || {
                    let _ = work();
                    callback(program);
                })
            }
        };
        (Some(program), result)
    }

    fn executable(&self) -> CLResult<Arc<Executable>> {
        // CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for program ("Creating Kernel Objects").
        let state = self.state.lock();
        state
            .executable
            .clone()
            .ok_or(ClError::INVALID_PROGRAM_EXECUTABLE)
    }

    /// `CL_PROGRAM_KERNEL_NAMES` and `CL_PROGRAM_NUM_KERNELS`. Errors: `CL_INVALID_PROGRAM_EXECUTABLE`.
    pub fn kernel_names(&self) -> CLResult<Vec<String>> {
        let executable = self.executable()?;
        Ok(executable
            .kernels()
            .iter()
            .map(|kernel| kernel.name.clone())
            .collect())
    }

    /// `clCreateKernel`. Errors: `CL_INVALID_PROGRAM_EXECUTABLE`, `CL_INVALID_KERNEL_NAME`.
    pub fn kernel(self: &Arc<Self>, name: &str) -> CLResult<Arc<Kernel>> {
        let executable = self.executable()?;
        // CL_INVALID_KERNEL_NAME if kernel_name is not found in program.
        let mut kernels = executable.kernels().iter();
        let index = kernels.position(|kernel| kernel.name == name);
        Ok(Kernel::new(
            self,
            &executable,
            index.ok_or(ClError::INVALID_KERNEL_NAME)?,
        ))
    }

    /// `clCreateKernelsInProgram`. Errors: `CL_INVALID_PROGRAM_EXECUTABLE`.
    pub fn kernels(self: &Arc<Self>) -> CLResult<Vec<Arc<Kernel>>> {
        let executable = self.executable()?;
        let count = executable.kernels().len();
        Ok((0..count)
            .map(|index| Kernel::new(self, &executable, index))
            .collect())
    }
}

/// Runs a build on a thread of its own: it may take long, and pool threads have commands to run.
fn in_background(work: impl FnOnce() + Send + 'static) -> CLResult<()> {
    let spawned = std::thread::Builder::new()
        .name("brolga-build".to_owned())
        .spawn(work);
    spawned.map(|_| ()).map_err(|_| ClError::OUT_OF_HOST_MEMORY)
}

fn compile_source(
    stage: Stage,
    source: &str,
    headers: &[(String, String)],
    (text, options): (&str, &Options),
) -> Result<(Object, String), BuildError> {
    let device = features::for_compiler();
    let output = frontend::compile_for(source, headers, options, &device);
    match (output.spirv, output.error) {
        (Some(words), None) => {
            let object = Object {
                modules: vec![Arc::new(words)],
                spec: SpecConstants::new(),
                compiler: options.compiler.clone(),
                options: text.to_owned(),
                // The program must be compiled for OpenCL C 2.0 or newer and without -cl-uniform-work-group-size
                // ("Executing Kernels").
                allows_non_uniform: options.cl_std.number() >= 200
                    && !options.uniform_work_group_size,
                has_arg_info: options.kernel_arg_info,
            };
            Ok((object, output.log))
        }
        (_, error) => Err(BuildError {
            code: match error {
                Some(Failure::CompilerNotFound) => ClError::COMPILER_NOT_AVAILABLE,
                _ => stage.failure(),
            },
            log: output.log,
        }),
    }
}

/// Has the compiler check and translate an object. The error is a log.
fn link_object(object: &Object) -> Result<Arc<Executable>, String> {
    let modules: Vec<&[u32]> = object
        .modules
        .iter()
        .map(|words| words.as_slice())
        .collect();
    match brolga_compiler::Program::from_spirv(&modules, &object.spec, &object.compiler) {
        Ok(program) => Ok(Arc::new(Executable::new(
            Box::new(program),
            object.allows_non_uniform,
            object.has_arg_info,
        ))),
        Err(diagnostic) => Err(format!("{diagnostic}\n")),
    }
}

/// Checks the arguments of `clLinkProgram` and puts the inputs together.
fn link_inputs(
    context: &Arc<Context>,
    text: &str,
    inputs: &[Arc<Program>],
) -> CLResult<(Options, Object)> {
    // CL_INVALID_VALUE if num_input_programs is zero ("Separate Compilation and Linking of Programs").
    if inputs.is_empty() {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_LINKER_OPTIONS if the linker options specified by options are invalid.
    let options = options::parse(text).map_err(|_| ClError::INVALID_LINKER_OPTIONS)?;
    let mut object = Object {
        allows_non_uniform: true,
        has_arg_info: true,
        options: text.to_owned(),
        ..Object::default()
    };
    let mut compiler: Option<BuildOptions> = None;
    for input in inputs {
        if !Arc::ptr_eq(&input.context, context) {
            return Err(ClError::INVALID_PROGRAM);
        }
        let state = input.state.lock();
        // CL_INVALID_OPERATION if the compilation or build of a program executable for any of the devices listed by a previous
        // call has not completed, or an input has no compiled binary or library.
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
        object.spec.extend(part.spec.clone());
        // All input programs must support non-uniform work-groups ("Executing Kernels").
        object.allows_non_uniform &= part.allows_non_uniform;
        object.has_arg_info &= part.has_arg_info;
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
    }
}

/// The words of a SPIR-V module in either byte order, if the bytes have the form of one: the magic number, a header, and
/// instructions whose lengths add up. What they say is for the compiler to judge.
fn spirv_words(bytes: &[u8]) -> Option<Vec<u32>> {
    const MAGIC: u32 = 0x0723_0203;
    const HEADER: usize = 5;
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let quads = bytes
        .chunks_exact(4)
        .map(|quad| [quad[0], quad[1], quad[2], quad[3]]);
    let mut words: Vec<u32> = quads.map(u32::from_le_bytes).collect();
    if words.first() == Some(&MAGIC.swap_bytes()) {
        words.iter_mut().for_each(|word| *word = word.swap_bytes());
    }
    if words.len() < HEADER || words[0] != MAGIC {
        return None;
    }
    let mut at = HEADER;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if length == 0 {
            return None;
        }
        at += length;
    }
    (at == words.len()).then_some(words)
}

/// The module with the values of specialization constants written into it as their defaults, so that it means the same
/// without them. The module has been through [`spirv_words`].
fn specialised(words: &[u32], spec: &SpecConstants) -> Vec<u32> {
    const HEADER: usize = 5;
    const OP_SPEC_CONSTANT_TRUE: u32 = 48;
    const OP_SPEC_CONSTANT_FALSE: u32 = 49;
    const OP_SPEC_CONSTANT: u32 = 50;
    const OP_DECORATE: u32 = 71;
    const DECORATION_SPEC_ID: u32 = 1;
    let mut words = words.to_vec();
    if spec.is_empty() {
        return words;
    }
    // Decorations come before the constants they decorate (SPIR-V, "Logical Layout of a Module").
    let mut values = HashMap::new();
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        let (opcode, length) = (first & 0xffff, (first >> 16).max(1) as usize);
        let Some(instruction) = words.get_mut(at..at + length) else {
            break;
        };
        match (opcode, instruction) {
            (OP_DECORATE, [_, target, DECORATION_SPEC_ID, id]) => {
                if let Some(value) = spec.get(id) {
                    values.insert(*target, value);
                }
            }
            (OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE, [first, _, result]) => {
                if let Some(value) = values.get(result) {
                    let is_true = value.iter().any(|&byte| byte != 0);
                    let opcode = if is_true {
                        OP_SPEC_CONSTANT_TRUE
                    } else {
                        OP_SPEC_CONSTANT_FALSE
                    };
                    *first = *first & 0xffff_0000 | opcode;
                }
            }
            (OP_SPEC_CONSTANT, [_, _, result, literal @ ..]) => {
                if let Some(value) = values.get(result) {
                    for (word, bytes) in literal.iter_mut().zip(value.chunks(4)) {
                        let mut quad = [0; 4];
                        quad[..bytes.len()].copy_from_slice(bytes);
                        *word = u32::from_le_bytes(quad);
                    }
                }
            }
            _ => {}
        }
        at += length;
    }
    words
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_recognised_in_both_byte_orders() {
        let words = [0x0723_0203u32, 0x0001_0000, 0, 1, 0, 0x0002_0011, 6];
        let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(spirv_words(&little).as_deref(), Some(&words[..]));
        assert_eq!(spirv_words(&big).as_deref(), Some(&words[..]));
    }

    #[test]
    fn specialised_modules_have_new_defaults() {
        let decorate = |target, id| [4 << 16 | 71, target, 1, id];
        let mut module = vec![0x0723_0203u32, 0x0001_0000, 0, 9, 0];
        module.extend(decorate(1, 10));
        module.extend(decorate(2, 11));
        module.extend(decorate(3, 12));
        module.extend([4 << 16 | 50, 7, 1, 5]);
        module.extend([3 << 16 | 48, 8, 2]);
        module.extend([5 << 16 | 50, 9, 3, 1, 1]);
        let mut spec = SpecConstants::new();
        spec.insert(10, vec![9, 1]);
        spec.insert(11, vec![0]);
        let mut expected = module.clone();
        expected[5 + 12 + 3] = 0x109;
        expected[5 + 12 + 4] = 3 << 16 | 49;
        assert_eq!(specialised(&module, &spec), expected);
        spec.insert(12, vec![1, 2, 3, 4, 5, 6, 7, 8]);
        let result = specialised(&module, &spec);
        let end = result.len();
        assert_eq!(result[end - 2..], [0x0403_0201, 0x0807_0605]);
    }

    #[test]
    fn bytes_that_are_no_module_are_refused() {
        let header = [0x0723_0203u32, 0x0001_0000, 0, 1, 0];
        let with = |rest: &[u32]| -> Vec<u8> {
            header
                .iter()
                .chain(rest)
                .flat_map(|word| word.to_le_bytes())
                .collect()
        };
        assert!(spirv_words(&[]).is_none());
        assert!(spirv_words(&with(&[])[..19]).is_none());
        assert!(spirv_words(&with(&[])[..16]).is_none());
        assert!(spirv_words(b"kernel void f() {}  ").is_none());
        assert!(
            spirv_words(&with(&[0x0000_0011])).is_none(),
            "a length of zero"
        );
        assert!(
            spirv_words(&with(&[0x0003_0011, 6])).is_none(),
            "an instruction cut off"
        );
        assert!(spirv_words(&with(&[])).is_some());
    }
}
