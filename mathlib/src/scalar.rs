//! The out-of-line routines, in plain scalar Rust. [`crate::routine`] is the table of them.

pub(crate) mod common;
pub(crate) mod gamma;
pub(crate) mod log;
pub(crate) mod pow;
pub(crate) mod rem;
pub(crate) mod root;
pub(crate) mod trig;
