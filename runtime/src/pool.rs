//! Threads.
pub fn thread_count() -> u32 {
    2
}
