//! Programs.
use crate::{CLResult, Context, Device, Kernel};
use std::sync::Arc;

/// `CL_PROGRAM_BUILD_STATUS` etc. of the one device.
#[derive(Clone, Debug)]
pub struct BuildInfo {
    /// `cl_build_status`
    pub status: i32,
    pub options: String,
    pub log: String,
    /// `cl_program_binary_type`
    pub binary_type: u32,
    pub global_variable_total_size: usize,
}

/// Called once when a build that was started with it ends.
pub type BuildCallback = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
pub struct Program {
    _private: (),
}
#[allow(unused_variables)]
impl Program {
    pub fn from_source(context: &Arc<Context>, source: String) -> CLResult<Arc<Program>> {
        todo!()
    }
    /// `CL_INVALID_VALUE` unless `il` is well-formed SPIR-V.
    pub fn from_il(context: &Arc<Context>, il: &[u8]) -> CLResult<Arc<Program>> {
        todo!()
    }
    /// `CL_INVALID_BINARY`
    pub fn from_binary(context: &Arc<Context>, binary: &[u8]) -> CLResult<Arc<Program>> {
        todo!()
    }
    pub fn context(&self) -> &Arc<Context> {
        todo!()
    }
    pub fn devices(&self) -> &[Arc<Device>] {
        todo!()
    }
    /// `CL_PROGRAM_SOURCE`
    pub fn source(&self) -> &str {
        todo!()
    }
    /// `CL_PROGRAM_IL`
    pub fn il(&self) -> &[u8] {
        todo!()
    }
    /// `clSetProgramSpecializationConstant`: all its errors.
    pub fn set_spec_constant(&self, id: u32, value: &[u8]) -> CLResult<()> {
        todo!()
    }
    /// The size of a specialization constant in bytes, for the entry point that takes a pointer. `CL_INVALID_SPEC_ID`, `CL_INVALID_PROGRAM` when not from IL.
    pub fn spec_constant_size(&self, id: u32) -> CLResult<usize> {
        todo!()
    }
    /// `clBuildProgram`. With a callback the build goes on in the background and the result is for the callback.
    pub fn build(self: &Arc<Self>, options: &str, callback: Option<BuildCallback>) -> CLResult<()> {
        todo!()
    }
    /// `clCompileProgram`
    pub fn compile(
        self: &Arc<Self>,
        options: &str,
        headers: &[(String, Arc<Program>)],
        callback: Option<BuildCallback>,
    ) -> CLResult<()> {
        todo!()
    }
    /// `clLinkProgram`. A program is returned with the error when linking failed (the entry point returns it and the code).
    pub fn link(
        context: &Arc<Context>,
        options: &str,
        inputs: &[Arc<Program>],
        callback: Option<Box<dyn FnOnce(Arc<Program>) + Send>>,
    ) -> (Option<Arc<Program>>, CLResult<()>) {
        todo!()
    }
    pub fn build_info(&self) -> BuildInfo {
        todo!()
    }
    /// `CL_PROGRAM_BINARIES`: empty when there is none.
    pub fn binary(&self) -> Vec<u8> {
        todo!()
    }
    /// `CL_PROGRAM_KERNEL_NAMES`; `CL_INVALID_PROGRAM_EXECUTABLE`.
    pub fn kernel_names(&self) -> CLResult<Vec<String>> {
        todo!()
    }
    /// `clCreateKernel`
    pub fn kernel(self: &Arc<Self>, name: &str) -> CLResult<Arc<Kernel>> {
        todo!()
    }
    /// `clCreateKernelsInProgram`
    pub fn kernels(self: &Arc<Self>) -> CLResult<Vec<Arc<Kernel>>> {
        todo!()
    }
}
