//! Source through the front end to results: plain uses of OpenCL C that have gone wrong, and C++
//! for OpenCL.

use std::sync::Arc;

use brolga_runtime::{ClError, Context, Program};
use brolga_runtime_testing::*;

/// Runs the kernel `k` of the source in one work-group of `items` with one buffer of 64 words that
/// are 0, 1, 2, ... and gives what it leaves there.
fn run(source: &str, items: usize) -> Vec<u32> {
    let context = context();
    let program = built(&context, source, "-cl-std=CL1.2");
    run_program(&context, &program, items)
}

fn run_program(context: &Arc<Context>, program: &Arc<Program>, items: usize) -> Vec<u32> {
    let queue = queue(context);
    let counting: Vec<u32> = (0..64).collect();
    let buffer = buffer(context, &counting);
    let kernel = program.kernel("k").unwrap();
    kernel.set_arg_buffer(0, Some(&buffer)).unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[items]), Some(&[items]), &[])
        .unwrap();
    words(&queue, &buffer)
}

#[test]
fn a_zero_stored_to_local_memory_is_there_in_every_group() {
    let source = "kernel void k(global int *o) {
        local int l[4];
        for (int round = 0; round < 3; round++) {
            if (get_local_id(0) < 4) l[get_local_id(0)] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            atomic_add(&l[1], 1);
            barrier(CLK_LOCAL_MEM_FENCE);
            o[get_global_id(0)] = l[1];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }";
    let out = run(source, 16);
    assert_eq!(out[..16], [16; 16]);
}

/// Private variables are not on the stack of the thread that runs the kernel.
#[test]
fn a_kernel_runs_whatever_stack_the_waiting_thread_has() {
    let source = "kernel void k(global uint *o) {
        volatile uint large[1 << 22];
        for (uint i = 0; i < 1 << 22; i += 512) large[i] = o[get_global_id(0)] + i;
        o[get_global_id(0)] = large[(o[get_global_id(0)] * 512) & 0x3fffff];
    }";
    let expected = run(source, 4)[..4].to_vec();
    assert_eq!(expected, [0, 513, 1026, 1539]);
    let thread = std::thread::Builder::new().stack_size(192 << 10);
    let small = thread.spawn(move || {
        let context = context();
        let program = built(&context, source, "-cl-std=CL1.2");
        run_program(&context, &program, 4)[..4].to_vec()
    });
    assert_eq!(small.unwrap().join().unwrap(), expected);
}

/// What work-groups keep across barriers may be more than there is: the launch fails.
#[test]
fn a_kernel_that_there_is_no_memory_for_is_refused() {
    let source = "kernel void k(global uint *o) {
        volatile uint large[1 << 28];
        for (uint i = 0; i < 1 << 28; i += 1 << 20) large[i] = i;
        barrier(CLK_LOCAL_MEM_FENCE);
        o[get_global_id(0)] = large[1 << 20];
    }";
    let context = context();
    let program = built(&context, source, "-cl-std=CL1.2");
    let queue = queue(&context);
    let buffer = buffer(&context, &[7; 4096]);
    let kernel = program.kernel("k").unwrap();
    kernel.set_arg_buffer(0, Some(&buffer)).unwrap();
    let sizes = (Some(&[4096][..]), Some(&[4096][..]));
    let launch = queue.enqueue_nd_range(&kernel, 1, None, sizes.0, sizes.1, &[]);
    let failed = launch.map(|event| {
        assert_eq!(queue.finish(), Err(ClError::OUT_OF_RESOURCES));
        ClError(event.status())
    });
    assert_eq!(
        failed.unwrap_or_else(|error| error),
        ClError::OUT_OF_RESOURCES
    );
    assert_eq!(words(&queue, &buffer), [7; 4096]);
}

