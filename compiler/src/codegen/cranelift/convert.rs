//! Lane-wise conversions, as far as `lower` leaves them: integer widths, 32- and 64-bit floats,
//! bitcasts.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};
use smallvec::smallvec;

use super::parts::{Parts, Repr, int_part_type, lane_type, part_count, part_type};
use super::values::Gen;
use crate::ir::{BinOp, ConvertOp, Op, Rounding, Scalar, Type, Value};

impl Gen<'_> {
    pub fn convert(&mut self, op: ConvertOp, rounding: Rounding, arg: Value, to: Type) -> Repr {
        let from = self.func.ty(arg);
        debug_assert!(
            !matches!(op, ConvertOp::SToF | ConvertOp::UToF | ConvertOp::FToF)
                || rounding == Rounding::NearestEven,
            "`lower` expands directed rounding: {op:?} {rounding:?} {from:?} to {to:?}"
        );
        if to.lanes == 1 {
            let v = self.scalar(arg);
            return Repr::Scalar(self.convert_scalar(op, from.scalar, to.scalar, v));
        }
        match op {
            ConvertOp::Bitcast => match self.values[arg].clone() {
                Repr::Vector(parts) => Repr::Vector(
                    parts
                        .iter()
                        .map(|&p| self.cast(p, part_type(to.scalar)))
                        .collect(),
                ),
                mask => mask,
            },
            ConvertOp::ZExt | ConvertOp::SExt if from.scalar == Scalar::I1 => {
                let mask = self.mask(arg, to.scalar.bits());
                if op == ConvertOp::SExt {
                    return Repr::Vector(mask);
                }
                let one = self.b.ins().iconst(lane_type(to.scalar), 1);
                let ones = self.b.ins().splat(part_type(to.scalar), one);
                Repr::Vector(mask.iter().map(|&m| self.b.ins().band(m, ones)).collect())
            }
            ConvertOp::ZExt | ConvertOp::SExt => {
                let parts = self.parts(arg);
                Repr::Vector(self.widen(
                    parts,
                    to.lanes,
                    from.scalar.bits(),
                    to.scalar.bits(),
                    op == ConvertOp::SExt,
                ))
            }
            ConvertOp::Trunc if to.scalar == Scalar::I1 => {
                let one = self.b.ins().iconst(lane_type(from.scalar), 1);
                let ones = self.b.ins().splat(part_type(from.scalar), one);
                let parts = self.parts(arg);
                let low = |g: &mut Self, p| {
                    let bit = g.b.ins().band(p, ones);
                    g.b.ins().icmp(IntCC::Equal, bit, ones)
                };
                Repr::Mask(
                    from.scalar.bits(),
                    parts.iter().map(|&p| low(self, p)).collect(),
                )
            }
            ConvertOp::Trunc => {
                if let Some(whole) = self.shifted_by(arg, to.scalar.bits())
                    && from.scalar.bits() == 2 * to.scalar.bits()
                {
                    let parts = self.parts(whole);
                    return Repr::Vector(self.high_halves(&parts, from.scalar.bits()));
                }
                let parts = self.parts(arg);
                Repr::Vector(self.narrow(parts, from.scalar.bits(), to.scalar.bits()))
            }
            _ => self.convert_floats(op, arg, from, to),
        }
    }

    /// To or from floating-point numbers.
    fn convert_floats(&mut self, op: ConvertOp, arg: Value, from: Type, to: Type) -> Repr {
        match op {
            ConvertOp::FToF if from.scalar == Scalar::F32 => {
                let parts = self.parts(arg);
                let count = part_count(to.lanes, 64);
                let mut wide: Parts = smallvec![];
                for part in parts {
                    wide.push(self.b.ins().fvpromote_low(part));
                    if wide.len() < count {
                        let high = self.shuffle(part, part, &[2, 3, 2, 3], 32);
                        wide.push(self.b.ins().fvpromote_low(high));
                    }
                }
                Repr::Vector(wide)
            }
            ConvertOp::FToF => {
                let parts = self.parts(arg);
                let narrow: Vec<clif::Value> =
                    parts.iter().map(|&p| self.b.ins().fvdemote(p)).collect();
                Repr::Vector(self.join_halves(&narrow))
            }
            ConvertOp::SToF | ConvertOp::UToF
                if from.scalar == Scalar::I32 && to.scalar == Scalar::F32 =>
            {
                self.lanewise(&[arg], |g, v| {
                    if op == ConvertOp::SToF {
                        g.b.ins().fcvt_from_sint(types::F32X4, v[0])
                    } else {
                        g.b.ins().fcvt_from_uint(types::F32X4, v[0])
                    }
                })
            }
            ConvertOp::SToF | ConvertOp::UToF if to.scalar == Scalar::F64 => {
                let mut parts = self.parts(arg);
                if from.scalar == Scalar::I32 {
                    parts = self.widen(parts, to.lanes, 32, 64, op == ConvertOp::SToF);
                }
                let convert = |g: &mut Self, p| {
                    if op == ConvertOp::SToF {
                        g.b.ins().fcvt_from_sint(types::F64X2, p)
                    } else {
                        g.b.ins().fcvt_from_uint(types::F64X2, p)
                    }
                };
                Repr::Vector(parts.iter().map(|&p| convert(self, p)).collect())
            }
            ConvertOp::FToS | ConvertOp::FToU
                if from.scalar == Scalar::F32 && to.scalar == Scalar::I32 =>
            {
                self.lanewise(&[arg], |g, v| {
                    if op == ConvertOp::FToS {
                        g.b.ins().fcvt_to_sint_sat(types::I32X4, v[0])
                    } else {
                        g.b.ins().fcvt_to_uint_sat(types::I32X4, v[0])
                    }
                })
            }
            ConvertOp::FToS if from.scalar == Scalar::F64 && to.scalar == Scalar::I32 => {
                let zero = self.zero(types::I64X2);
                let parts = self.parts(arg);
                let convert = |g: &mut Self, p| {
                    let wide = g.b.ins().fcvt_to_sint_sat(types::I64X2, p);
                    g.b.ins().snarrow(wide, zero)
                };
                let narrow: Vec<clif::Value> = parts.iter().map(|&p| convert(self, p)).collect();
                Repr::Vector(self.join_halves(&narrow))
            }
            _ => {
                let lanes: Vec<clif::Value> = (0..to.lanes)
                    .map(|l| {
                        let v = self.lane(arg, l);
                        self.convert_scalar(op, from.scalar, to.scalar, v)
                    })
                    .collect();
                self.build(to, &lanes)
            }
        }
    }

    /// Vectors whose low 64 bits count, two to a part.
    fn join_halves(&mut self, halves: &[clif::Value]) -> Parts {
        halves
            .chunks(2)
            .map(|pair| match pair {
                &[low, high] => self.shuffle(low, high, &[0, 1, 4, 5], 32),
                one => one[0],
            })
            .collect()
    }

    /// Widens integer lanes.
    pub fn widen(
        &mut self,
        mut parts: Parts,
        lanes: u8,
        mut from: u32,
        to: u32,
        signed: bool,
    ) -> Parts {
        while from < to {
            from *= 2;
            let count = part_count(lanes, from);
            let mut wide: Parts = smallvec![];
            for part in parts {
                wide.push(if signed {
                    self.b.ins().swiden_low(part)
                } else {
                    self.b.ins().uwiden_low(part)
                });
                if wide.len() < count {
                    wide.push(if signed {
                        self.b.ins().swiden_high(part)
                    } else {
                        self.b.ins().uwiden_high(part)
                    });
                }
            }
            parts = wide;
        }
        parts
    }

    /// What a value is, shifted to the right by a constant number of bits.
    fn shifted_by(&self, value: Value, bits: u32) -> Option<Value> {
        let data = &self.func.insts[self.func.def_inst(value)?];
        let is_shift = matches!(data.op, Op::Binary(BinOp::LShr | BinOp::AShr, _));
        (is_shift && self.func.as_const(data.args[1]) == Some(bits.into())).then(|| data.args[0])
    }

    /// Keeps the upper half of integer lanes.
    fn high_halves(&mut self, parts: &Parts, from: u32) -> Parts {
        let ty = int_part_type(from / 2);
        let cast: Parts = parts.iter().map(|&p| self.cast(p, ty)).collect();
        cast.chunks(2)
            .map(|c| self.odd_lanes(c[0], *c.last().expect("not empty"), from / 2))
            .collect()
    }

    /// Keeps the low bits of integer lanes.
    pub fn narrow(&mut self, mut parts: Parts, mut from: u32, to: u32) -> Parts {
        while from > to {
            from /= 2;
            let ty = int_part_type(from);
            let cast: Parts = parts.iter().map(|&p| self.cast(p, ty)).collect();
            parts = cast
                .chunks(2)
                .map(|c| self.even_lanes(c[0], *c.last().expect("not empty"), from))
                .collect();
        }
        parts
    }

    pub fn convert_scalar(
        &mut self,
        op: ConvertOp,
        from: Scalar,
        to: Scalar,
        v: clif::Value,
    ) -> clif::Value {
        let ty = lane_type(to);
        let same = lane_type(from) == ty;
        match op {
            ConvertOp::Bitcast if same => v,
            ConvertOp::Bitcast => self.b.ins().bitcast(ty, clif::MemFlagsData::new(), v),
            ConvertOp::ZExt if same => v,
            ConvertOp::ZExt => self.b.ins().uextend(ty, v),
            ConvertOp::SExt if from == Scalar::I1 => {
                let wide = if same { v } else { self.b.ins().uextend(ty, v) };
                self.b.ins().ineg(wide)
            }
            ConvertOp::SExt => self.b.ins().sextend(ty, v),
            ConvertOp::Trunc => {
                let low = if same { v } else { self.b.ins().ireduce(ty, v) };
                if to == Scalar::I1 {
                    self.b.ins().band_imm_u(low, 1)
                } else {
                    low
                }
            }
            ConvertOp::FToF if same => v,
            ConvertOp::FToF if to == Scalar::F64 => self.b.ins().fpromote(ty, v),
            ConvertOp::FToF => self.b.ins().fdemote(ty, v),
            ConvertOp::SToF => self.b.ins().fcvt_from_sint(ty, v),
            ConvertOp::UToF => self.b.ins().fcvt_from_uint(ty, v),
            ConvertOp::FToS => self.b.ins().fcvt_to_sint_sat(ty, v),
            ConvertOp::FToU => self.b.ins().fcvt_to_uint_sat(ty, v),
            ConvertOp::SatSToS | ConvertOp::SatSToU | ConvertOp::SatUToS | ConvertOp::SatUToU => {
                unreachable!("`lower` expands saturating conversions")
            }
        }
    }
}
