// RUN: check -ext=cl_khr_select_fprounding_mode
#pragma OPENCL SELECT_ROUNDING_MODE nearest
// ERROR: 2:37: 'nearest' is not a rounding mode; expected 'rte', 'rtz', 'rtp' or 'rtn'
#pragma OPENCL SELECT_ROUNDING_MODE
// WARNING: 4:2: unknown pragma ignored [-Wunknown-pragmas]
kernel void k() {}
