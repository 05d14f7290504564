//! Which objects pointers point into, and what each object is an array of.
//!
//! Vulkan's pointers are logical: they come from a variable by a path of indices, and are nothing
//! that could be kept, chosen or cast. So a pointer becomes numbers. *Classes* are sets of objects
//! that pointers may point to, by unification (Steensgaard's analysis); every pointer has one.
//! All objects of a class are arrays of the class's *unit*, a type; a pointer is which object of
//! its class, unless there is one, and what is added to the beginning: a constant, and *terms*,
//! numbers times strides, each with the bytes that it stays within as far as that is known: an
//! index of Vulkan's must not leave its array, and pointer arithmetic may. A pointer that passes
//! through memory or is chosen is kept as the number of the object and that of a unit in it.
//!
//! 1. [`Analysis::run`] unifies the classes of what is stored, loaded, chosen and copied.
//! 2. It follows constants and strides of each pointer, in reverse postorder, to every access.
//! 3. [`Analysis::choose`] takes for the unit the largest type with which the class was declared
//!    that has a place for each access, and otherwise the number that divides everything.
//!
//! What is accessed by types of other sizes than the unit is put together from several units.

use std::collections::BTreeSet;

use rspirv::spirv::{Op, OpenclStd100Op as Cl, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Error;
use super::flatten::Flat;
use super::input::{Constant, Input};
use super::ir::{Arg, Id, Inst};
use super::types::{Ty, Type, Types};

/// Most types that are tried for a class's unit, the largest first.
const MOST_CANDIDATES: usize = 32;

/// A stride that is some multiple of the unit.
pub(crate) const UNITS: u64 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassId(u32);

/// Something that pointers point into.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The parameter or variable.
    pub id: Id,
    pub class: StorageClass,
    /// Bytes, where they are known.
    pub size: Option<u64>,
}

impl Object {
    /// Whether the host has access to it, or fills it.
    pub fn is_host(&self) -> bool {
        !matches!(self.class, StorageClass::Function | StorageClass::Workgroup)
    }
}

/// Bytes of an object, but for the terms that were there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Span {
    pub start: i64,
    pub bytes: u64,
}

impl Span {
    fn is_within(self, other: Span) -> bool {
        let end = |span: Span| i128::from(span.start) + i128::from(span.bytes);
        self.start >= other.start && end(self) <= end(other)
    }
}

/// What a term is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Stride {
    pub bytes: u64,
    /// What the pointer stays within, whatever the number is. `None` for all of the object.
    pub span: Option<Span>,
}

impl Stride {
    /// Of steps that may lead anywhere in the object.
    pub fn anywhere(bytes: u64) -> Stride {
        Stride { bytes, span: None }
    }

    /// Of steps through so many elements from a place on.
    pub fn through(bytes: u64, start: i64, count: u64) -> Stride {
        let bytes_of_all = bytes.saturating_mul(count);
        Stride {
            bytes,
            span: Some(Span {
                start,
                bytes: bytes_of_all,
            }),
        }
    }
}

/// What arithmetic on a pointer stays within: C, "Additive operators".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Not known: all of the object.
    Anything,
    /// It points to a member, or to something else that is no element of an array.
    Itself,
    /// An array, or arrays of arrays, which programs go through as if they were one.
    Span(Span),
}

impl Within {
    fn span(self) -> Option<Span> {
        match self {
            Within::Span(span) => Some(span),
            Within::Anything | Within::Itself => None,
        }
    }
}

/// Strides and what is added to the beginning of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Shape {
    pub strides: Vec<Stride>,
    pub add: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Access {
    pub ty: Ty,
    pub atomic: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    pub objects: Vec<Object>,
    pub has_null: bool,
    /// The class of pointers that are stored in objects.
    content: Option<ClassId>,
    accesses: BTreeSet<(Shape, Access)>,
    /// What passes through memory or is chosen.
    kept: BTreeSet<Shape>,
    declared: BTreeSet<Ty>,
    pub unit: Option<Unit>,
    /// It is written to.
    pub written: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub ty: Ty,
    pub size: u64,
    /// Each object is one unit, and no array.
    pub single: bool,
    /// Accesses of other sizes are put together.
    pub scalar: bool,
}

impl Class {
    /// Whether a pointer that is kept says which object.
    pub fn is_tagged(&self) -> bool {
        self.objects.len() + usize::from(self.has_null) > 1
    }
}

/// Part of a path into a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<T> {
    Member(u32),
    /// A sum of products, and of a constant.
    Index(Vec<(u64, T)>, i64),
}

/// Where an access is.
#[derive(Clone, Debug)]
pub(crate) enum Place<T> {
    /// At a path, where this type is, of the same size.
    At(Vec<Step<T>>, Ty),
    /// In this many units from an index on.
    Units(Vec<(u64, T)>, i64, u32),
}

