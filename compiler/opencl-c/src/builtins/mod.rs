//! The built-in functions of OpenCL C: one table of names, generic types, what brings them and what
//! they become.
//!
//! `sema` asks [`resolve`] which function a call means and what its parameters' types are; the
//! [`Lowering`] says what the call becomes.
//!
//! Open `table/mod.rs` first, then `signature.rs` (the language of types that rows are written in),
//! `need.rs` (what brings a row), `convert.rs` (the families that are known by pattern), `index.rs`
//! (rows by name) and `resolve.rs` (overload resolution).

mod convert;
mod index;
mod lowering;
mod need;
#[cfg(test)]
pub(crate) mod overloads;
mod resolve;
mod signature;
mod table;
#[cfg(test)]
pub(crate) mod tests;

pub use index::names;
pub use lowering::{
    Atomic, AtomicOp, Barrier, Enqueue, Generation, Group, Image, Lowering, Pipe, Signs,
};
pub use resolve::{is_builtin, resolve};

use crate::hir;
use crate::types::TypeId;

/// What a source may use: the language version, features and extensions.
#[derive(Debug)]
pub struct Environment<'a> {
    pub std: crate::options::Std,
    pub device: &'a crate::options::Device,
}

/// An argument of a call, as overload resolution sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Arrays and functions have become pointers; `enum`s are as declared.
    pub ty: TypeId,
    /// An integer constant expression of value 0, or a cast of one to `void *`.
    pub is_null_constant: bool,
}

/// The function that a call means.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub params: Vec<TypeId>,
    /// More arguments than parameters may follow (`printf`, `enqueue_kernel`).
    pub variadic: bool,
    pub result: TypeId,
    pub lowering: Lowering,
}

/// Why a call means no function.
#[derive(Clone, Debug)]
pub enum Unresolved {
    /// No built-in function has the name.
    Unknown,
    /// There is one, but this version of the language or this device has not: what is missing, in
    /// words.
    Unavailable(String),
    /// No overload takes these arguments. The candidates as text, for notes.
    NoMatch(Vec<String>),
    /// Several do equally well.
    Ambiguous(Vec<String>),
}

/// A resolved call in the typed tree.
#[derive(Clone, Debug)]
pub struct Call {
    pub lowering: Lowering,
    /// The arguments that are blocks. Arguments behind a block are sizes of local memory, each a
    /// `uint`.
    pub blocks: Vec<BlockArgument>,
}

/// An argument that is a block, which is known when it is compiled (OpenCL C Specification,
/// "Blocks").
#[derive(Clone, Copy, Debug)]
pub struct BlockArgument {
    /// Its number.
    pub argument: usize,
    pub function: hir::FunctionId,
    /// Bytes and alignment of the record that is the argument's value.
    pub size: u64,
    pub align: u64,
}
