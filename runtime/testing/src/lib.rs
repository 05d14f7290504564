//! What the tests and the benchmark of the runtime share: native functions as kernels, a context to
//! run them in, and modules from text.

use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::ThreadId;

use brolga_compiler::{AddressSpace, ArgInfo, ArgKind, KernelInfo, Launch};
use brolga_runtime::context::ContextOptions;
use brolga_runtime::executable::NativeKernels;
use brolga_runtime::{
    Buffer, Context, CopyBuffer, Direction, FillBuffer, HostCopy, HostPtr, Kernel, Pattern,
    Platform, Program, Queue,
};
pub use brolga_runtime::{user_event, wait_for_events};
use opencl_sys::*;
use parking_lot::Mutex;

/// A test needs what is not there: says so, and the test passes. Continuous integration (where `CI`
/// is set) has installed everything, so that the test fails there.
pub fn skip(needs: &str) {
    let is_optional = std::env::var_os("CI").is_none_or(|value| value.is_empty());
    assert!(is_optional, "needs {needs}");
    eprintln!("skipped: needs {needs}");
}

pub fn context() -> Arc<Context> {
    let devices = Platform::get().devices().to_vec();
    Context::new(devices, ContextOptions::default()).unwrap()
}

pub fn queue_with(context: &Arc<Context>, properties: u64) -> Arc<Queue> {
    Queue::new(context, context.device(), properties, None, Vec::new()).unwrap()
}

pub fn queue(context: &Arc<Context>) -> Arc<Queue> {
    queue_with(context, CL_QUEUE_PROFILING_ENABLE)
}

/// A buffer with the bytes of `words`.
pub fn buffer(context: &Arc<Context>, words: &[u32]) -> Arc<Buffer> {
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    // SAFETY: copied during the call.
    let host = unsafe { HostPtr::new(words.as_ptr().cast_mut().cast()) };
    Buffer::new(context, flags, size_of_val(words), host, Vec::new()).unwrap()
}

/// What is in a buffer, read with a blocking command.
pub fn words(queue: &Arc<Queue>, buffer: &Arc<Buffer>) -> Vec<u32> {
    let mut words = vec![0u32; buffer.memory().size() / 4];
    let host = host(&mut words);
    let read = host_copy(Direction::Read, buffer, 0, buffer.memory().size(), host);
    queue.submit_blocking(read, true, &[]).unwrap();
    words
}

/// A read or write of bytes of a buffer.
pub fn host_copy(
    direction: Direction,
    buffer: &Arc<Buffer>,
    offset: usize,
    size: usize,
    host: HostPtr,
) -> HostCopy<'_> {
    HostCopy {
        direction,
        buffer,
        offset,
        size,
        host,
    }
}

/// A copy of bytes of a buffer, from and to these offsets.
pub fn copy<'a>(
    source: &'a Arc<Buffer>,
    destination: &'a Arc<Buffer>,
    [source_offset, destination_offset]: [usize; 2],
    size: usize,
) -> CopyBuffer<'a> {
    CopyBuffer {
        source,
        destination,
        source_offset,
        destination_offset,
        size,
    }
}

/// A fill of bytes of a buffer with a pattern of a right size.
pub fn fill<'a>(
    buffer: &'a Arc<Buffer>,
    pattern: &[u8],
    offset: usize,
    size: usize,
) -> FillBuffer<'a> {
    FillBuffer {
        buffer,
        pattern: Pattern::new(pattern).unwrap(),
        offset,
        size,
    }
}

