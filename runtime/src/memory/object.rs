//! What every memory object has: where its bytes are, its flags, what of it is mapped. A buffer, an
//! image and a pipe have a [`MemObject`] each; commands that take any memory object take that.

use std::fmt;
use std::sync::Arc;

use opencl_sys::*;

use crate::context::Context;
use crate::context::destructors::{DestructorCallback, DestructorCallbacks};
use crate::memory::external::{ExternalHandle, Imported};
use crate::memory::flags;
use crate::memory::host::HostPtr;
use crate::memory::mappings::MappedRegions;
use crate::storage::allocation::{Allocation, MIN_ALIGN};
use brolga_engine::error::{CLResult, ClError};

/// `cl_mem`, as far as it is the same for buffers, images and pipes.
pub struct MemObject {
    context: Arc<Context>,
    flags: u64,
    size: usize,
    store: DataStore,
    properties: Vec<u64>,
    mapped: MappedRegions,
    destructors: DestructorCallbacks,
}

/// Where a memory object's bytes are.
enum DataStore {
    Own(Allocation),
    /// `CL_MEM_USE_HOST_PTR`
    Host {
        pointer: HostPtr,
        is_svm: bool,
    },
    /// Of an external memory handle.
    Imported(Imported),
    /// Those of a sub-buffer, or of an image made from a memory object, are its parent's from this
    /// many bytes on.
    Parent(Arc<MemObject>, usize),
}

impl DataStore {
    /// `size` bytes, by flags and a host pointer that have been checked.
    ///
    /// Errors: `CL_INVALID_BUFFER_SIZE` if there are not as many, `CL_INVALID_PROPERTY` if an
    /// external memory handle cannot be used, `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    fn new(
        context: &Context,
        flags: u64,
        size: usize,
        host: HostPtr,
        external: Option<ExternalHandle>,
    ) -> CLResult<DataStore> {
        if flags & CL_MEM_USE_HOST_PTR != 0 {
            let svm = context.shared().find_svm(host.addr());
            // CL_INVALID_BUFFER_SIZE if CL_MEM_USE_HOST_PTR is set in flags, host_ptr is a pointer
            // returned by clSVMAlloc and size is greater than the size passed to clSVMAlloc.
            if let Some(svm) = &svm {
                let offset = host.addr() - svm.as_ptr() as usize;
                if size > svm.size() - offset {
                    return Err(ClError::INVALID_BUFFER_SIZE);
                }
            }
            return Ok(DataStore::Host {
                pointer: host,
                is_svm: svm.is_some(),
            });
        }
        if let Some(handle) = external {
            let writable = flags & CL_MEM_IMMUTABLE_EXT == 0;
            return Ok(DataStore::Imported(handle.import(size, writable)?));
        }
        let block =
            Allocation::new(size, MIN_ALIGN).ok_or(ClError::MEM_OBJECT_ALLOCATION_FAILURE)?;
        if flags & CL_MEM_COPY_HOST_PTR != 0 {
            // SAFETY: the block is new and `size` long; the application vouches for as much at
            // `host`.
            unsafe { std::ptr::copy_nonoverlapping(host.as_ptr(), block.as_ptr(), size) };
        }
        Ok(DataStore::Own(block))
    }
}

impl MemObject {
    /// A memory object that is not a part of another. `host` and `properties` are as for
    /// [`Buffer::new`](crate::Buffer::new); an external memory handle is taken over if this
    /// succeeds.
    ///
    /// Errors: `CL_INVALID_VALUE` (flags), `CL_INVALID_BUFFER_SIZE`, `CL_INVALID_HOST_PTR`,
    /// `CL_INVALID_PROPERTY` (external memory that cannot be used),
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    pub(crate) fn create(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
        host: HostPtr,
        properties: Vec<u64>,
        external: Option<ExternalHandle>,
    ) -> CLResult<Arc<MemObject>> {
        flags::check(flags, external.is_some())?;
        // CL_INVALID_BUFFER_SIZE if size is 0 or if size is greater than
        // CL_DEVICE_MAX_MEM_ALLOC_SIZE for all devices in context.
        if size == 0 || size as u64 > context.device().max_mem_alloc_size {
            return Err(ClError::INVALID_BUFFER_SIZE);
        }
        flags::check_host_ptr(flags, host)?;
        let store = DataStore::new(context, flags, size, host, external)?;
        let flags = flags::with_default(flags);
        Ok(MemObject::new(context, flags, size, store, properties))
    }

