//! Mipmapped images: which levels an instruction is of.
//!
//! The levels of an image are descriptors in a row ([`Descriptor`]), so that a level is chosen by
//! choosing an address, and what reads, writes and asks is the same as for an image without levels.
//! The specification leaves open which levels a level of detail means; it is as in Vulkan, "Image
//! Level(s) Selection".

use smallvec::SmallVec;

use super::body::Body;
use super::constants::Const;
use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::images::OPERANDS;
use super::types::ImageType;
use crate::image::{Descriptor, Field, LevelsOfDetail};
use crate::ir::{BinOp, Builtin, ConvertOp, FloatCC, IntCC, Op as IrOp, Scalar, Type, UnOp, Value};

/// What an instruction says about the level that is meant.
pub(super) enum Level {
    /// The first one.
    Base,
    /// Its index.
    Index(Value),
    /// A level of detail, a number of single precision.
    Lod(Value),
    /// The derivatives of the coordinates along x and along y.
    Gradients([Value; 2]),
}

/// The levels that are read, and how much the second counts if there is one.
pub(super) struct Levels {
    pub first: Value,
    pub second: Option<(Value, Value)>,
}

impl FunctionTranslator<'_, '_> {
    /// The operand Lod of a read that is sampled.
    pub(super) fn lod(&mut self, inst: &Inst<'_>, id: Id) -> Result<Level> {
        // A literal 0 is how reads without a level of detail are written.
        if self.is_zero(inst, id)? {
            return Ok(Level::Base);
        }
        let lod = self.float(inst, id)?;
        self.check_level(inst, lod, Type::F32, "a level of detail")?;
        Ok(Level::Lod(lod))
    }

    /// The operands of Grad.
    pub(super) fn gradients(
        &mut self,
        inst: &Inst<'_>,
        ids: &[Id],
        image: ImageType,
    ) -> Result<Level> {
        let ty = Type::new(Scalar::F32, image.dim.dimensions() as u8);
        let mut gradient = |id| {
            let value = self.float(inst, id)?;
            self.check_level(inst, value, ty, "a gradient")?;
            Ok(value)
        };
        Ok(Level::Gradients([gradient(ids[0])?, gradient(ids[1])?]))
    }

    /// A level that is told by its index.
    pub(super) fn level_index(&mut self, inst: &Inst<'_>, id: Id) -> Result<Level> {
        if self.is_zero(inst, id)? {
            return Ok(Level::Base);
        }
        let index = self.value(inst, id)?;
        self.check_level(inst, index, Type::I32, "a level")?;
        Ok(Level::Index(index))
    }

    fn check_level(&self, inst: &Inst<'_>, value: Value, ty: Type, what: &str) -> Result<()> {
        let found = self.body.ty(value);
        match found == ty {
            true => Ok(()),
            false => Err(self
                .error(inst, format!("{what} has type {found}, expected {ty}"))
                .under(OPERANDS)),
        }
    }

    /// Whether an operand is a constant 0.
    fn is_zero(&self, inst: &Inst<'_>, id: Id) -> Result<bool> {
        Ok(match &self.unit.constants[id as usize] {
            Some((_, Const::Null)) => true,
            // A negative zero is one too.
            Some((ty, Const::Lanes(lanes))) => {
                let ty = self.unit.type_of_id(inst, *ty)?.ir();
                let sign = ty.filter(|ty| ty.scalar.is_float());
                let sign = sign.map_or(0, |ty| 1 << (ty.scalar.bits() - 1));
                lanes.iter().all(|lane| lane & !sign == 0)
            }
            _ => false,
        })
    }
}

impl Body {
    /// How many levels there are; 0 for a null pointer to an image.
    fn level_count(&mut self, address: Value) -> Value {
        self.b()
            .val(IrOp::ImageQuery(Field::Levels), &[address], Type::I32)
    }

    /// The greatest index of a level.
    fn last_level(&mut self, address: Value) -> Value {
        let count = self.level_count(address);
        let one = self.iconst(Type::I32, 1);
        self.b().binary(BinOp::USubSat, count, one)
    }

