//! From the words of a texel to its components, and back: "Conversion Rules" and "Mapping Image
//! Data to Vector Components".

use brolga_mathlib::{Float, Int};
use smallvec::{SmallVec, smallvec};

use super::format::IGNORED;
use super::host::{self, Host, Nowhere};
use super::machine::{Machine, Unit, Words};
use super::{Component, DataType, Descriptor, Format, convert};

/// Where the bits of a channel are.
#[derive(Clone, Copy)]
struct Field {
    word: usize,
    low: u32,
    length: u32,
}

impl Field {
    /// The greatest number that fits.
    fn most(self) -> u32 {
        u32::MAX >> (32 - self.length)
    }

    /// As a number that is not negative.
    fn unsigned<M: Machine>(self, words: &[M::Int], unit: Unit) -> M::Int {
        let word = words[self.word];
        let word = match self.low {
            0 => word,
            low => word.shr(low),
        };
        if self.low + self.length == 8 * unit.bytes as u32 {
            word
        } else {
            word & word.lit(self.most().into())
        }
    }

    /// A number, and what it is multiplied by to be the field's, which is not negative. What a
    /// single holds where it is in the word need not be moved.
    fn scaled<M: Machine>(self, m: &mut M, words: &[M::Int], unit: Unit) -> (M::Float, f32) {
        let end = self.low + self.length;
        if self.low == 0 || end > f32::MANTISSA_DIGITS || end == 8 * unit.bytes as u32 {
            let bits = self.unsigned::<M>(words, unit);
            return (m.signed_to_float(bits), 1.0);
        }
        let word = words[self.word];
        let bits = word & word.lit(u64::from(self.most()) << self.low);
        // 2 to the power of -low.
        let scale = f32::from_bits((127 - self.low) << (f32::MANTISSA_DIGITS - 1));
        (m.signed_to_float(bits), scale)
    }

    /// As a number whose highest bit is the sign.
    fn signed<M: Machine>(self, words: &[M::Int]) -> M::Int {
        let unused = 32 - self.length;
        match unused {
            0 => words[self.word],
            _ => words[self.word].shl(unused - self.low).sar(unused),
        }
    }
}

/// A component of floats that has a channel: what is read of it, and what that is multiplied by at
/// the end.
pub(super) struct Channel<M: Machine> {
    pub component: usize,
    pub value: M::Float,
    pub scale: Option<f32>,
}

impl Format {
    /// How a texel is accessed.
    pub(crate) fn unit(self) -> Unit {
        let size = self.texel_size();
        let bytes = match size {
            _ if size.is_multiple_of(4) => 4,
            _ if size.is_multiple_of(2) => 2,
            _ => 1,
        };
        Unit {
            bytes,
            count: size / bytes,
        }
    }

    /// The component of each channel, and where it is.
    fn fields(self) -> impl Iterator<Item = (usize, Field)> {
        let (unit, packed) = (self.unit(), self.data_type.fields());
        let channels = self.order.channels().iter().enumerate();
        channels.filter_map(move |(n, &component)| {
            let field = match packed {
                Some(packed) => {
                    let &(low, length) = packed.get(n)?;
                    Field {
                        word: 0,
                        low,
                        length,
                    }
                }
                None => {
                    let size = self.data_type.bytes();
                    let (at, padding) = (n * size, self.data_type.padding());
                    Field {
                        word: at / unit.bytes,
                        low: 8 * (at % unit.bytes) as u32 + padding,
                        length: 8 * size as u32 - padding,
                    }
                }
            };
            Some((component, field))
        })
    }

    /// The components of floats that have a channel. Those of words that are 0 are 0.
    pub(super) fn decode_channels<M: Machine>(
        self,
        m: &mut M,
        words: &[M::Int],
    ) -> SmallVec<[Channel<M>; 4]> {
        let unit = self.unit();
        let channels = self.fields().filter(|&(component, _)| component != IGNORED);
        channels
            .map(|(component, field)| {
                let (value, scale) = match self.data_type {
                    DataType::SnormInt8 | DataType::SnormInt16 => {
                        let most = field.most() >> 1;
                        let value = field.signed::<M>(words);
                        let value = convert::from_snorm(m, value, most);
                        (value, Some(1.0 / most as f32))
                    }
                    DataType::Float => (M::Float::from_bits(words[field.word]), None),
                    DataType::HalfFloat => {
                        let word = words[field.word];
                        let bits = match field.low {
                            0 => word,
                            low => word.shr(low),
                        };
                        (m.half_to_float(bits), None)
                    }
                    _ => {
                        let (value, scale) = field.scaled(m, words, unit);
                        let scale = scale / field.most() as f32;
                        if self.order.is_srgb() && component < 3 {
                            let value = value * value.lit(scale.into());
                            (convert::from_srgb(value), None)
                        } else {
                            (value, Some(scale))
                        }
                    }
                };
                Channel {
                    component,
                    value,
                    scale,
                }
            })
            .collect()
    }

