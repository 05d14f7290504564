//! The services of whoever runs a kernel that an instruction may ask for; [`crate::device`] says
//! what they do.

use super::Scalar;
use crate::named::named;

named! {
    /// What [`super::Op::Device`] asks for.
    pub enum DeviceOp {
        /// `queue, flags, nd-range, count, events, returned event, literal, size, alignment, local
        /// size...`
        EnqueueKernel = "enqueue_kernel",
        /// `queue, count, events, returned event`
        EnqueueMarker = "enqueue_marker",
        /// `nd-range`: sub-groups in a work-group of a block.
        SubGroupCount = "sub_group_count",
        /// `nd-range`: work-items in its largest sub-group.
        MaxSubGroupSize = "max_sub_group_size",
        WorkGroupSize = "work_group_size",
        PreferredMultiple = "preferred_multiple",
        /// `count`: work-items in a work-group of so many sub-groups, 0 if there is none.
        LocalSizeForSubGroups = "local_size_for_sub_groups",
        MaxSubGroups = "max_sub_groups",
        /// `event`
        RetainEvent = "retain_event",
        /// `event`
        ReleaseEvent = "release_event",
        CreateUserEvent = "create_user_event",
        /// `event`: 1 if it is one, else 0.
        IsValidEvent = "is_valid_event",
        /// `event, status`
        SetUserEventStatus = "set_user_event_status",
        /// `event, which, address`
        CaptureProfilingInfo = "capture_profiling_info",
        DefaultQueue = "default_queue",
        /// `expression, file, line, function, global id of x, y, z, local id of x, y, z`; the three
        /// texts end with a zero, and may be null.
        FailAssertion = "fail_assertion",
    }
}

/// Dimensions, then offset, global size and local size: x, y and z of each.
macro_rules! nd_range {
    () => {
        [I32, I64, I64, I64, I64, I64, I64, I64, I64, I64]
    };
}

const ENQUEUE_KERNEL: [Scalar; 18] = {
    use Scalar::*;
    let range = nd_range!();
    let mut all = [I32; 18];
    all[0] = I64;
    let mut n = 0;
    while n < range.len() {
        all[2 + n] = range[n];
        n += 1;
    }
    all[13] = Ptr;
    all[14] = Ptr;
    all[15] = Ptr;
    all
};

impl DeviceOp {
    /// The types of the operands; [`DeviceOp::EnqueueKernel`] may have more, all `i64`.
    pub fn operands(self) -> &'static [Scalar] {
        use Scalar::*;
        match self {
            DeviceOp::EnqueueKernel => &ENQUEUE_KERNEL,
            DeviceOp::EnqueueMarker => &[I64, I32, Ptr, Ptr],
            DeviceOp::SubGroupCount | DeviceOp::MaxSubGroupSize => &nd_range!(),
            DeviceOp::LocalSizeForSubGroups => &[I32],
            DeviceOp::RetainEvent | DeviceOp::ReleaseEvent | DeviceOp::IsValidEvent => &[I64],
            DeviceOp::SetUserEventStatus => &[I64, I32],
            DeviceOp::CaptureProfilingInfo => &[I64, I32, Ptr],
            DeviceOp::FailAssertion => &[Ptr, Ptr, I32, Ptr, I64, I64, I64, I64, I64, I64],
            DeviceOp::WorkGroupSize
            | DeviceOp::PreferredMultiple
            | DeviceOp::MaxSubGroups
            | DeviceOp::CreateUserEvent
            | DeviceOp::DefaultQueue => &[],
        }
    }

    /// The type of the result.
    pub fn result(self) -> Option<Scalar> {
        match self {
            DeviceOp::RetainEvent
            | DeviceOp::ReleaseEvent
            | DeviceOp::SetUserEventStatus
            | DeviceOp::CaptureProfilingInfo
            | DeviceOp::FailAssertion => None,
            DeviceOp::CreateUserEvent | DeviceOp::DefaultQueue => Some(Scalar::I64),
            _ => Some(Scalar::I32),
        }
    }

    /// Whether it is of device-side enqueue.
    pub fn is_of_enqueue(self) -> bool {
        self != DeviceOp::FailAssertion
    }

    /// Whether it is about a block.
    pub fn names_block(self) -> bool {
        matches!(
            self,
            DeviceOp::EnqueueKernel
                | DeviceOp::SubGroupCount
                | DeviceOp::MaxSubGroupSize
                | DeviceOp::WorkGroupSize
                | DeviceOp::PreferredMultiple
                | DeviceOp::LocalSizeForSubGroups
                | DeviceOp::MaxSubGroups
        )
    }
}
