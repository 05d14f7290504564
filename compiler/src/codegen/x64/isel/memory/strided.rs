//! Accesses at one address and a distance between lanes.
//!
//! Where the elements of several lanes are in reach of one vector, that is loaded or stored, what
//! lies between them masked, and lanes are moved to where they belong. Others are gathered by a
//! constant index with AVX-512 or under a mask, or loaded one by one, which takes AVX2 and
//! processors of AMD a third to two thirds of the time.

use regalloc2::VReg;
use smallvec::SmallVec;

use super::super::transpose::Transpose;
use super::super::values::Parts;
use super::super::{Isel, Result};
use super::Access;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{Amode, Rm, VECTOR};
use crate::ir::{Scalar, Type, Value};

/// An access whose lanes are close enough for whole vectors.
#[derive(Clone, Copy)]
struct Close {
    ty: Type,
    /// Elements of a lane.
    elements: usize,
    /// Elements from one lane to the next.
    step: usize,
    /// Lanes of each vector, a power of two.
    group: usize,
    /// Of each vector.
    size: Size,
}

impl Close {
    fn of(access: Access, longest: Size) -> Option<Close> {
        let lanes = usize::from(access.ty.lanes);
        let size = access.size();
        let step = usize::try_from(access.stride.checked_div(size)?).ok()?;
        let room = longest.bytes() as usize / size as usize;
        if access.stride % size != 0 || step < access.elements || step > room {
            return None;
        }
        let group = lanes.min(1 << (room / step).ilog2());
        // Gathering is better than so many.
        let most = (4 * access.elements).max(8);
        let bytes = (group * step * size as usize) as u32;
        (lanes / group <= most).then_some(Close {
            ty: access.ty,
            elements: access.elements,
            step,
            group,
            size: Size::of_bytes(bytes.next_power_of_two()),
        })
    }

    fn vectors(self) -> usize {
        usize::from(self.ty.lanes) / self.group
    }

    /// Which elements of a vector are the first of a lane.
    fn firsts(self) -> u64 {
        (0..self.group).fold(0, |bits, lane| bits | 1 << (lane * self.step))
    }

    /// Which elements of a vector belong to a lane.
    fn used(self) -> u64 {
        (0..self.elements).fold(0, |bits, n| bits | self.firsts() << n)
    }

    /// Whether all elements of a vector belong to lanes.
    fn is_whole(self) -> bool {
        let elements = self.size.bytes() / self.ty.scalar.bytes();
        self.used() == u64::MAX >> (64 - elements)
    }

    /// Bytes from one vector to the next.
    fn distance(self) -> i64 {
        (self.group * self.step) as i64 * i64::from(self.ty.scalar.bytes())
    }
}

