//! Runs one tool with its input, output and messages in memory.
//!
//! All three are anonymous memory files (`memfd_create`), so there is nothing to clean up, no pipe
//! that fills up while nobody reads and no `SIGPIPE` in the application's process. The tool reads
//! further files of ours (embedded headers) under `/proc/<our pid>/fd/`, which needs no inherited
//! descriptors.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

/// A tool that takes longer has gone astray.
const TIME_LIMIT: Duration = Duration::from_secs(180);

/// What a tool left behind.
pub(super) struct Finished {
    pub success: bool,
    pub stdout: Vec<u8>,
    /// Its messages, with bytes that are not UTF-8 replaced.
    pub stderr: String,
}

/// A memory file that holds `bytes`, positioned at its start.
pub(super) fn memory_file(name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// The path under which a child process can open `file` while it is open here.
pub(super) fn path_for_children(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

/// Kills and reaps the child when dropped, so that a panic or an early return leaves no process
/// behind.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `program` with `input` on its standard input until it ends.
pub(super) fn run<I>(program: &Path, arguments: I, input: &[u8]) -> io::Result<Finished>
where
    I: IntoIterator<Item: AsRef<std::ffi::OsStr>>,
{
    let stdin = memory_file("brolga-input", input)?;
    let mut stdout = memory_file("brolga-output", &[])?;
    let mut stderr = memory_file("brolga-messages", &[])?;
    let child = Command::new(program)
        .args(arguments)
        // Variables that would change what clang includes or how it is driven.
        .env_remove("CPATH")
        .env_remove("C_INCLUDE_PATH")
        .env_remove("CCC_OVERRIDE_OPTIONS")
        .env_remove("SOURCE_DATE_EPOCH")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?))
        .spawn()?;
    let mut guard = Guard(child);
    let status = wait(&mut guard.0, TIME_LIMIT);
    let mut finished = Finished {
        // An application that reaps all children itself (or ignores SIGCHLD) takes the status from
        // us; then what the tool wrote must speak for itself, and the caller checks that anyway.
        success: match &status {
            Ok(Some(status)) => status.success(),
            Ok(None) => false,
            Err(_) => true,
        },
        stdout: Vec::new(),
        stderr: String::new(),
    };
    drop(guard);
    stdout.rewind()?;
    stdout.read_to_end(&mut finished.stdout)?;
    stderr.rewind()?;
    let mut messages = Vec::new();
    stderr.read_to_end(&mut messages)?;
    finished.stderr = String::from_utf8_lossy(&messages).into_owned();
    if let Ok(None) = status {
        finished.stderr.push_str(&format!(
            "error: the compiler did not finish within {} seconds\n",
            TIME_LIMIT.as_secs()
        ));
    }
    Ok(finished)
}

/// Waits at most `limit`; `None` when the time is up. Polls: a compilation takes tens of
/// milliseconds, the naps a fraction of one, and no signal handling of the application's can
/// interfere.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    let mut nap = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            return Ok(None);
        }
        thread::sleep(nap);
        if start.elapsed() > Duration::from_millis(200) {
            nap = Duration::from_millis(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_reaches_the_tool_and_output_comes_back() {
        let done = run(Path::new("/bin/cat"), ["-"], b"abc").unwrap();
        assert!(done.success);
        assert_eq!(done.stdout, b"abc");
    }

    #[test]
    fn a_child_can_open_a_memory_file() {
        let file = memory_file("test", b"header").unwrap();
        let done = run(Path::new("/bin/cat"), [path_for_children(&file)], b"").unwrap();
        assert_eq!(done.stdout, b"header");
    }

    #[test]
    fn a_child_that_takes_too_long_is_killed() {
        let child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let mut guard = Guard(child);
        assert!(
            wait(&mut guard.0, Duration::from_millis(5))
                .unwrap()
                .is_none()
        );
        let start = Instant::now();
        drop(guard);
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
