//! Device-side enqueue: the contract between generated code and whoever runs it.
//!
//! A *block* is a kernel of its own ([`crate::ir::KernelRole::Block`]) that other kernels launch.
//! It takes the address of a *literal*, the bytes that hold what it captured, and pointers to
//! work-group memory. [`arguments`] lays them out.
//!
//! An instruction of this family asks for a *service* ([`DeviceOp`]) by a call of the launch's
//! [`crate::abi::DeviceFn`]: one for each work-item, with the operands widened to eight bytes each,
//! in the order that [`DeviceOp`] says. The services are
//!
//! - **to enqueue** a block ([`Enqueue`]) or a marker ([`Marker`]). What it needs later is copied
//!   before the call returns: the literal, the wait list. The result is 0, or the error that OpenCL
//!   C names ("Enqueuing Kernels").
//! - **to ask** what a launch of a block would be like;
//! - **events**: handles of 64 bits. 0 and -1 are none: the null constant, and what OpenCL C's
//!   `CLK_NULL_EVENT` is;
//! - **the default queue**: a handle, 0 if there is none.
//!
//! One service is not of device-side enqueue: an assertion has failed ([`Assertion`]). Whoever runs
//! the kernel may end it there, or have it go on.
//!
//! Handles come from the program and are believed only once they are found to be somebody's.
//!
//! [`Sequence`] is the meaning of all that for one launch after another, as the interpreter does
//! it.

mod sequence;

use std::ffi::c_void;

use crate::abi::SCRATCH_ALIGN;
use crate::ir::{DeviceOp, FuncId};
use crate::launch::NdRange;

pub use sequence::{Command, Host, Sequence};

/// What `enqueue_kernel` and `enqueue_marker` return ("Enqueuing Kernels").
pub const SUCCESS: i32 = 0;
pub const ENQUEUE_FAILURE: i32 = -101;
pub const INVALID_QUEUE: i32 = -102;
pub const INVALID_NDRANGE: i32 = -160;
pub const INVALID_EVENT_WAIT_LIST: i32 = -57;
pub const DEVICE_QUEUE_FULL: i32 = -161;
pub const INVALID_ARG_SIZE: i32 = -51;
pub const EVENT_ALLOCATION_FAILURE: i32 = -100;
pub const OUT_OF_RESOURCES: i32 = -5;

/// `CLK_PROFILING_COMMAND_EXEC_TIME`
pub const PROFILING_COMMAND_EXEC_TIME: u64 = 1;

/// Most bytes that a block may have captured: as many as a kernel's arguments may have.
pub const MAX_LITERAL: u64 = 1 << 20;

/// `CL_COMPLETE`: greater is going on, less has failed.
const COMPLETE: i32 = 0;

/// When a block that is enqueued may begin (`kernel_enqueue_flags_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At once.
    NoWait,
    /// When all work-groups of the launch that enqueues it are done.
    Kernel,
    /// When the work-group that enqueues it is done.
    WorkGroup,
}

/// A service and the block that it is about, as one number.
pub(crate) fn code(what: DeviceOp, block: Option<FuncId>) -> u64 {
    what as u64 | block.map_or(0, |block| u64::from(block.as_u32()) << 32)
}

/// The reverse of what generated code calls with; `None` for a number that it would not.
pub fn decode(code: u64) -> Option<(DeviceOp, Option<FuncId>)> {
    let what = *DeviceOp::ALL.get((code & 0xff) as usize)?;
    let block = what
        .names_block()
        .then(|| FuncId::from_u32((code >> 32) as u32));
    Some((what, block))
}

/// A [`crate::abi::DeviceFn`] for launches that cannot enqueue: it fails, and there are no events
/// and no queues.
///
/// # Safety
/// None of the arguments is used but `what`.
pub unsafe extern "C" fn refuse(
    _context: *mut c_void,
    what: u64,
    _words: *const u64,
    _count: u64,
) -> u64 {
    match decode(what) {
        Some((DeviceOp::EnqueueKernel | DeviceOp::EnqueueMarker, _)) => {
            u64::from(ENQUEUE_FAILURE as u32)
        }
        _ => 0,
    }
}

/// An `ndrange_t`: of dimensions that it does not have nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub dimensions: u32,
    pub offset: [u64; 3],
    pub global: [u64; 3],
    /// Zeros where whoever runs it is to choose.
    pub local: [u64; 3],
}

impl Range {
    /// From ten operands.
    pub fn new(words: &[u64]) -> Range {
        let three = |at: usize| std::array::from_fn(|d| words[at + d]);
        Range {
            dimensions: words[0] as u32,
            offset: three(1),
            global: three(4),
            local: three(7),
        }
    }
}

/// A wait list, and where the event of what is enqueued goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventOperands {
    pub count: u32,
    pub wait: u64,
    pub returned: u64,
}

impl EventOperands {
    fn new(words: &[u64]) -> EventOperands {
        EventOperands {
            count: words[0] as u32,
            wait: words[1],
            returned: words[2],
        }
    }

    /// "CLK_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0, or
    /// if event_wait_list is not NULL and num_events_in_wait_list is 0".
    pub fn is_consistent(&self) -> bool {
        (self.count == 0) == (self.wait == 0)
    }
}

