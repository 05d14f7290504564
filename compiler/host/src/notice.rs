//! Notices on standard error, which is the application's.
//!
//! It may be closed, full, or a pipe that nobody reads any more: then a notice is lost, and nothing
//! else happens. A notice is written by one call of the system, so that what other threads and
//! processes write does not come in between, and without a lock, which a thread may hold while the
//! process is forked.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::mem::MaybeUninit;
use std::ptr;

/// Writes a line: `brolga: ` and the message.
pub fn notice(message: fmt::Arguments<'_>) {
    without_sigpipe(|| {
        write_all(
            libc::STDERR_FILENO,
            format!("brolga: {message}\n").as_bytes(),
        )
    });
}

/// As much as can be written, which is usually all at once. Whether it failed since nobody reads.
fn write_all(descriptor: i32, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: as many bytes as there are.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(0) => return false,
            Ok(written) => bytes = &bytes[written..],
            Err(_) => match Error::last_os_error().kind() {
                ErrorKind::Interrupted => {}
                kind => return kind == ErrorKind::BrokenPipe,
            },
        }
    }
    false
}

/// Writing to a pipe that nobody reads ends a process (`SIGPIPE`, pipe(7)), unless the thread
/// blocks the signal, and takes it before it lets signals through again.
fn without_sigpipe(write: impl FnOnce() -> bool) {
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut pipe = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut pending = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: each set is initialized by what is called with it first.
    unsafe {
        libc::sigemptyset(pipe.as_mut_ptr());
        libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
        libc::sigpending(pending.as_mut_ptr());
        let was_pending = libc::sigismember(pending.as_ptr(), libc::SIGPIPE) == 1;
        libc::pthread_sigmask(libc::SIG_BLOCK, pipe.as_ptr(), before.as_mut_ptr());
        if write() && !was_pending {
            let no_time: libc::timespec = std::mem::zeroed();
            libc::sigtimedwait(pipe.as_ptr(), ptr::null_mut(), &no_time);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    /// Packets (`O_DIRECT`, pipe(2)): each read gives what one call has written.
    fn pipe() -> (std::fs::File, OwnedFd) {
        let mut ends = [0; 2];
        // SAFETY: the descriptors are new and nobody else's.
        unsafe {
            assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_DIRECT), 0);
            (
                std::fs::File::from_raw_fd(ends[0]),
                OwnedFd::from_raw_fd(ends[1]),
            )
        }
    }

    #[test]
    fn a_line_is_written_at_once() {
        let (mut read, write) = pipe();
        assert!(!write_all(write.as_raw_fd(), b"one line\n"));
        let mut line = [0; 100];
        assert_eq!(read.read(&mut line).unwrap(), 9);
    }

    #[test]
    fn what_nobody_reads_ends_no_process() {
        let (read, write) = pipe();
        drop(read);
        // SAFETY: the default is what applications written in C have.
        let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let mut failed = false;
        without_sigpipe(|| {
            failed = write_all(write.as_raw_fd(), b"lost\n");
            failed
        });
        // SAFETY: what it was.
        unsafe { libc::signal(libc::SIGPIPE, before) };
        assert!(failed);
    }
}
