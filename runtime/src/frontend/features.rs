//! What the device can do, as the preprocessor must tell a program.
//!
//! OpenCL C Specification, "Preprocessor Directives and Macros" and "Features"; OpenCL Extension
//! Specification: an extension that the device supports has a macro of its name. clang's own idea
//! of its SPIR-V targets is "everything", so everything is switched off and only what the device
//! has is switched on.

use std::fmt::Write;

use super::options::ClStd;

/// Features of the device that a source is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFeatures {
    /// The device's OpenCL version, 300 for 3.0: `__OPENCL_VERSION__`.
    pub version: u32,
    /// `CL_DEVICE_EXTENSIONS`.
    pub extensions: Vec<String>,
    /// `CL_DEVICE_OPENCL_C_FEATURES` (`__opencl_c_...`).
    pub features: Vec<String>,
}

/// Macros that clang's OpenCL headers define for any SPIR-V target, whatever `-cl-ext` says.
const HEADER_MACROS: &[&str] = &[
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_ext_fp16_global_atomic_add",
    "__opencl_c_ext_fp16_global_atomic_load_store",
    "__opencl_c_ext_fp16_global_atomic_min_max",
    "__opencl_c_ext_fp16_local_atomic_add",
    "__opencl_c_ext_fp16_local_atomic_load_store",
    "__opencl_c_ext_fp16_local_atomic_min_max",
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
    "__opencl_c_ext_image_raw10_raw12",
    "__opencl_c_ext_image_unorm_int_2_101010",
    "__opencl_c_ext_image_unsigned_10x6_12x4_14x2",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_kernel_clock_scope_sub_group",
    "__opencl_c_kernel_clock_scope_work_group",
    "__opencl_c_read_write_images",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
    "cl_ext_float_atomics",
    "cl_intel_bfloat16_conversions",
    "cl_intel_subgroup_buffer_prefetch",
    "cl_intel_subgroup_local_block_io",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_long",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_khr_kernel_clock",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_named_barrier",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
];

impl DeviceFeatures {
    fn has(&self, name: &str) -> bool {
        self.extensions
            .iter()
            .chain(&self.features)
            .any(|n| n == name)
    }

    /// The value of clang's `-cl-ext=`.
    pub(super) fn cl_ext(&self) -> String {
        let mut list = "-all".to_owned();
        for name in self.extensions.iter().chain(&self.features) {
            let _ = write!(list, ",+{name}");
        }
        list
    }

    /// Preprocessor lines to put before a source, as a system header so that they draw no warnings,
    /// ending with a line marker that starts the source itself as `name`.
    ///
    /// `queries` are functions of a dimension to keep in bounds, with their values outside;
    /// `definitions` are others.
    pub(super) fn prelude(
        &self,
        std: ClStd,
        queries: &[(&str, u32)],
        definitions: &str,
        name: &str,
    ) -> String {
        let mut text = "# 1 \"brolga.h\" 1 3\n".to_owned();
        for macro_name in HEADER_MACROS {
            if !self.has(macro_name) {
                let _ = writeln!(text, "#undef {macro_name}");
            }
        }
        // `-cl-ext` ignores names that clang does not know, and OpenCL C features before 3.0.
        for macro_name in &self.extensions {
            let _ = writeln!(text, "#ifndef {macro_name}\n#define {macro_name} 1\n#endif");
        }
        if std >= ClStd::C30 && std != ClStd::Cpp10 {
            for macro_name in &self.features {
                let _ = writeln!(text, "#ifndef {macro_name}\n#define {macro_name} 1\n#endif");
            }
        }
        if self.has("cl_khr_select_fprounding_mode") {
            text.push_str("#define __ROUNDING_MODE__ rte\n");
        }
        if !self.has("__opencl_c_images") {
            text.push_str("#undef __IMAGE_SUPPORT__\n");
        }
        let _ = writeln!(
            text,
            "#undef __OPENCL_VERSION__\n#define __OPENCL_VERSION__ {}",
            self.version
        );
        if self.version >= 310 || std == ClStd::C31 {
            text.push_str("#ifndef CL_VERSION_3_1\n#define CL_VERSION_3_1 310\n#endif\n");
        }
        if std == ClStd::C31 {
            // clang knows 3.0 at most; what 3.1 adds to the language are optional features.
            text.push_str("#undef __OPENCL_C_VERSION__\n#define __OPENCL_C_VERSION__ 310\n");
        }
        // OpenCL C Specification, "Vector Data Load and Store Functions": with one component there
        // is nothing to align beyond a `half`. clang declares only the vector forms.
        text.push_str("#define vloada_half vload_half\n");
        for mode in ["", "_rte", "_rtz", "_rtp", "_rtn"] {
            let _ = writeln!(text, "#define vstorea_half{mode} vstore_half{mode}");
        }
        for (query, outside) in queries {
            let _ = writeln!(
                text,
                "size_t __attribute__((always_inline)) __brolga_{query}(uint d) {{ size_t v = {query}(d < 3 ? d : 0); return d < 3 ? v : {outside}; }}\n\
                 #define {query} __brolga_{query}"
            );
        }
        text.push_str(definitions);
        let _ = writeln!(text, "# 1 \"{name}\" 2");
        text
    }
}
