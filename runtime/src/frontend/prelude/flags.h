#define __brolga_flag(S, A, C, I) C __brolga_fn __spirv_AtomicFlagTestAndSet(volatile S A *, int, int); \
    void __brolga_fn __spirv_AtomicFlagClear(volatile S A *, int, int);
__brolga_spaces(__brolga_flag, atomic_flag, bool, )
#define __brolga_set(p, o, s, ...) __spirv_AtomicFlagTestAndSet(p, __brolga_scope(s), __brolga_order(o))
#define __brolga_clear(p, o, s, ...) __spirv_AtomicFlagClear(p, __brolga_scope(s), __brolga_order(o))
#define atomic_flag_test_and_set(p) __brolga_set(p, 5, 2, 0)
#define atomic_flag_test_and_set_explicit(...) __brolga_set(__VA_ARGS__, 2, 0)
#define atomic_flag_clear(p) __brolga_clear(p, 5, 2, 0)
#define atomic_flag_clear_explicit(...) __brolga_clear(__VA_ARGS__, 2, 0)
