//! Value numbering: an instruction that computes again what is known is dropped.
//!
//! The dominator tree is walked in pre-order with a hash table of what the dominators computed;
//! entries a subtree made are undone when it is left. An entry is an operation with its operands
//! (the two of a commutative one in order) and result types; address arithmetic is the same whether
//! or not it is known not to overflow.
//!
//! Loads are numbered with the *epoch* of their address space, a number that changes whenever
//! something may write there (`memory.rs`); so are reads of images. A block with one predecessor
//! goes on with that block's epochs, any other starts fresh ones. A plain store also makes known
//! what a load of the same place gives. Constant memory never changes, so its loads are like pure
//! operations.
//!
//! Linear but for hashing. The table keeps no copy of an instruction: entries refer to it, those
//! with one hash are chained, and the newest is the first to be undone.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::memory::Spaces;
use crate::ir::{
    Block, DominatorTree, Function, Image, Inst, InstData, Mem, Op, Scalar, Type, Value, Wrap,
};
use crate::kernel_info::AddressSpace;

/// Removes repeated computations. Returns whether there were any.
pub fn run(func: &mut Function) -> bool {
    let dominators = DominatorTree::new(func);
    let preds = func.predecessors();
    let mut pass = Pass {
        func,
        entries: Vec::new(),
        newest: HashMap::default(),
        replace: SecondaryMap::new(),
        epochs: [0; SPACES],
        next_epoch: 1,
        changed: false,
    };
    let mut at_end: SecondaryMap<Block, Option<[u32; SPACES]>> = SecondaryMap::new();
    // How many entries are the dominators'; those behind are undone before the next block.
    let mut known = 0;
    let mut stack = vec![Step::Enter(pass.func.entry())];
    while let Some(step) = stack.pop() {
        match step {
            Step::Leave(mark) => known = mark,
            Step::Enter(block) => {
                pass.undo_to(known);
                pass.epochs = match preds[block].as_slice() {
                    [only] => at_end[*only].unwrap_or_else(|| pass.fresh_epochs()),
                    _ => pass.fresh_epochs(),
                };
                stack.push(Step::Leave(pass.entries.len()));
                pass.block(block);
                known = pass.entries.len();
                at_end[block] = Some(pass.epochs);
                let children = dominators.children(block).iter().rev();
                stack.extend(children.map(|&child| Step::Enter(child)));
            }
        }
    }
    let Pass {
        replace, changed, ..
    } = pass;
    if changed {
        func.replace_uses(&replace);
    }
    changed
}

enum Step {
    Enter(Block),
    /// Only so many entries are of dominators of what follows.
    Leave(usize),
}

/// What an instruction gave, at an epoch of its memory.
struct Entry {
    hash: u64,
    /// A store stands for the load that it makes known.
    inst: Inst,
    epoch: u32,
    /// The entry with the same hash before it, or [`NO_ENTRY`].
    previous: u32,
}

const NO_ENTRY: u32 = u32::MAX;

/// A fast hash of small integers (the multiplicative one of Firefox); nothing here is chosen by an
/// adversary who gains by collisions, which only cost comparisons.
#[derive(Default)]
pub(super) struct Fx(u64);

impl Hasher for Fx {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}

const SPACES: usize = 5;

struct Pass<'a> {
    func: &'a mut Function,
    entries: Vec<Entry>,
    /// The newest entry of each hash.
    newest: HashMap<u64, u32, BuildHasherDefault<Fx>>,
    replace: SecondaryMap<Value, PackedOption<Value>>,
    /// By address space.
    epochs: [u32; SPACES],
    next_epoch: u32,
    changed: bool,
}

