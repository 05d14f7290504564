//! OpenCL C Specification, "Pipe Functions", "Enqueuing Kernels".

use super::super::lowering::{Enqueue, Pipe};
use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::{op, scope};

const ONE: Over = Over::ONE;

const fn pipe(name: &'static str, signature: &'static str, what: Pipe) -> Row {
    row(name, ONE, signature, Lowering::Pipe(what))
}

const WG: Option<u32> = Some(scope::WORKGROUP);
const SG: Option<u32> = Some(scope::SUBGROUP);

const PIPES: &[Row] = &[
    pipe("read_pipe", "int pipe_r P*E", Pipe::Read),
    pipe("write_pipe", "int pipe_w Qk*E", Pipe::Write),
    pipe(
        "read_pipe",
        "int pipe_r reserve_id uint P*E",
        Pipe::ReadReserved,
    ),
    pipe(
        "write_pipe",
        "int pipe_w reserve_id uint Qk*E",
        Pipe::WriteReserved,
    ),
    pipe(
        "reserve_read_pipe",
        "reserve_id pipe_r uint",
        Pipe::ReserveRead(None),
    ),
    pipe(
        "reserve_write_pipe",
        "reserve_id pipe_w uint",
        Pipe::ReserveWrite(None),
    ),
    pipe(
        "commit_read_pipe",
        "void pipe_r reserve_id",
        Pipe::CommitRead(None),
    ),
    pipe(
        "commit_write_pipe",
        "void pipe_w reserve_id",
        Pipe::CommitWrite(None),
    ),
    pipe(
        "work_group_reserve_read_pipe",
        "reserve_id pipe_r uint",
        Pipe::ReserveRead(WG),
    ),
    pipe(
        "work_group_reserve_write_pipe",
        "reserve_id pipe_w uint",
        Pipe::ReserveWrite(WG),
    ),
    pipe(
        "work_group_commit_read_pipe",
        "void pipe_r reserve_id",
        Pipe::CommitRead(WG),
    ),
    pipe(
        "work_group_commit_write_pipe",
        "void pipe_w reserve_id",
        Pipe::CommitWrite(WG),
    ),
    pipe("is_valid_reserve_id", "bool reserve_id", Pipe::IsValid),
    pipe("get_pipe_num_packets", "uint pipe_r", Pipe::NumPackets),
    pipe("get_pipe_num_packets", "uint pipe_w", Pipe::NumPackets),
    pipe("get_pipe_max_packets", "uint pipe_r", Pipe::MaxPackets),
    pipe("get_pipe_max_packets", "uint pipe_w", Pipe::MaxPackets),
];

const SUB_GROUP_PIPES: &[Row] = &[
    pipe(
        "sub_group_reserve_read_pipe",
        "reserve_id pipe_r uint",
        Pipe::ReserveRead(SG),
    ),
    pipe(
        "sub_group_reserve_write_pipe",
        "reserve_id pipe_w uint",
        Pipe::ReserveWrite(SG),
    ),
    pipe(
        "sub_group_commit_read_pipe",
        "void pipe_r reserve_id",
        Pipe::CommitRead(SG),
    ),
    pipe(
        "sub_group_commit_write_pipe",
        "void pipe_w reserve_id",
        Pipe::CommitWrite(SG),
    ),
];

const fn enqueue(name: &'static str, signature: &'static str, what: Enqueue) -> Row {
    row(name, ONE, signature, Lowering::Enqueue(what))
}

const fn query(name: &'static str, signature: &'static str, opcode: u16, has_range: bool) -> Row {
    enqueue(name, signature, Enqueue::Query { opcode, has_range })
}

const ENQUEUE: &[Row] = &[
    enqueue(
        "enqueue_kernel",
        "int queue uint ndrange block ...",
        Enqueue::Kernel,
    ),
    enqueue(
        "enqueue_kernel",
        "int queue uint ndrange uint Pk*clk_event P*clk_event block ...",
        Enqueue::KernelAfter,
    ),
    enqueue(
        "enqueue_marker",
        "int queue uint Pk*clk_event P*clk_event",
        Enqueue::Marker,
    ),
    query(
        "get_kernel_work_group_size",
        "uint block",
        op::GET_KERNEL_WORK_GROUP_SIZE,
        false,
    ),
    query(
        "get_kernel_preferred_work_group_size_multiple",
        "uint block",
        op::GET_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
        false,
    ),
    enqueue(
        "retain_event",
        "void clk_event",
        Enqueue::Plain(op::RETAIN_EVENT),
    ),
    enqueue(
        "release_event",
        "void clk_event",
        Enqueue::Plain(op::RELEASE_EVENT),
    ),
    enqueue(
        "create_user_event",
        "clk_event",
        Enqueue::Plain(op::CREATE_USER_EVENT),
    ),
    enqueue("is_valid_event", "bool clk_event", Enqueue::IsValidEvent),
    enqueue(
        "set_user_event_status",
        "void clk_event int",
        Enqueue::Plain(op::SET_USER_EVENT_STATUS),
    ),
    enqueue(
        "capture_event_profiling_info",
        "void clk_event uint g*void",
        Enqueue::Plain(op::CAPTURE_EVENT_PROFILING_INFO),
    ),
    enqueue(
        "get_default_queue",
        "queue",
        Enqueue::Plain(op::GET_DEFAULT_QUEUE),
    ),
    enqueue("ndrange_1D", "ndrange size", Enqueue::NdRange(1)),
    enqueue("ndrange_1D", "ndrange size size", Enqueue::NdRange(1)),
    enqueue("ndrange_1D", "ndrange size size size", Enqueue::NdRange(1)),
    enqueue("ndrange_2D", "ndrange Qk*size", Enqueue::NdRange(2)),
    enqueue("ndrange_2D", "ndrange Qk*size Qk*size", Enqueue::NdRange(2)),
    enqueue(
        "ndrange_2D",
        "ndrange Qk*size Qk*size Qk*size",
        Enqueue::NdRange(2),
    ),
    enqueue("ndrange_3D", "ndrange Qk*size", Enqueue::NdRange(3)),
    enqueue("ndrange_3D", "ndrange Qk*size Qk*size", Enqueue::NdRange(3)),
    enqueue(
        "ndrange_3D",
        "ndrange Qk*size Qk*size Qk*size",
        Enqueue::NdRange(3),
    ),
];

const SUB_GROUP_QUERIES: &[Row] = &[
    query(
        "get_kernel_sub_group_count_for_ndrange",
        "uint ndrange block",
        op::GET_KERNEL_NDRANGE_SUB_GROUP_COUNT,
        true,
    ),
    query(
        "get_kernel_max_sub_group_size_for_ndrange",
        "uint ndrange block",
        op::GET_KERNEL_NDRANGE_MAX_SUB_GROUP_SIZE,
        true,
    ),
];

pub const GROUPS: &[Group] = &[
    group("__opencl_c_pipes", PIPES),
    group("__opencl_c_pipes&sub_groups", SUB_GROUP_PIPES),
    group("__opencl_c_device_enqueue", ENQUEUE),
    group("__opencl_c_device_enqueue&sub_groups", SUB_GROUP_QUERIES),
];