/// The module that `spirv-as` makes of a text.
pub fn assemble(text: &str) -> Vec<u8> {
    let mut child = Command::new("spirv-as")
        .args(["-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs spirv-as (package spirv-tools)");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}

/// The address of a slice that outlives the command it is for.
pub fn host<T>(slice: &mut [T]) -> HostPtr {
    // SAFETY: as the tests use it.
    unsafe { HostPtr::new(slice.as_mut_ptr().cast()) }
}

const GLOBAL: ArgKind = ArgKind::Pointer(AddressSpace::Global);
const LOCAL: ArgKind = ArgKind::Pointer(AddressSpace::Local);

fn kernel_info(name: &str, args: Vec<ArgInfo>) -> KernelInfo {
    let ends = args.iter().map(|arg| arg.offset + arg.size);
    KernelInfo {
        args_size: ends.max().unwrap_or(0),
        args,
        local_mem_size: 100,
        ..KernelInfo::new(name)
    }
}

/// The kernels below, as a program.
pub fn program(context: &Arc<Context>) -> Arc<Program> {
    let value = ArgKind::Value;
    let kernels: Vec<(KernelInfo, brolga_compiler::KernelFn)> = vec![
        (kernel_info("empty", vec![]), empty),
        (
            kernel_info("count", vec![ArgInfo::new(GLOBAL, 8, 0)]),
            count,
        ),
        (
            kernel_info(
                "add",
                vec![ArgInfo::new(GLOBAL, 8, 0), ArgInfo::new(value, 4, 8)],
            ),
            add,
        ),
        (kernel_info("slow", vec![ArgInfo::new(value, 4, 0)]), slow),
        (kernel_info("record_thread", vec![]), record_thread),
        (
            kernel_info("handshake", vec![ArgInfo::new(GLOBAL, 8, 0)]),
            handshake,
        ),
        (kernel_info("print", vec![ArgInfo::new(value, 4, 0)]), print),
        (
            kernel_info(
                "locals",
                vec![
                    ArgInfo::new(LOCAL, 8, 0),
                    ArgInfo::new(LOCAL, 8, 8),
                    ArgInfo::new(GLOBAL, 8, 16),
                ],
            ),
            locals,
        ),
        (
            kernel_info("float_state", vec![ArgInfo::new(GLOBAL, 8, 0)]),
            float_state,
        ),
    ];
    // SAFETY: they do.
    let kernels = unsafe { NativeKernels::new(kernels) };
    Program::from_kernels(context, Box::new(kernels))
}

pub fn kernel(context: &Arc<Context>, name: &str) -> Arc<Kernel> {
    program(context).kernel(name).unwrap()
}

/// Reads an argument.
///
/// # Safety
/// There must be one of type `T` at `offset`.
unsafe fn argument<T: Copy>(launch: *const Launch, offset: usize) -> T {
    // SAFETY: the caller's.
    unsafe { (*launch).args.add(offset).cast::<T>().read() }
}

unsafe extern "C" fn empty(_: *const Launch, _: *mut u8, _: u64, _: u64) {}

/// `counts[linear global id, offset left out] += 1`
unsafe extern "C" fn count(launch: *const Launch, scratch: *mut u8, begin: u64, end: u64) {
    assert_eq!(scratch as usize % 128, 0);
    // SAFETY: the engine's contract, and the tests' buffers are large enough.
    unsafe {
        let counts: *const AtomicU32 = argument(launch, 0);
        let launch = &*launch;
        // Work-group memory is there.
        scratch.write_bytes(0xa5, launch.local_mem_size as usize);
        for group in begin..end {
            let id = [
                group % launch.num_groups[0],
                group / launch.num_groups[0] % launch.num_groups[1],
                group / launch.num_groups[0] / launch.num_groups[1],
            ];
            let range = |d: usize| {
                let first = id[d] * launch.local_size[d];
                first..(first + launch.local_size[d]).min(launch.global_size[d])
            };
            for z in range(2) {
                for y in range(1) {
                    for x in range(0) {
                        let index = x + launch.global_size[0] * (y + launch.global_size[1] * z);
                        (*counts.add(index as usize)).fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
    }
}

/// `sum[0] += value`, once for each group, read and written apart: only ordered launches get it
/// right. One group only. The host may look on.
unsafe extern "C" fn add(launch: *const Launch, _: *mut u8, begin: u64, end: u64) {
    // SAFETY: as above.
    unsafe {
        let sum: *const AtomicU32 = argument(launch, 0);
        let value: u32 = argument(launch, 8);
        for _ in begin..end {
            let before = (*sum).load(Ordering::Relaxed);
            (*sum).store(before + value, Ordering::Relaxed);
        }
    }
}

/// Takes so many microseconds for each group.
unsafe extern "C" fn slow(launch: *const Launch, _: *mut u8, begin: u64, end: u64) {
    // SAFETY: as above.
    let microseconds: u32 = unsafe { argument(launch, 0) };
    for _ in begin..end {
        let start = std::time::Instant::now();
        while start.elapsed().as_micros() < u128::from(microseconds) {
            std::hint::spin_loop();
        }
    }
}

/// Waits until `flags[0]` is not zero, and says so with 1 in `flags[1]`; with 2 if that takes five
/// seconds.
unsafe extern "C" fn handshake(launch: *const Launch, _: *mut u8, _: u64, _: u64) {
    // SAFETY: as above.
    unsafe {
        let flags: *const AtomicU32 = argument(launch, 0);
        let start = std::time::Instant::now();
        while (*flags).load(Ordering::Acquire) == 0 {
            if start.elapsed().as_secs() >= 5 {
                return (*flags.add(1)).store(2, Ordering::Release);
            }
            std::hint::spin_loop();
        }
        (*flags.add(1)).store(1, Ordering::Release);
    }
}

/// Takes a millisecond for each group and notes which thread ran it.
unsafe extern "C" fn record_thread(_: *const Launch, _: *mut u8, begin: u64, end: u64) {
    for _ in begin..end {
        std::thread::sleep(std::time::Duration::from_millis(1));
        THREADS.lock().insert(std::thread::current().id());
    }
}

/// The threads that ran groups of `record_thread`.
pub static THREADS: LazyLock<Mutex<HashSet<ThreadId>>> = LazyLock::new(Mutex::default);

/// `printf("%d\n", value)`, once for each group.
unsafe extern "C" fn print(launch: *const Launch, _: *mut u8, begin: u64, end: u64) {
    // SAFETY: as above.
    unsafe {
        let value: u32 = argument(launch, 0);
        let launch = &*launch;
        for _ in begin..end {
            let lanes = [u64::from(value)];
            let types = [brolga_compiler::PrintfScalar::I32 as u8, 1];
            (launch.printf)(
                launch.printf_context,
                c"%d\n".as_ptr().cast(),
                types.as_ptr(),
                lanes.as_ptr(),
                1,
            );
        }
    }
}

/// Reports where its local arguments are and how much work-group memory there is.
unsafe extern "C" fn locals(launch: *const Launch, scratch: *mut u8, _: u64, _: u64) {
    // SAFETY: as above.
    unsafe {
        let first: u64 = argument(launch, 0);
        let second: u64 = argument(launch, 8);
        let out: *mut u32 = argument(launch, 16);
        out.write(first as u32);
        out.add(1).write(second as u32);
        out.add(2).write((*launch).local_mem_size as u32);
        scratch.write_bytes(1, (*launch).local_mem_size as usize);
    }
}

/// Reports the floating-point control word.
unsafe extern "C" fn float_state(launch: *const Launch, _: *mut u8, _: u64, _: u64) {
    // SAFETY: as above; MXCSR is stored into `control`.
    unsafe {
        let out: *mut u32 = argument(launch, 0);
        let mut control = 0u32;
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack));
        let _ = &mut control;
        out.write(control);
    }
}

/// A program built from source; a test that it is not built for fails with the log.
pub fn built(context: &Arc<Context>, source: &str, options: &str) -> Arc<Program> {
    let program = Program::from_source(context, source.to_owned()).expect("a source");
    if let Err(error) = program.build(options, None) {
        panic!("{error}: {}", program.build_info().log);
    }
    program
}

/// Enqueues a kernel that waits until the host sets a flag, to a queue of its own.
pub fn enqueue_handshake(context: &Arc<Context>) -> (Arc<Queue>, Arc<Buffer>) {
    let queue = queue(context);
    let flags = buffer(context, &[0, 0]);
    let kernel = kernel(context, "handshake");
    kernel.set_arg_buffer(0, Some(&flags)).unwrap();
    queue.enqueue_task(&kernel, &[]).unwrap();
    (queue, flags)
}

/// Sets the flag, and says whether the kernel was still waiting for it.
pub fn set_flag((queue, flags): &(Arc<Queue>, Arc<Buffer>)) -> bool {
    let pointer = flags.memory().as_ptr().cast::<AtomicU32>();
    // SAFETY: the buffer lives, and only atomics touch it.
    unsafe { (*pointer).store(1, Ordering::Release) };
    queue.finish().unwrap();
    words(queue, flags)[1] == 1
}
