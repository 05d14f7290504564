//! Loops that jumps lead into at several blocks get a header, by way of which all of them go.
//!
//! A loop with several entries (irreducible control flow, as a `goto` into a loop makes) has no
//! block that begins its iterations, and so is none to [`LoopForest`](crate::analysis::LoopForest),
//! to the passes that look for loops, and to work-items that run together. The header is such a
//! block. A *selector* tells it at which entry to go on:
//!
//! ```text
//!     p:    br a(x)                     p:      br header(0, x)
//!     q:    br b(y)                     q:      br header(1, y)
//!                                       header(which, z):
//!                                               switch which, 0: a(z), 1: b(z)
//!     a(u): .. br b(v)                  a(u):   .. br header(1, v)
//!     b(w): .. cond_br c, a(t), out     b(w):   .. cond_br c, header(0, t), out
//! ```
//!
//! The loop is a strongly connected component; its *entries* are the blocks with jumps from
//! outside. All jumps to them are led through the header, so those in the loop each begin an
//! iteration: that is what the loop's iterations are, also for who takes part in a collective.
//! Without its entries the loop falls into components again, in which there may be loops with
//! several entries again (the nest of Steensgaard, "Sequentializing Program Dependence Graphs for
//! Irreducible Programs", 1993). A block is an entry at most once. A jump to an entry comes to have
//! an argument for each parameter of the header, which has as many of each type as the entry with
//! the most.
//!
//! Definitions dominate their uses as before. An entry is reached from outside without passing any
//! other block of the loop. So a definition in the loop that dominates a use is passed on the way
//! to it from each entry, also from one that the header is now thought to go on at instead of
//! another. A definition outside that dominates one block of the loop dominates all entries, and so
//! the header.
//!
//! Cost: where there are no such loops, a walk, and dominators if there is any loop; else blocks
//! and jumps times how deeply loops with such loops in them are nested.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use crate::analysis::loops::{jumps_back, positions};
use crate::diagnostic::Remark;
use crate::ir::{
    Block, BlockCall, Builder, DominatorTree, Function, Jump, SourceLoc, Terminator, Type, Value,
};

/// A header that a loop was given.
#[derive(Clone, Debug)]
pub struct Header {
    pub block: Block,
    /// The blocks that were the loop's entries, which the header alone leads to now.
    pub entries: Vec<Block>,
}

impl Header {
    /// What a user may want to know of the loop.
    pub(super) fn remark(&self, func: &Function) -> Remark {
        let blocks = self.entries.iter();
        let mut insts = blocks.flat_map(|&entry| &func.blocks[entry].insts);
        let loc = insts.find_map(|&inst| func.insts[inst].loc.0);
        let count = self.entries.len();
        let text = format!(
            "a loop is entered at {count} places: each iteration begins with a choice between them"
        );
        Remark::new(SourceLoc(loc), text)
    }
}

/// Gives every loop one entry. Returns the headers made.
pub fn run(func: &mut Function) -> Vec<Header> {
    let order = func.reverse_post_order();
    let mut irreducible = jumps_back(func, &order, &positions(&order));
    if irreducible.is_empty() {
        return Vec::new();
    }
    let dominators = DominatorTree::new(func);
    irreducible.retain(|&(from, to)| !dominators.dominates(to, from));
    if irreducible.is_empty() {
        return Vec::new();
    }
    let mut search = Search::new(func, &order);
    for (from, _) in irreducible {
        search.has_entries[from] = true;
    }
    let mut headers = Vec::new();
    let mut sets = vec![(search.new_set(&order), order)];
    while let Some((set, blocks)) = sets.pop() {
        for (id, component) in search.components(func, set, &blocks) {
            let (entries, rest): (Vec<Block>, Vec<Block>) =
                component.into_iter().partition(|&b| search.is_entry(id, b));
            if entries.len() > 1 {
                let block = give_header(func, &entries, &search.jumps);
                headers.push(Header {
                    block,
                    entries: entries.clone(),
                });
            }
            for entry in entries {
                search.set[entry] = NONE;
            }
            sets.push((id, rest));
        }
    }
    func.layout = func.reverse_post_order();
    headers
}

/// No set.
const NONE: u32 = 0;

