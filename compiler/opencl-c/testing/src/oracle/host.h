// What makes OpenCL C of gcc's C, for one program or many in a file. Work-items are coroutines, so
// that a barrier is a switch to the next.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef _Float16 half;
typedef _Bool bool;
#define true 1
#define false 0
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SHRT_MIN (-32767 - 1)
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffffU

#define global
#define local
#define private
#define constant const
#define generic
#define kernel
#define __global
#define __local
#define __private
#define __constant const
#define __generic

#define VECTORS(T) \
    typedef T T##2 __attribute__((vector_size(2 * sizeof(T)))); \
    typedef T T##3 __attribute__((vector_size(4 * sizeof(T)))); \
    typedef T T##4 __attribute__((vector_size(4 * sizeof(T)))); \
    typedef T T##8 __attribute__((vector_size(8 * sizeof(T)))); \
    typedef T T##16 __attribute__((vector_size(16 * sizeof(T))));
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint)
VECTORS(long) VECTORS(ulong) VECTORS(half) VECTORS(float) VECTORS(double)

// The arguments' own names must not be those of the macros' variables when macros are nested.
#define NAME_(a, b) a##b
#define NAME(a, b) NAME_(a, b)
#define SPLAT_(V, T, N, E, t, v) \
    ({ T t = (E); V v; for (int i = 0; i < (int)(sizeof(V) / sizeof(T)); i++) v[i] = t; v; })
#define SPLAT(V, T, N, E) SPLAT_(V, T, N, E, NAME(t_, __COUNTER__), NAME(v_, __COUNTER__))
#define AS_(T, E, t, r) ({ __typeof__(E) t = (E); T r; memcpy(&r, &t, sizeof r); r; })
#define AS(T, E) AS_(T, E, NAME(t_, __COUNTER__), NAME(r_, __COUNTER__))
#define SELECT_(V, I, C, A, B, c, a, b) \
    ({ I c = (I)((C) < 0); I a = AS(I, A), b = AS(I, B); I r_ = (c & a) | (~c & b); AS(V, r_); })
#define SELECT(V, I, C, A, B) \
    SELECT_(V, I, C, A, B, NAME(c_, __COUNTER__), NAME(a_, __COUNTER__), NAME(b_, __COUNTER__))

#define LEAST(T) ((T)-1 > 0 ? (__int128)0 : -((__int128)1 << (8 * sizeof(T) - 1)))
#define GREATEST(T) (LEAST(T) + (((__int128)1 << (8 * sizeof(T))) - 1))
#define SATURATE_(V, T, N, E, t, v) ({ \
    __typeof__(E) t = (E); \
    V v; \
    for (int i = 0; i < N; i++) { \
        __int128 x = t[i]; \
        v[i] = x < LEAST(T) ? LEAST(T) : x > GREATEST(T) ? GREATEST(T) : x; \
    } \
    v; })
#define SATURATE(V, T, N, E) SATURATE_(V, T, N, E, NAME(t_, __COUNTER__), NAME(v_, __COUNTER__))
#define ANY_(N, E, t, r) \
    ({ __typeof__(E) t = (E); int r = 0; for (int i = 0; i < N; i++) r |= t[i] < 0; r; })
#define ANY(N, E) ANY_(N, E, NAME(t_, __COUNTER__), NAME(r_, __COUNTER__))
#define ALL_(N, E, t, r) \
    ({ __typeof__(E) t = (E); int r = 1; for (int i = 0; i < N; i++) r &= t[i] < 0; r; })
#define ALL(N, E) ALL_(N, E, NAME(t_, __COUNTER__), NAME(r_, __COUNTER__))

enum { GROUPS = 2, ITEMS = 4, STACK = 1 << 18 };

static ucontext_t scheduler, items[ITEMS];
static char stacks[ITEMS][STACK];
static int group, item, running[ITEMS];
static void (*current_kernel)(void);

static ulong get_global_id(uint d) { return d ? 0 : group * ITEMS + item; }
static ulong get_local_id(uint d) { return d ? 0 : item; }
static ulong get_group_id(uint d) { return d ? 0 : group; }
static ulong get_local_size(uint d) { return d ? 1 : ITEMS; }
static ulong get_global_size(uint d) { return d ? 1 : GROUPS * ITEMS; }
static ulong get_num_groups(uint d) { return d ? 1 : GROUPS; }
static ulong get_global_offset(uint d) { return 0; }

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
static void barrier(uint flags) { swapcontext(&items[item], &scheduler); }
#define work_group_barrier barrier

