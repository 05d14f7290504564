//! Index spaces of launches, and what generated code may take for granted of them.
//!
//! Analyses and transformations look at a [`LaunchKey`] only: it holds what changes the code, and
//! no sizes, so that few variants of a kernel are ever compiled.

use crate::image::Bindings;

/// The index space of one launch; unused dimensions have size 1 and offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NdRange {
    pub work_dim: u32,
    pub global_offset: [u64; 3],
    pub global_size: [u64; 3],
    pub local_size: [u64; 3],
}

/// Bound on global ids, sizes and offsets under which index arithmetic is known not to wrap 32
/// bits: a few elements per work-item still fit.
pub const SMALL_IDS: u64 = 1 << 28;

/// Bound on the work-items of a work-group, in any dimension and in all.
pub const MAX_LOCAL_SIZE: u64 = 1 << 16;

/// The sizes of sub-groups that a kernel may require.
pub const SUB_GROUP_SIZES: [u32; 4] = [4, 8, 16, 32];

/// What generated code is specialised for; equal keys share code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchKey {
    /// Work-items per vector: the kernel's width, or less where work-groups are too short for it.
    pub width: u8,
    /// Work-items are laid out along x alone (`local_size` is 1 in y and z).
    pub linear: bool,
    /// Work-groups have at least eight rows, but for those at an edge.
    pub eight_rows: bool,
    /// Every work-group's x size is a multiple of the width, so there is no partial chunk.
    pub full_chunks: bool,
    /// Every work-group's x size is the width, so that each row is one chunk.
    pub row_is_chunk: bool,
    /// The global offset is zero in every dimension.
    pub zero_offset: bool,
    /// Every global id and size is at most [`SMALL_IDS`].
    pub small_ids: bool,
    /// Every work-group has the enqueued local size.
    pub uniform_groups: bool,
    /// The launch asked for work-groups of one work-item, several of which run as one.
    pub groups_of_one: bool,
    /// The formats of images and what samplers do, as far as the kernel reads and writes.
    pub bindings: Bindings,
}

impl LaunchKey {
    /// What most launches have in common, with work-items along x: for decisions that are made
    /// before any.
    pub const fn usual(width: u8) -> LaunchKey {
        LaunchKey {
            width,
            linear: true,
            eight_rows: false,
            full_chunks: true,
            row_is_chunk: false,
            zero_offset: true,
            small_ids: true,
            uniform_groups: true,
            groups_of_one: false,
            bindings: Bindings::NONE,
        }
    }

    /// What is left of it for code that runs one work-item at a time: full chunks are of any
    /// smaller width, too.
    pub fn for_one_work_item(self) -> LaunchKey {
        LaunchKey {
            width: 1,
            row_is_chunk: false,
            ..self
        }
    }

    /// What may be taken for granted of a launch, for code of `width` work-items a vector, whatever
    /// its images and samplers are.
    pub fn new(range: &NdRange, width: u8) -> LaunchKey {
        let whole = |size: u64| size.is_multiple_of(u64::from(width));
        let last_x = range.global_size[0] % range.local_size[0];
        LaunchKey {
            width,
            linear: range.local_size[1] == 1 && range.local_size[2] == 1,
            eight_rows: range.local_size[1] >= 8,
            full_chunks: whole(range.local_size[0]) && whole(last_x),
            row_is_chunk: range.local_size[0] == u64::from(width) && last_x == 0,
            zero_offset: range.global_offset == [0; 3],
            small_ids: (0..3).all(|d| {
                range.global_offset[d]
                    .checked_add(range.global_size[d])
                    .is_some_and(|end| end <= SMALL_IDS)
            }),
            uniform_groups: (0..3)
                .all(|d| range.global_size[d].is_multiple_of(range.local_size[d])),
            groups_of_one: false,
            bindings: Bindings::NONE,
        }
    }
}
