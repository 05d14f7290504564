//! The module that comes out: sections in the order of "Logical Layout of a Module", new ids, types
//! and constants that are made when first asked for.

use std::collections::HashMap;

use rspirv::binary::Assemble;
use rspirv::dr::Operand;
use rspirv::spirv::{self, BuiltIn, Decoration, Op, StorageClass};

use super::super::decode::{Lowered, Places, Result};
use super::super::rules::Rule;
use super::source::{Source, SourceId};
use crate::diagnostic::Diagnostic;
use crate::kernel_info::Implicit;

/// Most words of an instruction.
const MAX_WORDS: usize = 0xffff;

/// Instructions one after another.
#[derive(Default)]
pub(super) struct Section {
    words: Vec<u32>,
    /// Where what begins at an offset comes from.
    places: Vec<(u32, u32)>,
    too_long: bool,
}

impl Section {
    /// Appends an instruction that comes from the one at the offset `place`.
    pub fn inst(&mut self, place: u32, op: Op, operands: &[u32]) {
        self.raw(place, op as u32, operands);
    }

    /// The same, for opcodes that are not in the grammar's table.
    pub fn raw(&mut self, place: u32, opcode: u32, operands: &[u32]) {
        if operands.len() >= MAX_WORDS {
            self.too_long = true;
            return;
        }
        if self.places.last().map(|last| last.1) != Some(place) {
            self.places.push((self.words.len() as u32, place));
        }
        self.words.push((operands.len() as u32 + 1) << 16 | opcode);
        self.words.extend_from_slice(operands);
    }

    pub fn append(&mut self, other: Section) {
        let base = self.words.len() as u32;
        self.words.extend(other.words);
        let places = other.places.into_iter();
        self.places
            .extend(places.map(|(at, place)| (base + at, place)));
        self.too_long |= other.too_long;
    }
}

/// A type or constant that the lowering needs.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Made {
    Void,
    Int(u32),
    Float(u32),
    Vector(u32, u32),
    Bool,
    Pointer(u32, u32),
    UntypedPointer(u32),
    Array(u32, u32),
    Struct(Vec<u32>),
    Function(Vec<u32>),
    /// Type.
    Null(u32),
    /// Type, words.
    Constant(u32, Vec<u32>),
    Composite(u32, Vec<u32>),
    /// Which, and the type of a pointer to it.
    BuiltIn(u32, u32),
}

pub(super) struct Writer {
    version: u32,
    next_id: u32,
    made: HashMap<Made, u32>,
    pub heads: Section,
    pub entries: Section,
    pub modes: Section,
    pub debug: Section,
    pub names: Section,
    pub annotations: Section,
    pub globals: Section,
    pub functions: Section,
    /// Parameters of kernels that the driver sets.
    pub implicit: HashMap<SourceId, Implicit>,
    /// `OpenCL.std`
    pub opencl_std: SourceId,
    /// Where what the lowering makes up comes from.
    pub place: u32,
}

impl Writer {
    pub fn new(source: &Source<'_>) -> Writer {
        let mut writer = Writer {
            version: source.version,
            next_id: source.bound,
            made: HashMap::new(),
            heads: Section::default(),
            entries: Section::default(),
            modes: Section::default(),
            debug: Section::default(),
            names: Section::default(),
            annotations: Section::default(),
            globals: Section::default(),
            functions: Section::default(),
            implicit: HashMap::new(),
            opencl_std: 0,
            place: 0,
        };
        writer.opencl_std = writer.fresh();
        writer
    }

    pub fn fresh(&mut self) -> SourceId {
        self.next_id = self.next_id.saturating_add(1);
        self.next_id - 1
    }

    fn make(&mut self, what: Made) -> SourceId {
        if let Some(&id) = self.made.get(&what) {
            return id;
        }
        let id = self.fresh();
        let place = self.place;
        let mut emit = |op: Op, operands: &[u32]| self.globals.inst(place, op, operands);
        match &what {
            Made::Void => emit(Op::TypeVoid, &[id]),
            Made::Bool => emit(Op::TypeBool, &[id]),
            Made::Int(bits) => emit(Op::TypeInt, &[id, *bits, 0]),
            Made::Float(bits) => emit(Op::TypeFloat, &[id, *bits]),
            Made::Vector(lane, lanes) => emit(Op::TypeVector, &[id, *lane, *lanes]),
            Made::Pointer(class, pointee) => emit(Op::TypePointer, &[id, *class, *pointee]),
            Made::UntypedPointer(class) => emit(Op::TypeUntypedPointerKHR, &[id, *class]),
            Made::Array(element, length) => emit(Op::TypeArray, &[id, *element, *length]),
            Made::Struct(members) => emit(Op::TypeStruct, &with(&[id], members)),
            Made::Function(types) => emit(Op::TypeFunction, &with(&[id], types)),
            Made::Null(ty) => emit(Op::ConstantNull, &[*ty, id]),
            Made::Constant(ty, words) => emit(Op::Constant, &with(&[*ty, id], words)),
            Made::Composite(ty, parts) => emit(Op::ConstantComposite, &with(&[*ty, id], parts)),
            Made::BuiltIn(_, pointer) => {
                emit(Op::Variable, &[*pointer, id, StorageClass::Input as u32]);
            }
        }
        self.made.insert(what, id);
        id
    }

