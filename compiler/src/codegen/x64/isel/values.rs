//! What values are in registers, and how a use gets them.

use regalloc2::{RegClass, VReg};
use smallvec::{SmallVec, smallvec};

use super::{Isel, Result};
use crate::codegen::Symbol;
use crate::codegen::frame::{Base as FrameBase, Place};
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::{Amode, Base, GENERAL, NONE, Rm, VECTOR};
use crate::ir::{BinOp, ConvertOp, Inst, Op, Scalar, Type, Value};

pub type Parts = SmallVec<[VReg; 4]>;

/// A value whose instruction has been come to.
#[derive(Clone, Debug, Default)]
pub enum Repr {
    #[default]
    None,
    /// To be selected by its only user.
    Deferred(Inst),
    /// These bits, in every lane; what holds them is made at each use.
    Constant(u64),
    /// Loaded at each use.
    Address(Symbol),
    /// One lane: floating-point numbers of 32 and 64 bits in vector registers, others in general
    /// ones, where bits above the type's are arbitrary. A truth value is 0 or 1 in 32 bits.
    Scalar(VReg),
    /// Vector registers. Where they have more lanes than the value, the others are arbitrary.
    Vector(Parts),
    /// Mask registers, or vector registers of lanes of ones and zeros.
    Mask(Mask),
}

/// A truth value of many lanes.
#[derive(Clone, Debug)]
pub struct Mask {
    /// Lanes of each part.
    pub lanes: u8,
    /// Of each lane; 1 in mask registers.
    pub bits: u32,
    pub parts: Parts,
}

/// How a vector value is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Of each part.
    pub size: Size,
    /// Parts.
    pub count: usize,
    /// Lanes of the value in each part.
    pub lanes: u8,
    /// Of each lane.
    pub bits: u32,
}

