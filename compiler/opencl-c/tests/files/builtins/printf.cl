// RUN: execute -cl-std=CL3.0 -ext=cl_khr_fp64,__opencl_c_fp64 -opencl-only
// OpenCL C Specification, "printf": arguments are promoted, vectors are not.
// run:
// printf: "%d %v2hlf %s %5.1f\n" 7 1 2 "text" 2.5
kernel void speaks(void) {
    char seven = 7;
    printf("%d %v2hlf %s %5.1f\n", seven, (float2)(1, 2), "text", 2.5f);
}