pub(crate) struct Analysis<'a> {
    input: &'a Input,
    types: &'a mut Types,
    parents: Vec<u32>,
    classes: Vec<Class>,
    of_value: FxHashMap<Id, ClassId>,
    /// What is known of a pointer.
    shapes: FxHashMap<Id, Shape>,
    within: FxHashMap<Id, Within>,
    added: FxHashMap<Id, Vec<Added>>,
}

/// What an instruction adds to a pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Added {
    Bytes(i64),
    Term(Stride, Id),
}

/// What the analysis found.
pub(crate) struct Pointers {
    pub classes: Vec<Class>,
    of_value: FxHashMap<Id, ClassId>,
    content: Vec<Option<ClassId>>,
    /// Numbers of objects in their classes.
    tags: FxHashMap<Id, u32>,
    added: FxHashMap<Id, Vec<Added>>,
    spans: FxHashMap<Id, Span>,
}

impl Pointers {
    pub fn class_of(&self, pointer: Id) -> Option<ClassId> {
        self.of_value.get(&pointer).copied()
    }

    pub fn get(&self, class: ClassId) -> &Class {
        &self.classes[class.0 as usize]
    }

    pub fn content(&self, class: ClassId) -> Option<ClassId> {
        self.content[class.0 as usize]
    }

    /// What arithmetic on a pointer stays within, as far as that is known.
    pub fn span(&self, pointer: Id) -> Option<Span> {
        self.spans.get(&pointer).copied()
    }

    /// What a pointer adds to the one that it is made of.
    pub fn added(&self, pointer: Id) -> &[Added] {
        self.added.get(&pointer).map_or(&[], Vec::as_slice)
    }

    /// The number of an object in its class.
    pub fn tag(&self, object: Id) -> Option<u32> {
        self.tags.get(&object).copied()
    }
}

