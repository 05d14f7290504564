//! OpenCL C Specification, "Sub-Group Functions" and what extensions add to them;
//! `cl_intel_subgroups` and its kin.

use super::super::lowering;
use super::group::{ADD, MAX, MIN, NUMBERS, arithmetic, collective, three};
use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::{builtin, capability, group_operation, op, scope};
use crate::types::Scalar::{
    Char, Double, Float, Half, Int, Long, Short, UChar, UInt, ULong, UShort,
};

const SG: u32 = scope::SUBGROUP;
const ONE: Over = Over::ONE;
const NARROW: Over = super::over(&[Char, UChar, Short, UShort]).scalar();
/// Scalars and vectors of all components.
const ALL: Over = Over::A;
const SCALARS: Over = Over::A.scalar();
const ALL_INTEGERS: Over = Over::I.scalar();

const CORE: &[Row] = &[
    collective("sub_group_all", ONE, "int int", SG, lowering::Group::All),
    collective("sub_group_any", ONE, "int int", SG, lowering::Group::Any),
    collective(
        "sub_group_broadcast",
        NUMBERS,
        "S S uint",
        SG,
        lowering::Group::Broadcast,
    ),
];
const ADDS: &[Row] = &three!("sub_group_", "add", NUMBERS, "S S", SG, |n| arithmetic(
    ADD, n
));
const MINS: &[Row] = &three!("sub_group_", "min", NUMBERS, "S S", SG, |n| arithmetic(
    MIN, n
));
const MAXS: &[Row] = &three!("sub_group_", "max", NUMBERS, "S S", SG, |n| arithmetic(
    MAX, n
));

const EXTENDED: &[Row] = &[
    collective(
        "sub_group_broadcast",
        NARROW,
        "S S uint",
        SG,
        lowering::Group::Broadcast,
    ),
    collective(
        "sub_group_broadcast",
        ALL.vector(),
        "T T uint",
        SG,
        lowering::Group::Broadcast,
    ),
];
const NARROW_ADDS: &[Row] = &three!("sub_group_", "add", NARROW, "S S", SG, |n| arithmetic(
    ADD, n
));
const NARROW_MINS: &[Row] = &three!("sub_group_", "min", NARROW, "S S", SG, |n| arithmetic(
    MIN, n
));
const NARROW_MAXS: &[Row] = &three!("sub_group_", "max", NARROW, "S S", SG, |n| arithmetic(
    MAX, n
));

const fn active(name: &'static str, over: Over, signature: &'static str, opcode: u16) -> Row {
    let lowering = Lowering::NonUniform {
        opcode,
        operation: None,
    };
    row(name, over, signature, lowering)
}

const fn vote(name: &'static str, over: Over, signature: &'static str, opcode: u16) -> Row {
    row(name, over, signature, Lowering::NonUniformVote(opcode))
}

const VOTES: &[Row] = &[
    vote("sub_group_elect", ONE, "int", op::GROUP_NON_UNIFORM_ELECT),
    vote(
        "sub_group_non_uniform_all",
        ONE,
        "int int",
        op::GROUP_NON_UNIFORM_ALL,
    ),
    vote(
        "sub_group_non_uniform_any",
        ONE,
        "int int",
        op::GROUP_NON_UNIFORM_ANY,
    ),
    vote(
        "sub_group_non_uniform_all_equal",
        SCALARS,
        "int S",
        op::GROUP_NON_UNIFORM_ALL_EQUAL,
    ),
];

const fn count(name: &'static str, operation: u32) -> Row {
    let lowering = Lowering::NonUniform {
        opcode: op::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT,
        operation: Some(operation),
    };
    row(name, ONE, "uint uint4", lowering)
}

const fn mask(name: &'static str, number: u32) -> Row {
    row(name, ONE, "uint4", Lowering::MaskVariable(number))
}

