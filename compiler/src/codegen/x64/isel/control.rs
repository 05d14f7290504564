//! Blocks and how they end; conditions as flags.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use regalloc2::{Block as MachineBlock, RegClass};
use smallvec::{SmallVec, smallvec};

use super::values::Repr;
use super::{Isel, Result};
use crate::analysis::LoopForest;
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::{Inst, RAX, RCX, RDI, RDX, RSI, VECTOR, gpr, zmm};
use crate::codegen::x64::vcode::Target;
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Block, BlockCall, DominatorTree, FloatCC, Function, IntCC, Op, Scalar, Terminator, Type, UnOp,
    Value,
};

/// The general registers in which the System V ABI passes arguments.
pub const ARGUMENTS: [u8; 6] = [RDI, RSI, RDX, RCX, 8, 9];

/// The blocks in the order in which they are to lie: definitions before uses, and a loop's blocks
/// next to each other, with what follows it behind. The register allocator takes what lies between
/// a loop's header and its last jump back for the loop.
pub fn order(func: &Function) -> Vec<Block> {
    let loops = LoopForest::new(func, &DominatorTree::new(func));
    // Postorder of a search that takes ways out of loops first: reversed, they come last.
    let mut post: Vec<Block> = Vec::new();
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
    let successors = |block: Block| {
        let mut all: SmallVec<[Block; 4]> = func.successors(block).collect();
        // The last is visited first.
        all.sort_by_key(|&to| loops.is_exit(block, to));
        all
    };
    let mut stack = vec![(func.entry(), successors(func.entry()))];
    seen[func.entry()] = true;
    while let Some((block, left)) = stack.last_mut() {
        match left.pop() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, successors(next)));
                }
            }
            None => {
                post.push(*block);
                stack.pop();
            }
        }
    }
    post.reverse();
    post
}

/// The blocks that seldom run: those where pure functions of the host are called, which lanes need
/// for arguments out of the ordinary, and what is on the way there and back only.
fn cold(func: &Function, order: &[Block]) -> SecondaryMap<Block, bool> {
    let mut cold: SecondaryMap<Block, bool> = SecondaryMap::with_capacity(func.blocks.len());
    for &block in order {
        cold[block] = func.blocks[block].insts.iter().any(
            |&inst| matches!(func.insts[inst].op, Op::HostCall(function) if function.is_pure()),
        );
    }
    for &block in order.iter().rev() {
        let mut next = func.successors(block).peekable();
        if next.peek().is_some() && next.all(|next| cold[next]) {
            cold[block] = true;
        }
    }
    let predecessors = func.predecessors();
    for &block in order {
        let before = &predecessors[block];
        if !before.is_empty() && before.iter().all(|&before| cold[before]) {
            cold[block] = true;
        }
    }
    cold[func.entry()] = false;
    cold
}

/// Neighbouring cases of a switch that lead to one block.
struct CaseRange {
    first: u64,
    last: u64,
    block: MachineBlock,
}

/// A condition as an instruction sets it.
pub enum Condition {
    Flags(Cc),
    Always(bool),
}

