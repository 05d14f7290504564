//! `NonSemantic.ClspvReflection`: what the host has to know of kernels; and the same as text, the
//! descriptor map.

use rspirv::spirv::NonsemanticClspvreflectionOp as Reflect;

use super::ir::Id;

pub(crate) enum Operand {
    Id(Id),
    Number(u32),
    Text(String),
}

pub(crate) struct Record {
    pub id: Id,
    pub op: u32,
    pub operands: Vec<Operand>,
}

#[derive(Default)]
pub(crate) struct Reflected {
    pub records: Vec<Record>,
    pub map: String,
}

impl Reflected {
    pub fn add(&mut self, id: Id, op: Reflect, operands: Vec<Operand>) -> Id {
        let op = op as u32;
        self.records.push(Record { id, op, operands });
        id
    }

    /// A line of the descriptor map.
    pub fn line(&mut self, text: &str) {
        self.map.push_str(text);
        self.map.push('\n');
    }
}

/// Operands that are numbers.
pub(crate) fn numbers(all: &[u32]) -> Vec<Operand> {
    all.iter().map(|&number| Operand::Number(number)).collect()
}
