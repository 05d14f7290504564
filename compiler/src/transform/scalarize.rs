//! Every value gets one lane.
//!
//! A walk in reverse post-order keeps, for each vector value, its lanes as scalars; an operation on
//! vectors becomes one for each lane, and those that move lanes about become nothing at all. A load
//! of a vector becomes one load with a result for each lane, a store likewise, so that they stay
//! one access. Block parameters, returned values and a kernel's parameters are split too; lanes of
//! a kernel's parameter are next to each other in the argument block. A `printf` gets each lane as
//! an argument of its own; its format says which belong together. So does a call, of a function
//! whose parameters and results are split, too.
//!
//! Linear in lanes.

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use super::simplify_cfg::remove_unreachable;
use crate::ir::{
    BinOp, Block, Builder, ConvertOp, Function, Inst, IntCC, Op, ParamSource, Scalar, SourceLoc,
    Terminator, Type, Value, ValueDef,
};

type Lanes = SmallVec<[Value; 4]>;

/// Splits every vector. `sources` says where a kernel's parameters come from (empty for any other
/// function); what is returned says it for the parameters after.
pub fn run(func: &mut Function, sources: &[ParamSource]) -> Vec<ParamSource> {
    let sources = split_sources(func, sources);
    if func.values.values().all(|value| value.ty.is_scalar()) {
        return sources;
    }
    remove_unreachable(func);
    let order = func.reverse_post_order();
    let mut pass = Pass {
        lanes: SecondaryMap::with_capacity(func.values.len()),
        func,
    };
    for &block in &order {
        pass.params(block);
    }
    for &block in &order {
        pass.block(block);
    }
    func.results = func
        .results
        .iter()
        .flat_map(|ty| std::iter::repeat_n(ty.lane(), usize::from(ty.lanes)))
        .collect();
    sources
}

fn split_sources(func: &Function, sources: &[ParamSource]) -> Vec<ParamSource> {
    let mut split = Vec::with_capacity(sources.len());
    for (&param, source) in func.params().iter().zip(sources) {
        let ty = func.ty(param);
        for lane in 0..u32::from(ty.lanes) {
            split.push(match *source {
                ParamSource::Value { offset } => ParamSource::Value {
                    offset: offset + lane * ty.scalar.bytes(),
                },
                other => other,
            });
        }
    }
    split
}

struct Pass<'a> {
    func: &'a mut Function,
    /// The lanes of vectors; empty for scalars, which stand for themselves.
    lanes: SecondaryMap<Value, Lanes>,
}

