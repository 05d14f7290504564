//! What is asked of a compilation, and what the device can do.

use std::fmt;

/// A version of OpenCL C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Std {
    C10,
    C11,
    #[default]
    C12,
    C20,
    C30,
    C31,
}

impl Std {
    /// The value of `__OPENCL_C_VERSION__`.
    pub fn number(self) -> u32 {
        match self {
            Std::C10 => 100,
            Std::C11 => 110,
            Std::C12 => 120,
            Std::C20 => 200,
            Std::C30 => 300,
            Std::C31 => 310,
        }
    }

    /// As `-cl-std=` names it.
    pub fn parse(name: &str) -> Option<Std> {
        Some(match name {
            "CL" | "CL1.0" => Std::C10,
            "CL1.1" => Std::C11,
            "CL1.2" => Std::C12,
            "CL2.0" => Std::C20,
            "CL3.0" => Std::C30,
            "CL3.1" => Std::C31,
            _ => return None,
        })
    }
}

impl fmt::Display for Std {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number();
        write!(f, "CL{}.{}", number / 100, number / 10 % 10)
    }
}

/// Options of a compilation. OpenCL API Specification, "Compiler Options".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub std: Std,
    /// `-D` (`NAME`, `NAME=VALUE`, `NAME(X)=VALUE`) and `-U` in order.
    pub defines: Vec<Define>,
    /// `-I`, in order.
    pub include_dirs: Vec<String>,
    /// `-include`: headers that are read before the source.
    pub includes: Vec<String>,
    /// `-w`
    pub no_warnings: bool,
    /// `-Werror`
    pub warnings_are_errors: bool,
    /// Other `-W` options, in order and without `-W`: `unused-value`, `no-unused-value`,
    /// `error=unused-value`.
    pub warnings: Vec<String>,
    /// `-cl-opt-disable`
    pub opt_disable: bool,
    pub single_precision_constant: bool,
    pub kernel_arg_info: bool,
    /// `-g`: source lines in the module.
    pub debug_info: bool,
    pub fast_relaxed_math: bool,
    pub finite_math_only: bool,
    pub uniform_work_group_size: bool,
    /// Nothing else is linked to the module: what is not a kernel is of nobody's interest.
    pub whole_program: bool,
    /// `size_t` and its like have 32 bits, as devices without addresses have them.
    pub narrow_sizes: bool,
    /// Variables without an initialiser are zero.
    pub zeroed_variables: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Define {
    Define(String),
    Undefine(String),
}

/// What the device can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Device {
    /// `__OPENCL_VERSION__`: 310 for 3.1.
    pub version: u32,
    /// `CL_DEVICE_EXTENSIONS`.
    pub extensions: Vec<String>,
    /// `CL_DEVICE_OPENCL_C_FEATURES`: `__opencl_c_...`.
    pub features: Vec<String>,
}

/// Extensions that change what a source may say.
pub const EXTENSIONS: &[&str] = &[
    "cl_ext_float_atomics",
    "cl_intel_bfloat16_conversions",
    "cl_intel_media_block_io",
    "cl_intel_required_subgroup_size",
    "cl_intel_split_work_group_barrier",
    "cl_intel_subgroup_buffer_prefetch",
    "cl_intel_subgroup_local_block_io",
    "cl_intel_subgroups",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_long",
    "cl_intel_subgroups_short",
    "cl_khr_3d_image_writes",
    "cl_khr_async_work_group_copy_fence",
    "cl_khr_byte_addressable_store",
    "cl_khr_depth_images",
    "cl_khr_device_enqueue_local_arg_types",
    "cl_khr_expect_assume",
    "cl_khr_extended_async_copies",
    "cl_khr_extended_bit_ops",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_gl_msaa_sharing",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_integer_dot_product",
    "cl_khr_kernel_clock",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
    "cl_khr_select_fprounding_mode",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_named_barrier",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroups",
    "cl_khr_work_group_uniform_arithmetic",
];

/// Optional features: OpenCL C Specification, "Features", and those of extensions.
pub const FEATURES: &[&str] = &[
    "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_device_enqueue",
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
    "__opencl_c_ext_image_unorm_int_2_101010",
    "__opencl_c_ext_image_unsigned_10x6_12x4_14x2",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_kernel_clock_scope_sub_group",
    "__opencl_c_kernel_clock_scope_work_group",
    "__opencl_c_pipes",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_read_write_images",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
];

impl Device {
    /// A device that has everything.
    pub fn full() -> Device {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Device {
            version: 310,
            extensions: owned(EXTENSIONS),
            features: owned(FEATURES),
        }
    }

    /// Whether an extension or feature of this name is there.
    pub fn has(&self, name: &str) -> bool {
        let mut all = self.extensions.iter().chain(&self.features);
        all.any(|one| one == name)
    }
}
