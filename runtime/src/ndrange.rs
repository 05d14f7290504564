//! ND-ranges.
