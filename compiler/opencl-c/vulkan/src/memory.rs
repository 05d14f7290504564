//! Memory: pointers to indices, accesses to paths into variables.

use rspirv::spirv::{Op, StorageClass};

use super::input::Constant;
use super::ir::{Arg, Id, Inst};
use super::lower::{Lower, NULL_TAG, Pointer, Result, Tag, Val};
use super::pointers::{
    Access, Added, ClassId, Copy, Object, Place, Step, Stride, Unit, VectorAccess, leaves, place,
    runs,
};
use super::types::{Ty, Type};

/// Most units that are copied one by one, and not in a loop.
const MOST_UNITS: u64 = 16;

impl Lower<'_> {
    fn unit(&self, class: ClassId) -> Result<Unit> {
        match self.pointers.get(class).unit {
            Some(unit) => Ok(unit),
            None => self.error("a pointer into nothing that is known"),
        }
    }

    pub fn class(&self, pointer: Id) -> Result<ClassId> {
        match self.pointers.class_of(pointer) {
            Some(class) => Ok(class),
            None => self.error("a pointer into nothing that is known"),
        }
    }

    /// What a pointer became; `class` is that of a null pointer.
    fn pointer_in(&mut self, id: Id, class: Option<ClassId>) -> Result<Pointer> {
        if let Some((_, Constant::Null | Constant::Undef)) = self.input.constants.get(&id) {
            return match class {
                Some(class) => Ok(Pointer {
                    class,
                    tag: Tag::Null,
                    terms: Vec::new(),
                    add: 0,
                }),
                None => self.error("memory is accessed by a null pointer"),
            };
        }
        match self.values.get(&id) {
            Some(Val::Pointer(pointer)) => return Ok(pointer.clone()),
            Some(_) => return self.error("a pointer is made of something else"),
            None => {}
        }
        let class = self.class(id)?;
        match self.pointers.tag(id) {
            Some(tag) => Ok(Pointer {
                class,
                tag: Tag::Known(tag),
                terms: Vec::new(),
                add: 0,
            }),
            None => self.error("a pointer into nothing that is known"),
        }
    }

    pub fn pointer(&mut self, id: Id) -> Result<Pointer> {
        self.pointer_in(id, None)
    }

    /// A pointer made of another one.
    pub fn derived(&mut self, inst: &Inst) -> Result<()> {
        let class = self.class(inst.id)?;
        let mut pointer = self.pointer_in(inst.id_at(0), Some(class))?;
        let pointers = self.pointers;
        for &added in pointers.added(inst.id) {
            match added {
                Added::Bytes(bytes) => pointer.add = pointer.add.wrapping_add(bytes),
                Added::Term(stride, index) => {
                    let ty = self.ty_of(index)?;
                    let index = self.id(index)?;
                    let index = self.low(index, ty);
                    pointer.terms.push((stride, index));
                }
            }
        }
        self.values.insert(inst.id, Val::Pointer(pointer));
        Ok(())
    }

    /// The sum of products, and of a constant.
    fn sum(&mut self, terms: &[(u64, Id)], add: i64) -> Id {
        let word = self.u32_ty();
        let mut sum = None;
        for &(factor, term) in terms {
            let product = match (factor, self.target.known_bits(term)) {
                (1, _) => term,
                (_, Some(bits)) => self.target.u32((bits as u32).wrapping_mul(factor as u32)),
                _ => {
                    let factor = self.target.u32(factor as u32);
                    self.once(Op::IMul, word, term, factor)
                }
            };
            sum = Some(match sum {
                Some(sum) => self.once(Op::IAdd, word, sum, product),
                None => product,
            });
        }
        match sum {
            None => self.target.u32(add as u32),
            Some(sum) if add == 0 => sum,
            Some(sum) => {
                let add = self.target.u32(add as u32);
                self.once(Op::IAdd, word, sum, add)
            }
        }
    }

    /// An instruction of an index, once in a block.
    fn once(&mut self, op: Op, ty: Ty, left: Id, right: Id) -> Id {
        let key = (op as u32, left, right);
        if let Some(&known) = self.sums.get(&key) {
            return known;
        }
        let id = self.emit(op, ty, &[left, right]);
        self.sums.insert(key, id);
        id
    }

    /// Units from the beginning, for a pointer that is kept.
    fn units(&mut self, pointer: &Pointer) -> Result<Id> {
        let unit = self.unit(pointer.class)?;
        let size = unit.size;
        let scaled: Vec<(u64, Id)> = pointer
            .terms
            .iter()
            .map(|&(stride, term)| (stride.bytes / size, term))
            .collect();
        Ok(self.sum(&scaled, pointer.add.div_euclid(size as i64)))
    }

    /// Bytes from the beginning.
    fn bytes(&mut self, pointer: &Pointer) -> Id {
        let terms = pointer.terms.iter();
        let terms: Vec<(u64, Id)> = terms.map(|&(stride, term)| (stride.bytes, term)).collect();
        self.sum(&terms, pointer.add)
    }

    fn tag(&mut self, pointer: &Pointer) -> Id {
        match pointer.tag {
            Tag::Known(tag) => self.target.u32(tag),
            Tag::Chosen(id) => id,
            Tag::Null => self.target.u32(NULL_TAG),
        }
    }

    /// A pointer of its unit's number and its object's.
    fn kept(&mut self, class: ClassId, units: Id, tag: Option<Id>) -> Result<Pointer> {
        let size = self.unit(class)?.size;
        let tag = match tag {
            Some(tag) => Tag::Chosen(tag),
            None if self.pointers.get(class).objects.is_empty() => Tag::Null,
            None => Tag::Known(0),
        };
        Ok(Pointer {
            class,
            tag,
            terms: vec![(Stride::anywhere(size), units)],
            add: 0,
        })
    }

    pub fn select_pointer(&mut self, inst: &Inst) -> Result<()> {
        let class = self.class(inst.id)?;
        let condition = self.id(inst.id_at(0))?;
        let word = self.u32_ty();
        let (yes, no) = (
            self.pointer_in(inst.id_at(1), Some(class))?,
            self.pointer_in(inst.id_at(2), Some(class))?,
        );
        let choose = |lower: &mut Self, yes: Id, no: Id| match yes == no {
            true => yes,
            false => lower.emit(Op::Select, word, &[condition, yes, no]),
        };
        let units = (self.units(&yes)?, self.units(&no)?);
        let units = choose(self, units.0, units.1);
        let mut tag = None;
        if self.pointers.get(class).is_tagged() {
            let tags = (self.tag(&yes), self.tag(&no));
            tag = Some(choose(self, tags.0, tags.1));
        }
        let pointer = self.kept(class, units, tag)?;
        self.values.insert(inst.id, Val::Pointer(pointer));
        Ok(())
    }

    // Types in memory.

    /// The type of pointers that are kept in a class.
    fn kept_type(&mut self, class: ClassId) -> Ty {
        let word = self.u32_ty();
        let content = self.pointers.content(class);
        match content.is_some_and(|content| self.pointers.get(content).is_tagged()) {
            true => self.target.types.vector(word, 2),
            false => word,
        }
    }

    /// A type as it is in memory of a class.
    fn stored(&mut self, ty: Ty, class: ClassId) -> Ty {
        if self.target.types.is_plain(ty, false) {
            return ty;
        }
        if let Some(&known) = self.stored.get(&(ty, class)) {
            return known;
        }
        let stored = match self.target.types.get(ty).clone() {
            Type::Pointer(..) => self.kept_type(class),
            Type::Array(element, length) => {
                let element = self.stored(element, class);
                self.target.types.add(Type::Array(element, length))
            }
            Type::Struct { members, packed } => {
                let members = members.iter().map(|&member| self.stored(member, class));
                let members = members.collect();
                self.target.types.add(Type::Struct { members, packed })
            }
            _ => ty,
        };
        self.stored.insert((ty, class), stored);
        stored
    }

    /// The variable of an object.
    fn variable_of(&mut self, object: &Object, class: ClassId) -> Result<Id> {
        if let Some(&id) = self.objects.get(&object.id) {
            return Ok(id);
        }
        let unit = self.unit(class)?;
        let stored = self.stored(unit.ty, class);
        let bytes = object.size.unwrap_or(unit.size);
        let ty = match unit.single {
            true => stored,
            false => {
                let length = (bytes / unit.size).max(1);
                self.target.types.add(Type::Array(stored, length))
            }
        };
        let name = self.input.names.get(&object.id).cloned();
        let id = match object.class {
            StorageClass::Function => self.variable(ty),
            StorageClass::Workgroup => self.target.variable(StorageClass::Workgroup, ty, None),
            class @ (StorageClass::UniformConstant | StorageClass::CrossWorkgroup) => {
                let global = &self.input.globals[&object.id];
                let mut data = vec![0; bytes as usize];
                if let Some(init) = global.init {
                    self.constant_bytes(init, &mut data)?;
                }
                match (class, self.options.constants_in_buffer) {
                    (StorageClass::CrossWorkgroup, _) => {
                        self.check_leaves(unit.ty)?;
                        self.check_storage(unit.ty, StorageClass::StorageBuffer)?;
                        self.shared
                            .program_variable(self.target, object.id, ty, &data)
                    }
                    (_, true) => self.shared.constant(self.target, object.id, ty, &data),
                    (_, false) => {
                        let init = self.constant_of(ty, unit.size, &data)?;
                        self.target.variable(StorageClass::Private, ty, Some(init))
                    }
                }
            }
            class => return self.error(format!("a variable in {class:?} memory")),
        };
        if let Some(name) = name {
            self.target.names.push((id, name));
        }
        self.objects.insert(object.id, id);
        Ok(id)
    }

    /// The bytes of a constant, into zeros.
    pub fn constant_bytes(&mut self, id: Id, data: &mut [u8]) -> Result<()> {
        let input = self.input;
        let Some((ty, constant)) = input.constants.get(&id) else {
            return self.error("an initialiser has an address, which Vulkan's pointers have not");
        };
        match constant {
            Constant::Bool(value) => data[0] = u8::from(*value),
            Constant::Bits(bits) => {
                let size = self.target.types.size(*ty) as usize;
                data[..size].copy_from_slice(&bits.to_le_bytes()[..size]);
            }
            Constant::Null | Constant::Undef => {}
            Constant::Composite(parts) => {
                let types = &self.target.types;
                let offsets = match types.get(*ty) {
                    Type::Struct { .. } => types.offsets(*ty).to_vec(),
                    &Type::Array(element, _) | &Type::Vector(element, _) => {
                        let size = types.size(element);
                        (0..parts.len() as u64).map(|at| at * size).collect()
                    }
                    _ => Vec::new(),
                };
                for (&part, offset) in parts.iter().zip(offsets) {
                    self.constant_bytes(part, &mut data[offset as usize..])?;
                }
            }
            Constant::Sampler(..) => return self.error("a sampler in memory"),
        }
        Ok(())
    }

    /// A constant of bytes. Elements of the outermost array are so many bytes apart.
    fn constant_of(&mut self, ty: Ty, unit: u64, data: &[u8]) -> Result<Id> {
        if data.iter().all(|&byte| byte == 0) {
            return Ok(self.target.null(ty));
        }
        let parts: Vec<(Ty, u64)> = match self.target.types.get(ty).clone() {
            Type::Array(element, length) => (0..length).map(|at| (element, at * unit)).collect(),
            Type::Vector(scalar, lanes) => {
                let size = self.target.types.size(scalar);
                (0..lanes)
                    .map(|at| (scalar, u64::from(at) * size))
                    .collect()
            }
            Type::Struct { members, .. } => {
                let offsets = self.target.types.offsets(ty);
                members.into_iter().zip(offsets.iter().copied()).collect()
            }
            Type::Bool => return Ok(self.target.bool(data[0] != 0)),
            _ => {
                self.check_type(ty)?;
                let mut bytes = [0; 8];
                let size = self.target.types.size(ty) as usize;
                bytes[..size].copy_from_slice(&data[..size]);
                return Ok(self.target.bits(ty, u64::from_le_bytes(bytes)));
            }
        };
        let mut ids = Vec::with_capacity(parts.len());
        for (part, at) in parts {
            let inner = match *self.target.types.get(part) {
                Type::Array(element, _) => self.target.types.size(element),
                _ => 0,
            };
            let end = (at + self.target.types.size(part)).min(data.len() as u64);
            ids.push(self.constant_of(part, inner, &data[at as usize..end as usize])?);
        }
        Ok(self.target.composite(ty, &ids))
    }

    // Accesses.

    /// Does something for the object that a pointer points into. `of` is the type of the result.
    fn for_object(
        &mut self,
        pointer: &Pointer,
        of: Option<Ty>,
        mut access: impl FnMut(&mut Self, &Object) -> Result<Option<Id>>,
    ) -> Result<Option<Id>> {
        let pointers = self.pointers;
        let objects = &pointers.get(pointer.class).objects;
        match pointer.tag {
            Tag::Known(tag) => access(self, &objects[tag as usize]),
            Tag::Chosen(_) if objects.len() == 1 => access(self, &objects[0]),
            Tag::Chosen(tag) => {
                let result = of.map(|ty| (ty, self.variable(ty)));
                let after = self.target.id();
                let labels: Vec<Id> = objects.iter().map(|_| self.target.id()).collect();
                let Some((&last, others)) = labels.split_last() else {
                    return self.error("a pointer into nothing that is known");
                };
                let mut args = vec![Arg::Id(tag), Arg::Id(last)];
                for (number, &label) in (0..).zip(others) {
                    args.extend([Arg::Lit(number), Arg::Id(label)]);
                }
                self.end(Inst::new(Op::Switch, args));
                for (object, label) in objects.iter().zip(labels) {
                    self.begin(label);
                    let value = access(self, object)?;
                    if let (Some((_, place)), Some(value)) = (result, value) {
                        self.store_variable(place, value);
                    }
                    self.branch(after);
                }
                self.begin(after);
                Ok(result.map(|(ty, place)| self.load_variable(ty, place)))
            }
            // Never reached by what is defined.
            Tag::Null => Ok(of.map(|ty| self.target.null(ty))),
        }
    }

    /// A pointer of Vulkan's, by a path into an object.
    fn path(&mut self, object: &Object, class: ClassId, steps: &[Step<Id>], ty: Ty) -> Result<Id> {
        let variable = self.variable_of(object, class)?;
        let (storage, in_block) = match self.target.variable_type(variable) {
            Some((storage, ty)) => (storage, matches!(self.target.types.get(ty), Type::Block(_))),
            None => (StorageClass::Function, false),
        };
        let mut indices = vec![variable];
        if in_block {
            indices.push(self.target.u32(0));
        }
        for step in steps {
            indices.push(match step {
                Step::Member(member) => self.target.u32(*member),
                Step::Index(terms, add) => self.sum(terms, *add),
            });
        }
        if let [variable] = indices[..] {
            return Ok(variable);
        }
        let pointer = self.target.types.pointer(storage, ty);
        Ok(self.emit(Op::AccessChain, pointer, &indices))
    }

    fn place_of(&mut self, pointer: &Pointer, ty: Ty, atomic: bool) -> Result<(Place<Id>, Unit)> {
        let unit = self.unit(pointer.class)?;
        let access = Access { ty, atomic };
        let place = place(
            &self.target.types,
            unit,
            &pointer.terms,
            pointer.add,
            access,
        );
        match place {
            Some(place) => Ok((place, unit)),
            None => self.error(format!(
                "memory is accessed as '{}' here and as '{}' elsewhere, which Vulkan's pointers \
                 cannot express",
                self.target.types.name(ty),
                self.target.types.name(unit.ty),
            )),
        }
    }

    /// A pointer of Vulkan's to a scalar that is accessed atomically, for each object.
    pub fn with_place(
        &mut self,
        pointer: &Pointer,
        ty: Ty,
        of: Option<Ty>,
        mut access: impl FnMut(&mut Self, Id, StorageClass) -> Result<Option<Id>>,
    ) -> Result<Option<Id>> {
        let (place, unit) = self.place_of(pointer, ty, true)?;
        let Place::At(steps, at) = place else {
            return self.error(format!(
                "'{}' is accessed atomically here and in other parts elsewhere",
                self.target.types.name(unit.ty)
            ));
        };
        self.for_object(pointer, of, |lower, object| {
            let id = lower.path(object, pointer.class, &steps, at)?;
            let variable = lower.variable_of(object, pointer.class)?;
            let class = lower.target.variable_type(variable);
            access(
                lower,
                id,
                class.map_or(StorageClass::Function, |(class, _)| class),
            )
        })
    }

    /// Loads a scalar, vector or pointer.
    pub fn load(&mut self, pointer: &Pointer, ty: Ty, volatile: bool) -> Result<Val> {
        if self.target.types.is_pointer(ty) {
            return self.load_pointer(pointer, ty);
        }
        let (place, unit) = self.place_of(pointer, ty, false)?;
        let id = self.for_object(pointer, Some(ty), |lower, object| {
            Ok(Some(match &place {
                Place::At(steps, at) => {
                    let from = lower.path(object, pointer.class, steps, *at)?;
                    let value = lower.load_from(*at, from, volatile);
                    lower.cast_bits(value, *at, ty)?
                }
                Place::Units(terms, add, count) => {
                    let first = lower.sum(terms, 0);
                    let mut units = Vec::new();
                    for unit_at in 0..i64::from(*count) {
                        let steps = [Step::Index(vec![(1, first)], add + unit_at)];
                        let from = lower.path(object, pointer.class, &steps, unit.ty)?;
                        units.push(lower.load_from(unit.ty, from, volatile));
                    }
                    lower.assemble(&units, unit.ty, ty)?
                }
            }))
        })?;
        match id {
            Some(id) => Ok(Val::Id(id)),
            None => self.error("nothing is loaded"),
        }
    }

    fn load_from(&mut self, ty: Ty, from: Id, volatile: bool) -> Id {
        let mut args = vec![Arg::Id(from)];
        if volatile {
            args.push(Arg::Lit(1));
        }
        self.emit_args(Op::Load, ty, args)
    }

    fn store_to(&mut self, to: Id, value: Id, volatile: bool) {
        let mut args = vec![Arg::Id(to), Arg::Id(value)];
        if volatile {
            args.push(Arg::Lit(1));
        }
        let mut inst = Inst::new(Op::Store, args);
        inst.line = self.line;
        self.push(inst);
    }

    /// The class of pointers in what a pointer points into, and whether they may be kept there.
    fn content(&mut self, pointer: &Pointer) -> Result<ClassId> {
        let class = self.pointers.get(pointer.class);
        if class.objects.iter().any(Object::is_host) {
            return self.error(
                "a pointer in global or constant memory: Vulkan's pointers exist only in a kernel",
            );
        }
        match self.pointers.content(pointer.class) {
            Some(content) => Ok(content),
            None => self.error("a pointer into nothing that is known"),
        }
    }

    fn load_pointer(&mut self, pointer: &Pointer, ty: Ty) -> Result<Val> {
        let content = self.content(pointer)?;
        let kept = self.kept_type(pointer.class);
        let (place, _) = self.place_of(pointer, ty, false)?;
        let Place::At(steps, _) = place else {
            return self.error("a pointer in memory is accessed by its parts");
        };
        let id = self.for_object(pointer, Some(kept), |lower, object| {
            let from = lower.path(object, pointer.class, &steps, kept)?;
            Ok(Some(lower.load_from(kept, from, false)))
        })?;
        let Some(id) = id else {
            return self.error("nothing is loaded");
        };
        let word = self.u32_ty();
        let (units, tag) = match kept == word {
            true => (id, None),
            false => (self.extract(word, id, 0), Some(self.extract(word, id, 1))),
        };
        Ok(Val::Pointer(self.kept(content, units, tag)?))
    }

    fn store_pointer(&mut self, pointer: &Pointer, value: &Pointer, ty: Ty) -> Result<()> {
        self.content(pointer)?;
        let kept = self.kept_type(pointer.class);
        let (place, _) = self.place_of(pointer, ty, false)?;
        let Place::At(steps, _) = place else {
            return self.error("a pointer in memory is accessed by its parts");
        };
        let units = self.units(value)?;
        let word = self.u32_ty();
        let id = match kept == word {
            true => units,
            false => {
                let tag = self.tag(value);
                self.construct(kept, &[units, tag])
            }
        };
        self.for_object(pointer, None, |lower, object| {
            let to = lower.path(object, pointer.class, &steps, kept)?;
            lower.store_to(to, id, false);
            Ok(None)
        })?;
        Ok(())
    }

    /// Stores a scalar or vector.
    pub fn store(&mut self, pointer: &Pointer, value: Id, ty: Ty, volatile: bool) -> Result<()> {
        let (place, unit) = self.place_of(pointer, ty, false)?;
        self.for_object(pointer, None, |lower, object| {
            match &place {
                Place::At(steps, at) => {
                    let value = lower.cast_bits(value, ty, *at)?;
                    let to = lower.path(object, pointer.class, steps, *at)?;
                    lower.store_to(to, value, volatile);
                }
                Place::Units(terms, add, _) => {
                    let first = lower.sum(terms, 0);
                    let units = lower.disassemble(value, ty, unit.ty)?;
                    for (unit_at, value) in (0..).zip(units) {
                        let steps = [Step::Index(vec![(1, first)], add + unit_at)];
                        let to = lower.path(object, pointer.class, &steps, unit.ty)?;
                        lower.store_to(to, value, volatile);
                    }
                }
            }
            Ok(None)
        })?;
        Ok(())
    }

    fn is_event(&self, ty: Option<Ty>) -> bool {
        let ty = ty.map(|ty| self.target.types.get(ty));
        matches!(ty, Some(Type::Foreign("event_t")))
    }

    pub fn load_inst(&mut self, inst: &Inst) -> Result<()> {
        let from = inst.id_at(0);
        if let Some(global) = self.input.globals.get(&from)
            && let Some(which) = global.built_in
        {
            return self.load_built_in(inst, which);
        }
        if self.is_event(inst.ty) {
            self.values.insert(inst.id, Val::Event);
            return Ok(());
        }
        let ty = self.result_ty(inst)?;
        if matches!(self.target.types.get(ty), Type::Image(..) | Type::Sampler) {
            return self.load_object(inst);
        }
        if self.target.types.is_aggregate(ty) {
            return self.error("a structure or array as a value");
        }
        let pointer = self.pointer(from)?;
        let volatile = inst.literal_at(1) & 1 != 0;
        let val = self.load(&pointer, ty, volatile)?;
        self.values.insert(inst.id, val);
        Ok(())
    }

    pub fn store_inst(&mut self, inst: &Inst) -> Result<()> {
        let value = inst.id_at(1);
        let ty = self.ty_of(value)?;
        if self.is_event(Some(ty)) {
            return Ok(());
        }
        let pointer = self.pointer(inst.id_at(0))?;
        let volatile = inst.literal_at(2) & 1 != 0;
        if self.target.types.is_pointer(ty) {
            let content = self.content(&pointer)?;
            let value = self.pointer_in(value, Some(content))?;
            return self.store_pointer(&pointer, &value, ty);
        }
        if !self.target.types.is_aggregate(ty) {
            self.check_type(ty)?;
            let value = self.id(value)?;
            return self.store(&pointer, value, ty, volatile);
        }
        let mut data = vec![0; self.target.types.size(ty) as usize];
        self.constant_bytes(value, &mut data)?;
        for (leaf, offset) in leaves(&self.target.types, ty) {
            let mut pointer = pointer.clone();
            pointer.add += offset as i64;
            if self.target.types.is_pointer(leaf) {
                let class = self.content(&pointer)?;
                let null = Pointer {
                    class,
                    tag: Tag::Null,
                    terms: Vec::new(),
                    add: 0,
                };
                self.store_pointer(&pointer, &null, leaf)?;
                continue;
            }
            let size = self.target.types.size(leaf);
            let bytes = &data[offset as usize..(offset + size) as usize];
            let value = self.constant_of(leaf, 0, bytes)?;
            self.store(&pointer, value, leaf, volatile)?;
        }
        Ok(())
    }

    pub fn copy_inst(&mut self, inst: &Inst) -> Result<()> {
        let Some(copy) = Copy::of(self.input, &mut self.target.types, inst) else {
            return self.error("a copy of memory of an unknown size");
        };
        let (to, from) = (self.pointer(inst.id_at(0))?, self.pointer(inst.id_at(1))?);
        self.copy(&to, &from, &copy)
    }

    /// Copies elements, by their parts.
    pub fn copy(&mut self, to: &Pointer, from: &Pointer, copy: &Copy) -> Result<()> {
        if copy.count == 1 {
            return self.copy_element(to, from, copy.element);
        }
        let count = self.target.u32(copy.count as u32);
        let (zero, one) = (self.target.u32(0), self.target.u32(1));
        let types = &self.target.types;
        let strides = (copy.stride(types, to.add), copy.stride(types, from.add));
        self.repeat(zero, count, one, |lower, index| {
            let (mut to, mut from) = (to.clone(), from.clone());
            to.terms.push((strides.0, index));
            from.terms.push((strides.1, index));
            lower.copy_element(&to, &from, copy.element)
        })
    }

    /// A loop from a number to below another one.
    pub fn repeat(
        &mut self,
        first: Id,
        end: Id,
        step: Id,
        mut body: impl FnMut(&mut Self, Id) -> Result<()>,
    ) -> Result<()> {
        let (word, bool) = (self.u32_ty(), self.target.types.bool());
        let counter = self.variable(word);
        self.store_variable(counter, first);
        let [head, inside, after] = [(); 3].map(|()| self.target.id());
        self.branch(head);
        self.begin(head);
        let index = self.load_variable(word, counter);
        let more = self.emit(Op::ULessThan, bool, &[index, end]);
        self.branch_if(more, inside, after);
        self.begin(inside);
        body(self, index)?;
        let next = self.emit(Op::IAdd, word, &[index, step]);
        self.store_variable(counter, next);
        self.branch(head);
        self.begin(after);
        Ok(())
    }

    fn copy_element(&mut self, to: &Pointer, from: &Pointer, element: Ty) -> Result<()> {
        if let Some((unit, count)) = self.common_units(to, from, element)? {
            if count > MOST_UNITS {
                let count = self.target.u32(count as u32);
                let (zero, one) = (self.target.u32(0), self.target.u32(1));
                return self.repeat(zero, count, one, |lower, index| {
                    let (mut to, mut from) = (to.clone(), from.clone());
                    let stride = Stride::anywhere(unit.size);
                    to.terms.push((stride, index));
                    from.terms.push((stride, index));
                    lower.copy_leaf(&to, &from, unit.ty)
                });
            }
            for at in 0..count {
                let (mut to, mut from) = (to.clone(), from.clone());
                to.add += (at * unit.size) as i64;
                from.add += (at * unit.size) as i64;
                self.copy_leaf(&to, &from, unit.ty)?;
            }
            return Ok(());
        }
        for (leaf, offset, count) in runs(&self.target.types, element) {
            let (mut to, mut from) = (to.clone(), from.clone());
            to.add += offset as i64;
            from.add += offset as i64;
            let size = self.target.types.size(leaf);
            let strides = [&to, &from].map(|it| Stride::through(size, it.add, count));
            let in_loop = count > MOST_UNITS
                && self.has_place(&to, strides[0], leaf)?
                && self.has_place(&from, strides[1], leaf)?;
            if in_loop {
                let count = self.target.u32(count as u32);
                let (zero, one) = (self.target.u32(0), self.target.u32(1));
                self.repeat(zero, count, one, |lower, index| {
                    let (mut to, mut from) = (to.clone(), from.clone());
                    to.terms.push((strides[0], index));
                    from.terms.push((strides[1], index));
                    lower.copy_leaf(&to, &from, leaf)
                })?;
                continue;
            }
            for _ in 0..count {
                self.copy_leaf(&to, &from, leaf)?;
                to.add += size as i64;
                from.add += size as i64;
            }
        }
        Ok(())
    }

    /// Whether memory has a place for elements from a pointer on, by an index.
    fn has_place(&self, pointer: &Pointer, stride: Stride, ty: Ty) -> Result<bool> {
        let unit = self.unit(pointer.class)?;
        let mut terms = pointer.terms.clone();
        terms.push((stride, 0));
        let access = Access { ty, atomic: false };
        let place = place(&self.target.types, unit, &terms, pointer.add, access);
        Ok(place.is_some())
    }

    /// The unit of both, and how many an element has, if both are arrays of the same numbers: they
    /// need not be put together then.
    fn common_units(
        &self,
        to: &Pointer,
        from: &Pointer,
        element: Ty,
    ) -> Result<Option<(Unit, u64)>> {
        let (unit, other) = (self.unit(to.class)?, self.unit(from.class)?);
        let size = self.target.types.size(element);
        let fits = unit.ty == other.ty
            && unit.scalar
            && other.scalar
            && self.target.types.is_numeric(unit.ty)
            && size.is_multiple_of(unit.size);
        Ok(fits.then_some((unit, size / unit.size)))
    }

    fn copy_leaf(&mut self, to: &Pointer, from: &Pointer, leaf: Ty) -> Result<()> {
        self.check_type(leaf)?;
        match self.load(from, leaf, false)? {
            Val::Pointer(value) => self.store_pointer(to, &value, leaf),
            Val::Id(value) => self.store(to, value, leaf, false),
            _ => Ok(()),
        }
    }

    /// `vloadn` and what is like it.
    pub fn vector_access(&mut self, inst: &Inst, access: &VectorAccess) -> Result<()> {
        let mut pointer = self.pointer(access.pointer)?;
        match self.input.signed(access.offset, &self.target.types) {
            Some(offset) => pointer.add += offset.wrapping_mul(access.stride as i64),
            None => {
                let ty = self.ty_of(access.offset)?;
                let offset = self.id(access.offset)?;
                let offset = self.low(offset, ty);
                let span = self.pointers.span(access.pointer);
                let bytes = access.stride;
                pointer.terms.push((Stride { bytes, span }, offset));
            }
        }
        let size = self.target.types.size(access.scalar);
        let at = |lane: u32| {
            let mut pointer = pointer.clone();
            pointer.add += (size * u64::from(lane)) as i64;
            pointer
        };
        let Some(data) = access.data else {
            let Some(ty) = inst.ty else { return Ok(()) };
            let scalar = self.target.types.lanes(ty).0;
            self.check_type(scalar)?;
            let mut lanes = Vec::new();
            for lane in 0..access.lanes {
                let Val::Id(value) = self.load(&at(lane), access.scalar, false)? else {
                    return self.error("a vector of pointers");
                };
                lanes.push(match scalar == access.scalar {
                    true => value,
                    false => self.emit(Op::FConvert, scalar, &[value]),
                });
            }
            self.set_lanes(inst, ty, lanes);
            return Ok(());
        };
        let ty = self.ty_of(data)?;
        for (lane, value) in (0..).zip(self.lanes_of(data)?) {
            let scalar = self.target.types.lanes(ty).0;
            let value = match scalar == access.scalar {
                true => value,
                false => {
                    let value = self.emit(Op::FConvert, access.scalar, &[value]);
                    match access.rounding {
                        None | Some(0) => {}
                        Some(mode) => {
                            let class = self.pointers.get(pointer.class);
                            let host = class.objects.iter().all(Object::is_host);
                            self.round_conversion(value, mode, host)?;
                        }
                    }
                    value
                }
            };
            self.store(&at(lane), value, access.scalar, false)?;
        }
        Ok(())
    }

    // Bits.

    /// The same bits as another type of the same size.
    pub fn cast_bits(&mut self, value: Id, from: Ty, to: Ty) -> Result<Id> {
        if from == to {
            return Ok(value);
        }
        let ((_, before), (scalar, after)) =
            (self.target.types.lanes(from), self.target.types.lanes(to));
        if before > 4 || after > 4 {
            self.check_type(from)?;
            self.check_type(to)?;
        }
        // OpenCL has the three lanes of one type as those of another with four.
        if before == after || before != 3 && after != 3 {
            return Ok(self.emit(Op::Bitcast, to, &[value]));
        }
        let mut lanes = self.lanes(value, from);
        let element = self.target.types.lanes(from).0;
        let undefined = self.target.null(element);
        lanes.resize(after as usize, undefined);
        let vector = self.target.types.vector(element, after);
        let value = self.construct(vector, &lanes);
        let same = self.target.types.vector(scalar, after);
        match vector == same {
            true => Ok(value),
            false => Ok(self.emit(Op::Bitcast, to, &[value])),
        }
    }

    /// A value of the units that it is in.
    pub fn assemble(&mut self, units: &[Id], unit: Ty, ty: Ty) -> Result<Id> {
        let (scalar, lanes) = self.target.types.lanes(ty);
        let each = units.len() / lanes as usize;
        let bits = self.target.types.bits(unit);
        let mut parts = Vec::new();
        for part in units.chunks(each) {
            let (mut part, mut width, mut element) = (part.to_vec(), bits, unit);
            // By pairs, as casts that make four of one at once are not reliable everywhere.
            while part.len() > 1 {
                let count = 2;
                let vector = self.target.types.vector(element, count as u32);
                width *= count as u32;
                let wider = match width == self.target.types.bits(scalar) {
                    true => scalar,
                    false => self.target.types.int(width),
                };
                let mut next = Vec::new();
                for group in part.chunks(count) {
                    let group = self.construct(vector, group);
                    next.push(self.emit(Op::Bitcast, wider, &[group]));
                }
                (part, element) = (next, wider);
            }
            parts.push(self.cast_bits(part[0], element, scalar)?);
        }
        Ok(self.construct(ty, &parts))
    }

    /// The units of a value.
    pub fn disassemble(&mut self, value: Id, ty: Ty, unit: Ty) -> Result<Vec<Id>> {
        let scalar = self.target.types.lanes(ty).0;
        let bits = self.target.types.bits(unit);
        let mut all = Vec::new();
        for lane in self.lanes(value, ty) {
            let (mut parts, mut element) = (vec![lane], scalar);
            let mut width = self.target.types.bits(scalar);
            while width > bits {
                let count = 2;
                width /= count;
                let narrower = match width == bits {
                    true => unit,
                    false => self.target.types.int(width),
                };
                let vector = self.target.types.vector(narrower, count);
                let mut next = Vec::new();
                for part in parts {
                    let group = self.emit(Op::Bitcast, vector, &[part]);
                    next.extend(self.lanes(group, vector));
                }
                (parts, element) = (next, narrower);
            }
            for part in parts {
                all.push(self.cast_bits(part, element, unit)?);
            }
        }
        Ok(all)
    }

    // Addresses.

    /// Comparisons and differences of addresses. Whether the instruction is one.
    pub fn compare_addresses(&mut self, inst: &Inst) -> Result<bool> {
        let address = |lower: &Self, at: usize| match lower.values.get(&inst.id_at(at)) {
            Some(Val::Address(pointer)) => Some(pointer.clone()),
            _ => None,
        };
        let (left, right) = (address(self, 0), address(self, 1));
        if left.is_none() && right.is_none() {
            if let (Op::SDiv, Some(&Val::Difference(id))) =
                (inst.op, self.values.get(&inst.id_at(0)))
                && let Some(size) = self.input.signed(inst.id_at(1), &self.target.types)
            {
                let word = self.u32_ty();
                let size = self.target.u32(size as u32);
                let count = self.emit(Op::SDiv, word, &[id, size]);
                let ty = self.result_ty(inst)?;
                let wide = match ty == word {
                    true => count,
                    false => {
                        self.scratch.insert(count);
                        self.emit(Op::SConvert, ty, &[count])
                    }
                };
                self.set(inst, wide);
                return Ok(true);
            }
            return Ok(false);
        }
        let null = |lower: &Self, at: usize| lower.input.number(inst.id_at(at)) == Some(0);
        let one = left.clone().or(right.clone());
        let Some(class) = one.map(|pointer| pointer.class) else {
            return Ok(false);
        };
        let nothing = Pointer {
            class,
            tag: Tag::Null,
            terms: Vec::new(),
            add: 0,
        };
        let left = left.or(null(self, 0).then(|| nothing.clone()));
        let right = right.or(null(self, 1).then_some(nothing));
        let (Some(left), Some(right)) = (left, right) else {
            return Ok(false);
        };
        let bool = self.target.types.bool();
        let same = left.class == right.class;
        match inst.op {
            Op::IEqual | Op::INotEqual => {
                let equal = self.same_address(&left, &right, same);
                let id = match inst.op {
                    Op::IEqual => equal,
                    _ => self.emit(Op::LogicalNot, bool, &[equal]),
                };
                self.set(inst, id);
            }
            Op::ISub => {
                let (left, right) = (self.bytes(&left), self.bytes(&right));
                let word = self.u32_ty();
                let id = self.emit(Op::ISub, word, &[left, right]);
                self.values.insert(inst.id, Val::Difference(id));
            }
            Op::ULessThan | Op::ULessThanEqual | Op::UGreaterThan | Op::UGreaterThanEqual => {
                let (left, right) = (self.bytes(&left), self.bytes(&right));
                let id = self.emit(inst.op, bool, &[left, right]);
                self.set(inst, id);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn same_address(&mut self, left: &Pointer, right: &Pointer, same_class: bool) -> Id {
        let bool = self.target.types.bool();
        let tags = match (left.tag, right.tag) {
            (Tag::Null, Tag::Null) => return self.target.bool(true),
            (Tag::Known(left), Tag::Known(right)) if left == right && same_class => None,
            (Tag::Known(_) | Tag::Null, Tag::Known(_) | Tag::Null) => {
                return self.target.bool(false);
            }
            _ if !same_class => return self.target.bool(false),
            _ => {
                let (left, right) = (self.tag(left), self.tag(right));
                Some(self.emit(Op::IEqual, bool, &[left, right]))
            }
        };
        // All null pointers are alike.
        if let (Some(tags), true) = (
            tags,
            matches!(left.tag, Tag::Null) || matches!(right.tag, Tag::Null),
        ) {
            return tags;
        }
        let (left, right) = (self.bytes(left), self.bytes(right));
        let bytes = self.emit(Op::IEqual, bool, &[left, right]);
        match tags {
            Some(tags) => self.emit(Op::LogicalAnd, bool, &[tags, bytes]),
            None => bytes,
        }
    }
}
