//! What a source computes when it is built directly, it computes by way of its module for Vulkan:
//! for all versions, and wherever arguments passed by value and offsets are.

use brolga_opencl_c::Std;
use brolga_opencl_c::vulkan::{Target, Version};

use super::ways::*;
use super::*;

const LINES: &[Range<'_>] = &[
    Range(None, &[64], Some(&[16])),
    Range(None, &[64], Some(&[1])),
    Range(None, &[7], Some(&[7])),
    Range(None, &[1], None),
    Range(None, &[61], None),
    Range(Some(&[3]), &[60], Some(&[20])),
];

/// Those whose work-groups have all one size, as they have in Vulkan.
const SIZED: &[Range<'_>] = &[
    Range(None, &[64], Some(&[16])),
    Range(None, &[64], Some(&[1])),
    Range(None, &[61], Some(&[61])),
];

#[test]
fn buffers_values_and_structures() {
    let case = Case::of(
        "typedef struct { int a; float4 f; short4 s; char c; } Record;
        kernel void k(global const int *in, char c, global Record *out, float3 v, ulong wide,
                      constant int *table, Record one, uchar4 bytes, global int *sum) {
            size_t i = get_global_id(0);
            Record record = one;
            record.a += in[i] * c + table[i & 7];
            record.f.xyz += v;
            record.s.y = wide >> (i & 31);
            record.c = bytes.w - bytes.x;
            out[i] = record;
            atomic_add(sum, record.a);
        }",
    );
    let mut one = vec![0; 48];
    one[0] = 5;
    one[16..20].copy_from_slice(&1.5f32.to_ne_bytes());
    one[32..40].copy_from_slice(&0x1234_5678_9abc_def0u64.to_ne_bytes());
    let args = [
        counting(64),
        Arg::Value(vec![0xfd]),
        Arg::Buffer(vec![0; 64 * 12]),
        value([1.0f32, 2.0, -3.0, 0.0].map(f32::to_bits)),
        value([0x89ab_cdef, 0x0123_4567]),
        Arg::Buffer((0..8).map(|i| i * 1000).collect()),
        Arg::Value(one),
        Arg::Value(vec![1, 2, 3, 200]),
        Arg::Buffer(vec![0]),
    ];
    let found = case.compare("k", &args, LINES);
    let [_, records, _, sum] = &found[2][..] else {
        panic!("four buffers");
    };
    let a = |i: u32| 5 + 997 * i;
    assert_eq!([records[0], records[12]], [a(0), a(1)]);
    assert_eq!(sum[0], (0..7).map(a).sum::<u32>());
}

#[test]
fn local_memory() {
    let case = Case::of(
        "kernel void k(local int *first, global int *out, local float4 *second, int n) {
            local int calls[3];
            size_t lid = get_local_id(0), last = get_local_size(0) - 1;
            if (lid < 3) calls[lid] = 0;
            for (int i = lid; i <= last; i += get_local_size(0)) {
                first[i] = out[get_global_id(0)] + n;
                second[i] = (float4)(i, 1, 2, 3);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            atomic_inc(&calls[lid % 3]);
            barrier(CLK_LOCAL_MEM_FENCE);
            float4 other = second[last - lid];
            out[get_global_id(0)] = first[last - lid] * 100 + dot(other, (float4)(1)) + calls[0];
        }",
    );
    let args = [
        Arg::Local(4 * 1024),
        counting(1024),
        Arg::Local(16 * 1024),
        value([5]),
    ];
    let ranges = [
        Range(None, &[64], Some(&[16])),
        Range(None, &[1024], Some(&[1024])),
        Range(None, &[13], Some(&[13])),
        Range(None, &[9], Some(&[1])),
    ];
    let found = case.compare("k", &args, &ranges);
    let expected = (0..64u32).map(|i| {
        let other = 15 - i % 16;
        (i / 16 * 16 + other + 5) * 100 + other + 6 + 6
    });
    assert!(found[0][0][..64].iter().copied().eq(expected));
}

