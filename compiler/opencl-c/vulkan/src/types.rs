//! Types, each once, and OpenCL's layout of them.

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

#[derive(Default)]
pub(crate) struct Types {
    all: Vec<Type>,
    known: FxHashMap<Type, Ty>,
}

impl Types {
    pub fn add(&mut self, ty: Type) -> Ty {
        if let Some(&known) = self.known.get(&ty) {
            return known;
        }
        let new = Ty(self.all.len() as u32);
        self.all.push(ty.clone());
        self.known.insert(ty, new);
        new
    }

    pub fn get(&self, ty: Ty) -> &Type {
        &self.all[ty.0 as usize]
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

    /// Size and alignment in bytes: OpenCL C Specification, "Alignment of Types".
    pub fn layout(&self, ty: Ty) -> (u64, u64) {
        match self.get(ty) {
            Type::Bool => (1, 1),
            Type::Int(bits) | Type::Float(bits) => (u64::from(bits / 8), u64::from(bits / 8)),
            Type::Vector(scalar, lanes) => {
                let size = self.layout(*scalar).0 * u64::from(lanes.next_power_of_two());
                (size, size)
            }
            Type::Array(element, length) => {
                let (size, align) = self.layout(*element);
                (size.saturating_mul(*length), align)
            }
            Type::Struct { members, packed } => {
                let (mut end, mut align) = (0, 1);
                for &member in members {
                    let (size, natural) = self.layout(member);
                    if !packed {
                        align = align.max(natural);
                        end = u64::next_multiple_of(end, natural);
                    }
                    end += size;
                }
                (end.next_multiple_of(align), align)
            }
            Type::Pointer(..) => (8, 8),
            _ => (0, 1),
        }
    }

    pub fn size(&self, ty: Ty) -> u64 {
        self.layout(ty).0
    }

    /// Where the members of a structure begin.
    pub fn offsets(&self, members: &[Ty], packed: bool) -> Vec<u64> {
        let mut end: u64 = 0;
        let mut offsets = Vec::with_capacity(members.len());
        for &member in members {
            let (size, natural) = self.layout(member);
            if !packed {
                end = end.next_multiple_of(natural);
            }
            offsets.push(end);
            end += size;
        }
        offsets
    }

    /// Whether a type has a packed structure or a pointer in it, or none of the parts that it has
    /// may be in memory.
    pub fn is_plain(&self, ty: Ty, pointers: bool) -> bool {
        match self.get(ty) {
            Type::Bool | Type::Int(_) | Type::Float(_) => true,
            Type::Vector(_, lanes) => *lanes <= 4,
            Type::Array(element, _) => self.is_plain(*element, pointers),
            Type::Struct { members, packed } => {
                !packed
                    && members
                        .iter()
                        .all(|&member| self.is_plain(member, pointers))
            }
            Type::Pointer(..) => pointers,
            _ => false,
        }
    }

    /// A type with two words in the place of each pointer, which nothing can access.
    pub fn without_pointers(&mut self, ty: Ty) -> Ty {
        match self.get(ty).clone() {
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
        }
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
