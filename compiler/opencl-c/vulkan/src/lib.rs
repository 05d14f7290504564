//! SPIR-V of OpenCL's environment, as the front end for OpenCL C writes it, to SPIR-V of Vulkan's
//! with `NonSemantic.ClspvReflection`.
//!
//! Vulkan's kernels have no arguments, no pointers that could be kept or cast, no calls with
//! pointers, and structured control flow only. So a kernel is lowered as a whole:
//!
//! ```text
//! words -> input.rs      the module by ids
//!       -> flatten.rs    for each kernel one function: calls in place, phis as variables
//!       -> pointers.rs   which objects pointers point into, and what each is an array of
//!       -> lower.rs      instructions one by one; memory.rs, arithmetic.rs, math.rs, integers.rs,
//!                        places.rs, sync.rs, images.rs, wide.rs, dot.rs, printf.rs, work_groups.rs have their
//!                        families
//!          interface.rs  arguments to descriptors, and reflection.rs what is said of them
//!       -> ssa.rs        what is not used is left out
//!       -> structure.rs  structured control flow (graph.rs has dominators and loops)
//!       -> ssa.rs        values pass through variables where that is needed
//!       -> write.rs      words
//! ```
//!
//! What cannot be expressed is an [`Error`] with the line of the source, if the module has lines.
//! Functions that Vulkan lacks are those of `brolga-mathlib`, emitted (library.rs); nothing else of
//! Brolga's is known here.

mod arithmetic;
mod dot;
mod flatten;
mod graph;
mod images;
mod input;
mod integers;
mod interface;
mod ir;
mod library;
mod lower;
mod math;
mod memory;
mod places;
mod pointers;
mod printf;
mod reflection;
mod ssa;
mod structure;
mod sync;
mod target;
mod types;
mod wide;
mod work_groups;
mod write;

pub use interface::GlobalOffset;

use input::Input;
use interface::Shared;
use ir::Line;
use lower::Lower;
use pointers::Analysis;
use reflection::Reflected;
use target::{Entry, Target};
use types::Types;

/// A version of Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    V1_0,
    V1_1,
    V1_2,
    V1_3,
}

impl Version {
    /// As `vulkan1.0`.
    pub fn parse(name: &str) -> Option<Version> {
        Some(match name {
            "vulkan1.0" => Version::V1_0,
            "vulkan1.1" => Version::V1_1,
            "vulkan1.2" => Version::V1_2,
            "vulkan1.3" => Version::V1_3,
            _ => return None,
        })
    }

    /// The version of SPIR-V that all implementations of it take.
    fn spirv(self) -> u32 {
        match self {
            Version::V1_0 => 0x10000,
            Version::V1_1 => 0x10300,
            Version::V1_2 => 0x10500,
            Version::V1_3 => 0x10600,
        }
    }
}

/// How arguments passed by value get to a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pods {
    #[default]
    StorageBuffer,
    Uniform,
    PushConstant,
}

/// What is asked of the lowering.
#[derive(Clone, Debug)]
pub struct Options {
    pub version: Version,
    pub pods: Pods,
    /// All arguments passed by value are in one block.
    pub cluster_pods: bool,
    /// Most bytes of push constants.
    pub max_push_constants: u32,
    /// Constant buffers are uniform buffers.
    pub constant_args_ubo: bool,
    pub global_offset: GlobalOffset,
    /// `get_work_dim()` is a specialization constant.
    pub work_dim: bool,
    /// Each kernel has a descriptor set of its own.
    pub distinct_sets: bool,
    /// `size_t` has 64 bits, and not 32: of interest to the front end.
    pub wide_sizes: bool,
    /// Integers of 8 bits exist.
    pub int8: bool,
    /// Constants of the program are in a storage buffer that the host fills.
    pub constants_in_buffer: bool,
    /// Bytes of the buffer that `printf` writes to.
    pub printf_bytes: u32,
    /// Kinds of memory that have no numbers of 8 bits, and of 16.
    pub no_8bit: Storage,
    pub no_16bit: Storage,
}

/// Kinds of memory that the host has access to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    pub storage_buffer: bool,
    pub uniform: bool,
    pub push_constant: bool,
}

