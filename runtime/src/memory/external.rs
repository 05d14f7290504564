//! Memory that another API or process made, imported by file descriptor (`cl_khr_external_memory`).
//!
//! Device memory is host memory, so that whatever can be mapped shared will do: anonymous and
//! shared memory files (`memfd_create`, `shm_open`), files, and dma-bufs of drivers that support
//! mapping. The mapping refers to the memory, not the descriptor; only a dma-buf's is needed
//! longer: its driver is told when the processor begins and ends to use the memory
//! (`DMA_BUF_IOCTL_SYNC`), so that caches are as they must be. That is what acquiring and releasing
//! come to; other memory is always in order.
//!
//! A file may become shorter than its mapping. Then accesses behind its end fault, and fail the
//! command (`fault/`).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{NonNull, null_mut};

use brolga_engine::error::{CLResult, ClError};
use brolga_host::notice;

/// What a descriptor is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleType {
    /// `CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR`
    OpaqueFd,
    /// `CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR`
    DmaBuf,
}

/// A descriptor of memory, which is the application's until the memory is imported.
#[derive(Clone, Copy, Debug)]
pub struct ExternalHandle {
    kind: HandleType,
    fd: i32,
    /// Bytes.
    size: u64,
}

/// `DMA_BUF_MAGIC` of `linux/magic.h`: the file system that dma-bufs are in.
const DMA_BUF_MAGIC: i64 = 0x444d_4142;

/// `DMA_BUF_IOCTL_SYNC` of `linux/dma-buf.h`: `_IOW('b', 0, struct dma_buf_sync)`, of eight bytes.
const DMA_BUF_IOCTL_SYNC: libc::c_ulong = 1 << 30 | 8 << 16 | 0x62 << 8;
/// `DMA_BUF_SYNC_RW | DMA_BUF_SYNC_START`
const SYNC_START: u64 = 3;
/// `DMA_BUF_SYNC_RW | DMA_BUF_SYNC_END`
const SYNC_END: u64 = 3 | 1 << 2;

impl ExternalHandle {
    /// Errors: `CL_INVALID_PROPERTY` unless `fd` is open and something that could be mapped, and a
    /// dma-buf if it is said to be one.
    pub fn new(kind: HandleType, fd: i32) -> CLResult<ExternalHandle> {
        let size = memory_size(fd).ok_or(ClError::INVALID_PROPERTY)?;
        if kind == HandleType::DmaBuf && !is_dma_buf(fd) {
            return Err(ClError::INVALID_PROPERTY);
        }
        Ok(ExternalHandle { kind, fd, size })
    }

    /// Takes the descriptor over and maps `size` bytes of what it refers to.
    ///
    /// Errors, after which the descriptor is still the caller's: `CL_INVALID_BUFFER_SIZE` if that
    /// is more than there is, `CL_INVALID_PROPERTY` if it cannot be mapped, or not for writing if
    /// `writable`, `CL_MEM_OBJECT_ALLOCATION_FAILURE` if there is no room for it.
    pub(crate) fn import(self, size: usize, writable: bool) -> CLResult<Imported> {
        // The specification has no error of its own for it.
        if size as u64 > self.size {
            return Err(ClError::INVALID_BUFFER_SIZE);
        }
        let access = match writable {
            true => libc::PROT_READ | libc::PROT_WRITE,
            false => libc::PROT_READ,
        };
        // SAFETY: a mapping at an address of the kernel's choice aliases nothing of ours.
        let base = unsafe { libc::mmap(null_mut(), size, access, libc::MAP_SHARED, self.fd, 0) };
        let base = match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => base,
            _ if io::Error::last_os_error().raw_os_error() == Some(libc::ENOMEM) => {
                return Err(ClError::MEM_OBJECT_ALLOCATION_FAILURE);
            }
            _ => return Err(ClError::INVALID_PROPERTY),
        };
        // SAFETY: it is open, and "importing memory from a file descriptor transfers ownership of
        // the file descriptor".
        let fd = unsafe { OwnedFd::from_raw_fd(self.fd) };
        Ok(Imported {
            base,
            size,
            dma_buf: Some(fd).filter(|_| self.kind == HandleType::DmaBuf),
        })
    }
}

/// Bytes of memory behind a descriptor; `None` if there is none.
fn memory_size(fd: i32) -> Option<u64> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `status` is valid for writes, and zeros are a valid `stat`.
    let status = unsafe {
        if libc::fstat(fd, status.as_mut_ptr()) < 0 {
            return None;
        }
        status.assume_init()
    };
    if status.st_mode & libc::S_IFMT == libc::S_IFREG {
        return u64::try_from(status.st_size).ok();
    }
    // A dma-buf tells its size only so on older systems. Its position means nothing.
    if !is_dma_buf(fd) {
        return None;
    }
    // SAFETY: no memory is passed.
    u64::try_from(unsafe { libc::lseek(fd, 0, libc::SEEK_END) }).ok()
}

fn is_dma_buf(fd: i32) -> bool {
    let mut status = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `status` is valid for writes, and zeros are a valid `statfs`.
    unsafe {
        libc::fstatfs(fd, status.as_mut_ptr()) == 0 && status.assume_init().f_type == DMA_BUF_MAGIC
    }
}

/// Imported memory, mapped as long as this lives.
#[derive(Debug)]
pub(crate) struct Imported {
    base: NonNull<u8>,
    size: usize,
    dma_buf: Option<OwnedFd>,
}

// SAFETY: the mapping is owned; what may be done with the memory from which thread is up to the
// code that accesses it.
unsafe impl Send for Imported {}
// SAFETY: as above; no method reads or writes it.
unsafe impl Sync for Imported {}

impl Imported {
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Whether acquiring and releasing it is more than a matter of order.
    pub(crate) fn is_synchronized(&self) -> bool {
        self.dma_buf.is_some()
    }

    /// Tells the driver of a dma-buf that the processor uses the memory from now on, or no longer.
    /// This waits for what the devices are doing to it. Errors: `CL_OUT_OF_RESOURCES`, with a
    /// message on standard error.
    pub(crate) fn synchronize(&self, acquire: bool) -> CLResult<()> {
        let Some(fd) = &self.dma_buf else {
            return Ok(());
        };
        let flags = if acquire { SYNC_START } else { SYNC_END };
        loop {
            // SAFETY: the request reads eight bytes.
            let done = unsafe { libc::ioctl(fd.as_raw_fd(), DMA_BUF_IOCTL_SYNC, &raw const flags) };
            if done >= 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if !matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)) {
                notice(format_args!("a dma-buf cannot be synchronized: {error}"));
                return Err(ClError::OUT_OF_RESOURCES);
            }
        }
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        // SAFETY: mapped in `import`, unmapped once, when nothing refers to it any more.
        let unmapped = unsafe { libc::munmap(self.base.as_ptr().cast(), self.size) };
        debug_assert!(unmapped == 0);
    }
}
