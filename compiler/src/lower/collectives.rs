//! Expands what work-items do together into operations on lanes.
//!
//! The lanes of a vector are the work-items, a mask says which of them are active. Work-items that
//! are not active stand in with what changes nothing ([`neutral`]). Reductions are butterflies and
//! scans double their reach, so both take as many steps as the lane count has bits; a shuffle by
//! numbers that are known is a constant shuffle. Of one lane everything is trivial. The meaning is
//! [`evaluate`](crate::ir::collective::evaluate)'s. Cost: linear in lanes.

use smallvec::{SmallVec, smallvec};

use super::emit::{Emitter, rewrite};
use crate::ir::collective::{identity, neutral};
use crate::ir::{
    BinOp, Collective, ConvertOp, FloatCC, Function, InstData, IntCC, Op, Scalar, Type, UnOp, Value,
};

/// Expands every collective of `func`.
pub fn expand(func: &mut Function) {
    rewrite(func, |e, data| match data.op {
        Op::Collective { what, masked, .. } => {
            if what == Collective::Sync {
                return Some(SmallVec::new());
            }
            Some(smallvec![Lanes::new(e, what, data, masked).expand()])
        }
        _ => None,
    });
}

/// One collective being expanded.
struct Lanes<'e, 'f> {
    e: &'e mut Emitter<'f>,
    what: Collective,
    /// Without the mask.
    args: SmallVec<[Value; 2]>,
    mask: Option<Value>,
    width: u8,
    result: Type,
}

impl<'e, 'f> Lanes<'e, 'f> {
    fn new(
        e: &'e mut Emitter<'f>,
        what: Collective,
        data: &InstData,
        masked: bool,
    ) -> Lanes<'e, 'f> {
        let mut args: SmallVec<[Value; 2]> = data.args.iter().copied().collect();
        let mask = if masked { args.pop() } else { None };
        let result = e.ty(data.results[0]);
        let known = args.first().copied().or(mask);
        Lanes {
            width: known.map_or(result.lanes, |v| e.ty(v).lanes),
            e,
            what,
            args,
            mask,
            result,
        }
    }

    fn expand(mut self) -> Value {
        match self.what {
            Collective::Sync => unreachable!("it has no result"),
            Collective::Elect => self.elect(),
            Collective::All => self.vote(Op::AllTrue, BinOp::Or, true),
            Collective::Any => self.vote(Op::AnyTrue, BinOp::And, false),
            Collective::AllEqual => self.all_equal(),
            Collective::Ballot => {
                let lanes = self.masked_bits(BinOp::And, false);
                self.bits(lanes)
            }
            Collective::Broadcast => self.broadcast(),
            Collective::BroadcastFirst => {
                let first = self.first();
                self.lane(self.args[0], first)
            }
            Collective::Shuffle => self.shuffle(),
            Collective::Reduce(op) => {
                let lanes = self.filled(op);
                let all = self.butterfly(op, lanes, self.width);
                self.constant_lane(all, 0)
            }
            Collective::Cluster(op, size) => {
                let lanes = self.filled(op);
                self.butterfly(op, lanes, size.min(self.width))
            }
            Collective::Inclusive(op) => {
                let lanes = self.filled(op);
                self.prefixes(op, lanes)
            }
            Collective::Exclusive(op) => {
                let lanes = self.filled(op);
                let sums = self.prefixes(op, lanes);
                let nothing = self.constant(neutral(op, self.result.scalar));
                let before = self.shifted(sums, 1, nothing);
                let start = self.constant(identity(op, self.result.scalar));
                self.e.binary(op, start, before)
            }
        }
    }

    /// A constant of the operand's type.
    fn constant(&mut self, bits: u64) -> Value {
        let ty = self.e.ty(self.args[0]);
        self.e.iconst(ty, bits)
    }

    /// The operand, or what changes nothing in lanes that are not active.
    fn filled(&mut self, op: BinOp) -> Value {
        let value = self.args[0];
        match self.mask {
            None => value,
            Some(mask) => {
                let nothing = self.constant(neutral(op, self.result.scalar));
                self.e.select(mask, value, nothing)
            }
        }
    }

    /// A truth value in each lane, `otherwise` where lanes are not active.
    fn masked_bits(&mut self, op: BinOp, otherwise: bool) -> Value {
        let value = self.args[0];
        match self.mask {
            None => value,
            Some(mask) if otherwise => {
                let idle = self.e.unary(UnOp::Not, mask);
                self.e.binary(op, value, idle)
            }
            Some(mask) => self.e.binary(op, value, mask),
        }
    }

