//! Kernel objects: the values of their arguments, captured when a launch is enqueued.

use std::any::Any;
use std::fmt;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::{Arc, Weak};

use brolga_compiler::abi::SCRATCH_ALIGN;
use brolga_compiler::{
    AccessQualifier, AddressSpace, ArgInfo, ArgKind, Implicit, KernelInfo, NdRange,
};
use brolga_host::notice;
use opencl_sys::*;
use parking_lot::Mutex;

use crate::base::device::Device;
use crate::code::executable::{Code, Executable};
use crate::code::ndrange::{self, Limits};
use crate::context::Context;
use crate::launch::host_call::{Blocks, SharedBlocks};
use crate::launch::printf_buffer::LaunchBuffer;
use crate::launch::work::{ArgBlock, LaunchWork, Plan, Spawner};
use crate::memory::buffer::Buffer;
use crate::memory::image::Image;
use crate::memory::pipe::Pipe;
use crate::memory::sampler::Sampler;
use crate::program::Program;
use crate::queue::Queue;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::work::{Resource, RetainedResources};

/// A kernel of a built program, with its arguments.
pub struct Kernel {
    program: Arc<Program>,
    executable: Arc<Executable>,
    index: usize,
    /// Whether its arguments are more images or samplers than the device takes.
    exceeds_device: bool,
    args: Mutex<Args>,
    /// That of the last launch.
    plan: Mutex<Option<Arc<Plan>>>,
}

#[derive(Clone)]
struct Args {
    /// The argument block; local pointers in it are filled in at launch.
    block: ArgBlock,
    bound: Vec<Bound>,
    /// What the last launch keeps alive, unless other objects have been set since.
    objects: Weak<Objects>,
}

/// What launches keep alive: a kernel and memory objects that are its arguments.
struct Objects {
    _kernel: Arc<Kernel>,
    _objects: RetainedResources,
}

/// What an argument was set to, as far as the block does not say.
#[derive(Clone)]
enum Bound {
    Unset,
    /// Bytes, an SVM pointer or null: all in the block.
    Value,
    /// Kernels do not retain memory objects ("Setting Kernel Arguments").
    Object(Weak<dyn Any + Send + Sync>),
    /// Bytes of work-group memory.
    Local(u64),
}

impl Args {
    /// Bytes of work-group memory that local pointer arguments take, each aligned.
    fn local_size(&self) -> u64 {
        let sizes = self.bound.iter().map(|bound| match bound {
            Bound::Local(size) => size.next_multiple_of(SCRATCH_ALIGN),
            _ => 0,
        });
        sizes.fold(0, u64::saturating_add)
    }
}

impl Program {
    /// `clCreateKernel`. Errors: `CL_INVALID_PROGRAM_EXECUTABLE`, `CL_INVALID_KERNEL_NAME`.
    pub fn kernel(self: &Arc<Self>, name: &str) -> CLResult<Arc<Kernel>> {
        let executable = self.executable()?;
        // CL_INVALID_KERNEL_NAME if kernel_name is not found in program.
        let mut kernels = executable.ordinary().iter();
        let index = kernels.find(|&&index| executable.kernels()[index].name == name);
        let index = *index.ok_or(ClError::INVALID_KERNEL_NAME)?;
        Ok(Kernel::new(self, &executable, index))
    }

    /// `clCreateKernelsInProgram`. Errors: `CL_INVALID_PROGRAM_EXECUTABLE`.
    pub fn kernels(self: &Arc<Self>) -> CLResult<Vec<Arc<Kernel>>> {
        let executable = self.executable()?;
        let kernels = executable.ordinary().iter();
        Ok(kernels
            .map(|&index| Kernel::new(self, &executable, index))
            .collect())
    }
}

impl Kernel {
    fn new(program: &Arc<Program>, executable: &Arc<Executable>, index: usize) -> Arc<Kernel> {
        let info = &executable.kernels()[index];
        let ends = info.args.iter().map(|arg| arg.offset + arg.size);
        let bytes = ends.chain([info.args_size]).max().unwrap_or(0) as usize;
        let args = Args {
            block: ArgBlock::new(bytes),
            bound: vec![Bound::Unset; info.args.len()],
            objects: Weak::new(),
        };
        Kernel::with_args(program, executable, index, args)
    }

