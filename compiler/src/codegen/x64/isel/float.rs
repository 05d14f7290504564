//! Arithmetic of floating-point numbers, of one lane and of many.

use regalloc2::VReg;
use smallvec::{SmallVec, smallvec};

use super::values::{Parts, Repr};
use super::{Diagnostic, Isel, Result};
use crate::codegen::x64::encoding::{Opcode, RoundingControl, Size};
use crate::codegen::x64::inst::Rm;
use crate::ir::{Arith, BinOp, FloatCC, Op, Rounding, Scalar, Type, UnOp, Value, eval};

/// Opcodes of an operation on ps, pd, ss and sd.
type Family = [Opcode; 4];

macro_rules! family {
    ($ps:ident $pd:ident $ss:ident $sd:ident) => {
        [Opcode::$ps, Opcode::$pd, Opcode::$ss, Opcode::$sd]
    };
}

fn member(family: Family, ty: Type) -> Opcode {
    let double = ty.scalar == Scalar::F64;
    family[usize::from(ty.lanes == 1) * 2 + usize::from(double)]
}

/// How a fused multiply-add signs its product and its sum.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Signs {
    product: bool,
    addend: bool,
}

impl Signs {
    /// Opcodes whose destination was a factor (213) and the addend (231).
    fn families(self) -> (Family, Family) {
        match (self.product, self.addend) {
            (false, false) => (
                family!(Vfmadd213ps Vfmadd213pd Vfmadd213ss Vfmadd213sd),
                family!(Vfmadd231ps Vfmadd231pd Vfmadd231ss Vfmadd231sd),
            ),
            (false, true) => (
                family!(Vfmsub213ps Vfmsub213pd Vfmsub213ss Vfmsub213sd),
                family!(Vfmsub231ps Vfmsub231pd Vfmsub231ss Vfmsub231sd),
            ),
            (true, false) => (
                family!(Vfnmadd213ps Vfnmadd213pd Vfnmadd213ss Vfnmadd213sd),
                family!(Vfnmadd231ps Vfnmadd231pd Vfnmadd231ss Vfnmadd231sd),
            ),
            (true, true) => (
                family!(Vfnmsub213ps Vfnmsub213pd Vfnmsub213ss Vfnmsub213sd),
                family!(Vfnmsub231ps Vfnmsub231pd Vfnmsub231ss Vfnmsub231sd),
            ),
        }
    }
}

impl From<Rounding> for RoundingControl {
    fn from(rounding: Rounding) -> RoundingControl {
        match rounding {
            Rounding::NearestEven => RoundingControl::Nearest,
            Rounding::Zero => RoundingControl::Zero,
            Rounding::Up => RoundingControl::Up,
            Rounding::Down => RoundingControl::Down,
        }
    }
}

