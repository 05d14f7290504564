//! What a guard's results say of all lanes ([`Predicate`]).
//!
//! A comparison of ids with uniform values changes at most once over the lanes, and which way is
//! known from their strides, so the first or the last lane tells about all of them; whether a
//! number wraps, its first lane and its stride do; whether a quotient changes, the first lane's
//! remainder and the stride do.

use super::Predicate;
use super::values::Emitter;
use crate::analysis::{Guards, Shape};
use crate::ir::{BinOp, ConvertOp, IntCC, Op, Type, UnOp, Value};

/// How a number compares with a bound that does not clamp it.
pub fn idle(clamp: BinOp) -> IntCC {
    match clamp {
        BinOp::SMin => IntCC::Sle,
        BinOp::SMax => IntCC::Sge,
        BinOp::UMin => IntCC::Ule,
        _ => IntCC::Uge,
    }
}

impl Emitter<'_> {
    pub(super) fn result(&mut self, index: usize, value: Value) -> Value {
        match self.source.predicates.get(index) {
            None => self.first_lane(value),
            Some(Predicate::All) => self.bound(value, true),
            Some(Predicate::Any) => self.bound(value, false),
            Some(Predicate::NoWrap { signed }) => self.no_wrap(value, *signed),
            Some(Predicate::SameQuotient) => self.same_quotient(value),
        }
    }

    /// Something that implies that a condition holds in all lanes, or that is implied by its
    /// holding in any.
    fn bound(&mut self, value: Value, all: bool) -> Value {
        if self.source.shapes.of(value) != Shape::Varying {
            return self.scalar(value);
        }
        let inst = self
            .source
            .func
            .def_inst(value)
            .map(|inst| &self.source.func.insts[inst]);
        match inst.map(|data| (&data.op, &data.args[..])) {
            Some((&Op::ICmp(cc), &[a, b])) if self.source.shapes.is_monotone(value) => {
                let lane = self.deciding_lane(cc, a, b, all);
                let (at_a, at_b) = (self.lane(a, lane), self.lane(b, lane));
                let verdict = self.builder().icmp(cc, at_a, at_b);
                // One lane tells only if the numbers are affine.
                self.stride(a)
                    .1
                    .into_iter()
                    .chain(self.stride(b).1)
                    .flat_map(Guards::iter)
                    .fold(verdict, |verdict, guard| {
                        let holds = self.holds(guard);
                        let mut b = self.builder();
                        if all {
                            b.binary(BinOp::And, verdict, holds)
                        } else {
                            let fails = b.unary(UnOp::Not, holds);
                            b.binary(BinOp::Or, verdict, fails)
                        }
                    })
            }
            Some((&Op::Binary(op @ (BinOp::And | BinOp::Or), _), &[a, b])) => {
                let (a, b) = (self.bound(a, all), self.bound(b, all));
                self.builder().binary(op, a, b)
            }
            Some((Op::Unary(UnOp::Not), &[a])) => {
                let a = self.bound(a, !all);
                self.builder().unary(UnOp::Not, a)
            }
            _ => {
                let lanes = self.vector(value);
                let op = if all { Op::AllTrue } else { Op::AnyTrue };
                self.builder().val(op, &[lanes], Type::I1)
            }
        }
    }

    /// The lane in which a monotone comparison holds only if it does in all lanes, or in which it
    /// holds if it does in any.
    fn deciding_lane(&self, cc: IntCC, a: Value, b: Value, all: bool) -> u64 {
        let less = matches!(cc, IntCC::Slt | IntCC::Sle | IntCC::Ult | IntCC::Ule);
        // The difference grows from lane to lane, or becomes less; the comparison asks for little
        // or for much of it.
        let grows = self.stride(a).0 > self.stride(b).0;
        if grows == (less == all) {
            u64::from(self.source.width) - 1
        } else {
            0
        }
    }

    /// The stride of a uniform or affine value, and what has to hold for it to be affine.
    fn stride(&self, value: Value) -> (i64, Option<Guards>) {
        match self.source.shapes.of(value) {
            Shape::Affine(stride) => (stride, None),
            Shape::Guarded(stride, guards) => (stride, Some(guards)),
            _ => (0, None),
        }
    }

    /// A lane of a uniform or affine value.
    fn lane(&mut self, value: Value, lane: u64) -> Value {
        let base = self.scalar(value);
        let offset = (self.stride(value).0 as u64).wrapping_mul(lane);
        if offset == 0 {
            return base;
        }
        let ty = self.out.ty(base);
        let mut b = self.builder();
        let offset = b.iconst(ty, offset);
        b.binary(BinOp::IAdd, base, offset)
    }

    /// Whether what a guard stands for is so, as a condition.
    pub(super) fn holds(&mut self, guard: Value) -> Value {
        let inst = self
            .source
            .func
            .def_inst(guard)
            .expect("guards are instructions");
        let data = &self.source.func.insts[inst];
        match data.op {
            Op::Binary(op, _) => {
                let uniform = |&value: &Value| self.source.shapes.of(value).is_uniform();
                let (value, bound) = match &data.args[..] {
                    [bound, value] if uniform(bound) => (*value, *bound),
                    args => (args[0], args[1]),
                };
                let cc = idle(op);
                let lane = self.deciding_lane(cc, value, bound, true);
                let (value, bound) = (self.lane(value, lane), self.scalar(bound));
                self.builder().icmp(cc, value, bound)
            }
            Op::Convert(op, _) => self.no_wrap(data.args[0], op == ConvertOp::SExt),
            _ => unreachable!("guards extend or clamp"),
        }
    }

    /// Whether the quotient that belongs to a remainder is the same in all lanes. The number that
    /// is divided is affine with a stride that is not negative; neither it nor any lane's is
    /// negative or wraps.
    fn same_quotient(&mut self, remainder: Value) -> Value {
        let inst = self.source.func.def_inst(remainder).expect("a remainder");
        let data = &self.source.func.insts[inst];
        let (&Op::Binary(op, _), &[number, divisor]) = (&data.op, &data.args[..]) else {
            unreachable!("a remainder has two operands")
        };
        let reach = match self.source.shapes.of(number) {
            Shape::Affine(stride) => stride as u64 * (u64::from(self.source.width) - 1),
            _ => 0,
        };
        let (number, divisor) = (self.scalar(number), self.scalar(divisor));
        let mut b = self.builder();
        // At most the number, so that the sum is at most its last lane. The remainder by 0 is 0, by
        // a negative number not negative: then the comparison fails.
        let first = b.binary(op, number, divisor);
        let reach = b.iconst(b.ty(number), reach);
        let last = b.binary(BinOp::IAdd, first, reach);
        let cc = if op == BinOp::SRem {
            IntCC::Slt
        } else {
            IntCC::Ult
        };
        b.icmp(cc, last, divisor)
    }

    /// Whether an affine number goes from the first lane to the last without wrapping.
    pub(super) fn no_wrap(&mut self, operand: Value, signed: bool) -> Value {
        let stride = match self.source.shapes.of(operand) {
            Shape::Affine(c) | Shape::Guarded(c, _) => c,
            _ => 0,
        };
        let reach = stride.wrapping_mul(i64::from(self.source.width) - 1);
        let base = self.scalar(operand);
        let mut b = self.builder();
        let ty = b.ty(base);
        let bits = ty.scalar.bits();
        // The last lane must not pass the end of the type's numbers.
        let (most, least) = if signed {
            (i64::MAX >> (64 - bits), i64::MIN >> (64 - bits))
        } else {
            (ty.scalar.mask() as i64, 0)
        };
        let (cc, bound) = match (reach >= 0, signed) {
            (true, true) => (IntCC::Sle, most - reach),
            (true, false) => (IntCC::Ule, most.wrapping_sub(reach)),
            (false, true) => (IntCC::Sge, least - reach),
            (false, false) => (IntCC::Uge, -reach),
        };
        let bound = b.iconst(ty, bound as u64);
        b.icmp(cc, base, bound)
    }
}
