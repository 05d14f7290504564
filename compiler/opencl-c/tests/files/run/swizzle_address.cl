// RUN: execute
// The address of the vector whose components are written is computed once.
// run: global_
// arg: buffer i32 zero 12
// expect: 0 i32 [1 2 3 4 4 3 2 1 0 7 0 0]
// run: private_
// arg: buffer i32 zero 9
// expect: 0 i32 [1 2 4 3 0 9 0 0 2]

kernel void global_(global int4 *out) {
  int at = 0;
  out[at++].xyzw = (int4)(1, 2, 3, 4);
  out[at++].wzyx = (int4)(1, 2, 3, 4);
  out[at++].y = 7;
}

kernel void private_(global int *out) {
  int4 v[2] = {0, 0};
  int at = 0;
  v[at++].xywz = (int4)(1, 2, 3, 4);
  v[at++].y = 9;
  vstore4(v[0], 0, out);
  vstore4(v[1], 1, out);
  out[8] = at;
}
