//! Reads and writes done at once, with numbers of Rust.

use std::num::Wrapping;

use half::f16;
use smallvec::SmallVec;

use super::machine::{Machine, Outside, Unit, Words};
use super::{Descriptor, Field, ImageDim, Texels};

type Word = Wrapping<u32>;

/// An image and where its texels are.
pub(super) struct Host<'a, T: Texels> {
    image: &'a Descriptor,
    texels: &'a mut T,
    /// Of the first texel that could not be accessed.
    error: Option<T::Error>,
}

impl<'a, T: Texels> Host<'a, T> {
    pub(super) fn new(image: &'a Descriptor, texels: &'a mut T) -> Host<'a, T> {
        Host {
            image,
            texels,
            error: None,
        }
    }

    /// Why something that was done could not be.
    pub(super) fn finish(self) -> Result<(), T::Error> {
        self.error.map_or(Ok(()), Err)
    }

    fn address(&self, dim: ImageDim, at: &[Word]) -> u64 {
        let mut place = [0; 3];
        for (to, from) in place.iter_mut().zip(at) {
            *to = from.0;
        }
        self.image.address(dim, place)
    }
}

/// Numbers without an image: what converts texels that are not in one.
pub(super) struct Nowhere;

impl Texels for Nowhere {
    type Error = std::convert::Infallible;

    fn fetch(&mut self, _address: u64, _to: &mut [u8]) -> Result<(), Self::Error> {
        Ok(())
    }

    fn put(&mut self, _address: u64, _from: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The words that bytes are.
pub(super) fn words(bytes: &[u8], unit: Unit) -> SmallVec<[Word; 4]> {
    let chunks = bytes.chunks_exact(unit.bytes).take(unit.count);
    let word = |chunk: &[u8]| {
        let bytes = chunk.iter().rev();
        Wrapping(bytes.fold(0, |bits, &byte| bits << 8 | u32::from(byte)))
    };
    chunks.map(word).collect()
}

/// The bytes of words.
pub(super) fn bytes(words: &[Word], unit: Unit) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (to, word) in bytes.chunks_exact_mut(unit.bytes).zip(words) {
        to.copy_from_slice(&word.0.to_le_bytes()[..unit.bytes]);
    }
    bytes
}

impl<T: Texels> Machine for Host<'_, T> {
    type Float = f32;
    type Int = Word;
    type Mask = bool;

    fn float(&mut self, value: f32) -> f32 {
        value
    }
    fn int(&mut self, bits: u32) -> Word {
        Wrapping(bits)
    }
    fn umin(&mut self, a: Word, b: Word) -> Word {
        a.min(b)
    }
    fn smin(&mut self, a: Word, b: Word) -> Word {
        Wrapping((a.0 as i32).min(b.0 as i32) as u32)
    }
    fn smax(&mut self, a: Word, b: Word) -> Word {
        Wrapping((a.0 as i32).max(b.0 as i32) as u32)
    }
    fn fmin(&mut self, a: f32, b: f32) -> f32 {
        if a < b { a } else { b }
    }
    fn fmax(&mut self, a: f32, b: f32) -> f32 {
        if a > b { a } else { b }
    }
    fn to_signed(&mut self, value: f32) -> Word {
        Wrapping(value as i32 as u32)
    }
    fn signed_to_float(&mut self, value: Word) -> f32 {
        value.0 as i32 as f32
    }
    fn unsigned_to_float(&mut self, value: Word) -> f32 {
        value.0 as f32
    }
    fn half_to_float(&mut self, bits: Word) -> f32 {
        f16::from_bits(bits.0 as u16).to_f32()
    }
    fn float_to_half(&mut self, value: f32) -> Word {
        Wrapping(f16::from_f32(value).to_bits().into())
    }
    fn field(&mut self, field: Field) -> Word {
        Wrapping(self.image.field(field) as u32)
    }

    fn load(&mut self, dim: ImageDim, at: &[Word], unit: Unit) -> Words<Self> {
        let mut texel = [0; 16];
        let texel = &mut texel[..unit.bytes * unit.count];
        if let Err(error) = self.texels.fetch(self.address(dim, at), texel) {
            self.error.get_or_insert(error);
        }
        words(texel, unit)
    }

    fn store(
        &mut self,
        dim: ImageDim,
        at: &[Word],
        outside: Outside<Self>,
        unit: Unit,
        words: &[Word],
    ) {
        if outside == Some(true) {
            return;
        }
        let texel = bytes(words, unit);
        let texel = &texel[..unit.bytes * unit.count];
        if let Err(error) = self.texels.put(self.address(dim, at), texel) {
            self.error.get_or_insert(error);
        }
    }
}
