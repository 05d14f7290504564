//! Running one launch of a kernel in every way there is, for the file tests and the random kernels.
//!
//! A [`Case`] is a module, a kernel of it, an ND-range and arguments. An [`Engine`] runs a case and
//! gives an [`case::Outcome`], which must be the same for all engines.
//!
//! - `case.rs`: cases and outcomes, and how outcomes are compared.
//! - `engine.rs`: the engines. `native.rs`: the one that runs generated code.

pub mod case;
pub mod engine;
mod native;

pub use case::{Arg, Case, Image};
pub use engine::{Engine, print};
