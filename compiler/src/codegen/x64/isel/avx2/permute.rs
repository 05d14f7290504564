//! Lanes that move. Most instructions move bytes within 128 bits; across them move 32 bits.

use regalloc2::VReg;
use smallvec::SmallVec;

use super::super::lanes::reach;
use super::super::values::{Parts, Repr, Shape};
use super::super::{Diagnostic, Isel, Result};
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{Amode, Rm};
use crate::ir::{IntCC, Scalar, Type, Value};

impl Isel<'_> {
    /// Lanes of `yes` where a bit is set, else of `no`.
    pub fn blend_lanes(
        &mut self,
        scalar: Scalar,
        size: Size,
        bits: u64,
        no: VReg,
        yes: VReg,
    ) -> VReg {
        let opcode = match scalar.bytes() {
            4 if !self.is_avx512() => Opcode::Vblendps,
            8 if !self.is_avx512() => Opcode::Vblendpd,
            _ => {
                let mask = self.constant_mask(bits, scalar, size);
                return self.blend(scalar, size, mask, no, Rm::Reg(yes));
            }
        };
        self.rvmi(opcode, size, no, yes, bits as i64)
    }

    /// A vector of lanes of several registers, which may be longer than it is; `None` is any lane.
    pub fn collect_by_blends(
        &mut self,
        wanted: &[Option<(VReg, u8)>],
        scalar: Scalar,
        size: Size,
    ) -> VReg {
        let mut sources: SmallVec<[VReg; 4]> = SmallVec::new();
        for (reg, _) in wanted.iter().flatten() {
            if !sources.contains(reg) {
                sources.push(*reg);
            }
        }
        let of_sources = reach(wanted, scalar, size);
        if scalar.bytes() < 4 && (sources.len() > 1 || of_sources != size) {
            return self.collect_narrow(wanted, scalar, size);
        }
        // Of the longer vectors, the low lanes are the result.
        let size = of_sources;
        let mut done: Option<VReg> = None;
        for source in sources {
            let lane_of = |lane: &Option<(VReg, u8)>| {
                lane.filter(|&(reg, _)| reg == source).map(|(_, lane)| lane)
            };
            let lanes: Vec<Option<u8>> = wanted.iter().map(lane_of).collect();
            let moved = self.permuted(source, &lanes, scalar, size);
            done = Some(match done {
                None => moved,
                Some(before) => {
                    let set = lanes.iter().enumerate().filter(|(_, lane)| lane.is_some());
                    let bits = set.fold(0, |bits, (n, _)| bits | 1u64 << n);
                    self.blend_lanes(scalar, size, bits, before, moved)
                }
            });
        }
        match done {
            Some(done) => done,
            None => self.zero_vector(size),
        }
    }

    /// Lanes of one or two bytes of several registers, 128 bits at a time: those of each source are
    /// put where they belong, with zeros elsewhere.
    fn collect_narrow(
        &mut self,
        wanted: &[Option<(VReg, u8)>],
        scalar: Scalar,
        size: Size,
    ) -> VReg {
        let bytes = scalar.bytes() as usize;
        let each = 16 / bytes;
        let mut halves: SmallVec<[VReg; 2]> = SmallVec::new();
        for lanes in wanted.chunks(each).take(size.bytes() as usize / 16) {
            let source = |&(reg, lane): &(VReg, u8)| (reg, usize::from(lane) / each);
            let mut sources: SmallVec<[(VReg, usize); 4]> = SmallVec::new();
            for from in lanes.iter().flatten().map(source) {
                if !sources.contains(&from) {
                    sources.push(from);
                }
            }
            let mut done: Option<VReg> = None;
            for from in sources {
                let lane_of = |lane: &Option<(VReg, u8)>| {
                    let of_source = lane.filter(|lane| source(lane) == from);
                    of_source.map(|(_, lane)| lane % each as u8)
                };
                let index = lanes.iter().map(lane_of).flat_map(|lane| {
                    let byte = move |n| match lane {
                        Some(lane) => (usize::from(lane) * bytes + n) as u64,
                        None => 0x80,
                    };
                    (0..bytes).map(byte)
                });
                let index: Vec<u64> = index.collect();
                let index = self.lanes_in_pool(&index, Scalar::I8, Size::V128);
                let piece = self.piece(from.0, from.1 as u32 * 16);
                let moved = self.rvm(Opcode::Vpshufb, Size::V128, piece, index);
                done = Some(match done {
                    None => moved,
                    Some(before) => self.rvm(Opcode::Vpord, Size::V128, before, moved),
                });
            }
            halves.push(done.unwrap_or_else(|| self.zero_vector(Size::V128)));
        }
        self.join(&halves, 16)
    }

    /// Lanes of one register, as long as the result; `None` is any lane.
    pub fn permuted(
        &mut self,
        from: VReg,
        lanes: &[Option<u8>],
        scalar: Scalar,
        size: Size,
    ) -> VReg {
        let of_size = (size.bytes() / scalar.bytes()) as u8;
        debug_assert!(
            lanes.iter().flatten().all(|&lane| lane < of_size),
            "lanes {lanes:?} of {scalar:?} in {size:?}"
        );
        let stays = |(n, lane): (usize, &Option<u8>)| lane.is_none_or(|l| usize::from(l) == n);
        if lanes.iter().enumerate().all(stays) {
            return from;
        }
        let lane = |n: usize| lanes.get(n).copied().flatten();
        match (scalar.bytes(), size) {
            (8, Size::V256) => {
                let imm = (0..4).fold(0, |imm, n| {
                    imm | i64::from(lane(n).unwrap_or(n as u8)) << (2 * n)
                });
                self.rmi(Opcode::VpermqImm, size, from, imm)
            }
            (4, Size::V256) => {
                let index: Vec<u64> = (0..8).map(|n| lane(n).unwrap_or(0).into()).collect();
                let index = self.lanes_constant(&index, Scalar::I32, size);
                self.rvm(Opcode::Vpermd, size, index, from)
            }
            (8, _) => {
                let imm = (0..2).fold(0, |imm, n| {
                    let lane = i64::from(lane(n).unwrap_or(n as u8));
                    imm | ((lane * 2) | ((lane * 2 + 1) << 2)) << (4 * n)
                });
                self.rmi(Opcode::Vpshufd, size, from, imm)
            }
            (4, _) => {
                let imm = (0..4).fold(0, |imm, n| {
                    imm | i64::from(lane(n).unwrap_or(n as u8)) << (2 * n)
                });
                self.rmi(Opcode::Vpshufd, size, from, imm)
            }
            (bytes, _) => self.permuted_bytes(from, lanes, bytes as usize, size),
        }
    }

    /// Lanes of one or two bytes of one register.
    fn permuted_bytes(
        &mut self,
        from: VReg,
        lanes: &[Option<u8>],
        bytes: usize,
        size: Size,
    ) -> VReg {
        // The byte of the source for each byte, in vectors of 128 bits.
        let wanted: Vec<Option<usize>> = (0..size.bytes() as usize)
            .map(|n| {
                let lane = lanes.get(n / bytes).copied().flatten()?;
                Some(usize::from(lane) * bytes + n % bytes)
            })
            .collect();
        let halves = |isel: &mut Self, from: VReg, half: Option<usize>| {
            let index: Vec<u64> = wanted
                .iter()
                .map(|byte| match *byte {
                    Some(byte) if half.is_none_or(|half| byte / 16 == half) => byte as u64 % 16,
                    _ => 0x80,
                })
                .collect();
            let index = isel.lanes_in_pool(&index, Scalar::I8, size);
            isel.rvm(Opcode::Vpshufb, size, from, index)
        };
        let in_place = |(n, byte): (usize, &Option<usize>)| byte.is_none_or(|b| b / 16 == n / 16);
        if wanted.iter().enumerate().all(in_place) {
            return halves(self, from, None);
        }
        let mut done: Option<VReg> = None;
        for (half, imm) in [(0, 0b01_00_01_00), (1, 0b11_10_11_10)] {
            if !wanted.iter().flatten().any(|byte| byte / 16 == half) {
                continue;
            }
            let twice = self.rmi(Opcode::VpermqImm, size, from, imm);
            let moved = halves(self, twice, Some(half));
            done = Some(match done {
                None => moved,
                Some(before) => self.rvm(Opcode::Vpord, size, before, moved),
            });
        }
        done.expect("a lane that moves")
    }

    /// The lane with this number, modulo the lane count, by way of memory.
    pub fn extract_from_memory(&mut self, value: Value, number: Value) -> Result<Repr> {
        let ty = self.func.ty(value);
        let shape = self.shape(ty);
        let bytes = shape.size.bytes();
        let parts = self.parts(value)?;
        let number = self.scalar(number)?;
        let index = self.mi(Opcode::AndImm, Size::B32, number, i64::from(ty.lanes - 1));
        let offset = self.frame.place(bytes * shape.count as u32, bytes)?;
        for (n, &part) in parts.iter().enumerate() {
            let at = Amode::frame(offset + n as i32 * bytes as i32);
            self.mr(Opcode::Vmovdqu64Store, shape.size, at, part);
        }
        let at = Amode {
            index,
            shift: ty.scalar.bytes().trailing_zeros() as u8,
            ..Amode::frame(offset)
        };
        Ok(Repr::Scalar(self.load_scalar(at, ty.scalar)))
    }

    /// Lane `l` is the lane that lane `l` of `numbers` says, or 0: in lanes of 32 bits.
    pub fn permute_words(&mut self, value: Value, numbers: Value, ty: Type) -> Result<Repr> {
        if self.func.ty(numbers).scalar.bits() != 32 {
            return Err(Diagnostic::new("a permutation by other than 32 bits"));
        }
        let (lanes, bits) = (ty.lanes, ty.scalar.bits());
        let (values, indexes) = (self.parts(value)?, self.parts(numbers)?);
        let words = self.shape_of(lanes, 32);
        if bits < 64 {
            let values = self.resized(values, lanes, bits, 32, false);
            let found = self.looked_up(&values, &indexes, words, lanes);
            return Ok(Repr::Vector(self.resized(found, lanes, 32, bits, false)));
        }
        let size = self.shape(ty).size;
        let high: Parts = values
            .iter()
            .map(|&part| self.rmi(Opcode::VpsrlqImm, size, part, 32))
            .collect();
        let [low, high] = [values, high].map(|half| {
            let half = self.resized(half, lanes, 64, 32, false);
            let found = self.looked_up(&half, &indexes, words, lanes);
            self.resized(found, lanes, 32, 64, false)
        });
        let parts = low.into_iter().zip(high).map(|(low, high)| {
            let high = self.rmi(Opcode::VpsllqImm, size, high, 32);
            self.rvm(Opcode::Vpord, size, low, high)
        });
        Ok(Repr::Vector(parts.collect()))
    }

    /// Lanes of 32 bits by their numbers; 0 for those that there are not.
    fn looked_up(&mut self, values: &Parts, indexes: &Parts, shape: Shape, lanes: u8) -> Parts {
        let size = shape.size;
        let from = |isel: &mut Self, values: VReg, index: VReg| match size {
            Size::V128 => isel.rvm(Opcode::Vpermilps, size, values, index),
            _ => isel.rvm(Opcode::Vpermd, size, index, values),
        };
        let of_part = u32::from(shape.lanes).trailing_zeros();
        indexes
            .iter()
            .map(|&index| {
                let mut found = from(self, values[0], index);
                let part = self.rmi(Opcode::VpsrldImm, size, index, of_part.into());
                for (n, &other) in values.iter().enumerate().skip(1) {
                    let here = from(self, other, index);
                    let number = self.bits_operand(n as u64, Scalar::I32, size);
                    let mask = self.compare_parts(IntCC::Eq, Scalar::I32, size, part, number);
                    found = self.blend(Scalar::I32, size, mask, found, Rm::Reg(here));
                }
                let last = self.bits_operand(u64::from(lanes) - 1, Scalar::I32, size);
                let inside = self.compare_parts(IntCC::Ule, Scalar::I32, size, index, last);
                self.kept(Scalar::I32, size, inside, Rm::Reg(found))
            })
            .collect()
    }
}
