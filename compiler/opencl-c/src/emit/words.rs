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
/// An instruction has at most 65535 words.
const MAX_STRING: usize = 4 * 65000;

/// The sections of a module. SPIR-V Specification, "Logical Layout of a Module".
#[derive(Debug, Default)]
pub(super) struct Words {
    ids: u32,
    pub capabilities: BTreeSet<u32>,
    pub extensions: BTreeSet<&'static str>,
    pub imports: Vec<u32>,
    pub entry_points: Vec<u32>,
    pub execution_modes: Vec<u32>,
    pub strings: Vec<u32>,
    pub names: Vec<u32>,
    pub decorations: Vec<u32>,
    /// Types, constants and variables.
    pub globals: Vec<u32>,
    pub declarations: Vec<u32>,
    pub definitions: Vec<u32>,
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

    /// The module.
    pub fn finish(self) -> Vec<u32> {
        let sections = [
            self.entry_points,
            self.execution_modes,
            self.strings,
            self.names,
            self.decorations,
            self.globals,
            self.declarations,
            self.definitions,
        ];
        let length: usize = sections.iter().map(Vec::len).sum();
        let mut words = Vec::with_capacity(length + 256);
        words.extend([MAGIC, VERSION, GENERATOR, self.ids + 1, 0]);
        for &capability in &self.capabilities {
            push(&mut words, op::CAPABILITY, &[capability]);
        }
        for name in &self.extensions {
            push_string(&mut words, op::EXTENSION, &[], name, &[]);
        }
        words.extend(self.imports);
        // Physical64, OpenCL.
        push(&mut words, op::MEMORY_MODEL, &[2, 2]);
        for section in sections {
            words.extend(section);
        }
        words
    }
}

/// Adds an instruction.
pub(super) fn push(words: &mut Vec<u32>, opcode: u16, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | u32::from(opcode));
    words.extend_from_slice(operands);
}

/// Adds an instruction that has a string between its operands.
pub(super) fn push_string(
    words: &mut Vec<u32>,
    opcode: u16,
    before: &[u32],
    text: &str,
    after: &[u32],
) {
    let bytes = &text.as_bytes()[..text.len().min(MAX_STRING)];
    let at = words.len();
    words.push(0);
    words.extend_from_slice(before);
    let (whole, rest) = bytes.as_chunks::<4>();
    words.extend(whole.iter().map(|&word| u32::from_le_bytes(word)));
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    words.push(u32::from_le_bytes(last));
    words.extend_from_slice(after);
    words[at] = ((words.len() - at) as u32) << 16 | u32::from(opcode);
}
