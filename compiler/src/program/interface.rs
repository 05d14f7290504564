//! What a host asks of a program that is no code: kernels, their arguments, variables.

use serde::{Deserialize, Serialize};

use super::local_mem_size;
use crate::diagnostic::Diagnostic;
use crate::ir::{FuncId, Global, HostName, KernelRole, Module};
use crate::kernel_info::KernelInfo;
use crate::launch::SUB_GROUP_SIZES;

/// A program without its functions.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Interface {
    /// In the order of the modules' entry points.
    pub kernels: Vec<KernelInfo>,
    /// Who launches each, and its function.
    pub roles: Vec<(KernelRole, FuncId)>,
    /// Module-scope objects, in the order of their ids.
    pub globals: Vec<Global>,
    /// Globals that the host may read or write by name.
    pub host_names: Vec<HostName>,
    /// What was wrong with the modules, and as what it was taken: lines for a build log.
    pub warnings: Vec<String>,
}

impl Interface {
    /// Of a module; an error says what of it cannot be had.
    pub fn new(module: &Module) -> Result<Interface, Diagnostic> {
        let kernels = module.kernels.iter().map(|kernel| {
            let mut info = kernel.info.clone();
            info.local_mem_size = local_mem_size(module, kernel.func);
            match info.required_sub_group_size {
                Some(size) if !SUB_GROUP_SIZES.contains(&size) => Err(Diagnostic::new(format!(
                    "the kernel {:?} requires sub-groups of {size} work-items; there are those of \
                     {SUB_GROUP_SIZES:?}",
                    info.name
                ))),
                _ => Ok(info),
            }
        });
        let roles = module
            .kernels
            .iter()
            .map(|kernel| (kernel.role, kernel.func));
        Ok(Interface {
            kernels: kernels.collect::<Result<_, _>>()?,
            roles: roles.collect(),
            globals: module.globals.values().cloned().collect(),
            host_names: module.host_names.clone(),
            warnings: module.warnings.clone(),
        })
    }
}
