//! SPIR-V types: their IR types, their layout in memory, and how aggregates flatten to leaves.
//!
//! Layout follows OpenCL C ("Alignment of Types"): natural alignment, a vector of three elements
//! takes the room of four, structures as in C unless decorated `CPacked`. In modules of Vulkan's
//! environment it is what the decorations `Offset` and `ArrayStride` say, where there are any. An
//! aggregate as an SSA value is the list of its leaves: the scalars, vectors and pointers in it, in
//! order.

use rspirv::spirv::{Op, StorageClass};

use super::decode::Id;
use crate::image::ImageDim;
use crate::ir::Type;
use crate::kernel_info::{AccessQualifier, AddressSpace};

/// Largest aggregate that may be an SSA value, in leaves.
pub(super) const MAX_LEAVES: u32 = 1024;

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
        /// Bytes from one element to the next.
        stride: u64,
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
    pub depth: u32,
    /// Equal for types whose values have the same representation, in memory and as SSA values.
    pub canonical: u32,
}

/// What a type's values are like: equal forms, equal representation.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Form {
    Void,
    Leaf(Type),
    /// With its depth; whether it is a part of a sampled image.
    Image(ImageDim, bool, bool),
    Sampler,
    /// Canonical element, length, stride.
    Array(u32, u64, u64),
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
    pub fn leaf(kind: Kind, ty: Type) -> TypeInfo {
        TypeInfo {
            kind,
            size: size_of(ty),
            align: size_of(ty) as u32,
            leaves: 1,
            depth: 0,
            canonical: 0,
        }
    }

    pub fn no_value(kind: Kind) -> TypeInfo {
        TypeInfo {
            kind,
            size: 0,
            align: 1,
            leaves: 0,
            depth: 0,
            canonical: 0,
        }
    }

    pub fn has_values(&self) -> bool {
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
