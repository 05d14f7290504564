//! Words of a module, section by section, and how instructions are put into them.
//!
//! A writer of its own rather than rspirv's builder: instructions go into the words that will be
//! the module, with no object for each in between.

use std::collections::BTreeSet;

use crate::spirv::op;

/// The result of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id(pub u32);

/// SPIR-V 1.6, which the headers of modules say.
const VERSION: u32 = 0x0001_0600;
const MAGIC: u32 = 0x0723_0203;
/// No number of the registry of generators.
const GENERATOR: u32 = 0;
/// SPIR-V Specification, "Physical Layout of a SPIR-V Module and Instruction": the word count has
/// 16 bits.
pub(super) const MAX_LENGTH: usize = 0xffff;
/// Bytes of a string that an instruction has room for behind a few operands.
const MAX_STRING: usize = 4 * 65_000;

/// The first word of an instruction of so many words, or none if there is no such instruction.
pub(super) fn head(opcode: u16, length: usize) -> Option<u32> {
    (length <= MAX_LENGTH).then(|| (length as u32) << 16 | u32::from(opcode))
}

/// Instructions one after the other.
#[derive(Debug, Default)]
pub(super) struct Section {
    words: Vec<u32>,
    /// The opcode of an instruction that was left out, as it would have more words than there can
    /// be.
    too_long: Option<u16>,
}

impl Section {
    /// Adds an instruction whose words but the first one are written by `write`.
    pub fn instruction(&mut self, opcode: u16, write: impl FnOnce(&mut Vec<u32>)) {
        let at = self.words.len();
        self.words.push(0);
        write(&mut self.words);
        match head(opcode, self.words.len() - at) {
            Some(head) => self.words[at] = head,
            None => {
                self.words.truncate(at);
                self.too_long = Some(opcode);
            }
        }
    }

    /// Adds an instruction.
    pub fn push(&mut self, opcode: u16, operands: &[u32]) {
        self.instruction(opcode, |words| words.extend_from_slice(operands));
    }

    /// Adds an instruction that has a string between its operands.
    pub fn push_string(&mut self, opcode: u16, before: &[u32], text: &str, after: &[u32]) {
        self.instruction(opcode, |words| {
            words.extend_from_slice(before);
            let (whole, rest) = text.as_bytes().as_chunks::<4>();
            words.extend(whole.iter().map(|&word| u32::from_le_bytes(word)));
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            words.push(u32::from_le_bytes(last));
            words.extend_from_slice(after);
        });
    }

    /// As [`Section::push_string`], of a text that means nothing to the program and may be cut.
    pub fn push_debug_string(&mut self, opcode: u16, before: &[u32], text: &str) {
        let text = &text[..text.floor_char_boundary(MAX_STRING)];
        self.push_string(opcode, before, text, &[]);
    }

    /// Adds an instruction whose operands may be continued in others (`SPV_INTEL_long_composites`).
    /// Tells whether they are.
    pub fn push_long(&mut self, [first, next]: [u16; 2], before: &[u32], all: &[u32]) -> bool {
        let (here, mut rest) = all.split_at(all.len().min(MAX_LENGTH - 1 - before.len()));
        self.instruction(first, |words| {
            words.extend_from_slice(before);
            words.extend_from_slice(here);
        });
        let is_continued = !rest.is_empty();
        while !rest.is_empty() {
            let (here, later) = rest.split_at(rest.len().min(MAX_LENGTH - 1));
            self.push(next, here);
            rest = later;
        }
        is_continued
    }

    /// Adds what another section has, which is empty then.
    pub fn append(&mut self, other: &mut Section) {
        self.words.append(&mut other.words);
        self.too_long = self.too_long.or(other.too_long.take());
    }

    /// The opcode of an instruction that was too long, once.
    pub fn take_too_long(&mut self) -> Option<u16> {
        self.too_long.take()
    }

    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Puts pieces of the section, which are at these places, into this order.
    pub fn reorder(&mut self, pieces: impl Iterator<Item = std::ops::Range<usize>>) {
        let mut words = Vec::with_capacity(self.words.len());
        for piece in pieces {
            words.extend_from_slice(&self.words[piece]);
        }
        self.words = words;
    }
}

/// The sections of a module. SPIR-V Specification, "Logical Layout of a Module".
#[derive(Debug, Default)]
pub(super) struct Words {
    ids: u32,
    pub capabilities: BTreeSet<u32>,
    pub extensions: BTreeSet<&'static str>,
    pub imports: Section,
    pub entry_points: Section,
    pub execution_modes: Section,
    pub strings: Section,
    pub names: Section,
    pub decorations: Section,
    /// Types, constants and variables.
    pub globals: Section,
    pub declarations: Section,
    pub definitions: Section,
}

impl Words {
    /// A new result.
    pub fn id(&mut self) -> Id {
        self.ids += 1;
        Id(self.ids)
    }

    /// The newest result.
    pub fn newest(&self) -> Id {
        Id(self.ids)
    }

    /// The opcode of an instruction that was too long, in any section.
    pub fn take_too_long(&mut self) -> Option<u16> {
        let sections = [
            &mut self.imports,
            &mut self.entry_points,
            &mut self.execution_modes,
            &mut self.strings,
            &mut self.names,
            &mut self.decorations,
            &mut self.globals,
            &mut self.declarations,
            &mut self.definitions,
        ];
        sections.into_iter().find_map(Section::take_too_long)
    }

    /// The module.
    pub fn finish(self) -> Vec<u32> {
        let mut head = Section::default();
        for &capability in &self.capabilities {
            head.push(op::CAPABILITY, &[capability]);
        }
        for name in &self.extensions {
            head.push_string(op::EXTENSION, &[], name, &[]);
        }
        let mut model = Section::default();
        // Physical64, OpenCL.
        model.push(op::MEMORY_MODEL, &[2, 2]);
        let sections = [
            head,
            self.imports,
            model,
            self.entry_points,
            self.execution_modes,
            self.strings,
            self.names,
            self.decorations,
            self.globals,
            self.declarations,
            self.definitions,
        ];
        let length: usize = sections.iter().map(|section| section.words.len()).sum();
        let mut words = Vec::with_capacity(length + 5);
        words.extend([MAGIC, VERSION, GENERATOR, self.ids + 1, 0]);
        for section in sections {
            words.extend(section.words);
        }
        words
    }
}
