//! OpenCL objects as safe Rust, and the engine that executes their commands on the CPU.
//!
//! What flows in: calls from the C ABI layer, already stripped of handles and raw pointers that can
//! be checked there. What flows out: objects in [`Arc`](std::sync::Arc)s, values for queries, and
//! OpenCL error codes ([`ClError`]).
//!
//! ```text
//! platform, device, partition    what there is, as a whole and in parts
//! features, topology, version    what the device says of itself, from tables and from the machine
//! context                        what everything else belongs to
//! memory/                        buffers, images, pipes, memory used by address, transfers
//! program/, executable           source, IL or binary -> built program -> code
//! kernel                         a kernel with its arguments
//! ndrange, launch                a launch checked, its local size chosen; the launch as work
//! queue, enqueue/                the order of commands; each kind checked and captured by value
//! command, chunks, event/        a command, how threads share it (on `atomics`); dependencies, status, callbacks
//! command_buffer/                commands recorded as a graph that is run again and again
//! on_device/, device_runtime     what kernels enqueue, and ask besides
//! semaphore/                     commands that wait for signals of others
//! pool, threads, nodes, scratch, stack, float_env
//!                                threads that execute commands, and the memory they have for it
//! callbacks                      functions of the application, and the thread that calls them
//! sleep, futex                   threads that wait, and how none is forgotten
//! fault/                         kernels that fault, or are terminated
//! printf_sink, printf            what kernels print
//! frontend/, spirv, binary       source to SPIR-V; modules; program binaries
//! clock, trace/                  time stamps; a record of what happened
//! destructors, weak_list, error  callbacks of objects, lists of objects, error codes
//! ```
//!
//! Open `queue.rs` first to see how a command is made, `event/` for its life, `pool.rs` for the
//! threads that execute it. `README.md` argues the design.
//!
//! `unsafe` is used for raw memory and for calling generated code only.

mod atomics;
pub mod binary;
mod callbacks;
mod chunks;
pub mod clock;
mod command;
pub mod command_buffer;
pub mod context;
mod destructors;
pub mod device;
mod device_runtime;
mod enqueue;
pub mod error;
pub mod event;
pub mod executable;
mod fault;
mod features;
mod float_env;
pub mod frontend;
mod futex;
pub mod kernel;
mod launch;
pub mod memory;
pub mod ndrange;
mod nodes;
mod on_device;
mod partition;
pub mod platform;
mod pool;
pub mod printf;
mod printf_sink;
pub mod program;
pub mod queue;
mod scratch;
pub mod semaphore;
mod sleep;
mod spirv;
mod stack;
pub mod threads;
pub mod topology;
mod trace;
mod version;
mod weak_list;

pub use command_buffer::{CommandBuffer, RecordingSite, SyncPoint};
pub use context::Context;
pub use device::Device;
pub use enqueue::{HostTexels, ImageOrigin, SvmFreeCallback, VariableRegion};
pub use error::{CLResult, ClError};
pub use event::Event;
pub use kernel::Kernel;
pub use memory::buffer::Buffer;
pub use memory::host::HostPtr;
pub use memory::image::Image;
pub use memory::pipe::Pipe;
pub use memory::rect::RectSide;
pub use memory::sampler::Sampler;
pub use platform::Platform;
pub use program::Program;
pub use queue::Queue;
pub use semaphore::Semaphore;
pub use version::NameVersion;
