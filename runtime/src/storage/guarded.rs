//! Memory with pages around it that fault.
//!
//! ```text
//! | guard | below | gap | above | guard |
//!                       ^ pointer
//! ```
//!
//! What runs past an end, or is a wrong index away, faults instead of being some other memory of
//! the process. Guards are addresses and no memory.

use std::ptr::NonNull;
use std::sync::LazyLock;

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};

use super::pages::{HUGE_PAGE, Reservation};

/// Bytes of a guard: an index of 28 bits into elements of four bytes does not reach across the
/// first. The others are for processes that may have few addresses (`ulimit -v`).
const GUARDS: [usize; 4] = [1 << 30, 64 << 20, 1 << 20, 64 << 10];

/// An owned piece of memory. What was never touched is zero and costs nothing.
#[derive(Debug)]
pub(crate) struct GuardedMemory {
    pointer: NonNull<u8>,
    /// The whole of it.
    base: NonNull<u8>,
    length: usize,
    _reservation: Reservation,
}

// SAFETY: the pages are owned; what may be done with them from which thread is up to the code that
// accesses them.
unsafe impl Send for GuardedMemory {}

impl GuardedMemory {
    /// Maps `below` bytes that end `gap` bytes below a pointer that is a multiple of `align`, and
    /// `above` bytes from that on, of each what makes whole pages. `None` when there is no memory.
    pub(crate) fn new(
        below: usize,
        gap: usize,
        above: usize,
        align: usize,
    ) -> Option<GuardedMemory> {
        let page = *PAGE;
        let below = below.checked_next_multiple_of(page)?;
        let gap = gap.checked_next_multiple_of(page)?;
        let above = above.checked_next_multiple_of(page)?;
        let reservation = Reservation::new(below.checked_add(above)?)?;
        let align = align.max(page);
        let used = below.checked_add(gap)?.checked_add(above)?;
        let (base, length, start) = GUARDS.iter().find_map(|&guard| {
            let length = used.checked_add(2 * guard)?.checked_add(align)?;
            Some((reserve(length)?, length, guard + below + gap))
        })?;
        let address = base.as_ptr() as usize + start;
        let start = start + address.next_multiple_of(align) - address;
        // SAFETY: the mapping has room for what is before, behind, and for the alignment.
        let pointer = unsafe { base.add(start) };
        // From here on it is unmapped when it is dropped.
        let guarded = GuardedMemory {
            pointer,
            base,
            length,
            _reservation: reservation,
        };
        // SAFETY: as above.
        let lower = unsafe { pointer.sub(gap + below) };
        (open(lower, below) && open(pointer, above)).then_some(guarded)
    }

    /// The first byte of what is above.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// Whether an address is in it or its guards.
    pub(crate) fn contains(&self, address: usize) -> bool {
        let start = self.base.as_ptr() as usize;
        (start..start + self.length).contains(&address)
    }
}

impl Drop for GuardedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, unmapped once, when nothing refers to it any more.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Bytes of the system's pages.
static PAGE: LazyLock<usize> = LazyLock::new(|| {
    // SAFETY: it is a question.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(64 << 10)
});

/// Addresses that fault.
fn reserve(length: usize) -> Option<NonNull<u8>> {
    // SAFETY: an anonymous mapping at an address of the kernel's choice aliases nothing.
    let base = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            length,
            ProtFlags::empty(),
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    };
    NonNull::new(base.ok()?.cast::<u8>())
}

/// Has addresses that were reserved be memory. False if there is none.
fn open(start: NonNull<u8>, length: usize) -> bool {
    if length == 0 {
        return true;
    }
    let start = start.as_ptr().cast();
    let flags = MprotectFlags::READ | MprotectFlags::WRITE;
    // SAFETY: these pages were reserved, and nothing refers to them yet.
    let opened = unsafe { mprotect(start, length, flags) }.is_ok();
    if opened && length >= HUGE_PAGE {
        // SAFETY: it is only advice.
        let _ = unsafe { madvise(start, length, Advice::LinuxHugepage) };
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_is_aligned_and_between_what_was_asked_for() {
        for (below, above, align) in [(0, 1, 128), (1, 0, 4096), (5000, 70_000, 1 << 20)] {
            let gap = 64 << 10;
            let memory = GuardedMemory::new(below, gap, above, align).expect("memory");
            let pointer = memory.as_ptr();
            assert!((pointer as usize).is_multiple_of(align));
            // SAFETY: so many bytes were asked for.
            unsafe {
                pointer.write_bytes(1, above);
                pointer.sub(gap + below).write_bytes(2, below);
            }
            assert!(memory.contains(pointer as usize - gap - below - 1));
            assert!(memory.contains(pointer as usize + above));
            assert!(!memory.contains(0));
        }
    }

    #[test]
    fn impossible_sizes_fail() {
        assert!(GuardedMemory::new(usize::MAX, 0, 0, 1).is_none());
        assert!(GuardedMemory::new(0, 0, usize::MAX - 5000, 1).is_none());
        assert!(GuardedMemory::new(0, 0, 1, 1 << 63).is_none());
    }
}
