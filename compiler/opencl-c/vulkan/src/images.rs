//! Images and samplers: sampled images for what is only read, storage images for what is written.
//!
//! OpenCL's images tell what their texels are when they are made, and Vulkan's types say it: an
//! image is of what the kernel reads from it or writes to it. Images and samplers are loaded where
//! they are used, as they cannot pass through variables.

use std::collections::BTreeSet;

use rspirv::spirv::{Dim, NonsemanticClspvreflectionOp as Reflect, Op, StorageClass};
use rustc_hash::FxHashMap;

use super::flatten::Flat;
use super::input::{Constant, Input};
use super::ir::{Arg, Id, Inst};
use super::lower::{Lower, Result, Val};
use super::types::{Ty, Type, Types};

const LOD: u32 = 0x2;
const GRAD: u32 = 0x4;
const SIGN_EXTEND: u32 = 0x1000;
const ZERO_EXTEND: u32 = 0x2000;

/// `CL_R` and `CL_SNORM_INT8`.
const FIRST_CHANNEL_ORDER: u32 = 0x10b0;
const FIRST_CHANNEL_TYPE: u32 = 0x10d0;

/// What an image's texels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texels {
    Float,
    Signed,
    Unsigned,
    /// Accessed as different types.
    Mixed,
}

/// What the texels of each image are, by parameter.
pub(crate) fn texels(input: &Input, types: &Types, flat: &Flat) -> FxHashMap<Id, Texels> {
    let mut found = FxHashMap::default();
    let mut of_sampled = FxHashMap::default();
    for inst in flat.blocks.iter().flat_map(|block| &block.insts) {
        let image = inst.id_at(0);
        let (image, value, mask) = match inst.op {
            Op::SampledImage => {
                of_sampled.insert(inst.id, image);
                continue;
            }
            Op::ImageSampleExplicitLod => match of_sampled.get(&image) {
                Some(&image) => (image, inst.ty, inst.literal_at(2)),
                None => continue,
            },
            Op::ImageRead => (image, inst.ty, inst.literal_at(2)),
            Op::ImageWrite => {
                let ty = input.value_ty.get(&inst.id_at(2)).copied();
                (image, ty, inst.literal_at(3))
            }
            _ => continue,
        };
        let Some(ty) = value else { continue };
        let texels = match mask {
            _ if types.is_float(ty) => Texels::Float,
            mask if mask & SIGN_EXTEND != 0 => Texels::Signed,
            _ => Texels::Unsigned,
        };
        let known = found.entry(image).or_insert(texels);
        if *known != texels {
            *known = Texels::Mixed;
        }
    }
    found
}

/// What kernels ask of images: the parameter, and the instruction's number.
pub(crate) fn queries(flat: &Flat) -> BTreeSet<(Id, u32)> {
    let all = flat.blocks.iter().flat_map(|block| &block.insts);
    all.filter(|inst| matches!(inst.op, Op::ImageQueryFormat | Op::ImageQueryOrder))
        .map(|inst| (inst.id_at(0), inst.op as u32))
        .collect()
}

