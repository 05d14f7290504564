//! The macros that are there from the start.
//!
//! OpenCL C Specification, "Preprocessor Directives and Macros", "Math Functions" (limits and
//! constants), and the constants of its functions; what the device's extensions and features
//! define; and what clang predefines and sources look for, as they take it for the compiler of
//! every OpenCL C.

use std::rc::Rc;

use super::{Macro, Preprocessor};
use crate::lex::Lexer;
use crate::options::{Device, Std};
use crate::source::Pos;
use crate::token::{ExpansionId, Token, TokenKind};

/// Names and values that every version has. The values are single expressions.
const COMMON: &[(&str, &str)] = &[
    ("__ENDIAN_LITTLE__", "1"),
    ("__OPENCL__", "1"),
    ("CL_VERSION_1_0", "100"),
    ("CL_VERSION_1_1", "110"),
    ("CL_VERSION_1_2", "120"),
    ("CL_VERSION_2_0", "200"),
    ("CL_VERSION_3_0", "300"),
    ("NULL", "((void*)0)"),
    ("true", "1"),
    ("false", "0"),
    // "Integer Macros and Functions".
    ("CHAR_BIT", "8"),
    ("CHAR_MAX", "SCHAR_MAX"),
    ("CHAR_MIN", "SCHAR_MIN"),
    ("SCHAR_MAX", "127"),
    ("SCHAR_MIN", "(-127-1)"),
    ("UCHAR_MAX", "255"),
    ("SHRT_MAX", "32767"),
    ("SHRT_MIN", "(-32767-1)"),
    ("USHRT_MAX", "65535"),
    ("INT_MAX", "2147483647"),
    ("INT_MIN", "(-2147483647-1)"),
    ("UINT_MAX", "0xffffffffU"),
    ("LONG_MAX", "0x7fffffffffffffffL"),
    ("LONG_MIN", "(-0x7fffffffffffffffL-1)"),
    ("ULONG_MAX", "0xffffffffffffffffUL"),
    // "Floating-Point Macros and Pragmas".
    ("FLT_DIG", "6"),
    ("FLT_MANT_DIG", "24"),
    ("FLT_MAX_10_EXP", "+38"),
    ("FLT_MAX_EXP", "+128"),
    ("FLT_MIN_10_EXP", "-37"),
    ("FLT_MIN_EXP", "-125"),
    ("FLT_RADIX", "2"),
    ("FLT_MAX", "0x1.fffffep127f"),
    ("FLT_MIN", "0x1.0p-126f"),
    ("FLT_EPSILON", "0x1.0p-23f"),
    ("FP_ILOGB0", "INT_MIN"),
    ("FP_ILOGBNAN", "INT_MAX"),
    ("MAXFLOAT", "0x1.fffffep127f"),
    ("HUGE_VALF", "(__builtin_huge_valf())"),
    ("INFINITY", "(__builtin_inff())"),
    ("NAN", "(__builtin_nanf(\"\"))"),
    ("FP_FAST_FMAF", "1"),
    ("M_E_F", "2.71828182845904523536028747135266250f"),
    ("M_LOG2E_F", "1.44269504088896340735992468100189214f"),
    ("M_LOG10E_F", "0.434294481903251827651128918916605082f"),
    ("M_LN2_F", "0.693147180559945309417232121458176568f"),
    ("M_LN10_F", "2.30258509299404568401799145468436421f"),
    ("M_PI_F", "3.14159265358979323846264338327950288f"),
    ("M_PI_2_F", "1.57079632679489661923132169163975144f"),
    ("M_PI_4_F", "0.785398163397448309615660845819875721f"),
    ("M_1_PI_F", "0.318309886183790671537767526745028724f"),
    ("M_2_PI_F", "0.636619772367581343075535053490057448f"),
    ("M_2_SQRTPI_F", "1.12837916709551257389615890312154517f"),
    ("M_SQRT2_F", "1.41421356237309504880168872420969808f"),
    ("M_SQRT1_2_F", "0.707106781186547524400844362104849039f"),
    // "Synchronization Functions".
    ("CLK_LOCAL_MEM_FENCE", "0x01"),
    ("CLK_GLOBAL_MEM_FENCE", "0x02"),
    // "Samplers": the values that SPIR-V's readers take apart.
    ("CLK_ADDRESS_NONE", "0"),
    ("CLK_ADDRESS_CLAMP_TO_EDGE", "2"),
    ("CLK_ADDRESS_CLAMP", "4"),
    ("CLK_ADDRESS_REPEAT", "6"),
    ("CLK_ADDRESS_MIRRORED_REPEAT", "8"),
    ("CLK_NORMALIZED_COORDS_FALSE", "0"),
    ("CLK_NORMALIZED_COORDS_TRUE", "1"),
    ("CLK_FILTER_NEAREST", "0x10"),
    ("CLK_FILTER_LINEAR", "0x20"),
    // "Image Query Functions".
    ("CLK_SNORM_INT8", "0x10D0"),
    ("CLK_SNORM_INT16", "0x10D1"),
    ("CLK_UNORM_INT8", "0x10D2"),
    ("CLK_UNORM_INT16", "0x10D3"),
    ("CLK_UNORM_SHORT_565", "0x10D4"),
    ("CLK_UNORM_SHORT_555", "0x10D5"),
    ("CLK_UNORM_INT_101010", "0x10D6"),
    ("CLK_SIGNED_INT8", "0x10D7"),
    ("CLK_SIGNED_INT16", "0x10D8"),
    ("CLK_SIGNED_INT32", "0x10D9"),
    ("CLK_UNSIGNED_INT8", "0x10DA"),
    ("CLK_UNSIGNED_INT16", "0x10DB"),
    ("CLK_UNSIGNED_INT32", "0x10DC"),
    ("CLK_HALF_FLOAT", "0x10DD"),
    ("CLK_FLOAT", "0x10DE"),
    ("CLK_UNORM_INT24", "0x10DF"),
    ("CLK_UNORM_INT_101010_2", "0x10E0"),
    ("CLK_R", "0x10B0"),
    ("CLK_A", "0x10B1"),
    ("CLK_RG", "0x10B2"),
    ("CLK_RA", "0x10B3"),
    ("CLK_RGB", "0x10B4"),
    ("CLK_RGBA", "0x10B5"),
    ("CLK_BGRA", "0x10B6"),
    ("CLK_ARGB", "0x10B7"),
    ("CLK_INTENSITY", "0x10B8"),
    ("CLK_LUMINANCE", "0x10B9"),
    ("CLK_Rx", "0x10BA"),
    ("CLK_RGx", "0x10BB"),
    ("CLK_RGBx", "0x10BC"),
    ("CLK_DEPTH", "0x10BD"),
    ("CLK_DEPTH_STENCIL", "0x10BE"),
    ("CLK_sRGB", "0x10BF"),
    ("CLK_sRGBx", "0x10C0"),
    ("CLK_sRGBA", "0x10C1"),
    ("CLK_sBGRA", "0x10C2"),
    ("CLK_ABGR", "0x10C3"),
    // What clang predefines for 64-bit SPIR targets.
    ("__clang__", "1"),
    ("__clang_major__", "15"),
    ("__clang_minor__", "0"),
    ("__clang_patchlevel__", "0"),
    ("__GNUC__", "4"),
    ("__GNUC_MINOR__", "2"),
    ("__GNUC_PATCHLEVEL__", "1"),
    ("__STDC__", "1"),
    ("__STDC_HOSTED__", "0"),
    ("__STDC_VERSION__", "199901L"),
    ("__SPIR__", "1"),
    ("__SPIR64__", "1"),
    ("__LITTLE_ENDIAN__", "1"),
    ("__ORDER_LITTLE_ENDIAN__", "1234"),
    ("__ORDER_BIG_ENDIAN__", "4321"),
    ("__BYTE_ORDER__", "1234"),
    ("__CHAR_BIT__", "8"),
    ("__SCHAR_MAX__", "127"),
    ("__SHRT_MAX__", "32767"),
    ("__INT_MAX__", "2147483647"),
    ("__LONG_MAX__", "9223372036854775807L"),
    ("__LONG_LONG_MAX__", "9223372036854775807LL"),
    ("__SIZE_MAX__", "18446744073709551615UL"),
    ("__SIZEOF_SHORT__", "2"),
    ("__SIZEOF_INT__", "4"),
    ("__SIZEOF_LONG__", "8"),
    ("__SIZEOF_LONG_LONG__", "8"),
    ("__SIZEOF_FLOAT__", "4"),
    ("__SIZEOF_DOUBLE__", "8"),
    ("__SIZEOF_POINTER__", "8"),
    ("__SIZEOF_SIZE_T__", "8"),
    ("__SIZE_TYPE__", "unsigned long"),
    ("__PTRDIFF_TYPE__", "long"),
    ("__FLT_MAX__", "0x1.fffffep127f"),
    ("__FLT_MIN__", "0x1.0p-126f"),
    ("__FLT_EPSILON__", "0x1.0p-23f"),
];

