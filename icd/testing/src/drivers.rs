//! Finding drivers, and processes that measure them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::host::{Cl, Platform, Result, Session};

/// Starts an answer, as drivers may print to standard output too.
const ANSWER: &str = "@answer ";

/// A request that takes longer means that the driver hangs.
const TIME_LIMIT: Duration = Duration::from_secs(180);

/// A driver to measure: its library and the environment it runs in.
#[derive(Clone)]
pub struct Driver {
    /// For the report's columns.
    pub label: String,
    pub library: PathBuf,
    pub environment: Vec<(String, String)>,
}

/// Brolga (built beside this program), then whatever else is registered or named, each library
/// once.
pub fn find(named: &[PathBuf]) -> Result<Vec<Driver>> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    // Beside target/release/examples/bench. Cargo puts the library that it builds for an example
    // into `deps` only, and copies the one of `cargo build` one folder up: the newer of the two is
    // the current one.
    let modified = |path: &PathBuf| path.metadata().and_then(|m| m.modified()).ok();
    let brolga = program
        .parent()
        .and_then(Path::parent)
        .into_iter()
        .flat_map(|target| ["libbrolga.so", "deps/libbrolga.so"].map(|name| target.join(name)))
        .filter(|path| path.is_file())
        .max_by_key(modified);
    let mut libraries: Vec<PathBuf> = brolga.into_iter().collect();
    for path in named {
        libraries.push(if path.extension().is_some_and(|e| e == "icd") {
            read_icd(path)?
        } else {
            path.clone()
        });
    }
    let mut folders = vec![PathBuf::from("/etc/OpenCL/vendors")];
    folders.extend(std::env::var_os("OCL_ICD_VENDORS").map(PathBuf::from));
    for folder in folders {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "icd"))
            .collect();
        files.sort();
        libraries.extend(files.iter().filter_map(|file| read_icd(file).ok()));
    }
    let mut found: Vec<Driver> = Vec::new();
    for library in libraries {
        if !found
            .iter()
            .any(|d| d.library.file_name() == library.file_name())
        {
            found.push(Driver {
                label: String::new(),
                library,
                environment: Vec::new(),
            });
        }
    }
    Ok(found)
}

/// The library that an `.icd` file names.
fn read_icd(path: &Path) -> Result<PathBuf> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(PathBuf::from(
        text.lines().next().unwrap_or_default().trim(),
    ))
}

/// The CPU device of the one driver that the loader of such a process finds.
pub fn only_device() -> Result<(Platform, Session)> {
    let platforms = Cl::open_loader()?.platforms()?;
    platforms
        .into_iter()
        .find_map(|platform| Some((platform, platform.open_cpu().ok()?)))
        .ok_or_else(|| "the driver has no CPU device".to_owned())
}

/// What such a process does: reads a request a line, answers with a line of JSON, until the input
/// ends.
pub fn serve(mut answer: impl FnMut(&Value) -> Result<Value>) -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let request: Value = serde_json::from_str(&line).map_err(|e| e.to_string())?;
        let answer = answer(&request).unwrap_or_else(|error| json!({ "error": error }));
        println!("\n{ANSWER}{answer}");
        std::io::stdout().flush().map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// A process that has one driver loaded: this program, called with `--worker`. Killed when dropped.
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<Value>,
    /// The folder with the `.icd` file.
    _vendors: tempfile::TempDir,
}

