//! Runs one tool with its input, output and messages in memory.
//!
//! All three are anonymous memory files (`memfd_create`), so there is nothing to clean up, no pipe
//! that fills up while nobody reads and no `SIGPIPE` in the application's process. The tool reads
//! further files of ours (embedded headers) under `/proc/<our pid>/fd/`, which needs no inherited
//! descriptors.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, pidfd_send_signal,
    waitid,
};

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

/// A child process, by a descriptor where there are such: an application may reap all children,
/// ours too, and its number may then be that of another process, which is neither to be waited for
/// nor killed. Sandboxes and old systems refuse descriptors, and there may be too many of them.
/// Then it has to be the number.
enum Running {
    Descriptor(OwnedFd),
    Number(Pid),
}

impl Running {
    /// Errors: the application has reaped it.
    fn new(child: &Child) -> io::Result<Running> {
        let number = Pid::from_child(child);
        match pidfd_open(number, PidfdFlags::empty()) {
            Ok(process) => Ok(Running::Descriptor(process)),
            Err(Errno::SRCH) => Err(Errno::SRCH.into()),
            Err(_) => Ok(Running::Number(number)),
        }
    }

    /// Waits at most `limit`; `None` when the time is up, else whether it succeeded. Errors: the
    /// application has reaped it.
    fn wait(&self, limit: Duration) -> io::Result<Option<bool>> {
        let until = Instant::now() + limit;
        let process = match self {
            Running::Descriptor(process) => process,
            Running::Number(_) => return self.poll(until),
        };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // A descriptor of a process can be read when that has ended (pidfd_open(2)).
            let mut polled = libc::pollfd {
                fd: process.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            let milliseconds = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
            // SAFETY: it is one, which outlives the call.
            match unsafe { libc::poll(&mut polled, 1, milliseconds) } {
                0 if left.is_zero() || milliseconds > 0 => return Ok(None),
                1 => return self.reap(WaitIdOptions::EXITED),
                // Interrupted, or less than a millisecond is left.
                _ if left.is_zero() => return Ok(None),
                _ => {}
            }
        }
    }

    /// As [`Running::wait`], by asking again and again.
    fn poll(&self, until: Instant) -> io::Result<Option<bool>> {
        let mut pause = Duration::from_millis(1);
        loop {
            let ended = self.reap(WaitIdOptions::EXITED | WaitIdOptions::NOHANG)?;
            if ended.is_some() || Instant::now() >= until {
                return Ok(ended);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Whether it succeeded, if it has ended.
    fn reap(&self, options: WaitIdOptions) -> io::Result<Option<bool>> {
        let process = match self {
            Running::Descriptor(process) => WaitId::PidFd(process.as_fd()),
            Running::Number(number) => WaitId::Pid(*number),
        };
        let status = waitid(process, options)?;
        Ok(status.map(|status| status.exit_status() == Some(0)))
    }
}

impl Drop for Running {
    /// Kills and reaps it if it has not ended, so that a panic or an early return leaves no process
    /// behind.
    fn drop(&mut self) {
        match &*self {
            Running::Descriptor(process) => {
                let _ = pidfd_send_signal(process, Signal::KILL);
            }
            // Only while it is still a child of this process, which has not been reaped.
            Running::Number(number) => {
                let unchanged =
                    WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
                if self.reap(unchanged).is_err() {
                    return;
                }
                let _ = kill_process(*number, Signal::KILL);
            }
        }
        let _ = self.reap(WaitIdOptions::EXITED);
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
    let status = Running::new(&child).and_then(|running| running.wait(TIME_LIMIT));
    let mut finished = Finished {
        // An application that reaps all children itself (or ignores SIGCHLD) takes the status from
        // us; then what the tool wrote must speak for itself, and the caller checks that anyway.
        success: match status {
            Ok(success) => success.unwrap_or(false),
            Err(_) => true,
        },
        stdout: Vec::new(),
        stderr: String::new(),
    };
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
    #[expect(
        clippy::zombie_processes,
        reason = "it is waited for by its descriptor"
    )]
    fn a_child_that_takes_too_long_is_killed() {
        let child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let running = Running::new(&child).unwrap();
        assert_eq!(running.wait(Duration::from_millis(5)).unwrap(), None);
        let start = Instant::now();
        drop(running);
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    /// Has the kernel refuse this thread `pidfd_open`, as sandboxes do.
    fn refuse_descriptors() {
        let instruction = |code: u32, jt, jf, k| libc::sock_filter {
            code: code as u16,
            jt,
            jf,
            k,
        };
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        let mut filter = [
            // The number of the call is the first word.
            instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
            instruction(
                libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
                0,
                1,
                libc::SYS_pidfd_open as u32,
            ),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0, refused),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_mut_ptr(),
        };
        // SAFETY: the program is one, and is copied.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            let mode = libc::SECCOMP_MODE_FILTER;
            assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &program), 0);
        }
    }

    #[test]
    #[expect(clippy::zombie_processes, reason = "it is waited for by its number")]
    fn a_child_is_waited_for_without_a_descriptor() {
        // The filter is the thread's.
        let thread = std::thread::spawn(|| {
            refuse_descriptors();
            let done = run(Path::new("/bin/cat"), ["-"], b"abc").unwrap();
            assert_eq!((done.success, &done.stdout[..]), (true, &b"abc"[..]));
            assert!(!run(Path::new("/bin/false"), [""; 0], b"").unwrap().success);
            let child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
            let running = Running::new(&child).unwrap();
            assert_eq!(running.wait(Duration::from_millis(5)).unwrap(), None);
            drop(running);
            // Nothing is left of it.
            let number = WaitId::Pid(Pid::from_child(&child));
            assert_eq!(
                waitid(number, WaitIdOptions::EXITED).err(),
                Some(Errno::CHILD)
            );
        });
        thread.join().unwrap();
    }

    #[test]
    fn a_child_says_whether_it_succeeded() {
        for (program, success) in [("/bin/true", true), ("/bin/false", false)] {
            assert_eq!(
                run(Path::new(program), [""; 0], b"").unwrap().success,
                success
            );
        }
    }

    /// As by an application that waits for all of its children.
    #[test]
    fn a_child_that_was_reaped_is_not_waited_for() {
        let mut child = Command::new("/bin/true").spawn().unwrap();
        let running = Running::new(&child).unwrap();
        child.wait().unwrap();
        assert!(running.wait(Duration::from_secs(10)).is_err());
    }
}