/// Where an access of a type is in an array of units, given what is added. `None` if the unit has
/// no place for it: no index may leave the array or vector that it is one of.
pub(crate) fn place<T: Clone>(
    types: &Types,
    unit: Unit,
    terms: &[(Stride, T)],
    add: i64,
    access: Access,
) -> Option<Place<T>> {
    let (mut rest, mut indices) = (Vec::new(), Vec::new());
    for (stride, term) in terms {
        match (stride.bytes, stride.bytes % unit.size) {
            (UNITS, _) => indices.push((1, term.clone())),
            (bytes, 0) => indices.push((bytes / unit.size, term.clone())),
            _ => rest.push((*stride, term.clone())),
        }
    }
    let index = add.div_euclid(unit.size as i64);
    let mut at = add.rem_euclid(unit.size as i64) as u64;
    if unit.scalar && types.is_numeric(access.ty) {
        let (scalar, lanes) = types.lanes(access.ty);
        let bytes = types.size(scalar) * u64::from(lanes);
        if !rest.is_empty() || at != 0 || !bytes.is_multiple_of(unit.size) {
            return None;
        }
        let count = (bytes / unit.size) as u32;
        if count != 1 {
            return (!access.atomic).then_some(Place::Units(indices, index, count));
        }
    }
    let mut path = Vec::new();
    if !unit.single {
        path.push(Step::Index(indices, index));
    } else if !indices.is_empty() || index != 0 {
        return None;
    }
    let mut ty = unit.ty;
    loop {
        let here = rest.is_empty() && at == 0;
        if here && ty == access.ty {
            return Some(Place::At(path, ty));
        }
        // Alike for whoever looks at bits.
        let pointers = types.is_pointer(ty) && types.is_pointer(access.ty);
        let (from, to) = (types.lanes(ty), types.lanes(access.ty));
        let numbers = types.is_numeric(ty) && types.is_numeric(access.ty);
        let same = types.size(from.0) * u64::from(from.1) == types.size(to.0) * u64::from(to.1);
        if here && (pointers || numbers && same && !access.atomic) {
            return Some(Place::At(path, ty));
        }
        if here && access.atomic && numbers && same && to.1 == 1 && from.1 == 1 {
            let is_int = |ty: Ty| matches!(types.get(ty), Type::Int(_));
            return (is_int(ty) == is_int(access.ty)).then_some(Place::At(path, ty));
        }
        let (element, count) = match *types.get(ty) {
            Type::Struct { ref members, .. } => {
                let offsets = types.offsets(ty);
                // The last one that does not begin behind it.
                let behind = offsets.partition_point(|&offset| offset <= at);
                let member = behind.checked_sub(1)?;
                if at >= offsets[member] + types.size(members[member]) {
                    return None;
                }
                path.push(Step::Member(member as u32));
                at -= offsets[member];
                ty = members[member];
                continue;
            }
            Type::Array(element, length) => (element, length),
            Type::Vector(element, lanes) => (element, lanes.into()),
            _ => return None,
        };
        let size = types.size(element);
        let whole = Span {
            start: add.checked_sub_unsigned(at)?,
            bytes: size.saturating_mul(count),
        };
        let (inside, further): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(s, _)| s.bytes % size == 0);
        let stays = |stride: &Stride| stride.span.is_some_and(|span| span.is_within(whole));
        if at / size >= count || !inside.iter().all(|(stride, _)| stays(stride)) {
            return None;
        }
        let inside = inside.into_iter().map(|(s, term)| (s.bytes / size, term));
        path.push(Step::Index(inside.collect(), (at / size) as i64));
        rest = further;
        at %= size;
        ty = element;
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

impl<'a> Analysis<'a> {
    /// Finds the classes of a kernel's pointers, and their units.
    pub fn run(
        input: &'a Input,
        types: &'a mut Types,
        flat: &Flat,
        params: &[(Id, Ty)],
    ) -> Result<Pointers, Error> {
        let mut analysis = Analysis {
            input,
            types,
            parents: Vec::new(),
            classes: Vec::new(),
            of_value: FxHashMap::default(),
            shapes: FxHashMap::default(),
            within: FxHashMap::default(),
            added: FxHashMap::default(),
        };
        for &(id, ty) in params {
            if let Type::Pointer(class, pointee) = *analysis.types.get(ty) {
                // Structures are passed by the address of a copy.
                let by_value = class == StorageClass::Function;
                let size = by_value.then(|| analysis.types.size(pointee));
                analysis.object(id, class, pointee, size);
            }
        }
        for &(id, ty) in &flat.variables {
            let size = analysis.types.size(ty);
            analysis.object(id, StorageClass::Function, ty, Some(size));
        }
        let all = || flat.blocks.iter().flat_map(|block| &block.insts);
        let used: FxHashSet<Id> = all().flat_map(Inst::ids).collect();
        for &id in &input.global_order {
            let global = &input.globals[&id];
            if global.built_in.is_none() && used.contains(&id) {
                let size = analysis.types.size(global.pointee);
                analysis.object(id, global.class, global.pointee, Some(size));
            }
        }
        for inst in all() {
            analysis.unify_inst(inst);
        }
        for inst in all() {
            analysis.follow(inst)?;
        }
        for class in 0..analysis.classes.len() {
            if analysis.find(ClassId(class as u32)).0 == class as u32 {
                analysis.choose(class);
            }
        }
        let values: Vec<(Id, ClassId)> = analysis.of_value.iter().map(|(&v, &c)| (v, c)).collect();
        let of_value = values.into_iter().map(|(v, c)| (v, analysis.find(c)));
        let of_value = of_value.collect();
        let content = (0..analysis.classes.len())
            .map(|at| {
                let content = analysis.classes[at].content;
                content.map(|content| analysis.find(content))
            })
            .collect();
        let objects = analysis.classes.iter().flat_map(|class| {
            let objects = (0..).zip(&class.objects);
            objects.map(|(at, object)| (object.id, at))
        });
        let within = analysis.within.iter();
        let spans = within.filter_map(|(&pointer, within)| Some((pointer, within.span()?)));
        Ok(Pointers {
            tags: objects.collect(),
            added: analysis.added,
            spans: spans.collect(),
            classes: analysis.classes,
            of_value,
            content,
        })
    }

    fn new_class(&mut self) -> ClassId {
        let id = self.classes.len() as u32;
        self.classes.push(Class::default());
        self.parents.push(id);
        ClassId(id)
    }

    fn object(&mut self, id: Id, class: StorageClass, pointee: Ty, size: Option<u64>) {
        let new = self.new_class();
        self.of_value.insert(id, new);
        let object = Object { id, class, size };
        self.classes[new.0 as usize].objects.push(object);
        let shape = Shape {
            strides: Vec::new(),
            add: 0,
        };
        self.shapes.insert(id, shape);
        let within = match size {
            Some(bytes) => Within::Span(Span { start: 0, bytes }),
            None => Within::Anything,
        };
        self.within.insert(id, within);
        let mut ty = pointee;
        self.classes[new.0 as usize].declared.insert(ty);
        while let &Type::Array(element, _) = self.types.get(ty) {
            ty = element;
            self.classes[new.0 as usize].declared.insert(ty);
        }
    }

    fn find(&mut self, class: ClassId) -> ClassId {
        let mut root = class.0;
        while self.parents[root as usize] != root {
            let above = self.parents[self.parents[root as usize] as usize];
            self.parents[root as usize] = above;
            root = above;
        }
        ClassId(root)
    }

    fn class(&mut self, value: Id) -> ClassId {
        match self.of_value.get(&value) {
            Some(&class) => self.find(class),
            None => {
                let new = self.new_class();
                self.of_value.insert(value, new);
                new
            }
        }
    }

    fn content(&mut self, class: ClassId) -> ClassId {
        let class = self.find(class);
        match self.classes[class.0 as usize].content {
            Some(content) => self.find(content),
            None => {
                let new = self.new_class();
                self.classes[class.0 as usize].content = Some(new);
                new
            }
        }
    }

    fn unify(&mut self, a: ClassId, b: ClassId) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (mut a, mut b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            // The smaller goes into the larger.
            let weight = |class: &Class| class.objects.len() + class.declared.len();
            let of = |id: ClassId| weight(&self.classes[id.0 as usize]);
            if of(a) < of(b) {
                std::mem::swap(&mut a, &mut b);
            }
            self.parents[b.0 as usize] = a.0;
            let gone = std::mem::take(&mut self.classes[b.0 as usize]);
            let into = &mut self.classes[a.0 as usize];
            into.objects.extend(gone.objects);
            into.has_null |= gone.has_null;
            into.declared.extend(gone.declared);
            match (into.content, gone.content) {
                (Some(a), Some(b)) => work.push((a, b)),
                (None, content) => into.content = content,
                _ => {}
            }
        }
    }

    fn is_pointer(&self, value: Id) -> bool {
        let ty = self.input.value_ty.get(&value);
        ty.is_some_and(|&ty| self.types.is_pointer(ty))
    }

    /// A value joins a class: null in the way that any class may have it.
    fn join(&mut self, class: ClassId, value: Id) {
        match self.input.constants.get(&value) {
            Some((_, Constant::Null | Constant::Undef)) => {
                let class = self.find(class);
                self.classes[class.0 as usize].has_null = true;
            }
            _ => {
                let other = self.class(value);
                self.unify(class, other);
            }
        }
    }

    fn unify_inst(&mut self, inst: &Inst) {
        match inst.op {
            Op::Store if self.is_pointer(inst.id_at(1)) => {
                let to = self.class(inst.id_at(0));
                let content = self.content(to);
                self.join(content, inst.id_at(1));
            }
            Op::CopyMemory | Op::CopyMemorySized => {
                let (to, from) = (self.class(inst.id_at(0)), self.class(inst.id_at(1)));
                let has_pointers = self.pointee(inst.id_at(0)).is_some_and(|ty| {
                    self.types.is_plain(ty, true) && !self.types.is_plain(ty, false)
                });
                if has_pointers {
                    let (to, from) = (self.content(to), self.content(from));
                    self.unify(to, from);
                }
            }
            _ if !self.is_pointer(inst.id) => {}
            Op::Load => {
                let from = self.class(inst.id_at(0));
                let content = self.content(from);
                let value = self.class(inst.id);
                self.unify(content, value);
            }
            Op::Undef => {
                let class = self.class(inst.id);
                self.classes[class.0 as usize].has_null = true;
            }
            Op::Select => {
                let class = self.class(inst.id);
                self.join(class, inst.id_at(1));
                self.join(class, inst.id_at(2));
            }
            op if is_derived(op) => {
                let class = self.class(inst.id);
                self.join(class, inst.id_at(0));
            }
            _ => {}
        }
        if self.is_pointer(inst.id)
            && let Some(pointee) = self.pointee(inst.id)
        {
            let class = self.class(inst.id);
            self.classes[class.0 as usize].declared.insert(pointee);
        }
    }

    fn pointee(&self, pointer: Id) -> Option<Ty> {
        pointee(self.input, self.types, pointer)
    }

    /// What is known of a pointer. One that comes from memory counts units.
    fn shape(&self, pointer: Id) -> Shape {
        self.shapes.get(&pointer).cloned().unwrap_or(Shape {
            strides: Vec::new(),
            add: 0,
        })
    }

    fn kept(&mut self, pointer: Id) {
        if self.input.constants.contains_key(&pointer) {
            return;
        }
        let class = self.class(pointer);
        let shape = self.shape(pointer);
        self.classes[class.0 as usize].kept.insert(shape);
    }

    fn follow(&mut self, inst: &Inst) -> Result<(), Error> {
        match inst.op {
            Op::Load => {
                if let Some(ty) = inst.ty {
                    self.access(inst.id_at(0), ty, false);
                }
            }
            Op::Store => {
                let value = inst.id_at(1);
                if self.is_pointer(value) {
                    self.kept(value);
                }
                if let Some(&ty) = self.input.value_ty.get(&value) {
                    if self.types.parts(ty) > MOST_LEAVES {
                        let message = "a structure or array of so many parts is stored as a value";
                        return Err(Error::at(inst.line, message));
                    }
                    self.access(inst.id_at(0), ty, false);
                    self.writes(inst.id_at(0));
                }
            }
            Op::CopyMemory | Op::CopyMemorySized => {
                let Some(copy) = Copy::of(self.input, self.types, inst) else {
                    let message = "a copy of memory whose size is not that of what is pointed to";
                    return Err(Error::at(inst.line, message));
                };
                for pointer in [inst.id_at(0), inst.id_at(1)] {
                    let mut shape = self.shape(pointer);
                    if copy.count > 1 {
                        insert(&mut shape.strides, copy.stride(self.types, shape.add));
                    }
                    self.access_shape(pointer, shape, copy.element, false);
                }
                self.writes(inst.id_at(0));
            }
            Op::Select if self.is_pointer(inst.id) => {
                self.kept(inst.id_at(1));
                self.kept(inst.id_at(2));
            }
            Op::GroupAsyncCopy => {
                let Some(element) = self.pointee(inst.id_at(1)) else {
                    return Ok(());
                };
                for pointer in [inst.id_at(1), inst.id_at(2)] {
                    let mut shape = self.shape(pointer);
                    let stride = Stride::anywhere(self.types.size(element));
                    insert(&mut shape.strides, stride);
                    self.access_shape(pointer, shape, element, false);
                }
                self.writes(inst.id_at(1));
            }
            Op::ExtInst => self.follow_extended(inst)?,
            op if is_atomic(op) => {
                let ty = match inst.ty {
                    Some(ty) if !matches!(self.types.get(ty), Type::Bool) => ty,
                    _ if op == Op::AtomicStore => {
                        let value = self.input.value_ty.get(&inst.id_at(3));
                        value.copied().unwrap_or(self.types.int(32))
                    }
                    _ => self.types.int(32),
                };
                // Exchanged as the bits that they are.
                let bits = self.types.bits(ty);
                let as_bits = matches!(op, Op::AtomicExchange | Op::AtomicLoad | Op::AtomicStore);
                let ty = if as_bits { self.types.int(bits) } else { ty };
                self.access(inst.id_at(0), ty, true);
                self.writes(inst.id_at(0));
            }
            _ => {}
        }
        if !self.is_pointer(inst.id) {
            return Ok(());
        }
        let shape = match inst.op {
            Op::Load | Op::Select | Op::Undef => Shape {
                strides: vec![Stride::anywhere(UNITS)],
                add: 0,
            },
            op if is_derived(op) => self.derived(inst)?,
            _ => return Ok(()),
        };
        self.shapes.insert(inst.id, shape);
        Ok(())
    }

    /// What is known of a pointer that is made of another one.
    fn derived(&mut self, inst: &Inst) -> Result<Shape, Error> {
        let from = inst.id_at(0);
        let mut shape = self.shape(from);
        let mut within = self.within(from);
        let mut added = Vec::new();
        for (part, index) in chain(self.input, self.types, inst)? {
            let (bytes, mut span) = match part {
                Part::Object(bytes) => (bytes, within.span()),
                Part::Member => {
                    within = Within::Itself;
                    (0, None)
                }
                Part::Element(bytes, count) => {
                    let span = Stride::through(bytes, shape.add, count).span;
                    if let (Within::Itself, Some(span)) = (within, span) {
                        within = Within::Span(span);
                    }
                    (bytes, span)
                }
            };
            match index {
                Offset::Bytes(bytes) => {
                    shape.add = shape.add.wrapping_add(bytes);
                    added.push(Added::Bytes(bytes));
                }
                Offset::Index(index) => {
                    if let (Part::Object(_), Within::Itself) = (part, within) {
                        (within, span) = (Within::Anything, None);
                    }
                    let stride = Stride { bytes, span };
                    insert(&mut shape.strides, stride);
                    added.push(Added::Term(stride, index));
                }
            }
        }
        // A vector is an array of its components.
        let lanes = self.pointee(from).map(|ty| self.types.lanes(ty));
        if let (Op::Bitcast, Within::Itself, Some((scalar, lanes @ 2..))) = (inst.op, within, lanes)
        {
            let bytes = self.types.size(scalar) * u64::from(lanes);
            let start = shape.add;
            within = Within::Span(Span { start, bytes });
        }
        self.within.insert(inst.id, within);
        if !added.is_empty() {
            self.added.insert(inst.id, added);
        }
        Ok(shape)
    }

    fn within(&self, pointer: Id) -> Within {
        let known = self.within.get(&pointer);
        known.copied().unwrap_or(Within::Anything)
    }

    fn writes(&mut self, pointer: Id) {
        let class = self.class(pointer);
        self.classes[class.0 as usize].written = true;
    }

    fn access(&mut self, pointer: Id, ty: Ty, atomic: bool) {
        let shape = self.shape(pointer);
        self.access_shape(pointer, shape, ty, atomic);
    }

    fn access_shape(&mut self, pointer: Id, shape: Shape, ty: Ty, atomic: bool) {
        let class = self.class(pointer);
        for (ty, offset) in leaves(self.types, ty) {
            // Events are nothing in memory.
            if matches!(self.types.get(ty), Type::Foreign(_)) {
                continue;
            }
            let mut shape = shape.clone();
            shape.add = shape.add.wrapping_add(offset as i64);
            let access = Access { ty, atomic };
            let class = &mut self.classes[class.0 as usize];
            class.accesses.insert((shape, access));
        }
    }

    /// `vload`, `vstore`, and what stores a second result.
    fn follow_extended(&mut self, inst: &Inst) -> Result<(), Error> {
        let Some(access) = VectorAccess::of(self.input, self.types, inst) else {
            let nothing = [Cl::prefetch as u32, Cl::printf as u32].contains(&inst.literal_at(1));
            for id in inst.ids().skip(1).filter(|_| !nothing) {
                if self.is_pointer(id)
                    && let Some(ty) = self.pointee(id)
                {
                    self.access(id, ty, false);
                    self.writes(id);
                }
            }
            return Ok(());
        };
        let mut shape = self.shape(access.pointer);
        match self.input.signed(access.offset, self.types) {
            Some(offset) => {
                let bytes = offset.wrapping_mul(access.stride as i64);
                shape.add = shape.add.wrapping_add(bytes);
            }
            None => {
                let span = self.within(access.pointer).span();
                let bytes = access.stride;
                insert(&mut shape.strides, Stride { bytes, span });
            }
        }
        let size = self.types.size(access.scalar);
        for lane in 0..access.lanes {
            let mut shape = shape.clone();
            shape.add = shape.add.wrapping_add((size * u64::from(lane)) as i64);
            self.access_shape(access.pointer, shape, access.scalar, false);
        }
        if access.data.is_some() {
            self.writes(access.pointer);
        }
        Ok(())
    }

    /// Chooses the unit of a class.
    fn choose(&mut self, at: usize) {
        let class = std::mem::take(&mut self.classes[at]);
        let is_host = class.objects.iter().any(Object::is_host);
        let mut candidates = Vec::new();
        for &ty in &class.declared {
            let ty = self.types.without_wide(ty);
            if self.types.is_plain(ty, true) && self.types.size(ty) > 0 {
                candidates.push(match is_host {
                    true => self.types.without_pointers(ty),
                    false => ty,
                });
            }
        }
        candidates.sort_by_key(|&ty| std::cmp::Reverse((self.types.size(ty), ty)));
        // All objects are whole numbers of units.
        let sizes = class.objects.iter().filter_map(|object| object.size);
        let whole = sizes.fold(0, gcd);
        candidates.retain(|&ty| whole % self.types.size(ty) == 0);
        let mut candidates = candidates.into_iter().take(MOST_CANDIDATES);
        let unit = candidates.find_map(|ty| self.fits(&class, ty));
        let unit = unit.unwrap_or_else(|| self.divides(&class));
        self.classes[at] = class;
        self.classes[at].unit = Some(unit);
    }

    /// The unit of a type, if it has a place for each access.
    fn fits(&self, class: &Class, ty: Ty) -> Option<Unit> {
        let size = self.types.size(ty);
        let is_shared =
            |object: &Object| object.class != StorageClass::Function || object.size != Some(size);
        // An array whose elements are said at once is better one of elements.
        let is_array = matches!(self.types.get(ty), Type::Array(..));
        if is_array && class.objects.iter().any(is_shared) {
            return None;
        }
        let unit = Unit {
            ty,
            size,
            single: class.kept.is_empty()
                && class.objects.iter().all(|object| object.size == Some(size)),
            scalar: false,
        };
        let kept = |shape: &Shape| {
            shape.add % size as i64 == 0
                && shape.strides.iter().all(|stride| stride.bytes % size == 0)
        };
        let fits = |unit: Unit| {
            class.kept.iter().all(kept)
                && class.accesses.iter().all(|(shape, access)| {
                    let terms: Vec<(Stride, ())> = shape.strides.iter().map(|&s| (s, ())).collect();
                    place(self.types, unit, &terms, shape.add, *access).is_some()
                })
        };
        let array = Unit {
            single: false,
            ..unit
        };
        match unit.single && fits(unit) {
            true => Some(unit),
            false => fits(array).then_some(array),
        }
    }

    /// The number that divides every access and stride.
    fn divides(&mut self, class: &Class) -> Unit {
        let mut size = 8;
        let mut kinds = FxHashSet::default();
        let mut atomic = None;
        for (shape, access) in &class.accesses {
            let scalar = self.types.lanes(access.ty).0;
            let bytes = match self.types.get(scalar) {
                // Kept as one or two numbers, on their own.
                Type::Pointer(..) => 8,
                _ => self.types.size(scalar),
            };
            size = gcd(size, bytes.max(1));
            size = gcd(size, shape.add.unsigned_abs());
            for stride in &shape.strides {
                size = gcd(size, stride.bytes);
            }
            kinds.insert(scalar);
            if access.atomic {
                atomic = Some(scalar);
            }
        }
        for shape in &class.kept {
            size = gcd(size, shape.add.unsigned_abs());
            for stride in &shape.strides {
                size = gcd(size, stride.bytes);
            }
        }
        for object in &class.objects {
            size = gcd(size, object.size.unwrap_or(0));
        }
        let same = kinds.iter().next().copied().filter(|&ty| {
            kinds.len() == 1 && (self.types.size(ty) == size || self.types.is_pointer(ty))
        });
        let ty = match (atomic, same) {
            (Some(ty), _) if self.types.size(ty) == size => ty,
            (_, Some(ty)) => ty,
            _ => self.types.int(8 * size as u32),
        };
        Unit {
            ty,
            size,
            single: false,
            scalar: true,
        }
    }
}

