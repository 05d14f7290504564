//! Which capabilities, extensions and extended instruction sets a module may declare, and how much
//! of each is served.
//!
//! The rows are the one place to change when a feature arrives: a module that declares what they do
//! not serve is refused, and device queries are made of them. Rows come from "Required
//! Capabilities" and "OpenCL Extensions" of the OpenCL SPIR-V Environment Specification, and from
//! what the compilers that write SPIR-V for OpenCL C and SYCL may declare.
//!
//! What is not declared by a capability of its own is listed where it is read:
//!
//! - versions 1.0 to 1.6, of either byte order: `decode.rs`;
//! - the addressing model Physical64, the memory model OpenCL, the execution model Kernel:
//!   `module.rs`; those of shaders, which become these: `vulkan/`;
//! - execution modes: `kernel_info.rs`, `float_modes.rs`; one that is not there is refused by name;
//! - built-in variables: `builtin_variables.rs`, likewise;
//! - storage classes: `types.rs`;
//! - decorations: `CPacked`, `Alignment`, `AlignmentId`, `BuiltIn`, `LinkageAttributes`, `SpecId`,
//!   `FPRoundingMode`, `SaturatedConversion`, `NoSignedWrap`, `NoUnsignedWrap`, `FPFastMathMode`
//!   (of its flags, `AllowContract`), `NoContraction`, and `FuncParamAttr` with `ByVal` change what
//!   is translated. `Offset` and `ArrayStride` must say what is so anyway. All others are hints,
//!   and so is any that is unknown: what would change the meaning of a module has a capability that
//!   is refused.
//!
//! A module that uses what it did not declare is not refused for that alone, nor for declaring a
//! capability without the extension or version that brings it: nothing here depends on it, and
//! producers forget.

use rspirv::spirv::{Capability, Op};

use super::decode::{Binary, Inst, Result, literal_string};
use super::rules::Rule;

