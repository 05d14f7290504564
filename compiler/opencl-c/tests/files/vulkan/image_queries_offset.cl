// RUN: vulkan -global-offset-push-constant -ext=__opencl_c_images
// The global offset comes before what is said of images, for every kernel.
// OUT: kernel_decl,q
// OUT: kernel,q,arg,out,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel,q,arg,a,argOrdinal,1,descriptorSet,0,binding,1,offset,0,argKind,ro_image
// OUT: kernel_decl,r
// OUT: kernel,r,arg,out,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: spec_constant,workgroup_size_x,spec_id,0
// OUT: spec_constant,workgroup_size_y,spec_id,1
// OUT: spec_constant,workgroup_size_z,spec_id,2
// OUT: pushconstant,name,global_offset,offset,0,size,12

kernel void q(global int *out, read_only image2d_t a) {
  out[get_global_id(0)] = get_image_channel_order(a);
}
kernel void r(global int *out) { out[get_global_id(0)] = get_global_offset(0); }
