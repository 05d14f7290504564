//! What there is, before any application asks for something: the platform and its devices, what
//! they say of themselves, the threads, and the record of what ran.

pub mod device;
pub(crate) mod features;
pub mod limits;
pub(crate) mod partition;
pub mod platform;
pub(crate) mod root;
pub(crate) mod tools;
pub(crate) mod trace;
pub(crate) mod version;
