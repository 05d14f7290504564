//! What an application does to use OpenCL, shared by the examples: opens a loader or a driver, and
//! wraps the objects that the examples need.
//!
//! Errors are strings that name the call: an example has nothing better to do than to print them.
//! Objects are released when dropped. Only the functions in `Functions` are looked up, so any
//! OpenCL 1.2 library will do.

use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr;
use std::sync::mpsc::{SyncSender, sync_channel};

use libloading::Library;
use opencl_sys::cl_function_types::*;
use opencl_sys::*;

pub type Result<T> = std::result::Result<T, String>;

macro_rules! functions {
    ($($name:ident: $type:ident,)*) => {
        /// The entry points, looked up by name.
        #[allow(non_snake_case)]
        struct Functions { $($name: $type,)* }

        impl Functions {
            fn load(library: &Library) -> Self {
                // SAFETY: an OpenCL library has functions of these types under these names; one
                // that it lacks is `None`.
                unsafe {
                    Functions {
                        $($name: library
                            .get::<$type>(concat!(stringify!($name), "\0").as_bytes())
                            .map(|symbol| *symbol)
                            .unwrap_or(None),)*
                    }
                }
            }
        }
    };
}

functions! {
    clGetPlatformIDs: clGetPlatformIDs_t,
    clGetPlatformInfo: clGetPlatformInfo_t,
    clGetDeviceIDs: clGetDeviceIDs_t,
    clGetDeviceInfo: clGetDeviceInfo_t,
    clCreateContext: clCreateContext_t,
    clReleaseContext: clReleaseContext_t,
    clCreateCommandQueue: clCreateCommandQueue_t,
    clReleaseCommandQueue: clReleaseCommandQueue_t,
    clCreateBuffer: clCreateBuffer_t,
    clReleaseMemObject: clReleaseMemObject_t,
    clCreateImage: clCreateImage_t,
    clCreateSampler: clCreateSampler_t,
    clReleaseSampler: clReleaseSampler_t,
    clEnqueueReadBuffer: clEnqueueReadBuffer_t,
    clEnqueueWriteBuffer: clEnqueueWriteBuffer_t,
    clEnqueueCopyBuffer: clEnqueueCopyBuffer_t,
    clEnqueueFillBuffer: clEnqueueFillBuffer_t,
    clEnqueueReadImage: clEnqueueReadImage_t,
    clEnqueueWriteImage: clEnqueueWriteImage_t,
    clEnqueueCopyImage: clEnqueueCopyImage_t,
    clEnqueueFillImage: clEnqueueFillImage_t,
    clEnqueueMapBuffer: clEnqueueMapBuffer_t,
    clEnqueueUnmapMemObject: clEnqueueUnmapMemObject_t,
    clCreateProgramWithSource: clCreateProgramWithSource_t,
    clCreateProgramWithIL: clCreateProgramWithIL_t,
    clSetProgramSpecializationConstant: clSetProgramSpecializationConstant_t,
    clBuildProgram: clBuildProgram_t,
    clGetProgramBuildInfo: clGetProgramBuildInfo_t,
    clReleaseProgram: clReleaseProgram_t,
    clCreateKernel: clCreateKernel_t,
    clCreateKernelsInProgram: clCreateKernelsInProgram_t,
    clGetKernelInfo: clGetKernelInfo_t,
    clGetKernelArgInfo: clGetKernelArgInfo_t,
    clGetKernelWorkGroupInfo: clGetKernelWorkGroupInfo_t,
    clSetKernelArg: clSetKernelArg_t,
    clReleaseKernel: clReleaseKernel_t,
    clEnqueueNDRangeKernel: clEnqueueNDRangeKernel_t,
    clFinish: clFinish_t,
    clFlush: clFlush_t,
    clCreateUserEvent: clCreateUserEvent_t,
    clSetUserEventStatus: clSetUserEventStatus_t,
    clSetEventCallback: clSetEventCallback_t,
    clWaitForEvents: clWaitForEvents_t,
    clReleaseEvent: clReleaseEvent_t,
}

