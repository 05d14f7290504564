//! What of a memory object is mapped ("Mapping Buffer Objects", "Mapping Image Objects").

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use opencl_sys::*;
use parking_lot::Mutex;

use brolga_engine::error::{CLResult, ClError};

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
struct MappedRegion {
    area: Area,
    address: usize,
    flags: u64,
}

/// The mapped regions of a memory object.
///
/// A region is taken out of the list when its unmap is enqueued, so that no other unmap is of it,
/// and out of the count when that has been executed.
#[derive(Debug, Default)]
pub(crate) struct MappedRegions {
    list: Mutex<Vec<MappedRegion>>,
    count: AtomicU32,
}

impl MappedRegions {
    /// `CL_MEM_MAP_COUNT`
    pub(crate) fn count(&self) -> u32 {
        self.count.load(Acquire)
    }

    /// Adds the mapping of an area to an address. The arguments have been checked.
    ///
    /// Errors: `CL_INVALID_OPERATION` when regions mapped for writing would overlap.
    pub(crate) fn add(&self, area: Area, address: usize, flags: u64) -> CLResult<()> {
        let writes = |flags: u64| flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0;
        let mut list = self.list.lock();
        // CL_INVALID_OPERATION if mapping would lead to overlapping regions being mapped for
        // writing ("Mapping Buffer Objects").
        let clash = list
            .iter()
            .any(|mapped| mapped.area.overlaps(&area) && writes(mapped.flags) && writes(flags));
        if clash {
            return Err(ClError::INVALID_OPERATION);
        }
        list.push(MappedRegion {
            area,
            address,
            flags,
        });
        self.count.fetch_add(1, AcqRel);
        Ok(())
    }

    /// Takes a region that starts at `address` out of the list, not yet out of the count.
    ///
    /// Errors: `CL_INVALID_VALUE` when there is none.
    pub(crate) fn remove(&self, address: usize) -> CLResult<()> {
        let mut list = self.list.lock();
        // CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer for
        // memobj ("Unmapping Mapped Memory Objects").
        let index = list
            .iter()
            .rposition(|mapped| mapped.address == address)
            .ok_or(ClError::INVALID_VALUE)?;
        list.swap_remove(index);
        Ok(())
    }

    /// Counts a region down that was removed: its unmap has been executed.
    pub(crate) fn count_down(&self) {
        self.count.fetch_sub(1, AcqRel);
    }
}
