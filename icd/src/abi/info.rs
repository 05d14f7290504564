//! Values of `clGet*Info`, written with the size checks that all of those queries share.

use std::ffi::CString;

use brolga_runtime::NameVersion;
use opencl_sys::{CL_NAME_VERSION_MAX_NAME_SIZE, cl_name_version};

use super::error::{CLResult, ClError, require};
use super::pointers::{FromCArray, OutList, OutPtr, Pod};

/// Writes the value that was asked for: `param_value_size`, `param_value` and
/// `param_value_size_ret`.
#[derive(Clone, Copy)]
pub struct InfoWriter {
    value: OutList<u8>,
    size_ret: OutPtr<usize>,
}

impl InfoWriter {
    pub fn new(value: OutList<u8>, size_ret: OutPtr<usize>) -> Self {
        InfoWriter { value, size_ret }
    }

    /// How many `T`s the caller has room for.
    pub fn elements<T: Pod>(self) -> usize {
        self.value.count() / size_of::<T>()
    }

    /// Whether the caller wants a `T` and has room for it.
    pub fn takes<T: Pod>(self) -> bool {
        !self.value.is_null() && self.value.count() >= size_of::<T>()
    }

    /// Writes one value.
    pub fn value<T: Pod>(self, value: T) -> CLResult<()> {
        self.array(&[value])
    }

    /// Writes an array, which may be empty.
    pub fn array<T: Pod>(self, values: &[T]) -> CLResult<()> {
        self.check(size_of_val(values))?;
        self.value.of().set(values);
        Ok(())
    }

    /// Writes pointers to strings that live as long as the driver.
    pub fn static_strings(self, texts: &'static [CString]) -> CLResult<()> {
        let addresses: Vec<usize> = texts.iter().map(|text| text.as_ptr() as usize).collect();
        self.array(&addresses)
    }

    /// Writes names and their versions.
    pub fn names(self, names: &[NameVersion]) -> CLResult<()> {
        let entries: Vec<cl_name_version> = names
            .iter()
            .map(|entry| {
                let mut name = [0; CL_NAME_VERSION_MAX_NAME_SIZE];
                // The last byte stays zero.
                for (to, from) in name
                    .iter_mut()
                    .zip(entry.name.bytes())
                    .take(CL_NAME_VERSION_MAX_NAME_SIZE - 1)
                {
                    *to = from;
                }
                cl_name_version {
                    version: entry.version,
                    name,
                }
            })
            .collect();
        self.array(&entries)
    }

    /// Writes a zero-terminated string.
    pub fn string(self, text: &str) -> CLResult<()> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.array(&bytes)
    }

    /// Writes `cl_bool`.
    pub fn boolean(self, value: bool) -> CLResult<()> {
        self.value(u32::from(value))
    }

    /// Writes each of `blobs` to where the pointer of its index in an array points, which the
    /// caller gives: the form of `CL_PROGRAM_BINARIES`. A null pointer skips its entry.
    pub fn blobs(self, blobs: &[&[u8]]) -> CLResult<()> {
        self.check(size_of::<*mut u8>() * blobs.len())?;
        let pointers = self.value.pointers().get()?.unwrap_or_default();
        for (pointer, blob) in pointers.into_iter().zip(blobs) {
            // SAFETY: the application's promise for each pointer of the array it gave.
            let target: OutList<u8> = unsafe { OutList::from_c_array(pointer, blob.len()) };
            target.set(blob);
        }
        Ok(())
    }

    /// > CL_INVALID_VALUE if the size in bytes given by param_value_size is less than the size of
    /// > the return type and param_value is not NULL.
    fn check(self, needed: usize) -> CLResult<()> {
        require(
            self.value.is_null() || self.value.count() >= needed,
            ClError::INVALID_VALUE,
        )?;
        self.size_ret.set(needed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::pointers::FromC;

    fn writer(size: usize, room: &mut [u8], needed: &mut usize) -> InfoWriter {
        // SAFETY: both outlive the info, and `size` is at most what `room` has.
        unsafe {
            InfoWriter::new(
                OutList::from_c_array(room.as_mut_ptr(), size),
                OutPtr::from_c(std::ptr::from_mut(needed)),
            )
        }
    }

    #[test]
    fn too_small_is_an_error_and_writes_nothing() {
        let (mut room, mut needed) = ([0xa5; 8], 99);
        let result = writer(3, &mut room, &mut needed).value(1u32);
        assert_eq!(result, Err(ClError::INVALID_VALUE));
        assert_eq!((room, needed), ([0xa5; 8], 99));
    }

    #[test]
    fn strings_end_in_zero() {
        let (mut room, mut needed) = ([0xa5; 8], 99);
        writer(8, &mut room, &mut needed).string("abc").unwrap();
        assert_eq!((&room[..5], needed), (&b"abc\0\xa5"[..], 4));
    }

    #[test]
    fn a_null_value_asks_for_the_size() {
        let mut needed = 0;
        // SAFETY: null, and a valid place for the size.
        let writer = unsafe {
            InfoWriter::new(
                OutList::from_c_array(std::ptr::null_mut::<u8>(), 0),
                OutPtr::from_c(&raw mut needed),
            )
        };
        writer.array(&[1u64, 2, 3]).unwrap();
        assert_eq!(needed, 24);
    }
}
