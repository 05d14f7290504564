// Alignments that memory can give: up to a page.
// RUN: check -cl-std=CL2.0

struct fits { int a; } __attribute__((aligned(4096)));
struct too_large { int a; } __attribute__((aligned(8192)));
// ERROR: 5:44: requested alignment must be 4096 bytes or smaller
struct member { _Alignas(512) char a; };
_Static_assert(__alignof__(struct member) == 512 && sizeof(struct member) == 512, "");

kernel void k() {
  _Alignas(4096) int a;
  _Alignas(8192) int b;
// ERROR: 12:12: requested alignment must be 4096 bytes or smaller
  _Alignas(0) int c;
  _Alignas(3) int d;
// ERROR: 15:12: requested alignment is not a power of 2
}