    /// How many levels a kernel is told there are.
    pub(super) fn levels_told(&mut self, address: Value) -> Value {
        let count = self.level_count(address);
        let one = self.iconst(Type::I32, 1);
        self.b().binary(BinOp::UMax, count, one)
    }

    /// The descriptor of the level with an index, or of the last one: no other is touched, whatever
    /// the index is.
    fn level_at(&mut self, address: Value, index: Value) -> Value {
        let last = self.last_level(address);
        let index = self.b().binary(BinOp::UMin, index, last);
        let index = self.b().convert(ConvertOp::ZExt, index, Type::I64);
        self.step(address, index, Descriptor::SIZE as u64, true)
    }

    /// The descriptor of the level that an instruction without a sampler is of.
    pub(super) fn level(&mut self, address: Value, level: Level) -> Value {
        match level {
            Level::Index(index) => self.level_at(address, index),
            // Levels of detail and gradients are for reads that are sampled.
            Level::Base | Level::Lod(_) | Level::Gradients(_) => address,
        }
    }

    /// The levels that are read with a sampler.
    pub(super) fn levels(
        &mut self,
        image: ImageType,
        address: Value,
        sampler: Value,
        level: Level,
    ) -> Levels {
        let lod = match level {
            Level::Lod(lod) => lod,
            Level::Gradients(gradients) => {
                self.lod_of_gradients(image, address, sampler, gradients)
            }
            Level::Base | Level::Index(_) => {
                return Levels {
                    first: self.level(address, level),
                    second: None,
                };
            }
        };
        let lod = self.clamp_lod(address, sampler, lod);
        let nearest = self.nearest_level(lod);
        if self.has_one_level(sampler) {
            return Levels {
                first: self.float_level(address, nearest),
                second: None,
            };
        }
        let bit = self.iconst(Type::I32, 1 << LevelsOfDetail::LINEAR_AT);
        let zero = self.iconst(Type::I32, 0);
        let none = self.fconst(Type::F32, 0.0);
        let one = self.fconst(Type::F32, 1.0);
        let mut b = self.b();
        let bits = b.binary(BinOp::And, sampler, bit);
        let linear = b.icmp(IntCC::Ne, bits, zero);
        let low = b.unary(UnOp::Floor, lod);
        let fraction = b.binary(BinOp::FSub, lod, low);
        let fraction = b.select(linear, fraction, none);
        let low = b.select(linear, low, nearest);
        let next = b.binary(BinOp::FAdd, low, one);
        let both = b.fcmp(FloatCC::One, fraction, none);
        let high = b.select(both, next, low);
        Levels {
            first: self.float_level(address, low),
            second: Some((self.float_level(address, high), fraction)),
        }
    }

    fn float_level(&mut self, address: Value, level: Value) -> Value {
        let index = self.b().convert(ConvertOp::FToU, level, Type::I32);
        self.level_at(address, index)
    }

    /// Whether it is known that a sampler does not filter levels.
    fn has_one_level(&self, sampler: Value) -> bool {
        let def = self.func.def_inst(sampler);
        def.is_some_and(|def| match self.func.insts[def].op {
            IrOp::Const(bits) => !LevelsOfDetail::from_bits(bits as u32).linear,
            _ => false,
        })
    }

    /// Between the sampler's bounds, and levels that there are. A NaN is the least.
    fn clamp_lod(&mut self, address: Value, sampler: Value, lod: Value) -> Value {
        let mask = self.iconst(Type::I32, LevelsOfDetail::BOUND.into());
        let least_at = self.iconst(Type::I32, LevelsOfDetail::LEAST_AT.into());
        let most_at = self.iconst(Type::I32, LevelsOfDetail::MOST_AT.into());
        let step = self.fconst(Type::F32, f64::from(1.0 / LevelsOfDetail::STEPS));
        let last = self.last_level(address);
        let mut b = self.b();
        let last = b.convert(ConvertOp::UToF, last, Type::F32);
        let least = b.binary(BinOp::LShr, sampler, least_at);
        let least = b.binary(BinOp::And, least, mask);
        let least = b.convert(ConvertOp::UToF, least, Type::F32);
        let least = b.binary(BinOp::FMul, least, step);
        let below = b.binary(BinOp::LShr, sampler, most_at);
        let below = b.binary(BinOp::And, below, mask);
        let most = b.binary(BinOp::ISub, mask, below);
        let most = b.convert(ConvertOp::UToF, most, Type::F32);
        let most = b.binary(BinOp::FMul, most, step);
        let lod = b.binary(BinOp::FMax, lod, least);
        let lod = b.binary(BinOp::FMin, lod, most);
        b.binary(BinOp::FMin, lod, last)
    }

