//! Lanes that move, and parts that are joined and split.

use regalloc2::VReg;
use smallvec::{SmallVec, smallvec};

use super::values::{Parts, Repr};
use super::{Diagnostic, Isel, Result, Taken};
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{Amode, GENERAL, Rm, VECTOR};
use crate::ir::{ConvertOp, Scalar, Type, Value};

/// So many lanes of up to 32 bits are taken out of a vector one by one.
const FEW_LANES: u32 = 2;

impl Isel<'_> {
    /// What the block that instructions go to has taken out of vectors.
    pub(super) fn taken(&mut self) -> &mut Taken {
        let block = self.m.current();
        if self.taken.block != block {
            self.taken = Taken {
                block,
                ..Taken::default()
            };
        }
        &mut self.taken
    }

    /// The bytes of a vector register from an offset on, a power of two or a multiple of 16, in the
    /// low ones of another. What is above the next multiple of the offset is arbitrary.
    pub fn piece(&mut self, part: VReg, offset: u32) -> VReg {
        if let Some(&known) = self.taken().pieces.get(&(part, offset)) {
            return known;
        }
        let piece = self.new_piece(part, offset);
        self.taken().pieces.insert((part, offset), piece);
        piece
    }

    fn new_piece(&mut self, part: VReg, offset: u32) -> VReg {
        match offset {
            0 => part,
            32 => self.mri(Opcode::Vextracti64x4, Size::V512, part, 1),
            16 if !self.is_avx512() => self.mri(Opcode::Vextracti128, Size::V256, part, 1),
            16 => self.mri(Opcode::Vextracti32x4, Size::V256, part, 1),
            48 => self.mri(Opcode::Vextracti32x4, Size::V512, part, 3),
            _ => {
                let whole = offset / 16 * 16;
                let from = self.piece(part, whole);
                let rest = i64::from(offset - whole);
                self.rvmi(Opcode::Vpalignr, Size::V128, from, from, rest)
            }
        }
    }

    /// Joins the low bytes of vectors, `bytes` of each, a power of two.
    pub fn join(&mut self, pieces: &[VReg], bytes: u32) -> VReg {
        if let [one] = *pieces {
            return one;
        }
        let pairs: SmallVec<[VReg; 4]> = pieces
            .chunks(2)
            .map(|pair| {
                let (low, high) = (pair[0], *pair.last().expect("not empty"));
                match bytes {
                    1 => self.rvm(Opcode::Vpunpcklbw, Size::V128, low, high),
                    2 => self.rvm(Opcode::Vpunpcklwd, Size::V128, low, high),
                    4 => self.rvm(Opcode::Vpunpckldq, Size::V128, low, high),
                    8 => self.rvm(Opcode::Vpunpcklqdq, Size::V128, low, high),
                    16 if !self.is_avx512() => {
                        self.rvmi(Opcode::Vinserti128, Size::V256, low, high, 1)
                    }
                    16 => self.rvmi(Opcode::Vinserti32x4, Size::V256, low, high, 1),
                    _ => self.rvmi(Opcode::Vinserti64x4, Size::V512, low, high, 1),
                }
            })
            .collect();
        self.join(&pairs, bytes * 2)
    }

    /// One lane in a register of its class. The lane is one of the part's.
    pub fn part_lane(&mut self, part: VReg, lane: u32, scalar: Scalar) -> VReg {
        let bytes = scalar.bytes();
        let offset = lane * bytes;
        let from = self.piece(part, offset / 16 * 16);
        let within = offset % 16;
        match scalar {
            Scalar::F32 | Scalar::F64 if within == 0 => from,
            Scalar::F32 | Scalar::F64 => {
                self.rvmi(Opcode::Vpalignr, Size::V128, from, from, i64::from(within))
            }
            _ => {
                let n = i64::from(within / bytes);
                match bytes {
                    1 => self.mri(Opcode::Vpextrb, Size::V128, from, n),
                    2 => self.mri(Opcode::Vpextrw, Size::V128, from, n),
                    4 if n == 0 => self.define(Opcode::VmovdStore, Size::V128, |p| p.a = from),
                    4 => self.mri(Opcode::Vpextrd, Size::V128, from, n),
                    _ if n == 0 => self.define(Opcode::VmovqStore, Size::V128, |p| p.a = from),
                    _ => self.mri(Opcode::Vpextrq, Size::V128, from, n),
                }
            }
        }
    }

    /// One lane of a value.
    pub fn lane(&mut self, value: Value, lane: u8) -> Result<VReg> {
        let ty = self.func.ty(value);
        if ty.lanes == 1 {
            return self.scalar(value);
        }
        if let Repr::Constant(bits) = self.values[value] {
            return Ok(self.scalar_constant(bits, ty.scalar));
        }
        if ty.scalar == Scalar::I1 {
            let bits = self.mask_bits(value)?;
            let down = self.mi(Opcode::ShrImm, Size::B64, bits, lane.into());
            return Ok(self.mi(Opcode::AndImm, Size::B32, down, 1));
        }
        let shape = self.shape(ty);
        let part = self.parts(value)?[usize::from(lane / shape.lanes)];
        Ok(self.part_lane(part, (lane % shape.lanes).into(), ty.scalar))
    }

    pub fn extract(&mut self, value: Value, lane: u8) -> Result<Repr> {
        let ty = self.func.ty(value);
        let is_narrow = matches!(ty.scalar, Scalar::I8 | Scalar::I16 | Scalar::I32);
        let is_vector = matches!(self.values[value], Repr::Vector(_));
        if is_narrow && is_vector && self.deferral.uses[value] > FEW_LANES {
            let shape = self.shape(ty);
            let part = self.parts(value)?[usize::from(lane / shape.lanes)];
            let reg = self.narrow_lane(part, (lane % shape.lanes).into(), ty.scalar);
            return Ok(Repr::Scalar(reg));
        }
        let reg = self.lane(value, lane)?;
        let may_be_address = is_vector && matches!(ty.scalar, Scalar::I64 | Scalar::Ptr);
        Ok(Repr::Scalar(match may_be_address {
            true => self.as_address(reg),
            false => reg,
        }))
    }

    /// A general register that a lane was moved to, to be used in addresses
    /// ([`crate::target::Target::guesses_stored_addresses`]).
    pub fn as_address(&mut self, lane: VReg) -> VReg {
        match self.target.guesses_stored_addresses {
            true => self.rm(Opcode::Lea, Size::B64, Amode::base(lane)),
            false => lane,
        }
    }

    /// A lane of up to 32 bits, zero-extended, out of the eight bytes round it in a general
    /// register, which others are taken out of, too: `vpextrb` is two operations of the few that
    /// vectors are moved by.
    fn narrow_lane(&mut self, part: VReg, lane: u32, scalar: Scalar) -> VReg {
        let offset = lane * scalar.bytes();
        let (number, bit) = (offset / 8, i64::from(offset % 8) * 8);
        let word = self.word(part, number);
        if bit == 64 - i64::from(scalar.bits()) {
            return self.mi(Opcode::ShrImm, Size::B64, word, bit);
        }
        let low = match bit {
            0 => word,
            _ => self.rmi(Opcode::Rorx, Size::B64, word, bit),
        };
        let wide = match scalar {
            Scalar::I32 => Scalar::I64,
            _ => Scalar::I32,
        };
        self.extend(ConvertOp::ZExt, Rm::Reg(low), scalar, wide)
    }

    /// A lane of 32 bits, sign-extended, likewise.
    pub fn signed_lane(&mut self, part: VReg, lane: u32) -> VReg {
        let word = self.word(part, lane / 2);
        match lane % 2 {
            0 => self.extend(ConvertOp::SExt, Rm::Reg(word), Scalar::I32, Scalar::I64),
            _ => self.mi(Opcode::SarImm, Size::B64, word, 32),
        }
    }

    /// Eight bytes of a vector in a general register.
    fn word(&mut self, part: VReg, number: u32) -> VReg {
        if let Some(&word) = self.taken().words.get(&(part, number)) {
            return word;
        }
        let word = self.part_lane(part, number, Scalar::I64);
        self.taken().words.insert((part, number), word);
        word
    }

    /// A one-lane value in the lowest lane of a vector.
    pub fn low_lane(&mut self, reg: VReg, scalar: Scalar) -> VReg {
        if reg.class() == VECTOR {
            return reg;
        }
        debug_assert_eq!(reg.class(), GENERAL);
        match scalar.bits() {
            64 => self.rm(Opcode::Vmovq, Size::V128, reg),
            _ => self.rm(Opcode::Vmovd, Size::V128, reg),
        }
    }

    /// A vector of one register a lane.
    pub fn vector_of(&mut self, ty: Type, lanes: &[VReg]) -> Parts {
        let shape = self.shape(ty);
        lanes
            .chunks(usize::from(shape.lanes))
            .map(|chunk| {
                let low: SmallVec<[VReg; 16]> = chunk
                    .iter()
                    .map(|&reg| self.low_lane(reg, ty.scalar))
                    .collect();
                self.join(&low, ty.scalar.bytes())
            })
            .collect()
    }

    pub fn build_vector(&mut self, args: &[Value], ty: Type) -> Result<Repr> {
        let lanes: Vec<VReg> = args
            .iter()
            .map(|&arg| self.scalar(arg))
            .collect::<Result<_>>()?;
        if ty.scalar == Scalar::I1 {
            return Err(Diagnostic::new("masks of single truth values"));
        }
        Ok(Repr::Vector(self.vector_of(ty, &lanes)))
    }

    pub fn insert(&mut self, vector: Value, lane: Value, number: u8) -> Result<Repr> {
        let ty = self.func.ty(vector);
        if ty.scalar == Scalar::I1 {
            return Err(Diagnostic::new("an insertion into a mask"));
        }
        let shape = self.shape(ty);
        let mut parts = self.parts(vector)?;
        let reg = self.scalar(lane)?;
        let low = self.low_lane(reg, ty.scalar);
        let all = self.broadcast(Rm::Reg(low), ty.scalar, shape.size);
        let bit = 1 << (number % shape.lanes);
        let part = &mut parts[usize::from(number / shape.lanes)];
        *part = self.blend_lanes(ty.scalar, shape.size, bit, *part, all);
        Ok(Repr::Vector(parts))
    }

    pub fn lane_ids(&mut self, ty: Type) -> Repr {
        let shape = self.shape(ty);
        let parts = (0..shape.count)
            .map(|n| {
                let first = n as u64 * u64::from(shape.lanes);
                let lanes: Vec<u64> = (first..first + u64::from(shape.lanes)).collect();
                self.lanes_constant(&lanes, ty.scalar, shape.size)
            })
            .collect();
        Repr::Vector(parts)
    }

    /// Lanes of two sources laid end to end, each of as many lanes as a vector of this size has;
    /// `None` is any lane.
    pub fn permute_two(
        &mut self,
        a: VReg,
        b: VReg,
        lanes: &[Option<u8>],
        scalar: Scalar,
        size: Size,
    ) -> VReg {
        let per = (size.bytes() / scalar.bytes()) as u8;
        if lanes
            .iter()
            .enumerate()
            .all(|(n, lane)| lane.is_none_or(|lane| usize::from(lane) == n))
        {
            return a;
        }
        let index: Vec<u64> = lanes.iter().map(|lane| lane.unwrap_or(0).into()).collect();
        let only_a = a == b || lanes.iter().flatten().all(|&lane| lane < per);
        if scalar.bytes() == 1 {
            if only_a && let Some(index) = Self::bytes_in_place(lanes) {
                let index = self.lanes_in_pool(&index, Scalar::I8, size);
                return self.rvm(Opcode::Vpshufb, size, a, Rm::Mem(index));
            }
            if !self.target.byte_permutes {
                return self.permute_bytes(a, (!only_a).then_some(b), lanes, size);
            }
        }
        let index = self.lanes_in_pool(&index, scalar.as_int(), size);
        if only_a {
            return self.permute_one(a, Rm::Mem(index), scalar, size);
        }
        let opcode = match scalar.bytes() {
            1 => Opcode::Vpermt2b,
            2 => Opcode::Vpermt2w,
            4 => Opcode::Vpermt2d,
            _ => Opcode::Vpermt2q,
        };
        let index = self.rm(Opcode::Vmovdqu64, size, index);
        self.rvma(opcode, size, a, index, b)
    }

    /// Lanes of one source, by an index for each.
    fn permute_one(&mut self, from: VReg, index: Rm, scalar: Scalar, size: Size) -> VReg {
        let index = match index {
            Rm::Reg(reg) => reg,
            other => self.rm(Opcode::Vmovdqu64, size, other),
        };
        match (scalar.bytes(), size) {
            (1, Size::V128) => return self.rvm(Opcode::Vpshufb, size, from, index),
            (1, _) if !self.target.byte_permutes => {
                return self.permute_bytes_by(from, None, index, size);
            }
            _ => {}
        }
        // Of words and wider, vectors of 128 bits have no such instruction but that of two
        // sources, and wider vectors do no harm.
        let wide = match size {
            Size::V128 if scalar.bytes() >= 4 => Size::V256,
            other => other,
        };
        let opcode = match scalar.bytes() {
            1 => Opcode::Vpermb,
            2 => Opcode::Vpermw,
            4 => Opcode::Vpermd,
            _ => Opcode::Vpermq,
        };
        self.rvm(opcode, wide, index, from)
    }

    /// Lane `i` is lane `lanes[i]` of `a` and `b` laid end to end; 255 gives 0.
    pub fn shuffle(&mut self, a: Value, b: Value, lanes: &[u8], ty: Type) -> Result<Repr> {
        if ty.scalar == Scalar::I1 {
            return Err(Diagnostic::new("a shuffle of masks"));
        }
        let of_a = self.func.ty(a).lanes;
        let one = |lane: u8| {
            if lane < of_a {
                (a, lane)
            } else {
                (b, lane - of_a)
            }
        };
        if ty.lanes == 1 {
            return match lanes[0] {
                255 => Ok(Repr::Constant(0)),
                lane => {
                    let (from, lane) = one(lane);
                    self.extract(from, lane)
                }
            };
        }
        if of_a == 1 || self.func.ty(b).lanes == 1 {
            let regs: Vec<VReg> = lanes
                .iter()
                .map(|&lane| match lane {
                    255 => Ok(self.scalar_constant(0, ty.scalar)),
                    lane => {
                        let (from, lane) = one(lane);
                        self.lane(from, lane)
                    }
                })
                .collect::<Result<_>>()?;
            return Ok(Repr::Vector(self.vector_of(ty, &regs)));
        }
        let shape = self.shape(ty);
        let (shape_a, shape_b) = (self.shape(self.func.ty(a)), self.shape(self.func.ty(b)));
        let (parts_a, parts_b) = (self.parts(a)?, self.parts(b)?);
        // The register that a lane is in, and its number there.
        let place = |lane: u8| match lane.checked_sub(of_a) {
            None => (
                parts_a[usize::from(lane / shape_a.lanes)],
                lane % shape_a.lanes,
            ),
            Some(lane) => (
                parts_b[usize::from(lane / shape_b.lanes)],
                lane % shape_b.lanes,
            ),
        };
        let size = [shape.size, shape_a.size, shape_b.size]
            .into_iter()
            .max_by_key(|size| size.bytes())
            .expect("three sizes");
        let parts = lanes
            .chunks(usize::from(shape.lanes))
            .map(|chunk| {
                let wanted: Vec<Option<(VReg, u8)>> = chunk
                    .iter()
                    .map(|&lane| (lane != 255).then(|| place(lane)))
                    .collect();
                let part = self.collect_lanes(&wanted, ty.scalar, size);
                if chunk.contains(&255) {
                    self.zero_lanes(part, chunk, ty.scalar, shape.size)
                } else {
                    part
                }
            })
            .collect();
        Ok(Repr::Vector(parts))
    }

    /// A vector of lanes of several registers, which may be longer than it is; `None` is any lane.
    pub fn collect_lanes(
        &mut self,
        wanted: &[Option<(VReg, u8)>],
        scalar: Scalar,
        size: Size,
    ) -> VReg {
        if !self.is_avx512() {
            return self.collect_by_blends(wanted, scalar, size);
        }
        let size = reach(wanted, scalar, size);
        let per = (size.bytes() / scalar.bytes()) as u8;
        let mut sources: SmallVec<[VReg; 4]> = smallvec![];
        for (reg, _) in wanted.iter().flatten() {
            if !sources.contains(reg) {
                sources.push(*reg);
            }
        }
        let Some((&first, rest)) = sources.split_first() else {
            return self.zero_vector(size);
        };
        let mut done = first;
        // Lanes of the first source are taken together with those of the second; then what is
        // there stays where it is.
        let groups: SmallVec<[Option<VReg>; 4]> = match rest {
            [] => smallvec![None],
            _ => rest.iter().map(|&reg| Some(reg)).collect(),
        };
        for (n, &source) in groups.iter().enumerate() {
            let lanes: Vec<Option<u8>> = wanted
                .iter()
                .enumerate()
                .map(|(at, lane)| {
                    let (reg, lane) = (*lane)?;
                    if Some(reg) == source {
                        Some(per + lane)
                    } else if n == 0 {
                        (reg == first).then_some(lane)
                    } else {
                        sources[..=n].contains(&reg).then_some(at as u8)
                    }
                })
                .collect();
            done = self.permute_two(done, source.unwrap_or(done), &lanes, scalar, size);
        }
        done
    }

    fn zero_lanes(&mut self, part: VReg, lanes: &[u8], scalar: Scalar, size: Size) -> VReg {
        let bits = lanes
            .iter()
            .enumerate()
            .filter(|&(_, &lane)| lane != 255)
            .fold(0u64, |bits, (n, _)| bits | 1 << n);
        let mask = self.constant_mask(bits, scalar, size);
        self.kept(scalar, size, mask, Rm::Reg(part))
    }

    /// The lane with this number, modulo the lane count, a power of two. Not of truth values.
    pub fn extract_dyn(&mut self, value: Value, number: Value) -> Result<Repr> {
        let ty = self.func.ty(value);
        if ty.lanes == 1 {
            return self.scalar(value).map(Repr::Scalar);
        }
        let shape = self.shape(ty);
        if !self.is_avx512() && ty.scalar != Scalar::I1 && ty.lanes.is_power_of_two() {
            return self.extract_from_memory(value, number);
        }
        if ty.scalar == Scalar::I1 || shape.count > 2 || !ty.lanes.is_power_of_two() {
            return Err(Diagnostic::new(format!("a variable lane of {ty}")));
        }
        let parts = self.parts(value)?;
        let number = self.scalar(number)?;
        let number = self.mi(Opcode::AndImm, Size::B32, number, i64::from(ty.lanes - 1));
        let index = self.rm(Opcode::Vmovd, Size::V128, number);
        let found = match parts[..] {
            [one] => self.permute_one(one, Rm::Reg(index), ty.scalar, shape.size),
            _ => self.permute_of(&parts, index, ty.scalar, shape.size),
        };
        Ok(Repr::Scalar(self.part_lane(found, 0, ty.scalar)))
    }

    fn permute_of(&mut self, parts: &Parts, index: VReg, scalar: Scalar, size: Size) -> VReg {
        let opcode = match scalar.bytes() {
            1 if !self.target.byte_permutes => {
                return self.permute_bytes_by(parts[0], Some(parts[1]), index, size);
            }
            1 => Opcode::Vpermt2b,
            2 => Opcode::Vpermt2w,
            4 => Opcode::Vpermt2d,
            _ => Opcode::Vpermt2q,
        };
        self.rvma(opcode, size, parts[0], index, parts[1])
    }

    /// Lane `l` is the lane that lane `l` of `numbers` says, or 0. Not for truth values.
    pub fn permute(&mut self, value: Value, numbers: Value, ty: Type) -> Result<Repr> {
        if !self.is_avx512() && ty.scalar != Scalar::I1 {
            return self.permute_words(value, numbers, ty);
        }
        let shape = self.shape(ty);
        if ty.scalar == Scalar::I1 || shape.count > 2 {
            return Err(Diagnostic::new(format!("a permutation of {ty}")));
        }
        let parts = self.parts(value)?;
        let limit = self.bits_operand(ty.lanes.into(), Scalar::I32, self.longest);
        let indexes = self.parts(numbers)?;
        let from = self.shape(self.func.ty(numbers));
        // Which numbers are those of lanes, in masks for as many lanes as the result's parts.
        let inside: Parts = indexes
            .iter()
            .map(|&index| self.rvmi(Opcode::Vpcmpud, from.size, index, limit, 1))
            .collect();
        let inside = self.mask_of(inside, from);
        let inside = self.regrouped(inside, shape);
        let sized = self.resized(indexes, ty.lanes, 32, ty.scalar.bits(), false);
        let done = (0..shape.count)
            .map(|n| {
                let found = match parts[..] {
                    [one] => self.permute_one(one, Rm::Reg(sized[n]), ty.scalar, shape.size),
                    _ => self.permute_of(&parts, sized[n], ty.scalar, shape.size),
                };
                self.kept(ty.scalar, shape.size, inside[n], Rm::Reg(found))
            })
            .collect();
        Ok(Repr::Vector(done))
    }
}

/// The size of vectors that have all lanes that are wanted, and are no shorter than `least`.
pub fn reach(wanted: &[Option<(VReg, u8)>], scalar: Scalar, least: Size) -> Size {
    let ends = wanted
        .iter()
        .flatten()
        .map(|&(_, lane)| u32::from(lane) + 1);
    let lanes = ends.max().unwrap_or(0);
    Size::of_bytes(least.bytes().max(lanes * scalar.bytes()))
}
