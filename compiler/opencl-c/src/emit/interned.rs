//! Types and constants, each once: they are the same if their words are.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::words::{Id, Section, head};
use crate::spirv::op;

/// Finds the instructions of a section of types and constants by their words.
///
/// Nothing is stored but where instructions are in the section: a table of powers of two, at most
/// half full, by the hash of what they say.
#[derive(Debug)]
pub(super) struct Interned {
    table: Vec<Entry>,
    len: usize,
    /// By identifier: where its instruction begins, plus one; 0 for what is not interned.
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    hash: u32,
    /// Where the instruction begins, plus one; 0 in a free place.
    begin: u32,
}

impl Default for Interned {
    fn default() -> Interned {
        Interned {
            table: vec![Entry::default(); 256],
            len: 0,
            places: Vec::new(),
        }
    }
}

/// An instruction without its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction<'a> {
    pub opcode: u16,
    pub ty: Option<Id>,
    pub operands: &'a [u32],
}

impl Instruction<'_> {
    /// The first word; none if there is no instruction of this length.
    fn head(&self) -> Option<u32> {
        let words = self.operands.len() + 2 + usize::from(self.ty.is_some());
        head(self.opcode, words)
    }

    fn hash(&self) -> u32 {
        let mut hasher = FxHasher::default();
        hasher.write_u32(self.head().unwrap_or(0));
        hasher.write_u32(self.ty.map_or(0, |ty| ty.0));
        for &operand in self.operands {
            hasher.write_u32(operand);
        }
        hasher.finish() as u32
    }

    /// The result if the words of an instruction, which has one, are these.
    fn result_in(&self, words: &[u32]) -> Option<Id> {
        let rest = words.strip_prefix(&[self.head()?])?;
        let rest = match self.ty {
            Some(ty) => rest.strip_prefix(&[ty.0])?,
            None => rest,
        };
        let (&result, rest) = rest.split_first()?;
        rest.starts_with(self.operands).then_some(Id(result))
    }
}

impl Interned {
    /// The result of an instruction that the section has, or the place of the table where it
    /// belongs.
    pub fn find(&self, section: &[u32], wanted: Instruction<'_>) -> Result<Id, usize> {
        let mask = self.table.len() - 1;
        let hash = wanted.hash();
        let mut place = hash as usize & mask;
        loop {
            let entry = self.table[place];
            if entry.begin == 0 {
                return Err(place);
            }
            if entry.hash == hash
                && let Some(id) = wanted.result_in(&section[entry.begin as usize - 1..])
            {
                return Ok(id);
            }
            place = (place + 1) & mask;
        }
    }

    /// Whether an identifier is a type's or constant's.
    pub fn has(&self, id: Id) -> bool {
        self.places
            .get(id.0 as usize)
            .is_some_and(|&begin| begin != 0)
    }

    /// Adds an instruction to the section; `place` is where the table wants it.
    pub fn add(&mut self, section: &mut Section, new: Instruction<'_>, id: Id, place: usize) {
        let begin = section.words().len() as u32 + 1;
        section.instruction(new.opcode, |words| {
            words.extend(new.ty.map(|ty| ty.0));
            words.push(id.0);
            words.extend_from_slice(new.operands);
        });
        if new.head().is_none() {
            // The section tells that it was too long.
            return;
        }
        let index = id.0 as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        self.places[index] = begin;
        let hash = new.hash();
        self.table[place] = Entry { hash, begin };
        self.len += 1;
        if self.len * 2 > self.table.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let size = self.table.len() * 4;
        let old = std::mem::replace(&mut self.table, vec![Entry::default(); size]);
        for entry in old.into_iter().filter(|entry| entry.begin != 0) {
            let mut place = entry.hash as usize & (size - 1);
            while self.table[place].begin != 0 {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = entry;
        }
    }

    /// The bits of a scalar constant, extended by zeros.
    pub fn bits(&self, section: &[u32], id: Id) -> Option<u64> {
        let begin = *self.places.get(id.0 as usize)?;
        let words = &section[begin.checked_sub(1)? as usize..];
        let (opcode, length) = (words[0] as u16, words[0] >> 16);
        match (opcode, length) {
            (op::CONSTANT_NULL, _) => Some(0),
            (op::CONSTANT, 4) => Some(words[3].into()),
            (op::CONSTANT, 5) => Some(u64::from(words[4]) << 32 | u64::from(words[3])),
            _ => None,
        }
    }
}
