//! Program-scope variables: initialised once, shared by the kernels of a program, kept from launch
//! to launch.
//!
//! Where no OpenCL C compiler is installed the tests say so and pass.

use std::sync::Arc;

use brolga_runtime::{Buffer, ClError, Direction, HostPtr, HostVariable, Program, Queue};
use brolga_runtime_testing::*;

const SOURCE: &str = "
typedef struct { char tag; int2 pair; global int *where; constant int *what; } record;
constant int table[3] = {10, 20, 30};
global int counter = 5;
int plain;
global int *global cursor = &counter;
global int *global nowhere = 0;
record records[2] = {{'a', (int2)(1, 2), &counter, &table[1]}, {'b', (int2)(3, 4), &plain, &table[2]}};
global float8 wide = (float8)(1, 2, 3, 4, 5, 6, 7, 8);
atomic_int hits;
int next(void) { static int calls = 100; return calls++; }
kernel void read(global int *out) {
    out[0] = counter; out[1] = plain; out[2] = *cursor; out[3] = nowhere == 0;
    out[4] = records[0].tag; out[5] = records[1].pair.y; out[6] = *records[0].where; out[7] = *records[1].what;
    out[8] = (int)wide.s7; out[9] = atomic_load_explicit(&hits, memory_order_relaxed); out[10] = next();
    static global int own = 7; out[11] = own++;
}
kernel void count(global int *out) {
    atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed, memory_scope_device);
    if (get_global_id(0) == 0) { counter += 1; plain = *cursor * 2; cursor = &plain; records[0].where = &plain; wide.s7 = -3.0f; out[0] = next(); }
}
";

const BEFORE: [u32; 12] = [5, 0, 5, 1, 97, 4, 5, 30, 8, 0, 100, 7];

/// Runs a kernel with a buffer of 12 words.
fn run(queue: &Arc<Queue>, program: &Arc<Program>, name: &str, items: usize) -> Vec<u32> {
    let out = Buffer::new(queue.context(), 0, 48, HostPtr::null(), Vec::new()).unwrap();
    let kernel = program.kernel(name).unwrap();
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[items]), None, &[])
        .unwrap();
    words(queue, &out)
}

#[test]
fn variables_persist_across_launches_and_kernels() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, SOURCE, "-cl-std=CL3.0");
    // counter, plain, cursor, nowhere, the records, wide, hits and two static locals.
    let size = program.build_info().global_variable_total_size;
    assert!(size >= 4 + 4 + 8 + 8 + 2 * 32 + 32 + 4 + 4 + 4, "{size}");
    assert_eq!(run(&queue, &program, "read", 1), BEFORE);
    assert_eq!(run(&queue, &program, "count", 1000)[0], 101);
    let after = [6, 12, 12, 1, 97, 4, 12, 30, -3i32 as u32, 1000, 102, 8];
    assert_eq!(run(&queue, &program, "read", 1), after);
    // Built again, the program starts again.
    program.build("-cl-std=CL3.0", None).unwrap();
    assert_eq!(run(&queue, &program, "read", 1), BEFORE);
}

#[test]
fn every_program_has_its_own_variables() {
    let context = context();
    let queue = queue(&context);
    let build = || built(&context, SOURCE, "-cl-std=CL3.0");
    let (one, other) = (build(), build());
    run(&queue, &one, "count", 10);
    assert_eq!(run(&queue, &other, "read", 1), BEFORE);
    assert_eq!(run(&queue, &one, "read", 1)[9], 10);
    let binary = Program::from_binary(&context, &one.binary()).unwrap();
    binary.build("", None).unwrap();
    assert_eq!(run(&queue, &binary, "read", 1), BEFORE);
}

#[test]
fn variables_live_as_long_as_a_kernel() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, SOURCE, "-cl-std=CL3.0");
    run(&queue, &program, "count", 3);
    let kernel = program.kernel("read").unwrap();
    drop(program);
    let out = Buffer::new(&context, 0, 48, HostPtr::null(), Vec::new()).unwrap();
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    for calls in [101, 102] {
        queue
            .enqueue_nd_range(&kernel, 1, None, Some(&[1]), None, &[])
            .unwrap();
        let words = words(&queue, &out);
        assert_eq!((words[9], words[10]), (3, calls));
    }
}

