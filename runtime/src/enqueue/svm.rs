//! Commands on shared virtual memory ("SVM Enqueue Commands").

use std::sync::Arc;

use opencl_sys::*;

use super::Description;
use super::buffers::check_pointer;
use super::mapping::{check_map_flags, check_migration_flags};
use crate::base::device::Device;
use crate::command::{Captured, Command};
use crate::context::Context;
use crate::memory::host::HostPtr;
use crate::memory::pattern::Pattern;
use crate::memory::transfer::Transfer;
use crate::queue::{Ordering, Queue, wait_if_blocking};
use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::work::{Once, RetainedResources};

/// `pfn_free_func` of `clEnqueueSVMFree`: frees the pointers.
pub type SvmFreeCallback = Box<dyn FnOnce(&[HostPtr]) + Send>;

/// `clEnqueueSVMMemcpy`, `clCommandSVMMemcpyKHR`. Both must be valid for `size` bytes whenever the
/// command runs.
///
/// Errors: `CL_INVALID_VALUE` (null), `CL_MEM_COPY_OVERLAP`.
#[derive(Clone, Copy, Debug)]
pub struct SvmCopy {
    pub destination: HostPtr,
    pub source: HostPtr,
    pub size: usize,
}

impl Description for SvmCopy {
    fn command(self, _: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        // CL_INVALID_VALUE if dst_ptr or src_ptr is NULL and size is non-zero, by the rules of
        // cl_khr_unified_svm.
        if self.size > 0 {
            check_pointer(self.destination)?;
            check_pointer(self.source)?;
        }
        let (to, from) = (self.destination, self.source);
        copy(CL_COMMAND_SVM_MEMCPY, to, from, self.size)
    }
}

/// `clEnqueueSVMMemFill`, `clCommandSVMMemFillKHR`. `destination` must be valid for `size` bytes
/// whenever the command runs.
///
/// Errors: `CL_INVALID_VALUE` (null, not aligned to the pattern, no whole patterns).
#[derive(Clone, Debug)]
pub struct SvmFill {
    pub destination: HostPtr,
    pub pattern: Pattern,
    pub size: usize,
}

impl Description for SvmFill {
    fn command(self, _: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        // CL_INVALID_VALUE if svm_ptr is NULL and size is non-zero, by the rules of
        // cl_khr_unified_svm.
        if self.size > 0 {
            check_pointer(self.destination)?;
        }
        fill(
            CL_COMMAND_SVM_MEMFILL,
            self.destination,
            self.pattern,
            self.size,
        )
    }
}

/// A copy from address to address. Errors: `CL_MEM_COPY_OVERLAP`.
pub(super) fn copy(
    command_type: u32,
    destination: HostPtr,
    source: HostPtr,
    size: usize,
) -> CLResult<Command> {
    // CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an
    // overlapping copy.
    if destination.addr().abs_diff(source.addr()) < size {
        return Err(ClError::MEM_COPY_OVERLAP);
    }
    Ok(Command::retaining_nothing(
        command_type,
        copy_work(destination, source, size),
    ))
}

/// The work of a copy from address to address, which may be of no bytes.
pub(super) fn copy_work(destination: HostPtr, source: HostPtr, size: usize) -> Captured {
    match size {
        0 => Captured::Nothing,
        _ => Captured::Transfer(Transfer::Copy {
            destination,
            source,
            size,
        }),
    }
}

/// A fill at an address. Errors: `CL_INVALID_VALUE`.
pub(super) fn fill(
    command_type: u32,
    destination: HostPtr,
    pattern: Pattern,
    size: usize,
) -> CLResult<Command> {
    pattern.check_fits(destination.addr(), size)?;
    let work = match size {
        0 => Captured::Nothing,
        _ => Captured::Transfer(Transfer::Fill {
            destination,
            size,
            pattern: pattern.into_bytes(),
        }),
    };
    Ok(Command::retaining_nothing(command_type, work))
}

