//! What is known of the images and samplers that a launch binds to a kernel's parameters.

use super::{ChannelOrder, DataType, Descriptor, Format, Sampler};

/// Images and samplers of a kernel of which anything is known: the first ones.
pub const MOST_BINDINGS: usize = 12;

/// Images and samplers, in the order in which a kernel has them as parameters. It is part of what
/// code is specialised for, so it is small, and holds nothing that differs between images of a
/// format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bindings([u16; MOST_BINDINGS]);

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// An image of a format, which has texels, all less than 2^31 bytes from the first.
    Image(Format),
    Sampler(Sampler),
}

/// Set where something is known; and then for a sampler.
const KNOWN: u16 = 1 << 15;
const SAMPLER: u16 = 1 << 14;
/// Where the number of a format's channel order is, above that of its data type.
const ORDER_AT: u32 = 7;
const ORDERS: u32 = 0x10b0;
const DATA_TYPES: u32 = 0x10d0;

impl Bindings {
    /// Nothing is known.
    pub const NONE: Bindings = Bindings([0; MOST_BINDINGS]);

    /// Makes an image known, as far as what is made of it holds for others like it.
    pub fn bind_image(&mut self, n: usize, image: &Descriptor) {
        if let Some(format) = image.format().filter(|_| image.is_small()) {
            let order = (format.order as u32 - ORDERS) << ORDER_AT;
            self.0[n] = KNOWN | (order | (format.data_type as u32 - DATA_TYPES)) as u16;
        }
    }

    /// Makes a sampler known. Levels of detail do not matter to how one level is read.
    pub fn bind_sampler(&mut self, n: usize, bits: u32) {
        self.0[n] = KNOWN | SAMPLER | Sampler::from_bits(bits).bits() as u16;
    }

    /// What is known of the `n`-th one.
    pub fn get(&self, n: usize) -> Option<Binding> {
        let bits = *self.0.get(n)?;
        let number = u32::from(bits & (SAMPLER - 1));
        if bits & KNOWN == 0 {
            return None;
        }
        if bits & SAMPLER != 0 {
            return Some(Binding::Sampler(Sampler::from_bits(number)));
        }
        let order = ChannelOrder::from_number((number >> ORDER_AT) + ORDERS)?;
        let data_type = DataType::from_number((number & ((1 << ORDER_AT) - 1)) + DATA_TYPES)?;
        Some(Binding::Image(Format::new(order, data_type)?))
    }
}