    fn with_args(
        program: &Arc<Program>,
        executable: &Arc<Executable>,
        index: usize,
        args: Args,
    ) -> Arc<Kernel> {
        program.kernels_attached().fetch_add(1, AcqRel);
        let device = program.context().device();
        // It is made to be launched.
        program.compile_ahead(|| executable.compile_ahead(index));
        Arc::new(Kernel {
            program: Arc::clone(program),
            executable: Arc::clone(executable),
            index,
            exceeds_device: exceeds_device(&executable.kernels()[index].args, device),
            args: Mutex::new(args),
            plan: Mutex::default(),
        })
    }

    /// `CL_KERNEL_PROGRAM`
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// `CL_KERNEL_CONTEXT`
    pub fn context(&self) -> &Arc<Context> {
        self.program.context()
    }

    /// Name, arguments, attributes, required sizes.
    pub fn info(&self) -> &KernelInfo {
        &self.executable.kernels()[self.index]
    }

    fn arg(&self, index: u32) -> CLResult<&ArgInfo> {
        // CL_INVALID_ARG_INDEX if arg_index is not a valid argument index ("Setting Kernel
        // Arguments").
        self.info()
            .args
            .get(index as usize)
            .ok_or(ClError::INVALID_ARG_INDEX)
    }

    /// What `clGetKernelArgInfo` answers from.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_KERNEL_ARG_INFO_NOT_AVAILABLE` when the program was
    /// built without it.
    pub fn arg_info(&self, index: u32) -> CLResult<&ArgInfo> {
        let arg = self.arg(index)?;
        // CL_KERNEL_ARG_INFO_NOT_AVAILABLE if the argument information is not available for kernel
        // ("Kernel Object Queries").
        if !self.executable.has_arg_info {
            return Err(ClError::KERNEL_ARG_INFO_NOT_AVAILABLE);
        }
        Ok(arg)
    }

    /// What `clSetKernelArg` should make of argument `index`. Errors: `CL_INVALID_ARG_INDEX`.
    pub fn arg_kind(&self, index: u32) -> CLResult<ArgKind> {
        Ok(self.arg(index)?.kind)
    }

    /// Checks that an object that an argument is set to belongs to the kernel's context.
    fn check_context(&self, of: &Arc<Context>) -> CLResult<()> {
        // CL_INVALID_CONTEXT if the context associated with kernel and an OpenCL object pointed to
        // by arg_value are not the same.
        match Arc::ptr_eq(of, self.context()) {
            true => Ok(()),
            false => Err(ClError::INVALID_CONTEXT),
        }
    }

    fn set(&self, index: u32, arg: &ArgInfo, bytes: &[u8], bound: Bound) {
        let mut args = self.args.lock();
        args.block.write(arg.offset, bytes);
        let before = std::mem::replace(&mut args.bound[index as usize], bound);
        let keeps_objects = match (&before, &args.bound[index as usize]) {
            (Bound::Object(before), Bound::Object(now)) => Weak::ptr_eq(before, now),
            (Bound::Object(_), _) | (_, Bound::Object(_)) => false,
            _ => true,
        };
        if !keeps_objects {
            args.objects = Weak::new();
        }
    }

    /// Sets an argument that is passed by value.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_ARG_SIZE` when the size is not the type's;
    /// `CL_INVALID_ARG_VALUE` when the argument is something else.
    pub fn set_arg_value(&self, index: u32, value: &[u8]) -> CLResult<()> {
        let arg = self.arg(index)?;
        if arg.kind != ArgKind::Value {
            return Err(ClError::INVALID_ARG_VALUE);
        }
        // CL_INVALID_ARG_SIZE if arg_size does not match the size of the data type for an argument
        // that is not a memory object.
        if value.len() != arg.size as usize {
            return Err(ClError::INVALID_ARG_SIZE);
        }
        self.set(index, arg, value, Bound::Value);
        Ok(())
    }

    /// Sets an argument that nothing uses, to whatever it is in the source.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_ARG_VALUE` when the argument is something else.
    pub fn set_arg_unused(&self, index: u32) -> CLResult<()> {
        let arg = self.arg(index)?;
        if arg.kind != ArgKind::Unused {
            return Err(ClError::INVALID_ARG_VALUE);
        }
        self.set(index, arg, &[], Bound::Value);
        Ok(())
    }

