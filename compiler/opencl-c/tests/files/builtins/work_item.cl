// RUN: execute -cl-std=CL3.0
// OpenCL C Specification, "Work-Item Functions": what lies beyond the third dimension, known when
// the program is compiled or not, is 1 of sizes and 0 of places.
// run:
// global: 4 2
// local: 2 1
// offset: 10 20
// arg: value i32 1
// arg: buffer i32 zero 8
// arg: buffer i32 zero 10
// expect: 1 i32 [2010 2011 2012 2013 2110 2111 2112 2113]
// expect: 2 i32 [2 4 2 1 1 0 21 0 1 20]
kernel void places(int one, global int *ids, global int *last) {
    int at = get_global_linear_id();
    ids[at] = get_global_id(0) + get_global_id(one) * 100;
    if (at == 7) {
        last[0] = get_work_dim();
        last[1] = get_global_size(0);
        last[2] = get_local_size(one - 1);
        last[3] = get_num_groups(3);
        last[4] = get_global_size(one + 5);
        last[5] = get_group_id(one + 2);
        last[6] = get_global_id(one);
        last[7] = get_local_id(3);
        last[8] = get_local_id(0);
        last[9] = get_global_offset(1);
    }
}
