//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

/// What `--help` prints.
pub const HELP: &str = "\
Runs the Khronos OpenCL CTS, one sub-test a process, and compares with recorded expectations.

cts-harness run --cts DIR --driver FILE [options]   run suites against a driver
cts-harness list --cts DIR [--suites A,B]           suites of a build and their sub-tests
cts-harness compare A.json B.json                   what B does better and worse than A
cts-harness report RESULTS.json --out DIR [--expectations FILE] [--record]
                                                    write the reports of an earlier run again

  --cts DIR              the CTS build: the folder that holds test_conformance, or that folder
  --driver FILE          the driver: its shared library, or an .icd file that names it
  --loader FILE          the ICD loader (libOpenCL.so.1) to use in place of the build's own
  --suites A,B           these suites only; default: all that the build has, without those of
                         the largest images (`all` for every suite, a trailing * for all with
                         a prefix)
  --filter TEXT          only sub-tests whose suite/name contains TEXT; may be repeated
  --failed-in FILE       only sub-tests that neither passed nor skipped in that results.json
  --jobs N               sub-tests at a time; default: the number of processors
  --timeout SECONDS      for one sub-test; default 120; some suites have five or ten times as
                         long, those of the largest images sixty times
  --wimpy                the CTS's fast mode; leaves out a sub-test that has a quick_ twin
  --env NAME=VALUE       set for every sub-test; may be repeated
  --spirv-binaries DIR   where spirv_new finds its modules; default: its own spirv_bin
  --offline PROGRAM      sources are compiled to SPIR-V by this program, such as brolga-clc,
                         and the driver gets modules only
  --expectations FILE    compare with these; exit status 1 if anything is worse
  --record               then bring that file up to what this run found, causes kept
  --out DIR              where results.json, summary.md and report.html go; default cts-results
";

/// What to do.
#[derive(Debug)]
pub enum Command {
    Help,
    Run(Box<RunOptions>),
    List {
        cts: PathBuf,
        suites: Vec<String>,
    },
    Compare {
        before: PathBuf,
        after: PathBuf,
    },
    Report {
        results: PathBuf,
        expectations: Option<PathBuf>,
        record: bool,
        out: PathBuf,
    },
}

/// Everything `run` can be told.
#[derive(Debug)]
pub struct RunOptions {
    pub cts: PathBuf,
    pub driver: PathBuf,
    pub loader: Option<PathBuf>,
    pub suites: Vec<String>,
    pub filters: Vec<String>,
    /// Results of an earlier run, to run again what did not pass there.
    pub failed_in: Option<PathBuf>,
    pub jobs: usize,
    pub timeout: Duration,
    pub wimpy: bool,
    pub env: Vec<(String, String)>,
    pub spirv_binaries: Option<PathBuf>,
    /// The offline compiler that the tests call; `None`: the driver gets sources.
    pub offline: Option<PathBuf>,
    pub expectations: Option<PathBuf>,
    pub record: bool,
    pub out: PathBuf,
}

/// Every option as written, before it is known which command wants which.
#[derive(Default)]
struct Raw {
    words: Vec<OsString>,
    help: bool,
    cts: Option<PathBuf>,
    driver: Option<PathBuf>,
    loader: Option<PathBuf>,
    suites: Vec<String>,
    filters: Vec<String>,
    failed_in: Option<PathBuf>,
    jobs: Option<usize>,
    timeout: Option<f64>,
    wimpy: bool,
    env: Vec<(String, String)>,
    spirv_binaries: Option<PathBuf>,
    offline: Option<PathBuf>,
    expectations: Option<PathBuf>,
    record: bool,
    out: Option<PathBuf>,
}

