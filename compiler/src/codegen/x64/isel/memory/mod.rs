//! Loads, stores, copies and atomics.
//!
//! Lanes that a mask leaves out touch no memory: masked moves, gathers and scatters do not fault
//! there.
//!
//! - `mod.rs`: which way an access goes; accesses of one lane.
//! - `strided.rs`: one address and a distance between lanes; `narrow.rs`: of 8 and 16 bits, where
//!   there is no masked access of them.
//! - `rows.rs`: several elements of each lane, moved by whole vectors.
//! - `gather.rs`: an address for each lane.
//! - `each.rs`: lanes that are accessed one by one, where there is no instruction for all.
//! - `atomic.rs`: atomics of one lane, and fences.

mod atomic;
mod each;
mod gather;
mod narrow;
mod rows;
mod strided;

use regalloc2::VReg;
use smallvec::SmallVec;

use super::deferral::Update;
use super::values::{Parts, Repr};
use super::{Diagnostic, Isel, Result};
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{Amode, NONE, Rm, VECTOR};
use crate::ir::{BinOp, Inst, Mem, Scalar, Type, Value};

/// An access by many lanes.
#[derive(Clone, Copy, Debug)]
struct Access {
    /// Of each element.
    ty: Type,
    /// Elements of a lane, next to each other.
    elements: usize,
    /// Bytes from one lane to the next, where the address is one lane's.
    stride: i64,
    /// Of each lane's address, where each has its own.
    align: u32,
}

impl Access {
    fn size(self) -> i64 {
        i64::from(self.ty.scalar.bytes())
    }
}

