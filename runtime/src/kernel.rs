//! Kernels.
use crate::{Buffer, CLResult, Context, Program};
use brolga_compiler::{ArgKind, KernelInfo};
use std::sync::Arc;

#[derive(Debug)]
pub struct Kernel {
    _private: (),
}
#[allow(unused_variables)]
impl Kernel {
    pub fn program(&self) -> &Arc<Program> {
        todo!()
    }
    pub fn context(&self) -> &Arc<Context> {
        todo!()
    }
    /// Name, arguments, attributes, required sizes.
    pub fn info(&self) -> &KernelInfo {
        todo!()
    }
    /// `CL_KERNEL_ARG_INFO_NOT_AVAILABLE` unless the program has it (`-cl-kernel-arg-info`, or IL with names).
    pub fn arg_info(&self, index: u32) -> CLResult<&brolga_compiler::ArgInfo> {
        todo!()
    }
    /// What `clSetKernelArg` should make of argument `index`; `CL_INVALID_ARG_INDEX`.
    pub fn arg_kind(&self, index: u32) -> CLResult<ArgKind> {
        todo!()
    }
    /// `ArgKind::Value`: `CL_INVALID_ARG_SIZE`.
    pub fn set_arg_value(&self, index: u32, value: &[u8]) -> CLResult<()> {
        todo!()
    }
    /// `ArgKind::Pointer(Global | Constant)`: a buffer or null. `CL_INVALID_ARG_VALUE`, `CL_INVALID_MEM_OBJECT`.
    pub fn set_arg_buffer(&self, index: u32, buffer: Option<&Arc<Buffer>>) -> CLResult<()> {
        todo!()
    }
    /// `ArgKind::Pointer(Local)`: `CL_INVALID_ARG_SIZE` when 0, `CL_MAX_SIZE_RESTRICTION_EXCEEDED`.
    pub fn set_arg_local(&self, index: u32, size: usize) -> CLResult<()> {
        todo!()
    }
    /// `clSetKernelArgSVMPointer`
    pub fn set_arg_svm(&self, index: u32, address: usize) -> CLResult<()> {
        todo!()
    }
    /// `clSetKernelExecInfo`: SVM pointers used indirectly.
    pub fn set_svm_pointers(&self, addresses: &[usize]) -> CLResult<()> {
        todo!()
    }
    /// `clCloneKernel`
    pub fn duplicate(&self) -> Arc<Kernel> {
        todo!()
    }
    /// `CL_KERNEL_WORK_GROUP_SIZE`
    pub fn work_group_size(&self) -> usize {
        todo!()
    }
    /// `CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`
    pub fn preferred_multiple(&self) -> usize {
        todo!()
    }
    /// `CL_KERNEL_LOCAL_MEM_SIZE`, arguments set so far included.
    pub fn local_mem_size(&self) -> u64 {
        todo!()
    }
    /// `clGetKernelSuggestedLocalWorkSizeKHR`
    pub fn suggested_local_size(
        &self,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
    ) -> CLResult<[usize; 3]> {
        todo!()
    }
}
