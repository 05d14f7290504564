// RUN: vulkan
// What goes through the rows of an array one after the other counts its elements, not those of a row: an index stays
// within its array.
// run: rows
// arg: buffer i64 zero 1
// arg: value i32 3
// arg: value i32 1
// expect: 0 i64 [1113]

kernel void rows(global ulong *out, int i, int j) {
  ulong rows[5][2] = {[3] = {11, 12}};
  rows[i][j] += 1;
  ulong sum = 0;
  for (int row = 0; row < 5; row++) sum += rows[row][0] * 100 + rows[row][1];
  out[0] = sum;
}
