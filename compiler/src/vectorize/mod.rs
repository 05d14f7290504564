//! W work-items per vector.
