#define __brolga_op(S, A, C, N) C __brolga_fn __spirv_Atomic##N(volatile S A *, int, int, C);
#define __brolga_bits(S, A, C, I) __brolga_op(S, A, C, And) __brolga_op(S, A, C, Or) __brolga_op(S, A, C, Xor)
#define __brolga_use(S, A, C, N, f, v) __brolga_op(S, A, C, N) \
    __brolga_inline C __brolga_##f(volatile S A *p, C x, int o, int s) { return __spirv_Atomic##N(p, s, o, v); }
#define __brolga_of_signed(S, A, C, I) __brolga_bits(S, A, C, I) __brolga_use(S, A, C, IAdd, add, x) \
    __brolga_use(S, A, C, ISub, sub, x) __brolga_use(S, A, C, SMin, min, x) __brolga_use(S, A, C, SMax, max, x)
#define __brolga_of_unsigned(S, A, C, I) __brolga_bits(S, A, C, I) __brolga_use(S, A, C, IAdd, add, x) \
    __brolga_use(S, A, C, ISub, sub, x) __brolga_use(S, A, C, UMin, min, x) __brolga_use(S, A, C, UMax, max, x)
#define __brolga_of_float(S, A, C, I) __brolga_use(S, A, C, FAddEXT, add, x) __brolga_use(S, A, C, FAddEXT, sub, -x) \
    __brolga_use(S, A, C, FMinEXT, min, x) __brolga_use(S, A, C, FMaxEXT, max, x)
__brolga_signed(__brolga_of_signed)
__brolga_unsigned(__brolga_of_unsigned)
__brolga_floats(__brolga_of_float)
__brolga_halves(__brolga_of_float)
#define __brolga_fetch(f, p, x, o, s, ...) __brolga_##f(p, x, __brolga_order(o), __brolga_scope(s))
#define __brolga_logic(N, p, x, o, s, ...) __spirv_Atomic##N(p, __brolga_scope(s), __brolga_order(o), x)
#define atomic_fetch_add(p, x) __brolga_fetch(add, p, x, 5, 2, 0)
#define atomic_fetch_add_explicit(...) __brolga_fetch(add, __VA_ARGS__, 2, 0)
#define atomic_fetch_sub(p, x) __brolga_fetch(sub, p, x, 5, 2, 0)
#define atomic_fetch_sub_explicit(...) __brolga_fetch(sub, __VA_ARGS__, 2, 0)
#define atomic_fetch_min(p, x) __brolga_fetch(min, p, x, 5, 2, 0)
#define atomic_fetch_min_explicit(...) __brolga_fetch(min, __VA_ARGS__, 2, 0)
#define atomic_fetch_max(p, x) __brolga_fetch(max, p, x, 5, 2, 0)
#define atomic_fetch_max_explicit(...) __brolga_fetch(max, __VA_ARGS__, 2, 0)
#define atomic_fetch_and(p, x) __brolga_logic(And, p, x, 5, 2, 0)
#define atomic_fetch_and_explicit(...) __brolga_logic(And, __VA_ARGS__, 2, 0)
#define atomic_fetch_or(p, x) __brolga_logic(Or, p, x, 5, 2, 0)
#define atomic_fetch_or_explicit(...) __brolga_logic(Or, __VA_ARGS__, 2, 0)
#define atomic_fetch_xor(p, x) __brolga_logic(Xor, p, x, 5, 2, 0)
#define atomic_fetch_xor_explicit(...) __brolga_logic(Xor, __VA_ARGS__, 2, 0)
