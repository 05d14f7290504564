//! Types, interned: equal types have equal numbers. Their sizes and alignments, and how they are
//! written.
//!
//! OpenCL C Specification, "Supported Data Types". Pointers have 64 bits.

use rustc_hash::FxHashMap;

use crate::ast::Access;
use crate::symbol::Symbol;
use crate::token::Loc;

/// No array or structure has more bytes.
pub const MAX_SIZE: u64 = 1 << 40;

/// Arrays and structures nest no deeper, so that what walks a value of a type may recur.
pub const MAX_DEPTH: u32 = 256;

/// An interned, unqualified type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnumId(pub u32);

/// The address space of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    Private,
    Global,
    Local,
    Constant,
    Generic,
}

/// A type with its qualifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QualType {
    pub ty: TypeId,
    pub quals: TypeQuals,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeQuals {
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_restrict: bool,
    /// What `aligned` of a `typedef` says. Types that differ in it alone are compatible.
    pub align: Option<Alignment>,
}

/// An alignment in bytes, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alignment(u8);

impl Alignment {
    pub fn of(bytes: u64) -> Alignment {
        debug_assert!(bytes.is_power_of_two());
        Alignment(bytes.trailing_zeros() as u8)
    }

    pub fn bytes(self) -> u64 {
        1 << self.0
    }
}

impl From<TypeId> for QualType {
    fn from(ty: TypeId) -> QualType {
        QualType {
            ty,
            quals: TypeQuals::default(),
        }
    }
}

/// Arithmetic types. `Bool` is C's `bool`, one byte in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    Bool,
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    /// No type of OpenCL C's, but of C's: what `long` is, by another name and of a higher rank.
    LongLong,
    ULongLong,
    Half,
    Float,
    Double,
}

impl Scalar {
    /// A type by its name in OpenCL C.
    pub fn named(name: &str) -> Option<Scalar> {
        Some(match name {
            "bool" => Scalar::Bool,
            "char" => Scalar::Char,
            "uchar" => Scalar::UChar,
            "short" => Scalar::Short,
            "ushort" => Scalar::UShort,
            "int" => Scalar::Int,
            "uint" => Scalar::UInt,
            "long" => Scalar::Long,
            "ulong" => Scalar::ULong,
            "half" => Scalar::Half,
            "float" => Scalar::Float,
            "double" => Scalar::Double,
            _ => return None,
        })
    }

    pub fn bits(self) -> u32 {
        match self {
            Scalar::Bool | Scalar::Char | Scalar::UChar => 8,
            Scalar::Short | Scalar::UShort | Scalar::Half => 16,
            Scalar::Int | Scalar::UInt | Scalar::Float => 32,
            Scalar::Long
            | Scalar::ULong
            | Scalar::LongLong
            | Scalar::ULongLong
            | Scalar::Double => 64,
        }
    }

    /// The type in C's words.
    pub fn c_name(self) -> &'static str {
        match self {
            Scalar::UChar => "unsigned char",
            Scalar::UShort => "unsigned short",
            Scalar::UInt => "unsigned int",
            Scalar::ULong => "unsigned long",
            other => other.name(),
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Half | Scalar::Float | Scalar::Double)
    }

    pub fn is_integer(self) -> bool {
        !self.is_float()
    }

    pub fn is_signed(self) -> bool {
        matches!(
            self,
            Scalar::Char | Scalar::Short | Scalar::Int | Scalar::Long | Scalar::LongLong
        ) || self.is_float()
    }

    /// `long long` or `unsigned long long`.
    pub fn is_long_long(self) -> bool {
        matches!(self, Scalar::LongLong | Scalar::ULongLong)
    }

    pub fn long_long(signed: bool) -> Scalar {
        match signed {
            true => Scalar::LongLong,
            false => Scalar::ULongLong,
        }
    }

    /// The type of OpenCL C's own that has the same values: `long` for `long long`.
    pub fn native(self) -> Scalar {
        match self {
            Scalar::LongLong => Scalar::Long,
            Scalar::ULongLong => Scalar::ULong,
            other => other,
        }
    }

    /// The integer type of OpenCL C's own of the given width and sign.
    pub fn integer(bits: u32, signed: bool) -> Scalar {
        match (bits, signed) {
            (8, true) => Scalar::Char,
            (8, false) => Scalar::UChar,
            (16, true) => Scalar::Short,
            (16, false) => Scalar::UShort,
            (32, true) => Scalar::Int,
            (32, false) => Scalar::UInt,
            (64, true) => Scalar::Long,
            (64, false) => Scalar::ULong,
            _ => unreachable!("no integer type has {bits} bits"),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::Char => "char",
            Scalar::UChar => "uchar",
            Scalar::Short => "short",
            Scalar::UShort => "ushort",
            Scalar::Int => "int",
            Scalar::UInt => "uint",
            Scalar::Long => "long",
            Scalar::ULong => "ulong",
            Scalar::LongLong => "long long",
            Scalar::ULongLong => "unsigned long long",
            Scalar::Half => "half",
            Scalar::Float => "float",
            Scalar::Double => "double",
        }
    }
}

