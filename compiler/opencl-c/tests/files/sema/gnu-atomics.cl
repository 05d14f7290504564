// RUN: check
// ERROR: 10:22: address argument to atomic operation must be a pointer ('int' invalid)
// ERROR: 11:22: address argument to atomic operation must be a pointer to an integer or a pointer, of 4 or 8 bytes ('__global char *' invalid)
// ERROR: 12:22: address argument to atomic operation must be a pointer to non-const type ('const __global int *' invalid)
// ERROR: 14:25: passing 'float4' (vector of 4 'float' values) to parameter of incompatible type 'int'
// ERROR: 15:3: wrong number of arguments to function '__atomic_fetch_add'
// ERROR: 16:3: use of undeclared identifier '__atomic_frobnicate'

kernel void f(global char *c, const global int *k, global int *p, float4 v) {
  __atomic_fetch_add(*p, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(c, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(k, 1, __ATOMIC_RELAXED);
  *p = __atomic_load_n(k, __ATOMIC_RELAXED);
  __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
  __atomic_fetch_add(p);
  __atomic_frobnicate(p, 1, 0);
}
