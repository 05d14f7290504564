//! Which private variables can be interleaved, and by units of how many bytes.
//!
//! Addresses that are computed one from the other, or are alternatives to one another (in a
//! `select`, as a block's parameter), make a set. The variables of a set are laid out as one array,
//! one behind the other, so that wherever an address of the set points, it is an offset into that.
//! A set may have addresses of such variables only, and each may be used to load and store, to copy
//! a known number of bytes, and to be compared within the set. The unit is the largest that every
//! access begins at a multiple of, and moves a multiple of.
//!
//! Elements of more than a unit are put together from several. That is worth it where they are at
//! the same index in all lanes; at indexes of their own it takes a gather for each unit.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;

use crate::analysis::{Across, Cfg, Shape, Shapes};
use crate::diagnostic::Remark;
use crate::ir::{Block, Function, Inst, Op, Scalar, Terminator, Value};
use crate::launch::LaunchKey;

/// The largest unit.
const WIDEST: u32 = 8;
/// Copies of more units stay copies.
pub(super) const MOST_COPIED: u64 = 128;
/// Bytes of an array that are interleaved at most, for all lanes.
const MOST_BYTES: u64 = 1 << 28;
/// About how many instructions a gather is worth, and one unit of several at a uniform index.
const GATHER: u64 = 20;
const PIECE: u64 = 4;

const ESCAPES: &str = "its address is used for other things than loads, stores and copies";
const MEETS_OTHERS: &str = "where it is addressed, another object may be meant";
const VOLATILE: &str = "it is volatile";
const LONG_COPIES: &str = "many bytes of it are copied at once";
const TOO_LARGE: &str = "it is too large";
const MIXED_SIZES: &str = "elements of several sizes are at indexes that differ between work-items";

/// Variables that are laid out together, one behind the other.
pub(super) struct Array {
    /// The instructions that allocate them, and where each begins.
    pub variables: Vec<(Inst, u32)>,
    /// Bytes.
    pub size: u32,
    pub align: u32,
    /// Bytes.
    pub unit: u32,
    /// The addresses in it.
    pub addresses: Vec<Value>,
}

impl Array {
    /// Says why it is not interleaved.
    pub fn remark(&self, func: &Function, why: &str) -> Remark {
        let loc = func.insts[self.variables[0].0].loc;
        let size = self.size;
        Remark::new(
            loc,
            format!("private array of {size} bytes is gathered: {why}"),
        )
    }
}

/// What is found out about a set.
struct Set {
    array: Array,
    obstacle: Option<&'static str>,
    accesses: Vec<(Inst, Block)>,
}

/// The arrays that are worth interleaving for code as the key says, and why others are not.
pub(super) fn find(func: &Function, key: &LaunchKey) -> (Vec<Array>, Vec<Remark>) {
    let mut sets = Scan::new(func).sets();
    let mut shapes = None;
    let (mut arrays, mut remarks) = (Vec::new(), Vec::new());
    for set in sets.values_mut() {
        let array = &set.array;
        // A single unit is where it would be anyway.
        if set.accesses.is_empty() || array.size <= array.unit {
            continue;
        }
        if u64::from(array.size) * u64::from(key.width) > MOST_BYTES {
            set.obstacle.get_or_insert(TOO_LARGE);
        }
        if set.obstacle.is_none() && has_pieces(func, set) {
            let (cfg, shapes) = shapes.get_or_insert_with(|| {
                let cfg = Cfg::new(func);
                let shapes = Shapes::new(func, &cfg, key, Across::Chunk(key.width));
                (cfg, shapes)
            });
            if !is_worth_pieces(func, cfg, shapes, set) {
                set.obstacle = Some(MIXED_SIZES);
            }
        }
        if let Some(why) = set.obstacle
            && array.size > WIDEST
        {
            remarks.push(array.remark(func, why));
        }
    }
    let found = sets.into_values();
    let found = found.filter(|set| {
        set.obstacle.is_none() && !set.accesses.is_empty() && set.array.size > set.array.unit
    });
    arrays.extend(found.map(|set| set.array));
    (arrays, remarks)
}

