//! Programs: creation and queries. `build.rs` builds them.

use std::ffi::c_char;
use std::sync::Arc;

use brolga_runtime::Program as RuntimeProgram;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::device::Device;
use crate::abi::callback::ProgramNotify;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InList, InPtr, OutList, RawHandle, UserData};

/// `cl_program`
pub struct Program {
    pub runtime: Arc<RuntimeProgram>,
    pub context: Ref<Context>,
    pub devices: Vec<Ref<Device>>,
}

object!(Program, ClError::INVALID_PROGRAM);

impl OfContext for Program {
    fn context(&self) -> &Context {
        &self.context
    }
}

impl Program {
    pub fn handle(
        runtime: Arc<RuntimeProgram>,
        context: Ref<Context>,
        devices: Vec<Ref<Device>>,
    ) -> Ref<Program> {
        Handle::new(Program {
            runtime,
            context,
            devices,
        })
    }

    /// The device of this program that `raw` means.
    pub fn device(&self, raw: RawHandle) -> CLResult<Ref<Device>> {
        self.devices
            .iter()
            .find(|device| device.raw() == raw)
            .cloned()
            .ok_or(ClError::INVALID_DEVICE)
    }
}

/// `clCreateProgramWithSource`
pub fn create_with_source(
    context: RawHandle,
    strings: InList<*const c_char>,
    lengths: InList<usize>,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_VALUE if count is zero or if strings or any entry in strings is NULL.
    require(strings.count() != 0, ClError::INVALID_VALUE)?;
    let bytes = strings
        .concatenated(lengths)?
        .ok_or(ClError::INVALID_VALUE)?;
    let source = text(bytes)?;
    let runtime = RuntimeProgram::from_source(&context.runtime, source)?;
    let devices = context.devices.clone();
    Ok(Program::handle(runtime, context, devices).raw())
}

/// Source as text: what is not UTF-8 is replaced.
///
/// Errors: `CL_OUT_OF_HOST_MEMORY`.
fn text(bytes: Vec<u8>) -> CLResult<String> {
    String::from_utf8(bytes).or_else(|error| {
        let bytes = error.as_bytes();
        let mut text = String::new();
        for chunk in bytes.utf8_chunks() {
            let size = chunk.valid().len() + char::REPLACEMENT_CHARACTER.len_utf8();
            text.try_reserve(size)
                .map_err(|_| ClError::OUT_OF_HOST_MEMORY)?;
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Ok(text)
    })
}

/// `clCreateProgramWithIL`, `clCreateProgramWithILKHR`
pub fn create_with_il(context: RawHandle, il: InList<u8>) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_VALUE if il is NULL or if length is zero, or if the length-byte memory pointed
    // > to by il does not contain well-formed intermediate language input.
    require(il.count() != 0, ClError::INVALID_VALUE)?;
    let il = il.get()?.ok_or(ClError::INVALID_VALUE)?;
    let runtime = RuntimeProgram::from_il(&context.runtime, &il)?;
    let devices = context.devices.clone();
    Ok(Program::handle(runtime, context, devices).raw())
}