    /// Sets a pointer to global or constant memory to a buffer or to null.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_ARG_VALUE` when the argument is something else,
    /// or the kernel writes through it to a buffer that is never to change; `CL_INVALID_CONTEXT`
    /// for a buffer of another context; `CL_MAX_SIZE_RESTRICTION_EXCEEDED` for one that is larger
    /// than the kernel allows.
    pub fn set_arg_buffer(&self, index: u32, buffer: Option<&Buffer>) -> CLResult<()> {
        let arg = self.arg(index)?;
        check_global_pointer(arg)?;
        let memory = buffer.map(|buffer| buffer.memory());
        if let Some(memory) = memory {
            self.check_context(memory.context())?;
            check_max_bytes(arg, memory.size())?;
            // Glossary, "Immutable Memory Object": one that cannot be modified once it is created.
            if memory.flags() & CL_MEM_IMMUTABLE_EXT != 0
                && self.executable.writes_through(self.index, arg.offset)
            {
                return Err(ClError::INVALID_ARG_VALUE);
            }
        }
        let (address, bound) = match memory {
            Some(memory) => (
                memory.as_ptr() as u64,
                Bound::Object(Arc::downgrade(memory) as _),
            ),
            None => (0, Bound::Value),
        };
        self.set(index, arg, &address.to_le_bytes(), bound);
        self.set_size(index, memory.map_or(0, |memory| memory.size()));
        Ok(())
    }

    /// Tells the kernel how many bytes there are where an argument points, if it asks.
    fn set_size(&self, index: u32, bytes: usize) {
        for implicit in &self.info().implicit {
            if matches!(implicit.what, Implicit::Size { arg } if arg == index) {
                let mut args = self.args.lock();
                args.block
                    .write(implicit.offset, &(bytes as u64).to_le_bytes());
            }
        }
    }

    /// Sets a pipe.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_ARG_VALUE` when the argument is something else;
    /// `CL_INVALID_CONTEXT` for a pipe of another context.
    pub fn set_arg_pipe(&self, index: u32, pipe: &Pipe) -> CLResult<()> {
        let arg = self.arg(index)?;
        if arg.kind != ArgKind::Pipe {
            return Err(ClError::INVALID_ARG_VALUE);
        }
        let memory = pipe.memory();
        self.check_context(memory.context())?;
        let address = memory.as_ptr() as u64;
        let bound = Bound::Object(Arc::downgrade(memory) as _);
        self.set(index, arg, &address.to_le_bytes(), bound);
        Ok(())
    }

    /// Sets an image.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_MEM_OBJECT` when the argument is something else,
    /// or images of another type; `CL_INVALID_ARG_VALUE` if it is for other accesses than the image
    /// is; `CL_INVALID_CONTEXT` for an image of another context.
    pub fn set_arg_image(&self, index: u32, image: &Arc<Image>) -> CLResult<()> {
        let arg = self.arg(index)?;
        // CL_INVALID_MEM_OBJECT if arg_value points to a valid memory object, but the memory object
        // is not valid for the kernel argument specified by arg_index.
        if arg.kind != ArgKind::Image(image.as_arg()) {
            return Err(ClError::INVALID_MEM_OBJECT);
        }
        self.check_context(image.context())?;
        // CL_INVALID_ARG_VALUE if the argument is an image declared with the read_only qualifier
        // and arg_value points to an image object created with the memory flag CL_MEM_WRITE_ONLY;
        // the write_only qualifier, CL_MEM_READ_ONLY or CL_MEM_IMMUTABLE_EXT. What is never to
        // change is not for the read_write qualifier either.
        let unfit = match arg.access {
            AccessQualifier::None | AccessQualifier::ReadOnly => CL_MEM_WRITE_ONLY,
            AccessQualifier::WriteOnly => CL_MEM_READ_ONLY | CL_MEM_IMMUTABLE_EXT,
            AccessQualifier::ReadWrite => CL_MEM_IMMUTABLE_EXT,
        };
        if image.memory().flags() & unfit != 0 {
            return Err(ClError::INVALID_ARG_VALUE);
        }
        let address = image.descriptor_address();
        let bound = Bound::Object(Arc::downgrade(image) as _);
        self.set(index, arg, &address.to_le_bytes(), bound);
        Ok(())
    }

