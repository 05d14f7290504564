//! Application memory named by a raw pointer.

/// An address that the application (or a buffer) vouches for.
///
/// Commands carry these instead of references: the memory belongs to the application, which may use
/// it at any time that OpenCL allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostPtr(*mut u8);

// SAFETY: a HostPtr is only an address; code that dereferences it relies on the contract of `new`,
// which covers every thread.
unsafe impl Send for HostPtr {}
// SAFETY: as above.
unsafe impl Sync for HostPtr {}

impl HostPtr {
    /// Wraps an address handed over by the application.
    ///
    /// # Safety
    /// The memory that the receiving function documents must be valid, from any thread, until the
    /// command it is given to has completed (or the object it is given to is destroyed).
    pub unsafe fn new(pointer: *mut u8) -> HostPtr {
        HostPtr(pointer)
    }

    /// The null address.
    pub fn null() -> HostPtr {
        HostPtr(std::ptr::null_mut())
    }

    pub fn as_ptr(self) -> *mut u8 {
        self.0
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address as a number.
    pub fn addr(self) -> usize {
        self.0 as usize
    }

    /// The address `bytes` further on. Stays an address: nothing is read.
    pub fn offset(self, bytes: usize) -> HostPtr {
        HostPtr(self.0.wrapping_add(bytes))
    }
}
