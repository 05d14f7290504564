//! Blocks, terminators, and which file an operation belongs to.

use std::collections::HashMap;

use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder, types};
use cranelift_codegen::isa::CallConv;
use cranelift_entity::{PrimaryMap, SecondaryMap, packed_option::ReservedValue};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch};

use super::frame::Frame;
use super::known::Known;
use super::parts::{
    Parts, Repr, default_mask_bits, int_part_type, lane_type, part_count, part_type,
};
use super::{Allocator, Lifetimes, Translated};
use crate::analysis::LoopForest;
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Block, BlockCall, DominatorTree, Function, GlobalId, Inst, Op, Scalar, Terminator, Type, Value,
};

/// The state of one translation.
pub struct Gen<'a> {
    pub b: FunctionBuilder<'a>,
    pub func: &'a Function,
    pub globals: &'a PrimaryMap<GlobalId, u64>,
    pub values: SecondaryMap<Value, Repr>,
    /// What has been computed on the way, in the current block.
    pub known: Known,
    pub frame: Frame,
    /// The lane width of masks in block parameters.
    pub param_mask_bits: u32,
    pub pool: Pool,
    /// The address of the pool.
    pub pool_base: clif::Value,
    /// Stack slots for spilled lanes, with their bytes. One instruction's are free again at the next.
    pub slots: Vec<(u32, clif::StackSlot)>,
    /// How many of `slots` the current instruction has taken.
    pub slots_taken: usize,
    pub call_conv: CallConv,
    pub x86: bool,
    /// Which values have uses, once somebody has asked.
    pub used: Option<SecondaryMap<Value, bool>>,
    blocks: SecondaryMap<Block, Option<clif::Block>>,
    pub loops: LoopForest,
}

/// Vectors that generated code loads: 16 bytes each, at addresses that do not change.
pub struct Pool {
    vectors: Box<[u128]>,
    used: usize,
    places: HashMap<u128, usize>,
}

impl Pool {
    /// Room for every constant of the function.
    fn new(func: &Function) -> Pool {
        let is_vector = |inst: &Inst| {
            let data = &func.insts[*inst];
            matches!(data.op, Op::Const(_)) && data.results.iter().any(|&r| func.ty(r).lanes > 1)
        };
        let insts = func
            .layout
            .iter()
            .flat_map(|&block| &func.blocks[block].insts);
        let count = insts.filter(|inst| is_vector(inst)).count();
        Pool {
            vectors: vec![0; count].into(),
            used: 0,
            places: HashMap::new(),
        }
    }

    /// Where a vector is, in 16 bytes.
    pub fn index(&mut self, vector: u128) -> usize {
        *self.places.entry(vector).or_insert_with(|| {
            self.vectors[self.used] = vector;
            self.used += 1;
            self.used - 1
        })
    }
}

pub fn translate(
    func: &Function,
    globals: &PrimaryMap<GlobalId, u64>,
) -> Result<Translated, Diagnostic> {
    let isa = super::host_isa(Allocator::Backtracking)?;
    let call_conv = isa.default_call_conv();
    let mut signature = clif::Signature::new(call_conv);
    for &param in func.params() {
        signature
            .params
            .push(AbiParam::new(lane_type(func.ty(param).scalar)));
    }
    for &result in &func.results {
        signature
            .returns
            .push(AbiParam::new(lane_type(result.scalar)));
    }
    let mut out = clif::Function::with_name_signature(clif::UserFuncName::user(0, 0), signature);
    let mut context = FunctionBuilderContext::new();
    let mut generator = Gen {
        b: FunctionBuilder::new(&mut out, &mut context),
        func,
        globals,
        values: SecondaryMap::new(),
        known: Known::default(),
        frame: Frame::new(func)?,
        param_mask_bits: default_mask_bits(func),
        pool: Pool::new(func),
        // Set before anything is translated.
        pool_base: clif::Value::reserved_value(),
        slots: Vec::new(),
        slots_taken: 0,
        call_conv,
        x86: matches!(isa.triple().architecture.to_string().as_str(), "x86_64"),
        used: None,
        blocks: SecondaryMap::new(),
        loops: LoopForest::new(func, &DominatorTree::new(func)),
    };
    generator.function()?;
    generator.b.seal_all_blocks();
    let constants = generator.pool.vectors;
    generator.b.finalize(isa.frontend_config());
    Ok(Translated {
        function: out,
        constants,
        allocator: Allocator::suited_to(lifetimes(func)),
    })
}