const BALLOT: &[Row] = &[
    active(
        "sub_group_non_uniform_broadcast",
        ALL,
        "T T uint",
        op::GROUP_NON_UNIFORM_BROADCAST,
    ),
    active(
        "sub_group_broadcast_first",
        SCALARS,
        "S S",
        op::GROUP_NON_UNIFORM_BROADCAST_FIRST,
    ),
    active(
        "sub_group_ballot",
        ONE,
        "uint4 int",
        op::GROUP_NON_UNIFORM_BALLOT,
    ),
    row(
        "sub_group_inverse_ballot",
        ONE,
        "int uint4",
        Lowering::BallotTest(op::GROUP_NON_UNIFORM_INVERSE_BALLOT),
    ),
    row(
        "sub_group_ballot_bit_extract",
        ONE,
        "int uint4 uint",
        Lowering::BallotTest(op::GROUP_NON_UNIFORM_BALLOT_BIT_EXTRACT),
    ),
    count("sub_group_ballot_bit_count", group_operation::REDUCE),
    count(
        "sub_group_ballot_inclusive_scan",
        group_operation::INCLUSIVE_SCAN,
    ),
    count(
        "sub_group_ballot_exclusive_scan",
        group_operation::EXCLUSIVE_SCAN,
    ),
    active(
        "sub_group_ballot_find_lsb",
        ONE,
        "uint uint4",
        op::GROUP_NON_UNIFORM_BALLOT_FIND_LSB,
    ),
    active(
        "sub_group_ballot_find_msb",
        ONE,
        "uint uint4",
        op::GROUP_NON_UNIFORM_BALLOT_FIND_MSB,
    ),
    mask("get_sub_group_eq_mask", builtin::SUBGROUP_EQ_MASK),
    mask("get_sub_group_ge_mask", builtin::SUBGROUP_GE_MASK),
    mask("get_sub_group_gt_mask", builtin::SUBGROUP_GT_MASK),
    mask("get_sub_group_le_mask", builtin::SUBGROUP_LE_MASK),
    mask("get_sub_group_lt_mask", builtin::SUBGROUP_LT_MASK),
];

const fn non_uniform(
    name: &'static str,
    over: Over,
    signature: &'static str,
    opcodes: [u16; 3],
    operation: u32,
) -> Row {
    let lowering = Lowering::NonUniformArithmetic { opcodes, operation };
    row(name, over, signature, lowering)
}

const fn non_uniform_logical(
    name: &'static str,
    signature: &'static str,
    opcode: u16,
    operation: u32,
) -> Row {
    row(
        name,
        ONE,
        signature,
        Lowering::NonUniformLogical { opcode, operation },
    )
}

/// Reductions and scans by every operation, under a prefix; `$more` is what the signature goes on
/// with.
macro_rules! non_uniform_rows {
    ($prefix:literal, $more:literal, $operation:expr) => {
        &[
            non_uniform(
                concat!($prefix, "add"),
                SCALARS,
                concat!("S S", $more),
                NU_ADD,
                $operation,
            ),
            non_uniform(
                concat!($prefix, "mul"),
                SCALARS,
                concat!("S S", $more),
                NU_MUL,
                $operation,
            ),
            non_uniform(
                concat!($prefix, "min"),
                SCALARS,
                concat!("S S", $more),
                NU_MIN,
                $operation,
            ),
            non_uniform(
                concat!($prefix, "max"),
                SCALARS,
                concat!("S S", $more),
                NU_MAX,
                $operation,
            ),
            non_uniform(
                concat!($prefix, "and"),
                ALL_INTEGERS,
                concat!("S S", $more),
                [op::GROUP_NON_UNIFORM_BITWISE_AND; 3],
                $operation,
            ),
            non_uniform(
                concat!($prefix, "or"),
                ALL_INTEGERS,
                concat!("S S", $more),
                [op::GROUP_NON_UNIFORM_BITWISE_OR; 3],
                $operation,
            ),
            non_uniform(
                concat!($prefix, "xor"),
                ALL_INTEGERS,
                concat!("S S", $more),
                [op::GROUP_NON_UNIFORM_BITWISE_XOR; 3],
                $operation,
            ),
            non_uniform_logical(
                concat!($prefix, "logical_and"),
                concat!("int int", $more),
                op::GROUP_NON_UNIFORM_LOGICAL_AND,
                $operation,
            ),
            non_uniform_logical(
                concat!($prefix, "logical_or"),
                concat!("int int", $more),
                op::GROUP_NON_UNIFORM_LOGICAL_OR,
                $operation,
            ),
            non_uniform_logical(
                concat!($prefix, "logical_xor"),
                concat!("int int", $more),
                op::GROUP_NON_UNIFORM_LOGICAL_XOR,
                $operation,
            ),
        ]
    };
}

