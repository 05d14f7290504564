//! Declarations of variables and `typedef`s, in and outside functions.

use super::attributes::Subject;
use super::convert::Goal;
use super::kernel::is_address_sized_name;
use super::scope::Meaning;
use super::{Operand, Place, Sema};
use crate::ast::{self, DeclId, SpecId, Storage, TypeSpec};
use crate::hir::{ExprKind, Stmt, StmtKind};
use crate::options::Std;
use crate::parse::is_language_type;
use crate::symbol::Symbol;
use crate::token::Loc;
use crate::types::{FunctionType, QualType, Space, Type, Types};

impl Sema<'_> {
    /// Declarations that share specifiers. In a function, `into` gets what is to be done when they
    /// are reached.
    pub(super) fn declarations(
        &mut self,
        specs: SpecId,
        decls: &[DeclId],
        mut into: Option<&mut Vec<Stmt>>,
    ) {
        let ast = self.ast;
        let base = self.base(specs);
        self.check_storage(specs);
        if decls.is_empty() {
            let spec = &ast[specs];
            if !matches!(spec.ty, TypeSpec::Record(_) | TypeSpec::Enum(_)) {
                self.diags.warning(
                    "missing-declarations",
                    spec.span,
                    "declaration does not declare anything",
                );
            }
            return;
        }
        for &id in decls {
            let declaration = &ast[id];
            let Some((name, loc)) = declaration.declarator.name else {
                continue;
            };
            let (mut ty, space) = self.declarator(base, &declaration.declarator);
            let is = |wanted| {
                ast[specs]
                    .storage
                    .iter()
                    .any(|&(storage, _)| storage == wanted)
            };
            if is(Storage::Typedef) {
                let aligned = (&ast[specs].attributes, &declaration.declarator.attributes);
                let ty = self.aligned_type(ty, aligned.0, aligned.1);
                self.declare_typedef(name, ty, space, loc);
                let is_plain = declaration.declarator.chunks.is_empty();
                if is_address_sized_name(self.interner.text(name))
                    || is_plain && self.is_address_sized(specs)
                {
                    self.address_sized_typedefs.insert(loc);
                }
                continue;
            }
            if let Type::Function(function) = self.types.get(ty.ty).clone() {
                if function.variadic {
                    self.check_printf_prototype(name, &function, loc);
                    continue;
                }
                self.declare_function(specs, &declaration.declarator, function);
                continue;
            }
            if base.is_auto {
                match declaration.init.map(|init| &ast[init].kind) {
                    Some(&ast::InitKind::Expr(expr)) => {
                        let operand = self.unevaluated(expr);
                        let value = self.rvalue(operand);
                        ty.ty = self.type_of(value);
                    }
                    _ => {
                        let text = self.text(name);
                        self.diags.error(
                            loc,
                            format!(
                                "declaration of variable '{text}' with deduced type \
                             '__auto_type' requires an initializer"
                            ),
                        );
                        ty.ty = Types::ERROR;
                    }
                }
            }
            self.variable(declaration, name, loc, ty, space, into.as_deref_mut());
        }
    }

    /// `printf` may be declared as what it is, which then is the built-in function all the same.
    fn check_printf_prototype(&mut self, name: Symbol, function: &FunctionType, loc: Loc) {
        if self.interner.text(name) != "printf" {
            return;
        }
        let takes_format = match function.params.as_slice() {
            &[format] => matches!(
                self.types.get(format),
                Type::Pointer { pointee, space: Space::Constant } if pointee.ty == Types::CHAR
            ),
            _ => false,
        };
        if function.result.ty != Types::INT || !takes_format {
            self.diags.error(loc, "conflicting types for 'printf'");
        }
    }

    fn declare_typedef(&mut self, name: Symbol, ty: QualType, space: Option<Space>, loc: Loc) {
        if let Some(before) = self.scopes.lookup_here(name) {
            let same =
                matches!(before.meaning, Meaning::Typedef(old, s) if old == ty && s == space);
            if !same {
                let (text, new) = (self.text(name), self.quote(ty));
                let message = match before.meaning {
                    Meaning::Typedef(old, _) => format!(
                        "typedef redefinition with different types ({new} vs {})",
                        self.quote(old)
                    ),
                    _ => format!("redefinition of '{text}' as different kind of symbol"),
                };
                self.diags
                    .error(loc, message)
                    .note(before.loc, "previous definition is here");
            }
        } else if self.scopes.depth() == 0 {
            self.check_language_type(name, ty, loc);
        }
        match *self.types.get(ty.ty) {
            Type::Record(id) => {
                let record = &mut self.types.records[id.0 as usize];
                record.typedef_name.get_or_insert(name);
            }
            Type::Enum(id) => {
                let of = &mut self.types.enums[id.0 as usize];
                of.typedef_name.get_or_insert(name);
            }
            _ => {}
        }
        self.scopes.declare(name, Meaning::Typedef(ty, space), loc);
    }

    /// The language's own types are declared outside of everything: another of the name is a
    /// redefinition.
    fn check_language_type(&mut self, name: Symbol, ty: QualType, loc: Loc) {
        let text = self.text(name);
        if !is_language_type(&text, self.options.std) || self.is_error(ty.ty) {
            return;
        }
        if let Some(own) = self.builtin_type(&text, None)
            && own != ty.ty
        {
            let (new, old) = (self.quote(ty), self.quote(own));
            self.diags.error(
                loc,
                format!("typedef redefinition with different types ({new} vs {old})"),
            );
        }
    }

    fn variable(
        &mut self,
        declaration: &ast::Declaration,
        name: Symbol,
        loc: Loc,
        ty: QualType,
        space: Option<Space>,
        into: Option<&mut Vec<Stmt>>,
    ) {
        let ast = self.ast;
        let specs = &ast[declaration.specs];
        let is = |wanted| specs.storage.iter().any(|&(storage, _)| storage == wanted);
        let is_extern = is(Storage::Extern);
        let in_function = into.is_some();
        self.check_no_function(declaration.specs);
        self.check_attributes(&specs.attributes, Subject::Variable);
        self.check_attributes(&declaration.declarator.attributes, Subject::Variable);
        let ty = self.check_variable(ty, is_extern, loc);
        if let Type::Block(_) = self.types.get(ty.ty) {
            self.check_block_variable(is_extern, declaration.init.is_some(), loc);
        }
        // `static` and `constant` variables of functions live as long as those outside.
        let space = match space {
            Some(Space::Generic) => {
                self.diags.error(
                    loc,
                    "variable may not be qualified with the generic address space",
                );
                Space::Private
            }
            Some(space) => space,
            None if !in_function || is(Storage::Static) || is_extern => {
                if ty.ty == Types::SAMPLER && ty.quals.is_const {
                    Space::Constant
                } else {
                    Space::Global
                }
            }
            None => Space::Private,
        };
        let is_atomic = matches!(self.types.get(ty.ty), Type::Atomic(_));
        if is_atomic && declaration.init.is_some() && space != Space::Global {
            self.diags.error(
                loc,
                "atomic variable can be initialized to a variable only in global address space",
            );
        }
        let align = self
            .aligned(&declaration.declarator.attributes)
            .max(self.aligned(&specs.attributes))
            .max(self.alignas(specs));
        if in_function && is(Storage::Static) && self.options.std < Std::C20 {
            self.diags
                .error(loc, "variables in function scope cannot be declared static");
        }
        if in_function && space == Space::Private {
            if is(Storage::Static) {
                self.diags.error(
                    loc,
                    "static local variable must reside in global or constant address space",
                );
            }
            if is_extern {
                self.diags.error(
                    loc,
                    "extern variable must reside in global or constant address space",
                );
            }
            let into = into.expect("in a function");
            return self.automatic(declaration, name, loc, ty, align, into);
        }
        let storage = (is_extern, is(Storage::Static));
        self.static_variable(
            declaration,
            (name, loc),
            ty,
            (space, align),
            storage,
            in_function,
        );
    }

    /// What `_Alignas` asks for: of 0 it is nothing.
    pub(super) fn alignas(&mut self, specs: &ast::DeclSpecs) -> Option<u64> {
        let mut align = None;
        for one in &specs.alignas {
            let asked = match *one {
                ast::AlignAs::Expr(expr) => match self.integer_constant(expr) {
                    Some(0) => None,
                    value => self.asked_alignment(value, self.ast[expr].span),
                },
                ast::AlignAs::Type(name) => {
                    let ty = self.type_name(name).0;
                    self.types.layout_of(ty).map(|(_, align)| align)
                }
            };
            align = align.max(asked);
        }
        align
    }

    fn check_variable(&mut self, ty: QualType, is_extern: bool, loc: Loc) -> QualType {
        let quoted = self.quote(ty);
        let message = match self.types.get(ty.ty) {
            Type::Void => format!("variable has incomplete type {quoted}"),
            Type::Record(_) if self.types.layout(ty.ty).is_none() && !is_extern => {
                format!("variable has incomplete type {quoted}")
            }
            _ if self.is_disabled_half(ty.ty) => {
                format!("declaring variable of type {quoted} is not allowed")
            }
            Type::Image { .. } | Type::Pipe { .. } => {
                format!("type {quoted} can only be used as a function parameter in OpenCL")
            }
            _ => return ty,
        };
        self.diags.error(loc, message);
        Types::ERROR.into()
    }

    /// A variable of automatic storage.
    fn automatic(
        &mut self,
        declaration: &ast::Declaration,
        name: Symbol,
        loc: Loc,
        mut ty: QualType,
        align: Option<u64>,
        into: &mut Vec<Stmt>,
    ) {
        if let Some(init) = declaration.init {
            ty.ty = self.complete_array(ty.ty, init);
        }
        if matches!(self.types.get(ty.ty), Type::Array { len: None, .. }) {
            self.diags.error(
                loc,
                "definition of variable with array type needs an explicit size or an initializer",
            );
            ty = Types::ERROR.into();
        }
        let natural = self.types.layout_of(ty).map_or(1, |(_, align)| align);
        let align = natural.max(align.unwrap_or(1));
        let id = self.new_local(name, ty, align, loc);
        self.check_redefinition(name, loc);
        self.scopes.declare(name, Meaning::Local(id), loc);
        into.push(Stmt {
            kind: StmtKind::Declare(id),
            loc,
        });
        let Some(init) = declaration.init else {
            return;
        };
        let pointer = self.types.pointer(ty.ty.into(), Space::Private);
        let address = self.add(ExprKind::Local(id), pointer, loc);
        self.initialise(address, ty, align, init, into);
    }

    pub(super) fn check_redefinition(&mut self, name: Symbol, loc: Loc) {
        if let Some(before) = self.scopes.lookup_here(name)
            && !matches!(before.meaning, Meaning::Error)
        {
            let text = self.text(name);
            self.diags
                .error(loc, format!("redefinition of '{text}'"))
                .note(before.loc, "previous definition is here");
        }
    }

    /// OpenCL C Specification, "Storage-Class Specifiers".
    pub(super) fn check_storage(&mut self, specs: SpecId) {
        let ast = self.ast;
        let version = self.options.std.number();
        for &(storage, loc) in &ast[specs].storage {
            let name = match storage {
                Storage::Auto => "auto",
                Storage::Register => "register",
                Storage::Extern if self.options.std < Std::C12 => "extern",
                Storage::Static if self.options.std < Std::C12 => "static",
                _ => continue,
            };
            self.diags.error(
                loc,
                format!(
                    "OpenCL C version {}.{} does not support the '{name}' storage class specifier",
                    version / 100,
                    version / 10 % 10
                ),
            );
        }
    }

    /// An initialiser of an object of automatic storage: stores, into `into`.
    pub(super) fn initialise(
        &mut self,
        address: crate::hir::ExprId,
        ty: QualType,
        align: u64,
        init: ast::InitId,
        into: &mut Vec<Stmt>,
    ) {
        let ast = self.ast;
        let loc = ast[init].span.first;
        if self.is_error(ty.ty) {
            self.visit_initialiser(init);
            return;
        }
        let is_aggregate = matches!(self.types.get(ty.ty), Type::Array { .. });
        if let ast::InitKind::Expr(expr) = ast[init].kind
            && !is_aggregate
        {
            let operand = self.expr(expr);
            let at = self.body.function[address].loc;
            let goal = Goal::Init(Some(at), self.alias_of(address));
            let value = self.assignable(operand, ty.ty, goal);
            if let ExprKind::Local(local) = *self.kind_of(address) {
                self.note_block(local, value);
                self.note_constant(local, ty, value);
            }
            let to = Operand {
                place: Place::Object(address, align),
                ty,
                span: operand.span,
            };
            return self.push_store(to, value, loc, into);
        }
        self.initialise_aggregate(address, ty, align, init, into);
    }
}
