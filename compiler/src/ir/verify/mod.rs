//! What is well formed at each [`Stage`].
//!
//! Four things are checked: that arenas, block lists and [`ValueDef`]s agree; that operand and
//! result counts and types are what [`Op`]'s docs say; that every definition dominates its uses;
//! and what a stage promises (no calls after inlining, one lane after `scalarize`, ...). Cost: near
//! linear.
//!
//! [`verify`] below walks a function and checks how it hangs together; `flow.rs` checks its jumps
//! and what its stage allows, `values.rs`, `memory.rs`, `images.rs` and `work_items.rs` the
//! instructions.

/// `Err` of a formatted message unless the condition holds.
macro_rules! ensure {
    ($cond:expr, $($message:tt)*) => {
        if !$cond {
            return Err(format!($($message)*));
        }
    };
}

mod flow;
mod images;
mod memory;
mod values;
mod work_items;

use cranelift_entity::SecondaryMap;

use super::{
    Block, DominatorTree, Function, Inst, InstData, Module, Op, Stage, Type, Value, ValueDef,
};

/// Checks a function. With a module, entities that it names are checked too. The error says what is
/// wrong with which instruction, and of which function.
pub fn verify(func: &Function, stage: Stage, module: Option<&Module>) -> Result<(), String> {
    let mut verifier = Verifier {
        func,
        stage,
        module,
        width: None,
        place: SecondaryMap::with_capacity(func.values.len()),
    };
    verifier
        .run()
        .map_err(|message| format!("{message}, in function {:?} at stage {stage:?}", func.name))
}

/// Checks every function of a translated module, and what its kernels say of them.
pub fn verify_module(module: &Module) -> Result<(), String> {
    for func in module.functions.values() {
        verify(func, Stage::Translated, Some(module))?;
    }
    for kernel in &module.kernels {
        let name = &kernel.info.name;
        let func = module
            .functions
            .get(kernel.func)
            .ok_or_else(|| format!("kernel {name:?} has no function {}", kernel.func))?;
        if func.params().len() != kernel.params.len() {
            return Err(format!(
                "kernel {name:?} has {} parameter sources for {} parameters",
                kernel.params.len(),
                func.params().len()
            ));
        }
        if !func.results.is_empty() {
            return Err(format!("kernel {name:?} returns values"));
        }
    }
    Ok(())
}

struct Verifier<'a> {
    func: &'a Function,
    stage: Stage,
    module: Option<&'a Module>,
    /// The lane count of varying values, once one is seen.
    width: Option<u8>,
    /// Where a value is defined: its block, and a position in it (parameters at 0).
    place: SecondaryMap<Value, Option<(Block, u32)>>,
}

