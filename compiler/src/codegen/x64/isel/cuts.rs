//! Which bitwise operations of vectors are one instruction: `vpternlog` is any function of the bits
//! of three operands.
//!
//! That is the mapping of logic to lookup tables with three inputs, as for FPGAs, of one block at a
//! time: an operation's cuts are the sets of up to three values that it can be computed from, and
//! of those the one is chosen that takes the fewest instructions, where an instruction with several
//! users counts for a part in each ("area flow": Manohararajah, Brown and Vranesic, "Heuristics for
//! area minimization in LUT-based FPGA technology mapping"). An operation that other cuts make
//! superfluous is not selected, however many users it has.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use crate::ir::{BinOp, Block, Function, Inst, Op, Scalar, UnOp, Value};

/// How many values a cut has at most.
const MOST: usize = 3;

/// How many cuts of an operation are looked at further.
const KEPT: usize = 6;

/// The table of each leaf alone.
const COLUMNS: [u8; MOST] = [0xf0, 0xcc, 0xaa];

/// Values that an operation is computed from, all different, in order of their numbers.
pub type Leaves = SmallVec<[Value; MOST]>;

/// An operation as a function of some values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub leaves: Leaves,
    /// The result's bit for each combination of the leaves': the first is the highest bit of the
    /// row's number.
    pub table: u8,
}

impl Cut {
    fn of(value: Value) -> Cut {
        Cut {
            leaves: smallvec![value],
            table: COLUMNS[0],
        }
    }

    /// The table with these leaves, which are all that there are and maybe more.
    pub fn table_for(&self, leaves: &[Value]) -> u8 {
        let place = |leaf| leaves.iter().position(|&other| other == leaf);
        let places: SmallVec<[usize; MOST]> = self
            .leaves
            .iter()
            .map(|&leaf| place(leaf).expect("among the leaves"))
            .collect();
        (0..8).fold(0, |table, row| {
            // The own rows with the same bits: several, all alike, if there are fewer leaves.
            let own = places
                .iter()
                .zip(COLUMNS)
                .fold(!0, |rows, (&place, column)| {
                    let is_set = COLUMNS[place] >> row & 1 != 0;
                    rows & if is_set { column } else { !column }
                });
            table | u8::from(self.table & own != 0) << row
        })
    }

    fn complement(self) -> Cut {
        let table = !self.table;
        Cut { table, ..self }
    }

    /// The operation on what two cuts compute, if it has few enough leaves.
    fn combined(op: BinOp, a: &Cut, b: &Cut) -> Option<Cut> {
        let mut leaves: SmallVec<[Value; 2 * MOST]> = a.leaves.iter().copied().collect();
        let more = b.leaves.iter().filter(|leaf| !a.leaves.contains(leaf));
        leaves.extend(more.copied());
        if leaves.len() > MOST {
            return None;
        }
        leaves.sort();
        let (a, b) = (a.table_for(&leaves), b.table_for(&leaves));
        let table = match op {
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Xor => a ^ b,
            other => unreachable!("{} is not bitwise", other.name()),
        };
        Some(Cut {
            leaves: leaves.into_iter().collect(),
            table,
        })
    }
}

/// What is selected for a bitwise operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logic {
    /// One instruction for it and those between it and the leaves.
    Root(Cut),
    /// Nothing: it is part of those that use it.
    Covered,
}

/// What is selected for each bitwise operation of vectors.
pub fn choose(func: &Function, order: &[Block]) -> SecondaryMap<Inst, Option<Logic>> {
    let mut mapping = Mapping {
        func,
        uses: func.use_counts(),
        needed: SecondaryMap::with_capacity(func.values.len()),
        chosen: SecondaryMap::with_capacity(func.insts.len()),
    };
    for &block in order {
        mapping.cheapest(block);
    }
    for &block in order {
        mapping.cover(block);
    }
    mapping.chosen
}

/// A cut with what it costs: its instruction, and those that its leaves take, each divided by the
/// number of its users.
struct Weighed {
    cut: Cut,
    area: f32,
}