/// Finds strongly connected components (Tarjan, "Depth-First Search and Linear Graph Algorithms",
/// 1972).
struct Search {
    /// Jumps between blocks that can be reached, as they were at first.
    jumps: SecondaryMap<Block, SmallVec<[Jump; 4]>>,
    /// Where a jump begins that makes a loop with several entries. A component without any has none
    /// in it.
    has_entries: SecondaryMap<Block, bool>,
    /// Which set of blocks, or found component, a block is in.
    set: SecondaryMap<Block, u32>,
    last_set: u32,
    /// When a block was come to, from 1 on, and the earliest one still open that is reached from
    /// what was come to after it.
    number: SecondaryMap<Block, u32>,
    low: SecondaryMap<Block, u32>,
    last_number: u32,
}

impl Search {
    fn new(func: &Function, order: &[Block]) -> Search {
        let mut jumps: SecondaryMap<Block, SmallVec<[Jump; 4]>> = SecondaryMap::new();
        for &from in order {
            for (number, to) in (0..).zip(func.successors(from)) {
                jumps[to].push(Jump { from, number });
            }
        }
        Search {
            jumps,
            has_entries: SecondaryMap::new(),
            set: SecondaryMap::new(),
            last_set: NONE,
            number: SecondaryMap::new(),
            low: SecondaryMap::new(),
            last_number: 0,
        }
    }

    fn new_set(&mut self, blocks: &[Block]) -> u32 {
        self.last_set += 1;
        for &block in blocks {
            self.set[block] = self.last_set;
        }
        self.last_set
    }

    fn is_entry(&self, component: u32, block: Block) -> bool {
        let mut jumps = self.jumps[block].iter();
        jumps.any(|jump| self.set[jump.from] != component)
    }

    /// The components of several blocks of a set in which there may be loops with several entries,
    /// each a set now.
    fn components(
        &mut self,
        func: &Function,
        set: u32,
        blocks: &[Block],
    ) -> Vec<(u32, Vec<Block>)> {
        for &block in blocks {
            self.number[block] = 0;
        }
        let mut found = Vec::new();
        let mut open: Vec<Block> = Vec::new();
        // Blocks on the way, with how many of their jumps were followed.
        let mut way: Vec<(Block, usize)> = Vec::new();
        for &root in blocks {
            if self.set[root] != set {
                continue;
            }
            self.come_to(root, &mut open, &mut way);
            while let Some((block, next)) = way.last_mut() {
                let block = *block;
                if let Some(call) = func.blocks[block].term.target(*next) {
                    *next += 1;
                    let succ = call.block;
                    if self.set[succ] != set {
                        continue;
                    }
                    match self.number[succ] {
                        0 => self.come_to(succ, &mut open, &mut way),
                        number => self.low[block] = self.low[block].min(number),
                    }
                    continue;
                }
                way.pop();
                if let Some(&(up, _)) = way.last() {
                    self.low[up] = self.low[up].min(self.low[block]);
                }
                if self.low[block] == self.number[block] {
                    let first = open.iter().rposition(|&other| other == block);
                    let component = open.split_off(first.expect("it is open"));
                    let id = self.new_set(&component);
                    if component.len() > 1 && component.iter().any(|&b| self.has_entries[b]) {
                        found.push((id, component));
                    }
                }
            }
        }
        found
    }

    fn come_to(&mut self, block: Block, open: &mut Vec<Block>, way: &mut Vec<(Block, usize)>) {
        self.last_number += 1;
        self.number[block] = self.last_number;
        self.low[block] = self.last_number;
        open.push(block);
        way.push((block, 0));
    }
}

/// Leads all jumps to the entries of a loop through a new block. Parameters of one type it has for
/// all entries together.
fn give_header(
    func: &mut Function,
    entries: &[Block],
    jumps_to: &SecondaryMap<Block, SmallVec<[Jump; 4]>>,
) -> Block {
    let header = func.add_block();
    let selector = match entries.len() {
        2 => Type::I1,
        _ => Type::I32,
    };
    let selector = func.add_param(header, selector);
    let mut of_type: BTreeMap<Type, Vec<usize>> = BTreeMap::new();
    // For each entry, the numbers of the header's parameters that are handed on to it.
    let mut handed: Vec<Vec<usize>> = Vec::new();
    for &entry in entries {
        let mut used: BTreeMap<Type, usize> = BTreeMap::new();
        let mut numbers = Vec::new();
        for param in func.blocks[entry].params.clone() {
            let ty = func.ty(param);
            let (used, all) = (used.entry(ty).or_default(), of_type.entry(ty).or_default());
            if *used == all.len() {
                all.push(func.blocks[header].params.len());
                func.add_param(header, ty);
            }
            numbers.push(all[*used]);
            *used += 1;
        }
        handed.push(numbers);
    }
    for (number, &entry) in entries.iter().enumerate() {
        for alike in jumps_to[entry].chunk_by(|a, b| a.from == b.from) {
            redirect(func, alike, (header, number, &handed[number]));
        }
    }
    let params = &func.blocks[header].params;
    let jumps = entries.iter().zip(&handed).map(|(&entry, numbers)| {
        let args: Vec<Value> = numbers.iter().map(|&number| params[number]).collect();
        BlockCall::new(entry, &args)
    });
    let mut jumps: Vec<BlockCall> = jumps.collect();
    let last = jumps.pop().expect("a loop with several entries");
    func.blocks[header].term = match &mut jumps[..] {
        [first] => Terminator::CondBr {
            cond: selector,
            then: last,
            els: first.clone(),
        },
        _ => Terminator::Switch {
            value: selector,
            cases: (0..).zip(jumps).collect(),
            default: last,
        },
    };
    header
}

