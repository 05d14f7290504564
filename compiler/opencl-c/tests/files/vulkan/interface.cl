// RUN: vulkan
// Buffers, then one block of what is passed by value, and sizes of work-groups: the map of the
// document "OpenCL C Language on Vulkan".
// OUT: kernel_decl,foo
// OUT: kernel,foo,arg,a,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel,foo,arg,b,argOrdinal,2,descriptorSet,0,binding,1,offset,0,argKind,buffer
// OUT: kernel,foo,arg,f,argOrdinal,1,descriptorSet,0,binding,2,offset,0,argKind,pod,argSize,4
// OUT: kernel,foo,arg,c,argOrdinal,3,descriptorSet,0,binding,2,offset,4,argKind,pod,argSize,4
// OUT: spec_constant,workgroup_size_x,spec_id,0
// OUT: spec_constant,workgroup_size_y,spec_id,1
// OUT: spec_constant,workgroup_size_z,spec_id,2
// run: foo
// global: 4
// local: 2
// arg: buffer i32 [1 2 3 4]
// arg: value f32 1.5
// arg: buffer f32 zero 4
// arg: value i32 3
// expect: 2 f32 [1.5 3 4.5 0]

kernel void foo(global int *a, float f, global float *b, uint c) {
  size_t i = get_global_id(0);
  if (i < c)
    b[i] = a[i] * f;
}
