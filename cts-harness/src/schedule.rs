//! Sub-tests in parallel.
//!
//! Workers take sub-tests from one queue, in order. Sub-tests of suites that need the machine alone
//! form a second queue, which one worker empties after the first is done. What happens is reported
//! through a channel; the receiving end never holds a worker up.

use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::driver::{Driver, OTHER_DRIVERS};
use crate::process::{self, Limits};
use crate::results::{Outcome, TestResult};
use crate::suites::{Modules, Suite};
use crate::verdict;

/// Output beyond this ends a sub-test.
const OUTPUT_LIMIT: u64 = 256 << 20;
/// Of a longer output, the beginning (device, first error) and the end are read, this much of each.
const OUTPUT_READ: u64 = 256 << 10;

/// One sub-test to run.
#[derive(Debug, Clone)]
pub struct Job {
    pub suite: &'static Suite,
    pub test: String,
}

/// What is the same for every sub-test of a run.
#[derive(Debug)]
pub struct Setting<'a> {
    pub test_conformance: PathBuf,
    pub driver: &'a Driver,
    pub env: Vec<(String, String)>,
    /// Modules of suites that are [`Modules::BesideOrGiven`].
    pub spirv_binaries: Option<PathBuf>,
    /// Compiles sources to SPIR-V before the driver sees them.
    pub offline: Option<PathBuf>,
    /// For one sub-test, unless its suite has more patience.
    pub timeout: Duration,
    pub wimpy: bool,
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    Started {
        worker: usize,
        name: String,
    },
    Finished {
        worker: usize,
        result: TestResult,
        device: Option<String>,
    },
}

/// Runs all jobs, `workers` at a time, and reports to `events`.
///
/// # Errors
/// The first failure of the harness itself (no temporary folder, an executable that cannot be
/// started); what was under way is finished first.
pub fn run_all(
    jobs: Vec<Job>,
    workers: usize,
    setting: &Setting,
    events: Sender<Event>,
) -> Result<(), String> {
    let (alone, shared): (VecDeque<_>, VecDeque<_>) =
        jobs.into_iter().partition(|job| job.suite.alone);
    empty_queue(shared, workers, setting, &events)?;
    empty_queue(alone, 1, setting, &events)
}

