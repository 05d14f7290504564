// RUN: vulkan -since=vulkan1.1 -cl-std=CL3.0 -ext=cl_khr_subgroups,__opencl_c_subgroups,cl_khr_subgroup_ballot,cl_khr_subgroup_rotate
// Masks are built-in values, rotations are shuffles.

kernel void masks(global uint4 *out) {
  out[0] = get_sub_group_eq_mask();
  out[1] = get_sub_group_ge_mask();
  out[2] = get_sub_group_gt_mask();
  out[3] = get_sub_group_le_mask();
  out[4] = get_sub_group_lt_mask();
  out[5].x = get_max_sub_group_size();
}

kernel void rotate_lanes(global float *out) {
  float x = out[get_global_id(0)];
  out[get_global_id(0)] = sub_group_rotate(x, 1) + sub_group_clustered_rotate(x, 3, 4);
}
