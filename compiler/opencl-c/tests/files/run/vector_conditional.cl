// RUN: execute
// Scalars that a vector condition chooses between are not promoted to int first.
// OpenCL C Specification, "Ternary Selection Operator".

// run:
// arg: buffer i32 zero 3
// arg: value i32 -1
// expect: 0 i32 [5 7 65535]
kernel void choose(global int *out, int negative) {
  char2 condition = (char2)(negative, 1);
  char a = 5, b = 7;
  char2 chosen = condition ? a : b;
  out[0] = chosen.x;
  out[1] = chosen.y;
  short2 wide = (short2)(negative, 1);
  ushort2 mixed = wide ? (ushort)negative : (char)b;
  out[2] = mixed.x;
}
