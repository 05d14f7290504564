//! Sign and zero extensions spelled as such.
//!
//! Front ends write the extension of a truncated id as shifts or a mask of the wide value: `(x << 32) >> 32`,
//! `x & 0xffffffff`. Shape analysis knows what an extension does to lanes, and vector units extend better than they
//! shift 64-bit lanes, so these are spelled out: `x << 32 >>s j` is `sext(trunc x) << (32 - j)`. Cost: linear.

use crate::ir::{BinOp, Block, ConvertOp, Function, Inst, Op, Rounding, Scalar, Type, Value, Wrap};

pub(super) fn spell_out(func: &mut Function) {
    for block in func.layout.clone() {
        let mut at = 0;
        while at < func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[at];
            at += rewrite(func, block, at, inst);
        }
    }
}

/// Rewrites the instruction at a position, if it is an extension; how far to go on.
fn rewrite(func: &mut Function, block: Block, at: usize, inst: Inst) -> usize {
    let Some((value, narrow, extend, shift)) = extension(func, inst) else {
        return 1;
    };
    let wide = func.ty(func.insts[inst].results[0]);
    let loc = func.insts[inst].loc;
    let mut added = Vec::new();
    let mut make = |func: &mut Function, op: Op, args: &[Value], ty: Type| {
        let new = func.make_inst(op, args, &[ty], loc);
        added.push(new);
        func.insts[new].results[0]
    };
    let convert = |op| Op::Convert(op, Rounding::NearestEven);
    let low = make(
        func,
        convert(ConvertOp::Trunc),
        &[value],
        Type::new(narrow, 1),
    );
    // The instruction itself becomes the last step, so that its result keeps its name.
    let last = if shift == 0 {
        (convert(extend), vec![low])
    } else {
        let extended = make(func, convert(extend), &[low], wide);
        let amount = make(func, Op::Const(shift), &[], wide);
        (
            Op::Binary(BinOp::Shl, Wrap::default()),
            vec![extended, amount],
        )
    };
    func.insts[inst].op = last.0;
    func.insts[inst].args = last.1.into();
    let count = added.len();
    func.blocks[block].insts.splice(at..at, added);
    count + 1
}

/// The value extended, its narrow type, how, and the shift that remains.
fn extension(func: &Function, inst: Inst) -> Option<(Value, Scalar, ConvertOp, u64)> {
    let data = &func.insts[inst];
    let ty = func.ty(*data.results.first()?);
    if !ty.is_scalar() || !ty.scalar.is_int() {
        return None;
    }
    let bits = u64::from(ty.scalar.bits());
    let Op::Binary(op, _) = data.op else {
        return None;
    };
    let constant = func.as_const(data.args[1])?;
    if op == BinOp::And {
        let narrow = Scalar::int((constant.trailing_ones()).min(64))?;
        let exact = narrow != Scalar::I1 && constant == narrow.mask() && narrow != ty.scalar;
        // Masks of fewer bits are as good as they are.
        return (exact && narrow == Scalar::I32).then_some((
            data.args[0],
            narrow,
            ConvertOp::ZExt,
            0,
        ));
    }
    let extend = match op {
        BinOp::AShr => ConvertOp::SExt,
        BinOp::LShr => ConvertOp::ZExt,
        _ => return None,
    };
    let inner = &func.insts[func.def_inst(data.args[0])?];
    let Op::Binary(BinOp::Shl, _) = inner.op else {
        return None;
    };
    let up = func.as_const(inner.args[1])?;
    let narrow = Scalar::int(u32::try_from(bits.checked_sub(up)?).ok()?)?;
    let fits = narrow != Scalar::I1 && narrow != ty.scalar && constant <= up;
    fits.then(|| (inner.args[0], narrow, extend, up - constant))
}
