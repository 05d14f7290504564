//! The macros that are there from the start, as a table by name.
//!
//! OpenCL C Specification, "Preprocessor Directives and Macros", and the constants of its chapters
//! on built-in functions; and what clang has, because sources test it: `__clang__` and `__GNUC__`
//! to know that vectors, `__attribute__` and `__builtin_` functions are there, `__SPIR__` and
//! `__SPIRV__` to know that what they are compiled to is portable, `__SIZEOF_POINTER__`,
//! `__INT64_TYPE__` and kin for headers that are shared with the host. Dates and times are fixed:
//! the same source gives the same module.
//!
//! Extensions and features are the device's, so they are not in the table.

use super::dynamic::{Dynamic, Question};
use crate::options::{Device, Options, Std};

/// What a predefined name stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Predefined {
    Object(String),
    /// Parameters in parentheses, then the body.
    Function(&'static str),
    Dynamic(Dynamic),
}

/// When a macro is defined.
#[derive(Clone, Copy)]
enum When {
    Always,
    /// From OpenCL C 2.0 on.
    C20,
    Fp16,
    Fp64,
    FastRelaxedMath,
    Images,
    Optimized,
    RoundingModes,
    Version31,
}

enum Value {
    Object(&'static str),
    Function(&'static str),
    Dynamic(Dynamic),
    LanguageVersion,
    DeviceVersion,
    FiniteMathOnly,
}

/// What a name is predefined as.
pub(super) fn find(name: &str, options: &Options, device: &Device) -> Option<Predefined> {
    if name.starts_with("cl_") || name.starts_with("__opencl_c_") {
        let is_feature = name.starts_with('_');
        // OpenCL C Specification, "Features": before 3.0 the macros of features are not defined.
        let is_there = device.has(name) && (!is_feature || options.std >= Std::C30);
        return is_there.then(|| Predefined::Object("1".to_owned()));
    }
    let row = TABLE.binary_search_by_key(&name, |row| row.0).ok()?;
    let (_, when, value) = &TABLE[row];
    if !holds(*when, options, device) {
        return None;
    }
    Some(match value {
        Value::Object(text) => Predefined::Object((*text).to_owned()),
        Value::Function(text) => Predefined::Function(text),
        Value::Dynamic(dynamic) => Predefined::Dynamic(*dynamic),
        Value::LanguageVersion => Predefined::Object(options.std.number().to_string()),
        Value::DeviceVersion => Predefined::Object(device.version.to_string()),
        Value::FiniteMathOnly => {
            let is_on = options.finite_math_only || options.fast_relaxed_math;
            Predefined::Object(u8::from(is_on).to_string())
        }
    })
}

fn holds(when: When, options: &Options, device: &Device) -> bool {
    match when {
        When::Always => true,
        When::C20 => options.std >= Std::C20,
        When::Fp16 => device.has("cl_khr_fp16"),
        When::Fp64 => device.has("cl_khr_fp64") || device.has("__opencl_c_fp64"),
        When::FastRelaxedMath => options.fast_relaxed_math,
        When::Images => device.has("__opencl_c_images"),
        When::Optimized => !options.opt_disable,
        When::RoundingModes => device.has("cl_khr_select_fprounding_mode"),
        When::Version31 => device.version >= 310 || options.std >= Std::C31,
    }
}

use Value::{DeviceVersion, FiniteMathOnly, Function, LanguageVersion, Object};
use When::{Always, C20, Fp16, Fp64};

/// OpenCL C Specification, "Optional Attribute Qualifiers" of kernels, in short.
const KERNEL_EXEC: &str = "(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) \
    __attribute__((vec_type_hint(typen)))";

/// By name, in order.
const TABLE: &[(&str, When, Value)] = &[
    ("ATOMIC_FLAG_INIT", C20, Object("0")),
    ("ATOMIC_VAR_INIT", C20, Function("(x) (x)")),
    ("CHAR_BIT", Always, Object("8")),
    ("CHAR_MAX", Always, Object("SCHAR_MAX")),
    ("CHAR_MIN", Always, Object("SCHAR_MIN")),
    ("CLK_A", Always, Object("0x10B1")),
    ("CLK_ABGR", C20, Object("0x10C3")),
    ("CLK_ADDRESS_CLAMP", Always, Object("4")),
    ("CLK_ADDRESS_CLAMP_TO_EDGE", Always, Object("2")),
    ("CLK_ADDRESS_MIRRORED_REPEAT", Always, Object("8")),
    ("CLK_ADDRESS_NONE", Always, Object("0")),
    ("CLK_ADDRESS_REPEAT", Always, Object("6")),
    ("CLK_ARGB", Always, Object("0x10B7")),
    ("CLK_BGRA", Always, Object("0x10B6")),
    ("CLK_DEPTH", Always, Object("0x10BD")),
    ("CLK_DEPTH_STENCIL", Always, Object("0x10BE")),
    ("CLK_DEVICE_QUEUE_FULL", C20, Object("-161")),
    ("CLK_ENQUEUE_FAILURE", C20, Object("-101")),
    ("CLK_ENQUEUE_FLAGS_NO_WAIT", C20, Object("0x0")),
    ("CLK_ENQUEUE_FLAGS_WAIT_KERNEL", C20, Object("0x1")),
    ("CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP", C20, Object("0x2")),
    ("CLK_EVENT_ALLOCATION_FAILURE", C20, Object("-100")),
    ("CLK_FILTER_LINEAR", Always, Object("0x20")),
    ("CLK_FILTER_NEAREST", Always, Object("0x10")),
    ("CLK_FLOAT", Always, Object("0x10DE")),
    ("CLK_GLOBAL_MEM_FENCE", Always, Object("0x02")),
    ("CLK_HALF_FLOAT", Always, Object("0x10DD")),
    ("CLK_IMAGE_MEM_FENCE", C20, Object("0x04")),
    ("CLK_INTENSITY", Always, Object("0x10B8")),
    ("CLK_INVALID_ARG_SIZE", C20, Object("-51")),
    ("CLK_INVALID_EVENT_WAIT_LIST", C20, Object("-57")),
    ("CLK_INVALID_NDRANGE", C20, Object("-160")),
    ("CLK_INVALID_QUEUE", C20, Object("-102")),
    ("CLK_LOCAL_MEM_FENCE", Always, Object("0x01")),
    ("CLK_LUMINANCE", Always, Object("0x10B9")),
    ("CLK_NORMALIZED_COORDS_FALSE", Always, Object("0")),
    ("CLK_NORMALIZED_COORDS_TRUE", Always, Object("1")),
    (
        "CLK_NULL_EVENT",
        C20,
        Object("__builtin_astype(__SIZE_MAX__, clk_event_t)"),
    ),
    ("CLK_NULL_QUEUE", C20, Object("0")),
    (
        "CLK_NULL_RESERVE_ID",
        C20,
        Object("__builtin_astype(__SIZE_MAX__, reserve_id_t)"),
    ),
    ("CLK_OUT_OF_RESOURCES", C20, Object("-5")),
    ("CLK_PROFILING_COMMAND_EXEC_TIME", C20, Object("0x1")),
    ("CLK_R", Always, Object("0x10B0")),
    ("CLK_RA", Always, Object("0x10B3")),
    ("CLK_RG", Always, Object("0x10B2")),
    ("CLK_RGB", Always, Object("0x10B4")),
    ("CLK_RGBA", Always, Object("0x10B5")),
    ("CLK_RGBx", Always, Object("0x10BC")),
    ("CLK_RGx", Always, Object("0x10BB")),
    ("CLK_Rx", Always, Object("0x10BA")),
    ("CLK_SIGNED_INT16", Always, Object("0x10D8")),
    ("CLK_SIGNED_INT32", Always, Object("0x10D9")),
    ("CLK_SIGNED_INT8", Always, Object("0x10D7")),
    ("CLK_SNORM_INT16", Always, Object("0x10D1")),
    ("CLK_SNORM_INT8", Always, Object("0x10D0")),
    ("CLK_SUCCESS", C20, Object("0")),
    ("CLK_UNORM_10X6_EXT", Always, Object("0x10E1")),
    ("CLK_UNORM_12X4_EXT", Always, Object("0x10E9")),
    ("CLK_UNORM_14X2_EXT", Always, Object("0x10EA")),
    ("CLK_UNORM_INT10X6_EXT", Always, Object("0x10E1")),
    ("CLK_UNORM_INT12X4_EXT", Always, Object("0x10E9")),
    ("CLK_UNORM_INT14X2_EXT", Always, Object("0x10EA")),
    ("CLK_UNORM_INT16", Always, Object("0x10D3")),
    ("CLK_UNORM_INT24", Always, Object("0x10DF")),
    ("CLK_UNORM_INT8", Always, Object("0x10D2")),
    ("CLK_UNORM_INT_101010", Always, Object("0x10D6")),
    ("CLK_UNORM_INT_101010_2", Always, Object("0x10E0")),
    ("CLK_UNORM_INT_2_101010_EXT", Always, Object("0x10E5")),
    ("CLK_UNORM_SHORT_555", Always, Object("0x10D5")),
    ("CLK_UNORM_SHORT_565", Always, Object("0x10D4")),
    ("CLK_UNSIGNED_INT10X6_EXT", Always, Object("0x10E6")),
    ("CLK_UNSIGNED_INT12X4_EXT", Always, Object("0x10E7")),
    ("CLK_UNSIGNED_INT14X2_EXT", Always, Object("0x10E8")),
    ("CLK_UNSIGNED_INT16", Always, Object("0x10DB")),
    ("CLK_UNSIGNED_INT32", Always, Object("0x10DC")),
    ("CLK_UNSIGNED_INT8", Always, Object("0x10DA")),
    ("CLK_UNSIGNED_INT_RAW10_EXT", Always, Object("0x10E3")),
    ("CLK_UNSIGNED_INT_RAW12_EXT", Always, Object("0x10E4")),
    ("CLK_sBGRA", C20, Object("0x10C2")),
    ("CLK_sRGB", C20, Object("0x10BF")),
    ("CLK_sRGBA", C20, Object("0x10C1")),
    ("CLK_sRGBx", C20, Object("0x10C0")),
    ("CL_COMPLETE", C20, Object("0x0")),
    ("CL_QUEUED", C20, Object("0x3")),
    ("CL_RUNNING", C20, Object("0x1")),
    ("CL_SUBMITTED", C20, Object("0x2")),
    ("CL_VERSION_1_0", Always, Object("100")),
    ("CL_VERSION_1_1", Always, Object("110")),
    ("CL_VERSION_1_2", Always, Object("120")),
    ("CL_VERSION_2_0", Always, Object("200")),
    ("CL_VERSION_3_0", Always, Object("300")),
    ("CL_VERSION_3_1", When::Version31, Object("310")),
    ("DBL_DIG", Fp64, Object("15")),
    ("DBL_EPSILON", Fp64, Object("0x1.0p-52")),
    ("DBL_MANT_DIG", Fp64, Object("53")),
    ("DBL_MAX", Fp64, Object("0x1.fffffffffffffp1023")),
    ("DBL_MAX_10_EXP", Fp64, Object("+308")),
    ("DBL_MAX_EXP", Fp64, Object("+1024")),
    ("DBL_MIN", Fp64, Object("0x1.0p-1022")),
    ("DBL_MIN_10_EXP", Fp64, Object("-307")),
    ("DBL_MIN_EXP", Fp64, Object("-1021")),
    ("DBL_RADIX", Fp64, Object("2")),
    ("FLT_DIG", Always, Object("6")),
    ("FLT_EPSILON", Always, Object("0x1.0p-23f")),
    ("FLT_MANT_DIG", Always, Object("24")),
    ("FLT_MAX", Always, Object("0x1.fffffep127f")),
    ("FLT_MAX_10_EXP", Always, Object("+38")),
    ("FLT_MAX_EXP", Always, Object("+128")),
    ("FLT_MIN", Always, Object("0x1.0p-126f")),
    ("FLT_MIN_10_EXP", Always, Object("-37")),
    ("FLT_MIN_EXP", Always, Object("-125")),
    ("FLT_RADIX", Always, Object("2")),
    ("FP_FAST_FMA", Fp64, Object("1")),
    ("FP_FAST_FMAF", Always, Object("1")),
    ("FP_ILOGB0", Always, Object("INT_MIN")),
    ("FP_ILOGBNAN", Always, Object("INT_MAX")),
    ("HALF_DIG", Fp16, Object("3")),
    ("HALF_EPSILON", Fp16, Object("((0x1.0p-10h))")),
    ("HALF_MANT_DIG", Fp16, Object("11")),
    ("HALF_MAX", Fp16, Object("((0x1.ffcp15h))")),
    ("HALF_MAX_10_EXP", Fp16, Object("+4")),
    ("HALF_MAX_EXP", Fp16, Object("+16")),
    ("HALF_MIN", Fp16, Object("((0x1.0p-14h))")),
    ("HALF_MIN_10_EXP", Fp16, Object("-4")),
    ("HALF_MIN_EXP", Fp16, Object("-13")),
    ("HALF_RADIX", Fp16, Object("2")),
    ("HUGE_VAL", Fp64, Object("(__builtin_huge_val())")),
    ("HUGE_VALF", Always, Object("(__builtin_huge_valf())")),
    ("INFINITY", Always, Object("(__builtin_inff())")),
    ("INT_MAX", Always, Object("2147483647")),
    ("INT_MIN", Always, Object("(-2147483647-1)")),
    ("LONG_MAX", Always, Object("0x7fffffffffffffffL")),
    ("LONG_MIN", Always, Object("(-0x7fffffffffffffffL-1)")),
    ("MAXFLOAT", Always, Object("0x1.fffffep127f")),
    ("MAX_WORK_DIM", C20, Object("3")),
    ("M_1_PI", Fp64, Object("0x1.45f306dc9c883p-2")),
    (
        "M_1_PI_F",
        Always,
        Object("0.318309886183790671537767526745028724f"),
    ),
    (
        "M_1_PI_H",
        Fp16,
        Object("0.318309886183790671537767526745028724h"),
    ),
    ("M_2_PI", Fp64, Object("0x1.45f306dc9c883p-1")),
    (
        "M_2_PI_F",
        Always,
        Object("0.636619772367581343075535053490057448f"),
    ),
    (
        "M_2_PI_H",
        Fp16,
        Object("0.636619772367581343075535053490057448h"),
    ),
    ("M_2_SQRTPI", Fp64, Object("0x1.20dd750429b6dp+0")),
    (
        "M_2_SQRTPI_F",
        Always,
        Object("1.12837916709551257389615890312154517f"),
    ),
    (
        "M_2_SQRTPI_H",
        Fp16,
        Object("1.12837916709551257389615890312154517h"),
    ),
    ("M_E", Fp64, Object("0x1.5bf0a8b145769p+1")),
    (
        "M_E_F",
        Always,
        Object("2.71828182845904523536028747135266250f"),
    ),
    (
        "M_E_H",
        Fp16,
        Object("2.71828182845904523536028747135266250h"),
    ),
    ("M_LN10", Fp64, Object("0x1.26bb1bbb55516p+1")),
    (
        "M_LN10_F",
        Always,
        Object("2.30258509299404568401799145468436421f"),
    ),
    (
        "M_LN10_H",
        Fp16,
        Object("2.30258509299404568401799145468436421h"),
    ),
    ("M_LN2", Fp64, Object("0x1.62e42fefa39efp-1")),
    (
        "M_LN2_F",
        Always,
        Object("0.693147180559945309417232121458176568f"),
    ),
    (
        "M_LN2_H",
        Fp16,
        Object("0.693147180559945309417232121458176568h"),
    ),
    ("M_LOG10E", Fp64, Object("0x1.bcb7b1526e50ep-2")),
    (
        "M_LOG10E_F",
        Always,
        Object("0.434294481903251827651128918916605082f"),
    ),
    (
        "M_LOG10E_H",
        Fp16,
        Object("0.434294481903251827651128918916605082h"),
    ),
    ("M_LOG2E", Fp64, Object("0x1.71547652b82fep+0")),
    (
        "M_LOG2E_F",
        Always,
        Object("1.44269504088896340735992468100189214f"),
    ),
    (
        "M_LOG2E_H",
        Fp16,
        Object("1.44269504088896340735992468100189214h"),
    ),
    ("M_PI", Fp64, Object("0x1.921fb54442d18p+1")),
    ("M_PI_2", Fp64, Object("0x1.921fb54442d18p+0")),
    (
        "M_PI_2_F",
        Always,
        Object("1.57079632679489661923132169163975144f"),
    ),
    (
        "M_PI_2_H",
        Fp16,
        Object("1.57079632679489661923132169163975144h"),
    ),
    ("M_PI_4", Fp64, Object("0x1.921fb54442d18p-1")),
    (
        "M_PI_4_F",
        Always,
        Object("0.785398163397448309615660845819875721f"),
    ),
    (
        "M_PI_4_H",
        Fp16,
        Object("0.785398163397448309615660845819875721h"),
    ),
    (
        "M_PI_F",
        Always,
        Object("3.14159265358979323846264338327950288f"),
    ),
    (
        "M_PI_H",
        Fp16,
        Object("3.14159265358979323846264338327950288h"),
    ),
    ("M_SQRT1_2", Fp64, Object("0x1.6a09e667f3bcdp-1")),
    (
        "M_SQRT1_2_F",
        Always,
        Object("0.707106781186547524400844362104849039f"),
    ),
    (
        "M_SQRT1_2_H",
        Fp16,
        Object("0.707106781186547524400844362104849039h"),
    ),
    ("M_SQRT2", Fp64, Object("0x1.6a09e667f3bcdp+0")),
    (
        "M_SQRT2_F",
        Always,
        Object("1.41421356237309504880168872420969808f"),
    ),
    (
        "M_SQRT2_H",
        Fp16,
        Object("1.41421356237309504880168872420969808h"),
    ),
    ("NAN", Always, Object("(__builtin_nanf(\"\"))")),
    ("NULL", Always, Object("((void *)0)")),
    ("SCHAR_MAX", Always, Object("127")),
    ("SCHAR_MIN", Always, Object("(-128)")),
    ("SHRT_MAX", Always, Object("32767")),
    ("SHRT_MIN", Always, Object("(-32768)")),
    ("UCHAR_MAX", Always, Object("255")),
    ("UINT_MAX", Always, Object("0xffffffff")),
    ("ULONG_MAX", Always, Object("0xffffffffffffffffUL")),
    ("USHRT_MAX", Always, Object("65535")),
    ("_LP64", Always, Object("1")),
    ("_Pragma", Always, Value::Dynamic(Dynamic::Pragma)),
    ("__ATOMIC_ACQUIRE", Always, Object("2")),
    ("__ATOMIC_ACQ_REL", Always, Object("4")),
    ("__ATOMIC_CONSUME", Always, Object("1")),
    ("__ATOMIC_RELAXED", Always, Object("0")),
    ("__ATOMIC_RELEASE", Always, Object("3")),
    ("__ATOMIC_SEQ_CST", Always, Object("5")),
    ("__BASE_FILE__", Always, Value::Dynamic(Dynamic::BaseFile)),
    ("__BIGGEST_ALIGNMENT__", Always, Object("8")),
    ("__BLOCKS__", C20, Object("1")),
    ("__BYTE_ORDER__", Always, Object("__ORDER_LITTLE_ENDIAN__")),
    ("__CHAR_BIT__", Always, Object("8")),
    ("__COUNTER__", Always, Value::Dynamic(Dynamic::Counter)),
    ("__DATE__", Always, Object("\"Jan  1 1970\"")),
    ("__DBL_DECIMAL_DIG__", Fp64, Object("17")),
    (
        "__DBL_DENORM_MIN__",
        Fp64,
        Object("4.9406564584124654e-324"),
    ),
    ("__DBL_DIG__", Fp64, Object("15")),
    ("__DBL_EPSILON__", Fp64, Object("2.2204460492503131e-16")),
    ("__DBL_HAS_DENORM__", Fp64, Object("1")),
    ("__DBL_HAS_INFINITY__", Fp64, Object("1")),
    ("__DBL_HAS_QUIET_NAN__", Fp64, Object("1")),
    ("__DBL_MANT_DIG__", Fp64, Object("53")),
    ("__DBL_MAX_10_EXP__", Fp64, Object("308")),
    ("__DBL_MAX_EXP__", Fp64, Object("1024")),
    ("__DBL_MAX__", Fp64, Object("1.7976931348623157e+308")),
    ("__DBL_MIN_10_EXP__", Fp64, Object("(-307)")),
    ("__DBL_MIN_EXP__", Fp64, Object("(-1021)")),
    ("__DBL_MIN__", Fp64, Object("2.2250738585072014e-308")),
    ("__DBL_NORM_MAX__", Fp64, Object("1.7976931348623157e+308")),
    ("__ENDIAN_LITTLE__", Always, Object("1")),
    ("__FAST_RELAXED_MATH__", When::FastRelaxedMath, Object("1")),
    ("__FILE_NAME__", Always, Value::Dynamic(Dynamic::FileName)),
    ("__FILE__", Always, Value::Dynamic(Dynamic::File)),
    ("__FINITE_MATH_ONLY__", Always, FiniteMathOnly),
    ("__FLT_DECIMAL_DIG__", Always, Object("9")),
    ("__FLT_DENORM_MIN__", Always, Object("1.40129846e-45F")),
    ("__FLT_DIG__", Always, Object("6")),
    ("__FLT_EPSILON__", Always, Object("1.19209290e-7F")),
    ("__FLT_HAS_DENORM__", Always, Object("1")),
    ("__FLT_HAS_INFINITY__", Always, Object("1")),
    ("__FLT_HAS_QUIET_NAN__", Always, Object("1")),
    ("__FLT_MANT_DIG__", Always, Object("24")),
    ("__FLT_MAX_10_EXP__", Always, Object("38")),
    ("__FLT_MAX_EXP__", Always, Object("128")),
    ("__FLT_MAX__", Always, Object("3.40282347e+38F")),
    ("__FLT_MIN_10_EXP__", Always, Object("(-37)")),
    ("__FLT_MIN_EXP__", Always, Object("(-125)")),
    ("__FLT_MIN__", Always, Object("1.17549435e-38F")),
    ("__FLT_NORM_MAX__", Always, Object("3.40282347e+38F")),
    ("__FLT_RADIX__", Always, Object("2")),
    ("__GNUC_MINOR__", Always, Object("2")),
    ("__GNUC_PATCHLEVEL__", Always, Object("1")),
    ("__GNUC_STDC_INLINE__", Always, Object("1")),
    ("__GNUC__", Always, Object("4")),
    ("__IMAGE_SUPPORT__", When::Images, Object("1")),
    (
        "__INCLUDE_LEVEL__",
        Always,
        Value::Dynamic(Dynamic::IncludeLevel),
    ),
    ("__INT16_MAX__", Always, Object("32767")),
    ("__INT16_TYPE__", Always, Object("short")),
    ("__INT32_MAX__", Always, Object("2147483647")),
    ("__INT32_TYPE__", Always, Object("int")),
    ("__INT64_MAX__", Always, Object("9223372036854775807L")),
    ("__INT64_TYPE__", Always, Object("long int")),
    ("__INT8_MAX__", Always, Object("127")),
    ("__INT8_TYPE__", Always, Object("signed char")),
    ("__INTPTR_MAX__", Always, Object("9223372036854775807L")),
    ("__INTPTR_TYPE__", Always, Object("long int")),
    ("__INTPTR_WIDTH__", Always, Object("64")),
    ("__INT_MAX__", Always, Object("2147483647")),
    ("__INT_WIDTH__", Always, Object("32")),
    ("__LINE__", Always, Value::Dynamic(Dynamic::Line)),
    ("__LITTLE_ENDIAN__", Always, Object("1")),
    ("__LONG_LONG_MAX__", Always, Object("9223372036854775807L")),
    ("__LONG_MAX__", Always, Object("9223372036854775807L")),
    ("__LONG_WIDTH__", Always, Object("64")),
    ("__LP64__", Always, Object("1")),
    ("__NO_MATH_ERRNO__", Always, Object("1")),
    ("__OPENCL_C_VERSION__", Always, LanguageVersion),
    ("__OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES", Always, Object("3")),
    ("__OPENCL_MEMORY_SCOPE_DEVICE", Always, Object("2")),
    ("__OPENCL_MEMORY_SCOPE_SUB_GROUP", Always, Object("4")),
    ("__OPENCL_MEMORY_SCOPE_WORK_GROUP", Always, Object("1")),
    ("__OPENCL_MEMORY_SCOPE_WORK_ITEM", Always, Object("0")),
    ("__OPENCL_VERSION__", Always, DeviceVersion),
    ("__OPTIMIZE__", When::Optimized, Object("1")),
    ("__ORDER_BIG_ENDIAN__", Always, Object("4321")),
    ("__ORDER_LITTLE_ENDIAN__", Always, Object("1234")),
    ("__ORDER_PDP_ENDIAN__", Always, Object("3412")),
    ("__POINTER_WIDTH__", Always, Object("64")),
    ("__PTRDIFF_MAX__", Always, Object("9223372036854775807L")),
    ("__PTRDIFF_TYPE__", Always, Object("long int")),
    ("__PTRDIFF_WIDTH__", Always, Object("64")),
    (
        "__ROUNDING_MODE__",
        When::RoundingModes,
        Value::Dynamic(Dynamic::RoundingMode),
    ),
    ("__SCHAR_MAX__", Always, Object("127")),
    ("__SHRT_MAX__", Always, Object("32767")),
    ("__SHRT_WIDTH__", Always, Object("16")),
    ("__SIZEOF_DOUBLE__", Always, Object("8")),
    ("__SIZEOF_FLOAT__", Always, Object("4")),
    ("__SIZEOF_INT__", Always, Object("4")),
    ("__SIZEOF_LONG_LONG__", Always, Object("8")),
    ("__SIZEOF_LONG__", Always, Object("8")),
    ("__SIZEOF_POINTER__", Always, Object("8")),
    ("__SIZEOF_PTRDIFF_T__", Always, Object("8")),
    ("__SIZEOF_SHORT__", Always, Object("2")),
    ("__SIZEOF_SIZE_T__", Always, Object("8")),
    ("__SIZE_MAX__", Always, Object("18446744073709551615UL")),
    ("__SIZE_TYPE__", Always, Object("long unsigned int")),
    ("__SIZE_WIDTH__", Always, Object("64")),
    ("__SPIR", Always, Object("1")),
    ("__SPIR64", Always, Object("1")),
    ("__SPIR64__", Always, Object("1")),
    ("__SPIRV", Always, Object("1")),
    ("__SPIRV64", Always, Object("1")),
    ("__SPIRV64__", Always, Object("1")),
    ("__SPIRV__", Always, Object("1")),
    ("__SPIR__", Always, Object("1")),
    ("__STDC_HOSTED__", Always, Object("1")),
    ("__STDC_VERSION__", Always, Object("199901L")),
    ("__STDC__", Always, Object("1")),
    ("__STRICT_ANSI__", Always, Object("1")),
    (
        "__TIMESTAMP__",
        Always,
        Object("\"Thu Jan  1 00:00:00 1970\""),
    ),
    ("__TIME__", Always, Object("\"00:00:00\"")),
    ("__UINT16_MAX__", Always, Object("65535")),
    ("__UINT16_TYPE__", Always, Object("unsigned short")),
    ("__UINT32_MAX__", Always, Object("4294967295U")),
    ("__UINT32_TYPE__", Always, Object("unsigned int")),
    ("__UINT64_MAX__", Always, Object("18446744073709551615UL")),
    ("__UINT64_TYPE__", Always, Object("long unsigned int")),
    ("__UINT8_MAX__", Always, Object("255")),
    ("__UINT8_TYPE__", Always, Object("unsigned char")),
    ("__UINTPTR_MAX__", Always, Object("18446744073709551615UL")),
    ("__UINTPTR_TYPE__", Always, Object("long unsigned int")),
    ("__UINTPTR_WIDTH__", Always, Object("64")),
    ("__USER_LABEL_PREFIX__", Always, Object("")),
    (
        "__VERSION__",
        Always,
        Object("\"4.2.1 Compatible Clang 15.0.0\""),
    ),
    ("__block", C20, Object("__attribute__((__blocks__(byref)))")),
    ("__clang__", Always, Object("1")),
    ("__clang_major__", Always, Object("15")),
    ("__clang_minor__", Always, Object("0")),
    ("__clang_patchlevel__", Always, Object("0")),
    ("__clang_version__", Always, Object("\"15.0.0\"")),
    (
        "__has_attribute",
        Always,
        Value::Dynamic(Dynamic::Asks(Question::Attribute)),
    ),
    (
        "__has_builtin",
        Always,
        Value::Dynamic(Dynamic::Asks(Question::Builtin)),
    ),
    (
        "__has_c_attribute",
        Always,
        Value::Dynamic(Dynamic::Asks(Question::CAttribute)),
    ),
    (
        "__has_extension",
        Always,
        Value::Dynamic(Dynamic::Asks(Question::Extension)),
    ),
    (
        "__has_feature",
        Always,
        Value::Dynamic(Dynamic::Asks(Question::Feature)),
    ),
    ("__has_include", Always, Value::Dynamic(Dynamic::HasInclude)),
    (
        "__has_include_next",
        Always,
        Value::Dynamic(Dynamic::HasIncludeNext),
    ),
    (
        "__has_warning",
        Always,
        Value::Dynamic(Dynamic::Asks(Question::Warning)),
    ),
    (
        "__is_identifier",
        Always,
        Value::Dynamic(Dynamic::Asks(Question::Identifier)),
    ),
    ("__kernel_exec", Always, Function(KERNEL_EXEC)),
    ("__spirv__", Always, Object("1")),
    ("false", Always, Object("0")),
    ("kernel_exec", Always, Function(KERNEL_EXEC)),
    ("true", Always, Object("1")),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str, std: Std, names: &[&str]) -> Option<Predefined> {
        let options = Options {
            std,
            ..Options::default()
        };
        let device = Device {
            version: 300,
            extensions: names.iter().map(|&name| name.to_owned()).collect(),
            ..Device::default()
        };
        find(name, &options, &device)
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn versions_extensions_and_features_decide() {
        let is = |text: &str| Some(Predefined::Object(text.to_owned()));
        assert_eq!(value("__OPENCL_C_VERSION__", Std::C20, &[]), is("200"));
        assert_eq!(value("__OPENCL_VERSION__", Std::C11, &[]), is("300"));
        assert_eq!(value("CL_VERSION_3_1", Std::C30, &[]), None);
        assert_eq!(value("CL_VERSION_3_1", Std::C31, &[]), is("310"));
        assert_eq!(value("CLK_SUCCESS", Std::C12, &[]), None);
        assert_eq!(value("CLK_SUCCESS", Std::C20, &[]), is("0"));
        assert_eq!(value("M_PI_H", Std::C12, &[]), None);
        assert!(value("M_PI_H", Std::C12, &["cl_khr_fp16"]).is_some());
        assert_eq!(value("cl_khr_fp16", Std::C10, &["cl_khr_fp16"]), is("1"));
        let feature = "__opencl_c_pipes";
        assert_eq!(value(feature, Std::C20, &[feature]), None);
        assert_eq!(value(feature, Std::C30, &[feature]), is("1"));
        assert_eq!(value("__EMBEDDED_PROFILE__", Std::C30, &[]), None);
        assert_eq!(value("foo", Std::C30, &[]), None);
    }
}
