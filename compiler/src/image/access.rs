//! Reading and writing one texel of an image.

use half::f16;

use super::address::{Coordinate, Tap, layer, place};
use super::{Component, Descriptor, Format, ImageDim, Sampler, Texels};

/// The coordinates of a texel; those that the image's dimensionality does not have are not looked
/// at.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Int([i32; 3]),
    Float([f32; 3]),
}

impl At {
    fn coordinate(self, n: usize) -> Coordinate {
        match self {
            At::Int(at) => Coordinate::Int(at[n]),
            At::Float(at) => Coordinate::Float(at[n]),
        }
    }
}

/// The bits of the four components that are read at some coordinates ("Data Format for Reading and
/// Writing Images"): the first one is all there is of a depth image. Where the specification leaves
/// open what is read, it is the border color, or zeros when the image's components are of another
/// kind than is asked for.
///
/// # Errors
/// If a texel cannot be fetched.
pub fn read<T: Texels>(
    texels: &mut T,
    image: &Descriptor,
    dim: ImageDim,
    component: Component,
    sampler: Sampler,
    at: At,
) -> Result<[u32; 4], T::Error> {
    let Some(format) = image.format() else {
        return Ok([0; 4]);
    };
    let is_float = format.data_type.is_float();
    if is_float != component.is_float() {
        return Ok([0; 4]);
    }
    // The filter is for floating-point components; with others, a linear one is undefined.
    let sampler = Sampler {
        linear: sampler.linear && is_float,
        ..sampler
    };
    let sizes = image.sizes(dim);
    let places: [Tap; 3] = std::array::from_fn(|n| {
        if n < dim.dimensions() {
            place(sampler, at.coordinate(n), sizes[n])
        } else if n < dim.coordinates() {
            Tap::One(layer(at.coordinate(n), sizes[n]))
        } else {
            Tap::One(0)
        }
    });
    let mut fetch = |at: [i64; 3]| -> Result<Option<[u8; 16]>, T::Error> {
        let Some(address) = image.address(dim, at) else {
            return Ok(None);
        };
        let mut bytes = [0; 16];
        texels.fetch(address, &mut bytes[..format.texel_size()])?;
        Ok(Some(bytes))
    };
    if let [Tap::One(x), Tap::One(y), Tap::One(z)] = places {
        let bytes = fetch([x, y, z])?;
        if !is_float {
            return Ok(match bytes {
                Some(bytes) => format.decode_int(&bytes, component),
                None => format.border().map(|one| one as u32),
            });
        }
        return Ok(to_bits(component, float_texel(format, bytes)));
    }
    let mut sum: Option<[f32; 4]> = None;
    for (k, c) in neighbours(places[2]) {
        for (j, b) in neighbours(places[1]) {
            for (i, a) in neighbours(places[0]) {
                let weight = [a, b, c].into_iter().flatten().reduce(|a, b| a * b);
                let weight = weight.unwrap_or(1.0);
                let part = float_texel(format, fetch([i, j, k])?).map(|t| weight * t);
                sum = Some(match sum {
                    None => part,
                    Some(sum) => std::array::from_fn(|n| sum[n] + part[n]),
                });
            }
        }
    }
    Ok(to_bits(component, sum.unwrap_or_default()))
}

/// The texels along a coordinate, each with its factor if there is one.
fn neighbours(place: Tap) -> impl Iterator<Item = (i64, Option<f32>)> + Clone {
    let (first, second) = match place {
        Tap::One(at) => ((at, None), None),
        Tap::Between([low, high], a) => ((low, Some(1.0 - a)), Some((high, Some(a)))),
    };
    std::iter::once(first).chain(second)
}

/// A texel, or the border color where there is none.
fn float_texel(format: Format, bytes: Option<[u8; 16]>) -> [f32; 4] {
    match bytes {
        Some(bytes) => format.decode_float(&bytes),
        None => format.border(),
    }
}

fn to_bits(component: Component, color: [f32; 4]) -> [u32; 4] {
    color.map(|c| match component {
        Component::F16 => u32::from(f16::from_f32(c).to_bits()),
        _ => c.to_bits(),
    })
}

/// Writes a texel, given the bits of its components. Nothing is written outside the image or when
/// its components are of another kind, which is undefined.
///
/// # Errors
/// If the texel cannot be put where it belongs.
pub fn write<T: Texels>(
    texels: &mut T,
    image: &Descriptor,
    dim: ImageDim,
    component: Component,
    at: [i32; 3],
    color: [u32; 4],
) -> Result<(), T::Error> {
    let mut place = [0; 3];
    for (to, from) in place.iter_mut().zip(at).take(dim.coordinates()) {
        *to = i64::from(from);
    }
    let (Some(format), Some(address)) = (image.format(), image.address(dim, place)) else {
        return Ok(());
    };
    if format.data_type.is_float() != component.is_float() {
        return Ok(());
    }
    let bytes = format.encode(color, component);
    texels.put(address, &bytes[..format.texel_size()])
}
