//! Generic pointers: casts to and from them, and questions about where they point.
//!
//! Every address space is a range of one address space, so a cast keeps the address. What a generic
//! pointer points to is asked with [`IrOp::InSpace`].

use rspirv::spirv::{MemorySemantics, Op, StorageClass};

use super::body::Body;
use super::decode::{Inst, Result};
use super::function::{Bound, FunctionTranslator};
use super::types::Kind;
use crate::ir::{Op as IrOp, Type, Value};
use crate::kernel_info::AddressSpace;

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn generic_pointer(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        match op {
            Op::PtrCastToGeneric | Op::GenericCastToPtr => {
                match self.bound(inst, inst.operands[0])? {
                    bound @ Bound::BuiltIn { .. } => self.bind(inst, bound)?,
                    Bound::Values(_) => {
                        let result = self.unit.result_type(inst)?;
                        let ty = match self.unit.is_handle(inst, result)? {
                            true => Type::I64,
                            false => Type::PTR,
                        };
                        let value = self.typed(inst, inst.operands[0], ty)?;
                        self.define(inst, value)?;
                    }
                }
            }
            Op::GenericCastToPtrExplicit => self.cast_to_ptr_explicit(inst)?,
            Op::GenericPtrMemSemantics => {
                let pointer = self.pointer(inst, inst.operands[0])?;
                let to = self.unit.result_ir(inst)?;
                if to != Type::I32 {
                    return Err(self.error(inst, "the result type is not a 32-bit integer"));
                }
                let of = |semantics: MemorySemantics| u64::from(semantics.bits());
                let local = self.body.iconst(to, of(MemorySemantics::WORKGROUP_MEMORY));
                let global = self
                    .body
                    .iconst(to, of(MemorySemantics::CROSS_WORKGROUP_MEMORY));
                // Private memory has no semantics: nobody else sees it.
                let none = self.body.iconst(to, 0);
                let is_local = self.body.in_space(AddressSpace::Local, pointer.address);
                let is_private = self.body.in_space(AddressSpace::Private, pointer.address);
                let mut f = self.body.b();
                let bits = f.select(is_private, none, global);
                let bits = f.select(is_local, local, bits);
                self.define(inst, bits)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The pointer if it points into the storage class asked for, else null.
    fn cast_to_ptr_explicit(&mut self, inst: &Inst<'_>) -> Result<()> {
        let pointer = self.pointer(inst, inst.operands[0])?;
        let class = self.unit.storage_class(inst, inst.operands[1])?;
        let result = self.unit.result_type(inst)?;
        match self.unit.type_of_id(inst, result)?.kind {
            Kind::Pointer { class: of_type, .. } if of_type == class => {}
            _ => {
                return Err(self.error(
                    inst,
                    "the result type is not a pointer to the storage class cast to",
                ));
            }
        }
        let space = match class {
            StorageClass::Workgroup => AddressSpace::Local,
            StorageClass::CrossWorkgroup => AddressSpace::Global,
            StorageClass::Function => AddressSpace::Private,
            class => {
                return Err(self.error(
                    inst,
                    format!("a generic pointer is never to storage class {class:?}"),
                ));
            }
        };
        let null = self.body.iconst(Type::PTR, 0);
        let is_there = self.body.in_space(space, pointer.address);
        let value = self.body.b().select(is_there, pointer.address, null);
        self.define(inst, value)
    }
}

impl Body {
    fn in_space(&mut self, space: AddressSpace, pointer: Value) -> Value {
        self.b().val(IrOp::InSpace(space), &[pointer], Type::I1)
    }
}
