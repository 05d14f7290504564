// RUN: execute -cl-std=CL3.0
// A truth value that is cast or assigned to a vector is -1 in each component (OpenCL C 3.0,
// "Explicit Casts"); as an operand it is 1, like other numbers.
// run:
// arg: buffer i32 zero 7
// arg: buffer f32 zero 3
// arg: value i32 5
// expect: 0 i32 [-1 -1 -1 1 1 0 1]
// expect: 1 f32 [-1.0 -1.0 3.0]

kernel void k(global int *o, global float *f, int n) {
    bool b = n;
    o[0] = ((int2)(b)).y;
    o[1] = ((int2)b).x;
    int2 v = b;
    o[2] = v.y;
    o[3] = ((int2)(b, n)).x;
    o[4] = ((int2)(0) + b).y;
    o[5] = ((char2)(!b == b)).y;
    o[6] = ((int2)(b == true)).y;
    f[0] = ((float2)(b)).y;
    float2 g = b;
    f[1] = g.x;
    g = (float2)(2);
    g += b;
    f[2] = g.y;
}
