// RUN: check -ext=cl_khr_fp64 -Werror -Wno-error=unknown-pragmas
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION all : disable
#pragma OPENCL EXTENSION cl_nobody_has : enable
#pragma OPENCL EXTENSION cl_khr_fp64
#pragma nonsense
// ERROR: 4:2: OpenCL extension 'cl_nobody_has' unknown or does not require pragma - ignoring [-Werror,-Wignored-pragmas]
// ERROR: 5:2: expected name and behavior in '#pragma OPENCL EXTENSION' - ignored [-Werror,-Wignored-pragmas]
// WARNING: 6:2: unknown pragma ignored [-Wunknown-pragmas]
