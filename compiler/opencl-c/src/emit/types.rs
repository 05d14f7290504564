//! Types, and the layout of records.

use super::module::ModuleEmitter;
use super::words::Id;
use crate::ast::Access;
use crate::hir::Function;
use crate::spirv::{capability, decoration, op, storage};
use crate::types::{ImageDim, OpaqueType, RecordId, Scalar, Space, Type, TypeId, Types};

/// Where a field of a record is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member {
    /// A member of the structure.
    Index(u32),
    /// So many bytes from the record's beginning: a member of a union, or of no size.
    Offset(u64),
}

/// What a record has become.
#[derive(Debug)]
pub(super) struct Structure {
    pub id: Id,
    pub fields: Vec<Member>,
    /// The type of each member, with the field that it is, or none for padding.
    pub members: Vec<(Id, Option<u32>)>,
    /// As SPIR-V lays it out; its size is that of the record.
    align: u64,
}

/// A union is an array of unsigned integers, so many of so many bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnionWords {
    pub unit: u64,
    pub count: u64,
}

pub(super) fn storage_class(space: Space) -> u32 {
    match space {
        Space::Private => storage::FUNCTION,
        Space::Global => storage::CROSS_WORKGROUP,
        Space::Local => storage::WORKGROUP,
        Space::Constant => storage::UNIFORM_CONSTANT,
        Space::Generic => storage::GENERIC,
    }
}

