//! The public symbols, for programs that are linked with this library or have it preloaded, and for
//! ICD loaders, which find all else from the first of them.
//!
//! Each only calls the entry wrapper of its name. One of these is the first function of the driver
//! that a process calls, before there is a handle: so they set the table that handles point to.

use std::ffi::{c_char, c_void};

use opencl_sys::cl_egl::cl_egl_image_properties_khr;
use opencl_sys::*;

use crate::abi::callback::{
    ContextDestroyed, ContextNotify, EventNotify, MemNotify, NativeKernel, ProgramNotify,
    SvmFreeNotify,
};
use crate::abi::handle::set_dispatch_table;
use crate::dispatch::DISPATCH;
use crate::entry_points::{entry_points, wrapper};

/// Expands one line of the table to its exported symbol.
macro_rules! export {
    (query $name:ident ($($arg:ident : $type:ty),*)) => {
        export! {
            status $name(
                $($arg: $type,)*
                param_value_size: usize,
                param_value: *mut c_void,
                param_value_size_ret: *mut usize
            )
        }
    };
    (enqueue $name:ident ($($arg:ident : $type:ty),*)) => {
        export! {
            status $name(
                $($arg: $type,)*
                num_events_in_wait_list: cl_uint,
                event_wait_list: *const cl_event,
                event: *mut cl_event
            )
        }
    };
    (submit $name:ident ($($arg:ident : $type:ty),*)) => {
        export! { enqueue $name(command_queue: cl_command_queue $(, $arg: $type)*) }
    };
    (command $name:ident ($($arg:ident : $type:ty),*)) => {
        export! {
            status $name(
                command_buffer: cl_command_buffer_khr,
                command_queue: cl_command_queue,
                properties: *const cl_command_properties_khr,
                $($arg: $type,)*
                num_sync_points_in_wait_list: cl_uint,
                sync_point_wait_list: *const cl_sync_point_khr,
                sync_point: *mut cl_sync_point_khr,
                mutable_handle: *mut cl_mutable_command_khr
            )
        }
    };
    (created $name:ident ($($arg:ident : $type:ty),*) -> $result:ty) => {
        export! { plain $name($($arg: $type,)* errcode_ret: *mut cl_int) -> $result }
    };
    (status $name:ident ($($arg:ident : $type:ty),*)) => {
        export! { plain $name($($arg: $type),*) -> cl_int }
    };
    (plain $name:ident ($($arg:ident : $type:ty),*) $(-> $result:ty)?) => {
        /// The public symbol of this name.
        ///
        /// # Safety
        /// As its OpenCL specification says of the arguments.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) $(-> $result)? {
            set_dispatch_table(&DISPATCH);
            // SAFETY: the same contract.
            unsafe { wrapper::$name($($arg),*) }
        }
    };
}

macro_rules! exports {
    (
        $($kind:ident $name:ident ($($arg:ident : $type:ty),* $(,)?) $(-> $result:ty)?
            = $path:path $([$($given:tt)*])?;)*
    ) => {
        #[allow(non_snake_case)]
        mod symbols {
            use super::*;
            $(export! { $kind $name($($arg: $type),*) $(-> $result)? })*
        }
    };
}

entry_points!(exports);