/// Those that came with OpenCL C 2.0.
const SINCE_2_0: &[(&str, &str)] = &[
    ("CLK_IMAGE_MEM_FENCE", "0x04"),
    (
        "CLK_NULL_EVENT",
        "(__builtin_astype((ulong)0, clk_event_t))",
    ),
    ("CLK_NULL_QUEUE", "(__builtin_astype((ulong)0, queue_t))"),
    (
        "CLK_NULL_RESERVE_ID",
        "(__builtin_astype((ulong)0, reserve_id_t))",
    ),
    ("CLK_ENQUEUE_FLAGS_NO_WAIT", "0"),
    ("CLK_ENQUEUE_FLAGS_WAIT_KERNEL", "1"),
    ("CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP", "2"),
    ("CLK_SUCCESS", "0"),
    ("CLK_ENQUEUE_FAILURE", "-101"),
    ("CLK_INVALID_QUEUE", "-102"),
    ("CLK_INVALID_NDRANGE", "-160"),
    ("CLK_INVALID_EVENT_WAIT_LIST", "-57"),
    ("CLK_DEVICE_QUEUE_FULL", "-161"),
    ("CLK_INVALID_ARG_SIZE", "-51"),
    ("CLK_EVENT_ALLOCATION_FAILURE", "-100"),
    ("CLK_OUT_OF_RESOURCES", "-5"),
    ("CLK_PROFILING_COMMAND_EXEC_TIME", "1"),
    ("CL_COMPLETE", "0"),
    ("ATOMIC_VAR_INIT(X)", "X"),
    ("ATOMIC_FLAG_INIT", "0"),
    ("memory_order_relaxed", "0"),
    ("memory_order_acquire", "2"),
    ("memory_order_release", "3"),
    ("memory_order_acq_rel", "4"),
    ("memory_order_seq_cst", "5"),
    ("memory_scope_work_item", "0"),
    ("memory_scope_work_group", "1"),
    ("memory_scope_device", "2"),
    ("memory_scope_all_svm_devices", "3"),
    ("memory_scope_all_devices", "3"),
    ("memory_scope_sub_group", "4"),
];

