// RUN: vulkan -global-offset -distinct-kernel-descriptor-sets
// OUT: kernel_decl,one
// OUT: kernel,one,arg,a,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel_decl,two
// OUT: kernel,two,arg,a,argOrdinal,0,descriptorSet,1,binding,0,offset,0,argKind,buffer
// OUT: spec_constant,workgroup_size_x,spec_id,0
// OUT: spec_constant,workgroup_size_y,spec_id,1
// OUT: spec_constant,workgroup_size_z,spec_id,2
// OUT: spec_constant,global_offset_x,spec_id,3
// OUT: spec_constant,global_offset_y,spec_id,4
// OUT: spec_constant,global_offset_z,spec_id,5
// OUT: spec_constant,work_dim,spec_id,6
// run: one
// global: 4
// local: 2
// offset: 3
// arg: buffer i32 zero 8
// expect: 0 i32 [0 0 0 34 35 36 37 0]
// run: two
// global: 4
// local: 2
// arg: buffer i32 zero 4
// expect: 0 i32 [1421 1421 1421 1421]

kernel void one(global int *a) {
  a[get_global_id(0)] = get_global_id(0) + 10 * get_global_offset(0) + 1;
}

kernel void two(global int *a) {
  a[get_global_id(0)] = get_work_dim() + 10 * get_local_size(0) + 100 * get_global_size(0)
      + 1000 * get_num_groups(get_work_dim() - 1) - 1000;
}
