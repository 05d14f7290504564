//! Recorded commands that may be asked about and changed
//! (`cl_khr_command_buffer_mutable_dispatch`).

use std::collections::btree_map::Entry;
use std::ffi::c_void;
use std::sync::{Arc, Weak};

use brolga_runtime::SyncPoint;
use brolga_runtime::command_buffer::{Dispatch, Drafts};
use opencl_sys::*;

use super::command_buffer::CommandBuffer;
use super::kernel::{self, Kernel};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{FromC, InPtr, RawHandle};

/// `cl_mutable_command_khr`: a recorded launch.
pub struct MutableCommand {
    /// > The lifetime of this handle is tied to the parent command-buffer, such that freeing the
    /// > command-buffer will also free this handle.
    pub buffer: Weak<Handle<CommandBuffer>>,
    /// Index of the queue that it was recorded to.
    pub queue: usize,
    pub kernel: Ref<Kernel>,
    /// As given, with the final zero.
    pub properties: Vec<cl_command_properties_khr>,
    /// What may be updated.
    pub fields: cl_mutable_dispatch_fields_khr,
    pub point: SyncPoint,
}

object!(MutableCommand, ClError::INVALID_MUTABLE_COMMAND);

impl MutableCommand {
    fn buffer(&self) -> CLResult<Ref<CommandBuffer>> {
        self.buffer
            .upgrade()
            .ok_or(ClError::INVALID_MUTABLE_COMMAND)
    }

    pub fn belongs_to(&self, buffer: &Ref<CommandBuffer>) -> bool {
        std::ptr::eq(self.buffer.as_ptr(), Arc::as_ptr(buffer))
    }

    /// The same command of a copy of its command-buffer.
    pub fn remapped(&self, buffer: &Ref<CommandBuffer>) -> MutableCommand {
        MutableCommand {
            buffer: Arc::downgrade(buffer),
            queue: self.queue % buffer.queues.len(),
            kernel: self.kernel.clone(),
            properties: self.properties.clone(),
            fields: self.fields,
            point: self.point,
        }
    }

    fn dispatch(&self) -> CLResult<Dispatch> {
        let dispatch = self.buffer()?.runtime.dispatch(self.point);
        dispatch.ok_or(ClError::INVALID_MUTABLE_COMMAND)
    }
}

/// An update of a launch.
type Config = cl_mutable_dispatch_config_khr;

/// `clUpdateMutableCommandsKHR`
pub fn update(
    buffer: RawHandle,
    num_configs: cl_uint,
    types: InPtr<cl_command_buffer_update_type_khr>,
    configs: InPtr<*const c_void>,
) -> CLResult<()> {
    let buffer = CommandBuffer::from_raw(buffer)?;
    // > CL_INVALID_OPERATION if command_buffer has not been finalized, or was not created with the
    // > CL_COMMAND_BUFFER_MUTABLE_KHR flag.
    buffer.runtime.check_updatable()?;
    // > CL_INVALID_VALUE if config_types is NULL and num_configs > 0, or config_types is not NULL >
    // and num_configs is 0. > CL_INVALID_VALUE if configs is NULL and num_configs > 0, or configs
    // is not NULL and > num_configs is 0.
    let types = list(types, num_configs)?;
    let configs = list(configs, num_configs)?;
    // > CL_INVALID_VALUE if any element of config_types is not a valid >
    // cl_command_buffer_update_type_khr enum.
    require(
        types
            .iter()
            .all(|&kind| kind == CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR),
        ClError::INVALID_VALUE,
    )?;
    let mut drafts = Drafts::new();
    for config in configs {
        // > CL_INVALID_VALUE if any element of configs is NULL. SAFETY: the application's promise
        // for each element of the array it gave: its type says what it points to.
        let config: InPtr<Config> = unsafe { InPtr::from_c(config.cast::<Config>()) };
        apply(
            &buffer,
            &config.get().ok_or(ClError::INVALID_VALUE)?,
            &mut drafts,
        )?;
    }
    buffer.runtime.update(drafts)
}

/// A list that is null if and only if it is empty.
fn list<T: Copy>(list: InPtr<T>, count: cl_uint) -> CLResult<Vec<T>> {
    require(list.is_null() == (count == 0), ClError::INVALID_VALUE)?;
    Ok(list.array(count as usize).unwrap_or_default())
}

