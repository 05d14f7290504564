//! The formulas of the specification, in double precision, against what is done in single.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use std::num::Wrapping;

use super::address::{Coordinate, Tap, Texel, layer, place};
use super::host::{Host, Nowhere};
use super::*;

/// Bytes from an address on; an access outside is an error.
struct Memory {
    base: u64,
    bytes: Vec<u8>,
}

impl Memory {
    fn range(&self, address: u64, size: usize) -> Result<std::ops::Range<usize>, String> {
        let at = address.wrapping_sub(self.base) as usize;
        match at.checked_add(size) {
            Some(end) if end <= self.bytes.len() => Ok(at..end),
            _ => Err(format!("{size} bytes at {at}")),
        }
    }
}

impl Texels for Memory {
    type Error = String;

    fn fetch(&mut self, address: u64, to: &mut [u8]) -> Result<(), String> {
        let range = self.range(address, to.len())?;
        to.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    fn put(&mut self, address: u64, from: &[u8]) -> Result<(), String> {
        let range = self.range(address, from.len())?;
        self.bytes[range].copy_from_slice(from);
        Ok(())
    }
}

/// Numbers of the host.
type Numbers = Host<'static, Nowhere>;

fn numbers() -> Numbers {
    static NOTHING: Descriptor = Descriptor::NONE;
    Host::new(&NOTHING, Box::leak(Box::new(Nowhere)))
}

/// What reads and writes make of a texel.
trait OnHost {
    fn read_float(self, bytes: &[u8; 16]) -> [f32; 4];
    fn write_float(self, color: [f32; 4]) -> [u8; 16];
    fn read_int(self, bytes: &[u8; 16], component: Component) -> [u32; 4];
    fn write_int(self, color: [u32; 4], component: Component) -> [u8; 16];
}

/// Reads a texel, which is all of an image.
fn read_one(format: Format, bytes: &[u8; 16], component: Component) -> [u32; 4] {
    let extent = Extent {
        width: 1,
        height: 1,
        depth: 1,
        layers: 1,
    };
    let image = Descriptor::new(0, extent, (0, 0), format);
    let mut memory = Memory {
        base: 0,
        bytes: bytes.to_vec(),
    };
    let (dim, sampler, at) = (ImageDim::Dim1, Sampler::NONE, At::Int([0; 3]));
    read(&mut memory, &image, dim, component, sampler, at).expect("inside")
}

impl OnHost for Format {
    fn read_float(self, bytes: &[u8; 16]) -> [f32; 4] {
        read_one(self, bytes, Component::F32).map(f32::from_bits)
    }
    fn write_float(self, color: [f32; 4]) -> [u8; 16] {
        self.encode(color.map(f32::to_bits), Component::F32)
    }
    fn read_int(self, bytes: &[u8; 16], component: Component) -> [u32; 4] {
        read_one(self, bytes, component)
    }
    fn write_int(self, color: [u32; 4], component: Component) -> [u8; 16] {
        self.encode(color, component)
    }
}

/// The sizes along each coordinate, 1 where there is none.
fn sizes(image: &Descriptor, dim: ImageDim) -> [u32; 3] {
    let mut sizes = [1; 3];
    for (to, &field) in sizes.iter_mut().zip(dim.sizes()) {
        *to = image.field(field) as u32;
    }
    sizes
}

fn formats() -> impl Iterator<Item = Format> {
    let orders = ChannelOrder::ALL.iter();
    orders.flat_map(|&order| {
        let types = DataType::ALL.iter();
        types.filter_map(move |&data_type| Format::new(order, data_type))
    })
}

/// An image of arbitrary bytes with gaps between rows and planes, and its memory.
fn image(rng: &mut ChaCha8Rng, dim: ImageDim, format: Format) -> (Descriptor, Memory) {
    let mut size = |there: bool| if there { rng.random_range(1..5) } else { 1 };
    let extent = Extent {
        width: size(true),
        height: size(dim.dimensions() > 1),
        depth: size(dim.dimensions() > 2),
        layers: size(dim.is_array()),
    };
    let texel = format.texel_size() as u64;
    let row = u64::from(extent.width) * texel + rng.random_range(0..3);
    let slice = u64::from(extent.height) * row + rng.random_range(0..5);
    let base = rng.random_range(0..1 << 40);
    let planes = u64::from(extent.depth * extent.layers);
    // The last row and the last plane need not be whole.
    let end =
        (planes - 1) * slice + u64::from(extent.height - 1) * row + u64::from(extent.width) * texel;
    let bytes = (0..end).map(|_| rng.random()).collect();
    (
        Descriptor::new(base, extent, (row, slice), format),
        Memory { base, bytes },
    )
}

#[test]
fn samplers_are_what_opencl_c_says() {
    const NORMALIZED: u32 = 1;
    let addressing = [
        (Addressing::None, 0),
        (Addressing::ClampToEdge, 2),
        (Addressing::Clamp, 4),
        (Addressing::Repeat, 6),
        (Addressing::MirroredRepeat, 8),
    ];
    for (addressing, bits) in addressing {
        for (linear, filter) in [(false, 0x10), (true, 0x20)] {
            for (normalized, coordinates) in [(false, 0), (true, NORMALIZED)] {
                let sampler = Sampler {
                    normalized,
                    addressing,
                    linear,
                };
                assert_eq!(sampler.bits(), bits | filter | coordinates);
                assert_eq!(Sampler::from_bits(sampler.bits()), sampler);
            }
        }
    }
}

#[test]
fn a_descriptor_is_its_bytes() {
    let extent = Extent {
        width: 1,
        height: 2,
        depth: 3,
        layers: 4,
    };
    let format = Format::new(ChannelOrder::Rgba, DataType::HalfFloat).expect("a format");
    let descriptor = Descriptor::new(0x1122_3344_5566_7788, extent, (9, 10), format);
    let bytes = descriptor.to_bytes();
    assert_eq!(Descriptor::from_bytes(&bytes), descriptor);
    let word = |field: Field| {
        let at = field.offset();
        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    let told: Vec<u32> = Field::ALL.iter().map(|&field| word(field)).collect();
    assert_eq!(told, [1, 2, 3, 4, 0x10b5, 0x10dd, 1, 0x5566_7788, 9, 10, 8]);
    for &field in Field::ALL {
        assert_eq!(descriptor.field(field) as u32, word(field), "{field:?}");
    }
    assert_eq!(descriptor.field(Field::Data), 0x1122_3344_5566_7788);
    assert_eq!(bytes[..8], 0x1122_3344_5566_7788u64.to_le_bytes());
    assert_eq!(descriptor.texel_size, 8);
}

/// Levels are halves, rounded down, and lie end to end.
#[test]
fn levels_follow_each_other() {
    let format = Format::new(ChannelOrder::Rgba, DataType::UnormInt8).expect("a format");
    for (extent, sizes) in [
        ([13, 4, 1, 1], [[13, 4, 1], [6, 2, 1], [3, 1, 1], [1, 1, 1]]),
        ([9, 1, 1, 5], [[9, 1, 1], [4, 1, 1], [2, 1, 1], [1, 1, 1]]),
        ([8, 5, 3, 1], [[8, 5, 3], [4, 2, 1], [2, 1, 1], [1, 1, 1]]),
    ] {
        let [width, height, depth, layers] = extent;
        let extent = Extent {
            width,
            height,
            depth,
            layers,
        };
        let mut end = 1000;
        let first = Descriptor::new(end, extent, (0, 0), format);
        let levels = first.levels(4);
        assert_eq!(levels.len(), 4);
        for (n, (level, size)) in levels.iter().zip(sizes).enumerate() {
            assert_eq!([level.width, level.height, level.depth], size);
            assert_eq!((level.layers, level.levels), (layers, 4 - n as u32));
            assert_eq!(level.data, end);
            assert_eq!(level.row_pitch, u64::from(size[0]) * 4);
            assert_eq!(level.slice_pitch, level.row_pitch * u64::from(size[1]));
            end += level.slice_pitch * u64::from(size[2] * layers);
        }
    }
}

/// Which levels are read is in the upper bits of the number, of which zeros are the default.
#[test]
fn levels_of_detail_of_samplers() {
    assert_eq!(LevelsOfDetail::DEFAULT.bits(), 0);
    assert_eq!(LevelsOfDetail::from_bits(0), LevelsOfDetail::DEFAULT);
    for (linear, least, most) in [(true, 0.0, 15.5), (false, 1.25, 3.0), (true, 2.0, 2.0)] {
        let detail = LevelsOfDetail {
            linear,
            least,
            most,
        };
        assert_eq!(LevelsOfDetail::from_bits(detail.bits()), detail);
        assert_eq!(detail.bits() & 0x3f, 0, "the rest of a sampler");
    }
    let far = LevelsOfDetail {
        linear: false,
        least: -3.0,
        most: f32::MAX,
    };
    assert_eq!(far.bits(), 0);
}

/// Every normalized integer is near its quotient, exactly it at the ends, and comes back
/// ("Converting Normalized Integer Channel Data Types to Floating-point Values").
#[test]
fn normalized_integers() {
    let channels = [
        (DataType::UnormInt8, 8, 255.0, false),
        (DataType::UnormInt16, 16, 65535.0, false),
        (DataType::SnormInt8, 8, 127.0, true),
        (DataType::SnormInt16, 16, 32767.0, true),
    ];
    for (data_type, bits, most, signed) in channels {
        let format = Format::new(ChannelOrder::R, data_type).expect("a format");
        for value in 0..1u32 << bits {
            let number = match (signed, bits) {
                (false, _) => f64::from(value),
                (true, 8) => f64::from(value as i8),
                (true, _) => f64::from(value as i16),
            };
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&value.to_le_bytes());
            let expected = (number / most).max(-1.0);
            let color = format.read_float(&bytes);
            assert_eq!(color[1..], [0.0, 0.0, 1.0]);
            let unit = f64::from((expected as f32).next_up()) - f64::from(expected as f32);
            let error = (f64::from(color[0]) - expected).abs();
            assert!(
                error <= 1.5 * unit,
                "{value} of {data_type:?}: {}",
                color[0]
            );
            if [-1.0, 0.0, 1.0].contains(&expected) {
                assert_eq!(f64::from(color[0]), expected, "{value} of {data_type:?}");
            }
            // -1 has two encodings; the one that is written is -most.
            let back = if number < -most { value + 1 } else { value };
            assert_eq!(format.write_float(color)[..4], back.to_le_bytes());
        }
    }
}

/// A component that is written differs from what would be without rounding by a half at most.
#[test]
fn rounding_of_normalized_integers() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let channels = [
        (DataType::UnormInt8, 255.0, 0.0),
        (DataType::UnormInt16, 65535.0, 0.0),
        (DataType::SnormInt8, 127.0, -128.0),
        (DataType::SnormInt16, 32767.0, -32768.0),
    ];
    for (data_type, most, least) in channels {
        let format = Format::new(ChannelOrder::A, data_type).expect("a format");
        for _ in 0..20_000 {
            let value: f32 = rng.random_range(-1.5..1.5);
            let bytes = format.write_float([9.0, 9.0, 9.0, value]);
            let stored = match data_type {
                DataType::UnormInt8 => f64::from(bytes[0]),
                DataType::UnormInt16 => f64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
                DataType::SnormInt8 => f64::from(bytes[0] as i8),
                _ => f64::from(i16::from_le_bytes([bytes[0], bytes[1]])),
            };
            let exact = (f64::from(value) * most).min(most).max(least);
            // The product is rounded to single precision first.
            assert!((stored - exact).abs() <= 0.5 + most * 6e-8, "{value}");
        }
    }
}

