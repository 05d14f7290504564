//! cl_khr_select_fprounding_mode: the pragma, and `__ROUNDING_MODE__`.

use brolga_runtime::{Buffer, ClError, HostPtr, Program};
use brolga_runtime_testing::*;

/// What each operation gives stands beside it.
const SOURCE: &str = r"
#pragma OPENCL EXTENSION cl_khr_select_fprounding_mode : enable
#define PASTE(a, b) a ## b
#define NAME(a, b) PASTE(a, b)
#define THIRD float NAME(third_, __ROUNDING_MODE__)(float x) { return x / 3; }
THIRD
#pragma OPENCL SELECT_ROUNDING_MODE rtz
THIRD
#if 0
#pragma OPENCL SELECT_ROUNDING_MODE rtn
#endif
/*
#pragma OPENCL SELECT_ROUNDING_MODE rtn
*/
float folded(void) { return 1.0f / 3.0f; }
#pragma OPENCL SELECT_ROUNDING_MODE rtp
THIRD
#pragma OPENCL SELECT_ROUNDING_MODE rte
kernel void k(global uint *out) {
    float one = get_work_dim();
    int odd = 0x1000000 + get_work_dim();
    ushort h[1];
    uint r[16] = {0};
    r[0] = as_uint(third_rte(one));               // 3eaaaaab
    r[1] = as_uint(third_rtz(one));               // 3eaaaaaa
    r[2] = as_uint(third_rtp(one));               // 3eaaaaab
    r[3] = as_uint(folded());                     // 3eaaaaaa
#pragma OPENCL SELECT_ROUNDING_MODE rtp
    r[4] = as_uint(one + 0x1p-30f);               // 3f800001
    if (one > 0) {
        r[5] = as_uint(third_rtz(one) + 0);       // 3eaaaaaa
        r[6] = as_uint((float)odd);               // 4b800001
        r[7] = as_uint(convert_float_rtz(odd));   // 4b800000
        vstore_half(one + 0x1p-12f, 0, (half *)h);
        r[8] = h[0];                              // 3c01
        vstore_half_rtz(one + 0x1p-12f, 0, (half *)h);
        r[9] = h[0];                              // 3c00
#pragma OPENCL SELECT_ROUNDING_MODE rtn
        r[10] = as_uint(one + 0x1p-30f);          // 3f800000
        r[11] = as_uint(-one - 0x1p-30f);         // bf800001
        float4 v = (float4)(one) * (float4)(1, 0x1.000002p0f, -1, 3) * 0x1.000002p0f;
        r[12] = as_uint(v.y);                     // 3f800002
        r[13] = as_uint(sqrt(one * 3));           // 3fddb3d7
    }
    r[14] = as_uint(one + 0x1p-30f);              // 3f800001
    r[15] = as_uint((float)convert_int(one * -2.5f)); // c0000000
    out[get_global_id(0)] = r[get_global_id(0)];
}
";

#[test]
fn each_operation_rounds_as_the_pragma_before_it_says() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, SOURCE, "");
    let expected: Vec<u32> = SOURCE
        .lines()
        .filter(|line| line.trim_start().starts_with("r["))
        .map(|line| u32::from_str_radix(line.rsplit("// ").next().unwrap(), 16).unwrap())
        .collect();
    assert_eq!(expected.len(), 16);
    let out = Buffer::new(&context, 0, 4 * 16, HostPtr::null(), Vec::new()).unwrap();
    let kernel = program.kernel("k").unwrap();
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[16]), None, &[])
        .unwrap();
    let result = words(&queue, &out);
    for (i, (got, wanted)) in result.iter().zip(&expected).enumerate() {
        assert_eq!(got, wanted, "r[{i}]: {got:x}, not {wanted:x}");
    }
}

#[test]
fn an_unknown_mode_is_an_error_that_says_where() {
    let context = context();
    let source = "\n#pragma OPENCL SELECT_ROUNDING_MODE nearest\nkernel void k() {}";
    let program = Program::from_source(&context, source.to_owned()).unwrap();
    let error = program.build("", None).unwrap_err();
    assert_eq!(error, ClError::BUILD_PROGRAM_FAILURE);
    let log = program.build_info().log;
    assert!(
        log.contains("kernel.cl:2:37: error: 'nearest' is not a rounding mode"),
        "{error}: {log}"
    );
}

#[test]
fn messages_name_the_program_s_own_lines() {
    let context = context();
    let source =
        "#pragma OPENCL SELECT_ROUNDING_MODE rtz\nkernel void k(global float *a) {\n *a = b; }";
    let program = Program::from_source(&context, source.to_owned()).unwrap();
    let error = program.build("", None).unwrap_err();
    assert_eq!(error, ClError::BUILD_PROGRAM_FAILURE);
    let log = program.build_info().log;
    assert!(log.contains("kernel.cl:3:7: error"), "{error}: {log}");
}
