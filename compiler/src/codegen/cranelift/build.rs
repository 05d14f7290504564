//! Values made of constants, lanes and parts.

use cranelift_codegen::ir::{self as clif, InstBuilder};

use super::parts::{Parts, Repr, int_part_type, lane_type, part_count, part_type};
use super::values::Gen;
use crate::ir::{Scalar, Type, Value};

impl Gen<'_> {
    /// Lane-wise on values of one type, scalars or parts.
    pub fn lanewise(
        &mut self,
        args: &[Value],
        mut f: impl FnMut(&mut Self, &[clif::Value]) -> clif::Value,
    ) -> Repr {
        if self.func.ty(args[0]).lanes == 1 {
            let args: Vec<clif::Value> = args.iter().map(|&a| self.scalar(a)).collect();
            return Repr::Scalar(f(self, &args));
        }
        let args: Vec<Parts> = args.iter().map(|&a| self.parts(a)).collect();
        let part = |g: &mut Self, i: usize| {
            let part: Vec<clif::Value> = args.iter().map(|a| a[i]).collect();
            f(g, &part)
        };
        Repr::Vector(
            (0..args[0].len())
                .scan(part, |part, i| Some(part(self, i)))
                .collect(),
        )
    }

    pub fn constant(&mut self, bits: u64, ty: Type) -> Repr {
        if ty.lanes > 1 {
            if ty.scalar == Scalar::I1 {
                let width = self.param_mask_bits;
                let fill = if bits & 1 == 1 { 0xff } else { 0 };
                let data = self.b.func.dfg.constants.insert(vec![fill; 16].into());
                let part = self.b.ins().vconst(int_part_type(width), data);
                return Repr::Mask(
                    width,
                    (0..part_count(ty.lanes, width)).map(|_| part).collect(),
                );
            }
            return Repr::Constant(bits);
        }
        Repr::Scalar(self.scalar_constant(bits, ty.scalar))
    }

    pub fn scalar_constant(&mut self, bits: u64, scalar: Scalar) -> clif::Value {
        match scalar {
            Scalar::F32 => self.b.ins().f32const(f32::from_bits(bits as u32)),
            Scalar::F64 => self.b.ins().f64const(f64::from_bits(bits)),
            scalar => {
                let clif_ty = lane_type(scalar);
                // CLIF wants immediates sign-extended from their type's width.
                let shift = 64 - clif_ty.bits();
                self.b
                    .ins()
                    .iconst(clif_ty, ((bits << shift) as i64) >> shift)
            }
        }
    }

    /// Parts with these lanes' bits.
    pub fn constant_lanes(&mut self, ty: Type, lanes: &[u64]) -> Parts {
        let size = ty.scalar.bytes() as usize;
        let mut bytes: Vec<u8> = lanes
            .iter()
            .flat_map(|bits| bits.to_le_bytes()[..size].to_vec())
            .collect();
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes
            .chunks(16)
            .map(|chunk| {
                let data = self.b.func.dfg.constants.insert(chunk.to_vec().into());
                self.b.ins().vconst(part_type(ty.scalar), data)
            })
            .collect()
    }

    /// A value from one CLIF scalar a lane.
    pub fn build(&mut self, ty: Type, lanes: &[clif::Value]) -> Repr {
        if ty.lanes == 1 {
            return Repr::Scalar(lanes[0]);
        }
        if ty.scalar == Scalar::I1 {
            let bytes: Vec<clif::Value> = lanes.iter().map(|&l| self.b.ins().ineg(l)).collect();
            let parts = self.vector_of(ty.with_scalar(Scalar::I8), &bytes);
            let bits = self.param_mask_bits;
            return Repr::Mask(bits, self.repack_mask(parts, ty.lanes, 8, bits));
        }
        Repr::Vector(self.vector_of(ty, lanes))
    }

    pub fn splat(&mut self, arg: Value, ty: Type) -> Repr {
        let scalar = self.scalar(arg);
        if ty.lanes == 1 {
            return Repr::Scalar(scalar);
        }
        if ty.scalar == Scalar::I1 {
            let bits = self.param_mask_bits;
            let lane = clif::Type::int(bits as u16).expect("a lane width");
            let wide = if bits == 8 {
                scalar
            } else {
                self.b.ins().uextend(lane, scalar)
            };
            let lane = self.b.ins().ineg(wide);
            let part = self.b.ins().splat(int_part_type(bits), lane);
            return Repr::Mask(
                bits,
                (0..part_count(ty.lanes, bits)).map(|_| part).collect(),
            );
        }
        let part = self.b.ins().splat(part_type(ty.scalar), scalar);
        Repr::Vector(
            (0..part_count(ty.lanes, ty.scalar.bits()))
                .map(|_| part)
                .collect(),
        )
    }

    /// Pointer plus bytes, where either operand may be the same in every lane.
    pub fn ptr_add(&mut self, ptr: Value, bytes: Value, ty: Type) -> Repr {
        if ty.lanes == 1 {
            let (ptr, bytes) = (self.scalar(ptr), self.scalar(bytes));
            return Repr::Scalar(self.b.ins().iadd(ptr, bytes));
        }
        let wide = |g: &mut Self, v: Value| match g.splat_if_scalar(v, ty.lanes) {
            Repr::Vector(parts) => parts,
            other => unreachable!("{v} is {other:?}"),
        };
        let (ptr, bytes) = (wide(self, ptr), wide(self, bytes));
        Repr::Vector(
            ptr.iter()
                .zip(&bytes)
                .map(|(&p, &o)| self.b.ins().iadd(p, o))
                .collect(),
        )
    }

    pub fn splat_if_scalar(&mut self, value: Value, lanes: u8) -> Repr {
        match &self.values[value] {
            Repr::Scalar(_) => self.splat(value, self.func.ty(value).with_lanes(lanes)),
            Repr::Constant(_) => Repr::Vector(self.parts(value)),
            other => other.clone(),
        }
    }
}
