//! Reads and writes of images whose format and sampler are known, as arithmetic and accesses to
//! memory.
//!
//! What flows in: a kernel at [`Stage::Scalarized`](crate::ir::Stage), and what the launch key
//! knows of its images and samplers ([`Bindings`]). What flows out: the same with `image_read` and
//! `image_write` expanded where that is enough; `vectorize` then makes lanes of what they do, as of
//! any other code. The formulas are those of [`crate::image`], emitted here by `expansion.rs`: the
//! same operations in the same order as the general routine does at once.
//!
//! - `objects.rs`: which parameters are images and samplers.
//! - `expansion.rs`: numbers and memory of code that is being made.
//! - `guarded.rs`: stores that are done where their texel is inside.
//!
//! A read is a straight line: coordinates are clamped to texels that there are, and what is loaded
//! there is replaced by the border color where it counts. Cost: linear.

mod expansion;
mod guarded;
mod objects;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use super::emit::{Emitter, rewrite};
use super::math::{FloatValue, IntValue, Sink};
use crate::analysis::{Across, Cfg, Shapes};
use crate::image::access::{Color, View, read_texel, write_texel};
use crate::image::address::Coordinate;
use crate::image::{Binding, Bindings, Component, Sampler};
use crate::ir::{ConvertOp, Function, Image, InstData, Op, Scalar, Value};
use crate::launch::LaunchKey;
use expansion::Expansion;
use guarded::GuardedStore;

pub use objects::{Object, objects};

/// Expands what a key knows enough of. Returns whether that was anything.
pub fn expand(func: &mut Function, objects: &[Object], key: &LaunchKey) -> bool {
    let found = Found::new(func, objects, &key.bindings);
    if found.images.is_empty() {
        return false;
    }
    let uniform = uniform_coordinates(func, key);
    let mut stores: Vec<GuardedStore> = Vec::new();
    let mut changed = false;
    rewrite(func, |e, data| {
        let values = match data.op {
            Op::ImageRead(image) => read(e, data, image, &found, &uniform),
            Op::ImageWrite(image) => write(e, data, image, &found, &uniform, &mut stores),
            _ => None,
        };
        changed |= values.is_some();
        values
    });
    guarded::split(func, &stores);
    changed
}

/// What is known of parameters.
struct Found {
    images: SmallVec<[(Value, Binding); 4]>,
    samplers: SmallVec<[(Value, Sampler); 4]>,
}

impl Found {
    fn new(func: &Function, objects: &[Object], bindings: &Bindings) -> Found {
        let mut found = Found {
            images: SmallVec::new(),
            samplers: SmallVec::new(),
        };
        for (n, object) in objects.iter().enumerate() {
            let param = func.params()[object.param];
            match bindings.get(n) {
                Some(Binding::Sampler(sampler)) => found.samplers.push((param, sampler)),
                Some(image) => found.images.push((param, image)),
                None => {}
            }
        }
        found
    }

    /// What a kernel sees of an image, if it is known and of the kind that it asks for.
    fn view(&self, func: &Function, value: Value, image: Image) -> Option<View> {
        let root = objects::image_of(func, value);
        let (_, binding) = self.images.iter().find(|(param, _)| *param == root)?;
        let Binding::Image(format) = *binding else {
            return None;
        };
        let view = View {
            dim: image.dim,
            format,
            component: image.component,
        };
        view.fits().then_some(view)
    }

    fn sampler(&self, func: &Function, value: Value) -> Option<Sampler> {
        if let Some(bits) = func.as_const(value) {
            return Some(Sampler::from_bits(bits as u32));
        }
        let found = self.samplers.iter().find(|(param, _)| *param == value)?;
        Some(found.1)
    }
}

/// The coordinates that are the same for all work-items of a vector.
fn uniform_coordinates(func: &Function, key: &LaunchKey) -> SecondaryMap<Value, bool> {
    let cfg = Cfg::new(func);
    let shapes = Shapes::new(func, &cfg, key, Across::Chunk(key.width));
    let mut uniform = SecondaryMap::new();
    for &block in &cfg.order {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if matches!(data.op, Op::ImageRead(_) | Op::ImageWrite(_)) {
                for &arg in &data.args {
                    uniform[arg] = shapes.at(func, &cfg, arg, block).is_uniform();
                }
            }
        }
    }
    uniform
}

fn read(
    e: &mut Emitter<'_>,
    data: &InstData,
    image: Image,
    found: &Found,
    uniform: &SecondaryMap<Value, bool>,
) -> Option<SmallVec<[Value; 2]>> {
    let view = found.view(e.func, data.args[0], image)?;
    let sampler = found.sampler(e.func, data.args[1])?;
    let coordinates = &data.args[2..2 + image.dim.coordinates()];
    let floats = e.ty(coordinates[0]).scalar == Scalar::F32;
    let components: SmallVec<[Value; 4]> = {
        let sink = Sink::new(&mut *e);
        let mut m = Expansion::new(&sink, data.args[0], image.space, coordinates, uniform);
        let at: SmallVec<[Coordinate<Expansion<'_, '_, '_>>; 3]> = coordinates
            .iter()
            .map(|&value| match floats {
                true => Coordinate::Float(FloatValue::new(&sink, value)),
                false => Coordinate::Int(IntValue::new(&sink, value)),
            })
            .collect();
        match read_texel(&mut m, view, sampler, &at) {
            Color::Float(color) => color.iter().map(|c| c.value()).collect(),
            Color::Int(color) => color.iter().map(|c| c.value()).collect(),
        }
    };
    let components = components.iter().take(data.results.len());
    Some(match image.component {
        Component::F16 => components
            .map(|&value| e.convert(ConvertOp::FToF, value, Scalar::F16))
            .collect(),
        _ => components.copied().collect(),
    })
}

fn write(
    e: &mut Emitter<'_>,
    data: &InstData,
    image: Image,
    found: &Found,
    uniform: &SecondaryMap<Value, bool>,
    stores: &mut Vec<GuardedStore>,
) -> Option<SmallVec<[Value; 2]>> {
    let view = found.view(e.func, data.args[0], image)?;
    let (place, components) = data.args.split_at(1 + image.dim.coordinates());
    let coordinates = &place[1..];
    let components: SmallVec<[Value; 4]> = components
        .iter()
        .map(|&value| match image.component {
            Component::F16 => e.convert(ConvertOp::FToF, value, Scalar::F32),
            _ => value,
        })
        .collect();
    // A write of one component has zeros for the others.
    let ty = e.ty(components[0]);
    let zero = e.iconst(ty, 0);
    let color = [0, 1, 2, 3].map(|n| components.get(n).copied().unwrap_or(zero));
    let sink = Sink::new(&mut *e);
    let mut m = Expansion::new(&sink, place[0], image.space, coordinates, uniform);
    let color = match image.component.is_float() {
        true => Color::Float(color.map(|value| FloatValue::new(&sink, value))),
        false => Color::Int(color.map(|value| IntValue::new(&sink, value))),
    };
    let at: SmallVec<[IntValue<'_>; 3]> = coordinates
        .iter()
        .map(|&value| IntValue::new(&sink, value))
        .collect();
    write_texel(&mut m, view, &at, color);
    stores.append(&mut m.stores);
    Some(SmallVec::new())
}
