//! Atomics of many lanes on one address: one atomic of what the lanes do together.
//!
//! As if the lanes had come one right after the other, which the memory model allows and nobody can
//! tell. A locked instruction costs as much as twenty additions, so this pays even where each
//! lane's result, what the ones before it made of the old value, has to be computed as well.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};
use cranelift_entity::SecondaryMap;

use super::super::parts::{Parts, Repr, lane_type, part_type};
use super::super::values::Gen;
use crate::ir::collective::neutral;
use crate::ir::{Atomic, AtomicOp, BinOp, Function, Inst, Value};

/// The integer operation that makes of two operands one with the effect of both, one after the
/// other. It is commutative.
fn both(op: AtomicOp) -> Option<BinOp> {
    match op.binary()? {
        BinOp::ISub => Some(BinOp::IAdd),
        // Sums of floating-point numbers depend on the order.
        op if op.is_float() => None,
        op => Some(op),
    }
}

/// Which values are operands of anything.
fn used_values(func: &Function) -> SecondaryMap<Value, bool> {
    let mut used = SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        let data = &func.blocks[block];
        for &inst in &data.insts {
            for &arg in &func.insts[inst].args {
                used[arg] = true;
            }
        }
        data.term.for_each_value(|value| used[value] = true);
    }
    used
}

