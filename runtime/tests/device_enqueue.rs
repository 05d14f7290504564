//! Kernels that enqueue kernels, from many threads at once: nothing is lost, no launch waits for
//! ever, and nothing is left over.
//!
//! Where no OpenCL C compiler is installed the tests say so and pass. What the C interface shows of
//! on-device queues, its own tests check.

use std::sync::Arc;
use std::time::{Duration, Instant};

use brolga_runtime::{Buffer, ClError, Context, HostPtr, Program, Queue};
use brolga_runtime_testing::*;
use opencl_sys::*;

/// `tree` enqueues two of itself and a marker behind a user event, and something behind the marker,
/// with all flags. Of what `lost` enqueues every second block waits for a user event that is never
/// set.
const SOURCE: &str = "
    void tree(global int *out, int depth) {
      atomic_inc(&out[0]);
      if (depth == 0) return;
      queue_t q = get_default_queue();
      clk_event_t user = create_user_event(), both[2], all;
      int flags = depth % 3 == 0 ? CLK_ENQUEUE_FLAGS_NO_WAIT
                : depth % 3 == 1 ? CLK_ENQUEUE_FLAGS_WAIT_KERNEL : CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP;
      enqueue_kernel(q, flags, ndrange_1D(1), 1, &user, &both[0], ^{ tree(out, depth - 1); });
      enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &user, &both[1], ^{ tree(out, depth - 1); });
      enqueue_marker(q, 2, both, &all);
      enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &all, NULL, ^{ atomic_inc(&out[1]); });
      set_user_event_status(user, CL_COMPLETE);
      release_event(user);
      release_event(both[0]);
      release_event(both[1]);
      release_event(all);
    }
    kernel void trees(global int *out) { tree(out, 6); }
    kernel void lost(global int *out) {
      queue_t q = get_default_queue();
      clk_event_t user = create_user_event();
      for (int i = 0; i < 20; i++) {
        enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &user, NULL, ^{ out[1] = 1; });
        enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(3), ^{ atomic_inc(&out[0]); });
      }
    }";

fn on_device(context: &Arc<Context>) -> Arc<Queue> {
    let properties =
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    Queue::new(
        context,
        context.device(),
        properties,
        Some(1 << 20),
        Vec::new(),
    )
    .unwrap()
}

/// Runs a kernel with one work-item; its status, and the two numbers that it left.
fn run(queue: &Arc<Queue>, program: &Arc<Program>, name: &str) -> (i32, Vec<u32>) {
    let out = Buffer::new(queue.context(), 0, 8, HostPtr::null(), Vec::new()).unwrap();
    let kernel = program.kernel(name).unwrap();
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    let event = queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[1]), None, &[])
        .unwrap();
    let _ = wait_for_events(&[Arc::clone(&event)]);
    (event.status(), words(queue, &out))
}

#[test]
fn many_threads_enqueue_trees_of_launches() {
    let context = context();
    let program = built(&context, SOURCE, "-cl-std=CL3.0");
    let on_device = on_device(&context);
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (context, program) = (&context, &program);
            scope.spawn(move || {
                let properties = match thread % 2 {
                    0 => 0,
                    _ => CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                };
                let queue = queue_with(context, properties);
                for _ in 0..20 {
                    if thread % 3 == 2 {
                        let (status, out) = run(&queue, program, "lost");
                        assert!(status < 0, "an event that is not set: {status}");
                        assert_eq!(out, [60, 0]);
                    } else {
                        // 2^7 - 1 trees; all but the leaves have something behind a marker.
                        assert_eq!(run(&queue, program, "trees"), (CL_COMPLETE, vec![127, 63]));
                    }
                }
            });
        }
    });
    // What holds what is no circle: without queues and programs, nothing holds the context.
    drop((program, on_device));
    let limit = Instant::now() + Duration::from_secs(20);
    while Arc::strong_count(&context) > 1 && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(Arc::strong_count(&context), 1);
}

#[test]
fn without_a_default_queue_nothing_is_enqueued() {
    let context = context();
    let program = built(&context, SOURCE, "-cl-std=CL3.0");
    let queue = queue(&context);
    assert_eq!(run(&queue, &program, "trees"), (CL_COMPLETE, vec![1, 0]));
    // A default queue that is gone is none.
    drop(on_device(&context));
    assert_eq!(run(&queue, &program, "trees"), (CL_COMPLETE, vec![1, 0]));
    let default = on_device(&context);
    assert_eq!(run(&queue, &program, "trees"), (CL_COMPLETE, vec![127, 63]));
    assert_eq!(queue.make_default(), Err(ClError::INVALID_COMMAND_QUEUE));
    assert_eq!(default.finish(), Err(ClError::INVALID_COMMAND_QUEUE));
    assert_eq!(
        default.enqueue_marker(&[]).map(|_| ()),
        Err(ClError::INVALID_COMMAND_QUEUE)
    );
}
