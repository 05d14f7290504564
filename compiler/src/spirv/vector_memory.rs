//! The vector loads and stores of `OpenCL.std`, plain and to and from half precision.
//!
//! "Vector Data Load and Store Functions": the address is a multiple of the element's own size
//! only, and of the whole vector's for the `vloada` and `vstorea` forms, in which a vector of three
//! takes the room of four.

use rspirv::spirv::OpenclStd100Op as Std;

use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::rules::REQUIRED;
use crate::ir::{BinOp, ConvertOp, Mem, Op as IrOp, Scalar, Type, Value};

impl FunctionTranslator<'_, '_> {
    pub(super) fn vector_memory(&mut self, op: Std, inst: &Inst<'_>, args: &[u32]) -> Result<()> {
        match op {
            Std::vloadn => {
                let ty = self.unit.result_ir(inst)?;
                self.check_count(inst, ty, args[2])?;
                let (address, mem) = self.place(inst, args[0], args[1], ty, false)?;
                let value = self.body.b().load(mem, address, ty);
                self.define(inst, value)
            }
            Std::vload_half | Std::vload_halfn | Std::vloada_halfn => {
                let ty = self.unit.result_ir(inst)?;
                let count = args.get(2).copied().unwrap_or(1);
                if !ty.scalar.is_float() {
                    return Err(self.error(inst, "the result type is not floating-point"));
                }
                self.check_count(inst, ty, count)?;
                let half = ty.with_scalar(Scalar::F16);
                let aligned = op == Std::vloada_halfn;
                let (address, mem) = self.place(inst, args[0], args[1], half, aligned)?;
                let mut value = self.body.b().load(mem, address, half);
                if ty != half {
                    value = self.body.b().convert(ConvertOp::FToF, value, ty);
                }
                self.define(inst, value)
            }
            Std::vstoren => {
                let value = self.value(inst, args[0])?;
                let (address, mem) =
                    self.place(inst, args[1], args[2], self.body.ty(value), false)?;
                self.body.b().store(mem, address, value);
                Ok(())
            }
            Std::vstore_half
            | Std::vstore_half_r
            | Std::vstore_halfn
            | Std::vstore_halfn_r
            | Std::vstorea_halfn
            | Std::vstorea_halfn_r => {
                let value = self.float(inst, args[0])?;
                let half = self.body.ty(value).with_scalar(Scalar::F16);
                let rounding = match args.get(3) {
                    Some(&mode) => self.unit.rounding_mode(inst, mode)?,
                    None => self.body.modes.rounding(Scalar::F16),
                };
                let aligned = matches!(op, Std::vstorea_halfn | Std::vstorea_halfn_r);
                let (address, mem) = self.place(inst, args[1], args[2], half, aligned)?;
                let value = if self.body.ty(value) == half {
                    value
                } else {
                    let value = self.body.flushed(value);
                    let op = IrOp::Convert(ConvertOp::FToF, rounding);
                    let value = self.body.b().val(op, &[value], half);
                    self.body.flushed(value)
                };
                self.body.b().store(mem, address, value);
                Ok(())
            }
            _ => Err(self
                .error(inst, "this function is not supported yet")
                .under(REQUIRED)),
        }
    }

    /// The literal that repeats how many components there are.
    fn check_count(&self, inst: &Inst<'_>, ty: Type, count: u32) -> Result<()> {
        if u32::from(ty.lanes) == count {
            Ok(())
        } else {
            Err(self.error(
                inst,
                format!("{count} components are loaded into a result of type {ty}"),
            ))
        }
    }

    /// Where the vector number `offset` from a pointer to elements is.
    fn place(
        &mut self,
        inst: &Inst<'_>,
        offset: Id,
        pointer: Id,
        ty: Type,
        aligned: bool,
    ) -> Result<(Value, Mem)> {
        let offset = self.size_value(inst, offset)?;
        let pointer = self.pointer(inst, pointer)?;
        let (stride, align) = if aligned {
            let size = super::types::size_of(ty);
            (size, size as u32)
        } else {
            (u64::from(ty.bytes()), ty.scalar.bytes())
        };
        let stride = self.body.iconst(Type::I64, stride);
        let mut f = self.body.b();
        let bytes = f.binary(BinOp::IMul, offset, stride);
        let address = f.ptr_add(pointer.address, bytes);
        Ok((address, Mem::new(pointer.space, align)))
    }
}
