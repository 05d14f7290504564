//! The table against the specification, and overload resolution as data.

use super::signature::{self, Base, Instance};
use super::table::GROUPS;
use super::{Argument, Environment, Unresolved, names, resolve};
use crate::ast::Access;
use crate::options::{Device, Std};
use crate::types::{QualType, Scalar, Space, Type, TypeId, TypeQuals, Types};

/// A type by its spelling in OpenCL C, as far as tests need: `float4`, `global int*`, `event`.
fn ty(text: &str, types: &mut Types) -> TypeId {
    let (space, text) = match text.split_once(' ') {
        Some(("global", rest)) => (Space::Global, rest),
        Some(("local", rest)) => (Space::Local, rest),
        Some(("constant", rest)) => (Space::Constant, rest),
        Some(("generic", rest)) => (Space::Generic, rest),
        _ => (Space::Private, text),
    };
    if let Some(pointee) = text.strip_suffix('*') {
        let (is_const, pointee) = match pointee.strip_prefix("const ") {
            Some(rest) => (true, rest),
            None => (false, pointee),
        };
        let atomic = pointee.strip_prefix("atomic_");
        let mut inner = ty(atomic.unwrap_or(pointee), types);
        if atomic.is_some() {
            inner = types.intern(Type::Atomic(inner));
        }
        let quals = TypeQuals {
            is_const,
            ..TypeQuals::default()
        };
        return types.pointer(QualType { ty: inner, quals }, space);
    }
    let word = signature::parse(text).next().expect("a word");
    let instance = Instance {
        scalar: Scalar::Int,
        lanes: 1,
        source_lanes: 1,
    };
    signature::plain_type(word.base, instance, types).expect("a plain type")
}

fn call(std: Std, name: &str, args: &str) -> Result<(String, String), Unresolved> {
    let device = Device::full();
    let env = Environment {
        std,
        device: &device,
    };
    let mut types = Types::new();
    let args: Vec<Argument> = args
        .split(',')
        .map(str::trim)
        .filter(|arg| !arg.is_empty())
        .map(|arg| Argument {
            ty: ty(arg.trim_end_matches(" 0"), &mut types),
            is_null_constant: arg.ends_with(" 0"),
        })
        .collect();
    let resolved = resolve(name, &args, &mut types, &env)?;
    let interner = crate::symbol::Interner::new();
    let show = |id: TypeId| types.name(id.into(), &interner);
    let params: Vec<String> = resolved.params.iter().map(|&id| show(id)).collect();
    Ok((show(resolved.result), params.join(", ")))
}

/// `function(arguments) -> result(parameters)`, as clang resolves the call.
#[test]
fn calls_mean_the_overload_that_clang_takes() {
    let cases = [
        ("max", "float4, float4", "float4", "float4, float4"),
        ("max", "float4, int", "float4", "float4, float"),
        ("max", "char, char", "char", "char, char"),
        ("pow", "float4, int", "float4", "float4, float4"),
        (
            "mix",
            "float4, float4, double",
            "float4",
            "float4, float4, float",
        ),
        (
            "clamp",
            "float4, int, int",
            "float4",
            "float4, float, float",
        ),
        ("pow", "float, int", "float", "float, float"),
        ("abs", "short", "ushort", "short"),
        ("select", "float, float, int", "float", "float, float, int"),
        ("isequal", "float", "", ""),
        ("isequal", "double4, double4", "long4", "double4, double4"),
        ("isequal", "double, double", "int", "double, double"),
        ("upsample", "char2, uchar2", "short2", "char2, uchar2"),
        ("shuffle", "float4, uint8", "float8", "float4, uint8"),
        ("convert_uchar4_sat_rte", "float4", "uchar4", "float4"),
        ("as_float3", "int4", "float3", "int4"),
        ("get_global_id", "int", "ulong", "uint"),
        ("dot", "float4, float4", "float", "float4, float4"),
        ("dot", "uchar4, char4", "int", "uchar4, char4"),
        ("work_group_reduce_add", "int", "int", "int"),
        (
            "work_group_broadcast",
            "float, uint, uint",
            "float",
            "float, ulong, ulong",
        ),
        (
            "read_imagef",
            "r2d, sampler, float2",
            "float4",
            "r2d, sampler, float2",
        ),
        ("ndrange_1D", "int", "ndrange", "ulong"),
    ];
    for (name, args, result, params) in cases {
        match call(Std::C30, name, args) {
            Ok((got, got_params)) => {
                let mut types = Types::new();
                let interner = crate::symbol::Interner::new();
                let want = ty(result, &mut types);
                let want = types.name(want.into(), &interner);
                let wants: Vec<String> = params
                    .split(", ")
                    .map(|param| {
                        let id = ty(param, &mut types);
                        types.name(id.into(), &interner)
                    })
                    .collect();
                assert_eq!(
                    (got, got_params),
                    (want, wants.join(", ")),
                    "{name}({args})"
                );
            }
            Err(error) => assert!(result.is_empty(), "{name}({args}): {error:?}"),
        }
    }
}

