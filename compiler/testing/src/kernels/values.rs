//! Values: those in scope, constants, conversions, and what depends on many of them.

use super::{Generator, Val};
use brolga_compiler::ir::{FloatCC, IntCC, Scalar, Type, eval};
use rand::Rng;

impl Generator {
    pub(super) fn bits(&mut self, scalar: Scalar) -> u64 {
        let bits = match self.rng.random_range(0..6) {
            0 | 1 => self.rng.random_range(0..9),
            2 => self.rng.random::<u64>(),
            3 => u64::MAX << self.rng.random_range(0..63),
            4 => 1 << (scalar.bits() - 1),
            _ => {
                let value = f64::from(self.rng.random_range(-40..40)) * 0.25;
                if scalar.is_float() {
                    eval::from_f64(scalar, value)
                } else {
                    value as i64 as u64
                }
            }
        };
        bits & scalar.mask()
    }

    pub(super) fn number(&mut self, ty: Type, bits: u64) -> usize {
        self.emit(ty, &format!("const {bits:#x}"), &[])
    }

    /// A value of a type: one in scope, one made from another type, or a constant.
    pub(super) fn value(&mut self, ty: Type) -> usize {
        let known: Vec<usize> = self
            .scope
            .iter()
            .filter(|v| v.ty == ty)
            .map(|v| v.id)
            .collect();
        if !known.is_empty() && self.chance(0.85) {
            // Newer ones more often.
            let last = known.len() - 1;
            let at = self
                .rng
                .random_range(0..=last)
                .max(self.rng.random_range(0..=last));
            return known[at];
        }
        if ty.lanes > 1 && self.chance(0.5) {
            let lane = self.value(ty.lane());
            return self.emit(ty, "splat", &[lane]);
        }
        let others: Vec<Val> = self
            .scope
            .iter()
            .filter(|v| v.ty.lanes == ty.lanes && v.ty.scalar != Scalar::Ptr && v.ty != ty)
            .copied()
            .collect();
        if !others.is_empty() && self.chance(0.6) {
            let other = self.pick(&others);
            if let Some(id) = self.convert(other.id, other.ty, ty.scalar) {
                return id;
            }
        }
        let bits = self.bits(ty.scalar);
        self.number(ty, bits)
    }

    /// A value that all work-items of the group share.
    pub(super) fn uniform(&mut self, ty: Type) -> usize {
        let known: Vec<usize> = self
            .scope
            .iter()
            .filter(|v| v.ty == ty && v.uniform)
            .map(|v| v.id)
            .collect();
        if known.is_empty() {
            let bits = self.bits(ty.scalar);
            self.number(ty, bits)
        } else {
            self.pick(&known)
        }
    }

    /// The value with every NaN replaced by one.
    pub(super) fn canonical(&mut self, id: usize, ty: Type) -> usize {
        if !ty.scalar.is_float() {
            return id;
        }
        let ord = self.emit(ty.as_mask(), "fcmp.ord", &[id, id]);
        let nan = match ty.scalar {
            Scalar::F16 => 0x7e00,
            Scalar::F32 => 0x7fc0_0000,
            _ => 0x7ff8_0000_0000_0000,
        };
        let nan = self.number(ty, nan);
        self.emit(ty, "select", &[ord, id, nan])
    }

    pub(super) fn compare(&mut self, ty: Type, uniform: bool) -> usize {
        let side = |g: &mut Self| {
            if uniform { g.uniform(ty) } else { g.value(ty) }
        };
        let (a, b) = (side(self), side(self));
        let op = if ty.scalar.is_float() {
            format!("fcmp.{}", self.pick(FloatCC::ALL).name())
        } else {
            format!("icmp.{}", self.pick(IntCC::ALL).name())
        };
        self.emit(ty.as_mask(), &op, &[a, b])
    }

    pub(super) fn condition(&mut self, uniform: bool) -> usize {
        if !uniform && self.chance(0.25) {
            let known: Vec<usize> = self
                .scope
                .iter()
                .filter(|v| v.ty == Type::I1)
                .map(|v| v.id)
                .collect();
            if known.len() >= 2 {
                let (a, b) = (self.pick(&known), self.pick(&known));
                let op = self.pick(&["and", "or", "xor"]);
                return self.emit(Type::I1, op, &[a, b]);
            }
        }
        let scalar = self.scalar();
        self.compare(Type::new(scalar, 1), uniform)
    }

