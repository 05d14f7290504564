//! OpenCL C Specification, "Image Read, Write and Query Functions" and the extensions of images.

use super::super::lowering::Image;
use super::{Group, Lowering, Over, Row, group, row};

const ONE: Over = Over::ONE;

/// Colours read by `read_image...`: names and results by type; `$rest` is what follows the image.
macro_rules! colours {
    ($what:ident, $($image:literal $rest:literal,)*) => {
        &[$(
            row("read_imagef", ONE, concat!("float4 ", $image, " ", $rest),
                Lowering::Image(Image::$what)),
            row("read_imagei", ONE, concat!("int4 ", $image, " ", $rest),
                Lowering::Image(Image::$what)),
            row("read_imageui", ONE, concat!("uint4 ", $image, " ", $rest),
                Lowering::Image(Image::$what)),
        )*]
    };
}

macro_rules! halves {
    ($what:ident, $($image:literal $rest:literal,)*) => {
        &[$(row("read_imageh", ONE, concat!("half4 ", $image, " ", $rest),
            Lowering::Image(Image::$what)),)*]
    };
}

/// Depths, which are one `float`.
macro_rules! depths {
    ($what:ident, $($image:literal $rest:literal,)*) => {
        &[$(row("read_imagef", ONE, concat!("float ", $image, " ", $rest),
            Lowering::Image(Image::$what)),)*]
    };
}

macro_rules! writes {
    ($what:ident, $($image:literal $rest:literal,)*) => {
        &[$(
            row("write_imagef", ONE, concat!("void ", $image, " ", $rest, " float4"),
                Lowering::Image(Image::$what)),
            row("write_imagei", ONE, concat!("void ", $image, " ", $rest, " int4"),
                Lowering::Image(Image::$what)),
            row("write_imageui", ONE, concat!("void ", $image, " ", $rest, " uint4"),
                Lowering::Image(Image::$what)),
        )*]
    };
}

macro_rules! half_writes {
    ($what:ident, $($image:literal $rest:literal,)*) => {
        &[$(row("write_imageh", ONE, concat!("void ", $image, " ", $rest, " half4"),
            Lowering::Image(Image::$what)),)*]
    };
}

macro_rules! depth_writes {
    ($what:ident, $($image:literal $rest:literal,)*) => {
        &[$(row("write_imagef", ONE, concat!("void ", $image, " ", $rest, " float"),
            Lowering::Image(Image::$what)),)*]
    };
}

/// A query of images of every access.
macro_rules! queries {
    ($name:literal $result:literal $what:ident: $($dim:literal)*) => {
        &[$(
            row($name, ONE, concat!($result, " r", $dim), Lowering::Image(Image::$what)),
            row($name, ONE, concat!($result, " w", $dim), Lowering::Image(Image::$what)),
            row($name, ONE, concat!($result, " rw", $dim), Lowering::Image(Image::$what)),
        )*]
    };
}

const SAMPLED_2D: &[Row] = colours!(Sample,
    "r2d" "sampler int2", "r2d" "sampler float2", "r3d" "sampler int4", "r3d" "sampler float4",);
const SAMPLED: &[Row] = colours!(Sample,
    "r1d" "sampler int", "r1d" "sampler float", "r1da" "sampler int2", "r1da" "sampler float2",
    "r2da" "sampler int4", "r2da" "sampler float4",);
const SAMPLED_HALF: &[Row] = halves!(Sample,
    "r2d" "sampler int2", "r2d" "sampler float2", "r3d" "sampler int4", "r3d" "sampler float4",
    "r1d" "sampler int", "r1d" "sampler float", "r1da" "sampler int2", "r1da" "sampler float2",
    "r2da" "sampler int4", "r2da" "sampler float4",);
const SAMPLED_DEPTH: &[Row] = depths!(Sample,
    "r2dd" "sampler int2", "r2dd" "sampler float2", "r2dad" "sampler int4",
    "r2dad" "sampler float4",);
const PLAIN: &[Row] = colours!(Read,
    "r1d" "int", "r1db" "int", "r1da" "int2", "r2d" "int2", "r2da" "int4", "r3d" "int4",);
const PLAIN_HALF: &[Row] = halves!(Read,
    "r1d" "int", "r1db" "int", "r1da" "int2", "r2d" "int2", "r2da" "int4", "r3d" "int4",);
const PLAIN_DEPTH: &[Row] = depths!(Read, "r2dd" "int2", "r2dad" "int4",);
const READ_WRITE: &[Row] = colours!(Read,
    "rw1d" "int", "rw1db" "int", "rw1da" "int2", "rw2d" "int2", "rw2da" "int4", "rw3d" "int4",);
const READ_WRITE_HALF: &[Row] = halves!(Read,
    "rw1d" "int", "rw1db" "int", "rw1da" "int2", "rw2d" "int2", "rw2da" "int4", "rw3d" "int4",);
const READ_WRITE_DEPTH: &[Row] = depths!(Read, "rw2dd" "int2", "rw2dad" "int4",);
const SAMPLES: &[Row] = colours!(ReadSample,
    "r2dm" "int2 int", "r2dam" "int4 int", "rw2dm" "int2 int", "rw2dam" "int4 int",);
const DEPTH_SAMPLES: &[Row] = depths!(ReadSample,
    "r2dmd" "int2 int", "r2damd" "int4 int", "rw2dmd" "int2 int", "rw2damd" "int4 int",);
const LODS: &[Row] = colours!(SampleLod,
    "r1d" "sampler float float", "r1da" "sampler float2 float", "r2d" "sampler float2 float",
    "r2da" "sampler float4 float", "r3d" "sampler float4 float",);
const DEPTH_LODS: &[Row] = depths!(SampleLod,
    "r2dd" "sampler float2 float", "r2dad" "sampler float4 float",);
