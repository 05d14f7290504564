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
static void (*entry)(void);

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
    entry();
    running[item] = 0;
}

static void run_groups(void (*kernel_entry)(void)) {
    entry = kernel_entry;
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
