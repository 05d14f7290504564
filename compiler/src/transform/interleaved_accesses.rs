//! Accesses to neighbouring elements, or to vectors of them, become one access to several.
//!
//! Work-items that each read `rgb[3 * i]`, `rgb[3 * i + 1]` and `rgb[3 * i + 2]` together read
//! memory end to end. One load with three results says so: it is vectorized with whole vectors and
//! shuffles, three loads with a stride are made lane by lane.
//!
//! Notation: an address is `base + sum of coefficient * term + constant`, modulo 2^64 (`Address`).
//! Accesses of one kind, element type and block, whose addresses differ in the constant alone, are
//! *neighbours*. A *run* is neighbours between which nothing gets in the way:
//!
//! - of loads, what may write the memory they read (`memory.rs`); the one load is done where the
//!   first was;
//! - of stores, what may read or write the memory they write, other than the run itself; the one
//!   store is done where the last was.
//!
//! So nothing is read or written that was not before, nor in another order that anyone could tell.
//! In a run, elements that are consecutive are taken in chunks of as many as a load can have, the
//! largest first.
//!
//! A chunk is worth it only if the chunks of neighbouring work-items do not overlap: `in[i]` and
//! `in[i + 1]` are consecutive over work-items as they are, and are better left alone. [`Shapes`]
//! tells how far apart work-items are, or how far at least if terms that vary differ by one. What
//! is uniform is left alone, too.
//!
//! Cost: linear in instructions (and their terms, of which there are few), but for hashing and
//! sorting; shapes are found only if there are neighbours.

use std::collections::HashMap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::{SmallVec, smallvec};

use super::memory::Spaces;
use crate::analysis::{Across, Cfg, Shape, Shapes};
use crate::ir::{BinOp, Block, Function, Inst, Mem, Op, Scalar, Type, UnOp, Value};
use crate::launch::LaunchKey;

/// How many elements an access can have, other than one.
const CHUNKS: [usize; 5] = [2, 3, 4, 8, 16];
/// The most values looked through to take an address apart.
const STEPS: usize = 32;
/// Shapes are asked of so many work-items next to each other.
const LANES: u8 = 8;
const SPACES: usize = 5;

/// Groups what is worth it. Returns whether there was anything.
pub fn run(func: &mut Function) -> bool {
    let mut runs = Vec::new();
    for &block in &func.layout {
        find_runs(func, block, &mut runs);
    }
    if runs.is_empty() {
        return false;
    }
    let cfg = Cfg::new(func);
    let key = LaunchKey::usual(LANES);
    let shapes = Shapes::new(func, &cfg, &key, Across::Chunk(LANES));
    let mut edits = Edits::default();
    let mut changed: Vec<Block> = Vec::new();
    for run in &runs {
        let distance = distance(func, &shapes, run);
        let mut rest = run.accesses.as_slice();
        while rest.len() > 1 {
            let n = run.longest_chunk(rest, distance);
            if n > 1 {
                edits.group(func, run, &rest[..n]);
                changed.push(run.block);
            }
            rest = &rest[n..];
        }
    }
    changed.dedup();
    for &block in &changed {
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            kept.append(&mut edits.before[inst]);
            if !edits.gone[inst] {
                kept.push(inst);
            }
        }
        func.blocks[block].insts = kept;
    }
    func.replace_uses(&edits.replace);
    !changed.is_empty()
}

/// An address taken apart.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Address {
    base: Value,
    /// 64-bit integers with what they are multiplied by, not 0, in the order of values.
    terms: SmallVec<[(Value, u64); 4]>,
}

impl Address {
    /// The address that a pointer holds, and its constant part.
    fn new(func: &Function, pointer: Value) -> (Address, u64) {
        let mut base = pointer;
        let mut constant = 0u64;
        let mut terms: SmallVec<[(Value, u64); 4]> = smallvec![];
        let mut work: SmallVec<[(Value, u64); 8]> = smallvec![];
        let mut steps = 0;
        let def = |value: Value| func.def_inst(value).map(|inst| &func.insts[inst]);
        while let Some(data) = def(base).filter(|data| data.op == Op::PtrAdd && steps < STEPS) {
            steps += 1;
            work.push((data.args[1], 1));
            base = data.args[0];
        }
        while let Some((value, by)) = work.pop() {
            steps += 1;
            let Some(data) = def(value).filter(|_| steps < 2 * STEPS) else {
                terms.push((value, by));
                continue;
            };
            let args = &data.args;
            let known = |n: usize| func.as_const(args[n]);
            match data.op {
                Op::Const(bits) => constant = constant.wrapping_add(bits.wrapping_mul(by)),
                Op::Unary(UnOp::INeg) => work.push((args[0], by.wrapping_neg())),
                Op::Binary(BinOp::IAdd, _) => work.extend([(args[0], by), (args[1], by)]),
                Op::Binary(BinOp::ISub, _) => {
                    work.extend([(args[0], by), (args[1], by.wrapping_neg())]);
                }
                Op::Binary(BinOp::IMul, _) if let Some(k) = known(1) => {
                    work.push((args[0], by.wrapping_mul(k)));
                }
                Op::Binary(BinOp::Shl, _) if let Some(k) = known(1) => {
                    work.push((args[0], by << (k % 64)));
                }
                _ => terms.push((value, by)),
            }
        }
        terms.sort_unstable();
        terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.wrapping_add(next.1);
            }
            same
        });
        terms.retain(|term| term.1 != 0);
        (Address { base, terms }, constant)
    }
}

