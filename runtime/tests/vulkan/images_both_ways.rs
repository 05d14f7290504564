//! Images and samplers of a source that is built directly, and by way of its module for Vulkan.

use super::ways::*;
use super::*;

const PLANE: ImageDesc = ImageDesc {
    image_type: CL_MEM_OBJECT_IMAGE2D,
    width: 5,
    height: 4,
    depth: 0,
    array_size: 0,
    row_pitch: 0,
    slice_pitch: 0,
    num_mip_levels: 0,
    num_samples: 0,
};
const LINE: ImageDesc = ImageDesc {
    image_type: CL_MEM_OBJECT_IMAGE1D,
    height: 0,
    ..PLANE
};
const LINES: ImageDesc = ImageDesc {
    image_type: CL_MEM_OBJECT_IMAGE1D_ARRAY,
    height: 0,
    array_size: 3,
    ..PLANE
};
const PLANES: ImageDesc = ImageDesc {
    image_type: CL_MEM_OBJECT_IMAGE2D_ARRAY,
    array_size: 3,
    ..PLANE
};
const CUBE: ImageDesc = ImageDesc {
    image_type: CL_MEM_OBJECT_IMAGE3D,
    depth: 3,
    ..PLANE
};

const FLOATS: (u32, u32) = (CL_RGBA, CL_FLOAT);

fn texels(desc: ImageDesc) -> usize {
    desc.width * desc.height.max(1) * desc.depth.max(desc.array_size).max(1)
}

/// An image whose components are numbered, as floats.
fn floats_of(desc: ImageDesc) -> Arg {
    let components = (0..4 * texels(desc)).map(|i| (i as f32).to_bits());
    Arg::Image(desc, FLOATS, components.collect())
}

fn integers_of(desc: ImageDesc, data_type: u32) -> Arg {
    let components = (0..4 * texels(desc) as u32).map(|i| i.wrapping_mul(0x0101_0101));
    Arg::Image(desc, (CL_RGBA, data_type), components.collect())
}

fn samplers(normalized: bool) -> Vec<SamplerState> {
    let mut all = Vec::new();
    for filter_mode in [CL_FILTER_NEAREST, CL_FILTER_LINEAR] {
        for addressing_mode in [
            CL_ADDRESS_NONE,
            CL_ADDRESS_CLAMP,
            CL_ADDRESS_CLAMP_TO_EDGE,
            CL_ADDRESS_REPEAT,
            CL_ADDRESS_MIRRORED_REPEAT,
        ] {
            let repeats = [CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT];
            if normalized || !repeats.contains(&addressing_mode) {
                all.push(SamplerState {
                    normalized,
                    addressing_mode,
                    filter_mode,
                    ..SamplerState::default()
                });
            }
        }
    }
    all
}

/// All kinds of images, by coordinates in and around them, with every sampler.
#[test]
fn images_are_sampled() {
    let case = Case::of(
        "kernel void k(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_t c,
                       read_only image2d_array_t d, read_only image3d_t e, sampler_t s,
                       float scale, global float4 *out) {
            int i = get_global_id(0);
            float x = (i % 5 - 1 + 0.25f) * scale, y = (i / 5 - 1 + 0.5f) * scale;
            float z = (i % 3 + 0.5f) * scale;
            global float4 *row = out + 5 * i;
            row[0] = read_imagef(a, s, x);
            row[1] = read_imagef(b, s, (float2)(x, i % 4));
            row[2] = read_imagef(c, s, (float2)(x, y));
            row[3] = read_imagef(d, s, (float4)(x, y, i % 4, 0));
            row[4] = read_imagef(e, s, (float4)(x, y, z, 0));
        }",
    );
    for normalized in [true, false] {
        for state in samplers(normalized) {
            let outside = !normalized || state.addressing_mode != CL_ADDRESS_NONE;
            let count = if outside { 30 } else { 1 };
            let scale = if normalized { 0.25f32 } else { 1.0 };
            let args = [
                floats_of(LINE),
                floats_of(LINES),
                floats_of(PLANE),
                floats_of(PLANES),
                floats_of(CUBE),
                Arg::Sampler(state),
                value([scale.to_bits()]),
                Arg::Buffer(vec![0; 30 * 20]),
            ];
            case.compare("k", &args, &[Range(None, &[count], None)]);
        }
    }
}

#[test]
fn images_are_fetched_and_written() {
    let case = Case::of(
        "constant sampler_t own =
            CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
        constant sampler_t far =
            CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
        kernel void k(read_only image2d_t from, write_only image2d_t to,
                      read_only image2d_array_t numbers, write_only image2d_array_t layers,
                      read_only image3d_t cube, write_only image1d_t line, int shift) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            float4 one = read_imagef(from, own, at - shift) + read_imagef(from, at);
            write_imagef(to, at, one + read_imagef(from, far, convert_float2(at) * 0.5f));
            int4 in_layer = (int4)(at, at.x % 3, 0);
            uint4 two = read_imageui(numbers, own, in_layer);
            write_imageui(layers, in_layer, two + (uint4)(get_image_array_size(numbers)));
            int4 three = read_imagei(cube, own, (int4)(at, at.y - 1, 0));
            if (at.y == 1) write_imagei(line, at.x, three ^ get_image_width(cube)
                                        ^ get_image_height(to) ^ get_image_depth(cube));
        }",
    );
    let args = [
        floats_of(PLANE),
        Arg::Image(PLANE, FLOATS, vec![0; 80]),
        integers_of(PLANES, CL_UNSIGNED_INT32),
        Arg::Image(PLANES, (CL_RGBA, CL_UNSIGNED_INT32), vec![0; 240]),
        integers_of(CUBE, CL_SIGNED_INT32),
        Arg::Image(LINE, (CL_RGBA, CL_SIGNED_INT32), vec![0; 20]),
        value([1]),
    ];
    let found = case.compare("k", &args, &[Range(None, &[5, 4], Some(&[5, 2]))]);
    // At (1, 1) the texel (0, 0), the texel itself, and the texel in the middle.
    let texel = |x: u32, y: u32| 4 * (5 * y + x);
    let sum = texel(0, 0) + texel(1, 1) + texel(2, 2);
    assert_eq!(found[0][1][4 * 6], (sum as f32).to_bits());
}

#[test]
fn formats_of_images_are_the_hosts_business() {
    let case = Case::of(
        "kernel void k(read_only image2d_t from, sampler_t s, write_only image2d_t to) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            write_imagef(to, at, read_imagef(from, s, at).wzyx);
        }",
    );
    for (order, data_type, words) in [
        (CL_RGBA, CL_UNORM_INT8, 1),
        (CL_BGRA, CL_UNORM_INT8, 1),
        (CL_RGBA, CL_SNORM_INT8, 1),
        (CL_RGBA, CL_HALF_FLOAT, 2),
        (CL_RG, CL_UNORM_INT16, 1),
        (CL_R, CL_FLOAT, 1),
    ] {
        let bytes = (0..20 * words as u32).map(|i| i.wrapping_mul(0x0307_0b0d) & 0x7bff_7bff);
        let args = [
            Arg::Image(PLANE, (order, data_type), bytes.collect()),
            Arg::Sampler(SamplerState {
                normalized: false,
                addressing_mode: CL_ADDRESS_CLAMP_TO_EDGE,
                filter_mode: CL_FILTER_NEAREST,
                ..SamplerState::default()
            }),
            Arg::Image(PLANE, (order, data_type), vec![0; 20 * words]),
        ];
        case.compare("k", &args, &[Range(None, &[5, 4], None)]);
    }
}
