// RUN: execute -cl-std=CL3.0 -ext=__opencl_c_images,cl_khr_mipmap_image,cl_khr_mipmap_image_writes
// OpenCL C Specification, "Mipmapped Image Reads and Queries", "Mipmapped Image Writes". Levels are 4x2, 2x1 and 1x1; which of them
// a level of detail means is as in Vulkan, "Image Level(s) Selection".
// run: levels
// arg: image 2d 4x2 r float levels 3 f32 [1*8 2*2 4]
// arg: sampler normalized clamp_to_edge nearest
// arg: sampler normalized clamp_to_edge nearest levels_linear
// arg: sampler normalized clamp_to_edge nearest levels_linear lod_min 0.5 lod_max 1.25
// arg: buffer f32 [-1 0 0.25 0.5 0.75 1 1.5 1.75 2 7 nan]
// arg: buffer f32 zero 55
// expect: 5 f32 [1 1 1 1.5 1   1 1 1 1.5 1   1 1 1.25 1.5 1   1 1 1.5 1.5 1   1 2 1.75 1.75 2   1 2 2 2 2   1 2 3 2.5 2   1 4 3.5 2.5 4   1 4 4 2.5 4   1 4 4 2.5 4   1 1 1 1.5 1]
kernel void levels(read_only image2d_t im, sampler_t nearest, sampler_t linear, sampler_t bounded, global const float *lod,
                   global float *out) {
    const sampler_t literal = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const float2 at = (float2)(0.5f, 0.5f);
    for (int i = 0; i < 11; i++) {
        out[5 * i] = read_imagef(im, nearest, at).x;
        out[5 * i + 1] = read_imagef(im, nearest, at, lod[i]).x;
        out[5 * i + 2] = read_imagef(im, linear, at, lod[i]).x;
        out[5 * i + 3] = read_imagef(im, bounded, at, lod[i]).x;
        out[5 * i + 4] = read_imagef(im, literal, at, lod[i]).x;
    }
}
// Two texels of the first level from one pixel to the next are the second level; the longer derivative counts.
// run: gradients
// arg: image 2d 4x2 r float levels 3 f32 [1*8 2*2 4]
// arg: image 1d_array 4x2 r unsigned_int8 levels 2 i8 [1*4 2*4 3*2 4*2]
// arg: sampler normalized clamp_to_edge nearest
// arg: buffer f32 zero 5
// expect: 3 f32 [1 2 2 4 4]
kernel void gradients(read_only image2d_t im, read_only image1d_array_t lines, sampler_t s, global float *out) {
    const float2 at = (float2)(0.5f, 0.5f);
    out[0] = read_imagef(im, s, at, (float2)(0.25f, 0), (float2)(0, 0.5f)).x;
    out[1] = read_imagef(im, s, at, (float2)(0.5f, 0), (float2)(0, 0.5f)).x;
    out[2] = read_imagef(im, s, at, (float2)(0, 0), (float2)(0, 1)).x;
    out[3] = read_imagef(im, s, at, (float2)(1, 0), (float2)(0, 0)).x;
    out[4] = read_imageui(lines, s, (float2)(0.5f, 1), 0.5f, 0.25f).x;
}
// A texel that a level does not have is not written.
// run: writes
// arg: image 2d 4x2 rg unsigned_int8 levels 3 i8 zero 22
// arg: buffer i32 zero 3
// expect: 0 i8 [0*14 9 8 0*2 7 6 0*2]
// expect: 1 i32 [3 4 2]
kernel void writes(write_only image2d_t im, global int *out) {
    write_imageui(im, (int2)(3, 1), 0, (uint4)(9, 8, 0, 0));
    write_imageui(im, (int2)(1, 0), out[0] + 1, (uint4)(7, 6, 0, 0));
    write_imageui(im, (int2)(1, 0), out[0] + 2, (uint4)(5, 4, 0, 0));
    out[0] = get_image_num_mip_levels(im);
    out[1] = get_image_width(im);
    out[2] = get_image_height(im);
}
