//! Kernels and their arguments. `kernel_info.rs` answers the queries.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use brolga_compiler::{AddressSpace, ArgKind};
use brolga_runtime::Kernel as RuntimeKernel;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::memory::Mem;
use super::program::Program;
use super::queue::Queue;
use super::sampler::Sampler;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::pointers::{InList, InPtr, OutList, OutPtr, RawHandle};

/// `cl_kernel`
pub struct Kernel {
    pub runtime: Arc<RuntimeKernel>,
    pub program: Ref<Program>,
}

object!(Kernel, ClError::INVALID_KERNEL);

impl OfContext for Kernel {
    fn context(&self) -> &Context {
        &self.program.context
    }
}

impl Kernel {
    fn handle(runtime: Arc<RuntimeKernel>, program: &Ref<Program>) -> Ref<Kernel> {
        Handle::new(Kernel {
            runtime,
            program: program.clone(),
        })
    }
}

/// `clCreateKernel`
pub fn create(program: RawHandle, name: InPtr<c_char>) -> CLResult<RawHandle> {
    let program = Program::usable(program)?;
    // > CL_INVALID_VALUE if kernel_name is NULL.
    let name = name.string().ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for program.
    // > CL_INVALID_KERNEL_NAME if kernel_name is not found in program.
    let name = String::from_utf8_lossy(&name);
    let runtime = program.runtime.kernel(&name)?;
    Ok(Kernel::handle(runtime, &program).raw())
}

/// `clCreateKernelsInProgram`
pub fn create_all(
    program: RawHandle,
    kernels: OutList<RawHandle>,
    num_kernels_ret: OutPtr<cl_uint>,
) -> CLResult<()> {
    let program = Program::usable(program)?;
    // > CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for any device
    // > in program.
    let all = program.runtime.kernels()?;
    // > CL_INVALID_VALUE if kernels is not NULL and num_kernels is less than the number of kernels
    // > in program.
    require(
        kernels.is_null() || kernels.count() >= all.len(),
        ClError::INVALID_VALUE,
    )?;
    num_kernels_ret.set(all.len() as cl_uint);
    if !kernels.is_null() {
        let raws: Vec<RawHandle> = all
            .into_iter()
            .map(|runtime| Kernel::handle(runtime, &program).raw())
            .collect();
        kernels.set(&raws);
    }
    Ok(())
}

/// `clCloneKernel`
pub fn clone(kernel: RawHandle) -> CLResult<RawHandle> {
    let kernel = Kernel::usable(kernel)?;
    Ok(Kernel::handle(kernel.runtime.duplicate(), &kernel.program).raw())
}

/// `clSetKernelArg`
pub fn set_arg(kernel: RawHandle, index: cl_uint, value: InList<u8>) -> CLResult<()> {
    let kernel = Kernel::from_raw(kernel)?;
    set_arg_of(&kernel.runtime, index, value)
}

/// Sets an argument as `clSetKernelArg` does, also of a recorded launch.
pub fn set_arg_of(kernel: &RuntimeKernel, index: cl_uint, value: InList<u8>) -> CLResult<()> {
    // > CL_INVALID_ARG_INDEX if arg_index is not a valid argument index.
    match kernel.arg_kind(index)? {
        ArgKind::Value => {
            // > CL_INVALID_ARG_SIZE if arg_size does not match the size of the data type for an
            // > argument that is not a memory object.
            let expected = kernel.info().args[index as usize].size as usize;
            let bytes = value.at_most(expected).get()?;
            // > CL_INVALID_ARG_VALUE if arg_value specified is not a valid value.
            let bytes = bytes.ok_or(ClError::INVALID_ARG_VALUE)?;
            require(value.count() == expected, ClError::INVALID_ARG_SIZE)?;
            kernel.set_arg_value(index, &bytes)
        }
        ArgKind::Pointer(AddressSpace::Local) => {
            // > CL_INVALID_ARG_VALUE if arg_value is not NULL for an argument declared with the
            // > local qualifier.
            require(value.is_null(), ClError::INVALID_ARG_VALUE)?;
            // > For OpenCL 3.1 and newer, arg_size may be zero, indicating that no local memory is
            // > required for the kernel argument.
            kernel.set_arg_local(index, value.count())
        }
        ArgKind::Pointer(_) => {
            let raw = object_argument(value)?;
            // > If the argument is a buffer object, the arg_value pointer can be NULL or point to a
            // > NULL value.
            if raw.is_null() {
                return kernel.set_arg_buffer(index, None);
            }
            // > CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the
            // > specified arg_value is not a valid memory object.
            let mem = Mem::from_raw(raw)?;
            kernel.set_arg_buffer(index, Some(mem.buffer()?))
        }
        ArgKind::Pipe => {
            let mem = Mem::from_raw(object_argument(value)?)?;
            // > CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the
            // > specified arg_value is not a valid memory object.
            kernel.set_arg_pipe(index, mem.pipe()?)
        }
        ArgKind::Image(_) => {
            let mem = Mem::from_raw(object_argument(value)?)?;
            // > CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the
            // > specified arg_value is not a valid memory object.
            kernel.set_arg_image(index, mem.image()?)
        }
        ArgKind::Sampler => {
            // > CL_INVALID_SAMPLER for an argument declared to be of type sampler_t when the
            // > specified arg_value is not a valid sampler object.
            let sampler = Sampler::from_raw(object_argument(value)?)?;
            kernel.set_arg_sampler(index, &sampler.runtime)
        }
        ArgKind::DeviceQueue => {
            let raw = object_argument(value)?;
            // > CL_INVALID_DEVICE_QUEUE if the kernel argument is a device queue, but arg_value
            // > does not point to a valid device queue object.
            let queue = Queue::from_raw(raw).map_err(|_| ClError::INVALID_DEVICE_QUEUE)?;
            kernel.set_arg_queue(index, &queue.runtime)
        }
        ArgKind::Unused => kernel.set_arg_unused(index),
    }
}

