//! The table of entry points: name, C prototype, and the function of `api` that implements each.
//!
//! Each line becomes two C functions. `wrapper::clX` is the one in the dispatch table and behind
//! `clGetExtensionFunctionAddress`; its symbol is private, so that an ICD loader in the same
//! process, which defines `clX` too, can never be called in its place. The other is the public
//! symbol (`exports.rs`).
//!
//! The first word of a line says what is added to the prototype, and what the `api` function takes
//! and returns:
//!
//! - `status`: a `cl_int` result. Returns `CLResult<()>`.
//! - `query`: the three `param_value` arguments and a `cl_int` result. Takes an [`InfoWriter`] last
//!   and returns `CLResult<()>`.
//! - `enqueue`: wait list and event arguments and a `cl_int` result. Takes [`EventArguments`] last
//!   and returns `CLResult<()>`.
//! - `submit`: as `enqueue`, with the queue in front. Takes a [`Submission`] first.
//! - `command`: command-buffer, queue and properties in front; wait list, sync-point and mutable
//!   handle arguments; a `cl_int` result. Takes a [`RecordingArguments`] first and returns
//!   `CLResult<()>`.
//! - `created`: `errcode_ret`. Returns `CLResult` of the handle or pointer.
//! - `plain`: nothing. Returns `CLResult` of the pointer or nothing.
//!
//! The function takes the line's arguments. Where some of them are arrays, its own arguments are
//! listed behind it: `list[count]` is an array and the argument that says how long it is, which
//! become one.

use std::ffi::{c_char, c_void};

use opencl_sys::cl_egl::cl_egl_image_properties_khr;
use opencl_sys::*;

use crate::abi::callback::{
    ContextDestroyed, ContextNotify, EventNotify, MemNotify, NativeKernel, ProgramNotify,
    SvmFreeNotify,
};
use crate::abi::handle::Object;
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{FromC, FromCArray};
use crate::api::extension::Find;
use crate::api::recording::RecordingArguments;
use crate::api::wait::{EventArguments, Submission};
use crate::api::*;

/// How functions by name are found by what is below this file.
const FIND: Find = find;

/// Calls the function of a line.
macro_rules! call {
    ($path:path, ($($before:expr)?), [], $args:tt, ($($after:expr)?)) => {
        call!($path, ($($before)?), [$args], $args, ($($after)?))
    };
    (
        $path:path, ($($before:expr)?), [($($arg:ident $([$count:ident])?),* $(,)?)], $args:tt,
        ($($after:expr)?)
    ) => {
        $path($($before,)? $(argument!($arg $([$count])?),)* $($after)?)
    };
}

/// One argument of the function of a line.
macro_rules! argument {
    ($arg:ident) => {
        // SAFETY: the application's promise, which `FromC` states.
        unsafe { FromC::from_c($arg) }
    };
    ($arg:ident [$count:ident]) => {
        // SAFETY: the application's promise, which `FromCArray` states.
        unsafe { FromCArray::from_c_array($arg, $count as usize) }
    };
}

/// Expands one line of the table to its entry wrapper.
macro_rules! wrapper {
    (status $name:ident ($($arg:ident : $type:ty),*) = $path:path, [$($given:tt)?]) => {
        /// The C entry point of this name.
        ///
        /// # Safety
        /// As its OpenCL specification says of the arguments.
        pub unsafe extern "C" fn $name($($arg: $type),*) -> cl_int {
            $crate::abi::wrapper::status(stringify!($name), || {
                call!($path, (), [$($given)?], ($($arg),*), ())
            })
        }
    };
    (query $name:ident ($($arg:ident : $type:ty),*) = $path:path, [$($given:tt)?]) => {
        /// The C entry point of this name.
        ///
        /// # Safety
        /// As its OpenCL specification says of the arguments.
        pub unsafe extern "C" fn $name(
            $($arg: $type,)*
            param_value_size: usize,
            param_value: *mut c_void,
            param_value_size_ret: *mut usize,
        ) -> cl_int {
            $crate::abi::wrapper::status(stringify!($name), || {
                let value = argument!(param_value[param_value_size]);
                let writer = InfoWriter::new(value, argument!(param_value_size_ret));
                call!($path, (), [$($given)?], ($($arg),*), (writer))
            })
        }
    };
    (enqueue $name:ident ($($arg:ident : $type:ty),*) = $path:path, [$($given:tt)?]) => {
        /// The C entry point of this name.
        ///
        /// # Safety
        /// As its OpenCL specification says of the arguments.
        pub unsafe extern "C" fn $name(
            $($arg: $type,)*
            num_events_in_wait_list: cl_uint,
            event_wait_list: *const cl_event,
            event: *mut cl_event,
        ) -> cl_int {
            $crate::abi::wrapper::status(stringify!($name), || {
                let list = argument!(event_wait_list[num_events_in_wait_list]);
                let events = EventArguments::new(list, argument!(event));
                call!($path, (), [$($given)?], ($($arg),*), (events))
            })
        }
    };
    (submit $name:ident ($($arg:ident : $type:ty),*) = $path:path, [$($given:tt)?]) => {
        /// The C entry point of this name.
        ///
        /// # Safety
        /// As its OpenCL specification says of the arguments.
        pub unsafe extern "C" fn $name(
            command_queue: cl_command_queue,
            $($arg: $type,)*
            num_events_in_wait_list: cl_uint,
            event_wait_list: *const cl_event,
            event: *mut cl_event,
        ) -> cl_int {
            $crate::abi::wrapper::status(stringify!($name), || {
                let list = argument!(event_wait_list[num_events_in_wait_list]);
                let submission = Submission {
                    queue: argument!(command_queue),
                    events: EventArguments::new(list, argument!(event)),
                };
                call!($path, (submission), [$($given)?], ($($arg),*), ())
            })
        }
    };
    (command $name:ident ($($arg:ident : $type:ty),*) = $path:path, [$($given:tt)?]) => {
        /// The C entry point of this name.
        ///
        /// # Safety
        /// As its OpenCL specification says of the arguments.
        pub unsafe extern "C" fn $name(
            command_buffer: cl_command_buffer_khr,
            command_queue: cl_command_queue,
            properties: *const cl_command_properties_khr,
            $($arg: $type,)*
            num_sync_points_in_wait_list: cl_uint,
            sync_point_wait_list: *const cl_sync_point_khr,
            sync_point: *mut cl_sync_point_khr,
            mutable_handle: *mut cl_mutable_command_khr,
        ) -> cl_int {
            $crate::abi::wrapper::status(stringify!($name), || {
                let recording = RecordingArguments {
                    buffer: argument!(command_buffer),
                    queue: argument!(command_queue),
                    properties: argument!(properties),
                    list: argument!(sync_point_wait_list[num_sync_points_in_wait_list]),
                    point: argument!(sync_point),
                    handle: argument!(mutable_handle),
                };
                call!($path, (recording), [$($given)?], ($($arg),*), ())
            })
        }
    };
    (
        created $name:ident ($($arg:ident : $type:ty),*) -> $result:ty = $path:path,
        [$($given:tt)?]
    ) => {
        /// The C entry point of this name.
        ///
        /// # Safety
        /// As its OpenCL specification says of the arguments.
        pub unsafe extern "C" fn $name($($arg: $type,)* errcode_ret: *mut cl_int) -> $result {
            let errcode_ret = argument!(errcode_ret);
            $crate::abi::wrapper::created(stringify!($name), errcode_ret, || {
                call!($path, (), [$($given)?], ($($arg),*), ())
            })
        }
    };
    (
        plain $name:ident ($($arg:ident : $type:ty),*) $(-> $result:ty)? = $path:path,
        [$($given:tt)?]
    ) => {
        /// The C entry point of this name.
        ///
        /// # Safety
        /// As its OpenCL specification says of the arguments.
        pub unsafe extern "C" fn $name($($arg: $type),*) $(-> $result)? {
            $crate::abi::wrapper::plain(stringify!($name), || {
                call!($path, (), [$($given)?], ($($arg),*), ())
            })
        }
    };
}

