//! Pure operations of every kind.

use super::Generator;
use brolga_compiler::ir::{Arith, BinOp, Builtin, Scalar, Type, UnOp};
use brolga_mathlib::{Accuracy, Func, Signature};
use rand::Rng;

impl Generator {
    /// A pure operation of any kind.
    pub(super) fn expression(&mut self) {
        let ty = self.ty();
        let float = ty.scalar.is_float();
        let a = self.value(ty);
        match self.rng.random_range(0..20) {
            0..=6 => {
                let ops: Vec<BinOp> = BinOp::ALL
                    .iter()
                    .copied()
                    .filter(|op| op.is_float() == float)
                    .collect();
                let op = self.pick(&ops);
                let mut b = self.value(ty);
                if op == BinOp::CopySign {
                    b = self.canonical(b, ty);
                }
                self.emit(ty, op.name(), &[a, b]);
            }
            7 | 8 => {
                let ops: Vec<UnOp> = UnOp::ALL
                    .iter()
                    .copied()
                    .filter(|&op| (op >= UnOp::FNeg) == float)
                    .collect();
                let op = self.pick(&ops);
                self.emit(ty, op.name(), &[a]);
            }
            9 if float && self.chance(0.6) => {
                let op = self.pick(Arith::ALL);
                let mode = self.pick(&["rtz", "rtp", "rtn"]);
                let operands: Vec<usize> = std::iter::once(a)
                    .chain((1..op.operands()).map(|_| self.value(ty)))
                    .collect();
                self.emit(ty, &format!("rounded.{}.{mode}", op.name()), &operands);
            }
            9 if float => {
                let (b, c) = (self.value(ty), self.value(ty));
                self.emit(ty, "fma", &[a, b, c]);
            }
            9 | 10 => {
                let b = self.value(ty);
                let cond = if ty.lanes > 1 && self.chance(0.5) {
                    self.compare(ty, false)
                } else {
                    self.condition(false)
                };
                self.emit(ty, "select", &[cond, a, b]);
            }
            11 | 12 => {
                self.compare(ty, false);
            }
            13 | 14 => {
                let to = self.scalar();
                self.convert(a, ty, to);
            }
            15 | 16 if ty.lanes > 1 => self.lanes(a, ty),
            15 if ty.scalar.is_int() => {
                // A varying id as a value of this type.
                let id = self.global_id;
                self.convert(id, Type::I64, ty.scalar);
            }
            _ if float => self.float_builtin(a, ty),
            _ => self.integer_builtin(a, ty),
        }
    }

    /// Operations on the lanes of a vector.
    pub(super) fn lanes(&mut self, a: usize, ty: Type) {
        let b = self.value(ty);
        let lane = self.rng.random_range(0..ty.lanes);
        match self.rng.random_range(0..6) {
            0 => {
                let mask: Vec<String> = (0..ty.lanes)
                    .map(|_| match self.rng.random_range(0..9) {
                        8 => "255".into(),
                        _ => self.rng.random_range(0..2 * ty.lanes).to_string(),
                    })
                    .collect();
                self.emit(ty, &format!("shuffle.{}", mask.join(".")), &[a, b]);
            }
            1 => {
                self.emit(ty.lane(), &format!("extract.{lane}"), &[a]);
            }
            2 => {
                let x = self.value(ty.lane());
                self.emit(ty, &format!("insert.{lane}"), &[a, x]);
            }
            3 => {
                let index = self.value(Type::I32);
                self.emit(ty.lane(), "extract_dyn", &[a, index]);
            }
            4 => {
                let (x, index) = (self.value(ty.lane()), self.value(Type::I32));
                self.emit(ty, "insert_dyn", &[a, x, index]);
            }
            _ => {
                let lanes: Vec<usize> = (0..ty.lanes).map(|_| self.value(ty.lane())).collect();
                self.emit(ty, "build", &lanes);
            }
        }
    }

    pub(super) fn integer_builtin(&mut self, a: usize, ty: Type) {
        let builtin = self.pick(&[
            Builtin::SAbsDiff,
            Builtin::UAbsDiff,
            Builtin::SHadd,
            Builtin::UHadd,
            Builtin::SRhadd,
            Builtin::URhadd,
            Builtin::SMadSat,
            Builtin::UMadSat,
            Builtin::SClamp,
            Builtin::UClamp,
            Builtin::UUpsample,
        ]);
        let name = format!("builtin.{}", builtin.name());
        let b = self.value(ty);
        match builtin {
            Builtin::UUpsample => {
                if let Some(wide) = Scalar::int(ty.scalar.bits() * 2) {
                    self.emit(ty.with_scalar(wide), &name, &[a, b]);
                }
            }
            Builtin::SMadSat | Builtin::UMadSat | Builtin::SClamp | Builtin::UClamp => {
                let c = self.value(ty);
                self.emit(ty, &name, &[a, b, c]);
            }
            _ => {
                self.emit(ty, &name, &[a, b]);
            }
        }
    }

    pub(super) fn float_builtin(&mut self, a: usize, ty: Type) {
        let all: Vec<(Builtin, Func)> = Builtin::ALL
            .iter()
            .filter_map(|&b| Some((b, Func::from_name(b.name())?)))
            .filter(|(b, f)| {
                let float_only = f.accuracy()[0] == Accuracy::Absent;
                b.is_lane_wise() && (!float_only || ty.scalar == Scalar::F32)
            })
            .collect();
        let (builtin, func) = self.pick(&all);
        let name = format!("builtin.{}", builtin.name());
        let ints = ty.with_scalar(Scalar::I32);
        let mut args = vec![a];
        match func.signature() {
            Signature::Binary | Signature::BinaryAndInt => args.push(self.value(ty)),
            Signature::Ternary => args.extend([self.value(ty), self.value(ty)]),
            Signature::WithInt => args.push(self.value(ints)),
            Signature::OfInt => return,
            _ => {}
        }
        // A sign that an argument's NaN has may show.
        for arg in &mut args {
            if self.scope.iter().any(|v| v.id == *arg && v.ty == ty) {
                *arg = self.canonical(*arg, ty);
            }
        }
        let results: &[Type] = match func.signature() {
            Signature::ToInt => &[ints],
            Signature::UnaryPair => &[ty, ty],
            Signature::UnaryAndInt | Signature::BinaryAndInt => &[ty, ints],
            _ => &[ty],
        };
        let uniform = args.iter().all(|&arg| self.is_uniform(arg)) && self.converged;
        let ids: Vec<usize> = results.iter().map(|_| self.fresh()).collect();
        let heads: Vec<String> = ids
            .iter()
            .zip(results)
            .map(|(id, ty)| format!("v{id}: {ty}"))
            .collect();
        let args: Vec<String> = args.iter().map(|a| format!("v{a}")).collect();
        self.line(&format!(
            "{} = {name} {}",
            heads.join(", "),
            args.join(", ")
        ));
        for (&id, &ty) in ids.iter().zip(results) {
            self.add(id, ty, uniform);
        }
    }
}
