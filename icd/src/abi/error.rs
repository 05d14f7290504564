//! Error codes as a type, so that `?` carries them from a check to the entry wrapper.

pub use brolga_runtime::error::{CLResult, ClError};

/// Fails with `error` unless `holds`.
pub fn require(holds: bool, error: ClError) -> CLResult<()> {
    if holds { Ok(()) } else { Err(error) }
}