/// Calls an entry point that returns an error code.
macro_rules! call {
    ($cl:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $cl.functions.$name.ok_or_else(|| format!("the library has no {}", stringify!($name)))?;
        // SAFETY: each use passes live handles of this library and pointers valid for the stated
        // sizes.
        let status = unsafe { function($($argument),*) };
        if status == CL_SUCCESS { Ok(()) } else { Err(format!("{} failed: {status}", stringify!($name))) }
    }};
}

/// Calls an entry point that returns an object.
macro_rules! create {
    ($cl:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $cl.functions.$name.ok_or_else(|| format!("the library has no {}", stringify!($name)))?;
        let mut status = CL_SUCCESS;
        // SAFETY: as above.
        let object = unsafe { function($($argument,)* &mut status) };
        if status == CL_SUCCESS { Ok(object) } else { Err(format!("{} failed: {status}", stringify!($name))) }
    }};
}

mod images;
mod kernels;

pub use images::{Image, Sampler};

/// An opened OpenCL library. Never closed: drivers have threads.
pub struct Cl {
    functions: Functions,
}

impl Cl {
    /// Opens the ICD loader, by the name it has on every Linux system.
    pub fn open_loader() -> Result<&'static Cl> {
        Cl::open(Path::new("libOpenCL.so.1"))
    }

    pub fn open(path: &Path) -> Result<&'static Cl> {
        // SAFETY: running an OpenCL library's constructors is what every application that links it
        // does.
        let library =
            unsafe { Library::new(path) }.map_err(|e| format!("{}: {e}", path.display()))?;
        let library: &'static Library = Box::leak(Box::new(library));
        Ok(Box::leak(Box::new(Cl {
            functions: Functions::load(library),
        })))
    }

    pub fn platforms(&'static self) -> Result<Vec<Platform>> {
        let mut count = 0;
        call!(self, clGetPlatformIDs(0, ptr::null_mut(), &mut count))?;
        let mut ids = vec![ptr::null_mut(); count as usize];
        call!(
            self,
            clGetPlatformIDs(count, ids.as_mut_ptr(), ptr::null_mut())
        )?;
        Ok(ids
            .into_iter()
            .map(|id| Platform { cl: self, id })
            .collect())
    }
}

#[derive(Clone, Copy)]
pub struct Platform {
    cl: &'static Cl,
    id: cl_platform_id,
}

impl Platform {
    pub fn name(&self) -> Result<String> {
        self.info(CL_PLATFORM_NAME)
    }

    pub fn version(&self) -> Result<String> {
        self.info(CL_PLATFORM_VERSION)
    }

    fn info(&self, what: cl_platform_info) -> Result<String> {
        text(|size, value, needed| {
            call!(
                self.cl,
                clGetPlatformInfo(self.id, what, size, value, needed)
            )
        })
    }

    /// Its first CPU device, with a context and a queue.
    pub fn open_cpu(&self) -> Result<Session> {
        let cl = self.cl;
        let mut device = ptr::null_mut();
        call!(
            cl,
            clGetDeviceIDs(self.id, CL_DEVICE_TYPE_CPU, 1, &mut device, ptr::null_mut())
        )?;
        let context = create!(
            cl,
            clCreateContext(ptr::null(), 1, &device, None, ptr::null_mut())
        )?;
        let queue = create!(cl, clCreateCommandQueue(context, device, 0))?;
        Ok(Session {
            cl,
            device,
            context,
            queue,
        })
    }
}

/// Reads a string by the two-call protocol of OpenCL's queries.
fn text(mut query: impl FnMut(usize, *mut c_void, *mut usize) -> Result<()>) -> Result<String> {
    let mut size = 0;
    query(0, ptr::null_mut(), &mut size)?;
    let mut bytes = vec![0_u8; size];
    query(size, bytes.as_mut_ptr().cast(), ptr::null_mut())?;
    Ok(CStr::from_bytes_until_nul(&bytes)
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default())
}

/// One device with a context and an in-order queue.
pub struct Session {
    cl: &'static Cl,
    device: cl_device_id,
    context: cl_context,
    queue: cl_command_queue,
}

impl Session {
    pub fn device_name(&self) -> Result<String> {
        self.device_text(CL_DEVICE_NAME)
    }

