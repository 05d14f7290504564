//! Programs from source, intermediate language and binaries, through the compiler to results.
//!
//! Where no OpenCL C compiler is installed the tests say so and pass.

use std::sync::Arc;

use brolga_runtime::{Buffer, ClError, Context, HostPtr, Program, Queue};
use brolga_runtime_testing::*;
use opencl_sys::*;

fn output(context: &Arc<Context>, words: usize) -> Arc<Buffer> {
    Buffer::new(context, 0, 4 * words, HostPtr::null(), Vec::new()).unwrap()
}

/// Runs a kernel with one output buffer over a range.
fn run(
    queue: &Arc<Queue>,
    program: &Arc<Program>,
    name: &str,
    global: &[usize],
    local: Option<&[usize]>,
) -> Vec<u32> {
    let items = global.iter().product();
    let out = output(queue.context(), items);
    let kernel = program.kernel(name).unwrap();
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    queue
        .enqueue_nd_range(&kernel, global.len() as u32, None, Some(global), local, &[])
        .unwrap();
    words(queue, &out)
}

/// A launch may be executed in other groups than asked for only if no kernel can tell.
#[test]
fn local_sizes_are_as_asked_for_wherever_kernels_look() {
    let context = context();
    let queue = queue(&context);
    let source = "
        kernel void ids(global uint *out) {
            size_t i = get_global_linear_id();
            out[i] = get_global_id(0) + 1000 * get_global_id(1) + get_global_size(0);
        }
        kernel void groups(global uint *out) {
            size_t i = get_global_linear_id();
            out[i] = get_local_id(0) + 100 * get_group_id(0) + 10000 * get_local_size(0);
        }
        kernel void shared(global uint *out) {
            local uint sum;
            if (get_local_linear_id() == 0) sum = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            atomic_inc(&sum);
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_global_linear_id()] = sum;
        }";
    let program = built(&context, source, "-cl-std=CL3.0");
    let (width, height) = (96, 6);
    for local in [[1, 1], [1, 6], [3, 2], [6, 1], [32, 3]] {
        let launch = |name| run(&queue, &program, name, &[width, height], Some(&local));
        let (ids, groups, shared) = (launch("ids"), launch("groups"), launch("shared"));
        for i in 0..width * height {
            let (x, y) = (i % width, i / width);
            let at = format!("{x}, {y} of {local:?}");
            assert_eq!(ids[i] as usize, x + 1000 * y + width, "{at}");
            let group = x % local[0] + 100 * (x / local[0]) + 10000 * local[0];
            assert_eq!(groups[i] as usize, group, "{at}");
            assert_eq!(shared[i] as usize, local[0] * local[1], "{at}");
        }
    }
}

const SQUARES: &str = "kernel void squares(global uint *out) {
    size_t i = get_global_id(0);
    out[i] = (uint)(i * i);
}";

#[test]
fn source_runs() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, SQUARES, "");
    assert_eq!(program.kernel_names().unwrap(), ["squares"]);
    assert_eq!(
        program.build_info().binary_type,
        CL_PROGRAM_BINARY_TYPE_EXECUTABLE
    );
    for n in [1usize, 64, 1000, 65536] {
        let result = run(&queue, &program, "squares", &[n], None);
        let expected = (0..n as u32).map(|i| i.wrapping_mul(i));
        assert!(result.into_iter().eq(expected), "{n}");
    }
    let kernel = program.kernel("squares").unwrap();
    let busy = program.build("", None);
    assert_eq!(
        busy,
        Err(ClError::INVALID_OPERATION),
        "a kernel is attached"
    );
    drop(kernel);
    program.build("", None).unwrap();
}

#[test]
fn non_uniform_groups_need_opencl_c_2() {
    let context = context();
    let queue = queue(&context);
    let old = built(&context, SQUARES, "");
    let out = output(&context, 100);
    let kernel = old.kernel("squares").unwrap();
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    let launch = queue.enqueue_nd_range(&kernel, 1, None, Some(&[100]), Some(&[64]), &[]);
    assert_eq!(launch.unwrap_err(), ClError::INVALID_WORK_GROUP_SIZE);
    let new = built(&context, SQUARES, "-cl-std=CL3.0");
    let result = run(&queue, &new, "squares", &[100], Some(&[64]));
    assert!(result.into_iter().eq((0..100).map(|i| i * i)));
    let uniform = built(
        &context,
        SQUARES,
        "-cl-std=CL3.0 -cl-uniform-work-group-size",
    );
    let kernel = uniform.kernel("squares").unwrap();
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    let launch = queue.enqueue_nd_range(&kernel, 1, None, Some(&[100]), Some(&[64]), &[]);
    assert_eq!(launch.unwrap_err(), ClError::INVALID_WORK_GROUP_SIZE);
}

