//! OpenCL objects as safe Rust, whose commands `brolga-engine` executes on the CPU.
//!
//! What flows in: calls from the C ABI layer, already stripped of handles and raw pointers that can
//! be checked there. What flows out: objects in [`Arc`](std::sync::Arc)s, values for queries, and
//! OpenCL error codes ([`ClError`]).
//!
//! Each imports from those before it only (`tests/layers.rs`):
//!
//! ```text
//! fault/                   kernels that fault, or are terminated
//! base/                    the platform and its devices, their threads; a record of what ran
//! storage/                 memory, without the objects that it belongs to
//! spirv, binary, frontend/ modules; program binaries; source to SPIR-V
//! context/                 what everything else belongs to
//! memory/                  buffers, images, pipes, memory used by address, transfers
//! code/                    a built program's code; the ranges that it is called for
//! launch/                  a launch as work, and what kernels ask for meanwhile
//! program/                 source, IL or binary -> built program
//! command, queue           what is asked for, captured by value; the order of commands
//! kernel                   a kernel with its arguments
//! enqueue/                 each kind of command, checked and captured
//! command_buffer/          commands recorded as a graph that is run again and again
//! semaphore/               commands that wait for signals of others
//! ```
//!
//! Open `queue.rs` first to see how a command is made, and the engine's `event/` for its life.
//! `README.md` argues the design.
//!
//! `unsafe` is where memory is reached by address (`memory/`, `storage/`), generated code is called
//! or calls back (`launch/`, `code/`, `fault/`), variables of programs are transferred
//! (`enqueue/variables.rs`), and the system is asked for something that has no safe interface
//! (`base/trace/`, `semaphore/external.rs`, `frontend/clang/`).

mod base;
pub mod binary;
mod code;
mod command;
pub mod command_buffer;
pub mod context;
mod enqueue;
mod fault;
pub mod frontend;
pub mod kernel;
mod launch;
pub mod memory;
pub mod program;
pub mod queue;
pub mod semaphore;
mod spirv;
pub mod storage;

pub use base::device::{self, Device};
pub use base::platform::{self, Platform};
pub use base::version::NameVersion;
pub use brolga_engine::error::{self, CLResult, ClError};
pub use brolga_engine::event::{self, Event};
pub use brolga_engine::system::{clock, float_env, threads, topology};
pub use code::{executable, ndrange, store};
pub use command_buffer::{CommandBuffer, RecordingSite, SyncPoint};
pub use context::{Context, user_event, wait_for_events};
pub use enqueue::{
    CopyBuffer, CopyBufferToImage, CopyImage, CopyImageToBuffer, CopyRect, Description, Direction,
    FillBuffer, FillImage, HostCopy, HostImage, HostRect, HostTexels, HostVariable, ImageOrigin,
    Launch, Recordable, Sizes, SvmCopy, SvmFill, SvmFreeCallback, Task, UsmCopy, UsmFill,
};
pub use kernel::Kernel;
pub use launch::printf;
pub use memory::buffer::Buffer;
pub use memory::host::HostPtr;
pub use memory::image::Image;
pub use memory::object::MemObject;
pub use memory::pattern::Pattern;
pub use memory::pipe::Pipe;
pub use memory::rect::RectSide;
pub use memory::sampler::Sampler;
pub use program::Program;
pub use queue::Queue;
pub use semaphore::Semaphore;
