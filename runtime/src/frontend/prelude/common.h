#define __brolga_fn __attribute__((overloadable))
#define __brolga_inline static inline __attribute__((overloadable, always_inline))

// SPIR-V's numbers for scopes, memory orders and storage classes.
#define __brolga_scope(s) ((s) == __OPENCL_MEMORY_SCOPE_WORK_ITEM ? 4 : (s) == __OPENCL_MEMORY_SCOPE_SUB_GROUP ? 3 \
    : (s) == __OPENCL_MEMORY_SCOPE_WORK_GROUP ? 2 : (s) == __OPENCL_MEMORY_SCOPE_DEVICE ? 1 : 0)
#define __brolga_order(o) ((o) == __ATOMIC_RELAXED ? 0 : (o) == __ATOMIC_ACQUIRE ? 2 : (o) == __ATOMIC_RELEASE ? 4 \
    : (o) == __ATOMIC_ACQ_REL ? 8 : 16)
#define __brolga_memory(f) (((f) & 1 ? 0x100 : 0) | ((f) & 2 ? 0x200 : 0) | ((f) & 4 ? 0x800 : 0))

// F(address space, atomic type, type, integer of its size) for every address space, and for groups of types.
#define __brolga_spaces(F, A, C, I) F(__global, A, C, I) F(__local, A, C, I) F(, A, C, I)
#define __brolga_signed(F) __brolga_spaces(F, atomic_int, int, int) __brolga_spaces(F, atomic_long, long, long)
#define __brolga_unsigned(F) __brolga_spaces(F, atomic_uint, uint, uint) __brolga_spaces(F, atomic_ulong, ulong, ulong)
#define __brolga_floats(F) __brolga_spaces(F, atomic_float, float, int) __brolga_spaces(F, atomic_double, double, long)
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define __brolga_halves(F) __brolga_spaces(F, atomic_half, half, short)
#else
#define __brolga_halves(F)
#endif
