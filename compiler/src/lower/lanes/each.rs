//! An operation for each active lane.
//!
//! A loop over lanes spills its operands to the stack once, as arrays of lanes, and indexes them
//! with the lane's number: code as long for 16 lanes as for 4. With a mask it is a loop over the
//! set bits, and nothing at all where there are none.

use smallvec::{SmallVec, smallvec};

use super::Expander;
use super::stack::Array;
use crate::ir::{BinOp, Block, ConvertOp, IntCC, Op, Type, UnOp, Value};
use crate::lower::replay::Values;

/// Most lanes that are seen to in a straight line.
const STRAIGHT: u8 = 16;

/// How far an address is taken apart so that a lane of it can be computed as a scalar.
const ADDRESS_DEPTH: u32 = 4;

/// An operand of a loop over lanes.
#[derive(Clone, Copy)]
enum Operand {
    /// The same in every lane.
    Same(Value),
    PerLane(Array),
}

impl Expander<'_, '_> {
    /// What `body` makes of each active lane's operands, in the order of the lanes; zeros in the
    /// others. `results` are the results' types, of which `body` gives one lane. Operands may have
    /// one lane.
    pub(super) fn each_lane(
        &mut self,
        args: &[Value],
        mask: Option<Value>,
        results: &[Type],
        body: impl FnOnce(&mut Self, &[Value]) -> Values,
    ) -> Values {
        let lanes = self.lanes(args, mask, results);
        self.each_lane_of(lanes, args, mask, results, body)
    }

    /// [`Expander::each_lane`] of so many lanes, though all operands may have one.
    pub(super) fn each_lane_of(
        &mut self,
        lanes: u8,
        args: &[Value],
        mask: Option<Value>,
        results: &[Type],
        body: impl FnOnce(&mut Self, &[Value]) -> Values,
    ) -> Values {
        match self.unless_full(mask) {
            None if lanes == 1 => body(self, args),
            None => {
                let looping = Loop::new(self, args, results);
                looping.over_all(self, lanes, body)
            }
            Some(mask) if lanes == 1 => self.if_set(mask, results, |e| body(e, args)),
            Some(mask) => {
                let any = self.b.val(Op::AnyTrue, &[mask], Type::I1);
                self.if_set(any, results, |e| e.each_set(args, mask, results, body))
            }
        }
    }

    /// [`Expander::each_lane`] under a mask of which a lane is set.
    pub(super) fn each_set(
        &mut self,
        args: &[Value],
        mask: Value,
        results: &[Type],
        body: impl FnOnce(&mut Self, &[Value]) -> Values,
    ) -> Values {
        let bits = self.b.val(Op::MaskBits, &[mask], Type::I64);
        let looping = Loop::new(self, args, results);
        looping.over_set(self, bits, body)
    }

    /// [`Expander::each_lane`], without a loop where there is no mask and lanes are few.
    pub(super) fn each_lane_straight(
        &mut self,
        args: &[Value],
        mask: Option<Value>,
        results: &[Type],
        mut body: impl FnMut(&mut Self, &[Value]) -> Values,
    ) -> Values {
        let lanes = self.lanes(args, mask, results);
        let mask = self.unless_full(mask);
        if mask.is_some() || lanes == 1 || lanes > STRAIGHT {
            return self.each_lane(args, mask, results, body);
        }
        let mut all: SmallVec<[Values; 4]> = smallvec![Values::new(); results.len()];
        for lane in 0..lanes {
            let args: Values = args.iter().map(|&arg| self.lane(arg, lane)).collect();
            for (lanes, value) in all.iter_mut().zip(body(self, &args)) {
                lanes.push(value);
            }
        }
        let build = |(lanes, &ty): (&Values, &Type)| self.b.val(Op::Build, lanes, ty);
        all.iter().zip(results).map(build).collect()
    }

    /// How many lanes an operation has.
    fn lanes(&self, args: &[Value], mask: Option<Value>, results: &[Type]) -> u8 {
        let values = args.iter().copied().chain(mask).map(|v| self.b.ty(v));
        let all = values.chain(results.iter().copied());
        all.map(|ty| ty.lanes).max().unwrap_or(1)
    }

    /// A mask, unless every lane is known to be set.
    fn unless_full(&self, mask: Option<Value>) -> Option<Value> {
        mask.filter(|&mask| self.b.func.as_const(mask) != Some(1))
    }

    /// Runs `body` if a condition holds, yielding zeros otherwise.
    pub(super) fn if_set(
        &mut self,
        condition: Value,
        results: &[Type],
        body: impl FnOnce(&mut Self) -> Values,
    ) -> Values {
        let zeros: Values = results.iter().map(|&ty| self.b.iconst(ty, 0)).collect();
        self.if_set_else(condition, &zeros, body)
    }

    /// Runs `body` if a condition holds, yielding values that are there otherwise.
    pub(super) fn if_set_else(
        &mut self,
        condition: Value,
        otherwise: &[Value],
        body: impl FnOnce(&mut Self) -> Values,
    ) -> Values {
        let types: SmallVec<[Type; 4]> = otherwise.iter().map(|&v| self.b.ty(v)).collect();
        let (work, done) = (self.b.new_block(&[]), self.b.new_block(&types));
        self.b.cond_br(condition, work, &[], done, otherwise);
        self.b.switch_to(work);
        let values = body(self);
        self.b.br(done, &values[..types.len()]);
        self.b.switch_to(done);
        self.b.func.blocks[done].params.iter().copied().collect()
    }

