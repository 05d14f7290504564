//! The clock of the host timer and the device timer.

/// Nanoseconds on the clock that both timers show.
pub fn timestamp() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
