//! The formulas of the specification, in double precision, against what is done in single.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::address::{Coordinate, Tap, layer, place};
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
    assert_eq!(told, [1, 2, 3, 4, 0x10b5, 0x10dd, 1]);
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

/// Every normalized integer is the nearest single to its quotient, and comes back.
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
            let expected = (number / most).max(-1.0) as f32;
            let color = format.decode_float(&bytes);
            assert_eq!(color, [expected, 0.0, 0.0, 1.0]);
            // -1 has two encodings; the one that is written is -most.
            let back = if number < -most { value + 1 } else { value };
            assert_eq!(format.encode_float(color)[..4], back.to_le_bytes());
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
            let bytes = format.encode_float([9.0, 9.0, 9.0, value]);
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
        let [red, green, blue, alpha] = format.decode_float(&bytes);
        assert!(red == green && green == blue && red > before);
        before = red;
        assert_eq!(alpha, f32::from(value) / 255.0, "alpha is linear");
        let c = f64::from(red);
        let curved = if c < 0.0031308 {
            12.92 * c
        } else {
            1.055 * c.powf(1.0 / 2.4) - 0.055
        };
        // Half a unit in the last place of a single in [0.5, 1), near enough for those below.
        assert!(
            (curved - f64::from(value) / 255.0).abs() <= 6e-8,
            "{value}: {curved}"
        );
        assert_eq!(
            format.encode_float([red, green, blue, alpha])[..4],
            [value; 4]
        );
    }
    let edges = [f32::NAN, 2.0, -1.0, 1.0];
    assert_eq!(format.encode_float(edges)[..4], [0, 255, 0, 255]);
    assert_eq!(format.decode_float(&[255; 16]), [1.0; 4]);
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
                let color = format.decode_float(&bytes);
                let again = format.decode_float(&format.encode_float(color));
                (color.map(f32::to_bits), again.map(f32::to_bits))
            } else {
                let color = format.decode_int(&bytes, Component::Int);
                let texel = format.encode_int(color, Component::Int);
                (color, format.decode_int(&texel, Component::Int))
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

#[test]
fn integer_coordinates_are_exact() {
    let sampler = |addressing| Sampler {
        addressing,
        ..Sampler::NONE
    };
    let size = 1 << 30;
    for at in [-1, 0, 1, (1 << 24) + 1, size - 2, size - 1, size, i32::MAX] {
        let i = i64::from(at);
        let place = |addressing| place(sampler(addressing), Coordinate::Int(at), size as u32);
        assert_eq!(place(Addressing::None), Tap::One(i));
        let edge = i.clamp(0, i64::from(size) - 1);
        assert_eq!(place(Addressing::ClampToEdge), Tap::One(edge));
        assert_eq!(
            place(Addressing::Clamp),
            Tap::One(i.clamp(-1, i64::from(size)))
        );
    }
    assert_eq!(layer(Coordinate::Int(i32::MIN), 3), 0);
    assert_eq!(layer(Coordinate::Int(i32::MAX), 3), 2);
    for (at, expected) in [(0.5, 0), (1.5, 2), (-9.0, 0), (2.5, 2), (1e30, 2)] {
        assert_eq!(layer(Coordinate::Float(at), 3), expected);
    }
}

/// A texel outside is read as the border color by the modes that have one only.
#[test]
fn repeating_modes_stay_inside() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..100_000 {
        let size = rng.random_range(1..50);
        let addressing = match rng.random_range(0..3) {
            0 => Addressing::Repeat,
            1 => Addressing::MirroredRepeat,
            _ => Addressing::ClampToEdge,
        };
        let sampler = Sampler {
            normalized: true,
            addressing,
            linear: rng.random(),
        };
        let near = f32::from_bits(rng.random());
        let s = match rng.random_range(0..3) {
            // Coordinates that are infinite, normalized or not, are undefined.
            0 if (near * size as f32).is_finite() => near,
            1 => rng.random_range(-3i32..3) as f32 + f32::EPSILON.copysign(near),
            _ => rng.random_range(-3.0..3.0),
        };
        let inside = |at: i64| (0..i64::from(size)).contains(&at);
        match place(sampler, Coordinate::Float(s), size) {
            Tap::One(at) => assert!(inside(at), "{sampler:?} {s} of {size}: {at}"),
            Tap::Between([a, b], weight) => {
                assert!(inside(a) && inside(b), "{sampler:?} {s} of {size}: {a} {b}");
                assert!((0.0..=1.0).contains(&weight), "{sampler:?} {s}: {weight}");
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
            let sizes = descriptor.sizes(dim);
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
            let sizes = descriptor.sizes(dim);
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
