//! A function of the library as programs run it: a kernel that applies it to arrays, compiled at a
//! width.

use std::fmt::Write;

use brolga_compiler::abi::{Launch, PRIVATE_GAP, ScratchSize};
use brolga_compiler::image::Bindings;
use brolga_compiler::{BuildOptions, CompiledKernel, LaunchKey, NdRange, Program, Target, ir};
use brolga_mathlib::{Func, Signature};

use super::number::Type;

/// Elements of one run; a work-group each.
pub const ELEMENTS: usize = 4096;

/// [`ELEMENTS`] 64-bit scalars, aligned as buffers are. Four make room for as many vectors.
#[repr(C, align(128))]
#[derive(Clone)]
struct Buffer([u64; ELEMENTS]);

const LANES: usize = 4;

/// Arguments, results and the code between them.
pub struct Kernel {
    code: CompiledKernel,
    /// Three arguments, two results.
    buffers: Vec<Vec<Buffer>>,
    scratch: Vec<Buffer>,
    scratch_size: ScratchSize,
}

/// What buffers hold: any bits are a value.
pub trait Lane: Copy {}

impl Lane for half::f16 {}
impl Lane for f32 {}
impl Lane for f64 {}
impl Lane for i16 {}
impl Lane for i32 {}
impl Lane for i64 {}

impl Kernel {
    /// The kernel that computes `results = operation arguments` for all elements, `width`
    /// work-items a vector, for a target. Types are those of IR.
    pub fn new(
        operation: &str,
        arguments: &[String],
        results: &[String],
        (target, width): (Target, u8),
    ) -> Kernel {
        let text = text(operation, arguments, results);
        let module = ir::parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let program = Program::for_target(module, &BuildOptions::default(), &target)
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let key = LaunchKey {
            width,
            ..program.launch_key(0, &range(), Bindings::NONE)
        };
        let code = program
            .compile(0, &key)
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let scratch = code.scratch_size(range().local_size, 0);
        let bytes = PRIVATE_GAP + scratch.private + scratch.align + scratch.shared;
        let zeros = |count: usize| vec![Buffer([0; ELEMENTS]); count];
        Kernel {
            code,
            buffers: vec![zeros(LANES); 5],
            scratch: zeros(bytes.div_ceil(ELEMENTS as u64 * 8) as usize + 1),
            scratch_size: scratch,
        }
    }

    /// The kernel of a function.
    pub fn of(func: Func, ty: Type, how: (Target, u8)) -> Kernel {
        let (float, int) = (ty.name(), ty.int_name());
        let (arguments, results): (&[&str], &[&str]) = match func.signature() {
            Signature::Unary => (&[float], &[float]),
            Signature::Binary => (&[float; 2], &[float]),
            Signature::Ternary => (&[float; 3], &[float]),
            Signature::WithInt => (&[float, "i32"], &[float]),
            Signature::OfInt => (&[int], &[float]),
            Signature::ToInt => (&[float], &["i32"]),
            Signature::UnaryPair => (&[float], &[float; 2]),
            Signature::UnaryAndInt => (&[float], &[float, "i32"]),
            Signature::BinaryAndInt => (&[float; 2], &[float, "i32"]),
        };
        let owned = |names: &[&str]| -> Vec<String> { names.iter().map(|&n| n.into()).collect() };
        Kernel::new(&operation(func), &owned(arguments), &owned(results), how)
    }

