//! Images: one of any kind and format that is read anywhere, in any way; and one that is read and
//! written, with a row of texels for each work-item.

use super::{Generator, OWN};
use brolga_compiler::image::{Component, ImageDim};
use brolga_compiler::ir::{Scalar, Type};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// The parameters.
const ANY: usize = 9;
const ROWS: usize = 10;

/// Formats as file tests name them, with the bytes of a texel.
const FLOATS: [(&str, u32); 12] = [
    ("rgba unorm_int16", 8),
    ("rgba half_float", 8),
    ("rgba float", 16),
    ("depth unorm_int16", 2),
    ("rgba unorm_int8", 4),
    ("bgra snorm_int8", 4),
    ("ra unorm_int16", 4),
    ("rgb unorm_short_565", 2),
    ("rgba unorm_int_101010_2", 4),
    ("rg half_float", 4),
    ("luminance float", 4),
    ("srgba unorm_int8", 4),
];
const INTEGERS: [(&str, u32); 4] = [
    ("rgba unsigned_int8", 4),
    ("abgr signed_int8", 4),
    ("r unsigned_int16", 2),
    ("rg signed_int32", 8),
];

/// What the first image is.
pub(super) struct Picture {
    dim: ImageDim,
    floats: bool,
    /// The argument.
    text: String,
}

impl Picture {
    pub fn new(rng: &mut ChaCha8Rng) -> Picture {
        let dim = ImageDim::ALL[rng.random_range(0..ImageDim::ALL.len())];
        let sizes: Vec<u32> = (0..dim.coordinates())
            .map(|_| rng.random_range(1..6))
            .collect();
        let floats = rng.random_bool(0.7);
        let (format, texel) = if floats {
            FLOATS[rng.random_range(0..FLOATS.len())]
        } else {
            INTEGERS[rng.random_range(0..INTEGERS.len())]
        };
        let bytes = texel * sizes.iter().product::<u32>();
        let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
        let (dim_name, seed) = (dim.name(), rng.random_range(0..100));
        let text = format!(
            "image {dim_name} {} {format} i8 random {bytes} {seed}",
            sizes.join("x")
        );
        Picture { dim, floats, text }
    }
}

impl Generator {
    /// The arguments, for the parameters 9 and 10.
    pub(super) fn image_arguments(&self) -> [String; 2] {
        let items = self.range.items();
        let texels = items * OWN;
        [
            self.picture.text.clone(),
            format!("image 2d {OWN}x{items} r signed_int32 i32 random {texels} 7"),
        ]
    }

    pub(super) fn image(&mut self) {
        match self.rng.random_range(0..8) {
            0..=4 => self.read_any(),
            5 => self.read_own(),
            6 => self.write_own(),
            _ => {
                let field = self.pick(&[
                    "width",
                    "height",
                    "depth",
                    "layers",
                    "order",
                    "data_type",
                    "levels",
                ]);
                let image = self.pick(&[ANY, ROWS]);
                let id = self.fresh();
                self.line(&format!("v{id}: i32 = image_query.{field} v{image}"));
                self.add(id, Type::I32, self.converged);
            }
        }
    }

    /// A read of an image: components that come into scope, one or four.
    fn read(&mut self, op: &str, component: Component, args: &[usize], uniform: bool) {
        let scalar = match component {
            Component::F32 => Scalar::F32,
            Component::F16 => Scalar::F16,
            _ => Scalar::I32,
        };
        let count = self.pick(&[1, 4]);
        let ids: Vec<usize> = (0..count).map(|_| self.fresh()).collect();
        let results: Vec<String> = ids
            .iter()
            .map(|id| format!("v{id}: {}", scalar.name()))
            .collect();
        let args: Vec<String> = args.iter().map(|arg| format!("v{arg}")).collect();
        let (results, args) = (results.join(", "), args.join(", "));
        self.line(&format!("{results} = {op}.{} {args}", component.name()));
        for id in ids {
            self.add(id, Type::new(scalar, 1), uniform && self.converged);
        }
    }

    fn read_any(&mut self) {
        let (dim, floats) = (self.picture.dim, self.picture.floats);
        // Now and then of another kind than the image's, which gives zeros.
        let component = match floats ^ self.chance(0.05) {
            true => self.pick(&[Component::F32, Component::F32, Component::F16]),
            false => self.pick(&[Component::Int, Component::Signed, Component::Unsigned]),
        };
        let alike = self.chance(0.2);
        let coordinate = Type::new(self.pick(&[Scalar::I32, Scalar::F32]), 1);
        // Any number is a sampler.
        let sampler = if self.chance(0.7) {
            let bits = self.rng.random_range(0..64);
            self.number(Type::I32, bits)
        } else if alike {
            self.uniform(Type::I32)
        } else {
            self.value(Type::I32)
        };
        let mut args = vec![sampler];
        for _ in 0..dim.coordinates() {
            args.push(if alike {
                self.uniform(coordinate)
            } else {
                self.value(coordinate)
            });
        }
        let uniform = args.iter().all(|&arg| self.is_uniform(arg));
        args.insert(0, ANY);
        let op = format!("image_read.constant.{}", dim.name());
        self.read(&op, component, &args, uniform);
    }

    /// The coordinates of a texel of this work-item.
    fn own_texel(&mut self) -> [usize; 2] {
        let k = if self.chance(0.6) {
            let k = self.rng.random_range(0..OWN);
            self.number(Type::I32, k)
        } else {
            let n = self.value(Type::I32);
            let mask = self.number(Type::I32, OWN - 1);
            self.emit(Type::I32, "and", &[n, mask])
        };
        let linear = self.linear;
        [k, self.emit(Type::I32, "convert.trunc.rte", &[linear])]
    }

    fn read_own(&mut self) {
        let [x, y] = self.own_texel();
        let sampler = self.number(Type::I32, 0x10);
        let kind = self.pick(&[Component::Int, Component::Signed, Component::Unsigned]);
        self.read("image_read.global.2d", kind, &[ROWS, sampler, x, y], false);
    }

    fn write_own(&mut self) {
        let [x, y] = self.own_texel();
        let value = self.value(Type::I32);
        let kind = self.pick(&["int", "sint"]);
        self.line(&format!(
            "image_write.global.2d.{kind} v{ROWS}, v{x}, v{y}, v{value}"
        ));
    }
}