/// Enters one update into the drafts. Updates of the same command follow one another.
fn apply(buffer: &Ref<CommandBuffer>, config: &Config, drafts: &mut Drafts) -> CLResult<()> {
    // > CL_INVALID_MUTABLE_COMMAND_KHR if command is not a valid mutable command object returned >
    // from clCommandNDRangeKernelKHR, or created from command_buffer.
    let raw = RawHandle::from_address(config.command as usize);
    let command = MutableCommand::from_raw(raw)?;
    require(command.belongs_to(buffer), ClError::INVALID_MUTABLE_COMMAND)?;
    let draft = match drafts.entry(command.point) {
        Entry::Occupied(draft) => draft.into_mut(),
        Entry::Vacant(place) => place.insert(buffer.runtime.draft(command.point)?),
    };
    // > CL_INVALID_OPERATION if work_dim is not zero and different from the work_dim set on command
    // > recording.
    require(
        config.work_dim == 0 || config.work_dim == draft.work_dim,
        ClError::INVALID_OPERATION,
    )?;
    // > CL_INVALID_OPERATION if the CL_MUTABLE_DISPATCH_..._KHR property was not set on command >
    // recording and what it is about is not NULL, or its number non-zero.
    let wants = [
        (
            CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
            !config.global_work_offset.is_null(),
        ),
        (
            CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR,
            !config.global_work_size.is_null(),
        ),
        (
            CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR,
            !config.local_work_size.is_null(),
        ),
        (
            CL_MUTABLE_DISPATCH_ARGUMENTS_KHR,
            config.num_args != 0 || config.num_svm_args != 0,
        ),
        (
            CL_MUTABLE_DISPATCH_EXEC_INFO_KHR,
            config.num_exec_infos != 0,
        ),
    ];
    require(
        wants
            .iter()
            .all(|&(field, wanted)| !wanted || command.fields & field != 0),
        ClError::INVALID_OPERATION,
    )?;
    // SAFETY: by the promise for the structure, each list is null or as long as its count says; the
    // sizes have as many elements as the launch has dimensions.
    let (args, svm_args, infos, sizes) = unsafe {
        (
            InPtr::from_c(config.arg_list),
            InPtr::from_c(config.arg_svm_list),
            InPtr::from_c(config.exec_info_list),
            [
                InPtr::from_c(config.global_work_offset),
                InPtr::from_c(config.global_work_size),
                InPtr::from_c(config.local_work_size),
            ],
        )
    };
    // > CL_INVALID_VALUE if arg_list is NULL and num_args > 0, or arg_list is not NULL and num_args
    // > is 0; the same of arg_svm_list and exec_info_list.
    let args: Vec<cl_mutable_dispatch_arg_khr> = list(args, config.num_args)?;
    let svm_args: Vec<cl_mutable_dispatch_arg_khr> = list(svm_args, config.num_svm_args)?;
    let infos: Vec<cl_mutable_dispatch_exec_info_khr> = list(infos, config.num_exec_infos)?;
    for arg in args {
        // SAFETY: the promise that goes with clSetKernelArg.
        let value = unsafe { InPtr::from_c(arg.arg_value) };
        kernel::set_arg_of(&draft.kernel, arg.arg_index, arg.arg_size, value)?;
    }
    for arg in svm_args {
        draft
            .kernel
            .set_arg_svm(arg.arg_index, arg.arg_value as usize)?;
    }
    for info in infos {
        // SAFETY: the promise that goes with clSetKernelExecInfo.
        let value = unsafe { InPtr::from_c(info.param_value) };
        kernel::set_exec_info_of(&draft.kernel, info.param_name, info.param_value_size, value)?;
    }
    let dimensions = draft.work_dim as usize;
    let targets = [&mut draft.offset, &mut draft.global, &mut draft.local];
    for (target, size) in targets.into_iter().zip(sizes) {
        if let Some(size) = size.array(dimensions) {
            *target = Some(size);
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
    let sizes = |sizes: &dyn Fn(Dispatch) -> Option<Vec<usize>>| -> CLResult<()> {
        let dispatch = command.dispatch()?;
        let dimensions = dispatch.work_dim as usize;
        // > If it was not set, zero is returned for each element in the array.
        writer.array(&sizes(dispatch).unwrap_or_else(|| vec![0; dimensions]))
    };
    match name {
        CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => {
            let buffer = command.buffer()?;
            writer.value(buffer.queues[command.queue].raw())
        }
        CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => writer.value(command.buffer()?.raw()),
        CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => writer.value(CL_COMMAND_NDRANGE_KERNEL),
        CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => writer.array(&command.properties),
        CL_MUTABLE_DISPATCH_KERNEL_KHR => writer.value(command.kernel.raw()),
        CL_MUTABLE_DISPATCH_DIMENSIONS_KHR => writer.value(command.dispatch()?.work_dim),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => sizes(&|dispatch| dispatch.offset),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => sizes(&|dispatch| dispatch.global),
        CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => sizes(&|dispatch| dispatch.local),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}