impl Isel<'_> {
    /// Selects the whole function.
    pub fn function(&mut self, order: &[Block]) -> Result<()> {
        for &block in order {
            let made = self.m.new_block();
            self.blocks[block] = Some(made);
            if block == self.func.entry() {
                continue;
            }
            for &param in &self.func.blocks[block].params {
                let ty = self.func.ty(param);
                let repr = self.param(ty, |isel, class| isel.m.add_param(made, class));
                self.values[param] = repr;
            }
        }
        let cold = cold(self.func, order);
        for &block in order {
            self.m.cold = cold[block];
            self.m.switch_to(self.blocks[block].expect("made above"));
            if block == self.func.entry() {
                self.parameters()?;
            }
            for &inst in &self.func.blocks[block].insts {
                self.m.loc = self.func.insts[inst].loc;
                self.visit(inst)?;
            }
            self.terminator(&self.func.blocks[block].term)?;
        }
        Ok(())
    }

    fn param(
        &mut self,
        ty: Type,
        mut reg: impl FnMut(&mut Self, RegClass) -> regalloc2::VReg,
    ) -> Repr {
        if ty.lanes == 1 {
            return Repr::Scalar(reg(self, Self::class(ty.scalar)));
        }
        if ty.scalar == Scalar::I1 {
            let (shape, class) = (self.mask_param_shape(ty.lanes), self.mask_class());
            if class == VECTOR {
                self.note(shape.size);
            }
            let parts = (0..shape.count).map(|_| reg(self, class)).collect();
            return Repr::Mask(self.mask_of(parts, shape));
        }
        let shape = self.shape(ty);
        self.note(shape.size);
        Repr::Vector((0..shape.count).map(|_| reg(self, VECTOR)).collect())
    }

    fn parameters(&mut self) -> Result<()> {
        let params = self.func.params();
        let mut places = Vec::new();
        for (n, &param) in params.iter().enumerate() {
            let ty = self.func.ty(param);
            if ty.lanes > 1 || ty.scalar.is_float() || n >= ARGUMENTS.len() {
                return Err(Diagnostic::new("parameters that are no integers"));
            }
            let reg = self.m.vreg(Self::class(ty.scalar));
            places.push((reg, gpr(ARGUMENTS[n])));
            self.values[param] = Repr::Scalar(reg);
        }
        self.m.push(Inst::Params(places.into()));
        Ok(())
    }

    /// A jump's block and arguments.
    fn target(&mut self, call: &BlockCall) -> Result<Target> {
        let mut args: SmallVec<[regalloc2::VReg; 4]> = smallvec![];
        for &arg in &call.args {
            let ty = self.func.ty(arg);
            if ty.lanes == 1 {
                args.push(self.scalar(arg)?);
            } else if ty.scalar == Scalar::I1 {
                let shape = self.mask_param_shape(ty.lanes);
                args.extend(self.mask(arg, shape)?);
            } else {
                args.extend(self.parts(arg)?);
            }
        }
        Ok(Target {
            block: self.blocks[call.block].expect("reachable"),
            args,
        })
    }

    /// A jump without arguments.
    pub fn plain_target(block: MachineBlock) -> Target {
        Target {
            block,
            args: SmallVec::new(),
        }
    }

    fn terminator(&mut self, term: &Terminator) -> Result<()> {
        match term {
            Terminator::Br(call) => {
                let target = self.target(call)?;
                self.m.jump(target);
            }
            Terminator::CondBr { cond, then, els } => {
                let (then, els) = (self.target(then)?, self.target(els)?);
                match self.condition(*cond)? {
                    Condition::Flags(cc) => self.m.branch(cc, then, els),
                    Condition::Always(true) => self.m.jump(then),
                    Condition::Always(false) => self.m.jump(els),
                }
            }
            Terminator::Switch {
                value,
                cases,
                default,
            } => self.switch(*value, cases, default)?,
            Terminator::Ret(values) => {
                let mut uses = SmallVec::new();
                if let &[value] = &values[..] {
                    let reg = self.scalar(value)?;
                    let at = if reg.class() == VECTOR {
                        zmm(0)
                    } else {
                        gpr(RAX)
                    };
                    uses.push((reg, at));
                } else if !values.is_empty() {
                    return Err(Diagnostic::new("several results"));
                }
                self.m.ret(Inst::Return(uses));
            }
            Terminator::Unreachable => self.m.ret(Inst::Return(SmallVec::new())),
        }
        Ok(())
    }

    /// A search that halves the cases. Arguments of a jump get their registers on the way to its
    /// block, behind the search: made before it, those of all cases would live throughout.
    fn switch(
        &mut self,
        value: Value,
        cases: &[(u64, BlockCall)],
        default: &BlockCall,
    ) -> Result<()> {
        let ty = self.func.ty(value);
        let reg = self.extended(value, false)?;
        let size = if ty.scalar.bits() == 64 {
            Size::B64
        } else {
            Size::B32
        };
        let mut ways: HashMap<&BlockCall, MachineBlock> = HashMap::new();
        let mut edges: Vec<(MachineBlock, &BlockCall)> = Vec::new();
        let mut way = |isel: &mut Self, call| {
            *ways.entry(call).or_insert_with(|| {
                if call.args.is_empty() {
                    return isel.blocks[call.block].expect("reachable");
                }
                edges.push((isel.m.new_block(), call));
                edges[edges.len() - 1].0
            })
        };
        let to_default = way(self, default);
        let mut sorted: Vec<(u64, MachineBlock)> = Vec::with_capacity(cases.len());
        sorted.extend(cases.iter().map(|(bits, call)| (*bits, way(self, call))));
        sorted.sort_by_key(|&(bits, _)| bits);
        let mut ranges: Vec<CaseRange> = Vec::with_capacity(sorted.len());
        for (bits, block) in sorted.into_iter().filter(|case| case.1 != to_default) {
            match ranges.last_mut() {
                Some(range) if range.block == block && bits - range.last == 1 => range.last = bits,
                _ => ranges.push(CaseRange {
                    first: bits,
                    last: bits,
                    block,
                }),
            }
        }
        self.search(reg, size, &ranges, to_default);
        for (block, call) in edges {
            self.m.switch_to(block);
            let target = self.target(call)?;
            self.m.jump(target);
        }
        Ok(())
    }

    fn search(
        &mut self,
        reg: regalloc2::VReg,
        size: Size,
        cases: &[CaseRange],
        default: MachineBlock,
    ) {
        /// So many are compared one after the other.
        const FEW: usize = 4;
        let Some((last, before)) = cases.split_last() else {
            self.m.jump(Self::plain_target(default));
            return;
        };
        if cases.len() <= FEW {
            for range in before {
                let next = self.m.new_block();
                self.branch_within(reg, size, range, next);
                self.m.switch_to(next);
            }
            self.branch_within(reg, size, last, default);
            return;
        }
        let (low, high) = cases.split_at(cases.len() / 2);
        let (below, above) = (self.m.new_block(), self.m.new_block());
        self.compare_with(reg, size, high[0].first);
        self.m
            .branch(Cc::B, Self::plain_target(below), Self::plain_target(above));
        self.m.switch_to(below);
        self.search(reg, size, low, default);
        self.m.switch_to(above);
        self.search(reg, size, high, default);
    }

    /// Branches to the range's block if the value is in it.
    fn branch_within(
        &mut self,
        reg: regalloc2::VReg,
        size: Size,
        range: &CaseRange,
        otherwise: MachineBlock,
    ) {
        let (then, els) = [range.block, otherwise].map(Self::plain_target).into();
        if range.first == range.last {
            self.compare_with(reg, size, range.first);
            self.m.branch(Cc::E, then, els);
            return;
        }
        let above = match range.first {
            0 => reg,
            first => match Self::compared_immediate(size, first) {
                Some(imm) => self.mi(Opcode::SubImm, size, reg, imm),
                None => {
                    let first = self.int_constant(first);
                    self.rvm(Opcode::Sub, size, reg, first)
                }
            },
        };
        self.compare_with(above, size, range.last - range.first);
        self.m.branch(Cc::Be, then, els);
    }

    /// The number as an operand of an instruction, if it fits.
    fn compared_immediate(size: Size, bits: u64) -> Option<i64> {
        match size {
            Size::B64 => i32::try_from(bits as i64).ok().map(i64::from),
            _ => Some(i64::from(bits as u32 as i32)),
        }
    }

    fn compare_with(&mut self, reg: regalloc2::VReg, size: Size, bits: u64) {
        if let Some(imm) = Self::compared_immediate(size, bits) {
            self.test_imm(Opcode::CmpImm, size, reg, imm);
        } else {
            let other = self.int_constant(bits);
            self.test(Opcode::Cmp, size, reg, other);
        }
    }

    /// Sets flags so that a condition code says whether a one-lane truth value holds. What sets
    /// them is the last instruction selected.
    pub fn condition(&mut self, cond: Value) -> Result<Condition> {
        if let Repr::Constant(bits) = self.values[cond] {
            return Ok(Condition::Always(bits & 1 != 0));
        }
        let deferred = self.deferred(cond).map(|inst| {
            (
                self.func.insts[inst].op.clone(),
                self.func.insts[inst].args.clone(),
            )
        });
        let Some((op, args)) = deferred else {
            let reg = self.scalar(cond)?;
            self.test(Opcode::Test, Size::B32, reg, reg);
            return Ok(Condition::Flags(Cc::Ne));
        };
        match op {
            Op::ICmp(cc) => self.compare(cc, args[0], args[1]).map(Condition::Flags),
            Op::FCmp(cc) => self.compare_floats(cc, args[0], args[1]),
            Op::AnyTrue => self.test_any(args[0]).map(Condition::Flags),
            Op::AllTrue => self.test_all(args[0]).map(Condition::Flags),
            Op::Unary(UnOp::Not) => Ok(match self.condition(args[0])? {
                Condition::Flags(cc) => Condition::Flags(cc.negated()),
                Condition::Always(is) => Condition::Always(!is),
            }),
            _ => {
                let reg = self.scalar(cond)?;
                self.test(Opcode::Test, Size::B32, reg, reg);
                Ok(Condition::Flags(Cc::Ne))
            }
        }
    }

    /// Compares one-lane integers.
    pub fn compare(&mut self, cc: IntCC, a: Value, b: Value) -> Result<Cc> {
        let ty = self.func.ty(a);
        let size = match ty.scalar.bits() {
            1 | 8 => Size::B8,
            16 => Size::B16,
            32 => Size::B32,
            _ => Size::B64,
        };
        let left = self.scalar(a)?;
        match self.immediate(b) {
            Some(0) if matches!(cc, IntCC::Eq | IntCC::Ne | IntCC::Slt | IntCC::Sge) => {
                self.test(Opcode::Test, size, left, left);
                return Ok(match cc {
                    IntCC::Eq => Cc::E,
                    IntCC::Ne => Cc::Ne,
                    IntCC::Slt => Cc::S,
                    _ => Cc::Ns,
                });
            }
            Some(imm) => self.test_imm(Opcode::CmpImm, size, left, imm),
            None => {
                let right = self.scalar_rm(b)?;
                self.test(Opcode::Cmp, size, left, right);
            }
        }
        Ok(match cc {
            IntCC::Eq => Cc::E,
            IntCC::Ne => Cc::Ne,
            IntCC::Slt => Cc::L,
            IntCC::Sle => Cc::Le,
            IntCC::Sgt => Cc::G,
            IntCC::Sge => Cc::Ge,
            IntCC::Ult => Cc::B,
            IntCC::Ule => Cc::Be,
            IntCC::Ugt => Cc::A,
            IntCC::Uge => Cc::Ae,
        })
    }

    /// Compares one-lane floating-point numbers. `ucomis` sets the carry, zero and parity flags
    /// when they are unordered, so `Oeq` and `Une`, which one condition cannot say, are asked of a
    /// mask.
    fn compare_floats(&mut self, cc: FloatCC, a: Value, b: Value) -> Result<Condition> {
        let opcode = match self.func.ty(a).scalar {
            Scalar::F32 => Opcode::Vucomiss,
            _ => Opcode::Vucomisd,
        };
        let (swapped, code) = match cc {
            FloatCC::Ogt => (false, Cc::A),
            FloatCC::Oge => (false, Cc::Ae),
            FloatCC::Olt => (true, Cc::A),
            FloatCC::Ole => (true, Cc::Ae),
            FloatCC::Ult => (false, Cc::B),
            FloatCC::Ule => (false, Cc::Be),
            FloatCC::Ugt => (true, Cc::B),
            FloatCC::Uge => (true, Cc::Be),
            FloatCC::One => (false, Cc::Ne),
            FloatCC::Ueq => (false, Cc::E),
            FloatCC::Ord => (false, Cc::Np),
            FloatCC::Uno => (false, Cc::P),
            FloatCC::Oeq | FloatCC::Une => {
                let mask = self.compare_to_mask(cc, a, b)?;
                if mask.class() == VECTOR {
                    let all = self.define(Opcode::VmovdStore, Size::V128, |p| p.a = mask);
                    self.test(Opcode::Test, Size::B32, all, all);
                } else {
                    self.test(Opcode::Kortestb, Size::B64, mask, mask);
                }
                return Ok(Condition::Flags(Cc::Ne));
            }
        };
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let left = self.scalar(a)?;
        let right = self.scalar_rm(b)?;
        self.test(opcode, Size::V128, left, right);
        Ok(Condition::Flags(code))
    }
}
