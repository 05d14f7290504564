//! The table: rows by family, in groups that share what brings them.
//!
//! A row is a name, the generic type it goes over, its signature (`signature.rs`) and its lowering.
//! Functions of the `convert_` and `as_` families are known by pattern (`convert.rs`).

use super::lowering::{Atomic, Generation, Lowering};
use crate::types::Scalar;

mod atomic;
mod common;
mod device_enqueue;
mod group;
mod image;
mod integer;
mod math;
mod memory;
mod misc;
mod relational;
mod sub_group;
mod sync;
mod work_item;

/// Every group of rows.
pub(super) const GROUPS: &[&[Group]] = &[
    work_item::GROUPS,
    math::GROUPS,
    integer::GROUPS,
    common::GROUPS,
    relational::GROUPS,
    memory::GROUPS,
    sync::GROUPS,
    atomic::GROUPS,
    misc::GROUPS,
    image::GROUPS,
    group::GROUPS,
    sub_group::GROUPS,
    device_enqueue::GROUPS,
];

/// Rows that one version, feature or extension brings.
pub(super) struct Group {
    /// See [`super::need`].
    pub need: &'static str,
    pub rows: &'static [Row],
}

/// Overloads of a function.
#[derive(Debug)]
pub(super) struct Row {
    pub name: &'static str,
    pub over: Over,
    pub signature: &'static str,
    pub lowering: Lowering,
}

impl Row {
    /// What a row needs besides what brings its group. OpenCL C Specification, "Atomic Functions":
    /// an order or a scope that is left out is the strongest, or the device.
    pub(super) fn need(&self) -> &'static str {
        match self.lowering {
            Lowering::Atomic(Atomic { generation, .. }) => match generation {
                Generation::Consistent => {
                    "__opencl_c_atomic_order_seq_cst&__opencl_c_atomic_scope_device"
                }
                Generation::Order => "__opencl_c_atomic_scope_device",
                Generation::Relaxed | Generation::OrderAndScope => "",
            },
            _ => "",
        }
    }
}

/// Which generic types a row goes over: every component of a set in every number of lanes of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Over {
    scalars: u16,
    lanes: u8,
}

const LANES: [u8; 6] = [1, 2, 3, 4, 8, 16];
const SCALARS: [Scalar; 12] = [
    Scalar::Bool,
    Scalar::Char,
    Scalar::UChar,
    Scalar::Short,
    Scalar::UShort,
    Scalar::Int,
    Scalar::UInt,
    Scalar::Long,
    Scalar::ULong,
    Scalar::Half,
    Scalar::Float,
    Scalar::Double,
];

const fn scalars(set: &[Scalar]) -> u16 {
    let (mut bits, mut at) = (0, 0);
    while at < set.len() {
        bits |= 1 << set[at] as u16;
        at += 1;
    }
    bits
}

const fn over(set: &[Scalar]) -> Over {
    Over {
        scalars: scalars(set),
        lanes: 0b11_1111,
    }
}

impl Over {
    /// Nothing generic.
    const ONE: Over = over(&[Scalar::Int]).scalar();
    /// Floating-point types.
    const F: Over = over(&[Scalar::Half, Scalar::Float, Scalar::Double]);
    const FLOAT: Over = over(&[Scalar::Float]);
    /// Integer types.
    const I: Over = over(&[
        Scalar::Char,
        Scalar::UChar,
        Scalar::Short,
        Scalar::UShort,
        Scalar::Int,
        Scalar::UInt,
        Scalar::Long,
        Scalar::ULong,
    ]);
    /// Both.
    const A: Over = Over {
        scalars: Over::I.scalars | Over::F.scalars,
        ..Over::I
    };
    const INT: Over = over(&[Scalar::Int, Scalar::UInt]);

    /// Scalars alone.
    const fn scalar(self) -> Over {
        Over { lanes: 1, ..self }
    }

    /// Vectors alone.
    const fn vector(self) -> Over {
        Over {
            lanes: 0b11_1110,
            ..self
        }
    }

    /// In these numbers of lanes.
    const fn in_lanes(self, set: &[u8]) -> Over {
        let (mut lanes, mut at) = (0, 0);
        while at < set.len() {
            lanes |= 1 << lane_index(set[at]);
            at += 1;
        }
        Over { lanes, ..self }
    }

    pub fn each_scalar(self) -> impl Iterator<Item = Scalar> {
        let all = SCALARS.into_iter();
        all.filter(move |&scalar| self.scalars & 1 << scalar as u16 != 0)
    }

    pub fn each_lanes(self) -> impl Iterator<Item = u8> {
        let all = LANES.into_iter().enumerate();
        all.filter(move |(at, _)| self.lanes & 1 << at != 0)
            .map(|(_, lanes)| lanes)
    }
}

const fn lane_index(lanes: u8) -> u8 {
    match lanes {
        1 => 0,
        2 => 1,
        3 => 2,
        4 => 3,
        8 => 4,
        _ => 5,
    }
}

const fn group(need: &'static str, rows: &'static [Row]) -> Group {
    Group { need, rows }
}

const fn row(name: &'static str, over: Over, signature: &'static str, lowering: Lowering) -> Row {
    Row {
        name,
        over,
        signature,
        lowering,
    }
}

/// Rows of functions that are instructions of OpenCL.std under the same name.
macro_rules! same_in_std {
    ($over:expr, $signature:literal, $($name:ident)*) => {
        &[$(row(stringify!($name), $over, $signature, Lowering::Std(std::$name)),)*]
    };
}
use same_in_std;
