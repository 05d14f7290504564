#define __brolga_try(S, A, C, I) C __brolga_fn __spirv_AtomicCompareExchange(volatile S A *, int, int, int, C, C);
// What is compared is bits, of floating-point types too.
#define __brolga_cas(S, A, C, I) __brolga_inline bool __brolga_compare(volatile S A *p, C *e, C x, int o, int u, int s) { \
    I wanted = as_##I(*e); \
    I found = __spirv_AtomicCompareExchange((volatile S atomic_##I *)p, s, o, u, as_##I(x), wanted); \
    if (found == wanted) return true; \
    *e = as_##C(found); \
    return false; }
__brolga_signed(__brolga_try)
__brolga_unsigned(__brolga_try)
__brolga_signed(__brolga_cas)
__brolga_unsigned(__brolga_cas)
__brolga_floats(__brolga_cas)
#define __brolga_swap(p, e, x, o, u, s, ...) __brolga_compare(p, e, x, __brolga_order(o), __brolga_order(u), __brolga_scope(s))
#define atomic_compare_exchange_strong(p, e, x) __brolga_swap(p, e, x, 5, 5, 2, 0)
#define atomic_compare_exchange_strong_explicit(...) __brolga_swap(__VA_ARGS__, 2, 0)
#define atomic_compare_exchange_weak(p, e, x) __brolga_swap(p, e, x, 5, 5, 2, 0)
#define atomic_compare_exchange_weak_explicit(...) __brolga_swap(__VA_ARGS__, 2, 0)
