// RUN: check
#pragma OPENCL SELECT_ROUNDING_MODE rtz
// WARNING: 2:2: unknown pragma ignored [-Wunknown-pragmas]
#ifdef __ROUNDING_MODE__
#error without the extension
#endif
kernel void k() {}
