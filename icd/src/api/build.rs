//! Building, compiling and linking programs.

use std::ffi::c_char;
use std::sync::{Arc, OnceLock};

use brolga_runtime::Program as RuntimeProgram;
use brolga_runtime::program::BuildCallback;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::device::Device;
use super::program::Program;
use crate::abi::callback::{self, ProgramNotify};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::pointers::{InList, InPtr, RawHandle, UserData};
use crate::abi::wrapper::Created;

/// The checks that building and compiling share, in order.
fn check(
    program: &Program,
    device_list: InList<RawHandle>,
    notify: ProgramNotify,
    user_data: UserData,
) -> CLResult<()> {
    // > CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if
    // > device_list is not NULL and num_devices is zero.
    require(device_list.is_null_if_empty(), ClError::INVALID_VALUE)?;
    check_notify(notify, user_data)?;
    // > CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated
    // > with program.
    for raw in device_list.get()?.unwrap_or_default() {
        program.device(raw)?;
    }
    Ok(())
}

fn check_notify(notify: ProgramNotify, user_data: UserData) -> CLResult<()> {
    // > CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL.
    require(
        notify.is_some() || user_data.to_c().is_null(),
        ClError::INVALID_VALUE,
    )
}

/// Options as text; null is the empty string.
fn options_text(options: InPtr<c_char>) -> String {
    let bytes = options.string().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What to do when a build ends, if anything.
fn when_done(
    program: &Ref<Program>,
    notify: ProgramNotify,
    user_data: UserData,
) -> Option<BuildCallback> {
    let call = callback::on_handle(notify?, program.raw(), user_data);
    // The handle that the callback is given must be alive then, even if the application has
    // released it.
    let alive = program.clone();
    Some(Box::new(move || {
        call();
        drop(alive);
    }))
}

/// `clBuildProgram`
pub fn build(
    program: RawHandle,
    device_list: InList<RawHandle>,
    options: InPtr<c_char>,
    notify: ProgramNotify,
    user_data: UserData,
) -> CLResult<()> {
    let program = Program::from_raw(program)?;
    check(&program, device_list, notify, user_data)?;
    let done = when_done(&program, notify, user_data);
    program.runtime.build(&options_text(options), done)
}

/// `clCompileProgram`
pub fn compile(
    program: RawHandle,
    device_list: InList<RawHandle>,
    options: InPtr<c_char>,
    headers: InList<RawHandle>,
    header_names: InList<*const c_char>,
    notify: ProgramNotify,
    user_data: UserData,
) -> CLResult<()> {
    let program = Program::from_raw(program)?;
    // > CL_INVALID_VALUE if num_input_headers is zero and header_include_names or input_headers are
    // > not NULL or if num_input_headers is not zero and header_include_names or input_headers are
    // > NULL.
    require(
        headers.is_null_if_empty() && header_names.is_null_if_empty(),
        ClError::INVALID_VALUE,
    )?;
    check(&program, device_list, notify, user_data)?;
    let headers = Program::from_raws(&headers.get()?.unwrap_or_default())?;
    // > CL_INVALID_CONTEXT if the context associated with program and programs in input_headers are
    // > not the same.
    require(
        headers
            .iter()
            .all(|header| Arc::ptr_eq(&header.context, &program.context)),
        ClError::INVALID_CONTEXT,
    )?;
    let names = match header_names.count() {
        0 => Vec::new(),
        _ => header_names
            .strings(InList::null())?
            .ok_or(ClError::INVALID_VALUE)?,
    };
    let headers: Vec<(String, Arc<RuntimeProgram>)> = names
        .iter()
        .zip(&headers)
        .map(|(name, header)| {
            (
                String::from_utf8_lossy(name).into_owned(),
                header.runtime.clone(),
            )
        })
        .collect();
    let done = when_done(&program, notify, user_data);
    program
        .runtime
        .compile(&options_text(options), &headers, done)
}

/// The handle of a program being linked, made where it is needed first: the entry point, which
/// returns it, or the callback, which may run before the entry point has returned.
struct Linked {
    context: Ref<Context>,
    devices: Vec<Ref<Device>>,
    handle: OnceLock<Ref<Program>>,
}

impl Linked {
    fn handle(&self, runtime: Arc<RuntimeProgram>) -> &Ref<Program> {
        self.handle
            .get_or_init(|| Program::handle(runtime, self.context.clone(), self.devices.clone()))
    }
}

/// `clLinkProgram`
pub fn link(
    context: RawHandle,
    device_list: InList<RawHandle>,
    options: InPtr<c_char>,
    inputs: InList<RawHandle>,
    notify: ProgramNotify,
    user_data: UserData,
) -> CLResult<Created> {
    let context = Context::usable(context)?;
    // > CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if
    // > device_list is not NULL and num_devices is zero.
    require(device_list.is_null_if_empty(), ClError::INVALID_VALUE)?;
    // > CL_INVALID_VALUE if num_input_programs is zero and input_programs is NULL or if
    // > num_input_programs is zero and input_programs is not NULL or if num_input_programs is not
    // > zero and input_programs is NULL.
    require(inputs.count() != 0, ClError::INVALID_VALUE)?;
    let inputs = inputs.get()?.ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_PROGRAM if programs specified in input_programs are not valid program objects.
    let inputs = Program::from_raws(&inputs)?;
    check_notify(notify, user_data)?;
    // > CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated
    // > with context.
    let devices = context.device_list(device_list)?;
    // > CL_INVALID_CONTEXT if the context associated with programs in input_programs is not
    // > context.
    require(
        inputs
            .iter()
            .all(|input| Arc::ptr_eq(&input.context, &context)),
        ClError::INVALID_CONTEXT,
    )?;
    let inputs: Vec<_> = inputs.iter().map(|input| input.runtime.clone()).collect();
    let linked = Arc::new(Linked {
        context: context.clone(),
        devices,
        handle: OnceLock::new(),
    });
    let done = notify.map(|notify| {
        let linked = linked.clone();
        Box::new(move |runtime: Arc<RuntimeProgram>| {
            let program = linked.handle(runtime);
            callback::on_handle(notify, program.raw(), user_data)();
        }) as Box<dyn FnOnce(Arc<RuntimeProgram>) + Send>
    });
    let (runtime, result) =
        RuntimeProgram::link(&context.runtime, &options_text(options), &inputs, done);
    // A program that failed to link is returned with its error, for its build log.
    match runtime {
        Some(runtime) => Ok(Created {
            handle: linked.handle(runtime).raw(),
            status: result.map_or_else(|error| error.0, |()| CL_SUCCESS),
        }),
        None => Err(result.err().unwrap_or(ClError::LINK_PROGRAM_FAILURE)),
    }
}
