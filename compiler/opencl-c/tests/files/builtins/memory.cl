// RUN: execute -cl-std=CL3.0 -ext=cl_khr_extended_async_copies,cl_khr_async_work_group_copy_fence
// Vectors and halves in memory, and copies by a work-group (OpenCL C Specification, "Vector Data
// Load and Store Functions", "Async Copies from Global to Local Memory").
// run: halves
// arg: buffer f16 [1 2 3 4 5 6 7 8]
// arg: buffer f32 zero 12
// arg: buffer f16 zero 9
// expect: 1 f32 [4 4 5 6 0 1 2 3 5 6 7 0]
// expect: 2 f16 [0 1 2 3 0 0x3555 0x3556 0 0]
kernel void halves(global const half *in, global float *out, global half *narrow) {
    out[0] = vload_half(3, in);
    vstore3(vload_half3(1, in), 0, out + 1);
    vstore3(vloada_half3(0, in), 0, out + 5);
    vstore3(vloada_half3(1, in), 0, out + 8);
    vstore_half3((float3)(1, 2, 3), 0, narrow + 1);
    vstore_half_rtz(1.0f / 3.0f, 5, narrow);
    vstore_half_rtp(1.0f / 3.0f, 6, narrow);
}
// run: copies
// global: 4
// local: 4
// arg: buffer i32 iota 16
// arg: buffer i32 zero 16
// arg: local 64
// expect: 1 i32 [0 1 2 3 4 5 6 7 0 2 4 6 0 0 0 0]
kernel void copies(global int *in, global int *out, local int *room) {
    event_t e = async_work_group_copy(room, in, 8, 0);
    e = async_work_group_strided_copy(room + 8, in, 4, 2, e);
    wait_group_events(1, &e);
    e = async_work_group_copy(out, room, 12, 0);
    wait_group_events(1, &e);
}
// A square of 2 by 2 from lines of 4 to lines of 3, and a cube to where it came from.
// run: blocks
// global: 3
// local: 3
// arg: buffer i32 iota 16
// arg: buffer i32 zero 16
// arg: local 128
// expect: 1 i32 [5 6 0 9 10 0 0 0 0 3 7 0 11 15 0 0]
kernel void blocks(global int *in, global int *out, local int *room) {
    int id = get_local_id(0);
    for (int i = id; i < 32; i += 3)
        room[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_copy_2D2D(room, 0, in, 5, 4, 2, 2, 4, 3, 0);
    e = async_work_group_copy_3D3D(room, 9, in, 3, 4, 1, 2, 2, 4, 8, 1, 3, e);
    wait_group_events(1, &e);
    async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE);
    for (int i = id; i < 16; i += 3)
        out[i] = room[i];
}
