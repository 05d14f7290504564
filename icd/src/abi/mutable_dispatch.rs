//! `cl_mutable_dispatch_config_khr`, whose members are lists.

use std::ffi::c_void;

use brolga_runtime::{Launch, Sizes};
use opencl_sys::*;

use super::error::{CLResult, ClError};
use super::pointers::{FromC, FromCArray, InList, InPtr, RawHandle};

/// An update of a recorded launch.
#[derive(Clone, Copy)]
pub struct DispatchConfig(cl_mutable_dispatch_config_khr);

/// An argument or a piece of execution information: which one, and its bytes.
#[derive(Clone, Copy)]
pub struct Setting {
    pub name: cl_uint,
    pub value: InList<u8>,
}

impl InList<*const c_void> {
    /// The updates that the elements point to, which are of the only type there is.
    ///
    /// Errors: `CL_INVALID_VALUE` if one is null or is of another type, and those of
    /// [`InList::get`].
    pub fn dispatch_configs(
        self,
        types: InList<cl_command_buffer_update_type_khr>,
    ) -> CLResult<Vec<DispatchConfig>> {
        let configs = self.get()?.ok_or(ClError::INVALID_VALUE)?;
        let types = types.get()?.ok_or(ClError::INVALID_VALUE)?;
        let known = |kind: &u32| *kind == CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;
        if !types.iter().all(known) {
            return Err(ClError::INVALID_VALUE);
        }
        let config = |pointer: *const c_void| {
            // SAFETY: the application's promise for each element of the array it gave: its type
            // says what it points to.
            let config = unsafe { InPtr::from_c(pointer.cast::<cl_mutable_dispatch_config_khr>()) };
            config
                .get()
                .map(DispatchConfig)
                .ok_or(ClError::INVALID_VALUE)
        };
        configs.into_iter().map(config).collect()
    }
}

impl DispatchConfig {
    pub fn command(&self) -> RawHandle {
        RawHandle::from_address(self.0.command as usize)
    }

    pub fn work_dim(&self) -> cl_uint {
        self.0.work_dim
    }

    /// What the update changes.
    pub fn fields(&self) -> cl_mutable_dispatch_fields_khr {
        let config = &self.0;
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
        let wanted = wants.iter().filter(|(_, wanted)| *wanted);
        wanted.fold(0, |all, (field, _)| all | field)
    }

    /// Whether each list is null if and only if its count is 0.
    pub fn has_consistent_lists(&self) -> bool {
        let config = &self.0;
        config.arg_list.is_null() == (config.num_args == 0)
            && config.arg_svm_list.is_null() == (config.num_svm_args == 0)
            && config.exec_info_list.is_null() == (config.num_exec_infos == 0)
    }

    /// Arguments, as for `clSetKernelArg`.
    pub fn args(&self) -> CLResult<Vec<Setting>> {
        // SAFETY: by the promise for the structure, the list is null or as long as its count says.
        let list: InList<cl_mutable_dispatch_arg_khr> =
            unsafe { InList::from_c_array(self.0.arg_list, self.0.num_args as usize) };
        let setting = |arg: cl_mutable_dispatch_arg_khr| Setting {
            name: arg.arg_index,
            // SAFETY: the promise that goes with clSetKernelArg.
            value: unsafe { InList::from_c_array(arg.arg_value, arg.arg_size) },
        };
        let list = list.get()?.unwrap_or_default();
        Ok(list.into_iter().map(setting).collect())
    }

    /// Arguments that are addresses, as for `clSetKernelArgSVMPointer`: index and address.
    pub fn svm_args(&self) -> CLResult<Vec<(cl_uint, usize)>> {
        // SAFETY: as for `args`.
        let list: InList<cl_mutable_dispatch_arg_khr> =
            unsafe { InList::from_c_array(self.0.arg_svm_list, self.0.num_svm_args as usize) };
        let list = list.get()?.unwrap_or_default();
        let list = list.into_iter();
        Ok(list
            .map(|arg| (arg.arg_index, arg.arg_value as usize))
            .collect())
    }

    /// Execution information, as for `clSetKernelExecInfo`.
    pub fn exec_infos(&self) -> CLResult<Vec<Setting>> {
        // SAFETY: as for `args`.
        let list: InList<cl_mutable_dispatch_exec_info_khr> =
            unsafe { InList::from_c_array(self.0.exec_info_list, self.0.num_exec_infos as usize) };
        let setting = |info: cl_mutable_dispatch_exec_info_khr| Setting {
            name: info.param_name,
            // SAFETY: the promise that goes with clSetKernelExecInfo.
            value: unsafe { InList::from_c_array(info.param_value, info.param_value_size) },
        };
        let list = list.get()?.unwrap_or_default();
        Ok(list.into_iter().map(setting).collect())
    }

    /// Offset, global and local size, as far as they change `launch`.
    pub fn sizes_for(&self, launch: &Launch) -> CLResult<[Option<Sizes>; 3]> {
        let config = &self.0;
        let pointers = [
            config.global_work_offset,
            config.global_work_size,
            config.local_work_size,
        ];
        let mut sizes = [None, None, None];
        for (size, pointer) in sizes.iter_mut().zip(pointers) {
            // SAFETY: by the promise for the structure, each is null or has as many elements as the
            // launch has dimensions.
            let list: InList<usize> =
                unsafe { InList::from_c_array(pointer, launch.work_dim as usize) };
            *size = list.get()?.as_deref().map(Sizes::from_slice);
        }
        Ok(sizes)
    }
}
