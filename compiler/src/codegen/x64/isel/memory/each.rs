//! Lanes that are accessed one by one, where there is no instruction for all: scatters, and lanes
//! of 8 and 16 bits under a mask or at addresses of their own. Or where the instruction is slow:
//! gathers at a constant distance, and all of some processors.
//!
//! Nothing branches for a lane: one that is not active loads zeros of ours, or stores where nothing
//! is read.

use regalloc2::VReg;

use super::super::values::Parts;
use super::super::{Isel, Result};
use super::Access;
use super::gather::Indexed;
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::{Amode, Rm};
use crate::ir::{Scalar, Value};

/// Bytes of the elements of one lane, at most: 16 of 8 bytes.
const MOST: u32 = 128;

/// Which lanes are active, not all.
#[derive(Clone, Copy)]
struct Active {
    /// A bit for each lane.
    bits: VReg,
    /// The address of the others.
    elsewhere: VReg,
}

/// Where lanes are.
enum Lanes {
    /// So many bytes from one to the next, where they are active.
    Strided {
        base: Amode,
        stride: i64,
        active: Option<Active>,
    },
    /// At addresses in vectors.
    Apart(Parts),
    /// At 32-bit indexes from one address.
    Indexed(Indexed),
}

impl Isel<'_> {
    /// The address of zeros that inactive lanes load.
    fn zeros(&mut self) -> VReg {
        let at = self.pool.place(&[0; MOST as usize]);
        self.lea(Amode::pool(at))
    }

    /// The address that inactive lanes store to.
    fn nowhere(&mut self) -> Result<VReg> {
        let offset = match self.nowhere {
            Some(offset) => offset,
            None => self.frame.place(MOST, 8)?,
        };
        self.nowhere = Some(offset);
        Ok(self.lea(Amode::frame(offset)))
    }

    fn strided_lanes(
        &mut self,
        base: Amode,
        mask: Option<Value>,
        access: Access,
        elsewhere: impl FnOnce(&mut Self) -> Result<VReg>,
    ) -> Result<Lanes> {
        let active = match mask {
            None => None,
            Some(mask) => {
                let bits = match self.func.ty(mask).lanes {
                    1 => {
                        let bit = self.scalar(mask)?;
                        self.mi(Opcode::Neg, Size::B64, bit, 0)
                    }
                    _ => self.mask_bits(mask)?,
                };
                let elsewhere = elsewhere(self)?;
                Some(Active { bits, elsewhere })
            }
        };
        Ok(Lanes::Strided {
            base,
            stride: access.stride,
            active,
        })
    }

    fn lanes_at(
        &mut self,
        addresses: &[VReg],
        mask: Option<Value>,
        access: Access,
        elsewhere: impl FnOnce(&mut Self) -> Result<VReg>,
    ) -> Result<Lanes> {
        let Some(mask) = mask else {
            return Ok(Lanes::Apart(addresses.into()));
        };
        let wide = self.shape_of(access.ty.lanes, 64);
        let masks = self.mask_for(mask, wide)?;
        let elsewhere = elsewhere(self)?;
        let elsewhere = self.broadcast(Rm::Reg(elsewhere), Scalar::I64, wide.size);
        let addresses = addresses.iter().zip(masks);
        let chosen = addresses.map(|(&address, mask)| {
            self.blend(Scalar::I64, wide.size, mask, elsewhere, Rm::Reg(address))
        });
        Ok(Lanes::Apart(chosen.collect()))
    }

    /// The address of a lane.
    fn lane_address(&mut self, lanes: &Lanes, lane: u8) -> Amode {
        match *lanes {
            Lanes::Apart(ref parts) => {
                let each = (self.longest.bytes() / 8) as u8;
                let part = parts[usize::from(lane / each)];
                let address = self.part_lane(part, (lane % each).into(), Scalar::I64);
                Amode::base(self.as_address(address))
            }
            Lanes::Indexed(ref indexed) => {
                let each = (self.longest.bytes() / 4) as u8;
                let part = indexed.index[usize::from(lane / each)];
                Amode {
                    index: self.signed_lane(part, (lane % each).into()),
                    shift: indexed.shift,
                    ..indexed.base
                }
            }
            Lanes::Strided {
                base,
                stride,
                active,
            } => {
                let at = self.further(base, i64::from(lane).wrapping_mul(stride));
                let Some(Active { bits, elsewhere }) = active else {
                    return at;
                };
                let at = self.lea(at);
                self.test_imm(Opcode::BtImm, Size::B64, bits, lane.into());
                Amode::base(self.cmov(Cc::B, Size::B64, elsewhere, at))
            }
        }
    }

    fn load_each(&mut self, lanes: &Lanes, access: Access) -> Vec<Parts> {
        let padded = access.padded();
        if let Some(how) = self.by_rows(padded) {
            let mut elements =
                self.load_rows(how, padded, |isel, lane| isel.lane_address(lanes, lane));
            elements.truncate(access.elements);
            return elements;
        }
        let bytes = access.ty.scalar.bytes();
        let shape = self.shape(access.ty);
        let opcode = match bytes {
            1 => Opcode::Vpinsrb,
            2 => Opcode::Vpinsrw,
            4 => Opcode::Vpinsrd,
            _ => Opcode::Vpinsrq,
        };
        // Vectors of 128 bits, joined then.
        let run = (16 / bytes) as u8;
        let mut pieces: Vec<Parts> = vec![Parts::new(); access.elements];
        for lane in 0..access.ty.lanes {
            let at = self.lane_address(lanes, lane);
            for (element, pieces) in pieces.iter_mut().enumerate() {
                let at = self.further(at, element as i64 * access.size());
                if lane % run == 0 {
                    let first = match bytes {
                        8 => self.rm(Opcode::Vmovq, Size::V128, at),
                        4 => self.rm(Opcode::Vmovd, Size::V128, at),
                        _ => self.zero_vector(Size::V128),
                    };
                    pieces.push(first);
                    if bytes >= 4 {
                        continue;
                    }
                }
                let piece = pieces.last_mut().expect("pushed");
                *piece = self.rvmi(opcode, Size::V128, *piece, at, (lane % run).into());
            }
        }
        let together = (shape.size.bytes() / 16) as usize;
        pieces
            .into_iter()
            .map(|pieces| {
                pieces
                    .chunks(together)
                    .map(|pieces| self.join(pieces, 16))
                    .collect()
            })
            .collect()
    }

    /// Of lanes at the same address the last one's elements stay.
    fn store_each(&mut self, lanes: &Lanes, values: &[Parts], access: Access) {
        if let Some(how) = self.by_rows(access) {
            self.store_rows(how, values, access, |isel, lane| {
                isel.lane_address(lanes, lane)
            });
            return;
        }
        let bytes = access.ty.scalar.bytes();
        let opcode = match bytes {
            1 => Opcode::Vpextrb,
            2 => Opcode::Vpextrw,
            4 => Opcode::Vpextrd,
            _ => Opcode::Vpextrq,
        };
        let run = (16 / bytes) as u8;
        let halves = self.shape(access.ty).size.bytes() / 16;
        let pieces: Vec<Vec<VReg>> = values
            .iter()
            .map(|parts| {
                let mut pieces = Vec::with_capacity(parts.len() * halves as usize);
                for &part in parts {
                    pieces.extend((0..halves).map(|half| self.piece(part, half * 16)));
                }
                pieces
            })
            .collect();
        for lane in 0..access.ty.lanes {
            let at = self.lane_address(lanes, lane);
            for (element, pieces) in pieces.iter().enumerate() {
                let at = self.further(at, element as i64 * access.size());
                let piece = pieces[usize::from(lane / run)];
                match (bytes, lane % run) {
                    (4, 0) => self.mr(Opcode::VmovdStore, Size::V128, at, piece),
                    (8, 0) => self.mr(Opcode::VmovqStore, Size::V128, at, piece),
                    (_, number) => self.perform(opcode, Size::V128, |plain| {
                        (plain.a, plain.b) = (piece, Rm::Mem(at));
                        plain.imm = number.into();
                    }),
                }
            }
        }
    }

    pub(super) fn load_each_strided(
        &mut self,
        base: Amode,
        mask: Option<Value>,
        access: Access,
    ) -> Result<Vec<Parts>> {
        let lanes = self.strided_lanes(base, mask, access, |isel| Ok(isel.zeros()))?;
        Ok(self.load_each(&lanes, access))
    }

    pub(super) fn store_each_strided(
        &mut self,
        base: Amode,
        values: &[Parts],
        mask: Option<Value>,
        access: Access,
    ) -> Result<()> {
        let lanes = self.strided_lanes(base, mask, access, Self::nowhere)?;
        self.store_each(&lanes, values, access);
        Ok(())
    }

    pub(super) fn load_each_at(
        &mut self,
        addresses: &[VReg],
        mask: Option<Value>,
        access: Access,
    ) -> Result<Vec<Parts>> {
        let lanes = self.lanes_at(addresses, mask, access, |isel| Ok(isel.zeros()))?;
        Ok(self.load_each(&lanes, access))
    }

    /// Without a mask.
    pub(super) fn load_each_indexed(&mut self, indexed: Indexed, access: Access) -> Vec<Parts> {
        self.load_each(&Lanes::Indexed(indexed), access)
    }

    pub(super) fn store_each_at(
        &mut self,
        addresses: &[VReg],
        values: &[Parts],
        mask: Option<Value>,
        access: Access,
    ) -> Result<()> {
        let lanes = self.lanes_at(addresses, mask, access, Self::nowhere)?;
        self.store_each(&lanes, values, access);
        Ok(())
    }
}