fn insert(strides: &mut Vec<Stride>, stride: Stride) {
    if let Err(at) = strides.binary_search(&stride) {
        strides.insert(at, stride);
    }
}

/// Whether an instruction makes a pointer of its first operand.
pub(crate) fn is_derived(op: Op) -> bool {
    matches!(
        op,
        Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::Bitcast
            | Op::CopyObject
            | Op::PtrCastToGeneric
            | Op::GenericCastToPtr
            | Op::GenericCastToPtrExplicit
    )
}

pub(crate) fn is_atomic(op: Op) -> bool {
    matches!(
        op,
        Op::AtomicLoad
            | Op::AtomicStore
            | Op::AtomicExchange
            | Op::AtomicCompareExchange
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicFAddEXT
            | Op::AtomicFMinEXT
            | Op::AtomicFMaxEXT
            | Op::AtomicFlagTestAndSet
            | Op::AtomicFlagClear
    )
}

pub(crate) fn pointee(input: &Input, types: &Types, pointer: Id) -> Option<Ty> {
    match types.get(*input.value_ty.get(&pointer)?) {
        Type::Pointer(_, pointee) => Some(*pointee),
        _ => None,
    }
}

/// The scalars, vectors and pointers of a type, and where they begin.
pub(crate) fn leaves(types: &Types, ty: Ty) -> Vec<(Ty, u64)> {
    let mut all = Vec::new();
    let mut work = vec![(ty, 0)];
    while let Some((ty, at)) = work.pop() {
        match types.get(ty) {
            Type::Array(element, length) => {
                let size = types.size(*element);
                work.extend(
                    (0..*length)
                        .rev()
                        .map(|index| (*element, at + index * size)),
                );
            }
            Type::Struct { members, .. } => {
                let offsets = types.offsets(ty);
                let members = members.iter().zip(&*offsets);
                work.extend(members.rev().map(|(&member, offset)| (member, at + offset)));
            }
            // Wider vectors are their components.
            Type::Vector(scalar, lanes) if *lanes > 4 => {
                let size = types.size(*scalar);
                let lanes = (0..u64::from(*lanes)).rev();
                work.extend(lanes.map(|lane| (*scalar, at + lane * size)));
            }
            _ => all.push((ty, at)),
        }
    }
    all
}

