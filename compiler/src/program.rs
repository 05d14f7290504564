//! A checked program and its kernels, compiled on demand per launch shape.

use std::collections::BTreeMap;

use crate::abi::{KernelFn, SCRATCH_ALIGN};
use crate::{Diagnostic, KernelInfo};

/// Build options that change generated code (already parsed from an option string).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BuildOptions {
    /// `-cl-opt-disable`
    pub opt_disable: bool,
    /// `-cl-mad-enable`
    pub mad_enable: bool,
    /// `-cl-unsafe-math-optimizations`
    pub unsafe_math: bool,
    /// `-cl-finite-math-only`
    pub finite_math_only: bool,
    /// `-cl-no-signed-zeros`
    pub no_signed_zeros: bool,
    /// `-cl-fast-relaxed-math`
    pub fast_relaxed_math: bool,
    /// `-cl-denorms-are-zero`
    pub denorms_are_zero: bool,
}

/// Values for specialization constants, by `SpecId`: the little-endian bytes `clSetProgramSpecializationConstant` was given.
pub type SpecConstants = BTreeMap<u32, Vec<u8>>;

/// A specialization constant that a module declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecConstantInfo {
    pub spec_id: u32,
    /// Bytes of the value (1 for a Boolean).
    pub size: usize,
}

/// Lists the specialization constants that a module declares, without building it.
pub fn spec_constants(words: &[u32]) -> Result<Vec<SpecConstantInfo>, Diagnostic> {
    let _ = words;
    Err(Diagnostic::new("the compiler cannot read modules yet"))
}

/// The index space of one launch; unused dimensions have size 1 and offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NdRange {
    pub work_dim: u32,
    pub global_offset: [u64; 3],
    pub global_size: [u64; 3],
    pub local_size: [u64; 3],
}

/// Bound on global ids, sizes and offsets under which index arithmetic is known not to wrap 32 bits: a few
/// elements per work-item still fit.
pub const SMALL_IDS: u64 = 1 << 28;

/// Bound on the work-items of a work-group, in any dimension and in all.
pub const MAX_LOCAL_SIZE: u64 = 1 << 16;

/// What generated code is specialised for; equal keys share code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchKey {
    /// Work-items are laid out along x alone (`local_size` is 1 in y and z).
    pub linear: bool,
    /// Every work-group's x size is a multiple of the vector width, so there is no partial chunk.
    pub full_chunks: bool,
    /// The global offset is zero in every dimension.
    pub zero_offset: bool,
    /// Every global id and size is at most [`SMALL_IDS`].
    pub small_ids: bool,
    /// Every work-group has the enqueued local size.
    pub uniform_groups: bool,
}

/// A checked program: SPIR-V translated to IR, ready for kernels to be compiled.
#[derive(Debug)]
pub struct Program {
    kernels: Vec<KernelInfo>,
}

impl Program {
    /// Decodes, checks, links (when there is more than one module) and translates modules.
    pub fn from_spirv(
        modules: &[&[u32]],
        spec: &SpecConstants,
        options: &BuildOptions,
    ) -> Result<Program, Diagnostic> {
        let _ = (modules, spec, options);
        Err(Diagnostic::new("the compiler cannot read modules yet"))
    }

    /// The kernels, in the order of the modules' entry points.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// The vector width that `kernel` (an index into [`Program::kernels`]) is compiled for.
    pub fn width(&self, kernel: usize) -> u32 {
        let _ = kernel;
        1
    }

    /// The key of a launch of `kernel`.
    pub fn launch_key(&self, kernel: usize, range: &NdRange) -> LaunchKey {
        let width = u64::from(self.width(kernel));
        let uniform = (0..3).all(|d| range.global_size[d].is_multiple_of(range.local_size[d]));
        let last_x = range.global_size[0] % range.local_size[0];
        LaunchKey {
            linear: range.local_size[1] == 1 && range.local_size[2] == 1,
            full_chunks: range.local_size[0].is_multiple_of(width) && last_x.is_multiple_of(width),
            zero_offset: range.global_offset == [0; 3],
            small_ids: (0..3).all(|d| {
                range.global_offset[d]
                    .checked_add(range.global_size[d])
                    .is_some_and(|end| end <= SMALL_IDS)
            }),
            uniform_groups: uniform,
        }
    }

    /// Compiles `kernel` for one launch key. Takes about a millisecond; holds no lock. The caller caches the result.
    pub fn compile(&self, kernel: usize, key: &LaunchKey) -> Result<CompiledKernel, Diagnostic> {
        let _ = key;
        Err(Diagnostic::new(format!(
            "kernel {kernel} cannot be compiled yet"
        )))
    }
}

/// Generated code for one kernel and launch key, with the memory that holds it.
#[derive(Debug)]
pub struct CompiledKernel {
    entry: KernelFn,
    width: u32,
    context_bytes_per_item: u64,
    remarks: Vec<String>,
}

impl CompiledKernel {
    /// The function to call; see [`KernelFn`] for its contract. Valid while `self` lives.
    pub fn entry(&self) -> KernelFn {
        self.entry
    }

    /// Work-items per vector.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Bytes of scratch memory a thread needs to run work-groups of `local_size` work-items with
    /// `local_mem_size` bytes of work-group memory.
    pub fn scratch_size(&self, local_size: [u64; 3], local_mem_size: u64) -> u64 {
        let items = local_size
            .iter()
            .product::<u64>()
            .next_multiple_of(u64::from(self.width));
        local_mem_size.next_multiple_of(SCRATCH_ALIGN) + items * self.context_bytes_per_item
    }

    /// How the kernel was vectorized and why, for the user to read.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