    /// One lane of a value. Addresses that are an index away from a uniform object are computed
    /// from a lane of the index.
    pub(super) fn lane(&mut self, value: Value, lane: u8) -> Value {
        self.lane_of_sum(value, lane, ADDRESS_DEPTH)
    }

    fn lane_of_sum(&mut self, value: Value, lane: u8, depth: u32) -> Value {
        let ty = self.b.ty(value);
        if ty.is_scalar() {
            return value;
        }
        if let Some(inst) = self.b.func.def_inst(value) {
            let data = &self.b.func.insts[inst];
            match data.op {
                Op::Const(bits) => return self.b.iconst(ty.lane(), bits),
                Op::Splat => return data.args[0],
                Op::Build => return data.args[usize::from(lane)],
                _ => {}
            }
            if depth > 0 && (depth < ADDRESS_DEPTH || matches!(data.op, Op::PtrAdd)) {
                let is_part = match data.op {
                    Op::PtrAdd => self.is_uniform(data.args[0]),
                    Op::Binary(BinOp::IMul | BinOp::Shl, _) => {
                        self.b.func.as_const(data.args[1]).is_some()
                    }
                    Op::Convert(ConvertOp::SExt | ConvertOp::ZExt, _) => true,
                    _ => false,
                };
                if is_part {
                    let data = data.clone();
                    let args = data.args.iter();
                    let args: Values = args
                        .map(|&arg| self.lane_of_sum(arg, lane, depth - 1))
                        .collect();
                    return self.b.val(data.op, &args, ty.lane());
                }
            }
        }
        self.b.extract(value, lane)
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.b.ty(value).is_scalar() || matches!(self.b.func.def_op(value), Some(Op::Splat))
    }

    /// Puts a value where a loop over lanes can index it.
    fn operand(&mut self, value: Value) -> Operand {
        let is_same = self.is_uniform(value) || self.b.func.as_const(value).is_some();
        match is_same {
            true => Operand::Same(self.lane(value, 0)),
            false => Operand::PerLane(self.array_of(value)),
        }
    }
}

/// A loop over lanes: its operands, and where its results go.
struct Loop {
    operands: SmallVec<[Operand; 4]>,
    results: SmallVec<[Array; 4]>,
}

impl Loop {
    fn new(e: &mut Expander<'_, '_>, args: &[Value], results: &[Type]) -> Loop {
        let zeros = |e: &mut Expander<'_, '_>, ty| {
            let zeros = e.b.iconst(ty, 0);
            e.array_of(zeros)
        };
        Loop {
            operands: args.iter().map(|&arg| e.operand(arg)).collect(),
            results: results.iter().map(|&ty| zeros(e, ty)).collect(),
        }
    }

    /// All lanes.
    fn over_all<'e, 'f>(
        self,
        e: &mut Expander<'e, 'f>,
        lanes: u8,
        body: impl FnOnce(&mut Expander<'e, 'f>, &[Value]) -> Values,
    ) -> Values {
        let first = e.b.iconst(Type::I64, 0);
        let (head, lane) = Loop::begin(e, first);
        self.once(e, lane, body);
        let next = e.b.binary_imm(BinOp::IAdd, lane, 1);
        let more = e.b.icmp_imm(IntCC::Ult, next, lanes.into());
        self.end(e, head, next, more)
    }

    /// The lanes whose bits are set in an `i64` that is not 0.
    fn over_set<'e, 'f>(
        self,
        e: &mut Expander<'e, 'f>,
        bits: Value,
        body: impl FnOnce(&mut Expander<'e, 'f>, &[Value]) -> Values,
    ) -> Values {
        let (head, left) = Loop::begin(e, bits);
        let lane = e.b.unary(UnOp::Ctz, left);
        self.once(e, lane, body);
        let less = e.b.binary_imm(BinOp::ISub, left, 1);
        let rest = e.b.binary(BinOp::And, left, less);
        let more = e.b.icmp_imm(IntCC::Ne, rest, 0);
        self.end(e, head, rest, more)
    }

    /// The head of a loop that carries an `i64`, and that number.
    fn begin(e: &mut Expander<'_, '_>, first: Value) -> (Block, Value) {
        let head = e.b.new_block(&[Type::I64]);
        e.b.br(head, &[first]);
        e.b.switch_to(head);
        (head, e.b.param(head, 0))
    }

    /// What is done for one lane.
    fn once<'e, 'f>(
        &self,
        e: &mut Expander<'e, 'f>,
        lane: Value,
        body: impl FnOnce(&mut Expander<'e, 'f>, &[Value]) -> Values,
    ) {
        let operands = self.operands.iter().map(|&operand| match operand {
            Operand::Same(value) => value,
            Operand::PerLane(array) => e.array_lane(array, lane),
        });
        let operands: Values = operands.collect();
        for (&array, value) in self.results.iter().zip(body(e, &operands)) {
            e.set_array_lane(array, lane, value);
        }
    }

    /// Goes on with another number if there are more lanes. The results of all.
    fn end(self, e: &mut Expander<'_, '_>, head: Block, next: Value, more: Value) -> Values {
        let done = e.b.new_block(&[]);
        e.b.cond_br(more, head, &[next], done, &[]);
        e.b.switch_to(done);
        let arrays = self.results.into_iter();
        arrays.map(|array| e.whole_array(array)).collect()
    }
}
