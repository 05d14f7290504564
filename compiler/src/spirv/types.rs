//! SPIR-V types: their IR types, their layout in memory, and how aggregates flatten to leaves.
//!
//! Layout follows OpenCL C ("Alignment of Types"): natural alignment, a vector of three elements
//! takes the room of four, structures as in C unless decorated `CPacked`. An aggregate as an SSA
//! value is the list of its leaves: the scalars, vectors and pointers in it, in order.

use rspirv::spirv::{
    AccessQualifier as SpirvAccess, Decoration, Dim, ImageFormat, Op, StorageClass,
};

use super::decode::{Id, Inst, Result};
use super::module::Unit;
use super::rules::{Rule, UNIVERSAL, UNIVERSAL_LIMITS, VALIDATION};
use crate::image::ImageDim;
use crate::ir::{Scalar, Type};
use crate::kernel_info::{AccessQualifier, AddressSpace};

/// Largest aggregate that may be an SSA value, in leaves.
pub(super) const MAX_LEAVES: u32 = 1024;
/// Largest type, in bytes; keeps offset arithmetic far from overflow.
const MAX_SIZE: u64 = 1 << 40;
/// "Universal Limits": structure nesting depth.
const MAX_DEPTH: u32 = 255;

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Void,
    /// A Boolean, integer, float or vector of them.
    Value(Type),
    Pointer {
        class: StorageClass,
        /// `None` for a forward declaration, and for an untyped pointer.
        pointee: Option<Id>,
    },
    Array {
        element: Id,
        length: u64,
    },
    Struct {
        members: Box<[Id]>,
        offsets: Box<[u64]>,
        /// The index of each member's first leaf, saturating.
        first_leaves: Box<[u32]>,
    },
    Function {
        result: Id,
        params: Box<[Id]>,
    },
    /// Travels as the address of its descriptor.
    Image(ImageType),
    /// Travels as an `i32`, `crate::image::Sampler`, and takes 8 bytes in memory like every other
    /// object.
    Sampler,
    /// Travels as an image and a sampler.
    SampledImage(ImageType),
    /// A handle that travels as an `i64`: an event, a queue, a pipe or the like.
    Handle {
        op: Op,
        /// The access qualifier of a pipe.
        access: Option<u32>,
    },
}

/// What a type of images says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageType {
    pub dim: ImageDim,
    /// A row of texels that is a buffer.
    pub buffer: bool,
    pub depth: bool,
    pub access: AccessQualifier,
}

impl ImageType {
    /// The name of the type in OpenCL C.
    pub fn name(self) -> String {
        format!(
            "image{}d{}{}{}_t",
            self.dim.dimensions(),
            if self.buffer { "_buffer" } else { "" },
            if self.dim.is_array() { "_array" } else { "" },
            if self.depth { "_depth" } else { "" },
        )
    }
}

#[derive(Clone, Debug)]
pub(super) struct TypeInfo {
    pub kind: Kind,
    /// Bytes, as `sizeof`.
    pub size: u64,
    pub align: u32,
    /// How many leaves, saturating.
    pub leaves: u32,
    depth: u32,
    /// Equal for types whose values have the same representation, in memory and as SSA values.
    canonical: u32,
}

/// What a type's values are like: equal forms, equal representation.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Form {
    Void,
    Leaf(Type),
    /// With its depth; whether it is a part of a sampled image.
    Image(ImageDim, bool, bool),
    Sampler,
    /// Canonical element, length.
    Array(u32, u64),
    /// Canonical members and their offsets, alignment.
    Struct(Vec<(u32, u64)>, u32),
    /// Not a value's type; equal to itself only.
    Function(Id),
}

/// One scalar, vector or pointer of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    pub ty: Type,
    /// Bytes from the start of the aggregate.
    pub offset: u64,
}

/// `sizeof` of a leaf: a vector of three elements takes the room of four.
pub(super) fn size_of(ty: Type) -> u64 {
    let lanes = if ty.lanes == 3 { 4 } else { ty.lanes };
    u64::from(ty.scalar.bytes()) * u64::from(lanes)
}

impl TypeInfo {
    fn leaf(kind: Kind, ty: Type) -> TypeInfo {
        TypeInfo {
            kind,
            size: size_of(ty),
            align: size_of(ty) as u32,
            leaves: 1,
            depth: 0,
            canonical: 0,
        }
    }

    fn no_value(kind: Kind) -> TypeInfo {
        TypeInfo {
            kind,
            size: 0,
            align: 1,
            leaves: 0,
            depth: 0,
            canonical: 0,
        }
    }

    fn has_values(&self) -> bool {
        !matches!(self.kind, Kind::Void | Kind::Function { .. })
    }

    /// The IR type of a value that is one leaf.
    pub fn ir(&self) -> Option<Type> {
        match self.kind {
            Kind::Value(ty) => Some(ty),
            Kind::Pointer { .. } | Kind::Image(_) => Some(Type::PTR),
            Kind::Sampler => Some(Type::I32),
            Kind::Handle { .. } => Some(Type::I64),
            _ => None,
        }
    }
}

/// The address space that accesses through a pointer of a storage class are in.
pub(super) fn space_of(class: StorageClass) -> Option<AddressSpace> {
    Some(match class {
        StorageClass::Function | StorageClass::Private => AddressSpace::Private,
        StorageClass::CrossWorkgroup
        | StorageClass::DeviceOnlyALTERA
        | StorageClass::HostOnlyALTERA => AddressSpace::Global,
        StorageClass::UniformConstant => AddressSpace::Constant,
        StorageClass::Workgroup => AddressSpace::Local,
        StorageClass::Generic => AddressSpace::Generic,
        _ => return None,
    })
}

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
        let stride = self.decoration(self.result(inst)?, Decoration::ArrayStride);
        if let Some(&[stride]) = stride
            && u64::from(stride) != size
        {
            return Err(self.layout_error(inst, "ArrayStride", stride, size));
        }
        let total = size.checked_mul(length).filter(|&s| s <= MAX_SIZE);
        Ok(TypeInfo {
            kind: Kind::Array {
                element: words[0],
                length,
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
            (Kind::Array { element, length }, _) => Form::Array(canonical(*element), *length),
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
            Kind::Array { element, length } => {
                let stride = self.types[*element as usize].as_ref().map_or(0, |t| t.size);
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
            Kind::Array { element, length } => {
                let part = self.type_of_id(inst, *element)?;
                if index >= *length || part.leaves > MAX_LEAVES {
                    return Err(self.index_error(inst, index, *length));
                }
                Ok((
                    *element,
                    index * part.size,
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
}
