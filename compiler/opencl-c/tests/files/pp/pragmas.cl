// RUN: preprocess -ext=cl_khr_select_fprounding_mode
#define N 4
#pragma unroll N
_Pragma("OPENCL FP_CONTRACT OFF") x
#pragma of somebody else
// OUT: #pragma unroll 4
// OUT: #pragma OPENCL FP_CONTRACT OFF
// OUT: x
// OUT: #pragma of somebody else
#define M 1
#pragma push_macro("M")
#undef M
#define M 2
M
#pragma pop_macro("M")
M
// OUT: 2
// OUT: 1
__ROUNDING_MODE__ {
#pragma OPENCL SELECT_ROUNDING_MODE rtz
__ROUNDING_MODE__ { __ROUNDING_MODE__ } } __ROUNDING_MODE__
// OUT: rte {
// OUT: #pragma OPENCL SELECT_ROUNDING_MODE rtz
// OUT: rtz { rtz } } rte
