//! The process that the driver is in, which is the application's: what its environment asks of the
//! driver, and what the driver has to say on its standard error.
//!
//! `environment.rs` reads variables, `notice.rs` writes lines. Every other crate may use both.

pub mod environment;
mod notice;

pub use notice::notice;
