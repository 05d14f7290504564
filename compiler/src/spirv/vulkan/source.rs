//! A module of Vulkan's environment as it was given, by its own ids.

use std::collections::HashMap;

use rspirv::grammar::Instruction;
use rspirv::spirv::{Decoration, Op, StorageClass};

use super::super::decode::{Binary, Result, literal_string};
use super::super::rules::{DECORATION, LOGICAL_LAYOUT, Rule};
use crate::diagnostic::Diagnostic;

/// "Universal Limits": structure nesting depth.
const MAX_DEPTH: usize = 255;

/// An id as the module writes it.
pub(super) type SourceId = u32;

/// An instruction, with its operands after result type and result.
#[derive(Clone, Copy)]
pub(super) struct SourceInst<'a> {
    pub class: &'static Instruction<'static>,
    /// Which one it is in the module.
    pub number: usize,
    /// As it is written, which may be another one than the grammar's for the same thing.
    opcode: u32,
    pub offset: u32,
    pub ty: Option<SourceId>,
    pub result: Option<SourceId>,
    pub operands: &'a [u32],
}

impl SourceInst<'_> {
    pub fn op(&self) -> Op {
        self.class.opcode
    }

    pub fn opcode(&self) -> u32 {
        self.opcode
    }
}

/// A scalar or vector of numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub float: bool,
    pub bits: u32,
    /// 1 for a scalar.
    pub lanes: u32,
    /// The type of each lane.
    pub lane: SourceId,
}

impl Numbers {
    pub fn bytes(self) -> u32 {
        self.bits.div_ceil(8) * self.lanes
    }
}

/// A module-scope variable.
#[derive(Clone, Copy)]
pub(super) struct Variable<'a> {
    pub inst: SourceInst<'a>,
    pub id: SourceId,
    pub class: StorageClass,
    /// The type of what it holds.
    pub pointee: SourceId,
    pub init: Option<SourceId>,
}

/// A function's instructions, from `OpFunction` to before `OpFunctionEnd`.
#[derive(Clone, Copy)]
pub(super) struct FunctionSource<'a> {
    pub id: SourceId,
    pub insts: &'a [SourceInst<'a>],
}

pub(super) struct Source<'a> {
    binary: &'a Binary,
    pub version: u32,
    pub bound: u32,
    pub insts: Vec<SourceInst<'a>>,
    definitions: HashMap<SourceId, usize>,
    decorations: HashMap<SourceId, Vec<(u32, &'a [u32])>>,
    member_offsets: HashMap<(SourceId, u32), u32>,
    /// How many instructions are before the first function.
    pub first_function: usize,
    /// Ranges of instructions, in order.
    functions: Vec<(SourceId, usize, usize)>,
    pub variables: Vec<Variable<'a>>,
    pub sets: HashMap<SourceId, String>,
    /// Whether variables or members of blocks are volatile: then all accesses to memory are.
    pub is_volatile: bool,
    /// Bytes of each type in its explicit layout.
    sizes: HashMap<SourceId, u64>,
}

