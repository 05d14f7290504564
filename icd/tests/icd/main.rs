//! Tests of the C side, as applications and ICD loaders see it.
//!
//! `slots.rs` checks the dispatch table, `loader.rs` plays an ICD loader and uses the system's,
//! `c_programs.rs` compiles and runs the programs in `tests/c`, which hold most of the checks.
//! `environment.rs` sets variables, `trace.rs` reads what `BROLGA_TRACE` leaves, `kept_code.rs`
//! what processes leave for others, `hosts.rs` has the driver in runtimes of other languages.
//! `support.rs` finds the library that was built and runs things with it.

mod c_programs;
mod environment;
mod hosts;
mod kept_code;
mod loader;
mod slots;
mod support;
mod trace;