/// The handle that an argument's value points to; null when there is no value.
fn object_argument(value: InList<u8>) -> CLResult<RawHandle> {
    // > CL_INVALID_ARG_SIZE if arg_size != sizeof(cl_mem) and the argument is a memory object, or
    // > if arg_size != sizeof(cl_sampler) and the argument is a sampler.
    require(
        value.count() == size_of::<cl_mem>(),
        ClError::INVALID_ARG_SIZE,
    )?;
    Ok(value.value().unwrap_or(RawHandle::NULL))
}

/// `clSetKernelArgSVMPointer`, `clSetKernelArgMemPointerINTEL`
pub fn set_arg_svm_pointer(
    kernel: RawHandle,
    index: cl_uint,
    value: InPtr<c_void>,
) -> CLResult<()> {
    let kernel = Kernel::from_raw(kernel)?;
    kernel.runtime.set_arg_svm(index, value.address())
}

/// `clSetKernelArgDevicePointerEXT` of `cl_ext_buffer_device_address`
pub fn set_arg_device_pointer(
    kernel: RawHandle,
    index: cl_uint,
    value: cl_mem_device_address_ext,
) -> CLResult<()> {
    let kernel = Kernel::from_raw(kernel)?;
    // > CL_INVALID_ARG_INDEX if arg_index is not a valid argument index, or if arg_index
    // > corresponds to an argument that is not a pointer to the global address space.
    let kind = kernel.runtime.arg_kind(index)?;
    let fits = [ArgKind::Pointer(AddressSpace::Global), ArgKind::Unused];
    require(fits.contains(&kind), ClError::INVALID_ARG_INDEX)?;
    kernel.runtime.set_arg_svm(index, value as usize)
}

/// `clSetKernelExecInfo`
pub fn set_exec_info(
    kernel: RawHandle,
    name: cl_kernel_exec_info,
    value: InList<u8>,
) -> CLResult<()> {
    let kernel = Kernel::from_raw(kernel)?;
    set_exec_info_of(&kernel.runtime, name, value)
}

/// Sets execution information as `clSetKernelExecInfo` does, also of a recorded launch.
pub fn set_exec_info_of(
    kernel: &RuntimeKernel,
    name: cl_kernel_exec_info,
    value: InList<u8>,
) -> CLResult<()> {
    // > CL_INVALID_VALUE if param_name is not valid, if param_value is NULL and param_value_size is
    // > greater than zero, or if the size specified by param_value_size is not valid.
    let size = value.count();
    require(!value.is_null() || size == 0, ClError::INVALID_VALUE)?;
    match name {
        // Every kernel can access all allocations, so there is nothing to record.
        CL_KERNEL_EXEC_INFO_SVM_PTRS
        | CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL
        | CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT => {
            // > Previously set pointers can be unset with param_value_size equal to zero and
            // > param_value NULL.
            require(
                size.is_multiple_of(size_of::<*mut c_void>()) && value.is_null_if_empty(),
                ClError::INVALID_VALUE,
            )
        }
        CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM
        | CL_KERNEL_EXEC_INFO_SVM_INDIRECT_ACCESS_KHR
        | CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL
        | CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL
        | CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL => {
            require(size == size_of::<cl_bool>(), ClError::INVALID_VALUE)?;
            let wanted = value.value() == Some(CL_TRUE);
            let device = kernel.context().device();
            let supported = match name {
                CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
                    device.svm_capabilities & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0
                }
                CL_KERNEL_EXEC_INFO_SVM_INDIRECT_ACCESS_KHR => device.svm_capabilities != 0,
                _ => device.usm_capabilities != 0,
            };
            // > CL_INVALID_OPERATION if param_name is CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM and
            // > param_value is CL_TRUE but no devices in context associated with kernel support
            // > fine-grain system SVM allocations.
            require(!wanted || supported, ClError::INVALID_OPERATION)
        }
        _ => Err(ClError::INVALID_VALUE),
    }
}
