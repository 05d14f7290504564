//! Which capabilities and extensions a module may declare, and how much of each is served.
//!
//! A module that declares what is not in these tables is refused. The rows are the one place to change when
//! a feature arrives; device queries read them through [`supported_capabilities`] and
//! [`supported_extensions`].

use rspirv::spirv::{Capability, Op};

use super::decode::{Binary, Inst, Result, literal_string};

/// How much of a capability or extension is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// All of it.
    Full,
    /// Modules may declare it, since producers do so for what is served too; its other instructions are
    /// refused one by one when a kernel uses them.
    Parts,
}

use Support::{Full, Parts};

const CAPABILITIES: &[(Capability, Support)] = &[
    (Capability::Matrix, Parts),
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
    (Capability::ImageBasic, Parts),
    (Capability::ImageReadWrite, Parts),
    (Capability::ImageMipmap, Parts),
    (Capability::Image1D, Parts),
    (Capability::Sampled1D, Parts),
    (Capability::ImageBuffer, Parts),
    (Capability::SampledBuffer, Parts),
    (Capability::LiteralSampler, Parts),
    (Capability::Pipes, Parts),
    (Capability::PipeStorage, Parts),
    (Capability::DeviceEnqueue, Parts),
    (Capability::NamedBarrier, Parts),
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
    (Capability::ShaderClockKHR, Full),
    (Capability::ExpectAssumeKHR, Full),
    (Capability::BitInstructions, Full),
    (Capability::DotProduct, Full),
    (Capability::DotProductInputAll, Full),
    (Capability::DotProductInput4x8Bit, Full),
    (Capability::DotProductInput4x8BitPacked, Full),
    (Capability::AtomicFloat16AddEXT, Parts),
    (Capability::AtomicFloat32AddEXT, Full),
    (Capability::AtomicFloat64AddEXT, Full),
    (Capability::AtomicFloat16MinMaxEXT, Parts),
    (Capability::AtomicFloat32MinMaxEXT, Full),
    (Capability::AtomicFloat64MinMaxEXT, Full),
    // Modes of these are accepted where they ask for what is done anyway.
    (Capability::DenormPreserve, Full),
    (Capability::SignedZeroInfNanPreserve, Full),
    (Capability::RoundingModeRTE, Full),
    // Hints that need not be followed.
    (Capability::UniformDecoration, Full),
    (Capability::FPFastMathModeINTEL, Full),
    (Capability::FloatControls2, Full),
    (Capability::KernelAttributesINTEL, Parts),
    (Capability::OptNoneEXT, Full),
    (Capability::MemoryAccessAliasingINTEL, Full),
];

const EXTENSIONS: &[(&str, Support)] = &[
    ("SPV_KHR_no_integer_wrap_decoration", Full),
    ("SPV_KHR_linkonce_odr", Full),
    ("SPV_KHR_expect_assume", Full),
    ("SPV_KHR_non_semantic_info", Full),
    ("SPV_KHR_relaxed_extended_instruction", Full),
    ("SPV_KHR_bit_instructions", Full),
    ("SPV_KHR_integer_dot_product", Full),
    ("SPV_KHR_float_controls", Full),
    ("SPV_KHR_float_controls2", Full),
    ("SPV_KHR_subgroup_rotate", Full),
    ("SPV_KHR_uniform_group_instructions", Full),
    ("SPV_KHR_shader_ballot", Full),
    ("SPV_KHR_subgroup_vote", Full),
    ("SPV_KHR_shader_clock", Full),
    ("SPV_INTEL_subgroups", Full),
    ("SPV_EXT_shader_atomic_float_add", Full),
    ("SPV_EXT_shader_atomic_float_min_max", Full),
    ("SPV_EXT_shader_atomic_float16_add", Parts),
    ("SPV_EXT_optnone", Full),
    ("SPV_INTEL_optnone", Full),
    ("SPV_INTEL_fp_fast_math_mode", Full),
    ("SPV_INTEL_kernel_attributes", Parts),
    ("SPV_INTEL_memory_access_aliasing", Full),
];

/// The names of the SPIR-V capabilities that are served in full.
pub fn supported_capabilities() -> impl Iterator<Item = (Capability, String)> {
    CAPABILITIES
        .iter()
        .filter(|(_, support)| *support == Full)
        .map(|(capability, _)| (*capability, format!("{capability:?}")))
}

/// The names of the SPIR-V extensions that are served in full.
pub fn supported_extensions() -> impl Iterator<Item = &'static str> {
    EXTENSIONS
        .iter()
        .filter(|(_, support)| *support == Full)
        .map(|(name, _)| *name)
}

/// Checks an `OpCapability` or `OpExtension`.
pub(super) fn check(binary: &Binary, inst: &Inst<'_>) -> Result<()> {
    if inst.op() == Op::Capability {
        let number = inst.operands[0];
        let Some(capability) = Capability::from_u32(number) else {
            return Err(binary.error(inst, format!("unknown capability {number}")));
        };
        if !CAPABILITIES.iter().any(|(known, _)| *known == capability) {
            return Err(binary.error(
                inst,
                format!("the capability {capability:?} is not supported"),
            ));
        }
    } else {
        let name = literal_string(inst.operands).unwrap_or_default();
        if !EXTENSIONS.iter().any(|(known, _)| *known == name) {
            return Err(binary.error(inst, format!("the extension {name:?} is not supported")));
        }
    }
    Ok(())
}
