//! Rewriting instructions into blocks: each block's list is replayed, with some instructions
//! expanded on the way into as many blocks as they need. What needs none uses `emit.rs`.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use crate::ir::{Block, Builder, Function, InstData, Terminator, Value};
use crate::transform::dce;

pub type Values = SmallVec<[Value; 4]>;

/// Replays every block of `func`, in reverse post-order. For each instruction that is to be
/// expanded, `expand` emits what takes its place, and gives the values that take that of its
/// results, of none that are not used; it is told which block the instruction was in. Cost: linear.
pub fn replay(
    func: &mut Function,
    is_expanded: impl Fn(&Function, &InstData) -> bool,
    mut expand: impl FnMut(&mut Builder<'_>, Block, &InstData) -> Values,
) {
    let order = func.reverse_post_order();
    let mut insts = order.iter().flat_map(|&block| &func.blocks[block].insts);
    if !insts.any(|&inst| is_expanded(func, &func.insts[inst])) {
        return;
    }
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    for block in order {
        let data = &mut func.blocks[block];
        let insts = std::mem::take(&mut data.insts);
        let term = std::mem::replace(&mut data.term, Terminator::Unreachable);
        let mut b = Builder::new(func, block);
        for inst in insts {
            for arg in &mut b.func.insts[inst].args {
                if let Some(with) = replace[*arg].expand() {
                    *arg = with;
                }
            }
            let data = &b.func.insts[inst];
            if !is_expanded(b.func, data) {
                b.func.blocks[b.block].insts.push(inst);
                continue;
            }
            let data = data.clone();
            b.loc = data.loc;
            let values = expand(&mut b, block, &data);
            for (&old, &new) in data.results.iter().zip(&values) {
                replace[old] = Some(new).into();
            }
        }
        let last = b.block;
        func.blocks[last].term = term;
    }
    func.replace_uses(&replace);
    dce::run(func);
}
