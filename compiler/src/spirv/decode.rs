//! Words to instructions: the header, each instruction's length and operands by the grammar, and
//! ids.
//!
//! The grammar (opcodes, operand kinds, enumerants) is rspirv's generated table. The walk over the
//! words is ours, since rspirv's parser stops at valid `OpSpecConstantOp` forms, asserts on
//! malformed ones and forgets where an instruction was. Nothing here allocates in proportion to a
//! number that the module states: ids are renumbered densely, in order of appearance, across all
//! the modules that are linked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use rspirv::grammar::{
    INSTRUCTION_TABLE, Instruction, LogicalOperand, OPENCL_STD_100_INSTRUCTION_TABLE, OperandKind,
    OperandQuantifier,
};
use rspirv::spirv::{self, Op};

use super::rules::{PHYSICAL_LAYOUT, Rule, UNIVERSAL, UNIVERSAL_LIMITS};
use crate::diagnostic::Diagnostic;
use crate::kernel_info::Implicit;

/// An id, renumbered densely; an index into tables. See [`Binary::source_id`] for what the module
/// calls it.
pub(super) type Id = u32;

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

/// Words before the first instruction ("Physical Layout of a SPIR-V Module and Instruction").
const HEADER_WORDS: usize = 5;

/// The universal limit on the id bound ("Universal Limits").
const MAX_BOUND: u32 = 0x3f_ffff;

/// One instruction, with its operands after result type and result.
#[derive(Clone, Copy)]
pub(super) struct Inst<'a> {
    pub class: &'static Instruction<'static>,
    /// Which of the linked modules it is in.
    pub module: u32,
    /// Word offset in that module.
    pub offset: u32,
    pub ty: Option<Id>,
    pub result: Option<Id>,
    /// Ids among these are renumbered.
    pub operands: &'a [u32],
}

impl Inst<'_> {
    pub fn op(&self) -> Op {
        self.class.opcode
    }

    /// Whether it is an instruction of this name, for those that the grammar's table lacks.
    pub fn is(&self, name: &str) -> bool {
        self.class.opname == name
    }
}

pub(super) struct Record {
    class: &'static Instruction<'static>,
    module: u32,
    offset: u32,
    ty: Option<Id>,
    result: Option<Id>,
    operands: Range<usize>,
}

/// Where the instructions of a module were before it was lowered: sorted pairs of an offset now and
/// the offset that what begins there comes from.
#[derive(Default)]
pub(super) struct Places(pub Vec<(u32, u32)>);

impl Places {
    /// The offset that the instruction at this one comes from.
    pub fn before(&self, offset: u32) -> u32 {
        let after = self.0.partition_point(|&(now, _)| now <= offset);
        after.checked_sub(1).map_or(0, |at| self.0[at].1)
    }
}

/// What is known of a module that was lowered.
#[derive(Default)]
pub(super) struct Lowered {
    pub places: Places,
    /// Parameters of kernels, by their ids in the module, that the driver sets.
    pub implicit: HashMap<u32, Implicit>,
}

/// The instructions of all modules, in order.
pub(super) struct Binary {
    words: Vec<u32>,
    pub records: Vec<Record>,
    /// What a module calls each id.
    pub source_ids: Vec<u32>,
    /// The other way round, by module.
    pub ids: Vec<HashMap<u32, Id>>,
    /// The number of the record that defines each id, plus one.
    pub definitions: Vec<u32>,
    pub names: HashMap<Id, String>,
    pub module_count: u32,
    /// By module.
    pub lowered: HashMap<u32, Lowered>,
    /// See [`Binary::warn`].
    pub warnings: RefCell<Vec<String>>,
}

impl Record {
    /// Where it is: the module's number, and the offset in it.
    pub fn place(&self) -> (u32, u32) {
        (self.module, self.offset)
    }
}