    /// The components of a texel of integers, extended to 32 bits.
    pub(super) fn decode_int<M: Machine>(
        self,
        m: &mut M,
        words: &[M::Int],
        component: Component,
    ) -> [M::Int; 4] {
        let unit = self.unit();
        let signed = self.is_signed(component) && self.data_type.padding() == 0;
        let mut color = [m.int(0), m.int(0), m.int(0), m.int(1)];
        for (component, field) in self.fields() {
            if component != IGNORED {
                color[component] = if signed {
                    field.signed::<M>(words)
                } else {
                    field.unsigned::<M>(words, unit)
                };
            }
        }
        self.spread(color)
    }

    /// Whether a kernel's integers are signed.
    fn is_signed(self, component: Component) -> bool {
        match component {
            Component::Signed => true,
            Component::Unsigned => false,
            _ => self
                .data_type
                .int_range()
                .is_some_and(|(least, _)| least < 0),
        }
    }

    /// A texel of these components, whose bits they are; `component` is of the format's kind.
    pub fn encode(self, color: [u32; 4], component: Component) -> [u8; 16] {
        let nothing = Descriptor::NONE;
        let mut nowhere = Nowhere;
        let mut m = Host::new(&nothing, &mut nowhere);
        let color = color.map(std::num::Wrapping);
        let words = match component {
            Component::F32 => self.encode_float(&mut m, color.map(Float::from_bits)),
            Component::F16 => {
                let color = color.map(|bits| m.half_to_float(bits));
                self.encode_float(&mut m, color)
            }
            Component::Int | Component::Signed | Component::Unsigned => {
                self.encode_int(&mut m, color, component)
            }
        };
        host::bytes(&words, self.unit())
    }

    /// The words of a texel of these components.
    pub(super) fn encode_float<M: Machine>(self, m: &mut M, color: [M::Float; 4]) -> Words<M> {
        let numbers = self.fields().map(|(component, field)| {
            let value = color[component.min(3)];
            let bits = match self.data_type {
                DataType::SnormInt8 | DataType::SnormInt16 => {
                    convert::to_snorm(m, value, field.most() >> 1)
                }
                DataType::Float => value.to_bits(),
                DataType::HalfFloat => m.float_to_half(value),
                _ if self.order.is_srgb() && component < 3 => convert::to_srgb(m, value),
                _ => convert::to_unorm(m, value, field.most()),
            };
            (field, bits)
        });
        pack::<M>(numbers)
    }

    /// The words of a texel of these components, which are 32-bit integers; "The conversions must
    /// be correctly saturated".
    pub(super) fn encode_int<M: Machine>(
        self,
        m: &mut M,
        color: [M::Int; 4],
        component: Component,
    ) -> Words<M> {
        let signed = self.is_signed(component);
        let (least, most) = self.data_type.int_range().unwrap_or_default();
        let numbers = self.fields().map(|(component, field)| {
            let value = color[component.min(3)];
            let mut bits = value;
            if signed {
                if least > i32::MIN.into() {
                    bits = m.smax(bits, value.ilit(least));
                }
                if most < i32::MAX.into() {
                    bits = m.smin(bits, value.ilit(most));
                }
            } else if most < u32::MAX.into() {
                bits = m.umin(bits, value.ilit(most));
            }
            if signed && least < 0 && field.length < 32 {
                bits = bits & value.lit(field.most().into());
            }
            (field, bits)
        });
        pack::<M>(numbers)
    }
}

/// Words of which these numbers are fields. Words are in the order of their first fields.
fn pack<M: Machine>(numbers: impl Iterator<Item = (Field, M::Int)>) -> Words<M> {
    let mut words: Words<M> = smallvec![];
    for (field, bits) in numbers {
        let bits = match field.low {
            0 => bits,
            low => bits.shl(low),
        };
        match words.get_mut(field.word) {
            Some(word) => *word = *word | bits,
            None => words.push(bits),
        }
    }
    words
}
