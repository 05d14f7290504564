// OpenCL C Specification, "Declaring and Initializing Samplers".
// RUN: check -cl-std=CL3.0 -ext=__opencl_c_images,__opencl_c_program_scope_global_variables

const sampler_t fine = CLK_FILTER_NEAREST;
constant sampler_t also_fine = CLK_FILTER_LINEAR;
sampler_t not_const = 0;
// ERROR: 6:11: global sampler requires a const or constant address space qualifier
global sampler_t in_global = 0;
// ERROR: 8:18: global sampler requires a const or constant address space qualifier
constant sampler_t too_wide = 0x100000000L;
// ERROR: 10:31: sampler_t initialization requires 32-bit integer, not 'long'
sampler_t result(void);
// ERROR: 12:11: declaring function return value of type 'sampler_t' is not allowed
kernel void k(sampler_t s) {
  local sampler_t shared;
// ERROR: 15:19: sampler type cannot be used with the __local and __global address space qualifiers
  const sampler_t own = s;
}