/// "Conversion Rules for sRGBA and sBGRA Images", by way of the inverse.
#[test]
fn srgb() {
    let format = Format::new(ChannelOrder::Srgba, DataType::UnormInt8).expect("a format");
    let mut before = -1.0;
    for value in 0..=255u8 {
        let mut bytes = [0; 16];
        bytes[..4].fill(value);
        let [red, green, blue, alpha] = format.read_float(&bytes);
        assert!(red == green && green == blue && red > before);
        before = red;
        assert_eq!(alpha, f32::from(value) * (1.0 / 255.0), "alpha is linear");
        let c = f64::from(red);
        let curved = if c < 0.0031308 {
            12.92 * c
        } else {
            1.055 * c.powf(1.0 / 2.4) - 0.055
        };
        // A few units in the last place of a single in [0.5, 1), near enough for those below.
        assert!(
            (curved - f64::from(value) / 255.0).abs() <= 2.4e-7,
            "{value}: {curved}"
        );
        assert_eq!(
            format.write_float([red, green, blue, alpha])[..4],
            [value; 4]
        );
    }
    let edges = [f32::NAN, 2.0, -1.0, 1.0];
    assert_eq!(format.write_float(edges)[..4], [0, 255, 0, 255]);
    assert_eq!(format.read_float(&[255; 16]), [1.0; 4]);
}

