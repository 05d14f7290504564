// RUN: execute -cl-std=CL3.0 -ext=__opencl_c_integer_dot_product_input_4x8bit
// RUN: execute -ext=__opencl_c_integer_dot_product_input_4x8bit_packed,cl_khr_extended_bit_ops
// OpenCL C Specification, "Integer Dot Product", "Extended Bit Operations".
// run:
// arg: buffer i32 zero 9
// expect: 0 i32 [-10 510 -255 -255 0x7fffffff -510 0xff05 -2 0x80000000]
kernel void integers(global int *p) {
    char4 minus = (char4)(-1, -1, 0, 0);
    uchar4 most = (uchar4)(255, 255, 0, 0);
    p[0] = dot((char4)(1, 2, 3, 4), (char4)(-1));
    p[1] = dot(most, (uchar4)(1));
    p[2] = dot(minus, (uchar4)(255, 0, 0, 0));
    p[3] = dot((uchar4)(255, 0, 0, 0), minus);
    p[4] = dot_acc_sat((char4)(1), (char4)(100), 0x7fffffff);
    p[5] = dot_4x8packed_us_int(0xffffu, 0xffffu);
    p[6] = bitfield_insert(0xff00, 0xff5, 0, 4) | bitfield_extract_unsigned(0x50, 4, 4);
    p[7] = bitfield_extract_signed(0xe0, 4, 4);
    p[8] = bit_reverse(1);
}
