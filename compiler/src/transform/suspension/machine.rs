//! The state of each work-item, and the dispatch on it.

use crate::ir::{Block, BlockCall, Builder, Function, IntCC, Terminator, Type, Value};
use crate::transform::demote::Variable;

/// A kernel that is being made a state machine.
pub struct StateMachine {
    /// Which state each work-item is in: an `i32`.
    pub state: Variable,
    /// Where a round begins.
    pub dispatch: Block,
    /// Where a work-item in a state resumes.
    resumptions: Vec<(u64, BlockCall)>,
}

impl StateMachine {
    /// A machine whose dispatch is an empty block so far.
    pub fn new(func: &mut Function) -> StateMachine {
        StateMachine {
            state: Variable::new(func, Type::I32),
            dispatch: func.add_block(),
            resumptions: Vec::new(),
        }
    }

    /// Ends a block: the work-item is in a state from here on, and `to` is next.
    pub fn suspend(&self, b: &mut Builder<'_>, state: u64, to: Block) {
        self.set(b, state);
        b.br(to, &[]);
    }

    pub fn set(&self, b: &mut Builder<'_>, state: u64) {
        let state = b.iconst(Type::I32, state);
        self.state.store(b, state);
    }

    /// A work-item's state, and whether it is a certain one.
    pub fn is_in(&self, b: &mut Builder<'_>, state: u64) -> (Value, Value) {
        let now = self.state.load(b);
        let state = b.iconst(Type::I32, state);
        (now, b.icmp(IntCC::Eq, now, state))
    }

    /// Has work-items in a state resume at a block without parameters.
    pub fn resume(&mut self, state: u64, at: Block) {
        self.resumptions.push((state, BlockCall::new(at, &[])));
    }

    /// Ends the block of `b`, which the dispatch has led to, by going where `state` resumes.
    pub fn switch(self, b: &mut Builder<'_>, state: Value, otherwise: Block) {
        b.terminate(Terminator::Switch {
            value: state,
            cases: self.resumptions,
            default: BlockCall::new(otherwise, &[]),
        });
    }
}
