//! What a launch costs: enqueue and finish of an empty kernel, streams of empty kernels, and large
//! transfers.
//!
//! `cargo bench -p brolga-runtime`

use std::time::Instant;

use brolga_runtime::Direction;
use brolga_runtime_testing::*;
use opencl_sys::CL_MEM_READ_WRITE;

/// Prints the median and the best of `samples` runs of `run`, each divided by `per_run`.
fn measure(what: &str, samples: usize, per_run: u32, mut run: impl FnMut()) {
    for _ in 0..samples / 10 + 1 {
        run();
    }
    let mut times: Vec<f64> = (0..samples)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e6 / f64::from(per_run)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{what:<56} median {:9.3} us   best {:9.3} us",
        times[times.len() / 2],
        times[0]
    );
}

fn main() {
    // `cargo test --benches` runs this too; it is enough then that it works.
    let quick = std::env::args().any(|argument| argument == "--test") || cfg!(debug_assertions);
    let samples = if quick { 10 } else { 20_000 };
    let context = context();
    let queue = queue_with(&context, 0);
    let empty = kernel(&context, "empty");
    let launch = |global: usize, local: usize| {
        queue
            .enqueue_nd_range(&empty, 1, None, Some(&[global]), Some(&[local]), &[])
            .unwrap()
    };
    measure(
        "empty kernel, 1 group: enqueue + finish",
        samples,
        1,
        || {
            launch(64, 64);
            queue.finish().unwrap();
        },
    );
    measure(
        "empty kernel, 1024 groups: enqueue + finish",
        samples,
        1,
        || {
            launch(1 << 16, 64);
            queue.finish().unwrap();
        },
    );
    measure(
        "empty kernel, no local size: enqueue + finish",
        samples,
        1,
        || {
            queue
                .enqueue_nd_range(&empty, 1, None, Some(&[1 << 16]), None, &[])
                .unwrap();
            queue.finish().unwrap();
        },
    );
    measure(
        "empty kernel: enqueue + wait for its event",
        samples,
        1,
        || {
            let event = launch(64, 64);
            brolga_runtime::wait_for_events(&[event]).unwrap();
        },
    );
    measure(
        "empty kernel: 1000 enqueues, one finish (each)",
        samples / 100 + 1,
        1000,
        || {
            for _ in 0..1000 {
                launch(64, 64);
            }
            queue.finish().unwrap();
        },
    );
    let recorded =
        brolga_runtime::CommandBuffer::new(vec![queue.clone()], false, Vec::new()).unwrap();
    let sizes = || Some(brolga_runtime::Sizes::from_slice(&[64]));
    let launch_of_64 = brolga_runtime::Launch {
        kernel: empty.clone(),
        work_dim: 1,
        offset: None,
        global: sizes(),
        local: sizes(),
    };
    for _ in 0..1000 {
        let site = Default::default();
        recorded.nd_range(&site, &launch_of_64).unwrap();
    }
    recorded.finalize().unwrap();
    measure(
        "empty kernel: command-buffer of 1000, enqueue + finish (each)",
        samples / 100 + 1,
        1000,
        || {
            recorded.enqueue(&[], &[]).unwrap();
            queue.finish().unwrap();
        },
    );
    measure("empty kernel: enqueue + flush + finish", samples, 1, || {
        launch(64, 64);
        queue.flush().unwrap();
        queue.finish().unwrap();
    });
    let slow = kernel(&context, "slow");
    slow.set_arg_value(0, &10u32.to_le_bytes()).unwrap();
    measure(
        "20 groups of 10 us (100 us on two threads)",
        samples / 20 + 1,
        1,
        || {
            queue
                .enqueue_nd_range(&slow, 1, None, Some(&[20]), Some(&[1]), &[])
                .unwrap();
            queue.finish().unwrap();
        },
    );
    for size in [4 << 10, 1 << 20, 64 << 20] {
        let null = brolga_runtime::HostPtr::null();
        let data = brolga_runtime::Buffer::new(&context, CL_MEM_READ_WRITE, size, null, Vec::new())
            .unwrap();
        let mut memory = vec![1u8; size];
        let pointer = host(&mut memory);
        let runs = if size > 1 << 20 {
            samples / 500
        } else {
            samples / 10
        } + 1;
        measure(
            &format!("write {} KiB, blocking", size >> 10),
            runs,
            1,
            || {
                let write = host_copy(Direction::Write, &data, 0, size, pointer);
                queue.submit_blocking(write, true, &[]).unwrap();
            },
        );
        measure(&format!("fill {} KiB, finish", size >> 10), runs, 1, || {
            let fill = fill(&data, &[1, 2, 3, 4], 0, size);
            queue.submit(fill, &[]).unwrap();
            queue.finish().unwrap();
        });
    }
}