const GRADS: &[Row] = colours!(SampleGrad,
    "r1d" "sampler float float float", "r1da" "sampler float2 float float",
    "r2d" "sampler float2 float2 float2", "r2da" "sampler float4 float2 float2",
    "r3d" "sampler float4 float4 float4",);
const DEPTH_GRADS: &[Row] = depths!(SampleGrad,
    "r2dd" "sampler float2 float2 float2", "r2dad" "sampler float4 float2 float2",);

const WRITES_2D: &[Row] = writes!(Write, "w2d" "int2",);
const WRITES: &[Row] = writes!(Write, "w1d" "int", "w1db" "int", "w1da" "int2", "w2da" "int4",);
const WRITES_3D: &[Row] = writes!(Write, "w3d" "int4",);
const WRITES_RW: &[Row] = writes!(Write,
    "rw1d" "int", "rw1db" "int", "rw1da" "int2", "rw2d" "int2", "rw2da" "int4", "rw3d" "int4",);
const HALF_WRITES: &[Row] = half_writes!(Write,
    "w2d" "int2", "w1d" "int", "w1db" "int", "w1da" "int2", "w2da" "int4", "w3d" "int4",);
const HALF_WRITES_RW: &[Row] = half_writes!(Write,
    "rw2d" "int2", "rw1d" "int", "rw1db" "int", "rw1da" "int2", "rw2da" "int4", "rw3d" "int4",);
const DEPTH_WRITES: &[Row] = depth_writes!(Write,
    "w2dd" "int2", "w2dad" "int4", "rw2dd" "int2", "rw2dad" "int4",);
const LOD_WRITES: &[Row] = writes!(WriteLod,
    "w1d" "int int", "w1da" "int2 int", "w2d" "int2 int", "w2da" "int4 int", "w3d" "int4 int",);
const DEPTH_LOD_WRITES: &[Row] = depth_writes!(WriteLod, "w2dd" "int2 int", "w2dad" "int4 int",);

const WIDTH: &[Row] = queries!("get_image_width" "int" Width:
    "1d" "1da" "1db" "2d" "2da" "2dd" "2dad" "2dm" "2dam" "2dmd" "2damd" "3d");
const HEIGHT: &[Row] = queries!("get_image_height" "int" Height:
    "2d" "2da" "2dd" "2dad" "2dm" "2dam" "2dmd" "2damd" "3d");
const DEPTH: &[Row] = queries!("get_image_depth" "int" Depth: "3d");
const DATA_TYPE: &[Row] = queries!("get_image_channel_data_type" "int" ChannelDataType:
    "1d" "1da" "1db" "2d" "2da" "2dd" "2dad" "2dm" "2dam" "2dmd" "2damd" "3d");
const ORDER: &[Row] = queries!("get_image_channel_order" "int" ChannelOrder:
    "1d" "1da" "1db" "2d" "2da" "2dd" "2dad" "2dm" "2dam" "2dmd" "2damd" "3d");
const DIM_2D: &[Row] = queries!("get_image_dim" "int2" Size:
    "2d" "2da" "2dd" "2dad" "2dm" "2dam" "2dmd" "2damd");
const DIM_3D: &[Row] = queries!("get_image_dim" "int4" Size: "3d");
const ARRAY_SIZE: &[Row] = queries!("get_image_array_size" "size" ArraySize:
    "1da" "2da" "2dad" "2dam" "2damd");
const LEVELS: &[Row] = queries!("get_image_num_mip_levels" "int" Levels:
    "1d" "1da" "2d" "2da" "2dd" "2dad" "3d");
const NUM_SAMPLES: &[Row] = queries!("get_image_num_samples" "int" Samples:
    "2dm" "2dam" "2dmd" "2damd");

pub const GROUPS: &[Group] = &[
    group("images", SAMPLED_2D),
    group("images&1.2", SAMPLED),
    group("images&cl_khr_fp16", SAMPLED_HALF),
    group("images&2.0", SAMPLED_DEPTH),
    group("images&1.2", PLAIN),
    group("images&1.2&cl_khr_fp16", PLAIN_HALF),
    group("images&2.0", PLAIN_DEPTH),
    group("images&read_write_images", READ_WRITE),
    group("images&read_write_images&cl_khr_fp16", READ_WRITE_HALF),
    group("images&read_write_images", READ_WRITE_DEPTH),
    group("cl_khr_gl_msaa_sharing", SAMPLES),
    group("cl_khr_gl_msaa_sharing", DEPTH_SAMPLES),
    group("cl_khr_mipmap_image", LODS),
    group("cl_khr_mipmap_image", DEPTH_LODS),
    group("cl_khr_mipmap_image", GRADS),
    group("cl_khr_mipmap_image", DEPTH_GRADS),
    group("images", WRITES_2D),
    group("images&1.2", WRITES),
    group("images&3d_image_writes", WRITES_3D),
    group("images&read_write_images", WRITES_RW),
    group("images&cl_khr_fp16", HALF_WRITES),
    group("images&read_write_images&cl_khr_fp16", HALF_WRITES_RW),
    group("images&2.0", DEPTH_WRITES),
    group("cl_khr_mipmap_image_writes", LOD_WRITES),
    group("cl_khr_mipmap_image_writes", DEPTH_LOD_WRITES),
    group("images", WIDTH),
    group("images", HEIGHT),
    group("images", DEPTH),
    group("images", DATA_TYPE),
    group("images", ORDER),
    group("images", DIM_2D),
    group("images", DIM_3D),
    group("images&1.2", ARRAY_SIZE),
    group("cl_khr_mipmap_image", LEVELS),
    group("cl_khr_gl_msaa_sharing", NUM_SAMPLES),
];
