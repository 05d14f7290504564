// `aligned` and `packed` of types, members and objects, as clang has them.
// RUN: check -cl-std=CL3.0 -ext=__opencl_c_program_scope_global_variables

typedef int wide __attribute__((aligned(16)));
_Static_assert(sizeof(wide) == 4 && __alignof__(wide) == 16, "");
struct member { char c; wide w; };
_Static_assert(__builtin_offsetof(struct member, w) == 16 && sizeof(struct member) == 32, "");

typedef float4 loose __attribute__((aligned(4)));
struct tight { char c; loose l; };
_Static_assert(__builtin_offsetof(struct tight, l) == 4 && sizeof(struct tight) == 20, "");
loose several[3];
_Static_assert(__alignof__(several) == 4 && sizeof(several) == 48, "");

wide list[2];
// ERROR: 15:6: size of array element of type 'int' (4 bytes) isn't a multiple of its alignment (16 bytes)

struct packed { char c; int i; } __attribute__((packed)) one;
_Static_assert(__alignof__(one) == 1 && __alignof__(one.i) == 1, "");
int object __attribute__((aligned(64)));
_Static_assert(__alignof__(object) == 64, "");
union first { __attribute__((aligned(8))) char c; };
_Static_assert(__alignof__(union first) == 8, "");

typedef float lanes __attribute__((ext_vector_type(4)));
typedef __attribute__((vector_size(8))) int pair;
_Static_assert(__builtin_types_compatible_p(lanes, float4), "");
_Static_assert(__builtin_types_compatible_p(pair, int2), "");
typedef int narrow __attribute__((mode(HI)));
_Static_assert(__builtin_types_compatible_p(narrow, short), "");
typedef struct member bad __attribute__((ext_vector_type(4)));
// ERROR: 31:42: invalid vector element type 'struct member'
typedef int odd __attribute__((ext_vector_type(5)));
// ERROR: 33:32: a vector must have 2, 3, 4, 8 or 16 components
