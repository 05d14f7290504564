//! Scratch memory: a block for each thread that runs kernels, made when it is needed and used
//! again.
//!
//! It holds what a kernel indexes by numbers of its own, private variables, work-group memory, and
//! what outlives barriers, so that it has pages around it that fault ([`GuardedMemory`]): a wrong
//! index ends the launch.
//!
//! Blocks of up to [`KEPT`] bytes stay with their thread. Larger ones are given back when the
//! thread leaves the command ([`trim`]), or between two chunks if another thread waits for memory.
//! All large ones together have half of the machine's memory: a thread for which there is not
//! enough waits until others are done, which they will be, since a thread with a large block waits
//! for nothing. One that wants more than all is refused.

use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use brolga_compiler::abi::{PRIVATE_GAP, ScratchSize};
use parking_lot::{Condvar, Mutex};

use brolga_engine::error::{CLResult, ClError};
use brolga_engine::system::topology;

use crate::storage::guarded::GuardedMemory;

/// Bytes of a block that a thread may keep: what kernels usually want.
const KEPT: u64 = 16 << 20;
/// Bytes that blocks have at least, of each kind of memory.
const LEAST: u64 = 64 << 10;
/// How often a thread that waits looks whether it is still to go on.
const PATIENCE: Duration = Duration::from_millis(10);

struct Block {
    memory: GuardedMemory,
    size: ScratchSize,
    share: Option<Share>,
}

impl Block {
    /// At least `size`. Errors: `CL_OUT_OF_RESOURCES` when there is no memory, or `is_stopped` says
    /// that this thread need not wait for it.
    fn new(size: ScratchSize, is_stopped: &dyn Fn() -> bool) -> CLResult<Block> {
        let bytes = size.private.checked_add(size.shared);
        let bytes = bytes.ok_or(ClError::OUT_OF_RESOURCES)?;
        if bytes > KEPT {
            return Share::take(bytes, is_stopped, || Block::map(size));
        }
        let size = ScratchSize {
            private: match size.private {
                0 => 0,
                bytes => bytes.next_power_of_two().max(LEAST),
            },
            shared: size.shared.next_power_of_two().max(LEAST),
            ..size
        };
        Block::map(size).ok_or(ClError::OUT_OF_RESOURCES)
    }

    fn map(size: ScratchSize) -> Option<Block> {
        let bytes = |count: u64| usize::try_from(count).ok();
        let memory = GuardedMemory::new(
            bytes(size.private)?,
            bytes(PRIVATE_GAP)?,
            bytes(size.shared)?,
            bytes(size.align)?,
        )?;
        Some(Block {
            memory,
            size,
            share: None,
        })
    }

    /// Whether it does for `size`, and is not one of many more bytes that others may want.
    fn suits(&self, size: ScratchSize) -> bool {
        let ScratchSize {
            private,
            shared,
            align,
        } = self.size;
        let is_enough = private >= size.private && shared >= size.shared && align >= size.align;
        is_enough && (self.share.is_none() || (private + shared) / 4 <= size.private + size.shared)
    }
}

/// A large block's part of what there is for all.
struct Share(u64);

/// Bytes of large blocks.
static LARGE: Mutex<u64> = Mutex::new(0);
/// Some have been given back.
static GIVEN_BACK: Condvar = Condvar::new();
/// Threads that wait for that.
static WAITING: AtomicU32 = AtomicU32::new(0);
/// Bytes that large blocks may have.
static MOST: LazyLock<u64> = LazyLock::new(|| topology::memory() / 2);

impl Share {
    /// Makes a large block once there is as much left as it needs.
    fn take(
        bytes: u64,
        is_stopped: &dyn Fn() -> bool,
        map: impl Fn() -> Option<Block>,
    ) -> CLResult<Block> {
        if bytes > *MOST {
            return Err(ClError::OUT_OF_RESOURCES);
        }
        let mut large = LARGE.lock();
        loop {
            let others = *large;
            if others + bytes <= *MOST {
                *large += bytes;
                drop(large);
                // Given back again if there is no memory after all.
                let share = Share(bytes);
                if let Some(block) = map() {
                    let share = Some(share);
                    return Ok(Block { share, ..block });
                }
                if others == 0 {
                    break;
                }
                drop(share);
                large = LARGE.lock();
            }
            // Within a launch that has a block itself nobody waits: that is what others wait for.
            if is_stopped() || DEPTH.try_with(Cell::get).unwrap_or(0) > 0 {
                break;
            }
            WAITING.fetch_add(1, Relaxed);
            GIVEN_BACK.wait_for(&mut large, PATIENCE);
            WAITING.fetch_sub(1, Relaxed);
        }
        Err(ClError::OUT_OF_RESOURCES)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *LARGE.lock() -= self.0;
        GIVEN_BACK.notify_all();
    }
}

