//! Questions about the types of a module: what an id's type is, what it flattens to, what lies
//! where in it.

use rspirv::spirv::{Decoration, Op, StorageClass};

use super::decode::{Id, Inst, Result};
use super::module::Unit;
use super::rules::{Rule, UNIVERSAL};
use super::types::{Kind, Leaf, MAX_LEAVES, TypeInfo, space_of};
use crate::ir::Type;
use crate::kernel_info::AddressSpace;

impl Unit<'_> {
    pub(super) fn storage_class(&self, inst: &Inst<'_>, word: u32) -> Result<StorageClass> {
        StorageClass::from_u32(word)
            .ok_or_else(|| self.error(inst, format!("unknown storage class {word}")))
    }

    /// The type with this id, which must have been defined before.
    pub(super) fn type_of_id(&self, inst: &Inst<'_>, id: Id) -> Result<&TypeInfo> {
        self.types[id as usize].as_ref().ok_or_else(|| {
            self.error(
                inst,
                format!(
                    "{} is not a type defined before this instruction",
                    self.binary.describe(id)
                ),
            )
            .under(UNIVERSAL)
        })
    }

    /// The leaves of a type, appended to `out`. Only for types of at most [`MAX_LEAVES`].
    fn push_leaves(&self, id: Id, base: u64, out: &mut Vec<Leaf>) {
        let Some(info) = self.types[id as usize].as_ref() else {
            return;
        };
        if let Some(ty) = info.ir() {
            out.push(Leaf { ty, offset: base });
            return;
        }
        // What has no leaves may still have exponentially many parts.
        if info.leaves == 0 {
            return;
        }
        match &info.kind {
            Kind::Array {
                element,
                length,
                stride,
            } => {
                for i in 0..*length {
                    self.push_leaves(*element, base + i * stride, out);
                }
            }
            Kind::Struct {
                members, offsets, ..
            } => {
                for (&member, &offset) in members.iter().zip(offsets) {
                    self.push_leaves(member, base + offset, out);
                }
            }
            Kind::SampledImage(_) => out.extend([
                Leaf {
                    ty: Type::PTR,
                    offset: base,
                },
                Leaf {
                    ty: Type::I32,
                    offset: base + 8,
                },
            ]),
            _ => {}
        }
    }

    /// The leaves of a type as an SSA value.
    pub(super) fn leaves(&self, inst: &Inst<'_>, id: Id) -> Result<Vec<Leaf>> {
        let info = self.type_of_id(inst, id)?;
        if info.leaves > MAX_LEAVES {
            return Err(self.error(
                inst,
                format!(
                    "a value of {} scalars and vectors is too large to be handled as one: {MAX_LEAVES} are allowed",
                    info.leaves
                ),
            ).under(Rule::Limit));
        }
        let mut out = Vec::with_capacity(info.leaves as usize);
        self.push_leaves(id, 0, &mut out);
        Ok(out)
    }

    /// Whether values of two types have the same representation, in memory and as SSA values.
    pub(super) fn same_type(&self, a: Id, b: Id) -> bool {
        let canonical = |id: Id| self.types[id as usize].as_ref().map(|t| t.canonical);
        match (canonical(a), canonical(b)) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }

    /// One step into a composite by a literal or constant index: the part's type, its byte offset,
    /// and the index of its first leaf.
    pub(super) fn step_into(
        &self,
        inst: &Inst<'_>,
        ty: Id,
        index: u64,
    ) -> Result<(Id, u64, usize)> {
        let info = self.type_of_id(inst, ty)?;
        match &info.kind {
            Kind::Array {
                element,
                length,
                stride,
            } => {
                let part = self.type_of_id(inst, *element)?;
                if index >= *length || part.leaves > MAX_LEAVES {
                    return Err(self.index_error(inst, index, *length));
                }
                Ok((
                    *element,
                    index.saturating_mul(*stride),
                    (index as usize).saturating_mul(part.leaves as usize),
                ))
            }
            Kind::Struct {
                members,
                offsets,
                first_leaves,
            } => {
                let at = usize::try_from(index).unwrap_or(usize::MAX);
                let Some(&member) = members.get(at) else {
                    return Err(self.index_error(inst, index, members.len() as u64));
                };
                Ok((member, offsets[at], first_leaves[at] as usize))
            }
            _ => Err(self.error(inst, "an index steps into something that has no parts")),
        }
    }

    pub(super) fn index_error(
        &self,
        inst: &Inst<'_>,
        index: u64,
        length: u64,
    ) -> crate::diagnostic::Diagnostic {
        self.error(
            inst,
            format!("the index {index} is outside a composite of {length} parts"),
        )
    }

    /// The id of an operand's type.
    pub(super) fn type_of(&self, inst: &Inst<'_>, id: Id) -> Result<Id> {
        self.value_types[id as usize].ok_or_else(|| {
            self.error(inst, format!("{} is not a value", self.binary.describe(id)))
                .under(UNIVERSAL)
        })
    }

    /// The storage class's address space and the pointee of an operand's pointer type.
    pub(super) fn points_to(&self, inst: &Inst<'_>, id: Id) -> Result<(AddressSpace, Option<Id>)> {
        let ty = self.type_of(inst, id)?;
        match self.type_of_id(inst, ty)?.kind {
            Kind::Pointer { class, pointee } => match space_of(class) {
                Some(space) => Ok((space, pointee)),
                None => Err(self
                    .error(
                        inst,
                        format!("pointers to storage class {class:?} are not supported"),
                    )
                    .under(Rule::Spirv("Storage Class"))),
            },
            _ => Err(self.error(
                inst,
                format!("{} is not a pointer", self.binary.describe(id)),
            )),
        }
    }

    /// Bytes from one element to the next behind a pointer: what `ArrayStride` says of its type in
    /// modules of Vulkan's environment, else the size of what it points to.
    pub(super) fn pointer_stride(&self, inst: &Inst<'_>, pointer: Id, size: u64) -> Result<u64> {
        if !self.binary.is_lowered(inst.module) {
            return Ok(size);
        }
        let ty = self.type_of(inst, pointer)?;
        Ok(match self.decoration(ty, Decoration::ArrayStride) {
            Some(&[stride]) => u64::from(stride),
            _ => size,
        })
    }

    /// The IR type of a result that is one leaf.
    pub(super) fn result_ir(&self, inst: &Inst<'_>) -> Result<Type> {
        let ty = self.result_type(inst)?;
        self.type_of_id(inst, ty)?.ir().ok_or_else(|| {
            self.error(
                inst,
                format!(
                    "the result type {} is not a scalar, vector or pointer",
                    self.binary.describe(ty)
                ),
            )
        })
    }

    /// Checks that a type is that of one kind of object; its access qualifier.
    pub(super) fn handle_of(&self, inst: &Inst<'_>, ty: Id, wanted: Op) -> Result<Option<u32>> {
        match self.type_of_id(inst, ty)?.kind {
            Kind::Handle { op, access } if op == wanted => Ok(access),
            _ => Err(self.error(
                inst,
                format!("{} is not an Op{wanted:?}", self.binary.describe(ty)),
            )),
        }
    }

    /// Whether a type is that of a reservation, an event or the like. LLVM's translator writes
    /// `CLK_NULL_RESERVE_ID` and `CLK_NULL_EVENT` as numbers converted to pointers and cast, of
    /// these types all the same.
    pub(super) fn is_handle(&self, inst: &Inst<'_>, ty: Id) -> Result<bool> {
        let kind = &self.type_of_id(inst, ty)?.kind;
        Ok(matches!(kind, Kind::Handle { .. }))
    }
}
