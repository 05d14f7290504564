//! Puts packs in memory order.
//!
//! Instructions of a pack stay, and so do the values that they define: what computed element `k` of
//! each lane computes the k-th vector. So do parameters. Loads and stores become one for each
//! vector. What other uses there are get transposed values, and so do packs where their operands
//! are in lane order.

use std::collections::HashMap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::Access;
use super::order::Chosen;
use super::packs::{Elements, Kind, Pack, Packs, Source};
use crate::ir::{
    Block, ConvertOp, Function, Inst, IntCC, Mem, Op, Rounding, Scalar, SourceLoc, Terminator,
    Type, Value, ValueDef,
};

pub fn rewrite(func: &mut Function, packs: &Packs, chosen: &Chosen) {
    let mut rewriter = Rewriter {
        func,
        packs,
        chosen,
        vectors: SecondaryMap::new(),
        lanes: SecondaryMap::new(),
        interleaved: HashMap::new(),
        out: Vec::new(),
        loc: SourceLoc::default(),
    };
    // What dominates a block comes before it.
    for block in rewriter.func.reverse_post_order() {
        rewriter.block(block);
    }
}

struct Rewriter<'a> {
    func: &'a mut Function,
    packs: &'a Packs,
    chosen: &'a Chosen,
    /// The vectors of packs in memory order.
    vectors: SecondaryMap<Pack, Elements>,
    /// The elements in lane order of values of packs that are in memory order.
    lanes: SecondaryMap<Value, PackedOption<Value>>,
    /// In memory order, what has been transposed in the current block.
    interleaved: HashMap<Source, Elements>,
    /// The instructions of the current block.
    out: Vec<Inst>,
    loc: SourceLoc,
}

