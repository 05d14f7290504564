// RUN: vulkan -cluster-pod-kernel-args=0
// OUT: kernel_decl,foo
// OUT: kernel,foo,arg,a,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel,foo,arg,f,argOrdinal,1,descriptorSet,0,binding,1,offset,0,argKind,pod,argSize,4
// OUT: kernel,foo,arg,b,argOrdinal,2,descriptorSet,0,binding,2,offset,0,argKind,buffer
// OUT: kernel,foo,arg,c,argOrdinal,3,descriptorSet,0,binding,3,offset,0,argKind,pod,argSize,4
// run: foo
// arg: buffer i32 [5]
// arg: value f32 0.5
// arg: buffer f32 [0]
// arg: value i32 2
// expect: 2 f32 [4.5]

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void foo(global int *a, float f, global float *b, uint c) {
  *b = *a * f + c;
}
