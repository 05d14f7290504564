//! Accesses with an address for each lane.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::super::parts::{Parts, lane_type, part_type};
use super::super::values::Gen;
use super::{LaneLayout, flags};
use crate::ir::{Mem, Scalar, Type, Value};

impl Gen<'_> {
    /// Each lane's address as a CLIF scalar; inactive lanes get `elsewhere`. `places` are the
    /// operands that say where.
    fn lane_addresses(
        &mut self,
        mem: &Mem,
        places: &[Value],
        mask: Option<Value>,
        elsewhere: impl FnOnce(&mut Self) -> clif::Value,
    ) -> Vec<clif::Value> {
        let mut parts = match (mem.index, places) {
            (Some(how), &[object, index]) => {
                if mask.is_none() {
                    return self.indexed_addresses(object, index, how);
                }
                self.indexed_address_parts(object, index, how)
            }
            _ => self.parts(places[0]),
        };
        if let Some(mask) = mask {
            let mask = self.mask(mask, 64);
            let elsewhere = elsewhere(self);
            let elsewhere = self.b.ins().splat(types::I64X2, elsewhere);
            parts = parts
                .iter()
                .zip(&mask)
                .map(|(&p, &m)| self.blend(m, p, elsewhere))
                .collect();
        }
        let lanes = places.last().map_or(1, |&place| self.func.ty(place).lanes);
        (0..lanes)
            .map(|l| self.b.ins().extractlane(parts[usize::from(l / 2)], l % 2))
            .collect()
    }

    /// Where lanes that are not active load from.
    pub(super) fn address_of_zeros(&mut self) -> clif::Value {
        // Enough for the widest access, of 16 elements of 8 bytes.
        let zeros = self.pool.table(&[0.0; 16]);
        self.b.ins().iadd_imm_s(self.pool.base, i64::from(zeros))
    }

    pub(super) fn gather(
        &mut self,
        mem: &Mem,
        places: &[Value],
        mask: Option<Value>,
        layout: LaneLayout,
    ) -> Vec<Parts> {
        let addresses = self.lane_addresses(mem, places, mask, Self::address_of_zeros);
        if layout.lane_is_vector() {
            let vectors: Parts = addresses
                .iter()
                .map(|&at| self.b.ins().load(part_type(layout.scalar), flags(), at, 0))
                .collect();
            return self.deinterleave(&vectors, layout);
        }
        if let Some(whole) = layout.lane_as_number() {
            let vectors = self.load_lanes(&addresses, whole, 0);
            let part = part_type(layout.scalar);
            let vectors: Parts = vectors.iter().map(|&v| self.cast(v, part)).collect();
            return self.deinterleave(&vectors, layout);
        }
        (0..layout.elements)
            .map(|k| {
                let offset = k as i32 * layout.size() as i32;
                self.load_lanes(&addresses, layout.scalar, offset)
            })
            .collect()
    }

    /// A number for each lane. Those of 32 and 64 bits are loaded as floating-point numbers, which
    /// are in the vector unit at once.
    fn load_lanes(&mut self, addresses: &[clif::Value], scalar: Scalar, offset: i32) -> Parts {
        let part = part_type(scalar);
        let scalar = match scalar {
            Scalar::I32 => Scalar::F32,
            Scalar::I64 | Scalar::Ptr => Scalar::F64,
            other => other,
        };
        let lanes: Vec<clif::Value> = addresses
            .iter()
            .map(|&at| self.b.ins().load(lane_type(scalar), flags(), at, offset))
            .collect();
        let vectors = self.vector_of(Type::new(scalar, lanes.len() as u8), &lanes);
        vectors.iter().map(|&v| self.cast(v, part)).collect()
    }

    pub(super) fn scatter(
        &mut self,
        mem: &Mem,
        places: &[Value],
        values: &[Value],
        mask: Option<Value>,
        layout: LaneLayout,
    ) {
        let parts: Vec<Parts> = values
            .iter()
            .map(|&v| self.stored_parts(v, layout.lanes))
            .collect();
        let size = layout.size() as u32 * layout.elements as u32;
        let addresses = self.lane_addresses(mem, places, mask, |g| {
            let slot = g.stack_slot(size);
            g.b.ins().stack_addr(types::I64, slot, 0)
        });
        let vectors = if layout.lane_is_vector() {
            Some(self.interleave(&parts, layout.lanes.into(), layout.scalar.bits()))
        } else {
            None
        };
        let per = (128 / layout.scalar.bits().max(8)) as u8;
        for (l, &at) in addresses.iter().enumerate() {
            if let Some(vectors) = &vectors {
                self.b.ins().store(flags(), vectors[l], at, 0);
                continue;
            }
            for (k, parts) in parts.iter().enumerate() {
                let v = self
                    .b
                    .ins()
                    .extractlane(parts[l / usize::from(per)], l as u8 % per);
                self.b
                    .ins()
                    .store(flags(), v, at, k as i32 * layout.size() as i32);
            }
        }
    }
}
