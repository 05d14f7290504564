//! The edges of the new graph on their way to blocks not begun yet, and which blocks wait.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use super::state::{State, Waiting, WaitingSets};
use super::values::Emitter;
use crate::ir::Block;

/// An edge of the new graph on its way to a block.
#[derive(Clone)]
pub(super) struct Incoming {
    /// A block of the new function, and which of its jumps.
    pub from: Block,
    pub jump: usize,
    pub state: State,
    /// Whether some lane certainly takes it.
    pub nonempty: bool,
}

/// What control does next, by blocks of the source.
#[derive(Default)]
pub(super) struct Edges {
    /// Where the new function goes on for a block; nothing while no edge leads there.
    pub entries: SecondaryMap<Block, PackedOption<Block>>,
    incoming: SecondaryMap<Block, Vec<Incoming>>,
    pub waiting: WaitingSets,
    pending: SecondaryMap<Block, Waiting>,
}

impl Edges {
    /// The edges that lead to a block, which is begun, and what is pending there.
    pub fn arrive(&mut self, block: Block) -> (Vec<Incoming>, Waiting) {
        let pending = std::mem::take(&mut self.pending[block]);
        (std::mem::take(&mut self.incoming[block]), pending)
    }

    /// The block of the new function for the first of `targets`, the others pending there; records
    /// the edge that the caller is about to make as jump number `jump` of the current block.
    pub fn jump_to(
        &mut self,
        e: &mut Emitter,
        targets: Waiting,
        jump: usize,
        state: State,
        nonempty: bool,
    ) -> Block {
        let (first, others) = self.waiting.split(targets).expect("control goes somewhere");
        let next = e.source.order.blocks[first as usize];
        self.pending[next] = self.waiting.union(self.pending[next], others);
        self.incoming[next].push(Incoming {
            from: e.to,
            jump,
            state,
            nonempty,
        });
        match self.entries[next].expand() {
            Some(block) => block,
            None => {
                let block = e.out.add_block();
                self.entries[next] = block.into();
                block
            }
        }
    }

    /// Whether a block is the next of `targets`.
    pub fn comes_first(&self, targets: Waiting, block: u32) -> bool {
        matches!(self.waiting.split(targets), Some((first, _)) if first == block)
    }
}
