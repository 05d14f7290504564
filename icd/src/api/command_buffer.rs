//! Command-buffers (`cl_khr_command_buffer`). `recording.rs` has what the recorded commands share.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

use brolga_runtime::CommandBuffer as RuntimeCommandBuffer;
use opencl_sys::*;
use parking_lot::Mutex;

use super::context::Context;
use super::kernel::Kernel;
use super::memory::Mem;
use super::queue::Queue;
use super::recording::Recording;
use super::transfer::{pattern, side, triple};
use super::wait::Events;
use crate::abi::edge::{In, Out, RawHandle};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::Answer;

/// `cl_command_buffer_khr`
pub struct CommandBuffer {
    pub runtime: Arc<RuntimeCommandBuffer>,
    pub context: Ref<Context>,
    pub queues: Vec<Ref<Queue>>,
    /// > A command-buffer object should increment the reference count of attached OpenCL objects such as queues,
    /// > buffers, images, and kernels referenced in commands recorded to the command-buffer.
    attached: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

object!(CommandBuffer, ClError::INVALID_COMMAND_BUFFER);

impl CommandBuffer {
    /// The buffer behind `raw`, for a command of this command-buffer.
    fn mem(&self, raw: RawHandle) -> CLResult<Ref<Mem>> {
        let mem = Mem::buffer(raw)?;
        // > CL_INVALID_CONTEXT if the context associated with command_buffer, src_buffer, and dst_buffer is not the same.
        require(
            Arc::ptr_eq(&mem.context, &self.context),
            ClError::INVALID_CONTEXT,
        )?;
        Ok(mem)
    }

