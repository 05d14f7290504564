//! Blocks and terminators, round the translation of operations.

use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder};
use cranelift_entity::SecondaryMap;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch};

use super::Translated;
use super::frame::Frame;
use super::known::Known;
use super::machine::{clif_loc, host_isa};
use super::order::{is_turned, negated};
use super::parts::{Repr, int_part_type, lane_type, part_count, part_type};
use super::values::Gen;
use crate::analysis::LoopForest;
use crate::codegen::allocator::Allocator;
use crate::codegen::frame::PrivateMemory;
use crate::diagnostic::Diagnostic;
use crate::ir::{Block, BlockCall, DominatorTree, Function, Inst, Scalar, Terminator, Type, Value};
use crate::target::Target;

/// A function being translated, block by block.
struct Body<'a> {
    g: Gen<'a>,
    frame: Frame,
    blocks: SecondaryMap<Block, Option<clif::Block>>,
    loops: &'a LoopForest,
}

pub(super) fn translate(
    func: &Function,
    private: Option<PrivateMemory>,
) -> Result<Translated, Diagnostic> {
    let isa = host_isa()?;
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
    let x86 = matches!(isa.triple().architecture.to_string().as_str(), "x86_64");
    let builder = FunctionBuilder::new(&mut out, &mut context);
    let dominators = DominatorTree::new(func);
    let loops = LoopForest::new(func, &dominators);
    let known = Known::new(&dominators, &loops, func.entry());
    let mut body = Body {
        g: Gen::new(builder, func, known, call_conv, x86),
        frame: Frame::new(func, private)?,
        blocks: SecondaryMap::new(),
        loops: &loops,
    };
    body.function()?;
    body.g.b.seal_all_blocks();
    let private_memory = body.frame.private_memory();
    let symbols = std::mem::take(&mut body.g.symbols.all);
    let constants = std::mem::take(&mut body.g.pool).into_vectors();
    body.g.b.finalize(isa.frontend_config());
    Ok(Translated {
        function: out,
        symbols,
        constants,
        private_memory,
        allocator: Allocator::suited_to(func, &Target::cranelift()),
    })
}

impl Body<'_> {
    fn function(&mut self) -> Result<(), Diagnostic> {
        let func = self.g.func;
        let order = func.reverse_post_order();
        for &block in &order {
            let clif_block = self.g.b.create_block();
            self.blocks[block] = Some(clif_block);
            for &param in &func.blocks[block].params {
                self.g.values[param] = self.g.block_param(clif_block, func.ty(param));
            }
        }
        for &block in &order {
            self.g.known.enter(block);
            self.frame.forget(&mut self.g.values);
            let clif_block = self.blocks[block].expect("reachable");
            self.g.b.switch_to_block(clif_block);
            if block == func.entry() {
                self.g.enter_pool();
                self.frame.make(&mut self.g.b);
            }
            for &inst in &func.blocks[block].insts {
                self.g.b.set_srcloc(clif_loc(func.insts[inst].loc));
                self.inst(inst)?;
            }
            self.terminator(block, &func.blocks[block].term);
        }
        Ok(())
    }

    /// A jump's CLIF block and arguments.
    fn target(&mut self, call: &BlockCall) -> (clif::Block, Vec<clif::BlockArg>) {
        let mut args: Vec<clif::BlockArg> = Vec::new();
        for &arg in &call.args {
            match self.g.values[arg].clone() {
                Repr::Scalar(v) => args.push(v.into()),
                // Not worth a load.
                Repr::Constant(0) => {
                    let ty = self.g.func.ty(arg);
                    let zero = self.g.zero(part_type(ty.scalar));
                    let count = part_count(ty.lanes, ty.scalar.bits());
                    args.extend((0..count).map(|_| clif::BlockArg::from(zero)));
                }
                Repr::Vector(_) | Repr::Constant(_) => {
                    let parts = self.g.parts(arg);
                    args.extend(parts.iter().map(|&p| clif::BlockArg::from(p)));
                }
                Repr::Mask(..) => {
                    let parts = self.g.mask(arg, self.g.param_mask_bits);
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
                self.g.b.ins().jump(block, &args);
            }
            Terminator::CondBr { cond, then, els } => {
                let turned = is_turned(self.loops, block, then.block, els.block);
                let (then, then_args) = self.target(then);
                let (els, els_args) = self.target(els);
                let cond = self.g.scalar(*cond);
                if turned {
                    let cond = negated(&mut self.g.b, cond);
                    self.g.b.ins().brif(cond, els, &els_args, then, &then_args);
                } else {
                    self.g.b.ins().brif(cond, then, &then_args, els, &els_args);
                }
            }
            Terminator::Switch {
                value,
                cases,
                default,
            } => self.switch(*value, cases, default),
            Terminator::Ret(values) => {
                let values: Vec<clif::Value> = values.iter().map(|&v| self.g.scalar(v)).collect();
                self.g.b.ins().return_(&values);
            }
            Terminator::Unreachable => {
                let zeros: Vec<clif::Value> = self
                    .g
                    .func
                    .results
                    .clone()
                    .iter()
                    .map(|ty| self.g.zero(lane_type(ty.scalar)))
                    .collect();
                self.g.b.ins().return_(&zeros);
            }
        }
    }

    /// CLIF's jump tables take no arguments: a case with arguments goes through a block of its own.
    fn switch(&mut self, value: Value, cases: &[(u64, BlockCall)], default: &BlockCall) {
        let mut switch = Switch::new();
        let mut bridges = Vec::new();
        let mut bridge = |body: &mut Self, call: &BlockCall| {
            if call.args.is_empty() {
                return body.blocks[call.block].expect("reachable");
            }
            let block = body.g.b.create_block();
            bridges.push((block, call.clone()));
            block
        };
        for (bits, call) in cases {
            let block = bridge(self, call);
            switch.set_entry(u128::from(*bits), block);
        }
        let otherwise = bridge(self, default);
        let value = self.g.scalar(value);
        switch.emit(&mut self.g.b, value, otherwise);
        let known = self.g.known.mark();
        for (block, call) in bridges {
            self.g.b.switch_to_block(block);
            let (target, args) = self.target(&call);
            self.g.b.ins().jump(target, &args);
            self.g.known.forget_since(known);
        }
    }

    /// Before a use of a value: private variables' addresses are computed where they are used.
    fn use_frame(&mut self, value: Value) {
        self.frame.compute(&mut self.g.b, &mut self.g.values, value);
    }

    fn inst(&mut self, inst: Inst) -> Result<(), Diagnostic> {
        let data = &self.g.func.insts[inst];
        if data
            .results
            .first()
            .is_some_and(|&r| self.frame.contains(r))
        {
            return Ok(());
        }
        for &arg in &data.args {
            self.use_frame(arg);
        }
        self.g.inst(inst)
    }
}

impl Gen<'_> {
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
}
