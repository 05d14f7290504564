//! Memory that Brolga allocates itself.
//!
//! Small blocks come from the allocator, 128-byte aligned (the size of the largest OpenCL type,
//! `long16`). Blocks of a page or more are page aligned, and large ones come from `mmap` with
//! transparent huge pages asked for, so that streaming kernels do not wait for the TLB and
//! untouched pages cost nothing.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::LazyLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::topology;

/// Alignment of every allocation, bytes.
pub const MIN_ALIGN: usize = 128;
const PAGE: usize = 4096;
const HUGE_PAGE: usize = 2 << 20;

/// An owned block of memory with unspecified contents.
#[derive(Debug)]
pub struct Allocation {
    pointer: NonNull<u8>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Heap(Layout),
    /// The whole mapping, which may begin before `pointer`.
    Mapping {
        base: NonNull<u8>,
        length: usize,
        _reservation: Reservation,
    },
}

/// Bytes of all large blocks.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// A part of the machine's memory. The system promises more memory than there is and kills the
/// process that touches it; an error is better.
#[derive(Debug)]
struct Reservation(usize);

impl Reservation {
    fn new(bytes: usize) -> Option<Reservation> {
        static LIMIT: LazyLock<u64> = LazyLock::new(topology::memory);
        let before = MAPPED.fetch_add(bytes, Relaxed);
        let reservation = Reservation(bytes);
        let total = before.checked_add(bytes)? as u64;
        (total <= *LIMIT).then_some(reservation)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        MAPPED.fetch_sub(self.0, Relaxed);
    }
}

// SAFETY: the block is owned; what may be done with it from which thread is up to the code that
// accesses it.
unsafe impl Send for Allocation {}
// SAFETY: as above; no method reads or writes the block.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `size` bytes (at least 1 is reserved), all zero, aligned to `align`, a power of
    /// two, or more. `None` when there is no memory.
    pub fn new(size: usize, align: usize) -> Option<Allocation> {
        debug_assert!(align.is_power_of_two());
        if size >= HUGE_PAGE && align <= HUGE_PAGE {
            return Allocation::map(size);
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

    fn map(size: usize) -> Option<Allocation> {
        let length = size
            .checked_next_multiple_of(PAGE)?
            .checked_add(HUGE_PAGE)?;
        let reservation = Reservation::new(length)?;
        // SAFETY: an anonymous mapping at an address of the kernel's choice aliases nothing.
        let base = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }
        .ok()?;
        let base = NonNull::new(base.cast::<u8>())?;
        let skip = base.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: the mapping is a huge page longer than asked for, so the aligned address is
        // inside it.
        let pointer = unsafe { base.add(skip) };
        // Only advice: without it everything works, a little slower. SAFETY: the range lies in the
        // mapping made above; this advice does not change contents.
        let _ = unsafe {
            madvise(
                pointer.as_ptr().cast(),
                length - HUGE_PAGE,
                Advice::LinuxHugepage,
            )
        };
        Some(Allocation {
            pointer,
            source: Source::Mapping {
                base,
                length,
                _reservation: reservation,
            },
        })
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match &self.source {
            // SAFETY: allocated with this layout in `new`, freed once.
            Source::Heap(layout) => unsafe { dealloc(self.pointer.as_ptr(), *layout) },
            Source::Mapping { base, length, .. } => {
                // SAFETY: the mapping made in `map`, unmapped once, when nothing refers to it any
                // more.
                let unmapped = unsafe { munmap(base.as_ptr().cast(), *length) };
                debug_assert!(unmapped.is_ok());
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