    /// Argument `index` of all elements.
    pub fn argument<T: Lane>(&mut self, index: usize) -> &mut [T] {
        let buffer = &mut self.buffers[index];
        let bytes = size_of_val(buffer.as_slice());
        // SAFETY: any bits are a T, whose alignment is less than a buffer's.
        unsafe {
            std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), bytes / size_of::<T>())
        }
    }

    /// Result `index` of all elements.
    pub fn result<T: Lane>(&self, index: usize) -> &[T] {
        let buffer = &self.buffers[3 + index];
        let bytes = size_of_val(buffer.as_slice());
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), bytes / size_of::<T>()) }
    }

    /// Applies the function to every element.
    pub fn run(&mut self) {
        let addresses: Vec<u8> = self
            .buffers
            .iter_mut()
            .flat_map(|buffer| (buffer.as_mut_ptr() as u64).to_le_bytes())
            .collect();
        let range = range();
        let launch = Launch {
            args: addresses.as_ptr(),
            global_offset: range.global_offset,
            global_size: range.global_size,
            local_size: range.local_size,
            num_groups: [1; 3],
            work_dim: 1,
            local_mem_size: 0,
            printf,
            printf_context: std::ptr::null_mut(),
            device: brolga_compiler::device::refuse,
            device_context: std::ptr::null_mut(),
        };
        let scratch = self.scratch.as_mut_ptr().cast::<u8>();
        let below = (PRIVATE_GAP + self.scratch_size.private) as usize;
        let align = self.scratch_size.align as usize;
        let skipped = (scratch as usize + below).next_multiple_of(align) - scratch as usize;
        // SAFETY: so many bytes more than there are behind were allocated.
        let scratch = unsafe { scratch.add(skipped) };
        let entry = self.code.entry();
        // SAFETY: the buffers are as long as the range, scratch memory as large as asked for and
        // aligned.
        unsafe { entry(&raw const launch, scratch, 0, 1) };
    }
}

unsafe extern "C" fn printf(
    _: *mut std::ffi::c_void,
    _: *const u8,
    _: *const u8,
    _: *const u64,
    _: u64,
) {
}

fn range() -> NdRange {
    NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [ELEMENTS as u64, 1, 1],
        local_size: [ELEMENTS as u64, 1, 1],
    }
}

/// What the function is in IR: operations of the machine have no built-in.
fn operation(func: Func) -> String {
    match func.name() {
        "fabs" | "ceil" | "floor" | "trunc" | "sqrt" | "fma" | "fmax" | "fmin" | "copysign" => {
            func.name().to_owned()
        }
        "rint" => "roundeven".to_owned(),
        "fmod" => "frem".to_owned(),
        name => format!("builtin.{name}"),
    }
}

/// Bytes of an element in memory, and of the alignment that its accesses have: a scalar's. Three
/// components take the space of four.
fn size(ty: &str) -> (u32, u32) {
    let (scalar, lanes) = ty.split_once('x').unwrap_or((ty, "1"));
    let bytes = scalar[1..].parse::<u32>().expect("a number of bits") / 8;
    let lanes: u32 = lanes.parse().expect("a number of lanes");
    (bytes * lanes.next_power_of_two(), bytes)
}

/// `out0[i] (, out1[i]) = operation in0[i] (, in1[i], in2[i])`.
fn text(operation: &str, arguments: &[String], results: &[String]) -> String {
    let mut text = String::from(
        "kernel \"k\" @0 (value 0, value 8, value 16, value 24, value 32)\n\
         func \"k\" (ptr, ptr, ptr, ptr, ptr) -> () {\n\
         block0(p0: ptr, p1: ptr, p2: ptr, p3: ptr, p4: ptr):\n\
         gid: i64 = dim_query.global_id.0\n",
    );
    let address = |text: &mut String, pointer: usize, of: &str| {
        let _ = writeln!(
            text,
            "s{pointer}: i64 = const {}\no{pointer}: i64 = imul gid, s{pointer}\n\
             a{pointer}: ptr = ptr_add p{pointer}, o{pointer}",
            size(of).0
        );
    };
    for (i, argument) in arguments.iter().enumerate() {
        address(&mut text, i, argument);
        let align = size(argument).1;
        let _ = writeln!(text, "x{i}: {argument} = load.global.align{align} a{i}");
    }
    let numbered = |letter: &str, count: usize, ty: &dyn Fn(usize) -> String| {
        (0..count)
            .map(|i| format!("{letter}{i}{}", ty(i)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let _ = writeln!(
        text,
        "{} = {operation} {}",
        numbered("r", results.len(), &|i| format!(": {}", results[i])),
        numbered("x", arguments.len(), &|_| String::new()),
    );
    for (i, result) in results.iter().enumerate() {
        address(&mut text, 3 + i, result);
        let _ = writeln!(
            text,
            "store.global.align{} a{}, r{i}",
            size(result).1,
            3 + i
        );
    }
    text.push_str("ret\n}\n");
    text
}
