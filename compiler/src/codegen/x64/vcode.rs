//! A function as machine instructions in blocks, and how it is put together.

use std::ops::Range;

use regalloc2::{Block, RegClass, VReg};
use smallvec::SmallVec;

use super::encoding::Cc;
use super::inst::Inst;
use crate::ir::SourceLoc;

/// A jump: a block and a value for each of its parameters.
#[derive(Clone, Debug)]
pub struct Target {
    pub block: Block,
    pub args: SmallVec<[VReg; 4]>,
}

/// A block. Its last instruction is a jump, a branch or a return.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    pub params: Vec<VReg>,
    pub insts: Range<usize>,
    /// It seldom runs.
    pub cold: bool,
    pub targets: SmallVec<[Target; 2]>,
}

/// Machine code over virtual registers. Blocks are numbered in the order in which they lie.
#[derive(Debug, Default)]
pub struct VCode {
    pub blocks: Vec<BlockData>,
    pub insts: Vec<Inst>,
    /// Where instructions come from.
    pub locs: Vec<SourceLoc>,
    pub vregs: usize,
}

/// Makes [`VCode`], block by block.
pub struct Builder {
    blocks: Vec<BlockData>,
    /// The blocks begun, in order.
    order: Vec<Block>,
    insts: Vec<Inst>,
    locs: Vec<SourceLoc>,
    vregs: usize,
    current: Option<Block>,
    pub loc: SourceLoc,
    /// Whether blocks begun from here on seldom run.
    pub cold: bool,
}

impl Builder {
    pub fn new() -> Builder {
        Builder {
            blocks: Vec::new(),
            order: Vec::new(),
            insts: Vec::new(),
            locs: Vec::new(),
            vregs: 0,
            current: None,
            loc: SourceLoc::default(),
            cold: false,
        }
    }

    pub fn vreg(&mut self, class: RegClass) -> VReg {
        self.vregs += 1;
        VReg::new(self.vregs - 1, class)
    }

    pub fn new_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block::new(self.blocks.len() - 1)
    }

    pub fn add_param(&mut self, block: Block, class: RegClass) -> VReg {
        let reg = self.vreg(class);
        self.blocks[block.index()].params.push(reg);
        reg
    }

    /// The block that instructions go to from here on. Blocks lie in the order of these calls.
    pub fn switch_to(&mut self, block: Block) {
        debug_assert!(self.current.is_none(), "the block before has not ended");
        self.order.push(block);
        self.current = Some(block);
        let at = self.insts.len();
        let data = &mut self.blocks[block.index()];
        (data.insts, data.cold) = (at..at, self.cold);
    }

    /// The block that instructions go to.
    pub fn current(&self) -> Option<Block> {
        self.current
    }

    pub fn push(&mut self, inst: Inst) {
        debug_assert!(self.current.is_some(), "no block");
        self.insts.push(inst);
        self.locs.push(self.loc);
    }

    fn end(&mut self, inst: Inst, targets: SmallVec<[Target; 2]>) {
        self.push(inst);
        let block = self.current.take().expect("a block").index();
        self.blocks[block].insts.end = self.insts.len();
        self.blocks[block].targets = targets;
    }

    pub fn jump(&mut self, target: Target) {
        self.end(Inst::Jump, SmallVec::from_iter([target]));
    }

    pub fn branch(&mut self, cc: Cc, then: Target, els: Target) {
        self.end(Inst::Branch(cc), SmallVec::from_iter([then, els]));
    }

    pub fn ret(&mut self, inst: Inst) {
        self.end(inst, SmallVec::new());
    }

    /// The code, with a block of its own on each jump from a block with several ways out to one
    /// with several ways in, and on those with arguments.
    pub fn finish(self) -> VCode {
        let mut ways_in = vec![0u32; self.blocks.len()];
        for &block in &self.order {
            for target in &self.blocks[block.index()].targets {
                ways_in[target.block.index()] += 1;
            }
        }
        // Where each block comes to lie; blocks between two are counted in.
        let mut place = vec![usize::MAX; self.blocks.len()];
        let needs_block = |block: &BlockData, target: &Target| {
            block.targets.len() > 1
                && (ways_in[target.block.index()] > 1 || !target.args.is_empty())
        };
        let mut at = 0;
        for &block in &self.order {
            place[block.index()] = at;
            let data = &self.blocks[block.index()];
            at += 1 + data.targets.iter().filter(|t| needs_block(data, t)).count();
        }
        let mut code = VCode {
            blocks: Vec::with_capacity(at),
            insts: Vec::with_capacity(self.insts.len() + at),
            locs: Vec::with_capacity(self.insts.len() + at),
            vregs: self.vregs,
        };
        let mut insts = self.insts;
        for &block in &self.order {
            let data = &self.blocks[block.index()];
            let begin = code.insts.len();
            for n in data.insts.clone() {
                code.insts
                    .push(std::mem::replace(&mut insts[n], Inst::Jump));
                code.locs.push(self.locs[n]);
            }
            let loc = code.locs.last().copied().unwrap_or_default();
            let end = code.insts.len();
            let mut made: SmallVec<[Target; 2]> = SmallVec::new();
            let first = code.blocks.len() + 1;
            let targets = data.targets.iter().map(|target| {
                let real = Target {
                    block: Block::new(place[target.block.index()]),
                    args: target.args.clone(),
                };
                if !needs_block(data, target) {
                    return real;
                }
                made.push(real);
                Target {
                    block: Block::new(first + made.len() - 1),
                    args: SmallVec::new(),
                }
            });
            let targets = targets.collect();
            code.blocks.push(BlockData {
                params: data.params.clone(),
                insts: begin..end,
                cold: data.cold,
                targets,
            });
            for target in made {
                let at = code.insts.len();
                code.insts.push(Inst::Jump);
                code.locs.push(loc);
                code.blocks.push(BlockData {
                    params: Vec::new(),
                    insts: at..at + 1,
                    cold: data.cold,
                    targets: SmallVec::from_iter([target]),
                });
            }
        }
        code
    }
}