/// The same with arrays of them in one: how many there are from each place on.
pub(crate) fn runs(types: &Types, ty: Ty) -> Vec<(Ty, u64, u64)> {
    let mut all = Vec::new();
    let mut work = vec![(ty, 0, 1)];
    while let Some((ty, at, count)) = work.pop() {
        match *types.get(ty) {
            Type::Vector(scalar, lanes) if lanes > 4 => {
                work.push((scalar, at, count * u64::from(lanes)));
            }
            Type::Array(element, length) if !types.is_aggregate(element) => {
                work.push((element, at, count * length));
            }
            Type::Array(..) | Type::Struct { .. } => {
                let parts = shallow(types, ty);
                work.extend(parts.into_iter().rev().map(|(part, to)| (part, at + to, 1)));
            }
            _ => all.push((ty, at, count)),
        }
    }
    all
}

/// The elements of an array, or the members of a structure, and where they begin.
fn shallow(types: &Types, ty: Ty) -> Vec<(Ty, u64)> {
    match types.get(ty) {
        &Type::Array(element, length) => {
            let size = types.size(element);
            (0..length).map(|at| (element, at * size)).collect()
        }
        Type::Struct { members, .. } => {
            let offsets = types.offsets(ty);
            let members = members.iter().zip(&*offsets);
            members.map(|(&member, &offset)| (member, offset)).collect()
        }
        _ => Vec::new(),
    }
}

