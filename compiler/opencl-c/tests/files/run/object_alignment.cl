// RUN: execute -cl-std=CL3.0 -ext=__opencl_c_program_scope_global_variables,__opencl_c_generic_address_space
// Objects are where `aligned` of their types, members, typedefs and themselves says, in every
// address space.
// run: objects
// global: 4
// local: 2
// arg: buffer i32 [9 9 9 9]
// arg: value i32 [5*64]
// expect: 0 i32 [0 0 0 0]

struct wide { int a; } __attribute__((aligned(256)));
struct holder { int a; int b __attribute__((aligned(512))); };
struct outer { char c; struct holder inner[2]; };
struct alike { int a; _Alignas(1024) int b; };
typedef int page __attribute__((aligned(4096)));
typedef struct { int a; } loose;

constant struct wide in_constant = { 1 };
constant page page_in_constant = 2;
global struct wide in_global = { 3 };
global struct outer outer_in_global;

#define AT(p, align) ((ulong)(p) % (align) != 0)

__attribute__((noinline)) struct wide made(int a) {
  struct wide w = { a };
  return w;
}

__attribute__((noinline)) int passed(struct wide w, int x) {
  w.a += x;
  return AT(&w, 256) || w.a != x + 7;
}

kernel void objects(global int *p, struct wide argument) {
  char c = (char)p[0];
  struct wide w = { 1 };
  struct holder h = { 1, 2 };
  char d = c;
  struct outer o = { 0 };
  struct alike e = { 1, 2 };
  page q = 3;
  loose __attribute__((aligned(2048))) l = { 4 };
  struct wide several[3] = { { 1 } };
  local struct wide in_local;
  local struct outer outer_in_local;
  local page page_in_local;
  int wrong = AT(&w, 256) | AT(&h, 512) | AT(&h.b, 512) | AT(&o, 512) | AT(&o.inner[1].b, 512)
    | AT(&e, 1024) | AT(&e.b, 1024) | AT(&q, 4096) | AT(&l, 2048) | AT(&several[1], 256)
    | AT(&in_local, 256) | AT(&outer_in_local, 512) | AT(&page_in_local, 4096)
    | AT(&in_constant, 256) | AT(&page_in_constant, 4096) | AT(&in_global, 256)
    | AT(&outer_in_global, 512) | AT(&argument, 256) | AT(&(struct wide){ 1 }, 256)
    | passed(made(7), c) | (argument.a != 5) | (c != d);
  p[get_global_id(0)] = wrong;
}
