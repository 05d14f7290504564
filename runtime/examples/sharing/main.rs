//! What sharing a launch between many threads costs: a discrete-event model of claims and
//! wake-ups, with the costs of the machine that it runs on.
//!
//! The driver runs on machines with more processors than most that it is written on. What happens
//! there follows from few costs: what it takes to wake a thread, to move a cache line from one
//! processor to another, to look at the clock. `costs.rs` measures them, `model.rs` plays a launch
//! with any number of threads, chunk by chunk, with the driver's own chunk scheduler. The tables
//! show the scheduler as it is beside the one that it replaced: which woke one thread at a time,
//! and counted what was done after each chunk, on the line that chunks are claimed from.
//!
//! Where the model can be compared with the driver, on the threads that there are, it is.
//!
//! `cargo run --release -p brolga-runtime --example sharing`

mod costs;
mod model;

use std::time::Instant;

use brolga_runtime_testing::{context, kernel, queue_with};
use costs::Costs;
use model::{Launch, Scheduler};

/// Nanoseconds that a work-group takes.
const GROUP: u64 = 1_000;

fn main() {
    let costs = Costs::measure(launch_nothing());
    println!("{costs}\n");
    println!("Launches of groups of 1 us, by the thread time that they take altogether.");
    println!(
        "time: from the enqueue to the end of the wait. a group: thread time lost for each group."
    );
    println!("efficiency: of the threads that the work is worth (one for each 10 us).\n");
    println!(
        "| threads | work, us | worth | time, us: before | now | a group, ns: before | now | efficiency: before | now |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for threads in [2, 16, 64, 128] {
        for microseconds in [1, 10, 100, 1_000, 10_000] {
            let launch = Launch {
                threads,
                groups: microseconds * 1_000 / GROUP,
                group: GROUP,
            };
            let before = model::play(Scheduler::Before, launch, &costs);
            let now = model::play(Scheduler::Now, launch, &costs);
            println!(
                "| {threads} | {microseconds} | {} | {:.1} | {:.1} | {:.0} | {:.0} | {:.0} % | {:.0} % |",
                launch.worth(),
                before.time as f64 / 1e3,
                now.time as f64 / 1e3,
                before.lost_per_group(launch),
                now.lost_per_group(launch),
                before.efficiency(launch) * 100.0,
                now.efficiency(launch) * 100.0,
            );
        }
    }
    println!(
        "\nUntil all threads are at work, us: {}",
        all_at_work(&costs)
    );
    compare(&costs);
}

/// How long it takes until every thread has its first chunk, if there is enough for all.
fn all_at_work(costs: &Costs) -> String {
    let cases = [2, 16, 64, 128].map(|threads| {
        let launch = Launch {
            threads,
            groups: 1_000_000,
            group: GROUP,
        };
        let time = |scheduler| model::play(scheduler, launch, costs).all_at_work as f64 / 1e3;
        let (before, now) = (time(Scheduler::Before), time(Scheduler::Now));
        format!("{threads} threads {before:.1} before, {now:.1} now")
    });
    cases.join("; ")
}

/// The best time of many, nanoseconds.
fn best(count: usize, mut run: impl FnMut()) -> u64 {
    let times = (0..count).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as u64
    });
    times.min().unwrap_or(0)
}

/// Nanoseconds that enqueuing an empty kernel of one group and waiting for it take.
fn launch_nothing() -> u64 {
    let context = context();
    let queue = queue_with(&context, 0);
    let empty = kernel(&context, "empty");
    best(20_000, || {
        queue
            .enqueue_nd_range(&empty, 1, None, Some(&[1]), Some(&[1]), &[])
            .unwrap();
        queue.finish().unwrap();
    })
}

/// The model beside the driver, with as many threads as the driver has here.
fn compare(costs: &Costs) {
    let context = context();
    let queue = queue_with(&context, 0);
    let slow = kernel(&context, "slow");
    slow.set_arg_value(0, &(GROUP as u32 / 1_000).to_le_bytes())
        .unwrap();
    let threads = context.device().max_compute_units;
    println!("\n| {threads} threads, work, us | model, us | driver, us (best, median) |");
    println!("| ---: | ---: | ---: |");
    for microseconds in [1, 10, 100, 1_000, 10_000] {
        let launch = Launch {
            threads,
            groups: microseconds * 1_000 / GROUP,
            group: GROUP,
        };
        let mut times: Vec<u64> = (0..(400_000 / microseconds).clamp(40, 4_000))
            .map(|_| {
                best(1, || {
                    let groups = launch.groups as usize;
                    queue
                        .enqueue_nd_range(&slow, 1, None, Some(&[groups]), Some(&[1]), &[])
                        .unwrap();
                    queue.finish().unwrap();
                })
            })
            .collect();
        times.sort_unstable();
        println!(
            "| {microseconds} | {:.1} | {:.1}, {:.1} |",
            model::play(Scheduler::Now, launch, costs).time as f64 / 1e3,
            times[0] as f64 / 1e3,
            times[times.len() / 2] as f64 / 1e3,
        );
    }
}