/// The dimensions of an image type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageDim {
    D1,
    D1Array,
    D1Buffer,
    D2,
    D2Array,
    D2Depth,
    D2ArrayDepth,
    D2Msaa,
    D2ArrayMsaa,
    D2MsaaDepth,
    D2ArrayMsaaDepth,
    D3,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Void,
    /// A SPIR-V Boolean or vector of them (lanes 1 for a scalar): the result of a comparison before
    /// it becomes an `int`. No C type, never in memory.
    Truth(u8),
    Scalar(Scalar),
    /// 2, 3, 4, 8 or 16 components (clang's `ext_vector_type` allows no more here).
    Vector(Scalar, u8),
    Pointer {
        pointee: QualType,
        space: Space,
    },
    /// `len` is `None` for an incomplete array (and for a flexible member).
    Array {
        element: QualType,
        len: Option<u64>,
    },
    Record(RecordId),
    /// Compatible with `int` (or `uint`, as its values need).
    Enum(EnumId),
    Function(FunctionType),
    /// A pointer to a block of this function type.
    Block(TypeId),
    Image {
        dim: ImageDim,
        access: Access,
    },
    Pipe {
        element: TypeId,
        access: Access,
    },
    Sampler,
    Event,
    ClkEvent,
    Queue,
    NdRange,
    ReserveId,
    /// `atomic_int` and so on, `_Atomic(T)`.
    Atomic(TypeId),
    /// An opaque type of an extension that becomes one SPIR-V type by name.
    Opaque(OpaqueType),
    /// Of an expression whose error was told: goes with everything, in silence.
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpaqueType {
    /// `cl_khr_subgroup_named_barrier`
    NamedBarrier,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    pub result: QualType,
    pub params: Vec<TypeId>,
    pub variadic: bool,
    /// Declared as `()`.
    pub unspecified: bool,
}

/// A `struct` or `union`, laid out once it is complete.
#[derive(Clone, Debug)]
pub struct Record {
    pub tag: Option<Symbol>,
    /// The first `typedef` of one without a tag.
    pub typedef_name: Option<Symbol>,
    pub is_union: bool,
    pub loc: Loc,
    /// `None` until its definition ends.
    pub fields: Option<Vec<Field>>,
    /// Which field has a name: it itself, or an anonymous `struct` or `union`.
    pub field_by_name: FxHashMap<Symbol, u32>,
    pub size: u64,
    pub align: u64,
    pub packed: bool,
    /// See [`Types::depth`].
    pub depth: u32,
}

#[derive(Clone, Debug)]
pub struct Field {
    /// `None` for an anonymous `struct` or `union`, whose members are looked up through it.
    pub name: Option<Symbol>,
    pub ty: QualType,
    pub offset: u64,
    pub loc: Loc,
}

#[derive(Clone, Debug)]
pub struct Enum {
    pub tag: Option<Symbol>,
    /// The first `typedef` of one without a tag.
    pub typedef_name: Option<Symbol>,
    pub loc: Loc,
    pub complete: bool,
    /// `Int` or `UInt` (`Long`, `ULong` where values need it).
    pub underlying: Scalar,
}

/// All types of a program.
#[derive(Debug)]
pub struct Types {
    types: Vec<Type>,
    map: FxHashMap<Type, TypeId>,
    pub records: Vec<Record>,
    pub enums: Vec<Enum>,
}

macro_rules! common_types {
    ($($name:ident = $index:literal, $ty:expr;)*) => {
        impl Types {
            $(pub const $name: TypeId = TypeId($index);)*

            /// The types that need no interning, in the order of their numbers.
            pub fn new() -> Types {
                let mut types = Types {
                    types: Vec::new(),
                    map: FxHashMap::default(),
                    records: Vec::new(),
                    enums: Vec::new(),
                };
                $(let id = types.intern($ty);
                debug_assert_eq!(id, TypeId($index));)*
                types
            }
        }
    };
}

common_types! {
    VOID = 0, Type::Void;
    TRUTH = 1, Type::Truth(1);
    BOOL = 2, Type::Scalar(Scalar::Bool);
    CHAR = 3, Type::Scalar(Scalar::Char);
    UCHAR = 4, Type::Scalar(Scalar::UChar);
    SHORT = 5, Type::Scalar(Scalar::Short);
    USHORT = 6, Type::Scalar(Scalar::UShort);
    INT = 7, Type::Scalar(Scalar::Int);
    UINT = 8, Type::Scalar(Scalar::UInt);
    LONG = 9, Type::Scalar(Scalar::Long);
    ULONG = 10, Type::Scalar(Scalar::ULong);
    HALF = 11, Type::Scalar(Scalar::Half);
    FLOAT = 12, Type::Scalar(Scalar::Float);
    DOUBLE = 13, Type::Scalar(Scalar::Double);
    SAMPLER = 14, Type::Sampler;
    EVENT = 15, Type::Event;
    CLK_EVENT = 16, Type::ClkEvent;
    QUEUE = 17, Type::Queue;
    ND_RANGE = 18, Type::NdRange;
    RESERVE_ID = 19, Type::ReserveId;
    ERROR = 20, Type::Error;
    LONG_LONG = 21, Type::Scalar(Scalar::LongLong);
    ULONG_LONG = 22, Type::Scalar(Scalar::ULongLong);
}

