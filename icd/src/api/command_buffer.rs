//! Command-buffers (`cl_khr_command_buffer`, `cl_khr_command_buffer_multi_device`), and the handles
//! of commands in them. What is recorded is in the files of the commands, over `place.rs`.

use std::any::Any;
use std::sync::{Arc, Weak};

use brolga_runtime::{CommandBuffer as RuntimeCommandBuffer, Queue as RuntimeQueue, SyncPoint};
use opencl_sys::*;
use parking_lot::Mutex;

use super::context::{Context, OfContext};
use super::kernel::Kernel;
use super::queue::Queue;
use super::wait::EventArguments;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InList, OutList, RawHandle};
use crate::abi::property_list::{Pairs, ParsedProperties, PropertyList};

/// `cl_command_buffer_khr`
pub struct CommandBuffer {
    pub runtime: Arc<RuntimeCommandBuffer>,
    pub context: Ref<Context>,
    pub queues: Vec<Ref<Queue>>,
    /// > A command-buffer object should increment the reference count of attached OpenCL objects
    /// > such as queues, buffers, images, and kernels referenced in commands recorded to the
    /// > command-buffer.
    attached: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
    /// The handles of its commands, which are released with it.
    commands: Mutex<Vec<Ref<MutableCommand>>>,
    pub asserts: cl_mutable_dispatch_asserts_khr,
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
            // There is no entry point by which the application could have released it.
            let _ = command.release();
        }
    }
}

impl CommandBuffer {
    /// Gives a command a handle.
    pub fn add_command(&self, command: MutableCommand) -> RawHandle {
        let command = Handle::new(command);
        let raw = command.raw();
        self.commands.lock().push(command);
        raw
    }

    /// Keeps objects alive that a recorded command uses.
    pub fn attach(&self, objects: impl IntoIterator<Item = Arc<dyn Any + Send + Sync>>) {
        self.attached.lock().extend(objects);
    }
}

/// `cl_mutable_command_khr`: a recorded launch. `mutable_command.rs` has what is done with it.
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
    pub fn belongs_to(&self, buffer: &Ref<CommandBuffer>) -> bool {
        std::ptr::eq(self.buffer.as_ptr(), Arc::as_ptr(buffer))
    }

    /// The same command of a copy of its command-buffer.
    fn remapped(&self, buffer: &Ref<CommandBuffer>) -> MutableCommand {
        MutableCommand {
            buffer: Arc::downgrade(buffer),
            queue: self.queue % buffer.queues.len(),
            kernel: self.kernel.clone(),
            properties: self.properties.clone(),
            fields: self.fields,
            point: self.point,
        }
    }
}

