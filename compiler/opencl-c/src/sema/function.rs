//! Functions: prototypes, overloads, definitions, recursion.

use rustc_hash::FxHashMap;

use super::attributes::Subject;
use super::block::BlockBody;
use super::scope::Meaning;
use super::{Group, Sema};
use crate::ast::{self, Chunk, DeclId, Storage};
use crate::hir::{self, FunctionId, Inline, LabelId, Linkage, LocalId};
use crate::mangle::mangle;
use crate::symbol::Symbol;
use crate::token::{Loc, Span};
use crate::types::{FunctionType, QualType, Type, TypeId, Types};

/// A declared function.
#[derive(Debug)]
pub(super) struct Prototype {
    pub name: Symbol,
    pub ty: FunctionType,
    pub overloadable: bool,
    pub is_static: bool,
    pub is_inline: bool,
    pub is_kernel: bool,
    pub defined: bool,
    pub noreturn: bool,
    pub inline: Inline,
    pub is_pure: bool,
    pub is_const: bool,
    pub param_names: Vec<Symbol>,
    pub loc: Loc,
    /// In the module, once it is defined or called.
    pub id: Option<FunctionId>,
}

/// The function in the making.
#[derive(Debug)]
pub(super) struct Body {
    pub function: hir::Function,
    pub id: Option<FunctionId>,
    /// Qualified types of the locals.
    pub types: Vec<QualType>,
    pub result: QualType,
    pub is_kernel: bool,
    pub labels: FxHashMap<Symbol, Label>,
    /// Enclosing `switch` statements, innermost last.
    pub switches: Vec<Switch>,
    pub loops: u32,
    /// What `break` leaves: loops and `switch` statements around.
    pub breakable: u32,
    /// The depth of the scopes around it.
    pub base: u32,
    /// What the body of a block has besides.
    pub block: Option<BlockBody>,
    /// How many blocks were made in it.
    pub blocks: u32,
    /// The functions that variables of block type stand for.
    pub known_blocks: FxHashMap<LocalId, FunctionId>,
    /// The values of `const` integers, where they are known.
    pub constants: FxHashMap<LocalId, hir::Constant>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub id: LabelId,
    pub defined: bool,
    pub loc: Loc,
}

#[derive(Debug)]
pub(super) struct Switch {
    pub ty: TypeId,
    pub cases: Vec<(hir::Case, Loc)>,
    pub default: Option<LabelId>,
}

impl Body {
    pub fn new(name: Symbol, result: QualType) -> Body {
        Body {
            function: hir::Function::new(name, result.ty),
            id: None,
            types: Vec::new(),
            result,
            is_kernel: false,
            labels: FxHashMap::default(),
            switches: Vec::new(),
            loops: 0,
            breakable: 0,
            base: 0,
            block: None,
            blocks: 0,
            known_blocks: FxHashMap::default(),
            constants: FxHashMap::default(),
        }
    }
}

