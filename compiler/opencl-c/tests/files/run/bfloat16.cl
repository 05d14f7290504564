// RUN: execute -ext=cl_intel_bfloat16_conversions
// Conversions to bfloat16 round to nearest even, those from it are exact
// (cl_intel_bfloat16_conversions).
// run:
// arg: buffer f32 [1 1.00390625 1.01171875 -1.004 inf 3.4e38 1e-40 0]
// arg: buffer i16 zero 24
// arg: buffer f32 zero 8
// expect: 1 i16 [0x3f80 0x3f80 0x3f82 0xbf81 0x7f80 0x7f80 1 0 0x3f80 0x3f80 0x3f82 0xbf81 0x7f80 0x7f80 1 0 0x3f80 0x3f80 0x3f80 0x3f82 0 0 0 0]
// expect: 2 f32 [1 1 1.015625 -1.0078125 1 1 1 1.015625]
kernel void convert(global const float *in, global ushort *out, global float *back) {
  for (int i = 0; i < 8; i++)
    out[i] = intel_convert_bfloat16_as_ushort(in[i]);
  vstore8(intel_convert_bfloat168_as_ushort8(vload8(0, in)), 1, out);
  out[16] = intel_convert_bfloat162_as_ushort2(vload2(0, in)).x;
  vstore3(intel_convert_bfloat163_as_ushort3(vload3(0, in)), 0, out + 17);
  vstore4(intel_convert_as_bfloat164_float4(vload4(0, out)), 0, back);
  vstore3(intel_convert_as_bfloat163_float3(vload3(0, out + 17)), 0, back + 5);
  back[4] = intel_convert_as_bfloat16_float(out[0]);
}