#[test]
fn work_items_alone_in_their_groups() {
    let source = "kernel void k(global uint *o) {
        local uint l[16];
        uint group = get_group_id(0);
        for (uint i = get_local_id(0); i < 16; i += get_local_size(0)) l[i] = group * i;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = l[o[get_global_id(0)] & 15];
        for (uint i = 0; i < (o[get_global_id(0)] & 31); i++) {
            barrier(CLK_LOCAL_MEM_FENCE);
            sum = sum * 3 + l[i & 15];
        }
        o[get_global_id(0)] = sum + get_num_groups(0) + 1000 * get_enqueued_local_size(0);
    }";
    let context = context();
    let program = built(&context, source, "-cl-std=CL2.0");
    let queue = queue(&context);
    let counting: Vec<u32> = (0..64).collect();
    let buffer = buffer(&context, &counting);
    let kernel = program.kernel("k").unwrap();
    kernel.set_arg_buffer(0, Some(&buffer)).unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[61]), Some(&[1]), &[])
        .unwrap();
    let expected = |group: u32| {
        let rounds = 0..group & 31;
        let first = group * (group & 15);
        let step = |sum: u32, i: u32| sum.wrapping_mul(3).wrapping_add(group * (i & 15));
        rounds.fold(first, step).wrapping_add(61 + 1000)
    };
    let result = words(&queue, &buffer);
    assert_eq!(result[..61], (0..61).map(expected).collect::<Vec<u32>>());
    assert_eq!(result[61..], counting[61..]);
}

#[test]
fn nested_initialisers_of_private_variables() {
    let source = "
        struct inner { char tag; float4 values; };
        struct outer { int count; struct inner inner[2]; short rest[3]; };
        kernel void k(global int *o) {
            int i = o[1];
            struct outer s = {7, {{2, (float4)(1, 2, 3, 4)}, {.tag = 3}}, {[1] = 5}};
            const int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
            o[0] = s.count; o[1] = s.inner[i].tag; o[2] = (int)s.inner[0].values.z;
            o[3] = (int)s.inner[1].values.x; o[4] = s.rest[0]; o[5] = s.rest[i];
            o[6] = table[i + 1][i]; o[7] = table[i][0];
        }";
    let out = run(source, 1);
    assert_eq!(out[..8], [7, 3, 3, 0, 0, 5, 6, 3]);
}

#[test]
fn tables_of_pointers_to_private_arrays() {
    let source = "kernel void k(global int *o) {
        int a[8], b[8];
        for (int i = 0; i < 8; i++) { a[i] = o[i] + 100; b[i] = o[i] + 200; }
        int *tab[4] = {a, b, a + 4, b + 4};
        for (int i = 0; i < 4; i++) { *tab[i] += 1000; o[i] = *tab[i]; }
        o[4] = a[0]; o[5] = b[4];
    }";
    let out = run(source, 1);
    assert_eq!(out[..6], [1100, 1200, 1104, 1204, 1100, 1204]);
}

#[test]
fn arrays_of_events() {
    let source = "kernel void k(global int *o) {
        local int l[2][16];
        event_t e[2];
        e[0] = async_work_group_copy(l[0], o, 16, 0);
        e[1] = async_work_group_copy(l[1], o + 16, 16, 0);
        wait_group_events(2, e);
        o[32 + get_local_id(0)] = l[0][get_local_id(0)] + l[1][get_local_id(0)];
    }";
    let out = run(source, 16);
    let expected: Vec<u32> = (0..16).map(|i| 16 + 2 * i).collect();
    assert_eq!(out[32..48], expected);
}

#[test]
fn alignment_beyond_that_of_any_type() {
    let source = "kernel void k(global int *o) {
        char before = o[3];
        float x[5] __attribute__((aligned(128)));
        local char odd;
        local int y[5] __attribute__((aligned(128)));
        for (int i = 0; i < 5; i++) { x[i] = o[i]; y[i] = o[i]; }
        odd = before;
        o[0] = (int)((size_t)x % 128); o[1] = (int)((size_t)y % 128);
        o[2] = (int)x[4] + y[3] + odd;
    }";
    let out = run(source, 1);
    assert_eq!(out[..3], [0, 0, 10]);
}

/// The compiler of C++ for OpenCL need not be there; then the log says what it is.
#[test]
fn templates_and_classes_of_cpp_for_opencl() {
    let context = context();
    let source = "
        struct Counter {
            int value;
            Counter(int first) : value(first) {}
            Counter &operator+=(int more) { value += more; return *this; }
        };
        template <typename T> T twice(T x) { return x + x; }
        kernel void k(global int *o) {
            Counter counter(o[5]);
            counter += twice(o[2]);
            o[0] = counter.value;
        }";
    let program = Program::from_source(&context, source.to_owned()).unwrap();
    if let Err(error) = program.build("-cl-std=CLC++2021", None) {
        let log = program.build_info().log;
        assert_eq!(error, ClError::BUILD_PROGRAM_FAILURE);
        assert!(log.contains("clang-15 and llvm-spirv-15"), "{log}");
        skip(&log);
        return;
    }
    assert_eq!(run_program(&context, &program, 1)[0], 9);
}
