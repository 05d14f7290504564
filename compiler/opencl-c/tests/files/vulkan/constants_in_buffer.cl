// RUN: vulkan -module-constants-in-storage-buffer
// run: foo
// arg: buffer i32 [0 0]
// arg: value i32 1
// expect: 0 i32 [1 2]
// OUT: kernel_decl,foo
// OUT: kernel,foo,arg,a,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: kernel,foo,arg,i,argOrdinal,1,descriptorSet,0,binding,1,offset,0,argKind,pod,argSize,4
// OUT: kernel_decl,bar
// OUT: kernel,bar,arg,a,argOrdinal,0,descriptorSet,0,binding,0,offset,0,argKind,buffer
// OUT: constant,descriptorSet,1,binding,0,kind,buffer,hexbytes,61000000cdab34120000803f62000000ffffffff0000c03f0000000000000000000000000000000000000000000000000100000002000000
// OUT: spec_constant,workgroup_size_x,spec_id,0
// OUT: spec_constant,workgroup_size_y,spec_id,1
// OUT: spec_constant,workgroup_size_z,spec_id,2

typedef struct {
  char c;
  uint a;
  float f;
} Foo;
constant Foo ppp[3] = {{'a', 0x1234abcd, 1.0f}, {'b', 0xffffffff, 1.5f}, {0}};
constant uint more[2] = {1, 2};

kernel void foo(global uint *a, uint i) {
  a[0] = ppp[i].a + more[i];
  a[1] = more[i];
}
kernel void bar(global uint *a) { a[0] = more[a[1]]; }
