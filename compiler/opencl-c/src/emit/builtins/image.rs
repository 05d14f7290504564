//! Images: OpenCL C Specification, "Image Read, Write and Query Functions"; OpenCL SPIR-V
//! Environment Specification, "Image Instructions".

use super::Args;
use crate::builtins::Image;
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, image_operands, op};
use crate::types::{ImageDim, Scalar, Type, TypeId, Types};

/// `CLK_R` and `CLK_SNORM_INT8`: SPIR-V counts channel orders and data types from 0.
const FIRST_ORDER: u64 = 0x10b0;
const FIRST_DATA_TYPE: u64 = 0x10d0;

pub(super) fn emit(
    e: &mut FunctionEmitter<'_, '_>,
    image: Image,
    args: Args<'_>,
    ty: TypeId,
) -> Option<Id> {
    Some(match image {
        Image::Sample => {
            let zero = e.module.null(Types::FLOAT);
            sample(e, args, image_operands::LOD, &[zero.0], ty)
        }
        Image::SampleLod => {
            e.module.capability(capability::IMAGE_MIPMAP);
            sample(e, args, image_operands::LOD, &[args[3].0.0], ty)
        }
        Image::SampleGrad => {
            e.module.capability(capability::IMAGE_MIPMAP);
            let gradients = [gradient(e, args, 3).0, gradient(e, args, 4).0];
            sample(e, args, image_operands::GRAD, &gradients, ty)
        }
        Image::Read => read(e, args, 0, &[], ty),
        Image::ReadSample => read(e, args, image_operands::SAMPLE, &[args[2].0.0], ty),
        Image::Write => return write(e, args, 0, &[]),
        Image::WriteLod => {
            e.module.capability(capability::IMAGE_MIPMAP);
            return write(e, args, image_operands::LOD, &[args[2].0.0]);
        }
        Image::Width => size_component(e, args[0], 0, ty),
        Image::Height => size_component(e, args[0], 1, ty),
        Image::Depth => size_component(e, args[0], 2, ty),
        Image::Size => dimensions(e, args[0], ty),
        Image::ArraySize => {
            let (coordinates, _) = shape(e, args[0].1);
            size_component(e, args[0], coordinates - 1, ty)
        }
        Image::ChannelOrder => format(e, op::IMAGE_QUERY_ORDER, FIRST_ORDER, args[0].0, ty),
        Image::ChannelDataType => format(e, op::IMAGE_QUERY_FORMAT, FIRST_DATA_TYPE, args[0].0, ty),
        Image::Levels => {
            e.module.capability(capability::IMAGE_MIPMAP);
            e.value(op::IMAGE_QUERY_LEVELS, ty, &[args[0].0.0])
        }
        Image::Samples => e.value(op::IMAGE_QUERY_SAMPLES, ty, &[args[0].0.0]),
    })
}

/// How many sizes the image has, layers among them, and whether it has levels of detail.
fn shape(e: &FunctionEmitter<'_, '_>, ty: TypeId) -> (u8, bool) {
    let Type::Image { dim, .. } = *e.module.types.get(ty) else {
        unreachable!("the first argument is an image");
    };
    match dim {
        ImageDim::D1 => (1, true),
        ImageDim::D1Buffer => (1, false),
        ImageDim::D1Array | ImageDim::D2 | ImageDim::D2Depth => (2, true),
        ImageDim::D2Msaa | ImageDim::D2MsaaDepth => (2, false),
        ImageDim::D2Array | ImageDim::D2ArrayDepth | ImageDim::D3 => (3, true),
        ImageDim::D2ArrayMsaa | ImageDim::D2ArrayMsaaDepth => (3, false),
    }
}

/// How integers of texels are extended to the type that the program has: by its sign.
fn extension(e: &FunctionEmitter<'_, '_>, texel: TypeId) -> u32 {
    match e.scalar(texel) {
        scalar if scalar.is_float() => 0,
        scalar if scalar.is_signed() => image_operands::SIGN_EXTEND,
        _ => image_operands::ZERO_EXTEND,
    }
}