/// How much of a capability or extension is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// All of it.
    Full,
    /// Modules may declare it, since producers do so for what is served too. What is named here is
    /// not, and is refused where a kernel uses it.
    Parts(&'static str),
    /// Modules that declare it are refused, for this reason.
    Refused(&'static str),
}

use Support::{Full, Parts, Refused};

/// Decorations and modes that ask for a shape of circuit, and do not change what a kernel computes.
const FPGA: Support = Full;
/// Of Vulkan's environment, whose modules become OpenCL's as far as `vulkan/` says.
const LOWERED: Support = Parts("what has no counterpart in OpenCL");
const FPGA_ONLY: &str = "it drives hardware that this device does not have";

const CAPABILITIES: &[(Capability, Support)] = &[
    (Capability::Matrix, Parts("matrix types")),
    // LLVM's translator declares it for `OpBitReverse`, as SPIR-V asked before
    // SPV_KHR_bit_instructions.
    // Modules of Vulkan's environment declare it, too, of which `vulkan/` makes ones of OpenCL's.
    (Capability::Shader, Parts("all but compute shaders")),
    (Capability::Addresses, Full),
    (Capability::Linkage, Full),
    (Capability::Kernel, Full),
    (Capability::Vector16, Full),
    (Capability::Float16Buffer, Full),
    (Capability::Float16, Full),
    (Capability::Float64, Full),
    (Capability::Int64, Full),
    (Capability::Int64Atomics, Full),
    (Capability::Int16, Full),
    (Capability::Int8, Full),
    (Capability::GenericPointer, Full),
    (Capability::SubgroupDispatch, Full),
    (Capability::Groups, Full),
    (Capability::ImageBasic, Full),
    (Capability::ImageReadWrite, Full),
    (Capability::ImageMipmap, Full),
    (Capability::Image1D, Full),
    (Capability::Sampled1D, Full),
    (Capability::ImageBuffer, Full),
    (Capability::SampledBuffer, Full),
    (Capability::LiteralSampler, Full),
    (Capability::Pipes, Full),
    (Capability::PipeStorage, Full),
    (Capability::DeviceEnqueue, Full),
    (Capability::NamedBarrier, Full),
    (Capability::GroupNonUniform, Full),
    (Capability::GroupNonUniformVote, Full),
    (Capability::GroupNonUniformArithmetic, Full),
    (Capability::GroupNonUniformBallot, Full),
    (Capability::GroupNonUniformShuffle, Full),
    (Capability::GroupNonUniformShuffleRelative, Full),
    (Capability::GroupNonUniformClustered, Full),
    (Capability::GroupNonUniformRotateKHR, Full),
    (Capability::GroupUniformArithmeticKHR, Full),
    (Capability::SubgroupBallotKHR, Full),
    (Capability::SubgroupVoteKHR, Full),
    (Capability::SubgroupShuffleINTEL, Full),
    (Capability::SubgroupBufferBlockIOINTEL, Full),
    (Capability::SubgroupImageBlockIOINTEL, Full),
    (Capability::SubgroupImageMediaBlockIOINTEL, Full),
    (Capability::ShaderClockKHR, Full),
    (Capability::ExpectAssumeKHR, Full),
    (Capability::BitInstructions, Full),
    (Capability::DotProduct, Full),
    (Capability::DotProductInputAll, Full),
    (Capability::DotProductInput4x8Bit, Full),
    (Capability::DotProductInput4x8BitPacked, Full),
    (Capability::AtomicFloat16AddEXT, Full),
    (Capability::AtomicFloat32AddEXT, Full),
    (Capability::AtomicFloat64AddEXT, Full),
    (Capability::AtomicFloat16MinMaxEXT, Full),
    (Capability::AtomicFloat32MinMaxEXT, Full),
    (Capability::AtomicFloat64MinMaxEXT, Full),
    // Of Vulkan's environment: what these bring is in shaders, which are lowered (`vulkan/`).
    (Capability::VariablePointers, LOWERED),
    (Capability::VariablePointersStorageBuffer, LOWERED),
    (Capability::PhysicalStorageBufferAddresses, LOWERED),
    (Capability::VulkanMemoryModel, LOWERED),
    (Capability::VulkanMemoryModelDeviceScope, LOWERED),
    (Capability::StorageBuffer8BitAccess, LOWERED),
    (Capability::UniformAndStorageBuffer8BitAccess, LOWERED),
    (Capability::StoragePushConstant8, LOWERED),
    (Capability::StorageBuffer16BitAccess, LOWERED),
    (Capability::UniformAndStorageBuffer16BitAccess, LOWERED),
    (Capability::StoragePushConstant16, LOWERED),
    (Capability::WorkgroupMemoryExplicitLayoutKHR, LOWERED),
    (
        Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
        LOWERED,
    ),
    (
        Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
        LOWERED,
    ),
    (Capability::ShaderNonUniform, LOWERED),
    (Capability::ImageQuery, LOWERED),
    (Capability::StorageImageReadWithoutFormat, LOWERED),
    (Capability::StorageImageWriteWithoutFormat, LOWERED),
    // Modes of these are accepted where they ask for what is done anyway.
    (Capability::DenormPreserve, Full),
    (Capability::DenormFlushToZero, Full),
    (Capability::SignedZeroInfNanPreserve, Full),
    (Capability::RoundingModeRTE, Full),
    (Capability::RoundingModeRTZ, Full),
    (Capability::FloatControls2, Full),
    (Capability::FMAKHR, Full),
    (Capability::UntypedPointersKHR, Full),
    (Capability::ReplicatedCompositesEXT, Full),
    (Capability::ArithmeticFenceEXT, Full),
    (Capability::TernaryBitwiseFunctionINTEL, Full),
    // A prefetch may be ignored.
    (Capability::SubgroupBufferPrefetchINTEL, Full),
    (Capability::SplitBarrierINTEL, Full),
    (Capability::BFloat16ConversionINTEL, Full),
    (Capability::LongCompositesINTEL, Full),
    (Capability::IntegerFunctions2INTEL, Full),
    (Capability::USMStorageClassesALTERA, Full),
    (Capability::RoundToInfinityINTEL, Full),
    // Hints that need not be followed.
    (Capability::UniformDecoration, Full),
    (Capability::FPFastMathModeINTEL, Full),
    (Capability::KernelAttributesINTEL, Full),
    (Capability::OptNoneEXT, Full),
    (Capability::MemoryAccessAliasingINTEL, Full),
    (Capability::UnstructuredLoopControlsINTEL, Full),
    (Capability::CacheControlsINTEL, Full),
    (Capability::RegisterLimitsINTEL, Full),
    (Capability::FPMaxErrorINTEL, Full),
    (Capability::RuntimeAlignedAttributeALTERA, Full),
    (Capability::GlobalVariableHostAccessINTEL, Full),
    (Capability::DebugInfoModuleINTEL, Full),
    (Capability::LoopFuseALTERA, FPGA),
    (Capability::FPGAMemoryAttributesALTERA, FPGA),
    (Capability::FPGALoopControlsALTERA, FPGA),
    (Capability::FPGAMemoryAccessesALTERA, FPGA),
    (Capability::FPGAClusterAttributesALTERA, FPGA),
    (Capability::FPGAClusterAttributesV2ALTERA, FPGA),
    (Capability::FPGADSPControlALTERA, FPGA),
    (Capability::FPGAInvocationPipeliningAttributesALTERA, FPGA),
    (Capability::FPGABufferLocationALTERA, FPGA),
    (Capability::FPGALatencyControlALTERA, FPGA),
    (Capability::FPGAArgumentInterfacesALTERA, FPGA),
    (Capability::FPGAKernelAttributesINTEL, FPGA),
    (Capability::FPGAKernelAttributesv2INTEL, FPGA),
    (Capability::GlobalVariableFPGADecorationsALTERA, FPGA),
    (Capability::FPGARegALTERA, FPGA),
    (Capability::IOPipesALTERA, Refused(FPGA_ONLY)),
    (Capability::BlockingPipesALTERA, Refused(FPGA_ONLY)),
    (Capability::TaskSequenceALTERA, Refused(FPGA_ONLY)),
    // What producers may ask for by an option of their own.
    (
        Capability::FunctionPointersINTEL,
        Refused("functions have no addresses"),
    ),
    (
        Capability::IndirectReferencesINTEL,
        Refused("functions have no addresses"),
    ),
    (
        Capability::AsmINTEL,
        Refused("assembly language cannot be run by many work-items together"),
    ),
    (
        Capability::VariableLengthArrayINTEL,
        Refused("how much private memory a kernel takes is known before it runs"),
    ),
    (
        Capability::UntypedVariableLengthArrayINTEL,
        Refused("how much private memory a kernel takes is known before it runs"),
    ),
    (
        Capability::ArbitraryPrecisionIntegersALTERA,
        Refused("integers have 8, 16, 32 or 64 bits"),
    ),
    (
        Capability::ArbitraryPrecisionFixedPointALTERA,
        Refused("there is no fixed-point arithmetic"),
    ),
    (
        Capability::ArbitraryPrecisionFloatingPointALTERA,
        Refused("floats have 16, 32 or 64 bits"),
    ),
    (
        Capability::Int4TypeINTEL,
        Refused("integers have 8, 16, 32 or 64 bits"),
    ),
    (
        Capability::BFloat16TypeKHR,
        Refused("floats are IEEE 754's"),
    ),
    (
        Capability::BFloat16DotProductKHR,
        Refused("floats are IEEE 754's"),
    ),
    (Capability::Float8EXT, Refused("floats are IEEE 754's")),
    (
        Capability::TensorFloat32RoundingINTEL,
        Refused("floats are IEEE 754's"),
    ),
    (
        Capability::FloatingPointModeINTEL,
        Parts("the mode that is not IEEE 754's"),
    ),
    (
        Capability::FunctionFloatControlINTEL,
        Refused("a function computes in the modes of the kernel that calls it"),
    ),
    (
        Capability::MaskedGatherScatterINTEL,
        Refused("the components of vectors are numbers, not pointers"),
    ),
    (
        Capability::VectorComputeINTEL,
        Refused("kernels are written for one work-item"),
    ),
    (
        Capability::VectorAnyINTEL,
        Refused("vectors have 2, 3, 4, 8 or 16 components"),
    ),
    (
        Capability::LongVectorEXT,
        Refused("vectors have 2, 3, 4, 8 or 16 components"),
    ),
    (
        Capability::CooperativeMatrixKHR,
        Refused("there are no matrix types"),
    ),
    (
        Capability::SubgroupMatrixMultiplyAccumulateINTEL,
        Refused(
            "there are no matrix instructions: a device says which sizes it has, this one none",
        ),
    ),
    (
        Capability::Subgroup2DBlockIOINTEL,
        Refused("sub-groups read and write buffers in blocks of one dimension"),
    ),
    (
        Capability::BindlessImagesINTEL,
        Refused("images are arguments of kernels"),
    ),
    (
        Capability::SpecConditionalINTEL,
        Refused("modules have one variant of each function"),
    ),
    (
        Capability::FunctionVariantsINTEL,
        Refused("modules have one variant of each function"),
    ),
];

/// Capabilities that the grammar's table does not have yet, by number and name.
const NEWER_CAPABILITIES: &[(u32, &str, Support)] = &[
    (5156, "PoisonFreezeKHR", Full),
    (
        5120,
        "AbortKHR",
        Refused("a work-item cannot end the others"),
    ),
    (5146, "ConstantDataKHR", Full),
    // Before it was split into 6187 and 6189. DPC++ declares it for device globals; its decorations
    // say who writes them.
    (6146, "GlobalVariableDecorationsINTEL", Full),
    (6257, "PredicatedIOINTEL", Full),
    // Whatever is not a function of the library is rounded correctly, and in any direction.
    (6265, "RoundedDivideSqrtINTEL", Full),
];

const EXTENSIONS: &[(&str, Support)] = &[
    ("SPV_KHR_no_integer_wrap_decoration", Full),
    ("SPV_KHR_linkonce_odr", Full),
    ("SPV_KHR_expect_assume", Full),
    ("SPV_KHR_non_semantic_info", Full),
    ("SPV_KHR_relaxed_extended_instruction", Full),
    ("SPV_KHR_bit_instructions", Full),
    ("SPV_KHR_constant_data", Full),
    ("SPV_KHR_integer_dot_product", Full),
    ("SPV_KHR_float_controls", Full),
    ("SPV_KHR_float_controls2", Full),
    ("SPV_KHR_fma", Full),
    ("SPV_KHR_untyped_pointers", Full),
    ("SPV_KHR_poison_freeze", Full),
    // Addresses are values here anyway.
    ("SPV_KHR_variable_pointers", Full),
    ("SPV_KHR_storage_buffer_storage_class", LOWERED),
    ("SPV_KHR_8bit_storage", LOWERED),
    ("SPV_KHR_16bit_storage", LOWERED),
    ("SPV_KHR_workgroup_memory_explicit_layout", LOWERED),
    ("SPV_EXT_descriptor_indexing", LOWERED),
    ("SPV_KHR_vulkan_memory_model", LOWERED),
    ("SPV_KHR_physical_storage_buffer", LOWERED),
    ("SPV_EXT_physical_storage_buffer", LOWERED),
    ("SPV_KHR_subgroup_rotate", Full),
    ("SPV_KHR_uniform_group_instructions", Full),
    ("SPV_KHR_shader_ballot", Full),
    ("SPV_KHR_subgroup_vote", Full),
    ("SPV_KHR_shader_clock", Full),
    ("SPV_INTEL_subgroups", Full),
    ("SPV_INTEL_media_block_io", Full),
    ("SPV_EXT_shader_atomic_float_add", Full),
    ("SPV_EXT_shader_atomic_float_min_max", Full),
    ("SPV_EXT_shader_atomic_float16_add", Full),
    ("SPV_EXT_optnone", Full),
    ("SPV_EXT_arithmetic_fence", Full),
    ("SPV_EXT_replicated_composites", Full),
    ("SPV_EXT_split_barrier", Full),
    // The format may be in any address space.
    ("SPV_EXT_relaxed_printf_string_address_space", Full),
    ("SPV_GOOGLE_decorate_string", Full),
    ("SPV_GOOGLE_user_type", Full),
    ("SPV_INTEL_optnone", Full),
    // What is not served of it has capabilities of its own.
    ("SPV_INTEL_float_controls2", Full),
    ("SPV_INTEL_fp_fast_math_mode", Full),
    ("SPV_INTEL_kernel_attributes", Full),
    ("SPV_INTEL_memory_access_aliasing", Full),
    ("SPV_INTEL_arithmetic_fence", Full),
    ("SPV_INTEL_bfloat16_conversion", Full),
    ("SPV_INTEL_cache_controls", Full),
    ("SPV_INTEL_debug_module", Full),
    ("SPV_INTEL_fp_max_error", Full),
    ("SPV_INTEL_global_variable_decorations", Full),
    ("SPV_INTEL_global_variable_host_access", Full),
    ("SPV_INTEL_long_composites", Full),
    ("SPV_INTEL_long_constant_composite", Full),
    ("SPV_INTEL_maximum_registers", Full),
    ("SPV_INTEL_non_constant_addrspace_printf", Full),
    ("SPV_INTEL_predicated_io", Full),
    ("SPV_INTEL_rounded_divide_sqrt", Full),
    ("SPV_INTEL_runtime_aligned", Full),
    ("SPV_INTEL_shader_integer_functions2", Full),
    ("SPV_INTEL_split_barrier", Full),
    ("SPV_INTEL_subgroup_buffer_prefetch", Full),
    ("SPV_INTEL_ternary_bitwise_function", Full),
    ("SPV_INTEL_unstructured_loop_controls", Full),
    ("SPV_INTEL_usm_storage_classes", Full),
    ("SPV_INTEL_loop_fuse", FPGA),
    ("SPV_INTEL_fpga_argument_interfaces", FPGA),
    ("SPV_INTEL_fpga_buffer_location", FPGA),
    ("SPV_INTEL_fpga_cluster_attributes", FPGA),
    ("SPV_INTEL_fpga_dsp_control", FPGA),
    ("SPV_INTEL_fpga_invocation_pipelining_attributes", FPGA),
    ("SPV_INTEL_fpga_latency_control", FPGA),
    ("SPV_INTEL_fpga_loop_controls", FPGA),
    ("SPV_INTEL_fpga_memory_accesses", FPGA),
    ("SPV_INTEL_fpga_memory_attributes", FPGA),
    ("SPV_INTEL_fpga_reg", FPGA),
    ("SPV_INTEL_global_variable_fpga_decorations", FPGA),
    ("SPV_KHR_bfloat16", Refused("floats are IEEE 754's")),
    (
        "SPV_KHR_cooperative_matrix",
        Refused("there are no matrix types"),
    ),
    (
        "SPV_INTEL_inline_assembly",
        Refused("assembly language cannot be run by many work-items together"),
    ),
    (
        "SPV_INTEL_function_pointers",
        Refused("functions have no addresses"),
    ),
    (
        "SPV_INTEL_variable_length_array",
        Refused("how much private memory a kernel takes is known before it runs"),
    ),
    (
        "SPV_INTEL_arbitrary_precision_integers",
        Refused("integers have 8, 16, 32 or 64 bits"),
    ),
    (
        "SPV_INTEL_masked_gather_scatter",
        Refused("the components of vectors are numbers, not pointers"),
    ),
];

/// Sets for `OpExtInstImport` that are listed. Of the sets of debug information only lines are
/// used, and any other whose name begins with `NonSemantic.` is accepted and skipped too.
const INSTRUCTION_SETS: &[&str] = &[
    "OpenCL.std",
    "OpenCL.DebugInfo.100",
    "NonSemantic.Shader.DebugInfo.100",
    "NonSemantic.Shader.DebugInfo.200",
];

/// Number, name and state of each capability that has a row.
pub fn capabilities() -> impl Iterator<Item = (u32, String, Support)> {
    let known = CAPABILITIES.iter().map(|&(capability, support)| {
        let name = format!("{capability:?}");
        (capability as u32, name, support)
    });
    let newer = NEWER_CAPABILITIES
        .iter()
        .map(|&(number, name, support)| (number, name.to_string(), support));
    known.chain(newer)
}

/// The numbers and names of the SPIR-V capabilities that are served in full.
pub fn supported_capabilities() -> impl Iterator<Item = (u32, String)> {
    capabilities()
        .filter(|(_, _, support)| *support == Full)
        .map(|(number, name, _)| (number, name))
}

/// The names of the SPIR-V extensions that are served in full.
pub fn supported_extensions() -> impl Iterator<Item = &'static str> {
    EXTENSIONS
        .iter()
        .filter(|(_, support)| *support == Full)
        .map(|(name, _)| *name)
}