fn empty_queue(
    queue: VecDeque<Job>,
    workers: usize,
    setting: &Setting,
    events: &Sender<Event>,
) -> Result<(), String> {
    let workers = workers.min(queue.len());
    let queue = Mutex::new(queue);
    let next = || {
        queue
            .lock()
            .expect("no worker panics with the queue locked")
            .pop_front()
    };
    let work = |worker: usize| -> Result<(), String> {
        while let Some(job) = next() {
            let name = format!("{}/{}", job.suite.name, job.test);
            // A receiver that has gone away has its own reason to; the run just ends.
            let heard = events.send(Event::Started { worker, name });
            let (result, device) = match run_one(&job, setting) {
                Ok(finished) => finished,
                Err(e) => {
                    queue
                        .lock()
                        .expect("no worker panics with the queue locked")
                        .clear();
                    return Err(e);
                }
            };
            if heard.is_err()
                || events
                    .send(Event::Finished {
                        worker,
                        result,
                        device,
                    })
                    .is_err()
            {
                break;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..workers)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        let ends = threads
            .into_iter()
            .map(|t| t.join().expect("a worker panicked"));
        ends.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Runs one sub-test in a folder of its own, because some write files where they stand.
fn run_one(job: &Job, setting: &Setting) -> Result<(TestResult, Option<String>), String> {
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let cwd = folder.path().join("cwd");
    std::fs::create_dir(&cwd).map_err(|e| format!("no temporary folder: {e}"))?;
    let (log, results) = (
        folder.path().join("log"),
        folder.path().join("results.json"),
    );
    let mut command = command_line(job, setting);
    command
        .current_dir(&cwd)
        .env("CL_CONFORMANCE_RESULTS_FILENAME", &results);
    let limits = Limits {
        time: setting.timeout * job.suite.patience,
        output_bytes: OUTPUT_LIMIT,
    };
    let (ending, time) = process::run(&mut command, &log, limits).map_err(|e| {
        format!(
            "cannot run {}: {e}",
            command.get_program().to_string_lossy()
        )
    })?;
    let output = read_output(&log).map_err(|e| format!("cannot read {}: {e}", log.display()))?;
    let report = std::fs::read_to_string(&results).ok();
    let outcome = verdict::classify(&job.test, ending, report.as_deref(), &output);
    let result = TestResult {
        suite: job.suite.name.into(),
        test: job.test.clone(),
        outcome,
        seconds: (time.as_secs_f64() * 1000.0).round() / 1000.0,
        ended: ending.to_string(),
        reason: verdict::reason(outcome, &output),
        output: if outcome == Outcome::Pass {
            String::new()
        } else {
            verdict::last_lines(&output)
        },
    };
    Ok((result, verdict::device(&output)))
}

fn command_line(job: &Job, setting: &Setting) -> Command {
    let executable = job.suite.executable(&setting.test_conformance);
    let mut command = Command::new(&executable);
    command.args(job.suite.args);
    if setting.wimpy {
        command.arg("-w");
    }
    let beside = executable.with_file_name("spirv_bin");
    let modules = match (job.suite.modules, &setting.spirv_binaries) {
        (Modules::None, _) => None,
        (Modules::BesideOrGiven, Some(given)) => Some(given),
        (Modules::Beside | Modules::BesideOrGiven, _) => Some(&beside),
    };
    if let Some(modules) = modules {
        command.arg("--spirv-binaries-path").arg(modules);
    }
    if let Some(program) = &setting.offline {
        command.args(["--compilation-mode", "spir-v", "--compilation-program"]);
        command.arg(program);
    }
    if job.suite.name_twice {
        command.arg(&job.test);
    }
    command.arg(&job.test);
    for name in OTHER_DRIVERS {
        command.env_remove(name);
    }
    command.envs(setting.driver.env.iter().map(|(k, v)| (k, v)));
    command.envs(setting.env.iter().map(|(k, v)| (k, v)));
    command
}

/// An output, or the two ends of a very long one.
fn read_output(log: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(log)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= 2 * OUTPUT_READ {
        file.read_to_end(&mut bytes)?;
    } else {
        file.by_ref().take(OUTPUT_READ).read_to_end(&mut bytes)?;
        bytes.extend_from_slice(b"\n[...]\n");
        file.seek(SeekFrom::End(-(OUTPUT_READ as i64)))?;
        file.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::SUITES;

    #[test]
    fn both_ends_of_a_long_output_are_read() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let text = format!("begin\n{}end\n", "x\n".repeat(OUTPUT_READ as usize * 2));
        std::fs::write(log.path(), &text).unwrap();
        let read = read_output(log.path()).unwrap();
        assert!(read.starts_with("begin\n") && read.ends_with("end\n"));
        assert!(read.len() < text.len());
        std::fs::write(log.path(), "short\n").unwrap();
        assert_eq!(read_output(log.path()).unwrap(), "short\n");
    }

    #[test]
    fn a_suite_gets_the_arguments_it_wants() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libdriver.so");
        std::fs::write(&library, "").unwrap();
        let driver = Driver::choose(&library, None).unwrap();
        let mut setting = Setting {
            test_conformance: "/cts".into(),
            driver: &driver,
            env: Vec::new(),
            spirv_binaries: None,
            offline: None,
            timeout: Duration::from_secs(1),
            wimpy: false,
        };
        let line = |suite: &str, setting: &Setting| {
            let suite = SUITES.iter().find(|s| s.name == suite).unwrap();
            let command = command_line(
                &Job {
                    suite,
                    test: "t".into(),
                },
                setting,
            );
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            words
                .map(|w| w.to_str().unwrap())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let spirv_new = "/cts/spirv_new/test_spirv_new --spirv-binaries-path";
        assert_eq!(line("basic", &setting), "/cts/basic/test_basic t");
        assert_eq!(
            line("spirv_new", &setting),
            format!("{spirv_new} /cts/spirv_new/spirv_bin t")
        );
        setting.offline = Some("/bin/clc".into());
        assert_eq!(
            line("basic", &setting),
            "/cts/basic/test_basic --compilation-mode spir-v --compilation-program /bin/clc t"
        );
        setting.offline = None;
        setting.spirv_binaries = Some("/given".into());
        setting.wimpy = true;
        assert_eq!(
            line("spirv_new", &setting),
            "/cts/spirv_new/test_spirv_new -w --spirv-binaries-path /given t"
        );
        assert_eq!(
            line("compiler", &setting),
            "/cts/compiler/test_compiler -w --spirv-binaries-path /cts/compiler/spirv_bin t"
        );
        assert_eq!(
            line("allocations_single", &setting),
            "/cts/allocations/test_allocations single 5 -w t"
        );
        assert_eq!(
            line("non_uniform_work_group", &setting),
            "/cts/non_uniform_work_group/test_non_uniform_work_group -w t t"
        );
    }
}