const NU_ADD: [u16; 3] = [
    op::GROUP_NON_UNIFORM_I_ADD,
    op::GROUP_NON_UNIFORM_I_ADD,
    op::GROUP_NON_UNIFORM_F_ADD,
];
const NU_MUL: [u16; 3] = [
    op::GROUP_NON_UNIFORM_I_MUL,
    op::GROUP_NON_UNIFORM_I_MUL,
    op::GROUP_NON_UNIFORM_F_MUL,
];
const NU_MIN: [u16; 3] = [
    op::GROUP_NON_UNIFORM_S_MIN,
    op::GROUP_NON_UNIFORM_U_MIN,
    op::GROUP_NON_UNIFORM_F_MIN,
];
const NU_MAX: [u16; 3] = [
    op::GROUP_NON_UNIFORM_S_MAX,
    op::GROUP_NON_UNIFORM_U_MAX,
    op::GROUP_NON_UNIFORM_F_MAX,
];

const REDUCE: &[Row] =
    non_uniform_rows!("sub_group_non_uniform_reduce_", "", group_operation::REDUCE);
const INCLUSIVE: &[Row] = non_uniform_rows!(
    "sub_group_non_uniform_scan_inclusive_",
    "",
    group_operation::INCLUSIVE_SCAN
);
const EXCLUSIVE: &[Row] = non_uniform_rows!(
    "sub_group_non_uniform_scan_exclusive_",
    "",
    group_operation::EXCLUSIVE_SCAN
);
const CLUSTERED: &[Row] = non_uniform_rows!(
    "sub_group_clustered_reduce_",
    " uint",
    group_operation::CLUSTERED_REDUCE
);

const SHUFFLE: &[Row] = &[
    active(
        "sub_group_shuffle",
        SCALARS,
        "S S uint",
        op::GROUP_NON_UNIFORM_SHUFFLE,
    ),
    active(
        "sub_group_shuffle_xor",
        SCALARS,
        "S S uint",
        op::GROUP_NON_UNIFORM_SHUFFLE_XOR,
    ),
];
const RELATIVE: &[Row] = &[
    active(
        "sub_group_shuffle_up",
        SCALARS,
        "S S uint",
        op::GROUP_NON_UNIFORM_SHUFFLE_UP,
    ),
    active(
        "sub_group_shuffle_down",
        SCALARS,
        "S S uint",
        op::GROUP_NON_UNIFORM_SHUFFLE_DOWN,
    ),
];
const ROTATE: &[Row] = &[
    active(
        "sub_group_rotate",
        SCALARS,
        "S S int",
        op::GROUP_NON_UNIFORM_ROTATE_KHR,
    ),
    active(
        "sub_group_clustered_rotate",
        SCALARS,
        "S S int uint",
        op::GROUP_NON_UNIFORM_ROTATE_KHR,
    ),
];

const INTEL_WIDE: Over = super::over(&[Int, UInt, Float]);
const INTEL_SCALARS: Over = super::over(&[Long, ULong, Half, Double]).scalar();
const INTEL_BYTES: Over = super::over(&[Char, UChar]);
const INTEL_SHORTS: Over = super::over(&[Short, UShort]);