impl Gen<'_> {
    /// Whether anything has the value as an operand.
    pub fn is_used(&mut self, value: Value) -> bool {
        let func = self.func;
        self.used.get_or_insert_with(|| used_values(func))[value]
    }

    /// Emits the instruction that way, if it goes that way.
    pub fn combined_rmw(&mut self, inst: Inst, op: AtomicOp, atomic: &Atomic) -> Option<Repr> {
        let func = self.func;
        let data = &func.insts[inst];
        let (address, value, result) = (data.args[0], data.args[1], data.results[0]);
        let ty = func.ty(value);
        if ty.lanes == 1 || func.ty(address).lanes > 1 {
            return None;
        }
        let is_used = self.is_used(result);
        let mask = atomic.masked.then(|| data.args[2]);
        if op == AtomicOp::Exchange {
            return mask.is_none().then(|| self.exchange_all(inst, atomic));
        }
        let both = both(op)?;
        let address = self.scalar(address);
        let bits = self.active_bits(mask, ty.lanes);
        let emit = |g: &mut Self| {
            if !is_used {
                let total = g.combined(both, value, mask, bits);
                g.atomic_rmw(op, atomic, ty.lane(), &[address, total]);
                return Vec::new();
            }
            let (before, total) = g.one_after_the_other(both, value, mask);
            let old = g.atomic_rmw(op, atomic, ty.lane(), &[address, total]);
            let old = old.expect("the old value");
            let made = op.binary().expect("an exchange is not combined so");
            let results: Vec<clif::Value> = [old]
                .into_iter()
                .chain(before.map(|before| g.scalar_binary(made, ty.scalar, old, before)))
                .collect();
            g.vector_of(ty, &results).to_vec()
        };
        let parts = if mask.is_some() {
            let count = u32::from(ty.lanes).div_ceil(128 / ty.scalar.bits());
            let types = vec![part_type(ty.scalar); if is_used { count as usize } else { 0 }];
            // Where no lane takes part the address may be anything.
            let any = self.b.ins().icmp_imm_u(IntCC::NotEqual, bits, 0);
            self.if_set(any, &types, emit)
        } else {
            emit(self)
        };
        Some(match is_used {
            true => Repr::Vector(parts.into()),
            false => Repr::None,
        })
    }

    /// An exchange by all lanes: each gets what the one before it has put there, and the last one's
    /// stays.
    fn exchange_all(&mut self, inst: Inst, atomic: &Atomic) -> Repr {
        let data = &self.func.insts[inst];
        let (address, value, result) = (data.args[0], data.args[1], data.results[0]);
        let ty = self.func.ty(value);
        let address = self.scalar(address);
        let last = self.lane(value, ty.lanes - 1);
        let old = self.atomic_rmw(AtomicOp::Exchange, atomic, ty.lane(), &[address, last]);
        if !self.is_used(result) {
            return Repr::None;
        }
        let others = (0..ty.lanes - 1).map(|lane| self.lane(value, lane));
        let results: Vec<clif::Value> = old.into_iter().chain(others).collect();
        Repr::Vector(self.vector_of(ty, &results))
    }

    /// What the active lanes of `value` before each but the first come to, and what all of them do.
    fn one_after_the_other(
        &mut self,
        op: BinOp,
        value: Value,
        mask: Option<Value>,
    ) -> (std::vec::IntoIter<clif::Value>, clif::Value) {
        let ty = self.func.ty(value);
        let parts = self.active_parts(op, value, mask);
        let per = 128 / ty.scalar.bits();
        let mut before: Vec<clif::Value> = Vec::new();
        for lane in 0..u32::from(ty.lanes) {
            let part = parts[(lane / per) as usize];
            let x = self.b.ins().extractlane(part, (lane % per) as u8);
            before.push(match before.last() {
                Some(&before) => self.scalar_binary(op, ty.scalar, before, x),
                None => x,
            });
        }
        let total = before.pop().expect("a lane");
        (before.into_iter(), total)
    }

    /// The lanes of `value`, with the operand that changes nothing in those that are not active.
    fn active_parts(&mut self, op: BinOp, value: Value, mask: Option<Value>) -> Parts {
        let ty = self.func.ty(value);
        let mut parts = self.parts(value);
        if let Some(mask) = mask
            && matches!(self.values[mask], Repr::Mask(..))
        {
            let active = self.mask(mask, ty.scalar.bits());
            let neutral = self.scalar_constant(neutral(op, ty.scalar), ty.scalar);
            let neutral = self.b.ins().splat(part_type(ty.scalar), neutral);
            for (part, active) in parts.iter_mut().zip(active) {
                *part = self.b.ins().bitselect(active, *part, neutral);
            }
        }
        parts
    }

    /// What the active lanes of `value` come to. `bits` are the active ones.
    fn combined(
        &mut self,
        op: BinOp,
        value: Value,
        mask: Option<Value>,
        bits: clif::Value,
    ) -> clif::Value {
        let ty = self.func.ty(value);
        let lane = lane_type(ty.scalar);
        if let Repr::Constant(constant) = self.values[value] {
            match op {
                // So many times the constant.
                BinOp::IAdd => {
                    let count = self.b.ins().popcnt(bits);
                    let count = match lane {
                        types::I64 => self.b.ins().uextend(types::I64, count),
                        _ => count,
                    };
                    let constant = self.scalar_constant(constant, ty.scalar);
                    return self.b.ins().imul(count, constant);
                }
                BinOp::Xor => {}
                _ => return self.scalar_constant(constant, ty.scalar),
            }
        }
        let mut parts = self.active_parts(op, value, mask);
        // Vectors have no 64-bit minimum; a few scalar ones do as well.
        let vectors = matches!(op, BinOp::IAdd | BinOp::And | BinOp::Or | BinOp::Xor);
        if vectors {
            let folded = parts.into_iter().reduce(|a, b| match op {
                BinOp::IAdd => self.b.ins().iadd(a, b),
                BinOp::And => self.b.ins().band(a, b),
                BinOp::Or => self.b.ins().bor(a, b),
                _ => self.b.ins().bxor(a, b),
            });
            parts = folded.into_iter().collect();
        }
        let per = (128 / ty.scalar.bits()) as u8;
        let mut total = None;
        for (i, part) in parts.into_iter().enumerate() {
            let left = usize::from(ty.lanes) - i * usize::from(per);
            for l in 0..left.min(per.into()) as u8 {
                let x = self.b.ins().extractlane(part, l);
                total = Some(match total {
                    Some(total) => self.scalar_binary(op, ty.scalar, total, x),
                    None => x,
                });
            }
        }
        total.expect("a lane")
    }
}