impl Verifier<'_> {
    fn run(&mut self) -> Result<(), String> {
        let func = self.func;
        ensure!(!func.layout.is_empty(), "there is no entry block");
        let mut in_layout: SecondaryMap<Block, bool> = SecondaryMap::new();
        for &block in &func.layout {
            ensure!(!in_layout[block], "{block} is laid out twice");
            in_layout[block] = true;
            for (i, &param) in func.blocks[block].params.iter().enumerate() {
                let def = ValueDef::Param(block, i as u16);
                self.define(param, def, block, 0)?;
            }
            for (i, &inst) in func.blocks[block].insts.iter().enumerate() {
                for (n, &result) in func.insts[inst].results.iter().enumerate() {
                    let def = ValueDef::Result(inst, n as u16);
                    self.define(result, def, block, i as u32 + 1)?;
                }
            }
        }
        let dominators = DominatorTree::new(func);
        for &block in &func.layout {
            for (i, &inst) in func.blocks[block].insts.iter().enumerate() {
                let at = |message: String| {
                    format!("{message}: `{}` of {block}", func.display_inst(inst))
                };
                for &arg in &func.insts[inst].args {
                    self.check_use(arg, block, i as u32 + 1, &dominators)
                        .map_err(at)?;
                }
                self.check_inst(inst).map_err(at)?;
                self.check_stage(inst, block).map_err(at)?;
            }
            let term = &func.blocks[block].term;
            let at = |message: String| format!("{message}: `{term}` of {block}");
            let mut uses = Ok(());
            term.for_each_value(|value| {
                if uses.is_ok() {
                    uses = self.check_use(value, block, u32::MAX, &dominators);
                }
            });
            uses.map_err(at)?;
            self.check_terminator(term, &in_layout).map_err(at)?;
        }
        Ok(())
    }

    fn define(
        &mut self,
        value: Value,
        def: ValueDef,
        block: Block,
        position: u32,
    ) -> Result<(), String> {
        ensure!(
            self.func.values[value].def == def,
            "{value} is in {block} but its definition says {:?}",
            self.func.values[value].def
        );
        ensure!(
            self.place[value].is_none(),
            "{value} is defined in two places"
        );
        self.place[value] = Some((block, position));
        let lanes = self.func.ty(value).lanes;
        ensure!(lanes != 0, "{value} has no lanes");
        match self.stage {
            Stage::Translated | Stage::Inlined => {}
            Stage::Scalarized => ensure!(lanes == 1, "{value} has {lanes} lanes instead of one"),
            Stage::Vectorized | Stage::Lowered => {
                if lanes != 1 {
                    let width = *self.width.get_or_insert(lanes);
                    ensure!(
                        lanes == width,
                        "{value} has {lanes} lanes, another value {width}"
                    );
                }
            }
        }
        Ok(())
    }

    fn check_use(
        &self,
        value: Value,
        block: Block,
        position: u32,
        dominators: &DominatorTree,
    ) -> Result<(), String> {
        ensure!(self.func.values.is_valid(value), "{value} does not exist");
        let Some((def_block, def_position)) = self.place[value] else {
            return Err(format!("{value} is defined in no block"));
        };
        let dominates = if def_block == block {
            def_position < position
        } else {
            dominators.dominates(def_block, block) || !dominators.is_reachable(block)
        };
        ensure!(
            dominates,
            "{value}, defined in {def_block}, does not dominate its use"
        );
        Ok(())
    }

    fn check_inst(&self, inst: Inst) -> Result<(), String> {
        let operands = Operands::of(self.func, inst);
        match &operands.data.op {
            Op::Const(_)
            | Op::Unary(_)
            | Op::Binary(_, _)
            | Op::Fma
            | Op::Rounded(_, _)
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Select
            | Op::Convert(_, _)
            | Op::Splat
            | Op::Build
            | Op::Extract(_)
            | Op::Insert(_)
            | Op::ExtractDyn
            | Op::InsertDyn
            | Op::Shuffle(_)
            | Op::Builtin(_)
            | Op::Lookup(_)
            | Op::Routine(_, _) => self.check_value(&operands),
            Op::GlobalAddr(_)
            | Op::LocalAddr(_)
            | Op::Alloca { .. }
            | Op::PtrAdd
            | Op::InSpace(_)
            | Op::Load(_)
            | Op::Store(_)
            | Op::MemCopy { .. }
            | Op::MemCopyDyn { .. }
            | Op::AtomicRmw(_, _)
            | Op::AtomicCmpXchg(_)
            | Op::AtomicLoad(_)
            | Op::AtomicStore(_)
            | Op::ContextLoad(_)
            | Op::ContextStore(_) => self.check_memory(&operands),
            Op::ImageRead(_) | Op::ImageWrite(_) | Op::ImageQuery(_) => {
                self.check_images(&operands)
            }
            Op::Fence(_)
            | Op::Barrier(_)
            | Op::NamedBarrier(_)
            | Op::Collective { .. }
            | Op::DimQuery(_, _)
            | Op::Clock
            | Op::Query(_)
            | Op::Call(_)
            | Op::CallFunction(_)
            | Op::FuncAddr(_)
            | Op::NoImageAddr
            | Op::Printf { .. }
            | Op::Device { .. }
            | Op::HostCall(_)
            | Op::CallPointer
            | Op::Carry
            | Op::LaneIds
            | Op::MaskBits
            | Op::Permute
            | Op::Deinterleave
            | Op::Interleave
            | Op::AnyTrue
            | Op::AllTrue => self.check_work_items(&operands),
        }
    }
}

/// An instruction with the types of its operands and results.
struct Operands<'a> {
    data: &'a InstData,
    args: Vec<Type>,
    results: Vec<Type>,
}

impl<'a> Operands<'a> {
    fn of(func: &'a Function, inst: Inst) -> Self {
        let data = &func.insts[inst];
        Operands {
            data,
            args: data.args.iter().map(|&v| func.ty(v)).collect(),
            results: data.results.iter().map(|&v| func.ty(v)).collect(),
        }
    }

    fn counts(&self, operands: usize, produced: usize) -> Result<(), String> {
        ensure!(
            self.args.len() == operands && self.results.len() == produced,
            "expected {operands} operands and {produced} results"
        );
        Ok(())
    }

    /// Checks the number of an access's operands without its mask, and gives the mask.
    fn unmasked(&self, masked: bool, operands: usize) -> Result<Option<Value>, String> {
        ensure!(
            self.args.len() == operands + usize::from(masked),
            "expected {operands} operands and a mask if masked"
        );
        Ok(masked.then(|| self.data.args[operands]))
    }
}

fn is(ok: bool, what: &str) -> Result<(), String> {
    ensure!(ok, "{what}");
    Ok(())
}

#[cfg(test)]
mod tests;
