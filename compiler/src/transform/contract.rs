//! `a * b + c` rounded once.
//!
//! Where the program allows it (no `ContractionOff`, or `-cl-mad-enable`), a product whose only use
//! is a sum or difference becomes part of a fused multiply-add: `a * b - c` is `fma(a, b, -c)` and
//! `c - a * b` is `fma(-a, b, c)`, negation being exact. Operations marked `strict` stay apart.
//! Halves are left alone: their `fma` costs more than it saves. Linear.

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use crate::ir::{BinOp, Function, Inst, Op, Scalar, UnOp, Value};

/// Contracts what can be contracted. Returns whether there was anything.
pub fn run(func: &mut Function) -> bool {
    let uses = func.use_counts();
    let mut changed = false;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let mut out = Vec::with_capacity(func.blocks[block].insts.len());
        for inst in std::mem::take(&mut func.blocks[block].insts) {
            changed |= contract(func, inst, &uses, &mut out);
            out.push(inst);
        }
        func.blocks[block].insts = out;
    }
    changed
}

/// The factors of a product that is used only here.
fn product(func: &Function, value: Value, uses: &SecondaryMap<Value, u32>) -> Option<[Value; 2]> {
    let data = &func.insts[func.def_inst(value)?];
    match data.op {
        Op::Binary(BinOp::FMul, wrap) if uses[value] == 1 && !wrap.strict => {
            Some([data.args[0], data.args[1]])
        }
        _ => None,
    }
}

/// Makes a sum or difference a fused multiply-add; new instructions go to `out`.
fn contract(
    func: &mut Function,
    inst: Inst,
    uses: &SecondaryMap<Value, u32>,
    out: &mut Vec<Inst>,
) -> bool {
    let data = &func.insts[inst];
    let Op::Binary(op @ (BinOp::FAdd | BinOp::FSub), wrap) = data.op else {
        return false;
    };
    if wrap.strict {
        return false;
    }
    let (x, y) = (data.args[0], data.args[1]);
    if func.ty(x).scalar == Scalar::F16 {
        return false;
    }
    let args: SmallVec<[Value; 4]> = if let Some([a, b]) = product(func, x, uses) {
        let c = if op == BinOp::FSub {
            negate(func, inst, y, out)
        } else {
            y
        };
        smallvec![a, b, c]
    } else if let Some([a, b]) = product(func, y, uses) {
        let a = if op == BinOp::FSub {
            negate(func, inst, a, out)
        } else {
            a
        };
        smallvec![a, b, x]
    } else {
        return false;
    };
    func.insts[inst].op = Op::Fma;
    func.insts[inst].args = args;
    true
}

fn negate(func: &mut Function, at: Inst, value: Value, out: &mut Vec<Inst>) -> Value {
    let (ty, loc) = (func.ty(value), func.insts[at].loc);
    let inst = func.make_inst(Op::Unary(UnOp::FNeg), &[value], &[ty], loc);
    out.push(inst);
    func.insts[inst].results[0]
}

#[cfg(test)]
mod tests {
    use crate::ir::{Stage, parse, verify::verify};

    fn contracted(body: &str) -> String {
        let text = format!(
            "func \"f\" (f32, f32, f32) -> (f32) {{\nblock0(v0: f32, v1: f32, v2: f32):\n{body}\n}}"
        );
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        super::run(func);
        super::super::dce::run(func);
        verify(func, Stage::Translated, None).unwrap();
        func.to_string()
    }

    #[test]
    fn products_used_once_are_fused() {
        let text = contracted("v3: f32 = fmul v0, v1\nv4: f32 = fadd v3, v2\nret v4");
        assert!(
            text.contains("fma v0, v1, v2") && !text.contains("fmul"),
            "{text}"
        );
        let text = contracted("v3: f32 = fmul v0, v1\nv4: f32 = fsub v2, v3\nret v4");
        assert!(
            text.contains("= fneg v0") && !text.contains("fsub"),
            "{text}"
        );
        let text = contracted("v3: f32 = fmul v0, v1\nv4: f32 = fsub v3, v2\nret v4");
        assert!(
            text.contains("= fneg v2") && !text.contains("fsub"),
            "{text}"
        );
    }

    #[test]
    fn a_product_used_twice_is_not() {
        let text = contracted("v3: f32 = fmul v0, v1\nv4: f32 = fadd v3, v3\nret v4");
        assert!(!text.contains("fma"), "{text}");
    }
}