#[test]
fn calls_that_fit_several_overloads_are_ambiguous() {
    for (name, args) in [
        ("sqrt", "int"),
        ("fmax", "float, double"),
        ("max", "int, uint"),
        ("min", "int, char"),
        ("max", "int, float"),
    ] {
        let result = call(Std::C12, name, args);
        assert!(
            matches!(result, Err(Unresolved::Ambiguous(_))),
            "{name}({args}): {result:?}"
        );
    }
}

#[test]
fn pointers_match_by_pointee_and_space() {
    let int = |name, args| call(Std::C30, name, args).map(|(result, _)| result);
    assert_eq!(int("fract", "float, float*").unwrap(), "float");
    assert_eq!(int("fract", "float2, global float2*").unwrap(), "float2");
    assert_eq!(int("vload4", "ulong, constant float*").unwrap(), "float4");
    assert_eq!(int("atomic_add", "global int*, int").unwrap(), "int");
    assert_eq!(int("atomic_add", "local uint*, uint").unwrap(), "uint");
    assert_eq!(
        int("atomic_fetch_add", "global atomic_int*, int").unwrap(),
        "int"
    );
    assert_eq!(
        int("atomic_fetch_add", "global atomic_float*, float").unwrap(),
        "float"
    );
    assert_eq!(
        int("atomic_load_explicit", "local atomic_uint*, int, int").unwrap(),
        "uint"
    );
    assert!(matches!(
        int("fract", "float, constant float*"),
        Err(Unresolved::NoMatch(_))
    ));
}

