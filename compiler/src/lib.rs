//! SPIR-V in, callable work-group code out.
//!
//! ```text
//! SPIR-V words
//!   -> spirv/      decode (rspirv), check, specialise, translate
//!   -> ir/         Brolga IR: typed SSA, blocks with parameters, explicit memory
//!   -> transform/  inline, promote memory to SSA, fold, value-number, hoist, dead code, scalarize
//!   -> analysis/   dominators, loops, uniformity and shape
//!   -> workgroup/  parallel regions between barriers, wrapped in work-item loops
//!   -> vectorize/  W work-items per vector
//!   -> lower/      built-ins expanded from `brolga-mathlib`, widths legalised
//!   -> codegen/    machine code, by way of Cranelift
//!   -> jit/        executable memory, symbols
//!      store/      what is kept of it for other processes
//! ```
//!
//! `interp/` runs the IR of every stage and is what it means; it imports nothing of what it judges.
//! What reading and writing images means is in `image/`, which the interpreter and generated code
//! call. On the ground are `launch.rs` (index spaces, and what code is specialised for), `calls.rs`
//! (how functions are called that stay functions), `target.rs` (what the machine has that code is
//! generated for) and `options.rs` (what a program is built with). Imports point
//! down.
//!
//! What flows in: modules as words, specialization constants and build options
//! ([`Program::from_spirv`]). What flows out: what a host needs to know of each kernel
//! ([`KernelInfo`]) and, per launch shape, a function pointer ([`CompiledKernel`]) together with
//! the memory it wants. This crate knows nothing of OpenCL objects, threads or queues.
//!
//! Open `program.rs` first: it drives the stages. `abi.rs` is the contract with whoever runs the
//! code, `pipe.rs` with whoever makes pipes, `device/` with whoever runs what kernels enqueue.

pub mod abi;
pub mod analysis;
pub mod calls;
pub mod codegen;
pub mod device;
pub mod diagnostic;
pub mod dump;
pub mod image;
pub mod interp;
pub mod ir;
pub mod jit;
pub mod kernel_info;
pub mod launch;
pub mod lower;
mod named;
pub mod options;
pub mod pipe;
pub mod program;
pub mod spirv;
pub mod store;
pub mod target;
pub mod times;
pub mod transform;
pub mod vectorize;
pub mod workgroup;

pub use abi::{DeviceFn, KernelFn, Launch, PrintfFn, PrintfScalar};
pub use diagnostic::{Diagnostic, Remark};
pub use ir::KernelRole;
pub use kernel_info::{
    AccessQualifier, AddressSpace, ArgInfo, ArgKind, ImageArg, Implicit, ImplicitArg, KernelInfo,
    PrintfBuffer, PrintfFormat, TypeQualifiers,
};
pub use launch::{LaunchKey, NdRange, SUB_GROUP_SIZES};
pub use options::{BuildOptions, SpecConstantInfo, SpecConstants};
pub use program::{CompiledKernel, HostVariable, Program, spec_constants};
pub use target::{Isa, Target};
pub use times::Times;