const fn intel_shuffle(opcode: u16) -> Lowering {
    Lowering::Extended {
        opcode,
        capability: capability::SUBGROUP_SHUFFLE_INTEL,
        extension: "SPV_INTEL_subgroups",
    }
}

const fn intel_shuffles(over: Over) -> [Row; 4] {
    let shuffle = intel_shuffle(op::SUBGROUP_SHUFFLE_INTEL);
    let xor = intel_shuffle(op::SUBGROUP_SHUFFLE_XOR_INTEL);
    let up = intel_shuffle(op::SUBGROUP_SHUFFLE_UP_INTEL);
    let down = intel_shuffle(op::SUBGROUP_SHUFFLE_DOWN_INTEL);
    [
        row("intel_sub_group_shuffle", over, "T T uint", shuffle),
        row("intel_sub_group_shuffle_xor", over, "T T uint", xor),
        row("intel_sub_group_shuffle_up", over, "T T T uint", up),
        row("intel_sub_group_shuffle_down", over, "T T T uint", down),
    ]
}

const INTEL: &[Row] = &intel_shuffles(INTEL_WIDE);
const INTEL_OTHERS: &[Row] = &intel_shuffles(INTEL_SCALARS);
const INTEL_CHAR: &[Row] = &intel_shuffles(INTEL_BYTES);
const INTEL_SHORT: &[Row] = &intel_shuffles(INTEL_SHORTS);

/// Collectives of narrow integers under names of their own.
macro_rules! intel_collectives {
    ($broadcast:ident $adds:ident $mins:ident $maxs:ident $over:expr) => {
        const $broadcast: &[Row] = &[collective(
            "intel_sub_group_broadcast",
            $over.scalar(),
            "S S uint",
            SG,
            lowering::Group::Broadcast,
        )];
        const $adds: &[Row] = &three!("intel_sub_group_", "add", $over.scalar(), "S S", SG, |n| {
            arithmetic(ADD, n)
        });
        const $mins: &[Row] = &three!("intel_sub_group_", "min", $over.scalar(), "S S", SG, |n| {
            arithmetic(MIN, n)
        });
        const $maxs: &[Row] = &three!("intel_sub_group_", "max", $over.scalar(), "S S", SG, |n| {
            arithmetic(MAX, n)
        });
    };
}

intel_collectives!(CHAR_BROADCAST CHAR_ADD CHAR_MIN CHAR_MAX INTEL_BYTES);
intel_collectives!(SHORT_BROADCAST SHORT_ADD SHORT_MIN SHORT_MAX INTEL_SHORTS);

/// Reads and writes of blocks under a suffix, by component and numbers of lanes.
macro_rules! blocks {
    ($suffix:literal $component:literal; $($digits:literal)*) => {
        &[$(
            row(concat!("intel_sub_group_block_read", $suffix, $digits), ONE,
                concat!($component, $digits, " gk*", $component), Lowering::IntelBlockRead),
            row(concat!("intel_sub_group_block_write", $suffix, $digits), ONE,
                concat!("void g*", $component, " ", $component, $digits),
                Lowering::IntelBlockWrite),
            row(concat!("intel_sub_group_block_read", $suffix, $digits), ONE,
                concat!($component, $digits, " r2d int2"), Lowering::IntelBlockRead),
            row(concat!("intel_sub_group_block_read", $suffix, $digits), ONE,
                concat!($component, $digits, " rw2d int2"), Lowering::IntelBlockRead),
            row(concat!("intel_sub_group_block_write", $suffix, $digits), ONE,
                concat!("void w2d int2 ", $component, $digits), Lowering::IntelBlockWrite),
            row(concat!("intel_sub_group_block_write", $suffix, $digits), ONE,
                concat!("void rw2d int2 ", $component, $digits), Lowering::IntelBlockWrite),
        )*]
    };
}