/// Reads a command line, without the program's own name.
///
/// # Errors
/// A sentence that names the option and what was expected of it.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let raw = read(args).map_err(|e| format!("{e} (see --help)"))?;
    if raw.help {
        return Ok(Command::Help);
    }
    let mut words = raw.words.into_iter();
    let command = words
        .next()
        .ok_or("no command given; expected run, list, compare or report (see --help)")?;
    let mut file = |what: &str| {
        words
            .next()
            .map(PathBuf::from)
            .ok_or(format!("{}: expected {what}", command.to_string_lossy()))
    };
    let need = |path: Option<PathBuf>, option: &str| {
        path.ok_or(format!(
            "{}: expected {option} (see --help)",
            command.to_string_lossy()
        ))
    };
    let parsed = match command.to_str() {
        Some("list") => Command::List {
            cts: need(raw.cts, "--cts DIR")?,
            suites: raw.suites,
        },
        Some("compare") => Command::Compare {
            before: file("two results files, the first is missing")?,
            after: file("two results files, the second is missing")?,
        },
        Some("report") => Command::Report {
            results: file("a results file")?,
            expectations: raw.expectations,
            record: raw.record,
            out: need(raw.out, "--out DIR")?,
        },
        Some("run") => {
            if raw.record && raw.expectations.is_none() {
                return Err("--record needs --expectations FILE, the file to record in".into());
            }
            Command::Run(Box::new(RunOptions {
                cts: need(raw.cts, "--cts DIR")?,
                driver: need(raw.driver, "--driver FILE")?,
                loader: raw.loader,
                suites: raw.suites,
                filters: raw.filters,
                failed_in: raw.failed_in,
                jobs: match raw.jobs {
                    Some(0) => return Err("--jobs is 0; expected at least 1".into()),
                    Some(jobs) => jobs,
                    None => std::thread::available_parallelism().map_or(1, usize::from),
                },
                timeout: Duration::try_from_secs_f64(raw.timeout.unwrap_or(120.0))
                    .ok()
                    .filter(|t| !t.is_zero())
                    .ok_or("--timeout is not a positive number of seconds")?,
                wimpy: raw.wimpy,
                env: raw.env,
                spirv_binaries: raw.spirv_binaries,
                offline: raw.offline,
                expectations: raw.expectations,
                record: raw.record,
                out: raw.out.unwrap_or_else(|| "cts-results".into()),
            }))
        }
        _ => {
            return Err(format!(
                "unknown command {:?}; expected run, list, compare or report",
                command.to_string_lossy()
            ));
        }
    };
    match words.next() {
        Some(extra) => Err(format!("unexpected argument {:?}", extra.to_string_lossy())),
        None => Ok(parsed),
    }
}

fn read(args: impl IntoIterator<Item = OsString>) -> Result<Raw, lexopt::Error> {
    let mut raw = Raw::default();
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => raw.help = true,
            Long("cts") => raw.cts = Some(parser.value()?.into()),
            Long("driver") => raw.driver = Some(parser.value()?.into()),
            Long("loader") => raw.loader = Some(parser.value()?.into()),
            Long("suites") => {
                let list = parser.value()?.string()?;
                raw.suites
                    .extend(list.split(',').filter(|s| !s.is_empty()).map(String::from));
            }
            Long("filter") => raw.filters.push(parser.value()?.string()?),
            Long("failed-in") => raw.failed_in = Some(parser.value()?.into()),
            Long("jobs") => raw.jobs = Some(parser.value()?.parse()?),
            Long("timeout") => raw.timeout = Some(parser.value()?.parse()?),
            Long("wimpy") => raw.wimpy = true,
            Long("env") => {
                let pair = parser.value()?.string()?;
                let (name, value) = pair
                    .split_once('=')
                    .ok_or(format!("--env {pair:?} has no '='; expected NAME=VALUE"))?;
                raw.env.push((name.into(), value.into()));
            }
            Long("spirv-binaries") => raw.spirv_binaries = Some(parser.value()?.into()),
            Long("offline") => raw.offline = Some(parser.value()?.into()),
            Long("expectations") => raw.expectations = Some(parser.value()?.into()),
            Long("record") => raw.record = true,
            Long("out") => raw.out = Some(parser.value()?.into()),
            Value(word) => raw.words.push(word),
            other => return Err(other.unexpected()),
        }
    }
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn run_takes_its_options() {
        let Ok(Command::Run(run)) = parse_words(
            "run --cts c --driver d.so --suites basic,api --suites half --filter x --jobs 3 \
             --timeout 1.5 --wimpy --env A=b=c --offline clc",
        ) else {
            panic!("not read as a run");
        };
        assert_eq!(run.suites, ["basic", "api", "half"]);
        assert_eq!(run.filters, ["x"]);
        assert_eq!(run.jobs, 3);
        assert_eq!(run.timeout, Duration::from_millis(1500));
        assert!(run.wimpy);
        assert_eq!(run.env, [("A".to_string(), "b=c".to_string())]);
        assert_eq!(run.out, PathBuf::from("cts-results"));
        assert_eq!(run.offline, Some(PathBuf::from("clc")));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, expected) in [
            ("", "no command"),
            ("walk", "unknown command \"walk\""),
            ("run --driver d", "run: expected --cts DIR"),
            ("run --cts c", "run: expected --driver FILE"),
            ("run --cts c --driver d --jobs 0", "--jobs is 0"),
            (
                "run --cts c --driver d --timeout 0",
                "positive number of seconds",
            ),
            (
                "run --cts c --driver d --timeout -1",
                "positive number of seconds",
            ),
            ("run --cts c --driver d --env A", "expected NAME=VALUE"),
            (
                "run --cts c --driver d --record",
                "--record needs --expectations",
            ),
            (
                "run --cts c --driver d more",
                "unexpected argument \"more\"",
            ),
            ("run --cts c --driver d --nonsense", "--nonsense"),
            ("compare a.json", "the second is missing"),
            ("report a.json", "expected --out DIR"),
        ] {
            let error = parse_words(line).expect_err(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
