//! Constants and variables of the module.

use super::module::ModuleEmitter;
use super::types::storage_class;
use super::words::{Id, MAX_LENGTH};
use crate::hir::{Constant, Global, GlobalId, Linkage};
use crate::spirv::{capability, decoration, linkage, op};
use crate::types::{RecordId, Scalar, Space, Type, TypeId, Types};

impl ModuleEmitter<'_> {
    /// An integer, of its low bits; a Boolean.
    pub fn int(&mut self, ty: TypeId, value: u64) -> Id {
        if let Type::Truth(1) = self.types.get(ty) {
            return self.truth(value != 0);
        }
        let bits = match self.types.as_arithmetic(ty) {
            Some((scalar, _)) => scalar.bits(),
            None => 64,
        };
        let ty = self.type_id(ty);
        match bits {
            64 => self.interned(
                op::CONSTANT,
                Some(ty),
                &[value as u32, (value >> 32) as u32],
            ),
            // "Types 32 bits wide or smaller take one word"; those without a sign are extended by
            // zeros.
            bits => {
                let value = value as u32 & (u32::MAX >> (32 - bits));
                self.interned(op::CONSTANT, Some(ty), &[value])
            }
        }
    }

    pub fn truth(&mut self, value: bool) -> Id {
        let ty = self.truth_type(1);
        let opcode = if value {
            op::CONSTANT_TRUE
        } else {
            op::CONSTANT_FALSE
        };
        self.interned(opcode, Some(ty), &[])
    }

    /// All bytes zero, or false.
    pub fn null(&mut self, ty: TypeId) -> Id {
        let ty = self.type_id(ty);
        self.interned(op::CONSTANT_NULL, Some(ty), &[])
    }

    /// An integer in every lane.
    pub fn splat_int(&mut self, ty: TypeId, value: u64) -> Id {
        self.splat_constant(ty, &Constant::Int(value))
    }

    /// 1 in every lane, of a floating-point type.
    pub fn one(&mut self, ty: TypeId) -> Id {
        let bits = match self.types.as_arithmetic(ty) {
            Some((Scalar::Half, _)) => 0x3c00,
            Some((Scalar::Float, _)) => 1f32.to_bits().into(),
            _ => 1f64.to_bits(),
        };
        self.splat_constant(ty, &Constant::Float(bits))
    }

    fn splat_constant(&mut self, ty: TypeId, value: &Constant) -> Id {
        match *self.types.get(ty) {
            Type::Vector(scalar, lanes) => {
                let component = self.types.scalar(scalar);
                let component = self.constant(value, component);
                let ty = self.type_id(ty);
                self.interned(
                    op::CONSTANT_COMPOSITE,
                    Some(ty),
                    &vec![component.0; lanes.into()],
                )
            }
            _ => self.constant(value, ty),
        }
    }

    pub fn constant(&mut self, constant: &Constant, ty: TypeId) -> Id {
        if let Type::Atomic(inner) = *self.types.get(ty) {
            return self.constant(constant, inner);
        }
        match constant {
            Constant::Zero => self.null(ty),
            Constant::Int(value) => self.int(ty, *value),
            Constant::Float(bits) => {
                let wide = self.types.layout(ty).is_some_and(|(size, _)| size == 8);
                let ty = self.type_id(ty);
                let words = [*bits as u32, (*bits >> 32) as u32];
                self.interned(op::CONSTANT, Some(ty), &words[..1 + usize::from(wide)])
            }
            Constant::Aggregate(parts) => {
                stacker::maybe_grow(128 << 10, 1 << 20, || self.aggregate(parts, ty))
            }
            Constant::Union { field, value } => self.union(*field, value, ty),
            Constant::Address { global, offset } => self.address(*global, *offset, ty),
            Constant::Sampler(bits) => {
                // What environments have of one they have of the other.
                self.capability(capability::IMAGE_BASIC);
                self.capability(capability::LITERAL_SAMPLER);
                let ty = self.type_id(ty);
                // Addressing, whether coordinates are normalized, filter; the numbers of OpenCL C's
                // constants are those of SPIR-V, shifted.
                let filter = (bits >> 4 & 3).saturating_sub(1);
                self.interned(
                    op::CONSTANT_SAMPLER,
                    Some(ty),
                    &[bits >> 1 & 7, bits & 1, filter],
                )
            }
            Constant::Pointer(bits) => {
                let value = self.int(Types::ULONG, *bits);
                let ty = self.type_id(ty);
                self.constant_op(ty, op::CONVERT_U_TO_PTR, &[value.0])
            }
            // A block that captures nothing has no record.
            Constant::Block(_) => self.null(ty),
        }
    }

    fn constant_op(&mut self, ty: Id, opcode: u16, operands: &[u32]) -> Id {
        let mut words = vec![u32::from(opcode)];
        words.extend_from_slice(operands);
        self.interned(op::SPEC_CONSTANT_OP, Some(ty), &words)
    }

    fn aggregate(&mut self, parts: &[Constant], ty: TypeId) -> Id {
        let part = |at: usize| parts.get(at).unwrap_or(&Constant::Zero);
        match *self.types.get(ty) {
            Type::Vector(scalar, lanes) => {
                let component = self.types.scalar(scalar);
                let ids = (0..lanes.into()).map(|at| self.constant(part(at), component).0);
                let ids = ids.collect();
                self.composite(ty, ids)
            }
            Type::Truth(lanes) => {
                let ids = (0..lanes.into()).map(|at| self.constant(part(at), Types::TRUTH).0);
                let ids = ids.collect();
                self.composite(ty, ids)
            }
            Type::Array { element, len } => {
                let len = len.unwrap_or(0).max(1) as usize;
                let ids = (0..len).map(|at| self.constant(part(at), element.ty).0);
                let ids = ids.collect();
                self.composite(ty, ids)
            }
            Type::Record(record) => self.structure_constant(parts, ty, record),
            ref other => unreachable!("{other:?} has no parts"),
        }
    }

    fn structure_constant(&mut self, parts: &[Constant], ty: TypeId, record: RecordId) -> Id {
        self.type_id(ty);
        let fields = self.types.records[record.0 as usize].fields.clone();
        let fields = fields.unwrap_or_default();
        let members = self.structures[&record].members.clone();
        let mut ids = Vec::new();
        for (member, field) in members {
            let id = match field {
                Some(field) => {
                    let value = parts.get(field as usize).unwrap_or(&Constant::Zero);
                    self.constant(value, fields[field as usize].ty.ty)
                }
                None => self.interned(op::CONSTANT_NULL, Some(member), &[]),
            };
            ids.push(id.0);
        }
        self.composite(ty, ids)
    }

    fn composite(&mut self, ty: TypeId, ids: Vec<u32>) -> Id {
        let ty = self.type_id(ty);
        self.composite_of(ty, ids)
    }

    fn composite_of(&mut self, ty: Id, ids: Vec<u32>) -> Id {
        if ids.len() + 3 <= MAX_LENGTH {
            return self.interned(op::CONSTANT_COMPOSITE, Some(ty), &ids);
        }
        let id = self.words.id();
        let opcodes = [
            op::CONSTANT_COMPOSITE,
            op::CONSTANT_COMPOSITE_CONTINUED_INTEL,
        ];
        self.long_instruction(opcodes, &[ty.0, id.0], &ids);
        id
    }

    /// An instruction of the module's, which others continue if it has too many operands.
    pub fn long_instruction(&mut self, opcodes: [u16; 2], before: &[u32], all: &[u32]) {
        if self.words.globals.push_long(opcodes, before, all) {
            self.capability(capability::LONG_COMPOSITES_INTEL);
            self.extension("SPV_INTEL_long_composites");
        }
    }

    /// A union's constant: the bytes of the member's, as integers.
    fn union(&mut self, field: u32, value: &Constant, ty: TypeId) -> Id {
        self.type_id(ty);
        let Type::Record(record) = *self.types.get(ty) else {
            unreachable!("only unions have constants of one field");
        };
        let words = self.union_words(record);
        let definition = &self.types.records[record.0 as usize];
        let member = definition.fields.as_ref().expect("is complete")[field as usize]
            .ty
            .ty;
        let mut image = Image {
            bytes: vec![0; (words.unit * words.count) as usize],
            addresses: Vec::new(),
        };
        self.write(value, member, 0, &mut image);
        let unit = Scalar::integer(words.unit as u32 * 8, false);
        let unit_ty = self.types.scalar(unit);
        let mut parts = Vec::new();
        for chunk in image.bytes.chunks_exact(words.unit as usize) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            parts.push(self.int(unit_ty, u64::from_le_bytes(bytes)).0);
        }
        for (at, address, pointer) in image.addresses {
            let address = self.constant(&address, pointer);
            let unit_id = self.type_id(unit_ty);
            let bits = self.constant_op(unit_id, op::CONVERT_PTR_TO_U, &[address.0]);
            parts[(at / words.unit) as usize] = bits.0;
        }
        let array = self.structures[&record]
            .members
            .first()
            .map(|member| member.0);
        let parts = match array {
            Some(array) => vec![self.composite_of(array, parts).0],
            None => Vec::new(),
        };
        self.composite(ty, parts)
    }

    /// Writes a constant's bytes, and notes which of them are addresses.
    fn write(&self, value: &Constant, ty: TypeId, at: u64, image: &mut Image) {
        let size = self.types.layout(ty).map_or(0, |(size, _)| size);
        match value {
            Constant::Zero | Constant::Sampler(_) | Constant::Block(_) => {}
            Constant::Int(bits) | Constant::Float(bits) | Constant::Pointer(bits) => {
                image.put(at, &bits.to_le_bytes()[..size.min(8) as usize]);
            }
            Constant::Union { field, value } => {
                self.write(value, self.field_type(ty, *field).0, at, image);
            }
            Constant::Address { .. } => image.addresses.push((at, value.clone(), ty)),
            Constant::Aggregate(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    let (part_ty, offset) = match self.types.get(ty) {
                        Type::Record(_) => self.field_type(ty, index as u32),
                        Type::Vector(scalar, _) => {
                            let component = self.types.scalar(*scalar);
                            (component, u64::from(scalar.bits() / 8) * index as u64)
                        }
                        Type::Array { element, .. } => {
                            let size = self.types.layout(element.ty).map_or(0, |(size, _)| size);
                            (element.ty, size * index as u64)
                        }
                        other => unreachable!("{other:?} has no parts"),
                    };
                    self.write(part, part_ty, at + offset, image);
                }
            }
        }
    }

    fn field_type(&self, ty: TypeId, field: u32) -> (TypeId, u64) {
        let Type::Record(record) = self.types.get(ty) else {
            unreachable!("only records have fields");
        };
        let fields = self.types.records[record.0 as usize].fields.as_ref();
        let field = &fields.expect("is complete")[field as usize];
        (field.ty.ty, field.offset)
    }

    /// The address of a variable plus bytes.
    fn address(&mut self, global: GlobalId, offset: i64, ty: TypeId) -> Id {
        let variable = &self.hir_globals[global.0 as usize];
        let (pointee, from) = (variable.ty, variable.space);
        let mut id = self.global(global);
        let mut have = self.pointer_to(pointee, from);
        let Type::Pointer { space, .. } = *self.types.get(ty) else {
            // An address as an integer.
            let address = self.moved(id, from, offset);
            let ty = self.type_id(ty);
            return self.constant_op(ty, op::CONVERT_PTR_TO_U, &[address.0]);
        };
        if offset != 0 {
            id = self.moved(id, from, offset);
            have = self.pointer_to(Types::UCHAR, from);
        }
        let want = self.type_id(ty);
        if space == from {
            return if have == want {
                id
            } else {
                self.constant_op(want, op::BITCAST, &[id.0])
            };
        }
        let bytes = self.pointer_to(Types::UCHAR, from);
        if have != bytes {
            id = self.constant_op(bytes, op::BITCAST, &[id.0]);
        }
        let generic = self.pointer_to(Types::UCHAR, space);
        id = self.constant_op(generic, op::PTR_CAST_TO_GENERIC, &[id.0]);
        if generic == want {
            id
        } else {
            self.constant_op(want, op::BITCAST, &[id.0])
        }
    }

    /// A variable's address plus bytes, as a pointer to bytes.
    fn moved(&mut self, variable: Id, space: Space, offset: i64) -> Id {
        let bytes = self.pointer_to(Types::UCHAR, space);
        let start = self.constant_op(bytes, op::BITCAST, &[variable.0]);
        if offset == 0 {
            return start;
        }
        let offset = self.int(Types::LONG, offset as u64);
        self.constant_op(bytes, op::IN_BOUNDS_PTR_ACCESS_CHAIN, &[start.0, offset.0])
    }

    /// A variable of program scope, which is declared where it is first used.
    pub fn global(&mut self, id: GlobalId) -> Id {
        let index = id.0 as usize;
        if let Some(id) = self.global_ids[index] {
            self.used_variables.insert(id);
            return id;
        }
        let globals = self.hir_globals;
        let global = &globals[index];
        if !self.globals_begun.insert(id) {
            self.errors.push((
                global.loc,
                "SPIR-V has no initialiser that holds the variable's own address".to_owned(),
            ));
            let ty = self.pointer_to(global.ty, global.space);
            return self.interned(op::CONSTANT_NULL, Some(ty), &[]);
        }
        let outer = std::mem::take(&mut self.used_variables);
        let init = self.initializer(global);
        let inner = std::mem::replace(&mut self.used_variables, outer);
        let result = self.variable(global, init);
        self.global_ids[index] = Some(result);
        self.used_variables.insert(result);
        self.used_by_variables
            .insert(result, inner.into_iter().collect());
        result
    }

    fn initializer(&mut self, global: &Global) -> Option<Id> {
        if global.linkage == Linkage::Import || global.space == Space::Local {
            return None;
        }
        Some(match &global.init {
            Some(init) => self.constant(init, global.ty),
            None => self.null(global.ty),
        })
    }

    fn variable(&mut self, global: &Global, init: Option<Id>) -> Id {
        let id = self.declare_variable(global.ty, global.space, init);
        let name = self.interner.text(global.name);
        self.words.names.push_debug_string(op::NAME, &[id.0], name);
        if global.is_const && global.space != Space::Local {
            self.decorate(id, decoration::CONSTANT, &[]);
        }
        self.decorate(id, decoration::ALIGNMENT, &[global.align as u32]);
        self.link(id, name, global.linkage);
        self.check_lengths(None, global.loc);
        id
    }

    fn declare_variable(&mut self, ty: TypeId, space: Space, init: Option<Id>) -> Id {
        let ty = self.pointer_to(ty, space);
        let id = self.words.id();
        let mut operands = vec![ty.0, id.0, storage_class(space)];
        operands.extend(init.map(|init| init.0));
        self.words.globals.push(op::VARIABLE, &operands);
        id
    }

    /// A constant in memory.
    pub fn constant_in_memory(&mut self, constant: &Constant, ty: TypeId) -> Id {
        let init = self.constant(constant, ty);
        let id = match self.constants_in_memory.get(&init) {
            Some(&id) => id,
            None => {
                let id = self.declare_variable(ty, Space::Constant, Some(init));
                self.decorate(id, decoration::CONSTANT, &[]);
                let align = self.alignment(ty);
                self.decorate_alignment(id, ty, align);
                self.constants_in_memory.insert(init, id);
                id
            }
        };
        self.used_variables.insert(id);
        id
    }

    /// What the linker knows a function or variable by.
    pub fn link(&mut self, id: Id, name: &str, how: Linkage) {
        let kind = match how {
            Linkage::Internal => return,
            Linkage::Export => linkage::EXPORT,
            Linkage::Import => linkage::IMPORT,
            Linkage::LinkOnce => {
                self.words.extensions.insert("SPV_KHR_linkonce_odr");
                linkage::LINK_ONCE_ODR
            }
        };
        self.capability(capability::LINKAGE);
        let operands = [id.0, decoration::LINKAGE_ATTRIBUTES];
        self.words
            .decorations
            .push_string(op::DECORATE, &operands, name, &[kind]);
    }
}

/// A constant as bytes.
struct Image {
    bytes: Vec<u8>,
    /// Where addresses are, and of what pointer type.
    addresses: Vec<(u64, Constant, TypeId)>,
}

impl Image {
    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.bytes[at as usize..][..bytes.len()].copy_from_slice(bytes);
    }
}