impl ModuleEmitter<'_> {
    pub fn type_id(&mut self, ty: TypeId) -> Id {
        let index = ty.0 as usize;
        if let Some(&Some(id)) = self.type_ids.get(index) {
            return id;
        }
        let id = stacker::maybe_grow(128 << 10, 1 << 20, || self.declare_type(ty));
        if self.type_ids.len() <= index {
            self.type_ids.resize(index + 1, None);
        }
        self.type_ids[index] = Some(id);
        id
    }

    /// A type that is the same if its words are.
    pub fn raw_type(&mut self, opcode: u16, operands: &[u32]) -> Id {
        self.interned(opcode, None, operands)
    }

    fn declare_type(&mut self, ty: TypeId) -> Id {
        match self.types.get(ty).clone() {
            Type::Void => self.raw_type(op::TYPE_VOID, &[]),
            Type::Truth(lanes) => self.truth_type(lanes),
            Type::Scalar(scalar) => self.scalar_type(scalar),
            Type::Vector(scalar, lanes) => self.vector_type(scalar, lanes),
            Type::Enum(id) => {
                let underlying = self.types.enums[id.0 as usize].underlying;
                self.scalar_type(underlying)
            }
            Type::Pointer { pointee, space } => self.pointer_to(pointee.ty, space),
            Type::Array { element, len } => {
                let element = self.type_id(element.ty);
                // An array of no elements is where there would be one.
                let len = self.int(Types::ULONG, len.unwrap_or(0).max(1));
                self.raw_type(op::TYPE_ARRAY, &[element.0, len.0])
            }
            Type::Record(record) => self.record_type(record),
            Type::Atomic(inner) => self.type_id(inner),
            Type::Block(_) => self.pointer_to(Types::CHAR, Space::Generic),
            Type::Image { dim, access } => self.image_type(dim, access),
            Type::Pipe { access, .. } => {
                self.capability(capability::PIPES);
                self.raw_type(op::TYPE_PIPE, &[access_qualifier(access)])
            }
            Type::Sampler => self.raw_type(op::TYPE_SAMPLER, &[]),
            Type::Event => self.raw_type(op::TYPE_EVENT, &[]),
            Type::ClkEvent => {
                self.capability(capability::DEVICE_ENQUEUE);
                self.raw_type(op::TYPE_DEVICE_EVENT, &[])
            }
            Type::Queue => {
                self.capability(capability::DEVICE_ENQUEUE);
                self.raw_type(op::TYPE_QUEUE, &[])
            }
            Type::ReserveId => {
                self.capability(capability::PIPES);
                self.raw_type(op::TYPE_RESERVE_ID, &[])
            }
            Type::Opaque(OpaqueType::NamedBarrier) => {
                self.capability(capability::NAMED_BARRIER);
                self.raw_type(op::TYPE_NAMED_BARRIER, &[])
            }
            Type::NdRange => self.nd_range_type(),
            Type::Function(_) | Type::Error => {
                unreachable!("no value of a checked program is of this type")
            }
        }
    }

    fn scalar_type(&mut self, scalar: Scalar) -> Id {
        match scalar {
            Scalar::Half => {
                // What only loads and stores it does not need arithmetic.
                let has_arithmetic = self.has_half;
                self.capability(if has_arithmetic {
                    capability::FLOAT16
                } else {
                    capability::FLOAT16_BUFFER
                });
                self.raw_type(op::TYPE_FLOAT, &[16])
            }
            Scalar::Float => self.raw_type(op::TYPE_FLOAT, &[32]),
            Scalar::Double => {
                self.capability(capability::FLOAT64);
                self.raw_type(op::TYPE_FLOAT, &[64])
            }
            _ => {
                match scalar.bits() {
                    8 => self.capability(capability::INT8),
                    16 => self.capability(capability::INT16),
                    64 => self.capability(capability::INT64),
                    _ => {}
                }
                self.raw_type(op::TYPE_INT, &[scalar.bits(), 0])
            }
        }
    }

    /// A vector, or the scalar itself for one lane.
    pub fn vector_type(&mut self, scalar: Scalar, lanes: u8) -> Id {
        let component = self.scalar_type(scalar);
        self.lanes_of(component, lanes)
    }

    /// A Boolean, or a vector of them.
    pub fn truth_type(&mut self, lanes: u8) -> Id {
        let component = self.raw_type(op::TYPE_BOOL, &[]);
        self.lanes_of(component, lanes)
    }

    fn lanes_of(&mut self, component: Id, lanes: u8) -> Id {
        if lanes == 1 {
            return component;
        }
        if lanes > 4 {
            self.capability(capability::VECTOR16);
        }
        self.raw_type(op::TYPE_VECTOR, &[component.0, lanes.into()])
    }

    /// A pointer type. A structure that is not complete yet is pointed to by a forward declaration.
    pub fn pointer_to(&mut self, pointee: TypeId, space: Space) -> Id {
        if space == Space::Generic {
            self.capability(capability::GENERIC_POINTER);
        }
        let class = storage_class(space);
        if self.is_being_declared(pointee) {
            if let Some(&id) = self.forward_pointers.get(&(pointee, space)) {
                return id;
            }
            let id = self.words.id();
            self.words
                .globals
                .push(op::TYPE_FORWARD_POINTER, &[id.0, class]);
            self.forward_pointers.insert((pointee, space), id);
            self.undeclared_pointers.push((pointee, space));
            return id;
        }
        if let Some(&id) = self.forward_pointers.get(&(pointee, space)) {
            return id;
        }
        let pointee = match self.types.get(pointee) {
            Type::Void | Type::Function(_) => self.scalar_type(Scalar::Char),
            _ => self.type_id(pointee),
        };
        self.raw_type(op::TYPE_POINTER, &[class, pointee.0])
    }

    /// Whether the declaration of a type has begun and not ended: then it is a record, or an array
    /// of such.
    fn is_being_declared(&self, mut ty: TypeId) -> bool {
        loop {
            match self.types.get(ty) {
                Type::Array { element, .. } => ty = element.ty,
                Type::Atomic(inner) => ty = *inner,
                Type::Record(record) => return self.records_begun.contains(record),
                _ => return false,
            }
        }
    }

    fn record_type(&mut self, record: RecordId) -> Id {
        if let Some(structure) = self.structures.get(&record) {
            return structure.id;
        }
        let definition = &self.types.records[record.0 as usize];
        if definition.fields.is_none() {
            let name = match definition.tag {
                Some(tag) => self.interner.text(tag),
                None => "",
            };
            let id = self.words.id();
            self.words
                .globals
                .push_string(op::TYPE_OPAQUE, &[id.0], name, &[]);
            return id;
        }
        self.records_begun.insert(record);
        let structure = if definition.is_union {
            self.union_structure(record)
        } else {
            self.structure(record)
        };
        self.records_begun.remove(&record);
        let id = structure.id;
        self.structures.insert(record, structure);
        if self.records_begun.is_empty() {
            self.declare_pointers();
        }
        id
    }

    /// Declares the types of pointers that structures needed before what they point to was there.
    fn declare_pointers(&mut self) {
        while let Some((pointee, space)) = self.undeclared_pointers.pop() {
            let id = self.forward_pointers[&(pointee, space)];
            let pointee = self.type_id(pointee);
            let class = storage_class(space);
            self.words
                .globals
                .push(op::TYPE_POINTER, &[id.0, class, pointee.0]);
        }
    }

    /// Alignment of a type as SPIR-V lays it out.
    pub fn align_of(&self, ty: TypeId) -> u64 {
        match self.types.get(ty) {
            Type::Record(record) => self.structures[record].align,
            Type::Array { element, .. } => self.align_of(element.ty),
            Type::Atomic(inner) => self.align_of(*inner),
            _ => self.types.layout(ty).map_or(1, |(_, align)| align),
        }
    }

    /// A `struct`. Members follow one another as their alignments ask, as in C; where the source
    /// wants otherwise there are bytes in between, and where it wants less the structure is packed.
    fn structure(&mut self, record: RecordId) -> Structure {
        let definition = &self.types.records[record.0 as usize];
        let (size, fields) = (
            definition.size,
            definition.fields.clone().unwrap_or_default(),
        );
        let ids: Vec<Id> = fields
            .iter()
            .map(|field| self.type_id(field.ty.ty))
            .collect();
        let parts: Vec<(u64, u64)> = fields
            .iter()
            .map(|field| {
                let size = self.types.layout(field.ty.ty).map_or(0, |(size, _)| size);
                (size, self.align_of(field.ty.ty))
            })
            .collect();
        let natural = parts.iter().map(|&(_, align)| align).max().unwrap_or(1);
        let packed = size % natural != 0
            || fields
                .iter()
                .zip(&parts)
                .any(|(field, &(_, align))| field.offset % align != 0);
        let mut members = Vec::new();
        let mut places = Vec::new();
        let mut end = 0u64;
        for (at, (field, &(size, align))) in fields.iter().zip(&parts).enumerate() {
            if size == 0 {
                places.push(Member::Offset(field.offset));
                continue;
            }
            let next = if packed {
                end
            } else {
                end.next_multiple_of(align)
            };
            if next != field.offset {
                members.push((self.padding_type(field.offset - end), None));
            }
            places.push(Member::Index(members.len() as u32));
            members.push((ids[at], Some(at as u32)));
            end = field.offset + size;
        }
        let next = if packed {
            end
        } else {
            end.next_multiple_of(natural)
        };
        if next != size {
            members.push((self.padding_type(size - end), None));
        }
        let id = self.declare_structure(&members);
        if packed {
            self.decorate(id, decoration::C_PACKED, &[]);
        }
        self.name_structure(record, id, &members);
        Structure {
            id,
            fields: places,
            members,
            align: if packed { 1 } else { natural },
        }
    }

    fn declare_structure(&mut self, members: &[(Id, Option<u32>)]) -> Id {
        let id = self.words.id();
        let members: Vec<u32> = members.iter().map(|(member, _)| member.0).collect();
        let opcodes = [op::TYPE_STRUCT, op::TYPE_STRUCT_CONTINUED_INTEL];
        self.long_instruction(opcodes, &[id.0], &members);
        id
    }

    /// A union has no counterpart: it is an array of integers, whose members are reached by casting
    /// its address.
    fn union_structure(&mut self, record: RecordId) -> Structure {
        let fields = self.types.records[record.0 as usize].fields.as_ref();
        let fields = vec![Member::Offset(0); fields.map_or(0, Vec::len)];
        let words = self.union_words(record);
        let mut members = Vec::new();
        if words.count > 0 {
            let unit = Scalar::integer(words.unit as u32 * 8, false);
            let unit = self.scalar_type(unit);
            let count = self.int(Types::ULONG, words.count);
            members.push((self.raw_type(op::TYPE_ARRAY, &[unit.0, count.0]), None));
        }
        let id = self.declare_structure(&members);
        self.name_structure(record, id, &[]);
        Structure {
            id,
            fields,
            members,
            align: words.unit,
        }
    }

    pub fn union_words(&self, record: RecordId) -> UnionWords {
        let definition = &self.types.records[record.0 as usize];
        let unit = definition.align.min(8);
        UnionWords {
            unit,
            count: definition.size / unit,
        }
    }

    fn padding_type(&mut self, bytes: u64) -> Id {
        let byte = self.scalar_type(Scalar::UChar);
        let count = self.int(Types::ULONG, bytes);
        self.raw_type(op::TYPE_ARRAY, &[byte.0, count.0])
    }

    fn name_structure(&mut self, record: RecordId, id: Id, members: &[(Id, Option<u32>)]) {
        if !self.options.debug_info {
            return;
        }
        let definition = &self.types.records[record.0 as usize];
        if let Some(tag) = definition.tag {
            let name = self.interner.text(tag);
            self.words.names.push_debug_string(op::NAME, &[id.0], name);
        }
        let fields = definition.fields.as_deref().unwrap_or_default();
        for (index, &(_, field)) in members.iter().enumerate() {
            if let Some(name) = field.and_then(|field| fields[field as usize].name) {
                let name = self.interner.text(name);
                let operands = [id.0, index as u32];
                self.words
                    .names
                    .push_debug_string(op::MEMBER_NAME, &operands, name);
            }
        }
    }

    /// Where a field of a record type is.
    pub fn member(&mut self, ty: TypeId, field: u32) -> Member {
        self.type_id(ty);
        let Type::Record(record) = self.types.get(ty) else {
            unreachable!("only records have fields");
        };
        self.structures[record].fields[field as usize]
    }

    /// Its type, of parameters as `head` of `function.rs` has them.
    pub fn function_type(&mut self, result: Id, params: &[Id]) -> Id {
        let mut operands = vec![result.0];
        operands.extend(params.iter().map(|param| param.0));
        self.raw_type(op::TYPE_FUNCTION, &operands)
    }

    /// The type of a function's parameter: records are passed by the address of a copy, as
    /// `FuncParamAttr ByVal` says.
    pub fn parameter_type(&mut self, ty: TypeId) -> Id {
        if self.in_memory(ty) {
            self.pointer_to(ty, Space::Private)
        } else {
            self.type_id(ty)
        }
    }

    /// Whether values of a type stay in memory.
    pub fn in_memory(&self, ty: TypeId) -> bool {
        matches!(self.types.get(ty), Type::Record(_) | Type::Array { .. })
    }

    /// SPIR-V Specification, `OpBuildNDRange`.
    fn nd_range_type(&mut self) -> Id {
        let uint = self.scalar_type(Scalar::UInt);
        let ulong = self.scalar_type(Scalar::ULong);
        let three = self.int(Types::ULONG, 3);
        let sizes = self.raw_type(op::TYPE_ARRAY, &[ulong.0, three.0]);
        self.raw_type(op::TYPE_STRUCT, &[uint.0, sizes.0, sizes.0, sizes.0])
    }

    fn image_type(&mut self, dim: ImageDim, access: Access) -> Id {
        let (dimension, depth, arrayed, multisampled) = match dim {
            ImageDim::D1 => (0, 0, 0, 0),
            ImageDim::D1Array => (0, 0, 1, 0),
            ImageDim::D1Buffer => (5, 0, 0, 0),
            ImageDim::D2 => (1, 0, 0, 0),
            ImageDim::D2Array => (1, 0, 1, 0),
            ImageDim::D2Depth => (1, 1, 0, 0),
            ImageDim::D2ArrayDepth => (1, 1, 1, 0),
            ImageDim::D2Msaa => (1, 0, 0, 1),
            ImageDim::D2ArrayMsaa => (1, 0, 1, 1),
            ImageDim::D2MsaaDepth => (1, 1, 0, 1),
            ImageDim::D2ArrayMsaaDepth => (1, 1, 1, 1),
            ImageDim::D3 => (2, 0, 0, 0),
        };
        self.capability(capability::IMAGE_BASIC);
        match dim {
            ImageDim::D1 | ImageDim::D1Array => self.capability(capability::SAMPLED1D),
            ImageDim::D1Buffer => self.capability(capability::SAMPLED_BUFFER),
            _ => {}
        }
        if access == Access::ReadWrite {
            self.capability(capability::IMAGE_READ_WRITE);
        }
        let void = self.raw_type(op::TYPE_VOID, &[]);
        let operands = [
            void.0,
            dimension,
            depth,
            arrayed,
            multisampled,
            0,
            0,
            access_qualifier(access),
        ];
        self.raw_type(op::TYPE_IMAGE, &operands)
    }

    /// The type of a function that the source has.
    pub fn type_of_function(&mut self, function: &Function) -> Id {
        let mut params = Vec::new();
        let result = if self.in_memory(function.result) {
            params.push(self.pointer_to(function.result, Space::Private));
            Types::VOID
        } else {
            function.result
        };
        for local in &function.locals[..function.params as usize] {
            params.push(self.parameter_type(local.ty));
        }
        let result = self.type_id(result);
        self.function_type(result, &params)
    }
}

fn access_qualifier(access: Access) -> u32 {
    match access {
        Access::ReadOnly => 0,
        Access::WriteOnly => 1,
        Access::ReadWrite => 2,
    }
}