/// Makes jumps from one block to an entry go to the header, with the entry's number. What is for
/// other entries is zero.
fn redirect(
    func: &mut Function,
    jumps: &[Jump],
    (header, number, handed): (Block, usize, &[usize]),
) {
    let params = func.blocks[header].params.clone();
    let mut b = Builder::new(func, jumps[0].from);
    let arg = |(at, &param): (usize, &Value)| match at {
        0 => b.iconst(b.ty(param), number as u64),
        _ if handed.contains(&at) => param,
        _ => b.iconst(b.ty(param), 0),
    };
    let common: SmallVec<[Value; 4]> = params.iter().enumerate().map(arg).collect();
    for jump in jumps {
        let term = &mut func.blocks[jump.from].term;
        let call = term.target_mut(jump.number as usize).expect("a jump");
        let mut args = common.clone();
        for (&at, &arg) in handed.iter().zip(&call.args) {
            args[at] = arg;
        }
        *call = BlockCall {
            block: header,
            args,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::LoopForest;
    use crate::ir::dominators::tests::random_function;
    use crate::ir::{Stage, parse, verify::verify};

    /// Where a block's jumps go on in the end.
    fn ways(func: &Function, headers: &[Header], block: Block) -> Vec<Block> {
        let jumps = func.blocks[block].term.targets().map(|call| {
            match headers.iter().find(|header| header.block == call.block) {
                Some(header) => {
                    let which = func.as_const(call.args[0]).expect("a number");
                    header.entries[which as usize]
                }
                None => call.block,
            }
        });
        jumps.collect()
    }

    #[test]
    fn random_graphs_keep_their_ways_and_dominance() {
        let mut made = 0;
        for seed in 0..4000 {
            let mut func = random_function(3 + seed as usize % 40, seed);
            func.layout = func.reverse_post_order();
            let before = func.clone();
            let headers = run(&mut func);
            made += headers.len();
            verify(&func, Stage::Scalarized, None).unwrap_or_else(|e| panic!("{seed}: {e}"));
            let tree = DominatorTree::new(&func);
            let forest = LoopForest::new(&func, &tree);
            assert!(forest.irreducible.is_empty(), "{seed}: {before}\n{func}");
            let old = DominatorTree::new(&before);
            for &a in &before.layout {
                let all: Vec<Block> = before.successors(a).collect();
                assert_eq!(ways(&func, &headers, a), all, "{seed}: {before}\n{func}");
                for &b in &before.layout {
                    let kept = tree.dominates(a, b) || !old.dominates(a, b);
                    assert!(kept, "{seed}: {a} {b}\n{before}\n{func}");
                }
            }
        }
        assert!(made > 500, "only {made}");
    }

    #[test]
    fn entries_share_parameters_of_one_type() {
        let text = "func \"f\" (i1, i32, f32) -> () {\nblock0(c: i1, i: i32, x: f32):\n\
                    cond_br c, block1(i, x), block2(x, i, i)\nblock1(a: i32, b: f32):\n\
                    br block2(b, a, i)\nblock2(d: f32, e: i32, g: i32):\n\
                    cond_br c, block1(g, d), block3\nblock3:\nret\n}";
        let module = parse::module(text).expect("a module");
        let mut func = module.functions.values().next().expect("it").clone();
        let headers = run(&mut func);
        assert_eq!(headers.len(), 1);
        let params = func.blocks[headers[0].block].params.iter();
        let types: Vec<String> = params.map(|&p| func.ty(p).to_string()).collect();
        assert_eq!(types, ["i1", "i32", "f32", "i32"]);
        verify(&func, Stage::Scalarized, None).expect("a valid function");
    }
}
