//! How much memory commands take that wait in a queue: a queue may hold very many. One test, which
//! has the process to itself.

use std::sync::Arc;

use brolga_runtime::{Buffer, Context, Kernel, user_event};
use brolga_runtime_testing::{buffer, context, kernel, queue_with, words};
use opencl_sys::{CL_COMPLETE, CL_QUEUE_PROFILING_ENABLE};

const COUNT: u32 = 50_000;

/// What the process has allocated, with what the C library adds.
fn in_use() -> usize {
    // SAFETY: it has no conditions.
    let info = unsafe { libc::mallinfo2() };
    info.uordblks + info.hblkhd
}

/// Bytes that a launch takes of a chain in an in-order queue which waits for a user event. Before
/// each, `set` changes arguments; all is right if every launch adds 1 to its buffer.
fn bytes_a_launch(
    context: &Arc<Context>,
    properties: u64,
    set: impl Fn(&Kernel, &[Arc<Buffer>; 2], u32),
) -> usize {
    let queue = queue_with(context, properties);
    let kernel = kernel(context, "add");
    let sums = [(); 2].map(|()| buffer(context, &[0]));
    kernel.set_arg_buffer(0, Some(&sums[0])).unwrap();
    kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
    let user = user_event(context);
    let first = queue.enqueue_task(&kernel, std::slice::from_ref(&user));
    first.unwrap();
    let before = in_use();
    for launch in 1..=COUNT {
        set(&kernel, &sums, launch);
        queue.enqueue_task(&kernel, &[]).unwrap();
    }
    let bytes = in_use() - before;
    user.set_user_status(CL_COMPLETE).unwrap();
    queue.finish().unwrap();
    let total: u32 = sums.iter().flat_map(|sum| words(&queue, sum)).sum();
    assert_eq!(total, COUNT + 1);
    bytes / COUNT as usize
}

#[test]
fn a_launch_that_waits_is_small() {
    let context = context();
    let unchanged = |_: &Kernel, _: &[Arc<Buffer>; 2], _| ();
    let with_value = |kernel: &Kernel, _: &[Arc<Buffer>; 2], launch: u32| {
        // Twice, since only what is another value is news.
        for value in [launch, 1] {
            kernel.set_arg_value(1, &value.to_le_bytes()).unwrap();
        }
    };
    let with_the_same = |kernel: &Kernel, sums: &[Arc<Buffer>; 2], _| {
        kernel.set_arg_buffer(0, Some(&sums[0])).unwrap();
    };
    let with_object = |kernel: &Kernel, sums: &[Arc<Buffer>; 2], launch: u32| {
        let sum = &sums[launch as usize % 2];
        kernel.set_arg_buffer(0, Some(sum)).unwrap();
    };
    let bytes = [
        bytes_a_launch(&context, 0, unchanged),
        bytes_a_launch(&context, 0, with_value),
        bytes_a_launch(&context, CL_QUEUE_PROFILING_ENABLE, unchanged),
        bytes_a_launch(&context, 0, with_the_same),
        bytes_a_launch(&context, 0, with_object),
    ];
    let most = [300, 300, 300, 300, 400];
    assert!(
        bytes.iter().zip(most).all(|(&bytes, most)| bytes <= most),
        "{bytes:?}"
    );
}
