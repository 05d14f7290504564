//! Which memory an instruction may read and write, by address space.
//!
//! A generic address may be in private, local or global memory. Whatever makes work-items wait for
//! each other, or orders their accesses, counts as writing the memory that they share: what others
//! wrote becomes visible there. Constant memory is never written while a kernel runs. `printf`
//! reads its strings from there and writes nothing that a kernel can read.

use crate::ir::{Atomic, Collective, Image, Mem, Op};
use crate::kernel_info::AddressSpace;

/// A set of address spaces, [`AddressSpace::Generic`] being one of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spaces(u8);

const fn bit(space: AddressSpace) -> u8 {
    1 << space as u8
}

impl Spaces {
    pub const NONE: Spaces = Spaces(0);
    /// What work-items share.
    const SHARED: Spaces =
        Spaces(bit(AddressSpace::Global) | bit(AddressSpace::Local) | bit(AddressSpace::Generic));
    /// All that can be written.
    const WRITABLE: Spaces = Spaces(Spaces::SHARED.0 | bit(AddressSpace::Private));

    /// The spaces in which an access to `space` may meet what accesses to them do.
    fn meeting(space: AddressSpace) -> Spaces {
        match space {
            AddressSpace::Constant => Spaces::NONE,
            AddressSpace::Generic => Spaces::WRITABLE,
            _ => Spaces(bit(space) | bit(AddressSpace::Generic)),
        }
    }

    /// Spaces such that an access there may be to memory that the operation writes.
    pub fn written_by(op: &Op) -> Spaces {
        match op {
            Op::Store(Mem { space, .. }) | Op::ImageWrite(Image { space, .. }) => {
                Spaces::meeting(*space)
            }
            Op::AtomicRmw(_, Atomic { space, .. })
            | Op::AtomicCmpXchg(Atomic { space, .. })
            | Op::AtomicLoad(Atomic { space, .. })
            | Op::AtomicStore(Atomic { space, .. }) => Spaces::meeting(*space).with(Spaces::SHARED),
            Op::Barrier(_) | Op::NamedBarrier(_) | Op::Fence(_) => Spaces::SHARED,
            Op::Collective { what, .. } if *what == Collective::Sync => Spaces::SHARED,
            // The event that is returned, and what blocks that need not wait do meanwhile.
            Op::MemCopy { .. }
            | Op::MemCopyDyn { .. }
            | Op::Call(_)
            | Op::CallFunction(_)
            | Op::Device { .. } => Spaces::WRITABLE,
            _ => Spaces::NONE,
        }
    }

    /// Spaces such that an access there may be to memory that the operation reads or writes.
    pub fn touched_by(op: &Op) -> Spaces {
        match op {
            Op::Load(Mem { space, .. }) | Op::ImageRead(Image { space, .. }) => {
                Spaces::meeting(*space)
            }
            _ => Spaces::written_by(op),
        }
    }

    pub fn with(self, other: Spaces) -> Spaces {
        Spaces(self.0 | other.0)
    }

    pub fn contains(self, space: AddressSpace) -> bool {
        self.0 & bit(space) != 0
    }

    pub fn iter(self) -> impl Iterator<Item = AddressSpace> {
        [
            AddressSpace::Private,
            AddressSpace::Global,
            AddressSpace::Local,
            AddressSpace::Generic,
        ]
        .into_iter()
        .filter(move |&space| self.contains(space))
    }
}
