//! Memory of module-scope objects: constants, and program-scope variables that live as long as the
//! program.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use cranelift_entity::{EntityRef, PrimaryMap};

use crate::diagnostic::Diagnostic;
use crate::ir::{Global, GlobalId, GlobalInit};

/// The module-scope objects of a program, laid out and initialised.
#[derive(Debug)]
pub struct Globals {
    /// Absent when there are none.
    memory: Option<(NonNull<u8>, Layout)>,
    addresses: PrimaryMap<GlobalId, u64>,
}

// SAFETY: the memory is the kernels'; this type only owns it, and hands out addresses.
unsafe impl Send for Globals {}
// SAFETY: as above.
unsafe impl Sync for Globals {}

impl Globals {
    /// Lays out and initialises. Sizes come from a module, so a total that cannot be had is an
    /// error.
    pub fn new(globals: &[Global]) -> Result<Globals, Diagnostic> {
        let too_large =
            || Diagnostic::new("the program's module-scope variables do not fit in memory");
        let mut offsets: PrimaryMap<GlobalId, u64> = PrimaryMap::with_capacity(globals.len());
        let (mut total, mut align) = (0u64, 16u64);
        for global in globals {
            let own = u64::from(global.align.max(1)).next_power_of_two();
            align = align.max(own);
            total = total.checked_next_multiple_of(own).ok_or_else(too_large)?;
            offsets.push(total);
            total = total.checked_add(global.size).ok_or_else(too_large)?;
        }
        if total == 0 {
            // Empty objects still have an address.
            let addresses = offsets.values().map(|_| align).collect();
            return Ok(Globals {
                memory: None,
                addresses,
            });
        }
        let size = usize::try_from(total).map_err(|_| too_large())?;
        let layout = Layout::from_size_align(size, align as usize).map_err(|_| too_large())?;
        // SAFETY: the size is not zero.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(too_large)?;
        let base = memory.as_ptr() as u64;
        let addresses: PrimaryMap<GlobalId, u64> =
            offsets.values().map(|offset| base + offset).collect();
        for (id, global) in offsets.keys().zip(globals) {
            let GlobalInit::Bytes(bytes, relocations) = &global.init else {
                continue;
            };
            let mut bytes = bytes.clone();
            bytes.resize(global.size as usize, 0);
            for r in relocations {
                let at = r.offset as usize;
                let slot = bytes
                    .get_mut(at..at.saturating_add(8))
                    .filter(|_| r.target.index() < addresses.len())
                    .ok_or_else(|| {
                        Diagnostic::new(format!(
                            "an address in the initialiser of `{}` is outside it",
                            global.name
                        ))
                    })?;
                slot.copy_from_slice(
                    &addresses[r.target]
                        .wrapping_add_signed(r.addend)
                        .to_le_bytes(),
                );
            }
            // SAFETY: the object's bytes lie inside the memory just allocated, which nothing else
            // refers to.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    memory.as_ptr().add(offsets[id] as usize),
                    bytes.len(),
                );
            }
        }
        Ok(Globals {
            memory: Some((memory, layout)),
            addresses,
        })
    }

    /// Where each object is.
    pub fn addresses(&self) -> &PrimaryMap<GlobalId, u64> {
        &self.addresses
    }
}

impl Drop for Globals {
    fn drop(&mut self) {
        if let Some((memory, layout)) = self.memory.take() {
            // SAFETY: allocated with this layout; kernels that use it are gone, as they hold the
            // program.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }
}