#[test]
fn index_spaces_of_three_dimensions() {
    let case = Case::of(
        "kernel void k(global uint *out) {
            uint3 id = (uint3)(get_global_id(0), get_global_id(1), get_global_id(2));
            uint3 from = (uint3)(get_global_offset(0), get_global_offset(1), get_global_offset(2));
            uint3 size = (uint3)(get_global_size(0), get_global_size(1), get_global_size(2));
            uint3 at = id - from;
            global uint *row = out + 8 * (at.x + size.x * (at.y + size.y * at.z));
            row[0] = id.x | id.y << 8 | id.z << 16;
            row[1] = from.x | from.y << 8 | from.z << 16;
            row[2] = size.x | size.y << 8 | size.z << 16;
            row[3] = get_local_id(0) | get_local_id(1) << 8 | get_local_id(2) << 16;
            row[4] = get_local_size(0) | get_local_size(1) << 8 | get_local_size(2) << 16;
            row[5] = get_group_id(0) | get_group_id(1) << 8 | get_group_id(2) << 16;
            row[6] = get_num_groups(0) | get_num_groups(1) << 8 | get_num_groups(2) << 16;
            row[7] = get_work_dim() | get_global_id(3) << 8 | get_local_size(9) << 16;
        }",
    );
    let ranges = [
        Range(None, &[4, 6, 8], Some(&[2, 3, 4])),
        Range(Some(&[1, 2, 3]), &[4, 2, 8], Some(&[4, 1, 2])),
        Range(Some(&[0, 9]), &[8, 8], Some(&[8, 2])),
        Range(Some(&[200]), &[192], Some(&[64])),
        Range(None, &[1, 1, 192], Some(&[1, 1, 64])),
        Range(None, &[1, 1, 1], None),
    ];
    let found = case.compare("k", &[Arg::Buffer(vec![0; 8 * 192])], &ranges);
    let last = &found[1][0][8 * 63..][..8];
    let expected = [
        0x0a_0304, 0x03_0201, 0x08_0204, 0x01_0003, 0x02_0104, 0x03_0100, 0x04_0201, 0x01_0003,
    ];
    assert_eq!(last, expected);
}

/// Sizes that are no launch at all are none by either way, for the same reason.
#[test]
fn index_spaces_that_are_refused() {
    let case = Case::of(
        "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void k(global uint *out) {
            uint i = get_global_id(0) + get_global_size(0) * get_global_id(1);
            out[i] = 100 * get_local_size(0) + 10 * get_local_size(1) + get_local_id(0) + 1;
        }
        kernel void other(global uint *out) { out[get_global_id(0)] = get_local_size(0); }",
    );
    let args = [Arg::Buffer(vec![0; 64])];
    let good = [
        Range(None, &[4, 2], Some(&[4, 2])),
        Range(None, &[8, 4], Some(&[4, 2])),
        Range(None, &[8, 8, 1], Some(&[4, 2, 1])),
    ];
    let found = case.compare("k", &args, &good);
    assert_eq!(found[1][0][5], 422);
    case.compare("other", &args, LINES);
    let bad = [
        Range(None, &[4, 2], Some(&[2, 2])),
        Range(None, &[4], Some(&[4])),
        Range(None, &[8, 8], Some(&[8, 8])),
        Range(None, &[usize::MAX, 1 << 20], Some(&[4, 2])),
        Range(Some(&[usize::MAX - 1]), &[64], Some(&[4])),
        Range(None, &[1 << 16], Some(&[1 << 16])),
        Range(None, &[4, 2], Some(&[4, 0])),
    ];
    case.refuse("k", &args, &bad);
}

#[test]
fn pointers_tables_and_calls() {
    let case = Case {
        std: Std::C20,
        ..Case::of(
            "constant short table[2][4] = { { 1, -2, 3, -4 }, { 5, 6, -7, 8 } };
            constant float3 vectors[2] = { (float3)(1, 2, 3), (float3)(4, 5, 6) };
            typedef struct { int key; union { float f; uint u; } v; } Pair;
            int sum(const int *p, int n) {
                int all = 0;
                for (int i = 0; i < n; ++i) all += p[i] * (i + 1);
                return all;
            }
            void swap(Pair *a, Pair *b) { Pair c = *a; *a = *b; *b = c; }
            kernel void k(global int *out, global Pair *pairs, local int *room, int n) {
                int i = get_global_id(0), lid = get_local_id(0);
                room[lid] = i * 3;
                int own[5] = { i, 1, table[i & 1][i & 3], vectors[i & 1].z, n };
                const int *which = own;
                if (i % 3 == 1) which = room + lid;
                if (i % 3 == 2) which = out + i;
                int found = sum(which, i % 3 == 0 ? 5 : 1);
                Pair one = { i, { .f = i * 0.5f } }, two = pairs[i];
                if (i & 1) swap(&one, &two);
                pairs[i] = one;
                int *walk = own;
                while (walk - own < 4 && *walk != n) ++walk;
                out[i] = found * 10 + (walk - own) + (two.v.u >> 20);
                barrier(CLK_LOCAL_MEM_FENCE);
                ((global char *)out)[4 * i + 3] ^= (char)room[lid];
                vstore2(vload2(0, (global short *)(out + i)).yx, 0, (global short *)(out + i));
            }",
        )
    };
    let args = [
        Arg::Buffer((0..64).map(|i| i * 77).collect()),
        Arg::Buffer((0..128).map(|i| i * 0x10_0101).collect()),
        Arg::Local(4 * 64),
        value([8]),
    ];
    case.compare("k", &args, LINES);
}

