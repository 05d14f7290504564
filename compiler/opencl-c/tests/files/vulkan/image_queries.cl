// RUN: vulkan -ext=__opencl_c_images
// Channels are pushed by the host; images that are buffers are texel buffers.
// OUT: kernel_decl,q
// OUT: kernel,q,arg,a,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,ro_image
// OUT: kernel,q,arg,out,argOrdinal,1,descriptorSet,0,binding,1,offset,0,argKind,buffer
// OUT: kernel,q,arg,b,argOrdinal,2,descriptorSet,0,binding,2,offset,0,argKind,storage_texel_buffer
// OUT: kernel,q,arg,c,argOrdinal,3,descriptorSet,0,binding,3,offset,0,argKind,uniform_texel_buffer
// OUT: spec_constant,workgroup_size_x,spec_id,0
// OUT: spec_constant,workgroup_size_y,spec_id,1
// OUT: spec_constant,workgroup_size_z,spec_id,2

kernel void q(read_only image2d_t a, global int *out, write_only image1d_buffer_t b,
              read_only image1d_buffer_t c) {
  out[0] = get_image_channel_order(a);
  out[1] = get_image_channel_data_type(a);
  out[2] = get_image_channel_order(b);
  out[3] = get_image_width(c);
  write_imagef(b, 3, read_imagef(c, 1));
}
