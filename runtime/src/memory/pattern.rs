//! The pattern that a fill repeats.

use smallvec::SmallVec;

use brolga_engine::error::{CLResult, ClError};

/// A pattern of a size that fills of buffers and of shared memory take, copied.
#[derive(Clone, Debug)]
pub struct Pattern(SmallVec<[u8; 16]>);

impl Pattern {
    /// Bytes of the largest vector type (`long16`), the longest pattern.
    pub const MAX_SIZE: usize = 128;

    /// Copies a pattern. Errors: `CL_INVALID_VALUE`.
    pub fn new(bytes: &[u8]) -> CLResult<Pattern> {
        // CL_INVALID_VALUE if pattern_size is 0 or if pattern_size is not one of { 1, 2, 4, 8, 16,
        // 32, 64, 128 } ("Filling Buffer Objects"), and for shared memory "not a power of two or
        // greater than the size of the largest integer or floating-point vector data type".
        match bytes.len().is_power_of_two() && bytes.len() <= Pattern::MAX_SIZE {
            true => Ok(Pattern(SmallVec::from_slice(bytes))),
            false => Err(ClError::INVALID_VALUE),
        }
    }

    /// One byte.
    pub fn byte(value: u8) -> Pattern {
        Pattern(SmallVec::from_slice(&[value]))
    }

    /// Checks that what is filled consists of whole patterns: bytes, and the offset or address that
    /// they are from. Errors: `CL_INVALID_VALUE`.
    pub(crate) fn check_fits(&self, from: usize, size: usize) -> CLResult<()> {
        // CL_INVALID_VALUE if offset and size are not a multiple of pattern_size ("Filling Buffer
        // Objects"); if svm_ptr is not aligned to pattern_size bytes, or if size is not a multiple
        // of pattern_size ("SVM Enqueue Commands").
        let length = self.0.len();
        match from.is_multiple_of(length) && size.is_multiple_of(length) {
            true => Ok(()),
            false => Err(ClError::INVALID_VALUE),
        }
    }

    pub(crate) fn into_bytes(self) -> SmallVec<[u8; 16]> {
        self.0
    }
}