/// An operation's cuts, the cheapest first.
type Weigheds = SmallVec<[Weighed; KEPT]>;

struct Mapping<'a> {
    func: &'a Function,
    uses: SecondaryMap<Value, u32>,
    /// The users but for bitwise operations of the same block, unless they are selected and the
    /// value is a leaf.
    needed: SecondaryMap<Value, u32>,
    chosen: SecondaryMap<Inst, Option<Logic>>,
}

impl Mapping<'_> {
    /// Chooses the cheapest cut of each operation.
    fn cheapest(&mut self, block: Block) {
        let data = &self.func.blocks[block];
        let mut cuts: HashMap<Value, Weigheds> = HashMap::new();
        for &inst in &data.insts {
            let args = &self.func.insts[inst].args;
            let is_logic = is_logic(self.func, inst);
            for arg in args
                .iter()
                .filter(|arg| !(is_logic && cuts.contains_key(arg)))
            {
                self.needed[*arg] += 1;
            }
            if is_logic {
                let own = self.cuts(inst, &cuts);
                self.chosen[inst] = Some(Logic::Root(own[0].cut.clone()));
                cuts.insert(self.func.insts[inst].results[0], own);
            }
        }
        data.term.for_each_value(|value| self.needed[value] += 1);
    }

    fn cuts(&self, inst: Inst, cuts: &HashMap<Value, Weigheds>) -> Weigheds {
        let weigh = |cut: Cut| {
            let areas = cut.leaves.iter().filter_map(|leaf| {
                let area = cuts.get(leaf)?[0].area;
                Some(area / self.uses[*leaf] as f32)
            });
            let area = 1.0 + areas.sum::<f32>();
            Weighed { cut, area }
        };
        // What an operand may be computed from: itself, too.
        let ways = |value: Value| {
            let further = cuts.get(&value).into_iter().flatten();
            std::iter::once(Cut::of(value)).chain(further.map(|way| way.cut.clone()))
        };
        let data = &self.func.insts[inst];
        let mut found: Weigheds = match (&data.op, &data.args[..]) {
            (Op::Unary(UnOp::Not), &[a]) => ways(a).map(|a| weigh(a.complement())).collect(),
            (&Op::Binary(op, _), &[a, b]) => ways(a)
                .flat_map(|a| ways(b).filter_map(move |b| Cut::combined(op, &a, &b)))
                .map(weigh)
                .collect(),
            (other, _) => unreachable!("`{other}` is not bitwise"),
        };
        // Of equal ones the one with fewer leaves: with three, the first one's register is
        // overwritten.
        found.sort_by(|a, b| {
            let leaves = a.cut.leaves.len().cmp(&b.cut.leaves.len());
            a.area.total_cmp(&b.area).then(leaves)
        });
        found.dedup_by(|a, b| a.cut == b.cut);
        found.truncate(KEPT);
        found
    }

    /// Leaves out what no one needs any longer.
    fn cover(&mut self, block: Block) {
        for &inst in self.func.blocks[block].insts.iter().rev() {
            match &mut self.chosen[inst] {
                Some(logic) if self.needed[self.func.insts[inst].results[0]] == 0 => {
                    *logic = Logic::Covered;
                }
                Some(Logic::Root(cut)) => {
                    cut.leaves.iter().for_each(|&leaf| self.needed[leaf] += 1);
                }
                _ => {}
            }
        }
    }
}

/// Whether the instruction combines the bits of vectors.
fn is_logic(func: &Function, inst: Inst) -> bool {
    let data = &func.insts[inst];
    let is_bitwise = matches!(
        data.op,
        Op::Binary(BinOp::And | BinOp::Or | BinOp::Xor, _) | Op::Unary(UnOp::Not)
    );
    let is_vector = |&result: &Value| {
        let ty = func.ty(result);
        ty.lanes > 1 && ty.scalar != Scalar::I1
    };
    is_bitwise && data.results.first().is_some_and(is_vector)
}