impl Isel<'_> {
    /// The parts of floating-point numbers, one register for one lane.
    fn float_parts(&mut self, value: Value) -> Result<Parts> {
        if self.func.ty(value).lanes == 1 {
            return Ok(smallvec![self.scalar(value)?]);
        }
        self.parts(value)
    }

    /// The parts as operands that can be in memory.
    fn float_operands(&mut self, value: Value) -> Result<SmallVec<[Rm; 4]>> {
        if self.func.ty(value).lanes == 1 {
            return Ok(smallvec![self.scalar_rm(value)?]);
        }
        self.operands(value, true)
    }

    fn float_size(&self, ty: Type) -> Size {
        if ty.lanes == 1 {
            Size::V128
        } else {
            self.shape(ty).size
        }
    }

    /// What parts of this type are as a value.
    fn float_repr(&self, ty: Type, parts: Parts) -> Repr {
        match parts[..] {
            [one] if ty.lanes == 1 => Repr::Scalar(one),
            _ => Repr::Vector(parts),
        }
    }

    fn float_lanewise(&mut self, family: Family, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let size = self.float_size(ty);
        let opcode = member(family, ty);
        let left = self.float_parts(a)?;
        let right = self.float_operands(b)?;
        let parts = left
            .into_iter()
            .zip(right)
            .map(|(a, b)| self.rvm(opcode, size, a, b))
            .collect();
        Ok(self.float_repr(ty, parts))
    }

    pub fn float_binary(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Result<Repr> {
        match op {
            BinOp::FAdd => {
                let (a, b) = self.memory_second(a, b);
                self.float_lanewise(family!(Vaddps Vaddpd Vaddss Vaddsd), a, b, ty)
            }
            BinOp::FMul => {
                let (a, b) = self.memory_second(a, b);
                self.float_lanewise(family!(Vmulps Vmulpd Vmulss Vmulsd), a, b, ty)
            }
            BinOp::FSub => self.float_lanewise(family!(Vsubps Vsubpd Vsubss Vsubsd), a, b, ty),
            BinOp::FDiv => self.float_lanewise(family!(Vdivps Vdivpd Vdivss Vdivsd), a, b, ty),
            BinOp::FScale => {
                self.float_lanewise(family!(Vscalefps Vscalefpd Vscalefss Vscalefsd), a, b, ty)
            }
            BinOp::FMin | BinOp::FMax => self.float_min_max(op, a, b, ty),
            BinOp::CopySign => self.copy_sign(a, b, ty),
            other => Err(Diagnostic::new(format!(
                "`{}` is not selected",
                other.name()
            ))),
        }
    }

    /// `isnan(b) ? a : (a < b ? a : b)`, or with `>`. The instructions give the second operand
    /// when either is NaN.
    fn float_min_max(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let family = match op {
            BinOp::FMin => family!(Vminps Vminpd Vminss Vminsd),
            _ => family!(Vmaxps Vmaxpd Vmaxss Vmaxsd),
        };
        let is_number = self
            .func
            .as_const(b)
            .is_some_and(|bits| !eval::to_f64(ty.scalar, bits).is_nan());
        if is_number {
            return self.float_lanewise(family, a, b, ty);
        }
        let size = self.float_size(ty);
        let opcode = member(family, ty);
        let (left, right) = (self.float_parts(a)?, self.float_parts(b)?);
        let parts = left
            .into_iter()
            .zip(right)
            .map(|(a, b)| {
                let least = self.rvm(opcode, size, a, b);
                let nan = self.float_test(FloatCC::Uno, ty, size, b, b);
                self.blend(ty.scalar, size, nan, least, Rm::Reg(a))
            })
            .collect();
        Ok(self.float_repr(ty, parts))
    }

    /// The bits of one lane's sign, as an operand in memory for all lanes.
    fn sign(&mut self, scalar: Scalar, size: Size, inverted: bool) -> Rm {
        let sign = 1u64 << (scalar.bits() - 1);
        let bits = if inverted { scalar.mask() ^ sign } else { sign };
        self.bits_operand(bits, scalar, size)
    }

    fn copy_sign(&mut self, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let size = self.float_size(ty);
        let (left, right) = (self.float_parts(a)?, self.float_parts(b)?);
        let sign = self.sign(ty.scalar, size, false);
        if !self.is_avx512() {
            let magnitude = self.sign(ty.scalar, size, true);
            let parts = left
                .into_iter()
                .zip(right)
                .map(|(a, b)| {
                    let a = self.rvm(Opcode::Vpandd, size, a, magnitude);
                    let b = self.rvm(Opcode::Vpandd, size, b, sign);
                    self.rvm(Opcode::Vpord, size, a, b)
                })
                .collect();
            return Ok(self.float_repr(ty, parts));
        }
        let opcode = match ty.scalar {
            Scalar::F32 => Opcode::Vpternlogd,
            _ => Opcode::Vpternlogq,
        };
        let parts = left
            .into_iter()
            .zip(right)
            .map(|(a, b)| {
                // By the third operand's bits: of the second, else of the first.
                self.define(opcode, size, |plain| {
                    (plain.c, plain.a, plain.b, plain.imm) = (a, b, sign, 0xd8);
                })
            })
            .collect();
        Ok(self.float_repr(ty, parts))
    }

    pub fn float_unary(&mut self, op: UnOp, a: Value, ty: Type) -> Result<Repr> {
        let size = self.float_size(ty);
        let double = ty.scalar == Scalar::F64;
        let family = match op {
            UnOp::FNeg | UnOp::FAbs => {
                let bits = self.sign(ty.scalar, size, op == UnOp::FAbs);
                let opcode = match (op, double) {
                    (UnOp::FNeg, false) => Opcode::Vpxord,
                    (UnOp::FNeg, true) => Opcode::Vpxorq,
                    (_, false) => Opcode::Vpandd,
                    (_, true) => Opcode::Vpandq,
                };
                let parts = self.float_parts(a)?;
                let parts = parts
                    .into_iter()
                    .map(|part| self.rvm(opcode, size, part, bits))
                    .collect();
                return Ok(self.float_repr(ty, parts));
            }
            UnOp::Sqrt => family!(Vsqrtps Vsqrtpd Vsqrtss Vsqrtsd),
            UnOp::RecipEstimate => family!(Vrcp14ps Vrcp14pd Vrcp14ss Vrcp14sd),
            UnOp::RsqrtEstimate => family!(Vrsqrt14ps Vrsqrt14pd Vrsqrt14ss Vrsqrt14sd),
            UnOp::RoundEven | UnOp::Floor | UnOp::Ceil | UnOp::Trunc if self.is_avx512() => {
                family!(Vrndscaleps Vrndscalepd Vrndscaless Vrndscalesd)
            }
            UnOp::RoundEven | UnOp::Floor | UnOp::Ceil | UnOp::Trunc => {
                family!(Vroundps Vroundpd Vroundss Vroundsd)
            }
            other => {
                return Err(Diagnostic::new(format!(
                    "`{}` is not selected",
                    other.name()
                )));
            }
        };
        let opcode = member(family, ty);
        // Bit 3: no exception when the result is inexact.
        let imm = match op {
            UnOp::RoundEven => 0x8,
            UnOp::Floor => 0x9,
            UnOp::Ceil => 0xa,
            UnOp::Trunc => 0xb,
            _ => 0,
        };
        if ty.lanes == 1 {
            // The first operand is what the upper lanes become.
            let from = self.scalar(a)?;
            return Ok(Repr::Scalar(self.rvmi(opcode, size, from, from, imm)));
        }
        let from = self.operands(a, true)?;
        let parts = from.into_iter().map(|b| self.rmi(opcode, size, b, imm));
        Ok(Repr::Vector(parts.collect()))
    }

    /// The operand of a negation that is to be part of its user, or the value itself.
    fn without_sign(&self, value: Value) -> (Value, bool) {
        match self.deferred_op(value) {
            Some((Op::Unary(UnOp::FNeg), args)) => (args[0], true),
            _ => (value, false),
        }
    }

    pub fn fma(&mut self, args: &[Value], ty: Type) -> Result<Repr> {
        if ty.scalar == Scalar::F16 {
            return Err(Diagnostic::new("half-precision `fma` is not selected"));
        }
        let ((a, minus_a), (b, minus_b), (c, minus_c)) = (
            self.without_sign(args[0]),
            self.without_sign(args[1]),
            self.without_sign(args[2]),
        );
        let signs = Signs {
            product: minus_a != minus_b,
            addend: minus_c,
        };
        let (of_factor, of_addend) = signs.families();
        let size = self.float_size(ty);
        let (a, b) = self.memory_second(a, b);
        let in_memory = |value| {
            matches!(self.values[value], Repr::Constant(_))
                || matches!(self.deferred_op(value), Some((Op::Load(_) | Op::Splat, _)))
        };
        // The register of a value that nothing else uses is best overwritten.
        let last_use = |value| self.deferral.uses[value] == 1;
        let (a, b) = match last_use(b) && !last_use(a) && !in_memory(b) {
            true => (b, a),
            false => (a, b),
        };
        let overwrite_factor = !in_memory(b) && (in_memory(c) || (last_use(a) && !last_use(c)));
        if overwrite_factor {
            let (factor, other) = (self.float_parts(a)?, self.float_parts(b)?);
            let addend = self.float_operands(c)?;
            let opcode = member(of_factor, ty);
            let parts = (0..factor.len())
                .map(|n| self.rvma(opcode, size, factor[n], other[n], addend[n]))
                .collect();
            return Ok(self.float_repr(ty, parts));
        }
        let (addend, left) = (self.float_parts(c)?, self.float_parts(a)?);
        let right = self.float_operands(b)?;
        let opcode = member(of_addend, ty);
        let parts = (0..addend.len())
            .map(|n| self.rvma(opcode, size, addend[n], left[n], right[n]))
            .collect();
        Ok(self.float_repr(ty, parts))
    }

    /// Arithmetic with a rounding mode of its own, which the encoding has for scalars and for
    /// vectors of 512 bits. Shorter vectors are computed as such.
    pub fn rounded(
        &mut self,
        op: Arith,
        rounding: Rounding,
        args: &[Value],
        ty: Type,
    ) -> Result<Repr> {
        if ty.scalar == Scalar::F16 {
            return Err(Diagnostic::new("half-precision arithmetic is not selected"));
        }
        let size = if ty.lanes == 1 {
            Size::V128
        } else {
            Size::V512
        };
        let family = match op {
            Arith::FAdd => family!(Vaddps Vaddpd Vaddss Vaddsd),
            Arith::FSub => family!(Vsubps Vsubpd Vsubss Vsubsd),
            Arith::FMul => family!(Vmulps Vmulpd Vmulss Vmulsd),
            Arith::FDiv => family!(Vdivps Vdivpd Vdivss Vdivsd),
            Arith::Sqrt => family!(Vsqrtps Vsqrtpd Vsqrtss Vsqrtsd),
            Arith::Fma => family!(Vfmadd231ps Vfmadd231pd Vfmadd231ss Vfmadd231sd),
        };
        let opcode = member(family, ty);
        let operands: SmallVec<[Parts; 3]> = args
            .iter()
            .map(|&arg| self.float_parts(arg))
            .collect::<Result<_>>()?;
        let scalar = ty.lanes == 1;
        let parts = (0..operands[0].len())
            .map(|n| {
                let part = |k: usize| -> VReg { operands[k][n] };
                self.define(opcode, size, |plain| {
                    plain.rounding = Some(rounding.into());
                    match op {
                        Arith::Sqrt if scalar => (plain.a, plain.b) = (part(0), Rm::Reg(part(0))),
                        Arith::Sqrt => plain.b = Rm::Reg(part(0)),
                        Arith::Fma => {
                            (plain.a, plain.b, plain.c) = (part(0), Rm::Reg(part(1)), part(2));
                        }
                        _ => (plain.a, plain.b) = (part(0), Rm::Reg(part(1))),
                    }
                })
            })
            .collect();
        Ok(self.float_repr(ty, parts))
    }

    /// `p < q ? p : q` and the like are what `min` and `max` do, which give the second operand
    /// where the comparison does not hold.
    fn select_of_comparison(
        &mut self,
        cond: Value,
        a: Value,
        b: Value,
        ty: Type,
    ) -> Result<Option<Repr>> {
        let Some((Op::FCmp(cc), &[p, q])) = self.deferred_op(cond) else {
            return Ok(None);
        };
        let less = match cc {
            FloatCC::Olt => true,
            FloatCC::Ogt => false,
            _ => return Ok(None),
        };
        let family = match (a == p && b == q, a == q && b == p) {
            (true, _) if less => family!(Vminps Vminpd Vminss Vminsd),
            (true, _) => family!(Vmaxps Vmaxpd Vmaxss Vmaxsd),
            (_, true) if less => family!(Vmaxps Vmaxpd Vmaxss Vmaxsd),
            (_, true) => family!(Vminps Vminpd Vminss Vminsd),
            _ => return Ok(None),
        };
        self.float_lanewise(family, a, b, ty).map(Some)
    }

    pub fn select(&mut self, args: &[Value], ty: Type) -> Result<Repr> {
        let &[cond, a, b] = args else {
            unreachable!("three operands");
        };
        if let Some(chosen) = self.select_of_comparison(cond, a, b, ty)? {
            return Ok(chosen);
        }
        if ty.lanes == 1 {
            return self.scalar_select(cond, a, b, ty);
        }
        if ty.scalar == Scalar::I1 {
            let mask = self.mask_of_any(cond, ty.lanes)?;
            return self.select_masks(&mask, a, b);
        }
        let shape = self.shape(ty);
        let mask = self.mask_for(cond, shape)?;
        // What is chosen can be in memory; zeros come from the mask itself.
        if self.func.as_const(b) == Some(0) {
            let yes = self.operands(a, false)?;
            let parts = (0..shape.count).map(|n| self.kept(ty.scalar, shape.size, mask[n], yes[n]));
            return Ok(Repr::Vector(parts.collect()));
        }
        let no = self.parts(b)?;
        let yes = self.operands(a, true)?;
        let parts =
            (0..shape.count).map(|n| self.blend(ty.scalar, shape.size, mask[n], no[n], yes[n]));
        Ok(Repr::Vector(parts.collect()))
    }
}