/// Those of double precision.
const OF_DOUBLE: &[(&str, &str)] = &[
    ("DBL_DIG", "15"),
    ("DBL_MANT_DIG", "53"),
    ("DBL_MAX_10_EXP", "+308"),
    ("DBL_MAX_EXP", "+1024"),
    ("DBL_MIN_10_EXP", "-307"),
    ("DBL_MIN_EXP", "-1021"),
    ("DBL_RADIX", "2"),
    ("DBL_MAX", "0x1.fffffffffffffp1023"),
    ("DBL_MIN", "0x1.0p-1022"),
    ("DBL_EPSILON", "0x1.0p-52"),
    ("HUGE_VAL", "(__builtin_huge_val())"),
    ("FP_FAST_FMA", "1"),
    ("M_E", "0x1.5bf0a8b145769p+1"),
    ("M_LOG2E", "0x1.71547652b82fep+0"),
    ("M_LOG10E", "0x1.bcb7b1526e50ep-2"),
    ("M_LN2", "0x1.62e42fefa39efp-1"),
    ("M_LN10", "0x1.26bb1bbb55516p+1"),
    ("M_PI", "0x1.921fb54442d18p+1"),
    ("M_PI_2", "0x1.921fb54442d18p+0"),
    ("M_PI_4", "0x1.921fb54442d18p-1"),
    ("M_1_PI", "0x1.45f306dc9c883p-2"),
    ("M_2_PI", "0x1.45f306dc9c883p-1"),
    ("M_2_SQRTPI", "0x1.20dd750429b6dp+0"),
    ("M_SQRT2", "0x1.6a09e667f3bcdp+0"),
    ("M_SQRT1_2", "0x1.6a09e667f3bcdp-1"),
];