impl Pass<'_> {
    fn lanes(&self, value: Value) -> Lanes {
        if self.func.ty(value).is_scalar() && self.lanes[value].is_empty() {
            smallvec![value]
        } else {
            self.lanes[value].clone()
        }
    }

    fn lane(&self, value: Value, lane: usize) -> Value {
        match self.lanes[value].as_slice() {
            [] => value,
            [only] => *only,
            lanes => lanes[lane],
        }
    }

    fn params(&mut self, block: Block) {
        let old = std::mem::take(&mut self.func.blocks[block].params);
        for param in old {
            let ty = self.func.ty(param);
            if ty.is_scalar() {
                let index = self.func.blocks[block].params.len() as u16;
                self.func.values[param].def = ValueDef::Param(block, index);
                self.func.blocks[block].params.push(param);
            } else {
                for _ in 0..ty.lanes {
                    let lane = self.func.add_param(block, ty.lane());
                    self.lanes[param].push(lane);
                }
            }
        }
    }

    fn block(&mut self, block: Block) {
        for inst in std::mem::take(&mut self.func.blocks[block].insts) {
            self.inst(block, inst);
        }
        let mut term =
            std::mem::replace(&mut self.func.blocks[block].term, Terminator::Unreachable);
        match &mut term {
            Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } => {
                *value = self.lane(*value, 0);
            }
            Terminator::Ret(values) => *values = self.flatten(values),
            Terminator::Br(_) | Terminator::Unreachable => {}
        }
        for call in term.targets_mut() {
            call.args = self.flatten(&call.args);
        }
        self.func.blocks[block].term = term;
    }

    fn flatten(&self, values: &[Value]) -> Lanes {
        values.iter().flat_map(|&value| self.lanes(value)).collect()
    }

    fn inst(&mut self, block: Block, inst: Inst) {
        let data = &self.func.insts[inst];
        let scalar = |v: &Value| self.func.ty(*v).is_scalar() && self.lanes[*v].is_empty();
        if data.args.iter().all(scalar) && data.results.iter().all(scalar) {
            self.func.blocks[block].insts.push(inst);
            return;
        }
        let data = data.clone();
        match &data.op {
            Op::Load(_) | Op::CallFunction(_) => self.together(block, inst),
            Op::Store(_) | Op::Printf { .. } => {
                self.func.insts[inst].args = self.flatten(&data.args);
                self.func.blocks[block].insts.push(inst);
            }
            Op::Const(_)
            | Op::Splat
            | Op::Build
            | Op::Extract(_)
            | Op::Insert(_)
            | Op::ExtractDyn
            | Op::InsertDyn
            | Op::Shuffle(_)
            | Op::Convert(ConvertOp::Bitcast, _) => {
                let result = data.results[0];
                let ty = self.func.ty(result);
                self.lanes[result] = self.rearrange(block, &data.op, &data.args, ty, data.loc);
            }
            op => self.each(block, op, &data.args, &data.results, data.loc),
        }
    }

    /// One instruction for each lane.
    fn each(&mut self, block: Block, op: &Op, args: &[Value], results: &[Value], loc: SourceLoc) {
        let types: SmallVec<[Type; 2]> = results.iter().map(|&v| self.func.ty(v).lane()).collect();
        let count = results.first().map_or(1, |&v| self.func.ty(v).lanes);
        for lane in 0..usize::from(count) {
            let args: Lanes = args.iter().map(|&arg| self.lane(arg, lane)).collect();
            let one = self.func.make_inst(op.clone(), &args, &types, loc);
            self.func.blocks[block].insts.push(one);
            for (n, &result) in results.iter().enumerate() {
                let lane = self.func.insts[one].results[n];
                self.lanes[result].push(lane);
            }
        }
    }

    /// One instruction with a result for each lane of each result.
    fn together(&mut self, block: Block, inst: Inst) {
        let data = self.func.insts[inst].clone();
        let mut types: SmallVec<[Type; 16]> = SmallVec::new();
        for &result in &data.results {
            let ty = self.func.ty(result);
            types.extend(std::iter::repeat_n(ty.lane(), usize::from(ty.lanes)));
        }
        let args = self.flatten(&data.args);
        let wide = self.func.make_inst(data.op, &args, &types, data.loc);
        self.func.blocks[block].insts.push(wide);
        let mut next = 0;
        for &result in &data.results {
            for _ in 0..self.func.ty(result).lanes {
                let lane = self.func.insts[wide].results[next];
                self.lanes[result].push(lane);
                next += 1;
            }
        }
    }

    /// The lanes of an operation that moves lanes about.
    fn rearrange(
        &mut self,
        block: Block,
        op: &Op,
        args: &[Value],
        ty: Type,
        loc: SourceLoc,
    ) -> Lanes {
        let all: SmallVec<[Lanes; 4]> = args.iter().map(|&arg| self.lanes(arg)).collect();
        let from = args.first().map(|&arg| self.func.ty(arg));
        let mut b = Builder::new(self.func, block);
        b.loc = loc;
        let lane_ty = ty.lane();
        let count = usize::from(ty.lanes);
        match op {
            Op::Const(bits) => smallvec![b.iconst(lane_ty, *bits); count],
            Op::Splat => smallvec![all[0][0]; count],
            Op::Build => all.iter().map(|lanes| lanes[0]).collect(),
            Op::Extract(lane) => smallvec![all[0][usize::from(*lane)]],
            Op::Insert(lane) => {
                let mut lanes = all[0].clone();
                lanes[usize::from(*lane)] = all[1][0];
                lanes
            }
            Op::Shuffle(mask) => {
                let both: Lanes = all.iter().flatten().copied().collect();
                let zero = mask.contains(&255).then(|| b.iconst(lane_ty, 0));
                let pick = |&lane: &u8| match both.get(usize::from(lane)) {
                    Some(&value) if lane != 255 => value,
                    _ => zero.expect("made when the mask asks for it"),
                };
                mask.iter().map(pick).collect()
            }
            Op::ExtractDyn => smallvec![extract_dyn(&mut b, &all[0], all[1][0])],
            Op::InsertDyn => insert_dyn(&mut b, &all[0], all[1][0], all[2][0]),
            _ => regroup(&mut b, &all[0], from.expect("a bitcast has an operand"), ty),
        }
    }
}

/// The lane that an index points at: a tree of selects, one level for each bit of the index.
fn extract_dyn(b: &mut Builder, lanes: &[Value], index: Value) -> Value {
    let (ty, index_ty) = (b.ty(lanes[0]), b.ty(index));
    let mut level: SmallVec<[Value; 16]> = SmallVec::from_slice(lanes);
    if !lanes.len().is_power_of_two() {
        let zero = b.iconst(ty, 0);
        level.resize(lanes.len().next_power_of_two(), zero);
    }
    let zero = b.iconst(index_ty, 0);
    let mut bit = 1;
    while level.len() > 1 {
        let bit_value = b.iconst(index_ty, bit);
        let masked = b.binary(BinOp::And, index, bit_value);
        let odd = b.icmp(IntCC::Ne, masked, zero);
        let pairs = level.chunks(2);
        level = pairs.map(|pair| b.select(odd, pair[1], pair[0])).collect();
        bit *= 2;
    }
    level[0]
}

