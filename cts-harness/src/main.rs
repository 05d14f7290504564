//! Runs the Khronos OpenCL conformance test suite (CTS) against one driver.
//!
//! In: the folder of a CTS build, and a driver (a shared library or an `.icd` file). Out:
//! `results.json`, `summary.md` and `report.html`, and what got better and worse against a recorded
//! expectations file. Every sub-test is one process with a time limit.
//!
//! What lives where, in the order in which a run passes through it:
//!
//! | file | about |
//! | --- | --- |
//! | `args.rs` | the command line |
//! | `suites.rs` | the table of suites: executable, arguments, peculiarities |
//! | `driver.rs` | the environment that makes the ICD loader see one driver only |
//! | `listing.rs` | which sub-tests a suite has |
//! | `process.rs` | one process, its time limit, and the end of its whole process group |
//! | `verdict.rs` | from an exit, a results file and an output to pass, fail, skip, crash or timeout |
//! | `schedule.rs` | sub-tests in parallel, the ones that need the machine alone afterwards |
//! | `progress.rs` | what is shown meanwhile |
//! | `results.rs` | what a run found: the data, and its JSON file |
//! | `expectations.rs` | the recorded expectations: a text file with causes |
//! | `compare.rs` | better, worse, new, missing |
//! | `report/` | Markdown and HTML |
//! | `commands.rs` | `list`, `run`, `compare` and `report`, put together from the above |
//!
//! Start with `commands.rs`. The exit status is 0, or 1 when something got worse, or 2 when the
//! harness itself could not do what it was asked.

mod args;
mod commands;
mod compare;
mod driver;
mod expectations;
mod listing;
mod process;
mod progress;
mod report;
mod results;
mod schedule;
mod suites;
mod verdict;

use std::process::ExitCode;

fn main() -> ExitCode {
    let done = args::parse(std::env::args_os().skip(1)).and_then(commands::execute);
    match done {
        Ok(commands::Finding::AsExpected) => ExitCode::SUCCESS,
        Ok(commands::Finding::Worse) => ExitCode::from(1),
        Err(message) => {
            eprintln!("cts-harness: {message}");
            ExitCode::from(2)
        }
    }
}
