//! SPIR-V to IR.
