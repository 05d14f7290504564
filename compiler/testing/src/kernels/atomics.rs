//! Atomics whose outcome does not depend on the order of work-items.
//!
//! Either on a counter that has one commutative operation of its own and whose value before nobody
//! looks at, or on an element that belongs to the work-item, where the result is a value like any
//! other. Sums of floating-point numbers are commutative as long as they are exact: small whole
//! numbers, in half precision ones (which stop at 2048 in any order).

use brolga_compiler::ir::{AtomicOp, Scalar, Type};
use rand::Rng;

use super::Generator;

const INTEGER: [AtomicOp; 9] = [
    AtomicOp::Add,
    AtomicOp::Sub,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
    AtomicOp::SMin,
    AtomicOp::SMax,
    AtomicOp::UMin,
    AtomicOp::UMax,
];
const FLOAT: [AtomicOp; 3] = [AtomicOp::FAdd, AtomicOp::FMin, AtomicOp::FMax];

/// What each counter of eight bytes is for. The first and the last are the same.
fn counters() -> Vec<(Scalar, AtomicOp)> {
    let integers = [Scalar::I32, Scalar::I64]
        .into_iter()
        .flat_map(|ty| INTEGER.map(|op| (ty, op)));
    let floats = [Scalar::F16, Scalar::F32, Scalar::F64]
        .into_iter()
        .flat_map(|ty| FLOAT.map(|op| (ty, op)));
    integers
        .chain(floats)
        .chain([(Scalar::I32, AtomicOp::Add)])
        .collect()
}

/// The buffer of counters: what every one starts with, so that its operation can change it.
pub(super) fn buffer() -> String {
    let starts = counters().into_iter().map(|(_, op)| match op {
        AtomicOp::And | AtomicOp::UMin => "-1",
        _ => "0",
    });
    format!("buffer i64 [{}]", starts.collect::<Vec<_>>().join(" "))
}

impl Generator {
    fn order(&mut self) -> &'static str {
        self.pick(&[
            "relaxed", "relaxed", "acquire", "release", "acqrel", "seqcst",
        ])
    }

    /// Address space, scope and order.
    fn promises(&mut self) -> String {
        let space = self.pick(&["global", "global", "global", "generic"]);
        let scope = self.pick(&["subgroup", "workgroup", "device", "device", "system"]);
        format!("{space}.{scope}.{}", self.order())
    }

    /// An atomic of either kind.
    pub(super) fn atomic(&mut self) {
        let which = self.rng.random_range(0..2);
        let scalar = self.outputs[which];
        let whole = !matches!(scalar, Scalar::I1 | Scalar::I8 | Scalar::I16 | Scalar::Ptr);
        if whole && self.chance(0.3) {
            self.own_atomic(which);
        } else {
            self.count();
        }
    }

    fn count(&mut self) {
        let counters = counters();
        let last = counters.len() - 1;
        let at = self.rng.random_range(0..=last);
        let (scalar, op) = counters[at];
        let index = if (at == 0 || at == last) && self.chance(0.5) {
            // The first or the last: an address that varies.
            let n = self.value(Type::I32);
            let bit = self.masked(n, 2);
            let last = self.number(Type::I64, last as u64);
            self.emit(Type::I64, "imul", &[bit, last])
        } else {
            self.number(Type::I64, at as u64)
        };
        let ty = Type::new(scalar, 1);
        let value = if scalar.is_float() {
            let n = self.value(Type::I32);
            let small = self.masked(n, if scalar == Scalar::F16 { 2 } else { 16 });
            let number = self.emit(ty, "convert.u_to_f.rte", &[small]);
            if op == AtomicOp::FMin {
                // From 0 down; no zero is negative.
                let zero = self.number(ty, 0);
                self.emit(ty, "fsub", &[zero, number])
            } else {
                number
            }
        } else {
            self.value(ty)
        };
        let address = self.element(4, index, 8);
        let promises = self.promises();
        let id = self.fresh();
        let op = op.name();
        self.line(&format!(
            "v{id}: {ty} = atomic_rmw.{op}.{promises} v{address}, v{value}"
        ));
    }

    /// On an element of this work-item's, with a result that counts.
    fn own_atomic(&mut self, which: usize) {
        let scalar = self.outputs[which];
        let ty = Type::new(scalar, 1);
        let value = self.value(ty);
        let value = self.canonical(value, ty);
        let address = self.own(which);
        let promises = self.promises();
        let text = match self.rng.random_range(0..5) {
            0 => format!("atomic_load.{promises} v{address}"),
            1 => {
                self.line(&format!("atomic_store.{promises} v{address}, v{value}"));
                return;
            }
            2 => format!("atomic_rmw.xchg.{promises} v{address}, v{value}"),
            3 if scalar.is_int() => {
                let expected = if self.chance(0.5) {
                    self.value(ty)
                } else {
                    // What is there.
                    self.emit_as(ty, &format!("atomic_load.{promises}"), &[address], false)
                };
                format!("atomic_cmpxchg.{promises} v{address}, v{expected}, v{value}")
            }
            _ => {
                let op = if scalar.is_int() {
                    self.pick(&INTEGER)
                } else {
                    self.pick(&FLOAT)
                };
                // Memory may hold any NaN, and which of two remains is the engine's choice.
                let value = self.never_nan(value, ty);
                format!("atomic_rmw.{}.{promises} v{address}, v{value}", op.name())
            }
        };
        let id = self.fresh();
        self.line(&format!("v{id}: {ty} = {text}"));
        self.add(id, ty, false);
    }

    fn never_nan(&mut self, id: usize, ty: Type) -> usize {
        if !ty.scalar.is_float() {
            return id;
        }
        let ord = self.emit(ty.as_mask(), "fcmp.ord", &[id, id]);
        let zero = self.number(ty, 0);
        self.emit(ty, "select", &[ord, id, zero])
    }
}
