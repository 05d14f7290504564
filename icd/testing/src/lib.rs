//! What the examples share, which are applications: they know drivers through the C interface and
//! the loader only.
//!
//! - `host.rs`: what an application does to use OpenCL.
//! - `drivers.rs`: the drivers of the machine, and processes that have one loaded.

pub mod drivers;
pub mod host;
