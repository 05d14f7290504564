//! OpenCL C source in, a SPIR-V module or diagnostics out. No LLVM, no child process.
//!
//! The driver compiles programs with this; `brolga-clc` is the command line.
//!
//! ```text
//! source, headers, options, device
//!   -> source.rs    files in one space of positions; lines, #line, who included whom
//!   -> lex/         characters to preprocessing tokens
//!   -> pp/          directives and macros: one stream of tokens, pragmas among them
//!   -> parse/       tokens to a syntax tree (ast/); knows names only as far as C's grammar needs
//!   -> sema/        declarations, types, overloads, constant evaluation: a typed tree (hir/)
//!      builtins/    the table of built-in functions, which sema asks
//!   -> emit/        SPIR-V
//!   -> vulkan.rs    if wanted, SPIR-V for Vulkan (`brolga-opencl-c-vulkan`)
//! ```
//!
//! `library.rs` makes a module of built-in functions, for modules that import them by their linked
//! names, which `mangle/` reads and writes.
//!
//! Each arrow is a function from data to data, with a printer for what it returns. A place in the
//! program is the number of a token ([`token::Loc`]) from the parser on; the token knows where it
//! is spelled and which macros made it, so that a diagnostic can show both. Every stage reports to
//! one [`diag::Diagnostics`] and goes on as far as it can, so that all errors of a file are told.
//!
//! This crate depends on nothing of Brolga's but the lowering to Vulkan: what the device can do
//! comes in as [`Device`].
//!
//! Open `compile.rs` first: it drives the stages.

pub mod ast;
pub mod builtins;
pub mod compile;
pub mod diag;
pub mod emit;
mod float;
pub mod hir;
pub mod lex;
mod library;
mod mangle;
pub mod options;
pub mod parse;
pub mod pp;
pub mod sema;
pub mod source;
pub mod spirv;
pub mod symbol;
pub mod token;
pub mod types;
pub mod vulkan;

pub use compile::{Checked, Compiled, Input, check, compile, preprocess, read_file};
pub use library::{describe, library};
pub use options::{Device, Options, Std};
