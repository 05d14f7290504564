//! Running generated code as a host would: aligned buffers, scratch memory, ranges of work-groups.
//!
//! Around every piece of memory lie canaries, so that a store beyond its end is found.

use std::ffi::{CStr, c_char, c_void};

use brolga_compiler::abi::{Launch, PRIVATE_GAP, ScratchSize};
use brolga_compiler::device::{self, Sequence};
use brolga_compiler::image::Bindings;
use brolga_compiler::ir::Scalar;
use brolga_compiler::{LaunchKey, NdRange, Program};

use super::case::{Case, Outcome, lane_text};

/// As much memory as any alignment asks for.
#[derive(Clone)]
#[repr(C, align(128))]
struct Line([u8; 128]);

const CANARY: u8 = 0xc5;

/// Bytes at an address that is a multiple of 128, between canaries.
struct Host {
    lines: Vec<Line>,
    size: usize,
}

impl Host {
    fn new(bytes: &[u8]) -> Host {
        let mut host = Host {
            lines: vec![Line([CANARY; 128]); bytes.len().div_ceil(128) + 2],
            size: bytes.len(),
        };
        for (line, chunk) in host.lines[1..].iter_mut().zip(bytes.chunks(128)) {
            line.0[..chunk.len()].copy_from_slice(chunk);
        }
        host
    }

    fn address(&mut self) -> *mut u8 {
        self.lines[1..].as_mut_ptr().cast()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: lines are bytes, of which there are as many behind the first line.
        unsafe { std::slice::from_raw_parts_mut(self.address(), self.size) }
    }

    /// The bytes, if the canaries still live.
    fn bytes(&self) -> Result<Vec<u8>, String> {
        let all: Vec<u8> = self.lines.iter().flat_map(|line| line.0).collect();
        let (before, rest) = all.split_at(128);
        let (bytes, after) = rest.split_at(self.size);
        if before.iter().chain(after).any(|&byte| byte != CANARY) {
            return Err(format!("a store outside a buffer of {} bytes", self.size));
        }
        Ok(bytes.to_vec())
    }
}

/// Scratch memory of which canaries are in the gap, too, and before private memory.
struct Scratch {
    host: Host,
    /// Where work-group memory begins, and private memory.
    shared: usize,
    private: usize,
}

impl Scratch {
    /// What it holds is whatever the last launch left.
    fn new(size: ScratchSize) -> Scratch {
        let gap = match size.private {
            0 => 0,
            _ => PRIVATE_GAP as usize,
        };
        let (below, above) = (size.private as usize + gap, size.shared as usize);
        let mut host = Host::new(&vec![CANARY; below + size.align as usize + above]);
        let first = host.address() as usize + below;
        let shared = below + first.next_multiple_of(size.align as usize) - first;
        let private = shared - below;
        let mut memory = Scratch {
            host,
            shared,
            private,
        };
        let bytes = memory.host.bytes_mut();
        bytes[private..shared - gap].fill(0xa7);
        bytes[shared..shared + above].fill(0xa7);
        memory
    }

    fn pointer(&mut self) -> *mut u8 {
        self.host.bytes_mut()[self.shared..].as_mut_ptr()
    }

    /// Whether the canaries still live.
    fn check(&mut self, size: ScratchSize) -> bool {
        let end = self.shared + size.shared as usize;
        let gap = self.private + size.private as usize..self.shared;
        let bytes = self.host.bytes_mut();
        let canaries = [&bytes[..self.private], &bytes[gap], &bytes[end..]];
        let is_alive = canaries.concat().iter().all(|&byte| byte == CANARY);
        is_alive && self.host.bytes().is_ok()
    }
}

/// Receives `printf` calls: `context` is a `Vec<String>`.
unsafe extern "C" fn sink(
    context: *mut c_void,
    format: *const u8,
    types: *const u8,
    lanes: *const u64,
    count: u64,
) {
    // SAFETY: `run` gave this vector, which nothing else uses meanwhile; the arrays are as the
    // contract of `PrintfFn` says, and strings end with NUL.
    let text = unsafe {
        let format = CStr::from_ptr(format.cast::<c_char>());
        let mut text = format!("{:?}", format.to_string_lossy());
        let mut lane = 0;
        for i in 0..count as usize {
            let (code, width) = (*types.add(2 * i), *types.add(2 * i + 1));
            for _ in 0..width {
                let bits = *lanes.add(lane);
                lane += 1;
                let shown = match code {
                    1 => lane_text(Scalar::I8, bits),
                    2 => lane_text(Scalar::I16, bits),
                    3 => lane_text(Scalar::I32, bits),
                    4 => lane_text(Scalar::I64, bits),
                    5 => lane_text(Scalar::F16, bits),
                    6 => lane_text(Scalar::F32, bits),
                    7 => lane_text(Scalar::F64, bits),
                    _ => {
                        let string = CStr::from_ptr(bits as *const c_char);
                        format!("{:?}", string.to_string_lossy())
                    }
                };
                text.push(' ');
                text.push_str(&shown);
            }
        }
        text
    };
    // SAFETY: as above.
    unsafe { (*context.cast::<Vec<String>>()).push(text) };
}

