//! Blocks and how they end; conditions as flags.

use cranelift_entity::SecondaryMap;
use regalloc2::RegClass;
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
    pub fn plain_target(block: regalloc2::Block) -> Target {
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

    /// A search that halves the cases.
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
        let mut sorted: Vec<(u64, Target)> = Vec::with_capacity(cases.len());
        for (bits, call) in cases {
            sorted.push((*bits, self.target(call)?));
        }
        sorted.sort_by_key(|(bits, _)| *bits);
        let default = self.target(default)?;
        self.search(reg, size, &sorted, &default);
        Ok(())
    }

    fn search(
        &mut self,
        reg: regalloc2::VReg,
        size: Size,
        cases: &[(u64, Target)],
        default: &Target,
    ) {
        /// So many are compared one after the other.
        const FEW: usize = 4;
        if cases.is_empty() {
            self.m.jump(default.clone());
            return;
        }
        if cases.len() <= FEW {
            for (n, (bits, target)) in cases.iter().enumerate() {
                self.compare_with(reg, size, *bits);
                if n + 1 == cases.len() {
                    self.m.branch(Cc::E, target.clone(), default.clone());
                    return;
                }
                let next = self.m.new_block();
                self.m
                    .branch(Cc::E, target.clone(), Self::plain_target(next));
                self.m.switch_to(next);
            }
        }
        let (low, high) = cases.split_at(cases.len() / 2);
        let (below, above) = (self.m.new_block(), self.m.new_block());
        self.compare_with(reg, size, high[0].0);
        self.m
            .branch(Cc::B, Self::plain_target(below), Self::plain_target(above));
        self.m.switch_to(below);
        self.search(reg, size, low, default);
        self.m.switch_to(above);
        self.search(reg, size, high, default);
    }

    fn compare_with(&mut self, reg: regalloc2::VReg, size: Size, bits: u64) {
        let immediate = match size {
            Size::B64 => i32::try_from(bits as i64).is_ok(),
            _ => true,
        };
        if immediate {
            let imm = if size == Size::B64 {
                bits as i64
            } else {
                i64::from(bits as u32 as i32)
            };
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
