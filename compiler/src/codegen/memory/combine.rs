//! Atomics of many lanes on one address whose results nobody looks at: one atomic of what the lanes do together.
//!
//! As if the lanes had come one right after the other, which the memory model allows and nobody can tell. A locked
//! instruction costs as much as twenty additions.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};
use cranelift_entity::SecondaryMap;

use super::super::function::Gen;
use super::super::parts::{Repr, lane_type, part_type};
use crate::ir::collective::neutral;
use crate::ir::{Atomic, AtomicOp, BinOp, Function, Inst, Value};

/// The integer operation that makes of two operands one with the effect of both, one after the other. It is commutative.
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

    /// Emits the instruction that way; false if it does not go that way.
    pub fn combined_rmw(&mut self, inst: Inst, op: AtomicOp, atomic: &Atomic) -> bool {
        let func = self.func;
        let data = &func.insts[inst];
        let (address, value, result) = (data.args[0], data.args[1], data.results[0]);
        let ty = func.ty(value);
        let Some(both) = both(op) else { return false };
        if ty.lanes == 1 || func.ty(address).lanes > 1 {
            return false;
        }
        if self.is_used(result) {
            return false;
        }
        let address = self.scalar(address);
        let mask = atomic.masked.then(|| data.args[2]);
        let bits = self.active_bits(mask, ty.lanes);
        let emit = |g: &mut Self| {
            let total = g.together(both, value, mask, bits);
            g.atomic_rmw(op, atomic, ty.lane(), &[address, total]);
            Vec::new()
        };
        if mask.is_some() {
            // Where no lane takes part the address may be anything.
            let any = self.b.ins().icmp_imm_u(IntCC::NotEqual, bits, 0);
            self.if_set(any, &[], emit);
        } else {
            emit(self);
        }
        true
    }

    /// What the active lanes of `value` come to. `bits` are the active ones.
    fn together(
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
