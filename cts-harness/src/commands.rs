//! The commands, put together from the other modules.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::args::{self, Command, RunOptions};
use crate::compare::Comparison;
use crate::driver::Driver;
use crate::expectations::Expectations;
use crate::listing;
use crate::progress::Progress;
use crate::report;
use crate::results::{self, Name, Run};
use crate::schedule::{self, Event, Job, Setting};
use crate::suites::{self, Suite};

/// Time between two looks of the live line, and between two saves of what is known so far.
const SHOW_INTERVAL: Duration = Duration::from_millis(200);
const SAVE_INTERVAL: Duration = Duration::from_secs(10);
/// Longest list of differences printed; the reports have all.
const ROWS_PRINTED: usize = 60;

/// What a command found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Nothing is worse than before.
    AsExpected,
    Worse,
}

/// Carries out a command.
///
/// # Errors
/// A sentence that says what could not be done.
pub fn execute(command: Command) -> Result<Finding, String> {
    match command {
        Command::Help => {
            print!("{}", args::HELP);
            Ok(Finding::AsExpected)
        }
        Command::List { cts, suites } => list(&cts, &suites),
        Command::Run(options) => run(&options),
        Command::Compare { before, after } => compare(&before, &after),
        Command::Report {
            results,
            expectations,
            record,
            out,
        } => {
            let run = Run::load(&results)?;
            conclude(&run, expectations.as_deref(), record, &out)
        }
    }
}

/// The folder with the suites: the one given, or `test_conformance` in it.
fn test_conformance(cts: &Path) -> Result<PathBuf, String> {
    let inner = cts.join("test_conformance");
    let folder = if inner.is_dir() {
        inner
    } else {
        cts.to_path_buf()
    };
    folder
        .canonicalize()
        .map_err(|e| format!("no CTS build at {}: {e}", cts.display()))
}

fn list(cts: &Path, asked: &[String]) -> Result<Finding, String> {
    let folder = test_conformance(cts)?;
    let mut output = std::io::stdout().lock();
    for suite in suites::choose(asked, &folder)? {
        for test in listing::sub_tests(suite, &folder, false)? {
            // Whoever reads it may have seen enough.
            match writeln!(output, "{}/{test}", suite.name) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    return Ok(Finding::AsExpected);
                }
                written => written.map_err(|error| error.to_string())?,
            }
        }
    }
    Ok(Finding::AsExpected)
}

fn compare(before: &Path, after: &Path) -> Result<Finding, String> {
    let (before, after) = (Run::load(before)?, Run::load(after)?);
    let comparison = Comparison::between(&before.outcomes(), &after.outcomes(), |name| {
        after.covers(name)
    });
    print_comparison(&comparison);
    Ok(finding(&comparison))
}

fn finding(comparison: &Comparison) -> Finding {
    if comparison.worse.is_empty() {
        Finding::AsExpected
    } else {
        Finding::Worse
    }
}

fn print_comparison(comparison: &Comparison) {
    let rows = comparison.rows();
    for (kind, name, what) in rows.iter().take(ROWS_PRINTED) {
        println!("{kind:>9}  {name}: {what}");
    }
    if rows.len() > ROWS_PRINTED {
        println!("           and {} more", rows.len() - ROWS_PRINTED);
    }
    println!("{}", comparison.summary());
}

fn run(options: &RunOptions) -> Result<Finding, String> {
    let folder = test_conformance(&options.cts)?;
    let chosen = suites::choose(&options.suites, &folder)?;
    let driver = Driver::choose(&options.driver, options.loader.as_deref())?;
    let expectations = match &options.expectations {
        Some(path) => Expectations::load(path)?,
        None => Expectations::default(),
    };
    // Sub-tests run in folders of their own, where a relative path would mean something else.
    let absolute = |path: &Option<PathBuf>, what: &str| match path {
        Some(path) => match path.canonicalize() {
            Ok(path) => Ok(Some(path)),
            Err(e) => Err(format!("no {what} at {}: {e}", path.display())),
        },
        None => Ok(None),
    };
    let spirv_binaries = absolute(&options.spirv_binaries, "SPIR-V binaries")?;
    let offline = absolute(&options.offline, "offline compiler")?;
    std::fs::create_dir_all(&options.out)
        .map_err(|e| format!("cannot make {}: {e}", options.out.display()))?;
    let filters = filters(options)?;
    let jobs = plan(&chosen, &folder, &filters, options.wimpy)?;
    let setting = Setting {
        test_conformance: folder,
        driver: &driver,
        env: options.env.clone(),
        spirv_binaries,
        offline,
        timeout: options.timeout,
        wimpy: options.wimpy,
    };
    let run = Run {
        driver: driver.name.clone(),
        device: None,
        started: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |t| t.as_secs()),
        seconds: 0.0,
        timeout: options.timeout.as_secs_f64(),
        jobs: options.jobs,
        wimpy: options.wimpy,
        suites: chosen.iter().map(|s| s.name.into()).collect(),
        filters,
        complete: false,
        results: Vec::new(),
    };
    let run = carry_out(
        run,
        jobs,
        &setting,
        &expectations,
        &options.out.join("results.json"),
    )?;
    conclude(
        &run,
        options.expectations.as_deref(),
        options.record,
        &options.out,
    )
}

