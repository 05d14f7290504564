//! Program binaries.
