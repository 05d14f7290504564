//! Calls of the host, by the System V ABI.

use regalloc2::VReg;
use smallvec::SmallVec;

use super::control::ARGUMENTS;
use super::values::Repr;
use super::{Isel, Result};
use crate::codegen::Symbol;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{Amode, Call, Inst, RAX, VECTOR, gpr, zmm};
use crate::ir::{Type, Value};

impl Isel<'_> {
    pub fn address_of(&mut self, symbol: Symbol) -> VReg {
        let at = Amode::pool(self.pool.place_address(symbol));
        self.define(Opcode::Mov, Size::B64, |plain| plain.b = at.into())
    }

    /// Calls a function with operands of one lane.
    pub fn call(
        &mut self,
        target: VReg,
        args: &[Value],
        result: Option<Type>,
        preserves: bool,
    ) -> Result<Repr> {
        let regs: SmallVec<[VReg; 6]> = args
            .iter()
            .map(|&arg| self.scalar(arg))
            .collect::<Result<_>>()?;
        let (mut integers, mut floats) = (ARGUMENTS.into_iter(), 0..8);
        let uses = regs
            .into_iter()
            .map(|reg| {
                let place = if reg.class() == VECTOR {
                    floats.next().map(zmm)
                } else {
                    integers.next().map(gpr)
                };
                (reg, place.expect("no more arguments than registers"))
            })
            .collect();
        let result = result.map(|ty| {
            let class = Self::class(ty.scalar);
            let place = if class == VECTOR { zmm(0) } else { gpr(RAX) };
            (self.m.vreg(class), place)
        });
        self.m.push(Inst::Call(Box::new(Call {
            target,
            preserves,
            uses,
            result,
        })));
        Ok(match result {
            Some((reg, _)) => Repr::Scalar(reg),
            None => Repr::None,
        })
    }
}
