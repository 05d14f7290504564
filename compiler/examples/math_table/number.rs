//! The floating-point types.

use half::f16;

use brolga_mathlib_testing::Precision;

/// The type of a function's arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Half,
    Float,
    Double,
}

impl Type {
    pub const ALL: [Type; 3] = [Type::Half, Type::Float, Type::Double];

    /// In IR.
    pub fn name(self) -> &'static str {
        ["f16", "f32", "f64"][self as usize]
    }

    /// The integer of the same width, in IR.
    pub fn int_name(self) -> &'static str {
        ["i16", "i32", "i64"][self as usize]
    }

    /// In OpenCL C.
    pub fn c_name(self) -> &'static str {
        ["half", "float", "double"][self as usize]
    }

    pub fn precision(self) -> Precision {
        [Precision::HALF, Precision::FLOAT, Precision::DOUBLE][self as usize]
    }
}

/// A floating-point number.
pub trait Number: Copy + Default + 'static {
    const TYPE: Type;

    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// The nearest to a number.
    fn nearest(x: f64) -> Self;
    fn value(self) -> f64;
    /// So many steps away, past infinity to NaN.
    fn step(self, by: i64) -> Self {
        Self::from_bits(self.bits().wrapping_add_signed(by))
    }
    fn is_nan(self) -> bool {
        self.value().is_nan()
    }
}

impl Number for f16 {
    const TYPE: Type = Type::Half;

    fn from_bits(bits: u64) -> f16 {
        f16::from_bits(bits as u16)
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    fn nearest(x: f64) -> f16 {
        f16::from_f64(x)
    }
    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Number for f32 {
    const TYPE: Type = Type::Float;

    fn from_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    fn nearest(x: f64) -> f32 {
        x as f32
    }
    fn value(self) -> f64 {
        self.into()
    }
}

impl Number for f64 {
    const TYPE: Type = Type::Double;

    fn from_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn nearest(x: f64) -> f64 {
        x
    }
    fn value(self) -> f64 {
        self
    }
}