    fn attach(&self, object: Arc<dyn Any + Send + Sync>) {
        self.attached.lock().push(object);
    }
}

/// `clCreateCommandBufferKHR`
pub fn create(
    num_queues: cl_uint,
    queues: In<RawHandle>,
    properties: In<cl_command_buffer_properties_khr>,
) -> CLResult<RawHandle> {
    // > CL_INVALID_VALUE if the cl_khr_command_buffer_multi_device extension is not supported and num_queues is not one.
    require(num_queues == 1, ClError::INVALID_VALUE)?;
    // > CL_INVALID_VALUE if queues is NULL.
    let raws = queues
        .array(num_queues as usize)
        .ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_COMMAND_QUEUE if any command-queue in queues is not a valid command-queue.
    let queues = Queue::from_raws(&raws)?;
    let list = check_properties(properties)?;
    let runtime = queues.iter().map(|queue| queue.runtime.clone()).collect();
    // > CL_INVALID_CONTEXT if all the command-queues in queues do not have the same OpenCL context.
    let runtime = RuntimeCommandBuffer::new(runtime, list)?;
    Ok(Handle::new(CommandBuffer {
        runtime,
        context: queues[0].context.clone(),
        queues,
        attached: Mutex::default(),
    })
    .raw())
}

/// Checks the properties of a command-buffer and returns them as given, with their final zero.
fn check_properties(properties: In<cl_command_buffer_properties_khr>) -> CLResult<Vec<u64>> {
    // > CL_INVALID_VALUE if values specified in properties are not valid, or if the same property name is specified more
    // > than once.
    let pairs = properties
        .properties_among(|name| name == CL_COMMAND_BUFFER_FLAGS_KHR)
        .ok_or(ClError::INVALID_VALUE)?;
    // No flag is defined without other extensions.
    require(
        pairs.len() <= 1 && pairs.iter().all(|&(_, flags)| flags == 0),
        ClError::INVALID_VALUE,
    )?;
    if properties.is_null() {
        return Ok(Vec::new());
    }
    let mut list: Vec<u64> = pairs
        .iter()
        .flat_map(|&(name, value)| [name, value])
        .collect();
    list.push(0);
    Ok(list)
}

/// `clRetainCommandBufferKHR`
pub fn retain(buffer: RawHandle) -> CLResult<()> {
    CommandBuffer::from_raw(buffer)?.retain();
    Ok(())
}

/// `clReleaseCommandBufferKHR`
pub fn release(buffer: RawHandle) -> CLResult<()> {
    CommandBuffer::from_raw(buffer)?.release()
}

/// `clFinalizeCommandBufferKHR`
pub fn finalize(buffer: RawHandle) -> CLResult<()> {
    // > CL_INVALID_OPERATION if command_buffer is not in the Recording state.
    CommandBuffer::from_raw(buffer)?.runtime.finalize()
}

/// `clEnqueueCommandBufferKHR`
pub fn enqueue(
    num_queues: cl_uint,
    queues: In<RawHandle>,
    buffer: RawHandle,
    events: Events,
) -> CLResult<()> {
    let buffer = CommandBuffer::from_raw(buffer)?;
    // > CL_INVALID_OPERATION if command_buffer is not in the Executable state.
    require(
        buffer.runtime.state() == CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
        ClError::INVALID_OPERATION,
    )?;
    // > CL_INVALID_VALUE if queues is NULL and num_queues is > 0, or queues is not NULL and num_queues is 0.
    require(
        queues.is_null() == (num_queues == 0),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if num_queues is > 0 and not the same value as num_queues set on command_buffer creation.
    let count = num_queues as usize;
    require(
        count == 0 || count == buffer.queues.len(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_COMMAND_QUEUE if any element of queues is not a valid command-queue.
    let raws = queues.array(count).unwrap_or_default();
    let others = Queue::from_raws(&raws)?;
    let runtime: Vec<_> = others.iter().map(|queue| queue.runtime.clone()).collect();
    buffer.runtime.check_queues(&runtime)?;
    let wait = events.wait_list(&buffer.context)?;
    let event = buffer.runtime.enqueue(&runtime, &wait)?;
    let queues = if count == 0 { &buffer.queues } else { &others };
    // > For events returned by a command-buffer enqueue operation to multiple command-queues, NULL is returned.
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
    answer: Answer,
) -> CLResult<()> {
    let buffer = CommandBuffer::from_raw(buffer)?;
    match name {
        CL_COMMAND_BUFFER_NUM_QUEUES_KHR => answer.value(buffer.queues.len() as cl_uint),
        CL_COMMAND_BUFFER_QUEUES_KHR => {
            let raws: Vec<RawHandle> = buffer.queues.iter().map(|queue| queue.raw()).collect();
            answer.array(&raws)
        }
        CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => answer.value(buffer.reference_count()),
        CL_COMMAND_BUFFER_STATE_KHR => answer.value(buffer.runtime.state()),
        CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => answer.array(buffer.runtime.property_list()),
        CL_COMMAND_BUFFER_CONTEXT_KHR => answer.value(buffer.context.raw()),
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
    source_origin: In<usize>,
    destination_origin: In<usize>,
    region: In<usize>,
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
    pattern_pointer: In<c_void>,
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
    destination: Out<c_void>,
    source: In<c_void>,
    size: usize,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let place = recording.place(&buffer)?;
    // > CL_INVALID_VALUE if dst_ptr or src_ptr is NULL.
    require(
        !destination.is_null() && !source.is_null(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an overlapping copy.
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
    destination: Out<c_void>,
    pattern_pointer: In<c_void>,
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
    offset: In<usize>,
    global: In<usize>,
    local: In<usize>,
) -> CLResult<()> {
    let buffer = recording.open()?;
    let kernel = Kernel::from_raw(kernel)?;
    // > CL_INVALID_CONTEXT if the context associated with command_buffer and kernel is not the same.
    require(
        Arc::ptr_eq(&kernel.program.context, &buffer.context),
        ClError::INVALID_CONTEXT,
    )?;
    // > CL_INVALID_WORK_DIMENSION if work_dim is not a valid value.
    require((1..=3).contains(&work_dim), ClError::INVALID_WORK_DIMENSION)?;
    let place = recording.place(&buffer)?;
    // Arguments and sizes are checked by the runtime.
    let dimensions = work_dim as usize;
    let point = buffer.runtime.nd_range(
        &place,
        &kernel.runtime,
        work_dim,
        offset.array(dimensions).as_deref(),
        global.array(dimensions).as_deref(),
        local.array(dimensions).as_deref(),
    )?;
    recording.give(point);
    buffer.attach(kernel);
    Ok(())
}

/// The commands on images: there are none.
///
/// > CL_INVALID_MEM_OBJECT if image is not a valid image object.
fn not_an_image(buffer: &CommandBuffer, image: RawHandle) -> CLResult<()> {
    buffer.mem(image)?;
    Err(ClError::INVALID_MEM_OBJECT)
}

/// `clCommandCopyBufferToImageKHR`
pub fn copy_buffer_to_image(
    recording: Recording,
    source: RawHandle,
    destination: RawHandle,
    _source_offset: usize,
    _origin: In<usize>,
    _region: In<usize>,
) -> CLResult<()> {
    let buffer = recording.open()?;
    buffer.mem(source)?;
    not_an_image(&buffer, destination)
}

/// `clCommandCopyImageKHR`
pub fn copy_image(
    recording: Recording,
    source: RawHandle,
    _destination: RawHandle,
    _source_origin: In<usize>,
    _destination_origin: In<usize>,
    _region: In<usize>,
) -> CLResult<()> {
    not_an_image(&*recording.open()?, source)
}

/// `clCommandCopyImageToBufferKHR`
pub fn copy_image_to_buffer(
    recording: Recording,
    source: RawHandle,
    _destination: RawHandle,
    _origin: In<usize>,
    _region: In<usize>,
    _destination_offset: usize,
) -> CLResult<()> {
    not_an_image(&*recording.open()?, source)
}

/// `clCommandFillImageKHR`
pub fn fill_image(
    recording: Recording,
    image: RawHandle,
    _colour: In<c_void>,
    _origin: In<usize>,
    _region: In<usize>,
) -> CLResult<()> {
    not_an_image(&*recording.open()?, image)
}