/// Looks at how long values live, in the order in which they are translated. A loop's values live through all of
/// it, which is left out: what counts is the order of magnitude.
fn lifetimes(func: &Function) -> Lifetimes {
    let mut lives: SecondaryMap<Value, (u32, u32)> = SecondaryMap::with_capacity(func.values.len());
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
    let mut at = 0;
    for block in func.reverse_post_order() {
        for &param in &func.blocks[block].params {
            lives[param] = (at, at);
        }
        let insts = &func.blocks[block].insts;
        for data in insts.iter().map(|&inst| &func.insts[inst]) {
            at += 1;
            for &arg in &data.args {
                lives[arg].1 = at;
                uses[arg] += 1;
            }
            // Constants and addresses of variables are made where they are used.
            if !matches!(
                data.op,
                Op::Const(_) | Op::GlobalAddr(_) | Op::Alloca { .. }
            ) {
                for &result in &data.results {
                    lives[result] = (at, at);
                }
            }
        }
        at += 1;
        func.blocks[block]
            .term
            .for_each_value(|value| lives[value].1 = at);
    }
    let parts = |ty: Type| part_count(ty.lanes, ty.scalar.bits());
    let mut found = Lifetimes {
        instructions: at as usize,
        sum: 0,
        sum_by_use: 0,
    };
    for (value, &(start, end)) in lives.iter() {
        if start > 0 && end > start {
            let length = (end - start) as usize * parts(func.ty(value));
            found.sum += length;
            found.sum_by_use += length * uses[value] as usize;
        }
    }
    found
}

