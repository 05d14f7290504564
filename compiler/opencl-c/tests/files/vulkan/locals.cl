// RUN: vulkan
// Each argument in local memory is an array that a specialization constant sizes.
// OUT: kernel_decl,foo
// OUT: kernel,foo,arg,L,argOrdinal,0,argKind,local,arrayElemSize,4,arrayNumElemSpecId,3
// OUT: kernel,foo,arg,A,argOrdinal,1,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel,foo,arg,L2,argOrdinal,2,argKind,local,arrayElemSize,16,arrayNumElemSpecId,4
// OUT: spec_constant,workgroup_size_x,spec_id,0
// OUT: spec_constant,workgroup_size_y,spec_id,1
// OUT: spec_constant,workgroup_size_z,spec_id,2
// run: foo
// global: 8
// local: 4
// arg: local 16
// arg: buffer f32 [0 1 2 3 4 5 6 7]
// arg: local 64
// expect: 1 f32 [9 7 5 3 17 15 13 11]

kernel void foo(local float *L, global float *A, local float4 *L2) {
  local float sum;
  uint lid = get_local_id(0), last = get_local_size(0) - 1;
  L[lid] = A[get_global_id(0)];
  L2[lid] = (float4)(L[lid]);
  if (lid == 0)
    sum = last;
  barrier(CLK_LOCAL_MEM_FENCE);
  A[get_global_id(0)] = L[last - lid] + L2[last - lid].z + sum;
}
