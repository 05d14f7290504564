//! OpenCL C Specification, "Vector Data Load and Store Functions", "Async Copies from Global to
//! Local Memory, Local to Global Memory, and Prefetch".

use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::std;
use crate::token::RoundingMode;

const A: Over = Over::A;
/// What is stored as `half`.
const WIDE: Over = super::over(&[crate::types::Scalar::Float, crate::types::Scalar::Double]);

/// `vloadN` and `vstoreN`, `vload_halfN` and so on, by number of lanes.
macro_rules! vectors {
    ($($n:literal)*) => {
        &[$(
            row(concat!("vload", $n), A.in_lanes(&[$n]), "T size Qk*S", Lowering::VectorLoad($n)),
            row(concat!("vstore", $n), A.in_lanes(&[$n]), "void T size P*S", Lowering::VectorStore),
            load(concat!("vload_half", $n), $n, std::vload_halfn),
            load(concat!("vloada_half", $n), $n, std::vloada_halfn),
            store(concat!("vstore_half", $n), $n, std::vstore_halfn, None),
            store(concat!("vstore_half", $n, "_rte"), $n, std::vstore_halfn_r, RTE),
            store(concat!("vstore_half", $n, "_rtz"), $n, std::vstore_halfn_r, RTZ),
            store(concat!("vstore_half", $n, "_rtp"), $n, std::vstore_halfn_r, RTP),
            store(concat!("vstore_half", $n, "_rtn"), $n, std::vstore_halfn_r, RTN),
            store(concat!("vstorea_half", $n), $n, std::vstorea_halfn, None),
            store(concat!("vstorea_half", $n, "_rte"), $n, std::vstorea_halfn_r, RTE),
            store(concat!("vstorea_half", $n, "_rtz"), $n, std::vstorea_halfn_r, RTZ),
            store(concat!("vstorea_half", $n, "_rtp"), $n, std::vstorea_halfn_r, RTP),
            store(concat!("vstorea_half", $n, "_rtn"), $n, std::vstorea_halfn_r, RTN),
        )*]
    };
}

const RTE: Option<RoundingMode> = Some(RoundingMode::ToEven);
const RTZ: Option<RoundingMode> = Some(RoundingMode::ToZero);
const RTP: Option<RoundingMode> = Some(RoundingMode::ToPositive);
const RTN: Option<RoundingMode> = Some(RoundingMode::ToNegative);

const fn load(name: &'static str, lanes: u8, opcode: u16) -> Row {
    let over = Over::FLOAT.in_lanes(&[lanes]);
    row(
        name,
        over,
        "T size Qk*half",
        Lowering::HalfLoad(opcode, lanes),
    )
}

const fn store(name: &'static str, lanes: u8, opcode: u16, rounding: Option<RoundingMode>) -> Row {
    let lowering = Lowering::HalfStore(opcode, rounding);
    row(
        name,
        WIDE.in_lanes(&[lanes]),
        "void T size P*half",
        lowering,
    )
}

const VECTORS: &[Row] = vectors!(2 3 4 8 16);

const SCALARS: &[Row] = &[
    load("vload_half", 1, std::vload_half),
    load("vloada_half", 1, std::vload_half),
    store("vstore_half", 1, std::vstore_half, None),
    store("vstore_half_rte", 1, std::vstore_half_r, RTE),
    store("vstore_half_rtz", 1, std::vstore_half_r, RTZ),
    store("vstore_half_rtp", 1, std::vstore_half_r, RTP),
    store("vstore_half_rtn", 1, std::vstore_half_r, RTN),
    store("vstorea_half", 1, std::vstore_half, None),
    store("vstorea_half_rte", 1, std::vstore_half_r, RTE),
    store("vstorea_half_rtz", 1, std::vstore_half_r, RTZ),
    store("vstorea_half_rtp", 1, std::vstore_half_r, RTP),
    store("vstorea_half_rtn", 1, std::vstore_half_r, RTN),
];

const fn copy(name: &'static str, signature: &'static str, lowering: Lowering) -> Row {
    row(name, A, signature, lowering)
}

const PLAIN: Lowering = Lowering::AsyncCopy { strided: false };
const STRIDED: Lowering = Lowering::AsyncCopy { strided: true };

const COPIES: &[Row] = &[
    copy("async_work_group_copy", "event l*T gk*T size event", PLAIN),
    copy("async_work_group_copy", "event g*T lk*T size event", PLAIN),
    copy(
        "async_work_group_strided_copy",
        "event l*T gk*T size size event",
        STRIDED,
    ),
    copy(
        "async_work_group_strided_copy",
        "event g*T lk*T size size event",
        STRIDED,
    ),
    row(
        "wait_group_events",
        Over::ONE,
        "void int P*event",
        Lowering::WaitEvents,
    ),
    copy("prefetch", "void gk*T size", Lowering::Std(std::prefetch)),
];

const fn block_copy(name: &'static str, signature: &'static str, dimensions: u8) -> Row {
    row(
        name,
        Over::ONE,
        signature,
        Lowering::AsyncCopyBlocks(dimensions),
    )
}

const BLOCK_COPIES: &[Row] = &[
    block_copy(
        "async_work_group_copy_2D2D",
        "event l*void size gk*void size size size size size size event",
        2,
    ),
    block_copy(
        "async_work_group_copy_2D2D",
        "event g*void size lk*void size size size size size size event",
        2,
    ),
    block_copy(
        "async_work_group_copy_3D3D",
        "event l*void size gk*void size size size size size size size size size event",
        3,
    ),
    block_copy(
        "async_work_group_copy_3D3D",
        "event g*void size lk*void size size size size size size size size size event",
        3,
    ),
];

const COPY_FENCE: &[Row] = &[row(
    "async_work_group_copy_fence",
    Over::ONE,
    "void uint",
    Lowering::CopyFence,
)];

pub const GROUPS: &[Group] = &[
    group("", VECTORS),
    group("", SCALARS),
    group("", COPIES),
    group("cl_khr_extended_async_copies", BLOCK_COPIES),
    group("cl_khr_async_work_group_copy_fence", COPY_FENCE),
];
