// RUN: execute -cl-std=CL3.0 -ext=__opencl_c_images,__opencl_c_read_write_images
// RUN: execute -ext=__opencl_c_3d_image_writes
// OpenCL C Specification, "Image Read, Write and Query Functions".
// run: texels
// arg: image 2d 2x2 rgba signed_int8 i8 [1 2 3 4 -5 -6 -7 -8 9 10 11 12 13 14 15 16]
// arg: image 2d 2x1 rgba unsigned_int8 i8 zero 8
// arg: image 1d_array 2x2 r float f32 [1 2 3 4]
// arg: sampler clamp_to_edge nearest
// arg: buffer i32 zero 12
// expect: 1 i8 [0 0 0 0 4 250 6 7]
// expect: 4 i32 [-5 -6 -7 -8 13 14 15 16 4 2 0 0]
kernel void texels(read_only image2d_t signed_texels, write_only image2d_t out,
                   read_only image1d_array_t lines, sampler_t s, global int *p) {
    vstore4(read_imagei(signed_texels, (int2)(1, 0)), 0, p);
    vstore4(read_imagei(signed_texels, s, (int2)(7, 7)), 1, p);
    write_imageui(out, (int2)(1, 0), (uint4)(4, 250, 6, 7));
    p[8] = read_imagef(lines, (int2)(1, 1)).x;
    p[9] = read_imagef(lines, s, (float2)(1.5f, 0.0f)).x;
}
// run: questions
// arg: image 2d_array 4x3x2 rgba unorm_int8 i8 zero 96
// arg: image 3d 5x4x3 r float f32 zero 60
// arg: buffer i32 zero 12
// expect: 2 i32 [4 3 2 4 3 5 4 3 0 0x10b5 0x10d2 3]
kernel void questions(read_only image2d_array_t a, read_only image3d_t b, global int *p) {
    p[0] = get_image_width(a);
    p[1] = get_image_height(a);
    p[2] = get_image_array_size(a);
    vstore2(get_image_dim(a), 0, p + 3);
    vstore4(get_image_dim(b), 0, p + 5);
    p[9] = get_image_channel_order(a);
    p[10] = get_image_channel_data_type(a);
    p[11] = get_image_depth(b);
}