impl Isel<'_> {
    pub fn load(&mut self, mem: &Mem, inst: Inst) -> Result<()> {
        let data = &self.func.insts[inst];
        let results = data.results.clone();
        let (places, mask) = data.args.split_at(mem.places());
        let (address, mask) = (places[0], mask.first().copied());
        let ty = self.func.ty(results[0]);
        let access = Access {
            ty: in_memory(ty),
            elements: results.len(),
            stride: mem.stride,
            align: mem.align,
        };
        if ty.lanes == 1 {
            if mask.is_some() {
                return Err(Diagnostic::new("a masked load of one lane"));
            }
            let base = self.amode(address)?;
            for (n, &result) in results.iter().enumerate() {
                let at = self.further(base, n as i64 * access.size());
                self.values[result] = Repr::Scalar(self.load_scalar(at, ty.scalar));
            }
            return Ok(());
        }
        let elements = if mem.stride != 0 {
            self.load_strided(address, mask, access)?
        } else {
            self.gather(mem, places, mask, access)?
        };
        for (&result, parts) in results.iter().zip(elements) {
            self.values[result] = self.loaded(parts, ty);
        }
        Ok(())
    }

    /// The address some bytes further.
    fn further(&mut self, amode: Amode, bytes: i64) -> Amode {
        if let Some(amode) = amode.offset(bytes) {
            return amode;
        }
        let base = self.lea(amode);
        let offset = self.int_constant(bytes as u64);
        Amode {
            index: offset,
            ..Amode::base(base)
        }
    }

    /// A vector, or some lanes of it and zeros. Lanes of 8 and 16 bits have masks in mask registers
    /// only.
    fn load_part(&mut self, scalar: Scalar, size: Size, at: Amode, mask: Option<VReg>) -> VReg {
        let Some(mask) = mask else {
            return self.rm(Opcode::Vmovdqu64, size, at);
        };
        match (mask.class() == VECTOR, scalar.bytes()) {
            (false, _) => self.kept(scalar, size, mask, Rm::Mem(at)),
            (true, 4) => self.rvm(Opcode::Vpmaskmovd, size, mask, at),
            (true, _) => self.rvm(Opcode::Vpmaskmovq, size, mask, at),
        }
    }

    /// Stores a vector, or some lanes of it.
    fn store_part(
        &mut self,
        scalar: Scalar,
        size: Size,
        at: Amode,
        part: VReg,
        mask: Option<VReg>,
    ) {
        let lanes = mask.is_some_and(|mask| mask.class() == VECTOR);
        let opcode = match (lanes, scalar.bytes()) {
            (false, 1) => Opcode::Vmovdqu8Store,
            (false, 2) => Opcode::Vmovdqu16Store,
            (false, 4) => Opcode::Vmovdqu32Store,
            (false, _) => Opcode::Vmovdqu64Store,
            (true, 4) => Opcode::VpmaskmovdStore,
            (true, _) => Opcode::VpmaskmovqStore,
        };
        self.perform(opcode, size, |plain| {
            (plain.a, plain.b) = (part, Rm::Mem(at));
            plain.mask = mask.unwrap_or(NONE);
        });
    }

    pub(super) fn load_scalar(&mut self, at: Amode, scalar: Scalar) -> VReg {
        match scalar {
            Scalar::F32 => self.rm(Opcode::Vmovss, Size::V128, at),
            Scalar::F64 => self.rm(Opcode::Vmovsd, Size::V128, at),
            _ => match scalar.bytes() {
                1 => self.rm(Opcode::Movzx8, Size::B32, at),
                2 => self.rm(Opcode::Movzx16, Size::B32, at),
                4 => self.rm(Opcode::Mov, Size::B32, at),
                _ => self.rm(Opcode::Mov, Size::B64, at),
            },
        }
    }

    fn store_scalar(&mut self, at: Amode, reg: VReg, scalar: Scalar) {
        match scalar {
            Scalar::F32 => self.mr(Opcode::VmovssStore, Size::V128, at, reg),
            Scalar::F64 => self.mr(Opcode::VmovsdStore, Size::V128, at, reg),
            _ => {
                self.mr(Opcode::MovStore, integer_size(scalar), at, reg);
            }
        }
    }

    /// What elements in memory are as a value: truth values are bytes there.
    fn loaded(&mut self, parts: Parts, ty: Type) -> Repr {
        if ty.scalar != Scalar::I1 {
            return Repr::Vector(parts);
        }
        let shape = self.shape(in_memory(ty));
        Repr::Mask(self.nonzero_bytes(&parts, shape))
    }

    /// `[address] = [address] op other`, of one lane.
    fn update(&mut self, update: Update, address: Value, scalar: Scalar) -> Result<()> {
        let Update { op, other } = update;
        let size = integer_size(scalar);
        let immediate = self.immediate(other);
        let value = match immediate {
            Some(_) => NONE,
            None => self.scalar(other)?,
        };
        let at = self.amode(address)?;
        let (by_register, by_immediate) = match op {
            BinOp::IAdd => (Opcode::AddStore, Opcode::AddImm),
            BinOp::ISub => (Opcode::SubStore, Opcode::SubImm),
            BinOp::And => (Opcode::AndStore, Opcode::AndImm),
            BinOp::Or => (Opcode::OrStore, Opcode::OrImm),
            BinOp::Xor => (Opcode::XorStore, Opcode::XorImm),
            other => unreachable!("`{}` is not done in memory", other.name()),
        };
        match immediate {
            Some(imm) => self.test_imm(by_immediate, size, at, imm),
            None => self.mr(by_register, size, at, value),
        }
        Ok(())
    }

    pub fn store(&mut self, mem: &Mem, inst: Inst) -> Result<()> {
        let args = self.func.insts[inst].args.as_slice();
        if let Some(update) = self.deferral.updates[inst] {
            return self.update(update, args[0], self.func.ty(args[1]).scalar);
        }
        let (places, values, mask) = mem.operands_of_store(args);
        let address = places[0];
        let scalar = self.func.ty(values[0]).scalar;
        let lanes = args.iter().map(|&v| self.func.ty(v).lanes).max();
        let lanes = lanes.expect("an address");
        let ty = Type::new(scalar, lanes);
        let access = Access {
            ty: in_memory(ty),
            elements: values.len(),
            stride: mem.stride,
            align: mem.align,
        };
        if lanes == 1 {
            if mask.is_some() {
                return Err(Diagnostic::new("a masked store of one lane"));
            }
            let regs: SmallVec<[VReg; 4]> = values
                .iter()
                .map(|&value| self.scalar(value))
                .collect::<Result<_>>()?;
            let base = self.amode(address)?;
            for (n, &reg) in regs.iter().enumerate() {
                let at = self.further(base, n as i64 * access.size());
                self.store_scalar(at, reg, scalar);
            }
            return Ok(());
        }
        let parts: Vec<Parts> = values
            .iter()
            .map(|&value| self.stored(value, access.ty))
            .collect::<Result<_>>()?;
        if mem.stride != 0 {
            self.store_strided(address, &parts, mask, access)
        } else {
            self.scatter(mem, places, &parts, mask, access)
        }
    }

    /// The parts of a value as it is in memory: truth values as bytes of 0 and 1, scalars in every
    /// lane.
    fn stored(&mut self, value: Value, in_memory: Type) -> Result<Parts> {
        let ty = self.func.ty(value);
        if ty.scalar == Scalar::I1 {
            let mask = self.mask_of_any(value, in_memory.lanes)?;
            return Ok(self.truth_bytes(mask, in_memory));
        }
        if ty.lanes > 1 {
            return self.parts(value);
        }
        match self.splat(value, in_memory)? {
            Repr::Vector(parts) => Ok(parts),
            Repr::Constant(bits) => {
                let shape = self.shape(in_memory);
                let part = self.vector_constant(bits, in_memory.scalar, shape.size);
                Ok(SmallVec::from_elem(part, shape.count))
            }
            other => unreachable!("{value} is {other:?}"),
        }
    }
}

/// How much an instruction on general registers accesses.
fn integer_size(scalar: Scalar) -> Size {
    match scalar.bytes() {
        1 => Size::B8,
        2 => Size::B16,
        4 => Size::B32,
        _ => Size::B64,
    }
}

/// A type as it is in memory, where truth values are bytes.
fn in_memory(ty: Type) -> Type {
    match ty.scalar {
        Scalar::I1 => Type::new(Scalar::I8, ty.lanes),
        _ => ty,
    }
}