    pub fn void(&mut self) -> SourceId {
        self.make(Made::Void)
    }

    pub fn bool(&mut self) -> SourceId {
        self.make(Made::Bool)
    }

    pub fn int(&mut self, bits: u32) -> SourceId {
        self.make(Made::Int(bits))
    }

    pub fn float(&mut self, bits: u32) -> SourceId {
        self.make(Made::Float(bits))
    }

    /// The type of `lanes` of a type; the type itself for one.
    pub fn vector(&mut self, lane: SourceId, lanes: u32) -> SourceId {
        match lanes {
            1 => lane,
            _ => self.make(Made::Vector(lane, lanes)),
        }
    }

    pub fn pointer(&mut self, class: StorageClass, pointee: SourceId) -> SourceId {
        self.make(Made::Pointer(class as u32, pointee))
    }

    pub fn untyped_pointer(&mut self, class: StorageClass) -> SourceId {
        self.make(Made::UntypedPointer(class as u32))
    }

    pub fn array(&mut self, element: SourceId, length: u32) -> SourceId {
        let length = self.u32(length);
        self.make(Made::Array(element, length))
    }

    pub fn structure(&mut self, members: &[SourceId]) -> SourceId {
        self.make(Made::Struct(members.to_vec()))
    }

    pub fn function_type(&mut self, result: SourceId, params: &[SourceId]) -> SourceId {
        self.make(Made::Function(with(&[result], params)))
    }

    pub fn u32(&mut self, value: u32) -> SourceId {
        let ty = self.int(32);
        self.make(Made::Constant(ty, vec![value]))
    }

    pub fn constant(&mut self, ty: SourceId, words: &[u32]) -> SourceId {
        self.make(Made::Constant(ty, words.to_vec()))
    }

    pub fn null(&mut self, ty: SourceId) -> SourceId {
        self.make(Made::Null(ty))
    }

    /// A constant of a type of `lanes` lanes, all the same.
    pub fn splat(&mut self, lane: SourceId, lanes: u32, words: &[u32]) -> SourceId {
        let one = self.constant(lane, words);
        if lanes == 1 {
            return one;
        }
        let ty = self.vector(lane, lanes);
        self.composite(ty, &vec![one; lanes as usize])
    }

    /// A constant array of words, however many.
    pub fn data(&mut self, array: SourceId, words: &[u32]) -> SourceId {
        const MOST: usize = 1 << 15;
        let parts: Vec<SourceId> = words.iter().map(|&word| self.u32(word)).collect();
        let (first, rest) = parts.split_at(parts.len().min(MOST));
        let id = self.fresh();
        let place = self.place;
        let globals = &mut self.globals;
        globals.inst(place, Op::ConstantComposite, &with(&[array, id], first));
        for chunk in rest.chunks(MOST) {
            globals.inst(place, Op::ConstantCompositeContinuedINTEL, chunk);
        }
        id
    }

    pub fn composite(&mut self, ty: SourceId, parts: &[SourceId]) -> SourceId {
        self.make(Made::Composite(ty, parts.to_vec()))
    }

    /// The variable of a built-in, of `lanes` integers of 32 bits.
    pub fn built_in(&mut self, which: BuiltIn, lanes: u32) -> SourceId {
        let lane = self.int(32);
        let ty = self.vector(lane, lanes);
        let pointer = self.pointer(StorageClass::Input, ty);
        let next = self.next_id;
        let id = self.make(Made::BuiltIn(which as u32, pointer));
        if id == next {
            let operands = [id, Decoration::BuiltIn as u32, which as u32];
            self.annotations.inst(self.place, Op::Decorate, &operands);
        }
        id
    }

    pub fn finish(self) -> Result<(Vec<u32>, Lowered)> {
        let mut whole = Section::default();
        let bound = self.next_id;
        whole.words = vec![spirv::MAGIC_NUMBER, self.version, 0, bound, 0];
        let mut sections = whole;
        let Writer {
            heads,
            entries,
            modes,
            debug,
            names,
            annotations,
            globals,
            functions,
            implicit,
            ..
        } = self;
        for section in [
            heads,
            entries,
            modes,
            debug,
            names,
            annotations,
            globals,
            functions,
        ] {
            sections.append(section);
        }
        if sections.too_long {
            let message = "an instruction becomes longer than instructions may be";
            return Err(Diagnostic::new(message).under(Rule::Limit));
        }
        let places = Places(sections.places);
        Ok((sections.words, Lowered { places, implicit }))
    }
}

pub(super) fn with(first: &[u32], rest: &[u32]) -> Vec<u32> {
    [first, rest].concat()
}

/// A string as words.
pub(super) fn literal(text: &str) -> Vec<u32> {
    let mut words = Vec::new();
    Operand::LiteralString(text.to_owned()).assemble_into(&mut words);
    words
}