/// What was read from a texel and is written back reads the same.
#[test]
fn texels_come_back() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let packed = 3 * 2 + 2;
    let padded = 6 * 3;
    assert_eq!(formats().count(), 15 * 12 + 4 + packed + padded);
    for format in formats() {
        assert!(matches!(format.texel_size(), 1..=16), "{format:?}");
        for _ in 0..50 {
            let mut bytes = [0; 16];
            rng.fill(&mut bytes[..format.texel_size()]);
            let (first, second) = if format.data_type.is_float() {
                let color = format.read_float(&bytes);
                let again = format.read_float(&format.write_float(color));
                (color.map(f32::to_bits), again.map(f32::to_bits))
            } else {
                let color = format.read_int(&bytes, Component::Int);
                let texel = format.write_int(color, Component::Int);
                (color, format.read_int(&texel, Component::Int))
            };
            let nan = |bits: u32| f32::from_bits(bits).is_nan() && format.data_type.is_float();
            let same = first
                .iter()
                .zip(second)
                .all(|(&a, b)| a == b || nan(a) && nan(b));
            assert!(same, "{format:?}: {first:x?} {second:x?}");
        }
    }
}

/// The number of a texel, unless it is outside.
fn number(texel: &Texel<Numbers>) -> Option<i64> {
    (texel.outside != Some(true)).then_some(i64::from(texel.at.0 as i32))
}