/// The operands of [`DeviceOp::EnqueueKernel`].
#[derive(Clone, Copy, Debug)]
pub struct Enqueue<'a> {
    pub queue: u64,
    flags: u64,
    pub range: Range,
    pub events: EventOperands,
    /// Where the literal is, and its bytes.
    pub literal: (u64, u64),
    /// Bytes of work-group memory for each pointer that the block takes.
    pub locals: &'a [u64],
}

impl<'a> Enqueue<'a> {
    pub fn new(words: &'a [u64]) -> Enqueue<'a> {
        let (words, locals) = words.split_at(DeviceOp::EnqueueKernel.operands().len());
        Enqueue {
            queue: words[0],
            flags: words[1],
            range: Range::new(&words[2..12]),
            events: EventOperands::new(&words[12..15]),
            literal: (words[15], words[16]),
            locals,
        }
    }

    /// When it may begin; the safest where the flags are none of the three.
    pub fn when(&self) -> When {
        match self.flags {
            0 => When::NoWait,
            2 => When::WorkGroup,
            _ => When::Kernel,
        }
    }
}

/// The operands of [`DeviceOp::EnqueueMarker`].
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    pub queue: u64,
    pub events: EventOperands,
}

impl Marker {
    pub fn new(words: &[u64]) -> Marker {
        Marker {
            queue: words[0],
            events: EventOperands::new(&words[1..4]),
        }
    }
}

/// The operands of [`DeviceOp::FailAssertion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Addresses of texts that end with a zero, or 0.
    pub expression: u64,
    pub file: u64,
    pub line: u32,
    pub function: u64,
    pub global_id: [u64; 3],
    pub local_id: [u64; 3],
}

impl Assertion {
    pub fn new(words: &[u64]) -> Assertion {
        let three = |at: usize| std::array::from_fn(|d| words[at + d]);
        Assertion {
            expression: words[0],
            file: words[1],
            line: words[2] as u32,
            function: words[3],
            global_id: three(4),
            local_id: three(7),
        }
    }
}

/// Where a block's literal is in its argument block, after the offsets of as many pointers to
/// work-group memory.
pub(crate) fn literal_offset(locals: usize) -> u64 {
    (8 * locals as u64).next_multiple_of(SCRATCH_ALIGN)
}

/// The argument block of a launch of a block, and the bytes of work-group memory that it takes,
/// `fixed` of which are its own variables'; `None` if more than can be counted.
pub fn arguments(literal: &[u8], locals: &[u64], fixed: u64) -> Option<(Vec<u8>, u64)> {
    let mut bytes = vec![0; literal_offset(locals.len()) as usize];
    let mut end = fixed;
    for (at, &size) in bytes.chunks_exact_mut(8).zip(locals) {
        let begin = end.checked_next_multiple_of(SCRATCH_ALIGN)?;
        end = begin.checked_add(size)?;
        at.copy_from_slice(&begin.to_le_bytes());
    }
    bytes.extend_from_slice(literal);
    Some((bytes, end))
}

/// An index space with a size for work-groups; dimensions that the range does not have are of size
/// 1. `None` for what is no ND-range: no dimension, or too many.
pub fn nd_range(range: &Range, local: [u64; 3]) -> Option<NdRange> {
    let dimensions = range.dimensions;
    let used = |values: [u64; 3], unused: u64| {
        std::array::from_fn(|d| match d < dimensions as usize {
            true => values[d],
            false => unused,
        })
    };
    (1..=3).contains(&dimensions).then(|| NdRange {
        work_dim: dimensions,
        global_offset: used(range.offset, 0),
        global_size: used(range.global, 1),
        local_size: used(local, 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back() {
        for &what in DeviceOp::ALL {
            let block = what.names_block().then(|| FuncId::from_u32(70_000));
            assert_eq!(decode(code(what, block)), Some((what, block)));
        }
        assert_eq!(decode(0xff), None);
    }

    #[test]
    fn operands_of_an_enqueue() {
        let words: Vec<u64> = (100..120).collect();
        let enqueue = Enqueue::new(&words);
        assert_eq!(enqueue.range.dimensions, 102);
        assert_eq!(enqueue.range.offset, [103, 104, 105]);
        assert_eq!(enqueue.range.local, [109, 110, 111]);
        assert_eq!(enqueue.events.count, 112);
        assert_eq!(enqueue.events.returned, 114);
        assert_eq!(enqueue.literal, (115, 116));
        assert_eq!(enqueue.locals, [118, 119]);
    }

    #[test]
    fn operands_of_a_failed_assertion() {
        let words: Vec<u64> = (1..11).collect();
        let assertion = Assertion::new(&words);
        assert_eq!((assertion.expression, assertion.file), (1, 2));
        assert_eq!((assertion.line, assertion.function), (3, 4));
        assert_eq!(assertion.global_id, [5, 6, 7]);
        assert_eq!(assertion.local_id, [8, 9, 10]);
    }

    #[test]
    fn literals_follow_pointers_and_memory_is_aligned() {
        let (bytes, local) = arguments(&[7, 8], &[4, 300], 10).unwrap();
        assert_eq!(bytes.len(), 130);
        assert_eq!(
            bytes[..16],
            [128u64.to_le_bytes(), 256u64.to_le_bytes()].concat()
        );
        assert_eq!(bytes[128..], [7, 8]);
        assert_eq!(local, 556);
        assert_eq!(arguments(&[], &[], 10).unwrap(), (Vec::new(), 10));
        assert_eq!(arguments(&[], &[u64::MAX], 10), None);
    }
}
