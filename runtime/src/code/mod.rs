//! Code for kernels, and the ranges that it is called for: `executable.rs` has a built program's
//! kernels and makes their code, `ndrange.rs` checks a range and divides it into work-groups.

pub mod executable;
pub mod ndrange;
