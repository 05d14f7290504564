// RUN: execute -cl-std=CL3.0 -ext=cl_intel_media_block_io,__opencl_c_images
// Blocks of images with a width and height (cl_intel_media_block_io): the image is the last
// argument.
// run: words
// global: 4
// local: 4
// subgroup: 4
// arg: image 2d 4x2 r unsigned_int32 i32 iota 8
// arg: image 2d 4x2 r unsigned_int32 i32 zero 8
// expect: 1 i32 [2 3 0 0 6 7 0 0]
kernel void words(read_only image2d_t in, write_only image2d_t out) {
  uint block = intel_sub_group_media_block_read_ui((int2)(8, 0), 2, 2, in);
  intel_sub_group_media_block_write_ui((int2)(0, 0), 2, 2, block, out);
}

// run: bytes
// global: 4
// local: 4
// subgroup: 4
// arg: image 2d 8x2 r unsigned_int8 i8 iota 16
// arg: image 2d 8x2 r unsigned_int8 i8 zero 16
// expect: 1 i8 [12 13 14 15 0 0 0 0 4 5 6 7 0 0 0 0]
kernel void bytes(read_only image2d_t in, write_only image2d_t out) {
  uchar2 rows = intel_sub_group_media_block_read_uc2((int2)(4, 0), 4, 2, in);
  intel_sub_group_media_block_write_uc2((int2)(0, 0), 4, 2, rows.yx, out);
}
