//! The local size that the driver chooses when the application gives none, beside ones given by
//! hand.
//!
//! Only benchmarks that leave it open are measured. All sizes are tried in one process, in turn.

use brolga_icd_testing::drivers::{self, Candidate};
use brolga_icd_testing::host::Result;
use serde_json::{Value, json};

use crate::{Arguments, wanted};

/// What an application might give in one dimension, and in two.
const GIVEN: [&[&[usize]]; 2] = [
    &[&[16], &[64], &[128], &[256], &[512], &[1024], &[4096]],
    &[
        &[8, 8],
        &[16, 16],
        &[32, 32],
        &[64, 1],
        &[64, 4],
        &[256, 1],
        &[256, 4],
        &[1024, 1],
        &[4, 64],
    ],
];

/// Prints for each benchmark the time with the chosen size, the best of the others, and how many
/// times as long the first took.
pub fn compare(arguments: &Arguments) -> Result<()> {
    let driver = drivers::find(&arguments.drivers)?.into_iter().next();
    let mut candidate = Candidate::start(&driver.ok_or("no driver found")?)?;
    println!(
        "{:<20}{:>14}{:>14}{:>12}{:>10}",
        "kernel", "none given", "best given", "size", "ratio"
    );
    for name in wanted(arguments) {
        let request = json!({ "do": "open size", "kernel": name });
        let Some(answer) = candidate.measure(&name, &request) else {
            continue;
        };
        let global = sizes(&answer);
        if global.is_empty() {
            continue;
        }
        let fits = |local: &&&[usize]| {
            let mut pairs = global.iter().zip(**local);
            pairs.all(|(global, local)| global % local == 0)
        };
        let label = |local: &[usize]| format!("{name} {local:?}");
        let given = GIVEN[global.len() - 1].iter().filter(fits);
        let tried: Vec<&[usize]> = std::iter::once(&[][..]).chain(given.copied()).collect();
        for _ in 0..arguments.rounds {
            for &local in &tried {
                let request = json!({ "do": "measure", "kernel": name, "seconds": arguments.seconds, "local": local });
                if let Some(answer) = candidate.measure(&label(local), &request) {
                    candidate.record(&label(local), &answer);
                }
            }
        }
        let times: Vec<(f64, &[usize])> = tried
            .iter()
            .filter_map(|&local| Some((candidate.result(&label(local))?.best, local)))
            .collect();
        let Some((&(chosen, []), others)) = times.split_first() else {
            continue;
        };
        let Some(&(best, size)) = others.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
            continue;
        };
        println!(
            "{name:<20}{:>11.1} us{:>11.1} us{:>12}{:>9.2}x",
            chosen * 1e6,
            best * 1e6,
            size.iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join("x"),
            chosen / best
        );
    }
    println!("\nRatio: below 1.1 the chosen size is within 10 % of the best of those tried.");
    Ok(())
}

/// Sizes in JSON; none if they are not there.
pub fn sizes(value: &Value) -> Vec<usize> {
    let sizes = value.as_array().into_iter().flatten();
    sizes
        .filter_map(Value::as_u64)
        .map(|size| size as usize)
        .collect()
}