#[test]
fn binaries_and_their_parts_run() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, SQUARES, "");
    let binary = program.binary();
    assert!(!binary.is_empty());
    let again = Program::from_binary(&context, &binary).unwrap();
    assert_eq!(
        again.build_info().binary_type,
        CL_PROGRAM_BINARY_TYPE_EXECUTABLE
    );
    assert_eq!(
        again.kernel("squares").unwrap_err(),
        ClError::INVALID_PROGRAM_EXECUTABLE
    );
    again.build("", None).unwrap();
    let result = run(&queue, &again, "squares", &[100], None);
    assert!(result.into_iter().eq((0..100).map(|i| i * i)));
    assert_eq!(again.binary(), binary);
    let damaged = Program::from_binary(&context, &binary[..binary.len() - 1]);
    assert_eq!(damaged.unwrap_err(), ClError::INVALID_BINARY);
}

#[test]
fn programs_compile_apart_and_link() {
    let context = context();
    let queue = queue(&context);
    let header = Program::from_source(&context, "uint triple(uint x);".to_owned()).unwrap();
    let source = "#include \"lib/triple.h\"\nkernel void k(global uint *out) {
        out[get_global_id(0)] = triple((uint)get_global_id(0)); }";
    let user = Program::from_source(&context, source.to_owned()).unwrap();
    let headers = [("lib/triple.h".to_owned(), header)];
    let compiled = user.compile("", &headers, None);
    assert!(compiled.is_ok(), "{}", user.build_info().log);
    assert_eq!(
        user.build_info().binary_type,
        CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
    );
    assert_eq!(
        user.kernel("k").unwrap_err(),
        ClError::INVALID_PROGRAM_EXECUTABLE
    );
    let definition = "uint triple(uint x) { return 3 * x; }";
    let library = Program::from_source(&context, definition.to_owned()).unwrap();
    library.compile("", &[], None).unwrap();

    // Without the definition the link fails, and the program that results says why.
    let (alone, result) = Program::link(&context, "", std::slice::from_ref(&user), None);
    assert_eq!(result, Err(ClError::LINK_PROGRAM_FAILURE));
    let log = alone.unwrap().build_info().log;
    assert!(log.contains("triple"), "{log}");

    let (library, result) = Program::link(&context, "-create-library", &[library], None);
    result.unwrap();
    let library = library.unwrap();
    assert_eq!(
        library.build_info().binary_type,
        CL_PROGRAM_BINARY_TYPE_LIBRARY
    );
    let (linked, result) = Program::link(&context, "", &[user, library], None);
    let linked = linked.unwrap();
    result.unwrap_or_else(|error| panic!("{error}: {}", linked.build_info().log));
    let result = run(&queue, &linked, "k", &[50], None);
    assert!(result.into_iter().eq((0..50).map(|i| i * 3)));

    // Linked programs are not built.
    assert_eq!(linked.build("", None), Err(ClError::INVALID_OPERATION));
    let (_, result) = Program::link(&context, "-nonsense", std::slice::from_ref(&linked), None);
    assert_eq!(result, Err(ClError::INVALID_LINKER_OPTIONS));
    let (_, result) = Program::link(&context, "", &[], None);
    assert_eq!(result, Err(ClError::INVALID_VALUE));
}

#[test]
fn questions_wait_for_a_build_in_the_background() {
    let context = context();
    let queue = queue(&context);
    let source = "kernel void k(global uint *out) { out[get_global_id(0)] = 3; }";
    let program = Program::from_source(&context, source.to_owned()).unwrap();
    let (send, receive) = std::sync::mpsc::channel();
    program
        .build("", Some(Box::new(move || send.send(()).unwrap())))
        .unwrap();
    assert!([CL_BUILD_IN_PROGRESS, CL_BUILD_SUCCESS].contains(&program.build_status()));
    // Without waiting for the callback.
    let result = run(&queue, &program, "k", &[5], None);
    assert_eq!(result, [3; 5]);
    receive.recv().unwrap();
    assert_eq!(program.build_status(), CL_BUILD_SUCCESS);

    let program = Program::from_source(&context, source.to_owned()).unwrap();
    program.build("", Some(Box::new(|| ()))).unwrap();
    assert_eq!(program.kernel_names().unwrap(), ["k"]);
    let program = Program::from_source(&context, "nonsense".to_owned()).unwrap();
    program.build("", Some(Box::new(|| ()))).unwrap();
    assert!(program.build_info().log.contains("error"));
}

#[test]
fn wrong_source_leaves_a_log() {
    let context = context();
    let program = Program::from_source(&context, "kernel void f( {".to_owned()).unwrap();
    assert_eq!(program.build("", None), Err(ClError::BUILD_PROGRAM_FAILURE));
    let info = program.build_info();
    assert_eq!(info.status, CL_BUILD_ERROR);
    assert!(info.log.contains("error"), "{}", info.log);
    assert_eq!(
        program.compile("", &[], None),
        Err(ClError::COMPILE_PROGRAM_FAILURE)
    );
}

