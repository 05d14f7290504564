// OpenCL C Specification, "Access Qualifiers".
// RUN: check -cl-std=CL3.0 -ext=__opencl_c_images,__opencl_c_pipes

typedef write_only image2d_t target;
typedef image2d_t plain;
void a(read_only int i);
// ERROR: 6:8: access qualifier can only be used for pipe and image type
void b(read_only write_only image2d_t i);
// ERROR: 8:18: multiple access qualifiers
void c(read_only target i);
// ERROR: 10:8: multiple access qualifiers
void d(write_only plain i);
// ERROR: 12:8: multiple access qualifiers
void e(write_only target i, read_only plain j);
void f(read_write image2d_t i);
// ERROR: 15:8: access qualifier 'read_write' cannot be used for '__read_write image2d_t' prior to OpenCL C version 2.0 or in version 3.0 and without __opencl_c_read_write_images feature
void g(read_write pipe int p);
// ERROR: 17:8: access qualifier 'read_write' cannot be used for '__read_write pipe int'
image2d_t h(void);
// ERROR: 19:11: declaring function return value of type '__read_only image2d_t' is not allowed
kernel void k(image2d_t i, sampler_t s) {
  image2d_t list[2];
// ERROR: 22:13: array of '__read_only image2d_t' type is invalid in OpenCL
  i = i;
// ERROR: 24:5: invalid operands to binary expression ('__read_only image2d_t' and '__read_only image2d_t')
  &s;
// ERROR: 26:3: invalid argument type 'sampler_t' to unary expression
}
