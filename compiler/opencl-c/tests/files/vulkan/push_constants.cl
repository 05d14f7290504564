// RUN: vulkan -pod-pushconstant
// OUT: kernel_decl,foo
// OUT: kernel,foo,arg,a,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel,foo,arg,f,argOrdinal,1,offset,0,argKind,pod_pushconstant,argSize,4
// OUT: kernel,foo,arg,v,argOrdinal,2,offset,16,argKind,pod_pushconstant,argSize,16
// run: foo
// arg: buffer f32 [2]
// arg: value f32 0.5
// arg: value i32 [1 2 3 4]
// expect: 0 f32 [6]

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void foo(global float *a, float f, int4 v) {
  *a = *a * f + v.x + v.w;
}