impl Rewriter<'_> {
    fn block(&mut self, block: Block) {
        let packs = self.packs;
        self.interleaved.clear();
        let mut seen: SmallVec<[Pack; 4]> = SmallVec::new();
        for &param in &self.func.blocks[block].params.clone() {
            if let Some((pack, _)) = packs.of_value[param]
                && self.chosen.in_memory_order(pack)
                && !seen.contains(&pack)
            {
                seen.push(pack);
                self.define(pack, packs.packs[pack].values.clone());
            }
        }
        // How many instructions of a pack have been met.
        let mut met: HashMap<Pack, usize> = HashMap::new();
        for inst in std::mem::take(&mut self.func.blocks[block].insts) {
            self.loc = self.func.insts[inst].loc;
            let pack = self.packs.of_inst[inst];
            let Some(pack) = pack.filter(|&pack| self.chosen.in_memory_order(pack)) else {
                for n in 0..self.func.insts[inst].args.len() {
                    let arg = self.func.insts[inst].args[n];
                    self.func.insts[inst].args[n] = self.in_lanes(arg);
                }
                self.out.push(inst);
                continue;
            };
            match &packs.packs[pack].kind {
                Kind::Load(_) => self.load(pack, inst),
                Kind::Store(_) => self.store(pack, inst),
                Kind::Insts(insts) => {
                    let count = met.entry(pack).or_default();
                    *count += 1;
                    if *count == insts.len() {
                        self.insts(pack, insts);
                    }
                }
                Kind::Params(_) => unreachable!("an instruction"),
            }
        }
        self.jumps(block);
        self.func.blocks[block].insts = std::mem::take(&mut self.out);
    }

    fn emit(&mut self, op: Op, args: &[Value], types: &[Type]) -> Elements {
        let inst = self.func.make_inst(op, args, types, self.loc);
        self.out.push(inst);
        self.func.insts[inst].results.iter().copied().collect()
    }

    fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.emit(op, args, &[ty])[0]
    }

    /// A pack's vectors are known; makes its lanes, where they are needed.
    fn define(&mut self, pack: Pack, vectors: Elements) {
        if self.chosen.is_transposed(self.packs, pack) {
            let lanes = self.transpose(Op::Deinterleave, &vectors);
            for (&value, lanes) in self.packs.packs[pack].values.iter().zip(lanes) {
                self.lanes[value] = lanes.into();
            }
        }
        self.vectors[pack] = vectors;
    }

    /// Truth values are transposed as integers.
    fn transpose(&mut self, op: Op, values: &[Value]) -> Elements {
        let ty = self.func.ty(values[0]);
        let convert = |op| Op::Convert(op, Rounding::NearestEven);
        if ty.scalar != Scalar::I1 {
            return self.emit(op, values, &vec![ty; values.len()]);
        }
        let wide = ty.with_scalar(Scalar::I32);
        let extend = |&v: &Value| self.value(convert(ConvertOp::SExt), &[v], wide);
        let extended: Elements = values.iter().map(extend).collect();
        let moved = self.emit(op, &extended, &vec![wide; values.len()]);
        let zero = self.value(Op::Const(0), &[], wide);
        let set = |&v: &Value| self.value(Op::ICmp(IntCC::Ne), &[v, zero], ty);
        moved.iter().map(set).collect()
    }

    /// A value in lane order.
    fn in_lanes(&self, value: Value) -> Value {
        self.lanes[value].expand().unwrap_or(value)
    }

    /// In memory order, as many vectors as there are elements.
    fn in_memory(&mut self, source: Source, elements: usize) -> Elements {
        let packs = self.packs;
        let values = match source {
            Source::Same(value) => return SmallVec::from_elem(value, elements),
            Source::Pack(pack) if self.chosen.in_memory_order(pack) => {
                return self.vectors[pack].clone();
            }
            Source::Pack(pack) => &packs.packs[pack].values,
            Source::Loose(loose) => &packs.loose[loose].values,
        };
        if let Some(known) = self.interleaved.get(&source) {
            return known.clone();
        }
        let lanes: Elements = values.iter().map(|&v| self.in_lanes(v)).collect();
        let vectors = self.transpose(Op::Interleave, &lanes);
        self.interleaved.insert(source, vectors.clone());
        vectors
    }

    fn insts(&mut self, pack: Pack, insts: &[Inst]) {
        let packs = self.packs;
        let data = &packs.packs[pack];
        for (n, &source) in data.operands.iter().enumerate() {
            let vectors = self.in_memory(source, insts.len());
            for (&inst, vector) in insts.iter().zip(vectors) {
                self.func.insts[inst].args[n] = vector;
            }
        }
        self.out.extend(insts);
        self.define(pack, data.values.clone());
    }

    /// The place of the k-th vector of an access.
    fn place(&mut self, mem: Mem, address: Value, ty: Type, k: usize) -> (Mem, Value) {
        let size = ty.scalar.bytes();
        let offset = k as u64 * u64::from(ty.lanes) * u64::from(size);
        let known = 1u64 << offset.trailing_zeros().min(31);
        let mem = Mem {
            stride: size.into(),
            align: mem.align.min(known as u32),
            ..mem
        };
        if k == 0 {
            return (mem, address);
        }
        let bytes = self.value(Op::Const(offset), &[], Type::I64);
        let address = self.value(Op::PtrAdd, &[address, bytes], Type::PTR);
        (mem, address)
    }

    fn load(&mut self, pack: Pack, inst: Inst) {
        let access = Access::of(self.func, inst).expect("it was one");
        let (mem, address) = (access.mem, access.address);
        let (count, ty) = (access.elements.len(), self.func.ty(access.elements[0]));
        let vectors = (0..count)
            .map(|k| {
                let (mem, address) = self.place(mem, address, ty, k);
                self.value(Op::Load(mem), &[address], ty)
            })
            .collect();
        self.define(pack, vectors);
    }

    fn store(&mut self, pack: Pack, inst: Inst) {
        let access = Access::of(self.func, inst).expect("it was one");
        let (mem, address) = (access.mem, access.address);
        let (count, ty) = (access.elements.len(), self.func.ty(access.elements[0]));
        let source = self.packs.packs[pack].operands[0];
        for (k, vector) in self.in_memory(source, count).into_iter().enumerate() {
            let (mem, address) = self.place(mem, address, ty, k);
            self.emit(Op::Store(mem), &[address, vector], &[]);
        }
    }

    /// Rewrites what the block's end uses.
    fn jumps(&mut self, block: Block) {
        self.loc = SourceLoc::default();
        let mut term =
            std::mem::replace(&mut self.func.blocks[block].term, Terminator::Unreachable);
        let packs = self.packs;
        for (n, call) in term.targets_mut().enumerate() {
            for at in 0..call.args.len() {
                let param = self.func.blocks[call.block].params[at];
                let pack = packs.of_value[param];
                call.args[at] = match pack.filter(|&(pack, _)| self.chosen.in_memory_order(pack)) {
                    None => self.in_lanes(call.args[at]),
                    Some((pack, element)) => {
                        debug_assert_eq!(
                            self.func.values[param].def,
                            ValueDef::Param(call.block, at as u16)
                        );
                        let data = &packs.packs[pack];
                        let mut jumps = packs.jumps[call.block].iter();
                        let edge = jumps.position(|&jump| jump == (block, n));
                        let source = data.operands[edge.expect("every jump is known")];
                        self.in_memory(source, data.values.len())[usize::from(element)]
                    }
                };
            }
        }
        match &mut term {
            Terminator::Ret(values) => {
                for value in values {
                    *value = self.in_lanes(*value);
                }
            }
            // One lane each.
            Terminator::CondBr { .. }
            | Terminator::Switch { .. }
            | Terminator::Br(_)
            | Terminator::Unreachable => {}
        }
        self.func.blocks[block].term = term;
    }
}
