//! What a module is built with, besides its words.

use std::collections::BTreeMap;

/// Build options that change generated code (already parsed from an option string).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BuildOptions {
    /// `-cl-opt-disable`
    pub opt_disable: bool,
    /// `-cl-mad-enable`
    pub mad_enable: bool,
    /// `-cl-unsafe-math-optimizations`
    pub unsafe_math: bool,
    /// `-cl-finite-math-only`
    pub finite_math_only: bool,
    /// `-cl-no-signed-zeros`
    pub no_signed_zeros: bool,
    /// `-cl-fast-relaxed-math`
    pub fast_relaxed_math: bool,
    /// `-cl-denorms-are-zero`
    pub denorms_are_zero: bool,
    /// The most instructions that a kernel has with every call inlined before functions stay
    /// functions; 0 keeps every call that can stay. A default if there is none.
    pub inline_limit: Option<usize>,
}

/// Values for specialization constants, by `SpecId`: the little-endian bytes
/// `clSetProgramSpecializationConstant` was given.
pub type SpecConstants = BTreeMap<u32, Vec<u8>>;

/// A specialization constant that a module declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecConstantInfo {
    pub spec_id: u32,
    /// Bytes of the value (1 for a Boolean).
    pub size: usize,
}