/// The bytes of an element that an access moves, and how many elements; nothing for a copy.
fn elements(func: &Function, inst: Inst) -> Option<(u32, u64)> {
    let data = &func.insts[inst];
    let values = match data.op {
        Op::Load(_) => &data.results[..],
        Op::Store(_) => &data.args[1..],
        _ => return None,
    };
    Some((func.ty(values[0]).scalar.bytes(), values.len() as u64))
}

/// Whether any element is of more than one unit.
fn has_pieces(func: &Function, set: &Set) -> bool {
    let mut accesses = set.accesses.iter();
    accesses.any(|&(inst, _)| elements(func, inst).is_some_and(|(size, _)| size > set.array.unit))
}

fn is_worth_pieces(func: &Function, cfg: &Cfg, shapes: &Shapes, set: &Set) -> bool {
    let (mut gathered, mut interleaved) = (0, 0);
    for &(inst, block) in &set.accesses {
        let Some((size, count)) = elements(func, inst) else {
            continue;
        };
        let weight = count * 4u64.pow(cfg.loops.depth(block).min(4));
        let units = u64::from(size / set.array.unit);
        let address = func.insts[inst].args[0];
        let unit = match shapes.at(func, cfg, address, block) {
            Shape::Affine(_) => PIECE,
            _ => GATHER + PIECE,
        };
        gathered += weight * GATHER;
        interleaved += weight * units * unit;
    }
    interleaved <= gathered
}

/// Sets of addresses while they are found (union-find).
struct Scan<'a> {
    func: &'a Function,
    parents: SecondaryMap<Value, Option<Value>>,
    obstacles: Vec<(Value, &'static str)>,
    variables: Vec<(Value, Inst)>,
    /// An address, the unit that the access to it allows, and the access.
    accesses: Vec<(Value, u32, (Inst, Block))>,
}