impl Gen<'_> {
    fn function(&mut self) -> Result<(), Diagnostic> {
        let func = self.func;
        let order = func.reverse_post_order();
        for &block in &order {
            let clif_block = self.b.create_block();
            self.blocks[block] = Some(clif_block);
            for &param in &func.blocks[block].params {
                self.values[param] = self.block_param(clif_block, func.ty(param));
            }
        }
        for &block in &order {
            self.known = Known::default();
            self.forget_frame();
            let clif_block = self.blocks[block].expect("reachable");
            self.b.switch_to_block(clif_block);
            if block == func.entry() {
                let base = self.pool.vectors.as_ptr() as u64;
                self.pool_base = self.b.ins().iconst(types::I64, base as i64);
                self.make_frame();
            }
            for &inst in &func.blocks[block].insts {
                let loc = func.insts[inst]
                    .loc
                    .0
                    .map_or(clif::SourceLoc::default(), |n| {
                        clif::SourceLoc::new(n.get() - 1)
                    });
                self.b.set_srcloc(loc);
                self.inst(inst)?;
            }
            self.terminator(block, &func.blocks[block].term);
        }
        Ok(())
    }

    fn block_param(&mut self, block: clif::Block, ty: Type) -> Repr {
        if ty.lanes == 1 {
            return Repr::Scalar(self.b.append_block_param(block, lane_type(ty.scalar)));
        }
        if ty.scalar == Scalar::I1 {
            let bits = self.param_mask_bits;
            let parts = (0..part_count(ty.lanes, bits))
                .map(|_| self.b.append_block_param(block, int_part_type(bits)));
            return Repr::Mask(bits, parts.collect());
        }
        let count = part_count(ty.lanes, ty.scalar.bits());
        Repr::Vector(
            (0..count)
                .map(|_| self.b.append_block_param(block, part_type(ty.scalar)))
                .collect(),
        )
    }

    /// A jump's CLIF block and arguments.
    fn target(&mut self, call: &BlockCall) -> (clif::Block, Vec<clif::BlockArg>) {
        let mut args: Vec<clif::BlockArg> = Vec::new();
        for &arg in &call.args {
            match self.values[arg].clone() {
                Repr::Scalar(v) => args.push(v.into()),
                Repr::Vector(_) | Repr::Constant(_) => {
                    let parts = self.parts(arg);
                    args.extend(parts.iter().map(|&p| clif::BlockArg::from(p)));
                }
                Repr::Mask(..) => {
                    let parts = self.mask(arg, self.param_mask_bits);
                    args.extend(parts.iter().map(|&p| clif::BlockArg::from(p)));
                }
                Repr::None => unreachable!("{arg} is used before it is defined"),
            }
        }
        (self.blocks[call.block].expect("reachable"), args)
    }

    fn terminator(&mut self, block: Block, term: &Terminator) {
        term.for_each_value(|value| self.use_frame(value));
        match term {
            Terminator::Br(call) => {
                let (block, args) = self.target(call);
                self.b.ins().jump(block, &args);
            }
            Terminator::CondBr { cond, then, els } => {
                let turned = self.is_turned(block, then.block, els.block);
                let (then, then_args) = self.target(then);
                let (els, els_args) = self.target(els);
                let cond = self.scalar(*cond);
                if turned {
                    let cond = self.negated(cond);
                    self.b.ins().brif(cond, els, &els_args, then, &then_args);
                } else {
                    self.b.ins().brif(cond, then, &then_args, els, &els_args);
                }
            }
            Terminator::Switch {
                value,
                cases,
                default,
            } => self.switch(*value, cases, default),
            Terminator::Ret(values) => {
                let values: Vec<clif::Value> = values.iter().map(|&v| self.scalar(v)).collect();
                self.b.ins().return_(&values);
            }
            Terminator::Unreachable => {
                let zeros: Vec<clif::Value> = self
                    .func
                    .results
                    .clone()
                    .iter()
                    .map(|ty| self.zero(lane_type(ty.scalar)))
                    .collect();
                self.b.ins().return_(&zeros);
            }
        }
    }

    /// CLIF's jump tables take no arguments: a case with arguments goes through a block of its own.
    fn switch(&mut self, value: Value, cases: &[(u64, BlockCall)], default: &BlockCall) {
        let mut switch = Switch::new();
        let mut bridges = Vec::new();
        let mut bridge = |g: &mut Self, call: &BlockCall| {
            if call.args.is_empty() {
                return g.blocks[call.block].expect("reachable");
            }
            let block = g.b.create_block();
            bridges.push((block, call.clone()));
            block
        };
        for (bits, call) in cases {
            let block = bridge(self, call);
            switch.set_entry(u128::from(*bits), block);
        }
        let otherwise = bridge(self, default);
        let value = self.scalar(value);
        switch.emit(&mut self.b, value, otherwise);
        for (block, call) in bridges {
            self.known = Known::default();
            self.b.switch_to_block(block);
            let (target, args) = self.target(&call);
            self.b.ins().jump(target, &args);
        }
    }

    fn inst(&mut self, inst: Inst) -> Result<(), Diagnostic> {
        self.slots_taken = 0;
        let data = &self.func.insts[inst];
        let args = data.args.as_slice();
        if data.results.first().is_some_and(|&r| self.in_frame(r)) {
            return Ok(());
        }
        for &arg in args {
            self.use_frame(arg);
        }
        let result = data.results.first().map(|&r| self.func.ty(r));
        let ty = || result.expect("an instruction with a result");
        let repr = match &data.op {
            Op::Const(bits) => self.constant(*bits, ty()),
            Op::GlobalAddr(global) => Repr::Scalar(
                self.b
                    .ins()
                    .iconst(types::I64, self.globals[*global] as i64),
            ),
            Op::Unary(op) => self.unary(*op, args[0]),
            Op::Binary(op, _) => self.binary(*op, args[0], args[1]),
            Op::Fma => self.lanewise(args, |g, v| g.b.ins().fma(v[0], v[1], v[2])),
            Op::Rounded(op, rounding) => self.rounded(*op, *rounding, args),
            Op::ICmp(cc) => self.icmp(*cc, args[0], args[1]),
            Op::FCmp(cc) => self.fcmp(*cc, args[0], args[1]),
            Op::Select => self.select(args[0], args[1], args[2]),
            Op::Convert(op, rounding) => self.convert(*op, *rounding, args[0], ty()),
            Op::Splat => self.splat(args[0], ty()),
            Op::Build => {
                let lanes: Vec<clif::Value> = args.iter().map(|&a| self.scalar(a)).collect();
                self.build(ty(), &lanes)
            }
            Op::Extract(lane) => Repr::Scalar(self.lane(args[0], *lane)),
            Op::Insert(lane) => {
                let mut lanes: Vec<clif::Value> =
                    (0..ty().lanes).map(|l| self.lane(args[0], l)).collect();
                lanes[usize::from(*lane)] = self.scalar(args[1]);
                self.build(ty(), &lanes)
            }
            Op::PtrAdd => self.ptr_add(args[0], args[1], ty()),
            Op::Load(mem) => {
                self.load(mem, inst);
                return Ok(());
            }
            Op::Store(mem) => {
                self.store(mem, args);
                return Ok(());
            }
            Op::MemCopy { size, masked, .. } => {
                let size = self.b.ins().iconst(types::I64, *size as i64);
                self.mem_copy(args[0], args[1], size, masked.then(|| args[2]));
                return Ok(());
            }
            Op::MemCopyDyn { masked, .. } => {
                self.mem_copy_dyn(args[0], args[1], args[2], masked.then(|| args[3]));
                return Ok(());
            }
            Op::AtomicRmw(op, atomic) => match self.combined_rmw(inst, *op, atomic) {
                Some(done) => done,
                None => self.atomic(inst, atomic.masked, |g, v| {
                    g.atomic_rmw(*op, atomic, ty(), v)
                }),
            },
            Op::AtomicCmpXchg(atomic) => {
                self.atomic(inst, atomic.masked, |g, v| g.atomic_cmpxchg(atomic, v))
            }
            Op::AtomicLoad(atomic) => {
                self.atomic(inst, atomic.masked, |g, v| g.atomic_load(atomic, ty(), v))
            }
            Op::AtomicStore(atomic) => {
                self.atomic(inst, atomic.masked, |g, v| g.atomic_store(atomic, v))
            }
            Op::ImageRead(image) => {
                self.image_read(*image, inst);
                return Ok(());
            }
            Op::ImageWrite(image) => {
                self.image_write(*image, args);
                return Ok(());
            }
            Op::ImageQuery(field) => self.image_query(*field, args[0], ty()),
            // One thread runs the whole work-group, so that its work-items are in order already.
            Op::Fence(fence) | Op::Barrier(fence) => {
                self.fence(fence);
                return Ok(());
            }
            Op::Printf { masked } => {
                let (args, mask) = if *masked {
                    let (mask, rest) = args.split_last().expect("a mask");
                    (rest, Some(*mask))
                } else {
                    (args, None)
                };
                let lanes = ty().lanes;
                self.printf(args, mask, lanes);
                self.constant(0, ty())
            }
            Op::Device {
                what,
                block,
                masked,
            } => {
                self.device(*what, *block, *masked, inst);
                return Ok(());
            }
            Op::LaneIds => {
                let lanes: Vec<u64> = (0..u64::from(ty().lanes)).collect();
                Repr::Vector(self.constant_lanes(ty(), &lanes))
            }
            Op::AnyTrue => {
                let bits = self.active_bits(Some(args[0]), self.func.ty(args[0]).lanes);
                Repr::Scalar(
                    self.b
                        .ins()
                        .icmp_imm_u(clif::condcodes::IntCC::NotEqual, bits, 0),
                )
            }
            Op::AllTrue => {
                let lanes = self.func.ty(args[0]).lanes;
                let bits = self.active_bits(Some(args[0]), lanes);
                Repr::Scalar(self.b.ins().icmp_imm_u(
                    clif::condcodes::IntCC::Equal,
                    bits,
                    (1i64 << lanes) - 1,
                ))
            }
            Op::Clock => {
                let clock = super::host::clock as *const () as usize;
                let now = self.call(clock, &[], Some(types::I64));
                Repr::Scalar(now.expect("a clock has a result"))
            }
            Op::MaskBits => {
                let bits = self.active_bits(Some(args[0]), self.func.ty(args[0]).lanes);
                Repr::Scalar(self.b.ins().uextend(types::I64, bits))
            }
            Op::Shuffle(mask) => self.shuffle_lanes(args[0], args[1], mask, ty()),
            Op::ExtractDyn => {
                let lanes = self.func.ty(args[0]).lanes;
                let number = self.scalar(args[1]);
                Repr::Scalar(self.extract_dyn(args[0], number, lanes))
            }
            Op::Permute => self.permute(args[0], args[1], ty()),
            Op::Routine(routine, format) => {
                let (mask, args) = args.split_last().expect("a mask");
                self.routine(routine.target(*format).address(), args, *mask, ty())
            }
            other => {
                return Err(Diagnostic::new(format!(
                    "`{other}` cannot be generated code for"
                )));
            }
        };
        if let Some(&result) = data.results.first() {
            self.values[result] = repr;
        }
        Ok(())
    }

    /// Lane-wise on values of one type, scalars or parts.
    pub fn lanewise(
        &mut self,
        args: &[Value],
        mut f: impl FnMut(&mut Self, &[clif::Value]) -> clif::Value,
    ) -> Repr {
        if self.func.ty(args[0]).lanes == 1 {
            let args: Vec<clif::Value> = args.iter().map(|&a| self.scalar(a)).collect();
            return Repr::Scalar(f(self, &args));
        }
        let args: Vec<Parts> = args.iter().map(|&a| self.parts(a)).collect();
        let part = |g: &mut Self, i: usize| {
            let part: Vec<clif::Value> = args.iter().map(|a| a[i]).collect();
            f(g, &part)
        };
        Repr::Vector(
            (0..args[0].len())
                .scan(part, |part, i| Some(part(self, i)))
                .collect(),
        )
    }

    pub fn constant(&mut self, bits: u64, ty: Type) -> Repr {
        if ty.lanes > 1 {
            if ty.scalar == Scalar::I1 {
                let width = self.param_mask_bits;
                let fill = if bits & 1 == 1 { 0xff } else { 0 };
                let data = self.b.func.dfg.constants.insert(vec![fill; 16].into());
                let part = self.b.ins().vconst(int_part_type(width), data);
                return Repr::Mask(
                    width,
                    (0..part_count(ty.lanes, width)).map(|_| part).collect(),
                );
            }
            return Repr::Constant(bits);
        }
        Repr::Scalar(self.scalar_constant(bits, ty.scalar))
    }

    pub fn scalar_constant(&mut self, bits: u64, scalar: Scalar) -> clif::Value {
        match scalar {
            Scalar::F32 => self.b.ins().f32const(f32::from_bits(bits as u32)),
            Scalar::F64 => self.b.ins().f64const(f64::from_bits(bits)),
            scalar => {
                let clif_ty = lane_type(scalar);
                // CLIF wants immediates sign-extended from their type's width.
                let shift = 64 - clif_ty.bits();
                self.b
                    .ins()
                    .iconst(clif_ty, ((bits << shift) as i64) >> shift)
            }
        }
    }

    /// Parts with these lanes' bits.
    pub fn constant_lanes(&mut self, ty: Type, lanes: &[u64]) -> Parts {
        let size = ty.scalar.bytes() as usize;
        let mut bytes: Vec<u8> = lanes
            .iter()
            .flat_map(|bits| bits.to_le_bytes()[..size].to_vec())
            .collect();
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes
            .chunks(16)
            .map(|chunk| {
                let data = self.b.func.dfg.constants.insert(chunk.to_vec().into());
                self.b.ins().vconst(part_type(ty.scalar), data)
            })
            .collect()
    }

    /// A value from one CLIF scalar a lane.
    pub fn build(&mut self, ty: Type, lanes: &[clif::Value]) -> Repr {
        if ty.lanes == 1 {
            return Repr::Scalar(lanes[0]);
        }
        if ty.scalar == Scalar::I1 {
            let bytes: Vec<clif::Value> = lanes.iter().map(|&l| self.b.ins().ineg(l)).collect();
            let parts = self.vector_of(ty.with_scalar(Scalar::I8), &bytes);
            let bits = self.param_mask_bits;
            return Repr::Mask(bits, self.repack_mask(parts, ty.lanes, 8, bits));
        }
        Repr::Vector(self.vector_of(ty, lanes))
    }

    fn splat(&mut self, arg: Value, ty: Type) -> Repr {
        let scalar = self.scalar(arg);
        if ty.lanes == 1 {
            return Repr::Scalar(scalar);
        }
        if ty.scalar == Scalar::I1 {
            let bits = self.param_mask_bits;
            let lane = clif::Type::int(bits as u16).expect("a lane width");
            let wide = if bits == 8 {
                scalar
            } else {
                self.b.ins().uextend(lane, scalar)
            };
            let lane = self.b.ins().ineg(wide);
            let part = self.b.ins().splat(int_part_type(bits), lane);
            return Repr::Mask(
                bits,
                (0..part_count(ty.lanes, bits)).map(|_| part).collect(),
            );
        }
        let part = self.b.ins().splat(part_type(ty.scalar), scalar);
        Repr::Vector(
            (0..part_count(ty.lanes, ty.scalar.bits()))
                .map(|_| part)
                .collect(),
        )
    }

    /// Pointer plus bytes, where either operand may be the same in every lane.
    fn ptr_add(&mut self, ptr: Value, bytes: Value, ty: Type) -> Repr {
        if ty.lanes == 1 {
            let (ptr, bytes) = (self.scalar(ptr), self.scalar(bytes));
            return Repr::Scalar(self.b.ins().iadd(ptr, bytes));
        }
        let wide = |g: &mut Self, v: Value| match g.splat_if_scalar(v, ty.lanes) {
            Repr::Vector(parts) => parts,
            other => unreachable!("{v} is {other:?}"),
        };
        let (ptr, bytes) = (wide(self, ptr), wide(self, bytes));
        Repr::Vector(
            ptr.iter()
                .zip(&bytes)
                .map(|(&p, &o)| self.b.ins().iadd(p, o))
                .collect(),
        )
    }

    pub fn splat_if_scalar(&mut self, value: Value, lanes: u8) -> Repr {
        match &self.values[value] {
            Repr::Scalar(_) => self.splat(value, self.func.ty(value).with_lanes(lanes)),
            Repr::Constant(_) => Repr::Vector(self.parts(value)),
            other => other.clone(),
        }
    }
}
