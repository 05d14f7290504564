//! The threads of the root device, and what becomes of callbacks: one of each for the process.

use std::sync::{Arc, LazyLock};

use brolga_engine::Event;
use brolga_engine::callbacks::Callbacks;
use brolga_engine::pool::Pool;
use brolga_engine::system::nodes::Nodes;
use brolga_engine::system::threads::MAX_THREADS;
use brolga_engine::system::topology;
use brolga_host::environment;

/// How many threads execute commands: `BROLGA_THREADS`, or the processors in the affinity mask, or
/// as many as the time that control groups leave the process is enough for.
pub(crate) fn thread_count() -> u32 {
    static COUNT: LazyLock<u32> = LazyLock::new(|| {
        let allowed = 1..=MAX_THREADS;
        let expected = format!("a number from 1 to {MAX_THREADS}");
        let asked = environment::chosen("BROLGA_THREADS", expected, |value| {
            value.parse().ok().filter(|count| allowed.contains(count))
        });
        asked.unwrap_or_else(|| topology::useful_threads().clamp(1, MAX_THREADS))
    });
    *COUNT
}

/// The functions of the application that are called back.
pub(crate) fn callbacks() -> &'static Arc<Callbacks> {
    static CALLBACKS: LazyLock<Arc<Callbacks>> = LazyLock::new(Callbacks::new);
    &CALLBACKS
}

/// The root device's pool; its workers start when this is first called.
pub(crate) fn pool() -> &'static Arc<Pool<Event>> {
    static POOL: LazyLock<Arc<Pool<Event>>> = LazyLock::new(|| {
        let nodes = Nodes::new(&topology::available_processors(), thread_count());
        Pool::start_root(thread_count(), nodes, Arc::clone(callbacks()))
    });
    &POOL
}
