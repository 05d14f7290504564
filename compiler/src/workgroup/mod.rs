//! Barrier regions and work-item loops.
