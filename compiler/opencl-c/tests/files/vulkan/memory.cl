// RUN: vulkan
// What is in memory, in structures, vectors and constants.
// run: m
// arg: buffer f32 [1 2 3 4 5 6 7 8]
// arg: buffer i32 zero 8
// arg: value i32 1
// expect: 0 f32 [1 2 7 4 8 7 6 5]
// expect: 1 i32 [305419896 4 14 -1 2 8 5 97]

typedef struct { char c; uint a; float f; } Foo;
constant Foo table[3] = {{'a', 0x12345678, 1.0f}, {'b', 0xffffffff, 1.5f}, {0}};
constant int small[] = {3, 5, 7};

kernel void m(global float4 *v, global int *out, int i) {
  out[0] = table[i - 1].a;
  float3 three = vload3(i, (global float *)v);
  out[1] = three.x;
  v[0].s2 += 4;
  float2 pair = vload2(3, (global float *)v);
  out[2] = v[0].z + pair.x;
  out[3] = table[i].a;
  Foo foo = table[i];
  foo.f *= 2;
  Foo copy = foo;
  out[4] = copy.f - i;
  v[i] = v[i].wzyx;
  out[5] = v[i].x;
  out[6] = small[i];
  out[7] = table[0].c;
}