    fn vote(&mut self, ask: Op, op: BinOp, otherwise: bool) -> Value {
        let lanes = self.masked_bits(op, otherwise);
        if self.width == 1 {
            return lanes;
        }
        self.e.emit(ask, &[lanes], Type::I1)
    }

    /// A mask as an `i64`.
    fn bits(&mut self, lanes: Value) -> Value {
        if self.width == 1 {
            return self.e.convert(ConvertOp::ZExt, lanes, Scalar::I64);
        }
        self.e.emit(Op::MaskBits, &[lanes], Type::I64)
    }

    /// The number of the first active lane as an `i32`; `None` if it is 0 for certain.
    fn first(&mut self) -> Option<Value> {
        let mask = self.mask.filter(|_| self.width > 1)?;
        let bits = self.bits(mask);
        let first = self.e.unary(UnOp::Ctz, bits);
        Some(self.e.convert(ConvertOp::Trunc, first, Scalar::I32))
    }

    fn lane(&mut self, value: Value, number: Option<Value>) -> Value {
        match number {
            None => self.constant_lane(value, 0),
            Some(number) => {
                let ty = self.e.ty(value).lane();
                self.through_bytes(value, ty, |e, value, ty| {
                    e.emit(Op::ExtractDyn, &[value, number], ty)
                })
            }
        }
    }

    fn constant_lane(&mut self, value: Value, lane: u8) -> Value {
        let ty = self.e.ty(value);
        if ty.is_scalar() {
            return value;
        }
        self.e.emit(Op::Extract(lane), &[value], ty.lane())
    }

