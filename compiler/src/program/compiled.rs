//! Code of a kernel that can be called.

use std::sync::Arc;

use crate::abi::{KernelFn, ScratchSize};
use crate::jit::Code;
use crate::jit::globals::Globals;
use crate::store::object_file::About;
use crate::times::Times;

/// Generated code for one kernel and launch key, with the memory that holds it.
#[derive(Debug)]
pub struct CompiledKernel {
    code: Code,
    about: About,
    /// The code holds addresses into them.
    _globals: Arc<Globals>,
    times: Times,
    is_kept: bool,
}

impl CompiledKernel {
    pub(super) fn new(
        code: Code,
        about: About,
        globals: Arc<Globals>,
        times: Times,
        is_kept: bool,
    ) -> CompiledKernel {
        CompiledKernel {
            code,
            about,
            _globals: globals,
            times,
            is_kept,
        }
    }

    /// The function to call; see [`KernelFn`] for its contract. Valid while `self` lives.
    pub fn entry(&self) -> KernelFn {
        // SAFETY: the code was generated for a function of this signature.
        unsafe { std::mem::transmute::<*const u8, KernelFn>(self.code.entry()) }
    }

    /// Work-items per vector.
    pub fn width(&self) -> u32 {
        self.about.width
    }

    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// Bytes of machine code.
    pub fn code_size(&self) -> usize {
        self.code.size()
    }

    /// Bytes of stack that a call takes, without what the functions take that the code calls.
    pub fn stack_bytes(&self) -> u32 {
        self.code.stack_bytes()
    }

    /// The line of the source that the machine code at an offset comes from, as `file:line`, if the
    /// module says lines.
    pub fn line(&self, offset: usize) -> Option<&str> {
        self.code.line(offset)
    }

    /// The scratch memory that a thread needs to run work-groups of `local_size` work-items with
    /// `local_mem_size` bytes of work-group memory. What is too large for 64 bits is as much as
    /// they can say.
    pub fn scratch_size(&self, local_size: [u64; 3], local_mem_size: u64) -> ScratchSize {
        let items = local_size
            .iter()
            .product::<u64>()
            .next_multiple_of(u64::from(self.about.width))
            + self.about.context_padding;
        let (private, align) = self.code.private_memory();
        let context = items.saturating_mul(self.about.context_bytes_per_item);
        let local = local_mem_size.checked_next_multiple_of(self.about.context_align);
        ScratchSize {
            private: private.into(),
            shared: local.unwrap_or(u64::MAX).saturating_add(context),
            align: self.about.context_align.max(align.into()),
        }
    }

    /// Whether its code was kept and has not been made.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// How long each stage of compiling it took.
    pub fn times(&self) -> &Times {
        &self.times
    }

    /// How the kernel was vectorized and why, for the user to read.
    pub fn remarks(&self) -> &[String] {
        &self.about.remarks
    }
}
