//! Stack slots for lanes that are spilled while one instruction is translated.

use cranelift_codegen::ir as clif;
use cranelift_frontend::FunctionBuilder;

/// The slots of a function. One instruction's are free again at the next.
#[derive(Default)]
pub struct SpillSlots {
    /// With their bytes.
    slots: Vec<(u32, clif::StackSlot)>,
    /// How many of `slots`, the first ones, the current instruction has taken.
    taken: usize,
}

impl SpillSlots {
    /// A slot of at least `bytes` bytes, 16-byte aligned.
    pub fn take(&mut self, b: &mut FunctionBuilder, bytes: u32) -> clif::StackSlot {
        let bytes = bytes.next_multiple_of(16).max(16);
        let free = self.slots[self.taken..]
            .iter()
            .position(|&(size, _)| size == bytes);
        let index = match free {
            Some(at) => self.taken + at,
            None => {
                let data = clif::StackSlotData::new(clif::StackSlotKind::ExplicitSlot, bytes, 4);
                self.slots.push((bytes, b.create_sized_stack_slot(data)));
                self.slots.len() - 1
            }
        };
        self.slots.swap(index, self.taken);
        self.taken += 1;
        self.slots[self.taken - 1].1
    }

    /// At the next instruction all are free.
    pub fn free_all(&mut self) {
        self.taken = 0;
    }
}
