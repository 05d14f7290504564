//! Variables of static storage: where they may be, declarations of one variable, what they begin
//! with.

use super::Sema;
use super::scope::Meaning;
use crate::ast;
use crate::hir::{Global, Linkage};
use crate::options::Std;
use crate::symbol::Symbol;
use crate::token::Loc;
use crate::types::{QualType, Space, Type, Types};

impl Sema<'_> {
    /// A variable of static storage, in any address space but private.
    pub(super) fn static_variable(
        &mut self,
        declaration: &ast::Declaration,
        (name, loc): (Symbol, Loc),
        mut ty: QualType,
        (space, align): (Space, Option<u64>),
        (is_extern, is_static): (bool, bool),
        in_function: bool,
    ) {
        if !self.check_sampler(ty, space, loc) {
            self.check_space(
                ty,
                space,
                in_function,
                (is_extern, is_static),
                declaration.init.is_some(),
                loc,
            );
        }
        let previous = match self.scopes.lookup_here(name).map(|entry| entry.meaning) {
            Some(Meaning::Global(id)) if !in_function || is_extern => Some(id),
            // "The declaration refers to the same object". C99, "Linkages of identifiers".
            _ if is_extern => self.file_variables.get(&name).copied(),
            _ => None,
        };
        if let Some(id) = previous {
            let before = self.module.globals[id.0 as usize].ty;
            if compatible_arrays(&self.types, before, ty.ty) && self.types.layout(ty.ty).is_none() {
                ty.ty = before;
            }
        }
        if let Some(init) = declaration.init {
            ty.ty = self.complete_array(ty.ty, init);
        }
        let natural = match *self.types.get(ty.ty) {
            Type::Array { element, len: None } => {
                if in_function && !is_extern {
                    self.diags.error(
                        loc,
                        "definition of variable with array type needs an explicit size or an \
                         initializer",
                    );
                }
                self.types.layout_of(element).map_or(1, |(_, align)| align)
            }
            _ => self.types.layout_of(ty).map_or(1, |(_, align)| align),
        };
        let linkage = if is_extern && declaration.init.is_none() {
            Linkage::Import
        } else if is_static || in_function || space == Space::Local {
            Linkage::Internal
        } else {
            Linkage::Export
        };
        if previous.is_none() {
            self.check_redefinition(name, loc);
        }
        let global = Global {
            name,
            ty: ty.ty,
            space,
            is_const: ty.quals.is_const || space == Space::Constant,
            is_volatile: ty.quals.is_volatile,
            align: natural.max(align.unwrap_or(1)),
            init: None,
            linkage,
            loc,
        };
        let id = match previous {
            Some(id) => {
                self.merge_global(id, global, declaration.init.is_some());
                id
            }
            None => self.add_global(global, ty),
        };
        if !in_function || is_extern {
            self.file_variables.insert(name, id);
        }
        self.scopes.declare(name, Meaning::Global(id), loc);
        if let Some(init) = declaration.init {
            if space == Space::Local {
                self.diags
                    .error(loc, "'__local' variable cannot have an initializer");
                return;
            }
            let value = self.constant_initialiser(ty.ty, init);
            self.module.globals[id.0 as usize].init = value;
        }
    }

    /// A variable declared again: the definition counts.
    fn merge_global(&mut self, id: crate::hir::GlobalId, new: Global, has_init: bool) {
        let old = &mut self.module.globals[id.0 as usize];
        if old.space != new.space || !compatible_arrays(&self.types, old.ty, new.ty) {
            let (text, before, at) = (self.interner.text(new.name).to_owned(), old.loc, new.loc);
            self.diags
                .error(
                    at,
                    format!("redefinition of '{text}' with a different type"),
                )
                .note(before, "previous definition is here");
            return;
        }
        if has_init && old.init.is_some() {
            let (text, before, at) = (self.interner.text(new.name).to_owned(), old.loc, new.loc);
            self.diags
                .error(at, format!("redefinition of '{text}'"))
                .note(before, "previous definition is here");
            return;
        }
        self.global_types[id.0 as usize].ty = new.ty;
        if new.linkage == Linkage::Import {
            old.ty = new.ty;
        } else {
            let init = old.init.take();
            *old = Global { init, ..new };
        }
    }

    /// "If the composite type of the object is an incomplete array, it has one element." C99,
    /// "External object definitions".
    pub(super) fn finish_tentative(&mut self) {
        for at in 0..self.module.globals.len() {
            let global = &self.module.globals[at];
            let Type::Array { element, len: None } = *self.types.get(global.ty) else {
                continue;
            };
            if global.linkage == Linkage::Import {
                continue;
            }
            self.diags.warning(
                "tentative-definition-array",
                global.loc,
                "tentative array definition assumed to have one element",
            );
            let len = Some(1);
            self.module.globals[at].ty = self.types.intern(Type::Array { element, len });
        }
    }

    fn check_space(
        &mut self,
        ty: QualType,
        space: Space,
        in_function: bool,
        (is_extern, is_static): (bool, bool),
        has_init: bool,
        loc: Loc,
    ) {
        if self.is_error(ty.ty) {
            return;
        }
        if !in_function
            && matches!(
                self.types.get(ty.ty),
                Type::Event | Type::ClkEvent | Type::Queue | Type::ReserveId
            )
        {
            let message = format!(
                "the {} type cannot be used to declare a program scope variable",
                self.quote(ty)
            );
            self.diags.error(loc, message);
            return;
        }
        let message = match space {
            Space::Local if is_extern => {
                "extern variable must reside in global or constant address space"
            }
            Space::Global if in_function && !is_extern && !is_static => {
                "function scope variable cannot be declared in global address space"
            }
            // "Variables in the program scope or the outermost scope of kernel functions can be
            // qualified with `__constant`", before OpenCL C 2.0.
            Space::Constant
                if in_function
                    && !is_extern
                    && !is_static
                    && !self.body.is_kernel
                    && self.options.std < Std::C20 =>
            {
                "non-kernel function variable cannot be declared in constant address space"
            }
            Space::Constant if !has_init && !is_extern => {
                "variable in constant address space must be initialized"
            }
            Space::Local if !in_function => {
                "program scope variable must reside in global or constant address space"
            }
            Space::Private => {
                "program scope variable must reside in global or constant address space"
            }
            Space::Local if !self.body.is_kernel => {
                "non-kernel function variable cannot be declared in local address space"
            }
            Space::Local if self.scopes.depth() > self.body.base + 1 => {
                "variables in the local address space can only be declared in the outermost \
                 scope of a kernel function"
            }
            Space::Global if !self.has_program_scope() => {
                if in_function {
                    "static local variable must reside in constant address space"
                } else {
                    "program scope variable must reside in constant address space"
                }
            }
            _ => return,
        };
        self.diags.error(loc, message);
    }

    /// OpenCL C Specification, "Declaring and Initializing Samplers"; whether it told an error.
    fn check_sampler(&mut self, ty: QualType, space: Space, loc: Loc) -> bool {
        if ty.ty != Types::SAMPLER {
            return false;
        }
        let message = match space {
            Space::Global if !ty.quals.is_const => {
                "global sampler requires a const or constant address space qualifier"
            }
            Space::Local | Space::Global => {
                "sampler type cannot be used with the __local and __global address space qualifiers"
            }
            _ => return false,
        };
        self.diags.error(loc, message);
        true
    }

    pub(super) fn has_program_scope(&self) -> bool {
        match self.options.std {
            Std::C20 => true,
            std => std >= Std::C30 && self.device.has("__opencl_c_program_scope_global_variables"),
        }
    }
}

fn compatible_arrays(
    types: &crate::types::Types,
    a: crate::types::TypeId,
    b: crate::types::TypeId,
) -> bool {
    match (types.get(a), types.get(b)) {
        (Type::Array { element: x, len: m }, Type::Array { element: y, len: n }) => {
            x.ty == y.ty && (m == n || m.is_none() || n.is_none())
        }
        _ => a == b,
    }
}
