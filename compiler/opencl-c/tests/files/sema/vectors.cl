// RUN: check -ext=cl_khr_fp64
// Initialisers with braces have all components or none; floating-point vectors do not count.
// ERROR: 13:14: too few elements in vector initialization (expected 4 elements, have 3)
// ERROR: 14:28: excess elements in vector initializer
// ERROR: 15:22: too few elements in vector initialization (expected 4 elements, have 2)
// ERROR: 19:14: cannot increment value of type 'float4' (vector of 4 'float' values)
// ERROR: 20:3: cannot decrement value of type 'float4' (vector of 4 'float' values)

struct s { int4 v; int n; };
constant int4 zeros = {};

kernel void k(global int4 *out, float4 f, float g) {
  int4 few = {1, 2, 3};
  int4 many = {1, 2, 3, 4, 5};
  struct s braced = {{1, 2}, 3}, plain = {1, 2, 3, 4, 5};
  int4 list[2] = {1, 2, 3, 4}, none = {}, whole = {few.xy, many.lo};
  int4 literal = (int4){1, 2, (int2)(3)};
  out[0] = few + many + braced.v + plain.v + list[1] + none + whole + literal + zeros;
  out[1].x = f++;
  --f;
  g++;
}
