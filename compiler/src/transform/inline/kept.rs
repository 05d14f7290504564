//! Functions that stay functions.
//!
//! What such a function asks of its work-item, and addresses of work-group variables, become
//! parameters more, which each call computes: so the function knows nothing of the kernel and of
//! the launch, and who asks about a kernel's queries sees all of them.

use std::collections::HashMap;

use cranelift_entity::{PrimaryMap, SecondaryMap, packed_option::PackedOption};

use super::{GROWTH, Keep, instructions, size_of};
use crate::ir::{
    Block, Callee, DominatorTree, FuncId, Function, Inst, LocalId, LocalVar, Op, SourceLoc, Type,
    Value,
};
use crate::kernel_info::AddressSpace;

/// Functions of so many instructions and blocks are always inlined: a call, with its arguments in
/// memory and registers spilled around it, costs about as much.
pub(super) const SMALL: usize = 60;

/// A function that stays one.
pub(super) struct Kept {
    pub function: Function,
    is_uniform: bool,
    /// What computes its last parameters.
    pub context: Vec<Op>,
    /// The work-group variables named there.
    pub locals: PrimaryMap<LocalId, LocalVar>,
}

/// Whether a function that is called at so many places stays one.
pub(super) fn stays(func: &Function, sites: usize, keep: Keep) -> bool {
    let is_wanted = match keep {
        Keep::None => false,
        Keep::All => true,
        Keep::Large | Keep::WithoutPrivate => {
            let size = size_of(func);
            size > SMALL && (sites - 1) * size > GROWTH
        }
    };
    is_wanted
        && can_stay(func)
        && !(keep == Keep::WithoutPrivate && is_given_private_variables(func))
}

/// Whether each work-item may call a function by itself: they do not meet in it, and it leaves each
/// of its loops some way.
fn can_stay(func: &Function) -> bool {
    let meets = |inst: Inst| {
        matches!(
            func.insts[inst].op,
            Op::Barrier(_)
                | Op::NamedBarrier(_)
                | Op::Collective { .. }
                | Op::Device { .. }
                | Op::InSpace(_)
        )
    };
    !instructions(func).any(meets) && always_ends(func)
}

/// Whether a return can be reached from everywhere.
fn always_ends(func: &Function) -> bool {
    let predecessors = func.predecessors();
    let mut ends: SecondaryMap<Block, bool> = SecondaryMap::with_capacity(func.blocks.len());
    let leaves = |&block: &Block| func.blocks[block].term.target_count() == 0;
    let mut todo: Vec<Block> = func.layout.iter().copied().filter(leaves).collect();
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut ends[block], true) {
            todo.extend(&predecessors[block]);
        }
    }
    let dominators = DominatorTree::new(func);
    let mut blocks = func.layout.iter();
    blocks.all(|&block| ends[block] || !dominators.is_reachable(block))
}

/// Whether a function accesses private memory that is not its own.
fn is_given_private_variables(func: &Function) -> bool {
    let is_own = |mut address: Value| loop {
        match func.def_inst(address).map(|inst| &func.insts[inst]) {
            Some(data) if data.op == Op::PtrAdd => address = data.args[0],
            Some(data) => return matches!(data.op, Op::Alloca { .. }),
            None => return false,
        }
    };
    instructions(func).any(|inst| {
        let data = &func.insts[inst];
        match &data.op {
            Op::Load(mem) | Op::Store(mem) => {
                matches!(mem.space, AddressSpace::Private | AddressSpace::Generic)
                    && !is_own(data.args[0])
            }
            Op::MemCopy { .. } | Op::MemCopyDyn { .. } => {
                !data.args[..2].iter().all(|&address| is_own(address))
            }
            _ => false,
        }
    })
}

/// Whether what a function does for work-items that call it with the same arguments it may do once
/// for all.
fn is_uniform(func: &Function) -> bool {
    instructions(func).all(|inst| match &func.insts[inst].op {
        Op::Load(mem) | Op::Store(mem) => !mem.volatile,
        Op::MemCopy { volatile, .. } => !volatile,
        Op::AtomicRmw(..)
        | Op::AtomicCmpXchg(_)
        | Op::AtomicLoad(_)
        | Op::AtomicStore(_)
        | Op::Clock
        | Op::Printf { .. } => false,
        Op::CallFunction(callee) => callee.is_uniform,
        _ => true,
    })
}

impl Kept {
    /// Makes what a function asks of its work-item parameters.
    pub fn new(mut function: Function) -> Kept {
        let mut context: Vec<Op> = Vec::new();
        let mut places: HashMap<Op, Value> = HashMap::new();
        let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
        for block in function.layout.clone() {
            let insts = std::mem::take(&mut function.blocks[block].insts);
            let (asked, rest): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(|&inst| {
                matches!(
                    function.insts[inst].op,
                    Op::DimQuery(..) | Op::Query(_) | Op::LocalAddr(_)
                )
            });
            function.blocks[block].insts = rest;
            for inst in asked {
                let data = &function.insts[inst];
                let (op, result) = (data.op.clone(), data.results[0]);
                let param = *places.entry(op).or_insert_with_key(|op| {
                    context.push(op.clone());
                    let ty = function.ty(result);
                    let entry = function.entry();
                    function.add_param(entry, ty)
                });
                replace[result] = param.into();
            }
        }
        replace.resize(function.values.len());
        function.replace_uses(&replace);
        let locals = std::mem::take(&mut function.locals);
        Kept {
            is_uniform: is_uniform(&function),
            function,
            context,
            locals,
        }
    }

    /// Makes `call`, which is not in a block yet, the last instruction of `block`. `locals` says
    /// where the work-group variables are in the caller.
    pub fn call(
        &self,
        caller: &mut Function,
        locals: &SecondaryMap<LocalId, LocalId>,
        block: Block,
        call: Inst,
        id: FuncId,
    ) {
        for op in &self.context {
            let (op, ty) = match op {
                Op::LocalAddr(local) => (Op::LocalAddr(locals[*local]), Type::PTR),
                op => (op.clone(), Type::I64),
            };
            let asked = caller.make_inst(op, &[], &[ty], SourceLoc::default());
            caller.blocks[block].insts.push(asked);
            let value = caller.insts[asked].results[0];
            caller.insts[call].args.push(value);
        }
        caller.insts[call].op = Op::CallFunction(Box::new(Callee::new(id, self.is_uniform)));
        caller.blocks[block].insts.push(call);
    }
}
