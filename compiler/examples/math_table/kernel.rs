//! A function of the library as programs run it: a kernel that applies it to arrays, compiled at a width.

use std::fmt::Write;

use brolga_compiler::abi::{Launch, SCRATCH_ALIGN};
use brolga_compiler::{BuildOptions, CompiledKernel, LaunchKey, NdRange, Program, ir};
use brolga_mathlib::{Func, Signature};

use super::Type;

/// Elements of one run; a work-group each.
pub const ELEMENTS: usize = 4096;

/// A vector of [`ELEMENTS`] 64-bit elements at most, aligned as buffers are.
#[repr(C, align(128))]
struct Buffer([u8; ELEMENTS * 8]);

/// Arguments, results and the code between them.
pub struct Kernel {
    code: CompiledKernel,
    /// Three arguments, two results.
    buffers: Vec<Buffer>,
    scratch: Vec<Buffer>,
}

/// A lane of a buffer.
pub trait Lane: Copy {
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! lanes {
    ($($ty:ty),*) => {
        $(impl Lane for $ty {
            fn read(bytes: &[u8]) -> Self {
                <$ty>::from_le_bytes(bytes.try_into().expect("as many bytes as the lane has"))
            }
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        })*
    };
}

lanes!(f32, f64, i32, half::f16);

impl Kernel {
    /// The kernel of a function for elements of a type, `width` work-items a vector.
    pub fn new(func: Func, ty: Type, width: u8) -> Kernel {
        let text = text(func, ty);
        let module = ir::parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let program = Program::from_module(module, &BuildOptions::default())
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let key = LaunchKey {
            width,
            ..program.launch_key(0, &range())
        };
        let code = program
            .compile(0, &key)
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let scratch = code.scratch_size(range().local_size, 0) as usize;
        let buffers = |count: usize| (0..count).map(|_| Buffer([0; ELEMENTS * 8])).collect();
        Kernel {
            code,
            buffers: buffers(5),
            scratch: buffers(scratch.div_ceil(ELEMENTS * 8) + 1),
        }
    }

    /// Sets argument `index` of element `at`.
    pub fn set<T: Lane>(&mut self, index: usize, at: usize, value: T) {
        let size = size_of::<T>();
        value.write(&mut self.buffers[index].0[at * size..(at + 1) * size]);
    }

    /// Result `index` of element `at`.
    pub fn get<T: Lane>(&self, index: usize, at: usize) -> T {
        let size = size_of::<T>();
        T::read(&self.buffers[3 + index].0[at * size..(at + 1) * size])
    }

    /// Applies the function to every element.
    pub fn run(&mut self) {
        let addresses: Vec<u8> = self
            .buffers
            .iter_mut()
            .flat_map(|buffer| (buffer.0.as_mut_ptr() as u64).to_le_bytes())
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
        };
        let scratch = self.scratch.as_mut_ptr().cast::<u8>();
        debug_assert!((scratch as u64).is_multiple_of(SCRATCH_ALIGN));
        let entry = self.code.entry();
        // SAFETY: the buffers are as long as the range, scratch memory as large as asked for and aligned.
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

/// `out0[i] (, out1[i]) = func(in0[i], in1[i], in2[i])`.
fn text(func: Func, ty: Type) -> String {
    let float = ty.name();
    let (args, results): (&[&str], &[&str]) = match func.signature() {
        Signature::Unary => (&[float], &[float]),
        Signature::Binary => (&[float; 2], &[float]),
        Signature::Ternary => (&[float; 3], &[float]),
        Signature::WithInt => (&[float, "i32"], &[float]),
        Signature::OfInt => (&[ty.int_name()], &[float]),
        Signature::ToInt => (&[float], &["i32"]),
        Signature::UnaryPair => (&[float], &[float; 2]),
        Signature::UnaryAndInt => (&[float], &[float, "i32"]),
        Signature::BinaryAndInt => (&[float; 2], &[float, "i32"]),
    };
    let size = |name: &str| name[1..].parse::<u32>().expect("a number of bits") / 8;
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
            size(of)
        );
    };
    for (i, arg) in args.iter().enumerate() {
        address(&mut text, i, arg);
        let _ = writeln!(text, "x{i}: {arg} = load.global.align{} a{i}", size(arg));
    }
    let names = |letter: &str, count: usize, ty: &dyn Fn(usize) -> String| {
        (0..count)
            .map(|i| format!("{letter}{i}{}", ty(i)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let _ = writeln!(
        text,
        "{} = {} {}",
        names("r", results.len(), &|i| format!(": {}", results[i])),
        operation(func),
        names("x", args.len(), &|_| String::new()),
    );
    for (i, result) in results.iter().enumerate() {
        address(&mut text, 3 + i, result);
        let _ = writeln!(text, "store.global.align{} a{}, r{i}", size(result), 3 + i);
    }
    text.push_str("ret\n}\n");
    text
}