    /// Sets a sampler.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_ARG_VALUE` when the argument is something else;
    /// `CL_INVALID_CONTEXT` for a sampler of another context.
    pub fn set_arg_sampler(&self, index: u32, sampler: &Sampler) -> CLResult<()> {
        let arg = self.arg(index)?;
        if arg.kind != ArgKind::Sampler {
            return Err(ClError::INVALID_ARG_VALUE);
        }
        self.check_context(sampler.context())?;
        let number = u64::from(sampler.bits());
        self.set(index, arg, &number.to_le_bytes(), Bound::Value);
        Ok(())
    }

    /// Sets an on-device queue.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_ARG_VALUE` when the argument is something else;
    /// `CL_INVALID_CONTEXT` for a queue of another context; `CL_INVALID_DEVICE_QUEUE` for one of
    /// the host.
    pub fn set_arg_queue(&self, index: u32, queue: &Arc<Queue>) -> CLResult<()> {
        let arg = self.arg(index)?;
        if arg.kind != ArgKind::DeviceQueue {
            return Err(ClError::INVALID_ARG_VALUE);
        }
        self.check_context(queue.context())?;
        // CL_INVALID_DEVICE_QUEUE for an argument declared to be of type queue_t when the specified
        // arg_value is not a valid device queue object.
        let handle = queue.on_device().map(|it| it.handle);
        let handle = handle.ok_or(ClError::INVALID_DEVICE_QUEUE)?;
        self.set(index, arg, &handle.to_le_bytes(), Bound::Value);
        Ok(())
    }

    /// Sets a pointer to local memory to a block of `size` bytes, which may be none.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_ARG_VALUE` when the argument is something else;
    /// `CL_MAX_SIZE_RESTRICTION_EXCEEDED` when there is not as much, or the kernel does not allow
    /// it.
    pub fn set_arg_local(&self, index: u32, size: usize) -> CLResult<()> {
        let arg = self.arg(index)?;
        if arg.kind != ArgKind::Pointer(AddressSpace::Local) {
            return Err(ClError::INVALID_ARG_VALUE);
        }
        check_max_bytes(arg, size)?;
        // No launch could have as much.
        if size as u64 > self.context().device().local_mem_size {
            return Err(ClError::MAX_SIZE_RESTRICTION_EXCEEDED);
        }
        self.set(index, arg, &0u64.to_le_bytes(), Bound::Local(size as u64));
        Ok(())
    }

    /// `clSetKernelArgSVMPointer`, `clSetKernelArgMemPointerINTEL`. Any address will do, as
    /// fine-grain system memory is supported.
    ///
    /// Errors: `CL_INVALID_ARG_INDEX`; `CL_INVALID_ARG_VALUE` when the argument is not such a
    /// pointer.
    pub fn set_arg_svm(&self, index: u32, address: usize) -> CLResult<()> {
        let arg = self.arg(index)?;
        if arg.kind == ArgKind::Unused {
            return self.set_arg_unused(index);
        }
        check_global_pointer(arg)?;
        self.set(index, arg, &(address as u64).to_le_bytes(), Bound::Value);
        // How much there is at an address nobody says.
        self.set_size(index, 0);
        Ok(())
    }

    /// `clCloneKernel`: a kernel with the same arguments set to the same values.
    pub fn duplicate(&self) -> Arc<Kernel> {
        let args = Args {
            // Launches of a kernel keep that one alive.
            objects: Weak::new(),
            ..self.args.lock().clone()
        };
        Kernel::with_args(&self.program, &self.executable, self.index, args)
    }

    /// `CL_KERNEL_WORK_GROUP_SIZE`: the required size if there is one, else the device's limit.
    pub fn work_group_size(&self) -> usize {
        ndrange::max_group(&self.limits())
    }

    /// `CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`: work-items per vector.
    pub fn preferred_multiple(&self) -> usize {
        self.executable.width(self.index) as usize
    }

    /// `CL_KERNEL_LOCAL_MEM_SIZE`, bytes: the kernel's own variables and the arguments set so far.
    pub fn local_mem_size(&self) -> u64 {
        self.local_mem_of(&self.args.lock())
    }

    /// Gives pointers to work-group memory their places, after the kernel's own variables.
    fn place_local(&self, args: &mut Args) {
        let mut next = self.info().local_mem_size.next_multiple_of(SCRATCH_ALIGN);
        for (info, bound) in self.info().args.iter().zip(&args.bound) {
            if let Bound::Local(size) = bound {
                args.block.write(info.offset, &next.to_le_bytes());
                next = next.saturating_add(size.next_multiple_of(SCRATCH_ALIGN));
            }
        }
    }

