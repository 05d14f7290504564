//! A function's blocks: where they begin and end, which are reachable, and which dominate which.
//!
//! Dominators are computed as by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm";
//! the dominator tree is then numbered so that a query is two comparisons.

use std::collections::HashMap;

use rspirv::spirv::Op;
use smallvec::SmallVec;

use super::decode::{Binary, Id, Inst, Result};
use super::rules::UNIVERSAL;

/// One SPIR-V block.
pub(super) struct SourceBlock<'a> {
    pub label: Inst<'a>,
    /// Between the label and the terminator.
    pub insts: &'a [Inst<'a>],
    pub term: Inst<'a>,
    /// Indices of successor blocks, one per jump, in operand order.
    pub succs: SmallVec<[usize; 2]>,
    /// Indices of predecessor blocks, ascending, each once.
    pub preds: SmallVec<[usize; 2]>,
}

/// The blocks of a function, entry first.
pub(super) struct Cfg<'a> {
    pub blocks: Vec<SourceBlock<'a>>,
    pub by_label: HashMap<Id, usize>,
    /// Reachable blocks in reverse post-order.
    pub order: Vec<usize>,
    /// For each block, the interval of its dominator subtree; `None` when unreachable.
    interval: Vec<Option<(u32, u32)>>,
}

/// The labels that a terminator names.
fn targets(inst: &Inst<'_>, selector_words: usize) -> SmallVec<[Id; 2]> {
    let words = inst.operands;
    match inst.op() {
        Op::Branch => SmallVec::from_slice(&words[..1]),
        Op::BranchConditional => SmallVec::from_slice(&words[1..3]),
        Op::Switch => std::iter::once(words[1])
            .chain(
                words[2..]
                    .chunks_exact(selector_words + 1)
                    .map(|case| case[selector_words]),
            )
            .collect(),
        _ => SmallVec::new(),
    }
}

impl<'a> Cfg<'a> {
    /// Splits a function's body into blocks. `selector_words` gives the words of an `OpSwitch`
    /// literal.
    pub fn build(
        binary: &Binary,
        body: &'a [Inst<'a>],
        selector_words: impl Fn(&Inst<'_>) -> usize,
    ) -> Result<Cfg<'a>> {
        let mut blocks: Vec<SourceBlock<'a>> = Vec::new();
        let mut by_label = HashMap::new();
        let mut begin: Option<usize> = None;
        for (at, inst) in body.iter().enumerate() {
            match (inst.op(), begin) {
                (Op::Label, None) => begin = Some(at),
                (Op::Label, Some(_)) => {
                    return Err(binary
                        .error(inst, "the block before this one has no terminator")
                        .under(UNIVERSAL));
                }
                (Op::Line | Op::NoLine | Op::Nop, None) => {}
                (_, None) => {
                    return Err(binary
                        .error(inst, "an instruction outside any block")
                        .under(UNIVERSAL));
                }
                (
                    Op::Branch
                    | Op::BranchConditional
                    | Op::Switch
                    | Op::Return
                    | Op::ReturnValue
                    | Op::Unreachable
                    | Op::Kill
                    | Op::TerminateInvocation,
                    Some(label),
                ) => {
                    if let Some(id) = body[label].result {
                        by_label.insert(id, blocks.len());
                    }
                    blocks.push(SourceBlock {
                        label: body[label],
                        insts: &body[label + 1..at],
                        term: *inst,
                        succs: SmallVec::new(),
                        preds: SmallVec::new(),
                    });
                    begin = None;
                }
                _ => {}
            }
        }
        if let Some(label) = begin {
            return Err(binary
                .error(&body[label], "the block has no terminator")
                .under(UNIVERSAL));
        }
        for block in &mut blocks {
            let term = block.term;
            let words = match term.op() {
                Op::Switch => selector_words(&term),
                _ => 1,
            };
            for label in targets(&term, words) {
                match by_label.get(&label) {
                    Some(0) => {
                        return Err(binary
                            .error(&term, "a branch to the function's entry block")
                            .under(UNIVERSAL));
                    }
                    Some(&block_index) => block.succs.push(block_index),
                    None => {
                        return Err(binary
                            .error(
                                &term,
                                format!(
                                    "{} is not a block of this function",
                                    binary.describe(label)
                                ),
                            )
                            .under(UNIVERSAL));
                    }
                }
            }
        }
        for index in 0..blocks.len() {
            let succs = blocks[index].succs.clone();
            for succ in succs {
                let preds = &mut blocks[succ].preds;
                if preds.last() != Some(&index) {
                    preds.push(index);
                }
            }
        }
        let mut cfg = Cfg {
            interval: vec![None; blocks.len()],
            blocks,
            by_label,
            order: Vec::new(),
        };
        cfg.sort();
        cfg.number_dominators();
        Ok(cfg)
    }

    /// Fills in [`Cfg::order`].
    fn sort(&mut self) {
        let mut seen = vec![false; self.blocks.len()];
        let mut stack = vec![(0usize, 0usize)];
        seen[0] = true;
        while let Some((block, next)) = stack.last_mut() {
            // Last successor first, so that the order follows the operands.
            let succs = &self.blocks[*block].succs;
            if *next < succs.len() {
                let succ = succs[succs.len() - 1 - *next];
                *next += 1;
                if !seen[succ] {
                    seen[succ] = true;
                    stack.push((succ, 0));
                }
            } else {
                self.order.push(*block);
                stack.pop();
            }
        }
        self.order.reverse();
    }

    fn number_dominators(&mut self) {
        let count = self.order.len();
        let mut position = vec![usize::MAX; self.blocks.len()];
        for (i, &block) in self.order.iter().enumerate() {
            position[block] = i;
        }
        // By position in the order from here on.
        let mut preds: Vec<SmallVec<[usize; 2]>> = vec![SmallVec::new(); count];
        for (i, &block) in self.order.iter().enumerate() {
            for &succ in &self.blocks[block].succs {
                preds[position[succ]].push(i);
            }
        }
        let mut idom = vec![usize::MAX; count];
        idom[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for i in 1..count {
                let mut new = usize::MAX;
                // Late predecessors first: in a chain with many exits, each is then one step from
                // the last.
                for &pred in preds[i].iter().rev() {
                    if idom[pred] == usize::MAX {
                        continue;
                    }
                    let (mut a, mut b) = (pred, new);
                    if b != usize::MAX {
                        while a != b {
                            while a > b {
                                a = idom[a];
                            }
                            while b > a {
                                b = idom[b];
                            }
                        }
                    }
                    new = a;
                }
                if idom[i] != new {
                    idom[i] = new;
                    changed = true;
                }
            }
        }
        let mut children: Vec<SmallVec<[usize; 2]>> = vec![SmallVec::new(); count];
        for i in 1..count {
            children[idom[i]].push(i);
        }
        let mut clock = 0;
        let mut stack = vec![(0usize, 0usize, 0u32)];
        while let Some((block, next, enter)) = stack.last_mut() {
            if *next == 0 {
                *enter = clock;
                clock += 1;
            }
            if let Some(&child) = children[*block].get(*next) {
                *next += 1;
                stack.push((child, 0, 0));
            } else {
                self.interval[self.order[*block]] = Some((*enter, clock));
                stack.pop();
            }
        }
    }

    pub fn is_reachable(&self, block: usize) -> bool {
        self.interval[block].is_some()
    }

    /// Whether every path to `b` goes through `a`; both are reachable.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        match (self.interval[a], self.interval[b]) {
            (Some((begin, end)), Some((at, _))) => begin <= at && at < end,
            _ => false,
        }
    }
}
