// RUN: vulkan -ext=__opencl_c_images
// OUT: kernel_decl,i
// OUT: kernel,i,arg,from,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,ro_image
// OUT: kernel,i,arg,s,argOrdinal,1,descriptorSet,0,binding,1,offset,0,argKind,sampler
// OUT: kernel,i,arg,to,argOrdinal,2,descriptorSet,0,binding,2,offset,0,argKind,wo_image
// OUT: sampler,18,samplerExpr,"CLK_ADDRESS_CLAMP_TO_EDGE|CLK_FILTER_NEAREST|CLK_NORMALIZED_COORDS_FALSE",descriptorSet,1,binding,0
// OUT: spec_constant,workgroup_size_x,spec_id,0
// OUT: spec_constant,workgroup_size_y,spec_id,1
// OUT: spec_constant,workgroup_size_z,spec_id,2

constant sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void i(read_only image2d_t from, sampler_t s, write_only image2d_t to) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  if (at.x < get_image_width(from))
    write_imagef(to, at, read_imagef(from, s, at) + read_imagef(from, own, (float2)(0.5f)));
}