/// The types of the scalars, vectors and pointers of a type.
pub(crate) fn leaf_types(types: &Types, ty: Ty) -> BTreeSet<Ty> {
    let (mut all, mut seen) = (BTreeSet::new(), FxHashSet::default());
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match types.get(ty) {
            Type::Array(element, _) => work.push(*element),
            Type::Struct { members, .. } => work.extend(members),
            Type::Vector(scalar, lanes) if *lanes > 4 => work.push(*scalar),
            _ => {
                all.insert(ty);
            }
        }
    }
    all
}

enum Offset {
    Bytes(i64),
    Index(Id),
}

/// What a step of an access chain leads to.
#[derive(Clone, Copy)]
enum Part {
    /// Another object of as many bytes, beside the one pointed to.
    Object(u64),
    Member,
    /// An element of as many bytes, of so many.
    Element(u64, u64),
}

/// What an access chain adds; nothing for casts.
fn chain(input: &Input, types: &Types, inst: &Inst) -> Result<Vec<(Part, Offset)>, Error> {
    let mut added = Vec::new();
    let first = match inst.op {
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => true,
        Op::AccessChain | Op::InBoundsAccessChain => false,
        _ => return Ok(added),
    };
    let unknown = || Error::at(inst.line, "a path into something of an unknown type");
    let mut ty = pointee(input, types, inst.id_at(0)).ok_or_else(unknown)?;
    let offset = |stride: u64, index: Id| match input.signed(index, types) {
        Some(number) => Offset::Bytes(number.wrapping_mul(stride as i64)),
        None => Offset::Index(index),
    };
    for (at, arg) in inst.args[1..].iter().enumerate() {
        let &Arg::Id(index) = arg else { continue };
        if first && at == 0 {
            let size = types.size(ty);
            added.push((Part::Object(size), offset(size, index)));
            continue;
        }
        let (element, count) = match *types.get(ty) {
            Type::Struct { ref members, .. } => {
                let member = input.number(index).ok_or_else(unknown)? as usize;
                let offset = *types.offsets(ty).get(member).ok_or_else(unknown)?;
                added.push((Part::Member, Offset::Bytes(offset as i64)));
                ty = members[member];
                continue;
            }
            Type::Array(element, length) => (element, length),
            Type::Vector(element, lanes) => (element, lanes.into()),
            _ => return Err(unknown()),
        };
        let size = types.size(element);
        added.push((Part::Element(size, count), offset(size, index)));
        ty = element;
    }
    Ok(added)
}

