//! Recorded launches, which may be asked about and changed
//! (`cl_khr_command_buffer_mutable_dispatch`).

use std::collections::btree_map::Entry;
use std::ffi::c_void;
use std::sync::Arc;

use brolga_runtime::command_buffer::Drafts;
use brolga_runtime::{Launch, Sizes};
use opencl_sys::*;

use super::command_buffer::{CommandBuffer, DISPATCH_ASSERTS, MutableCommand, single};
use super::kernel::{self, Kernel};
use super::launch;
use super::recording::RecordingArguments;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::info::InfoWriter;
use crate::abi::mutable_dispatch::DispatchConfig;
use crate::abi::pointers::{InList, RawHandle};

/// `clCommandNDRangeKernelKHR`
pub fn record(
    recording: RecordingArguments,
    kernel: RawHandle,
    offset: InList<usize>,
    global: InList<usize>,
    local: InList<usize>,
) -> CLResult<()> {
    let buffer = recording.buffer()?;
    // > CL_INVALID_VALUE if values specified in properties are not valid.
    const FIELDS: cl_properties = CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR;
    const ASSERTS: cl_properties = CL_MUTABLE_DISPATCH_ASSERTS_KHR;
    let known = |name| name == FIELDS || name == ASSERTS;
    let properties = recording.properties.read_among(known);
    require(properties.is_known, ClError::INVALID_VALUE)?;
    // > CL_INVALID_OPERATION if the requested CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR properties
    // > are not reported by CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR for the device associated
    // > with command_queue.
    // Every field that the extension defines is reported.
    let queue = recording.queue(&buffer)?;
    let device = &buffer.queues[queue].device;
    let capabilities = device.runtime.mutable_dispatch_capabilities;
    let fields = single(&properties, FIELDS, capabilities)?;
    let asserts = single(&properties, ASSERTS, DISPATCH_ASSERTS)?.unwrap_or(0) | buffer.asserts;
    let kernel = Kernel::from_raw(kernel)?;
    let launch = launch::describe(&kernel, offset, global, local)?;
    // > CL_INVALID_VALUE if command_buffer was created with the
    // > CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR property with
    // > CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR and local_work_size is NULL, or if
    // > properties includes CL_MUTABLE_DISPATCH_ASSERTS_KHR with it and local_work_size is NULL.
    require(asserts == 0 || !local.is_null(), ClError::INVALID_VALUE)?;
    let site = recording.site(&buffer)?;
    // > CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified and the
    // > CL_MUTABLE_DISPATCH_ARGUMENTS_KHR flag was not set in the properties parameter.
    let may_defer = fields.is_some_and(|fields| fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR != 0);
    let point = match recording.handle.is_null() && !may_defer {
        true => buffer.runtime.nd_range(&site, &launch)?,
        false => buffer.runtime.mutable_nd_range(&site, launch, may_defer)?,
    };
    recording.give(point);
    buffer.attach([kernel.clone() as _]);
    if !recording.handle.is_null() {
        let command = MutableCommand {
            buffer: Arc::downgrade(&buffer),
            queue,
            kernel,
            properties: properties.as_given,
            // > If CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR is not specified then it defaults to
            // > the value returned by the CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR device query.
            fields: fields.unwrap_or(capabilities),
            point,
        };
        recording.handle.set(buffer.add_command(command));
    }
    Ok(())
}

/// `clUpdateMutableCommandsKHR`
pub fn update(
    buffer: RawHandle,
    types: InList<cl_command_buffer_update_type_khr>,
    configs: InList<*const c_void>,
) -> CLResult<()> {
    let buffer = CommandBuffer::from_raw(buffer)?;
    // > CL_INVALID_OPERATION if command_buffer has not been finalized, or was not created with the
    // > CL_COMMAND_BUFFER_MUTABLE_KHR flag.
    buffer.runtime.check_updatable()?;
    // > CL_INVALID_VALUE if config_types is NULL and num_configs > 0, or config_types is not NULL
    // > and num_configs is 0.
    // > CL_INVALID_VALUE if configs is NULL and num_configs > 0, or configs is not NULL and
    // > num_configs is 0.
    require(
        types.is_null_if_empty() && configs.is_null_if_empty(),
        ClError::INVALID_VALUE,
    )?;
    let mut drafts = Drafts::new();
    if configs.count() != 0 {
        // > CL_INVALID_VALUE if any element of config_types is not a valid
        // > cl_command_buffer_update_type_khr enum.
        // > CL_INVALID_VALUE if any element of configs is NULL.
        for config in configs.dispatch_configs(types)? {
            apply(&buffer, &config, &mut drafts)?;
        }
    }
    buffer.runtime.update(drafts)
}