#[test]
fn linked_modules_share_variables() {
    let context = context();
    let queue = queue(&context);
    let compile = |source: &str| {
        let program = Program::from_source(&context, source.to_owned()).unwrap();
        let compiled = program.compile("-cl-std=CL3.0", &[], None);
        assert!(compiled.is_ok(), "{}", program.build_info().log);
        program
    };
    let writer = "extern global int shared; int get(void);
        kernel void write(global int *out) { shared += 5; out[0] = get(); }";
    let reader = "extern global int shared; kernel void read(global int *out) { out[0] = shared; }";
    let (writer, reader) = (compile(writer), compile(reader));
    let definition = compile("int shared = 37; int get(void) { return shared; }");
    let link = |options: &str, parts: &[&Arc<Program>]| {
        let parts: Vec<_> = parts.iter().map(|&part| Arc::clone(part)).collect();
        let (program, result) = Program::link(&context, options, &parts, None);
        let program = program.unwrap();
        (result.map(|()| Arc::clone(&program)), program)
    };
    let library = link("-create-library -enable-link-options", &[&definition])
        .0
        .unwrap();
    let programs = [
        link("", &[&writer, &reader, &definition]).0.unwrap(),
        link("-cl-mad-enable", &[&library, &reader, &writer])
            .0
            .unwrap(),
    ];
    for program in &programs {
        assert_eq!(program.build_info().global_variable_total_size, 4);
        assert_eq!(run(&queue, program, "read", 1)[0], 37);
        assert_eq!(run(&queue, program, "write", 1)[0], 42);
        assert_eq!(run(&queue, program, "read", 1)[0], 42);
    }

    // What does not fit is an error whose log names the symbol and the modules.
    let fails = |parts: &[&Arc<Program>], log: &str| {
        let (result, program) = link("", parts);
        assert_eq!(result.unwrap_err(), ClError::LINK_PROGRAM_FAILURE);
        let text = program.build_info().log;
        assert!(text.contains(log), "{text}");
    };
    fails(
        &[&reader, &writer],
        "the variable \"shared\" is imported by module 0, but none of the 2 modules exports it",
    );
    fails(
        &[&definition, &reader, &library],
        "is exported a second time: by module 0, and by module 2",
    );
    let wrong = compile("float shared = 1;");
    fails(
        &[&reader, &wrong],
        "\"shared\" is imported by module 0 with another type than module 1 exports it with",
    );
}

/// A module whose initializer adds 41 to a variable, and whose finalizer stores 7 where the kernel
/// was told to.
const ROLES: &str = r#"
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %begin "begin"
OpEntryPoint Kernel %end "end"
OpEntryPoint Kernel %k "k"
OpExecutionMode %begin Initializer
OpExecutionMode %end Finalizer
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%pointer = OpTypePointer CrossWorkgroup %uint
%place = OpTypePointer CrossWorkgroup %pointer
%role_t = OpTypeFunction %void
%kernel_t = OpTypeFunction %void %pointer
%one = OpConstant %uint 1
%seven = OpConstant %uint 7
%more = OpConstant %uint 41
%null = OpConstantNull %pointer
%state = OpVariable %pointer CrossWorkgroup %one
%where = OpVariable %place CrossWorkgroup %null
%begin = OpFunction %void None %role_t
%b0 = OpLabel
%old = OpLoad %uint %state
%new = OpIAdd %uint %old %more
OpStore %state %new
OpReturn
OpFunctionEnd
%end = OpFunction %void None %role_t
%e0 = OpLabel
%target = OpLoad %pointer %where
OpStore %target %seven
OpReturn
OpFunctionEnd
%k = OpFunction %void None %kernel_t
%out = OpFunctionParameter %pointer
%k0 = OpLabel
%value = OpLoad %uint %state
OpStore %out %value
OpStore %where %out
OpReturn
OpFunctionEnd
"#;

#[test]
fn initializers_run_first_and_finalizers_last() {
    let context = context();
    let queue = queue(&context);
    let program = Program::from_il(&context, &assemble(ROLES)).unwrap();
    assert!(program.scope_ctors_and_dtors().is_err());
    program.build("", None).unwrap();
    assert_eq!(program.scope_ctors_and_dtors(), Ok((true, true)));
    // The runtime launches the others.
    assert_eq!(program.kernel_names().unwrap(), ["k"]);
    assert_eq!(
        program.kernel("begin").unwrap_err(),
        ClError::INVALID_KERNEL_NAME
    );
    let out = Buffer::new(&context, 0, 4, HostPtr::null(), Vec::new()).unwrap();
    let kernel = program.kernel("k").unwrap();
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    for _ in 0..2 {
        queue
            .enqueue_nd_range(&kernel, 1, None, Some(&[1]), None, &[])
            .unwrap();
        assert_eq!(words(&queue, &out), [42]);
    }
    drop(program);
    assert_eq!(words(&queue, &out), [42]);
    drop(kernel);
    assert_eq!(words(&queue, &out), [7]);

    let plain = built(&context, SOURCE, "-cl-std=CL3.0");
    assert_eq!(plain.scope_ctors_and_dtors(), Ok((false, false)));
}

