// RUN: check -cl-std=CL3.0 -ext=cl_khr_fp64,__opencl_c_fp64
// OpenCL C 3.0, "Ternary Selection Operator": the first operand is a scalar or vector "except
// float".
// ERROR: 8:14: used type 'float' where floating point type is not allowed
// ERROR: 9:18: used type 'double' where floating point type is not allowed

kernel void k(global int *o, float f, double d, int2 v, int i) {
    o[0] = f ? 1 : 2;
    o[1] = d * 2 ? 1 : 2;
    o[2] = i ? f : d;
    o[3] = (f != 0) ? 1 : 2;
    o[4] = f && d ? 1 : 2;
    o[5] = (v ? v : (int2)(i)).x;
}
