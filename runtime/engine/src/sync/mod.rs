//! What threads share memory and wait by. The engine takes all of it from here, and with
//! `cfg(loom)` it is loom's.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod system;

#[cfg(loom)]
pub(crate) use model::*;
#[cfg(not(loom))]
pub(crate) use system::*;
