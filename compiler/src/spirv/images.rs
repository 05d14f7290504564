//! Images and samplers: reading with and without a sampler, writing, asking.
//!
//! A read without a sampler is one with `Sampler::NONE`. Coordinates and components are taken apart
//! here, so that the IR has them as operands and results of their own.

use rspirv::spirv::{ImageOperands, Op};
use smallvec::{SmallVec, smallvec};

use super::body::Body;
use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::mipmaps::Level;
use super::rules::{Rule, VALIDATION};
use super::types::{ImageType, Kind};
use crate::image::{Component, Field, Sampler};
use crate::ir::{BinOp, ConvertOp, Image, Op as IrOp, Scalar, Type, Value};
use crate::kernel_info::{AccessQualifier, AddressSpace};

pub(super) const OPERANDS: Rule = Rule::Spirv("Image Operands");
const COORDINATES: Rule = Rule::Env("Coordinate Format for Reading and Writing Images");
const DATA: Rule = Rule::Env("Data Format for Reading and Writing Images");

type Scalars = SmallVec<[Value; 4]>;

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn image(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        match op {
            Op::SampledImage => self.sampled_image(inst)?,
            Op::Image => {
                let (_, values) = self.sampled_operand(inst, inst.operands[0])?;
                self.define(inst, values[0])?;
            }
            Op::ImageSampleExplicitLod => {
                let (ty, values) = self.sampled_operand(inst, inst.operands[0])?;
                self.read_image(inst, ty, values[0], values[1])?;
            }
            Op::ImageRead => {
                let (ty, image) = self.image_operand(inst, inst.operands[0])?;
                let sampler = self.body.iconst(Type::I32, Sampler::NONE.bits().into());
                self.read_image(inst, ty, image, sampler)?;
            }
            Op::ImageWrite => self.write_image(inst)?,
            Op::ImageQuerySizeLod => self.query_size(inst, Some(inst.operands[1]))?,
            Op::ImageQuerySize => self.query_size(inst, None)?,
            // "Image Channel Order Mapping", "Image Channel Data Type Mapping": enumerated as the
            // API's are, from 0.
            Op::ImageQueryOrder => self.query_format(inst, Field::Order, 0x10b0)?,
            Op::ImageQueryFormat => self.query_format(inst, Field::DataType, 0x10d0)?,
            Op::ImageQueryLevels => {
                let (_, address) = self.image_operand(inst, inst.operands[0])?;
                let ty = self.integer_result(inst)?;
                if !ty.is_scalar() {
                    return Err(self.error(inst, "the result type is not a scalar"));
                }
                let levels = self.body.levels_told(address);
                let levels = self.body.resize(levels, ty.scalar);
                self.define(inst, levels)?;
            }
            Op::ImageQuerySamples => {
                return Err(self.error(inst, "the image is not one of several samples"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An operand that is an image.
    pub(super) fn image_operand(&mut self, inst: &Inst<'_>, id: Id) -> Result<(ImageType, Value)> {
        let ty = self.unit.type_of(inst, id)?;
        let Kind::Image(image) = self.unit.type_of_id(inst, ty)?.kind else {
            return Err(self.not_a(inst, id, "an image"));
        };
        Ok((image, self.typed(inst, id, Type::PTR)?))
    }

    /// An operand that is an image with a sampler, and the two.
    fn sampled_operand(&mut self, inst: &Inst<'_>, id: Id) -> Result<(ImageType, [Value; 2])> {
        let ty = self.unit.type_of(inst, id)?;
        let Kind::SampledImage(image) = self.unit.type_of_id(inst, ty)?.kind else {
            return Err(self.not_a(inst, id, "a sampled image"));
        };
        match self.values(inst, id)?.as_slice() {
            &[address, sampler] => Ok((image, [address, sampler])),
            _ => Err(self.not_a(inst, id, "a sampled image")),
        }
    }

    fn not_a(&self, inst: &Inst<'_>, id: Id, what: &str) -> crate::diagnostic::Diagnostic {
        let name = self.unit.binary.describe(id);
        self.error(inst, format!("the operand {name} is not {what}"))
    }

    fn sampled_image(&mut self, inst: &Inst<'_>) -> Result<()> {
        let (image, address) = self.image_operand(inst, inst.operands[0])?;
        let id = inst.operands[1];
        let of_sampler = self.unit.type_of(inst, id)?;
        if !matches!(self.unit.type_of_id(inst, of_sampler)?.kind, Kind::Sampler) {
            return Err(self.not_a(inst, id, "a sampler"));
        }
        let sampler = self.typed(inst, id, Type::I32)?;
        let ty = self.unit.result_type(inst)?;
        match self.unit.type_of_id(inst, ty)?.kind {
            Kind::SampledImage(of) if of == image => {
                self.define_values(inst, smallvec![address, sampler])
            }
            _ => Err(self.error(inst, "the result type is not the image's, sampled")),
        }
    }

    /// The coordinates that an image has, from a vector that may have more.
    fn coordinates(
        &mut self,
        inst: &Inst<'_>,
        image: ImageType,
        id: Id,
        allowed: &[Scalar],
    ) -> Result<Scalars> {
        let value = self.value(inst, id)?;
        let (ty, count) = (self.body.ty(value), image.dim.coordinates());
        if !allowed.contains(&ty.scalar) || usize::from(ty.lanes) < count {
            let names: Vec<&str> = allowed.iter().map(|scalar| scalar.name()).collect();
            return Err(self
                .error(
                    inst,
                    format!(
                        "the coordinate has type {ty}, expected {count} of {} for an {}",
                        names.join(" or "),
                        image.name()
                    ),
                )
                .under(COORDINATES));
        }
        let mut scalars = self.body.scalars(value);
        scalars.truncate(count);
        Ok(scalars)
    }

    /// What a kernel sees of an image's components, given the type of a texel.
    fn component(
        &self,
        inst: &Inst<'_>,
        image: ImageType,
        texel: Type,
        sign: Option<Component>,
    ) -> Result<Component> {
        let fits = texel.lanes == 4 || texel.lanes == 1 && image.depth;
        let component = match (texel.scalar, sign) {
            _ if !fits => None,
            (Scalar::F32, None) => Some(Component::F32),
            (Scalar::F16, None) => Some(Component::F16),
            (Scalar::I32, sign) => Some(sign.unwrap_or(Component::Int)),
            (Scalar::F32 | Scalar::F16, Some(_)) => {
                return Err(self
                    .error(inst, "texels of floats are not extended")
                    .under(OPERANDS));
            }
            _ => None,
        };
        component.ok_or_else(|| {
            let count = if image.depth { "one or four" } else { "four" };
            self.error(
                inst,
                format!(
                    "the texel has type {texel}, expected {count} of f32, f16 or i32 for an {}",
                    image.name()
                ),
            )
            .under(DATA)
        })
    }

    /// Checks the image operands from the `at`-th word on, and says how integers are extended, and
    /// which level is meant.
    fn image_operands(
        &mut self,
        inst: &Inst<'_>,
        at: usize,
        image: ImageType,
    ) -> Result<(Option<Component>, Level)> {
        let Some((&mask, ids)) = inst.operands.get(at..).and_then(<[u32]>::split_first) else {
            return Ok((None, Level::Base));
        };
        let wrong = |why: &str| Err(self.error(inst, why).under(OPERANDS));
        let Some(operands) = ImageOperands::from_bits(mask) else {
            return wrong("unknown image operands");
        };
        if operands.contains(ImageOperands::CONST_OFFSET) {
            return Err(self
                .error(inst, "the image operand ConstOffset is not allowed")
                .under(VALIDATION));
        }
        let served = ImageOperands::LOD
            | ImageOperands::GRAD
            | ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND
            | ImageOperands::NONTEMPORAL;
        if !served.contains(operands) {
            return wrong("of image operands, kernels have Lod, Grad and extensions only");
        }
        let sampled = inst.op() == Op::ImageSampleExplicitLod;
        let (lod, grad) = (
            operands.contains(ImageOperands::LOD),
            operands.contains(ImageOperands::GRAD),
        );
        if lod && grad || sampled && !lod && !grad {
            return wrong("the level of detail is given by one of Lod and Grad");
        }
        if grad && !sampled {
            return wrong("the image operand Grad is for sampling");
        }
        let expected = usize::from(lod) + 2 * usize::from(grad);
        if ids.len() != expected {
            return wrong("wrong word count: not as many image operands as their mask says");
        }
        let level = match (sampled, lod) {
            (true, true) => self.lod(inst, ids[0])?,
            (true, false) => self.gradients(inst, ids, image)?,
            (false, true) => self.level_index(inst, ids[0])?,
            (false, false) => Level::Base,
        };
        let extended = match (
            operands.contains(ImageOperands::SIGN_EXTEND),
            operands.contains(ImageOperands::ZERO_EXTEND),
        ) {
            (true, true) => {
                return Err(self
                    .error(inst, "texels are extended in one way only")
                    .under(OPERANDS));
            }
            (true, false) => Some(Component::Signed),
            (false, true) => Some(Component::Unsigned),
            (false, false) => None,
        };
        Ok((extended, level))
    }

    /// `OpImageRead` and `OpImageSampleExplicitLod`
    fn read_image(
        &mut self,
        inst: &Inst<'_>,
        ty: ImageType,
        address: Value,
        sampler: Value,
    ) -> Result<()> {
        if ty.access == AccessQualifier::WriteOnly {
            return Err(self.error(inst, "the image is one that is only written"));
        }
        let allowed = [Scalar::I32, Scalar::F32];
        let coordinates = self.coordinates(inst, ty, inst.operands[1], &allowed)?;
        let (sign, level) = self.image_operands(inst, 2, ty)?;
        let texel = self.unit.result_ir(inst)?;
        let image = Image {
            space: match ty.access {
                AccessQualifier::ReadOnly => AddressSpace::Constant,
                _ => AddressSpace::Global,
            },
            dim: ty.dim,
            component: self.component(inst, ty, texel, sign)?,
            masked: false,
        };
        let levels = self.body.levels(ty, address, sampler, level);
        let mut read = |address| {
            let mut args: SmallVec<[Value; 5]> = smallvec![address, sampler];
            args.extend_from_slice(&coordinates);
            let results = vec![texel.lane(); usize::from(texel.lanes)];
            let mut b = self.body.b();
            let read = b.ins(IrOp::ImageRead(image), &args, &results);
            b.func.insts[read].results.clone()
        };
        let mut components = read(levels.first);
        // Filters are for floating-point components; with others, a linear one is undefined.
        if let Some((second, fraction)) = levels.second
            && image.component.is_float()
        {
            let others = read(second);
            for (component, other) in components.iter_mut().zip(others) {
                *component = self.body.between(*component, other, fraction);
            }
        }
        let value = self.body.build(&components);
        self.define(inst, value)
    }

    fn write_image(&mut self, inst: &Inst<'_>) -> Result<()> {
        let (ty, address) = self.image_operand(inst, inst.operands[0])?;
        if ty.access == AccessQualifier::ReadOnly {
            return Err(self.error(inst, "the image is one that is only read"));
        }
        let coordinates = self.coordinates(inst, ty, inst.operands[1], &[Scalar::I32])?;
        let texel = self.value(inst, inst.operands[2])?;
        let (sign, level) = self.image_operands(inst, 3, ty)?;
        let address = self.body.level(address, level);
        let component = self.component(inst, ty, self.body.ty(texel), sign)?;
        let image = Image {
            space: AddressSpace::Global,
            dim: ty.dim,
            component,
            masked: false,
        };
        let mut args: SmallVec<[Value; 8]> = smallvec![address];
        args.extend(coordinates);
        args.extend(self.body.scalars(texel));
        self.body.b().ins(IrOp::ImageWrite(image), &args, &[]);
        Ok(())
    }

    fn integer_result(&self, inst: &Inst<'_>) -> Result<Type> {
        let ty = self.unit.result_ir(inst)?;
        if ty.scalar.is_int() {
            Ok(ty)
        } else {
            Err(self.error(
                inst,
                format!("the result type is {ty}, not one of integers"),
            ))
        }
    }

    /// The sizes of an image, or of the level that an operand tells.
    fn query_size(&mut self, inst: &Inst<'_>, level: Option<Id>) -> Result<()> {
        let (image, mut address) = self.image_operand(inst, inst.operands[0])?;
        if let Some(level) = level {
            let level = self.level_index(inst, level)?;
            address = self.body.level(address, level);
        }
        let ty = self.integer_result(inst)?;
        let mut fields: SmallVec<[Field; 3]> = smallvec![Field::Width, Field::Height, Field::Depth];
        fields.truncate(image.dim.dimensions());
        if image.dim.is_array() {
            fields.push(Field::Layers);
        }
        if fields.len() != usize::from(ty.lanes) {
            return Err(self.error(
                inst,
                format!(
                    "the result type is {ty}, expected {} components for an {}",
                    fields.len(),
                    image.name()
                ),
            ));
        }
        let sizes: Scalars = fields
            .into_iter()
            .map(|field| self.body.query(address, field, ty))
            .collect();
        let value = match sizes.as_slice() {
            [one] => *one,
            all => self.body.b().val(IrOp::Build, all, ty),
        };
        self.define(inst, value)
    }

    fn query_format(&mut self, inst: &Inst<'_>, field: Field, first: u64) -> Result<()> {
        let (_, address) = self.image_operand(inst, inst.operands[0])?;
        let ty = self.integer_result(inst)?;
        if !ty.is_scalar() {
            return Err(self.error(inst, "the result type is not a scalar"));
        }
        let number = self.body.query(address, field, ty);
        let first = self.body.iconst(ty, first);
        let value = self.body.b().binary(BinOp::ISub, number, first);
        self.define(inst, value)
    }
}

impl Body {
    /// A field of an image's descriptor, in the width of a result's components.
    pub(super) fn query(&mut self, address: Value, field: Field, ty: Type) -> Value {
        let mut b = self.b();
        let value = b.val(IrOp::ImageQuery(field), &[address], Type::I32);
        match ty.scalar {
            Scalar::I32 => value,
            Scalar::I64 => b.convert(ConvertOp::ZExt, value, Type::I64),
            _ => b.convert(ConvertOp::Trunc, value, ty.lane()),
        }
    }
}