/// Image, sampler, coordinates. Sampling yields four components; of depths the first is one.
fn sample(
    e: &mut FunctionEmitter<'_, '_>,
    args: Args<'_>,
    detail: u32,
    levels: &[u32],
    ty: TypeId,
) -> Id {
    let [(image, image_ty), (sampler, _), (coordinates, _)] = args[..3] else {
        unreachable!("the table's signatures begin with these");
    };
    let of_image = e.module.type_id(image_ty);
    let sampled = e.module.raw_type(op::TYPE_SAMPLED_IMAGE, &[of_image.0]);
    let sampled = e.value_of(op::SAMPLED_IMAGE, sampled, &[image.0, sampler.0]);
    let mut all = vec![sampled.0, coordinates.0, detail | extension(e, ty)];
    all.extend(levels);
    let scalar = e.scalar(ty);
    let four = e.module.types.vector(scalar, 4);
    let texel = e.value(op::IMAGE_SAMPLE_EXPLICIT_LOD, four, &all);
    if four == ty {
        texel
    } else {
        e.value(op::COMPOSITE_EXTRACT, ty, &[texel.0, 0])
    }
}

/// A gradient has as many components as the image has dimensions: of the four that OpenCL C has for
/// three the last means nothing.
fn gradient(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>, at: usize) -> Id {
    let (value, ty) = args[at];
    if e.lanes(ty) < 4 {
        return value;
    }
    let three = e.module.types.vector(Scalar::Float, 3);
    e.value(op::VECTOR_SHUFFLE, three, &[value.0, value.0, 0, 1, 2])
}

/// Image, coordinates.
fn read(
    e: &mut FunctionEmitter<'_, '_>,
    args: Args<'_>,
    which: u32,
    operands: &[u32],
    ty: TypeId,
) -> Id {
    let mut all = vec![args[0].0.0, args[1].0.0];
    let mask = which | extension(e, ty);
    if mask != 0 {
        all.push(mask);
        all.extend(operands);
    }
    e.value(op::IMAGE_READ, ty, &all)
}

/// Image, coordinates; the texel is last.
fn write(
    e: &mut FunctionEmitter<'_, '_>,
    args: Args<'_>,
    which: u32,
    operands: &[u32],
) -> Option<Id> {
    let (texel, texel_ty) = args[args.len() - 1];
    let mut all = vec![args[0].0.0, args[1].0.0, texel.0];
    let mask = which | extension(e, texel_ty);
    if mask != 0 {
        all.push(mask);
        all.extend(operands);
    }
    e.push(op::IMAGE_WRITE, &all);
    None
}

/// Sizes of the image, of level 0 if there are levels, in a component type.
fn size(
    e: &mut FunctionEmitter<'_, '_>,
    (image, image_ty): (Id, TypeId),
    scalar: Scalar,
) -> (Id, u8) {
    let (count, has_levels) = shape(e, image_ty);
    let ty = e.module.types.vector(scalar, count);
    let size = if has_levels {
        let level = e.module.int(Types::UINT, 0);
        e.value(op::IMAGE_QUERY_SIZE_LOD, ty, &[image.0, level.0])
    } else {
        e.value(op::IMAGE_QUERY_SIZE, ty, &[image.0])
    };
    (size, count)
}

fn size_component(
    e: &mut FunctionEmitter<'_, '_>,
    image: (Id, TypeId),
    component: u8,
    ty: TypeId,
) -> Id {
    let scalar = e.scalar(ty);
    let (size, count) = size(e, image, scalar);
    if count == 1 {
        size
    } else {
        e.value(op::COMPOSITE_EXTRACT, ty, &[size.0, component.into()])
    }
}

/// `get_image_dim`: without layers, and with a fourth component that is 0.
fn dimensions(e: &mut FunctionEmitter<'_, '_>, image: (Id, TypeId), ty: TypeId) -> Id {
    let (size, count) = size(e, image, Scalar::Int);
    match (e.lanes(ty), count) {
        (2, 2) => size,
        (2, _) => e.value(op::VECTOR_SHUFFLE, ty, &[size.0, size.0, 0, 1]),
        _ => {
            let three = e.module.types.vector(Scalar::Int, 3);
            let zero = e.module.null(three);
            e.value(op::VECTOR_SHUFFLE, ty, &[size.0, zero.0, 0, 1, 2, 3])
        }
    }
}

fn format(e: &mut FunctionEmitter<'_, '_>, opcode: u16, first: u64, image: Id, ty: TypeId) -> Id {
    let number = e.value(opcode, ty, &[image.0]);
    let first = e.module.int(ty, first);
    e.value(op::I_ADD, ty, &[number.0, first.0])
}
