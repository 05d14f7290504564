// RUN: execute -cl-std=CL1.2 -ext=cl_khr_select_fprounding_mode,cl_khr_fp64,cl_khr_fp16
// OpenCL C Specification, "Select Floating-Point Rounding Mode".
// run: scopes
// arg: buffer i32 zero 7
// arg: value f32 1.0
// expect: 0 i32 [0x3eaaaaab 0x3eaaaaaa 0x3eaaaaab 0x3eaaaaaa 0x3eaaaaab 0x3eaaaaaa 0x3eaaaaab]
// run: functions
// arg: buffer i32 zero 4
// arg: value f32 1.0
// expect: 0 i32 [0x3eaaaaab 0x3eaaaaaa 0x3eaaaaab 0x3eaaaaab]
// run: conversions
// arg: buffer i32 zero 11
// arg: value i32 1
// expect: 0 i32 [0x4b800001 0x4b800000 0x3f800001 0x3f800000 2 -2 0x3c01 0x3c00 0x3c01 0x3c01 3]
// run: constants
// arg: buffer i32 zero 6
// expect: 0 i32 [0x3eaaaaaa 0x3eaaaaab 0x4b800001 0xbeaaaaaa 0x7f7fffff 0x3eaaaaaa]
// run: places
// arg: buffer i32 zero 4
// arg: value f32 1.0
// expect: 0 i32 [0x3eaaaaaa 0x3eaaaaab 0x3eaaaaaa 0x3eaaaaab]

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// In a block up to its end, in one within it too.
kernel void scopes(global uint *out, float one) {
  out[0] = as_uint(one / 3);
#pragma OPENCL SELECT_ROUNDING_MODE rtz
  out[1] = as_uint(one / 3);
  {
#pragma OPENCL SELECT_ROUNDING_MODE rtp
    out[2] = as_uint(one / 3);
#pragma OPENCL SELECT_ROUNDING_MODE rtn
    if (one > 0) {
      out[3] = as_uint(one / 3);
#pragma OPENCL SELECT_ROUNDING_MODE rte
      out[4] = as_uint(one / 3);
    }
  }
  out[5] = as_uint(one / 3);
#pragma OPENCL SELECT_ROUNDING_MODE rte
  out[6] = as_uint(one / 3);
}

#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)
#define THIRD float NAME(third_, __ROUNDING_MODE__)(float x) { return x / 3; }
THIRD
#pragma OPENCL SELECT_ROUNDING_MODE rtn
THIRD
#if 0
#pragma OPENCL SELECT_ROUNDING_MODE rtz
#endif
_Pragma("OPENCL SELECT_ROUNDING_MODE rtp")
THIRD

// A function rounds as where it is, whoever calls it.
kernel void functions(global uint *out, float one) {
#pragma OPENCL SELECT_ROUNDING_MODE rtn
  out[0] = as_uint(third_rte(one));
#pragma OPENCL SELECT_ROUNDING_MODE rtp
  out[1] = as_uint(third_rtn(one));
#pragma OPENCL SELECT_ROUNDING_MODE rte
  out[2] = as_uint(third_rtp(one));
  out[3] = as_uint(one / 3);
}

// To floating point as selected, if they do not say; to integers towards zero.
kernel void conversions(global uint *out, int one) {
  int odd = 0x1000000 + one;
  double d = 1 + 0x1p-30 * one;
#pragma OPENCL SELECT_ROUNDING_MODE rtp
  out[0] = as_uint((float)odd);
  out[1] = as_uint(convert_float_rtz(odd));
  float implicit = d;
  out[2] = as_uint(implicit);
  out[3] = as_uint(convert_float_rte(d));
  out[4] = (int)(2.5f * one);
  out[5] = convert_int(-2.5f * one);
  half h[4];
  vstore_half((float)one + 0x1p-12f, 0, h);
  vstore_half_rtz((float)one + 0x1p-12f, 1, h);
  vstore_half2((float2)((float)one + 0x1p-12f), 1, h);
  out[6] = as_ushort(h[0]);
  out[7] = as_ushort(h[1]);
  out[8] = as_ushort(h[2]);
  out[9] = as_ushort(convert_half((float)one + 0x1p-12f));
  out[10] = convert_int_rtp(2.5f * one);
}

// Constants as selected where they stand.
#pragma OPENCL SELECT_ROUNDING_MODE rtz
constant float low = 1.0f / 3.0f;
#pragma OPENCL SELECT_ROUNDING_MODE rtp
constant float high = 1.0f / 3.0f;
constant float whole = 0x1000001;
constant float below = -1.0f / 3.0f;
#pragma OPENCL SELECT_ROUNDING_MODE rtn
constant float large = (float)1e300;
constant float2 pair = (float2)(1.0f) / 3.0f;
#pragma OPENCL SELECT_ROUNDING_MODE rte

kernel void constants(global uint *out) {
  out[0] = as_uint(low);
  out[1] = as_uint(high);
  out[2] = as_uint(whole);
  out[3] = as_uint(below);
  out[4] = as_uint(large);
  out[5] = as_uint(pair.y);
}

// Between any two tokens; it is no statement.
kernel void places(global uint *out, float one) {
  out[0] = as_uint(
#pragma OPENCL SELECT_ROUNDING_MODE rtz
      one / 3
#pragma OPENCL SELECT_ROUNDING_MODE rte
  );
  if (one > 0)
#pragma OPENCL SELECT_ROUNDING_MODE rtp
    out[1] = as_uint(one / 3);
  float thirds[2] = {
#pragma OPENCL SELECT_ROUNDING_MODE rtn
      one / 3,
  };
  out[2] = as_uint(thirds[0]);
  out[3] = as_uint(one / 3);
}