/// Instructions that the grammar's table lacks, as ones that mean the same here: `OpPoisonKHR` may
/// be any value, `OpFreezeKHR` its operand, since no value of ours is poison.
/// `OpCompositeConstructContinuedINTEL` has no result: the table is wrong there. Predicated
/// accesses and arrays of data have operands that their namesakes here do not; [`Inst::is`] tells
/// them apart.
const NEWER: &[(u32, Instruction<'static>)] = &[
    (
        5158,
        Instruction {
            opname: "PoisonKHR",
            opcode: Op::Undef,
            capabilities: &[],
            extensions: &["SPV_KHR_poison_freeze"],
            operands: &[one(OperandKind::IdResultType), one(OperandKind::IdResult)],
        },
    ),
    (
        5159,
        Instruction {
            opname: "FreezeKHR",
            opcode: Op::CopyObject,
            capabilities: &[],
            extensions: &["SPV_KHR_poison_freeze"],
            operands: &[
                one(OperandKind::IdResultType),
                one(OperandKind::IdResult),
                one(OperandKind::IdRef),
            ],
        },
    ),
    (
        Op::CompositeConstructContinuedINTEL as u32,
        Instruction {
            opname: "CompositeConstructContinuedINTEL",
            opcode: Op::CompositeConstructContinuedINTEL,
            capabilities: &[],
            extensions: &["SPV_INTEL_long_composites"],
            operands: &[LogicalOperand {
                kind: OperandKind::IdRef,
                quantifier: OperandQuantifier::ZeroOrMore,
            }],
        },
    ),
    (
        6258,
        Instruction {
            opname: PREDICATED_LOAD,
            opcode: Op::Load,
            capabilities: &[],
            extensions: &["SPV_INTEL_predicated_io"],
            operands: &[
                one(OperandKind::IdResultType),
                one(OperandKind::IdResult),
                one(OperandKind::IdRef),
                one(OperandKind::IdRef),
                one(OperandKind::IdRef),
                MEMORY_OPERANDS,
            ],
        },
    ),
    (
        6259,
        Instruction {
            opname: PREDICATED_STORE,
            opcode: Op::Store,
            capabilities: &[],
            extensions: &["SPV_INTEL_predicated_io"],
            operands: &[
                one(OperandKind::IdRef),
                one(OperandKind::IdRef),
                one(OperandKind::IdRef),
                MEMORY_OPERANDS,
            ],
        },
    ),
    (5147, data(CONSTANT_DATA, Op::Constant)),
    (5148, data(SPEC_CONSTANT_DATA, Op::SpecConstant)),
];

pub(super) const PREDICATED_LOAD: &str = "PredicatedLoadINTEL";
pub(super) const PREDICATED_STORE: &str = "PredicatedStoreINTEL";
pub(super) const CONSTANT_DATA: &str = "ConstantDataKHR";
pub(super) const SPEC_CONSTANT_DATA: &str = "SpecConstantDataKHR";

const MEMORY_OPERANDS: LogicalOperand = LogicalOperand {
    kind: OperandKind::MemoryAccess,
    quantifier: OperandQuantifier::ZeroOrOne,
};

const fn data(opname: &'static str, opcode: Op) -> Instruction<'static> {
    Instruction {
        opname,
        opcode,
        capabilities: &[],
        extensions: &["SPV_KHR_constant_data"],
        operands: DATA_OPERANDS,
    }
}

const DATA_OPERANDS: &[LogicalOperand] = &[
    one(OperandKind::IdResultType),
    one(OperandKind::IdResult),
    LogicalOperand {
        kind: OperandKind::LiteralInteger,
        quantifier: OperandQuantifier::ZeroOrMore,
    },
];

const fn one(kind: OperandKind) -> LogicalOperand {
    LogicalOperand {
        kind,
        quantifier: OperandQuantifier::One,
    }
}

/// The grammar of an opcode.
pub(super) fn grammar(opcode: u32) -> Option<&'static Instruction<'static>> {
    static TABLE: OnceLock<HashMap<u32, &'static Instruction<'static>>> = OnceLock::new();
    TABLE
        .get_or_init(|| {
            INSTRUCTION_TABLE
                .iter()
                .map(|inst| (inst.opcode as u32, inst))
                .chain(NEWER.iter().map(|(opcode, inst)| (*opcode, inst)))
                .collect()
        })
        .get(&opcode)
        .copied()
}

/// The operands of an `OpenCL.std` instruction.
fn opencl_std_operands(number: u32) -> Option<&'static [LogicalOperand]> {
    static TABLE: OnceLock<HashMap<u32, &'static [LogicalOperand]>> = OnceLock::new();
    TABLE
        .get_or_init(|| {
            OPENCL_STD_100_INSTRUCTION_TABLE
                .iter()
                .map(|inst| (inst.opcode.into(), inst.operands))
                .collect()
        })
        .get(&number)
        .copied()
}

impl Binary {
    /// Decodes modules into one id space.
    pub fn decode(modules: &[&[u32]]) -> Result<Binary> {
        let mut binary = Binary {
            words: Vec::with_capacity(modules.iter().map(|m| m.len()).sum()),
            records: Vec::new(),
            source_ids: Vec::new(),
            ids: Vec::new(),
            definitions: Vec::new(),
            names: HashMap::new(),
            module_count: modules.len() as u32,
            lowered: HashMap::new(),
            warnings: RefCell::default(),
        };
        for (index, words) in modules.iter().enumerate() {
            binary.ids.push(HashMap::new());
            ModuleDecoder {
                binary: &mut binary,
                index: index as u32,
                bound: 0,
                facts: Vec::new(),
                opencl_std: Vec::new(),
            }
            .decode(words)?;
        }
        Ok(binary)
    }

    /// Whether a module was one of Vulkan's environment.
    pub fn is_lowered(&self, module: u32) -> bool {
        self.lowered.contains_key(&module)
    }

    /// What the driver sets a parameter of a kernel to, if no argument is it.
    pub fn implicit(&self, module: u32, param: Id) -> Option<&Implicit> {
        let lowered = self.lowered.get(&module)?;
        lowered.implicit.get(&self.source_id(param))
    }

    pub fn insts(&self) -> Vec<Inst<'_>> {
        self.records.iter().map(|r| self.inst(r)).collect()
    }

    pub fn inst(&self, r: &Record) -> Inst<'_> {
        Inst {
            class: r.class,
            module: r.module,
            offset: r.offset,
            ty: r.ty,
            result: r.result,
            operands: &self.words[r.operands.clone()],
        }
    }
}

