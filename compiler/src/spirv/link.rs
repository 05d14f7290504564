//! Linking: imported functions and variables become the ones that some module exports under the
//! same name.
//!
//! A name is exported once, or any number of times as `LinkOnceODR`, of which one definition stays.
//! A kernel may be called from another module too: an entry point whose function has no linkage of
//! its own exports it under the entry point's name. Errors name the symbol and the modules on both
//! sides, numbered from 0 in the order given.

use std::collections::HashMap;

use rspirv::spirv::{Decoration, LinkageType, Op, StorageClass};

use super::decode::{Id, Inst, Result};
use super::module::Unit;
use super::rules::LINKAGE;
use super::types::Kind;

/// A definition that other modules may use.
#[derive(Clone, Copy)]
struct Export {
    id: Id,
    kind: LinkageType,
    module: u32,
}

impl<'a> Unit<'a> {
    /// Fills in [`Unit::links`]. An import that nothing exports is refused where it is used, so
    /// that a library may declare more than its user needs.
    pub(super) fn link(&mut self, insts: &'a [Inst<'a>]) -> Result<()> {
        let mut exports: HashMap<String, Export> = HashMap::new();
        let mut imports: Vec<(Inst<'a>, Id, String)> = Vec::new();
        for inst in insts {
            let (Op::Function | Op::Variable | Op::UntypedVariableKHR, Some(id)) =
                (inst.op(), inst.result)
            else {
                continue;
            };
            // Built-in variables are declared as imports by some writers.
            if self.has_decoration(id, Decoration::BuiltIn) {
                continue;
            }
            let Some((name, kind)) = self.linkage(id) else {
                continue;
            };
            match LinkageType::from_u32(kind) {
                Some(LinkageType::Import) => imports.push((*inst, id, name)),
                Some(kind) => self.export(inst, id, kind, name, &mut exports)?,
                None => {
                    let message = format!("unknown linkage type {kind}");
                    return Err(self.error(inst, message).under(LINKAGE));
                }
            }
        }
        for entry in &self.entry_points {
            exports.entry(entry.name.clone()).or_insert(Export {
                id: entry.func,
                kind: LinkageType::Export,
                module: entry.inst.module,
            });
        }
        for (inst, id, name) in imports {
            let Some(&export) = exports.get(&name) else {
                continue;
            };
            if !self.is_compatible(id, export.id) {
                let message = format!(
                    "{name:?} is imported by module {} with another type than module {} exports it with",
                    inst.module, export.module
                );
                return Err(self.error(&inst, message).under(LINKAGE));
            }
            self.links.insert(id, export.id);
        }
        Ok(())
    }

    fn export(
        &mut self,
        inst: &Inst<'a>,
        id: Id,
        kind: LinkageType,
        name: String,
        exports: &mut HashMap<String, Export>,
    ) -> Result<()> {
        let export = Export {
            id,
            kind,
            module: inst.module,
        };
        let Some(first) = exports.get(&name).copied() else {
            exports.insert(name, export);
            return Ok(());
        };
        let modules = format!("by module {}, and by module {}", first.module, inst.module);
        // "Linkage Type": definitions with LinkOnceODR are all the same, and give way.
        let (stays, goes) = match (first.kind, kind) {
            (LinkageType::LinkOnceODR, LinkageType::Export) => (export, first),
            (_, LinkageType::LinkOnceODR) => (first, export),
            _ => {
                let message = format!("{name:?} is exported a second time: {modules}");
                return Err(self.error(inst, message).under(LINKAGE));
            }
        };
        if !self.is_compatible(goes.id, stays.id) {
            let message = format!("{name:?} is exported with two types: {modules}");
            return Err(self.error(inst, message).under(LINKAGE));
        }
        self.links.insert(goes.id, stays.id);
        exports.insert(name, stays);
        Ok(())
    }

    /// Whether what is declared as `a` can be what is defined as `b`.
    fn is_compatible(&self, a: Id, b: Id) -> bool {
        if let (Some(a), Some(b)) = (self.functions.get(&a), self.functions.get(&b)) {
            let params = a.params.iter().zip(&b.params);
            return self.same_type(a.result, b.result)
                && a.params.len() == b.params.len()
                && params.map(|(a, b)| (a.ty, b.ty)).all(|types| match types {
                    (Some(a), Some(b)) => self.same_type(a, b),
                    _ => false,
                });
        }
        match (self.variables.get(&a), self.variables.get(&b)) {
            (Some(a), Some(b)) => {
                a.class == b.class && self.is_compatible_object(a.pointee, b.pointee)
            }
            _ => false,
        }
    }

    /// Whether an object of type `b` can be declared to be of type `a`. Structures and arrays are
    /// compared by size alone: compilers define them as what the initialiser looks like, with
    /// padding spelled out, or the zeros at the end of an array apart. An array may also be
    /// declared without its length (`extern int table[];`), which clang 22 writes as a generic
    /// pointer.
    fn is_compatible_object(&self, a: Id, b: Id) -> bool {
        let (Some(a_info), Some(b_info)) = (&self.types[a as usize], &self.types[b as usize])
        else {
            return false;
        };
        let is_aggregate = |kind: &Kind| matches!(kind, Kind::Array { .. } | Kind::Struct { .. });
        match (&a_info.kind, &b_info.kind) {
            (a, b) if is_aggregate(a) && is_aggregate(b) => a_info.size <= b_info.size,
            (
                Kind::Pointer {
                    class: StorageClass::Generic,
                    ..
                },
                b,
            ) if is_aggregate(b) => true,
            _ => self.same_type(a, b),
        }
    }

    /// What to say of an import that nothing exports.
    pub(super) fn missing(&self, what: &str, name: &str, import: &Inst<'_>) -> String {
        match self.binary.module_count() {
            1 => format!("the {what} {name:?} is imported, but nothing exports it"),
            count => format!(
                "the {what} {name:?} is imported by module {}, but none of the {count} modules exports it",
                import.module
            ),
        }
    }

    /// What an id stands for after linking.
    pub(super) fn linked(&self, id: Id) -> Id {
        // Few steps: an import of a LinkOnceODR definition that gave way to others.
        let mut id = id;
        while let Some(&next) = self.links.get(&id) {
            id = next;
        }
        id
    }
}
