//! Accesses at one address and a distance between lanes.
//!
//! Elements that lie end to end, or with small gaps between lanes, are loaded as vectors, in which
//! gaps are masked, and lanes then moved to where they belong. Others are gathered by a constant
//! index.

use regalloc2::VReg;
use smallvec::SmallVec;

use super::super::values::Parts;
use super::super::{Isel, Result};
use super::Access;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{Amode, NONE, Rm};
use crate::ir::{Scalar, Type, Value};

/// An access whose lanes are close enough for whole vectors.
#[derive(Clone, Copy)]
struct Close {
    /// Elements from one lane to the next.
    step: usize,
    /// Elements of a lane.
    elements: usize,
    ty: Type,
}

impl Close {
    /// As many vectors as are better than gathering.
    const MOST: i64 = 512;

    fn of(access: Access) -> Option<Close> {
        let size = access.size();
        let step = access.stride.checked_div(size)?;
        let close = Close {
            step: usize::try_from(step).ok()?,
            elements: access.elements,
            ty: access.ty,
        };
        let is_close = access.stride % size == 0
            && (close.elements..=64).contains(&close.step)
            && close.total() <= 64
            && close.total() as i64 * size <= Close::MOST;
        is_close.then_some(close)
    }

    /// Elements from the first lane's first to the end of the last lane's gap.
    fn total(self) -> usize {
        self.step.saturating_mul(self.ty.lanes.into())
    }

    /// Which of them belong to a lane.
    fn used(self) -> u64 {
        let of_one = (1u64 << self.elements) - 1;
        (0..usize::from(self.ty.lanes)).fold(0, |bits, lane| bits | of_one << (lane * self.step))
    }
}

