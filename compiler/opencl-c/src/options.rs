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
    /// Variables without an initialiser are zero.
    pub zeroed_variables: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Define {
    Define(String),
    Undefine(String),
}

/// What the device can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// `__OPENCL_VERSION__`: 310 for 3.1.
    pub version: u32,
    /// `CL_DEVICE_EXTENSIONS`.
    pub extensions: Vec<String>,
    /// `CL_DEVICE_OPENCL_C_FEATURES`: `__opencl_c_...`.
    pub features: Vec<String>,
}

impl Device {
    /// Whether an extension or feature of this name is there.
    pub fn has(&self, name: &str) -> bool {
        let mut all = self.extensions.iter().chain(&self.features);
        all.any(|one| one == name)
    }
}