    fn local_mem_of(&self, args: &Args) -> u64 {
        let dynamic = args.local_size();
        match dynamic {
            0 => self.info().local_mem_size,
            _ => {
                let fixed = self.info().local_mem_size.next_multiple_of(SCRATCH_ALIGN);
                fixed.saturating_add(dynamic)
            }
        }
    }

    fn limits(&self) -> Limits<'_> {
        Limits {
            device: self.context().device(),
            info: self.info(),
            width: self.executable.width(self.index),
            rows: self.executable.preferred_rows(self.index),
            allows_non_uniform: self.executable.allows_non_uniform,
        }
    }

    /// `clGetKernelSuggestedLocalWorkSizeKHR`: the local size that a launch without one would get,
    /// 1 in unused dimensions.
    ///
    /// Errors: as the launch's; `CL_INVALID_GLOBAL_WORK_SIZE` for an empty range.
    pub fn suggested_local_size(
        &self,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
    ) -> CLResult<[usize; 3]> {
        let range = ndrange::check(&self.limits(), work_dim, offset, global, None)?;
        // CL_INVALID_GLOBAL_WORK_SIZE if global_work_size is NULL or if any of the values specified
        // in it is 0.
        let range = range.ok_or(ClError::INVALID_GLOBAL_WORK_SIZE)?;
        Ok(range.local_size.map(|size| size as usize))
    }

    /// Whether an argument has never been set.
    pub(crate) fn has_unset_args(&self) -> bool {
        let args = self.args.lock();
        args.bound.iter().any(|bound| matches!(bound, Bound::Unset))
    }

    /// Checks the sizes of a launch. Errors: as the launch's.
    pub(crate) fn check_range(
        &self,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
        local: Option<&[usize]>,
    ) -> CLResult<()> {
        ndrange::check(&self.limits(), work_dim, offset, global, local).map(|_| ())
    }

    /// What a launch keeps alive with these arguments: the kernel, and the objects that it finds.
    ///
    /// Errors: `CL_INVALID_KERNEL_ARGS` if not all are set.
    fn retain(
        self: &Arc<Self>,
        args: &mut Args,
        objects: &mut RetainedResources,
    ) -> CLResult<Resource> {
        for bound in &args.bound {
            match bound {
                // CL_INVALID_KERNEL_ARGS if any kernel arguments for kernel have not been set
                // ("Executing Kernels").
                Bound::Unset => return Err(ClError::INVALID_KERNEL_ARGS),
                Bound::Object(object) => {
                    // Released since it was set: as good as not set.
                    objects.push(object.upgrade().ok_or(ClError::INVALID_KERNEL_ARGS)?);
                }
                Bound::Value | Bound::Local(_) => {}
            }
        }
        let kernel = Arc::clone(self);
        if objects.is_empty() {
            return Ok(kernel);
        }
        let objects = Arc::new(Objects {
            _kernel: kernel,
            _objects: std::mem::take(objects),
        });
        args.objects = Arc::downgrade(&objects);
        Ok(objects)
    }

    /// The plan of a launch: if it is that of the one before, they share it.
    fn plan(&self, code: Arc<Code>, range: NdRange, local_mem_size: u64) -> Arc<Plan> {
        let mut last = self.plan.lock();
        match &*last {
            Some(plan) if plan.is_for(&code, &range, local_mem_size) => Arc::clone(plan),
            _ => {
                let plan = Plan::new(self.context(), code, range, local_mem_size);
                *last = Some(Arc::clone(&plan));
                plan
            }
        }
    }

    /// Memory that a launch prints to by itself, whose address becomes an argument.
    fn printf_buffer(&self, block: &mut ArgBlock) -> Option<LaunchBuffer> {
        let mut implicit = self.info().implicit.iter();
        implicit.find_map(|implicit| match &implicit.what {
            Implicit::Printed(what) => {
                let buffer = LaunchBuffer::new(what);
                block.write(implicit.offset, &buffer.address().to_le_bytes());
                Some(buffer)
            }
            Implicit::Size { .. } => None,
        })
    }

    /// Checks a launch and captures everything it needs, with what it keeps alive; `None` for an
    /// empty range.
    pub(crate) fn prepare(
        self: &Arc<Self>,
        device: &Arc<Device>,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
        local: Option<&[usize]>,
    ) -> CLResult<Option<(LaunchWork, Resource)>> {
        // Let go of after the lock, if something is wrong.
        let mut objects = RetainedResources::new();
        let retained: Resource;
        let (mut block, local_mem_size) = {
            let mut args = self.args.lock();
            retained = match args.objects.upgrade() {
                Some(objects) => objects,
                None => self.retain(&mut args, &mut objects)?,
            };
            self.place_local(&mut args);
            (args.block.clone(), self.local_mem_of(&args))
        };
        let limits = self.limits();
        let Some(mut range) = ndrange::check(&limits, work_dim, offset, global, local)? else {
            return Ok(None);
        };
        let asked = range.local_size;
        if ndrange::wastes_lanes(&limits, &range)
            && self.executable.may_regroup(self.index, asked)
            && let Some(better) = ndrange::best_local_size(&limits, range.global_size)
        {
            range.local_size = better;
        }
        // CL_OUT_OF_RESOURCES if there is a failure to allocate resources required by the OpenCL
        // implementation on the device: the work-group memory that the kernel and its arguments
        // want, or places for images and samplers.
        if self.exceeds_device || local_mem_size > self.context().device().local_mem_size {
            return Err(ClError::OUT_OF_RESOURCES);
        }
        let code = self
            .executable
            .code(self.index, &range, asked, block.bytes())
            .map_err(|diagnostic| {
                self.context().report(&diagnostic.to_string());
                notice(format_args!("kernel {}: {diagnostic}", self.info().name));
                ClError::OUT_OF_RESOURCES
            })?;
        let context = self.context();
        let spawner = self.info().enqueues.then(|| {
            let default_queue = context.device_queues().default_of(device);
            let blocks = Blocks::new(context, &self.executable, default_queue);
            Arc::new(SharedBlocks(blocks)) as Arc<dyn Spawner>
        });
        let plan = self.plan(code, range, local_mem_size);
        let buffer = self.printf_buffer(&mut block);
        let work = LaunchWork::new(plan, block, spawner).printing_to(buffer);
        Ok(Some((work, retained)))
    }
}