    /// A conversion to another scalar type in any way that exists.
    pub(super) fn convert(&mut self, id: usize, from: Type, to: Scalar) -> Option<usize> {
        let f = from.scalar;
        let ty = from.with_scalar(to);
        let same_bits = f.bits() == to.bits();
        let ops: &[&str] = match (f.is_float(), to.is_float()) {
            _ if f == Scalar::Ptr || to == Scalar::Ptr || to == Scalar::I1 => return None,
            _ if f == Scalar::I1 => {
                if to.is_float() {
                    return None;
                }
                &["zext", "sext"]
            }
            (true, true) if f != to => &["f_to_f"],
            (true, false) if same_bits && self.rng.random_bool(0.3) => &["bitcast"],
            (false, true) if same_bits && self.rng.random_bool(0.3) => &["bitcast"],
            (true, false) => &["f_to_s", "f_to_u"],
            (false, true) => &["s_to_f", "u_to_f"],
            (false, false) if f.bits() > to.bits() => &[
                "trunc",
                "trunc",
                "sat_s_to_s",
                "sat_s_to_u",
                "sat_u_to_s",
                "sat_u_to_u",
            ],
            (false, false) if f.bits() < to.bits() => &["zext", "sext"],
            (false, false) => &["sat_s_to_u", "sat_u_to_s"],
            _ => return None,
        };
        let op = self.pick(ops);
        let mode = self.pick(&["rte", "rte", "rtz", "rtp", "rtn"]);
        let id = if op == "bitcast" {
            self.canonical(id, from)
        } else {
            id
        };
        Some(self.emit(ty, &format!("convert.{op}.{mode}"), &[id]))
    }

    /// A value as an `i32` that depends on much of it.
    pub(super) fn as_word(&mut self, val: Val) -> usize {
        let Val { mut id, ty, .. } = val;
        if ty.lanes > 1 {
            let lane = self.rng.random_range(0..ty.lanes);
            id = self.emit(ty.lane(), &format!("extract.{lane}"), &[id]);
        }
        let mut scalar = ty.scalar;
        if scalar.is_float() {
            id = self.canonical(id, ty.lane());
            scalar = scalar.as_int();
            id = self.emit(Type::new(scalar, 1), "convert.bitcast.rte", &[id]);
        }
        match scalar.bits() {
            32 => id,
            64 => {
                let half = self.number(Type::I64, 32);
                let high = self.emit(Type::I64, "lshr", &[id, half]);
                let both = self.emit(Type::I64, "xor", &[id, high]);
                self.emit(Type::I32, "convert.trunc.rte", &[both])
            }
            _ => self.emit(Type::I32, "convert.zext.rte", &[id]),
        }
    }

    /// One number that depends on the newest values in scope, so that they matter.
    pub(super) fn digest(&mut self, most: usize, uniform: bool) -> usize {
        let from = self.scope.len().saturating_sub(3 * most);
        let mut vals: Vec<Val> = self.scope[from..].to_vec();
        vals.retain(|v| v.ty.scalar != Scalar::Ptr && (!uniform || v.uniform));
        let mut sum = self.number(Type::I32, 17);
        for _ in 0..most.min(vals.len()) {
            let at = self.rng.random_range(0..vals.len());
            let word = self.as_word(vals.swap_remove(at));
            let factor = self.number(Type::I32, 0x9e37_79b1);
            let product = self.emit(Type::I32, "imul", &[sum, factor]);
            sum = self.emit(Type::I32, "xor", &[product, word]);
        }
        sum
    }

    /// A value to hand on: any, or a digest where the type allows.
    pub(super) fn result(&mut self, ty: Type) -> usize {
        if ty == Type::I32 && self.chance(0.8) {
            self.digest(6, false)
        } else {
            self.value(ty)
        }
    }

    /// The type of a value that control flow hands on.
    pub(super) fn carried(&mut self) -> Type {
        if self.chance(0.6) {
            Type::I32
        } else {
            self.ty()
        }
    }
}