/// Those of half precision.
const OF_HALF: &[(&str, &str)] = &[
    ("HALF_DIG", "3"),
    ("HALF_MANT_DIG", "11"),
    ("HALF_MAX_10_EXP", "+4"),
    ("HALF_MAX_EXP", "+16"),
    ("HALF_MIN_10_EXP", "-4"),
    ("HALF_MIN_EXP", "-13"),
    ("HALF_RADIX", "2"),
    ("HALF_MAX", "0x1.ffcp15h"),
    ("HALF_MIN", "0x1.0p-14h"),
    ("HALF_EPSILON", "0x1.0p-10h"),
    ("M_E_H", "2.71828182845904523536028747135266250h"),
    ("M_LOG2E_H", "1.44269504088896340735992468100189214h"),
    ("M_LOG10E_H", "0.434294481903251827651128918916605082h"),
    ("M_LN2_H", "0.693147180559945309417232121458176568h"),
    ("M_LN10_H", "2.30258509299404568401799145468436421h"),
    ("M_PI_H", "3.14159265358979323846264338327950288h"),
    ("M_PI_2_H", "1.57079632679489661923132169163975144h"),
    ("M_PI_4_H", "0.785398163397448309615660845819875721h"),
    ("M_1_PI_H", "0.318309886183790671537767526745028724h"),
    ("M_2_PI_H", "0.636619772367581343075535053490057448h"),
    ("M_2_SQRTPI_H", "1.12837916709551257389615890312154517h"),
    ("M_SQRT2_H", "1.41421356237309504880168872420969808h"),
    ("M_SQRT1_2_H", "0.707106781186547524400844362104849039h"),
];

impl Preprocessor<'_> {
    pub(super) fn predefine(&mut self, device: &Device) {
        self.predefine_dynamic();
        self.predefine_all(COMMON);
        let std = self.options.std;
        if std >= Std::C20 {
            self.predefine_all(SINCE_2_0);
        }
        if device.has("cl_khr_fp64") || device.has("__opencl_c_fp64") {
            self.predefine_all(OF_DOUBLE);
        }
        if device.has("cl_khr_fp16") {
            self.predefine_all(OF_HALF);
        }
        self.predefine_one("__OPENCL_VERSION__", &device.version.to_string());
        self.predefine_one("__OPENCL_C_VERSION__", &std.number().to_string());
        if device.version >= 310 || std >= Std::C31 {
            self.predefine_one("CL_VERSION_3_1", "310");
        }
        for name in &device.extensions {
            self.predefine_one(name, "1");
        }
        // OpenCL C Specification, "Features": they came with 3.0.
        if std >= Std::C30 {
            for name in &device.features {
                self.predefine_one(name, "1");
            }
        }
        if device.has("__opencl_c_images") {
            self.predefine_one("__IMAGE_SUPPORT__", "1");
        }
        if device.has("cl_khr_select_fprounding_mode") {
            self.predefine_one("__ROUNDING_MODE__", "rte");
        }
        if self.options.fast_relaxed_math {
            self.predefine_one("__FAST_RELAXED_MATH__", "1");
        }
        let size =
            "__attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(T)))";
        self.predefine_one("__kernel_exec(X, T)", &format!("__kernel {size}"));
        self.predefine_one("kernel_exec(X, T)", "__kernel_exec(X, T)");
    }

    fn predefine_all(&mut self, all: &[(&str, &str)]) {
        for (name, value) in all {
            self.predefine_one(name, value);
        }
    }

    /// `name` may have parameters, `NAME(X, Y)`.
    fn predefine_one(&mut self, name: &str, value: &str) {
        let (name, params) = match name.split_once('(') {
            None => (name, None),
            Some((name, params)) => {
                let names = params.trim_end_matches(')').split(',');
                let names = names
                    .map(|param| self.interner.intern(param.trim()))
                    .collect();
                let params = super::Params {
                    names,
                    variadic: false,
                };
                (name, Some(params))
            }
        };
        let body = self.predefined_body(value);
        let name = self.interner.intern(name);
        let definition = Macro {
            params,
            body,
            defined: Pos::NONE,
            disabled: false,
            dynamic: None,
            is_predefined: true,
        };
        self.macros.insert(name, definition);
    }

    fn predefined_body(&mut self, value: &str) -> Rc<[Token]> {
        let mut lexer = Lexer::new(value.as_bytes().into());
        let mut body = Vec::new();
        loop {
            let raw = lexer.token();
            if raw.kind == TokenKind::Eof {
                return body.into();
            }
            body.push(Token {
                kind: raw.kind,
                space_before: raw.space_before,
                line_start: false,
                symbol: self
                    .interner
                    .intern(&value[raw.start as usize..raw.end as usize]),
                pos: Pos::NONE,
                len: raw.end - raw.start,
                expansion: ExpansionId::NONE,
            });
        }
    }
}