#[test]
fn atomics() {
    let body = "
        kernel void k(global int *sums, global uint *bits, global float *last, local int *most,
                      global int *won) {
            uint i = get_global_id(0);
            if (get_local_id(0) == 0) *most = -1;
            barrier(CLK_LOCAL_MEM_FENCE);
            atomic_add(&sums[0], i);
            atomic_sub(&sums[1], i);
            atomic_inc(&sums[2]);
            atomic_dec(&sums[3]);
            atomic_min(&sums[4], -(int)i);
            atomic_max(&sums[5], (int)i - 20);
            atomic_min(&bits[0], i + 1);
            atomic_max(&bits[1], 0x80000000u + i);
            atomic_and(&bits[2], ~(1u << (i & 15)));
            atomic_or(&bits[3], 1u << (i & 31));
            atomic_xor(&bits[4], i * i);
            if (i == 5) atomic_xchg(last, 2.5f);
            if (atomic_cmpxchg(&bits[5], 7, 11) == 7) atomic_inc(won);
            atomic_max(most, (int)i);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_id(0) == 0) atomic_add(&sums[6], *most);
        }";
    let args = [
        Arg::Buffer(vec![0; 7]),
        Arg::Buffer(vec![u32::MAX, 0, u32::MAX, 0, 0, 7]),
        Arg::Buffer(vec![0]),
        Arg::Local(4),
        Arg::Buffer(vec![0]),
    ];
    let found = Case::of(body).compare("k", &args, LINES);
    let sums = [21, -21, 7, -7, -6, 0, 6].map(|sum: i32| sum as u32);
    assert_eq!(found[2][0], sums);
    assert_eq!((found[2][2][0], found[2][3][0]), (2.5f32.to_bits(), 1));
    let of_20 = Case {
        std: Std::C30,
        ..Case::of(
            "kernel void k(global atomic_int *sum, global atomic_uint *flags, local atomic_int *l) {
                if (get_local_id(0) == 0) atomic_store_explicit(l, 0, memory_order_relaxed,
                                                                memory_scope_work_group);
                work_group_barrier(CLK_LOCAL_MEM_FENCE);
                atomic_fetch_add_explicit(l, 2, memory_order_relaxed, memory_scope_work_group);
                atomic_fetch_or_explicit(flags, 1u << get_local_id(0) % 32, memory_order_relaxed,
                                         memory_scope_device);
                work_group_barrier(CLK_LOCAL_MEM_FENCE);
                if (get_local_id(0) == 0)
                    atomic_fetch_add_explicit(sum, atomic_load_explicit(l, memory_order_relaxed,
                            memory_scope_work_group), memory_order_acq_rel, memory_scope_device);
            }",
        )
    };
    let args = [Arg::Buffer(vec![0]), Arg::Buffer(vec![0]), Arg::Local(4)];
    let found = of_20.compare("k", &args, SIZED);
    assert_eq!(found[0][0], [128]);
}

/// Of sub-groups no more is compared than what their size does not change, which each way chooses.
#[test]
fn sub_groups() {
    let case = Case {
        std: Std::C30,
        since: Version::V1_1,
        ..Case::of(
            "#pragma OPENCL EXTENSION cl_khr_subgroups : enable
            kernel void k(global int *in, global int *sums, global int *good) {
                int x = in[get_global_id(0)];
                uint lane = get_sub_group_local_id(), size = get_sub_group_size();
                int sum = sub_group_reduce_add(x), upto = sub_group_scan_inclusive_add(x);
                int below = sub_group_scan_exclusive_add(x);
                int least = sub_group_reduce_min(x), most = sub_group_reduce_max(x);
                int first = sub_group_broadcast(x, 0);
                int right = upto == below + x && least == first && most == first + (int)size - 1
                    && sub_group_all(x >= first) && !sub_group_any(x < first)
                    && x == first + (int)lane
                    && get_sub_group_id() < get_num_sub_groups();
                sub_group_barrier(CLK_LOCAL_MEM_FENCE);
                good[get_global_id(0)] = right;
                if (lane == 0) atomic_add(sums, sum);
            }",
        )
    };
    let args = [counting(64), Arg::Buffer(vec![0]), Arg::Buffer(vec![7; 64])];
    let found = case.compare("k", &args, LINES);
    assert_eq!(
        (&*found[0][1], &*found[0][2]),
        (&[63 * 32][..], &[1; 64][..])
    );
}

