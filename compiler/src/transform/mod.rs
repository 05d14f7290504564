//! IR to better IR.
//!
//! What flows in: a translated module and the kernel wanted. What flows out ([`prepare_kernel`]):
//! one function, whose values have one lane each, with as little private memory as can be, cleaned
//! up; where its parameters come from; and functions like it that it calls, if it would be too
//! large without. [`cleanup`] is used again on vectorized code.
//!
//! Each pass is one file whose head says what it does, how, and what it costs. In the order of a
//! kernel's way through them:
//!
//! | pass | does |
//! | --- | --- |
//! | [`inline`] | calls replaced by what they call, or made to stay |
//! | [`single_entry`] | loops with several entries given a header |
//! | [`promote`] (with `sroa`) | private memory to SSA |
//! | [`fold`] (rules in `identities`) | constants, identities, decided branches |
//! | [`simplify_cfg`] (with [`block_params`], [`if_convert`]) | unreachable blocks, parameters, straight lines, selects |
//! | [`gvn`] | repeated computations and loads |
//! | [`dce`] | what nothing needs |
//! | [`expansion`] | built-ins that are not lane-wise |
//! | [`scalarize`] | one lane for each value |
//! | [`constant_loads`] | loads of what a module's constants hold |
//! | [`fast_math`] | what the build options allow arithmetic |
//! | [`spaces`] | generic accesses to the address space they are known to be in, questions about it answered |
//! | [`required_size`] | what follows from the work-group size that a kernel requires |
//! | [`unroll`] | short loops as straight lines |
//! | [`unroll_by`] | several iterations of short loops at a time, where vectors do not share the cost of loops |
//! | [`contract`] | `a * b + c` rounded once, where allowed |
//! | [`hoist_sink`] | what both sides of a branch do, once |
//! | [`licm`] | invariant code and loads out of loops |
//! | [`interleaved_accesses`] | accesses to neighbouring elements as one |
//! | [`named_barriers`] (with [`suspension`], [`demote`], `lifetimes`) | barriers of some sub-groups by barriers of the work-group |
//! | [`canonical`] | the control flow that `vectorize` relies on, in code between two barriers |
//!
//! A pass never recurses on the program's structure, and costs about as much as the function is
//! long. In debug builds the verifier runs after each.

pub mod block_params;
pub mod canonical;
pub mod constant_loads;
pub mod contract;
mod cursor;
pub mod dce;
pub mod demote;
pub mod fast_math;
pub mod fold;
pub mod gvn;
pub mod hoist_sink;
mod identities;
pub mod if_convert;
pub mod inline;
pub mod interleaved_accesses;
pub mod licm;
mod lifetimes;
mod memory;
pub mod named_barriers;
pub mod promote;
pub mod required_size;
pub mod scalarize;
pub mod simplify_cfg;
pub mod single_entry;
pub mod spaces;
mod sroa;
pub mod suspension;
pub mod unroll;
pub mod unroll_by;

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Remark};
use crate::ir::expansion;
use crate::ir::verify::verify;
use crate::ir::{FuncId, Function, Module, ParamSource, SourceLoc, Stage};
use crate::kernel_info::AddressSpace;
use crate::options::BuildOptions;

/// Promotion feeds folding, which makes more addresses constant, and so on; after this many rounds
/// it is enough.
const PROMOTE_ROUNDS: usize = 4;
/// A nest of this many short loops is unrolled whole.
const UNROLL_ROUNDS: usize = 3;
/// Rounds of cleaning up; most functions need two.
const CLEANUP_ROUNDS: usize = 4;

/// A kernel ready for `workgroup`.
#[derive(Debug)]
pub struct Prepared {
    /// At [`Stage::Scalarized`].
    pub function: Function,
    /// Where each of its parameters comes from.
    pub params: Vec<ParamSource>,
    /// The functions that it and they call, at the same stage.
    pub functions: BTreeMap<FuncId, Function>,
    pub remarks: Vec<Remark>,
}