impl Isel<'_> {
    pub(super) fn load_strided(
        &mut self,
        address: Value,
        mask: Option<Value>,
        access: Access,
    ) -> Result<Vec<Parts>> {
        let Some(close) = Close::of(access) else {
            return self.gather_strided(address, mask, access);
        };
        let base = self.amode(address)?;
        let masks = self.close_masks(close, mask)?;
        let flat = self.load_flat(base, close, masks.as_deref());
        Ok((0..close.elements)
            .map(|element| self.take_apart(&flat, close, element))
            .collect())
    }

    /// The flat elements of an access: how many, and in vectors of which size.
    fn flat(&self, close: Close) -> (Size, usize, usize) {
        let total = close.total();
        let per = self.longest.bytes() / close.ty.scalar.bytes();
        let bytes = (total as u32 * close.ty.scalar.bytes()).next_power_of_two();
        if bytes <= self.longest.bytes() {
            return (Size::of_bytes(bytes.max(16)), 1, total);
        }
        let count = total.div_ceil(per as usize);
        (self.longest, count, per as usize)
    }

    /// The masks of the flat vectors, unless all of every vector is accessed.
    fn close_masks(&mut self, close: Close, mask: Option<Value>) -> Result<Option<Parts>> {
        let (size, count, per) = self.flat(close);
        let lanes = size.bytes() / close.ty.scalar.bytes();
        if close.step == 1
            && let Some(mask) = mask
        {
            return self.mask(mask, per as u8).map(Some);
        }
        let used = close.used();
        let Some(mask) = mask else {
            let all = count * lanes as usize;
            let whole = all <= 64 && used == u64::MAX >> (64 - all);
            if whole {
                return Ok(None);
            }
            let masks = (0..count).map(|n| {
                let bits = used >> (n * per);
                let bits = match lanes {
                    64 => bits,
                    lanes => bits & ((1 << lanes) - 1),
                };
                let bits = self.int_constant(bits);
                self.rm(Opcode::KmovqFromGeneral, Size::B64, bits)
            });
            return Ok(Some(masks.collect()));
        };
        // A lane's bit goes to the place of its first element, and from there to the others.
        let bits = self.mask_bits(mask)?;
        let firsts = (0..usize::from(close.ty.lanes)).fold(0, |b, n| b | 1u64 << (n * close.step));
        let places = self.int_constant(firsts);
        let spread = self.rvm(Opcode::Pdep, Size::B64, bits, places);
        let spread = match close.elements {
            1 => spread,
            n => {
                let all = (1i64 << n) - 1;
                self.rmi(Opcode::ImulImm, Size::B64, spread, all)
            }
        };
        let all = self.rm(Opcode::KmovqFromGeneral, Size::B64, spread);
        let masks = (0..count).map(|n| match n * per {
            0 => all,
            before => self.rmi(Opcode::Kshiftrq, Size::B64, all, before as i64),
        });
        Ok(Some(masks.collect()))
    }

    fn load_flat(&mut self, base: Amode, close: Close, masks: Option<&[VReg]>) -> Parts {
        let (size, count, per) = self.flat(close);
        let bytes = close.ty.scalar.bytes();
        let opcode = match bytes {
            1 => Opcode::Vmovdqu8,
            2 => Opcode::Vmovdqu16,
            4 => Opcode::Vmovdqu32,
            _ => Opcode::Vmovdqu64,
        };
        (0..count)
            .map(|n| {
                let at = self.further(base, (n * per) as i64 * i64::from(bytes));
                match masks {
                    None => self.rm(Opcode::Vmovdqu64, size, at),
                    Some(masks) => self.define(opcode, size, |plain| {
                        (plain.b, plain.mask, plain.zeroing) = (Rm::Mem(at), masks[n], true);
                    }),
                }
            })
            .collect()
    }

    /// One element of each lane, of vectors of all.
    fn take_apart(&mut self, flat: &[VReg], close: Close, element: usize) -> Parts {
        let (size, _, per) = self.flat(close);
        let shape = self.shape(close.ty);
        if close.step == 1 {
            return flat.into();
        }
        let longer = if size.bytes() > shape.size.bytes() {
            size
        } else {
            shape.size
        };
        (0..shape.count)
            .map(|part| {
                let wanted: Vec<Option<(VReg, u8)>> = (0..usize::from(shape.lanes))
                    .map(|lane| {
                        let lane = part * usize::from(shape.lanes) + lane;
                        let at = lane * close.step + element;
                        Some((flat[at / per], (at % per) as u8))
                    })
                    .collect();
                self.collect_lanes(&wanted, close.ty.scalar, longer)
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
        let Some(close) = Close::of(access) else {
            return self.scatter_strided(address, values, mask, access);
        };
        let base = self.amode(address)?;
        let masks = self.close_masks(close, mask)?;
        let flat = self.put_together(values, close);
        let (size, _, per) = self.flat(close);
        let bytes = close.ty.scalar.bytes();
        let opcode = match bytes {
            1 => Opcode::Vmovdqu8Store,
            2 => Opcode::Vmovdqu16Store,
            4 => Opcode::Vmovdqu32Store,
            _ => Opcode::Vmovdqu64Store,
        };
        for (n, &part) in flat.iter().enumerate() {
            let at = self.further(base, (n * per) as i64 * i64::from(bytes));
            self.perform(opcode, size, |plain| {
                (plain.a, plain.b) = (part, Rm::Mem(at));
                plain.mask = masks.as_ref().map_or(NONE, |masks| masks[n]);
            });
        }
        Ok(())
    }

    /// The elements as they lie in memory, in vectors.
    fn put_together(&mut self, values: &[Parts], close: Close) -> Parts {
        let (size, count, per) = self.flat(close);
        let shape = self.shape(close.ty);
        if close.step == 1 {
            return values[0].clone();
        }
        let longer = if size.bytes() > shape.size.bytes() {
            size
        } else {
            shape.size
        };
        (0..count)
            .map(|part| {
                let wanted: Vec<Option<(VReg, u8)>> = (0..per)
                    .map(|n| {
                        let at = part * per + n;
                        let (lane, element) = (at / close.step, at % close.step);
                        (lane < close.ty.lanes.into() && element < close.elements).then(|| {
                            let lanes = usize::from(shape.lanes);
                            (values[element][lane / lanes], (lane % lanes) as u8)
                        })
                    })
                    .collect();
                self.collect_lanes(&wanted, close.ty.scalar, longer)
            })
            .collect()
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