    pub fn driver_version(&self) -> Result<String> {
        self.device_text(CL_DRIVER_VERSION)
    }

    /// Whether `clCreateProgramWithIL` takes SPIR-V.
    pub fn takes_il(&self) -> bool {
        self.device_text(CL_DEVICE_IL_VERSION)
            .is_ok_and(|il| il.contains("SPIR-V"))
    }

    fn device_text(&self, what: cl_device_info) -> Result<String> {
        text(|size, value, needed| {
            call!(
                self.cl,
                clGetDeviceInfo(self.device, what, size, value, needed)
            )
        })
    }

    pub fn max_work_group_size(&self) -> Result<usize> {
        self.device_value(CL_DEVICE_MAX_WORK_GROUP_SIZE, 0)
    }

    pub fn compute_units(&self) -> Result<u32> {
        self.device_value(CL_DEVICE_MAX_COMPUTE_UNITS, 0)
    }

    /// The answer to a query of a number, put in the place of `value`.
    fn device_value<T>(&self, what: cl_device_info, mut value: T) -> Result<T> {
        let pointer: *mut T = &mut value;
        call!(
            self.cl,
            clGetDeviceInfo(
                self.device,
                what,
                size_of::<T>(),
                pointer.cast(),
                ptr::null_mut()
            )
        )?;
        Ok(value)
    }

    /// Compiles OpenCL C; the error has the build log.
    pub fn build_source(&self, source: &str, options: &str) -> Result<Program> {
        let mut start = source.as_ptr().cast();
        let length = source.len();
        let id = create!(
            self.cl,
            clCreateProgramWithSource(self.context, 1, &mut start, &length)
        )?;
        self.build(id, options, &[])
    }

    /// Builds SPIR-V, with specialization constants as pairs of id and value.
    pub fn build_il(&self, il: &[u8], constants: &[(u32, u32)]) -> Result<Program> {
        let id = create!(
            self.cl,
            clCreateProgramWithIL(self.context, il.as_ptr().cast(), il.len())
        )?;
        self.build(id, "", constants)
    }

    fn build(&self, id: cl_program, options: &str, constants: &[(u32, u32)]) -> Result<Program> {
        let program = Program { cl: self.cl, id };
        for (spec_id, value) in constants {
            let value: *const u32 = value;
            call!(
                self.cl,
                clSetProgramSpecializationConstant(id, *spec_id, size_of::<u32>(), value.cast())
            )?;
        }
        let options = CString::new(options).map_err(|e| e.to_string())?;
        call!(
            self.cl,
            clBuildProgram(id, 1, &self.device, options.as_ptr(), None, ptr::null_mut())
        )
        .map_err(|error| format!("{error}\n{}", self.build_log(&program).unwrap_or_default()))?;
        Ok(program)
    }

    pub fn build_log(&self, program: &Program) -> Result<String> {
        text(|size, value, needed| {
            call!(
                self.cl,
                clGetProgramBuildInfo(
                    program.id,
                    self.device,
                    CL_PROGRAM_BUILD_LOG,
                    size,
                    value,
                    needed
                )
            )
        })
    }

    /// A buffer of `length` values with undefined contents.
    pub fn buffer<T: Copy>(&self, length: usize) -> Result<Buffer<T>> {
        let size = length * size_of::<T>();
        let id = create!(
            self.cl,
            clCreateBuffer(self.context, CL_MEM_READ_WRITE, size, ptr::null_mut())
        )?;
        Ok(Buffer {
            cl: self.cl,
            id,
            length,
            _values: PhantomData,
        })
    }

    /// A buffer with the given contents.
    pub fn buffer_from<T: Copy>(&self, values: &[T]) -> Result<Buffer<T>> {
        let buffer = self.buffer(values.len())?;
        self.write(&buffer, values)?;
        Ok(buffer)
    }

