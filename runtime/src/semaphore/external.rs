//! What semaphores of several processes share: a counter in the kernel, behind a file descriptor
//! (`eventfd`).
//!
//! The counter is the payload: a signal command adds one when it runs, a wait command takes one
//! when what it waits for besides is done. Which signal a wait is for cannot be known before, as it
//! may come from another process; a wait that finds nothing is left to one thread that polls all
//! descriptors that a command waits for.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, LazyLock};

use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::pool::Push;
use brolga_engine::system::threads;
use brolga_host::notice;
use parking_lot::Mutex;

/// The counter.
#[derive(Debug)]
pub(super) struct Shared {
    file: File,
}

impl Shared {
    /// A counter of zero.
    pub(super) fn new() -> CLResult<Shared> {
        let flags = libc::EFD_SEMAPHORE | libc::EFD_NONBLOCK | libc::EFD_CLOEXEC;
        // SAFETY: no memory is passed.
        let fd = unsafe { libc::eventfd(0, flags) };
        if fd < 0 {
            return Err(ClError::OUT_OF_RESOURCES);
        }
        // SAFETY: the descriptor is new, and this object's alone.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Shared { file: fd.into() })
    }

    /// The counter behind a descriptor that [`Shared::export`] made, here or in another process.
    ///
    /// Errors: `CL_INVALID_PROPERTY` for another kind of descriptor, which stays the caller's.
    pub(super) fn import(fd: i32) -> CLResult<Shared> {
        let kind = std::fs::read_link(format!("/proc/self/fd/{fd}"));
        let kind = kind.map_err(|_| ClError::INVALID_PROPERTY)?;
        if fd < 0 || kind.as_os_str() != "anon_inode:[eventfd]" {
            return Err(ClError::INVALID_PROPERTY);
        }
        // A read that finds nothing must not wait, whichever process made the counter. SAFETY:
        // these change flags of the descriptor, and nothing in memory.
        let set = unsafe {
            libc::fcntl(
                fd,
                libc::F_SETFL,
                libc::fcntl(fd, libc::F_GETFL) | libc::O_NONBLOCK,
            )
        };
        if set < 0 {
            return Err(ClError::INVALID_PROPERTY);
        }
        // SAFETY: it is open, and a successful import makes it ours.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Shared { file: fd.into() })
    }

    /// A new descriptor for the same counter.
    pub(super) fn export(&self) -> CLResult<OwnedFd> {
        let copy = self
            .file
            .try_clone()
            .map_err(|_| ClError::OUT_OF_RESOURCES)?;
        Ok(copy.into())
    }

    /// Adds one. A counter that is full has been signalled more often than it was waited for, which
    /// the application must not do.
    pub(super) fn signal(&self) {
        let _ = (&self.file).write(&1u64.to_ne_bytes());
    }

    /// Takes one, if there is one.
    fn take(&self) -> bool {
        (&self.file).read(&mut [0; 8]).is_ok()
    }

    /// Whether there is one to take.
    pub(super) fn is_signalled(&self) -> bool {
        let mut entries = [entry(&self.file)];
        poll(&mut entries, 0);
        entries[0].revents & libc::POLLIN != 0
    }

    /// Opens `placeholder` when one has been taken for it.
    pub(super) fn wait(self: &Arc<Self>, placeholder: Arc<Event>) {
        if self.take() {
            placeholder.release(Push::Notify);
        } else {
            Poller::get().add(Arc::clone(self), placeholder);
        }
    }
}

fn entry(file: &File) -> libc::pollfd {
    libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }
}

/// `poll(2)`; an early return is the caller's loop's business.
fn poll(entries: &mut [libc::pollfd], timeout: i32) {
    // SAFETY: as many entries as the slice has.
    unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, timeout) };
}

/// The thread that waits for descriptors.
struct Poller {
    waits: Mutex<Vec<(Arc<Shared>, Arc<Event>)>>,
    /// Signalled when there is a new wait.
    news: Option<Shared>,
}

impl Poller {
    /// The poller; its thread starts when this is first called.
    fn get() -> &'static Poller {
        static POLLER: LazyLock<Poller> = LazyLock::new(|| {
            let spawned = threads::spawn("brolga-poll", None, || Poller::get().run());
            if let Err(error) = &spawned {
                notice(format_args!(
                    "cannot start the thread that waits for shared semaphores: {error}"
                ));
            }
            Poller {
                waits: Mutex::default(),
                news: spawned.ok().and_then(|_| Shared::new().ok()),
            }
        });
        &POLLER
    }

    /// Without a thread the placeholder goes away, which fails what waits for it.
    fn add(&self, shared: Arc<Shared>, placeholder: Arc<Event>) {
        if let Some(news) = &self.news {
            self.waits.lock().push((shared, placeholder));
            news.signal();
        }
    }

    fn run(&self) {
        let Some(news) = &self.news else {
            return;
        };
        loop {
            while news.take() {}
            let mut open = Vec::new();
            let mut entries = vec![entry(&news.file)];
            {
                let mut waits = self.waits.lock();
                let ready = waits.extract_if(.., |(shared, _)| shared.take());
                open.extend(ready.map(|(_, placeholder)| placeholder));
                entries.extend(waits.iter().map(|(shared, _)| entry(&shared.file)));
            }
            for placeholder in open {
                placeholder.release(Push::Notify);
            }
            // A signal that came since it was looked for, and news, are still there to see.
            poll(&mut entries, -1);
        }
    }
}
