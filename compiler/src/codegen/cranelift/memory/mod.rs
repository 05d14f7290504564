//! Loads, stores and atomics.
//!
//! Of vectors, by shape: elements that lie end to end are loaded as vectors and taken apart with
//! shuffles; others are accessed lane by lane. Lanes that a mask leaves out touch no memory of the
//! program: consecutive accesses take the vector path when every lane is active and otherwise go
//! vector by vector, or loop over the active ones; gathers and scatters redirect inactive lanes to
//! memory of our own.
//!
//! - `mod.rs`: which way an access goes; scalar accesses.
//! - `strided.rs`: one address and a distance between lanes.
//! - `masked.rs`: the same by some of the lanes.
//! - `gather.rs`: an address for each lane. `indexed.rs`: those that are made of a uniform one and
//!   an index.
//! - `shuffle.rs`: from vectors as they lie in memory to one for each element, and back.
//! - `atomic.rs`: atomics of one lane, and fences.

mod atomic;
mod gather;
mod indexed;
mod masked;
mod shuffle;
mod strided;

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};

use super::parts::{Parts, Repr, lane_type};
use super::values::Gen;
use crate::ir::{Inst, Mem, Scalar, Type, Value};

fn flags() -> clif::MemFlagsData {
    clif::MemFlagsData::new()
        .with_notrap()
        .with_endianness(clif::Endianness::Little)
}

/// How many-lane data lies in memory.
#[derive(Clone, Copy)]
struct LaneLayout {
    lanes: u8,
    /// Elements per lane.
    elements: usize,
    scalar: Scalar,
    /// Bytes from one lane to the next.
    stride: i64,
}

impl LaneLayout {
    fn size(self) -> i64 {
        i64::from(self.scalar.bytes())
    }

    /// Where element `k` of lane `l` is. A program may compute any stride, and run where it
    /// overflows.
    fn at(self, l: i64, k: i64) -> i64 {
        l.wrapping_mul(self.stride).wrapping_add(k * self.size())
    }

    /// Lanes lie end to end, as a length that vectors and one smaller access hold.
    fn is_dense(self) -> bool {
        let bytes = self.size() * self.elements as i64 * i64::from(self.lanes);
        self.stride == self.size() * self.elements as i64
            && self.scalar != Scalar::I1
            && (self.elements.is_power_of_two() || self.elements == 3)
            && (self.elements == 1 || bytes >= 8)
            && (bytes % 16 == 0 || (bytes % 16).count_ones() == 1)
    }

    /// How many lanes one vector access is for, where lanes are next to each other.
    fn run(self) -> u8 {
        if self.elements == 1 && self.stride == self.size() && self.scalar != Scalar::I1 {
            (16 / self.size()) as u8
        } else {
            1
        }
    }

    /// The same data with lanes end to end.
    fn side_by_side(self) -> LaneLayout {
        LaneLayout {
            stride: self.size() * self.elements as i64,
            ..self
        }
    }

    /// The type of a number that is all of a lane's elements, where there are several.
    fn lane_as_number(self) -> Option<Scalar> {
        let dense = self.elements > 1 && self.side_by_side().is_dense();
        match self.size() * self.elements as i64 {
            2 if dense => Some(Scalar::I16),
            4 if dense => Some(Scalar::I32),
            8 if dense => Some(Scalar::I64),
            _ => None,
        }
    }

    /// A lane's elements are exactly one vector.
    fn lane_is_vector(self) -> bool {
        self.elements > 1
            && self.scalar != Scalar::I1
            && self.elements.is_power_of_two()
            && self.size() * self.elements as i64 == 16
            && i64::from(self.lanes) * self.size() >= 16
    }
}

impl Gen<'_> {
    pub fn load(&mut self, mem: &Mem, inst: Inst) {
        let data = &self.func.insts[inst];
        let results = data.results.clone();
        let (places, mask) = data.args.split_at(mem.places());
        let (address, mask) = (places[0], mask.first().copied());
        let ty = self.func.ty(results[0]);
        let layout = LaneLayout {
            lanes: ty.lanes,
            elements: results.len(),
            scalar: ty.scalar,
            stride: mem.stride,
        };
        let reprs = if ty.lanes == 1 {
            self.load_scalars(mem, address, layout)
        } else if mem.stride != 0 {
            self.load_strided(mem, address, mask, layout)
        } else {
            let parts = self.gather(mem, places, mask, layout);
            parts.into_iter().map(|p| self.loaded(p, ty)).collect()
        };
        for (&result, repr) in results.iter().zip(reprs) {
            self.values[result] = repr;
        }
    }

    fn load_scalars(&mut self, mem: &Mem, address: Value, layout: LaneLayout) -> Vec<Repr> {
        let address = self.scalar(address);
        let ty = lane_type(layout.scalar);
        // Cranelift drops a load that nothing uses, unless it may trap.
        let flags = match mem.volatile {
            true => clif::MemFlagsData::new().with_endianness(clif::Endianness::Little),
            false => flags(),
        };
        (0..layout.elements)
            .map(|k| {
                let offset = k as i32 * layout.size() as i32;
                Repr::Scalar(self.b.ins().load(ty, flags, address, offset))
            })
            .collect()
    }

    /// Truth values are bytes in memory.
    fn loaded(&mut self, parts: Parts, ty: Type) -> Repr {
        if ty.scalar != Scalar::I1 {
            return Repr::Vector(parts);
        }
        let zero = self.zero(types::I8X16);
        Repr::Mask(
            8,
            parts
                .iter()
                .map(|&p| self.b.ins().icmp(IntCC::NotEqual, p, zero))
                .collect(),
        )
    }

    pub fn store(&mut self, mem: &Mem, args: &[Value]) {
        let (places, values, mask) = mem.operands_of_store(args);
        let address = places[0];
        let scalar = self.func.ty(values[0]).scalar;
        let lanes = args
            .iter()
            .map(|&v| self.func.ty(v).lanes)
            .max()
            .expect("an address");
        let layout = LaneLayout {
            lanes,
            elements: values.len(),
            scalar,
            stride: mem.stride,
        };
        if lanes == 1 {
            self.store_scalars(address, values, layout);
        } else if mem.stride != 0 {
            self.store_strided(address, values, mask, layout);
        } else {
            self.scatter(mem, places, values, mask, layout);
        }
    }

    fn store_scalars(&mut self, address: Value, values: &[Value], layout: LaneLayout) {
        let address = self.scalar(address);
        for (k, &value) in values.iter().enumerate() {
            let value = self.scalar(value);
            let offset = k as i32 * layout.size() as i32;
            self.b.ins().store(flags(), value, address, offset);
        }
    }

    /// The parts of a value as it is stored: truth values as bytes of 0 and 1, scalars in every
    /// lane.
    fn stored_parts(&mut self, value: Value, lanes: u8) -> Parts {
        if self.func.ty(value).scalar == Scalar::I1 && self.func.ty(value).lanes > 1 {
            let one = self.b.ins().iconst(types::I8, 1);
            let ones = self.b.ins().splat(types::I8X16, one);
            let mask = self.mask(value, 8);
            return mask.iter().map(|&m| self.b.ins().band(m, ones)).collect();
        }
        match self.splat_if_scalar(value, lanes) {
            Repr::Vector(parts) => parts,
            other => unreachable!("{value} is {other:?}"),
        }
    }
}
