//! From type-declaration instructions to types: every rule on them, and how they lie in memory.

use rspirv::spirv::{AccessQualifier as SpirvAccess, Decoration, Dim, ImageFormat, Op};

use super::decode::{Id, Inst, Result};
use super::module::Unit;
use super::rules::{DECORATION, Rule, UNIVERSAL_LIMITS, VALIDATION};
use super::types::{Form, ImageType, Kind, TypeInfo};
use crate::image::ImageDim;
use crate::ir::{Scalar, Type};
use crate::kernel_info::AccessQualifier;

/// Largest type, in bytes; keeps offset arithmetic far from overflow.
const MAX_SIZE: u64 = 1 << 40;
/// "Universal Limits": structure nesting depth.
const MAX_DEPTH: u32 = 255;

impl Unit<'_> {
    /// Handles an `OpType...`.
    pub(super) fn define_type(&mut self, inst: &Inst<'_>) -> Result<()> {
        let words = inst.operands;
        let info = match inst.op() {
            Op::TypeForwardPointer => {
                let info = self.pointer_type(inst, words[1], None)?;
                self.set_type(words[0], info);
                return Ok(());
            }
            Op::TypeVoid => TypeInfo::no_value(Kind::Void),
            Op::TypeBool => TypeInfo::leaf(Kind::Value(Type::I1), Type::I1),
            Op::TypeInt => self.int_type(inst)?,
            Op::TypeFloat => self.float_type(inst)?,
            Op::TypeVector => self.vector_type(inst)?,
            Op::TypeArray => self.array_type(inst)?,
            Op::TypeStruct => self.struct_type(inst)?,
            Op::TypeUntypedPointerKHR => self.pointer_type(inst, words[0], None)?,
            Op::TypePointer => self.pointer_type(inst, words[0], Some(words[1]))?,
            Op::TypeFunction => self.function_type(inst)?,
            Op::TypeImage => TypeInfo::leaf(Kind::Image(self.image_type(inst)?), Type::PTR),
            Op::TypeSampler => TypeInfo {
                size: 8,
                align: 8,
                ..TypeInfo::leaf(Kind::Sampler, Type::I32)
            },
            Op::TypeSampledImage => match self.type_of_id(inst, words[0])?.kind {
                Kind::Image(image) => TypeInfo {
                    kind: Kind::SampledImage(image),
                    size: 16,
                    align: 8,
                    leaves: 2,
                    depth: 0,
                    canonical: 0,
                },
                _ => return Err(self.error(inst, "the type of what is sampled is not an image")),
            },
            op @ (Op::TypeEvent
            | Op::TypeDeviceEvent
            | Op::TypeReserveId
            | Op::TypeQueue
            | Op::TypePipe
            | Op::TypePipeStorage
            | Op::TypeNamedBarrier
            | Op::TypeOpaque) => {
                let access = match op {
                    Op::TypePipe => words.first().copied(),
                    _ => None,
                };
                TypeInfo::leaf(Kind::Handle { op, access }, Type::I64)
            }
            _ => {
                return Err(self
                    .error(inst, "this type is not supported")
                    .under(Rule::Env("Supported Types")));
            }
        };
        if info.depth > MAX_DEPTH {
            return Err(self
                .error(
                    inst,
                    format!("aggregates are nested deeper than {MAX_DEPTH} levels"),
                )
                .under(UNIVERSAL_LIMITS));
        }
        let result = self.result(inst)?;
        self.set_type(result, info);
        Ok(())
    }

    fn int_type(&self, inst: &Inst<'_>) -> Result<TypeInfo> {
        let words = inst.operands;

        let scalar = Scalar::int(words[0])
            .filter(|s| s.is_int())
            .ok_or_else(|| {
                self.error(
                    inst,
                    format!("integers of {} bits are not supported", words[0]),
                )
            })?;
        if words[1] != 0 {
            return Err(self
                .error(
                    inst,
                    format!(
                        "the signedness is {}: OpenCL's integers have none, it must be 0",
                        words[1]
                    ),
                )
                .under(VALIDATION));
        }
        let ty = Type::new(scalar, 1);
        Ok(TypeInfo::leaf(Kind::Value(ty), ty))
    }

    fn float_type(&self, inst: &Inst<'_>) -> Result<TypeInfo> {
        let words = inst.operands;

        if words.len() > 1 {
            return Err(self.error(
                inst,
                "floating-point encodings other than IEEE 754 are not supported",
            ));
        }
        let scalar = Scalar::float(words[0]).ok_or_else(|| {
            self.error(
                inst,
                format!("floats of {} bits are not supported", words[0]),
            )
        })?;
        let ty = Type::new(scalar, 1);
        Ok(TypeInfo::leaf(Kind::Value(ty), ty))
    }

    fn vector_type(&self, inst: &Inst<'_>) -> Result<TypeInfo> {
        let words = inst.operands;

        let element = self.type_of_id(inst, words[0])?.ir();
        let element = element
            .filter(|ty| ty.is_scalar() && ty.scalar != Scalar::Ptr)
            .ok_or_else(|| self.error(inst, "the component type is not a scalar"))?;
        if !matches!(words[1], 2 | 3 | 4 | 8 | 16) {
            return Err(self.error(
                inst,
                format!(
                    "vectors of {} components are not supported: 2, 3, 4, 8 or 16 are",
                    words[1]
                ),
            ));
        }
        let ty = element.with_lanes(words[1] as u8);
        Ok(TypeInfo::leaf(Kind::Value(ty), ty))
    }

    fn array_type(&self, inst: &Inst<'_>) -> Result<TypeInfo> {
        let words = inst.operands;

        let element = self.type_of_id(inst, words[0])?;
        if !element.has_values() {
            return Err(self.error(inst, "the element type has no values"));
        }
        let (size, align, leaves, depth) =
            (element.size, element.align, element.leaves, element.depth);
        let length = self.integer_constant(words[1]).ok_or_else(|| {
            self.error(
                inst,
                format!(
                    "the length {} is not an integer constant",
                    self.binary.describe(words[1])
                ),
            )
        })?;
        let told = self.decoration(self.result(inst)?, Decoration::ArrayStride);
        let (mut stride, mut align) = (size, align);
        if let Some(&[told]) = told {
            if self.binary.is_lowered(inst.module) {
                stride = u64::from(told);
                align = self.explicit_align(words[0]);
            } else if u64::from(told) != size {
                return Err(self.layout_error(inst, "ArrayStride", told, size));
            }
        }
        // The last element may be larger than the stride: padding behind it is another's.
        let total = match length.checked_sub(1) {
            Some(last) if stride != size => {
                let first = stride.checked_mul(last);
                first.and_then(|first| first.checked_add(self.explicit_size(words[0])))
            }
            _ => size.checked_mul(length),
        };
        let total = total.filter(|&s| s <= MAX_SIZE);
        Ok(TypeInfo {
            kind: Kind::Array {
                element: words[0],
                length,
                stride,
            },
            size: total.ok_or_else(|| self.too_large(inst))?,
            align,
            leaves: u32::try_from(u64::from(leaves).saturating_mul(length)).unwrap_or(u32::MAX),
            depth: depth + 1,
            canonical: 0,
        })
    }

    fn function_type(&self, inst: &Inst<'_>) -> Result<TypeInfo> {
        let words = inst.operands;

        for &id in words {
            let info = self.type_of_id(inst, id)?;
            if matches!(info.kind, Kind::Function { .. }) {
                return Err(self.error(inst, "a function cannot take or return functions"));
            }
        }
        if words[1..].iter().any(|&id| {
            matches!(
                self.types[id as usize].as_ref().map(|t| &t.kind),
                Some(Kind::Void)
            )
        }) {
            return Err(self.error(inst, "a parameter cannot be void"));
        }
        Ok(TypeInfo::no_value(Kind::Function {
            result: words[0],
            params: words[1..].into(),
        }))
    }

    fn pointer_type(&self, inst: &Inst<'_>, class: u32, pointee: Option<Id>) -> Result<TypeInfo> {
        let class = self.storage_class(inst, class)?;
        Ok(TypeInfo::leaf(Kind::Pointer { class, pointee }, Type::PTR))
    }

    fn set_type(&mut self, id: Id, mut info: TypeInfo) {
        let canonical = |id: Id| self.types[id as usize].as_ref().map_or(0, |t| t.canonical);
        let form = match (&info.kind, info.ir()) {
            (&Kind::Image(image), _) => Form::Image(image.dim, image.depth, false),
            (&Kind::SampledImage(image), _) => Form::Image(image.dim, image.depth, true),
            (Kind::Sampler, _) => Form::Sampler,
            (_, Some(ty)) => Form::Leaf(ty),
            (
                Kind::Array {
                    element,
                    length,
                    stride,
                },
                _,
            ) => Form::Array(canonical(*element), *length, *stride),
            (
                Kind::Struct {
                    members, offsets, ..
                },
                _,
            ) => {
                let members = members.iter().map(|&member| canonical(member));
                Form::Struct(members.zip(offsets.iter().copied()).collect(), info.align)
            }
            (Kind::Void, _) => Form::Void,
            _ => Form::Function(id),
        };
        let next = self.forms.len() as u32;
        info.canonical = *self.forms.entry(form).or_insert(next);
        self.types[id as usize] = Some(info);
    }

    fn struct_type(&self, inst: &Inst<'_>) -> Result<TypeInfo> {
        let result = self.result(inst)?;
        let packed = self.has_decoration(result, Decoration::CPacked);
        if self.binary.is_lowered(inst.module)
            && (0..inst.operands.len() as u32)
                .any(|member| self.member_offsets.contains_key(&(result, member)))
        {
            return self.explicit_struct_type(inst, result);
        }
        let (mut size, mut align, mut leaves, mut depth) = (0u64, 1u32, 0u32, 0u32);
        let mut offsets = Vec::with_capacity(inst.operands.len());
        let mut first_leaves = Vec::with_capacity(inst.operands.len());
        for &member in inst.operands {
            let info = self.type_of_id(inst, member)?;
            if !info.has_values() {
                return Err(self.error(inst, "a member's type has no values"));
            }
            if !packed {
                size = size.next_multiple_of(u64::from(info.align));
                align = align.max(info.align);
            }
            if let Some(&offset) = self.member_offsets.get(&(result, offsets.len() as u32))
                && u64::from(offset) != size
            {
                return Err(self.layout_error(inst, "Offset", offset, size));
            }
            offsets.push(size);
            first_leaves.push(leaves);
            size += info.size;
            if size > MAX_SIZE {
                return Err(self.too_large(inst));
            }
            leaves = leaves.saturating_add(info.leaves);
            depth = depth.max(info.depth + 1);
        }
        Ok(TypeInfo {
            kind: Kind::Struct {
                members: inst.operands.into(),
                offsets: offsets.into(),
                first_leaves: first_leaves.into(),
            },
            size: size.next_multiple_of(u64::from(align)),
            align,
            leaves,
            depth,
            canonical: 0,
        })
    }

    /// A structure whose members are where the decoration `Offset` says ("Offset and Stride
    /// Assignment" of the Vulkan Specification). It is no larger than what its members take, since
    /// what follows may begin there.
    fn explicit_struct_type(&self, inst: &Inst<'_>, result: Id) -> Result<TypeInfo> {
        let (mut size, mut align, mut leaves, mut depth) = (0u64, 1u32, 0u32, 0u32);
        let mut offsets = Vec::with_capacity(inst.operands.len());
        let mut first_leaves = Vec::with_capacity(inst.operands.len());
        for (index, &member) in inst.operands.iter().enumerate() {
            let info = self.type_of_id(inst, member)?;
            if !info.has_values() {
                return Err(self.error(inst, "a member's type has no values"));
            }
            let told = self.member_offsets.get(&(result, index as u32));
            let &offset = told.ok_or_else(|| {
                self.error(
                    inst,
                    format!("the member {index} has no Offset, others have"),
                )
                .under(DECORATION)
            })?;
            offsets.push(u64::from(offset));
            first_leaves.push(leaves);
            size = size.max(u64::from(offset) + self.explicit_size(member));
            align = align.max(self.explicit_align(member));
            leaves = leaves.saturating_add(info.leaves);
            depth = depth.max(info.depth + 1);
        }
        if size > MAX_SIZE {
            return Err(self.too_large(inst));
        }
        Ok(TypeInfo {
            kind: Kind::Struct {
                members: inst.operands.into(),
                offsets: offsets.into(),
                first_leaves: first_leaves.into(),
            },
            size,
            align,
            leaves,
            depth,
            canonical: 0,
        })
    }

    /// The bytes that a part of an explicit layout has of its own.
    fn explicit_size(&self, part: Id) -> u64 {
        let info = self.types[part as usize].as_ref();
        info.map_or(0, |info| match info.kind {
            Kind::Value(ty) => u64::from(ty.scalar.bytes()) * u64::from(ty.lanes),
            _ => info.size,
        })
    }

    /// The alignment that every explicit layout keeps: that of the scalars in it.
    fn explicit_align(&self, part: Id) -> u32 {
        let info = self.types[part as usize].as_ref();
        info.map_or(1, |info| match info.kind {
            Kind::Value(ty) => ty.scalar.bytes(),
            _ => info.align,
        })
    }

    /// Decorations that lay out memory, which are not OpenCL's, may say what is so anyway.
    fn layout_error(
        &self,
        inst: &Inst<'_>,
        decoration: &str,
        said: u32,
        natural: u64,
    ) -> crate::diagnostic::Diagnostic {
        self.error(
            inst,
            format!("the decoration {decoration} says {said} bytes, where OpenCL has {natural}"),
        )
        .under(Rule::Env("Alignment of Types"))
    }

    /// "Image-Related Data Types"
    fn image_type(&self, inst: &Inst<'_>) -> Result<ImageType> {
        let &[
            sampled_type,
            dim,
            depth,
            arrayed,
            multisampled,
            sampled,
            format,
            ref access @ ..,
        ] = inst.operands
        else {
            return Err(self.error(inst, "wrong word count: an operand is missing"));
        };
        let texel = &self.type_of_id(inst, sampled_type)?.kind;
        let dim = Dim::from_u32(dim);
        let supported = match (dim, arrayed) {
            (Some(Dim::Dim1D | Dim::DimBuffer), 0) => Some(ImageDim::Dim1),
            (Some(Dim::Dim1D), 1) => Some(ImageDim::Dim1Array),
            (Some(Dim::Dim2D), 0) => Some(ImageDim::Dim2),
            (Some(Dim::Dim2D), 1) => Some(ImageDim::Dim2Array),
            (Some(Dim::Dim3D), 0) => Some(ImageDim::Dim3),
            _ => None,
        };
        let qualifier = match access.first().copied().map(SpirvAccess::from_u32) {
            Some(Some(SpirvAccess::ReadOnly)) => Some(AccessQualifier::ReadOnly),
            Some(Some(SpirvAccess::WriteOnly)) => Some(AccessQualifier::WriteOnly),
            Some(Some(SpirvAccess::ReadWrite)) => Some(AccessQualifier::ReadWrite),
            _ => None,
        };
        let wrong = if !matches!(texel, Kind::Void) {
            "the sampled type is not void"
        } else if !matches!(
            dim,
            Some(Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::DimBuffer)
        ) {
            "the dimensionality is not 1D, 2D, 3D or Buffer"
        } else if depth > 1 || depth == 1 && dim != Some(Dim::Dim2D) {
            "a depth image is not 2D"
        } else if multisampled != 0 {
            "the image has several samples"
        } else if sampled != 0 {
            "whether the image is sampled must be left open (0)"
        } else if format != ImageFormat::Unknown as u32 {
            "the image format is not Unknown"
        } else if access.is_empty() {
            "the access qualifier is missing"
        } else {
            match (supported, qualifier) {
                (None, _) => "an array of images is neither 1D nor 2D",
                (_, None) => "the access qualifier is unknown",
                (Some(supported), Some(access)) => {
                    return Ok(ImageType {
                        dim: supported,
                        buffer: dim == Some(Dim::DimBuffer),
                        depth: depth == 1,
                        access,
                    });
                }
            }
        };
        Err(self.error(inst, wrong).under(VALIDATION))
    }

    fn too_large(&self, inst: &Inst<'_>) -> crate::diagnostic::Diagnostic {
        self.error(inst, format!("the type is larger than {MAX_SIZE} bytes"))
            .under(Rule::Limit)
    }
}
