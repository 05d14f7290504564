//! One process: started in a process group of its own, ended with that whole group.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal};

/// When to end a process that does not end by itself.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub time: Duration,
    /// A failing sub-test can print without end; this saves the disk.
    pub output_bytes: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Exit(i32),
    Signal(i32),
    /// Killed at the time limit.
    TimedOut(Duration),
    /// Killed because it had printed this many bytes or more.
    TooMuchOutput(u64),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Signal(number) => write!(f, "{}", signal_name(*number)),
            Self::TimedOut(limit) => write!(f, "killed after {} s", limit.as_secs_f64()),
            Self::TooMuchOutput(bytes) => write!(f, "killed after printing {} MiB", bytes >> 20),
        }
    }
}

/// The usual name of a signal, by its number on Linux; `signal 34` for one without.
fn signal_name(number: i32) -> String {
    let named = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::TERM, "SIGTERM"),
        (Signal::SYS, "SIGSYS"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
    ];
    let name = named.iter().find(|(signal, _)| signal.as_raw() == number);
    name.map_or(format!("signal {number}"), |(_, name)| name.to_string())
}

/// Runs a command to its end or to a limit, with its output in the file `log`. At a limit
/// everything in its process group is killed, so that nothing it started goes on.
///
/// Output goes to a file and not through a pipe, because a pipe would stay open, and reading it
/// block, as long as a grandchild holds it.
///
/// # Errors
/// A log that cannot be created, or a command that cannot be started.
pub fn run(command: &mut Command, log: &Path, limits: Limits) -> io::Result<(Ending, Duration)> {
    let output = File::create(log)?;
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        .process_group(0);
    // SAFETY: between fork and exec the closure makes two system calls and nothing else: no
    // allocation, no lock, no access to state shared with other threads.
    unsafe { command.pre_exec(prepare_child) };
    let start = Instant::now();
    let mut child = command.spawn()?;
    let mut pause = Duration::from_millis(1);
    let ending = loop {
        if let Some(status) = child.try_wait()? {
            break ending_of(status);
        }
        let printed = output.metadata()?.len();
        if start.elapsed() >= limits.time {
            break kill(&mut child, Ending::TimedOut(limits.time))?;
        } else if printed >= limits.output_bytes {
            break kill(&mut child, Ending::TooMuchOutput(printed))?;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    Ok((ending, start.elapsed()))
}

/// In the child: no core files, which are large and many; and no outliving the harness, which a
/// process group of its own would otherwise allow.
fn prepare_child() -> io::Result<()> {
    rustix::process::setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    )?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}

fn ending_of(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exit(code),
        (None, Some(signal)) => Ending::Signal(signal),
        (None, None) => unreachable!("a process that was waited for has exited or was killed"),
    }
}

/// Kills the child's process group. The child has not been waited for, so its number still names
/// its group.
fn kill(child: &mut Child, why: Ending) -> io::Result<Ending> {
    rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL)?;
    child.wait()?;
    Ok(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENEROUS: Limits = Limits {
        time: Duration::from_secs(60),
        output_bytes: 1 << 20,
    };

    fn shell(script: &str, limits: Limits) -> (Ending, String, Duration) {
        let log = tempfile::NamedTempFile::new().unwrap();
        let (ending, time) =
            run(Command::new("sh").args(["-c", script]), log.path(), limits).unwrap();
        (ending, std::fs::read_to_string(log.path()).unwrap(), time)
    }

    #[test]
    fn exits_and_signals_are_told_apart() {
        let (ending, output, _) = shell("echo out; echo err >&2; exit 3", GENEROUS);
        assert_eq!(ending, Ending::Exit(3));
        assert_eq!(output, "out\nerr\n");
        let (ending, _, _) = shell("kill -SEGV $$", GENEROUS);
        assert_eq!(ending.to_string(), "SIGSEGV");
        let (ending, _, _) = shell("kill -ABRT $$", GENEROUS);
        assert_eq!(ending.to_string(), "SIGABRT");
    }

    #[test]
    fn the_time_limit_ends_grandchildren_too() {
        let limits = Limits {
            time: Duration::from_millis(300),
            ..GENEROUS
        };
        let (ending, output, time) = shell("sleep 1000 & echo $!; wait", limits);
        assert_eq!(ending, Ending::TimedOut(limits.time));
        assert!(time < Duration::from_secs(30), "took {time:?}");
        let grandchild = output.trim().parse::<i32>().unwrap();
        // It was killed, but whoever inherited it may not have waited for it yet.
        let gone = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            let stat =
                std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        });
        assert!(gone, "process {grandchild} goes on");
    }

    #[test]
    fn endless_output_is_ended() {
        let limits = Limits {
            output_bytes: 1 << 16,
            ..GENEROUS
        };
        let (ending, _, _) = shell("yes", limits);
        assert!(
            matches!(ending, Ending::TooMuchOutput(n) if n >= 1 << 16),
            "{ending:?}"
        );
    }
}
