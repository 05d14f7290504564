//! A place in a function where a rewrite puts the instructions it makes.

use crate::ir::{Function, Inst, Op, SourceLoc, Type, Value};

/// Before one instruction of a function.
pub(super) struct Cursor<'a> {
    pub func: &'a mut Function,
    /// Made for this place, in order; the pass puts them into the block.
    pub made: Vec<Inst>,
    /// Of the instruction here.
    pub loc: SourceLoc,
}

impl<'a> Cursor<'a> {
    pub fn new(func: &'a mut Function) -> Self {
        Cursor {
            func,
            made: Vec::new(),
            loc: SourceLoc::default(),
        }
    }

    pub fn make(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let inst = self.func.make_inst(op, args, &[ty], self.loc);
        self.made.push(inst);
        self.func.insts[inst].results[0]
    }

    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.make(Op::Const(bits & ty.scalar.mask()), &[], ty)
    }
}
