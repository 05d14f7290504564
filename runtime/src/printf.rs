//! Formatting what kernels print.