/// What an instruction of `SPV_INTEL_long_composites` may follow.
fn continues(op: Op) -> Option<&'static [Op]> {
    Some(match op {
        Op::TypeStructContinuedINTEL => &[Op::TypeStruct],
        Op::ConstantCompositeContinuedINTEL => &[Op::ConstantComposite],
        Op::SpecConstantCompositeContinuedINTEL => &[Op::SpecConstantComposite],
        Op::CompositeConstructContinuedINTEL => &[Op::CompositeConstruct],
        _ => return None,
    })
}

/// What decoding must remember of an id.
#[derive(Clone, Copy, Default)]
struct IdFacts {
    defined: bool,
    /// Record of the first use that is not debug information, plus one.
    first_use: u32,
    /// The result type's id plus one.
    ty: u32,
    /// Bits of an integer type.
    int_bits: u32,
}

struct ModuleDecoder<'b> {
    binary: &'b mut Binary,
    index: u32,
    bound: u32,
    /// By id, from the first id of this module.
    facts: Vec<IdFacts>,
    /// The ids that `OpenCL.std` is imported as.
    opencl_std: Vec<Id>,
}

/// Reads one instruction's words.
struct Cursor<'w> {
    words: &'w [u32],
    at: usize,
}

impl Cursor<'_> {
    fn left(&self) -> usize {
        self.words.len() - self.at
    }
}