/// `clCreateCommandBufferKHR`
pub fn create(
    queues: InList<RawHandle>,
    properties: PropertyList<Pairs<cl_command_buffer_properties_khr>>,
) -> CLResult<RawHandle> {
    let queues = queue_list(queues)?;
    // > CL_INVALID_VALUE if values specified in properties are not valid, or if the same property
    // > name is specified more than once.
    let properties = properties.read_among(|name| name == FLAGS || name == ASSERTS);
    require(properties.is_known, ClError::INVALID_VALUE)?;
    let flags = single(&properties, FLAGS, COMMAND_BUFFER_FLAGS)?.unwrap_or(0);
    let asserts = single(&properties, ASSERTS, DISPATCH_ASSERTS)?.unwrap_or(0);
    // > CL_INCOMPATIBLE_COMMAND_QUEUE_KHR if queues includes more than one command-queue associated
    // > with a device that does not support capability
    // > CL_COMMAND_BUFFER_CAPABILITY_MULTIPLE_QUEUE_KHR, or if devices cannot synchronize.
    // All devices can.
    let runtime = RuntimeCommandBuffer::new(
        runtime_queues(&queues),
        flags & CL_COMMAND_BUFFER_MUTABLE_KHR != 0,
        properties.as_given,
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
/// What may be asserted of launches.
pub const DISPATCH_ASSERTS: cl_mutable_dispatch_asserts_khr =
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR;

/// The queues of a command-buffer.
fn queue_list(queues: InList<RawHandle>) -> CLResult<Vec<Ref<Queue>>> {
    // > CL_INVALID_VALUE if num_queues is zero, or if queues is NULL.
    require(queues.count() != 0, ClError::INVALID_VALUE)?;
    let raws = queues.get()?.ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_COMMAND_QUEUE if any command-queue in queues is not a valid command-queue.
    Queue::all_usable(&raws)
}

fn runtime_queues(queues: &[Ref<Queue>]) -> Vec<Arc<RuntimeQueue>> {
    queues.iter().map(|queue| queue.runtime.clone()).collect()
}

/// The value of the property `name`, which may be there once and have the bits `known`.
pub fn single(
    properties: &ParsedProperties<cl_properties>,
    name: cl_properties,
    known: cl_bitfield,
) -> CLResult<Option<cl_bitfield>> {
    let mut values = properties.pairs().filter(|pair| pair.0 == name);
    let value = values.next().map(|pair| pair.1);
    let valid = values.next().is_none() && value.is_none_or(|value| value & !known == 0);
    require(valid, ClError::INVALID_VALUE)?;
    Ok(value)
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
    queues: InList<RawHandle>,
    handles: InList<RawHandle>,
    handles_ret: OutList<RawHandle>,
) -> CLResult<RawHandle> {
    let buffer = CommandBuffer::from_raw(buffer)?;
    // > CL_INVALID_VALUE if num_queues is 0, or if queues is NULL.
    require(
        queues.count() != 0 && !queues.is_null(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if automatic is CL_FALSE and num_queues is not equal to the number of
    // > queues used on creation of command_buffer.
    require(
        automatic != CL_FALSE || queues.count() == buffer.queues.len(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if handles or handles_ret is NULL and num_handles is > 0, or either
    // > handles or handles_ret is not NULL and num_handles is 0.
    require(
        handles.is_null_if_empty() && handles_ret.is_null() == handles.is_null(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if any handle in handles is not a valid command handle belonging to
    // > command_buffer.
    let raws = handles.get()?.unwrap_or_default();
    let commands = MutableCommand::from_raws(&raws).map_err(|_| ClError::INVALID_VALUE)?;
    require(
        commands.iter().all(|command| command.belongs_to(&buffer)),
        ClError::INVALID_VALUE,
    )?;
    let queues = queue_list(queues)?;
    // > CL_INVALID_CONTEXT if command_buffer and all the command-queues in queues do not have the
    // > same OpenCL context.
    let runtime = buffer.runtime.remap(runtime_queues(&queues))?;
    let attached = buffer.attached.lock().clone();
    let new = finish(runtime, queues, buffer.asserts, attached);
    let copies: Vec<RawHandle> = commands
        .iter()
        .map(|command| new.add_command(command.remapped(&new)))
        .collect();
    handles_ret.set(&copies);
    Ok(new.raw())
}

/// `clFinalizeCommandBufferKHR`
pub fn finalize(buffer: RawHandle) -> CLResult<()> {
    // > CL_INVALID_OPERATION if command_buffer is not in the Recording state.
    CommandBuffer::from_raw(buffer)?.runtime.finalize()
}

/// `clEnqueueCommandBufferKHR`
pub fn enqueue(
    queues: InList<RawHandle>,
    buffer: RawHandle,
    events: EventArguments,
) -> CLResult<()> {
    let buffer = CommandBuffer::usable(buffer)?;
    // > CL_INVALID_OPERATION if command_buffer is not in the Executable state.
    require(
        buffer.runtime.state() == CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
        ClError::INVALID_OPERATION,
    )?;
    // > CL_INVALID_VALUE if queues is NULL and num_queues is > 0, or queues is not NULL and
    // > num_queues is 0.
    require(queues.is_null_if_empty(), ClError::INVALID_VALUE)?;
    // > CL_INVALID_VALUE if num_queues is > 0 and not the same value as num_queues set on
    // > command_buffer creation.
    let count = queues.count();
    require(
        count == 0 || count == buffer.queues.len(),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_COMMAND_QUEUE if any element of queues is not a valid command-queue.
    let raws = queues.get()?.unwrap_or_default();
    let others = Queue::all_usable(&raws)?;
    let runtime = runtime_queues(&others);
    buffer.runtime.check_queues(&runtime)?;
    let wait = events.wait_list()?;
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
