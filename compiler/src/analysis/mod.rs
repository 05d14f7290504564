//! Facts about a function.
