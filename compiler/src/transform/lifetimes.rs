//! Which values are never wanted at the same time, so that one variable does for them.
//!
//! Wanted are values that other blocks than the one that defines them use: from the definition to
//! the first use in each block after which no other block uses it any more. What is wanted
//! at the same time as a definition gets another variable (the colouring of interference graphs;
//! Chaitin et al., "Register Allocation via Coloring", 1981). In SSA form, definitions in
//! dominator-tree order find the variables of all that is wanted there given out, so that taking
//! any that is free gives as few as there are values wanted at once (Hack & Goos, "Optimal Register
//! Allocation for SSA-form Programs in Polynomial Time", 2006).
//!
//! Cost: instructions, and for each value the blocks where it is wanted; for each definition the
//! variables given out there.

use std::collections::BTreeMap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use super::demote::homes;
use crate::ir::{Block, DominatorTree, Function, Type, Value};

/// A number for the variable of each of some values that is used in another block than its own.
/// Values with one number have one type.
pub(super) fn share_variables(
    func: &Function,
    values: &SecondaryMap<Value, bool>,
) -> SecondaryMap<Value, u32> {
    let lifetimes = Lifetimes::new(func, values);
    let mut sharing = Sharing {
        func,
        lifetimes: &lifetimes,
        number: SecondaryMap::new(),
        taken: Vec::new(),
        of_type: BTreeMap::new(),
        mark: 0,
    };
    let tree = DominatorTree::new(func);
    for &block in tree.preorder() {
        sharing.block(block);
    }
    sharing.number
}

/// The values, but for those of the entry block, that are wanted where any of some blocks begins.
pub(super) fn wanted_at(
    func: &Function,
    blocks: impl IntoIterator<Item = Block>,
) -> SecondaryMap<Value, bool> {
    let mut values: SecondaryMap<Value, bool> = SecondaryMap::with_default(true);
    let entry = &func.blocks[func.entry()];
    let results = (entry.insts.iter()).flat_map(|&inst| &func.insts[inst].results);
    for &value in entry.params.iter().chain(results) {
        values[value] = false;
    }
    let lifetimes = Lifetimes::new(func, &values);
    let mut wanted = SecondaryMap::with_capacity(func.values.len());
    for block in blocks {
        for &value in &lifetimes.at_start[block] {
            wanted[value] = true;
        }
    }
    wanted
}

/// Where values are wanted.
struct Lifetimes {
    home: SecondaryMap<Value, PackedOption<Block>>,
    /// Whether another block uses a value.
    is_wanted: SecondaryMap<Value, bool>,
    at_start: SecondaryMap<Block, Vec<Value>>,
    at_end: SecondaryMap<Block, Vec<Value>>,
}

impl Lifetimes {
    fn new(func: &Function, values: &SecondaryMap<Value, bool>) -> Lifetimes {
        let home = homes(func, values);
        let mut users: SecondaryMap<Value, Vec<Block>> = SecondaryMap::new();
        for &block in &func.layout {
            let mut note = |value: Value| {
                let elsewhere = home[value].expand().is_some_and(|home| home != block);
                if elsewhere && users[value].last() != Some(&block) {
                    users[value].push(block);
                }
            };
            for &inst in &func.blocks[block].insts {
                func.insts[inst].args.iter().copied().for_each(&mut note);
            }
            func.blocks[block].term.for_each_value(note);
        }
        let preds = func.predecessors();
        let mut this = Lifetimes {
            home,
            is_wanted: SecondaryMap::new(),
            at_start: SecondaryMap::new(),
            at_end: SecondaryMap::new(),
        };
        // Marks hold the number of the value that set them.
        let mut start_mark: SecondaryMap<Block, u32> = SecondaryMap::new();
        let mut end_mark: SecondaryMap<Block, u32> = SecondaryMap::new();
        for (value, mark) in func.values.keys().zip(1..) {
            let mut todo = std::mem::take(&mut users[value]);
            this.is_wanted[value] = !todo.is_empty();
            while let Some(block) = todo.pop() {
                if std::mem::replace(&mut start_mark[block], mark) == mark {
                    continue;
                }
                this.at_start[block].push(value);
                for &pred in &preds[block] {
                    if std::mem::replace(&mut end_mark[pred], mark) != mark {
                        this.at_end[pred].push(value);
                        if this.home[value] != pred.into() {
                            todo.push(pred);
                        }
                    }
                }
            }
        }
        this
    }
}