/// Prepares the kernel with this index in [`Module::kernels`].
pub fn prepare_kernel(
    module: &Module,
    kernel: usize,
    options: &BuildOptions,
) -> Result<Prepared, Diagnostic> {
    let kernel = &module.kernels[kernel];
    let limit = options.inline_limit.unwrap_or(inline::ALL_INLINED);
    let inlined = inline::inline_all(module, kernel.func, limit)?;
    let contract = kernel.contract || options.mad_enable || options.fast_relaxed_math;
    let passes = Passes {
        module,
        options,
        contract: contract || options.unsafe_math,
        required_size: kernel.info.required_work_group_size,
    };
    let argument_space = |source: &ParamSource| spaces::argument_space(&kernel.info, source);
    let mut func = inlined.kernel;
    let (params, mut remarks) = passes.run(&mut func, &kernel.params, argument_space);
    if named_barriers::run(&mut func) {
        check(&func, Stage::Scalarized, "named_barriers");
        rounds(&mut func, Stage::Scalarized);
    }
    let mut functions = inlined.functions;
    for function in functions.values_mut() {
        let (_, found) = passes.run(function, &[], |_| AddressSpace::Generic);
        remarks.extend(found);
    }
    if !functions.is_empty() {
        let text = format!(
            "functions stay functions: {}; with all calls inlined there would be more than {limit} \
             instructions",
            functions.len()
        );
        remarks.push(Remark::new(SourceLoc::default(), text));
    }
    Ok(Prepared {
        function: func,
        params,
        functions,
        remarks,
    })
}

/// What all functions of a kernel are prepared with.
struct Passes<'a> {
    module: &'a Module,
    options: &'a BuildOptions,
    /// Whether `a * b + c` may be rounded once.
    contract: bool,
    /// Of the work-groups that the kernel is launched with.
    required_size: Option<[u32; 3]>,
}

impl Passes<'_> {
    /// Prepares a function at [`Stage::Inlined`]: a kernel, whose parameters come from `sources`,
    /// or one that is called. Returns where its parameters come from afterwards.
    fn run(
        &self,
        func: &mut Function,
        sources: &[ParamSource],
        space: impl Fn(&ParamSource) -> AddressSpace,
    ) -> (Vec<ParamSource>, Vec<Remark>) {
        check(func, Stage::Inlined, "inline");
        simplify_cfg::remove_unreachable(func);
        // Before passes that simplify control flow: iterations, and who takes part in a collective,
        // are those of the program.
        let headers = single_entry::run(func);
        check(func, Stage::Inlined, "single_entry");
        let remarks = headers.iter().map(|header| header.remark(func)).collect();
        promote_all(func, Stage::Inlined);
        expansion::run(func);
        check(func, Stage::Inlined, "expansion");
        let params = scalarize::run(func, sources);
        check(func, Stage::Scalarized, "scalarize");
        promote_all(func, Stage::Scalarized);
        if constant_loads::run(func, self.module) {
            check(func, Stage::Scalarized, "constant_loads");
        }
        fast_math::run(func, self.options);
        check(func, Stage::Scalarized, "fast_math");
        let mut spaces: Vec<AddressSpace> = params.iter().map(space).collect();
        spaces.resize(func.params().len(), AddressSpace::Generic);
        if spaces::run(func, self.module, &spaces) {
            // Private objects may have been memory only for the sake of the question.
            promote_all(func, Stage::Scalarized);
        }
        let mut cleanup = Cleanup::new(Stage::Scalarized);
        cleanup.rounds(func);
        if let Some(size) = self.required_size
            && required_size::run(func, size)
        {
            cleanup.after(func, "required_size");
            cleanup.rounds(func);
        }
        for _ in 0..UNROLL_ROUNDS {
            if !unroll::run(func) {
                break;
            }
            check(func, Stage::Scalarized, "unroll");
            // Private arrays indexed by a counter are indexed by constants now.
            promote_all(func, Stage::Scalarized);
            cleanup.after(func, "promote");
            cleanup.rounds(func);
        }
        if self.contract && contract::run(func) {
            cleanup.after(func, "contract");
        }
        if hoist_sink::run(func) {
            cleanup.after(func, "hoist_sink");
        }
        cleanup.with_loops(func);
        if interleaved_accesses::run(func) {
            cleanup.after(func, "interleaved_accesses");
            cleanup.rounds(func);
        }
        (params, remarks)
    }
}