impl Isel<'_> {
    /// The layout of a vector value that is not a truth value.
    pub fn shape(&self, ty: Type) -> Shape {
        self.shape_of(ty.lanes, ty.scalar.bits())
    }

    pub fn shape_of(&self, lanes: u8, bits: u32) -> Shape {
        let total = u32::from(lanes) * bits / 8;
        let longest = self.longest.bytes();
        if total <= longest {
            return Shape {
                size: Size::of_bytes(total.max(16)),
                count: 1,
                lanes,
                bits,
            };
        }
        Shape {
            size: self.longest,
            count: total.div_ceil(longest) as usize,
            lanes: (longest * 8 / bits) as u8,
            bits,
        }
    }

    /// The register class of one lane.
    pub fn class(scalar: Scalar) -> RegClass {
        match scalar {
            Scalar::F32 | Scalar::F64 => VECTOR,
            _ => GENERAL,
        }
    }

    /// The value's instruction, if it is to be selected by its user.
    pub fn deferred(&self, value: Value) -> Option<Inst> {
        match self.values[value] {
            Repr::Deferred(inst) => Some(inst),
            _ => None,
        }
    }

    /// The operation and operands of a value's instruction, if it is to be selected by its user.
    pub fn deferred_op(&self, value: Value) -> Option<(&Op, &[Value])> {
        let data = &self.func.insts[self.deferred(value)?];
        Some((&data.op, &data.args))
    }

    /// The value with its instruction selected.
    fn repr(&mut self, value: Value) -> Result<Repr> {
        if let Some(inst) = self.deferred(value) {
            if self.deferral.repeated[inst] {
                let amode = self.amode(value)?;
                return Ok(Repr::Scalar(self.lea(amode)));
            }
            self.inst(inst)?;
        }
        Ok(match &self.values[value] {
            Repr::None => match self.frame.places[value] {
                Some(place) => {
                    let amode = self.place(place)?;
                    Repr::Scalar(self.lea(amode))
                }
                None => unreachable!("{value} is used before it is defined"),
            },
            known => known.clone(),
        })
    }

    /// One lane in a register.
    pub fn scalar(&mut self, value: Value) -> Result<VReg> {
        let scalar = self.func.ty(value).scalar;
        Ok(match self.repr(value)? {
            Repr::Scalar(reg) => reg,
            Repr::Constant(bits) => self.scalar_constant(bits, scalar),
            Repr::Address(symbol) => self.address_of(symbol),
            other => unreachable!("{value} is {other:?}, not a scalar"),
        })
    }

    pub fn scalar_constant(&mut self, bits: u64, scalar: Scalar) -> VReg {
        match scalar {
            Scalar::F32 | Scalar::F64 if bits == 0 => self.zero_vector(Size::V128),
            Scalar::F32 => {
                let at = self.pool.place(&(bits as u32).to_le_bytes());
                self.rm(Opcode::Vmovss, Size::V128, Amode::pool(at))
            }
            Scalar::F64 => {
                let at = self.pool.place(&bits.to_le_bytes());
                self.rm(Opcode::Vmovsd, Size::V128, Amode::pool(at))
            }
            _ => self.int_constant(bits),
        }
    }

    /// One lane as an operand that can be in memory.
    pub fn scalar_rm(&mut self, value: Value) -> Result<Rm> {
        let ty = self.func.ty(value);
        if let Some(amode) = self.folded_load(value, ty)? {
            return Ok(Rm::Mem(amode));
        }
        if let (Repr::Constant(bits), VECTOR) = (&self.values[value], Self::class(ty.scalar)) {
            let bytes = bits.to_le_bytes();
            let at = self.pool.place(&bytes[..ty.scalar.bytes() as usize]);
            return Ok(Rm::Mem(Amode::pool(at)));
        }
        Ok(Rm::Reg(self.scalar(value)?))
    }

    /// The address of a load that is to be part of its user, of a whole vector or of one lane.
    pub fn folded_load(&mut self, value: Value, ty: Type) -> Result<Option<Amode>> {
        let Some((Op::Load(mem), args)) = self.deferred_op(value) else {
            return Ok(None);
        };
        let (stride, address) = (mem.stride, args[0]);
        if ty.scalar == Scalar::I1 || self.func.ty(address).lanes > 1 {
            return Ok(None);
        }
        if ty.lanes > 1 {
            let whole = u32::from(ty.lanes) * ty.scalar.bytes();
            let fits = whole >= 16 && whole <= self.longest.bytes();
            if !fits || stride != i64::from(ty.scalar.bytes()) {
                return Ok(None);
            }
        }
        self.amode(address).map(Some)
    }

    /// A constant that fits in an instruction.
    pub fn immediate(&self, value: Value) -> Option<i64> {
        let Repr::Constant(bits) = self.values[value] else {
            return None;
        };
        let unused = 64 - self.func.ty(value).scalar.bits();
        let signed = ((bits << unused) as i64) >> unused;
        i32::try_from(signed).is_ok().then_some(signed)
    }

    /// Operands that may change places, so that the second can be in memory rather than the first.
    /// Of two vectors that are in registers that is the older one: it is more likely to be spilled.
    pub fn memory_second(&self, a: Value, b: Value) -> (Value, Value) {
        let foldable = |value| {
            matches!(self.values[value], Repr::Constant(_))
                || matches!(self.deferred_op(value), Some((Op::Load(_) | Op::Splat, _)))
        };
        let exchange = match (&self.values[a], &self.values[b]) {
            (Repr::Vector(a), Repr::Vector(b)) => a[0].vreg() < b[0].vreg(),
            _ => foldable(a) && !foldable(b),
        };
        if exchange { (b, a) } else { (a, b) }
    }

    /// The parts of a vector value, in registers.
    pub fn parts(&mut self, value: Value) -> Result<Parts> {
        let ty = self.func.ty(value);
        Ok(match self.repr(value)? {
            Repr::Vector(parts) => parts,
            Repr::Constant(bits) => {
                let shape = self.shape(ty);
                let part = self.vector_constant(bits, ty.scalar, shape.size);
                smallvec![part; shape.count]
            }
            other => unreachable!("{value} is {other:?}, not a vector"),
        })
    }

    /// The parts of a vector value as operands that can be in memory. With `broadcast`, elements
    /// of 4 and 8 bytes may be there once for all lanes.
    pub fn operands(&mut self, value: Value, broadcast: bool) -> Result<SmallVec<[Rm; 4]>> {
        let ty = self.func.ty(value);
        let shape = self.shape(ty);
        let size = ty.scalar.bytes();
        let broadcast = broadcast && size >= 4 && self.has_embedded_broadcast();
        if let Repr::Constant(bits) = self.values[value]
            && (bits != 0)
        {
            let rm = if broadcast {
                Rm::Broadcast(self.lane_in_pool(bits, ty.scalar))
            } else {
                let lane = &bits.to_le_bytes()[..size as usize];
                let whole = lane.repeat((shape.size.bytes() / size) as usize);
                Rm::Mem(Amode::pool(self.pool.place(&whole)))
            };
            return Ok(smallvec![rm; shape.count]);
        }
        if let Some((Op::Splat, args)) = self.deferred_op(value)
            && broadcast
        {
            let scalar = args[0];
            if let Some(amode) = self.folded_load(scalar, self.func.ty(scalar))? {
                return Ok(smallvec![Rm::Broadcast(amode); shape.count]);
            }
        }
        if shape.count == 1
            && let Some(amode) = self.folded_load(value, ty)?
        {
            return Ok(smallvec![Rm::Mem(amode)]);
        }
        Ok(self.parts(value)?.into_iter().map(Rm::Reg).collect())
    }

    /// Lanes that all hold `bits`.
    pub fn vector_constant(&mut self, bits: u64, scalar: Scalar, size: Size) -> VReg {
        self.note(size);
        let bits = bits & scalar.mask();
        if bits == 0 {
            return self.zero_vector(size);
        }
        if bits == scalar.mask() {
            return self.ones_vector(size);
        }
        let at = self.lane_in_pool(bits, scalar);
        let opcode = match scalar.bytes() {
            1 => Opcode::Vpbroadcastb,
            2 => Opcode::Vpbroadcastw,
            4 => Opcode::Vpbroadcastd,
            _ => Opcode::Vpbroadcastq,
        };
        self.rm(opcode, size, at)
    }

    /// Where one lane with these bits is in the pool.
    pub fn lane_in_pool(&mut self, bits: u64, scalar: Scalar) -> Amode {
        let bytes = bits.to_le_bytes();
        Amode::pool(self.pool.place(&bytes[..scalar.bytes() as usize]))
    }

    /// An operand in a vector register.
    pub fn in_vector(&mut self, operand: Rm, size: Size) -> VReg {
        match operand {
            Rm::Reg(reg) => reg,
            memory => self.rm(Opcode::Vmovdqu64, size, memory),
        }
    }

    /// A vector with these lanes, from the pool.
    pub fn lanes_constant(&mut self, lanes: &[u64], scalar: Scalar, size: Size) -> VReg {
        let amode = self.lanes_in_pool(lanes, scalar, size);
        self.rm(Opcode::Vmovdqu64, size, amode)
    }

    /// Where a vector with these lanes is in the pool.
    pub fn lanes_in_pool(&mut self, lanes: &[u64], scalar: Scalar, size: Size) -> Amode {
        let bytes = scalar.bytes() as usize;
        let mut whole: Vec<u8> = lanes
            .iter()
            .flat_map(|lane| lane.to_le_bytes().into_iter().take(bytes))
            .collect();
        whole.resize(size.bytes() as usize, 0);
        Amode::pool(self.pool.place(&whole))
    }

    /// An address as an operand in memory has it.
    pub fn amode(&mut self, address: Value) -> Result<Amode> {
        if let Some(place) = self.frame.places[address] {
            return self.place(place);
        }
        if let Some((Op::PtrAdd, &[pointer, bytes])) = self.deferred_op(address) {
            return self.sum(pointer, bytes);
        }
        Ok(Amode::base(self.scalar(address)?))
    }

    /// Where a private variable is.
    fn place(&mut self, place: Place) -> Result<Amode> {
        Ok(match place.base {
            FrameBase::Stack => Amode::frame(place.offset),
            FrameBase::Scratch(scratch) => Amode {
                disp: place.offset,
                ..Amode::base(self.scalar(scratch)?)
            },
        })
    }

    /// The address that is so many bytes from a pointer.
    pub fn sum(&mut self, pointer: Value, bytes: Value) -> Result<Amode> {
        let base = self.amode(pointer)?;
        if let Some(offset) = self.immediate(bytes)
            && let Some(amode) = base.offset(offset)
        {
            return Ok(amode);
        }
        let base = if base.index == NONE {
            base
        } else {
            Amode::base(self.lea(base))
        };
        let (index, shift) = self.scaled(bytes)?;
        Ok(Amode {
            index,
            shift,
            ..base
        })
    }

    /// An offset as an index and by how much it is shifted.
    fn scaled(&mut self, bytes: Value) -> Result<(VReg, u8)> {
        if let Some((Op::Binary(op, _), &[index, by])) = self.deferred_op(bytes) {
            let by = self.func.as_const(by);
            let shift = match op {
                BinOp::Shl => by,
                BinOp::IMul => by
                    .filter(|n| n.is_power_of_two())
                    .map(|n| n.trailing_zeros().into()),
                _ => None,
            };
            if let Some(shift @ 0..=3) = shift {
                return Ok((self.scalar(index)?, shift as u8));
            }
        }
        Ok((self.scalar(bytes)?, 0))
    }

    pub fn ptr_add(&mut self, pointer: Value, bytes: Value, ty: Type) -> Result<Repr> {
        if ty.lanes == 1 {
            let amode = self.sum(pointer, bytes)?;
            return Ok(Repr::Scalar(self.lea(amode)));
        }
        if self.func.ty(pointer).lanes == 1 {
            let base = self.scalar(pointer)?;
            let shape = self.shape(ty);
            let base = self.broadcast(Rm::Reg(base), Scalar::I64, shape.size);
            let offsets = self.operands(bytes, true)?;
            let parts = offsets
                .into_iter()
                .map(|offset| self.rvm(Opcode::Vpaddq, shape.size, base, offset));
            return Ok(Repr::Vector(parts.collect()));
        }
        if self.func.ty(bytes).lanes == 1 {
            let offset = self.scalar(bytes)?;
            let shape = self.shape(ty);
            let offset = self.broadcast(Rm::Reg(offset), Scalar::I64, shape.size);
            let pointers = self.parts(pointer)?;
            let parts = pointers
                .into_iter()
                .map(|pointer| self.rvm(Opcode::Vpaddq, shape.size, pointer, offset));
            return Ok(Repr::Vector(parts.collect()));
        }
        self.lanewise_integer(Opcode::Vpaddq, pointer, bytes, ty)
    }

    /// An address in a register.
    pub fn lea(&mut self, amode: Amode) -> VReg {
        match amode {
            Amode {
                base: Base::Reg(reg),
                index: NONE,
                disp: 0,
                ..
            } => reg,
            _ => self.rm(Opcode::Lea, Size::B64, amode),
        }
    }

    /// A one-lane truth value as 0 or 1, of flags.
    pub fn set_if(&mut self, cc: Cc) -> VReg {
        let byte = self.define(Opcode::Setcc, Size::B8, |plain| plain.imm = cc as i64);
        self.rm(Opcode::Movzx8, Size::B32, byte)
    }

    /// A scalar in every lane.
    pub fn splat(&mut self, value: Value, ty: Type) -> Result<Repr> {
        if ty.scalar == Scalar::I1 {
            let bit = self.scalar(value)?;
            let shape = self.mask_shape(ty.lanes);
            let parts = self.splat_mask(bit, shape);
            return Ok(Repr::Mask(self.mask_of(parts, shape)));
        }
        if let Repr::Constant(bits) = self.values[value] {
            return Ok(Repr::Constant(bits));
        }
        let shape = self.shape(ty);
        let scalar = self.func.ty(value);
        let from: Rm = match self.folded_load(value, scalar)? {
            Some(amode) => Rm::Mem(amode),
            None => Rm::Reg(self.scalar(value)?),
        };
        let part = self.broadcast(from, ty.scalar, shape.size);
        Ok(Repr::Vector(smallvec![part; shape.count]))
    }

    /// One element of a register or of memory in every lane.
    pub fn broadcast(&mut self, from: Rm, scalar: Scalar, size: Size) -> VReg {
        let mut from = from;
        if let Rm::Reg(reg) = from
            && reg.class() == GENERAL
            && !self.is_avx512()
        {
            from = Rm::Reg(self.low_lane(reg, scalar));
        }
        let in_general = matches!(from, Rm::Reg(reg) if reg.class() == GENERAL);
        let opcode = match (scalar.bytes(), in_general) {
            (1, false) => Opcode::Vpbroadcastb,
            (2, false) => Opcode::Vpbroadcastw,
            (4, false) => Opcode::Vpbroadcastd,
            (_, false) => Opcode::Vpbroadcastq,
            (1, true) => Opcode::VpbroadcastbGeneral,
            (2, true) => Opcode::VpbroadcastwGeneral,
            (4, true) => Opcode::VpbroadcastdGeneral,
            (_, true) => Opcode::VpbroadcastqGeneral,
        };
        self.rm(opcode, size, from)
    }

    /// 32 or 64 bits of a one-lane integer, extended.
    pub fn extended(&mut self, value: Value, signed: bool) -> Result<VReg> {
        let scalar = self.func.ty(value).scalar;
        let op = if signed {
            ConvertOp::SExt
        } else {
            ConvertOp::ZExt
        };
        match scalar.bits() {
            8 | 16 => {
                let from = self.scalar_rm(value)?;
                Ok(self.extend(op, from, scalar, Scalar::I32))
            }
            _ => self.scalar(value),
        }
    }
}
