//! OpenCL C Specification, "Math Functions".

use super::{Group, Lowering, Over, Row, group, row, same_in_std};
use crate::spirv::{capability, op, std};

const F: Over = Over::F;
const FLOAT: Over = Over::FLOAT;

const UNARY: &[Row] = same_in_std!(F, "T T",
    acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc erf exp exp2
    exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan
    tanh tanpi tgamma trunc);

const BINARY: &[Row] = same_in_std!(F, "T T T",
    atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder);

/// With a scalar for all lanes.
const BINARY_SCALAR: &[Row] = same_in_std!(F.vector(), "T T S", fmax fmin);

const TERNARY: &[Row] = same_in_std!(F, "T T T T", fma mad);

const OTHERS: &[Row] = &[
    row("fract", F, "T T P*T", Lowering::Std(std::fract)),
    row("modf", F, "T T P*T", Lowering::Std(std::modf)),
    row("sincos", F, "T T P*T", Lowering::Std(std::sincos)),
    row("frexp", F, "T T P*I", Lowering::Std(std::frexp)),
    row("lgamma_r", F, "T T P*I", Lowering::Std(std::lgamma_r)),
    row("remquo", F, "T T T P*I", Lowering::Std(std::remquo)),
    row("ilogb", F, "I T", Lowering::Std(std::ilogb)),
    row("ldexp", F, "T T I", Lowering::Std(std::ldexp)),
    row("ldexp", F.vector(), "T T int", Lowering::Std(std::ldexp)),
    row("pown", F, "T T I", Lowering::Std(std::pown)),
    row("rootn", F, "T T I", Lowering::Std(std::rootn)),
    row("nan", F, "T N", Lowering::Std(std::nan)),
];

const FAST_UNARY: &[Row] = same_in_std!(FLOAT, "T T",
    half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip half_rsqrt
    half_sin half_sqrt half_tan native_cos native_exp native_exp2 native_exp10 native_log
    native_log2 native_log10 native_recip native_rsqrt native_sin native_sqrt native_tan);

const FAST_BINARY: &[Row] = same_in_std!(FLOAT, "T T T",
    half_divide half_powr native_divide native_powr);

/// Conversions of `bfloat16`s, which are `ushort`s (`cl_intel_bfloat16_conversions`).
const fn bfloat16(name: &'static str, signature: &'static str, opcode: u16) -> Row {
    let lowering = Lowering::Extended {
        opcode,
        capability: capability::BFLOAT16_CONVERSION_INTEL,
        extension: "SPV_INTEL_bfloat16_conversion",
    };
    row(name, Over::ONE, signature, lowering)
}

macro_rules! bfloat16s {
    ($($digits:literal)*) => {
        &[$(
            bfloat16(concat!("intel_convert_bfloat16", $digits, "_as_ushort", $digits),
                concat!("ushort", $digits, " float", $digits), op::CONVERT_F_TO_BF16_INTEL),
            bfloat16(concat!("intel_convert_as_bfloat16", $digits, "_float", $digits),
                concat!("float", $digits, " ushort", $digits), op::CONVERT_BF16_TO_F_INTEL),
        )*]
    };
}

const BFLOAT16: &[Row] = bfloat16s!("" "2" "3" "4" "8" "16");

pub const GROUPS: &[Group] = &[
    group("", UNARY),
    group("", BINARY),
    group("", BINARY_SCALAR),
    group("", TERNARY),
    group("", OTHERS),
    group("", FAST_UNARY),
    group("", FAST_BINARY),
    group("cl_intel_bfloat16_conversions", BFLOAT16),
];
