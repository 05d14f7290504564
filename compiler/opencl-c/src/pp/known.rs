//! What `__has_attribute`, `__has_builtin` and kin answer with 1. Each list is in order.

pub(super) const ATTRIBUTES: &[&str] = &[
    "address_space",
    "aligned",
    "always_inline",
    "cold",
    "const",
    "convergent",
    "deprecated",
    "ext_vector_type",
    "flatten",
    "format",
    "hot",
    "intel_reqd_sub_group_size",
    "internal_linkage",
    "malloc",
    "may_alias",
    "mode",
    "noduplicate",
    "noinline",
    "nonnull",
    "noreturn",
    "nosvm",
    "nothrow",
    "opencl_global",
    "opencl_local",
    "opencl_private",
    "opencl_unroll_hint",
    "overloadable",
    "packed",
    "pure",
    "reqd_work_group_size",
    "section",
    "unavailable",
    "unused",
    "used",
    "vec_type_hint",
    "vector_size",
    "visibility",
    "warn_unused_result",
    "weak",
    "work_group_size_hint",
];

pub(super) const BUILTINS: &[&str] = &[
    "__builtin_abs",
    "__builtin_assume",
    "__builtin_assume_aligned",
    "__builtin_astype",
    "__builtin_ceil",
    "__builtin_ceilf",
    "__builtin_choose_expr",
    "__builtin_clz",
    "__builtin_clzl",
    "__builtin_clzll",
    "__builtin_constant_p",
    "__builtin_convertvector",
    "__builtin_copysign",
    "__builtin_copysignf",
    "__builtin_ctz",
    "__builtin_ctzl",
    "__builtin_ctzll",
    "__builtin_expect",
    "__builtin_fabs",
    "__builtin_fabsf",
    "__builtin_floor",
    "__builtin_floorf",
    "__builtin_fma",
    "__builtin_fmaf",
    "__builtin_fmax",
    "__builtin_fmaxf",
    "__builtin_fmin",
    "__builtin_fminf",
    "__builtin_huge_val",
    "__builtin_huge_valf",
    "__builtin_inf",
    "__builtin_inff",
    "__builtin_isfinite",
    "__builtin_isinf",
    "__builtin_isnan",
    "__builtin_nanf",
    "__builtin_offsetof",
    "__builtin_popcount",
    "__builtin_popcountl",
    "__builtin_popcountll",
    "__builtin_prefetch",
    "__builtin_rint",
    "__builtin_rintf",
    "__builtin_sqrt",
    "__builtin_sqrtf",
    "__builtin_trunc",
    "__builtin_truncf",
    "__builtin_types_compatible_p",
    "__builtin_unreachable",
];

pub(super) const FEATURES: &[&str] = &[
    "attribute_deprecated_with_message",
    "attribute_ext_vector_type",
    "attribute_overloadable",
    "attribute_unavailable_with_message",
    "enumerator_attributes",
];

/// What is there though the language version does not have it.
pub(super) const EXTENSIONS: &[&str] = &[
    "c_alignas",
    "c_alignof",
    "c_generic_selections",
    "c_static_assert",
    "overloadable_unmarked",
];

/// Names of warnings.
pub(super) const WARNINGS: &[&str] = &[
    "#pragma-messages",
    "#warnings",
    "builtin-macro-redefined",
    "extra-tokens",
    "ignored-pragmas",
    "invalid-pp-token",
    "macro-redefined",
    "null-character",
    "trigraphs",
    "unicode-whitespace",
    "unknown-pragmas",
    "unused-value",
];

#[cfg(test)]
mod tests {
    #[test]
    fn lists_are_in_order() {
        use super::*;
        for list in [ATTRIBUTES, BUILTINS, FEATURES, EXTENSIONS, WARNINGS] {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{list:?}");
        }
    }
}
