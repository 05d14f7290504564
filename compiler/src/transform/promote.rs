//! Private memory to SSA.
//!
//! An `alloca` is *candidate* when every use of its address, also through `ptr_add`s of constants,
//! is the address of a plain load, store or copy inside it. Its bytes are divided into *slices*
//! such that each element any access moves is made of whole slices (`sroa.rs`); a slice then
//! behaves like a variable and becomes SSA values:
//!
//! 1. *Scan.* Find candidates and their accesses (one walk in reverse post-order).
//! 2. *Slice.* Choose slices and a scalar type for each: the one it is mostly accessed as.
//! 3. *Parameters.* For each slice, find where it is live (backwards from loads not preceded by a
//!    store in their block), and give a block parameter to the live blocks of the iterated
//!    dominance frontier of its stores (Sreedhar and Gao, "A linear time algorithm for placing
//!    phi-nodes", 1995).
//! 4. *Rename.* Walk the dominator tree with the current value of every slice; loads become that
//!    value, stores set it, jumps pass it on. An element of another type or of several slices is
//!    put together with bitcasts, shifts and ors.
//!
//! What is read before it is written is 0. Cost: instructions, plus for each slice the blocks where
//! it is live and those its stores dominate; near linear on what compilers write.

use std::collections::BinaryHeap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::simplify_cfg::remove_unreachable;
use super::sroa::{self, Candidates, Slice, SliceId};
use crate::ir::{
    BinOp, Block, ConvertOp, DominatorTree, Function, Inst, IntCC, Mem, Op, Rounding, Scalar,
    SourceLoc, Type, Value, Wrap,
};

/// Promotes what can be. Returns whether anything was.
pub fn run(func: &mut Function) -> bool {
    let mut changed = remove_unreachable(func);
    let candidates = sroa::find(func);
    if candidates.slices.is_empty() && candidates.dead.is_empty() {
        return changed;
    }
    changed = true;
    let dominators = DominatorTree::new(func);
    let phis = Placement::new(func, &candidates, &dominators).run();
    Renamer::new(func, &candidates, phis).run(&dominators);
    changed
}

/// The parameters each block gets: which slice, in order.
type Phis = SecondaryMap<Block, Vec<(SliceId, Value)>>;

struct Placement<'a> {
    func: &'a mut Function,
    candidates: &'a Candidates,
    dominators: &'a DominatorTree,
    preds: SecondaryMap<Block, SmallVec<[Block; 4]>>,
    /// Blocks that set each slice, and that read it before they set it.
    defs: Vec<Vec<Block>>,
    uses: Vec<Vec<Block>>,
}

impl<'a> Placement<'a> {
    fn new(
        func: &'a mut Function,
        candidates: &'a Candidates,
        dominators: &'a DominatorTree,
    ) -> Placement<'a> {
        let count = candidates.slices.len();
        let mut defs: Vec<Vec<Block>> = vec![Vec::new(); count];
        let mut uses: Vec<Vec<Block>> = vec![Vec::new(); count];
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                candidates.accesses(func, inst, |slice, writes| {
                    let n = slice.0 as usize;
                    if writes {
                        if defs[n].last() != Some(&block) {
                            defs[n].push(block);
                        }
                    } else if defs[n].last() != Some(&block) && uses[n].last() != Some(&block) {
                        uses[n].push(block);
                    }
                });
            }
        }
        Placement {
            preds: func.predecessors(),
            func,
            candidates,
            dominators,
            defs,
            uses,
        }
    }

    fn run(self) -> Phis {
        let mut phis: Phis = SecondaryMap::new();
        phis.resize(self.func.blocks.len());
        // Marks hold the number of the slice that set them, so that nothing is cleared between
        // slices.
        let mut is_def: SecondaryMap<Block, u32> = SecondaryMap::new();
        let mut live: SecondaryMap<Block, u32> = SecondaryMap::new();
        let mut walked: SecondaryMap<Block, u32> = SecondaryMap::new();
        let mut placed: SecondaryMap<Block, u32> = SecondaryMap::new();
        let mut work: Vec<Block> = Vec::new();
        for n in 0..self.candidates.slices.len() {
            if self.uses[n].is_empty() {
                continue;
            }
            let mark = n as u32 + 1;
            for &block in &self.defs[n] {
                is_def[block] = mark;
            }
            work.extend(&self.uses[n]);
            while let Some(block) = work.pop() {
                if std::mem::replace(&mut live[block], mark) != mark {
                    let preds = self.preds[block].iter().copied();
                    work.extend(preds.filter(|&pred| is_def[pred] != mark));
                }
            }
            // Deepest first: a subtree is then walked once.
            let mut queue: BinaryHeap<(u32, Block)> = self.defs[n]
                .iter()
                .map(|&block| (self.dominators.depth(block), block))
                .collect();
            while let Some((depth, root)) = queue.pop() {
                if std::mem::replace(&mut walked[root], mark) != mark {
                    work.push(root);
                }
                while let Some(block) = work.pop() {
                    for succ in self.func.successors(block) {
                        if self.dominators.depth(succ) > depth
                            || std::mem::replace(&mut placed[succ], mark) == mark
                        {
                            continue;
                        }
                        if live[succ] != mark {
                            continue;
                        }
                        // The value is filled in below, when the function may be changed.
                        phis[succ].push((SliceId(n as u32), Value::from_u32(0)));
                        if is_def[succ] != mark {
                            queue.push((self.dominators.depth(succ), succ));
                        }
                    }
                    for &child in self.dominators.children(block) {
                        if std::mem::replace(&mut walked[child], mark) != mark {
                            work.push(child);
                        }
                    }
                }
            }
        }
        for index in 0..self.func.layout.len() {
            let block = self.func.layout[index];
            for (slice, value) in &mut phis[block] {
                let ty = self.candidates.slices[slice.0 as usize].ty;
                *value = self.func.add_param(block, Type::new(ty, 1));
            }
        }
        phis
    }
}

