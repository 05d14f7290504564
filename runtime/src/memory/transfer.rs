//! Copies and fills, divisible so that several threads share a large one.