macro_rules! wrappers {
    (
        $($kind:ident $name:ident ($($arg:ident : $type:ty),* $(,)?) $(-> $result:ty)?
            = $path:path $([$($given:tt)*])?;)*
    ) => {
        /// The functions of the dispatch table.
        #[allow(non_snake_case)]
        pub mod wrapper {
            use super::*;
            $(
                wrapper! {
                    $kind $name($($arg: $type),*) $(-> $result)? = $path, [$(($($given)*))?]
                }
            )*
        }

        /// The address of the entry point called `name`.
        pub fn find(name: &str) -> Option<*mut c_void> {
            match name {
                $(stringify!($name) => Some(wrapper::$name as *const () as *mut c_void),)*
                _ => None,
            }
        }
    };
}

/// Gives the lines of the table to the macro `$expand`.
macro_rules! entry_points {
    ($expand:ident) => {
        $expand! {
            // platform.rs
            status clGetPlatformIDs(
                num_entries: cl_uint, platforms: *mut cl_platform_id, num_platforms: *mut cl_uint,
            ) = platform::get_ids;
            query clGetPlatformInfo(
                platform: cl_platform_id, param_name: cl_platform_info,
            ) = platform::get_info;
            status clUnloadCompiler() = platform::unload_any_compiler;
            status clUnloadPlatformCompiler(platform: cl_platform_id) = platform::unload_compiler;
            status clIcdGetPlatformIDsKHR(
                num_entries: cl_uint, platforms: *mut cl_platform_id, num_platforms: *mut cl_uint,
            ) = platform::get_ids_for_loader;

            // device.rs
            status clGetDeviceIDs(
                platform: cl_platform_id, device_type: cl_device_type, num_entries: cl_uint,
                devices: *mut cl_device_id, num_devices: *mut cl_uint,
            ) = device::get_ids[platform, device_type, devices[num_entries], num_devices];
            query clGetDeviceInfo(device: cl_device_id, param_name: cl_device_info) = device_info::get_info;
            status clCreateSubDevices(
                in_device: cl_device_id, properties: *const cl_device_partition_property,
                num_devices: cl_uint, out_devices: *mut cl_device_id, num_devices_ret: *mut cl_uint,
            ) = sub_device::create[in_device, properties, out_devices[num_devices], num_devices_ret];
            status clRetainDevice(device: cl_device_id) = device::retain;
            status clReleaseDevice(device: cl_device_id) = device::release;
            status clGetDeviceAndHostTimer(
                device: cl_device_id, device_timestamp: *mut cl_ulong, host_timestamp: *mut cl_ulong,
            ) = device::get_device_and_host_timer;
            status clGetHostTimer(
                device: cl_device_id, host_timestamp: *mut cl_ulong,
            ) = device::get_host_timer;
            status clSetDefaultDeviceCommandQueue(
                context: cl_context, device: cl_device_id, command_queue: cl_command_queue,
            ) = queue::set_default;
            status clCreateSubDevicesEXT(
                in_device: cl_device_id, properties: *const cl_device_partition_property_ext,
                num_entries: cl_uint, out_devices: *mut cl_device_id, num_devices: *mut cl_uint,
            ) = sub_device::create_ext[in_device, properties, out_devices[num_entries], num_devices];
            status clRetainDeviceEXT(device: cl_device_id) = device::retain;
            status clReleaseDeviceEXT(device: cl_device_id) = device::release;

            // context.rs
            created clCreateContext(
                properties: *const cl_context_properties, num_devices: cl_uint,
                devices: *const cl_device_id, pfn_notify: ContextNotify, user_data: *mut c_void,
            ) -> cl_context = context::create[properties, devices[num_devices], pfn_notify, user_data];
            created clCreateContextFromType(
                properties: *const cl_context_properties, device_type: cl_device_type,
                pfn_notify: ContextNotify, user_data: *mut c_void,
            ) -> cl_context = context::create_from_type;
            status clRetainContext(context: cl_context) = context::Context::retain_raw;
            status clReleaseContext(context: cl_context) = context::Context::release_raw;
            status clTerminateContextKHR(context: cl_context) = context::terminate;
            query clGetContextInfo(context: cl_context, param_name: cl_context_info) = context::get_info;
            status clSetContextDestructorCallback(
                context: cl_context, pfn_notify: ContextDestroyed, user_data: *mut c_void,
            ) = context::set_destructor_callback;

            // queue.rs
            created clCreateCommandQueue(
                context: cl_context, device: cl_device_id, properties: cl_command_queue_properties,
            ) -> cl_command_queue = queue::create;
            status clRetainCommandQueue(command_queue: cl_command_queue) = queue::Queue::retain_raw;
            status clReleaseCommandQueue(command_queue: cl_command_queue) = queue::release;
            query clGetCommandQueueInfo(
                command_queue: cl_command_queue, param_name: cl_command_queue_info,
            ) = queue::get_info;
            status clSetCommandQueueProperty(
                command_queue: cl_command_queue, properties: cl_command_queue_properties, enable: cl_bool,
                old_properties: *mut cl_command_queue_properties,
            ) = queue::set_property;
            status clFlush(command_queue: cl_command_queue) = queue::flush;
            status clFinish(command_queue: cl_command_queue) = queue::finish_all;
            status clEnqueueMarker(command_queue: cl_command_queue, event: *mut cl_event) = order::marker;
            status clEnqueueWaitForEvents(
                command_queue: cl_command_queue, num_events: cl_uint, event_list: *const cl_event,
            ) = order::wait_for_events[command_queue, event_list[num_events]];
            status clEnqueueBarrier(command_queue: cl_command_queue) = order::barrier;
            enqueue clEnqueueMarkerWithWaitList(
                command_queue: cl_command_queue,
            ) = order::marker_with_wait_list;
            enqueue clEnqueueBarrierWithWaitList(
                command_queue: cl_command_queue,
            ) = order::barrier_with_wait_list;
            created clCreateCommandQueueWithProperties(
                context: cl_context, device: cl_device_id, properties: *const cl_queue_properties,
            ) -> cl_command_queue = queue::create_with_properties;
            created clCreateCommandQueueWithPropertiesKHR(
                context: cl_context, device: cl_device_id, properties: *const cl_queue_properties,
            ) -> cl_command_queue = queue::create_with_properties;

            // event.rs
            status clWaitForEvents(num_events: cl_uint, event_list: *const cl_event) = event::wait[event_list[num_events]];
            query clGetEventInfo(event: cl_event, param_name: cl_event_info) = event::get_info;
            status clRetainEvent(event: cl_event) = event::Event::retain_raw;
            status clReleaseEvent(event: cl_event) = event::Event::release_raw;
            query clGetEventProfilingInfo(
                event: cl_event, param_name: cl_profiling_info,
            ) = event::get_profiling_info;
            status clSetEventCallback(
                event: cl_event, command_exec_callback_type: cl_int, pfn_notify: EventNotify,
                user_data: *mut c_void,
            ) = event::set_callback;
            created clCreateUserEvent(context: cl_context) -> cl_event = event::create_user;
            status clSetUserEventStatus(event: cl_event, execution_status: cl_int) = event::set_user_status;

            // memory.rs
            created clCreateBuffer(
                context: cl_context, flags: cl_mem_flags, size: usize, host_ptr: *mut c_void,
            ) -> cl_mem = memory::create_buffer;
            status clRetainMemObject(memobj: cl_mem) = memory::Mem::retain_raw;
            status clReleaseMemObject(memobj: cl_mem) = memory::Mem::release_raw;
            query clGetMemObjectInfo(memobj: cl_mem, param_name: cl_mem_info) = memory::get_info;
            created clCreateSubBuffer(
                buffer: cl_mem, flags: cl_mem_flags, buffer_create_type: cl_buffer_create_type,
                buffer_create_info: *const c_void,
            ) -> cl_mem = memory::create_sub_buffer;
            status clSetMemObjectDestructorCallback(
                memobj: cl_mem, pfn_notify: MemNotify, user_data: *mut c_void,
            ) = memory::set_destructor_callback;
            created clCreateBufferWithProperties(
                context: cl_context, properties: *const cl_mem_properties, flags: cl_mem_flags,
                size: usize, host_ptr: *mut c_void,
            ) -> cl_mem = memory::create_buffer_with_properties;
            created clCreateBufferWithPropertiesINTEL(
                context: cl_context, properties: *const cl_mem_properties, flags: cl_mem_flags,
                size: usize, host_ptr: *mut c_void,
            ) -> cl_mem = memory::create_buffer_with_properties_intel;

            // transfer.rs
            submit clEnqueueReadBuffer(
                buffer: cl_mem, blocking_read: cl_bool, offset: usize,
                size: usize, ptr: *mut c_void,
            ) = transfer::read;
            submit clEnqueueWriteBuffer(
                buffer: cl_mem, blocking_write: cl_bool, offset: usize,
                size: usize, ptr: *const c_void,
            ) = transfer::write;
            submit clEnqueueCopyBuffer(
                src_buffer: cl_mem, dst_buffer: cl_mem, src_offset: usize,
                dst_offset: usize, size: usize,
            ) = transfer::copy;
            created clEnqueueMapBuffer(
                command_queue: cl_command_queue, buffer: cl_mem, blocking_map: cl_bool,
                map_flags: cl_map_flags, offset: usize, size: usize, num_events_in_wait_list: cl_uint,
                event_wait_list: *const cl_event, event: *mut cl_event,
            ) -> *mut c_void = transfer::map[command_queue, buffer, blocking_map, map_flags, offset, size,
                event_wait_list[num_events_in_wait_list], event];
            enqueue clEnqueueUnmapMemObject(
                command_queue: cl_command_queue, memobj: cl_mem, mapped_ptr: *mut c_void,
            ) = transfer::unmap;
            submit clEnqueueReadBufferRect(
                buffer: cl_mem, blocking_read: cl_bool,
                buffer_origin: *const usize, host_origin: *const usize, region: *const usize,
                buffer_row_pitch: usize, buffer_slice_pitch: usize, host_row_pitch: usize,
                host_slice_pitch: usize, ptr: *mut c_void,
            ) = transfer::read_rect;
            submit clEnqueueWriteBufferRect(
                buffer: cl_mem, blocking_write: cl_bool,
                buffer_origin: *const usize, host_origin: *const usize, region: *const usize,
                buffer_row_pitch: usize, buffer_slice_pitch: usize, host_row_pitch: usize,
                host_slice_pitch: usize, ptr: *const c_void,
            ) = transfer::write_rect;
            submit clEnqueueCopyBufferRect(
                src_buffer: cl_mem, dst_buffer: cl_mem,
                src_origin: *const usize, dst_origin: *const usize, region: *const usize,
                src_row_pitch: usize, src_slice_pitch: usize, dst_row_pitch: usize, dst_slice_pitch: usize,
            ) = transfer::copy_rect;
            submit clEnqueueFillBuffer(
                buffer: cl_mem, pattern: *const c_void,
                pattern_size: usize, offset: usize, size: usize,
            ) = transfer::fill[buffer, pattern[pattern_size], offset, size];
            enqueue clEnqueueMigrateMemObjects(
                command_queue: cl_command_queue, num_mem_objects: cl_uint, mem_objects: *const cl_mem,
                flags: cl_mem_migration_flags,
            ) = transfer::migrate[command_queue, mem_objects[num_mem_objects], flags];
            enqueue clEnqueueMigrateMemObjectEXT(
                command_queue: cl_command_queue, num_mem_objects: cl_uint, mem_objects: *const cl_mem,
                flags: cl_mem_migration_flags_ext,
            ) = transfer::migrate_ext[command_queue, mem_objects[num_mem_objects], flags];

            // svm.rs
            plain clSVMAlloc(
                context: cl_context, flags: cl_svm_mem_flags, size: usize, alignment: cl_uint,
            ) -> *mut c_void = svm::alloc;
            plain clSVMFree(context: cl_context, svm_pointer: *mut c_void) = svm::free;
            enqueue clEnqueueSVMFree(
                command_queue: cl_command_queue, num_svm_pointers: cl_uint, svm_pointers: *mut *mut c_void,
                pfn_free_func: SvmFreeNotify, user_data: *mut c_void,
            ) = svm::enqueue_free[command_queue, svm_pointers[num_svm_pointers], pfn_free_func, user_data];
            submit clEnqueueSVMMemcpy(
                blocking_copy: cl_bool, dst_ptr: *mut c_void,
                src_ptr: *const c_void, size: usize,
            ) = svm::memcpy;
            submit clEnqueueSVMMemFill(
                svm_ptr: *mut c_void, pattern: *const c_void,
                pattern_size: usize, size: usize,
            ) = svm::mem_fill[svm_ptr, pattern[pattern_size], size];
            enqueue clEnqueueSVMMap(
                command_queue: cl_command_queue, blocking_map: cl_bool, flags: cl_map_flags,
                svm_ptr: *mut c_void, size: usize,
            ) = svm::map;
            enqueue clEnqueueSVMUnmap(command_queue: cl_command_queue, svm_ptr: *mut c_void) = svm::unmap;
            enqueue clEnqueueSVMMigrateMem(
                command_queue: cl_command_queue, num_svm_pointers: cl_uint,
                svm_pointers: *mut *const c_void, sizes: *const usize, flags: cl_mem_migration_flags,
            ) = svm::migrate[command_queue, svm_pointers[num_svm_pointers], sizes[num_svm_pointers], flags];

            // unified_svm.rs
            created clSVMAllocWithPropertiesKHR(
                context: cl_context, properties: *const cl_svm_alloc_properties_khr,
                svm_type_index: cl_uint, size: usize,
            ) -> *mut c_void = unified_svm::alloc;
            status clSVMFreeWithPropertiesKHR(
                context: cl_context, properties: *const cl_svm_free_properties_khr,
                flags: cl_svm_free_flags_khr, ptr: *mut c_void,
            ) = unified_svm::free;
            query clGetSVMPointerInfoKHR(
                context: cl_context, device: cl_device_id, ptr: *const c_void,
                param_name: cl_svm_pointer_info_khr,
            ) = unified_svm::get_info;
            status clGetSVMSuggestedTypeIndexKHR(
                context: cl_context, required_capabilities: cl_svm_capabilities_khr,
                desired_capabilities: cl_svm_capabilities_khr,
                properties: *const cl_svm_alloc_properties_khr, size: usize,
                suggested_svm_type_index: *mut cl_uint,
            ) = unified_svm::get_suggested_type;
            submit clEnqueueSVMMemcpyWithPropertiesKHR(
                properties: *const cl_properties, blocking_copy: cl_bool,
                dst_ptr: *mut c_void, src_ptr: *const c_void, size: usize,
            ) = unified_svm::memcpy_with_properties;

            // usm.rs
            created clHostMemAllocINTEL(
                context: cl_context, properties: *const cl_mem_properties_intel, size: usize,
                alignment: cl_uint,
            ) -> *mut c_void = usm::alloc_host;
            created clDeviceMemAllocINTEL(
                context: cl_context, device: cl_device_id, properties: *const cl_mem_properties_intel,
                size: usize, alignment: cl_uint,
            ) -> *mut c_void = usm::alloc_device;
            created clSharedMemAllocINTEL(
                context: cl_context, device: cl_device_id, properties: *const cl_mem_properties_intel,
                size: usize, alignment: cl_uint,
            ) -> *mut c_void = usm::alloc_shared;
            status clMemFreeINTEL(context: cl_context, ptr: *mut c_void) = usm::free;
            status clMemBlockingFreeINTEL(context: cl_context, ptr: *mut c_void) = usm::blocking_free;
            query clGetMemAllocInfoINTEL(
                context: cl_context, ptr: *const c_void, param_name: cl_mem_info_intel,
            ) = usm::get_info;
            submit clEnqueueMemFillINTEL(
                dst_ptr: *mut c_void, pattern: *const c_void,
                pattern_size: usize, size: usize,
            ) = usm::fill[dst_ptr, pattern[pattern_size], size];
            submit clEnqueueMemsetINTEL(
                dst_ptr: *mut c_void, value: cl_int, size: usize,
            ) = usm::set;
            submit clEnqueueMemcpyINTEL(
                blocking: cl_bool, dst_ptr: *mut c_void,
                src_ptr: *const c_void, size: usize,
            ) = usm::memcpy;
            enqueue clEnqueueMigrateMemINTEL(
                command_queue: cl_command_queue, ptr: *const c_void, size: usize,
                flags: cl_mem_migration_flags,
            ) = usm::migrate;
            enqueue clEnqueueMemAdviseINTEL(
                command_queue: cl_command_queue, ptr: *const c_void, size: usize,
                advice: cl_mem_advice_intel,
            ) = usm::advise;

            // image.rs
            created clCreateImage2D(
                context: cl_context, flags: cl_mem_flags, image_format: *const cl_image_format,
                image_width: usize, image_height: usize, image_row_pitch: usize, host_ptr: *mut c_void,
            ) -> cl_mem = image::create_2d;
            created clCreateImage3D(
                context: cl_context, flags: cl_mem_flags, image_format: *const cl_image_format,
                image_width: usize, image_height: usize, image_depth: usize, image_row_pitch: usize,
                image_slice_pitch: usize, host_ptr: *mut c_void,
            ) -> cl_mem = image::create_3d;
            status clGetSupportedImageFormats(
                context: cl_context, flags: cl_mem_flags, image_type: cl_mem_object_type,
                num_entries: cl_uint, image_formats: *mut cl_image_format, num_image_formats: *mut cl_uint,
            ) = image::get_supported_formats[context, flags, image_type, image_formats[num_entries], num_image_formats];
            query clGetImageInfo(image: cl_mem, param_name: cl_image_info) = image::get_info;
            query clGetImageRequirementsInfoEXT(
                context: cl_context, properties: *const cl_mem_properties, flags: cl_mem_flags,
                image_format: *const cl_image_format, image_desc: *const cl_image_desc,
                param_name: cl_image_requirements_info_ext,
            ) = image::get_requirements;
            submit clEnqueueReadImage(
                image: cl_mem, blocking_read: cl_bool,
                origin: *const usize, region: *const usize, row_pitch: usize, slice_pitch: usize,
                ptr: *mut c_void,
            ) = image_transfer::read;
            submit clEnqueueWriteImage(
                image: cl_mem, blocking_write: cl_bool,
                origin: *const usize, region: *const usize, input_row_pitch: usize,
                input_slice_pitch: usize, ptr: *const c_void,
            ) = image_transfer::write;
            submit clEnqueueCopyImage(
                src_image: cl_mem, dst_image: cl_mem,
                src_origin: *const usize, dst_origin: *const usize, region: *const usize,
            ) = image_transfer::copy;
            submit clEnqueueCopyImageToBuffer(
                src_image: cl_mem, dst_buffer: cl_mem,
                src_origin: *const usize, region: *const usize, dst_offset: usize,
            ) = image_transfer::copy_to_buffer;
            submit clEnqueueCopyBufferToImage(
                src_buffer: cl_mem, dst_image: cl_mem, src_offset: usize,
                dst_origin: *const usize, region: *const usize,
            ) = image_transfer::copy_from_buffer;
            created clEnqueueMapImage(
                command_queue: cl_command_queue, image: cl_mem, blocking_map: cl_bool,
                map_flags: cl_map_flags, origin: *const usize, region: *const usize,
                image_row_pitch: *mut usize, image_slice_pitch: *mut usize,
                num_events_in_wait_list: cl_uint, event_wait_list: *const cl_event, event: *mut cl_event,
            ) -> *mut c_void = image_transfer::map[command_queue, image, blocking_map, map_flags, origin, region, image_row_pitch,
                image_slice_pitch, event_wait_list[num_events_in_wait_list], event];
            created clCreateImage(
                context: cl_context, flags: cl_mem_flags, image_format: *const cl_image_format,
                image_desc: *const cl_image_desc, host_ptr: *mut c_void,
            ) -> cl_mem = image::create;
            submit clEnqueueFillImage(
                image: cl_mem, fill_color: *const c_void,
                origin: *const usize, region: *const usize,
            ) = image_transfer::fill;
            created clCreateImageWithProperties(
                context: cl_context, properties: *const cl_mem_properties, flags: cl_mem_flags,
                image_format: *const cl_image_format, image_desc: *const cl_image_desc,
                host_ptr: *mut c_void,
            ) -> cl_mem = image::create_with_properties;

            // sampler.rs
            created clCreateSampler(
                context: cl_context, normalized_coords: cl_bool, addressing_mode: cl_addressing_mode,
                filter_mode: cl_filter_mode,
            ) -> cl_sampler = sampler::create;
            status clRetainSampler(sampler: cl_sampler) = sampler::Sampler::retain_raw;
            status clReleaseSampler(sampler: cl_sampler) = sampler::Sampler::release_raw;
            query clGetSamplerInfo(sampler: cl_sampler, param_name: cl_sampler_info) = sampler::get_info;
            created clCreateSamplerWithProperties(
                context: cl_context, sampler_properties: *const cl_sampler_properties,
            ) -> cl_sampler = sampler::create_with_properties;

            // pipe.rs
            created clCreatePipe(
                context: cl_context, flags: cl_mem_flags, pipe_packet_size: cl_uint,
                pipe_max_packets: cl_uint, properties: *const cl_pipe_properties,
            ) -> cl_mem = pipe::create;
            query clGetPipeInfo(pipe: cl_mem, param_name: cl_pipe_info) = pipe::get_info;

            // program.rs
            created clCreateProgramWithSource(
                context: cl_context, count: cl_uint, strings: *mut *const c_char, lengths: *const usize,
            ) -> cl_program = program::create_with_source[context, strings[count], lengths[count]];
            created clCreateProgramWithBinary(
                context: cl_context, num_devices: cl_uint, device_list: *const cl_device_id,
                lengths: *const usize, binaries: *mut *const u8, binary_status: *mut cl_int,
            ) -> cl_program = program::create_with_binary[context, device_list[num_devices], lengths[num_devices], binaries[num_devices],
                binary_status[num_devices]];
            status clRetainProgram(program: cl_program) = program::Program::retain_raw;
            status clReleaseProgram(program: cl_program) = program::Program::release_raw;
            query clGetProgramInfo(program: cl_program, param_name: cl_program_info) = program::get_info;
            query clGetProgramBuildInfo(
                program: cl_program, device: cl_device_id, param_name: cl_program_build_info,
            ) = program::get_build_info;
            created clCreateProgramWithBuiltInKernels(
                context: cl_context, num_devices: cl_uint, device_list: *const cl_device_id,
                kernel_names: *const c_char,
            ) -> cl_program = program::create_with_built_in_kernels[context, device_list[num_devices], kernel_names];
            created clCreateProgramWithIL(
                context: cl_context, il: *const c_void, length: usize,
            ) -> cl_program = program::create_with_il[context, il[length]];
            status clSetProgramReleaseCallback(
                program: cl_program, pfn_notify: ProgramNotify, user_data: *mut c_void,
            ) = program::set_release_callback;
            status clSetProgramSpecializationConstant(
                program: cl_program, spec_id: cl_uint, spec_size: usize, spec_value: *const c_void,
            ) = program::set_specialization_constant[program, spec_id, spec_value[spec_size]];
            created clCreateProgramWithILKHR(
                context: cl_context, il: *const c_void, length: usize,
            ) -> cl_program = program::create_with_il[context, il[length]];

            // build.rs
            status clBuildProgram(
                program: cl_program, num_devices: cl_uint, device_list: *const cl_device_id,
                options: *const c_char, pfn_notify: ProgramNotify, user_data: *mut c_void,
            ) = build::build[program, device_list[num_devices], options, pfn_notify, user_data];
            status clCompileProgram(
                program: cl_program, num_devices: cl_uint, device_list: *const cl_device_id,
                options: *const c_char, num_input_headers: cl_uint, input_headers: *const cl_program,
                header_include_names: *mut *const c_char, pfn_notify: ProgramNotify,
                user_data: *mut c_void,
            ) = build::compile[program, device_list[num_devices], options, input_headers[num_input_headers],
                header_include_names[num_input_headers], pfn_notify, user_data];
            created clLinkProgram(
                context: cl_context, num_devices: cl_uint, device_list: *const cl_device_id,
                options: *const c_char, num_input_programs: cl_uint, input_programs: *const cl_program,
                pfn_notify: ProgramNotify, user_data: *mut c_void,
            ) -> cl_program = build::link[context, device_list[num_devices], options, input_programs[num_input_programs], pfn_notify,
                user_data];

            // kernel.rs
            created clCreateKernel(
                program: cl_program, kernel_name: *const c_char,
            ) -> cl_kernel = kernel::create;
            status clCreateKernelsInProgram(
                program: cl_program, num_kernels: cl_uint, kernels: *mut cl_kernel,
                num_kernels_ret: *mut cl_uint,
            ) = kernel::create_all[program, kernels[num_kernels], num_kernels_ret];
            status clRetainKernel(kernel: cl_kernel) = kernel::Kernel::retain_raw;
            status clReleaseKernel(kernel: cl_kernel) = kernel::Kernel::release_raw;
            status clSetKernelArg(
                kernel: cl_kernel, arg_index: cl_uint, arg_size: usize, arg_value: *const c_void,
            ) = kernel::set_arg[kernel, arg_index, arg_value[arg_size]];
            status clSetKernelArgSVMPointer(
                kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void,
            ) = kernel::set_arg_svm_pointer;
            status clSetKernelArgDevicePointerEXT(
                kernel: cl_kernel, arg_index: cl_uint, arg_value: cl_mem_device_address_ext,
            ) = kernel::set_arg_device_pointer;
            status clSetKernelArgMemPointerINTEL(
                kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void,
            ) = kernel::set_arg_svm_pointer;
            status clSetKernelExecInfo(
                kernel: cl_kernel, param_name: cl_kernel_exec_info, param_value_size: usize,
                param_value: *const c_void,
            ) = kernel::set_exec_info[kernel, param_name, param_value[param_value_size]];
            created clCloneKernel(source_kernel: cl_kernel) -> cl_kernel = kernel::clone;

            // kernel_info.rs
            query clGetKernelInfo(kernel: cl_kernel, param_name: cl_kernel_info) = kernel_info::get_info;
            query clGetKernelWorkGroupInfo(
                kernel: cl_kernel, device: cl_device_id, param_name: cl_kernel_work_group_info,
            ) = kernel_info::get_work_group_info;
            query clGetKernelArgInfo(
                kernel: cl_kernel, arg_index: cl_uint, param_name: cl_kernel_arg_info,
            ) = kernel_info::get_arg_info;
            query clGetKernelSubGroupInfo(
                kernel: cl_kernel, device: cl_device_id, param_name: cl_kernel_sub_group_info,
                input_value_size: usize, input_value: *const c_void,
            ) = kernel_info::get_sub_group_info[kernel, device, param_name, input_value[input_value_size]];
            status clGetKernelSuggestedLocalWorkSize(
                command_queue: cl_command_queue, kernel: cl_kernel, work_dim: cl_uint,
                global_work_offset: *const usize, global_work_size: *const usize,
                suggested_local_work_size: *mut usize,
            ) = kernel_info::get_suggested_local_work_size[command_queue, kernel, global_work_offset[work_dim], global_work_size[work_dim],
                suggested_local_work_size[work_dim]];
            query clGetKernelSubGroupInfoKHR(
                kernel: cl_kernel, device: cl_device_id, param_name: cl_kernel_sub_group_info,
                input_value_size: usize, input_value: *const c_void,
            ) = kernel_info::get_sub_group_info[kernel, device, param_name, input_value[input_value_size]];
            status clGetKernelSuggestedLocalWorkSizeKHR(
                command_queue: cl_command_queue, kernel: cl_kernel, work_dim: cl_uint,
                global_work_offset: *const usize, global_work_size: *const usize,
                suggested_local_work_size: *mut usize,
            ) = kernel_info::get_suggested_local_work_size[command_queue, kernel, global_work_offset[work_dim], global_work_size[work_dim],
                suggested_local_work_size[work_dim]];

            // launch.rs
            enqueue clEnqueueNDRangeKernel(
                command_queue: cl_command_queue, kernel: cl_kernel, work_dim: cl_uint,
                global_work_offset: *const usize, global_work_size: *const usize,
                local_work_size: *const usize,
            ) = launch::nd_range[command_queue, kernel, global_work_offset[work_dim], global_work_size[work_dim],
                local_work_size[work_dim]];
            enqueue clEnqueueTask(command_queue: cl_command_queue, kernel: cl_kernel) = launch::task;
            enqueue clEnqueueNativeKernel(
                command_queue: cl_command_queue, user_func: NativeKernel, args: *mut c_void,
                cb_args: usize, num_mem_objects: cl_uint, mem_list: *const cl_mem,
                args_mem_loc: *mut *const c_void,
            ) = launch::native_kernel[command_queue, user_func, args[cb_args], mem_list[num_mem_objects],
                args_mem_loc[num_mem_objects]];

            // command_buffer.rs
            created clCreateCommandBufferKHR(
                num_queues: cl_uint, queues: *const cl_command_queue,
                properties: *const cl_command_buffer_properties_khr,
            ) -> cl_command_buffer_khr = command_buffer::create[queues[num_queues], properties];
            status clRetainCommandBufferKHR(
                command_buffer: cl_command_buffer_khr,
            ) = command_buffer::CommandBuffer::retain_raw;
            status clReleaseCommandBufferKHR(
                command_buffer: cl_command_buffer_khr,
            ) = command_buffer::CommandBuffer::release_raw;
            status clFinalizeCommandBufferKHR(
                command_buffer: cl_command_buffer_khr,
            ) = command_buffer::finalize;
            enqueue clEnqueueCommandBufferKHR(
                num_queues: cl_uint, queues: *const cl_command_queue,
                command_buffer: cl_command_buffer_khr,
            ) = command_buffer::enqueue[queues[num_queues], command_buffer];
            query clGetCommandBufferInfoKHR(
                command_buffer: cl_command_buffer_khr, param_name: cl_command_buffer_info_khr,
            ) = command_buffer::get_info;
            created clRemapCommandBufferKHR(
                command_buffer: cl_command_buffer_khr, automatic: cl_bool, num_queues: cl_uint,
                queues: *const cl_command_queue, num_handles: cl_uint,
                handles: *const cl_mutable_command_khr, handles_ret: *mut cl_mutable_command_khr,
            ) -> cl_command_buffer_khr = command_buffer::remap[command_buffer, automatic, queues[num_queues], handles[num_handles],
                handles_ret[num_handles]];
            status clUpdateMutableCommandsKHR(
                command_buffer: cl_command_buffer_khr, num_configs: cl_uint,
                config_types: *const cl_command_buffer_update_type_khr, configs: *mut *const c_void,
            ) = mutable_command::update[command_buffer, config_types[num_configs], configs[num_configs]];
            query clGetMutableCommandInfoKHR(
                command: cl_mutable_command_khr, param_name: cl_mutable_command_info_khr,
            ) = mutable_command::get_info;
            command clCommandBarrierWithWaitListKHR() = order::record_barrier;
            command clCommandCopyBufferKHR(
                src_buffer: cl_mem, dst_buffer: cl_mem, src_offset: usize, dst_offset: usize, size: usize,
            ) = transfer::copy;
            command clCommandCopyBufferRectKHR(
                src_buffer: cl_mem, dst_buffer: cl_mem, src_origin: *const usize, dst_origin: *const usize,
                region: *const usize, src_row_pitch: usize, src_slice_pitch: usize, dst_row_pitch: usize,
                dst_slice_pitch: usize,
            ) = transfer::copy_rect;
            command clCommandCopyBufferToImageKHR(
                src_buffer: cl_mem, dst_image: cl_mem, src_offset: usize, dst_origin: *const usize,
                region: *const usize,
            ) = image_transfer::copy_from_buffer;
            command clCommandCopyImageKHR(
                src_image: cl_mem, dst_image: cl_mem, src_origin: *const usize, dst_origin: *const usize,
                region: *const usize,
            ) = image_transfer::copy;
            command clCommandCopyImageToBufferKHR(
                src_image: cl_mem, dst_buffer: cl_mem, src_origin: *const usize, region: *const usize,
                dst_offset: usize,
            ) = image_transfer::copy_to_buffer;
            command clCommandFillBufferKHR(
                buffer: cl_mem, pattern: *const c_void, pattern_size: usize, offset: usize, size: usize,
            ) = transfer::fill[buffer, pattern[pattern_size], offset, size];
            command clCommandFillImageKHR(
                image: cl_mem, fill_color: *const c_void, origin: *const usize, region: *const usize,
            ) = image_transfer::fill;
            command clCommandNDRangeKernelKHR(
                kernel: cl_kernel, work_dim: cl_uint, global_work_offset: *const usize,
                global_work_size: *const usize, local_work_size: *const usize,
            ) = mutable_command::record[kernel, global_work_offset[work_dim], global_work_size[work_dim],
                local_work_size[work_dim]];
            command clCommandSVMMemcpyKHR(
                dst_ptr: *mut c_void, src_ptr: *const c_void, size: usize,
            ) = svm::record_memcpy;
            command clCommandSVMMemFillKHR(
                svm_ptr: *mut c_void, pattern: *const c_void, pattern_size: usize, size: usize,
            ) = svm::mem_fill[svm_ptr, pattern[pattern_size], size];

            // external_memory.rs
            enqueue clEnqueueAcquireExternalMemObjectsKHR(
                command_queue: cl_command_queue, num_mem_objects: cl_uint, mem_objects: *const cl_mem,
            ) = external_memory::enqueue_acquire[command_queue, mem_objects[num_mem_objects]];
            enqueue clEnqueueReleaseExternalMemObjectsKHR(
                command_queue: cl_command_queue, num_mem_objects: cl_uint, mem_objects: *const cl_mem,
            ) = external_memory::enqueue_release[command_queue, mem_objects[num_mem_objects]];

            // variable.rs
            submit clEnqueueReadGlobalVariableINTEL(
                program: cl_program, name: *const c_char,
                blocking_read: cl_bool, size: usize, offset: usize, ptr: *mut c_void,
            ) = variable::read;
            submit clEnqueueWriteGlobalVariableINTEL(
                program: cl_program, name: *const c_char,
                blocking_write: cl_bool, size: usize, offset: usize, ptr: *const c_void,
            ) = variable::write;
            status clGetDeviceGlobalVariablePointerINTEL(
                device: cl_device_id, program: cl_program, name: *const c_char,
                size: *mut usize, pointer: *mut *mut c_void,
            ) = variable::get_pointer;

            // semaphore.rs
            created clCreateSemaphoreWithPropertiesKHR(
                context: cl_context, sema_props: *const cl_semaphore_properties_khr,
            ) -> cl_semaphore_khr = semaphore::create;
            status clRetainSemaphoreKHR(sema_object: cl_semaphore_khr) = semaphore::Semaphore::retain_raw;
            status clReleaseSemaphoreKHR(sema_object: cl_semaphore_khr) = semaphore::Semaphore::release_raw;
            query clGetSemaphoreInfoKHR(
                sema_object: cl_semaphore_khr, param_name: cl_semaphore_info_khr,
            ) = semaphore::get_info;
            query clGetSemaphoreHandleForTypeKHR(
                sema_object: cl_semaphore_khr, device: cl_device_id,
                handle_type: cl_external_semaphore_handle_type_khr,
            ) = semaphore::get_handle;
            enqueue clEnqueueWaitSemaphoresKHR(
                command_queue: cl_command_queue, num_sema_objects: cl_uint,
                sema_objects: *const cl_semaphore_khr, sema_payload_list: *const cl_semaphore_payload_khr,
            ) = semaphore::enqueue_wait[command_queue, sema_objects[num_sema_objects], sema_payload_list];
            enqueue clEnqueueSignalSemaphoresKHR(
                command_queue: cl_command_queue, num_sema_objects: cl_uint,
                sema_objects: *const cl_semaphore_khr, sema_payload_list: *const cl_semaphore_payload_khr,
            ) = semaphore::enqueue_signal[command_queue, sema_objects[num_sema_objects], sema_payload_list];

            // extension.rs
            plain clGetExtensionFunctionAddress(
                func_name: *const c_char,
            ) -> *mut c_void = extension::get_address[FIND, func_name];
            plain clGetExtensionFunctionAddressForPlatform(
                platform: cl_platform_id, func_name: *const c_char,
            ) -> *mut c_void = extension::get_address_for_platform[FIND, platform, func_name];
            plain clIcdGetFunctionAddressForPlatformKHR(
                platform: cl_platform_id, func_name: *const c_char,
            ) -> *mut c_void = extension::get_any_address[FIND, platform, func_name];
            status clIcdSetPlatformDispatchDataKHR(
                platform: cl_platform_id, dispatch_data: *mut c_void,
            ) = extension::set_dispatch_data;

            // sharing.rs
            created clCreateFromGLBuffer(
                context: cl_context, flags: cl_mem_flags, bufobj: cl_GLuint,
            ) -> cl_mem = sharing::create_from_gl_buffer;
            created clCreateFromGLTexture(
                context: cl_context, flags: cl_mem_flags, target: cl_GLenum, miplevel: cl_GLint,
                texture: cl_GLuint,
            ) -> cl_mem = sharing::create_from_gl_texture;
            created clCreateFromGLTexture2D(
                context: cl_context, flags: cl_mem_flags, target: cl_GLenum, miplevel: cl_GLint,
                texture: cl_GLuint,
            ) -> cl_mem = sharing::create_from_gl_texture;
            created clCreateFromGLTexture3D(
                context: cl_context, flags: cl_mem_flags, target: cl_GLenum, miplevel: cl_GLint,
                texture: cl_GLuint,
            ) -> cl_mem = sharing::create_from_gl_texture;
            created clCreateFromGLRenderbuffer(
                context: cl_context, flags: cl_mem_flags, renderbuffer: cl_GLuint,
            ) -> cl_mem = sharing::create_from_gl_buffer;
            status clGetGLObjectInfo(
                memobj: cl_mem, gl_object_type: *mut cl_gl_object_type, gl_object_name: *mut cl_GLuint,
            ) = sharing::get_gl_object_info;
            query clGetGLTextureInfo(
                memobj: cl_mem, param_name: cl_gl_texture_info,
            ) = sharing::get_gl_texture_info;
            enqueue clEnqueueAcquireGLObjects(
                command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem,
            ) = sharing::acquire_or_release[command_queue, mem_objects[num_objects]];
            enqueue clEnqueueReleaseGLObjects(
                command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem,
            ) = sharing::acquire_or_release[command_queue, mem_objects[num_objects]];
            enqueue clEnqueueAcquireEGLObjectsKHR(
                command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem,
            ) = sharing::acquire_or_release[command_queue, mem_objects[num_objects]];
            enqueue clEnqueueReleaseEGLObjectsKHR(
                command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem,
            ) = sharing::acquire_or_release[command_queue, mem_objects[num_objects]];
            query clGetGLContextInfoKHR(
                properties: *const cl_context_properties, param_name: cl_gl_context_info,
            ) = sharing::get_gl_context_info;
            created clCreateEventFromGLsyncKHR(
                context: cl_context, sync: cl_GLsync,
            ) -> cl_event = sharing::create_event_from_sync;
            created clCreateFromEGLImageKHR(
                context: cl_context, egldisplay: *mut c_void, eglimage: *mut c_void, flags: cl_mem_flags,
                properties: *const cl_egl_image_properties_khr,
            ) -> cl_mem = sharing::create_from_egl_image;
            created clCreateEventFromEGLSyncKHR(
                context: cl_context, sync: *mut c_void, display: *mut c_void,
            ) -> cl_event = sharing::create_event_from_egl_sync;
        }
    };
}
pub(crate) use entry_points;

entry_points!(wrappers);

#[cfg(test)]
mod tests {
    use brolga_runtime::platform::Platform;

    use super::*;

    #[test]
    fn every_function_of_an_extension_is_an_entry_point() {
        for name in Platform::get().extension_functions() {
            assert!(find(name).is_some(), "{name}");
        }
    }
}
