//! Memory that Brolga allocates itself.
//!
//! Small blocks come from the allocator, 128-byte aligned (the size of the largest OpenCL type,
//! `long16`). Blocks of a page or more are page aligned. Large ones are pages of the system's
//! (`pages.rs`) with transparent huge pages asked for, so that streaming kernels do not wait for
//! the TLB and untouched pages cost nothing; or they are what was freed (`freed.rs`).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::LazyLock;

use super::freed::Freed;
use super::pages::{HUGE_PAGE, PAGE, Pages};
use brolga_engine::system::topology;

/// Alignment of every allocation, bytes.
pub const MIN_ALIGN: usize = 128;
/// Of the machine's memory, what is kept of freed blocks.
const KEPT: u64 = 16;

/// The large blocks of this process that were freed.
static FREED: LazyLock<Freed> =
    LazyLock::new(|| Freed::new(usize::try_from(topology::memory() / KEPT).unwrap_or(usize::MAX)));

/// An owned block of memory with unspecified contents.
#[derive(Debug)]
pub struct Allocation {
    pointer: NonNull<u8>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Heap(Layout),
    /// `None` once it is freed.
    Mapped(Option<Pages>),
}

// SAFETY: the block is owned; what may be done with it from which thread is up to the code that
// accesses it.
unsafe impl Send for Allocation {}
// SAFETY: as above; no method reads or writes the block.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `size` bytes (at least 1 is reserved), aligned to `align`, a power of two, or
    /// more. `None` when there is no memory.
    pub fn new(size: usize, align: usize) -> Option<Allocation> {
        debug_assert!(align.is_power_of_two());
        if size >= HUGE_PAGE && align <= HUGE_PAGE {
            return Allocation::large(size);
        }
        let align = align.max(if size >= PAGE { PAGE } else { MIN_ALIGN });
        // Whole cache lines, so that no two blocks share one and vector loads of the last elements
        // stay inside.
        let size = size.max(1).checked_next_multiple_of(MIN_ALIGN)?;
        let layout = Layout::from_size_align(size, align).ok()?;
        // SAFETY: the layout's size is not zero.
        let pointer = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Allocation {
            pointer,
            source: Source::Heap(layout),
        })
    }

    /// As [`Allocation::new`], of zeros. Large blocks are new ones, whose pages are there when
    /// they are first touched.
    pub fn zeroed(size: usize) -> Option<Allocation> {
        match size >= HUGE_PAGE {
            true => Allocation::mapped(Pages::new(size), size),
            // The allocator's are zero.
            false => Allocation::new(size, MIN_ALIGN),
        }
    }

    fn large(size: usize) -> Option<Allocation> {
        let pages = FREED.take(size).or_else(|| Pages::new(size));
        Allocation::mapped(pages, size)
    }

    /// The pages, or another attempt at one when there is no memory.
    fn mapped(pages: Option<Pages>, size: usize) -> Option<Allocation> {
        let pages = pages.or_else(|| {
            FREED.clear();
            Pages::new(size)
        })?;
        Some(Allocation {
            pointer: pages.pointer(),
            source: Source::Mapped(Some(pages)),
        })
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match &mut self.source {
            // SAFETY: allocated with this layout in `new`, freed once.
            Source::Heap(layout) => unsafe { dealloc(self.pointer.as_ptr(), *layout) },
            Source::Mapped(pages) => {
                if let Some(pages) = pages.take() {
                    FREED.keep(pages);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignment_follows_size() {
        for (size, align) in [(1, 128), (4095, 128), (4096, 4096), (3 << 20, 4096)] {
            let block = Allocation::new(size, 1).unwrap();
            assert_eq!(block.as_ptr() as usize % align, 0, "{size} bytes");
            // SAFETY: `size` bytes were allocated.
            unsafe {
                block.as_ptr().write(1);
                block.as_ptr().add(size - 1).write(2);
            }
        }
    }

    #[test]
    fn zeros_are_zero_again() {
        for size in [1000, 5 << 20] {
            for _ in 0..2 {
                let block = Allocation::zeroed(size).unwrap();
                for at in (0..size).step_by(999) {
                    // SAFETY: `size` bytes were allocated, and are this test's.
                    unsafe {
                        assert_eq!(block.as_ptr().add(at).read(), 0);
                        block.as_ptr().add(at).write(1);
                    }
                }
            }
        }
    }

    #[test]
    fn asked_alignment_is_kept() {
        for align in [128, 1024, 8192, 1 << 20] {
            let block = Allocation::new(64, align).unwrap();
            assert_eq!(block.as_ptr() as usize % align, 0);
        }
    }

    #[test]
    fn impossible_sizes_fail() {
        assert!(Allocation::new(usize::MAX, 1).is_none());
        assert!(Allocation::new(usize::MAX - 5000, 4096).is_none());
        assert!(Allocation::new(1 << 62, 1).is_none());
        let all = topology::memory() as usize;
        assert!(Allocation::new(all, 1).is_none());
        let half = Allocation::new(all / 2, 1).unwrap();
        assert!(Allocation::new(all / 2, 1).is_none());
        drop(half);
        assert!(Allocation::new(all / 2, 1).is_some());
    }
}