/// The names of the extended instruction sets that modules may import.
pub fn supported_instruction_sets() -> impl Iterator<Item = &'static str> {
    INSTRUCTION_SETS.iter().copied()
}

/// Checks an `OpCapability` or `OpExtension`.
pub(super) fn check(binary: &Binary, inst: &Inst<'_>) -> Result<()> {
    let (what, row) = if inst.op() == Op::Capability {
        let number = inst.operands[0];
        let row = capabilities().find(|(known, ..)| *known == number);
        let name = match (&row, Capability::from_u32(number)) {
            (Some((_, name, _)), _) => name.clone(),
            (None, Some(capability)) => format!("{capability:?}"),
            (None, None) => {
                return Err(binary.error(inst, format!("unknown capability {number}")));
            }
        };
        let support = row.map(|(.., support)| support);
        (format!("the capability {name}"), support)
    } else {
        let name = literal_string(inst.operands).unwrap_or_default();
        // Extensions for FPGAs have been renamed.
        let former = name.replace("SPV_ALTERA_", "SPV_INTEL_");
        let row = EXTENSIONS.iter().find(|(known, _)| *known == former);
        let support = row.map(|(_, support)| *support);
        (format!("the extension {name:?}"), support)
    };
    let rule = match inst.op() {
        Op::Capability => Rule::Env("Required Capabilities"),
        _ => Rule::Env("Declaring SPIR-V Extensions"),
    };
    match row {
        Some(Full | Parts(_)) => Ok(()),
        Some(Refused(why)) => Err(binary.error(inst, format!("{what} is not supported: {why}"))),
        None => Err(binary.error(
            inst,
            format!("{what} is not supported: it is not one of OpenCL's"),
        )),
    }
    .map_err(|error| error.under(rule))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_are_unique() {
        let numbers: BTreeSet<u32> = capabilities().map(|(number, ..)| number).collect();
        assert_eq!(numbers.len(), capabilities().count());
        let names: BTreeSet<&str> = EXTENSIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), EXTENSIONS.len());
    }

    /// "SPIR-V Extensions": a capability that only an extension brings is of use only with that
    /// extension's name.
    #[test]
    fn extension_of_each_capability_is_served() {
        const BROUGHT_BY: &[(Capability, &str)] = &[
            (Capability::ExpectAssumeKHR, "SPV_KHR_expect_assume"),
            (Capability::BitInstructions, "SPV_KHR_bit_instructions"),
            (
                Capability::AtomicFloat16AddEXT,
                "SPV_EXT_shader_atomic_float16_add",
            ),
            (
                Capability::AtomicFloat32AddEXT,
                "SPV_EXT_shader_atomic_float_add",
            ),
            (
                Capability::AtomicFloat64AddEXT,
                "SPV_EXT_shader_atomic_float_add",
            ),
            (
                Capability::AtomicFloat16MinMaxEXT,
                "SPV_EXT_shader_atomic_float_min_max",
            ),
            (
                Capability::AtomicFloat32MinMaxEXT,
                "SPV_EXT_shader_atomic_float_min_max",
            ),
            (
                Capability::AtomicFloat64MinMaxEXT,
                "SPV_EXT_shader_atomic_float_min_max",
            ),
            (Capability::FloatControls2, "SPV_KHR_float_controls2"),
            (Capability::FMAKHR, "SPV_KHR_fma"),
            (Capability::UntypedPointersKHR, "SPV_KHR_untyped_pointers"),
            (
                Capability::ReplicatedCompositesEXT,
                "SPV_EXT_replicated_composites",
            ),
            (Capability::ArithmeticFenceEXT, "SPV_EXT_arithmetic_fence"),
            (Capability::SplitBarrierINTEL, "SPV_INTEL_split_barrier"),
            (
                Capability::TernaryBitwiseFunctionINTEL,
                "SPV_INTEL_ternary_bitwise_function",
            ),
            (
                Capability::SubgroupImageMediaBlockIOINTEL,
                "SPV_INTEL_media_block_io",
            ),
            (
                Capability::SubgroupBufferPrefetchINTEL,
                "SPV_INTEL_subgroup_buffer_prefetch",
            ),
            (
                Capability::BFloat16ConversionINTEL,
                "SPV_INTEL_bfloat16_conversion",
            ),
            (Capability::LongCompositesINTEL, "SPV_INTEL_long_composites"),
            (
                Capability::IntegerFunctions2INTEL,
                "SPV_INTEL_shader_integer_functions2",
            ),
            (
                Capability::USMStorageClassesALTERA,
                "SPV_INTEL_usm_storage_classes",
            ),
            (
                Capability::RoundToInfinityINTEL,
                "SPV_INTEL_float_controls2",
            ),
            (
                Capability::FPFastMathModeINTEL,
                "SPV_INTEL_fp_fast_math_mode",
            ),
            (
                Capability::KernelAttributesINTEL,
                "SPV_INTEL_kernel_attributes",
            ),
            (Capability::OptNoneEXT, "SPV_INTEL_optnone"),
            (
                Capability::MemoryAccessAliasingINTEL,
                "SPV_INTEL_memory_access_aliasing",
            ),
            (
                Capability::UnstructuredLoopControlsINTEL,
                "SPV_INTEL_unstructured_loop_controls",
            ),
            (Capability::CacheControlsINTEL, "SPV_INTEL_cache_controls"),
            (
                Capability::RegisterLimitsINTEL,
                "SPV_INTEL_maximum_registers",
            ),
            (Capability::FPMaxErrorINTEL, "SPV_INTEL_fp_max_error"),
            (
                Capability::RuntimeAlignedAttributeALTERA,
                "SPV_INTEL_runtime_aligned",
            ),
            (
                Capability::GlobalVariableHostAccessINTEL,
                "SPV_INTEL_global_variable_host_access",
            ),
            (Capability::DebugInfoModuleINTEL, "SPV_INTEL_debug_module"),
            (Capability::LoopFuseALTERA, "SPV_INTEL_loop_fuse"),
            (
                Capability::FPGAMemoryAttributesALTERA,
                "SPV_INTEL_fpga_memory_attributes",
            ),
            (
                Capability::FPGALoopControlsALTERA,
                "SPV_INTEL_fpga_loop_controls",
            ),
            (
                Capability::FPGAMemoryAccessesALTERA,
                "SPV_INTEL_fpga_memory_accesses",
            ),
            (
                Capability::FPGAClusterAttributesALTERA,
                "SPV_INTEL_fpga_cluster_attributes",
            ),
            (
                Capability::FPGAClusterAttributesV2ALTERA,
                "SPV_INTEL_fpga_cluster_attributes",
            ),
            (
                Capability::FPGADSPControlALTERA,
                "SPV_INTEL_fpga_dsp_control",
            ),
            (
                Capability::FPGAInvocationPipeliningAttributesALTERA,
                "SPV_INTEL_fpga_invocation_pipelining_attributes",
            ),
            (
                Capability::FPGABufferLocationALTERA,
                "SPV_INTEL_fpga_buffer_location",
            ),
            (
                Capability::FPGALatencyControlALTERA,
                "SPV_INTEL_fpga_latency_control",
            ),
            (
                Capability::FPGAArgumentInterfacesALTERA,
                "SPV_INTEL_fpga_argument_interfaces",
            ),
            (
                Capability::FPGAKernelAttributesINTEL,
                "SPV_INTEL_kernel_attributes",
            ),
            (
                Capability::FPGAKernelAttributesv2INTEL,
                "SPV_INTEL_kernel_attributes",
            ),
            (
                Capability::GlobalVariableFPGADecorationsALTERA,
                "SPV_INTEL_global_variable_fpga_decorations",
            ),
            (Capability::FPGARegALTERA, "SPV_INTEL_fpga_reg"),
        ];
        for (number, name, _) in capabilities().filter(|row| row.2 == Full) {
            let row = BROUGHT_BY
                .iter()
                .find(|(capability, _)| *capability as u32 == number);
            if let Some((_, extension)) = row {
                assert!(
                    supported_extensions().any(|known| known == *extension),
                    "{name} without {extension}"
                );
            }
        }
    }
}
