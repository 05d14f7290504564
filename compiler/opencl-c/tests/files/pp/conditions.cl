// RUN: preprocess -DONE -DTWO=2 -UONE -ext=cl_khr_fp64,__opencl_c_pipes -cl-std=CL3.0
#if defined ONE || TWO != 2 || !defined(TWO)
wrong
#elif -1 > 0u && -1 >> 63 == -1 && 0x7fffffffffffffff + 1 < 0
unsigned wins
#else
wrong
#endif
// OUT: unsigned wins
#if (2 || 1 / 0) && (0 ? 1 / 0 : 3) == 3 && '\377' < 0 && L'\377' > 0 && 'a' == 97
short circuit
#endif
// OUT: short circuit
#define HAS defined cl_khr_fp64 && defined(__opencl_c_pipes) && !defined cl_khr_fp16
#if HAS && __OPENCL_C_VERSION__ == 300 && CL_VERSION_3_0 == 300 && __OPENCL_VERSION__ == 310
predefined
#endif
// OUT: predefined
#ifdef NOT_THERE
#if this is not looked at (
'
#else
#endif
#elifdef TWO
elifdef
#elif (((
#else
wrong
#endif
// OUT: elifdef
#if __has_attribute(packed) && __has_attribute(__packed__) && !__has_attribute(nonsense)
attribute
#endif
// OUT: attribute
#if __has_builtin(__builtin_clz) && __has_extension(c_static_assert) && __is_identifier(foo)
builtin
#endif
// OUT: builtin
#if !__is_identifier(int) && __has_warning("-Wmacro-redefined")
keyword
#endif
// OUT: keyword
