void __brolga_fn __spirv_MemoryBarrier(int, int);
#define mem_fence(f) __spirv_MemoryBarrier(2, 16 | __brolga_memory(f))
#define read_mem_fence(f) __spirv_MemoryBarrier(2, 2 | __brolga_memory(f))
#define write_mem_fence(f) __spirv_MemoryBarrier(2, 4 | __brolga_memory(f))
#define atomic_work_item_fence(f, o, s) __spirv_MemoryBarrier(__brolga_scope(s), __brolga_order(o) | __brolga_memory(f))