/// What neighbours have in common.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Neighbours {
    address: Address,
    scalar: Scalar,
    /// But for the alignment.
    mem: Mem,
    stores: bool,
}

/// One access of a run.
#[derive(Clone, Copy)]
struct Access {
    offset: i64,
    inst: Inst,
    /// Its place in the block.
    at: usize,
    /// Elements next to each other.
    count: usize,
}

/// Neighbours at consecutive elements, in that order.
struct Run {
    block: Block,
    neighbours: Neighbours,
    size: u64,
    accesses: Vec<Access>,
}

impl Run {
    /// How many of its accesses, from the first of `rest` on, are the longest chunk that there is,
    /// where those of work-items next to each other are `distance` bytes apart.
    fn longest_chunk(&self, rest: &[Access], distance: u64) -> usize {
        let mut elements = 0;
        let mut longest = 1;
        for (n, access) in rest.iter().enumerate() {
            elements += access.count;
            if elements > CHUNKS[CHUNKS.len() - 1] || elements as u64 * self.size > distance {
                break;
            }
            if CHUNKS.contains(&elements) {
                longest = n + 1;
            }
        }
        longest
    }
}

/// A run of stores has at most so many.
const STORES: usize = 64;

/// The access that an instruction is, if it may be grouped, the constant part of its address, and
/// how many elements it has.
fn candidate(func: &Function, inst: Inst) -> Option<(Neighbours, i64, usize)> {
    let data = &func.insts[inst];
    let (mem, values, stores) = match (&data.op, data.args.as_slice(), data.results.as_slice()) {
        (Op::Load(mem), [_], results) => (*mem, results, false),
        (Op::Store(mem), [_, values @ ..], []) => (*mem, values, true),
        _ => return None,
    };
    let ty = func.ty(*values.first()?);
    let plain = !mem.volatile && !mem.masked && ty.is_scalar();
    if !plain || !(ty.scalar.is_int() || ty.scalar.is_float()) {
        return None;
    }
    let (address, offset) = Address::new(func, data.args[0]);
    let neighbours = Neighbours {
        address,
        scalar: ty.scalar,
        mem: Mem { align: 1, ..mem },
        stores,
    };
    Some((neighbours, offset as i64, values.len()))
}

/// Appends the runs of a block.
fn find_runs(func: &Function, block: Block, runs: &mut Vec<Run>) {
    let mut found: Vec<(Neighbours, Vec<Access>)> = Vec::new();
    // Changes, by space, when something may write there.
    let mut epochs = [0u32; SPACES];
    let mut loads: HashMap<(u32, Neighbours), usize> = HashMap::new();
    // Any other store, and any load, ends a run of stores that it may meet.
    let mut stores: [Option<usize>; SPACES] = [None; SPACES];
    for (at, &inst) in func.blocks[block].insts.iter().enumerate() {
        let op = &func.insts[inst].op;
        let touched = Spaces::touched_by(op);
        let written = Spaces::written_by(op);
        let mut goes_on = None;
        if let Some((neighbours, offset, count)) = candidate(func, inst) {
            let space = neighbours.mem.space as usize;
            let run = if neighbours.stores {
                let size = u64::from(neighbours.scalar.bytes());
                // Stores that overlap must stay in order.
                let apart = |a: &Access| {
                    let first = if a.offset < offset { a.count } else { count };
                    let between = a.offset.wrapping_sub(offset).unsigned_abs();
                    between >= first as u64 * size
                };
                let run = stores[space].filter(|&run| {
                    let (other, accesses) = &found[run];
                    *other == neighbours && accesses.len() < STORES && accesses.iter().all(apart)
                });
                run.unwrap_or(found.len())
            } else {
                *loads
                    .entry((epochs[space], neighbours.clone()))
                    .or_insert(found.len())
            };
            if neighbours.stores {
                goes_on = Some((space, run));
            }
            if run == found.len() {
                found.push((neighbours, Vec::new()));
            }
            found[run].1.push(Access {
                offset,
                inst,
                at,
                count,
            });
        }
        for space in touched.iter() {
            stores[space as usize] = None;
        }
        for space in written.iter() {
            epochs[space as usize] += 1;
        }
        if let Some((space, run)) = goes_on {
            stores[space] = Some(run);
        }
    }
    for (neighbours, mut accesses) in found {
        accesses.sort_by_key(|a| (a.offset, a.at));
        accesses.dedup_by_key(|a| a.offset);
        let size = i64::from(neighbours.scalar.bytes());
        let is_next =
            |a: &Access, b: &Access| b.offset.checked_sub(a.offset) == Some(a.count as i64 * size);
        for consecutive in accesses.chunk_by(is_next) {
            if consecutive.len() > 1 {
                runs.push(Run {
                    block,
                    neighbours: neighbours.clone(),
                    size: size as u64,
                    accesses: consecutive.to_vec(),
                });
            }
        }
    }
}

