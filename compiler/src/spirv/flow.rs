//! How far the translation of a function's blocks has come, and what each block has become.

use super::cfg::Cfg;
use super::decode::Id;
use crate::ir::Block;

pub(super) struct Flow<'a> {
    pub cfg: Cfg<'a>,
    /// The SPIR-V block being translated, by its number in `cfg`.
    pub current: usize,
    /// The IR block that each SPIR-V block begins with.
    pub heads: Vec<Option<Block>>,
    /// The one that it ends with, once it has been translated.
    pub tails: Vec<Option<Block>>,
}

impl<'a> Flow<'a> {
    pub fn new(cfg: Cfg<'a>) -> Flow<'a> {
        let blocks = cfg.blocks.len();
        Flow {
            cfg,
            current: 0,
            heads: vec![None; blocks],
            tails: vec![None; blocks],
        }
    }

    /// Whether what a block defines may be used in the current one.
    pub fn dominates_current(&self, block: usize) -> bool {
        self.cfg.dominates(block, self.current)
    }

    /// The IR block that a label's block begins with.
    pub fn head(&self, label: Id) -> Option<Block> {
        let &index = self.cfg.by_label.get(&label)?;
        self.heads[index]
    }
}
