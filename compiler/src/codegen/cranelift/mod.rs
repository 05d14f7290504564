//! By way of Cranelift IR: a CLIF function with the same blocks.
//!
//! A value of W lanes is a list of 128-bit *parts* here, a mask is parts of all-ones and all-zeros
//! lanes.
//!
//! - `function.rs`: blocks and terminators. Open it first.
//! - `dispatch.rs`: which file an operation belongs to.
//! - `values.rs`: the values so far and how a use gets them; all operations work on it.
//! - `parts.rs`: what an IR value is in CLIF; masks and their element widths.
//! - `build.rs`: values made of constants, lanes and parts.
//! - `pool.rs`: the constant pool.
//! - `spill_slots.rs`: where lanes are spilled during one instruction.
//! - `order.rs`: which targets of branches come first.
//! - `frame.rs`: where private variables are.
//! - `known.rs`: what has been computed already, within a block.
//! - `arith.rs`, `convert.rs`: lane-wise operations.
//! - `memory/`: loads, stores, atomics, by shape.
//! - `lanes.rs`: what is done lane by lane: loops over the set bits of a mask, calls.
//! - `shuffle.rs`: lanes that move.
//! - `device.rs`: device-side enqueue.
//! - `images.rs`: texels, by calls of `crate::image`.

mod arith;
mod build;
mod convert;
mod device;
mod dispatch;
mod frame;
mod function;
mod images;
mod known;
mod lanes;
mod memory;
mod order;
mod parts;
mod pool;
mod shuffle;
mod spill_slots;
mod values;

use std::sync::Arc;
use std::sync::OnceLock;

use cranelift_codegen::ir as clif;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_entity::PrimaryMap;

use crate::diagnostic::Diagnostic;
use crate::ir::{Function, GlobalId};

/// A CLIF function and the vectors whose addresses it holds.
#[derive(Debug)]
pub struct Translated {
    pub function: clif::Function,
    /// To be kept, unmoved and unchanged, as long as the code.
    pub constants: Box<[u128]>,
    pub allocator: Allocator,
}

/// How registers are allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// For good code. Takes time in proportion to `Lifetimes::sum`, about 50 ns for each.
    Backtracking,
    /// In linear time. The code moves values to and from memory more often.
    SinglePass,
}

/// For how long the values of a function live.
#[derive(Clone, Copy, Debug)]
struct Lifetimes {
    instructions: usize,
    /// The instructions that each value lives for, added up.
    sum: usize,
    /// The same, each value as often as it is used.
    sum_by_use: usize,
}

impl Allocator {
    /// With more values than this alive at once, on average, most are in memory whoever allocates
    /// registers.
    const PRESSURE_LIMIT: usize = 256;

    /// More takes seconds.
    const ALLOCATOR_BUDGET: usize = 64_000_000;

    /// A value used all over a long function is taken out of its register at many places, and each
    /// time all that is in the registers from there on is looked at. More of this takes a tenth of
    /// a second and soon seconds: a thousand cases of a switch do, or a hash function that is all
    /// in one kernel.
    const ALLOCATOR_BUDGET_BY_USE: usize = 25_000_000;

    fn suited_to(lifetimes: Lifetimes) -> Allocator {
        let pressure = lifetimes.sum / lifetimes.instructions.max(1);
        if pressure > Allocator::PRESSURE_LIMIT
            || lifetimes.sum > Allocator::ALLOCATOR_BUDGET
            || lifetimes.sum_by_use > Allocator::ALLOCATOR_BUDGET_BY_USE
        {
            Allocator::SinglePass
        } else {
            Allocator::Backtracking
        }
    }
}

/// Translates a function. `globals` are the addresses of the module-scope objects.
pub fn translate(
    func: &Function,
    globals: &PrimaryMap<GlobalId, u64>,
) -> Result<Translated, Diagnostic> {
    function::translate(func, globals)
}

/// The machine that code is generated for: this one, with every instruction it has.
pub fn host_isa(allocator: Allocator) -> Result<Arc<dyn TargetIsa>, Diagnostic> {
    type Isa = OnceLock<Result<Arc<dyn TargetIsa>, String>>;
    static ISAS: [Isa; 2] = [OnceLock::new(), OnceLock::new()];
    let (isa, algorithm) = match allocator {
        Allocator::Backtracking => (&ISAS[0], "backtracking"),
        Allocator::SinglePass => (&ISAS[1], "single_pass"),
    };
    let make = || {
        let mut flags = settings::builder();
        for (name, value) in [
            // Our own passes have folded, numbered and hoisted; Cranelift's would hoist constants
            // into registers that loops need.
            ("opt_level", "none"),
            ("regalloc_algorithm", algorithm),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
            (
                "enable_verifier",
                if cfg!(debug_assertions) {
                    "true"
                } else {
                    "false"
                },
            ),
        ] {
            flags.set(name, value).map_err(|e| e.to_string())?;
        }
        let builder = cranelift_native::builder().map_err(str::to_string)?;
        builder
            .finish(settings::Flags::new(flags))
            .map_err(|e| e.to_string())
    };
    isa.get_or_init(make)
        .clone()
        .map_err(|why| Diagnostic::new(format!("this machine cannot be generated code for: {why}")))
}
