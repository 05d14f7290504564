//! Vector IR to machine code with Cranelift.
