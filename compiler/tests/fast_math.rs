//! Each build option about floating-point arithmetic does what only it allows ("Optimization
//! Options" of the OpenCL API specification): a kernel prepared with it differs from the same
//! kernel prepared without.

use brolga_compiler::{BuildOptions, ir, transform};

/// A kernel that stores what `body` calls `r`, computed from the floats `x` and `y` and the double
/// `d`, prepared under options.
fn prepared(body: &str, result: &str, options: &BuildOptions) -> String {
    let text = format!(
        "kernel \"k\" @0 (value 0, value 8, value 12, value 16)
func \"k\" (ptr, f32, f32, f64) -> () {{
block0(p: ptr, x: f32, y: f32, d: f64):
{body}
store.global.align8 p, {result}
ret
}}"
    );
    let module = ir::parse::module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let prepared = transform::prepare_kernel(&module, 0, options);
    let func = prepared.expect("a valid kernel").function;
    func.to_string()
}

fn with(set: fn(&mut BuildOptions)) -> BuildOptions {
    let mut options = BuildOptions::default();
    set(&mut options);
    options
}

/// The text occurs in the kernel with this option, and without it does not.
#[track_caller]
fn only_with(set: fn(&mut BuildOptions), body: &str, wanted: &str) {
    let plain = prepared(body, "r", &BuildOptions::default());
    assert!(!plain.contains(wanted), "without the option:\n{plain}");
    let text = prepared(body, "r", &with(set));
    assert!(text.contains(wanted), "no `{wanted}` in\n{text}");
}

#[test]
fn mad_enable_fuses_what_the_module_keeps_apart() {
    let body = "p0: f32 = fmul x, y\nr: f32 = fadd p0, y";
    only_with(|o| o.mad_enable = true, body, "fma");
}

#[test]
fn no_signed_zeros_drops_the_addition_of_zero() {
    let body = "z: f32 = const 0.0\nr: f32 = fadd x, z";
    let plain = prepared(body, "r", &BuildOptions::default());
    assert!(plain.contains("fadd"), "-0 + 0 is +0:\n{plain}");
    let text = prepared(body, "r", &with(|o| o.no_signed_zeros = true));
    assert!(!text.contains("fadd"), "{text}");
    let body = "z: f32 = const 0.0\nr: f32 = fsub z, x";
    only_with(|o| o.no_signed_zeros = true, body, "fneg");
}

#[test]
fn finite_math_decides_tests_for_nan_and_infinity() {
    let tests = [
        "t: i1 = fcmp.uno x, x",
        "t: i1 = fcmp.une x, x",
        "i: f32 = const 0x7f800000\na: f32 = fabs x\nt: i1 = fcmp.oeq a, i",
    ];
    for test in tests {
        let body = format!("{test}\nr: f32 = select t, x, y");
        let plain = prepared(&body, "r", &BuildOptions::default());
        assert!(plain.contains("fcmp"), "{plain}");
        let text = prepared(&body, "r", &with(|o| o.finite_math_only = true));
        assert!(!text.contains("fcmp") && !text.contains("select"), "{text}");
    }
    only_with(
        |o| o.finite_math_only = true,
        "r: f32 = fmin x, y",
        "fmin_common",
    );
    only_with(
        |o| o.finite_math_only = true,
        "r: f32 = fmax x, y",
        "fmax_common",
    );
}

#[test]
fn products_with_zero_are_zero_where_nothing_is_infinite_or_signed() {
    let body = "z: f32 = const 0.0\nr: f32 = fmul x, z";
    for some in [
        with(|o| o.finite_math_only = true),
        with(|o| o.no_signed_zeros = true),
    ] {
        let text = prepared(body, "r", &some);
        assert!(text.contains("fmul"), "{text}");
    }
    let text = prepared(body, "r", &with(|o| o.fast_relaxed_math = true));
    assert!(!text.contains("fmul"), "{text}");
}

#[test]
fn denormals_are_flushed_by_exponential_functions() {
    for name in ["exp", "exp2", "exp10"] {
        let body = format!("r: f32 = builtin.{name} x");
        only_with(
            |o| o.denorms_are_zero = true,
            &body,
            &format!("native_{name}"),
        );
    }
}

#[test]
fn unsafe_math_takes_shorter_functions_of_float() {
    for (name, shorter) in [
        ("exp", "native_exp"),
        ("log", "native_log"),
        ("log10", "native_log10"),
        ("log2", "native_log2"),
    ] {
        let body = format!("r: f32 = builtin.{name} x");
        only_with(|o| o.unsafe_math = true, &body, shorter);
        only_with(|o| o.fast_relaxed_math = true, &body, shorter);
    }
    for (name, shorter) in [
        ("atan2", "relaxed_atan2"),
        ("pow", "relaxed_pow"),
        ("powr", "native_powr"),
    ] {
        let body = format!("r: f32 = builtin.{name} x, y");
        only_with(|o| o.unsafe_math = true, &body, shorter);
    }
}

#[test]
fn unsafe_math_keeps_the_functions_of_double() {
    let text = prepared(
        "r: f64 = builtin.exp d",
        "r",
        &with(|o| o.unsafe_math = true),
    );
    assert!(
        text.contains("builtin.exp ") && !text.contains("native"),
        "{text}"
    );
}