fn insert_dyn(b: &mut Builder, lanes: &[Value], value: Value, index: Value) -> Lanes {
    let index_ty = b.ty(index);
    let low = b.iconst(index_ty, lanes.len().next_power_of_two() as u64 - 1);
    let index = b.binary(BinOp::And, index, low);
    let mut result = Lanes::new();
    for (i, &lane) in lanes.iter().enumerate() {
        let at = b.iconst(index_ty, i as u64);
        let here = b.icmp(IntCC::Eq, index, at);
        result.push(b.select(here, value, lane));
    }
    result
}

/// The same bits in lanes of another size, the first lane lowest.
fn regroup(b: &mut Builder, lanes: &[Value], from: Type, to: Type) -> Lanes {
    let (wide, narrow) = (from.scalar.bits(), to.scalar.bits());
    let out = to.lane();
    if wide == narrow {
        return lanes.iter().map(|&lane| b.bitcast(lane, out)).collect();
    }
    let int = |scalar: Scalar| Type::new(scalar.as_int(), 1);
    let lanes: Lanes = lanes
        .iter()
        .map(|&l| b.bitcast(l, int(from.scalar)))
        .collect();
    let mut result = Lanes::new();
    if wide > narrow {
        for &lane in &lanes {
            for part in 0..wide / narrow {
                let amount = b.iconst(int(from.scalar), u64::from(part * narrow));
                let shifted = b.binary(BinOp::LShr, lane, amount);
                let low = b.convert(ConvertOp::Trunc, shifted, int(to.scalar));
                result.push(b.bitcast(low, out));
            }
        }
    } else {
        for parts in lanes.chunks((narrow / wide) as usize) {
            let mut whole = b.convert(ConvertOp::ZExt, parts[0], int(to.scalar));
            for (i, &part) in parts.iter().enumerate().skip(1) {
                let part = b.convert(ConvertOp::ZExt, part, int(to.scalar));
                let amount = b.iconst(int(to.scalar), u64::from(wide) * i as u64);
                let shifted = b.binary(BinOp::Shl, part, amount);
                whole = b.binary(BinOp::Or, whole, shifted);
            }
            result.push(b.bitcast(whole, out));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Stage, parse, verify::verify};

    fn scalarized(text: &str) -> (Function, Vec<ParamSource>) {
        let mut module = parse::module(text).unwrap();
        let sources = module.kernels.first().map(|k| k.params.clone());
        let func = module.functions.values_mut().next().unwrap();
        let sources = run(func, &sources.unwrap_or_default());
        if let Err(error) = verify(func, Stage::Scalarized, None) {
            panic!("{error}\n{func}");
        }
        (func.clone(), sources)
    }

    #[test]
    fn a_vector_parameter_is_its_lanes_at_their_offsets() {
        let (func, sources) = scalarized(
            "kernel \"k\" @0 (value 0, value 16)\nfunc \"k\" (ptr, f32x4) -> () {\nblock0(v0: ptr, v1: f32x4):\n\
             v2: f32x4 = fadd v1, v1\nstore.global.align16 v0, v2\nret\n}",
        );
        let at = |offset| ParamSource::Value { offset };
        assert_eq!(sources, [at(0), at(16), at(20), at(24), at(28)]);
        let text = func.to_string();
        assert_eq!(text.matches("fadd").count(), 4, "{text}");
        assert_eq!(text.matches("store").count(), 1, "{text}");
    }

    #[test]
    fn vectors_round_a_loop_and_back_to_the_caller_are_split() {
        let (func, _) = scalarized(
            "func \"f\" (ptr, i1) -> (i8x2, i32) {\nblock0(v0: ptr, v1: i1):\n\
             v2: i8x2 = load.global.align2 v0\nbr block1(v2)\nblock1(v3: i8x2):\nv4: i8x2 = iadd v3, v2\n\
             cond_br v1, block1(v4), block2\nblock2:\nv5: i8x4 = shuffle.0.1.255.2 v4, v3\n\
             v6: i32 = convert.bitcast v5\nret v4, v6\n}",
        );
        assert_eq!(func.results, [Type::I8, Type::I8, Type::I32]);
        assert!(
            func.to_string().contains("v5: i8, v6: i8 = load")
                || func.to_string().contains(": i8 = load.global.align2"),
            "{func}"
        );
    }

    #[test]
    fn dynamic_lanes_become_selects() {
        let (func, _) = scalarized(
            "func \"f\" (i32, f32) -> (f32) {\nblock0(v0: i32, v1: f32):\nv2: f32x3 = splat v1\n\
             v3: f32x3 = insert_dyn v2, v1, v0\nv4: f32 = extract_dyn v3, v0\nret v4\n}",
        );
        assert_eq!(func.to_string().matches("select").count(), 6, "{func}");
    }
}