struct Renamer<'a> {
    func: &'a mut Function,
    candidates: &'a Candidates,
    phis: Phis,
    current: Vec<PackedOption<Value>>,
    undo: Vec<(SliceId, PackedOption<Value>)>,
    replace: SecondaryMap<Value, PackedOption<Value>>,
    /// The current block's instructions so far.
    out: Vec<Inst>,
    loc: SourceLoc,
    /// Zeros made at the start of the entry block for what is read before it is written.
    zeros: Vec<(Scalar, Value)>,
    zero_insts: Vec<Inst>,
}

enum Step {
    Enter(Block),
    /// Undo down to this many.
    Leave(usize),
}

impl<'a> Renamer<'a> {
    fn new(func: &'a mut Function, candidates: &'a Candidates, phis: Phis) -> Renamer<'a> {
        Renamer {
            func,
            phis,
            current: vec![PackedOption::default(); candidates.slices.len()],
            candidates,
            undo: Vec::new(),
            replace: SecondaryMap::new(),
            out: Vec::new(),
            loc: SourceLoc::default(),
            zeros: Vec::new(),
            zero_insts: Vec::new(),
        }
    }

    fn run(mut self, dominators: &DominatorTree) {
        let mut stack = vec![Step::Enter(self.func.entry())];
        while let Some(step) = stack.pop() {
            match step {
                Step::Leave(mark) => {
                    while self.undo.len() > mark {
                        if let Some((slice, old)) = self.undo.pop() {
                            self.current[slice.0 as usize] = old;
                        }
                    }
                }
                Step::Enter(block) => {
                    stack.push(Step::Leave(self.undo.len()));
                    self.block(block);
                    let children = dominators.children(block).iter().rev();
                    stack.extend(children.map(|&child| Step::Enter(child)));
                }
            }
        }
        let entry = self.func.entry();
        self.func.blocks[entry].insts.splice(0..0, self.zero_insts);
        self.func.replace_uses(&self.replace);
    }

    fn block(&mut self, block: Block) {
        for index in 0..self.phis[block].len() {
            let (slice, value) = self.phis[block][index];
            self.set(slice, value);
        }
        for inst in std::mem::take(&mut self.func.blocks[block].insts) {
            self.loc = self.func.insts[inst].loc;
            self.inst(inst);
        }
        self.func.blocks[block].insts = std::mem::take(&mut self.out);
        let mut term = self.func.blocks[block].term.clone();
        for call in term.targets_mut() {
            for index in 0..self.phis[call.block].len() {
                let (slice, _) = self.phis[call.block][index];
                let value = self.get(slice);
                call.args.push(value);
            }
        }
        self.func.blocks[block].term = term;
    }

    fn slice(&self, id: SliceId) -> Slice {
        self.candidates.slices[id.0 as usize]
    }

    fn set(&mut self, slice: SliceId, value: Value) {
        let slot = &mut self.current[slice.0 as usize];
        self.undo.push((slice, *slot));
        *slot = value.into();
    }

    fn get(&mut self, slice: SliceId) -> Value {
        match self.current[slice.0 as usize].expand() {
            Some(value) => value,
            None => self.zero(self.slice(slice).ty),
        }
    }

    fn zero(&mut self, scalar: Scalar) -> Value {
        if let Some(&(_, value)) = self.zeros.iter().find(|&&(s, _)| s == scalar) {
            return value;
        }
        let ty = Type::new(scalar, 1);
        let inst = self
            .func
            .make_inst(Op::Const(0), &[], &[ty], SourceLoc::default());
        self.zero_insts.push(inst);
        let value = self.func.insts[inst].results[0];
        self.zeros.push((scalar, value));
        value
    }

    fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let inst = self.func.make_inst(op, args, &[ty], self.loc);
        self.out.push(inst);
        self.func.insts[inst].results[0]
    }

    /// What replaces a value that was loaded; stored values and operands of copies go through here,
    /// so that replacements never form chains.
    fn resolve(&self, value: Value) -> Value {
        match self.replace.get(value).and_then(|r| r.expand()) {
            Some(new) => new,
            None => value,
        }
    }

    fn inst(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        match data.op {
            Op::Alloca { .. } if self.candidates.is_promoted(data.results[0]) => {}
            // Addresses inside it are of no use any more.
            Op::PtrAdd if self.candidates.locate(data.results[0]).is_some() => {}
            Op::Load(_) if self.candidates.locate(data.args[0]).is_some() => self.load(inst),
            Op::Store(_) if self.candidates.locate(data.args[0]).is_some() => self.store(inst),
            Op::MemCopy { .. }
                if data
                    .args
                    .iter()
                    .any(|&a| self.candidates.locate(a).is_some()) =>
            {
                self.copy(inst);
            }
            _ => self.out.push(inst),
        }
    }

    fn load(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        let address = data.args[0];
        let results = data.results.clone();
        let (alloca, mut offset) = self.candidates.locate(address).expect("asked before");
        for result in results {
            let ty = self.func.ty(result);
            let mut lanes: SmallVec<[Value; 16]> = SmallVec::new();
            for _ in 0..ty.lanes {
                lanes.push(self.element(alloca, offset, ty.scalar));
                offset += ty.scalar.bytes();
            }
            let value = if ty.is_scalar() {
                lanes[0]
            } else {
                self.emit(Op::Build, &lanes, ty)
            };
            self.replace[result] = value.into();
        }
    }

    fn store(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        let args = data.args.clone();
        let (alloca, mut offset) = self.candidates.locate(args[0]).expect("asked before");
        for &arg in &args[1..] {
            let arg = self.resolve(arg);
            let ty = self.func.ty(arg);
            for lane in 0..ty.lanes {
                let value = if ty.is_scalar() {
                    arg
                } else {
                    self.emit(Op::Extract(lane), &[arg], ty.lane())
                };
                self.set_element(alloca, offset, value);
                offset += ty.scalar.bytes();
            }
        }
    }

    /// The scalar at an offset, out of its slices.
    fn element(&mut self, alloca: u32, offset: u32, scalar: Scalar) -> Value {
        let ids = self.candidates.covering(alloca, offset, scalar.bytes());
        if let [only] = *ids {
            let value = self.get(only);
            return self.cast(value, scalar);
        }
        let wide = Type::new(Scalar::int(scalar.bytes() * 8).expect("a scalar's size"), 1);
        let mut whole = None;
        for &id in ids {
            let slice = self.slice(id);
            let value = self.get(id);
            let value = self.cast(value, slice.ty.as_memory_int());
            let mut part = self.emit(convert(ConvertOp::ZExt), &[value], wide);
            let shift = u64::from(slice.offset - offset) * 8;
            if shift != 0 {
                let amount = self.emit(Op::Const(shift), &[], wide);
                part = self.emit(binary(BinOp::Shl), &[part, amount], wide);
            }
            whole = Some(match whole {
                None => part,
                Some(low) => self.emit(binary(BinOp::Or), &[low, part], wide),
            });
        }
        let whole = whole.expect("every element has slices");
        self.cast(whole, scalar)
    }

    /// Sets the slices of the scalar at an offset.
    fn set_element(&mut self, alloca: u32, offset: u32, value: Value) {
        let scalar = self.func.ty(value).scalar;
        let ids = self.candidates.covering(alloca, offset, scalar.bytes());
        if let [only] = *ids {
            let value = self.cast(value, self.slice(only).ty);
            self.set(only, value);
            return;
        }
        let whole = self.cast(value, scalar.as_memory_int());
        let wide = self.func.ty(whole);
        for &id in ids {
            let slice = self.slice(id);
            let shift = u64::from(slice.offset - offset) * 8;
            let mut part = whole;
            if shift != 0 {
                let amount = self.emit(Op::Const(shift), &[], wide);
                part = self.emit(binary(BinOp::LShr), &[part, amount], wide);
            }
            let narrow = Type::new(slice.ty.as_memory_int(), 1);
            let part = self.emit(convert(ConvertOp::Trunc), &[part], narrow);
            let part = self.cast(part, slice.ty);
            self.set(id, part);
        }
    }

    /// A copy to or from a promoted slice of memory, slice by slice.
    fn copy(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        let Op::MemCopy { size, align, .. } = data.op else {
            return;
        };
        let size = size as u32;
        let (dst, src) = (data.args[0], data.args[1]);
        let (to, from) = (self.candidates.locate(dst), self.candidates.locate(src));
        match (to, from) {
            (Some((to, to_offset)), Some((from, from_offset))) => {
                // Read everything first: the two may be the same memory.
                let mut moved: SmallVec<[(u32, Value); 8]> = SmallVec::new();
                for &id in self.candidates.covering(from, from_offset, size) {
                    let value = self.get(id);
                    moved.push((self.slice(id).offset - from_offset, value));
                }
                for (at, value) in moved {
                    self.set_element(to, to_offset + at, value);
                }
            }
            (Some((to, to_offset)), None) => {
                for &id in self.candidates.covering(to, to_offset, size) {
                    let slice = self.slice(id);
                    let at = slice.offset - to_offset;
                    let address = self.address(src, at);
                    let mem = Mem::new(
                        crate::kernel_info::AddressSpace::Generic,
                        align_at(align, at),
                    );
                    let ty = Type::new(slice.ty, 1);
                    let value = self.emit(Op::Load(mem), &[address], ty);
                    self.set(id, value);
                }
            }
            (None, Some((from, from_offset))) => {
                for &id in self.candidates.covering(from, from_offset, size) {
                    let at = self.slice(id).offset - from_offset;
                    let value = self.get(id);
                    let address = self.address(dst, at);
                    let mem = Mem::new(
                        crate::kernel_info::AddressSpace::Generic,
                        align_at(align, at),
                    );
                    let args = [address, value];
                    let store = self.func.make_inst(Op::Store(mem), &args, &[], self.loc);
                    self.out.push(store);
                }
            }
            (None, None) => unreachable!("a copy of no candidate is left alone"),
        }
    }

    fn address(&mut self, base: Value, bytes: u32) -> Value {
        if bytes == 0 {
            return base;
        }
        let bytes = self.emit(Op::Const(u64::from(bytes)), &[], Type::I64);
        self.emit(Op::PtrAdd, &[base, bytes], Type::PTR)
    }

    /// The same bits in memory as another scalar of the same size.
    fn cast(&mut self, value: Value, to: Scalar) -> Value {
        let from = self.func.ty(value).scalar;
        let ty = Type::new(to, 1);
        match (from, to) {
            _ if from == to => value,
            (Scalar::I1, _) => self.emit(convert(ConvertOp::ZExt), &[value], ty),
            (_, Scalar::I1) => {
                let zero = self.zero(Scalar::I8);
                self.emit(Op::ICmp(IntCC::Ne), &[value, zero], ty)
            }
            _ => self.emit(convert(ConvertOp::Bitcast), &[value], ty),
        }
    }
}

