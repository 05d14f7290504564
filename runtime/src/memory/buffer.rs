//! Buffers and sub-buffers, and what every memory object has: where its bytes are, its flags, what
//! of it is mapped. Images and pipes are made of a [`Buffer`] each.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use opencl_sys::*;
use parking_lot::Mutex;

use crate::context::Context;
use crate::context::destructors::{DestructorCallback, DestructorCallbacks};
use crate::memory::external::{ExternalHandle, Imported};
use crate::memory::host::HostPtr;
use crate::storage::allocation::{Allocation, MIN_ALIGN};
use brolga_engine::error::{CLResult, ClError};

const DEVICE_ACCESS: u64 = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
const HOST_ACCESS: u64 = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
/// What an immutable memory object is never for.
const WRITES: u64 = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY;
const HOST_POINTER: u64 = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// A buffer or sub-buffer.
pub struct Buffer {
    context: Arc<Context>,
    flags: u64,
    size: usize,
    memory: Memory,
    host: HostPtr,
    uses_svm: bool,
    properties: Vec<u64>,
    map_count: AtomicU32,
    mappings: Mutex<Vec<Mapping>>,
    destructors: DestructorCallbacks,
}

/// Where a buffer's bytes are.
enum Memory {
    Own(Allocation),
    /// `CL_MEM_USE_HOST_PTR`
    Host(HostPtr),
    /// Of an external memory handle.
    Imported(Imported),
    /// A sub-buffer, or an image made from a memory object: this many bytes into its parent.
    Parent(Arc<Buffer>, usize),
}

/// A region of a memory object: bytes of a buffer, in the first dimension, or texels of an image
/// and its level in the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) origin: [usize; 4],
    pub(crate) region: [usize; 4],
}

impl Area {
    /// The bytes `offset..offset + size` of a buffer.
    pub(crate) fn bytes(offset: usize, size: usize) -> Area {
        Area {
            origin: [offset, 0, 0, 0],
            region: [size, 1, 1, 1],
        }
    }

    /// Whether both have something in common.
    pub(crate) fn overlaps(&self, other: &Area) -> bool {
        (0..4).all(|n| {
            let before = |a: &Area, b: &Area| a.origin[n] < b.origin[n] + b.region[n];
            before(self, other) && before(other, self)
        })
    }
}

/// A region that is mapped.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    area: Area,
    address: usize,
    flags: u64,
}

/// At most one bit of `mask` is set in `flags`.
fn at_most_one(flags: u64, mask: u64) -> bool {
    (flags & mask).count_ones() <= 1
}

