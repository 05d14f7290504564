// RUN: vulkan
// run: t
// global: 8
// local: 4
// arg: buffer i32 [0 100 0 1065353216]
// expect: 0 i32 [8 92 7 1073741824]

kernel void t(global int *a) {
  local int count;
  if (get_local_id(0) == 0) count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&count);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_add(a, count);
  atomic_dec(a + 1);
  atomic_max(a + 2, (int)get_global_id(0));
  atomic_xchg((volatile global float *)a + 3, 2.0f);
}
