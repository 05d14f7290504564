//! Image formats: the bytes of a texel, and the components they stand for ("Image Format
//! Descriptor" of the OpenCL API Specification).
//!
//! A texel is channels one after the other, each of the channel data type's size, or fields of bits
//! of one number. The channel order says which component each channel is.

/// Declares an enum of the API's numbers.
macro_rules! numbers {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident { $($(#[$vmeta:meta])* $Variant:ident = $number:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        $vis enum $Enum { $($(#[$vmeta])* $Variant = $number,)* }

        impl $Enum {
            /// Every variant, in declaration order.
            pub const ALL: &'static [$Enum] = &[$($Enum::$Variant,)*];

            /// The variant with the API's number.
            pub fn from_number(number: u32) -> Option<$Enum> {
                match number { $($number => Some($Enum::$Variant),)* _ => None }
            }
        }
    };
}

numbers! {
    /// `cl_channel_order`
    pub enum ChannelOrder {
        R = 0x10b0,
        A = 0x10b1,
        Rg = 0x10b2,
        Ra = 0x10b3,
        Rgb = 0x10b4,
        Rgba = 0x10b5,
        Bgra = 0x10b6,
        Argb = 0x10b7,
        Intensity = 0x10b8,
        Luminance = 0x10b9,
        Rx = 0x10ba,
        Rgx = 0x10bb,
        Rgbx = 0x10bc,
        Depth = 0x10bd,
        Srgb = 0x10bf,
        Srgbx = 0x10c0,
        Srgba = 0x10c1,
        Sbgra = 0x10c2,
        Abgr = 0x10c3,
    }
}

numbers! {
    /// `cl_channel_type`
    pub enum DataType {
        SnormInt8 = 0x10d0,
        SnormInt16 = 0x10d1,
        UnormInt8 = 0x10d2,
        UnormInt16 = 0x10d3,
        UnormShort565 = 0x10d4,
        UnormShort555 = 0x10d5,
        UnormInt101010 = 0x10d6,
        SignedInt8 = 0x10d7,
        SignedInt16 = 0x10d8,
        SignedInt32 = 0x10d9,
        UnsignedInt8 = 0x10da,
        UnsignedInt16 = 0x10db,
        UnsignedInt32 = 0x10dc,
        HalfFloat = 0x10dd,
        Float = 0x10de,
        UnormInt101010_2 = 0x10e0,
        UnormInt10x6 = 0x10e1,
        UnormInt2_101010 = 0x10e5,
        UnsignedInt10x6 = 0x10e6,
        UnsignedInt12x4 = 0x10e7,
        UnsignedInt14x2 = 0x10e8,
        UnormInt12x4 = 0x10e9,
        UnormInt14x2 = 0x10ea,
    }
}

/// A channel that is there and is nothing (`x`): it is not read, and what is written is the alpha
/// of the color, as where there is one.
pub(super) const IGNORED: usize = 4;

impl ChannelOrder {
    /// The component of each channel: R, G, B, A are 0 to 3.
    pub(super) fn channels(self) -> &'static [usize] {
        use ChannelOrder::*;
        match self {
            R | Intensity | Luminance | Depth => &[0],
            A => &[3],
            Rg => &[0, 1],
            Ra => &[0, 3],
            Rgb | Srgb => &[0, 1, 2],
            Rgba | Srgba => &[0, 1, 2, 3],
            Bgra | Sbgra => &[2, 1, 0, 3],
            Argb => &[3, 0, 1, 2],
            Abgr => &[3, 2, 1, 0],
            Rx => &[0, IGNORED],
            Rgx => &[0, 1, IGNORED],
            Rgbx | Srgbx => &[0, 1, 2, IGNORED],
        }
    }

    pub(super) fn is_srgb(self) -> bool {
        use ChannelOrder::*;
        matches!(self, Srgb | Srgbx | Srgba | Sbgra)
    }
}

/// A field of a packed texel: its lowest bit and how many there are.
type Bits = (u32, u32);

impl DataType {
    /// Whether components are floating-point numbers for a kernel.
    pub fn is_float(self) -> bool {
        self.int_range().is_none()
    }

    /// Bytes of a channel; of the whole texel if it is packed.
    pub(super) fn bytes(self) -> usize {
        use DataType::*;
        match self {
            SnormInt8 | UnormInt8 | SignedInt8 | UnsignedInt8 => 1,
            SnormInt16 | UnormInt16 | SignedInt16 | UnsignedInt16 | HalfFloat | UnormShort565
            | UnormShort555 | UnormInt10x6 | UnormInt12x4 | UnormInt14x2 | UnsignedInt10x6
            | UnsignedInt12x4 | UnsignedInt14x2 => 2,
            SignedInt32 | UnsignedInt32 | Float | UnormInt101010 | UnormInt101010_2
            | UnormInt2_101010 => 4,
        }
    }

    /// Bits below the number in a channel: what the second number of `10x6` says.
    pub(super) fn padding(self) -> u32 {
        use DataType::*;
        match self {
            UnormInt10x6 | UnsignedInt10x6 => 6,
            UnormInt12x4 | UnsignedInt12x4 => 4,
            UnormInt14x2 | UnsignedInt14x2 => 2,
            _ => 0,
        }
    }

    /// The greatest number of as many bits as a channel has.
    fn most(self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes() as u32 + self.padding())
    }

    /// Where the channels of a packed texel are.
    pub(super) fn fields(self) -> Option<&'static [Bits]> {
        Some(match self {
            DataType::UnormShort565 => &[(11, 5), (5, 6), (0, 5)],
            DataType::UnormShort555 => &[(10, 5), (5, 5), (0, 5)],
            DataType::UnormInt101010 => &[(20, 10), (10, 10), (0, 10)],
            DataType::UnormInt101010_2 => &[(22, 10), (12, 10), (2, 10), (0, 2)],
            DataType::UnormInt2_101010 => &[(30, 2), (20, 10), (10, 10), (0, 10)],
            _ => return None,
        })
    }

    /// The least and greatest integer of those that are not normalized.
    pub(super) fn int_range(self) -> Option<(i64, i64)> {
        Some(match self {
            DataType::SignedInt8 => (i8::MIN.into(), i8::MAX.into()),
            DataType::SignedInt16 => (i16::MIN.into(), i16::MAX.into()),
            DataType::SignedInt32 => (i32::MIN.into(), i32::MAX.into()),
            DataType::UnsignedInt8
            | DataType::UnsignedInt16
            | DataType::UnsignedInt32
            | DataType::UnsignedInt10x6
            | DataType::UnsignedInt12x4
            | DataType::UnsignedInt14x2 => (0, self.most().into()),
            _ => return None,
        })
    }
}

