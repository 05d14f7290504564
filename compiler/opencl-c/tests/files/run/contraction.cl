// RUN: execute -opencl-only -ext=cl_khr_fp64
// OpenCL C Specification, "Preprocessor Directives and Macros", FP_CONTRACT. With a = 1 + 2^-12 a
// product rounded by itself loses 2^-24 of a * a = 1 + 2^-11 + 2^-24.
// run: scopes
// arg: buffer f32 zero 10
// arg: value f32 0x3f800800
// expect: 0 f32 [0x33800000 0 0x33800000 0 0x33800000 0 0 0x33800000 0xb3800000 0x33800000]
// run: called
// arg: buffer f32 zero 3
// arg: value f32 0x3f800800
// expect: 0 f32 [0 0x33800000 0]
// run: statements
// arg: buffer f32 zero 3
// arg: value f32 0x3f800800
// expect: 0 f32 [0 0x33800000 0]
// run: doubles
// arg: buffer f64 zero 4
// arg: value f64 0x3ff0000001000000
// expect: 0 f64 [0x3c70000000000000 0 0 0x3c70000000000000]

#define PRODUCT_MINUS(a, c) ((a) * (a) - (c))

kernel void scopes(global float *out, float a) {
  float rounded = 0x1.002p0f;
  out[0] = a * a - rounded;
  {
#pragma OPENCL FP_CONTRACT OFF
    out[1] = a * a - rounded;
    {
#pragma OPENCL FP_CONTRACT ON
      out[2] = a * a - rounded;
    }
    out[3] = PRODUCT_MINUS(a, rounded);
  }
  out[4] = PRODUCT_MINUS(a, rounded);
  if (a > 0) {
#pragma STDC FP_CONTRACT OFF
    out[5] = a * a - rounded;
    float4 v = a;
    v *= a;
    v -= rounded;
    out[6] = v.z;
  }
  {
#pragma clang fp contract(off)
#pragma STDC FP_CONTRACT DEFAULT
    float4 v = a;
    out[7] = (v * v - rounded).z;
  }
  out[8] = rounded - a * a;
  float sum = -rounded;
  sum += a * a;
  out[9] = sum;
}

// A function is contracted as where it is written, whoever calls it.
#pragma OPENCL FP_CONTRACT OFF
float apart(float a, float c) { return a * a - c; }
#pragma OPENCL FP_CONTRACT ON
float together(float a, float c) { return a * a - c; }

kernel void called(global float *out, float a) {
  out[0] = apart(a, 0x1.002p0f);
  out[1] = together(a, 0x1.002p0f);
  out[2] = apart(a, 0x1.002p0f);
}

// What the pragma allows is to contract an expression.
kernel void statements(global float *out, float a) {
  {
    _Pragma("OPENCL FP_CONTRACT OFF")
    float product = a * a;
    out[0] = product - 0x1.002p0f;
  }
  out[1] = a * a - 0x1.002p0f;
  float product;
  {
#pragma OPENCL FP_CONTRACT OFF
    product = a * a;
  }
  out[2] = product - 0x1.002p0f;
}

kernel void doubles(global double *out, double a) {
  out[0] = a * a - 0x1.0000002p0;
  {
#pragma OPENCL FP_CONTRACT OFF
    out[1] = a * a - 0x1.0000002p0;
    out[2] = 0x1.0000002p0 - a * a;
  }
  out[3] = -0x1.0000002p0 + a * a;
}