/// How many bytes at least are between where work-items next to each other access a run's first
/// element; 0 if that is the same place.
fn distance(func: &Function, shapes: &Shapes, run: &Run) -> u64 {
    let first = func.insts[run.accesses[0].inst].args[0];
    match shapes.of(first) {
        Shape::Unknown | Shape::Uniform => 0,
        Shape::Affine(stride) | Shape::Guarded(stride, _) => stride.unsigned_abs(),
        Shape::Varying => {
            let terms = run.neighbours.address.terms.iter();
            let apart = terms.filter_map(|&(term, by)| match shapes.of(term) {
                Shape::Unknown | Shape::Uniform => None,
                Shape::Affine(stride) | Shape::Guarded(stride, _) => {
                    Some((by as i64).wrapping_mul(stride).unsigned_abs())
                }
                Shape::Varying => Some((by as i64).unsigned_abs()),
            });
            // If none varies the base does, and may be anything.
            apart.min().unwrap_or(u64::MAX)
        }
    }
}

/// What to change in the blocks.
#[derive(Default)]
struct Edits {
    /// Instructions to place before another.
    before: SecondaryMap<Inst, Vec<Inst>>,
    gone: SecondaryMap<Inst, bool>,
    replace: SecondaryMap<Value, PackedOption<Value>>,
}

impl Edits {
    /// Makes one access of several to consecutive elements.
    fn group(&mut self, func: &mut Function, run: &Run, accesses: &[Access]) {
        let low = accesses[0];
        let in_order = |a: &&Access| a.at;
        let anchor = if run.neighbours.stores {
            accesses.iter().max_by_key(in_order)
        } else {
            accesses.iter().min_by_key(in_order)
        };
        let anchor = anchor.expect("several accesses");
        let loc = func.insts[anchor.inst].loc;
        let mem = Mem {
            align: alignment(func, accesses),
            ..run.neighbours.mem
        };
        let insts = if run.neighbours.stores {
            let mut args: SmallVec<[Value; 8]> = smallvec![func.insts[low.inst].args[0]];
            let stored = |a: &Access| func.insts[a.inst].args[1..].to_vec();
            args.extend(accesses.iter().flat_map(stored));
            vec![func.make_inst(Op::Store(mem), &args, &[], loc)]
        } else {
            let mut insts = Vec::new();
            // The address of the first element may not have been computed yet.
            let mut address = func.insts[anchor.inst].args[0];
            let back = low.offset.wrapping_sub(anchor.offset);
            if back != 0 {
                let bytes = func.make_inst(Op::Const(back as u64), &[], &[Type::I64], loc);
                let bytes_value = func.insts[bytes].results[0];
                let args = [address, bytes_value];
                let moved = func.make_inst(Op::PtrAdd, &args, &[func.ty(address)], loc);
                address = func.insts[moved].results[0];
                insts.extend([bytes, moved]);
            }
            let ty = Type::new(run.neighbours.scalar, 1);
            let count = accesses.iter().map(|access| access.count).sum();
            let load = func.make_inst(Op::Load(mem), &[address], &vec![ty; count], loc);
            let old = accesses.iter().flat_map(|a| &func.insts[a.inst].results);
            for (&old, &new) in old.zip(&func.insts[load].results) {
                self.replace[old] = new.into();
            }
            insts.push(load);
            insts
        };
        self.before[anchor.inst].extend(insts);
        for access in accesses {
            self.gone[access.inst] = true;
        }
    }
}

