//! Command-buffers (`cl_khr_command_buffer`, `cl_khr_command_buffer_multi_device`). `recording.rs`
//! has what the recorded commands share, `mutable_command.rs` their handles.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

use brolga_runtime::command_buffer::Dispatch;
use brolga_runtime::{CommandBuffer as RuntimeCommandBuffer, Queue as RuntimeQueue};
use opencl_sys::*;
use parking_lot::Mutex;

use super::context::{Context, OfContext};
use super::image_transfer::{fill_color, origin};
use super::kernel::Kernel;
use super::memory::Mem;
use super::mutable_command::MutableCommand;
use super::queue::Queue;
use super::recording::Recording;
use super::transfer::{pattern, side, triple};
use super::wait::Events;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// `cl_command_buffer_khr`
pub struct CommandBuffer {
    pub runtime: Arc<RuntimeCommandBuffer>,
    pub context: Ref<Context>,
    pub queues: Vec<Ref<Queue>>,
    /// > A command-buffer object should increment the reference count of attached OpenCL objects
    /// > such as queues, buffers, images, and kernels referenced in commands recorded to the
    /// > command-buffer.
    attached: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
    /// The handles of its commands, which go with it.
    commands: Mutex<Vec<Ref<MutableCommand>>>,
    asserts: cl_mutable_dispatch_asserts_khr,
}

object!(CommandBuffer, ClError::INVALID_COMMAND_BUFFER);

impl OfContext for CommandBuffer {
    fn context(&self) -> &Context {
        &self.context
    }
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        for command in self.commands.get_mut() {
            // The application cannot have released it.
            let _ = command.release();
        }
    }
}

impl CommandBuffer {
    /// The buffer behind `raw`, for a command of this command-buffer.
    fn mem(&self, raw: RawHandle) -> CLResult<Ref<Mem>> {
        self.of_context(Mem::buffer(raw)?)
    }

    /// The image behind `raw`, for a command of this command-buffer.
    fn image(&self, raw: RawHandle) -> CLResult<Ref<Mem>> {
        let mem = Mem::from_raw(raw)?;
        mem.image()?;
        self.of_context(mem)
    }

    fn of_context(&self, mem: Ref<Mem>) -> CLResult<Ref<Mem>> {
        // > CL_INVALID_CONTEXT if the context associated with command_buffer, src_buffer, and >
        // dst_buffer is not the same.
        require(
            Arc::ptr_eq(&mem.context, &self.context),
            ClError::INVALID_CONTEXT,
        )?;
        Ok(mem)
    }

    /// Gives a command a handle.
    fn add_command(&self, command: MutableCommand) -> RawHandle {
        let command = Handle::new(command);
        let raw = command.raw();
        self.commands.lock().push(command);
        raw
    }

    fn attach(&self, object: Arc<dyn Any + Send + Sync>) {
        self.attached.lock().push(object);
    }
}

/// `clCreateCommandBufferKHR`
pub fn create(
    num_queues: cl_uint,
    queues: InPtr<RawHandle>,
    properties: InPtr<cl_command_buffer_properties_khr>,
) -> CLResult<RawHandle> {
    let queues = queue_list(num_queues, queues)?;
    // > CL_INVALID_VALUE if values specified in properties are not valid, or if the same property >
    // name is specified more than once.
    let pairs = properties
        .properties_among(|name| name == FLAGS || name == ASSERTS)
        .ok_or(ClError::INVALID_VALUE)?;
    let flags = single(&pairs, FLAGS, COMMAND_BUFFER_FLAGS)?.unwrap_or(0);
    let asserts = single(&pairs, ASSERTS, DISPATCH_ASSERTS)?.unwrap_or(0);
    // > CL_INCOMPATIBLE_COMMAND_QUEUE_KHR if queues includes more than one command-queue associated
    // > with a device that does not support capability >
    // CL_COMMAND_BUFFER_CAPABILITY_MULTIPLE_QUEUE_KHR, or if devices cannot synchronize. All can.
    let runtime = RuntimeCommandBuffer::new(
        runtime_queues(&queues),
        flags & CL_COMMAND_BUFFER_MUTABLE_KHR != 0,
        as_given(properties, &pairs),
    )?;
    Ok(finish(runtime, queues, asserts, Vec::new()).raw())
}

