// RUN: vulkan -pod-ubo -constant-args-ubo
// OUT: kernel_decl,foo
// OUT: kernel,foo,arg,a,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel,foo,arg,t,argOrdinal,1,descriptorSet,0,binding,1,offset,0,argKind,buffer_ubo
// OUT: kernel,foo,arg,f,argOrdinal,2,descriptorSet,0,binding,2,offset,0,argKind,pod_ubo,argSize,4
// OUT: kernel,foo,arg,i,argOrdinal,3,descriptorSet,0,binding,2,offset,4,argKind,pod_ubo,argSize,4
// run: foo
// arg: buffer f32 [2]
// arg: buffer f32 [0 1 2 3 4 5 6 7]
// arg: value f32 0.5
// arg: value i32 1
// expect: 0 f32 [8.5]

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void foo(global float *a, constant float4 *t, float f, int i) {
  *a = *a + t[i].z + f;
}