impl ModuleDecoder<'_> {
    fn decode(mut self, words: &[u32]) -> Result<()> {
        let at = |offset: usize, message: String| {
            Diagnostic {
                word_offset: Some(offset),
                ..Diagnostic::new(message)
            }
            .under(PHYSICAL_LAYOUT)
        };
        if words.len() < HEADER_WORDS {
            return Err(at(
                words.len(),
                format!(
                    "the module is truncated: the header takes 5 words, there are {}",
                    words.len()
                ),
            ));
        }
        // "Magic Number": a module may be in either byte order.
        let swapped: Vec<u32>;
        let words = match words[0] {
            spirv::MAGIC_NUMBER => words,
            magic if magic.swap_bytes() == spirv::MAGIC_NUMBER => {
                swapped = words.iter().map(|w| w.swap_bytes()).collect();
                &swapped
            }
            magic => {
                return Err(at(
                    0,
                    format!("not a SPIR-V module: the first word is {magic:#010x}"),
                ));
            }
        };
        let (major, minor) = ((words[1] >> 16) & 0xff, (words[1] >> 8) & 0xff);
        if major != 1 || minor > 6 || words[1] & 0xff00_00ff != 0 {
            let message = format!(
                "SPIR-V version word {:#010x} is not one of 1.0 to 1.6",
                words[1]
            );
            return Err(at(1, message).under(Rule::Env("Supported SPIR-V Versions")));
        }
        self.bound = words[3];
        if self.bound == 0 || self.bound > MAX_BOUND {
            let message = format!(
                "the id bound {} is not in the range 1 to {MAX_BOUND}",
                self.bound
            );
            return Err(at(3, message).under(UNIVERSAL_LIMITS));
        }
        if words[4] != 0 {
            return Err(at(4, format!("the schema {} is not 0", words[4])));
        }
        let first_id = self.binary.source_ids.len();
        let mut offset = HEADER_WORDS;
        while offset < words.len() {
            let (length, opcode) = ((words[offset] >> 16) as usize, words[offset] & 0xffff);
            let Some(class) = grammar(opcode) else {
                return Err(at(offset, format!("unknown instruction, opcode {opcode}"))
                    .under(Rule::Spirv("Instructions")));
            };
            if length == 0 {
                return Err(at(
                    offset,
                    format!("Op{} has a word count of 0", class.opname),
                ));
            }
            if length > words.len() - offset {
                return Err(at(
                    offset,
                    format!(
                        "the module is truncated: Op{} takes {length} words, {} are left",
                        class.opname,
                        words.len() - offset
                    ),
                ));
            }
            self.instruction(class, &words[offset + 1..offset + length], offset, first_id)?;
            offset += length;
        }
        for (i, facts) in self.facts.iter().enumerate() {
            if !facts.defined && facts.first_use != 0 {
                let record = &self.binary.records[facts.first_use as usize - 1];
                let inst = self.binary.inst(record);
                let id = self.binary.describe((first_id + i) as Id);
                let message = format!("{id} is never defined");
                return Err(self.binary.error(&inst, message).under(UNIVERSAL));
            }
        }
        Ok(())
    }

    /// Checks one instruction against the grammar and appends it.
    fn instruction(
        &mut self,
        class: &'static Instruction<'static>,
        words: &[u32],
        offset: usize,
        first_id: usize,
    ) -> Result<()> {
        let start = self.binary.words.len();
        let mut walk = Walk {
            decoder: self,
            cursor: Cursor { words, at: 0 },
            first_id,
            ty: None,
            result: None,
        };
        let outcome = walk.operands(class, class.operands);
        let (ty, result, left) = (walk.ty, walk.result, walk.cursor.left());
        let record = Record {
            class,
            module: self.index,
            offset: offset as u32,
            ty,
            result,
            operands: start..self.binary.words.len(),
        };
        let fail = |binary: &Binary, message: String, rule: Rule| {
            Err(binary.error(&binary.inst(&record), message).under(rule))
        };
        if let Err(message) = outcome {
            return fail(self.binary, message, PHYSICAL_LAYOUT);
        }
        if left != 0 {
            let message = format!("wrong word count: {left} words follow the last operand");
            // Whatever they are, the constant is null.
            if class.opcode != Op::ConstantNull {
                return fail(self.binary, message, PHYSICAL_LAYOUT);
            }
            let error = self.binary.error(&self.binary.inst(&record), message);
            self.binary.warn(error.under(PHYSICAL_LAYOUT), "ignored");
        }
        if let Some(continued) = continues(class.opcode) {
            // Its operands follow those of the instruction before.
            return match self.binary.records.last_mut() {
                Some(last)
                    if last.module == self.index && continued.contains(&last.class.opcode) =>
                {
                    last.operands.end = self.binary.words.len();
                    Ok(())
                }
                _ => fail(
                    self.binary,
                    "there is nothing to continue".to_string(),
                    Rule::of(class.opcode),
                ),
            };
        }
        if let Some(result) = result {
            let bits = match (class.opcode, &self.binary.words[start..]) {
                (Op::TypeInt, [bits, ..]) => *bits,
                _ => 0,
            };
            let facts = &mut self.facts[result as usize - first_id];
            if facts.defined {
                return fail(
                    self.binary,
                    "this result id was defined before".to_string(),
                    UNIVERSAL,
                );
            }
            facts.defined = true;
            self.binary.definitions[result as usize] = self.binary.records.len() as u32 + 1;
            facts.ty = ty.map_or(0, |ty| ty + 1);
            facts.int_bits = bits;
            if class.opcode == Op::ExtInstImport
                && literal_string(&self.binary.words[start..]).as_deref() == Some("OpenCL.std")
            {
                self.opencl_std.push(result);
            }
        }
        if class.opcode == Op::Name {
            let words = &self.binary.words[start..];
            let name = literal_string(&words[1..]).unwrap_or_default();
            let target = words[0];
            self.binary.names.insert(target, name);
        }
        self.binary.records.push(record);
        Ok(())
    }
}