thread_local! {
    static BLOCK: Cell<Option<Block>> = const { Cell::new(None) };
    /// Calls of [`with`] that this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A call of [`with`], for as long as it lives.
struct Nested;

impl Nested {
    fn enter() -> Nested {
        // A thread that is ending, and in a destructor of the application's, has none any more.
        let _ = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
        Nested
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get() - 1));
    }
}

/// Scratch memory that a thread has.
pub(crate) struct Scratch<'a>(&'a GuardedMemory);

impl Scratch<'_> {
    /// The scratch pointer.
    pub(crate) fn pointer(&self) -> *mut u8 {
        self.0.as_ptr()
    }

    /// Whether an address is in its guards, if it faults.
    pub(crate) fn surrounds(&self, address: usize) -> bool {
        self.0.contains(address)
    }
}

/// Calls `run` with at least so much scratch memory of this thread.
///
/// The block is taken out of its slot meanwhile, so a nested call gets memory of its own. Errors:
/// `CL_OUT_OF_RESOURCES` when there is no memory; a thread that waits for some gives up when
/// `is_stopped` says so.
pub(crate) fn with<R>(
    size: ScratchSize,
    is_stopped: &dyn Fn() -> bool,
    run: impl FnOnce(&Scratch<'_>) -> R,
) -> CLResult<R> {
    let kept = BLOCK.try_with(Cell::take).ok().flatten();
    let block = match kept {
        Some(block) if block.suits(size) => block,
        other => {
            drop(other);
            Block::new(size, is_stopped)?
        }
    };
    let nested = Nested::enter();
    let result = run(&Scratch(&block.memory));
    drop(nested);
    if block.share.is_none() || WAITING.load(Relaxed) == 0 {
        let _ = BLOCK.try_with(move |slot| slot.set(Some(block)));
    }
    Ok(result)
}

/// Gives this thread's block back if it is a large one.
pub(crate) fn trim() {
    let _ = BLOCK.try_with(|slot| {
        let block = slot.take().filter(|block| block.share.is_none());
        slot.set(block);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(private: u64, shared: u64) -> ScratchSize {
        ScratchSize {
            private,
            shared,
            align: 128,
        }
    }

    fn pointer(size: ScratchSize) -> usize {
        with(size, &|| false, |scratch| scratch.pointer() as usize).unwrap()
    }

    fn is_kept() -> bool {
        BLOCK.with(|slot| {
            let block = slot.take();
            let is_kept = block.is_some();
            slot.set(block);
            is_kept
        })
    }

    #[test]
    fn reused_grown_and_nested() {
        let first = pointer(size(0, 1000));
        assert_eq!(pointer(size(0, 2000)), first);
        assert!(first.is_multiple_of(4096));
        with(size(0, 100), &|| false, |outer| {
            let inner = pointer(size(0, 100));
            assert_ne!(outer.pointer() as usize, inner);
        })
        .unwrap();
        with(size(1 << 20, 1 << 20), &|| false, |scratch| {
            // SAFETY: a mebibyte was asked for on each side.
            unsafe {
                scratch.pointer().write_bytes(1, 1 << 20);
                let gap = PRIVATE_GAP as usize;
                scratch
                    .pointer()
                    .sub(gap + (1 << 20))
                    .write_bytes(1, 1 << 20);
            }
        })
        .unwrap();
        let aligned = ScratchSize {
            align: 1 << 16,
            ..size(100, 100)
        };
        assert!(pointer(aligned).is_multiple_of(1 << 16));
    }

    #[test]
    fn what_nobody_has_is_refused() {
        for size in [
            size(0, u64::MAX),
            size(u64::MAX, u64::MAX),
            size(0, topology::memory()),
        ] {
            assert_eq!(
                with(size, &|| false, |_| ()),
                Err(ClError::OUT_OF_RESOURCES)
            );
        }
    }

    #[test]
    fn a_large_block_is_given_back() {
        std::thread::spawn(|| {
            let large = size(KEPT, KEPT);
            let first = pointer(large);
            assert_eq!(pointer(large), first, "from chunk to chunk it is kept");
            trim();
            assert!(!is_kept());
            pointer(large);
            pointer(size(0, 1000));
            BLOCK.with(|slot| assert!(slot.take().unwrap().share.is_none()));
            pointer(size(0, KEPT));
            trim();
            assert!(is_kept(), "a small one stays");
        })
        .join()
        .unwrap();
    }

    /// More threads than there is memory for: each gets it in its turn.
    #[test]
    fn threads_take_turns_at_what_there_is() {
        let large = size(*MOST / 4 * 3, 0);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(move || {
                    for _ in 0..8 {
                        pointer(large);
                        trim();
                    }
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        // One that need not wait does not.
        with(large, &|| false, |_| {
            let other = std::thread::spawn(move || with(large, &|| true, |_| ()));
            assert_eq!(other.join().unwrap(), Err(ClError::OUT_OF_RESOURCES));
            // Nor does a nested call, which would wait for itself.
            assert_eq!(
                with(large, &|| false, |_| ()),
                Err(ClError::OUT_OF_RESOURCES)
            );
        })
        .unwrap();
    }
}