    /// Writes the start of a buffer and waits.
    pub fn write<T: Copy>(&self, buffer: &Buffer<T>, values: &[T]) -> Result<()> {
        assert!(values.len() <= buffer.length);
        let size = size_of_val(values);
        call!(
            self.cl,
            clEnqueueWriteBuffer(
                self.queue,
                buffer.id,
                CL_TRUE,
                0,
                size,
                values.as_ptr().cast(),
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )
    }

    /// Reads the start of a buffer and waits.
    pub fn read_into<T: Copy>(&self, buffer: &Buffer<T>, values: &mut [T]) -> Result<()> {
        assert!(values.len() <= buffer.length);
        let size = size_of_val(values);
        call!(
            self.cl,
            clEnqueueReadBuffer(
                self.queue,
                buffer.id,
                CL_TRUE,
                0,
                size,
                values.as_mut_ptr().cast(),
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )
    }

    pub fn read<T: Copy + Default>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        let mut values = vec![T::default(); buffer.length];
        self.read_into(buffer, &mut values)?;
        Ok(values)
    }

    /// Enqueues a kernel; `local` empty leaves the choice to the driver.
    pub fn launch(&self, kernel: &Kernel, global: &[usize], local: &[usize]) -> Result<()> {
        let local = if local.is_empty() {
            ptr::null()
        } else {
            local.as_ptr()
        };
        call!(
            self.cl,
            clEnqueueNDRangeKernel(
                self.queue,
                kernel.id,
                global.len() as u32,
                ptr::null(),
                global.as_ptr(),
                local,
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )
    }

    pub fn finish(&self) -> Result<()> {
        call!(self.cl, clFinish(self.queue))
    }

    /// Copies all of a buffer to another of the same length, and waits.
    pub fn copy<T>(&self, from: &Buffer<T>, to: &Buffer<T>) -> Result<()> {
        assert_eq!(from.length, to.length);
        let size = from.length * size_of::<T>();
        call!(
            self.cl,
            clEnqueueCopyBuffer(
                self.queue,
                from.id,
                to.id,
                0,
                0,
                size,
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )?;
        self.finish()
    }

    /// Fills all of a buffer with one value, and waits.
    pub fn fill<T: Copy>(&self, buffer: &Buffer<T>, value: T) -> Result<()> {
        let pattern: *const T = &value;
        call!(
            self.cl,
            clEnqueueFillBuffer(
                self.queue,
                buffer.id,
                pattern.cast(),
                size_of::<T>(),
                0,
                buffer.length * size_of::<T>(),
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )?;
        self.finish()
    }

    /// Maps all of a buffer for reading and writing, unmaps it, and waits.
    pub fn map_and_unmap<T>(&self, buffer: &Buffer<T>) -> Result<()> {
        let size = buffer.length * size_of::<T>();
        let mapped = create!(
            self.cl,
            clEnqueueMapBuffer(
                self.queue,
                buffer.id,
                CL_TRUE,
                CL_MAP_READ | CL_MAP_WRITE,
                0,
                size,
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )?;
        call!(
            self.cl,
            clEnqueueUnmapMemObject(
                self.queue,
                buffer.id,
                mapped,
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )?;
        self.finish()
    }

    /// Enqueues a kernel of one work-item that waits for a user event; [`Waiting::go`] sets the
    /// event.
    pub fn launch_waiting(&self, kernel: &Kernel) -> Result<Waiting> {
        let start = create!(self.cl, clCreateUserEvent(self.context))?;
        let done = self.enqueue_one(kernel, &[start])?;
        call!(self.cl, clFlush(self.queue))?;
        Ok(Waiting {
            cl: self.cl,
            start,
            done,
        })
    }

    /// Enqueues a kernel of one work-item, and returns its event.
    fn enqueue_one(&self, kernel: &Kernel, wait_list: &[cl_event]) -> Result<cl_event> {
        let mut done: cl_event = ptr::null_mut();
        call!(
            self.cl,
            clEnqueueNDRangeKernel(
                self.queue,
                kernel.id,
                1,
                ptr::null(),
                &1,
                &1,
                wait_list.len() as cl_uint,
                wait_list.first().map_or(ptr::null(), ptr::from_ref),
                &mut done
            )
        )?;
        Ok(done)
    }

    /// Runs a kernel of one work-item, has the driver call back when it is complete, and sleeps
    /// until that wakes this thread.
    pub fn launch_with_callback(&self, kernel: &Kernel) -> Result<()> {
        extern "C" fn wake(_: cl_event, _: cl_int, sender: *mut c_void) {
            // SAFETY: one that was given away for this call.
            let sender = unsafe { Box::from_raw(sender.cast::<SyncSender<()>>()) };
            let _ = sender.send(());
        }
        let (sender, receiver) = sync_channel::<()>(1);
        let done = self.enqueue_one(kernel, &[])?;
        let sender = Box::into_raw(Box::new(sender)).cast();
        call!(
            self.cl,
            clSetEventCallback(done, CL_COMPLETE, Some(wake), sender)
        )?;
        call!(self.cl, clFlush(self.queue))?;
        receiver.recv().map_err(|error| error.to_string())?;
        call!(self.cl, clReleaseEvent(done))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let release = || -> Result<()> {
            call!(self.cl, clReleaseCommandQueue(self.queue))?;
            call!(self.cl, clReleaseContext(self.context))
        };
        let _ = release();
    }
}

/// A command that waits for the application.
pub struct Waiting {
    cl: &'static Cl,
    start: cl_event,
    done: cl_event,
}

impl Waiting {
    /// Lets the command run, and returns when it has.
    pub fn go(&self) -> Result<()> {
        call!(self.cl, clSetUserEventStatus(self.start, CL_COMPLETE))?;
        call!(self.cl, clWaitForEvents(1, &self.done))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let release = || -> Result<()> {
            call!(self.cl, clReleaseEvent(self.start))?;
            call!(self.cl, clReleaseEvent(self.done))
        };
        let _ = release();
    }
}

pub struct Program {
    cl: &'static Cl,
    id: cl_program,
}

impl Program {
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let c_name = CString::new(name).map_err(|e| e.to_string())?;
        let id = create!(self.cl, clCreateKernel(self.id, c_name.as_ptr()))
            .map_err(|e| format!("{name}: {e}"))?;
        Ok(Kernel {
            cl: self.cl,
            id,
            next: 0,
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let release = || -> Result<()> { call!(self.cl, clReleaseProgram(self.id)) };
        let _ = release();
    }
}

/// A kernel whose arguments are set one after another.
pub struct Kernel {
    cl: &'static Cl,
    id: cl_kernel,
    next: u32,
}

impl Kernel {
    pub fn buffer<T>(self, buffer: &Buffer<T>) -> Result<Self> {
        let pointer: *const cl_mem = &buffer.id;
        self.argument(size_of::<cl_mem>(), pointer.cast())
    }

    pub fn image<T>(self, image: &Image<T>) -> Result<Self> {
        let pointer: *const cl_mem = &image.id;
        self.argument(size_of::<cl_mem>(), pointer.cast())
    }

    pub fn sampler(self, sampler: &Sampler) -> Result<Self> {
        let pointer: *const cl_sampler = &sampler.id;
        self.argument(size_of::<cl_sampler>(), pointer.cast())
    }

    pub fn value<T: Copy>(self, value: T) -> Result<Self> {
        let pointer: *const T = &value;
        self.argument(size_of::<T>(), pointer.cast())
    }

    /// Work-group memory.
    pub fn local(self, bytes: usize) -> Result<Self> {
        self.argument(bytes, ptr::null())
    }

    fn argument(mut self, size: usize, value: *const c_void) -> Result<Self> {
        call!(self.cl, clSetKernelArg(self.id, self.next, size, value))
            .map_err(|e| format!("argument {}: {e}", self.next))?;
        self.next += 1;
        Ok(self)
    }

    /// Starts over with the first argument.
    pub fn rewind(mut self) -> Self {
        self.next = 0;
        self
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let release = || -> Result<()> { call!(self.cl, clReleaseKernel(self.id)) };
        let _ = release();
    }
}

pub struct Buffer<T> {
    cl: &'static Cl,
    id: cl_mem,
    length: usize,
    _values: PhantomData<T>,
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let release = || -> Result<()> { call!(self.cl, clReleaseMemObject(self.id)) };
        let _ = release();
    }
}