    /// A memory object of zeros that the host cannot reach. Nothing touches its memory here.
    ///
    /// Errors: `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    pub(crate) fn zeroed(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
    ) -> CLResult<Arc<MemObject>> {
        let block = Allocation::zeroed(size).ok_or(ClError::MEM_OBJECT_ALLOCATION_FAILURE)?;
        let store = DataStore::Own(block);
        Ok(MemObject::new(context, flags, size, store, Vec::new()))
    }

    /// A memory object whose bytes are `size` of this one's, from `origin` on.
    pub(crate) fn part(
        self: &Arc<Self>,
        flags: u64,
        origin: usize,
        size: usize,
        properties: Vec<u64>,
    ) -> Arc<MemObject> {
        let store = DataStore::Parent(Arc::clone(self), origin);
        MemObject::new(&self.context, flags, size, store, properties)
    }

    fn new(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
        store: DataStore,
        properties: Vec<u64>,
    ) -> Arc<MemObject> {
        Arc::new(MemObject {
            context: Arc::clone(context),
            flags,
            size,
            store,
            properties,
            mapped: MappedRegions::default(),
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

    /// `CL_MEM_HOST_PTR`: null unless it, or what it is a part of, was created with
    /// `CL_MEM_USE_HOST_PTR`.
    pub fn host_ptr(&self) -> *mut u8 {
        match self.root().store {
            DataStore::Host { .. } => self.as_ptr(),
            _ => std::ptr::null_mut(),
        }
    }

    /// `CL_MEM_MAP_COUNT`
    pub fn map_count(&self) -> u32 {
        self.mapped.count()
    }

    pub(crate) fn mapped_regions(&self) -> &MappedRegions {
        &self.mapped
    }

    /// `CL_MEM_ASSOCIATED_MEMOBJECT`
    pub fn parent(&self) -> Option<&Arc<MemObject>> {
        match &self.store {
            DataStore::Parent(parent, _) => Some(parent),
            _ => None,
        }
    }

    /// `CL_MEM_OFFSET`, bytes.
    pub fn offset(&self) -> usize {
        match self.store {
            DataStore::Parent(_, offset) => offset,
            _ => 0,
        }
    }

    /// `CL_MEM_USES_SVM_POINTER`
    pub fn uses_svm_pointer(&self) -> bool {
        matches!(self.root().store, DataStore::Host { is_svm: true, .. })
    }

    /// The memory that it was created with an external memory handle of; `None` for a part of such
    /// a memory object.
    pub(crate) fn external(&self) -> Option<&Imported> {
        match &self.store {
            DataStore::Imported(imported) => Some(imported),
            _ => None,
        }
    }

    /// `CL_MEM_PROPERTIES`
    pub fn properties(&self) -> &[u64] {
        &self.properties
    }

    /// `CL_MEM_DEVICE_ADDRESS_EXT`: the address, on any device.
    ///
    /// Errors: `CL_INVALID_OPERATION` for one that was not created to be asked.
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
    /// nothing uses the memory object any more, before its memory is freed.
    pub fn on_destroy(&self, callback: DestructorCallback) {
        self.destructors.register(callback);
    }

    /// The address of the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.pointer().as_ptr()
    }

    pub(crate) fn pointer(&self) -> HostPtr {
        match &self.store {
            // SAFETY: valid for the life of the memory object, which commands keep alive.
            DataStore::Own(block) => unsafe { HostPtr::new(block.as_ptr()) },
            // SAFETY: as above.
            DataStore::Imported(imported) => unsafe { HostPtr::new(imported.as_ptr()) },
            DataStore::Host { pointer, .. } => *pointer,
            DataStore::Parent(parent, offset) => parent.pointer().offset(*offset),
        }
    }

    /// Whether both are the same memory object, or parts of the same.
    pub(crate) fn shares_memory_with(&self, other: &MemObject) -> bool {
        std::ptr::eq(self.root(), other.root())
    }

    /// The memory object that this is a part of, and that is not a part of another.
    fn root(&self) -> &MemObject {
        self.parent().map_or(self, |parent| parent.root())
    }

    /// Checks that `offset..offset + size` lies inside. Errors: `CL_INVALID_VALUE`.
    pub(crate) fn check_range(&self, offset: usize, size: usize) -> CLResult<()> {
        match offset.checked_add(size) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(ClError::INVALID_VALUE),
        }
    }

    /// Checks that the host may read from it. Errors: `CL_INVALID_OPERATION`.
    pub(crate) fn check_host_read(&self) -> CLResult<()> {
        match self.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS) {
            0 => Ok(()),
            _ => Err(ClError::INVALID_OPERATION),
        }
    }

    /// Checks that the host may write to it. Errors: `CL_INVALID_OPERATION`.
    pub(crate) fn check_host_write(&self) -> CLResult<()> {
        match self.flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS) {
            0 => self.check_mutable(),
            _ => Err(ClError::INVALID_OPERATION),
        }
    }

    /// Checks that commands may write to it. Errors: `CL_INVALID_OPERATION`.
    pub(crate) fn check_mutable(&self) -> CLResult<()> {
        match self.flags & CL_MEM_IMMUTABLE_EXT {
            0 => Ok(()),
            _ => Err(ClError::INVALID_OPERATION),
        }
    }
}

impl Drop for MemObject {
    fn drop(&mut self) {
        let nothing = DataStore::Host {
            pointer: HostPtr::null(),
            is_svm: false,
        };
        let store = std::mem::replace(&mut self.store, nothing);
        let context = Arc::clone(&self.context);
        // The memory first.
        self.destructors.call_all(|| drop((store, context)));
    }
}

impl fmt::Debug for MemObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemObject")
            .field("size", &self.size)
            .field("flags", &format_args!("{:#x}", self.flags))
            .field("offset", &self.offset())
            .finish()
    }
}
