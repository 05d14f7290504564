//! Accesses at an address for each lane.

use regalloc2::VReg;
use smallvec::SmallVec;

use super::super::values::{Parts, Shape};
use super::super::{Diagnostic, Isel, Result};
use super::Access;
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::{Amode, Base, GENERAL, MASK, Rm, VECTOR};
use crate::ir::{Mem, Scalar, Value};

/// Addresses that are 32-bit indexes away from one.
pub(super) struct Indexed {
    pub base: Amode,
    pub index: Parts,
    pub shift: u8,
}

impl Isel<'_> {
    /// What `lower` has found the addresses to be made of.
    fn indexed(&mut self, mem: &Mem, places: &[Value]) -> Result<Option<Indexed>> {
        let (Some(how), &[object, index]) = (mem.index, places) else {
            return Ok(None);
        };
        let is_word = self.func.ty(index).scalar == Scalar::I32;
        if !(how.signed && is_word && matches!(how.scale, 1 | 2 | 4 | 8)) {
            return Err(Diagnostic::new("an index that gathers do not take"));
        }
        let object = self.scalar(object)?;
        Ok(Some(Indexed {
            base: Amode::base(object),
            index: self.parts(index)?,
            shift: how.scale.trailing_zeros() as u8,
        }))
    }

    pub(super) fn gather(
        &mut self,
        mem: &Mem,
        places: &[Value],
        mask: Option<Value>,
        access: Access,
    ) -> Result<Vec<Parts>> {
        if let Some(indexed) = self.indexed(mem, places)? {
            if self.by_rows(access.padded()).is_some() {
                let addresses = self.addresses_of(&indexed, access);
                return self.gather_at(&addresses, mask, access);
            }
            if self.loads_lanes(mask) {
                return Ok(self.load_each_indexed(indexed, access));
            }
            let shape = self.shape(access.ty);
            let masks = self.lane_masks(mask, shape)?;
            return Ok((0..access.elements)
                .map(|element| {
                    (0..shape.count)
                        .map(|n| {
                            let at = self.further(indexed.base, element as i64 * 4);
                            let at = Amode {
                                index: indexed.index[n],
                                shift: indexed.shift,
                                ..at
                            };
                            self.gather_part(Opcode::Vpgatherdd, shape.size, at, masks[n])
                        })
                        .collect()
                })
                .collect());
        }
        let addresses = self.parts(places[0])?;
        self.gather_at(&addresses, mask, access)
    }

    /// Whether lanes are loaded one by one where there is an instruction for all.
    pub(super) fn loads_lanes(&self, mask: Option<Value>) -> bool {
        self.target.slow_gathers && mask.is_none()
    }

    /// The addresses in vectors of 64 bits.
    fn addresses_of(&mut self, indexed: &Indexed, access: Access) -> Parts {
        let wide = self.shape_of(access.ty.lanes, 64);
        let base = self.lea(indexed.base);
        let base = self.broadcast(Rm::Reg(base), Scalar::I64, wide.size);
        let offsets = self.resized(indexed.index.clone(), access.ty.lanes, 32, 64, true);
        let shift = i64::from(indexed.shift);
        let sums = offsets.into_iter().map(|offset| {
            let offset = self.rmi(Opcode::VpsllqImm, wide.size, offset, shift);
            self.rvm(Opcode::Vpaddq, wide.size, base, offset)
        });
        sums.collect()
    }

    /// The mask of each part: of all lanes where there is none.
    fn lane_masks(&mut self, mask: Option<Value>, shape: Shape) -> Result<Parts> {
        if let Some(mask) = mask {
            return self.mask_for(mask, shape);
        }
        let full = self.full_mask(shape);
        Ok(SmallVec::from_elem(full, shape.count))
    }

    /// The mask for each vector of addresses. Lanes of ones and zeros are as wide as what is
    /// loaded.
    fn masks_by_address(&mut self, mask: Option<Value>, access: Access) -> Result<Parts> {
        let wide = self.shape_of(access.ty.lanes, 64);
        if self.mask_class() == MASK || access.ty.scalar.bytes() == 8 {
            return self.lane_masks(mask, wide);
        }
        let shape = self.shape(access.ty);
        let masks = self.lane_masks(mask, shape)?;
        let pieces = (0..wide.count).map(|n| {
            let first = n as u32 * u32::from(wide.lanes);
            let part = masks[(first / u32::from(shape.lanes)) as usize];
            self.piece(part, first % u32::from(shape.lanes) * shape.bits / 8)
        });
        Ok(pieces.collect())
    }

    fn gather_part(&mut self, opcode: Opcode, size: Size, at: Amode, mask: VReg) -> VReg {
        let zero = self.zero_vector(size);
        let after = self.m.vreg(self.mask_class());
        let opcode = match (self.mask_class(), opcode) {
            (MASK, opcode) => opcode,
            (_, Opcode::Vpgatherdd) => Opcode::VpgatherddVex,
            (_, Opcode::Vpgatherqd) => Opcode::VpgatherqdVex,
            (_, _) => Opcode::VpgatherqqVex,
        };
        self.define(opcode, size, |plain| {
            (plain.b, plain.c) = (Rm::Mem(at), zero);
            (plain.mask, plain.mask_after) = (mask, after);
        })
    }

    /// Gathers at addresses in vectors of 64 bits.
    pub(super) fn gather_at(
        &mut self,
        addresses: &[VReg],
        mask: Option<Value>,
        access: Access,
    ) -> Result<Vec<Parts>> {
        let bytes = access.ty.scalar.bytes();
        let wide = self.shape_of(access.ty.lanes, 64);
        let shape = self.shape(access.ty);
        let by_rows = self.by_rows(access.padded()).is_some();
        if by_rows || bytes < 4 && !self.is_avx512() || self.loads_lanes(mask) {
            return self.load_each_at(addresses, mask, access);
        }
        let masks = self.masks_by_address(mask, access)?;
        let mut elements = Vec::with_capacity(access.elements);
        for element in 0..access.elements {
            let offset = element as i32 * bytes as i32;
            let pieces: Parts = addresses
                .iter()
                .zip(&masks)
                .map(|(&address, &mask)| {
                    let at = Amode {
                        base: Base::None,
                        index: address,
                        shift: 0,
                        disp: offset,
                    };
                    match bytes {
                        8 => self.gather_part(Opcode::Vpgatherqq, wide.size, at, mask),
                        4 => self.gather_part(Opcode::Vpgatherqd, wide.size, at, mask),
                        _ => self.gather_narrow(address, offset, mask, wide.size, access),
                    }
                })
                .collect();
            if bytes == 8 {
                elements.push(pieces);
                continue;
            }
            let each = u32::from(wide.lanes) * bytes;
            let together = (u32::from(shape.lanes) * bytes / each).max(1) as usize;
            let parts = pieces
                .chunks(together)
                .map(|pieces| self.join(pieces, each))
                .collect();
            elements.push(parts);
        }
        Ok(elements)
    }

    /// Gathers bytes, or pairs of them, with the aligned 4 bytes that they are in, which are on
    /// the same page. A pair that two such may share is gathered as bytes.
    fn gather_narrow(
        &mut self,
        address: VReg,
        offset: i32,
        mask: VReg,
        size: Size,
        access: Access,
    ) -> VReg {
        let bytes = access.ty.scalar.bytes();
        let address = match offset {
            0 => address,
            offset => {
                let offset = self.bits_operand(i64::from(offset) as u64, Scalar::I64, size);
                self.rvm(Opcode::Vpaddq, size, address, offset)
            }
        };
        let byte = |isel: &mut Self, address: VReg| {
            let aligned = isel.bits_operand(!3, Scalar::I64, size);
            let aligned = isel.rvm(Opcode::Vpandq, size, address, aligned);
            let at = Amode {
                base: Base::None,
                index: aligned,
                shift: 0,
                disp: 0,
            };
            let words = isel.gather_part(Opcode::Vpgatherqd, size, at, mask);
            // Four bytes a lane, in vectors of eight; by how much to shift comes from the address.
            let wide = isel.rm(Opcode::Vpmovzxdq, size, words);
            let three = isel.bits_operand(3, Scalar::I64, size);
            let within = isel.rvm(Opcode::Vpandq, size, address, three);
            let by = isel.rmi(Opcode::VpsllqImm, size, within, 3);
            isel.rvm(Opcode::Vpsrlvq, size, wide, by)
        };
        let low = byte(self, address);
        if bytes == 1 {
            return self.define(Opcode::Vpmovqb, size, |plain| plain.a = low);
        }
        if access.align >= 2 {
            return self.define(Opcode::Vpmovqw, size, |plain| plain.a = low);
        }
        let one = self.bits_operand(1, Scalar::I64, size);
        let next = self.rvm(Opcode::Vpaddq, size, address, one);
        let high = byte(self, next);
        let high = self.rmi(Opcode::VpsllqImm, size, high, 8);
        let below = self.bits_operand(0xff, Scalar::I64, size);
        let both = self.define(Opcode::Vpternlogq, size, |plain| {
            // By the third operand's bits: of the first, else of the second.
            (plain.c, plain.a, plain.b, plain.imm) = (low, high, below, 0xe4);
        });
        self.define(Opcode::Vpmovqw, size, |plain| plain.a = both)
    }

    pub(super) fn scatter(
        &mut self,
        mem: &Mem,
        places: &[Value],
        values: &[Parts],
        mask: Option<Value>,
        access: Access,
    ) -> Result<()> {
        if let Some(indexed) = self.indexed(mem, places)? {
            if self.by_rows(access).is_some() {
                let addresses = self.addresses_of(&indexed, access);
                return self.store_each_at(&addresses, values, mask, access);
            }
            let shape = self.shape(access.ty);
            let masks = self.lane_masks(mask, shape)?;
            for n in 0..shape.count {
                for (element, parts) in values.iter().enumerate() {
                    let at = self.further(indexed.base, element as i64 * 4);
                    let at = Amode {
                        index: indexed.index[n],
                        shift: indexed.shift,
                        ..at
                    };
                    self.scatter_part(Opcode::Vpscatterdd, shape.size, at, parts[n], masks[n]);
                }
            }
            return Ok(());
        }
        let addresses = self.parts(places[0])?;
        self.scatter_at(&addresses, values, mask, access)
    }

    fn scatter_part(&mut self, opcode: Opcode, size: Size, at: Amode, part: VReg, mask: VReg) {
        let after = self.m.vreg(MASK);
        self.perform(opcode, size, |plain| {
            (plain.a, plain.b) = (part, Rm::Mem(at));
            (plain.mask, plain.mask_after) = (mask, after);
        });
    }

    /// Scatters at addresses in vectors of 64 bits. Of lanes at the same address the last one's
    /// element stays.
    pub(super) fn scatter_at(
        &mut self,
        addresses: &[VReg],
        values: &[Parts],
        mask: Option<Value>,
        access: Access,
    ) -> Result<()> {
        let bytes = access.ty.scalar.bytes();
        let wide = self.shape_of(access.ty.lanes, 64);
        if !self.is_avx512() || self.by_rows(access).is_some() {
            return self.store_each_at(addresses, values, mask, access);
        }
        if bytes < 4 {
            return self.scatter_narrow(addresses, values, mask, access);
        }
        let shape = self.shape(access.ty);
        let masks = self.lane_masks(mask, wide)?;
        for (n, &address) in addresses.iter().enumerate() {
            for (element, parts) in values.iter().enumerate() {
                let at = Amode {
                    base: Base::None,
                    index: address,
                    shift: 0,
                    disp: element as i32 * bytes as i32,
                };
                let first = n as u32 * u32::from(wide.lanes);
                let part = parts[(first / u32::from(shape.lanes)) as usize];
                let opcode = match bytes {
                    8 => Opcode::Vpscatterqq,
                    _ => Opcode::Vpscatterqd,
                };
                let piece = self.piece(part, first % u32::from(shape.lanes) * bytes);
                self.scatter_part(opcode, wide.size, at, piece, masks[n]);
            }
        }
        Ok(())
    }

    /// There is no scatter of bytes: lane by lane.
    fn scatter_narrow(
        &mut self,
        addresses: &[VReg],
        values: &[Parts],
        mask: Option<Value>,
        access: Access,
    ) -> Result<()> {
        let bits = match mask {
            None => None,
            Some(mask) if self.func.ty(mask).lanes == 1 => {
                let bit = self.scalar(mask)?;
                Some(self.mi(Opcode::Neg, Size::B64, bit, 0))
            }
            Some(mask) => Some(self.mask_bits(mask)?),
        };
        let wide = self.shape_of(access.ty.lanes, 64);
        let shape = self.shape(access.ty);
        for lane in 0..access.ty.lanes {
            let next = bits.map(|bits| {
                let (store, next) = (self.m.new_block(), self.m.new_block());
                self.test_imm(Opcode::BtImm, Size::B64, bits, lane.into());
                self.m
                    .branch(Cc::B, Self::plain_target(store), Self::plain_target(next));
                self.m.switch_to(store);
                next
            });
            let part = addresses[usize::from(lane / wide.lanes)];
            let address = self.part_lane(part, (lane % wide.lanes).into(), Scalar::I64);
            debug_assert_eq!((address.class(), part.class()), (GENERAL, VECTOR));
            for (element, parts) in values.iter().enumerate() {
                let part = parts[usize::from(lane / shape.lanes)];
                let value =
                    self.part_lane(part, (lane % shape.lanes).into(), access.ty.scalar.as_int());
                let at = Amode {
                    disp: element as i32 * access.size() as i32,
                    ..Amode::base(address)
                };
                self.store_scalar(at, value, access.ty.scalar.as_int());
            }
            if let Some(next) = next {
                self.m.jump(Self::plain_target(next));
                self.m.switch_to(next);
            }
        }
        Ok(())
    }
}
