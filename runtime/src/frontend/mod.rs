//! OpenCL C to SPIR-V.
