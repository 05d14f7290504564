// Operators on vectors and on floating-point numbers. OpenCL C Specification, "Operators".
// RUN: check -cl-std=CL1.1

void f(float x, int i, int4 v, int2 w, char c, float4 y) {
  i = x && 1;
// ERROR: 5:9: invalid operands to binary expression ('float' and 'int')
  i = !x;
// ERROR: 7:7: invalid argument type 'float' to unary expression
  v = !y;
// ERROR: 9:7: invalid argument type 'float4' (vector of 4 'float' values) to unary expression
  i = x ? 1 : 2;
// ERROR: 11:9: used type 'float' where floating point type is not allowed
  v = y ? v : v;
// ERROR: 13:9: used type 'float4' (vector of 4 'float' values) where floating point type is not allowed
  v = v << w;
// ERROR: 15:9: vector operands do not have the same number of elements ('int4' (vector of 4 'int' values) and 'int2' (vector of 2 'int' values))
  v = c << v;
// ERROR: 17:9: requested shift is a vector of type 'int4' (vector of 4 'int' values) but the first operand is not a vector ('char')
  v = v << i;
  i = sizeof(void);
// ERROR: 20:7: invalid application of 'sizeof' to a void type
  i = vec_step(&i) + vec_step(int3);
// ERROR: 22:7: 'vec_step' requires built-in scalar or vector type, '__private int *' invalid
}
