//! Stores that are done under a condition: each becomes a block of its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, BlockCall, Function, Inst, Terminator, Value};

/// A store of `block`, to be done unless a condition holds.
pub(super) struct GuardedStore {
    pub block: Block,
    pub store: Inst,
    pub unless: Value,
}

/// Branches around stores. Cost: linear, but for sorting the stores.
pub(super) fn split(func: &mut Function, stores: &[GuardedStore]) {
    if stores.is_empty() {
        return;
    }
    let unless: BTreeMap<Inst, Value> = stores.iter().map(|s| (s.store, s.unless)).collect();
    let blocks: BTreeSet<Block> = stores.iter().map(|s| s.block).collect();
    let old = std::mem::take(&mut func.layout);
    let mut layout = Vec::with_capacity(old.len() + 2 * stores.len());
    for block in old {
        layout.push(block);
        if !blocks.contains(&block) {
            continue;
        }
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut at = block;
        for inst in insts {
            let Some(&unless) = unless.get(&inst) else {
                func.blocks[at].insts.push(inst);
                continue;
            };
            let (store, after) = (func.add_block(), func.add_block());
            layout.extend([store, after]);
            func.blocks[store].insts.push(inst);
            func.blocks[store].term = Terminator::Br(BlockCall::new(after, &[]));
            let branch = Terminator::CondBr {
                cond: unless,
                then: BlockCall::new(after, &[]),
                els: BlockCall::new(store, &[]),
            };
            func.blocks[after].term = std::mem::replace(&mut func.blocks[at].term, branch);
            at = after;
        }
    }
    func.layout = layout;
}
