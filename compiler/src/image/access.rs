//! Reading and writing one texel of an image.

use std::num::Wrapping;

use brolga_mathlib::{Float, Int};
use smallvec::{SmallVec, smallvec};

use super::address::{Coordinate, Tap, Texel, layer, place};
use super::host::Host;
use super::machine::{Machine, Outside, Words};
use super::{Component, Descriptor, Format, ImageDim, Sampler, Texels};

/// The coordinates of a texel; those that the image's dimensionality does not have are not looked
/// at.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Int([i32; 3]),
    Float([f32; 3]),
}

/// The components of a texel.
pub(crate) enum Color<M: Machine> {
    Float([M::Float; 4]),
    Int([M::Int; 4]),
}

/// An image, as far as it is known before its texels are, and what a kernel sees of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub dim: ImageDim,
    pub format: Format,
    pub component: Component,
}

impl View {
    /// Whether the image's components are of the kind that the kernel asks for.
    pub(crate) fn fits(self) -> bool {
        self.format.data_type.is_float() == self.component.is_float()
    }
}

/// What is read at the coordinates of a view that fits. The image has texels.
pub(crate) fn read_texel<M: Machine>(
    m: &mut M,
    view: View,
    sampler: Sampler,
    at: &[Coordinate<M>],
) -> Color<M> {
    let View { dim, format, .. } = view;
    let is_float = view.component.is_float();
    // The filter is for floating-point components; with others, a linear one is undefined.
    let sampler = Sampler {
        linear: sampler.linear && is_float,
        ..sampler
    };
    let taps: SmallVec<[Tap<M>; 3]> = (dim.sizes().iter().zip(at).enumerate())
        .map(|(n, (&size, at))| {
            let size = m.field(size);
            if n < dim.dimensions() {
                place(m, sampler, at, size)
            } else {
                Tap::One(Texel {
                    at: layer(m, at, size),
                    outside: None,
                })
            }
        })
        .collect();
    if !is_float {
        let (words, _) = fetch(m, view, taps.iter().map(|tap| first(tap)));
        return Color::Int(format.decode_int(m, &words, view.component));
    }
    Color::Float(filter(m, view, &taps))
}

fn first<M: Machine>(tap: &Tap<M>) -> &Texel<M> {
    match tap {
        Tap::One(texel) => texel,
        Tap::Between(both, _) => &both[0],
    }
}

/// The words of the texel of these numbers, zeros where one of them is outside, and whether.
fn fetch<'a, M: Machine + 'a>(
    m: &mut M,
    view: View,
    numbers: impl Iterator<Item = &'a Texel<M>>,
) -> (Words<M>, Outside<M>) {
    let mut at: SmallVec<[M::Int; 3]> = SmallVec::new();
    let mut outside: Outside<M> = None;
    for texel in numbers {
        at.push(texel.at);
        outside = either::<M>(outside, texel.outside);
    }
    let mut words = m.load(view.dim, &at, view.format.unit());
    if let Some(outside) = outside {
        for word in &mut words {
            *word = M::Int::select(outside, word.lit(0), *word);
        }
    }
    (words, outside)
}

fn either<M: Machine>(a: Outside<M>, b: Outside<M>) -> Outside<M> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a | b),
        (a, b) => a.or(b),
    }
}

/// The components of the texels that taps name, weighted: "Linear Filtering". What they are
/// multiplied by to be numbers of the format comes after the sum.
fn filter<M: Machine>(m: &mut M, view: View, taps: &[Tap<M>]) -> [M::Float; 4] {
    let format = view.format;
    // Components without a channel are as the border color says there, and constant elsewhere.
    let border = format.border();
    let mut constant = [0.0, 0.0, 0.0, 1.0];
    let mut sums: [Option<M::Float>; 4] = [None; 4];
    let mut scales = [None; 4];
    for Corner { numbers, weight } in corners(taps) {
        let (words, outside) = fetch(m, view, numbers.into_iter());
        let mut add = |n: usize, value: M::Float| {
            sums[n] = Some(match (sums[n], weight) {
                (Some(sum), Some(weight)) => weight.fma(value, sum),
                (None, Some(weight)) => weight * value,
                (_, None) => value,
            });
        };
        let mut has_alpha = false;
        for channel in format.decode_channels(m, &words) {
            has_alpha |= channel.component == 3;
            scales[channel.component] = channel.scale;
            add(channel.component, channel.value);
        }
        if let (Some(outside), false) = (outside, has_alpha)
            && border[3] != constant[3]
        {
            let (border, one) = (m.float(border[3]), m.float(constant[3]));
            add(3, M::Float::select(outside, border, one));
        }
    }
    let mut color = [0, 1, 2, 3].map(|n| match (sums[n], scales[n]) {
        (Some(sum), Some(scale)) => sum * sum.lit(f64::from(scale)),
        (Some(sum), None) => sum,
        (None, _) => m.float(std::mem::take(&mut constant[n])),
    });
    color = format.spread(color);
    color
}