#[test]
fn integer_coordinates_are_exact() {
    let sampler = |addressing| Sampler {
        addressing,
        ..Sampler::NONE
    };
    let mut m = numbers();
    let int = |at: i32| Coordinate::Int(Wrapping(at as u32));
    let size = 1 << 30;
    for at in [-1, 0, 1, (1 << 24) + 1, size - 2, size - 1, size, i32::MAX] {
        let mut place = |addressing| {
            let size = Wrapping(size as u32);
            match place(&mut m, sampler(addressing), &int(at), size) {
                Tap::One(texel) => number(&texel),
                Tap::Between(..) => panic!("one texel is read"),
            }
        };
        let edge = i64::from(at.clamp(0, size - 1));
        assert_eq!(place(Addressing::None), Some(edge));
        assert_eq!(place(Addressing::ClampToEdge), Some(edge));
        let inside = (0..size).contains(&at);
        assert_eq!(place(Addressing::Clamp), inside.then_some(edge));
    }
    let mut layer = |at| layer(&mut m, &at, Wrapping(3)).0;
    assert_eq!(layer(int(i32::MIN)), 0);
    assert_eq!(layer(int(i32::MAX)), 2);
    for (at, expected) in [(0.5, 0), (1.5, 2), (-9.0, 0), (2.5, 2), (1e30, 2)] {
        assert_eq!(layer(Coordinate::Float(at)), expected);
    }
}

/// Every texel named is inside, whatever the coordinates are; and weights are between 0 and 1.
#[test]
fn texels_that_are_read_are_inside() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut m = numbers();
    for round in 0..100_000 {
        let size = rng.random_range(1..50);
        let addressing = match rng.random_range(0..5) {
            0 => Addressing::Repeat,
            1 => Addressing::MirroredRepeat,
            2 => Addressing::None,
            3 => Addressing::Clamp,
            _ => Addressing::ClampToEdge,
        };
        let sampler = Sampler {
            normalized: rng.random_bool(0.8),
            addressing,
            linear: rng.random(),
        };
        let near = f32::from_bits(rng.random());
        let s = match rng.random_range(0..3) {
            0 => near,
            1 => rng.random_range(-3i32..3) as f32 + f32::EPSILON.copysign(near),
            _ => rng.random_range(-3.0..3.0),
        };
        let what = format!("{round}: {sampler:?} {s} of {size}");
        let inside = |texel: &Texel<Numbers>| {
            assert!(texel.at.0 < size, "{what}: {}", texel.at);
        };
        match place(&mut m, sampler, &Coordinate::Float(s), Wrapping(size)) {
            Tap::One(texel) => inside(&texel),
            Tap::Between(both, weights) => {
                both.iter().for_each(inside);
                // Coordinates that are infinite, normalized or not, are undefined.
                if (s * size as f32).is_finite() {
                    let fraction = weights.iter().all(|w| (0.0..=1.0).contains(w));
                    assert!(fraction, "{what}: {weights:?}");
                }
            }
        }
    }
}