/// Memory of the process.
struct Process;

impl device::Host for Process {
    type Error = String;

    fn read(&mut self, address: u64, to: &mut [u8]) -> Result<(), String> {
        // SAFETY: the same kernel was checked by the interpreter, which found that the memory is
        // there.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), String> {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, from.len()) };
        Ok(())
    }
}

/// Does what kernels ask of the device: `context` is a `Sequence`.
unsafe extern "C" fn serve(context: *mut c_void, what: u64, words: *const u64, count: u64) -> u64 {
    // SAFETY: `run` gave this, which nothing else uses meanwhile; the array is as the contract of
    // `DeviceFn` says.
    let (sequence, words) = unsafe {
        (
            &mut *context.cast::<Sequence>(),
            std::slice::from_raw_parts(words, count as usize),
        )
    };
    let (what, block) = device::decode(what).expect("a service");
    let answer = sequence.call(&mut Process, what, block, words);
    answer.expect("memory of the process is there")
}

/// What is common to the launches of a case.
struct Session<'a> {
    program: &'a Program,
    width: u8,
    printf: Vec<String>,
    enqueued: Sequence,
}

impl Session<'_> {
    /// Compiles a kernel for a launch and runs it.
    fn launch(
        &mut self,
        kernel: usize,
        range: &NdRange,
        args: &[u8],
        local_mem_size: u64,
        bindings: Bindings,
    ) -> Result<(), String> {
        let key = LaunchKey {
            bindings,
            ..LaunchKey::new(range, self.width)
        };
        let compiled = self
            .program
            .compile(kernel, &key)
            .map_err(|e| e.to_string())?;
        let mut args = Host::new(args);
        let scratch_size = compiled.scratch_size(range.local_size, local_mem_size);
        let mut scratch = Scratch::new(scratch_size);
        let num_groups: [u64; 3] =
            std::array::from_fn(|d| range.global_size[d].div_ceil(range.local_size[d]));
        let launch = Launch {
            args: args.address(),
            global_offset: range.global_offset,
            global_size: range.global_size,
            local_size: range.local_size,
            num_groups,
            work_dim: u64::from(range.work_dim),
            local_mem_size,
            printf: sink,
            printf_context: (&raw mut self.printf).cast(),
            device: serve,
            device_context: (&raw mut self.enqueued).cast(),
        };
        let groups: u64 = num_groups.iter().product();
        // In two ranges, as threads would take them, the second one first.
        let entry = compiled.entry();
        for (begin, end) in [(groups / 2, groups), (0, groups / 2)] {
            // SAFETY: the launch and what it points to live, and scratch memory is as large and
            // aligned as asked for. The accesses of the kernel itself were checked by the
            // interpreter.
            unsafe { entry(&raw const launch, scratch.pointer(), begin, end) };
        }
        if !scratch.check(scratch_size) {
            return Err("a store outside scratch memory".into());
        }
        args.bytes()
            .map_err(|_| "a store outside the argument block")?;
        Ok(())
    }
}

/// Compiles a case's kernel of a program for its launch at a width and runs it, and what it
/// enqueues.
///
/// # Errors
/// If the kernel is refused, or a store went outside its buffer.
pub fn run(case: &Case<'_>, program: &Program, width: u8) -> Result<Outcome, String> {
    let mut buffers: Vec<Host> = Vec::new();
    let mut descriptors: Vec<(Host, Vec<u8>)> = Vec::new();
    let mut addresses: Vec<u64> = Vec::new();
    for arg in &case.args {
        let Some(contents) = arg.contents() else {
            continue;
        };
        let mut buffer = Host::new(contents);
        let mut address = buffer.address() as u64;
        buffers.push(buffer);
        if let Some(bytes) = arg.descriptors(address) {
            let mut descriptor = Host::new(&bytes);
            address = descriptor.address() as u64;
            descriptors.push((descriptor, bytes));
        }
        addresses.push(address);
    }
    let block = case.block(&addresses)?;
    let mut session = Session {
        program,
        width,
        printf: Vec::new(),
        enqueued: Sequence::new(u64::from(case.sub_group_size.unwrap_or(1))),
    };
    let bindings = case.bindings(&block, &addresses)?;
    session.launch(
        case.kernel,
        &case.range,
        &block.bytes,
        block.local_mem_size,
        bindings,
    )?;
    while let Some(command) = session.enqueued.next(&mut Process)? {
        let kernel = program.block(command.block).ok_or("no block")?;
        let fixed = program.kernels()[kernel].local_mem_size;
        let (args, local_mem_size) = device::arguments(&command.literal, &command.locals, fixed)
            .ok_or("too much work-group memory")?;
        let bindings = Bindings::NONE;
        session.launch(kernel, &command.range, &args, local_mem_size, bindings)?;
    }
    let mut printf = session.printf;
    for (descriptor, before) in &descriptors {
        if descriptor.bytes()? != *before {
            return Err("a store to a descriptor".into());
        }
    }
    printf.sort();
    Ok(Outcome {
        buffers: buffers
            .iter()
            .map(Host::bytes)
            .collect::<Result<_, String>>()?,
        printf,
    })
}
