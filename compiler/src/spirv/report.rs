//! What a refusal says of the instruction: its opcode, its result's id and name, where it is in the
//! words and in the source, and the rule it goes by. Every refusal that is about an instruction is
//! made by [`Binary::error`].
//!
//! Source lines come from `OpLine`, and from `DebugLine` of `NonSemantic.Shader.DebugInfo.100` and
//! its later versions.
//! They hold for the instructions that follow, so they are looked for backwards, and only when
//! there is something to report.

use rspirv::spirv::{Op, OpenclStd100Op};

use super::decode::{Binary, Id, Inst, Record, literal_string};
use super::rules::Rule;
use crate::diagnostic::{Diagnostic, Warning};

/// Sets of debug information, without their versions, in which these instructions are the same:
/// 100, 101 and 200 of the first, 100 of the second.
const DEBUG_INFO: [&str; 2] = [
    "NonSemantic.Shader.DebugInfo.",
    "NonSemantic.Kernel.DebugInfo.",
];
const DEBUG_SOURCE: u32 = 35;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

/// After so many warnings a log tells nothing new.
const MAX_WARNINGS: usize = 64;

/// What an instruction says of the source of those after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `file:line`, or the file alone
    Is(String),
    Unknown,
}

impl Binary {
    pub fn module_count(&self) -> u32 {
        self.module_count
    }

    /// How many ids there are.
    pub fn id_count(&self) -> usize {
        self.source_ids.len()
    }

    /// The id as the module writes it.
    pub fn source_id(&self, id: Id) -> u32 {
        self.source_ids.get(id as usize).copied().unwrap_or(0)
    }

    pub fn name(&self, id: Id) -> Option<&str> {
        self.names
            .get(&id)
            .map(String::as_str)
            .filter(|name| !name.is_empty())
    }

    /// `%12 "name"`, for messages.
    pub fn describe(&self, id: Id) -> String {
        match self.name(id) {
            Some(name) => format!("%{} \"{name}\"", self.source_id(id)),
            None => format!("%{}", self.source_id(id)),
        }
    }

    /// A refusal of an instruction, by the rule of the section that describes it.
    pub fn error(&self, inst: &Inst<'_>, message: impl Into<String>) -> Diagnostic {
        let mut text = match self.module_count {
            1 => format!("Op{}", inst.class.opname),
            _ => format!("module {}: Op{}", inst.module, inst.class.opname),
        };
        if let Some(result) = inst.result {
            text.push(' ');
            text.push_str(&self.describe(result));
        }
        let mut rule = Rule::of(inst.op());
        if let (Op::ExtInst, &[set, number, ..]) = (inst.op(), inst.operands)
            && self.instruction_set(set).as_deref() == Some("OpenCL.std")
            && let Some(op) = OpenclStd100Op::from_u32(number)
        {
            text.push_str(&format!(", {op:?}"));
            rule = Rule::of_std(number);
        }
        Diagnostic {
            message: message.into(),
            word_offset: Some(self.place(inst) as usize),
            instruction: Some(text),
            source: self.source(inst),
            rule: Some(rule.to_string()),
        }
    }

    /// Where an instruction is in the words that the module was given as.
    fn place(&self, inst: &Inst<'_>) -> u32 {
        let lowered = self.lowered.get(&inst.module);
        lowered.map_or(inst.offset, |it| it.places.before(inst.offset))
    }

    /// Tells of what would be an error, if it were not plain what is meant.
    pub fn warn(&self, mut error: Diagnostic, taken_as: &str) {
        error.message = format!("{}: {taken_as}", error.message);
        let warning = Warning(error).to_string();
        let mut warnings = self.warnings.borrow_mut();
        // An instruction may be looked at more than once.
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    pub fn definition(&self, id: Id) -> Option<Inst<'_>> {
        let number = *self.definitions.get(id as usize)?;
        let record = self.records.get(number.checked_sub(1)? as usize)?;
        Some(self.inst(record))
    }

    /// The name that an extended instruction set was imported by.
    fn instruction_set(&self, id: Id) -> Option<String> {
        let inst = self.definition(id)?;
        let import = inst.op() == Op::ExtInstImport;
        import.then(|| literal_string(inst.operands))?
    }

    /// `file:line` of an instruction, if the module says.
    fn source(&self, inst: &Inst<'_>) -> Option<String> {
        let place = (inst.module, inst.offset);
        let until = self.records.partition_point(|r: &Record| r.place() < place);
        for record in self.records[..until].iter().rev() {
            let before = self.inst(record);
            if before.module != inst.module {
                return None;
            }
            match self.line(&before) {
                Some(Line::Is(text)) => return Some(text),
                Some(Line::Unknown) => return None,
                None => {}
            }
        }
        None
    }

    /// What an instruction says of source lines; `None` when nothing. The end of a block ends them
    /// ("OpLine").
    pub fn line(&self, inst: &Inst<'_>) -> Option<Line> {
        match inst.op() {
            Op::Line => Some(Line::Is(
                self.position(self.string(inst.operands[0]), u64::from(inst.operands[1])),
            )),
            Op::NoLine
            | Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Unreachable
            | Op::FunctionEnd => Some(Line::Unknown),
            Op::ExtInst => self.debug_line(inst),
            _ => None,
        }
    }

    fn position(&self, file: Option<String>, line: u64) -> String {
        let file = file.as_deref().unwrap_or("source");
        let file = file.strip_prefix("./").unwrap_or(file);
        match line {
            // What a compiler made of no line in particular.
            0 => file.to_string(),
            line => format!("{file}:{line}"),
        }
    }

    fn string(&self, id: Id) -> Option<String> {
        let inst = self.definition(id).filter(|i| i.op() == Op::String)?;
        literal_string(inst.operands)
    }

    /// Operands of debug information are as the module writes them: ids of constants and of
    /// strings.
    fn debug_line(&self, inst: &Inst<'_>) -> Option<Line> {
        let &[set, number, ..] = inst.operands else {
            return None;
        };
        if !matches!(number, DEBUG_LINE | DEBUG_NO_LINE) {
            return None;
        }
        let set = self.instruction_set(set)?;
        if !DEBUG_INFO.iter().any(|&known| set.starts_with(known)) {
            return None;
        }
        if number == DEBUG_NO_LINE {
            return Some(Line::Unknown);
        }
        let ids = &self.ids[inst.module as usize];
        let operand = |n: usize| ids.get(inst.operands.get(n)?).copied();
        let line = self.definition(operand(3)?)?;
        let line = *line
            .operands
            .first()
            .filter(|_| line.op() == Op::Constant)?;
        let source = self.definition(operand(2)?)?;
        let file = match source.operands {
            [_, DEBUG_SOURCE, file, ..] if source.op() == Op::ExtInst => {
                ids.get(file).and_then(|&file| self.string(file))
            }
            _ => None,
        };
        Some(Line::Is(self.position(file, u64::from(line))))
    }
}
