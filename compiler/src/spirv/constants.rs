//! Constants: their values, and the bytes they are in memory.

use std::rc::Rc;

use smallvec::SmallVec;

use super::decode::Id;
use crate::ir::Scalar;

/// The value of a constant of some type.
#[derive(Clone, Debug)]
pub(super) enum Const {
    /// The bits of each lane of a scalar or vector.
    Lanes(SmallVec<[u64; 2]>),
    /// The address of a module-scope variable plus bytes; its type is a pointer or a 64-bit
    /// integer. Or of the pipe that a constant of this id makes.
    Address { variable: Id, addend: i64 },
    /// The parts of a structure or array.
    Composite(Rc<[Const]>),
    /// All bits zero; also undefined values, which may be anything.
    Null,
}

/// Bytes of a constant in memory, and the addresses among them (offset, variable, addend).
#[derive(Default)]
pub(super) struct Image {
    pub bytes: Vec<u8>,
    pub addresses: Vec<(u64, Id, i64)>,
}

/// The two's complement value of the low bits.
pub(super) fn sign_extend(bits: u64, scalar: Scalar) -> i64 {
    let unused = 64 - scalar.bits();
    ((bits << unused) as i64) >> unused
}
