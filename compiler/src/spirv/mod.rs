//! SPIR-V to IR.
//!
//! ```text
//! words -> vulkan/       modules of Vulkan's environment, to ones of OpenCL's
//!       -> decode.rs     the header, instructions by the grammar, ids renumbered across modules
//!       -> module.rs     names, decorations, where functions are; types (types.rs, made by
//!                        type_declarations.rs, asked by type_queries.rs); constants (constants.rs,
//!                        constant_creation.rs, spec.rs)
//!       -> link.rs       imports become what another module exports
//!       -> translate.rs  from each kernel (kernel_info.rs), every function and global that it
//!                        reaches, declared in module_builder.rs; host_names.rs, globals that the
//!                        host names
//!       -> function.rs   a function: its blocks in order (cfg.rs, flow.rs, phis.rs), operands
//!                        (operands.rs), one handler an instruction, by family: arithmetic.rs,
//!                        float_arithmetic.rs, conversion.rs, composite.rs, memory.rs,
//!                        generic_pointers.rs, builtin_variables.rs, atomics.rs, control.rs,
//!                        driver_functions.rs, groups.rs, images.rs, mipmaps.rs, pipes.rs,
//!                        device.rs, named_barriers.rs, ext_inst.rs, vector_memory.rs, extensions.rs
//!       -> body.rs       the IR function they emit into, which knows nothing of SPIR-V
//! ```
//!
//! Refusals are made in report.rs, by the rules of rules.rs; so are warnings of what breaks a rule
//! and can mean one thing only, which is taken as that.
//!
//! What flows in: modules of SPIR-V 1.0 to 1.6 for the OpenCL environment, or for Vulkan's with
//! reflection that says which OpenCL kernels they are, specialization
//! constants. What flows out: an [`ir::Module`] at [`ir::Stage::Translated`], or a [`Diagnostic`]
//! that names the instruction. Input is not trusted: each rule that the translation relies on is
//! checked where it is relied on, so that whatever goes in, what comes out is valid IR.
//! `capabilities.rs` says what modules may declare.
//!
//! Pointers have no pointee type in IR and all SSA values are compared by IR type, so that
//! producers' liberties with pointer types do no harm.

mod arithmetic;
mod atomics;
mod body;
mod builtin_variables;
mod capabilities;
mod cfg;
mod composite;
mod constant_creation;
mod constants;
mod control;
mod conversion;
mod decode;
mod device;
mod driver_functions;
mod ext_inst;
mod extensions;
mod float_arithmetic;
mod float_modes;
mod flow;
mod function;
mod generic_pointers;
mod groups;
mod host_names;
mod image_blocks;
mod images;
mod kernel_info;
mod link;
mod memory;
mod mipmaps;
mod module;
mod module_builder;
mod named_barriers;
mod operands;
mod phis;
mod pipe_ring;
mod pipes;
mod report;
mod rules;
mod spec;
mod translate;
mod type_declarations;
mod type_queries;
mod types;
mod vector_memory;
mod vulkan;

pub use capabilities::{
    Support, capabilities, supported_capabilities, supported_extensions, supported_instruction_sets,
};
pub use spec::spec_constants;

use crate::diagnostic::Diagnostic;
use crate::ir;
use crate::options::BuildOptions;
use crate::options::SpecConstants;

/// Whether the kernels of a module are written for launches whose last work-groups are smaller. It
/// says nothing of a module that is malformed.
pub fn work_groups_may_differ(words: &[u32]) -> bool {
    vulkan::may_differ_in_size(words)
}

/// Decodes, checks, links and translates modules. Kernels are in the order of the modules' entry
/// points.
///
/// Compilers write modules that break a rule and whose meaning is plain all the same. These are
/// taken, and [`ir::Module::warnings`] says what was wrong.
///
/// # Errors
/// A [`Diagnostic`] for the first thing that is malformed or not supported.
pub fn translate(
    modules: &[&[u32]],
    spec: &SpecConstants,
    options: &BuildOptions,
) -> Result<ir::Module, Diagnostic> {
    let binary = vulkan::decode(modules)?;
    let insts = binary.insts();
    let unit = module::Unit::read(&binary, &insts, spec)?;
    let mut module = translate::translate(&unit)?;
    module.warnings = binary.warnings.take();
    // These options ask for contraction, whatever the module says.
    if options.mad_enable || options.unsafe_math || options.fast_relaxed_math {
        for kernel in &mut module.kernels {
            kernel.contract = true;
        }
    }
    Ok(module)
}
