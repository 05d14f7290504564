#define __BROLGA_COPIES(TO, FROM) \
static inline event_t __attribute__((overloadable, always_inline, convergent)) __brolga_copy_3D3D(TO void *to, size_t to_offset, const FROM void *from, size_t from_offset, size_t size, size_t elements, size_t lines, size_t planes, size_t from_line, size_t from_plane, size_t to_line, size_t to_plane, event_t event) { \
    size_t first = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)); \
    size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2); \
    for (size_t z = 0; z < planes; z++) { \
        for (size_t y = 0; y < lines; y++) { \
            TO uchar *target = (TO uchar *)to + (to_offset + z * to_plane + y * to_line) * size; \
            const FROM uchar *source = (const FROM uchar *)from + (from_offset + z * from_plane + y * from_line) * size; \
            for (size_t x = first; x < elements * size; x += step) target[x] = source[x]; \
        } \
    } \
    return event; \
} \
static inline event_t __attribute__((overloadable, always_inline, convergent)) __brolga_copy_2D2D(TO void *to, size_t to_offset, const FROM void *from, size_t from_offset, size_t size, size_t elements, size_t lines, size_t from_line, size_t to_line, event_t event) { \
    return __brolga_copy_3D3D(to, to_offset, from, from_offset, size, elements, lines, 1, from_line, 0, to_line, 0, event); \
}
__BROLGA_COPIES(__local, __global)
__BROLGA_COPIES(__global, __local)
#define async_work_group_copy_2D2D __brolga_copy_2D2D
#define async_work_group_copy_3D3D __brolga_copy_3D3D