/// The sizes that a launch specializes are the launch's, whatever the program was told before.
#[test]
fn specialized_sizes_are_those_of_the_launch() {
    let case = Case::of(
        "kernel void k(local int *room, global int *out) {
            room[get_local_id(0)] = get_local_size(0);
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_global_id(0)] = room[get_local_size(0) - 1] + 100 * get_work_dim();
        }",
    );
    let args = [Arg::Local(4 * 64), Arg::Buffer(vec![0; 64])];
    let expected = case.compare("k", &args, SIZED);
    let context = context();
    let module = module_of(case.source, case.std, &targets()[0]).unwrap();
    let program = Program::from_il(&context, &module).unwrap();
    // The size of work-groups, and the length of the local argument.
    for id in [0, 1, 2, 3] {
        assert_eq!(program.spec_constant_size(id), Ok(4), "{id}");
        program.set_spec_constant(id, &5u32.to_ne_bytes()).unwrap();
    }
    program.build("", None).unwrap();
    for (range, expected) in SIZED.iter().zip(&expected) {
        assert_eq!(outcome(&program, "k", &args, *range).as_ref(), Ok(expected));
    }
}

/// `CL_KERNEL_ATTRIBUTES`: "attributes specified using the __attribute__ qualifier ... as they are
/// declared".
#[test]
fn attributes_of_kernels_are_told() {
    let source = "
        kernel __attribute__((reqd_work_group_size(4, 2, 1))) void a(global int *out) { *out = 1; }
        kernel __attribute__((work_group_size_hint(8, 1, 1), vec_type_hint(uint4)))
        void b(global int *out) { *out = 2; }
        kernel __attribute__((vec_type_hint(float2))) void c(global int *out) { *out = 3; }
        kernel void d(global int *out) { *out = 4; }";
    let context = context();
    let direct = brolga_runtime_testing::built(&context, source, "-cl-std=CL1.2");
    let target = Target::new(Version::V1_1);
    let module = module_of(source, Std::C12, &target).expect("a module");
    let by_module = built_of(&context, &module);
    for (name, attributes) in [
        ("a", "reqd_work_group_size(4,2,1)"),
        ("b", "work_group_size_hint(8,1,1) vec_type_hint(uint4)"),
        ("c", "vec_type_hint(float2)"),
        ("d", ""),
    ] {
        for program in [&direct, &by_module] {
            let kernel = program.kernel(name).unwrap();
            assert_eq!(kernel.info().attributes, attributes);
        }
    }
}

/// "Program scope" variables live as long as the program, and its kernels share them.
#[test]
fn variables_of_programs_are_kept_and_shared() {
    let source = "
        global int counter = 40;
        global struct { char c; int all[4]; } record = { 1, { 2, 3, 4, 5 } };
        kernel void count(global int *out) {
            counter += get_global_size(0);
            record.all[counter & 3] += record.c;
            out[0] = counter;
        }
        kernel void tell(global int *out) {
            for (int i = 0; i < 4; i++) out[i] = record.all[i];
            out[4] = counter;
        }";
    let context = context();
    let direct = brolga_runtime_testing::built(&context, source, "-cl-std=CL3.0");
    let range = Range(None, &[1], None);
    for target in targets() {
        let module = module_of(source, Std::C30, &target).expect("a module");
        let program = built_of(&context, &module);
        let fresh = brolga_runtime_testing::built(direct.context(), source, "-cl-std=CL3.0");
        for (kernel, words) in [
            ("count", 1),
            ("count", 1),
            ("tell", 5),
            ("count", 1),
            ("tell", 5),
        ] {
            let args = [Arg::Buffer(vec![0; words])];
            let wanted = outcome(&fresh, kernel, &args, range).expect("it is launched");
            let found = outcome(&program, kernel, &args, range);
            assert_eq!(found, Ok(wanted), "{kernel}, {target:?}");
        }
    }
}