impl Lower<'_> {
    /// The descriptor of an image.
    pub fn image_argument(
        &mut self,
        param: Id,
        ty: Ty,
        set: u32,
        binding: u32,
    ) -> Result<(Reflect, &'static str)> {
        let Type::Image(_, [dim, _, arrayed, multisampled, _, access]) = *self.target.types.get(ty)
        else {
            return self.error("an image of an unknown type");
        };
        if multisampled != 0 {
            return self.error("an image with several samples is not made for Vulkan");
        }
        let scalar = match self.texels.get(&param).copied().unwrap_or(Texels::Float) {
            Texels::Float => self.target.types.float(32),
            Texels::Unsigned => self.target.types.int(32),
            Texels::Signed => self.target.types.add(Type::Signed),
            Texels::Mixed => {
                return self.error(
                    "an image that is accessed by different types: Vulkan's images say what their \
                     texels are",
                );
            }
        };
        let (sampled, op, kind) = match (access, dim == Dim::DimBuffer as u32) {
            (0, false) => (1, Reflect::ArgumentSampledImage, "ro_image"),
            (_, false) => (2, Reflect::ArgumentStorageImage, "wo_image"),
            (0, true) => (
                1,
                Reflect::ArgumentUniformTexelBuffer,
                "uniform_texel_buffer",
            ),
            (_, true) => (
                2,
                Reflect::ArgumentStorageTexelBuffer,
                "storage_texel_buffer",
            ),
        };
        let image = Type::Image(scalar, [dim, 0, arrayed, 0, sampled, 0]);
        let image = self.target.types.add(image);
        self.descriptor(param, image, set, binding);
        Ok((op, kind))
    }

    /// Loads an image or sampler, and says what type it has.
    fn object(&mut self, id: Id) -> Result<(Id, Ty)> {
        if let Some((_, Constant::Sampler(addressing, normalized, filter))) =
            self.input.constants.get(&id)
        {
            let value = self.literal_sampler(*addressing, *normalized, *filter);
            return Ok((value, self.target.types.add(Type::Sampler)));
        }
        let id = match self.values.get(&id) {
            Some(&Val::Object(object)) => object,
            _ => id,
        };
        if let Some((_, Constant::Sampler(addressing, normalized, filter))) =
            self.input.constants.get(&id)
        {
            let value = self.literal_sampler(*addressing, *normalized, *filter);
            return Ok((value, self.target.types.add(Type::Sampler)));
        }
        let variable = self.objects.get(&id).copied();
        let ty = variable.and_then(|variable| self.target.variable_type(variable));
        match (variable, ty) {
            (Some(variable), Some((_, ty))) => Ok((self.emit(Op::Load, ty, &[variable]), ty)),
            _ => self.error(
                "an image or sampler that is chosen while the kernel runs cannot be expressed for \
                 Vulkan",
            ),
        }
    }

    /// An image or sampler is loaded from a variable of the module: a sampler of the source.
    pub fn load_object(&mut self, inst: &Inst) -> Result<()> {
        let from = inst.id_at(0);
        let init = self.input.globals.get(&from).and_then(|global| global.init);
        match init {
            Some(init) => {
                self.values.insert(inst.id, Val::Object(init));
                Ok(())
            }
            None => self.error(
                "an image or sampler that is chosen while the kernel runs cannot be expressed for \
                 Vulkan",
            ),
        }
    }

    /// The texels' type of an image, and the one that values of it have.
    fn texel(&mut self, image: Ty) -> Result<Ty> {
        match *self.target.types.get(image) {
            Type::Image(scalar, _) => Ok(scalar),
            _ => self.error("an image of an unknown type"),
        }
    }

    /// A texel as what the program takes it for.
    fn texel_as(&mut self, texel: Id, scalar: Ty, ty: Ty) -> Result<Id> {
        let four = self.target.types.vector(scalar, 4);
        let (wanted, lanes) = self.target.types.lanes(ty);
        let (mut value, mut of) = (texel, four);
        if lanes == 1 {
            value = self.extract(scalar, texel, 0);
            of = scalar;
        }
        if wanted == scalar {
            return Ok(value);
        }
        let op = match self.target.types.is_float(wanted) {
            true => Op::FConvert,
            false => Op::Bitcast,
        };
        let ty = self.target.types.like(of, wanted);
        Ok(self.emit(op, ty, &[value]))
    }

    /// An instruction on images.
    pub fn image(&mut self, inst: &Inst) -> Result<()> {
        match inst.op {
            Op::SampledImage => {
                let pair = Val::Sampled(inst.id_at(0), inst.id_at(1));
                self.values.insert(inst.id, pair);
                Ok(())
            }
            Op::ImageSampleExplicitLod => self.sample(inst),
            Op::ImageRead => self.image_read(inst),
            Op::ImageWrite => self.image_write(inst),
            Op::ImageQuerySizeLod | Op::ImageQuerySize => {
                let ty = self.result_ty(inst)?;
                let (image, of) = self.object(inst.id_at(0))?;
                let word = self.u32_ty();
                let size = self.target.types.like(ty, word);
                let value = match self.target.types.get(of) {
                    Type::Image(_, [dim, _, _, _, 1, _]) if *dim != Dim::DimBuffer as u32 => {
                        let zero = self.target.u32(0);
                        self.emit(Op::ImageQuerySizeLod, size, &[image, zero])
                    }
                    _ => self.emit(Op::ImageQuerySize, size, &[image]),
                };
                let value = match size == ty {
                    true => value,
                    false => self.emit(Op::UConvert, ty, &[value]),
                };
                self.set(inst, value);
                Ok(())
            }
            Op::ImageQueryFormat | Op::ImageQueryOrder => self.image_query(inst),
            _ => self.error(format!("Op{:?} is not made for Vulkan", inst.op)),
        }
    }

    /// What the host pushes is OpenCL's number, and the source's is counted from the first one.
    fn image_query(&mut self, inst: &Inst) -> Result<()> {
        let (ty, word) = (self.result_ty(inst)?, self.u32_ty());
        let known = self
            .image_query_members
            .get(&(inst.id_at(0), inst.op as u32));
        let Some(&member) = known else {
            return self.error(
                "an image that is chosen while the kernel runs cannot be expressed for Vulkan",
            );
        };
        let block = self.push_constants();
        let number = self.load_part(block, StorageClass::PushConstant, &[member], word);
        let first = self.target.u32(match inst.op {
            Op::ImageQueryOrder => FIRST_CHANNEL_ORDER,
            _ => FIRST_CHANNEL_TYPE,
        });
        let value = self.emit(Op::ISub, word, &[number, first]);
        let value = self.extended_from_word(value, ty);
        self.set(inst, value);
        Ok(())
    }

    fn sample(&mut self, inst: &Inst) -> Result<()> {
        let ty = self.result_ty(inst)?;
        let Some(&Val::Sampled(image, sampler)) = self.values.get(&inst.id_at(0)) else {
            return self.error("an image is sampled that is not known");
        };
        let of = self.ty_of(inst.id_at(1))?;
        let mut coordinate = self.id(inst.id_at(1))?;
        if !self.target.types.is_float(of) {
            let float = self.target.types.float(32);
            let floats = self.target.types.like(of, float);
            coordinate = self.emit(Op::ConvertSToF, floats, &[coordinate]);
        }
        let mask = inst.literal_at(2) & (LOD | GRAD);
        let mut details = Vec::new();
        for id in inst.ids().skip(2) {
            details.push(Arg::Id(self.id(id)?));
        }
        let (image, image_ty) = self.object(image)?;
        let (sampler, _) = self.object(sampler)?;
        let pair = self.target.types.add(Type::SampledImage(image_ty));
        let pair = self.emit(Op::SampledImage, pair, &[image, sampler]);
        let scalar = self.texel(image_ty)?;
        let four = self.target.types.vector(scalar, 4);
        let mut args = vec![Arg::Id(pair), Arg::Id(coordinate), Arg::Lit(mask)];
        args.extend(details);
        let texel = self.emit_args(Op::ImageSampleExplicitLod, four, args);
        let value = self.texel_as(texel, scalar, ty)?;
        self.set(inst, value);
        Ok(())
    }

    fn image_read(&mut self, inst: &Inst) -> Result<()> {
        let ty = self.result_ty(inst)?;
        if inst.literal_at(2) & !(SIGN_EXTEND | ZERO_EXTEND) != 0 {
            return self.error("a sample of an image is not made for Vulkan");
        }
        let coordinate = self.id(inst.id_at(1))?;
        let (image, image_ty) = self.object(inst.id_at(0))?;
        let scalar = self.texel(image_ty)?;
        let four = self.target.types.vector(scalar, 4);
        let texel = match self.target.types.get(image_ty) {
            Type::Image(_, [dim, _, _, _, 1, _]) if *dim == Dim::DimBuffer as u32 => {
                self.emit(Op::ImageFetch, four, &[image, coordinate])
            }
            Type::Image(_, [_, _, _, _, 1, _]) => {
                let zero = self.target.u32(0);
                let args = vec![
                    Arg::Id(image),
                    Arg::Id(coordinate),
                    Arg::Lit(LOD),
                    Arg::Id(zero),
                ];
                self.emit_args(Op::ImageFetch, four, args)
            }
            _ => self.emit(Op::ImageRead, four, &[image, coordinate]),
        };
        let value = self.texel_as(texel, scalar, ty)?;
        self.set(inst, value);
        Ok(())
    }

    fn image_write(&mut self, inst: &Inst) -> Result<()> {
        if inst.literal_at(3) & LOD != 0 {
            return self.error("a write to a level of detail is not made for Vulkan");
        }
        let of = self.ty_of(inst.id_at(2))?;
        let coordinate = self.id(inst.id_at(1))?;
        let mut value = self.id(inst.id_at(2))?;
        let (image, image_ty) = self.object(inst.id_at(0))?;
        let scalar = self.texel(image_ty)?;
        let texel = self.target.types.like(of, scalar);
        if texel != of {
            let op = match self.target.types.is_float(of) {
                true => Op::FConvert,
                false => Op::Bitcast,
            };
            value = self.emit(op, texel, &[value]);
        }
        if self.target.types.lanes(of).1 == 1 {
            let zero = self.target.null(scalar);
            let four = self.target.types.vector(scalar, 4);
            value = self.construct(four, &[value, zero, zero, zero]);
        }
        self.push(Inst::of(Op::ImageWrite, &[image, coordinate, value]));
        Ok(())
    }
}
