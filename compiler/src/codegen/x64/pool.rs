//! The constant pool of a function: it lies behind the code, which addresses it relative to
//! itself.

use std::collections::HashMap;

/// Constants of 1 to 256 bytes.
#[derive(Default)]
pub struct Pool {
    bytes: Vec<u8>,
    places: HashMap<Vec<u8>, u32>,
    /// The addresses of functions: where they are, and which.
    functions: Vec<(u32, u32)>,
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

    /// The offset of a function's address.
    pub fn place_function(&mut self, number: u32) -> u32 {
        let known = self.functions.iter().find(|&&(_, known)| known == number);
        if let Some(&(at, _)) = known {
            return at;
        }
        let at = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(at + 8, 0);
        self.functions.push((at as u32, number));
        at as u32
    }

    /// The bytes, and where in them the addresses of which functions are to be written.
    pub fn finish(self) -> (Vec<u8>, Vec<(u32, u32)>) {
        (self.bytes, self.functions)
    }
}
