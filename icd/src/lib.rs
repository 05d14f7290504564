//! `libbrolga.so`: the C side of Brolga.
//!
//! What lives here: the exported `cl*` symbols, the dispatch table, handles, argument checks and
//! info queries. What flows in: calls from C, from an ICD loader or from a program linked with the
//! library. What flows out: calls to the safe objects of `brolga-runtime`, in which no raw handle
//! or pointer to an array is left.
//!
//! ```text
//! abi/   entry point table, dispatch table, handles, conversion of C arguments and results; all of the `unsafe`
//! api/   one file per family of objects: every check that the specification asks for, in its order, then one call
//!        into the runtime
//! ```
//!
//! Open `abi/entry_points.rs` first: it lists every entry point and the function that answers it.

pub mod abi;
pub mod api;
