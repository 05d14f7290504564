//! What reads and writes are computed with: numbers of the host, or values of a function that is
//! being made.
//!
//! The formulas are written once, over [`Machine`]. [`super::host::Host`] does what they say at
//! once; `crate::lower::images` emits the same operations in the same order, and so the same bits.
//! What is known beforehand (format, dimensions, sampler) is plain Rust to both: it chooses what is
//! computed.

use brolga_mathlib::{Float, Int, Mask};
use smallvec::SmallVec;

use super::{Field, ImageDim};

/// Words of a texel, or its components.
pub(crate) type Words<M> = SmallVec<[<M as Machine>::Int; 4]>;

/// Whether coordinates lie outside an image; `None` if they cannot.
pub(crate) type Outside<M> = Option<<M as Machine>::Mask>;

/// How a texel is loaded and stored: as so many words, end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Bytes of a word: 1, 2 or 4.
    pub bytes: usize,
    pub count: usize,
}

/// Numbers of 32 bits and memory. Integers wrap.
pub(crate) trait Machine {
    type Float: Float<Int = Self::Int, Mask = Self::Mask>;
    type Int: Int<Mask = Self::Mask>;
    type Mask: Mask;

    fn float(&mut self, value: f32) -> Self::Float;
    fn int(&mut self, bits: u32) -> Self::Int;

    /// The lesser as unsigned numbers.
    fn umin(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// The lesser and the greater as signed numbers.
    fn smin(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn smax(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// `a < b ? a : b`; `b` is no NaN.
    fn fmin(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// `a > b ? a : b`; `b` is no NaN.
    fn fmax(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;

    /// An integral number as a signed integer, saturated; a NaN is 0.
    fn to_signed(&mut self, value: Self::Float) -> Self::Int;
    /// The nearest number to a signed integer.
    fn signed_to_float(&mut self, value: Self::Int) -> Self::Float;
    /// The nearest number to an unsigned integer.
    fn unsigned_to_float(&mut self, value: Self::Int) -> Self::Float;
    /// The number that the low 16 bits are as half precision.
    fn half_to_float(&mut self, bits: Self::Int) -> Self::Float;
    /// The nearest number of half precision, as 16 bits.
    fn float_to_half(&mut self, value: Self::Float) -> Self::Int;

    /// A field of 32 bits of the image's descriptor.
    fn field(&mut self, field: Field) -> Self::Int;
    /// The words of the texel at coordinates, zero-extended. It is one of the image's.
    fn load(&mut self, dim: ImageDim, at: &[Self::Int], unit: Unit) -> Words<Self>
    where
        Self: Sized;
    /// Stores the low bits of words as the texel at coordinates, which is one of the image's,
    /// unless that is not where it belongs.
    fn store(
        &mut self,
        dim: ImageDim,
        at: &[Self::Int],
        outside: Outside<Self>,
        unit: Unit,
        words: &[Self::Int],
    ) where
        Self: Sized;
}
