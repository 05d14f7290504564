//! Which rule a refusal goes by: the specification and the title of its section.
//!
//! An instruction is described in the section of its family, and that is what a refusal of it names
//! unless the place that refuses says better ([`Diagnostic::under`]): what all modules must be is
//! in "Universal Validation Rules", what OpenCL adds is in the environment specification.

use std::fmt;

use rspirv::spirv::Op;

use crate::diagnostic::Diagnostic;

/// The title of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Of the OpenCL SPIR-V Environment Specification.
    Env(&'static str),
    /// Of the SPIR-V Specification.
    Spirv(&'static str),
    /// Of the OpenCL Extended Instruction Set Specification.
    Std(&'static str),
    /// Of the Vulkan Specification, or of its environment for SPIR-V.
    Vulkan(&'static str),
    /// Of the non-semantic instruction set that describes OpenCL kernels in modules of Vulkan's.
    Reflection(&'static str),
    /// None: something allowed that is more than this driver takes.
    Limit,
}

pub(super) const VALIDATION: Rule = Rule::Env("Validation Rules");
pub(super) const UNIVERSAL: Rule = Rule::Spirv("Universal Validation Rules");
pub(super) const UNIVERSAL_LIMITS: Rule = Rule::Spirv("Universal Limits");
pub(super) const REQUIRED: Rule = Rule::Env("Required Capabilities");
pub(super) const KERNEL_ARGUMENTS: Rule = Rule::Env("Kernel Arguments");
pub(super) const BUILT_IN_VARIABLES: Rule = Rule::Env("Built-in Variables");
pub(super) const PHYSICAL_LAYOUT: Rule =
    Rule::Spirv("Physical Layout of a SPIR-V Module and Instruction");
pub(super) const LOGICAL_LAYOUT: Rule = Rule::Spirv("Logical Layout of a Module");
pub(super) const EXECUTION_MODES: Rule = Rule::Spirv("Execution Mode");
pub(super) const LINKAGE: Rule = Rule::Spirv("Linkage Type");
pub(super) const DECORATION: Rule = Rule::Spirv("Decoration");
pub(super) const MEMORY_OPERANDS: Rule = Rule::Spirv("Memory Operands");

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Env(title) => write!(f, "OpenCL SPIR-V Environment Specification, {title:?}"),
            Rule::Spirv(title) => write!(f, "SPIR-V Specification, {title:?}"),
            Rule::Std(title) => write!(
                f,
                "OpenCL Extended Instruction Set Specification, {title:?}"
            ),
            Rule::Vulkan(title) => write!(f, "Vulkan Specification, {title:?}"),
            Rule::Reflection(title) => write!(f, "NonSemantic.ClspvReflection, {title:?}"),
            Rule::Limit => write!(f, "a limit of this driver"),
        }
    }
}

/// The section that describes an instruction, by the range that its number is in: they were
/// numbered by family.
const FAMILIES: &[(u32, u32, &str)] = &[
    (0, 1, "Miscellaneous Instructions"),
    (2, 8, "Debug Instructions"),
    (10, 12, "Extension Instructions"),
    (14, 17, "Mode-Setting Instructions"),
    (19, 39, "Type-Declaration Instructions"),
    (41, 52, "Constant-Creation Instructions"),
    (54, 57, "Function Instructions"),
    (59, 70, "Memory Instructions"),
    (71, 75, "Annotation Instructions"),
    (77, 84, "Composite Instructions"),
    (86, 107, "Image Instructions"),
    (109, 124, "Conversion Instructions"),
    (126, 152, "Arithmetic Instructions"),
    (154, 191, "Relational and Logical Instructions"),
    (194, 205, "Bit Instructions"),
    (224, 225, "Barrier Instructions"),
    (227, 242, "Atomic Instructions"),
    (245, 257, "Control-Flow Instructions"),
    (259, 271, "Group and Subgroup Instructions"),
    (274, 288, "Pipe Instructions"),
    (291, 304, "Device-Side Enqueue Instructions"),
    (305, 316, "Image Instructions"),
    (317, 317, "Debug Instructions"),
    (318, 319, "Atomic Instructions"),
    (320, 320, "Image Instructions"),
    (321, 321, "Miscellaneous Instructions"),
    (322, 322, "Type-Declaration Instructions"),
    (323, 324, "Pipe Instructions"),
    (325, 326, "Device-Side Enqueue Instructions"),
    (327, 327, "Type-Declaration Instructions"),
    (328, 329, "Barrier Instructions"),
    (330, 330, "Debug Instructions"),
    (331, 331, "Mode-Setting Instructions"),
    (332, 332, "Annotation Instructions"),
    (333, 366, "Non-Uniform Instructions"),
    (400, 400, "Composite Instructions"),
    (401, 403, "Memory Instructions"),
    (4417, 4417, "Type-Declaration Instructions"),
    (4418, 4434, "Memory Instructions"),
    (4450, 4455, "Arithmetic Instructions"),
];

/// The same for `OpenCL.std`.
const STD_FAMILIES: &[(u32, u32, &str)] = &[
    (0, 94, "Math extended instructions"),
    (95, 103, "Common instructions"),
    (104, 110, "Geometric instructions"),
    (141, 170, "Integer instructions"),
    (171, 181, "Vector Data Load and Store instructions"),
    (182, 183, "Miscellaneous Vector instructions"),
    (184, 185, "Misc instructions"),
    (186, 187, "Relational instructions"),
    (201, 204, "Integer instructions"),
];

fn family(families: &[(u32, u32, &'static str)], number: u32) -> Option<&'static str> {
    families
        .iter()
        .find(|(first, last, _)| (*first..=*last).contains(&number))
        .map(|(.., title)| *title)
}

impl Rule {
    /// The section that an instruction is described in, where the environment specification has
    /// nothing closer.
    pub fn of(op: Op) -> Rule {
        match op {
            Op::MemoryModel | Op::EntryPoint => VALIDATION,
            Op::ExtInstImport => Rule::Env("Extended Instruction Sets"),
            Op::TypeInt | Op::TypeFloat | Op::TypeVector => {
                Rule::Env("Basic Scalar and Vector Types")
            }
            Op::ExecutionMode | Op::ExecutionModeId => EXECUTION_MODES,
            op => Rule::Spirv(family(FAMILIES, op as u32).unwrap_or("Instructions")),
        }
    }

    /// The section that an instruction of `OpenCL.std` is described in.
    pub fn of_std(number: u32) -> Rule {
        match family(STD_FAMILIES, number) {
            Some(title) => Rule::Std(title),
            None => Rule::of(Op::ExtInst),
        }
    }
}

impl Diagnostic {
    /// The same refusal, by another rule than that of the instruction's section.
    pub(super) fn under(mut self, rule: Rule) -> Diagnostic {
        self.rule = Some(rule.to_string());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_sorted_and_apart() {
        for families in [FAMILIES, STD_FAMILIES] {
            assert!(families.iter().all(|(first, last, _)| first <= last));
            assert!(families.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }

    #[test]
    fn sections_by_instruction() {
        let title = |op| Rule::of(op).to_string();
        assert_eq!(
            title(Op::IAdd),
            "SPIR-V Specification, \"Arithmetic Instructions\""
        );
        assert_eq!(
            title(Op::MemoryModel),
            "OpenCL SPIR-V Environment Specification, \"Validation Rules\""
        );
        assert_eq!(
            Rule::of_std(23).to_string(),
            "OpenCL Extended Instruction Set Specification, \"Math extended instructions\""
        );
    }
}