/// A copy of memory: so many elements, one after the other.
pub(crate) struct Copy {
    pub element: Ty,
    pub count: u64,
}

/// Most parts that are copied one by one.
const MOST_PARTS: usize = 32;

/// Most parts of a structure that are copied one by one.
pub(crate) const MOST_LEAVES: u64 = 256;

impl Copy {
    pub fn of(input: &Input, types: &mut Types, inst: &Inst) -> Option<Copy> {
        let to = pointee(input, types, inst.id_at(0))?;
        let from = pointee(input, types, inst.id_at(1))?;
        let size = match inst.op {
            Op::CopyMemory => types.size(to),
            _ => input.number(inst.id_at(2))?,
        };
        let whole = [to, from].into_iter().find(|&ty| types.size(ty) == size);
        let mut copy = match whole {
            Some(element) => Copy { element, count: 1 },
            None => {
                let of = types.size(to);
                if of == 0 || size % of != 0 {
                    return None;
                }
                Copy {
                    element: to,
                    count: size / of,
                }
            }
        };
        while let &Type::Array(element, length) = types.get(copy.element) {
            let parts = types.size(copy.element) / types.size(element).max(1);
            if copy.count == 1 && parts as usize <= MOST_PARTS && !types.is_aggregate(element) {
                break;
            }
            copy.element = element;
            copy.count *= length;
        }
        let has_pointers = |ty| {
            let leaves = leaf_types(types, ty);
            let mut leaves = leaves.iter().map(|&leaf| types.get(leaf));
            leaves.any(|leaf| {
                !matches!(
                    leaf,
                    Type::Bool | Type::Int(_) | Type::Float(_) | Type::Vector(..)
                )
            })
        };
        if types.parts(copy.element) > MOST_LEAVES && !has_pointers(copy.element) {
            let (size, align) = types.layout(copy.element);
            let bytes = align.min(4);
            copy.element = types.int(8 * bytes as u32);
            copy.count = copy.count.saturating_mul(size / bytes);
        }
        Some(copy)
    }