impl Process {
    /// Starts with cold caches: what is measured is the driver's compiler, not its disk.
    pub fn start(driver: &Driver) -> Result<Self> {
        let io = |e: std::io::Error| e.to_string();
        let vendors = tempfile::tempdir().map_err(io)?;
        let icd = vendors.path().join("driver.icd");
        std::fs::write(icd, format!("{}\n", driver.library.display())).map_err(io)?;
        let mut child = Command::new(std::env::current_exe().map_err(io)?)
            .arg("--worker")
            .env("OCL_ICD_VENDORS", vendors.path())
            .env("POCL_CACHE_DIR", vendors.path().join("pocl"))
            .env("POCL_KERNEL_CACHE", "0")
            .envs(driver.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(io)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".to_owned());
        };
        let (sender, answers) = channel();
        // Ends with the child's output.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout)
                .lines()
                .map_while(std::io::Result::ok)
            {
                if let Some(answer) = line.strip_prefix(ANSWER)
                    && let Ok(value) = serde_json::from_str(answer)
                    && sender.send(value).is_err()
                {
                    break;
                }
            }
        });
        Ok(Process {
            child,
            stdin,
            answers,
            _vendors: vendors,
        })
    }

    pub fn ask(&mut self, request: &Value) -> Result<Value> {
        let lost = |what: &str| format!("the driver's process {what} at {request}");
        writeln!(self.stdin, "{request}").map_err(|_| lost("was gone"))?;
        let answer = self.answers.recv_timeout(TIME_LIMIT).map_err(|e| match e {
            std::sync::mpsc::RecvTimeoutError::Timeout => lost("hung"),
            std::sync::mpsc::RecvTimeoutError::Disconnected => lost("died"),
        })?;
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer),
        }
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A driver under measurement: its process, replaced when it dies, and what was found.
pub struct Candidate {
    pub driver: Driver,
    process: Option<Process>,
    pub info: Value,
    /// Times by measurement.
    pub times: BTreeMap<String, Vec<Times>>,
    /// The first failure of each measurement.
    pub failures: BTreeMap<String, String>,
}

#[derive(Clone, Copy)]
pub struct Times {
    pub best: f64,
    pub median: f64,
}

impl Candidate {
    pub fn start(driver: &Driver) -> Result<Self> {
        let mut process = Process::start(driver)?;
        let info = process.ask(&json!({ "do": "info" }))?;
        Ok(Candidate {
            driver: driver.clone(),
            process: Some(process),
            info,
            times: BTreeMap::new(),
            failures: BTreeMap::new(),
        })
    }

    /// Asks the lasting process, once for each time that it is expected to answer; a measurement
    /// that failed is not tried again.
    pub fn measure(&mut self, name: &str, request: &Value) -> Option<Value> {
        if self.failures.contains_key(name) {
            return None;
        }
        let mut process = match self.process.take() {
            Some(process) => process,
            None => match Process::start(&self.driver) {
                Ok(process) => process,
                Err(error) => {
                    self.fail(name, error);
                    return None;
                }
            },
        };
        let answer = process.ask(request);
        if process.is_alive() && !answer.as_ref().is_err_and(|e| e.contains("hung")) {
            self.process = Some(process);
        }
        match answer {
            Ok(value) => Some(value),
            Err(error) => {
                self.fail(name, error);
                None
            }
        }
    }

    /// Asks a process of its own.
    pub fn measure_fresh(&mut self, name: &str, request: &Value) -> Option<Value> {
        self.process = None;
        self.measure(name, request)
    }

    pub fn record(&mut self, name: &str, value: &Value) {
        if let (Some(best), Some(median)) = (value["best"].as_f64(), value["median"].as_f64()) {
            self.times
                .entry(name.to_owned())
                .or_default()
                .push(Times { best, median });
        }
    }

    fn fail(&mut self, name: &str, error: String) {
        eprintln!("{}: {name}: {}", self.driver.label, error.trim_end());
        self.failures.insert(name.to_owned(), error);
    }

    /// The best time of all rounds, and the median of the rounds' medians.
    pub fn result(&self, name: &str) -> Option<Times> {
        let rounds = self.times.get(name)?;
        let mut medians: Vec<f64> = rounds.iter().map(|t| t.median).collect();
        medians.sort_unstable_by(f64::total_cmp);
        Some(Times {
            best: rounds.iter().map(|t| t.best).fold(f64::INFINITY, f64::min),
            median: *medians.get(medians.len() / 2)?,
        })
    }
}