/// Applies one update to the draft of its command; later updates of the same command come on top.
fn apply(
    buffer: &Ref<CommandBuffer>,
    config: &DispatchConfig,
    drafts: &mut Drafts,
) -> CLResult<()> {
    // > CL_INVALID_MUTABLE_COMMAND_KHR if command is not a valid mutable command object returned
    // > from clCommandNDRangeKernelKHR, or created from command_buffer.
    let command = MutableCommand::from_raw(config.command())?;
    require(command.belongs_to(buffer), ClError::INVALID_MUTABLE_COMMAND)?;
    let draft = match drafts.entry(command.point) {
        Entry::Occupied(draft) => draft.into_mut(),
        Entry::Vacant(place) => place.insert(buffer.runtime.draft(command.point)?),
    };
    // > CL_INVALID_OPERATION if work_dim is not zero and different from the work_dim set on command
    // > recording.
    require(
        config.work_dim() == 0 || config.work_dim() == draft.work_dim,
        ClError::INVALID_OPERATION,
    )?;
    // > CL_INVALID_OPERATION if the CL_MUTABLE_DISPATCH_..._KHR property was not set on command
    // > recording and what it is about is not NULL, or its number non-zero.
    require(
        config.fields() & !command.fields == 0,
        ClError::INVALID_OPERATION,
    )?;
    // > CL_INVALID_VALUE if arg_list is NULL and num_args > 0, or arg_list is not NULL and num_args
    // > is 0; the same of arg_svm_list and exec_info_list.
    require(config.has_consistent_lists(), ClError::INVALID_VALUE)?;
    for arg in config.args()? {
        kernel::set_arg_of(&draft.kernel, arg.name, arg.value)?;
    }
    for (index, address) in config.svm_args()? {
        draft.kernel.set_arg_svm(index, address)?;
    }
    for info in config.exec_infos()? {
        kernel::set_exec_info_of(&draft.kernel, info.name, info.value)?;
    }
    let sizes = config.sizes_for(draft)?;
    let targets = [&mut draft.offset, &mut draft.global, &mut draft.local];
    for (target, size) in targets.into_iter().zip(sizes) {
        if size.is_some() {
            *target = size;
        }
    }
    Ok(())
}

/// `clGetMutableCommandInfoKHR`
pub fn get_info(
    command: RawHandle,
    name: cl_mutable_command_info_khr,
    writer: InfoWriter,
) -> CLResult<()> {
    let command = MutableCommand::from_raw(command)?;
    let buffer = || {
        let buffer = command.buffer.upgrade();
        buffer.ok_or(ClError::INVALID_MUTABLE_COMMAND)
    };
    let launch = || {
        let launch = buffer()?.runtime.launch(command.point);
        launch.ok_or(ClError::INVALID_MUTABLE_COMMAND)
    };
    let sizes = |sizes: fn(Launch) -> Option<Sizes>| -> CLResult<()> {
        let launch = launch()?;
        // > If it was not set, zero is returned for each element in the array.
        let zeros = Sizes::from_elem(0, launch.work_dim as usize);
        writer.array(&sizes(launch).unwrap_or(zeros))
    };
    match name {
        CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => writer.value(buffer()?.queues[command.queue].raw()),
        CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => writer.value(buffer()?.raw()),
        CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => writer.value(CL_COMMAND_NDRANGE_KERNEL),
        CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => writer.array(&command.properties),
        CL_MUTABLE_DISPATCH_KERNEL_KHR => writer.value(command.kernel.raw()),
        CL_MUTABLE_DISPATCH_DIMENSIONS_KHR => writer.value(launch()?.work_dim),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => sizes(|launch| launch.offset),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => sizes(|launch| launch.global),
        CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => sizes(|launch| launch.local),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}