    /// The lower one of two that are equally near.
    fn nearest_level(&mut self, lod: Value) -> Value {
        let half = self.fconst(Type::F32, 0.5);
        let one = self.fconst(Type::F32, 1.0);
        let mut b = self.b();
        let above = b.binary(BinOp::FAdd, lod, half);
        let above = b.unary(UnOp::Ceil, above);
        b.binary(BinOp::FSub, above, one)
    }

    /// The logarithm of how many texels of the first level lie between two pixels: of the longer
    /// one of the two derivatives.
    fn lod_of_gradients(
        &mut self,
        image: ImageType,
        address: Value,
        sampler: Value,
        gradients: [Value; 2],
    ) -> Value {
        let sizes = [Field::Width, Field::Height, Field::Depth];
        let sizes = &sizes[..image.dim.dimensions()];
        let normalized = self.iconst(Type::I32, 1);
        let one = self.fconst(Type::F32, 1.0);
        let normalized = self.b().binary(BinOp::And, sampler, normalized);
        let zero = self.iconst(Type::I32, 0);
        let normalized = self.b().icmp(IntCC::Ne, normalized, zero);
        let scales: SmallVec<[Value; 3]> = sizes
            .iter()
            .map(|&size| {
                let mut b = self.b();
                let size = b.val(IrOp::ImageQuery(size), &[address], Type::I32);
                let size = b.convert(ConvertOp::UToF, size, Type::F32);
                b.select(normalized, size, one)
            })
            .collect();
        let squares = gradients.map(|gradient| {
            let parts = self.scalars(gradient);
            let mut b = self.b();
            let parts = parts.iter().zip(&scales);
            let squares = parts.map(|(&part, &scale)| {
                let texels = b.binary(BinOp::FMul, part, scale);
                b.binary(BinOp::FMul, texels, texels)
            });
            let squares: SmallVec<[Value; 3]> = squares.collect();
            let (&first, rest) = squares.split_first().expect("images have a dimension");
            rest.iter()
                .fold(first, |sum, &square| b.binary(BinOp::FAdd, sum, square))
        });
        let half = self.fconst(Type::F32, 0.5);
        let mut b = self.b();
        let longest = b.binary(BinOp::FMax, squares[0], squares[1]);
        let log = b.val(IrOp::Builtin(Builtin::Log2), &[longest], Type::F32);
        b.binary(BinOp::FMul, log, half)
    }

    /// A component between those of two levels, of which the second counts `fraction`. One that
    /// does not count is not looked at: it may be infinite.
    pub(super) fn between(&mut self, first: Value, second: Value, fraction: Value) -> Value {
        let ty = self.ty(first);
        let zero = self.fconst(Type::F32, 0.0);
        let one = self.fconst(Type::F32, 1.0);
        let mut b = self.b();
        let [a, c] = [first, second].map(|component| match ty == Type::F32 {
            true => component,
            false => b.convert(ConvertOp::FToF, component, Type::F32),
        });
        let rest = b.binary(BinOp::FSub, one, fraction);
        let part = b.binary(BinOp::FMul, rest, a);
        let other = b.binary(BinOp::FMul, fraction, c);
        let sum = b.binary(BinOp::FAdd, part, other);
        let sum = match ty == Type::F32 {
            true => sum,
            false => b.convert(ConvertOp::FToF, sum, ty),
        };
        let alone = b.fcmp(FloatCC::Oeq, fraction, zero);
        b.select(alone, first, sum)
    }
}
