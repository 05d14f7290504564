//! Kernels of programs that nothing is known of.

use std::ptr;

use opencl_sys::*;

use super::{Buffer, Kernel, Program, Result, Session};

/// Sizes that arguments by value have: of scalars and vectors first, then of structures.
const VALUE_SIZES: [usize; 12] = [4, 8, 1, 2, 16, 32, 64, 128, 12, 20, 24, 48];

impl Program {
    /// All kernels of the program.
    pub fn kernels(&self) -> Result<Vec<Kernel>> {
        let mut count = 0;
        call!(
            self.cl,
            clCreateKernelsInProgram(self.id, 0, ptr::null_mut(), &mut count)
        )?;
        let mut ids = vec![ptr::null_mut(); count as usize];
        call!(
            self.cl,
            clCreateKernelsInProgram(self.id, count, ids.as_mut_ptr(), ptr::null_mut())
        )?;
        let kernel = |id| Kernel {
            cl: self.cl,
            id,
            next: 0,
        };
        Ok(ids.into_iter().map(kernel).collect())
    }
}

impl Kernel {
    /// Sets every argument: pointers to global and constant memory to `data`, pointers to local
    /// memory to as much as `local` bytes, and values to zero. Images and samplers are errors. The
    /// program must have been built with `-cl-kernel-arg-info`.
    pub fn any_arguments<T>(mut self, data: &Buffer<T>, local: usize) -> Result<Self> {
        let mut count: cl_uint = 0;
        let pointer: *mut cl_uint = &mut count;
        call!(
            self.cl,
            clGetKernelInfo(
                self.id,
                CL_KERNEL_NUM_ARGS,
                size_of::<cl_uint>(),
                pointer.cast(),
                ptr::null_mut()
            )
        )?;
        for index in 0..count {
            self = match self.address_qualifier(index)? {
                CL_KERNEL_ARG_ADDRESS_GLOBAL | CL_KERNEL_ARG_ADDRESS_CONSTANT => {
                    self.buffer(data)?
                }
                CL_KERNEL_ARG_ADDRESS_LOCAL => self.local(local)?,
                _ => self.zero()?,
            };
        }
        Ok(self)
    }

    /// The smallest local size that it can be launched with: what `reqd_work_group_size` says, or
    /// one work-item.
    pub fn smallest_local_size(&self, session: &Session) -> Result<[usize; 3]> {
        let mut size = [0_usize; 3];
        call!(
            self.cl,
            clGetKernelWorkGroupInfo(
                self.id,
                session.device,
                CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                size_of_val(&size),
                size.as_mut_ptr().cast(),
                ptr::null_mut()
            )
        )?;
        Ok(if size == [0; 3] { [1; 3] } else { size })
    }

    fn address_qualifier(&self, index: u32) -> Result<cl_kernel_arg_address_qualifier> {
        let mut qualifier = 0;
        let pointer: *mut cl_kernel_arg_address_qualifier = &mut qualifier;
        call!(
            self.cl,
            clGetKernelArgInfo(
                self.id,
                index,
                CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                size_of_val(&qualifier),
                pointer.cast(),
                ptr::null_mut()
            )
        )?;
        Ok(qualifier)
    }

    /// Sets the next argument, whose size is not known, to zero.
    fn zero(mut self) -> Result<Self> {
        let zeros = [0_u64; 16];
        let set = |size: usize| -> Result<()> {
            call!(
                self.cl,
                clSetKernelArg(self.id, self.next, size, zeros.as_ptr().cast())
            )
        };
        if !VALUE_SIZES.into_iter().any(|size| set(size).is_ok()) {
            return Err(format!("argument {}: not a value", self.next));
        }
        self.next += 1;
        Ok(self)
    }
}
