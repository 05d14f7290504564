//! The constant pool of a function: it lies behind the code, which addresses it relative to
//! itself.

use std::collections::HashMap;

/// Constants of 1 to 64 bytes.
#[derive(Default)]
pub struct Pool {
    bytes: Vec<u8>,
    places: HashMap<Vec<u8>, u32>,
}

impl Pool {
    /// The offset of a constant, aligned as its length, a power of two.
    pub fn place(&mut self, constant: &[u8]) -> u32 {
        if let Some(&at) = self.places.get(constant) {
            return at;
        }
        let at = self.bytes.len().next_multiple_of(constant.len());
        self.bytes.resize(at, 0);
        self.bytes.extend_from_slice(constant);
        self.places.insert(constant.to_vec(), at as u32);
        at as u32
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