#[test]
fn versions_and_features_bring_functions() {
    let cases = [
        (Std::C10, "get_global_offset", "uint", "OpenCL C 1.1"),
        (Std::C11, "popcount", "int", "OpenCL C 1.2"),
        (
            Std::C12,
            "work_group_reduce_add",
            "int",
            "__opencl_c_work_group_collective_functions",
        ),
        (
            Std::C12,
            "atomic_load",
            "global atomic_int*",
            "OpenCL C 2.0",
        ),
    ];
    for (std, name, args, words) in cases {
        match call(std, name, args) {
            Err(Unresolved::Unavailable(text)) => assert!(text.contains(words), "{name}: {text}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(matches!(
        call(Std::C30, "no_such", ""),
        Err(Unresolved::Unknown)
    ));
}

/// An argument of the very type that a row's word says.
fn argument(word: signature::Word, instance: Instance, types: &mut Types) -> Option<TypeId> {
    let base = match word.base {
        Base::Element => Types::INT,
        Base::AnyPointee => Types::INT,
        Base::Pipe(access) => types.intern(Type::Pipe {
            element: Types::INT,
            access,
        }),
        Base::Block => {
            let function = types.intern(Type::Function(crate::types::FunctionType {
                result: Types::VOID.into(),
                params: Vec::new(),
                variadic: false,
                unspecified: false,
            }));
            types.intern(Type::Block(function))
        }
        Base::Variadic => return None,
        base => signature::plain_type(base, instance, types)?,
    };
    let Some(pointer) = word.pointer else {
        return Some(base);
    };
    let base = if word.atomic {
        types.intern(Type::Atomic(base))
    } else {
        base
    };
    let space = pointer.spaces.each().next()?;
    Some(types.pointer(base.into(), space))
}

#[test]
fn every_instance_of_every_row_resolves_to_itself() {
    let device = Device::full();
    let env = Environment {
        std: Std::C31,
        device: &device,
    };
    let mut types = Types::new();
    let mut count = 0;
    for row in GROUPS
        .iter()
        .copied()
        .flatten()
        .flat_map(|group| group.rows)
    {
        for scalar in row.over.each_scalar() {
            for lanes in row.over.each_lanes() {
                let instance = Instance {
                    scalar,
                    lanes,
                    source_lanes: 4,
                };
                let args: Vec<Argument> = signature::parse(row.signature)
                    .skip(1)
                    .filter_map(|word| argument(word, instance, &mut types))
                    .map(|ty| Argument {
                        ty,
                        is_null_constant: false,
                    })
                    .collect();
                let resolved = resolve(row.name, &args, &mut types, &env);
                let resolved = resolved.unwrap_or_else(|error| {
                    panic!("{} {:?} {instance:?}: {error:?}", row.name, row.signature)
                });
                assert_eq!(
                    resolved.lowering, row.lowering,
                    "{} {}",
                    row.name, row.signature
                );
                count += 1;
            }
        }
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn images_match_by_access() {
    let mut types = Types::new();
    let device = Device::full();
    let env = Environment {
        std: Std::C30,
        device: &device,
    };
    let image = types.intern(Type::Image {
        dim: crate::types::ImageDim::D2,
        access: Access::WriteOnly,
    });
    let coordinate = types.vector(Scalar::Int, 2);
    let args = [image, coordinate].map(|ty| Argument {
        ty,
        is_null_constant: false,
    });
    let read = resolve("read_imagef", &args, &mut types, &env);
    assert!(matches!(read, Err(Unresolved::NoMatch(_))), "{read:?}");
}

/// The functions of the OpenCL C Specification by section; families of names as the specification
/// abbreviates them.
const SPECIFIED: &[(&str, &str)] = &[
    (
        "Work-Item Functions",
        "get_work_dim get_global_size get_global_id get_local_size get_enqueued_local_size \
         get_local_id get_num_groups get_group_id get_global_offset get_global_linear_id \
         get_local_linear_id get_sub_group_size get_max_sub_group_size get_num_sub_groups \
         get_enqueued_num_sub_groups get_sub_group_id get_sub_group_local_id",
    ),
    (
        "Math Functions",
        "acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign \
         cos cosh cospi erfc erf exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod fract \
         frexp hypot ilogb ldexp lgamma lgamma_r log log2 log10 log1p logb mad maxmag minmag modf \
         nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi \
         sqrt tan tanh tanpi tgamma trunc half_cos half_divide half_exp half_exp2 half_exp10 \
         half_log half_log2 half_log10 half_powr half_recip half_rsqrt half_sin half_sqrt half_tan \
         native_cos native_divide native_exp native_exp2 native_exp10 native_log native_log2 \
         native_log10 native_powr native_recip native_rsqrt native_sin native_sqrt native_tan",
    ),
    (
        "Integer Functions",
        "abs abs_diff add_sat hadd rhadd clamp clz ctz mad_hi mad_sat max min mul_hi rotate \
         sub_sat upsample popcount mad24 mul24 bitfield_insert bitfield_extract_signed \
         bitfield_extract_unsigned bit_reverse dot dot_acc_sat dot_4x8packed_uu_uint \
         dot_4x8packed_ss_int dot_4x8packed_us_int dot_4x8packed_su_int \
         dot_acc_sat_4x8packed_uu_uint dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_us_int \
         dot_acc_sat_4x8packed_su_int",
    ),
    (
        "Common and Geometric Functions",
        "degrees mix radians step smoothstep sign cross distance length normalize fast_distance \
         fast_length fast_normalize",
    ),
    (
        "Relational Functions",
        "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isfinite \
         isinf isnan isnormal isordered isunordered signbit any all bitselect select",
    ),
    (
        "Vector Data Load and Store Functions",
        "vload2 vload3 vload4 vload8 vload16 vstore2 vstore3 vstore4 vstore8 vstore16 vload_half \
         vload_half2 vload_half16 vstore_half vstore_half_rte vstore_half3_rtz vloada_half \
         vloada_half3 vstorea_half vstorea_half_rtn vstorea_half8_rtp",
    ),
    (
        "Synchronization, Fences, Address Spaces",
        "barrier work_group_barrier sub_group_barrier mem_fence read_mem_fence write_mem_fence \
         get_fence to_global to_local to_private atomic_work_item_fence",
    ),
    (
        "Async Copies",
        "async_work_group_copy async_work_group_strided_copy wait_group_events prefetch \
         async_work_group_copy_2D2D async_work_group_copy_3D3D async_work_group_copy_fence",
    ),
    (
        "Atomic Functions",
        "atomic_init atomic_store atomic_store_explicit atomic_load atomic_load_explicit \
         atomic_exchange atomic_exchange_explicit atomic_compare_exchange_strong \
         atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak \
         atomic_compare_exchange_weak_explicit atomic_fetch_add atomic_fetch_sub atomic_fetch_or \
         atomic_fetch_xor atomic_fetch_and atomic_fetch_min atomic_fetch_max \
         atomic_fetch_add_explicit atomic_fetch_max_explicit atomic_flag_test_and_set \
         atomic_flag_test_and_set_explicit atomic_flag_clear atomic_flag_clear_explicit atomic_add \
         atomic_sub atomic_xchg atomic_inc atomic_dec atomic_cmpxchg atomic_min atomic_max \
         atomic_and atomic_or atomic_xor atom_add atom_sub atom_xchg atom_inc atom_dec \
         atom_cmpxchg atom_min atom_max atom_and atom_or atom_xor",
    ),
    (
        "Miscellaneous",
        "shuffle shuffle2 printf clock_read_device clock_read_hilo_sub_group",
    ),
    (
        "Images",
        "read_imagef read_imagei read_imageui read_imageh write_imagef write_imagei write_imageui \
         write_imageh get_image_width get_image_height get_image_depth get_image_channel_data_type \
         get_image_channel_order get_image_dim get_image_array_size get_image_num_samples \
         get_image_num_mip_levels",
    ),
    (
        "Work-group Functions",
        "work_group_all work_group_any work_group_broadcast work_group_reduce_add \
         work_group_scan_exclusive_max work_group_scan_inclusive_min work_group_reduce_mul \
         work_group_reduce_logical_xor work_group_scan_exclusive_and",
    ),
    (
        "Pipes and Enqueue",
        "read_pipe write_pipe reserve_read_pipe reserve_write_pipe commit_read_pipe \
         commit_write_pipe is_valid_reserve_id work_group_reserve_read_pipe \
         work_group_reserve_write_pipe work_group_commit_read_pipe work_group_commit_write_pipe \
         sub_group_reserve_read_pipe sub_group_reserve_write_pipe sub_group_commit_read_pipe \
         sub_group_commit_write_pipe get_pipe_num_packets get_pipe_max_packets enqueue_kernel \
         get_kernel_work_group_size get_kernel_preferred_work_group_size_multiple \
         get_kernel_sub_group_count_for_ndrange get_kernel_max_sub_group_size_for_ndrange \
         enqueue_marker retain_event release_event create_user_event is_valid_event \
         set_user_event_status capture_event_profiling_info get_default_queue ndrange_1D \
         ndrange_2D ndrange_3D",
    ),
    (
        "cl_intel_bfloat16_conversions, cl_intel_split_work_group_barrier",
        "intel_convert_bfloat16_as_ushort intel_convert_bfloat1616_as_ushort16 \
         intel_convert_as_bfloat16_float intel_convert_as_bfloat163_float3 \
         intel_work_group_barrier_arrive intel_work_group_barrier_wait",
    ),
    (
        "Sub-Group Functions",
        "sub_group_all sub_group_any sub_group_broadcast sub_group_reduce_add \
         sub_group_scan_exclusive_min sub_group_scan_inclusive_max sub_group_elect \
         sub_group_non_uniform_all sub_group_non_uniform_any sub_group_non_uniform_all_equal \
         sub_group_non_uniform_broadcast sub_group_broadcast_first sub_group_ballot \
         sub_group_inverse_ballot sub_group_ballot_bit_extract sub_group_ballot_bit_count \
         sub_group_ballot_inclusive_scan sub_group_ballot_exclusive_scan sub_group_ballot_find_lsb \
         sub_group_ballot_find_msb get_sub_group_eq_mask get_sub_group_ge_mask \
         get_sub_group_gt_mask get_sub_group_le_mask get_sub_group_lt_mask \
         sub_group_non_uniform_reduce_add sub_group_non_uniform_scan_inclusive_logical_or \
         sub_group_clustered_reduce_mul sub_group_clustered_reduce_logical_and sub_group_shuffle \
         sub_group_shuffle_xor sub_group_shuffle_up sub_group_shuffle_down sub_group_rotate \
         sub_group_clustered_rotate intel_sub_group_shuffle intel_sub_group_shuffle_down \
         intel_sub_group_shuffle_up intel_sub_group_shuffle_xor intel_sub_group_block_read8 \
         intel_sub_group_block_write_us16 intel_sub_group_block_read_uc16 \
         intel_sub_group_block_write_ul4 intel_sub_group_broadcast intel_sub_group_reduce_add \
         intel_sub_group_block_prefetch_uc16 intel_sub_group_block_prefetch_ul8",
    ),
];

#[test]
fn the_table_has_what_the_specification_lists() {
    let have: std::collections::HashSet<&str> = names().collect();
    for (section, list) in SPECIFIED {
        for name in list.split_whitespace() {
            assert!(have.contains(name), "{section}: {name}");
        }
    }
}

#[test]
fn a_full_device_has_all_that_rows_need() {
    let device = Device::full();
    for need in GROUPS.iter().copied().flatten().map(|group| group.need) {
        for word in need.split(['|', '&']) {
            let is_name = word.starts_with("cl_") || word.starts_with("__opencl_c_");
            assert!(!is_name || device.has(word), "{word}");
        }
    }
}
