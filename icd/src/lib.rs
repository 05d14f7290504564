//! `libbrolga.so`: the C side of Brolga.
//!
//! What lives here: the exported `cl*` symbols, the dispatch table, handles, argument checks and
//! info queries. What flows in: calls from C, from an ICD loader or from a program linked with the
//! library. What flows out: calls to the safe objects of `brolga-runtime`, in which no raw handle
//! or pointer to an array is left.
//!
//! ```text
//! exports        the public symbols
//! dispatch       the dispatch table, which loaders call through
//! entry_points   every entry point, and the function that implements it
//! api/           one file per family of objects: looks up what handles and pointers mean, then
//!                calls the runtime; info queries
//! abi/           handles, conversion of C arguments and results, callbacks
//! ```
//!
//! Each imports only what is below it. Open `entry_points.rs` first.
//!
//! `unsafe` is in `abi/`, `entry_points.rs` and `exports.rs`, whose functions rely on what the
//! specification demands of the application's arguments. `api/` is safe code.

pub mod abi;
#[forbid(unsafe_code)]
pub mod api;
pub mod dispatch;
pub mod entry_points;
mod exports;
