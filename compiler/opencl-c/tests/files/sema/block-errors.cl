// What blocks cannot be or do. OpenCL C Specification, "Blocks", "Restrictions".
// RUN: check -cl-std=CL3.0 -ext=__opencl_c_device_enqueue,__opencl_c_generic_address_space,__opencl_c_program_scope_global_variables

typedef int (^block_t)(int);

void parameter(block_t b);
// ERROR: 6:24: declaring function parameter of type 'int (__generic ^const)(int)' is not allowed
block_t result(void);
// ERROR: 8:9: declaring function return value of type 'int (__generic ^const)(int)' is not allowed
struct member { block_t b; };
// ERROR: 10:25: the 'int (__generic ^const)(int)' type cannot be used to declare a structure or union field
extern block_t elsewhere = ^(int i) { return i; };
// ERROR: 12:16: invalid block variable declaration - using 'extern' storage class is disallowed

block_t known = ^(int i) { return i; };

kernel void variables(global int *out, int a) {
  block_t one = ^(int i) { return i; };
  block_t other = ^(int i) { return known(i); };
  block_t later;
// ERROR: 20:11: invalid block variable declaration - must be initialized
  one = other;
// ERROR: 22:7: invalid operands to binary expression ('int (__generic ^const)(int)' and 'int (__generic ^const)(int)')
  block_t list[] = {one, other};
// ERROR: 24:11: array of 'int (__generic ^const)(int)' type is invalid in OpenCL
  block_t *pointer;
// ERROR: 26:11: pointer to type 'int (__generic ^const)(int)' is invalid in OpenCL
  out[0] = (a ? one : other)(1);
// ERROR: 28:17: block type cannot be used as expression in ternary expression in OpenCL
  void (^inner)(void) = ^{ out[0] = one(1); };
// ERROR: 30:37: cannot refer to a block inside block
  void (^captures)(void) = ^{ a = 1; };
// ERROR: 32:33: variable is not assignable (missing __block type specifier)
  void (^escapes)(void) = ^{ int *p = &a; };
// ERROR: 34:39: taking address of a capture is not allowed
  out[0] = one();
// ERROR: 36:12: too few arguments to block call, expected 1, have 0
  block_t wrong = ^(float x) { return 1; };
// ERROR: 38:11: incompatible block pointer types initializing 'block_t' (aka 'int (__generic ^)(int)') with an expression of type 'int (__generic ^)(float)'
  out[0] = ^(int i) { if (i) return 1; return 1.0f; }(1);
// ERROR: 40:40: return type 'float' must match previous return type 'int' when block literal has unspecified explicit return type
}

kernel void enqueues(queue_t q) {
  enqueue_kernel(q, 0, ndrange_1D(1), ^(local void *p) { });
// ERROR: 45:39: blocks with parameters are not accepted in this prototype of enqueue_kernel call
  enqueue_kernel(q, 0, ndrange_1D(1), ^(local int *p) { }, 4);
// ERROR: 47:39: blocks used in enqueue_kernel call are expected to have parameters of type 'local void*'
  enqueue_kernel(q, 0, ndrange_1D(1), ^(local void *p) { }, 4, 4);
// ERROR: 49:3: mismatch in number of block parameters and local size arguments passed
  enqueue_kernel(q, 0, ndrange_1D(1), ^(local void *p) { }, 4.0f);
// ERROR: 51:61: illegal call to enqueue_kernel, parameter needs to be specified as integer type
  get_kernel_work_group_size(^(int i) { });
// ERROR: 53:30: blocks used in enqueue_kernel call are expected to have parameters of type 'local void*'
}
