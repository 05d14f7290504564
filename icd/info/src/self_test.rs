//! Kernels whose results are known, run through the loader as an application's would be. They take
//! a second altogether, and each needs something else to work: lanes of vectors, barriers and
//! work-group memory, atomics from all threads, built-in functions, branches that diverge.

use std::time::{Duration, Instant};

use brolga_icd_testing::host::{Kernel, Platform, Program, Result, Session};
use brolga_runtime::binary::BUILD;

use crate::page::Page;

const KERNELS: &str = include_str!("self_test.cl");

/// Whether a kernel's results are right, and how long a launch of it takes at best.
type Outcome = (bool, Duration);

type Test = fn(&Session, &Program) -> Result<Outcome>;

/// Work-items of a launch.
const COUNT: usize = 1 << 18;

/// Of a work-group, where it matters.
const GROUP: usize = 64;

/// How long each kernel is launched again and again, which has all threads at work.
const TIME: Duration = Duration::from_millis(150);

/// Prints what the driver says of itself, and runs the kernels if `runs`; whether all is well.
pub fn describe(page: &mut Page, driver: Platform, runs: bool) -> bool {
    page.section("driver");
    let session = match driver.open_cpu() {
        Ok(session) => session,
        Err(why) => {
            page.line("cannot be used", why);
            return false;
        }
    };
    if let Err(why) = describe_device(page, &session) {
        page.line("does not answer", why);
        return false;
    }
    if !runs {
        return true;
    }
    page.section("self-test");
    let results = run(page, &session);
    results.unwrap_or_else(|why| {
        page.line("failed", why);
        false
    })
}

fn describe_device(page: &mut Page, session: &Session) -> Result<()> {
    let version = session.driver_version()?;
    let same = match version == BUILD {
        true => "the build that this program is of".to_owned(),
        false => format!("NOT the build that this program is of, {BUILD}"),
    };
    page.line("build", format!("{version}\n{same}"));
    page.line("device", session.device_name()?);
    page.line("threads", session.compute_units()?);
    page.line(
        "work-group",
        format!("{} work-items at most", session.max_work_group_size()?),
    );
    Ok(())
}

fn run(page: &mut Page, session: &Session) -> Result<bool> {
    let start = Instant::now();
    let program = session.build_source(KERNELS, "-cl-std=CL1.2 -cl-brolga-remarks")?;
    page.line("build", format!("{:.1} ms", milliseconds(start.elapsed())));
    let tests: [(&str, Test); 4] = [
        ("hash", hash),
        ("reduce", reduce),
        ("count", count),
        ("functions", functions),
    ];
    let mut all_right = true;
    for (name, test) in tests {
        let (right, best) = test(session, &program)?;
        all_right &= right;
        let said = if right { "right" } else { "WRONG" };
        page.line(name, format!("{said}, {:.3} ms", milliseconds(best)));
    }
    page.line("how they were run", session.build_log(&program)?.trim());
    Ok(all_right)
}

fn milliseconds(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

/// The shortest of the launches that fit into [`TIME`], at least one.
fn best(session: &Session, kernel: &Kernel, group: &[usize]) -> Result<Duration> {
    let (begin, mut best) = (Instant::now(), Duration::MAX);
    while begin.elapsed() < TIME {
        let start = Instant::now();
        session.launch(kernel, &[COUNT], group)?;
        session.finish()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// A loop whose length differs between work-items.
fn hash(session: &Session, program: &Program) -> Result<Outcome> {
    let results = session.buffer::<u32>(COUNT)?;
    let kernel = program.kernel("hash")?.buffer(&results)?;
    let time = best(session, &kernel, &[])?;
    let expected = (0..COUNT as u32).map(|item| {
        let rounds = item % 13;
        (0..rounds).fold(item, |hash, _| {
            (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d)
        })
    });
    Ok((expected.eq(session.read(&results)?), time))
}

/// Sums of work-groups, by way of work-group memory.
fn reduce(session: &Session, program: &Program) -> Result<Outcome> {
    let sums = session.buffer::<u32>(COUNT / GROUP)?;
    let kernel = program
        .kernel("reduce")?
        .buffer(&sums)?
        .local(GROUP * size_of::<u32>())?;
    let time = best(session, &kernel, &[GROUP])?;
    let of_group = |group: usize| {
        (0..GROUP)
            .map(|item| (group * GROUP + item) as u32)
            .sum::<u32>()
    };
    let expected = (0..COUNT / GROUP).map(of_group);
    Ok((expected.eq(session.read(&sums)?), time))
}

/// One counter for each remainder, of all work-items together.
fn count(session: &Session, program: &Program) -> Result<Outcome> {
    let counters = session.buffer_from(&[0_u32; 16])?;
    let kernel = program.kernel("count")?.buffer(&counters)?;
    let time = best(session, &kernel, &[])?;
    session.write(&counters, &[0; 16])?;
    session.launch(&kernel, &[COUNT], &[])?;
    let right = session.read(&counters)? == [COUNT as u32 / 16; 16];
    Ok((right, time))
}

/// Built-in functions of both precisions, within what the specification allows them together.
fn functions(session: &Session, program: &Program) -> Result<Outcome> {
    let results = session.buffer::<f32>(COUNT)?;
    let kernel = program.kernel("functions")?.buffer(&results)?;
    let time = best(session, &kernel, &[])?;
    let expected = (0..COUNT).map(|item| {
        let x = item as f64 / COUNT as f64;
        x.sin() + x.exp() + (1.0 + x).sqrt() + (1.0 + x).ln()
    });
    let close = |(result, expected): (&f32, f64)| (f64::from(*result) - expected).abs() < 4e-6;
    Ok((
        session.read(&results)?.iter().zip(expected).all(close),
        time,
    ))
}