/// `clCreateProgramWithBinary`
pub fn create_with_binary(
    context: RawHandle,
    device_list: InList<RawHandle>,
    lengths: InList<usize>,
    binaries: InList<*const u8>,
    binary_status: OutList<cl_int>,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_VALUE if device_list is NULL or num_devices is zero.
    require(
        device_list.count() != 0 && !device_list.is_null(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated
    // > with context.
    let devices = context.device_list(device_list)?;
    // > CL_INVALID_VALUE if lengths or binaries is NULL or if any entry in lengths[i] is zero or
    // > binaries[i] is NULL.
    let blobs = binaries.blobs(lengths)?.ok_or(ClError::INVALID_VALUE)?;
    let usable: Option<Vec<Vec<u8>>> = blobs
        .iter()
        .map(|blob| blob.as_ref().filter(|bytes| !bytes.is_empty()))
        .map(|bytes| bytes.map(|bytes| bytes.to_vec()))
        .collect();
    let Some(usable) = usable else {
        let statuses: Vec<cl_int> = blobs
            .iter()
            .map(|blob| match blob {
                Some(bytes) if !bytes.is_empty() => CL_SUCCESS,
                _ => CL_INVALID_VALUE,
            })
            .collect();
        binary_status.set(&statuses);
        return Err(ClError::INVALID_VALUE);
    };
    // > CL_INVALID_BINARY if an invalid program binary was encountered for any device;
    // > binary_status will return specific status for each device.
    let programs: Vec<CLResult<_>> = usable
        .iter()
        .map(|binary| RuntimeProgram::from_binary(&context.runtime, binary))
        .collect();
    let statuses: Vec<cl_int> = programs
        .iter()
        .map(|program| {
            program
                .as_ref()
                .map_or_else(|error| error.0, |_| CL_SUCCESS)
        })
        .collect();
    binary_status.set(&statuses);
    // Every device of a context is the same CPU, so the first binary is for all.
    let mut programs = programs.into_iter().collect::<CLResult<Vec<_>>>()?;
    let runtime = programs.swap_remove(0);
    Ok(Program::handle(runtime, context, devices).raw())
}

/// `clCreateProgramWithBuiltInKernels`
pub fn create_with_built_in_kernels(
    context: RawHandle,
    device_list: InList<RawHandle>,
    _kernel_names: InPtr<c_char>,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_VALUE if device_list is NULL or num_devices is zero.
    require(
        device_list.count() != 0 && !device_list.is_null(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated
    // > with context.
    context.device_list(device_list)?;
    // > CL_INVALID_VALUE if kernel_names is NULL or kernel_names contains a kernel name that is not
    // > supported by any of the devices in device_list.
    // The device has no built-in kernels.
    Err(ClError::INVALID_VALUE)
}

/// `clSetProgramReleaseCallback`
pub fn set_release_callback(
    program: RawHandle,
    notify: ProgramNotify,
    _user_data: UserData,
) -> CLResult<()> {
    Program::from_raw(program)?;
    // > CL_INVALID_VALUE if pfn_notify is NULL.
    require(notify.is_some(), ClError::INVALID_VALUE)?;
    // > CL_INVALID_OPERATION if no devices associated with program support destructors for program
    // > scope global variables.
    Err(ClError::INVALID_OPERATION)
}

/// `clSetProgramSpecializationConstant`
pub fn set_specialization_constant(
    program: RawHandle,
    spec_id: cl_uint,
    spec_value: InList<u8>,
) -> CLResult<()> {
    let program = Program::from_raw(program)?;
    // > CL_INVALID_PROGRAM if program is not a valid program object created from an intermediate
    // > language.
    // > CL_INVALID_SPEC_ID if spec_id is not a valid specialization constant identifier.
    let expected = program.runtime.spec_constant_size(spec_id)?;
    // > CL_INVALID_VALUE if spec_size does not match the size of the specialization constant in the
    // > module, or if spec_value is NULL.
    require(spec_value.count() == expected, ClError::INVALID_VALUE)?;
    let value = spec_value.get()?.ok_or(ClError::INVALID_VALUE)?;
    program.runtime.set_spec_constant(spec_id, &value)
}

/// `clGetProgramInfo`
pub fn get_info(program: RawHandle, name: cl_program_info, writer: InfoWriter) -> CLResult<()> {
    let program = Program::from_raw(program)?;
    let runtime = &program.runtime;
    // The binary is the same for each device.
    let per_device = program.devices.len();
    match name {
        CL_PROGRAM_REFERENCE_COUNT => writer.value(program.reference_count()),
        CL_PROGRAM_CONTEXT => writer.value(program.context.raw()),
        CL_PROGRAM_NUM_DEVICES => writer.value(per_device as cl_uint),
        CL_PROGRAM_DEVICES => {
            let raws: Vec<RawHandle> = program.devices.iter().map(|device| device.raw()).collect();
            writer.array(&raws)
        }
        CL_PROGRAM_SOURCE => writer.string(runtime.source()),
        CL_PROGRAM_IL => writer.array(runtime.il()),
        CL_PROGRAM_BINARY_SIZES => writer.array(&vec![runtime.binary().len(); per_device]),
        CL_PROGRAM_BINARIES => {
            let binary = runtime.binary();
            writer.blobs(&vec![binary.as_slice(); per_device])
        }
        // > CL_INVALID_PROGRAM_EXECUTABLE if param_name is CL_PROGRAM_NUM_KERNELS,
        // > CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, or
        // > CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT and a successful program executable has not been
        // > built for at least one device in the list of devices associated with program.
        CL_PROGRAM_NUM_KERNELS => writer.value(runtime.kernel_names()?.len()),
        CL_PROGRAM_KERNEL_NAMES => writer.string(&runtime.kernel_names()?.join(";")),
        CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT => writer.boolean(runtime.scope_ctors_and_dtors()?.0),
        CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => writer.boolean(runtime.scope_ctors_and_dtors()?.1),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clGetProgramBuildInfo`
pub fn get_build_info(
    program: RawHandle,
    device: RawHandle,
    name: cl_program_build_info,
    writer: InfoWriter,
) -> CLResult<()> {
    let program = Program::from_raw(program)?;
    // > CL_INVALID_DEVICE if device is not in the list of devices associated with program.
    program.device(device)?;
    // The only query that does not wait for a build that is going on in the background.
    if name == CL_PROGRAM_BUILD_STATUS {
        return writer.value(program.runtime.build_status());
    }
    let info = program.runtime.build_info();
    match name {
        CL_PROGRAM_BUILD_OPTIONS => writer.string(&info.options),
        CL_PROGRAM_BUILD_LOG => writer.string(&info.log),
        CL_PROGRAM_BINARY_TYPE => writer.value(info.binary_type),
        CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => {
            writer.value(info.global_variable_total_size)
        }
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}
