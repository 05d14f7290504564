//! Variables that the host may read and write by name (`cl_intel_global_variable_access`): those
//! decorated with `HostAccessINTEL`, and those that the module exports. They are part of the
//! program whether or not a kernel uses them.

use rspirv::spirv::{Decoration, LinkageType, StorageClass};

use super::decode::{Id, Result};
use super::module::Unit;
use super::module_builder::{ModuleBuilder, VariableStorage};
use crate::ir::HostName;
use crate::spirv::decode::literal_string;

/// `HostAccessQualifier`
const READ: u32 = 1;
const WRITE: u32 = 2;

/// What a variable is called: names that say what the host may do come before those that are
/// exported.
struct Named {
    name: String,
    id: Id,
    access: u32,
}

impl<'a> ModuleBuilder<'a> {
    /// Fills in [`crate::ir::Module::host_names`].
    pub(super) fn host_names(&mut self, unit: &Unit<'a>) -> Result<()> {
        let mut variables: Vec<Id> = unit.variables.keys().copied().collect();
        variables.retain(|&id| {
            unit.variables[&id].class == StorageClass::CrossWorkgroup && unit.linked(id) == id
        });
        variables.sort_unstable();
        let declared = variables.iter().filter_map(|&id| {
            let words = unit.decoration(id, Decoration::HostAccessINTEL)?;
            let (&access, name) = words.split_first()?;
            let name = literal_string(name)?;
            Some(Named { name, id, access })
        });
        let exported = variables.iter().filter_map(|&id| {
            let (name, kind) = unit.linkage(id)?;
            let kinds = [LinkageType::Export, LinkageType::LinkOnceODR];
            let is_exported = kinds.iter().any(|&exported| exported as u32 == kind);
            // A variable that says what the host may do says so for all its names.
            let declared = unit.decoration(id, Decoration::HostAccessINTEL);
            let access = declared.and_then(|words| words.first().copied());
            is_exported.then_some(Named {
                name,
                id,
                access: access.unwrap_or(READ | WRITE),
            })
        });
        let named: Vec<Named> = declared.chain(exported).collect();
        for Named { name, id, access } in named {
            let VariableStorage::Global(global) =
                self.variable(unit, &unit.variables[&id].inst, id)?
            else {
                continue;
            };
            self.module.host_names.push(HostName {
                name,
                global,
                is_readable: access & READ != 0,
                is_writable: access & WRITE != 0,
            });
        }
        Ok(())
    }
}
