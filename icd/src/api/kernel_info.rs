//! Queries about kernels.

use std::sync::Arc;

use brolga_compiler::{AccessQualifier, AddressSpace, ArgInfo, ArgKind};
use opencl_sys::*;

use super::device::Device;
use super::kernel::Kernel;
use super::queue::Queue;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InList, List, OutList, RawHandle};

/// `clGetKernelInfo`
pub fn get_info(kernel: RawHandle, name: cl_kernel_info, writer: InfoWriter) -> CLResult<()> {
    let kernel = Kernel::from_raw(kernel)?;
    let info = kernel.runtime.info();
    match name {
        CL_KERNEL_FUNCTION_NAME => writer.string(&info.name),
        CL_KERNEL_NUM_ARGS => writer.value(info.args.len() as cl_uint),
        CL_KERNEL_REFERENCE_COUNT => writer.value(kernel.reference_count()),
        CL_KERNEL_CONTEXT => writer.value(kernel.program.context.raw()),
        CL_KERNEL_PROGRAM => writer.value(kernel.program.raw()),
        CL_KERNEL_ATTRIBUTES => writer.string(&info.attributes),
        // > CL_INVALID_VALUE if param_name is not valid.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clGetKernelArgInfo`
pub fn get_arg_info(
    kernel: RawHandle,
    index: cl_uint,
    name: cl_kernel_arg_info,
    writer: InfoWriter,
) -> CLResult<()> {
    let kernel = Kernel::from_raw(kernel)?;
    // > CL_INVALID_ARG_INDEX if arg_index is not a valid argument index.
    kernel.runtime.arg_kind(index)?;
    // > CL_KERNEL_ARG_INFO_NOT_AVAILABLE if the argument information is not available for kernel.
    let arg = kernel.runtime.arg_info(index)?;
    match name {
        CL_KERNEL_ARG_ADDRESS_QUALIFIER => writer.value(address_qualifier(arg)),
        CL_KERNEL_ARG_ACCESS_QUALIFIER => writer.value(match arg.access {
            AccessQualifier::None => CL_KERNEL_ARG_ACCESS_NONE,
            AccessQualifier::ReadOnly => CL_KERNEL_ARG_ACCESS_READ_ONLY,
            AccessQualifier::WriteOnly => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
            AccessQualifier::ReadWrite => CL_KERNEL_ARG_ACCESS_READ_WRITE,
        }),
        CL_KERNEL_ARG_TYPE_NAME => writer.string(
            arg.type_name
                .as_deref()
                .ok_or(ClError::KERNEL_ARG_INFO_NOT_AVAILABLE)?,
        ),
        CL_KERNEL_ARG_TYPE_QUALIFIER => writer.value(type_qualifiers(arg)),
        CL_KERNEL_ARG_NAME => writer.string(
            arg.name
                .as_deref()
                .ok_or(ClError::KERNEL_ARG_INFO_NOT_AVAILABLE)?,
        ),
        // > CL_INVALID_VALUE if param_name is not valid.
        _ => Err(ClError::INVALID_VALUE),
    }
}

fn address_qualifier(arg: &ArgInfo) -> cl_kernel_arg_address_qualifier {
    match arg.kind {
        ArgKind::Pointer(AddressSpace::Global | AddressSpace::Generic)
        | ArgKind::Image(_)
        | ArgKind::Pipe => CL_KERNEL_ARG_ADDRESS_GLOBAL,
        ArgKind::Pointer(AddressSpace::Constant) => CL_KERNEL_ARG_ADDRESS_CONSTANT,
        ArgKind::Pointer(AddressSpace::Local) => CL_KERNEL_ARG_ADDRESS_LOCAL,
        ArgKind::Pointer(AddressSpace::Private)
        | ArgKind::Value
        | ArgKind::Sampler
        | ArgKind::DeviceQueue
        | ArgKind::Unused => CL_KERNEL_ARG_ADDRESS_PRIVATE,
    }
}

/// A bit-field of 64 bits in the headers, `cl_kernel_arg_type_qualifier`.
fn type_qualifiers(arg: &ArgInfo) -> cl_bitfield {
    [
        (arg.qualifiers.is_const, CL_KERNEL_ARG_TYPE_CONST),
        (arg.qualifiers.is_restrict, CL_KERNEL_ARG_TYPE_RESTRICT),
        (arg.qualifiers.is_volatile, CL_KERNEL_ARG_TYPE_VOLATILE),
        (arg.qualifiers.is_pipe, CL_KERNEL_ARG_TYPE_PIPE),
    ]
    .iter()
    .filter(|(set, _)| *set)
    .fold(0, |all, &(_, bit)| all | cl_bitfield::from(bit))
}

/// The device that a query means; null is allowed when there is only one.
fn device(kernel: &Ref<Kernel>, raw: RawHandle) -> CLResult<Ref<Device>> {
    // > CL_INVALID_DEVICE if device is not in the list of devices associated with kernel or if
    // > device is NULL but there is more than one device associated with kernel.
    match kernel.program.devices.as_slice() {
        [only] if raw.is_null() => Ok(only.clone()),
        _ => kernel.program.device(raw),
    }
}

/// `clGetKernelWorkGroupInfo`
pub fn get_work_group_info(
    kernel: RawHandle,
    raw_device: RawHandle,
    name: cl_kernel_work_group_info,
    writer: InfoWriter,
) -> CLResult<()> {
    let kernel = Kernel::from_raw(kernel)?;
    device(&kernel, raw_device)?;
    let info = kernel.runtime.info();
    match name {
        // > CL_INVALID_VALUE if param_name is CL_KERNEL_GLOBAL_WORK_SIZE and device is not a custom
        // > device and kernel is not a built-in kernel.
        CL_KERNEL_GLOBAL_WORK_SIZE => Err(ClError::INVALID_VALUE),
        CL_KERNEL_WORK_GROUP_SIZE => writer.value(kernel.runtime.work_group_size()),
        // > If the work-group size is not specified, (0, 0, 0) is returned.
        CL_KERNEL_COMPILE_WORK_GROUP_SIZE => writer.value(
            info.required_work_group_size
                .unwrap_or_default()
                .map(|size| size as usize),
        ),
        CL_KERNEL_LOCAL_MEM_SIZE => writer.value(kernel.runtime.local_mem_size()),
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
            writer.value(kernel.runtime.preferred_multiple())
        }
        CL_KERNEL_PRIVATE_MEM_SIZE => writer.value(info.private_mem_size),
        // > Returns the amount of memory, in bytes, used for spills of registers
        // > (cl_intel_required_subgroup_size).
        // None: what is spilled is on the stack, which caches hold.
        CL_KERNEL_SPILL_MEM_SIZE_INTEL => writer.value(0 as cl_ulong),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clGetKernelSubGroupInfo`, `clGetKernelSubGroupInfoKHR`
pub fn get_sub_group_info(
    kernel: RawHandle,
    raw_device: RawHandle,
    name: cl_kernel_sub_group_info,
    input: InList<u8>,
    writer: InfoWriter,
) -> CLResult<()> {
    let kernel = Kernel::from_raw(kernel)?;
    let device = device(&kernel, raw_device)?;
    // > CL_INVALID_OPERATION if device does not support sub-groups.
    require(
        device.runtime.max_num_sub_groups != 0,
        ClError::INVALID_OPERATION,
    )?;
    let sub_group_size = kernel.runtime.preferred_multiple();
    let info = kernel.runtime.info();
    match name {
        // > Returns the maximum sub-group size for this kernel. All sub-groups must be the same
        // > size, while the last sub-group in any work-group could be the same or smaller size.
        CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
            local_size(input)?;
            writer.value(sub_group_size)
        }
        CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => {
            let items: usize = local_size(input)?.iter().product();
            writer.value(items.div_ceil(sub_group_size))
        }
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            require(input.count() == size_of::<usize>(), ClError::INVALID_VALUE)?;
            let count: usize = input.value().ok_or(ClError::INVALID_VALUE)?;
            // > If no work-group size can accommodate the requested number of sub-groups, 0 is
            // > returned in each element.
            // The answer has as many elements as the caller has room for.
            let items = count
                .checked_mul(sub_group_size)
                .filter(|&items| items <= kernel.runtime.work_group_size())
                .unwrap_or(0);
            let mut size = [usize::from(items != 0); 3];
            size[0] = items;
            let dimensions = writer.elements::<usize>().clamp(1, 3);
            writer.array(&size[..dimensions])
        }
        CL_KERNEL_MAX_NUM_SUB_GROUPS => {
            writer.value(kernel.runtime.work_group_size().div_ceil(sub_group_size))
        }
        // > If the sub-group count is not specified, then 0 is returned.
        CL_KERNEL_COMPILE_NUM_SUB_GROUPS => {
            writer.value(info.required_num_sub_groups.unwrap_or(0) as usize)
        }
        // > Returns the required sub-group size specified by the kernel via
        // > intel_reqd_sub_group_size, or 0 (cl_intel_required_subgroup_size).
        CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => {
            writer.value(info.required_sub_group_size.unwrap_or(0) as usize)
        }
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// The work-group size in `input_value`: one to three sizes.
fn local_size(input: InList<u8>) -> CLResult<List<usize>> {
    // > CL_INVALID_VALUE if the size in bytes specified by input_value_size is not valid or if
    // > input_value is NULL.
    let word = size_of::<usize>();
    require(
        [word, 2 * word, 3 * word].contains(&input.count()),
        ClError::INVALID_VALUE,
    )?;
    input.values()?.ok_or(ClError::INVALID_VALUE)
}

/// `clGetKernelSuggestedLocalWorkSize`, `clGetKernelSuggestedLocalWorkSizeKHR`
pub fn get_suggested_local_work_size(
    queue: RawHandle,
    kernel: RawHandle,
    offset: InList<usize>,
    global: InList<usize>,
    suggested: OutList<usize>,
) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    let kernel = Kernel::from_raw(kernel)?;
    // > CL_INVALID_CONTEXT if the context associated with kernel is not the same as the context
    // > associated with command_queue.
    require(
        Arc::ptr_eq(&kernel.program.context, &queue.context),
        ClError::INVALID_CONTEXT,
    )?;
    // > CL_INVALID_WORK_DIMENSION if work_dim is not a valid value.
    let work_dim = global.count();
    require((1..=3).contains(&work_dim), ClError::INVALID_WORK_DIMENSION)?;
    // > CL_INVALID_VALUE if suggested_local_work_size is NULL.
    require(!suggested.is_null(), ClError::INVALID_VALUE)?;
    let size = kernel.runtime.suggested_local_size(
        work_dim as cl_uint,
        offset.get()?.as_deref(),
        global.get()?.as_deref(),
    )?;
    suggested.set(&size);
    Ok(())
}