/// A channel order and a channel data type that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub order: ChannelOrder,
    pub data_type: DataType,
}

impl Format {
    /// The format, if the order has the channels that a packed data type is of.
    pub fn new(order: ChannelOrder, data_type: DataType) -> Option<Format> {
        use ChannelOrder::{Abgr, R, Rg, Rgb, Rgba, Rgbx};
        let fits = match data_type.fields().map(<[_]>::len) {
            None if data_type.padding() != 0 => matches!(order, R | Rg | Rgba),
            None => true,
            Some(3) => matches!(order, Rgb | Rgbx),
            Some(_) if data_type == DataType::UnormInt2_101010 => order == Abgr,
            Some(_) => order == Rgba,
        };
        // "Conversion Rules for sRGBA and sBGRA Images" are of normalized 8-bit unsigned integers.
        let linear = !order.is_srgb() || data_type == DataType::UnormInt8;
        (fits && linear).then_some(Format { order, data_type })
    }

    /// Bytes of a texel, at most 16.
    pub fn texel_size(self) -> usize {
        match self.data_type.fields() {
            Some(_) => self.data_type.bytes(),
            None => self.data_type.bytes() * self.order.channels().len(),
        }
    }

    /// "Determining the Border Color or Value" (OpenCL C Specification). It differs from a texel of
    /// zeros where a channel order without an alpha channel has a transparent border.
    pub(super) fn border(self) -> [f32; 4] {
        use ChannelOrder::*;
        match self.order {
            R | Rg | Rgb | Srgb | Luminance | Depth => [0.0, 0.0, 0.0, 1.0],
            A | Intensity | Rx | Ra | Rgx | Rgbx | Srgbx | Argb | Bgra | Abgr | Rgba | Srgba
            | Sbgra => [0.0; 4],
        }
    }

    /// Components from those that have a channel: "Mapping Image Data to Vector Components".
    pub(super) fn spread<N: Copy>(self, mut color: [N; 4]) -> [N; 4] {
        match self.order {
            ChannelOrder::Intensity => color = [color[0]; 4],
            ChannelOrder::Luminance => (color[1], color[2]) = (color[0], color[0]),
            _ => {}
        }
        color
    }
}
