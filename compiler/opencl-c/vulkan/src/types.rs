//! Types, each once, and OpenCL's layout of them.

use std::rc::Rc;

use rspirv::spirv::StorageClass;
use rustc_hash::FxHashMap;

use super::ir::Id;

/// A type among [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ty(u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Void,
    Bool,
    /// Bits.
    Int(u32),
    /// A signed integer of 32 bits, which only texels have to be said to be.
    Signed,
    Float(u32),
    Vector(Ty, u32),
    Array(Ty, u64),
    /// An array whose length is a specialization constant.
    Sized(Ty, Id),
    /// An array as long as its buffer.
    Runtime(Ty),
    Struct {
        members: Vec<Ty>,
        packed: bool,
    },
    /// A structure with members where they are said to be, as Vulkan's interfaces have them.
    Block(Vec<(Ty, u32)>),
    Pointer(StorageClass, Ty),
    /// Operands of `OpTypeImage` behind the sampled type.
    Image(Ty, [u32; 6]),
    SampledImage(Ty),
    Sampler,
    Function(Ty),
    /// A type of OpenCL's that Vulkan lacks, by the name of its instruction.
    Foreign(&'static str),
}

/// What is known of a type once its parts are.
#[derive(Clone, Debug, Default)]
struct Facts {
    size: u64,
    align: u64,
    /// Where members begin.
    offsets: Rc<[u64]>,
    /// Scalars, vectors and pointers in it.
    parts: u64,
    /// Types in one another.
    depth: u32,
    /// Whether it may be in memory, without pointers and with them.
    plain: [bool; 2],
}

#[derive(Default)]
pub(crate) struct Types {
    all: Vec<(Type, Facts)>,
    known: FxHashMap<Type, Ty>,
    /// Types without pointers, by those with.
    bare: FxHashMap<Ty, Ty>,
    /// Types without wide vectors, by those with.
    narrow: FxHashMap<Ty, Ty>,
}

impl Types {
    pub fn add(&mut self, ty: Type) -> Ty {
        if let Some(&known) = self.known.get(&ty) {
            return known;
        }
        let new = Ty(self.all.len() as u32);
        let facts = self.facts(&ty);
        self.all.push((ty.clone(), facts));
        self.known.insert(ty, new);
        new
    }

    pub fn get(&self, ty: Ty) -> &Type {
        &self.all[ty.0 as usize].0
    }

    fn known(&self, ty: Ty) -> &Facts {
        &self.all[ty.0 as usize].1
    }

    /// Of a type whose parts were added. Size and alignment in bytes: OpenCL C Specification,
    /// "Alignment of Types".
    fn facts(&self, ty: &Type) -> Facts {
        let scalar = |size: u64| Facts {
            size,
            align: size,
            parts: 1,
            depth: 1,
            plain: [true; 2],
            ..Facts::default()
        };
        match ty {
            Type::Bool => scalar(1),
            Type::Int(bits) | Type::Float(bits) => scalar(u64::from(bits / 8)),
            Type::Vector(element, lanes) => Facts {
                plain: [*lanes <= 4; 2],
                ..scalar(self.size(*element) * u64::from(lanes.next_power_of_two()))
            },
            Type::Array(element, length) => {
                let of = self.known(*element).clone();
                Facts {
                    size: of.size.saturating_mul(*length),
                    parts: of.parts.saturating_mul(*length),
                    depth: of.depth + 1,
                    offsets: Rc::default(),
                    ..of
                }
            }
            Type::Struct { members, packed } => self.facts_of_struct(members, *packed),
            Type::Pointer(_, to) => Facts {
                depth: self.known(*to).depth + 1,
                plain: [false, true],
                ..scalar(8)
            },
            _ => Facts {
                align: 1,
                parts: 1,
                depth: 1,
                ..Facts::default()
            },
        }
    }

