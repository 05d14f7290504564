// RUN: vulkan
// Copies by a whole work-group.
// run: c
// global: 4
// local: 4
// arg: buffer i32 [1 2 3 4 5 6 7 8]
// arg: local 32
// expect: 0 i32 [8 7 6 5 4 3 2 1]

kernel void c(global int *a, local int *l) {
  event_t e = async_work_group_copy(l, a, 8, 0);
  wait_group_events(1, &e);
  for (uint i = get_local_id(0); i < 8; i += get_local_size(0))
    a[i] = l[7 - i];
}