/// Variables given out so far.
struct Sharing<'a> {
    func: &'a Function,
    lifetimes: &'a Lifetimes,
    number: SecondaryMap<Value, u32>,
    /// The mark of the block in which a variable is taken.
    taken: Vec<u32>,
    of_type: BTreeMap<Type, Vec<u32>>,
    /// Of the current block.
    mark: u32,
}

impl Sharing<'_> {
    fn block(&mut self, block: Block) {
        self.mark += 1;
        let (func, lifetimes) = (self.func, self.lifetimes);
        let mut ends: BTreeMap<Value, bool> = BTreeMap::new();
        for &value in &lifetimes.at_start[block] {
            self.taken[self.number[value] as usize] = self.mark;
            ends.insert(value, true);
        }
        for value in &lifetimes.at_end[block] {
            ends.entry(*value).and_modify(|ends| *ends = false);
        }
        let data = &func.blocks[block];
        for &param in &data.params {
            self.define(param);
        }
        for &inst in &data.insts {
            // Loaded once in a block.
            for arg in &func.insts[inst].args {
                if ends.remove(arg) == Some(true) {
                    self.taken[self.number[*arg] as usize] = 0;
                }
            }
            for &result in &func.insts[inst].results {
                self.define(result);
            }
        }
    }

    fn define(&mut self, value: Value) {
        if !self.lifetimes.is_wanted[value] {
            return;
        }
        let (taken, mark) = (&self.taken, self.mark);
        let variables = self.of_type.entry(self.func.ty(value)).or_default();
        let is_free = |&&number: &&u32| taken[number as usize] != mark;
        let number = match variables.iter().find(is_free) {
            Some(&number) => number,
            None => {
                let new = taken.len() as u32;
                variables.push(new);
                self.taken.push(0);
                new
            }
        };
        self.taken[number as usize] = mark;
        self.number[value] = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    /// How many variables the values of a function share, and how many values have one.
    fn shared(body: &str) -> (usize, usize) {
        let text =
            format!("func \"f\" (i32, i1) -> (i32) {{\nblock0(v0: i32, v1: i1):\n{body}\n}}");
        let module = parse::module(&text).expect("a module");
        let func = module.functions.values().next().expect("it");
        let mut all: SecondaryMap<Value, bool> = SecondaryMap::new();
        func.values.keys().for_each(|value| all[value] = true);
        func.params().iter().for_each(|&param| all[param] = false);
        let numbers = share_variables(func, &all);
        let wanted = Lifetimes::new(func, &all).is_wanted;
        let values: Vec<Value> = func.values.keys().filter(|&v| wanted[v]).collect();
        let mut used: Vec<u32> = values.iter().map(|&value| numbers[value]).collect();
        used.sort_unstable();
        used.dedup();
        (used.len(), values.len())
    }

    #[test]
    fn one_after_the_other_takes_one_variable() {
        let mut body = "v2: i32 = iadd v0, v0\nbr block1\n".to_owned();
        for n in 1..50 {
            body += &format!(
                "block{n}:\nv{}: i32 = iadd v{}, v0\nbr block{}\n",
                n + 2,
                n + 1,
                n + 1
            );
        }
        body += "block50:\nret v51";
        assert_eq!(shared(&body), (1, 50));
    }

    #[test]
    fn values_wanted_at_once_do_not_share() {
        let body = "v2: i32 = iadd v0, v0\nv3: i32 = imul v0, v0\nbr block1\n\
             block1:\nv4: i32 = iadd v0, v2\nbr block2\nblock2:\nv5: i32 = iadd v2, v3\n\
             v6: i32 = iadd v5, v4\nret v6";
        assert_eq!(shared(body), (3, 3));
    }

    #[test]
    fn a_value_wanted_in_the_next_iteration_is_wanted_in_this_one() {
        let body = "v2: i32 = iadd v0, v0\nbr block1\nblock1:\nv3: i32 = iadd v2, v0\n\
             br block2\nblock2:\nv4: i32 = imul v3, v3\ncond_br v1, block1, block3\n\
             block3:\nret v4";
        // The last is defined after the second was used, while the first is still wanted.
        assert_eq!(shared(body), (2, 3));
    }
}