/// The same of local memory (`cl_intel_subgroup_local_block_io`).
macro_rules! local_blocks {
    ($suffix:literal $component:literal; $($digits:literal)*) => {
        &[$(
            row(concat!("intel_sub_group_block_read", $suffix, $digits), ONE,
                concat!($component, $digits, " lk*", $component), Lowering::IntelBlockRead),
            row(concat!("intel_sub_group_block_write", $suffix, $digits), ONE,
                concat!("void l*", $component, " ", $component, $digits),
                Lowering::IntelBlockWrite),
        )*]
    };
}

/// Reads and writes of blocks of images with a width and height (`cl_intel_media_block_io`).
macro_rules! media_blocks {
    ($suffix:literal $component:literal; $($digits:literal)*) => {
        &[$(
            row(concat!("intel_sub_group_media_block_read", $suffix, $digits), ONE,
                concat!($component, $digits, " int2 int int r2d"),
                Lowering::IntelMediaBlockRead),
            row(concat!("intel_sub_group_media_block_read", $suffix, $digits), ONE,
                concat!($component, $digits, " int2 int int rw2d"),
                Lowering::IntelMediaBlockRead),
            row(concat!("intel_sub_group_media_block_write", $suffix, $digits), ONE,
                concat!("void int2 int int ", $component, $digits, " w2d"),
                Lowering::IntelMediaBlockWrite),
            row(concat!("intel_sub_group_media_block_write", $suffix, $digits), ONE,
                concat!("void int2 int int ", $component, $digits, " rw2d"),
                Lowering::IntelMediaBlockWrite),
        )*]
    };
}

/// Prefetches of blocks, by component, its bytes and numbers of lanes.
macro_rules! prefetches {
    ($suffix:literal $component:literal $bytes:literal; $($digits:literal $lanes:literal)*) => {
        &[$(
            row(concat!("intel_sub_group_block_prefetch", $suffix, $digits), ONE,
                concat!("void gk*", $component), Lowering::IntelBlockPrefetch($bytes * $lanes)),
        )*]
    };
}

const BLOCKS: &[Row] = blocks!("" "uint"; "" "2" "4" "8");
const BLOCKS_UI: &[Row] = blocks!("_ui" "uint"; "" "2" "4" "8");
const BLOCKS_UC: &[Row] = blocks!("_uc" "uchar"; "" "2" "4" "8" "16");
const BLOCKS_US: &[Row] = blocks!("_us" "ushort"; "" "2" "4" "8" "16");
const BLOCKS_UL: &[Row] = blocks!("_ul" "ulong"; "" "2" "4" "8");

const LOCAL_BLOCKS: &[Row] = local_blocks!("" "uint"; "" "2" "4" "8");
const LOCAL_BLOCKS_UI: &[Row] = local_blocks!("_ui" "uint"; "" "2" "4" "8");
const LOCAL_BLOCKS_UC: &[Row] = local_blocks!("_uc" "uchar"; "" "2" "4" "8" "16");
const LOCAL_BLOCKS_US: &[Row] = local_blocks!("_us" "ushort"; "" "2" "4" "8" "16");
const LOCAL_BLOCKS_UL: &[Row] = local_blocks!("_ul" "ulong"; "" "2" "4" "8");

const MEDIA_BLOCKS_UC: &[Row] = media_blocks!("_uc" "uchar"; "" "2" "4" "8" "16");
const MEDIA_BLOCKS_US: &[Row] = media_blocks!("_us" "ushort"; "" "2" "4" "8" "16");
const MEDIA_BLOCKS_UI: &[Row] = media_blocks!("_ui" "uint"; "" "2" "4" "8");

const PREFETCHES_UC: &[Row] = prefetches!("_uc" "uchar" 1; "" 1 "2" 2 "4" 4 "8" 8 "16" 16);
const PREFETCHES_US: &[Row] = prefetches!("_us" "ushort" 2; "" 1 "2" 2 "4" 4 "8" 8 "16" 16);
const PREFETCHES_UI: &[Row] = prefetches!("_ui" "uint" 4; "" 1 "2" 2 "4" 4 "8" 8);
const PREFETCHES_UL: &[Row] = prefetches!("_ul" "ulong" 8; "" 1 "2" 2 "4" 4 "8" 8);