#[test]
fn local_memory_and_barriers_run() {
    let context = context();
    let queue = queue(&context);
    let source = "kernel void reverse(global uint *out, local uint *dynamic) {
        local uint fixed[64];
        size_t l = get_local_id(0), n = get_local_size(0);
        fixed[l] = (uint)get_global_id(0);
        dynamic[l] = fixed[l] * 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = fixed[n - 1 - l] + dynamic[n - 1 - l];
    }";
    let program = built(&context, source, "");
    let out = output(&context, 128);
    let kernel = program.kernel("reverse").unwrap();
    assert!(kernel.local_mem_size() >= 256);
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    kernel.set_arg_local(1, 256).unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[128]), Some(&[64]), &[])
        .unwrap();
    let expected: Vec<u32> = (0..128u32)
        .map(|i| 3 * (i / 64 * 64 + 63 - i % 64))
        .collect();
    assert_eq!(words(&queue, &out), expected);
}

#[test]
fn threads_launch_and_compile_at_once() {
    let context = context();
    let program = built(&context, SQUARES, "-cl-std=CL3.0");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (context, program) = (context.clone(), program.clone());
            std::thread::spawn(move || {
                let queue = queue(&context);
                for (n, local) in [(1024usize, 64usize), (1000, 64), (7, 7), (4096, 1)] {
                    let result = run(&queue, &program, "squares", &[n], Some(&[local]));
                    assert!(result.into_iter().eq((0..n as u32).map(|i| i * i)));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let marker = queue(&context).enqueue_marker(&[]).unwrap();
    wait_for_events(&[marker]).unwrap();
}

#[test]
fn remarks_are_in_the_build_log_when_asked_for() {
    let context = context();
    let source = "kernel void gathers(global const int *from, global int *to, local int *t) {
        size_t i = get_local_id(0);
        t[i] = from[to[i]];
        int mine = (t[i] * 3 + (t[i] >> 2)) ^ (t[i] - (int)i * 5);
        barrier(CLK_LOCAL_MEM_FENCE);
        to[i] = t[i ^ 1] + mine;
    }";
    let program = built(&context, source, "-cl-brolga-remarks");
    let log = program.build_info().log;
    assert!(log.contains("kernel `gathers`: runs "), "{log}");
    for remark in [
        "kernel.cl:3: load is gathered",
        "kernel.cl:4: this i32 is kept across a barrier",
    ] {
        assert!(log.contains(remark), "{remark}: {log}");
    }
    let quiet = built(&context, source, "");
    assert_eq!(quiet.build_info().log, "");
}

/// `MaxByteOffset` and `MaxByteOffsetId` of a parameter say how large an argument may be.
#[test]
fn a_kernel_may_bound_its_memory_arguments() {
    let context = context();
    let text = "
        OpCapability Addresses
        OpCapability Kernel
        OpMemoryModel Physical64 OpenCL
        OpEntryPoint Kernel %k \"k\"
        OpDecorate %a MaxByteOffset 64
        OpDecorateId %b MaxByteOffsetId %bytes
        OpDecorate %c MaxByteOffset 32
        OpDecorate %c MaxByteOffset 48
        %void = OpTypeVoid
        %uint = OpTypeInt 32 0
        %bytes = OpConstant %uint 60
        %global = OpTypePointer CrossWorkgroup %uint
        %local = OpTypePointer Workgroup %uint
        %k_t = OpTypeFunction %void %global %global %local %global
        %k = OpFunction %void None %k_t
        %a = OpFunctionParameter %global
        %b = OpFunctionParameter %global
        %c = OpFunctionParameter %local
        %d = OpFunctionParameter %global
        %entry = OpLabel
        OpReturn
        OpFunctionEnd";
    let program = Program::from_il(&context, &assemble(text)).unwrap();
    program.build("", None).unwrap();
    let kernel = program.kernel("k").unwrap();
    let too_large = Err(ClError::MAX_SIZE_RESTRICTION_EXCEEDED);
    for (index, words, result) in [
        (0, 16, Ok(())),
        (0, 17, too_large),
        (1, 15, Ok(())),
        (1, 16, too_large),
        (3, 1000, Ok(())),
    ] {
        let buffer = output(&context, words);
        let set = kernel.set_arg_buffer(index, Some(&buffer));
        assert_eq!(set, result, "{index}: {words}");
    }
    assert_eq!(kernel.set_arg_buffer(0, None), Ok(()));
    assert_eq!(kernel.set_arg_local(2, 32), Ok(()));
    assert_eq!(kernel.set_arg_local(2, 33), too_large);
}
