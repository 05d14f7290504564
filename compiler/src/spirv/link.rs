//! Linking: imported functions and variables become the ones that some module exports under the same name.

use std::collections::HashMap;

use rspirv::spirv::{Decoration, LinkageType, Op};

use super::decode::{Id, Inst, Result};
use super::module::Unit;

impl<'a> Unit<'a> {
    /// Fills in [`Unit::links`]. An import that nothing exports is refused where it is used, so that a
    /// library may declare more than its user needs.
    pub(super) fn link(&mut self, insts: &'a [Inst<'a>]) -> Result<()> {
        const EXPORT: u32 = LinkageType::Export as u32;
        const IMPORT: u32 = LinkageType::Import as u32;
        const LINK_ONCE: u32 = LinkageType::LinkOnceODR as u32;
        let mut exports: HashMap<String, (Id, u32)> = HashMap::new();
        let mut imports: Vec<(Inst<'a>, Id, String)> = Vec::new();
        for inst in insts {
            let (Op::Function | Op::Variable, Some(id)) = (inst.op(), inst.result) else {
                continue;
            };
            // Built-in variables are declared as imports by some writers.
            if self.has_decoration(id, Decoration::BuiltIn) {
                continue;
            }
            let Some((name, kind)) = self.linkage(id) else {
                continue;
            };
            match kind {
                EXPORT | LINK_ONCE => match exports.get(&name).copied() {
                    None => {
                        exports.insert(name, (id, kind));
                    }
                    // "Linkage Type": definitions with LinkOnceODR are all the same, and give way.
                    Some((first, LINK_ONCE)) if kind == EXPORT => {
                        self.links.insert(first, id);
                        exports.insert(name, (id, kind));
                    }
                    Some((first, _)) if kind == LINK_ONCE => {
                        self.links.insert(id, first);
                    }
                    Some(_) => {
                        return Err(self.error(inst, format!("{name:?} is exported a second time")));
                    }
                },
                IMPORT => imports.push((*inst, id, name)),
                _ => return Err(self.error(inst, format!("unknown linkage type {kind}"))),
            }
        }
        for (inst, id, name) in imports {
            let Some(&(export, _)) = exports.get(&name) else {
                continue;
            };
            self.check_link(&inst, id, export, &name)?;
            self.links.insert(id, export);
        }
        Ok(())
    }

    fn check_link(&self, inst: &Inst<'a>, import: Id, export: Id, name: &str) -> Result<()> {
        let compatible = match (self.functions.get(&import), self.functions.get(&export)) {
            (Some(a), Some(b)) => {
                self.same_type(a.result, b.result)
                    && a.params.len() == b.params.len()
                    && a.params
                        .iter()
                        .zip(&b.params)
                        .all(|(a, b)| match (a.ty, b.ty) {
                            (Some(a), Some(b)) => self.same_type(a, b),
                            _ => false,
                        })
            }
            (None, None) => match (self.variables.get(&import), self.variables.get(&export)) {
                (Some(a), Some(b)) => a.class == b.class,
                _ => false,
            },
            _ => false,
        };
        if compatible {
            Ok(())
        } else {
            Err(self.error(
                inst,
                format!("{name:?} is imported with another type than it is exported with"),
            ))
        }
    }

    /// What an id stands for after linking.
    pub(super) fn linked(&self, id: Id) -> Id {
        // At most two steps: an import of a LinkOnceODR definition that gave way.
        let once = self.links.get(&id).copied().unwrap_or(id);
        self.links.get(&once).copied().unwrap_or(once)
    }
}