const FLAGS: cl_properties = CL_COMMAND_BUFFER_FLAGS_KHR;
/// `CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR`, as the registry of the specification has it;
/// `opencl-sys` has another number.
const ASSERTS: cl_properties = 0x12B7;
/// Every flag of a command-buffer; all of them are supported.
const COMMAND_BUFFER_FLAGS: cl_command_buffer_flags_khr = CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR
    | CL_COMMAND_BUFFER_MUTABLE_KHR
    | CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR;
const DISPATCH_ASSERTS: cl_mutable_dispatch_asserts_khr =
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR;

/// The queues of a command-buffer.
fn queue_list(num_queues: cl_uint, queues: InPtr<RawHandle>) -> CLResult<Vec<Ref<Queue>>> {
    // > CL_INVALID_VALUE if num_queues is zero, or if queues is NULL.
    require(num_queues != 0, ClError::INVALID_VALUE)?;
    let raws = queues
        .array(num_queues as usize)
        .ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_COMMAND_QUEUE if any command-queue in queues is not a valid command-queue.
    Queue::all_usable(&raws)
}

fn runtime_queues(queues: &[Ref<Queue>]) -> Vec<Arc<RuntimeQueue>> {
    queues.iter().map(|queue| queue.runtime.clone()).collect()
}

/// The value of the property `name`, which may be there once and have the bits `known`.
fn single(
    pairs: &[(cl_properties, cl_properties)],
    name: cl_properties,
    known: cl_bitfield,
) -> CLResult<Option<cl_bitfield>> {
    let mut values = pairs.iter().filter(|pair| pair.0 == name);
    let value = values.next().map(|pair| pair.1);
    let valid = values.next().is_none() && value.is_none_or(|value| value & !known == 0);
    require(valid, ClError::INVALID_VALUE)?;
    Ok(value)
}

/// A list of properties as it was given, with its final zero; empty for null.
fn as_given(
    list: InPtr<cl_properties>,
    pairs: &[(cl_properties, cl_properties)],
) -> Vec<cl_properties> {
    if list.is_null() {
        return Vec::new();
    }
    let names_and_values = pairs.iter().flat_map(|&(name, value)| [name, value]);
    names_and_values.chain([0]).collect()
}

fn finish(
    runtime: Arc<RuntimeCommandBuffer>,
    queues: Vec<Ref<Queue>>,
    asserts: cl_mutable_dispatch_asserts_khr,
    attached: Vec<Arc<dyn Any + Send + Sync>>,
) -> Ref<CommandBuffer> {
    Handle::new(CommandBuffer {
        runtime,
        context: queues[0].context.clone(),
        queues,
        attached: Mutex::new(attached),
        commands: Mutex::default(),
        asserts,
    })
}