impl Isel<'_> {
    pub(super) fn load_strided(
        &mut self,
        address: Value,
        mask: Option<Value>,
        access: Access,
    ) -> Result<Vec<Parts>> {
        if self.is_narrow(mask, access) {
            let base = self.amode(address)?;
            return self.load_narrow(base, mask, access);
        }
        let padded = access.padded();
        // With AVX-512, lanes of whole vectors are picked by instructions of their own.
        let picks = self.is_avx512() && Close::of(access, self.longest).is_some();
        if mask.is_none()
            && !picks
            && let Some(how) = self.by_rows(padded)
        {
            let base = self.amode(address)?;
            let mut elements = if padded.is_dense() {
                self.load_dense_rows(how, base, padded)
            } else {
                self.load_rows(how, padded, |isel, lane| {
                    isel.further(base, i64::from(lane).wrapping_mul(access.stride))
                })
            };
            elements.truncate(access.elements);
            return Ok(elements);
        }
        let Some(close) = Close::of(access, self.longest) else {
            if mask.is_some() || self.is_avx512() && !self.loads_lanes(mask) {
                return self.gather_strided(address, mask, access);
            }
            let base = self.amode(address)?;
            return self.load_each_strided(base, mask, access);
        };
        let base = self.amode(address)?;
        let masks = self.close_masks(close, mask)?;
        Ok(self.load_close(base, masks, close))
    }

    /// The elements of all lanes.
    fn load_close(&mut self, base: Amode, masks: Option<Parts>, close: Close) -> Vec<Parts> {
        let vectors: Parts = (0..close.vectors())
            .map(|n| {
                let at = self.further(base, n as i64 * close.distance());
                let mask = masks.as_ref().map(|masks| masks[n]);
                self.load_part(close.ty.scalar, close.size, at, mask)
            })
            .collect();
        if let Some(how) = self.close_transpose(close) {
            let parts = vectors.chunks(close.step);
            let parts: Vec<Vec<VReg>> = parts
                .map(|vectors| self.deinterleaved_part(how, vectors))
                .collect();
            let element = |n: usize| parts.iter().map(|columns| columns[n]).collect();
            return (0..close.elements).map(element).collect();
        }
        (0..close.elements)
            .map(|element| self.take_apart(&vectors, close, element))
            .collect()
    }

    /// How vectors as long as the values' registers are taken apart and put together at once.
    fn close_transpose(&self, close: Close) -> Option<Transpose> {
        let shape = self.shape(close.ty);
        let is_full = close.group * close.step == usize::from(shape.lanes);
        match self.is_avx512() || !is_full {
            true => None,
            false => Transpose::of(close.ty.scalar, shape, close.step),
        }
    }

    /// A mask for each vector, unless all of them is accessed.
    fn close_masks(&mut self, close: Close, mask: Option<Value>) -> Result<Option<Parts>> {
        let count = close.vectors();
        let Some(mask) = mask else {
            if close.is_whole() {
                return Ok(None);
            }
            let mask = self.constant_mask(close.used(), close.ty.scalar, close.size);
            return Ok(Some(Parts::from_elem(mask, count)));
        };
        if self.mask_class() == VECTOR {
            return self.close_mask_lanes(close, mask).map(Some);
        }
        if self.func.ty(mask).lanes == 1 {
            let bit = self.scalar(mask)?;
            let all = self.mi(Opcode::Neg, Size::B64, bit, 0);
            let used = self.int_constant(close.used());
            let bits = self.rvm(Opcode::And, Size::B64, all, used);
            let mask = self.rm(Opcode::KmovqFromGeneral, Size::B64, bits);
            return Ok(Some(Parts::from_elem(mask, count)));
        }
        if close.step == 1 {
            return self.mask(mask, self.shape(close.ty)).map(Some);
        }
        // A lane's bit goes to the place of its first element, and from there to the others.
        let bits = self.mask_bits(mask)?;
        let places = self.int_constant(close.firsts());
        let masks = (0..count).map(|n| {
            let bits = match n * close.group {
                0 => bits,
                before => self.mi(Opcode::ShrImm, Size::B64, bits, before as i64),
            };
            let spread = self.rvm(Opcode::Pdep, Size::B64, bits, places);
            let spread = match close.elements {
                1 => spread,
                n => {
                    let all = (1i64 << n) - 1;
                    self.rmi(Opcode::ImulImm, Size::B64, spread, all)
                }
            };
            self.rm(Opcode::KmovqFromGeneral, Size::B64, spread)
        });
        Ok(Some(masks.collect()))
    }

    /// Masks of lanes of ones and zeros: those of the lanes, moved as their elements are.
    fn close_mask_lanes(&mut self, close: Close, mask: Value) -> Result<Parts> {
        let shape = self.shape(close.ty);
        let lanes = self.mask_for(mask, shape)?;
        let elements = vec![lanes; close.elements];
        let masks = (0..close.vectors()).map(|n| {
            let mask = self.put_together(&elements, close, n);
            if close.is_whole() {
                return mask;
            }
            let used = self.constant_mask(close.used(), close.ty.scalar, close.size);
            self.rvm(Opcode::Vpandd, close.size, mask, used)
        });
        Ok(masks.collect())
    }

    /// One element of each lane, of vectors of all.
    fn take_apart(&mut self, vectors: &[VReg], close: Close, element: usize) -> Parts {
        let shape = self.shape(close.ty);
        if close.step == 1 {
            return vectors.into();
        }
        let size = longer(close.size, shape.size);
        let lanes = usize::from(shape.lanes);
        (0..shape.count)
            .map(|part| {
                let wanted: Vec<Option<(VReg, u8)>> = (part * lanes..(part + 1) * lanes)
                    .map(|lane| {
                        let within = lane % close.group * close.step + element;
                        Some((vectors[lane / close.group], within as u8))
                    })
                    .collect();
                self.collect_lanes(&wanted, close.ty.scalar, size)
            })
            .collect()
    }

    pub(super) fn store_strided(
        &mut self,
        address: Value,
        values: &[Parts],
        mask: Option<Value>,
        access: Access,
    ) -> Result<()> {
        if self.is_narrow(mask, access) {
            let base = self.amode(address)?;
            return self.store_narrow(base, values, mask, access);
        }
        if mask.is_none()
            && access.is_dense()
            && !self.is_avx512()
            && let Some(how) = self.by_rows(access)
        {
            let base = self.amode(address)?;
            self.store_dense_rows(how, base, values, access);
            return Ok(());
        }
        let Some(close) = Close::of(access, self.longest) else {
            let by_lane = self.target.slow_scatters && mask.is_none();
            if !self.target.scatters || by_lane {
                let base = self.amode(address)?;
                return self.store_each_strided(base, values, mask, access);
            }
            return self.scatter_strided(address, values, mask, access);
        };
        let base = self.amode(address)?;
        let is_masked = mask.is_none() && !close.is_whole();
        if self.target.slow_masked_stores && !self.is_avx512() && is_masked {
            return self.store_each_strided(base, values, mask, access);
        }
        let masks = self.close_masks(close, mask)?;
        self.store_close(base, values, masks, close);
        Ok(())
    }

    /// Stores the elements of all lanes.
    fn store_close(&mut self, base: Amode, values: &[Parts], masks: Option<Parts>, close: Close) {
        let whole = close.elements == close.step;
        let vectors: Parts = match self.close_transpose(close).filter(|_| whole) {
            Some(how) => (0..values[0].len())
                .flat_map(|part| {
                    let elements: Vec<VReg> = values.iter().map(|parts| parts[part]).collect();
                    self.interleaved_part(how, &elements)
                })
                .collect(),
            None => (0..close.vectors())
                .map(|n| self.put_together(values, close, n))
                .collect(),
        };
        for (n, &vector) in vectors.iter().enumerate() {
            let at = self.further(base, n as i64 * close.distance());
            let mask = masks.as_ref().map(|masks| masks[n]);
            self.store_part(close.ty.scalar, close.size, at, vector, mask);
        }
    }

    /// The elements of a vector's lanes as they lie in memory.
    fn put_together(&mut self, values: &[Parts], close: Close, vector: usize) -> VReg {
        if close.step == 1 {
            return values[0][vector];
        }
        let shape = self.shape(close.ty);
        let size = longer(close.size, shape.size);
        let lanes = usize::from(shape.lanes);
        let wanted: Vec<Option<(VReg, u8)>> = (0..close.group * close.step)
            .map(|n| {
                let lane = vector * close.group + n / close.step;
                let part = values.get(n % close.step)?[lane / lanes];
                Some((part, (lane % lanes) as u8))
            })
            .collect();
        self.collect_lanes(&wanted, close.ty.scalar, size)
    }

    /// The offsets of the lanes from the first, in vectors of 64 bits.
    fn strided_index(&mut self, access: Access) -> SmallVec<[VReg; 4]> {
        let shape = self.shape_of(access.ty.lanes, 64);
        (0..shape.count)
            .map(|n| {
                let lanes: Vec<u64> = (0..i64::from(shape.lanes))
                    .map(|l| {
                        let lane = n as i64 * i64::from(shape.lanes) + l;
                        lane.wrapping_mul(access.stride) as u64
                    })
                    .collect();
                self.lanes_constant(&lanes, Scalar::I64, shape.size)
            })
            .collect()
    }

    fn gather_strided(
        &mut self,
        address: Value,
        mask: Option<Value>,
        access: Access,
    ) -> Result<Vec<Parts>> {
        let addresses = self.strided_addresses(address, access)?;
        // Each lane is aligned as the first and the distance are.
        let distance = 1u32.checked_shl(access.stride.trailing_zeros());
        let access = Access {
            align: access.align.min(distance.unwrap_or(u32::MAX)),
            ..access
        };
        self.gather_at(&addresses, mask, access)
    }

    fn scatter_strided(
        &mut self,
        address: Value,
        values: &[Parts],
        mask: Option<Value>,
        access: Access,
    ) -> Result<()> {
        let addresses = self.strided_addresses(address, access)?;
        self.scatter_at(&addresses, values, mask, access)
    }

    fn strided_addresses(&mut self, address: Value, access: Access) -> Result<Parts> {
        let base = self.scalar(address)?;
        let shape = self.shape_of(access.ty.lanes, 64);
        let base = self.broadcast(Rm::Reg(base), Scalar::I64, shape.size);
        let index = self.strided_index(access);
        Ok(index
            .into_iter()
            .map(|index| self.rvm(Opcode::Vpaddq, shape.size, base, index))
            .collect())
    }
}

fn longer(a: Size, b: Size) -> Size {
    if a.bytes() > b.bytes() { a } else { b }
}