impl<'a> Scan<'a> {
    fn new(func: &'a Function) -> Scan<'a> {
        let mut scan = Scan {
            func,
            parents: SecondaryMap::with_capacity(func.values.len()),
            obstacles: Vec::new(),
            variables: Vec::new(),
            accesses: Vec::new(),
        };
        for &param in func.params() {
            scan.note(param, MEETS_OTHERS);
        }
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                scan.define(inst);
            }
            for call in func.blocks[block].term.targets() {
                let params = &func.blocks[call.block].params;
                for (&param, &arg) in params.iter().zip(&call.args) {
                    scan.unite(param, arg);
                }
            }
        }
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                scan.use_in(inst, block);
            }
            if let Terminator::Ret(values) = &func.blocks[block].term {
                values.iter().for_each(|&value| scan.note(value, ESCAPES));
            }
        }
        scan
    }

    fn is_address(&self, value: Value) -> bool {
        self.func.ty(value).scalar == Scalar::Ptr
    }

    fn note(&mut self, value: Value, obstacle: &'static str) {
        if self.is_address(value) {
            self.obstacles.push((value, obstacle));
        }
    }

    fn set_of(&mut self, value: Value) -> Value {
        let mut root = value;
        while let Some(parent) = self.parents[root] {
            root = parent;
        }
        let mut at = value;
        while let Some(parent) = self.parents[at].filter(|_| at != root) {
            self.parents[at] = Some(root);
            at = parent;
        }
        root
    }

    fn unite(&mut self, a: Value, b: Value) {
        if !self.is_address(a) {
            return;
        }
        let (a, b) = (self.set_of(a), self.set_of(b));
        if a != b {
            self.parents[a] = Some(b);
        }
    }

    /// Where an instruction's results point.
    fn define(&mut self, inst: Inst) {
        let func = self.func;
        let data = &func.insts[inst];
        match data.op {
            Op::Alloca { .. } => self.variables.push((data.results[0], inst)),
            Op::PtrAdd => self.unite(data.results[0], data.args[0]),
            Op::Select => {
                self.unite(data.results[0], data.args[1]);
                self.unite(data.results[0], data.args[2]);
            }
            _ => {
                let results = data.results.iter();
                results.for_each(|&result| self.note(result, MEETS_OTHERS));
            }
        }
    }

    /// What an instruction does with addresses.
    fn use_in(&mut self, inst: Inst, block: Block) {
        let func = self.func;
        let data = &func.insts[inst];
        let at = (inst, block);
        match &data.op {
            Op::PtrAdd | Op::Select => {}
            Op::Load(mem) | Op::Store(mem) if mem.volatile => {
                data.args.iter().for_each(|&arg| self.note(arg, VOLATILE));
            }
            Op::Load(mem) | Op::Store(mem) => {
                let stored = data.args[1..].iter();
                stored.for_each(|&value| self.note(value, ESCAPES));
                let size = elements(func, inst).map_or(1, |(size, _)| size);
                let unit = size.min(mem.align);
                self.accesses.push((data.args[0], unit, at));
            }
            &Op::MemCopy {
                size,
                align,
                volatile: false,
                ..
            } => {
                let unit = 1 << (size | u64::from(align)).trailing_zeros().min(3);
                for &arg in &data.args {
                    self.accesses.push((arg, unit, at));
                }
            }
            Op::ICmp(_) if self.set_of(data.args[0]) == self.set_of(data.args[1]) => {}
            _ => data.args.iter().for_each(|&arg| self.note(arg, ESCAPES)),
        }
    }

    /// The sets that have variables, by one of their addresses.
    fn sets(mut self) -> BTreeMap<Value, Set> {
        let func = self.func;
        let mut sets: BTreeMap<Value, Set> = BTreeMap::new();
        for (value, inst) in std::mem::take(&mut self.variables) {
            let root = self.set_of(value);
            let set = sets.entry(root).or_insert_with(|| Set {
                array: Array {
                    variables: Vec::new(),
                    size: 0,
                    align: 1,
                    unit: WIDEST,
                    addresses: Vec::new(),
                },
                obstacle: None,
                accesses: Vec::new(),
            });
            let Op::Alloca { size, align, .. } = func.insts[inst].op else {
                unreachable!("variables are allocated");
            };
            let array = &mut set.array;
            let start = array.size.checked_next_multiple_of(align);
            match start.and_then(|start| Some((start, start.checked_add(size)?))) {
                Some((start, end)) => {
                    array.variables.push((inst, start));
                    array.size = end;
                }
                None => {
                    array.variables.push((inst, 0));
                    set.obstacle = Some(TOO_LARGE);
                }
            }
            array.align = array.align.max(align);
            array.unit = array.unit.min(align);
        }
        for (value, unit, at) in std::mem::take(&mut self.accesses) {
            let root = self.set_of(value);
            if let Some(set) = sets.get_mut(&root) {
                set.array.unit = set.array.unit.min(unit);
                set.accesses.push(at);
            }
        }
        for set in sets.values_mut() {
            let unit = set.array.unit;
            let is_long = |&(inst, _): &(Inst, Block)| match func.insts[inst].op {
                Op::MemCopy { size, .. } => size / u64::from(unit) > MOST_COPIED,
                _ => false,
            };
            if set.accesses.iter().any(is_long) {
                set.obstacle = Some(LONG_COPIES);
            }
        }
        for (value, obstacle) in std::mem::take(&mut self.obstacles) {
            let root = self.set_of(value);
            if let Some(set) = sets.get_mut(&root) {
                set.obstacle.get_or_insert(obstacle);
            }
        }
        for value in func.values.keys() {
            let root = self.set_of(value);
            if let Some(set) = sets.get_mut(&root) {
                set.array.addresses.push(value);
            }
        }
        sets
    }
}