    /// Moves lanes, of truth values as bytes: masks have no lanes of their own.
    fn through_bytes(
        &mut self,
        value: Value,
        ty: Type,
        mut act: impl FnMut(&mut Emitter<'f>, Value, Type) -> Value,
    ) -> Value {
        if ty.scalar != Scalar::I1 {
            return act(self.e, value, ty);
        }
        let bytes = self.e.ty(value).with_scalar(Scalar::I8);
        let (one, zero) = (self.e.iconst(bytes, 1), self.e.iconst(bytes, 0));
        let value = self.e.select(value, one, zero);
        let moved = act(self.e, value, ty.with_scalar(Scalar::I8));
        self.e.icmp_imm(IntCC::Ne, moved, 0)
    }

    fn lane_ids(&mut self) -> Value {
        let ty = Type::new(Scalar::I32, self.width);
        self.e.emit(Op::LaneIds, &[], ty)
    }

    fn splat(&mut self, value: Value) -> Value {
        let ty = self.e.ty(value);
        if self.width == 1 || ty.lanes > 1 {
            return value;
        }
        self.e.emit(Op::Splat, &[value], ty.with_lanes(self.width))
    }

    fn elect(&mut self) -> Value {
        if self.width == 1 {
            return self.e.iconst(Type::I1, 1);
        }
        let first = match self.first() {
            Some(first) => first,
            None => self.e.iconst(Type::I32, 0),
        };
        let (first, ids) = (self.splat(first), self.lane_ids());
        self.e.icmp(IntCC::Eq, ids, first)
    }

    fn all_equal(&mut self) -> Value {
        let value = self.args[0];
        let first = self.first();
        let one = self.lane(value, first);
        let one = self.splat(one);
        let scalar = self.e.ty(value).scalar;
        let same = match scalar {
            Scalar::I1 => {
                let differ = self.e.binary(BinOp::Xor, value, one);
                self.e.unary(UnOp::Not, differ)
            }
            scalar if scalar.is_float() => self.e.fcmp(FloatCC::Oeq, value, one),
            _ => self.e.icmp(IntCC::Eq, value, one),
        };
        self.args[0] = same;
        self.vote(Op::AllTrue, BinOp::Or, true)
    }

    /// Zero in lanes that are not active: nobody reads them.
    fn active_only(&mut self, value: Value) -> Value {
        match self.mask {
            None => value,
            Some(mask) => {
                let ty = self.e.ty(value);
                if ty.scalar == Scalar::I1 {
                    return self.e.binary(BinOp::And, value, mask);
                }
                let zero = self.e.iconst(ty, 0);
                self.e.select(mask, value, zero)
            }
        }
    }

    fn broadcast(&mut self) -> Value {
        let value = self.active_only(self.args[0]);
        let number = self.args[1];
        let number = match self.e.ty(number).lanes {
            1 => number,
            _ => {
                let first = self.first();
                self.lane(number, first)
            }
        };
        let inside = self.e.icmp_imm(IntCC::Ult, number, u64::from(self.width));
        let lane = match self.width {
            1 => value,
            _ => self.lane(value, Some(number)),
        };
        self.if_inside(inside, lane)
    }

    /// The value where `inside`, else 0.
    fn if_inside(&mut self, inside: Value, value: Value) -> Value {
        let ty = self.e.ty(value);
        if ty.scalar == Scalar::I1 {
            return self.e.binary(BinOp::And, value, inside);
        }
        let zero = self.e.iconst(ty, 0);
        self.e.select(inside, value, zero)
    }

    fn shuffle(&mut self) -> Value {
        let value = self.active_only(self.args[0]);
        let numbers = self.splat(self.args[1]);
        if self.width == 1 {
            let inside = self.e.icmp_imm(IntCC::Eq, numbers, 0);
            return self.if_inside(inside, value);
        }
        let ty = self.e.ty(value);
        let width = u64::from(self.width);
        if let Some(known) = known_lanes(self.e.func, numbers, 8) {
            let mask: Box<[u8]> = known
                .iter()
                .map(|&l| if l < width { l as u8 } else { 255 })
                .collect();
            return self.through_bytes(value, ty, |e, value, ty| {
                e.emit(Op::Shuffle(mask.clone()), &[value, value], ty)
            });
        }
        self.through_bytes(value, ty, |e, value, ty| {
            e.emit(Op::Permute, &[value, numbers], ty)
        })
    }

    /// Lanes moved by a constant mask.
    fn moved(&mut self, a: Value, b: Value, mask: Box<[u8]>) -> Value {
        let ty = self.e.ty(a);
        if ty.scalar != Scalar::I1 {
            return self.e.emit(Op::Shuffle(mask), &[a, b], ty);
        }
        let bytes = ty.with_scalar(Scalar::I8);
        let (one, zero) = (self.e.iconst(bytes, 1), self.e.iconst(bytes, 0));
        let (a, b) = (self.e.select(a, one, zero), self.e.select(b, one, zero));
        let moved = self.e.emit(Op::Shuffle(mask), &[a, b], bytes);
        self.e.icmp_imm(IntCC::Ne, moved, 0)
    }

    fn butterfly(&mut self, op: BinOp, mut lanes: Value, size: u8) -> Value {
        let mut step = 1;
        while step < size {
            let low = (0..self.width).map(|l| l & !step).collect();
            let high = (0..self.width).map(|l| l | step).collect();
            let low = self.moved(lanes, lanes, low);
            let high = self.moved(lanes, lanes, high);
            lanes = self.e.binary(op, low, high);
            step *= 2;
        }
        lanes
    }

    /// Lane `l` is lane `l - by`; the first ones are lanes of `fill`.
    fn shifted(&mut self, lanes: Value, by: u8, fill: Value) -> Value {
        if self.width == 1 {
            return fill;
        }
        let width = self.width;
        let mask = (0..width).map(|l| if l < by { width + l } else { l - by });
        self.moved(lanes, fill, mask.collect())
    }

    fn prefixes(&mut self, op: BinOp, mut lanes: Value) -> Value {
        let nothing = self.constant(neutral(op, self.result.scalar));
        let mut step = 1;
        while step < self.width {
            let before = self.shifted(lanes, step, nothing);
            lanes = self.e.binary(op, before, lanes);
            step *= 2;
        }
        lanes
    }
}

/// The lanes of a value that follows from lane numbers and constants alone; looks at few
/// instructions.
fn known_lanes(func: &Function, value: Value, depth: u32) -> Option<Vec<u64>> {
    let data = &func.insts[func.def_inst(value)?];
    let ty = func.ty(value);
    if !matches!(
        data.op,
        Op::Const(_)
            | Op::LaneIds
            | Op::Splat
            | Op::Unary(_)
            | Op::Binary(..)
            | Op::Convert(..)
            | Op::ICmp(_)
            | Op::Select
    ) {
        return None;
    }
    let depth = depth.checked_sub(1)?;
    let args: Option<Vec<(Type, Vec<u64>)>> = data
        .args
        .iter()
        .map(|&arg| Some((func.ty(arg), known_lanes(func, arg, depth)?)))
        .collect();
    let args = args?;
    let args: Vec<(Type, &[u64])> = args.iter().map(|(ty, lanes)| (*ty, &lanes[..])).collect();
    crate::ir::eval::pure(&data.op, &args, ty).map(|lanes| lanes.to_vec())
}
