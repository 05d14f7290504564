//! How long compiling takes, stage by stage: for remarks and for measurements of the compiler
//! itself.

use std::fmt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time spent on one kernel, for one launch key: what else the machine does meanwhile
/// does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// `transform`: inlined, optimised, one lane a value. Spent once for all launch keys of a
    /// kernel.
    pub prepare: Duration,
    /// `workgroup` and `vectorize`.
    pub vectorize: Duration,
    /// `lower`, and the cleaning up between.
    pub lower: Duration,
    /// `codegen`, and making the code executable.
    pub machine: Duration,
}

impl Times {
    pub fn total(&self) -> Duration {
        self.prepare + self.vectorize + self.lower + self.machine
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1?} (transform {:.1?}, vectorize {:.1?}, lower {:.1?}, machine code {:.1?})",
            self.total(),
            self.prepare,
            self.vectorize,
            self.lower,
            self.machine
        )
    }
}

/// Measures one stage after another, in processor time of the thread that asks.
pub struct Stopwatch(Duration);

impl Stopwatch {
    pub fn start() -> Stopwatch {
        Stopwatch(processor_time())
    }

    /// Time since the start or the last lap.
    pub fn lap(&mut self) -> Duration {
        let now = processor_time();
        now.saturating_sub(std::mem::replace(&mut self.0, now))
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
