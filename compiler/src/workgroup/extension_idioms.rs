//! Sign and zero extensions spelled as such, and variables no wider than they need be.
//!
//! Front ends write the extension of a truncated id as shifts or a mask of the wide value: `(x <<
//! 32) >> 32`, `x & 0xffffffff`. Shape analysis knows what an extension does to lanes, and vector
//! units extend better than they shift 64-bit lanes, so these are spelled out: `((x << 32) + (k <<
//! 32)) >>s j` is `sext(trunc(x + k)) << (32 - j)`.
//!
//! Then a loop variable of 64 bits of which only the low 32 are ever used (`i = (size_t) (int) i +
//! size`) becomes one of 32. Cost: linear.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use crate::ir::{
    BinOp, Block, Builder, ConvertOp, Function, Inst, Jump, Op, Rounding, Scalar, Type, Value, Wrap,
};
use crate::transform::dce;

pub(super) fn rewrite_extension_idioms(func: &mut Function) {
    rewrite_idioms(func);
    // What is dead must not count as a use.
    dce::run(func);
    narrow_variables(func);
}

/// Parameters of type `i64` that are only truncated to `i32` become `i32`.
fn narrow_variables(func: &mut Function) {
    let mut wide: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if !truncates(func, inst) {
                data.args.iter().for_each(|&arg| wide[arg] = true);
            }
        }
        func.blocks[block]
            .term
            .for_each_value(|arg| wide[arg] = true);
    }
    let jumps = func.jumps();
    for block in func.layout.clone() {
        if block == func.entry() {
            continue;
        }
        for (i, param) in func.blocks[block].params.clone().into_iter().enumerate() {
            if func.ty(param) != Type::I64 || wide[param] {
                continue;
            }
            func.values[param].ty = Type::I32;
            for &jump in &jumps[block] {
                narrow_argument(func, jump, i);
            }
        }
    }
    remove_vacuous(func);
}

/// Whether an instruction truncates an `i64` to an `i32`.
fn truncates(func: &Function, inst: Inst) -> bool {
    let data = &func.insts[inst];
    matches!(data.op, Op::Convert(ConvertOp::Trunc, _)) && func.ty(data.results[0]) == Type::I32
}

/// Truncates what a jump hands to the `index`-th parameter.
fn narrow_argument(func: &mut Function, jump: Jump, index: usize) {
    let arg = func.jump_args(jump)[index];
    let mut b = Builder::new(func, jump.from);
    let narrow = b.convert(ConvertOp::Trunc, arg, Type::I32);
    let term = &mut func.blocks[jump.from].term;
    if let Some(call) = term.target_mut(jump.number as usize) {
        call.args[index] = narrow;
    }
}

/// Removes truncations of what is narrow by now.
fn remove_vacuous(func: &mut Function) {
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    replace.resize(func.values.len());
    for block in func.layout.clone() {
        let mut insts = std::mem::take(&mut func.blocks[block].insts);
        insts.retain(|&inst| {
            let data = &func.insts[inst];
            let vacuous = truncates(func, inst) && func.ty(data.args[0]) == Type::I32;
            if vacuous {
                replace[data.results[0]] = data.args[0].into();
            }
            !vacuous
        });
        func.blocks[block].insts = insts;
    }
    func.replace_uses(&replace);
}

fn rewrite_idioms(func: &mut Function) {
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
    let Some(Extension {
        value,
        plus,
        narrow,
        extend,
        shift,
    }) = extension(func, inst)
    else {
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
    let narrow = Type::new(narrow, 1);
    let mut low = make(func, convert(ConvertOp::Trunc), &[value], narrow);
    if plus != 0 {
        let plus = make(func, Op::Const(plus & narrow.scalar.mask()), &[], narrow);
        let add = Op::Binary(BinOp::IAdd, Wrap::default());
        low = make(func, add, &[low, plus], narrow);
    }
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

/// `extend(trunc(value) + plus) << shift`
struct Extension {
    value: Value,
    plus: u64,
    narrow: Scalar,
    extend: ConvertOp,
    shift: u64,
}

fn extension(func: &Function, inst: Inst) -> Option<Extension> {
    let data = &func.insts[inst];
    let ty = func.ty(*data.results.first()?);
    if !ty.is_scalar() || !ty.scalar.is_int() {
        return None;
    }
    let Op::Binary(op, _) = data.op else {
        return None;
    };
    let constant = func.as_const(data.args[1])?;
    let mut found = Extension {
        value: data.args[0],
        plus: 0,
        narrow: Scalar::I32,
        extend: ConvertOp::ZExt,
        shift: 0,
    };
    match op {
        // Masks of fewer bits are as good as they are.
        BinOp::And => {
            return (ty == Type::I64 && constant == Scalar::I32.mask()).then_some(found);
        }
        BinOp::AShr => found.extend = ConvertOp::SExt,
        BinOp::LShr => {}
        _ => return None,
    }
    let inner = |value: Value, wanted: BinOp| {
        let data = &func.insts[func.def_inst(value)?];
        match data.op {
            Op::Binary(op, _) if op == wanted => Some((data.args[0], func.as_const(data.args[1])?)),
            _ => None,
        }
    };
    let mut shifted = data.args[0];
    let mut sum = 0;
    if let Some((left, right)) = inner(shifted, BinOp::IAdd) {
        (shifted, sum) = (left, right);
    }
    let (value, up) = inner(shifted, BinOp::Shl)?;
    let bits = u64::from(ty.scalar.bits());
    found.narrow = Scalar::int(u32::try_from(bits.checked_sub(up)?).ok()?)?;
    let fits = found.narrow != Scalar::I1
        && found.narrow != ty.scalar
        && constant <= up
        && sum.trailing_zeros() as u64 >= up;
    (found.value, found.plus, found.shift) = (value, sum >> up, up - constant);
    fits.then_some(found)
}