/// A texel among those that are weighted: its number along each coordinate, and how much it counts
/// if there are several.
struct Corner<'a, M: Machine> {
    numbers: SmallVec<[&'a Texel<M>; 3]>,
    weight: Option<M::Float>,
}

/// The texels that taps along each coordinate come to, x changing first.
fn corners<M: Machine>(taps: &[Tap<M>]) -> SmallVec<[Corner<'_, M>; 8]> {
    let mut all: SmallVec<[Corner<'_, M>; 8]> = smallvec![Corner {
        numbers: SmallVec::new(),
        weight: None,
    }];
    for tap in taps {
        let texels = match tap {
            Tap::One(texel) => std::slice::from_ref(texel),
            Tap::Between(both, _) => both,
        };
        let mut more = SmallVec::new();
        for (n, texel) in texels.iter().enumerate() {
            for before in &all {
                let mut numbers = before.numbers.clone();
                numbers.push(texel);
                let weight = match (before.weight, tap) {
                    (weight, Tap::One(_)) => weight,
                    (None, Tap::Between(_, weights)) => Some(weights[n]),
                    (Some(product), Tap::Between(_, weights)) => Some(product * weights[n]),
                };
                more.push(Corner { numbers, weight });
            }
        }
        all = more;
    }
    all
}

/// Writes a texel of a view that fits. The image has texels; nothing is written outside.
pub(crate) fn write_texel<M: Machine>(m: &mut M, view: View, at: &[M::Int], color: Color<M>) {
    let View { dim, format, .. } = view;
    let mut outside: Outside<M> = None;
    let mut places: SmallVec<[M::Int; 3]> = SmallVec::new();
    for (&at, &size) in at.iter().zip(dim.sizes()) {
        let size = m.field(size);
        let inside = layer(m, &Coordinate::Int(at), size);
        outside = either::<M>(outside, Some(at.ne(inside)));
        places.push(inside);
    }
    let words = match color {
        Color::Float(color) => format.encode_float(m, color),
        Color::Int(color) => format.encode_int(m, color, view.component),
    };
    m.store(dim, &places, outside, format.unit(), &words);
}

/// The bits of the four components that are read at some coordinates ("Data Format for Reading and
/// Writing Images"): the first one is all there is of a depth image. Where the specification leaves
/// open what is read, it is a texel of the image, or zeros when the image's components are of
/// another kind than is asked for.
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
    let Some(view) = view(image, dim, component) else {
        return Ok([0; 4]);
    };
    let mut host = Host::new(image, texels);
    let at: [Coordinate<Host<'_, T>>; 3] = match at {
        At::Int(at) => at.map(|n| Coordinate::Int(Wrapping(n as u32))),
        At::Float(at) => at.map(Coordinate::Float),
    };
    let color = match read_texel(&mut host, view, sampler, &at[..dim.coordinates()]) {
        Color::Int(color) => color,
        Color::Float(color) => color.map(|c| match component {
            Component::F16 => host.float_to_half(c),
            _ => Float::to_bits(c),
        }),
    };
    host.finish()?;
    Ok(color.map(|bits| bits.0))
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
    let Some(view) = view(image, dim, component) else {
        return Ok(());
    };
    let mut host = Host::new(image, texels);
    let bits = color.map(Wrapping);
    let color = match component {
        Component::F32 => Color::Float(bits.map(Float::from_bits)),
        Component::F16 => Color::Float(bits.map(|bits| host.half_to_float(bits))),
        Component::Int | Component::Signed | Component::Unsigned => Color::Int(bits),
    };
    let at = at.map(|n| Wrapping(n as u32));
    write_texel(&mut host, view, &at[..dim.coordinates()], color);
    host.finish()
}

/// What there is to see of an image, if it has texels that a kernel can see so.
fn view(image: &Descriptor, dim: ImageDim, component: Component) -> Option<View> {
    let format = image.format()?;
    let view = View {
        dim,
        format,
        component,
    };
    let has_texels = dim.sizes().iter().all(|&size| image.field(size) != 0);
    (view.fits() && has_texels).then_some(view)
}
