//! The thread that waits for the payloads that processes share. One test, which has the process to
//! itself: it is about who starts the thread.

use std::fs;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use brolga_runtime::context::ContextOptions;
use brolga_runtime::device::Partition;
use brolga_runtime::{Context, Platform, Queue, Semaphore, threads};
use brolga_runtime_testing::wait_for_events;

/// What the system says of a thread, if there is one that is called so.
fn status(name: &str) -> Option<String> {
    let mut threads = fs::read_dir("/proc/self/task").unwrap();
    threads.find_map(|thread| {
        let status = fs::read_to_string(thread.unwrap().path().join("status")).ok()?;
        (field(&status, "Name") == name).then_some(status)
    })
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let values = status.lines().filter_map(|line| line.split_once(':'));
    let mut values = values.filter(|(field, _)| *field == name);
    values.next().map_or("", |(_, value)| value.trim())
}

/// Handlers of the application's signals do not run on it, it runs anywhere, also if a worker that
/// stays on a processor was the first to need it, and a process that is forked knows that it has no
/// such thread.
#[test]
fn the_thread_that_polls_is_one_of_the_drivers() {
    let root = Arc::clone(&Platform::get().devices()[0]);
    // Without several processors there are no parts.
    let parts = root.partition(&Partition::ByCounts(vec![1]));
    let device = parts.map_or(root, |parts| Arc::clone(&parts[0]));
    let context = Context::new(vec![Arc::clone(&device)], ContextOptions::default()).unwrap();
    let queue = Queue::new(&context, &device, 0, None, Vec::new()).unwrap();
    let semaphore = [Semaphore::exportable(&context).unwrap()];
    // A worker finds the wait ready.
    let (go, gone) = channel();
    let native = Box::new(move || gone.recv().unwrap());
    let before = queue.enqueue_native(native, &[], &[]).unwrap();
    let wait = queue.enqueue_wait(&semaphore, &[before]).unwrap();
    go.send(()).unwrap();
    // It is called so a little before it runs anywhere.
    let own = fs::read_to_string("/proc/thread-self/status").unwrap();
    let processors = |status: &str| field(status, "Cpus_allowed_list").to_owned();
    let until = Instant::now() + Duration::from_secs(5);
    let poller = loop {
        let poller = status("brolga-poll").unwrap_or_default();
        if processors(&poller) == processors(&own) || Instant::now() > until {
            break poller;
        }
        std::thread::yield_now();
    };
    assert_eq!(processors(&poller), processors(&own));
    let blocked = u64::from_str_radix(field(&poller, "SigBlk"), 16).unwrap();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGALRM, libc::SIGUSR1] {
        assert!(blocked >> (signal - 1) & 1 == 1, "{signal}");
    }
    // SAFETY: the child does nothing but to read a static and to end.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let are_gone = threads::are_gone();
        // SAFETY: nothing is run at the end.
        unsafe { libc::_exit(i32::from(!are_gone)) };
    }
    let mut status = -1;
    // SAFETY: one number is written.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert!(!threads::are_gone());
    // The child has taken nothing from the payload.
    let other = Queue::new(&context, &device, 0, None, Vec::new()).unwrap();
    other.enqueue_signal(&semaphore, &[]).unwrap();
    wait_for_events(&[wait]).unwrap();
}