impl Sema<'_> {
    /// Declares a function (again); its prototype's index, or `None` where an error was told.
    pub(super) fn declare_function(
        &mut self,
        specs: ast::SpecId,
        declarator: &ast::Declarator,
        ty: FunctionType,
    ) -> Option<u32> {
        let ast = self.ast;
        let specs = &ast[specs];
        let (name, loc) = declarator.name?;
        let has = |sema: &Self, wanted: &str| {
            sema.has_attribute(&specs.attributes, wanted)
                || sema.has_attribute(&declarator.attributes, wanted)
        };
        let subject = match specs.kernel {
            Some(_) => Subject::Kernel,
            None => Subject::Function(loc),
        };
        self.check_attributes(&specs.attributes, subject);
        self.check_attributes(&declarator.attributes, subject);
        let storage = |wanted| specs.storage.iter().any(|&(storage, _)| storage == wanted);
        let inline = if has(self, "always_inline") {
            Inline::Always
        } else if has(self, "noinline") {
            Inline::Never
        } else {
            Inline::Default
        };
        let param_names = match declarator.chunks.first() {
            Some(Chunk::Function { params, .. }) => params
                .iter()
                .map(|param| {
                    param
                        .declarator
                        .name
                        .map_or(Symbol::default(), |(name, _)| name)
                })
                .collect(),
            _ => Vec::new(),
        };
        let new = Prototype {
            name,
            ty,
            overloadable: has(self, "overloadable"),
            is_static: storage(Storage::Static),
            is_inline: specs.inline.is_some() && !storage(Storage::Extern),
            is_kernel: specs.kernel.is_some(),
            defined: false,
            noreturn: specs.noreturn.is_some() || has(self, "noreturn"),
            inline,
            is_pure: has(self, "pure"),
            is_const: has(self, "const"),
            param_names,
            loc,
            id: None,
        };
        let group = match self.scopes.lookup(name) {
            Some(entry) => match entry.meaning {
                Meaning::Function(group) => Some(group),
                Meaning::Error => None,
                _ if entry.depth < self.scopes.depth() => None,
                _ => {
                    let text = self.text(name);
                    self.diags
                        .error(
                            loc,
                            format!("redefinition of '{text}' as different kind of symbol"),
                        )
                        .note(entry.loc, "previous definition is here");
                    return None;
                }
            },
            None => None,
        };
        let elsewhere = self.function_groups.get(&name).copied();
        let Some(group) = group else {
            if let Some(group) = elsewhere {
                self.scopes.declare(name, Meaning::Function(group), loc);
                return self.redeclare(group, new);
            }
            let index = self.prototypes.len() as u32;
            self.prototypes.push(new);
            let group = self.groups.len() as u32;
            self.groups.push(Group::default());
            self.add_overload(group, index);
            self.function_groups.insert(name, group);
            self.scopes.declare(name, Meaning::Function(group), loc);
            return Some(index);
        };
        self.redeclare(group, new)
    }

    fn redeclare(&mut self, group: u32, new: Prototype) -> Option<u32> {
        let of_name = &self.groups[group as usize];
        let first = of_name.members[0];
        let same = match new.ty.unspecified {
            true => Some(first),
            false => of_name.by_params.get(&new.ty.params).copied(),
        };
        if let Some(index) = same.or(of_name.unspecified) {
            let old = &mut self.prototypes[index as usize];
            if old.ty.result != new.ty.result {
                let (text, before) = (self.interner.text(new.name), old.loc);
                self.diags
                    .error(new.loc, format!("conflicting types for '{text}'"))
                    .note(before, "previous declaration is here");
                return None;
            }
            old.is_static |= new.is_static;
            old.is_inline |= new.is_inline;
            old.is_kernel |= new.is_kernel;
            old.is_pure |= new.is_pure;
            old.is_const |= new.is_const;
            if new.inline != Inline::Default {
                old.inline = new.inline;
            }
            if old.ty.unspecified {
                old.ty = new.ty;
                self.groups[group as usize].unspecified = None;
                self.know_parameters(group, index);
            }
            return Some(index);
        }
        let first = &self.prototypes[first as usize];
        if !new.overloadable && !first.overloadable {
            let (text, before) = (self.interner.text(new.name), first.loc);
            self.diags
                .error(new.loc, format!("conflicting types for '{text}'"))
                .note(before, "previous declaration is here");
            return None;
        }
        let index = self.prototypes.len() as u32;
        self.prototypes.push(new);
        self.add_overload(group, index);
        Some(index)
    }

    fn add_overload(&mut self, group: u32, index: u32) {
        self.groups[group as usize].members.push(index);
        self.know_parameters(group, index);
    }

    fn know_parameters(&mut self, group: u32, index: u32) {
        let ty = &self.prototypes[index as usize].ty;
        let group = &mut self.groups[group as usize];
        if ty.unspecified {
            group.unspecified.get_or_insert(index);
        } else {
            group.by_params.entry(ty.params.clone()).or_insert(index);
        }
    }

    /// The function in the module.
    pub(super) fn function_id(&mut self, index: u32) -> FunctionId {
        let prototype = &self.prototypes[index as usize];
        if let Some(id) = prototype.id {
            return id;
        }
        let id = FunctionId(self.module.functions.len() as u32);
        let name = self.linked_name(index);
        let prototype = &mut self.prototypes[index as usize];
        prototype.id = Some(id);
        let mut function = Body::new(name, prototype.ty.result).function;
        function.params = prototype.ty.params.len() as u32;
        function.linkage = Linkage::Import;
        function.inline = prototype.inline;
        function.is_pure = prototype.is_pure;
        function.is_const = prototype.is_const;
        function.loc = prototype.loc;
        for (at, &ty) in prototype.ty.params.iter().enumerate() {
            let name = prototype.param_names.get(at).copied().unwrap_or_default();
            let align = self.types.layout(ty).map_or(1, |(_, align)| align);
            function.locals.push(hir::Local {
                name,
                ty,
                align,
                is_volatile: false,
                is_mutable: false,
                is_restrict: false,
                is_const: false,
                loc: prototype.loc,
            });
        }
        self.module.functions.push(function);
        id
    }

    /// Overloads need names of their own: the parameters' types are part of them.
    fn linked_name(&mut self, index: u32) -> Symbol {
        let prototype = &self.prototypes[index as usize];
        if !prototype.overloadable {
            return prototype.name;
        }
        let name = self.interner.text(prototype.name);
        let text = mangle(name, &prototype.ty.params, &self.types, self.interner);
        self.interner.intern(&text)
    }

    pub(super) fn new_local(
        &mut self,
        name: Symbol,
        ty: QualType,
        align: u64,
        loc: Loc,
    ) -> LocalId {
        let id = LocalId(self.body.function.locals.len() as u32);
        self.body.function.locals.push(hir::Local {
            name,
            ty: ty.ty,
            align,
            is_volatile: ty.quals.is_volatile,
            is_mutable: false,
            is_restrict: ty.quals.is_restrict,
            is_const: ty.quals.is_const,
            loc,
        });
        self.body.types.push(ty);
        id
    }

    /// A function with its body.
    pub(super) fn function(&mut self, decl: DeclId, body: ast::StmtId) {
        let ast = self.ast;
        let declaration = &ast[decl];
        let declarator = &declaration.declarator;
        let base = self.base(declaration.specs);
        self.check_storage(declaration.specs);
        let (ty, _) = self.declarator(base, declarator);
        let Type::Function(ty) = self.types.get(ty.ty).clone() else {
            return;
        };
        let Some(index) = self.declare_function(declaration.specs, declarator, ty.clone()) else {
            return;
        };
        let prototype = &mut self.prototypes[index as usize];
        if prototype.defined {
            let (text, before) = (self.interner.text(prototype.name), prototype.loc);
            self.diags
                .error(declarator.span, format!("redefinition of '{text}'"))
                .note(before, "previous definition is here");
            return;
        }
        prototype.defined = true;
        prototype.ty = ty.clone();
        let is_kernel = prototype.is_kernel;
        let (noreturn, linkage) = (
            prototype.noreturn,
            if prototype.is_kernel {
                Linkage::Export
            } else if prototype.is_static || prototype.is_inline {
                Linkage::Internal
            } else {
                Linkage::Export
            },
        );
        let id = self.function_id(index);
        let result = ty.result;
        if result.ty != Types::VOID && self.types.layout(result.ty).is_none() {
            let name = self.quote(result);
            self.diags.error(
                declarator.span,
                format!("incomplete result type {name} in function definition"),
            );
        }
        let mut new = Body::new(self.module.functions[id.0 as usize].name, result);
        new.id = Some(id);
        new.is_kernel = is_kernel;
        // Programs have about so many expressions for a token.
        let Span { first, last } = ast[body].span;
        let tokens = (last.0 - first.0) as usize;
        new.function.exprs.reserve(tokens * 3 / 4);
        let stub = &self.module.functions[id.0 as usize];
        new.function.inline = stub.inline;
        new.function.is_pure = stub.is_pure;
        new.function.is_const = stub.is_const;
        new.function.loc = declarator.name.map_or(Loc::default(), |(_, loc)| loc);
        new.function.linkage = linkage;
        let outer = std::mem::replace(&mut self.body, new);
        self.in_function = true;
        self.scopes.push();
        self.params(declarator);
        if is_kernel {
            self.kernel(declaration, declarator, &ty);
        }
        let statements = self.function_body(body);
        self.scopes.pop();
        self.check_labels();
        if result.ty != Types::VOID && !noreturn && super::stmt::falls_through(&statements) {
            self.diags.warning(
                "return-type",
                ast[body].span.last,
                "non-void function does not return a value",
            );
        }
        self.body.function.body = Some(statements);
        self.in_function = false;
        let done = std::mem::replace(&mut self.body, outer);
        self.module.functions[id.0 as usize] = done.function;
    }

    pub(super) fn params(&mut self, declarator: &ast::Declarator) {
        let Some(Chunk::Function { params, .. }) = declarator.chunks.first() else {
            return;
        };
        for param in params {
            let ty = self.param_type(param);
            if ty.ty == Types::VOID && param.declarator.name.is_none() {
                continue;
            }
            let (name, loc) = param
                .declarator
                .name
                .unwrap_or((Symbol::default(), param.declarator.span.first));
            let align = match self.types.layout_of(ty) {
                Some((_, align)) => align,
                None => {
                    let name = self.quote(ty);
                    self.diags
                        .error(loc, format!("variable has incomplete type {name}"));
                    1
                }
            };
            let id = self.new_local(name, ty, align, loc);
            self.body.function.params += 1;
            if name == Symbol::default() {
                continue;
            }
            if let Some(before) = self.scopes.lookup_here(name) {
                let text = self.text(name);
                self.diags
                    .error(loc, format!("redefinition of parameter '{text}'"))
                    .note(before.loc, "previous declaration is here");
            }
            self.scopes.declare(name, Meaning::Local(id), loc);
        }
    }

    /// "Recursion is not supported." OpenCL C Specification, "Restrictions".
    pub(super) fn refuse_recursion(&mut self) {
        let count = self.module.functions.len();
        let mut callees: Vec<Vec<(usize, Loc)>> = vec![Vec::new(); count];
        for &(caller, callee, loc) in &self.calls {
            callees[caller.0 as usize].push((callee.0 as usize, loc));
        }
        // 0: not seen, 1: being looked at, 2: done.
        let mut state = vec![0u8; count];
        for root in 0..count {
            if state[root] != 0 {
                continue;
            }
            state[root] = 1;
            let mut stack = vec![(root, 0)];
            while let Some((at, next)) = stack.pop() {
                let Some(&(callee, loc)) = callees[at].get(next) else {
                    state[at] = 2;
                    continue;
                };
                stack.push((at, next + 1));
                match state[callee] {
                    0 => {
                        state[callee] = 1;
                        stack.push((callee, 0));
                    }
                    1 => {
                        let name = self.interner.text(self.module.functions[callee].name);
                        self.diags.error(
                            loc,
                            format!(
                                "recursive call of '{name}': recursion is not supported in OpenCL"
                            ),
                        );
                    }
                    _ => {}
                }
            }
        }
    }
}
