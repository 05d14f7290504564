//! Names that clang 22 links built-in functions by, and every name that the table has.

use super::{Demangled, demangle, mangle};
use crate::builtins::overloads::every;
use crate::describe;
use crate::symbol::Interner;
use crate::types::Types;

#[test]
fn every_overload_is_read_as_it_is_written() {
    let mut types = Types::new();
    let interner = Interner::new();
    let overloads = every(&mut types);
    assert!(overloads.len() > 5_000, "{}", overloads.len());
    for overload in overloads {
        let linked = mangle(overload.name, &overload.params, &types, &interner);
        let expected = Demangled {
            name: overload.name,
            params: overload.params,
        };
        assert_eq!(demangle(&linked, &mut types), Some(expected), "{linked}");
    }
}

/// What clang 22 writes for `spirv64`, with and without generic pointers.
#[test]
fn names_that_clang_writes() {
    let names = [
        ("_Z20get_global_linear_idv", "get_global_linear_id()"),
        ("_Z9mem_fencej", "mem_fence(uint)"),
        ("_Z3absx", "abs(long long)"),
        ("_Z2U2ym", "U2(unsigned long long, ulong)"),
        ("_Z12convert_halff", "convert_half(float)"),
        (
            "_Z10atomic_incPU3AS1Vi",
            "atomic_inc(volatile __global int *)",
        ),
        (
            "_Z20atomic_load_explicitPU3AS4VU7_Atomici12memory_order12memory_scope",
            "atomic_load_explicit(volatile __generic _Atomic(int) *, int, int)",
        ),
        (
            "_Z39atomic_compare_exchange_strong_explicitPU3AS4VU7_AtomiclPU3AS4ll\
             12memory_orderS4_12memory_scope",
            "atomic_compare_exchange_strong_explicit(volatile __generic _Atomic(long) *, \
             __generic long *, long, int, int, int)",
        ),
        (
            "_Z39atomic_compare_exchange_strong_explicitPU3AS1VU7_AtomiciPii\
             12memory_orderS4_12memory_scope",
            "atomic_compare_exchange_strong_explicit(volatile __global _Atomic(int) *, \
             __private int *, int, int, int, int)",
        ),
        (
            "_Z21async_work_group_copyPU3AS3Dv4_fPU3AS1KS_m9ocl_event",
            "async_work_group_copy(__local float4 *, const __global float4 *, ulong, event_t)",
        ),
        ("_Z5fractDv4_fPS_", "fract(float4, __private float4 *)"),
        (
            "_Z6remquoDv4_fS_PU3AS4Dv4_i",
            "remquo(float4, float4, __generic int4 *)",
        ),
        ("_Z3fmaDv4_DhS_S_", "fma(half4, half4, half4)"),
        (
            "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i",
            "read_imagef(__read_only image2d_t, sampler_t, int2)",
        ),
        (
            "_Z12write_imagef26ocl_image2d_array_depth_woDv4_if",
            "write_imagef(__write_only image2d_array_depth_t, int4, float)",
        ),
        (
            "_Z17wait_group_eventsiPU3AS49ocl_event",
            "wait_group_events(int, __generic event_t *)",
        ),
        (
            "_Z14enqueue_marker9ocl_queuejPU3AS4K12ocl_clkeventPU3AS4S0_",
            "enqueue_marker(queue_t, uint, const __generic clk_event_t *, \
             __generic clk_event_t *)",
        ),
        (
            "_Z10ndrange_2DPKmS0_",
            "ndrange_2D(const __private ulong *, const __private ulong *)",
        ),
        (
            "_Z28capture_event_profiling_info12ocl_clkeventiPU3AS1v",
            "capture_event_profiling_info(clk_event_t, int, __global void *)",
        ),
    ];
    for (linked, text) in names {
        assert_eq!(describe(linked).as_deref(), Some(text), "{linked}");
    }
}

#[test]
fn what_is_no_name_is_not_taken_apart() {
    let deep = format!("_Z3max{}f", "P".repeat(100_000));
    let names = [
        "max",
        "_Z",
        "_Z3",
        "_Z3ma",
        "_Z3max",
        "_Z3maxS_",
        "_Z3maxfS",
        "_Z3maxfSZZZZZZZ_",
        "_Z3maxDv5_f",
        "_Z3maxDv4f",
        "_Z3max99999999999999999999f",
        "_Z3maxP",
        "_Z3maxPS_",
        "_Z3maxPU3AS1iS_",
        "_Z3max3Foo",
        "_Z3max11ocl_samplé",
        "_ZN1a3maxEff",
        &deep,
    ];
    for name in names {
        assert_eq!(demangle(name, &mut Types::new()), None, "{name:.40}");
    }
}