    fn facts_of_struct(&self, members: &[Ty], packed: bool) -> Facts {
        let mut facts = Facts {
            align: 1,
            plain: [!packed; 2],
            ..Facts::default()
        };
        let mut offsets = Vec::with_capacity(members.len());
        for &member in members {
            let of = self.known(member);
            if !packed {
                facts.align = facts.align.max(of.align);
                facts.size = next_multiple(facts.size, of.align);
            }
            offsets.push(facts.size);
            facts.size = facts.size.saturating_add(of.size);
            facts.parts = facts.parts.saturating_add(of.parts);
            facts.depth = facts.depth.max(of.depth);
            facts.plain = [0, 1].map(|at| facts.plain[at] && of.plain[at]);
        }
        facts.size = next_multiple(facts.size, facts.align);
        facts.depth += 1;
        facts.offsets = offsets.into();
        facts
    }

    pub fn int(&mut self, bits: u32) -> Ty {
        self.add(Type::Int(bits))
    }

    pub fn float(&mut self, bits: u32) -> Ty {
        self.add(Type::Float(bits))
    }

    pub fn bool(&mut self) -> Ty {
        self.add(Type::Bool)
    }

    /// A vector, or for one lane the scalar.
    pub fn vector(&mut self, scalar: Ty, lanes: u32) -> Ty {
        match lanes {
            1 => scalar,
            _ => self.add(Type::Vector(scalar, lanes)),
        }
    }

    pub fn pointer(&mut self, class: StorageClass, to: Ty) -> Ty {
        self.add(Type::Pointer(class, to))
    }

    /// The scalar and the number of lanes of a scalar or vector; of any other type itself.
    pub fn lanes(&self, ty: Ty) -> (Ty, u32) {
        match *self.get(ty) {
            Type::Vector(scalar, lanes) => (scalar, lanes),
            _ => (ty, 1),
        }
    }

    /// A type with as many lanes as another.
    pub fn like(&mut self, ty: Ty, scalar: Ty) -> Ty {
        let lanes = self.lanes(ty).1;
        self.vector(scalar, lanes)
    }

    pub fn is_pointer(&self, ty: Ty) -> bool {
        matches!(self.get(ty), Type::Pointer(..))
    }

    pub fn is_float(&self, ty: Ty) -> bool {
        matches!(self.get(self.lanes(ty).0), Type::Float(_))
    }

    /// Whether it is a number or a vector of numbers.
    pub fn is_numeric(&self, ty: Ty) -> bool {
        matches!(self.get(self.lanes(ty).0), Type::Int(_) | Type::Float(_))
    }

    /// Whether it has parts that are no lanes.
    pub fn is_aggregate(&self, ty: Ty) -> bool {
        matches!(self.get(ty), Type::Array(..) | Type::Struct { .. })
    }

    /// Bits of a scalar, or of a vector's lane.
    pub fn bits(&self, ty: Ty) -> u32 {
        match *self.get(self.lanes(ty).0) {
            Type::Int(bits) | Type::Float(bits) => bits,
            _ => 0,
        }
    }

    /// Size and alignment in bytes.
    pub fn layout(&self, ty: Ty) -> (u64, u64) {
        let known = self.known(ty);
        (known.size, known.align)
    }

    pub fn size(&self, ty: Ty) -> u64 {
        self.known(ty).size
    }

    /// How many scalars, vectors and pointers a type has.
    pub fn parts(&self, ty: Ty) -> u64 {
        self.known(ty).parts
    }

    /// How many types are in one another.
    pub fn depth(&self, ty: Ty) -> u32 {
        self.known(ty).depth
    }

    /// Where the members of a structure begin.
    pub fn offsets(&self, ty: Ty) -> Rc<[u64]> {
        Rc::clone(&self.known(ty).offsets)
    }

    /// Whether a type may be in memory, with pointers or without: it has no packed structure in it,
    /// and no vector of more than 4 components.
    pub fn is_plain(&self, ty: Ty, pointers: bool) -> bool {
        self.known(ty).plain[usize::from(pointers)]
    }

