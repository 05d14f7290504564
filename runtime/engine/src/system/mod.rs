//! What the engine asks of the machine and of the system: the clock, threads, the processors that
//! there are and how they hang together, and stacks.

pub mod clock;
pub mod float_env;
pub mod nodes;
pub mod stack;
pub mod threads;
pub mod topology;