/// Whether there are more images or samplers among a kernel's arguments than a device takes: "The
/// total number of read-only images specified as arguments to a kernel cannot exceed
/// CL_DEVICE_MAX_READ_IMAGE_ARGS", and so on ("Executing Kernels"). Samplers in the source are
/// constants, which take nothing.
fn exceeds_device(args: &[ArgInfo], device: &Device) -> bool {
    let (mut read, mut written, mut both, mut samplers) = (0, 0, 0, 0);
    for arg in args {
        match (arg.kind, arg.access) {
            (ArgKind::Image(_), AccessQualifier::None | AccessQualifier::ReadOnly) => read += 1,
            (ArgKind::Image(_), AccessQualifier::WriteOnly) => written += 1,
            (ArgKind::Image(_), AccessQualifier::ReadWrite) => both += 1,
            (ArgKind::Sampler, _) => samplers += 1,
            _ => {}
        }
    }
    read > device.max_read_image_args
        || written > device.max_write_image_args
        || both > device.max_read_write_image_args
        || samplers > device.max_samplers
}

/// The argument is a pointer that memory objects and SVM pointers may be given for.
fn check_global_pointer(arg: &ArgInfo) -> CLResult<()> {
    match arg.kind {
        ArgKind::Pointer(AddressSpace::Global | AddressSpace::Constant) => Ok(()),
        _ => Err(ClError::INVALID_ARG_VALUE),
    }
}

/// `bytes` is the size of a memory object, or of work-group memory, that an argument is set to.
fn check_max_bytes(arg: &ArgInfo, bytes: usize) -> CLResult<()> {
    // CL_MAX_SIZE_RESTRICTION_EXCEEDED if the size in bytes of the memory object (if the argument
    // is a memory object) or arg_size (if the argument is declared with local qualifier) exceeds a
    // language-specified maximum size restriction for this argument, such as the MaxByteOffset
    // SPIR-V decoration ("Setting Kernel Arguments").
    match arg.max_bytes {
        Some(max) if bytes as u64 > max => Err(ClError::MAX_SIZE_RESTRICTION_EXCEEDED),
        _ => Ok(()),
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.kernels_attached().fetch_sub(1, AcqRel);
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.info().name)
            .finish()
    }
}