/// Promotes and folds until nothing more is promoted.
fn promote_all(func: &mut Function, stage: Stage) {
    for _ in 0..PROMOTE_ROUNDS {
        fold::run(func);
        check(func, stage, "fold");
        let promoted = promote::run(func);
        check(func, stage, "promote");
        if !promoted {
            break;
        }
        fold::run(func);
        check(func, stage, "fold");
        simplify_cfg::run(func);
        check(func, stage, "simplify_cfg");
        dce::run(func);
        check(func, stage, "dce");
    }
}

/// Makes private variables values, in a kernel with one lane a value, and tidies up.
pub fn promote_scalarized(func: &mut Function) {
    promote_all(func, Stage::Scalarized);
    cleanup_at(func, Stage::Scalarized);
}

/// Does what pays in code that runs one work-item at a time only, in a kernel with one lane a
/// value.
pub fn for_one_work_item(func: &mut Function) {
    if unroll_by::run(func) {
        check(func, Stage::Scalarized, "unroll_by");
        rounds(func, Stage::Scalarized);
    }
}

/// Folds, simplifies, value-numbers, hoists and removes dead code. Good at every stage after
/// inlining, vectorized code included.
pub fn cleanup(func: &mut Function) {
    cleanup_at(func, Stage::Vectorized);
}

/// The same, in a kernel with one lane a value.
pub fn cleanup_kernel(func: &mut Function) {
    cleanup_at(func, Stage::Scalarized);
}

fn cleanup_at(func: &mut Function, stage: Stage) {
    Cleanup::new(stage).with_loops(func);
}

fn rounds(func: &mut Function, stage: Stage) {
    Cleanup::new(stage).rounds(func);
}

/// A pass that cleans up.
struct CleanupPass {
    name: &'static str,
    run: fn(&mut Function) -> bool,
    /// The passes, as bits, that may find something to do after it has changed the function.
    gives_work_to: u8,
}

const FOLD: u8 = 1 << 0;
const SIMPLIFY_CFG: u8 = 1 << 1;
const GVN: u8 = 1 << 2;
const DCE: u8 = 1 << 3;

/// In the order of a round; the bit of each is its place. Value numbering goes through definitions
/// before their uses and leaves nothing repeated, and what is dead repeats nothing.
const CLEANUP: [CleanupPass; 4] = [
    CleanupPass {
        name: "fold",
        run: fold::run,
        gives_work_to: FOLD | SIMPLIFY_CFG | GVN | DCE,
    },
    CleanupPass {
        name: "simplify_cfg",
        run: simplify_cfg::run,
        gives_work_to: FOLD | SIMPLIFY_CFG | GVN | DCE,
    },
    CleanupPass {
        name: "gvn",
        run: gvn::run,
        gives_work_to: FOLD | SIMPLIFY_CFG | DCE,
    },
    CleanupPass {
        name: "dce",
        run: dce::run,
        gives_work_to: FOLD | SIMPLIFY_CFG,
    },
];

/// Cleaning up a function, with what is known to be clean.
struct Cleanup {
    stage: Stage,
    /// The passes that may find something to do.
    pending: u8,
}

impl Cleanup {
    fn new(stage: Stage) -> Cleanup {
        Cleanup {
            stage,
            pending: FOLD | SIMPLIFY_CFG | GVN | DCE,
        }
    }

    /// Another pass has changed the function.
    fn after(&mut self, func: &Function, pass: &str) {
        check(func, self.stage, pass);
        self.pending = FOLD | SIMPLIFY_CFG | GVN | DCE;
    }

    fn rounds(&mut self, func: &mut Function) {
        for _ in 0..CLEANUP_ROUNDS {
            for (n, pass) in CLEANUP.iter().enumerate() {
                if self.pending & 1 << n == 0 {
                    continue;
                }
                self.pending &= !(1 << n);
                if (pass.run)(func) {
                    check(func, self.stage, pass.name);
                    self.pending |= pass.gives_work_to;
                }
            }
            if self.pending == 0 {
                break;
            }
        }
    }

    /// Rounds before and after what does not change in loops is taken out of them.
    fn with_loops(&mut self, func: &mut Function) {
        self.rounds(func);
        if licm::run(func) {
            self.after(func, "licm");
            self.rounds(func);
        }
    }
}

/// In debug builds, stops at the pass that broke the function.
fn check(func: &Function, stage: Stage, pass: &str) {
    if cfg!(debug_assertions)
        && let Err(error) = verify(func, stage, None)
    {
        panic!("after {pass}: {error}\n{func}");
    }
}
