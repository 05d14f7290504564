//! What a loop with accesses computes and is used behind it becomes a parameter of the block there,
//! as in LLVM's loop-closed SSA form. A pack that is round the loop and one that is behind it are
//! then two, so that the first can be in memory order and the second not.

use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;

use super::Access;
use crate::analysis::{Loop, LoopForest};
use crate::ir::{Block, DominatorTree, Function, Inst, Value};

/// An instruction or, if there is none, the end of a block.
type Use = (Block, Option<Inst>);

/// Of so many jumps out of a loop one is looked for that all uses are behind.
const EXITS: usize = 8;

/// Adds the parameters, to blocks that one jump out of a loop alone leads to.
pub fn close(func: &mut Function, dominators: &DominatorTree, loops: &LoopForest) {
    let mut closing: EntitySet<Loop> = EntitySet::new();
    let mut uses: SecondaryMap<Value, SmallVec<[Use; 2]>> = SecondaryMap::new();
    for &block in &func.layout {
        let data = &func.blocks[block];
        for &inst in &data.insts {
            if let (Some(inner), Some(_)) = (loops.innermost(block), Access::of(func, inst)) {
                closing.insert(inner);
            }
            for &arg in &func.insts[inst].args {
                uses[arg].push((block, Some(inst)));
            }
        }
        data.term.for_each_value(|v| uses[v].push((block, None)));
    }
    let mut closer = Closer {
        predecessors: func.predecessors(),
        func,
        dominators,
        loops,
        uses,
    };
    for block in closer.func.layout.clone() {
        let inner = loops.innermost(block);
        let Some(inner) = inner.filter(|&inner| closing.contains(inner)) else {
            continue;
        };
        let data = &closer.func.blocks[block];
        let results = data
            .insts
            .iter()
            .flat_map(|&i| &closer.func.insts[i].results);
        let values: Vec<Value> = data.params.iter().chain(results).copied().collect();
        for value in values {
            if closer.func.ty(value).lanes > 1 {
                closer.close(inner, value);
            }
        }
    }
}

struct Closer<'a> {
    func: &'a mut Function,
    dominators: &'a DominatorTree,
    loops: &'a LoopForest,
    predecessors: SecondaryMap<Block, SmallVec<[Block; 4]>>,
    uses: SecondaryMap<Value, SmallVec<[Use; 2]>>,
}

impl Closer<'_> {
    /// Passes a value out of a loop, and of those around it.
    fn close(&mut self, mut inner: Loop, mut value: Value) {
        loop {
            let is_behind = |&(block, _): &Use| !self.loops.contains(inner, block);
            let behind: SmallVec<[Use; 2]> =
                self.uses[value].iter().copied().filter(is_behind).collect();
            if behind.is_empty() {
                return;
            }
            let mut exits = self.loops.loops[inner].exits.iter().take(EXITS);
            let Some(&(from, to)) = exits.find(|&&(from, to)| {
                self.predecessors[to][..] == [from]
                    && behind
                        .iter()
                        .all(|&(b, _)| self.dominators.dominates(to, b))
            }) else {
                return;
            };
            let param = self.func.add_param(to, self.func.ty(value));
            for call in self.func.blocks[from].term.targets_mut() {
                if call.block == to {
                    call.args.push(value);
                }
            }
            let replace = |used: &mut Value| {
                if *used == value {
                    *used = param;
                }
            };
            for &(block, user) in &behind {
                match user {
                    Some(inst) => self.func.insts[inst].args.iter_mut().for_each(replace),
                    None => self.func.blocks[block].term.for_each_value_mut(replace),
                }
            }
            self.uses[value].retain(|&mut (block, _)| self.loops.contains(inner, block));
            self.uses[value].push((from, None));
            self.uses[param] = behind;
            let Some(around) = self.loops.innermost(to) else {
                return;
            };
            (inner, value) = (around, param);
        }
    }
}