/// `clRemapCommandBufferKHR`
pub fn remap(
    buffer: RawHandle,
    automatic: cl_bool,
    num_queues: cl_uint,
    queues: InPtr<RawHandle>,
    num_handles: cl_uint,
    handles: InPtr<RawHandle>,
    handles_ret: OutPtr<RawHandle>,
) -> CLResult<RawHandle> {
    let buffer = CommandBuffer::from_raw(buffer)?;
    // > CL_INVALID_VALUE if num_queues is 0, or if queues is NULL.
    require(num_queues != 0 && !queues.is_null(), ClError::INVALID_VALUE)?;
    // > CL_INVALID_VALUE if automatic is CL_FALSE and num_queues is not equal to the number of >
    // queues used on creation of command_buffer.
    require(
        automatic != CL_FALSE || num_queues as usize == buffer.queues.len(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if handles or handles_ret is NULL and num_handles is > 0, or either >
    // handles or handles_ret is not NULL and num_handles is 0.
    require(
        handles.is_null() == (num_handles == 0) && handles_ret.is_null() == (num_handles == 0),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if any handle in handles is not a valid command handle belonging to >
    // command_buffer.
    let raws = handles.array(num_handles as usize).unwrap_or_default();
    let commands = MutableCommand::from_raws(&raws).map_err(|_| ClError::INVALID_VALUE)?;
    require(
        commands.iter().all(|command| command.belongs_to(&buffer)),
        ClError::INVALID_VALUE,
    )?;
    let queues = queue_list(num_queues, queues)?;
    // > CL_INVALID_CONTEXT if command_buffer and all the command-queues in queues do not have the >
    // same OpenCL context.
    let runtime = buffer.runtime.remap(runtime_queues(&queues))?;
    let attached = buffer.attached.lock().clone();
    let new = finish(runtime, queues, buffer.asserts, attached);
    let copies: Vec<RawHandle> = commands
        .iter()
        .map(|command| new.add_command(command.remapped(&new)))
        .collect();
    handles_ret.set_all(&copies);
    Ok(new.raw())
}

/// `clFinalizeCommandBufferKHR`
pub fn finalize(buffer: RawHandle) -> CLResult<()> {
    // > CL_INVALID_OPERATION if command_buffer is not in the Recording state.
    CommandBuffer::from_raw(buffer)?.runtime.finalize()
}

/// `clEnqueueCommandBufferKHR`
pub fn enqueue(
    num_queues: cl_uint,
    queues: InPtr<RawHandle>,
    buffer: RawHandle,
    events: Events,
) -> CLResult<()> {
    let buffer = CommandBuffer::usable(buffer)?;
    // > CL_INVALID_OPERATION if command_buffer is not in the Executable state.
    require(
        buffer.runtime.state() == CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
        ClError::INVALID_OPERATION,
    )?;
    // > CL_INVALID_VALUE if queues is NULL and num_queues is > 0, or queues is not NULL and >
    // num_queues is 0.
    require(
        queues.is_null() == (num_queues == 0),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if num_queues is > 0 and not the same value as num_queues set on >
    // command_buffer creation.
    let count = num_queues as usize;
    require(
        count == 0 || count == buffer.queues.len(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_COMMAND_QUEUE if any element of queues is not a valid command-queue.
    let raws = queues.array(count).unwrap_or_default();
    let others = Queue::all_usable(&raws)?;
    let runtime = runtime_queues(&others);
    buffer.runtime.check_queues(&runtime)?;
    let wait = events.wait_list(&buffer.context)?;
    let event = buffer.runtime.enqueue(&runtime, &wait)?;
    let queues = if count == 0 { &buffer.queues } else { &others };
    // > For events returned by a command-buffer enqueue operation to multiple command-queues, NULL
    // > is returned.
    let queue = match &queues[..] {
        [queue] => Some(queue.clone()),
        _ => None,
    };
    events.give_of(&buffer.context, queue, event);
    Ok(())
}

/// `clGetCommandBufferInfoKHR`
pub fn get_info(
    buffer: RawHandle,
    name: cl_command_buffer_info_khr,
    writer: InfoWriter,
) -> CLResult<()> {
    let buffer = CommandBuffer::from_raw(buffer)?;
    match name {
        CL_COMMAND_BUFFER_NUM_QUEUES_KHR => writer.value(buffer.queues.len() as cl_uint),
        CL_COMMAND_BUFFER_QUEUES_KHR => {
            let raws: Vec<RawHandle> = buffer.queues.iter().map(|queue| queue.raw()).collect();
            writer.array(&raws)
        }
        CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => writer.value(buffer.reference_count()),
        CL_COMMAND_BUFFER_STATE_KHR => writer.value(buffer.runtime.state()),
        CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => writer.array(buffer.runtime.property_list()),
        CL_COMMAND_BUFFER_CONTEXT_KHR => writer.value(buffer.context.raw()),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clCommandBarrierWithWaitListKHR`
pub fn barrier(recording: Recording) -> CLResult<()> {
    let buffer = recording.open()?;
    let place = recording.place(&buffer)?;
    recording.give(buffer.runtime.barrier(&place)?);
    Ok(())
}

/// `clCommandCopyBufferKHR`
pub fn copy_buffer(
    recording: Recording,
    source: RawHandle,
    destination: RawHandle,
    source_offset: usize,
    destination_offset: usize,
    size: usize,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let source = buffer.mem(source)?;
    let destination = buffer.mem(destination)?;
    let place = recording.place(&buffer)?;
    let point = buffer.runtime.copy(
        &place,
        &source.runtime,
        &destination.runtime,
        source_offset,
        destination_offset,
        size,
    )?;
    recording.give(point);
    buffer.attach(source);
    buffer.attach(destination);
    Ok(())
}

/// `clCommandCopyBufferRectKHR`
pub fn copy_buffer_rect(
    recording: Recording,
    source: RawHandle,
    destination: RawHandle,
    source_origin: InPtr<usize>,
    destination_origin: InPtr<usize>,
    region: InPtr<usize>,
    source_row_pitch: usize,
    source_slice_pitch: usize,
    destination_row_pitch: usize,
    destination_slice_pitch: usize,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let source = buffer.mem(source)?;
    let destination = buffer.mem(destination)?;
    // > CL_INVALID_VALUE if src_origin, dst_origin, or region is NULL.
    let source_side = side(source_origin, source_row_pitch, source_slice_pitch)?;
    let destination_side = side(
        destination_origin,
        destination_row_pitch,
        destination_slice_pitch,
    )?;
    let region = triple(region)?;
    let place = recording.place(&buffer)?;
    let point = buffer.runtime.copy_rect(
        &place,
        &source.runtime,
        &destination.runtime,
        source_side,
        destination_side,
        region,
    )?;
    recording.give(point);
    buffer.attach(source);
    buffer.attach(destination);
    Ok(())
}

/// `clCommandFillBufferKHR`
pub fn fill_buffer(
    recording: Recording,
    mem: RawHandle,
    pattern_pointer: InPtr<c_void>,
    pattern_size: usize,
    offset: usize,
    size: usize,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let mem = buffer.mem(mem)?;
    let pattern = pattern(pattern_pointer, pattern_size)?;
    let place = recording.place(&buffer)?;
    let point = buffer
        .runtime
        .fill(&place, &mem.runtime, &pattern, offset, size)?;
    recording.give(point);
    buffer.attach(mem);
    Ok(())
}

/// `clCommandSVMMemcpyKHR`
pub fn svm_memcpy(
    recording: Recording,
    destination: OutPtr<c_void>,
    source: InPtr<c_void>,
    size: usize,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let place = recording.place(&buffer)?;
    // > CL_INVALID_VALUE if dst_ptr or src_ptr is NULL.
    require(
        !destination.is_null() && !source.is_null(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an >
    // overlapping copy.
    let (destination, source) = (destination.host_ptr(), source.host_ptr());
    let point = buffer
        .runtime
        .svm_memcpy(&place, destination, source, size)?;
    recording.give(point);
    Ok(())
}

/// `clCommandSVMMemFillKHR`
pub fn svm_mem_fill(
    recording: Recording,
    destination: OutPtr<c_void>,
    pattern_pointer: InPtr<c_void>,
    pattern_size: usize,
    size: usize,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let place = recording.place(&buffer)?;
    // > CL_INVALID_VALUE if svm_ptr is NULL, or not aligned to pattern_size bytes.
    require(!destination.is_null(), ClError::INVALID_VALUE)?;
    let pattern = pattern(pattern_pointer, pattern_size)?;
    let point = buffer
        .runtime
        .svm_fill(&place, destination.host_ptr(), &pattern, size)?;
    recording.give(point);
    Ok(())
}

/// `clCommandNDRangeKernelKHR`
pub fn nd_range_kernel(
    recording: Recording,
    kernel: RawHandle,
    work_dim: cl_uint,
    offset: InPtr<usize>,
    global: InPtr<usize>,
    local: InPtr<usize>,
) -> CLResult<()> {
    let buffer = recording.buffer()?;
    // > CL_INVALID_VALUE if values specified in properties are not valid.
    const FIELDS: cl_properties = CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR;
    const ASSERTS: cl_properties = CL_MUTABLE_DISPATCH_ASSERTS_KHR;
    let pairs = recording
        .properties
        .properties_among(|name| name == FIELDS || name == ASSERTS)
        .ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_OPERATION if the requested CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR properties >
    // are not reported by CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR for the device associated >
    // with command_queue. All that there are are reported.
    let queue = recording.queue(&buffer)?;
    let capabilities = buffer.queues[queue]
        .device
        .runtime
        .mutable_dispatch_capabilities;
    let fields = single(&pairs, FIELDS, capabilities)?;
    let asserts = single(&pairs, ASSERTS, DISPATCH_ASSERTS)?.unwrap_or(0) | buffer.asserts;
    let kernel = Kernel::from_raw(kernel)?;
    // > CL_INVALID_CONTEXT if the context associated with command_buffer and kernel is not the >
    // same.
    require(
        Arc::ptr_eq(&kernel.program.context, &buffer.context),
        ClError::INVALID_CONTEXT,
    )?;
    // > CL_INVALID_WORK_DIMENSION if work_dim is not a valid value.
    require((1..=3).contains(&work_dim), ClError::INVALID_WORK_DIMENSION)?;
    // > CL_INVALID_VALUE if command_buffer was created with the >
    // CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR property with >
    // CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR and local_work_size is NULL, or if >
    // properties includes CL_MUTABLE_DISPATCH_ASSERTS_KHR with it and local_work_size is NULL.
    require(asserts == 0 || !local.is_null(), ClError::INVALID_VALUE)?;
    let place = recording.place(&buffer)?;
    // Arguments and sizes are checked by the runtime.
    let dimensions = work_dim as usize;
    let dispatch = Dispatch {
        kernel: kernel.runtime.clone(),
        work_dim,
        offset: offset.array(dimensions),
        global: global.array(dimensions),
        local: local.array(dimensions),
    };
    // > CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified and the >
    // CL_MUTABLE_DISPATCH_ARGUMENTS_KHR flag was not set in the properties parameter.
    let may_defer = fields.is_some_and(|fields| fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR != 0);
    let point = match recording.handle.is_null() && !may_defer {
        true => buffer.runtime.nd_range(&place, &dispatch)?,
        false => buffer
            .runtime
            .mutable_nd_range(&place, dispatch, may_defer)?,
    };
    recording.give(point);
    buffer.attach(kernel.clone());
    if !recording.handle.is_null() {
        let command = MutableCommand {
            buffer: Arc::downgrade(&buffer),
            queue,
            kernel,
            properties: as_given(recording.properties, &pairs),
            // > If CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR is not specified then it defaults to >
            // the value returned by the CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR device query.
            fields: fields.unwrap_or(capabilities),
            point,
        };
        recording.handle.set(buffer.add_command(command));
    }
    Ok(())
}

/// `clCommandCopyBufferToImageKHR`
pub fn copy_buffer_to_image(
    recording: Recording,
    source: RawHandle,
    destination: RawHandle,
    source_offset: usize,
    destination_origin: InPtr<usize>,
    region: InPtr<usize>,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let source = buffer.mem(source)?;
    let destination = buffer.image(destination)?;
    let image = destination.image()?;
    // > CL_INVALID_VALUE if dst_origin or region is NULL.
    let (to, region) = (origin(image, destination_origin)?, triple(region)?);
    let place = recording.place(&buffer)?;
    let point = buffer.runtime.copy_buffer_to_image(
        &place,
        &source.runtime,
        image,
        source_offset,
        to,
        region,
    )?;
    recording.give(point);
    buffer.attach(source);
    buffer.attach(destination);
    Ok(())
}

/// `clCommandCopyImageKHR`
pub fn copy_image(
    recording: Recording,
    source: RawHandle,
    destination: RawHandle,
    source_origin: InPtr<usize>,
    destination_origin: InPtr<usize>,
    region: InPtr<usize>,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let (source, destination) = (buffer.image(source)?, buffer.image(destination)?);
    let (from_image, to_image) = (source.image()?, destination.image()?);
    // > CL_INVALID_VALUE if src_origin, dst_origin or region is NULL.
    let from = origin(from_image, source_origin)?;
    let to = origin(to_image, destination_origin)?;
    let region = triple(region)?;
    let place = recording.place(&buffer)?;
    let point = buffer
        .runtime
        .copy_image(&place, from_image, to_image, from, to, region)?;
    recording.give(point);
    buffer.attach(source);
    buffer.attach(destination);
    Ok(())
}

/// `clCommandCopyImageToBufferKHR`
pub fn copy_image_to_buffer(
    recording: Recording,
    source: RawHandle,
    destination: RawHandle,
    source_origin: InPtr<usize>,
    region: InPtr<usize>,
    destination_offset: usize,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let source = buffer.image(source)?;
    let destination = buffer.mem(destination)?;
    let image = source.image()?;
    // > CL_INVALID_VALUE if src_origin or region is NULL.
    let (from, region) = (origin(image, source_origin)?, triple(region)?);
    let place = recording.place(&buffer)?;
    let point = buffer.runtime.copy_image_to_buffer(
        &place,
        image,
        &destination.runtime,
        from,
        region,
        destination_offset,
    )?;
    recording.give(point);
    buffer.attach(source);
    buffer.attach(destination);
    Ok(())
}

/// `clCommandFillImageKHR`
pub fn fill_image(
    recording: Recording,
    mem: RawHandle,
    color: InPtr<c_void>,
    to: InPtr<usize>,
    region: InPtr<usize>,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let mem = buffer.image(mem)?;
    let image = mem.image()?;
    let color = fill_color(image, color)?;
    // > CL_INVALID_VALUE if origin or region is NULL.
    let (to, region) = (origin(image, to)?, triple(region)?);
    let place = recording.place(&buffer)?;
    let point = buffer
        .runtime
        .fill_image(&place, image, color, to, region)?;
    recording.give(point);
    buffer.attach(mem);
    Ok(())
}
