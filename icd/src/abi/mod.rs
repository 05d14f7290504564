//! The C ABI: how arguments and results pass between C and Rust. Nothing here is about OpenCL's
//! objects.
//!
//! A call from C enters its entry wrapper in `entry_points.rs` of the crate, which
//! - turns raw pointers into the types of `pointers.rs`, `property_list.rs`, `image.rs` and
//!   `mutable_dispatch.rs`, on the application's word,
//! - collects the arguments that many entry points share: `info.rs` (where a query's answer goes),
//!   and those of `crate::api` that say what a command waits for,
//! - runs the entry point's function under `wrapper.rs`, which stops panics, keeps the
//!   application's floating-point environment outside, and turns the result into a status code.
//!
//! `handle.rs` says what a handle points to and keeps the registries of live ones. `callback.rs`
//! goes the other way: functions of the application.

pub mod callback;
pub mod error;
pub mod handle;
pub mod image;
pub mod info;
pub mod mutable_dispatch;
pub mod pointers;
pub mod property_list;
pub mod wrapper;