/// Two variables that the host may name, one that is exported and that no kernel uses, and one that
/// is internal. Decoration 6188 is `HostAccessINTEL`, 6147 its number in
/// `SPV_INTEL_global_variable_decorations`; the names are `both`, `in`, `out` and `none`.
const NAMED: &str = r#"
OpCapability Addresses
OpCapability Kernel
OpCapability Linkage
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k" %both %in %out
OpDecorate %both !6188 !3 !1752461154 !0
OpDecorate %both LinkageAttributes "both_exported" Export
OpDecorate %in !6147 !2 !28265
OpDecorate %out !6188 !1 !7632239
OpDecorate %none !6188 !0 !1701736302 !0
OpDecorate %unused LinkageAttributes "unused" Export
OpDecorate %unused Constant
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%four = OpConstant %ulong 4
%array = OpTypeArray %uint %four
%pointer = OpTypePointer CrossWorkgroup %uint
%pointers = OpTypePointer CrossWorkgroup %array
%kernel_t = OpTypeFunction %void
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%u3 = OpConstant %uint 3
%u4 = OpConstant %uint 4
%init = OpConstantComposite %array %u1 %u2 %u3 %u4
%null = OpConstantNull %uint
%both = OpVariable %pointer CrossWorkgroup %u4
%in = OpVariable %pointer CrossWorkgroup %null
%out = OpVariable %pointer CrossWorkgroup %null
%none = OpVariable %pointer CrossWorkgroup %u3
%unused = OpVariable %pointers CrossWorkgroup %init
%k = OpFunction %void None %kernel_t
%k0 = OpLabel
%a = OpLoad %uint %both
%b = OpLoad %uint %in
%c = OpIAdd %uint %a %b
OpStore %out %c
OpReturn
OpFunctionEnd
"#;

#[test]
fn the_host_reads_and_writes_variables_by_name() {
    let context = context();
    let queue = queue(&context);
    let program = Program::from_il(&context, &assemble(NAMED)).unwrap();
    let mut value = [0u32; 4];
    // SAFETY: used for blocking commands only.
    let host = unsafe { HostPtr::new(value.as_mut_ptr().cast()) };
    let access = |direction, name, size, offset| HostVariable {
        direction,
        program: &program,
        name,
        offset,
        size,
        host,
    };
    let read = |name: &'static str, size, offset| {
        let read = access(Direction::Read, name, size, offset);
        let read = queue.submit_blocking(read, true, &[]);
        read.map(|_| ())
    };
    let write = |name: &'static str, size, offset| {
        let write = access(Direction::Write, name, size, offset);
        let write = queue.submit_blocking(write, true, &[]);
        write.map(|_| ())
    };
    let value_of = |index: usize| {
        // SAFETY: inside `value`, which no command uses now.
        unsafe { host.offset(4 * index).as_ptr().cast::<u32>().read() }
    };
    let set_value = |new: u32| {
        // SAFETY: as above.
        unsafe { host.as_ptr().cast::<u32>().write(new) }
    };
    assert_eq!(read("both", 4, 0), Err(ClError::INVALID_PROGRAM_EXECUTABLE));
    program.build("", None).unwrap();

    read("both", 4, 0).unwrap();
    assert_eq!(value_of(0), 4);
    set_value(30);
    write("both_exported", 4, 0).unwrap();
    set_value(12);
    write("in", 4, 0).unwrap();
    let kernel = program.kernel("k").unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[1]), None, &[])
        .unwrap();
    read("out", 4, 0).unwrap();
    assert_eq!(value_of(0), 42);
    read("unused", 8, 8).unwrap();
    assert_eq!([value_of(0), value_of(1)], [3, 4]);
    read("unused", 0, 16).unwrap();
    let (address, size) = program.global_variable("unused").unwrap();
    assert_eq!(size, 16);
    // SAFETY: where the variable is, as long as the program.
    assert_eq!(unsafe { *(address as *const [u32; 4]) }, [1, 2, 3, 4]);

    for name in ["in", "none"] {
        assert_eq!(read(name, 4, 0), Err(ClError::INVALID_OPERATION), "{name}");
    }
    for name in ["out", "none"] {
        assert_eq!(write(name, 4, 0), Err(ClError::INVALID_OPERATION), "{name}");
    }
    for name in ["", "k", "other", "bot", "both\0"] {
        assert_eq!(read(name, 4, 0), Err(ClError::INVALID_ARG_VALUE), "{name}");
    }
    for (size, offset) in [(5, 0), (4, 1), (1, 4), (usize::MAX, 1), (1, usize::MAX)] {
        assert_eq!(read("both", size, offset), Err(ClError::INVALID_VALUE));
        assert_eq!(write("both", size, offset), Err(ClError::INVALID_VALUE));
    }
    let foreign_queue = another_queue();
    let foreign = foreign_queue.submit(access(Direction::Read, "both", 4, 0), &[]);
    assert_eq!(foreign.map(|_| ()), Err(ClError::INVALID_CONTEXT));
}

/// A queue of another context.
fn another_queue() -> Arc<Queue> {
    queue(&context())
}
