//! Rewriting instructions in place: each block's list is replayed into a new one, with some
//! instructions expanded on the way.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use crate::ir::{
    BinOp, Block, ConvertOp, FloatCC, Function, Inst, InstData, IntCC, Op, Rounding, Scalar,
    SourceLoc, Type, UnOp, Value, Wrap, eval,
};

/// Appends instructions to the list that replaces the current block's.
pub struct Emitter<'f> {
    pub func: &'f mut Function,
    /// The block that is being replayed.
    pub block: Block,
    out: Vec<Inst>,
    loc: SourceLoc,
}

impl Emitter<'_> {
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    pub fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let inst = self.emit_all(op, args, &[ty]);
        self.func.insts[inst].results[0]
    }

    /// An instruction with any number of results.
    pub fn emit_all(&mut self, op: Op, args: &[Value], types: &[Type]) -> Inst {
        let inst = self.func.make_inst(op, args, types, self.loc);
        self.out.push(inst);
        inst
    }

    pub fn iconst(&mut self, ty: Type, bits: u64) -> Value {
        self.emit(Op::Const(bits & ty.scalar.mask()), &[], ty)
    }

    /// A floating-point constant in every lane, `value` rounded to nearest.
    pub fn fconst(&mut self, ty: Type, value: f64) -> Value {
        self.iconst(ty, eval::from_f64(ty.scalar, value))
    }

    pub fn unary(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.ty(a);
        self.emit(Op::Unary(op), &[a], ty)
    }

    pub fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.emit(Op::Binary(op, Wrap::default()), &[a, b], ty)
    }

    /// [`Emitter::binary`] with a constant.
    pub fn binary_imm(&mut self, op: BinOp, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let b = self.iconst(ty, bits);
        self.binary(op, a, b)
    }

    pub fn icmp(&mut self, cc: IntCC, a: Value, b: Value) -> Value {
        let ty = self.ty(a).as_mask();
        self.emit(Op::ICmp(cc), &[a, b], ty)
    }

    pub fn icmp_imm(&mut self, cc: IntCC, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let b = self.iconst(ty, bits);
        self.icmp(cc, a, b)
    }

    pub fn fcmp(&mut self, cc: FloatCC, a: Value, b: Value) -> Value {
        let ty = self.ty(a).as_mask();
        self.emit(Op::FCmp(cc), &[a, b], ty)
    }

    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.emit(Op::Select, &[cond, a, b], ty)
    }

    pub fn convert(&mut self, op: ConvertOp, a: Value, to: Scalar) -> Value {
        self.convert_rounding(op, Rounding::NearestEven, a, to)
    }

    pub fn convert_rounding(
        &mut self,
        op: ConvertOp,
        rounding: Rounding,
        a: Value,
        to: Scalar,
    ) -> Value {
        let ty = self.ty(a).with_scalar(to);
        if self.ty(a) == ty {
            a
        } else {
            self.emit(Op::Convert(op, rounding), &[a], ty)
        }
    }

    pub fn bitcast(&mut self, a: Value, to: Scalar) -> Value {
        self.convert(ConvertOp::Bitcast, a, to)
    }
}

/// Replays every block of `func`. For each instruction `expand` may emit others and return the
/// values that take the place of its results; `None` keeps it. Cost: linear.
pub fn rewrite(
    func: &mut Function,
    mut expand: impl FnMut(&mut Emitter<'_>, &InstData) -> Option<SmallVec<[Value; 2]>>,
) {
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    // In reverse post-order, so that operands are rewritten before their uses are expanded.
    for block in func.reverse_post_order() {
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut emitter = Emitter {
            func,
            block,
            out: Vec::with_capacity(insts.len()),
            loc: SourceLoc::default(),
        };
        for inst in insts {
            for arg in &mut emitter.func.insts[inst].args {
                if let Some(with) = replace[*arg].expand() {
                    *arg = with;
                }
            }
            let data = emitter.func.insts[inst].clone();
            emitter.loc = data.loc;
            match expand(&mut emitter, &data) {
                None => emitter.out.push(inst),
                Some(values) => {
                    for (&old, &new) in data.results.iter().zip(&values) {
                        replace[old] = Some(new).into();
                    }
                }
            }
        }
        let out = emitter.out;
        func.blocks[block].insts = out;
    }
    func.replace_uses(&replace);
}