impl Types {
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.map.get(&ty) {
            return id;
        }
        let id = TypeId(self.types.len() as u32);
        self.types.push(ty.clone());
        self.map.insert(ty, id);
        id
    }

    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    pub fn scalar(&self, scalar: Scalar) -> TypeId {
        self.map[&Type::Scalar(scalar)]
    }

    /// A structure or union whose members are not known yet.
    pub fn new_record(&mut self, tag: Option<Symbol>, is_union: bool, loc: Loc) -> TypeId {
        let id = RecordId(self.records.len() as u32);
        self.records.push(Record {
            tag,
            typedef_name: None,
            is_union,
            loc,
            fields: None,
            field_by_name: FxHashMap::default(),
            size: 0,
            align: 1,
            packed: false,
            depth: 1,
        });
        self.intern(Type::Record(id))
    }

    /// A vector, or the scalar itself for one lane.
    pub fn vector(&mut self, scalar: Scalar, lanes: u8) -> TypeId {
        if lanes == 1 {
            self.scalar(scalar)
        } else {
            self.intern(Type::Vector(scalar, lanes))
        }
    }

    pub fn pointer(&mut self, pointee: QualType, space: Space) -> TypeId {
        self.intern(Type::Pointer { pointee, space })
    }

    /// The arithmetic type as component and number of lanes, `enum`s as what they are compatible
    /// with.
    pub fn as_arithmetic(&self, id: TypeId) -> Option<(Scalar, u8)> {
        match *self.get(id) {
            Type::Scalar(scalar) => Some((scalar, 1)),
            Type::Vector(scalar, lanes) => Some((scalar, lanes)),
            Type::Enum(id) => Some((self.enums[id.0 as usize].underlying, 1)),
            _ => None,
        }
    }

    /// Bytes and alignment in memory; `None` for what has none (`void`, functions, incomplete
    /// types).
    pub fn layout(&self, id: TypeId) -> Option<(u64, u64)> {
        Some(match self.get(id) {
            Type::Scalar(scalar) => {
                let bytes = u64::from(scalar.bits() / 8);
                (bytes, bytes)
            }
            Type::Vector(scalar, lanes) => {
                // "a 3-component vector data type" has the size and alignment of one of four.
                let lanes = if *lanes == 3 { 4 } else { u64::from(*lanes) };
                let bytes = u64::from(scalar.bits() / 8) * lanes;
                (bytes, bytes)
            }
            Type::Enum(id) => {
                let bytes = u64::from(self.enums[id.0 as usize].underlying.bits() / 8);
                (bytes, bytes)
            }
            Type::Array { element, len } => {
                let (size, align) = self.layout_of(*element)?;
                (size.checked_mul((*len)?)?, align)
            }
            Type::Record(id) => {
                let record = &self.records[id.0 as usize];
                record.fields.as_ref()?;
                (record.size, record.align)
            }
            Type::Atomic(inner) => self.layout(*inner)?,
            Type::Pointer { .. }
            | Type::Block(_)
            | Type::Sampler
            | Type::Event
            | Type::ClkEvent
            | Type::Queue
            | Type::ReserveId
            | Type::Image { .. }
            | Type::Pipe { .. }
            | Type::Opaque(_) => (8, 8),
            // A dimension count and three times three sizes.
            Type::NdRange => (80, 8),
            Type::Error => (4, 4),
            Type::Void | Type::Truth(_) | Type::Function(_) => return None,
        })
    }

    /// [`Types::layout`], with the alignment that a `typedef` gives.
    pub fn layout_of(&self, ty: QualType) -> Option<(u64, u64)> {
        let (size, natural) = self.layout(ty.ty)?;
        Some((size, ty.quals.align.map_or(natural, Alignment::bytes)))
    }

    /// How deeply arrays and structures nest in a type.
    pub fn depth(&self, mut id: TypeId) -> u32 {
        let mut depth = 0;
        loop {
            match self.get(id) {
                Type::Array { element, .. } => {
                    depth += 1;
                    id = element.ty;
                }
                Type::Record(id) => return depth + self.records[id.0 as usize].depth,
                _ => return depth,
            }
        }
    }
}

impl Default for Types {
    fn default() -> Self {
        Types::new()
    }
}
