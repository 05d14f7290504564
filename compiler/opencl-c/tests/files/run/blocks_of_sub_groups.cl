// RUN: execute -cl-std=CL3.0 -ext=cl_intel_subgroups,cl_intel_subgroups_char,cl_intel_subgroup_local_block_io,cl_intel_subgroup_buffer_prefetch,__opencl_c_images
// Blocks of local memory (cl_intel_subgroup_local_block_io), and of images (cl_intel_subgroups);
// prefetches (cl_intel_subgroup_buffer_prefetch) do nothing that can be seen.
// run: local_memory
// global: 4
// local: 4
// subgroup: 4
// arg: buffer i32 iota 8
// arg: buffer i32 zero 8
// arg: buffer i8 iota 4
// arg: buffer i8 zero 4
// expect: 1 i32 [4 5 6 7 0 1 2 3]
// expect: 3 i8 [0 1 2 3]
kernel void local_memory(global const uint *in, global uint *out, global const uchar *bytes,
                         global uchar *copy) {
  local uint words[8];
  local uchar shared[4];
  intel_sub_group_block_prefetch_ui2(in);
  intel_sub_group_block_prefetch_uc(bytes);
  intel_sub_group_block_write2(words, intel_sub_group_block_read2(in));
  intel_sub_group_block_write_uc(shared, intel_sub_group_block_read_uc(bytes));
  barrier(CLK_LOCAL_MEM_FENCE);
  uint2 both = intel_sub_group_block_read2(words);
  intel_sub_group_block_write2(out, both.yx);
  intel_sub_group_block_write_uc(copy, intel_sub_group_block_read_uc(shared));
}

// run: images
// global: 4
// local: 4
// subgroup: 4
// arg: image 2d 4x2 r unsigned_int32 i32 iota 8
// arg: image 2d 4x2 r unsigned_int32 i32 zero 8
// expect: 1 i32 [4 5 6 7 0 1 2 3]
kernel void images(read_only image2d_t in, write_only image2d_t out) {
  uint2 both = intel_sub_group_block_read2(in, (int2)(0, 0));
  intel_sub_group_block_write2(out, (int2)(0, 0), both.yx);
}