/// The walk over one instruction's operands. Messages are wrapped by the caller.
struct Walk<'d, 'b, 'w> {
    decoder: &'d mut ModuleDecoder<'b>,
    cursor: Cursor<'w>,
    first_id: usize,
    ty: Option<Id>,
    result: Option<Id>,
}

impl Walk<'_, '_, '_> {
    fn word(&mut self) -> std::result::Result<u32, String> {
        let word = self.cursor.words.get(self.cursor.at).copied();
        self.cursor.at += 1;
        word.ok_or_else(|| {
            self.cursor.at -= 1;
            "wrong word count: an operand is missing".to_string()
        })
    }

    fn literal(&mut self) -> std::result::Result<(), String> {
        let word = self.word()?;
        self.decoder.binary.words.push(word);
        Ok(())
    }

    fn rest(&mut self) {
        let rest = &self.cursor.words[self.cursor.at..];
        self.decoder.binary.words.extend_from_slice(rest);
        self.cursor.at = self.cursor.words.len();
    }

    fn id(&mut self) -> std::result::Result<Id, String> {
        let id = self.word()?;
        let decoder = &mut *self.decoder;
        if id == 0 || id >= decoder.bound {
            return Err(format!(
                "the id {id} is not below the module's bound {}",
                decoder.bound
            ));
        }
        let next = decoder.binary.source_ids.len() as Id;
        let ids = &mut decoder.binary.ids[decoder.index as usize];
        let dense = *ids.entry(id).or_insert(next);
        if dense == next {
            decoder.binary.source_ids.push(id);
            decoder.binary.definitions.push(0);
            decoder.facts.push(IdFacts::default());
        }
        Ok(dense)
    }

    /// An id that the instruction uses.
    fn used_id(&mut self, debug: bool) -> std::result::Result<(), String> {
        let id = self.id()?;
        self.decoder.binary.words.push(id);
        let record = self.decoder.binary.records.len() as u32;
        let facts = &mut self.decoder.facts[id as usize - self.first_id];
        if !debug && facts.first_use == 0 {
            facts.first_use = record + 1;
        }
        Ok(())
    }

    fn operands(
        &mut self,
        class: &'static Instruction<'static>,
        operands: &'static [LogicalOperand],
    ) -> std::result::Result<(), String> {
        for operand in operands {
            match operand.quantifier {
                OperandQuantifier::ZeroOrMore
                    if matches!(class.opcode, Op::ExtInst | Op::ExtInstWithForwardRefsKHR) =>
                {
                    self.extended_operands(class)?;
                }
                OperandQuantifier::One => self.operand(class, operand.kind)?,
                OperandQuantifier::ZeroOrOne => {
                    if self.cursor.left() > 0 {
                        self.operand(class, operand.kind)?;
                    }
                }
                OperandQuantifier::ZeroOrMore => {
                    while self.cursor.left() > 0 {
                        self.operand(class, operand.kind)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The operands after an `OpExtInst`'s number, by the grammar of its set.
    fn extended_operands(
        &mut self,
        class: &'static Instruction<'static>,
    ) -> std::result::Result<(), String> {
        let words = &self.decoder.binary.words;
        let [.., set, number] = words[..] else {
            return Ok(());
        };
        if !self.decoder.opencl_std.contains(&set) {
            // Sets that are skipped or refused, whose operands need not be ids.
            self.rest();
            return Ok(());
        }
        let operands = opencl_std_operands(number)
            .ok_or_else(|| format!("unknown instruction {number} of OpenCL.std"))?;
        for operand in operands {
            if operand.quantifier == OperandQuantifier::One {
                self.operand(class, operand.kind)?;
            } else {
                while self.cursor.left() > 0 {
                    self.operand(class, operand.kind)?;
                }
            }
        }
        Ok(())
    }

    fn operand(
        &mut self,
        class: &'static Instruction<'static>,
        kind: OperandKind,
    ) -> std::result::Result<(), String> {
        // Names and decorations of ids that an optimiser removed are left behind by some writers.
        let debug = matches!(
            class.opcode,
            Op::Name | Op::MemberName | Op::Decorate | Op::MemberDecorate
        );
        match kind {
            OperandKind::IdResultType => {
                self.used_id(false)?;
                self.ty = self.decoder.binary.words.pop();
                Ok(())
            }
            OperandKind::IdResult => {
                self.result = Some(self.id()?);
                Ok(())
            }
            OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => {
                self.used_id(debug)
            }
            OperandKind::PairIdRefIdRef => {
                self.used_id(debug)?;
                self.used_id(debug)
            }
            OperandKind::PairIdRefLiteralInteger => {
                self.used_id(debug)?;
                self.literal()
            }
            OperandKind::PairLiteralIntegerIdRef => {
                for _ in 0..self.case_words()? {
                    self.literal()?;
                }
                self.used_id(debug)
            }
            OperandKind::LiteralString => {
                let rest = &self.cursor.words[self.cursor.at..];
                let length = rest
                    .iter()
                    .position(|word| word.to_le_bytes().contains(&0))
                    .ok_or("a string is not terminated")?
                    + 1;
                self.decoder.binary.words.extend_from_slice(&rest[..length]);
                self.cursor.at += length;
                Ok(())
            }
            OperandKind::LiteralContextDependentNumber => {
                self.literal()?;
                if self.cursor.left() > 0 {
                    self.literal()?;
                }
                Ok(())
            }
            OperandKind::LiteralSpecConstantOpInteger => {
                let opcode = self.word()?;
                self.decoder.binary.words.push(opcode);
                let nested = grammar(opcode)
                    .filter(|nested| {
                        nested.opcode != Op::SpecConstantOp
                            && nested.operands.first().map(|o| o.kind)
                                == Some(OperandKind::IdResultType)
                    })
                    .ok_or_else(|| format!("opcode {opcode} is not an operation on constants"))?;
                // The result type and result are the outer instruction's.
                self.operands(class, nested.operands.get(2..).unwrap_or(&[]))
            }
            // These enumerants bring operands of their own, which their handlers check.
            OperandKind::Decoration
            | OperandKind::ExecutionMode
            | OperandKind::LoopControl
            | OperandKind::MemoryAccess
            | OperandKind::TensorAddressingOperands
            | OperandKind::TensorOperands => {
                self.literal()?;
                if matches!(class.opcode, Op::DecorateId | Op::ExecutionModeId) {
                    while self.cursor.left() > 0 {
                        self.used_id(false)?;
                    }
                } else {
                    self.rest();
                }
                Ok(())
            }
            // Those of images are ids, all of them.
            OperandKind::ImageOperands => {
                self.literal()?;
                while self.cursor.left() > 0 {
                    self.used_id(false)?;
                }
                Ok(())
            }
            // Everything else is one word: a number or an enumerant.
            _ => self.literal(),
        }
    }

    /// Words of an `OpSwitch` case literal, by the selector's type.
    fn case_words(&self) -> std::result::Result<usize, String> {
        let facts = &self.decoder.facts;
        let selector = self
            .decoder
            .binary
            .words
            .get(self.decoder.binary.words.len() - self.written())
            .copied();
        let bits = selector
            .and_then(|id| facts.get((id as usize).checked_sub(self.first_id)?))
            .and_then(|f| facts.get((f.ty as usize).checked_sub(self.first_id + 1)?))
            .map_or(0, |f| f.int_bits);
        match bits {
            1..=32 => Ok(1),
            33..=64 => Ok(2),
            _ => Err("the selector is not an integer defined before the switch".to_string()),
        }
    }

    /// How many operand words of this instruction have been written so far: all that were read,
    /// since `OpSwitch` has neither a result type nor a result.
    fn written(&self) -> usize {
        self.cursor.at
    }
}

/// A nul-terminated UTF-8 literal at the start of `words`; `None` when it is not terminated.
pub(super) fn literal_string(words: &[u32]) -> Option<String> {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|&byte| byte != 0)
        .collect();
    if bytes.len() >= words.len() * 4 {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Words that a literal takes.
pub(super) fn literal_string_words(words: &[u32]) -> usize {
    words
        .iter()
        .position(|word| word.to_le_bytes().contains(&0))
        .map_or(words.len(), |at| at + 1)
}
