//! Instructions and blocks, the same before and after the lowering.

use rspirv::binary::Assemble;
use rspirv::dr::Operand;
use rspirv::spirv::Op;

use super::types::Ty;

pub(crate) type Id = u32;

/// A place in the source: the string that names the file, line and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub file: Id,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arg {
    Id(Id),
    Lit(u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub op: Op,
    pub ty: Option<Ty>,
    /// 0 for none.
    pub id: Id,
    pub args: Vec<Arg>,
    pub line: Option<Line>,
}

impl Inst {
    pub fn new(op: Op, args: Vec<Arg>) -> Inst {
        Inst {
            op,
            ty: None,
            id: 0,
            args,
            line: None,
        }
    }

    pub fn of(op: Op, args: &[Id]) -> Inst {
        Inst::new(op, args.iter().map(|&id| Arg::Id(id)).collect())
    }

    pub fn with(mut self, ty: Ty, id: Id) -> Inst {
        self.ty = Some(ty);
        self.id = id;
        self
    }

    /// An operand that is an id; 0 if it is none.
    pub fn id_at(&self, at: usize) -> Id {
        match self.args.get(at) {
            Some(&Arg::Id(id)) => id,
            _ => 0,
        }
    }

    /// An operand that is a literal; 0 if it is none.
    pub fn literal_at(&self, at: usize) -> u32 {
        match self.args.get(at) {
            Some(&Arg::Lit(word)) => word,
            _ => 0,
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = Id> + '_ {
        self.args.iter().filter_map(|arg| match *arg {
            Arg::Id(id) => Some(id),
            Arg::Lit(_) => None,
        })
    }
}

/// A block: its instructions, the last of which ends it.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub label: Id,
    pub insts: Vec<Inst>,
}

impl Block {
    pub fn new(label: Id) -> Block {
        Block {
            label,
            insts: Vec::new(),
        }
    }

    /// The labels that control goes on to, in the order of the operands.
    pub fn successors(&self) -> Vec<Id> {
        let Some(end) = self.insts.last() else {
            return Vec::new();
        };
        let ids = end.ids();
        match end.op {
            Op::Branch => ids.collect(),
            Op::BranchConditional | Op::Switch => ids.skip(1).collect(),
            _ => Vec::new(),
        }
    }
}

/// The words of a string.
pub(crate) fn literal(text: &str) -> Vec<u32> {
    let mut words = Vec::new();
    Operand::LiteralString(text.to_owned()).assemble_into(&mut words);
    words
}
