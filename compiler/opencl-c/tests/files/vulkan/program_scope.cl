// RUN: vulkan -cl-std=CL3.0 -ext=__opencl_c_program_scope_global_variables
// Variables in global memory of the program are in a buffer that the module fills.
// run: count
// global: 4
// local: 2
// arg: buffer i32 zero 4
// expect: 0 i32 [104 5 6 7]
// OUT: kernel_decl,count
// OUT: kernel,count,arg,out,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel_decl,other
// OUT: kernel,other,arg,out,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: program_scope_variables,descriptorSet,1,binding,0,kind,buffer,hexbytes,0400000005000000060000000700000064000000
// OUT: spec_constant,workgroup_size_x,spec_id,0
// OUT: spec_constant,workgroup_size_y,spec_id,1
// OUT: spec_constant,workgroup_size_z,spec_id,2

global int table[4] = {4, 5, 6, 7};
static global int start = 100;

kernel void count(global int *out) {
  size_t i = get_global_id(0);
  out[i] = table[i];
  if (i == 0) {
    out[0] += start;
    table[0] = start;
  }
}
kernel void other(global float *out) { out[start] = as_float(table[0]); }
