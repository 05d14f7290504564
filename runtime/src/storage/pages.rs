//! Memory straight from the system.

use std::ptr::NonNull;
use std::sync::LazyLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use brolga_engine::system::topology;

pub(super) const PAGE: usize = 4096;
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// Bytes of all mappings.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// A part of the machine's memory. The system promises more memory than there is and kills the
/// process that touches it; an error is better.
#[derive(Debug)]
pub(super) struct Reservation(usize);

impl Reservation {
    /// `None` if there is not as much left.
    pub fn new(bytes: usize) -> Option<Reservation> {
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

/// An owned range of pages that begins with a huge page, if there are such. What was never touched
/// is zero and costs nothing.
#[derive(Debug)]
pub(super) struct Pages {
    pointer: NonNull<u8>,
    /// The whole of it, which may begin before `pointer`.
    base: NonNull<u8>,
    length: usize,
    _reservation: Reservation,
}

// SAFETY: the pages are owned; what may be done with them from which thread is up to the code that
// accesses them.
unsafe impl Send for Pages {}
// SAFETY: as above; no method reads or writes them.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps `size` bytes or more. `None` when there is no memory.
    pub fn new(size: usize) -> Option<Pages> {
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
        let pages = Pages {
            pointer,
            base,
            length,
            _reservation: reservation,
        };
        pages.advise(Advice::LinuxHugepage);
        Some(pages)
    }

    /// The first byte.
    pub fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }

    /// Bytes from there on: as many as were asked for, in whole pages.
    pub fn size(&self) -> usize {
        self.length - HUGE_PAGE
    }

    /// Lets the system have pages back when it wants them. They are zero then.
    pub fn offer(&self) {
        self.advise(Advice::LinuxFree);
    }

    /// Only advice: without it everything works, a little slower.
    fn advise(&self, advice: Advice) {
        // SAFETY: the range is this mapping's, and the advice does not change contents that count.
        let _ = unsafe { madvise(self.pointer.as_ptr().cast(), self.size(), advice) };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, unmapped once, when nothing refers to it any more.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
        debug_assert!(unmapped.is_ok());
    }
}