    /// The stride at which it goes through memory from a place on.
    pub fn stride(&self, types: &Types, start: i64) -> Stride {
        Stride::through(types.size(self.element), start, self.count)
    }
}

/// `vloadn` and what is like it.
pub(crate) struct VectorAccess {
    /// What is stored.
    pub data: Option<Id>,
    pub offset: Id,
    pub pointer: Id,
    pub scalar: Ty,
    pub lanes: u32,
    /// Bytes that the offset counts.
    pub stride: u64,
    /// `FPRoundingMode` of a store of `half`.
    pub rounding: Option<u32>,
}

impl VectorAccess {
    pub fn of(input: &Input, types: &mut Types, inst: &Inst) -> Option<VectorAccess> {
        let op = Cl::from_u32(inst.literal_at(1))?;
        let store = matches!(
            op,
            Cl::vstoren
                | Cl::vstore_half
                | Cl::vstore_half_r
                | Cl::vstore_halfn
                | Cl::vstore_halfn_r
                | Cl::vstorea_halfn
                | Cl::vstorea_halfn_r
        );
        let load = matches!(
            op,
            Cl::vloadn | Cl::vload_half | Cl::vload_halfn | Cl::vloada_halfn
        );
        if !store && !load {
            return None;
        }
        let first = 2 + usize::from(store);
        let data = store.then(|| inst.id_at(2));
        let value = match data {
            Some(data) => *input.value_ty.get(&data)?,
            None => inst.ty?,
        };
        let (scalar, lanes) = types.lanes(value);
        let half = !matches!(op, Cl::vloadn | Cl::vstoren);
        let scalar = if half { types.float(16) } else { scalar };
        let aligned = matches!(
            op,
            Cl::vloada_halfn | Cl::vstorea_halfn | Cl::vstorea_halfn_r
        );
        let apart = if aligned {
            lanes.next_power_of_two()
        } else {
            lanes
        };
        let rounds = matches!(
            op,
            Cl::vstore_half_r | Cl::vstore_halfn_r | Cl::vstorea_halfn_r
        );
        Some(VectorAccess {
            data,
            offset: inst.id_at(first),
            pointer: inst.id_at(first + 1),
            scalar,
            lanes,
            stride: types.size(scalar) * u64::from(apart),
            rounding: rounds.then(|| inst.literal_at(first + 2)),
        })
    }
}
