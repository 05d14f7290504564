//! The constant pool of a function: it lies behind the code, which addresses it relative to
//! itself.

use std::collections::HashMap;

use crate::codegen::Symbol;

/// Constants of 1 to 256 bytes.
#[derive(Default)]
pub struct Pool {
    bytes: Vec<u8>,
    places: HashMap<Vec<u8>, u32>,
    /// Addresses: where they are, and of what.
    symbols: Vec<(u32, Symbol)>,
    symbol_places: HashMap<Symbol, u32>,
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

    /// The offset of an address.
    pub fn place_address(&mut self, symbol: Symbol) -> u32 {
        *self.symbol_places.entry(symbol).or_insert_with(|| {
            let at = self.bytes.len().next_multiple_of(8);
            self.bytes.resize(at + 8, 0);
            self.symbols.push((at as u32, symbol));
            at as u32
        })
    }

    /// The bytes, and where in them which addresses are to be written.
    pub fn finish(self) -> (Vec<u8>, Vec<(u32, Symbol)>) {
        (self.bytes, self.symbols)
    }
}
