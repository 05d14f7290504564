//! Where work-group variables and the barrier context lie in scratch memory.
//!
//! They lie one behind the other from the scratch pointer on ([`crate::abi`]). The kernel's own
//! variables come first in work-group memory, in declaration order. The context holds an array for
//! each slot, one element per work-item in linear local order, so that neighbours' values are
//! neighbours in memory.

use crate::abi::SCRATCH_ALIGN;
use crate::ir::{Function, SlotId};

/// The offset of each work-group variable in declaration order, and the bytes of all of them.
///
/// The one definition of this layout: [`crate::kernel_info::KernelInfo::local_mem_size`] is the
/// second result.
pub fn local_layout(func: &Function) -> (Vec<u64>, u64) {
    let mut offsets = Vec::with_capacity(func.locals.len());
    let mut end: u64 = 0;
    for local in func.locals.values() {
        let start = end.next_multiple_of(u64::from(local.align));
        offsets.push(start);
        end = start + local.size;
    }
    (offsets, end)
}

/// For each slot, how many bytes per work-item lie before its array, and the bytes per work-item of
/// all.
///
/// The arrays are ordered by falling alignment, so that each starts aligned whatever the number of
/// work-items.
pub(super) fn context_layout(func: &Function) -> (Vec<u64>, u64) {
    let mut order: Vec<SlotId> = func.slots.keys().collect();
    order.sort_by_key(|&slot| std::cmp::Reverse(slot_align(func, slot)));
    let mut offsets = vec![0; func.slots.len()];
    let mut end = 0;
    for slot in order {
        offsets[slot.as_u32() as usize] = end;
        end += slot_bytes(func, slot);
    }
    (offsets, end)
}

/// What the context begins at a multiple of.
pub(super) fn context_align(func: &Function) -> u64 {
    let aligns = func.slots.keys().map(|slot| slot_align(func, slot).into());
    aligns.fold(SCRATCH_ALIGN, u64::max)
}

/// Bytes from one work-item's element of a slot to the next.
pub(super) fn slot_bytes(func: &Function, slot: SlotId) -> u64 {
    let data = &func.slots[slot];
    match data.bytes {
        0 => u64::from(data.ty.scalar.bytes()),
        bytes => u64::from(bytes).next_multiple_of(u64::from(data.align)),
    }
}

pub(super) fn slot_align(func: &Function, slot: SlotId) -> u32 {
    let data = &func.slots[slot];
    match data.bytes {
        0 => data.ty.scalar.bytes(),
        _ => data.align,
    }
}
