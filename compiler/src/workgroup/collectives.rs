//! Collectives of a work-group.
//!
//! Work-items run in the order of their local linear ids, so a running value, the *carry*, that
//! each combines with what it brings makes reductions and scans. The first work-item begins anew.
//! It lives in a slot of the barrier context.
//!
//! [`cut`] reduces all collectives to these, and puts a barrier after each, so that the region ends
//! there: after it, the carry is the value of the whole group, which is what [`Op::Carry`] reads,
//! and the next collective may use the slot again. [`Carried`] is what a collective becomes for the
//! work-items of a chunk.
//!
//! Sums and products of floating-point numbers are formed one after another, so that they do not
//! depend on the width.

use smallvec::SmallVec;

use crate::ir::collective::{identity, neutral};
use crate::ir::{
    BinOp, Builder, Collective, ConvertOp, Fence, Function, Inst, IntCC, Op, Order, Query,
    Rounding, Scalar, Scope, Type, Value,
};
use crate::transform::suspension;

pub(super) fn is_collective(op: &Op) -> bool {
    matches!(
        op,
        Op::Collective {
            scope: Scope::WorkGroup,
            ..
        }
    )
}

/// Makes every collective of the work-group one that [`Carried`] knows, and ends blocks at them
/// with a barrier.
pub(super) fn cut(kernel: &mut Function) {
    for point in suspension::cut(kernel, is_collective) {
        let mut b = Builder::new(kernel, point.block);
        b.loc = b.func.insts[point.inst].loc;
        replace(&mut b, point.inst);
        let fence = Fence {
            scope: Scope::WorkGroup,
            order: Order::Relaxed,
            local: false,
            global: false,
        };
        b.ins(Op::Barrier(fence), &[], &[]);
    }
}

/// Emits what takes the place of a collective; its result keeps its name.
fn replace(b: &mut Builder<'_>, inst: Inst) {
    let data = b.func.insts[inst].clone();
    let Op::Collective { what, .. } = data.op else {
        unreachable!("only collectives are replaced")
    };
    let result = data.results[0];
    let ty = b.ty(result);
    let carried = |what| Op::Collective {
        what,
        scope: Scope::WorkGroup,
        masked: false,
    };
    let (op, value) = match what {
        Collective::Inclusive(_) | Collective::Exclusive(_) => {
            b.func.blocks[b.block].insts.push(inst);
            return;
        }
        Collective::Reduce(op) => (op, data.args[0]),
        Collective::All => (BinOp::And, data.args[0]),
        Collective::Any => (BinOp::Or, data.args[0]),
        // A broadcast combines the bits of the one value that counts with zeros.
        _ => (BinOp::Or, chosen_bits(b, data.args[0], data.args[1])),
    };
    let bits = b.ty(value);
    b.ins(carried(Collective::Reduce(op)), &[value], &[bits]);
    if bits == ty {
        redefine(b, inst, Op::Carry, &[]);
    } else {
        let whole = b.val(Op::Carry, &[], bits);
        let cast = Op::Convert(ConvertOp::Bitcast, Rounding::NearestEven);
        redefine(b, inst, cast, &[whole]);
    }
}

/// Makes an instruction another one with the same result.
fn redefine(b: &mut Builder<'_>, inst: Inst, op: Op, args: &[Value]) {
    b.func.insts[inst].op = op;
    b.func.insts[inst].args = SmallVec::from_slice(args);
    b.func.blocks[b.block].insts.push(inst);
}

/// The bits of a value for the work-item with a local linear id, 0 for the others.
fn chosen_bits(b: &mut Builder<'_>, value: Value, number: Value) -> Value {
    let ty = b.ty(value);
    let item = b.val(Op::Query(Query::LocalLinearId), &[], Type::I64);
    let number = b.convert(ConvertOp::ZExt, number, Type::I64);
    let mine = b.icmp(IntCC::Eq, item, number);
    if ty.scalar == Scalar::I1 {
        return b.binary(BinOp::And, value, mine);
    }
    let int = ty.with_scalar(ty.scalar.as_int());
    let bits = b.bitcast(value, int);
    let zero = b.iconst(int, 0);
    b.select(mine, bits, zero)
}

/// A collective for the work-items that run together.
pub(super) struct Carried {
    pub what: Collective,
    pub value: Value,
    pub mask: Option<Value>,
    /// What the work-items before brought; [`neutral`] if there are none.
    pub carry: Value,
}

impl Carried {
    /// The new carry, and the result unless it is a reduction.
    pub fn emit(&self, b: &mut Builder<'_>) -> (Value, Option<Value>) {
        let op = self.what.op().expect("scans and reductions are carried");
        let ty = b.ty(self.value);
        let value = match self.mask {
            None => self.value,
            Some(mask) => {
                let nothing = b.iconst(ty, neutral(op, ty.scalar));
                b.select(mask, self.value, nothing)
            }
        };
        if ty.is_scalar() || matches!(op, BinOp::FAdd | BinOp::FMul) {
            return self.one_by_one(b, op, value);
        }
        let last = ty.lanes - 1;
        let together = |b: &mut Builder<'_>, what: Collective, ty: Type| {
            let op = Op::Collective {
                what,
                scope: Scope::SubGroup,
                masked: false,
            };
            b.val(op, &[value], ty)
        };
        if let Collective::Reduce(_) = self.what {
            let all = together(b, self.what, ty.lane());
            return (b.binary(op, self.carry, all), None);
        }
        let sums = together(b, Collective::Inclusive(op), ty);
        let before = b.splat(self.carry, ty.lanes);
        let sums = b.binary(op, before, sums);
        let carry = b.extract(sums, last);
        if let Collective::Inclusive(_) = self.what {
            return (carry, Some(sums));
        }
        let mask = (0..ty.lanes).map(|l| if l == 0 { ty.lanes } else { l - 1 });
        let shifted = shuffled(b, sums, before, mask.collect());
        let start = b.iconst(ty, identity(op, ty.scalar));
        (carry, Some(b.binary(op, start, shifted)))
    }

    fn one_by_one(&self, b: &mut Builder<'_>, op: BinOp, value: Value) -> (Value, Option<Value>) {
        let ty = b.ty(value);
        let mut carry = self.carry;
        let mut lanes = Vec::new();
        for lane in 0..ty.lanes {
            let one = match ty.lanes {
                1 => value,
                _ => b.extract(value, lane),
            };
            let before = carry;
            carry = b.binary(op, carry, one);
            lanes.push(match self.what {
                Collective::Exclusive(_) => {
                    let start = b.iconst(ty.lane(), identity(op, ty.scalar));
                    b.binary(op, start, before)
                }
                _ => carry,
            });
        }
        let result = match (self.what, &lanes[..]) {
            (Collective::Reduce(_), _) => None,
            (_, [only]) => Some(*only),
            (_, lanes) => Some(b.val(Op::Build, lanes, ty)),
        };
        (carry, result)
    }
}

/// A shuffle, of truth values as bytes.
fn shuffled(b: &mut Builder<'_>, x: Value, y: Value, mask: Box<[u8]>) -> Value {
    let ty = b.ty(x);
    if ty.scalar != Scalar::I1 {
        return b.val(Op::Shuffle(mask), &[x, y], ty);
    }
    let bytes = ty.with_scalar(Scalar::I8);
    let (one, zero) = (b.iconst(bytes, 1), b.iconst(bytes, 0));
    let (x, y) = (b.select(x, one, zero), b.select(y, one, zero));
    let moved = b.val(Op::Shuffle(mask), &[x, y], bytes);
    b.icmp(IntCC::Ne, moved, zero)
}