impl Storage {
    /// Adds a comma-separated list of `ssbo`, `ubo` and `pushconstant`. Whether it is one.
    pub fn add(&mut self, list: &str) -> bool {
        list.split(',').all(|name| {
            let place = match name {
                "ssbo" => &mut self.storage_buffer,
                "ubo" => &mut self.uniform,
                "pushconstant" => &mut self.push_constant,
                _ => return false,
            };
            *place = true;
            true
        })
    }
}

impl Options {
    pub fn new(version: Version) -> Options {
        Options {
            version,
            pods: Pods::default(),
            cluster_pods: true,
            max_push_constants: 128,
            constant_args_ubo: false,
            global_offset: GlobalOffset::default(),
            work_dim: true,
            distinct_sets: false,
            wide_sizes: false,
            int8: true,
            constants_in_buffer: false,
            printf_bytes: 1 << 20,
            no_8bit: Storage::default(),
            no_16bit: Storage::default(),
        }
    }
}

/// Why there is no module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub message: String,
    /// File, line and column of the source.
    pub place: Option<(String, u32, u32)>,
    line: Option<Line>,
}

impl Error {
    fn plain(message: impl Into<String>) -> Error {
        Error::at(None, message)
    }

    fn at(line: Option<Line>, message: impl Into<String>) -> Error {
        Error {
            message: message.into(),
            place: None,
            line,
        }
    }
}

/// A module for Vulkan.
#[derive(Clone, Debug)]
pub struct Module {
    pub words: Vec<u32>,
    /// The descriptor map, in the form of comma-separated values.
    pub descriptor_map: String,
}

/// Lowers a module that the front end has written.
///
/// # Errors
/// What Vulkan cannot express, one error for each kernel that has any.
pub fn lower(words: &[u32], options: &Options) -> Result<Module, Vec<Error>> {
    let mut types = Types::default();
    let mut input = input::read(words, &mut types).map_err(|error| vec![error])?;
    let mut target = Target::new(types);
    let mut reflected = Reflected::default();
    let mut shared = Shared::new(&input, options, &mut target);
    let mut errors = Vec::new();
    for at in 0..input.kernels.len() {
        let done = kernel(
            &mut input,
            &mut target,
            options,
            &mut shared,
            &mut reflected,
            at,
        );
        if let Err(mut error) = done {
            error.place = error.line.map(|line| {
                let file = input.strings.get(&line.file).cloned();
                (file.unwrap_or_default(), line.line, line.column)
            });
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    if input.kernels.is_empty() {
        errors.push(Error::plain("the source has no kernel"));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    shared.reflect(&mut target, &mut reflected, options);
    let words = write::Writer::new(&mut target, options.version).finish(&reflected);
    let words = words.map_err(|error| vec![error])?;
    Ok(Module {
        words,
        descriptor_map: reflected.map,
    })
}

fn kernel(
    input: &mut Input,
    target: &mut Target,
    options: &Options,
    shared: &mut Shared,
    reflected: &mut Reflected,
    at: usize,
) -> Result<(), Error> {
    let of = input.kernels[at].function;
    let flat = flatten::flatten(input, &mut target.types, of)?;
    let input = &*input;
    let kernel = &input.kernels[at];
    let Some(function) = input.functions.get(&of) else {
        return Err(Error::plain("an entry point without a function"));
    };
    let pointers = Analysis::run(input, &mut target.types, &flat, &function.params)?;
    let id = target.id();
    let mut lower = Lower::new(input, target, (options, shared), &pointers);
    lower.texels = images::texels(input, &lower.target.types, &flat);
    lower.image_queries = images::queries(&flat);
    let mut insts = flat.blocks.iter().flat_map(|block| &block.insts);
    lower.prints = insts.any(lower::is_printf);
    lower.required_size = kernel.required_size;
    // What is wrong with an argument is told where the kernel begins.
    let mut insts = flat.blocks.iter().flat_map(|block| &block.insts);
    lower.line = insts.find_map(|inst| inst.line);
    lower.arguments(kernel, id, reflected)?;
    lower.body(&flat)?;
    let (mut blocks, mut variables) = (lower.blocks, lower.variables);
    ssa::remove_unused(&mut blocks, &mut variables);
    let mut blocks = structure::structure(target, blocks, &mut variables)?;
    ssa::repair(target, &mut blocks, &mut variables);
    let entry = Entry {
        name: kernel.name.clone(),
        function: id,
        blocks,
        variables,
        local_size: kernel.required_size,
        strict: kernel.strict,
    };
    target.entries.push(entry);
    Ok(())
}
