// RUN: execute -cl-std=CL3.0 -ext=cl_khr_fp64,__opencl_c_fp64
// Functions of numbers: scalars stand for all components, comparisons are 1 or lanes of -1
// (OpenCL C Specification, "Common Functions", "Relational Functions", "Integer Functions").
// run:
// arg: buffer f32 [-1 0.5 2 nan]
// arg: buffer f32 zero 24
// arg: buffer i32 zero 32
// expect: 1 f32 [0 0.5 1 0 -4 2 8 nan 2 3 4 5 1 1 2 5.25 3 1.5 0 0 0 0 0 0]
// expect: 2 i32 [0 0 0 -1 1 0 -1 -1 0 0 1 0 1 3 -3 7 255 -128 127 5 27 2 1 -1 0 0 0 0 0 0 0 0]
kernel void math(global const float *in, global float *out, global int *bits) {
    float4 v = vload4(0, in);
    vstore4(fmax(clamp(v, 0.0f, 1.0f), 0.0f), 0, out);
    vstore4(ldexp(v, 2), 1, out);
    vstore4(max((float4)(1, 3, 4, 5), (float4)(2, 2, 2, 2)), 2, out);
    float4 three = (float4)(1, 2, 3, 4);
    out[12] = min(1.0f, 2.0f);
    out[13] = step(2.0f, 2.0f);
    out[14] = fma(1.0f, 1.0f, 1.0f);
    out[15] = dot(v.xyz, v.xyz);
    float whole;
    out[17] = modf(4.5f, &whole) + 1.0f;
    out[16] = whole - 1.0f;
    vstore4(isnan(v), 0, bits);
    bits[4] = isequal(1.0, 1.0);
    bits[5] = isnan(v.x);
    int2 less = isless(v.xy, (float2)(1.0f, 1.0f));
    bits[6] = less.x;
    bits[7] = less.y;
    bits[8] = any((int2)(1, 2));
    bits[9] = all((int2)(-1, 2));
    bits[10] = any((int2)(1, -2));
    bits[11] = signbit(v.y);
    bits[12] = all((char)-1);
    bits[13] = popcount(11);
    bits[14] = add_sat(-2, -1);
    bits[15] = select(3, 7, 1);
    bits[16] = add_sat((uchar)250, (uchar)10);
    bits[17] = sub_sat((char)-100, (char)100);
    bits[18] = convert_char_sat(300.0f);
    bits[19] = abs_diff(3, 8);
    bits[20] = clz(16);
    bits[21] = convert_int_rte(2.5f);
    bits[22] = clamp((int2)(0, 1), 1, 3).x;
    bits[23] = as_int(0xffffffffu);
}