/// Whatever the coordinates are, nothing outside the image is touched.
#[test]
fn accesses_stay_inside() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for round in 0..30 {
        for &dim in ImageDim::ALL {
            for format in formats() {
                let (descriptor, mut memory) = image(&mut rng, dim, format);
                let component = Component::ALL[rng.random_range(0..Component::ALL.len())];
                let sampler = Sampler::from_bits(rng.random());
                let at = if round % 2 == 0 {
                    At::Float(std::array::from_fn(|_| match rng.random_range(0..3) {
                        0 => f32::from_bits(rng.random()),
                        _ => rng.random_range(-2.0..6.0),
                    }))
                } else {
                    At::Int(std::array::from_fn(|_| match rng.random_range(0..3) {
                        0 => rng.random(),
                        _ => rng.random_range(-2..6),
                    }))
                };
                read(&mut memory, &descriptor, dim, component, sampler, at).expect("inside");
                if let At::Int(at) = at {
                    let color = rng.random();
                    write(&mut memory, &descriptor, dim, component, at, color).expect("inside");
                }
            }
        }
    }
}

/// A texel that is written is the one that is read there, and no other changes.
#[test]
fn one_texel_is_written() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let format = Format::new(ChannelOrder::Rg, DataType::UnsignedInt16).expect("a format");
    for &dim in ImageDim::ALL {
        for _ in 0..200 {
            let (descriptor, mut memory) = image(&mut rng, dim, format);
            let sizes = sizes(&descriptor, dim);
            let at = sizes.map(|size| rng.random_range(0..size as i32));
            let before = memory.bytes.clone();
            let color = [rng.random::<u16>().into(), rng.random::<u16>().into(), 9, 9];
            let kind = Component::Unsigned;
            write(&mut memory, &descriptor, dim, kind, at, color).expect("inside");
            let found = read(
                &mut memory,
                &descriptor,
                dim,
                kind,
                Sampler::NONE,
                At::Int(at),
            );
            assert_eq!(found, Ok([color[0], color[1], 0, 1]));
            let changed = before.iter().zip(&memory.bytes).filter(|(a, b)| a != b);
            assert!(changed.count() <= 4);
        }
    }
}

/// "Linear Filtering", in double precision.
#[test]
fn linear_filter() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let format = Format::new(ChannelOrder::R, DataType::UnormInt8).expect("a format");
    for &dim in ImageDim::ALL {
        for _ in 0..500 {
            let (descriptor, mut memory) = image(&mut rng, dim, format);
            let sizes = sizes(&descriptor, dim);
            let u: [f32; 3] =
                std::array::from_fn(|n| rng.random_range(-1.0..sizes[n] as f32 + 1.0));
            let mut expected = 0.0;
            for corner in 0..8 {
                let (mut weight, mut at) = (1.0, [0; 3]);
                for n in 0..3 {
                    let second = corner >> n & 1 == 1;
                    if n < dim.dimensions() {
                        let low = (u[n] - 0.5).floor();
                        let part = f64::from(u[n] - 0.5 - low);
                        weight *= if second { part } else { 1.0 - part };
                        at[n] = low as i32 + i32::from(second);
                    } else if n < dim.coordinates() {
                        let nearest = f64::from(u[n]).round_ties_even();
                        at[n] = nearest.clamp(0.0, f64::from(sizes[n] - 1)) as i32;
                        weight *= f64::from(u8::from(!second));
                    } else {
                        weight *= f64::from(u8::from(!second));
                    }
                }
                let inside = at
                    .iter()
                    .zip(sizes)
                    .all(|(&at, n)| (0..n as i32).contains(&at));
                if inside {
                    let texel = read(
                        &mut memory,
                        &descriptor,
                        dim,
                        Component::F32,
                        Sampler::NONE,
                        At::Int(at),
                    );
                    let texel = f32::from_bits(texel.expect("inside")[0]);
                    expected += weight * f64::from(texel);
                }
            }
            let sampler = Sampler {
                normalized: false,
                addressing: Addressing::Clamp,
                linear: true,
            };
            let found = read(
                &mut memory,
                &descriptor,
                dim,
                Component::F32,
                sampler,
                At::Float(u),
            );
            let found = f64::from(f32::from_bits(found.expect("inside")[0]));
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}