/// What is known of the alignment of the first element: its own, and what that of others leaves.
fn alignment(func: &Function, accesses: &[Access]) -> u32 {
    let low = accesses[0].offset;
    let known = accesses.iter().map(|access| {
        let align = match func.insts[access.inst].op {
            Op::Load(mem) | Op::Store(mem) => mem.align,
            _ => 1,
        };
        let from_first = access.offset.wrapping_sub(low);
        let shared = from_first.trailing_zeros().min(align.trailing_zeros());
        1 << shared
    });
    known.max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use crate::ir::{Stage, parse, verify::verify};

    /// The function after grouping accesses to `v0 + 12 * id + n` for `n` in multiples of 4, and to
    /// the same in `v1`.
    fn grouped(body: &str) -> String {
        let mut text = "func \"f\" (ptr, ptr, f32) -> () {\nblock0(v0: ptr, v1: ptr, v2: f32):\n\
            v3: i64 = dim_query.global_id.0\nv4: i64 = const 0xc\nv5: i64 = imul v3, v4\n"
            .to_owned();
        for (name, base) in [("10", 0), ("20", 1)] {
            text += &format!("v{name}: ptr = ptr_add v{base}, v5\n");
            for n in 1..4 {
                let value = name.parse::<u32>().unwrap() + n;
                text += &format!("v{}: i64 = const {:#x}\n", value + 20, 4 * n);
                text += &format!("v{value}: ptr = ptr_add v{name}, v{}\n", value + 20);
            }
        }
        text += &format!("{body}\nret\n}}");
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        super::run(func);
        verify(func, Stage::Scalarized, None).unwrap();
        func.to_string()
    }

    fn load(value: u32, at: u32) -> String {
        format!("v{value}: f32 = load.global.align4 v{at}\n")
    }

    fn store(at: u32, value: u32) -> String {
        format!("store.global.align4 v{at}, v{value}\n")
    }

    #[test]
    fn three_loads_in_any_order_are_one() {
        let text = grouped(&(load(50, 12) + &load(51, 10) + &load(52, 11)));
        assert_eq!(text.matches("= load").count(), 1, "{text}");
        assert!(text.contains(": f32, v"), "{text}");
    }

    #[test]
    fn vectors_end_to_end_are_one() {
        let pair = |value: u32, at: u32| {
            format!(
                "v{value}: f32, v{}: f32 = load.global.align4 v{at}\n",
                value + 1
            )
        };
        let text = grouped(&(load(50, 12) + &pair(51, 10)));
        assert_eq!(text.matches("= load").count(), 1, "{text}");
        // The second element of one is the first of the other.
        let text = grouped(&(pair(50, 10) + &pair(52, 11)));
        assert_eq!(text.matches("= load").count(), 2, "{text}");
        let stores = grouped("store.global.align4 v11, v2, v2\nstore.global.align4 v10, v2\n");
        assert_eq!(stores.matches("store.global").count(), 1, "{stores}");
        let stores = grouped("store.global.align4 v10, v2, v2\nstore.global.align4 v11, v2\n");
        assert_eq!(stores.matches("store.global").count(), 2, "{stores}");
    }

    #[test]
    fn loads_are_not_moved_over_what_may_write() {
        let loads = |between: &str| {
            let text = grouped(&(load(50, 10) + between + &load(51, 11)));
            text.matches("= load").count()
        };
        assert_eq!(loads(""), 1);
        assert_eq!(loads(&load(52, 20)), 2);
        assert_eq!(loads("store.local.align4 v20, v2\n"), 1);
        assert_eq!(loads(&store(20, 2)), 2);
        assert_eq!(loads("barrier.workgroup.acqrel.global\n"), 2);
    }

    #[test]
    fn stores_are_not_moved_over_what_may_read() {
        let stores = |between: &str| {
            let text = grouped(&(store(11, 2) + between + &store(10, 2)));
            text.matches("store.global").count()
        };
        assert_eq!(stores(""), 1);
        assert_eq!(stores(&load(50, 20)), 2);
        assert_eq!(stores("v50: f32 = load.local.align4 v20\n"), 1);
        assert_eq!(stores("store.global.align1 v12, v3\n"), 3);
        assert_eq!(stores("fence.device.acqrel.global\n"), 2);
        // The second of two stores to one element starts another run.
        assert_eq!(stores(&store(11, 2)), 2);
    }

    #[test]
    fn elements_that_the_next_work_item_accesses_as_well_are_left_alone() {
        // Four elements of 4 bytes every 12 bytes: three, and the next work-item's first.
        let text = grouped(&(load(50, 10) + &load(51, 11) + &load(52, 12) + &load(53, 13)));
        assert_eq!(text.matches("= load").count(), 2, "{text}");
        // The same place for all.
        let uniform = "v50: f32 = load.global.align4 v0\nv51: ptr = ptr_add v0, v31\nv52: f32 = load.global.align4 v51\n";
        assert_eq!(grouped(uniform).matches("= load").count(), 2);
    }
}
