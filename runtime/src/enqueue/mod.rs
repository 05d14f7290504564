//! The commands that a queue takes, as methods of [`Queue`](crate::Queue).
//!
//! Each checks its arguments against the state of the objects involved, captures what it needs by
//! value, and makes one command. All return the command's event and check the wait list
//! (`CL_INVALID_CONTEXT`). A blocking one returns after completion, with
//! `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` when what it waited for failed.
//!
//! `buffers.rs` and `images.rs` transfer, `mapping.rs` maps and migrates, `kernels.rs` launches, `order.rs`
//! markers and barriers, `svm.rs` and `usm.rs` memory used by address, `variables.rs` variables of
//! programs.

mod buffers;
mod images;
mod kernels;
mod mapping;
mod order;
mod svm;
mod usm;
mod variables;

pub use images::{HostTexels, ImageOrigin};
pub(crate) use kernels::check_kernel;
pub use svm::SvmFreeCallback;
pub use variables::VariableRegion;
pub(crate) use variables::{READ_GLOBAL_VARIABLE, WRITE_GLOBAL_VARIABLE};