fn convert(op: ConvertOp) -> Op {
    Op::Convert(op, Rounding::NearestEven)
}

fn binary(op: BinOp) -> Op {
    Op::Binary(op, Wrap::default())
}

/// The alignment known at some bytes after an aligned address.
fn align_at(align: u32, bytes: u32) -> u32 {
    if bytes == 0 {
        align
    } else {
        align.min(1 << bytes.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{Function, Stage, parse, verify::verify};

    fn promoted(body: &str) -> Function {
        let text = format!(
            "func \"f\" (ptr, i32, i1, f32) -> (i32) {{\n\
             block0(v0: ptr, v1: i32, v2: i1, v3: f32):\n{body}\n}}"
        );
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        super::run(func);
        if let Err(error) = verify(func, Stage::Translated, None) {
            panic!("{error}\n{func}");
        }
        func.clone()
    }

    #[test]
    fn a_loop_counter_in_memory_becomes_a_parameter() {
        let func = promoted(
            "v4: ptr = alloca.4.align4\nv5: i32 = const 0\nstore.private.align4 v4, v5\nbr block1\n\
             block1:\nv6: i32 = load.private.align4 v4\nv7: i1 = icmp.slt v6, v1\n\
             cond_br v7, block2, block3\n\
             block2:\nv8: i32 = load.private.align4 v4\nv9: i32 = const 1\nv10: i32 = iadd v8, v9\n\
             store.private.align4 v4, v10\nbr block1\nblock3:\nv11: i32 = load.private.align4 v4\n\
             ret v11",
        );
        let text = func.to_string();
        assert!(
            !text.contains("load") && !text.contains("store") && !text.contains("alloca"),
            "{text}"
        );
        assert_eq!(func.blocks[func.layout[1]].params.len(), 1, "{text}");
        assert!(func.blocks[func.layout[3]].params.is_empty(), "{text}");
    }

    #[test]
    fn a_lane_of_a_stored_vector_is_that_lane() {
        let func = promoted(
            "v4: ptr = alloca.16.align16\nv5: f32x4 = splat v3\nstore.private.align16 v4, v5\n\
             v6: i64 = const 8\nv7: ptr = ptr_add v4, v6\nv8: i32 = load.private.align4 v7\nret v8",
        );
        let text = func.to_string();
        assert!(
            text.contains("extract.2") && !text.contains("load"),
            "{text}"
        );
        assert!(text.contains("convert.bitcast"), "{text}");
    }

    #[test]
    fn parts_of_different_sizes_are_put_together() {
        let func = promoted(
            "v4: ptr = alloca.8.align8\nstore.private.align4 v4, v1\nv6: i64 = const 4\n\
             v7: ptr = ptr_add v4, v6\n\
             store.private.align4 v7, v3\nv8: i64 = load.private.align8 v4\n\
             v9: i32 = convert.trunc v8\nret v9",
        );
        let text = func.to_string();
        assert!(
            text.contains("shl") && text.contains("or ") && !text.contains("load"),
            "{text}"
        );
    }

    #[test]
    fn a_structure_copied_twice_is_its_fields() {
        let func = promoted(
            "v4: ptr = alloca.12.align4\nv5: ptr = alloca.12.align4\nv6: i64 = const 8\n\
             v7: ptr = ptr_add v4, v6\nv8: ptr = ptr_add v5, v6\nmem_copy.12.align4 v4, v0\n\
             store.private.align4 v7, v3\nmem_copy.12.align4 v5, v4\n\
             v9: i32 = load.private.align4 v8\n\
             mem_copy.12.align4 v0, v5\nret v9",
        );
        let text = func.to_string();
        assert!(
            !text.contains("mem_copy") && !text.contains("alloca"),
            "{text}"
        );
        assert_eq!(
            text.matches("= load").count(),
            text.matches("store").count(),
            "{text}"
        );
    }

    #[test]
    fn what_escapes_or_is_indexed_stays() {
        for body in [
            "v4: ptr = alloca.8.align8\nstore.global.align8 v0, v4\nret v1",
            "v4: ptr = alloca.8.align8\nv5: i64 = convert.sext v1\nv6: ptr = ptr_add v4, v5\n\
             v7: i32 = load.private.align4 v6\nret v7",
            "v4: ptr = alloca.8.align8\nv5: ptr = select v2, v4, v0\n\
             v7: i32 = load.generic.align4 v5\nret v7",
            "v4: ptr = alloca.8.align8\nv7: i32 = load.private.align4.volatile v4\nret v7",
            "v4: ptr = alloca.2.align4\nv7: i32 = load.private.align4 v4\nret v7",
        ] {
            let text = promoted(body).to_string();
            assert!(text.contains("alloca"), "{text}");
        }
    }

    #[test]
    fn a_truth_value_in_memory_is_a_byte() {
        let func = promoted(
            "v4: ptr = alloca.1.align1\nstore.private.align1 v4, v2\n\
             v5: i8 = load.private.align1 v4\n\
             v6: i1 = load.private.align1 v4\nv7: i32 = convert.zext v5\n\
             v8: i32 = select v6, v7, v1\nret v8",
        );
        assert!(!func.to_string().contains("load"), "{func}");
    }
}