impl Pass<'_> {
    fn fresh(&mut self) -> u32 {
        self.next_epoch += 1;
        self.next_epoch
    }

    fn fresh_epochs(&mut self) -> [u32; SPACES] {
        std::array::from_fn(|_| self.fresh())
    }

    fn undo_to(&mut self, mark: usize) {
        while self.entries.len() > mark {
            if let Some(entry) = self.entries.pop() {
                self.newest.insert(entry.hash, entry.previous);
            }
        }
    }

    fn remember(&mut self, hash: u64, inst: Inst, epoch: u32) {
        let index = self.entries.len() as u32;
        let previous = self.newest.insert(hash, index).unwrap_or(NO_ENTRY);
        self.entries.push(Entry {
            hash,
            inst,
            epoch,
            previous,
        });
    }

    /// The values that an entry knows for an instruction, if it is one that computes the same.
    fn values_for(&self, entry: &Entry, inst: Inst, epoch: u32) -> Option<SmallVec<[Value; 2]>> {
        let (known, data) = (&self.func.insts[entry.inst], &self.func.insts[inst]);
        let (args, values) = match known.op {
            Op::Store(mem) if data.op == Op::Load(mem) => known.args.split_at(1),
            _ if known.op == data.op || same_but_for_flags(self.func, known, data) => {
                (known.args.as_slice(), known.results.as_slice())
            }
            _ => return None,
        };
        let types = |values: &[Value]| -> SmallVec<[Type; 2]> {
            values.iter().map(|&v| self.func.ty(v)).collect()
        };
        let same = entry.epoch == epoch
            && args == data.args.as_slice()
            && types(values) == types(&data.results);
        same.then(|| SmallVec::from_slice(values))
    }

    fn resolve(&self, value: Value) -> Value {
        match self.replace.get(value).and_then(|r| r.expand()) {
            Some(known) => known,
            None => value,
        }
    }

    fn block(&mut self, block: Block) {
        let insts = std::mem::take(&mut self.func.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            for i in 0..self.func.insts[inst].args.len() {
                let arg = self.func.insts[inst].args[i];
                self.func.insts[inst].args[i] = self.resolve(arg);
            }
            if !self.known(inst) {
                kept.push(inst);
            }
        }
        self.func.blocks[block].insts = kept;
    }

    /// Whether the instruction's results are known; if so they are replaced, else remembered.
    fn known(&mut self, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        let epoch = match &data.op {
            Op::Load(Mem {
                space,
                volatile: false,
                ..
            })
            | Op::ImageRead(Image { space, .. }) => match space {
                AddressSpace::Constant => 0,
                &space => self.epochs[space as usize],
            },
            op if op.is_pure() => 0,
            _ => {
                self.effect(inst);
                return false;
            }
        };
        if let Op::Binary(op, _) = data.op
            && op.is_commutative()
            && data.args[0] > data.args[1]
            && self.func.as_const(data.args[1]).is_none()
        {
            self.func.insts[inst].args.swap(0, 1);
        }
        let data = &self.func.insts[inst];
        let hash = match data.op {
            Op::Binary(op, _) if flags_do_not_matter(self.func, data) => {
                hash(&Op::Binary(op, Wrap::default()), &data.args, epoch)
            }
            _ => hash(&data.op, &data.args, epoch),
        };
        let mut index = self.newest.get(&hash).copied().unwrap_or(NO_ENTRY);
        while let Some(entry) = self.entries.get(index as usize) {
            if let Some(values) = self.values_for(entry, inst, epoch) {
                let entry = entry.inst;
                for (&result, value) in data.results.iter().zip(values) {
                    self.replace[result] = value.into();
                }
                weaken(self.func, entry, inst);
                self.changed = true;
                return true;
            }
            index = entry.previous;
        }
        self.remember(hash, inst, epoch);
        false
    }

    fn effect(&mut self, inst: Inst) {
        let op = &self.func.insts[inst].op;
        let store = match op {
            Op::Store(mem) => Some(*mem),
            _ => None,
        };
        for space in Spaces::written_by(op).iter() {
            self.epochs[space as usize] = self.fresh();
        }
        if let Some(mem) = store {
            self.remember_store(inst, mem);
        }
    }

    /// A load of just what was stored gives that back. Not so for a masked store, whose other lanes
    /// it leaves alone.
    fn remember_store(&mut self, inst: Inst, mem: Mem) {
        if mem.volatile || mem.masked {
            return;
        }
        let data = &self.func.insts[inst];
        let ty = self.func.ty(data.args[1]);
        // Lanes of a strided or scattered store may overlap, and then the last one wins.
        let overlaps = ty.lanes > 1
            && if self.func.ty(data.args[0]).is_scalar() {
                let bytes = u64::from(ty.scalar.bytes()) * (data.args.len() as u64 - 1);
                // A huge stride comes round: twice 2^63 is no distance at all.
                let apart = |lanes: i64| mem.stride.wrapping_mul(lanes).unsigned_abs();
                mem.stride != 0 && (1..i64::from(ty.lanes)).any(|lanes| apart(lanes) < bytes)
            } else {
                true
            };
        if !overlaps {
            let epoch = self.epochs[mem.space as usize];
            let hash = hash(&Op::Load(mem), &data.args[..1], epoch);
            self.remember(hash, inst, epoch);
        }
    }
}

/// Only what was known of both is known of one that stands for both.
pub(super) fn weaken(func: &mut Function, kept: Inst, dropped: Inst) {
    if let (&Op::Binary(op, a), &Op::Binary(_, b)) = (&func.insts[kept].op, &func.insts[dropped].op)
    {
        let both = Wrap {
            nsw: a.nsw && b.nsw,
            nuw: a.nuw && b.nuw,
            strict: a.strict || b.strict,
        };
        func.insts[kept].op = Op::Binary(op, both);
    }
}

/// The flags of 64-bit arithmetic say nothing that anyone asks; narrower sums are widened on their
/// word.
pub(super) fn flags_do_not_matter(func: &Function, data: &InstData) -> bool {
    func.ty(data.args[0]).scalar == Scalar::I64
}

