//! Scratch memory: one block per thread that runs kernels, grown on demand and reused for ever.

use std::cell::Cell;

use brolga_compiler::abi::SCRATCH_ALIGN;

use crate::error::{CLResult, ClError};
use crate::memory::allocation::Allocation;

struct Block {
    memory: Allocation,
    size: usize,
}

thread_local! {
    static BLOCK: Cell<Option<Block>> = const { Cell::new(None) };
}

/// Calls `run` with at least `size` bytes of this thread's scratch memory, aligned to
/// [`SCRATCH_ALIGN`].
///
/// The block is taken out of its slot meanwhile, so a nested call gets memory of its own. Errors:
/// `CL_OUT_OF_RESOURCES` when there is no memory.
pub(crate) fn with<R>(size: u64, run: impl FnOnce(*mut u8) -> R) -> CLResult<R> {
    let size = usize::try_from(size).map_err(|_| ClError::OUT_OF_RESOURCES)?;
    // A thread that is ending, and in a destructor of the application's, has no slot any more.
    let block = match BLOCK.try_with(Cell::take).ok().flatten() {
        Some(block) if block.size >= size => block,
        _ => {
            let size = size.max(64 << 10).checked_next_power_of_two();
            let size = size.ok_or(ClError::OUT_OF_RESOURCES)?;
            let memory =
                Allocation::new(size, SCRATCH_ALIGN as usize).ok_or(ClError::OUT_OF_RESOURCES)?;
            Block { memory, size }
        }
    };
    let result = run(block.memory.as_ptr());
    let _ = BLOCK.try_with(move |slot| slot.set(Some(block)));
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reused_grown_and_nested() {
        let first = with(1000, |p| p as usize).unwrap();
        let again = with(2000, |p| p as usize).unwrap();
        assert_eq!(first, again);
        assert_eq!(first % SCRATCH_ALIGN as usize, 0);
        with(100, |outer| {
            let inner = with(100, |p| p as usize).unwrap();
            assert_ne!(outer as usize, inner);
        })
        .unwrap();
        with(1 << 20, |p| {
            // SAFETY: a mebibyte was asked for.
            unsafe { p.write_bytes(1, 1 << 20) };
        })
        .unwrap();
        assert_eq!(with(u64::MAX, |_| ()), Err(ClError::OUT_OF_RESOURCES));
    }
}