impl<'a> Source<'a> {
    /// The module of `words`, which `binary` has been decoded from.
    pub fn read(binary: &'a Binary, words: &'a [u32]) -> Result<Source<'a>> {
        let mut source = Source {
            binary,
            version: words[1],
            bound: words[3],
            insts: Vec::with_capacity(binary.records.len()),
            definitions: HashMap::new(),
            decorations: HashMap::new(),
            member_offsets: HashMap::new(),
            first_function: binary.records.len(),
            functions: Vec::new(),
            variables: Vec::new(),
            sets: HashMap::new(),
            is_volatile: false,
            sizes: HashMap::new(),
        };
        for (number, inst) in binary.insts().iter().enumerate() {
            let at = inst.offset as usize;
            let length = (words[at] >> 16) as usize;
            let before = 1 + usize::from(inst.ty.is_some()) + usize::from(inst.result.is_some());
            let operands = words
                .get(at + before..at + length)
                .and_then(|operands| operands.get(..inst.operands.len()))
                .ok_or_else(|| {
                    binary.error(inst, "an instruction that others continue is not supported")
                })?;
            let own = SourceInst {
                class: inst.class,
                number,
                opcode: words[at] & 0xffff,
                offset: inst.offset,
                ty: inst.ty.map(|id| binary.source_id(id)),
                result: inst.result.map(|id| binary.source_id(id)),
                operands,
            };
            if let Some(result) = own.result {
                source.definitions.insert(result, number);
            }
            source.insts.push(own);
        }
        source.read_annotations()?;
        source.read_functions()?;
        source.read_variables()?;
        source.read_sizes();
        Ok(source)
    }

    fn read_annotations(&mut self) -> Result<()> {
        for i in 0..self.insts.len() {
            let inst = self.insts[i];
            self.is_volatile |= is_volatile(&inst);
            match (inst.op(), inst.operands) {
                (Op::Decorate | Op::DecorateId, [target, decoration, rest @ ..]) => {
                    let of_target = self.decorations.entry(*target).or_default();
                    of_target.push((*decoration, rest));
                }
                (Op::MemberDecorate, &[ty, member, decoration, offset])
                    if decoration == Decoration::Offset as u32 =>
                {
                    self.member_offsets.insert((ty, member), offset);
                }
                (Op::DecorationGroup, _) => {
                    let message = "groups of decorations are not supported in shaders";
                    return Err(self.error(&inst, message).under(DECORATION));
                }
                (Op::ExtInstImport, operands) => {
                    let name = literal_string(operands).unwrap_or_default();
                    self.sets.insert(inst.result.unwrap_or(0), name);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_functions(&mut self) -> Result<()> {
        let mut open: Option<(SourceId, usize)> = None;
        for (number, inst) in self.insts.iter().enumerate() {
            match (inst.op(), open) {
                (Op::Function, None) => {
                    self.first_function = self.first_function.min(number);
                    open = Some((inst.result.unwrap_or(0), number));
                }
                (Op::FunctionEnd, Some((id, from))) => {
                    self.functions.push((id, from, number));
                    open = None;
                }
                (Op::Function | Op::FunctionEnd, _) => {
                    let message = "functions begin and end in turns";
                    return Err(self.error(inst, message).under(LOGICAL_LAYOUT));
                }
                (Op::Line | Op::NoLine | Op::Nop | Op::ExtInst, None) => {}
                (_, None) if number > self.first_function => {
                    let message = "this instruction is between functions";
                    return Err(self.error(inst, message).under(LOGICAL_LAYOUT));
                }
                _ => {}
            }
        }
        match open {
            Some((_, from)) => Err(self
                .error(&self.insts[from], "the function has no OpFunctionEnd")
                .under(LOGICAL_LAYOUT)),
            None => Ok(()),
        }
    }

    fn read_variables(&mut self) -> Result<()> {
        for i in 0..self.first_function {
            let inst = self.insts[i];
            let (operands, pointee) = match (inst.op(), inst.operands) {
                (Op::Variable, operands) => (operands, self.pointee(inst.ty)),
                (Op::UntypedVariableKHR, &[_, pointee, ..]) => (&inst.operands[1..], Some(pointee)),
                (Op::UntypedVariableKHR, _) => {
                    let message = "an untyped variable of a shader has a data type";
                    return Err(self.error(&inst, message));
                }
                _ => continue,
            };
            let class = StorageClass::from_u32(inst.operands[0])
                .ok_or_else(|| self.error(&inst, "an unknown storage class"))?;
            let pointee =
                pointee.ok_or_else(|| self.error(&inst, "the result type is not a pointer"))?;
            self.variables.push(Variable {
                inst,
                id: inst.result.unwrap_or(0),
                class,
                pointee,
                init: operands.get(1).copied(),
            });
        }
        Ok(())
    }

    /// What a type of pointers points to.
    pub fn pointee(&self, pointer: Option<SourceId>) -> Option<SourceId> {
        let inst = self.definition(pointer?)?;
        match (inst.op(), inst.operands) {
            (Op::TypePointer, &[_, pointee]) => Some(pointee),
            _ => None,
        }
    }

    /// Types are defined before those that have them as parts.
    fn read_sizes(&mut self) {
        for i in 0..self.first_function {
            let inst = self.insts[i];
            let Some(id) = inst.result else { continue };
            let size = match (inst.op(), inst.operands) {
                (Op::TypeArray, &[element, length]) => {
                    let stride = self.stride(id, element);
                    let length = self.constant(length).unwrap_or(0);
                    stride.saturating_mul(u64::from(length))
                }
                (Op::TypeStruct, members) => (0..)
                    .zip(members)
                    .map(|(index, &member)| {
                        let offset = self.member_offset(id, index).unwrap_or(0);
                        u64::from(offset).saturating_add(self.size(member))
                    })
                    .max()
                    .unwrap_or(0),
                (Op::TypePointer, _) => 8,
                _ => self
                    .numbers(id)
                    .map_or(0, |numbers| u64::from(numbers.bytes())),
            };
            self.sizes.insert(id, size);
        }
    }

    /// Bytes of a type in an explicit layout; 0 for what has none.
    pub fn size(&self, ty: SourceId) -> u64 {
        self.sizes.get(&ty).copied().unwrap_or(0)
    }

    /// Of a block whose member is a runtime array: where that begins, and bytes of its elements.
    pub fn runtime_array(&self, block: SourceId, member: u32) -> Option<(u32, u64)> {
        let members = self.definition(block)?;
        let &array = members.operands.get(member as usize)?;
        let inst = self.definition(array)?;
        match (members.op(), inst.op(), inst.operands) {
            (Op::TypeStruct, Op::TypeRuntimeArray, &[element]) => {
                let stride = self.stride(array, element);
                Some((self.member_offset(block, member)?, stride))
            }
            _ => None,
        }
    }

    /// Bytes from one element of an array to the next.
    fn stride(&self, array: SourceId, element: SourceId) -> u64 {
        match self.decorated_number(array, Decoration::ArrayStride) {
            Some(stride) => u64::from(stride),
            None => self.size(element),
        }
    }

    /// Where in a type the `size` bytes at an offset are one scalar, vector or pointer: the indices
    /// that lead there, and its type.
    pub fn part_at(&self, ty: SourceId, offset: u64, size: u64) -> Option<(Vec<u32>, SourceId)> {
        let (mut ty, mut offset) = (ty, offset);
        let mut path = Vec::new();
        while path.len() < MAX_DEPTH {
            if let Some(numbers) = self.numbers(ty) {
                let own = u64::from(numbers.bytes());
                // A vector of three takes the room of four.
                let padded = numbers.lanes == 3 && own / 3 * 4 == size;
                if offset == 0 && (own == size || padded) {
                    return Some((path, ty));
                }
                if numbers.lanes == 1 {
                    return None;
                }
                let lane = own / u64::from(numbers.lanes);
                path.push((offset / lane) as u32);
                (ty, offset) = (numbers.lane, offset % lane);
                continue;
            }
            let inst = self.definition(ty)?;
            match (inst.op(), inst.operands) {
                (Op::TypePointer, _) => return (offset == 0 && size == 8).then_some((path, ty)),
                (Op::TypeStruct, members) => {
                    let (index, at, member) = (0..).zip(members).find_map(|(index, &member)| {
                        let at = u64::from(self.member_offset(ty, index)?);
                        let inside = at <= offset && offset - at < self.size(member);
                        inside.then_some((index, at, member))
                    })?;
                    path.push(index);
                    (ty, offset) = (member, offset - at);
                }
                (Op::TypeArray, &[element, _]) => {
                    let stride = self.stride(ty, element);
                    let index = offset.checked_div(stride)?;
                    path.push(u32::try_from(index).ok()?);
                    (ty, offset) = (element, offset % stride);
                }
                _ => return None,
            }
        }
        None
    }

    pub fn functions(&self) -> impl Iterator<Item = FunctionSource<'_>> {
        self.functions.iter().map(|&(id, from, to)| FunctionSource {
            id,
            insts: &self.insts[from..to],
        })
    }

    pub fn global_insts(&self) -> &[SourceInst<'a>] {
        &self.insts[..self.first_function]
    }

    pub fn definition(&self, id: SourceId) -> Option<&SourceInst<'a>> {
        Some(&self.insts[*self.definitions.get(&id)?])
    }

    pub fn decoration(&self, id: SourceId, decoration: Decoration) -> Option<&'a [u32]> {
        let all = self.decorations.get(&id)?;
        let found = all.iter().find(|(number, _)| *number == decoration as u32);
        found.map(|(_, words)| *words)
    }

    /// The one number of a decoration.
    pub fn decorated_number(&self, id: SourceId, decoration: Decoration) -> Option<u32> {
        self.decoration(id, decoration)?.first().copied()
    }

    pub fn member_offset(&self, ty: SourceId, member: u32) -> Option<u32> {
        self.member_offsets.get(&(ty, member)).copied()
    }

    /// The value of an integer constant of 32 bits that cannot be specialized.
    pub fn constant(&self, id: SourceId) -> Option<u32> {
        let inst = self.definition(id)?;
        match (inst.op(), inst.operands) {
            (Op::Constant, &[value]) => Some(value),
            (Op::ConstantNull, _) => Some(0),
            _ => None,
        }
    }

    pub fn string(&self, id: SourceId) -> Option<String> {
        let inst = self.definition(id)?;
        (inst.op() == Op::String).then(|| literal_string(inst.operands))?
    }

    /// What a type says if it is a scalar or vector of numbers.
    pub fn numbers(&self, ty: SourceId) -> Option<Numbers> {
        let inst = self.definition(ty)?;
        let scalar = |float, bits| Numbers {
            float,
            bits,
            lanes: 1,
            lane: ty,
        };
        match (inst.op(), inst.operands) {
            (Op::TypeInt, &[bits @ (8 | 16 | 32 | 64), _]) => Some(scalar(false, bits)),
            (Op::TypeFloat, &[bits @ (16 | 32 | 64)]) => Some(scalar(true, bits)),
            (Op::TypeVector, &[lane, lanes @ 2..=16]) => {
                let of_lane = self.definition(lane).map(|inst| inst.op())?;
                if !matches!(of_lane, Op::TypeInt | Op::TypeFloat) {
                    return None;
                }
                let numbers = self.numbers(lane)?;
                Some(Numbers { lanes, ..numbers })
            }
            _ => None,
        }
    }

    /// The result type of a value.
    pub fn type_of(&self, value: SourceId) -> Option<SourceId> {
        self.definition(value)?.ty
    }

    pub fn error(&self, inst: &SourceInst<'_>, message: impl Into<String>) -> Diagnostic {
        let record = &self.binary.records[inst.number];
        self.binary.error(&self.binary.inst(record), message)
    }

    /// The id, and its name where it has one.
    pub fn describe(&self, id: SourceId) -> String {
        match self.binary.ids[0].get(&id) {
            Some(&dense) => self.binary.describe(dense),
            None => format!("%{id}"),
        }
    }

    /// A refusal of something that this lowering does not know.
    pub fn unsupported(&self, inst: &SourceInst<'_>) -> Diagnostic {
        let message = format!("Op{} is not supported in shaders", inst.class.opname);
        self.error(inst, message)
            .under(Rule::Vulkan("Vulkan Environment for SPIR-V"))
    }
}

/// Whether it is a decoration with `Volatile`.
pub(super) fn is_volatile(inst: &SourceInst<'_>) -> bool {
    let decoration = match (inst.op(), inst.operands) {
        (Op::Decorate, &[_, decoration, ..]) => decoration,
        (Op::MemberDecorate, &[_, _, decoration, ..]) => decoration,
        _ => return false,
    };
    decoration == Decoration::Volatile as u32
}