/// Checks the flags of a new memory object that is not a part of another. Errors:
/// `CL_INVALID_VALUE`.
pub(crate) fn check_flags(flags: u64, is_external: bool) -> CLResult<()> {
    let known = DEVICE_ACCESS | HOST_ACCESS | HOST_POINTER | CL_MEM_IMMUTABLE_EXT;
    // CL_INVALID_VALUE if values specified in flags are not valid as defined in the Memory
    // Flags table ("Creating Buffer Objects"): unknown bits, or bits that exclude each other.
    let exclusive = at_most_one(flags, DEVICE_ACCESS)
        && at_most_one(flags, HOST_ACCESS)
        && at_most_one(flags, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR)
        && at_most_one(flags, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    if flags & !known != 0 || !exclusive {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_VALUE if properties includes a supported external memory handle and flags
    // includes CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, or CL_MEM_COPY_HOST_PTR
    // (cl_khr_external_memory).
    if is_external && flags & HOST_POINTER != 0 {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_VALUE if CL_MEM_IMMUTABLE_EXT is set in flags and CL_MEM_READ_WRITE,
    // CL_MEM_WRITE_ONLY, or CL_MEM_HOST_WRITE_ONLY is set in flags, or neither
    // CL_MEM_COPY_HOST_PTR nor CL_MEM_USE_HOST_PTR is, nor does properties include an external
    // memory handle (cl_ext_immutable_memory_objects).
    let immutable = flags & CL_MEM_IMMUTABLE_EXT != 0;
    let filled = flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) != 0 || is_external;
    if immutable && (flags & WRITES != 0 || !filled) {
        return Err(ClError::INVALID_VALUE);
    }
    Ok(())
}

/// Checks that a new memory object has a host pointer if its flags are about one. Errors:
/// `CL_INVALID_HOST_PTR`.
pub(crate) fn check_host_ptr(flags: u64, host: HostPtr) -> CLResult<()> {
    // CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR
    // are set in flags or if host_ptr is not NULL but CL_MEM_COPY_HOST_PTR or
    // CL_MEM_USE_HOST_PTR are not set in flags, which is so with an external memory handle.
    let wants_host = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    match wants_host == host.is_null() {
        true => Err(ClError::INVALID_HOST_PTR),
        false => Ok(()),
    }
}

impl Buffer {
    /// `clCreateBuffer` and `clCreateBufferWithProperties`.
    ///
    /// `host` is null when the application gave none; `CL_MEM_USE_HOST_PTR` wants it valid for
    /// `size` bytes for the life of the buffer, `CL_MEM_COPY_HOST_PTR` during the call.
    /// `properties` are as given, with the final 0, or empty.
    ///
    /// Errors: `CL_INVALID_VALUE` (flags), `CL_INVALID_BUFFER_SIZE`, `CL_INVALID_HOST_PTR`,
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    pub fn new(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
        host: HostPtr,
        properties: Vec<u64>,
    ) -> CLResult<Arc<Buffer>> {
        Buffer::create(context, flags, size, host, properties, None)
    }

    /// A memory object of zeros that the host cannot reach. Nothing touches its memory here.
    ///
    /// Errors: `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    pub(crate) fn zeroed(context: &Arc<Context>, flags: u64, size: usize) -> CLResult<Arc<Buffer>> {
        let block = Allocation::zeroed(size).ok_or(ClError::MEM_OBJECT_ALLOCATION_FAILURE)?;
        Ok(Arc::new(Buffer {
            context: Arc::clone(context),
            flags,
            size,
            memory: Memory::Own(block),
            host: HostPtr::null(),
            uses_svm: false,
            properties: Vec::new(),
            map_count: AtomicU32::new(0),
            mappings: Mutex::default(),
            destructors: DestructorCallbacks::default(),
        }))
    }

    /// `clCreateBufferWithProperties` with an external memory handle, which is taken over if that
    /// succeeds. The rest is as for [`Buffer::new`].
    ///
    /// Errors: also `CL_INVALID_PROPERTY` if the memory cannot be used, `CL_INVALID_BUFFER_SIZE` if
    /// there is less of it.
    pub fn imported(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
        host: HostPtr,
        properties: Vec<u64>,
        handle: ExternalHandle,
    ) -> CLResult<Arc<Buffer>> {
        Buffer::create(context, flags, size, host, properties, Some(handle))
    }

    /// Makes any memory object that is not a part of another.
    pub(crate) fn create(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
        host: HostPtr,
        properties: Vec<u64>,
        external: Option<ExternalHandle>,
    ) -> CLResult<Arc<Buffer>> {
        check_flags(flags, external.is_some())?;
        let immutable = flags & CL_MEM_IMMUTABLE_EXT != 0;
        // CL_INVALID_BUFFER_SIZE if size is 0 or if size is greater than
        // CL_DEVICE_MAX_MEM_ALLOC_SIZE for all devices in context.
        if size == 0 || size as u64 > context.device().max_mem_alloc_size {
            return Err(ClError::INVALID_BUFFER_SIZE);
        }
        check_host_ptr(flags, host)?;
        let svm = context
            .shared()
            .find_svm(host.addr())
            .filter(|_| flags & CL_MEM_USE_HOST_PTR != 0);
        // CL_INVALID_BUFFER_SIZE if CL_MEM_USE_HOST_PTR is set in flags, host_ptr is a pointer
        // returned by clSVMAlloc and size is greater than the size passed to clSVMAlloc.
        if let Some(svm) = &svm {
            let offset = host.addr() - svm.as_ptr() as usize;
            if size > svm.size() - offset {
                return Err(ClError::INVALID_BUFFER_SIZE);
            }
        }
        let memory = if flags & CL_MEM_USE_HOST_PTR != 0 {
            Memory::Host(host)
        } else if let Some(handle) = external {
            Memory::Imported(handle.import(size, !immutable)?)
        } else {
            let block =
                Allocation::new(size, MIN_ALIGN).ok_or(ClError::MEM_OBJECT_ALLOCATION_FAILURE)?;
            if flags & CL_MEM_COPY_HOST_PTR != 0 {
                // SAFETY: the block is new and `size` long; the application vouches for as much at
                // `host`.
                unsafe { std::ptr::copy_nonoverlapping(host.as_ptr(), block.as_ptr(), size) };
            }
            Memory::Own(block)
        };
        let uses_svm = svm.is_some();
        // CL_MEM_READ_WRITE is the default ("Memory Flags"), of what may be written.
        let default = if flags & DEVICE_ACCESS == 0 && !immutable {
            CL_MEM_READ_WRITE
        } else {
            0
        };
        Ok(Arc::new(Buffer {
            context: Arc::clone(context),
            flags: flags | default,
            size,
            memory,
            host: if flags & CL_MEM_USE_HOST_PTR != 0 {
                host
            } else {
                HostPtr::null()
            },
            uses_svm,
            properties,
            map_count: AtomicU32::new(0),
            mappings: Mutex::default(),
            destructors: DestructorCallbacks::default(),
        }))
    }

    /// `clCreateSubBuffer` with `CL_BUFFER_CREATE_TYPE_REGION`: `size` bytes from `origin`.
    ///
    /// Errors: `CL_INVALID_MEM_OBJECT` for a sub-buffer of a sub-buffer, `CL_INVALID_VALUE` (flags,
    /// bounds), `CL_INVALID_BUFFER_SIZE`, `CL_MISALIGNED_SUB_BUFFER_OFFSET`.
    pub fn sub_buffer(
        self: &Arc<Self>,
        flags: u64,
        origin: usize,
        size: usize,
    ) -> CLResult<Arc<Buffer>> {
        // CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object or is a sub-buffer object
        // ("Creating Buffer Objects").
        if self.parent().is_some() {
            return Err(ClError::INVALID_MEM_OBJECT);
        }
        let flags = self.inherited_flags(flags)?;
        // CL_INVALID_BUFFER_SIZE if the size field of the cl_buffer_region structure is 0.
        if size == 0 {
            return Err(ClError::INVALID_BUFFER_SIZE);
        }
        // CL_INVALID_VALUE if the region specified by the cl_buffer_region structure is out of
        // bounds in buffer.
        if origin.checked_add(size).is_none_or(|end| end > self.size) {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_MISALIGNED_SUB_BUFFER_OFFSET if there are no devices in context associated with buffer
        // for which the origin field is aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value.
        if !origin.is_multiple_of(self.context.device().mem_base_addr_align as usize / 8) {
            return Err(ClError::MISALIGNED_SUB_BUFFER_OFFSET);
        }
        Ok(self.part(flags, origin, size, Vec::new()))
    }

    /// The flags of a part that is created with `flags`: what is not specified is inherited.
    ///
    /// Errors: `CL_INVALID_VALUE`.
    pub(crate) fn inherited_flags(&self, flags: u64) -> CLResult<u64> {
        // CL_INVALID_VALUE if flags contains anything but access flags, or contradictory ones.
        let exclusive = at_most_one(flags, DEVICE_ACCESS) && at_most_one(flags, HOST_ACCESS);
        if flags & !(DEVICE_ACCESS | HOST_ACCESS | CL_MEM_IMMUTABLE_EXT) != 0 || !exclusive {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_VALUE if buffer was created with CL_MEM_WRITE_ONLY and flags specifies
        // CL_MEM_READ_WRITE or CL_MEM_READ_ONLY, or if buffer was created with CL_MEM_READ_ONLY and
        // flags specifies CL_MEM_READ_WRITE or CL_MEM_WRITE_ONLY.
        let device = flags & DEVICE_ACCESS;
        let parent_device = match self.flags & DEVICE_ACCESS {
            0 => CL_MEM_READ_ONLY,
            access => access,
        };
        if device != 0 && parent_device != CL_MEM_READ_WRITE && device != parent_device {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_VALUE if buffer was created with CL_MEM_HOST_WRITE_ONLY and flags specify
        // CL_MEM_HOST_READ_ONLY, the reverse, or with CL_MEM_HOST_NO_ACCESS and flags specify
        // CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_WRITE_ONLY.
        let host = flags & HOST_ACCESS;
        let parent_host = self.flags & HOST_ACCESS;
        let widens =
            host & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY) != 0 && host != parent_host;
        if parent_host != 0 && widens {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_VALUE if buffer was created with CL_MEM_IMMUTABLE_EXT and flags specifies
        // CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, or CL_MEM_HOST_WRITE_ONLY. What is not specified is
        // inherited, so the same holds for a part that alone is to be immutable.
        let immutable = (self.flags | flags) & CL_MEM_IMMUTABLE_EXT;
        if immutable != 0 && flags & WRITES != 0 {
            return Err(ClError::INVALID_VALUE);
        }
        // What is not specified is inherited; the host pointer flags always are.
        let device = match device {
            0 if immutable != 0 => self.flags & CL_MEM_READ_ONLY,
            0 => parent_device,
            given => given,
        };
        let host = if host == 0 { parent_host } else { host };
        Ok(device | host | immutable | self.flags & HOST_POINTER)
    }

    /// A memory object whose bytes are `size` of this one's, from `origin` on.
    pub(crate) fn part(
        self: &Arc<Self>,
        flags: u64,
        origin: usize,
        size: usize,
        properties: Vec<u64>,
    ) -> Arc<Buffer> {
        let host = match self.host.is_null() {
            true => HostPtr::null(),
            false => self.host.offset(origin),
        };
        Arc::new(Buffer {
            context: Arc::clone(&self.context),
            flags,
            size,
            memory: Memory::Parent(Arc::clone(self), origin),
            host,
            uses_svm: self.uses_svm,
            properties,
            map_count: AtomicU32::new(0),
            mappings: Mutex::default(),
            destructors: DestructorCallbacks::default(),
        })
    }

    /// `CL_MEM_CONTEXT`
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_MEM_FLAGS`: after inheritance and defaults.
    pub fn flags(&self) -> u64 {
        self.flags
    }

    /// `CL_MEM_SIZE`, bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// `CL_MEM_HOST_PTR`: null unless created with `CL_MEM_USE_HOST_PTR`.
    pub fn host_ptr(&self) -> *mut u8 {
        self.host.as_ptr()
    }

    /// `CL_MEM_MAP_COUNT`
    pub fn map_count(&self) -> u32 {
        self.map_count.load(Acquire)
    }

    /// `CL_MEM_ASSOCIATED_MEMOBJECT`
    pub fn parent(&self) -> Option<&Arc<Buffer>> {
        match &self.memory {
            Memory::Parent(parent, _) => Some(parent),
            _ => None,
        }
    }

    /// `CL_MEM_OFFSET`, bytes.
    pub fn offset(&self) -> usize {
        match self.memory {
            Memory::Parent(_, offset) => offset,
            _ => 0,
        }
    }

    /// `CL_MEM_USES_SVM_POINTER`
    pub fn uses_svm_pointer(&self) -> bool {
        self.uses_svm
    }

    /// What it was imported from; `None` for sub-buffers.
    pub(crate) fn external(&self) -> Option<&Imported> {
        match &self.memory {
            Memory::Imported(imported) => Some(imported),
            _ => None,
        }
    }

    /// `CL_MEM_PROPERTIES`
    pub fn properties(&self) -> &[u64] {
        &self.properties
    }

    /// `CL_MEM_DEVICE_ADDRESS_EXT`: the address, on any device.
    ///
    /// Errors: `CL_INVALID_OPERATION` for a buffer that was not created to be asked.
    pub fn device_address(&self) -> CLResult<u64> {
        // CL_INVALID_OPERATION is returned for the CL_MEM_DEVICE_ADDRESS_EXT query if the buffer
        // was not allocated with CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT (cl_ext_buffer_device_address).
        let fixed = [CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, u64::from(CL_TRUE)];
        match self.properties.chunks(2).any(|pair| pair == fixed) {
            true => Ok(self.as_ptr() as u64),
            false => Err(ClError::INVALID_OPERATION),
        }
    }

    /// `clSetMemObjectDestructorCallback`: callbacks run in the reverse order of registration when
    /// nothing uses the buffer any more, before its memory is freed.
    pub fn on_destroy(&self, callback: DestructorCallback) {
        self.destructors.register(callback);
    }

    /// The address of the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.pointer().as_ptr()
    }

    pub(crate) fn pointer(&self) -> HostPtr {
        match &self.memory {
            // SAFETY: valid for the life of the buffer, which commands keep alive.
            Memory::Own(block) => unsafe { HostPtr::new(block.as_ptr()) },
            // SAFETY: as above.
            Memory::Imported(imported) => unsafe { HostPtr::new(imported.as_ptr()) },
            Memory::Host(pointer) => *pointer,
            Memory::Parent(parent, offset) => parent.pointer().offset(*offset),
        }
    }

    /// Whether both are regions of the same memory object.
    pub(crate) fn shares_memory_with(&self, other: &Buffer) -> bool {
        std::ptr::eq(self.root(), other.root())
    }

    /// The memory object that this is a part of, and no other is one of.
    fn root(&self) -> &Buffer {
        self.parent().map_or(self, |parent| parent.root())
    }

    /// Checks that `offset..offset + size` lies inside. Errors: `CL_INVALID_VALUE`.
    pub(crate) fn check_range(&self, offset: usize, size: usize) -> CLResult<()> {
        match offset.checked_add(size) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(ClError::INVALID_VALUE),
        }
    }

    /// Checks that the host may read from the buffer. Errors: `CL_INVALID_OPERATION`.
    pub(crate) fn check_host_read(&self) -> CLResult<()> {
        match self.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS) {
            0 => Ok(()),
            _ => Err(ClError::INVALID_OPERATION),
        }
    }

    /// Checks that the host may write to the buffer. Errors: `CL_INVALID_OPERATION`.
    pub(crate) fn check_host_write(&self) -> CLResult<()> {
        match self.flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS) {
            0 => self.check_mutable(),
            _ => Err(ClError::INVALID_OPERATION),
        }
    }

    /// Checks that commands may write to the buffer. Errors: `CL_INVALID_OPERATION`.
    pub(crate) fn check_mutable(&self) -> CLResult<()> {
        match self.flags & CL_MEM_IMMUTABLE_EXT {
            0 => Ok(()),
            _ => Err(ClError::INVALID_OPERATION),
        }
    }

    /// Records the mapping of an area to an address and counts it. The arguments have been checked.
    ///
    /// Errors: `CL_INVALID_OPERATION` when regions mapped for writing would overlap.
    pub(crate) fn map(&self, area: Area, address: usize, flags: u64) -> CLResult<()> {
        let writes = |flags: u64| flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0;
        let mut mappings = self.mappings.lock();
        // CL_INVALID_OPERATION if mapping would lead to overlapping regions being mapped for
        // writing ("Mapping Buffer Objects").
        let clash = mappings
            .iter()
            .any(|mapped| mapped.area.overlaps(&area) && writes(mapped.flags) && writes(flags));
        if clash {
            return Err(ClError::INVALID_OPERATION);
        }
        mappings.push(Mapping {
            area,
            address,
            flags,
        });
        self.map_count.fetch_add(1, AcqRel);
        Ok(())
    }

    /// Forgets one mapping that starts at `address`; the count is for [`Buffer::unmapped`].
    ///
    /// Errors: `CL_INVALID_VALUE` when there is none.
    pub(crate) fn take_mapping(&self, address: usize) -> CLResult<()> {
        let mut mappings = self.mappings.lock();
        // CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer for
        // memobj ("Unmapping Mapped Memory Objects").
        let index = mappings
            .iter()
            .rposition(|mapping| mapping.address == address)
            .ok_or(ClError::INVALID_VALUE)?;
        mappings.swap_remove(index);
        Ok(())
    }

    /// An unmap has been executed.
    pub(crate) fn unmapped(&self) {
        self.map_count.fetch_sub(1, AcqRel);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let memory = std::mem::replace(&mut self.memory, Memory::Host(self.host));
        let context = Arc::clone(&self.context);
        // The memory first.
        self.destructors.call_all(|| drop((memory, context)));
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("size", &self.size)
            .field("flags", &format_args!("{:#x}", self.flags))
            .field("offset", &self.offset())
            .finish()
    }
}
