//! Atomics of many lanes on one address: one atomic of what the lanes do together.
//!
//! As if the lanes had come one right after the other, which the memory model allows and nobody can
//! tell. An atomic costs as much as twenty additions, so this pays even where each lane's result,
//! what the ones before it made of the old value, has to be computed as well.

use smallvec::smallvec;

use super::Expander;
use crate::ir::collective::neutral;
use crate::ir::{Atomic, AtomicOp, BinOp, IntCC, Op, Type, UnOp, Value};
use crate::lower::replay::Values;

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

impl Expander<'_, '_> {
    /// Emits a read-modify-write that way, if it goes that way.
    pub(super) fn combined_rmw(
        &mut self,
        op: AtomicOp,
        atomic: Atomic,
        args: &[Value],
        mask: Option<Value>,
        is_used: bool,
    ) -> Option<Values> {
        let (address, value) = (args[0], args[1]);
        let ty = self.b.ty(value);
        if ty.is_scalar() || !self.b.ty(address).is_scalar() {
            return None;
        }
        if op == AtomicOp::Exchange {
            return mask
                .is_none()
                .then(|| self.exchange_all(atomic, address, value, is_used));
        }
        let both = both(op)?;
        let bits = mask.map(|mask| self.b.val(Op::MaskBits, &[mask], Type::I64));
        let results: &[Type] = if is_used { &[ty] } else { &[] };
        let emit = |e: &mut Self| -> Values {
            if !is_used {
                let total = e.combined(both, value, mask, bits);
                e.rmw(op, atomic, address, total, false);
                return Values::new();
            }
            let mut sums = e.one_after_the_other(both, value, mask);
            let total = sums.pop().expect("a lane");
            let old = e.rmw(op, atomic, address, total, true);
            let made = op.binary().expect("an exchange is not combined so");
            let mut lanes: Values = smallvec![old];
            lanes.extend(sums.iter().map(|&before| e.b.binary(made, old, before)));
            smallvec![e.b.val(Op::Build, &lanes, ty)]
        };
        Some(match bits {
            // Where no lane takes part the address may be anything.
            Some(bits) => {
                let any = self.b.icmp_imm(IntCC::Ne, bits, 0);
                self.if_set(any, results, emit)
            }
            None => emit(self),
        })
    }

    /// An exchange by all lanes: each gets what the one before it has put there, and the last one's
    /// stays.
    fn exchange_all(
        &mut self,
        atomic: Atomic,
        address: Value,
        value: Value,
        is_used: bool,
    ) -> Values {
        let ty = self.b.ty(value);
        let last = self.lane(value, ty.lanes - 1);
        let old = self.rmw(AtomicOp::Exchange, atomic, address, last, is_used);
        if !is_used {
            return Values::new();
        }
        let mut lanes: Values = smallvec![old];
        lanes.extend((0..ty.lanes - 1).map(|lane| self.lane(value, lane)));
        smallvec![self.b.val(Op::Build, &lanes, ty)]
    }

    /// The lanes of `value`, with the operand that changes nothing in those that are not active.
    fn filled(&mut self, op: BinOp, value: Value, mask: Option<Value>) -> Value {
        let Some(mask) = mask else {
            return value;
        };
        let ty = self.b.ty(value);
        let nothing = self.b.iconst(ty, neutral(op, ty.scalar));
        self.b.select(mask, value, nothing)
    }

    /// What the active lanes of `value` up to each come to.
    fn one_after_the_other(&mut self, op: BinOp, value: Value, mask: Option<Value>) -> Values {
        let value = self.filled(op, value, mask);
        let mut sums = Values::new();
        for lane in 0..self.b.ty(value).lanes {
            let x = self.lane(value, lane);
            sums.push(match sums.last() {
                Some(&before) => self.b.binary(op, before, x),
                None => x,
            });
        }
        sums
    }

    /// What the active lanes of `value` come to. `bits` are those of the mask.
    fn combined(
        &mut self,
        op: BinOp,
        value: Value,
        mask: Option<Value>,
        bits: Option<Value>,
    ) -> Value {
        let ty = self.b.ty(value);
        if let Some(constant) = self.b.func.as_const(value) {
            match op {
                // So many times the constant.
                BinOp::IAdd => {
                    let count = match bits {
                        Some(bits) => self.b.unary(UnOp::PopCount, bits),
                        None => self.b.iconst(Type::I64, ty.lanes.into()),
                    };
                    let count = self.low_bits(count, ty.scalar);
                    return self.b.binary_imm(BinOp::IMul, count, constant);
                }
                BinOp::Xor => {}
                _ => return self.b.iconst(ty.lane(), constant),
            }
        }
        let mut lanes = self.filled(op, value, mask);
        // Of the others vectors have not all that `legalize` left.
        let is_in_vectors = matches!(op, BinOp::IAdd | BinOp::And | BinOp::Or | BinOp::Xor);
        if !is_in_vectors {
            let sums = self.one_after_the_other(op, lanes, None);
            return sums[sums.len() - 1];
        }
        let mut step = ty.lanes / 2;
        while step > 0 {
            let other = (0..ty.lanes).map(|lane| lane ^ step).collect();
            let other = self.b.val(Op::Shuffle(other), &[lanes, lanes], ty);
            lanes = self.b.binary(op, lanes, other);
            step /= 2;
        }
        self.b.extract(lanes, 0)
    }
}