impl Queue {
    /// `clEnqueueSVMFree`: frees with `callback`, or like `clSVMFree` without, where null pointers
    /// are ignored.
    ///
    /// Errors: `CL_INVALID_CONTEXT`.
    pub fn enqueue_svm_free(
        self: &Arc<Self>,
        pointers: Vec<HostPtr>,
        callback: Option<SvmFreeCallback>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let context = Arc::clone(self.context());
        let work = match callback {
            Some(callback) => Once::application(move || callback(&pointers)),
            None => Once::instant(move || {
                for pointer in &pointers {
                    context.svm_free(pointer.addr());
                }
            }),
        };
        self.enqueue(
            CL_COMMAND_SVM_FREE,
            work,
            RetainedResources::new(),
            wait,
            Ordering::Queue,
        )
    }

    /// Checks that `pointer` may be mapped. Errors: `CL_INVALID_VALUE`.
    fn check_mappable(&self, pointer: HostPtr) -> CLResult<()> {
        // CL_INVALID_VALUE if svm_ptr does not support mapping and unmapping for access on the host
        // (cl_khr_unified_svm).
        let found = self.context().shared().find_svm(pointer.addr());
        let svm = found.as_ref().and_then(|allocation| allocation.svm());
        match svm {
            Some(info) if info.capabilities() & CL_SVM_CAPABILITY_HOST_MAP_KHR == 0 => {
                Err(ClError::INVALID_VALUE)
            }
            _ => Ok(()),
        }
    }

    /// `clEnqueueSVMMap`: only the order matters.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (null, size 0, flags, memory that cannot be
    /// mapped).
    pub fn enqueue_svm_map(
        self: &Arc<Self>,
        blocking: bool,
        flags: u64,
        pointer: HostPtr,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if svm_ptr is NULL, if size is 0 or if values specified in map_flags are
        // not valid.
        check_map_flags(flags)?;
        if pointer.is_null() || size == 0 {
            return Err(ClError::INVALID_VALUE);
        }
        self.check_mappable(pointer)?;
        let event = self.enqueue_nothing(CL_COMMAND_SVM_MAP, wait, Ordering::Queue)?;
        wait_if_blocking(event, blocking)
    }

    /// `clEnqueueSVMUnmap`. Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (null, memory that
    /// cannot be mapped).
    pub fn enqueue_svm_unmap(
        self: &Arc<Self>,
        pointer: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if svm_ptr is NULL.
        if pointer.is_null() {
            return Err(ClError::INVALID_VALUE);
        }
        self.check_mappable(pointer)?;
        self.enqueue_nothing(CL_COMMAND_SVM_UNMAP, wait, Ordering::Queue)
    }

    /// `clEnqueueSVMMigrateMem`: all memory is where it should be already. A size of 0 means the
    /// whole allocation, and no sizes mean that for each.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (no pointers, a range outside an
    /// allocation, flags).
    pub fn enqueue_svm_migrate(
        self: &Arc<Self>,
        pointers: &[HostPtr],
        sizes: &[usize],
        flags: u64,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if num_svm_pointers is zero or svm_pointers is NULL.
        if pointers.is_empty() {
            return Err(ClError::INVALID_VALUE);
        }
        check_migration_flags(flags)?;
        // CL_INVALID_VALUE if sizes[i] is non-zero and the range [svm_pointers[i], svm_pointers[i]
        // + sizes[i]) is not contained within an existing SVM allocation.
        for (index, pointer) in pointers.iter().enumerate() {
            let size = sizes.get(index).copied().unwrap_or(0);
            // A NULL pointer without a size is ignored, by the rules of cl_khr_unified_svm.
            if pointer.is_null() {
                match size {
                    0 => continue,
                    _ => return Err(ClError::INVALID_VALUE),
                }
            }
            // What the system allocates is a type of SVM here, whose allocations are not known
            // here.
            let Some(allocation) = self.context().shared().find_svm(pointer.addr()) else {
                continue;
            };
            let inside = pointer.addr() - allocation.as_ptr() as usize;
            if inside
                .checked_add(size)
                .is_none_or(|end| end > allocation.size())
            {
                return Err(ClError::INVALID_VALUE);
            }
        }
        self.enqueue_nothing(CL_COMMAND_SVM_MIGRATE_MEM, wait, Ordering::Queue)
    }
}