#define ATOMIC(NAME, TYPE, RESULT) \
    static TYPE atomic_##NAME##_##TYPE(volatile TYPE *p, TYPE v) { \
        TYPE old = *p; *p = (RESULT); return old; }
#define ATOMICS(TYPE) \
    ATOMIC(add, TYPE, old + v) ATOMIC(sub, TYPE, old - v) ATOMIC(xor, TYPE, old ^ v) \
    ATOMIC(or, TYPE, old | v) ATOMIC(and, TYPE, old & v) \
    ATOMIC(min, TYPE, old < v ? old : v) ATOMIC(max, TYPE, old > v ? old : v)
ATOMICS(int) ATOMICS(uint)
#define ATOMIC_OF(NAME, P, V) \
    _Generic((P), volatile int *: atomic_##NAME##_int, volatile uint *: atomic_##NAME##_uint)(P, V)
#define atomic_add(P, V) ATOMIC_OF(add, P, V)
#define atomic_sub(P, V) ATOMIC_OF(sub, P, V)
#define atomic_xor(P, V) ATOMIC_OF(xor, P, V)
#define atomic_or(P, V) ATOMIC_OF(or, P, V)
#define atomic_and(P, V) ATOMIC_OF(and, P, V)
#define atomic_min(P, V) ATOMIC_OF(min, P, V)
#define atomic_max(P, V) ATOMIC_OF(max, P, V)
#define atomic_inc(P) ATOMIC_OF(add, P, 1)
#define atomic_dec(P) ATOMIC_OF(sub, P, 1)

static void run_item(void) {
    current_kernel();
    running[item] = 0;
}

static void run_groups(void (*kernel_entry)(void)) {
    current_kernel = kernel_entry;
    for (group = 0; group < GROUPS; group++) {
        for (int i = 0; i < ITEMS; i++) {
            getcontext(&items[i]);
            items[i].uc_stack.ss_sp = stacks[i];
            items[i].uc_stack.ss_size = STACK;
            items[i].uc_link = &scheduler;
            running[i] = 1;
            makecontext(&items[i], run_item, 0);
        }
        for (int left = 1; left;) {
            left = 0;
            for (item = 0; item < ITEMS; item++) {
                if (running[item]) {
                    swapcontext(&scheduler, &items[item]);
                    left |= running[item];
                }
            }
        }
    }
}

static void print_bytes(const void *bytes, ulong size) {
    for (ulong i = 0; i < size; i++) printf("%02x", ((const uchar *)bytes)[i]);
    printf("\n");
}

// Built-in functions by components.
#define EACH(V, N, DECLARE, VALUE, r) \
    ({ DECLARE; V r; for (int i_ = 0; i_ < (N); i_++) r[i_] = VALUE; r; })
#define MAP1_(F, V, N, A, a, r) EACH(V, N, __typeof__(A) a = (A), F(a[i_]), r)
#define MAP2_(F, V, N, A, B, a, b, r) \
    EACH(V, N, __typeof__(A) a = (A); __typeof__(B) b = (B), F(a[i_], b[i_]), r)
#define MAP3_(F, V, N, A, B, C, a, b, c, r) \
    EACH(V, N, __typeof__(A) a = (A); __typeof__(B) b = (B); __typeof__(C) c = (C), \
        F(a[i_], b[i_], c[i_]), r)
#define NEW(p) NAME(p, __COUNTER__)
#define MAP1(F, V, N, A) MAP1_(F, V, N, A, NEW(a_), NEW(r_))
#define MAP2(F, V, N, A, B) MAP2_(F, V, N, A, B, NEW(a_), NEW(b_), NEW(r_))
#define MAP3(F, V, N, A, B, C) MAP3_(F, V, N, A, B, C, NEW(a_), NEW(b_), NEW(c_), NEW(r_))
#define MAPTO1 MAP1
#define MAPTO2 MAP2
#define RELATE1(F, V, N, A) MAP1(-F, V, N, A)
#define RELATE2(F, V, N, A, B) MAP2(-F, V, N, A, B)
#define SHUFFLE_(V, N, FROM, ALL, A, B, M, a, b, m, r) \
    EACH(V, N, __typeof__(A) a = (A); __typeof__(B) b = (B); __typeof__(M) m = (M), \
        m[i_] % (ALL) < (FROM) ? a[m[i_] % (FROM)] : b[m[i_] % (FROM)], r)
#define SHUFFLE(V, N, FROM, ALL, A, B, M) \
    SHUFFLE_(V, N, FROM, ALL, A, B, M, NEW(a_), NEW(b_), NEW(m_), NEW(r_))

typedef __int128 wide;
#define BITS(T) ((int)(8 * sizeof(T)))
#define FUNCTION(NAME, T, ARGS, RESULT) \
    static inline T NAME##_##T ARGS { return (T)(RESULT); }
#define CLAMPED(T, X) ({ wide x = (X); x < LEAST(T) ? LEAST(T) : x > GREATEST(T) ? GREATEST(T) : x; })
// The product of two unsigned 64-bit numbers wraps in `wide`, but not in its bits.
#define HIGH(T, A, B) ((T)(((wide)(A) * (wide)(B)) >> BITS(T)))
#define BUILTINS(T, U) \
    FUNCTION(max, T, (T a, T b), a > b ? a : b) \
    FUNCTION(min, T, (T a, T b), a < b ? a : b) \
    FUNCTION(clamp, T, (T a, T b, T c), a < b ? b : a > c ? c : a) \
    FUNCTION(add_sat, T, (T a, T b), CLAMPED(T, (wide)a + b)) \
    FUNCTION(sub_sat, T, (T a, T b), CLAMPED(T, (wide)a - b)) \
    FUNCTION(hadd, T, (T a, T b), ((wide)a + b) >> 1) \
    FUNCTION(rhadd, T, (T a, T b), ((wide)a + b + 1) >> 1) \
    FUNCTION(mul_hi, T, (T a, T b), HIGH(T, a, b)) \
    FUNCTION(mad_hi, T, (T a, T b, T c), (U)HIGH(T, a, b) + (U)c) \
    FUNCTION(mad_sat, T, (T a, T b, T c), mad_sat((wide)a, b, c, LEAST(T), GREATEST(T))) \
    FUNCTION(rotate, T, (T a, T b), \
        (U)a << (b & (BITS(T) - 1)) | (U)a >> (-(b & (BITS(T) - 1)) & (BITS(T) - 1))) \
    FUNCTION(clz, T, (T a), a == 0 ? BITS(T) : __builtin_clzl((U)a) - (64 - BITS(T))) \
    FUNCTION(popcount, T, (T a), __builtin_popcountl((U)a)) \
    FUNCTION(bitselect, T, (T a, T b, T c), (a & ~c) | (b & c)) \
    static inline U abs_##T(T a) { return a < 0 ? -(U)a : (U)a; } \
    static inline U abs_diff_##T(T a, T b) { return a < b ? (U)b - (U)a : (U)a - (U)b; }
static wide mad_sat(wide a, wide b, wide c, wide least, wide greatest) {
    wide product;
    // Only unsigned 64-bit numbers have products that are too large, and those are positive.
    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &product))
        return greatest;
    return product < least ? least : product > greatest ? greatest : product;
}
BUILTINS(char, uchar) BUILTINS(uchar, uchar) BUILTINS(short, ushort) BUILTINS(ushort, ushort)
BUILTINS(int, uint) BUILTINS(uint, uint) BUILTINS(long, ulong) BUILTINS(ulong, ulong)
#define FLOATS(T) \
    FUNCTION(max, T, (T a, T b), a < b ? b : a) \
    FUNCTION(min, T, (T a, T b), b < a ? b : a) \
    FUNCTION(fabs, T, (T a), __builtin_fabs(a)) \
    FUNCTION(floor, T, (T a), __builtin_floor(a)) \
    FUNCTION(ceil, T, (T a), __builtin_ceil(a)) \
    FUNCTION(trunc, T, (T a), __builtin_trunc(a)) \
    FUNCTION(rint, T, (T a), __builtin_rint(a)) \
    FUNCTION(copysign, T, (T a, T b), __builtin_copysign(a, b))
FLOATS(half) FLOATS(float) FLOATS(double)
#define isequal(A, B) ((A) == (B))
#define isnotequal(A, B) ((A) != (B))
#define isgreater(A, B) ((A) > (B))
#define isgreaterequal(A, B) ((A) >= (B))
#define isless(A, B) ((A) < (B))
#define islessequal(A, B) ((A) <= (B))
#define islessgreater(A, B) ((A) < (B) || (A) > (B))
#define isordered(A, B) ((A) == (A) && (B) == (B))
#define isfinite(A) ((A) - (A) == 0)
#define isnan(A) ((A) != (A))
#define isinf(A) (!isfinite(A) && !isnan(A))
#define signbit(A) (__builtin_copysign(1.0, A) < 0)