    /// A type with two words in the place of each pointer, which nothing can access.
    pub fn without_pointers(&mut self, ty: Ty) -> Ty {
        if self.is_plain(ty, false) {
            return ty;
        }
        if let Some(&bare) = self.bare.get(&ty) {
            return bare;
        }
        let bare = match self.get(ty).clone() {
            Type::Pointer(..) => {
                let word = self.int(32);
                self.vector(word, 2)
            }
            Type::Array(element, length) => {
                let element = self.without_pointers(element);
                self.add(Type::Array(element, length))
            }
            Type::Struct { members, packed } => {
                let members = members.into_iter().map(|ty| self.without_pointers(ty));
                let members = members.collect();
                self.add(Type::Struct { members, packed })
            }
            _ => ty,
        };
        self.bare.insert(ty, bare);
        bare
    }

    /// A type with an array of its components in the place of each vector of more than 4, which has
    /// everything else where it was: what the vector was aligned for is padding. Other types than
    /// structures of such are themselves.
    pub fn without_wide(&mut self, ty: Ty) -> Ty {
        if self.is_plain(ty, true) {
            return ty;
        }
        if let Some(&narrow) = self.narrow.get(&ty) {
            return narrow;
        }
        let narrow = match self.get(ty).clone() {
            Type::Vector(scalar, lanes) if lanes > 4 => {
                let length = u64::from(lanes.next_power_of_two());
                self.add(Type::Array(scalar, length))
            }
            Type::Array(element, length) => match *self.get(element) {
                Type::Vector(scalar, lanes) => {
                    let lanes = u64::from(lanes.next_power_of_two());
                    self.add(Type::Array(scalar, length.saturating_mul(lanes)))
                }
                _ => {
                    let element = self.without_wide(element);
                    self.add(Type::Array(element, length))
                }
            },
            Type::Struct {
                members,
                packed: false,
            } => {
                let offsets = self.offsets(ty);
                let mut all = Vec::with_capacity(members.len());
                let mut end = 0;
                for (&member, &offset) in members.iter().zip(&*offsets) {
                    let member = self.without_wide(member);
                    self.pad(&mut all, &mut end, offset, member);
                    end = offset + self.size(member);
                    all.push(member);
                }
                let size = self.size(ty);
                let byte = self.int(8);
                self.pad(&mut all, &mut end, size, byte);
                self.add(Type::Struct {
                    members: all,
                    packed: false,
                })
            }
            _ => ty,
        };
        self.narrow.insert(ty, narrow);
        narrow
    }

    /// Adds numbers up to a member that is to begin at an offset, if it would not by itself.
    fn pad(&mut self, members: &mut Vec<Ty>, end: &mut u64, offset: u64, member: Ty) {
        let (_, align) = self.layout(member);
        if next_multiple(*end, align) == offset {
            return;
        }
        // The largest numbers that fit between.
        let gap = offset - *end;
        let bytes = 1 << (gap | *end).trailing_zeros().min(2);
        let number = self.int(8 * bytes as u32);
        members.push(self.add(Type::Array(number, gap / bytes)));
        *end = offset;
    }

    /// The name of a type, for messages.
    pub fn name(&self, ty: Ty) -> String {
        match self.get(ty) {
            Type::Void => "void".into(),
            Type::Bool => "bool".into(),
            Type::Int(8) => "char".into(),
            Type::Int(16) => "short".into(),
            Type::Int(32) => "int".into(),
            Type::Int(_) => "long".into(),
            Type::Float(16) => "half".into(),
            Type::Float(32) => "float".into(),
            Type::Float(_) => "double".into(),
            Type::Vector(scalar, lanes) => format!("{}{lanes}", self.name(*scalar)),
            Type::Array(element, length) => format!("{}[{length}]", self.name(*element)),
            Type::Pointer(_, to) => format!("{}*", self.name(*to)),
            Type::Foreign(name) => (*name).into(),
            Type::Image(..) | Type::SampledImage(_) => "an image".into(),
            Type::Sampler => "sampler_t".into(),
            _ => "a structure".into(),
        }
    }
}

fn next_multiple(number: u64, of: u64) -> u64 {
    number.checked_next_multiple_of(of).unwrap_or(u64::MAX)
}
