#define __brolga_move(S, A, C, I) C __brolga_fn __spirv_AtomicLoad(volatile S A *, int, int); \
    void __brolga_fn __spirv_AtomicStore(volatile S A *, int, int, C); \
    C __brolga_fn __spirv_AtomicExchange(volatile S A *, int, int, C);
__brolga_signed(__brolga_move)
__brolga_unsigned(__brolga_move)
__brolga_floats(__brolga_move)
__brolga_halves(__brolga_move)
#define __brolga_load(p, o, s, ...) __spirv_AtomicLoad(p, __brolga_scope(s), __brolga_order(o))
#define __brolga_store(p, x, o, s, ...) __spirv_AtomicStore(p, __brolga_scope(s), __brolga_order(o), x)
#define __brolga_exchange(p, x, o, s, ...) __spirv_AtomicExchange(p, __brolga_scope(s), __brolga_order(o), x)
// What is left out: sequential consistency, the device.
#define atomic_load(p) __brolga_load(p, 5, 2, 0)
#define atomic_load_explicit(...) __brolga_load(__VA_ARGS__, 2, 0)
#define atomic_store(p, x) __brolga_store(p, x, 5, 2, 0)
#define atomic_store_explicit(...) __brolga_store(__VA_ARGS__, 2, 0)
#define atomic_exchange(p, x) __brolga_exchange(p, x, 5, 2, 0)
#define atomic_exchange_explicit(...) __brolga_exchange(__VA_ARGS__, 2, 0)
