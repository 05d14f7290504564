//! The C ABI: what it takes to be called from C, and nothing about OpenCL's objects.
//!
//! Open `entry_points.rs` first: one line per entry point. A call from C enters its entry wrapper
//! there, which
//! - turns raw pointers into the types of `pointers.rs`, on the application's word,
//! - collects the arguments that many entry points share: `info.rs` (where a query's answer goes),
//!   and `api/wait.rs` (wait list and returned event), `image_desc.rs` (a structure with a union),
//! - runs the entry point's function in `crate::api` under `wrapper.rs`, which stops panics and
//!   turns the result into a status code.
//!
//! `dispatch.rs` is the table that the ICD loader calls through. `handle.rs` says what a handle
//! points to and keeps the registries of live ones. `callback.rs` goes the other way: functions of
//! the application.
//!
//! All `unsafe` of this crate is in this folder.

pub mod callback;
pub mod dispatch;
pub mod entry_points;
pub mod error;
pub mod handle;
pub mod image_desc;
pub mod info;
pub mod pointers;
pub mod wrapper;