/// The filters asked for, and the names of what failed in an earlier run.
fn filters(options: &RunOptions) -> Result<Vec<String>, String> {
    let mut filters = options.filters.clone();
    if let Some(path) = &options.failed_in {
        let earlier = Run::load(path)?;
        let failed = earlier.results.iter().filter(|r| r.outcome.is_failure());
        filters.extend(failed.map(|r| r.name().to_string()));
        if filters.is_empty() {
            return Err(format!("nothing failed in {}", path.display()));
        }
    }
    Ok(filters)
}

/// Every sub-test to run.
fn plan(
    chosen: &[&'static Suite],
    folder: &Path,
    filters: &[String],
    wimpy: bool,
) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for &suite in chosen {
        for test in listing::sub_tests(suite, folder, wimpy)? {
            if results::selected(filters, &format!("{}/{test}", suite.name)) {
                jobs.push(Job { suite, test });
            }
        }
    }
    if jobs.is_empty() {
        return Err(format!(
            "no sub-test of the suites chosen contains any of {filters:?}"
        ));
    }
    Ok(jobs)
}

/// Runs the jobs, shows how it goes and keeps the results file up to date, so that an interrupted
/// run is not lost.
fn carry_out(
    mut run: Run,
    jobs: Vec<Job>,
    setting: &Setting,
    expectations: &Expectations,
    save_to: &Path,
) -> Result<Run, String> {
    let mut progress = Progress::new(jobs.len());
    let (start, mut saved) = (Instant::now(), Instant::now());
    let (events, received) = mpsc::channel();
    std::thread::scope(|scope| {
        let workers = run.jobs;
        let work = scope.spawn(move || schedule::run_all(jobs, workers, setting, events));
        loop {
            match received.recv_timeout(SHOW_INTERVAL) {
                Ok(Event::Started { worker, name }) => progress.started(worker, name),
                Ok(Event::Finished {
                    worker,
                    result,
                    device,
                }) => {
                    progress.finished(worker, result.outcome);
                    let expected = expectations.get(&result.name());
                    if let Some(expected) =
                        expected.filter(|e| e.outcome.rank() > result.outcome.rank())
                    {
                        let name = result.name();
                        progress.say(&format!(
                            "worse: {name}: expected {}, got {} ({})",
                            expected.outcome, result.outcome, result.ended
                        ));
                    }
                    run.device = run.device.take().or(device);
                    run.results.push(result);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            progress.show();
            if saved.elapsed() >= SAVE_INTERVAL {
                run.seconds = start.elapsed().as_secs_f64().round();
                run.save(save_to)?;
                saved = Instant::now();
            }
        }
        work.join().expect("a worker panicked")
    })?;
    progress.end();
    run.results.sort_by_key(|result| result.name());
    run.seconds = start.elapsed().as_secs_f64().round();
    run.complete = true;
    run.save(save_to)?;
    Ok(run)
}

/// Compares, writes the reports, records if asked to, and says what was found.
fn conclude(
    run: &Run,
    expected: Option<&Path>,
    record: bool,
    out: &Path,
) -> Result<Finding, String> {
    std::fs::create_dir_all(out).map_err(|e| format!("cannot make {}: {e}", out.display()))?;
    let mut expectations = Expectations::default();
    let mut comparison = None;
    if let Some(path) = expected {
        expectations = Expectations::load(path)?;
        let known = expectations.outcomes();
        let covered = |name: &Name| run.complete && run.covers(name);
        comparison = Some(Comparison::between(&known, &run.outcomes(), covered));
    }
    for (name, text) in [
        (
            "summary.md",
            report::markdown(run, comparison.as_ref(), &expectations),
        ),
        (
            "report.html",
            report::html(run, comparison.as_ref(), &expectations),
        ),
    ] {
        let file = out.join(name);
        std::fs::write(&file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    }
    println!("{}", report::totals(run));
    println!("reports in {}", out.display());
    let Some(comparison) = comparison else {
        return Ok(Finding::AsExpected);
    };
    print_comparison(&comparison);
    if let Some(path) = expected.filter(|_| record) {
        expectations.record(run);
        std::fs::write(path, expectations.print())
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        println!("recorded in {}", path.display());
    }
    Ok(finding(&comparison))
}
