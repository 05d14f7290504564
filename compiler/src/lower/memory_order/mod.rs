//! Elements of lanes stay as they lie in memory where lanes need not be apart.
//!
//! Work-items next to each other that each load `n` neighbouring elements load memory end to end:
//! `n` vectors. *In memory order* they are what the load gives. *In lane order*, where each
//! element is a vector with a lane for each work-item, they have to be transposed
//! ([`Op::Deinterleave`]), and back ([`Op::Interleave`]) to be stored. What a program does to its
//! own vectors element by element is the same in either order, as long as all elements have the
//! same done to them.
//!
//! Notation: a *pack* (as in superword-level parallelism: Larsen and Amarasinghe, 2000) is `n`
//! values of which the k-th is element `k` of each lane, or `n` instructions that define them.
//!
//! 1. `exits.rs`: what is computed round a loop and needed behind it gets a value of its own there.
//! 2. `find.rs` (`packs.rs` says what packs are): loads and stores of several elements that lie end
//!    to end are packs. From them packs grow to operands and users, by way of instructions that are
//!    the same for all elements, and of parameters of blocks.
//! 3. `order.rs`: each pack gets one of the two orders. Loads and stores cost a transposition in
//!    lane order, and so does whatever passes from one order to the other: each weighted by the
//!    loops around it.
//! 4. `rewrite.rs`: in memory order, the instruction that computed element `k` computes the k-th
//!    vector. Nothing else about it changes, so every other pass, and code generation, sees
//!    arithmetic on vectors of W lanes as ever.
//!
//! It comes before built-in functions are expanded, as long as an element's is one instruction.
//! Accesses under a mask stay in lane order; the mask has a lane for each work-item.
//!
//! Cost: linear in instructions, their operands and uses, and nothing but a look at each
//! instruction where no load or store has several elements.

mod exits;
mod find;
mod order;
mod packs;
mod rewrite;

use crate::analysis::LoopForest;
use crate::diagnostic::Remark;
use crate::ir::{DominatorTree, Function, Inst, Mem, Op, Value};
use crate::transform::{dce, simplify_cfg};

/// Puts in memory order what is better there. The remarks say what.
pub fn run(func: &mut Function) -> Vec<Remark> {
    if !has_accesses(func) {
        return Vec::new();
    }
    simplify_cfg::remove_unreachable(func);
    // What nothing needs would need its lanes apart.
    dce::run(func);
    let dominators = DominatorTree::new(func);
    let loops = LoopForest::new(func, &dominators);
    exits::close(func, &dominators, &loops);
    let packs = find::find(func, &loops);
    let chosen = order::choose(&packs);
    if !chosen.any_in_memory_order() {
        return Vec::new();
    }
    let remark = chosen.remark(func, &packs);
    rewrite::rewrite(func, &packs, &chosen);
    vec![remark]
}

fn has_accesses(func: &Function) -> bool {
    let mut insts = func.layout.iter().flat_map(|&b| &func.blocks[b].insts);
    insts.any(|&inst| Access::of(func, inst).is_some())
}

/// A load or store of several elements that lie end to end, by all lanes.
struct Access<'a> {
    mem: Mem,
    address: Value,
    /// What is loaded or stored: a value for each element.
    elements: &'a [Value],
    is_store: bool,
}

impl<'a> Access<'a> {
    fn of(func: &'a Function, inst: Inst) -> Option<Access<'a>> {
        let data = &func.insts[inst];
        let (mem, elements, is_store) = match data.op {
            Op::Load(mem) => (mem, &data.results[..], false),
            Op::Store(mem) => (mem, &data.args[mem.places().min(data.args.len())..], true),
            _ => return None,
        };
        let plain = !mem.volatile && !mem.masked && mem.index.is_none();
        if !plain || elements.len() < 2 || mem.stride == 0 {
            return None;
        }
        let ty = func.ty(elements[0]);
        let is_number = ty.scalar.is_int() || ty.scalar.is_float();
        let dense = mem.stride == elements.len() as i64 * i64::from(ty.scalar.bytes());
        let of_all_lanes = ty.lanes > 1 && elements.iter().all(|&e| func.ty(e) == ty);
        (is_number && dense && of_all_lanes).then_some(Access {
            mem,
            address: data.args[0],
            elements,
            is_store,
        })
    }
}

#[cfg(test)]
mod tests;
