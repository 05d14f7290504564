//! What entry points do, one file per family of objects.
//!
//! A function here answers one entry point of `crate::entry_points`, or both that a command has
//! (`place.rs`). It looks up what the arguments mean and calls the runtime. What it checks is what
//! it reads: that handles are of live objects of the kind, that lists are there if their counts say
//! so, that origins, regions, patterns and properties can be read. Everything that depends on
//! values, or on the state of objects, such as their contexts, is checked by the runtime. Checks
//! are in the order in which the specification lists them, each under its sentence, paraphrased,
//! which `>` marks. Info queries are one `match` each.
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
pub mod mem_properties;
pub mod memory;
pub mod mutable_command;
pub mod order;
pub mod pipe;
pub mod place;
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
