// `long long` and `long` are different types of the same size.
// RUN: check -cl-std=CL2.0

int long same(long a);
long long different(long a);
// WARNING: 5:1: 'long long' is reserved in OpenCL C; it is taken as C's, with 64 bits [-Wlong-long]
// ERROR: 9:6: conflicting types for 'different'

long different(long a);
typedef long long pair __attribute__((ext_vector_type(2)));
// WARNING: 10:39: there are no vectors of 'long long'; taken as one of 'long' [-Wlong-long]
_Static_assert(sizeof(pair) == 16 && __builtin_types_compatible_p(pair, long2), "");
_Static_assert(!__builtin_types_compatible_p(long, long long), "");
_Static_assert(!__builtin_types_compatible_p(ulong, unsigned long long), "");
_Static_assert(__builtin_types_compatible_p(long long int, signed long long), "");
