//! Argument checks, one file per family of objects.
//!
//! A function here answers one entry point of `crate::abi::entry_points`. It looks up handles,
//! checks every argument under the sentence of the OpenCL API Specification that asks for it
//! (paraphrased, quoted with `>`), in the order in which the specification lists them, and calls
//! the runtime. Info queries are one `match` each.
//!
//! Each file's first type is what its handles stand for: the runtime's object, and whatever only
//! the C API asks about (the handles of parents, properties as they were given).

#![expect(
    clippy::too_many_arguments,
    reason = "the argument lists are those of OpenCL's prototypes"
)]

pub mod build;
pub mod command_buffer;
pub mod context;
pub mod device;
pub mod device_info;
pub mod event;
pub mod extension;
pub mod external_handles;
pub mod external_memory;
pub mod image;
pub mod image_transfer;
pub mod kernel;
pub mod kernel_info;
pub mod launch;
pub mod memory;
pub mod mutable_command;
pub mod order;
pub mod pipe;
pub mod platform;
pub mod program;
pub mod queue;
pub mod recording;
pub mod sampler;
pub mod semaphore;
pub mod sharing;
pub mod sub_device;
pub mod svm;
pub mod transfer;
pub mod unified_svm;
pub mod usm;
pub mod variable;
pub mod wait;
