//! What code emitted so far has computed about values, for code that it dominates.
//!
//! Facts hold in the blocks of the kernel that are dominated by the one where they were found, and
//! are used in those of the same loop: kept in registers further, they would cost more than to be
//! found again. Where one instruction becomes several CLIF blocks, what is found in one branch is
//! not known past it: [`Known::mark`] before, [`Known::forget_since`] after. Both cost no more than
//! what was found in between.

use std::collections::HashMap;
use std::hash::Hash;

use cranelift_codegen::ir as clif;

use super::parts::Parts;
use crate::analysis::LoopForest;
use crate::ir::{Block, DominatorTree, Value};

/// Facts about values that several instructions ask for.
pub struct Known<'a> {
    dominators: &'a DominatorTree,
    loops: &'a LoopForest,
    /// The block that is being translated.
    block: Block,
    /// Masks repacked to another lane width.
    repacked: Facts<(Value, u32), Parts>,
    /// Masks as integers.
    mask_bits: Facts<Value, clif::Value>,
}

/// How much was known at some point.
#[derive(Clone, Copy)]
pub struct KnownMark([usize; 2]);

impl<'a> Known<'a> {
    pub fn new(dominators: &'a DominatorTree, loops: &'a LoopForest, entry: Block) -> Known<'a> {
        Known {
            dominators,
            loops,
            block: entry,
            repacked: Facts::default(),
            mask_bits: Facts::default(),
        }
    }

    /// What follows is in another block.
    pub fn enter(&mut self, block: Block) {
        self.block = block;
    }

    pub fn repacked(&self, key: (Value, u32)) -> Option<&Parts> {
        let (found, parts) = self.repacked.map.get(&key)?;
        self.holds(*found).then_some(parts)
    }

    pub fn set_repacked(&mut self, key: (Value, u32), parts: Parts) {
        self.repacked.insert(key, self.block, parts);
    }

    pub fn mask_bits(&self, mask: Value) -> Option<clif::Value> {
        let &(found, bits) = self.mask_bits.map.get(&mask)?;
        self.holds(found).then_some(bits)
    }

    pub fn set_mask_bits(&mut self, mask: Value, bits: clif::Value) {
        self.mask_bits.insert(mask, self.block, bits);
    }

    /// Whether what was found in a block is used in this one.
    fn holds(&self, found: Block) -> bool {
        found == self.block
            || self.dominators.dominates(found, self.block)
                && self.loops.innermost(found) == self.loops.innermost(self.block)
    }

    pub fn mark(&self) -> KnownMark {
        KnownMark([self.repacked.found.len(), self.mask_bits.found.len()])
    }

    /// Back to what was known at `mark`.
    pub fn forget_since(&mut self, KnownMark([repacked, mask_bits]): KnownMark) {
        self.repacked.truncate(repacked);
        self.mask_bits.truncate(mask_bits);
    }
}

/// A map that remembers in which order it grew, and in which blocks.
struct Facts<K, V> {
    map: HashMap<K, (Block, V)>,
    found: Vec<K>,
}

impl<K, V> Default for Facts<K, V> {
    fn default() -> Self {
        Facts {
            map: HashMap::new(),
            found: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash, V> Facts<K, V> {
    /// Adds what was not known in this block.
    fn insert(&mut self, key: K, block: Block, value: V) {
        self.map.insert(key, (block, value));
        self.found.push(key);
    }

    fn truncate(&mut self, len: usize) {
        for key in self.found.drain(len..) {
            self.map.remove(&key);
        }
    }
}