fn same_but_for_flags(func: &Function, a: &InstData, b: &InstData) -> bool {
    matches!((&a.op, &b.op), (Op::Binary(x, _), Op::Binary(y, _)) if x == y)
        && flags_do_not_matter(func, a)
}

pub(super) fn hash(op: &Op, args: &[Value], epoch: u32) -> u64 {
    let mut hasher = Fx::default();
    op.hash(&mut hasher);
    args.hash(&mut hasher);
    epoch.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use crate::ir::{Stage, parse, verify::verify};

    fn numbered(body: &str) -> String {
        let text = format!(
            "func \"f\" (ptr, i32, i1) -> () {{\nblock0(v0: ptr, v1: i32, v2: i1):\n{body}\n}}"
        );
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        super::run(func);
        verify(func, Stage::Translated, None).unwrap();
        func.to_string()
    }

    #[test]
    fn a_dominating_computation_is_used_again_a_sibling_is_not() {
        let text = numbered(
            "v3: i32 = iadd v1, v1\ncond_br v2, block1, block2\n\
             block1:\nv4: i32 = iadd v1, v1\nv5: i32 = imul v4, v1\nstore.global.align4 v0, v5\nret\n\
             block2:\nv6: i32 = imul v1, v3\nstore.global.align4 v0, v6\nret",
        );
        assert_eq!(text.matches("iadd").count(), 1, "{text}");
        assert_eq!(text.matches("imul").count(), 2, "{text}");
    }

    #[test]
    fn a_load_is_repeated_after_what_may_have_written() {
        let load = |n: u32| format!("v{n}: i32 = load.global.align4 v0\n");
        let keep = |n: u32| format!("atomic_store.local.device.relaxed v0, v{n}\n");
        let loads = |between: &str| {
            let body = format!(
                "{}{between}\n{}v20: i32 = iadd v10, v11\n{}ret",
                load(10),
                load(11),
                keep(20)
            );
            numbered(&body).matches("= load").count()
        };
        assert_eq!(loads(""), 1);
        assert_eq!(loads("store.local.align4 v0, v1"), 1);
        assert_eq!(loads("store.private.align4 v0, v1"), 1);
        assert_eq!(loads("br block1\nblock1:"), 1);
        assert_eq!(loads("store.global.align1 v0, v2"), 2);
        assert_eq!(loads("store.generic.align4 v0, v1"), 2);
        assert_eq!(loads("barrier.workgroup.acqrel.local"), 2);
        assert_eq!(loads("mem_copy.4.align4 v0, v0"), 2);
        assert_eq!(
            loads("cond_br v2, block2, block1\nblock2:\nbr block1\nblock1:"),
            2
        );
    }

    #[test]
    fn a_texel_is_read_again_after_what_may_have_written_images() {
        let reads = |space: &str, between: &str| {
            let read = |n: u32| format!("v{n}: i32 = image_read.{space}.1d.int v0, v1, v1\n");
            let body = format!(
                "{}{between}\n{}v20: i32 = iadd v10, v11\n\
                 atomic_store.local.device.relaxed v0, v20\nret",
                read(10),
                read(11),
            );
            numbered(&body).matches("= image_read").count()
        };
        let write = "image_write.global.1d.int v0, v1, v1";
        assert_eq!(reads("constant", write), 1);
        assert_eq!(reads("constant", "store.generic.align4 v0, v1"), 1);
        assert_eq!(reads("global", ""), 1);
        assert_eq!(reads("global", "store.local.align4 v0, v1"), 1);
        assert_eq!(reads("global", write), 2);
        assert_eq!(reads("global", "store.global.align4 v0, v1"), 2);
        assert_eq!(reads("global", "barrier.workgroup.acqrel.global"), 2);
        // And a write is one to all of global memory.
        let text = numbered(
            "v3: i32 = load.global.align4 v0\nimage_write.global.1d.int v0, v1, v3\n\
             v4: i32 = load.global.align4 v0\nimage_write.global.1d.int v0, v1, v4\nret",
        );
        assert_eq!(text.matches("= load").count(), 2, "{text}");
        let text = numbered(
            "v3: i32 = image_query.width v0\nimage_write.global.1d.int v0, v1, v3\n\
             v4: i32 = image_query.width v0\nimage_write.global.1d.int v0, v1, v4\nret",
        );
        assert_eq!(text.matches("image_query").count(), 1, "{text}");
    }

    #[test]
    fn a_load_gets_what_was_just_stored() {
        let text = numbered(
            "store.private.align4 v0, v1\nv3: i32 = load.private.align4 v0\nstore.global.align4 v0, v3\nret",
        );
        assert!(!text.contains("load"), "{text}");
    }
}