const SUB_GROUPS: &str = "sub_groups";
const TYPES: &str = "3.1&sub_groups|cl_khr_subgroup_extended_types";
const NON_UNIFORM: &str = "cl_khr_subgroup_non_uniform_arithmetic";
const INTEL_UI: &str = "cl_intel_subgroups_short|cl_intel_subgroups_char|cl_intel_subgroups_long";

pub const GROUPS: &[Group] = &[
    group(SUB_GROUPS, CORE),
    group(SUB_GROUPS, ADDS),
    group(SUB_GROUPS, MINS),
    group(SUB_GROUPS, MAXS),
    group(TYPES, EXTENDED),
    group(TYPES, NARROW_ADDS),
    group(TYPES, NARROW_MINS),
    group(TYPES, NARROW_MAXS),
    group("cl_khr_subgroup_non_uniform_vote", VOTES),
    group("cl_khr_subgroup_ballot", BALLOT),
    group(NON_UNIFORM, REDUCE),
    group(NON_UNIFORM, INCLUSIVE),
    group(NON_UNIFORM, EXCLUSIVE),
    group("cl_khr_subgroup_clustered_reduce", CLUSTERED),
    group("3.1&sub_groups|cl_khr_subgroup_shuffle", SHUFFLE),
    group("3.1&sub_groups|cl_khr_subgroup_shuffle_relative", RELATIVE),
    group("3.1&sub_groups|cl_khr_subgroup_rotate", ROTATE),
    group("cl_intel_subgroups", INTEL),
    group("cl_intel_subgroups", INTEL_OTHERS),
    group("cl_intel_subgroups_char", INTEL_CHAR),
    group("cl_intel_subgroups_short", INTEL_SHORT),
    group("cl_intel_subgroups_char", CHAR_BROADCAST),
    group("cl_intel_subgroups_char", CHAR_ADD),
    group("cl_intel_subgroups_char", CHAR_MIN),
    group("cl_intel_subgroups_char", CHAR_MAX),
    group("cl_intel_subgroups_short", SHORT_BROADCAST),
    group("cl_intel_subgroups_short", SHORT_ADD),
    group("cl_intel_subgroups_short", SHORT_MIN),
    group("cl_intel_subgroups_short", SHORT_MAX),
    group("cl_intel_subgroups", BLOCKS),
    group(INTEL_UI, BLOCKS_UI),
    group("cl_intel_subgroups_char", BLOCKS_UC),
    group("cl_intel_subgroups_short", BLOCKS_US),
    group("cl_intel_subgroups_long", BLOCKS_UL),
    group("cl_intel_subgroup_local_block_io", LOCAL_BLOCKS),
    group("cl_intel_subgroup_local_block_io", LOCAL_BLOCKS_UI),
    group(
        "cl_intel_subgroup_local_block_io&cl_intel_subgroups_char",
        LOCAL_BLOCKS_UC,
    ),
    group(
        "cl_intel_subgroup_local_block_io&cl_intel_subgroups_short",
        LOCAL_BLOCKS_US,
    ),
    group(
        "cl_intel_subgroup_local_block_io&cl_intel_subgroups_long",
        LOCAL_BLOCKS_UL,
    ),
    group("cl_intel_media_block_io", MEDIA_BLOCKS_UC),
    group("cl_intel_media_block_io", MEDIA_BLOCKS_US),
    group("cl_intel_media_block_io", MEDIA_BLOCKS_UI),
    group("cl_intel_subgroup_buffer_prefetch", PREFETCHES_UC),
    group("cl_intel_subgroup_buffer_prefetch", PREFETCHES_US),
    group("cl_intel_subgroup_buffer_prefetch", PREFETCHES_UI),
    group("cl_intel_subgroup_buffer_prefetch", PREFETCHES_UL),
];
