//! Appends instructions to a block.

use super::{
    BinOp, Block, BlockCall, ConvertOp, FloatCC, Function, Inst, IntCC, Mem, Op, Rounding, Scalar,
    SourceLoc, Terminator, Type, UnOp, Value, Wrap,
};

/// A position at the end of a block of a function. Instructions made take [`Builder::loc`].
pub struct Builder<'a> {
    pub func: &'a mut Function,
    pub block: Block,
    pub loc: SourceLoc,
}

impl<'a> Builder<'a> {
    pub fn new(func: &'a mut Function, block: Block) -> Builder<'a> {
        Builder {
            func,
            block,
            loc: SourceLoc::default(),
        }
    }

    /// Makes a block (appended to the layout) and leaves the position where it is.
    pub fn new_block(&mut self, params: &[Type]) -> Block {
        let block = self.func.add_block();
        for &ty in params {
            self.func.add_param(block, ty);
        }
        block
    }

    /// Moves to the end of `block`.
    pub fn switch_to(&mut self, block: Block) {
        self.block = block;
    }

    /// The `index`-th parameter of `block`.
    pub fn param(&self, block: Block, index: usize) -> Value {
        self.func.blocks[block].params[index]
    }

    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// Appends an instruction with any number of results.
    pub fn ins(&mut self, op: Op, args: &[Value], results: &[Type]) -> Inst {
        let inst = self.func.make_inst(op, args, results, self.loc);
        self.func.blocks[self.block].insts.push(inst);
        inst
    }

    /// Appends an instruction with one result.
    pub fn val(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let inst = self.ins(op, args, &[ty]);
        self.func.insts[inst].results[0]
    }

    /// A constant: the low bits of `bits` in every lane.
    pub fn iconst(&mut self, ty: Type, bits: u64) -> Value {
        self.val(Op::Const(bits & ty.scalar.mask()), &[], ty)
    }

    /// A floating-point constant, rounded to the type, in every lane.
    pub fn fconst(&mut self, ty: Type, value: f64) -> Value {
        let bits = match ty.scalar {
            Scalar::F16 | Scalar::F32 | Scalar::F64 => super::eval::from_f64(ty.scalar, value),
            other => panic!("{} is not a floating-point type", other.name()),
        };
        self.val(Op::Const(bits), &[], ty)
    }

    pub fn unary(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.ty(a);
        self.val(Op::Unary(op), &[a], ty)
    }

    pub fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.val(Op::Binary(op, Wrap::default()), &[a, b], ty)
    }

    /// [`Builder::binary`] with a constant.
    pub fn binary_imm(&mut self, op: BinOp, a: Value, bits: u64) -> Value {
        let bits = self.iconst(self.ty(a), bits);
        self.binary(op, a, bits)
    }

    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty(a);
        self.val(Op::Fma, &[a, b, c], ty)
    }

    pub fn icmp(&mut self, cc: IntCC, a: Value, b: Value) -> Value {
        let ty = self.ty(a).as_mask();
        self.val(Op::ICmp(cc), &[a, b], ty)
    }

    /// [`Builder::icmp`] with a constant.
    pub fn icmp_imm(&mut self, cc: IntCC, a: Value, bits: u64) -> Value {
        let bits = self.iconst(self.ty(a), bits);
        self.icmp(cc, a, bits)
    }

    pub fn fcmp(&mut self, cc: FloatCC, a: Value, b: Value) -> Value {
        let ty = self.ty(a).as_mask();
        self.val(Op::FCmp(cc), &[a, b], ty)
    }

    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.val(Op::Select, &[cond, a, b], ty)
    }

    /// A conversion that does not round, or rounds to nearest even.
    pub fn convert(&mut self, op: ConvertOp, a: Value, to: Type) -> Value {
        self.val(Op::Convert(op, Rounding::NearestEven), &[a], to)
    }

    /// `a` if it already has type `to`, else a bitcast.
    pub fn bitcast(&mut self, a: Value, to: Type) -> Value {
        if self.ty(a) == to {
            a
        } else {
            self.convert(ConvertOp::Bitcast, a, to)
        }
    }

    pub fn splat(&mut self, a: Value, lanes: u8) -> Value {
        let ty = self.ty(a).with_lanes(lanes);
        if lanes == 1 {
            a
        } else {
            self.val(Op::Splat, &[a], ty)
        }
    }

    pub fn extract(&mut self, a: Value, lane: u8) -> Value {
        let ty = self.ty(a).lane();
        self.val(Op::Extract(lane), &[a], ty)
    }

    pub fn ptr_add(&mut self, ptr: Value, bytes: Value) -> Value {
        let ty = self.ty(ptr);
        self.val(Op::PtrAdd, &[ptr, bytes], ty)
    }

    /// Loads one value (before `scalarize`, possibly of several lanes).
    pub fn load(&mut self, mem: Mem, ptr: Value, ty: Type) -> Value {
        self.val(Op::Load(mem), &[ptr], ty)
    }

    pub fn store(&mut self, mem: Mem, ptr: Value, value: Value) {
        self.ins(Op::Store(mem), &[ptr, value], &[]);
    }

    /// Ends the block.
    pub fn terminate(&mut self, term: Terminator) {
        self.func.blocks[self.block].term = term;
    }

    pub fn br(&mut self, block: Block, args: &[Value]) {
        self.terminate(Terminator::Br(BlockCall::new(block, args)));
    }

    pub fn cond_br(
        &mut self,
        cond: Value,
        then: Block,
        then_args: &[Value],
        els: Block,
        els_args: &[Value],
    ) {
        self.terminate(Terminator::CondBr {
            cond,
            then: BlockCall::new(then, then_args),
            els: BlockCall::new(els, els_args),
        });
    }

    pub fn ret(&mut self, values: &[Value]) {
        self.terminate(Terminator::Ret(values.into()));
    }
}
