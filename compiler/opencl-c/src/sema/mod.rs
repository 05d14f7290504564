//! Semantic analysis: a syntax tree in, the typed tree ([`crate::hir`]) out, errors and warnings on
//! the way.
//!
//! - `scope.rs`: what names mean
//! - `specs.rs`, `declarator.rs`, `attributes.rs`, `records.rs`: specifiers, declarators and
//!   attributes to types, layout of structures, enumerations
//! - `declare.rs`, `statics.rs`, `function.rs`, `kernel.rs`: variables, those of static storage,
//!   functions, rules and information of kernels
//! - `init/`: initialisers
//! - `expr.rs`: expressions; `unary.rs`, `binary.rs`, `pointers.rs`, `conditional.rs`, `assign.rs`,
//!   their operators; `member.rs`, `call.rs`, `intrinsics/`, `printf.rs`, the other kinds
//! - `convert.rs`: implicit and explicit conversions
//! - `stmt.rs`: statements
//! - `block.rs`: blocks
//! - `consteval.rs`: the value of constant expressions
//! - `names.rs`, `aliases.rs`: types as diagnostics write them
//!
//! What is wrong has the type `Error` from there on, with which everything is in order, so that
//! each mistake is told once. Trees may be deep: each recursion goes through `stacker`.
//!
//! Open [`analyze`] first, then `expr.rs`.

mod aliases;
mod assign;
mod attributes;
mod binary;
mod block;
mod call;
mod conditional;
mod consteval;
mod convert;
mod declarator;
mod declare;
mod expr;
mod function;
mod init;
mod intrinsics;
mod kernel;
mod member;
mod names;
mod pointers;
mod printf;
mod records;
mod scope;
mod specs;
mod statics;
mod stmt;
#[cfg(test)]
mod tests;
mod unary;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{self, Ast};
use crate::builtins::{Argument, Resolved};
use crate::diag::Diagnostics;
use crate::hir::{self, ExprId, ExprKind, GlobalId};
use crate::options::{Device, Options, Std};
use crate::symbol::{Interner, Symbol};
use crate::token::{InForce, Loc, Pragma, RoundingMode, Span, TokenStream};
use crate::types::{QualType, RecordId, Space, Type, TypeId, Types};
use aliases::Alias;
use function::{Body, Prototype};
use scope::Scopes;
use specs::Base;

/// Checks a translation unit and says what it means.
pub fn analyze(
    ast: &Ast,
    tokens: &TokenStream,
    interner: &mut Interner,
    options: &Options,
    device: &Device,
    diags: &mut Diagnostics,
) -> hir::Module {
    let mut sema = Sema {
        ast,
        interner,
        options,
        device,
        diags,
        types: Types::new(),
        module: hir::Module::default(),
        global_types: Vec::new(),
        scopes: Scopes::default(),
        groups: Vec::new(),
        suggestions: 0,
        prototypes: Vec::new(),
        resolved: FxHashMap::default(),
        calls: Vec::new(),
        bases: FxHashMap::default(),
        aliases: FxHashMap::default(),
        param_types: FxHashMap::default(),
        function_groups: FxHashMap::default(),
        unevaluated: 0,
        body: Body::new(Symbol::default(), Types::VOID.into()),
        outer: Vec::new(),
        in_function: false,
        open_records: Vec::new(),
        file_variables: FxHashMap::default(),
        literals: FxHashSet::default(),
        address_sized_typedefs: FxHashSet::default(),
        address_sized_records: FxHashSet::default(),
        is_static_initialiser: false,
        wants_address: false,
        roundings: &tokens.roundings,
        has_fp64: device.has("cl_khr_fp64") || device.has("__opencl_c_fp64"),
        half_enabled: false,
        has_generic: false,
        warned_of_long_long: false,
    };
    sema.disable_extensions();
    sema.has_generic = match options.std {
        Std::C20 => true,
        std => std >= Std::C30 && device.has("__opencl_c_generic_address_space"),
    };
    sema.translation_unit();
    sema.finish_tentative();
    sema.refuse_recursion();
    sema.module.types = sema.types;
    sema.module.roundings = tokens.roundings.clone();
    sema.module.contractions = tokens.contractions.clone();
    sema.module
}

/// Overloads of one name that calls with these arguments mean.
type Resolutions = Vec<(Vec<Argument>, Rc<Resolved>)>;

/// As often may a misspelled name be looked for.
const MAX_SUGGESTIONS: u32 = 50;

/// Functions of one name, by index in `prototypes`.
#[derive(Default)]
struct Group {
    members: Vec<u32>,
    /// The first of those that have these parameters.
    by_params: FxHashMap<Vec<TypeId>, u32>,
    /// Declared as `()`: one that has whatever parameters.
    unspecified: Option<u32>,
}

struct Sema<'a> {
    ast: &'a Ast,
    interner: &'a mut Interner,
    options: &'a Options,
    device: &'a Device,
    diags: &'a mut Diagnostics,
    types: Types,
    module: hir::Module,
    /// The qualified types of the module's variables.
    global_types: Vec<QualType>,
    scopes: Scopes,
    groups: Vec<Group>,
    prototypes: Vec<Prototype>,
    /// Calls of built-in functions that were looked up, by name: programs have few different ones.
    resolved: FxHashMap<Symbol, Resolutions>,
    /// Caller, callee and where, to find recursion.
    calls: Vec<(hir::FunctionId, hir::FunctionId, Loc)>,
    /// What each list of specifiers means: it is looked at once.
    bases: FxHashMap<ast::SpecId, Base>,
    /// By which names of types things are declared, by where these have their own.
    aliases: FxHashMap<Loc, Alias>,
    /// The types of parameters; each has specifiers of its own.
    param_types: FxHashMap<ast::SpecId, QualType>,
    /// The group of a function's name, declared in whatever scope: it is one function.
    function_groups: FxHashMap<Symbol, u32>,
    /// Inside operands that are not evaluated: what they call is not used.
    unevaluated: u32,
    /// The function being analysed; outside one, a place for expressions of constants.
    body: Body,
    /// Functions that wait for the end of a block in them, outermost first.
    outer: Vec<Body>,
    in_function: bool,
    /// Structures whose members are being looked at.
    open_records: Vec<RecordId>,
    /// Variables with linkage by name, from whatever scope they are declared.
    file_variables: FxHashMap<Symbol, GlobalId>,
    /// Compound literals of static storage.
    literals: FxHashSet<GlobalId>,
    /// Where typedefs of `size_t` and its kin are declared, and structures that have members of
    /// them: no kernel takes these as arguments.
    address_sized_typedefs: FxHashSet<Loc>,
    address_sized_records: FxHashSet<RecordId>,
    /// In the initialiser of an object of static storage: what it makes lives as long.
    is_static_initialiser: bool,
    /// The operand of `&`, a compound literal, is being looked at.
    wants_address: bool,
    roundings: &'a InForce<RoundingMode>,
    /// How often it was asked what a misspelled name may mean.
    suggestions: u32,
    has_fp64: bool,
    /// The program may use `half`.
    half_enabled: bool,
    has_generic: bool,
    /// Whether a program's first `long long` has been seen.
    warned_of_long_long: bool,
}

impl Sema<'_> {
    fn translation_unit(&mut self) {
        for item in &self.ast.items {
            if self.diags.too_many() {
                return;
            }
            match item {
                ast::Item::Declarations { specs, decls } => self.declarations(*specs, decls, None),
                ast::Item::Function { decl, body } => self.function(*decl, *body),
                ast::Item::StaticAssert(assert) => self.static_assert(assert),
                ast::Item::Pragma(pragma, _) => self.pragma(pragma),
            }
        }
    }

    fn pragma(&mut self, pragma: &Pragma) {
        let Pragma::Extension { name, enable } = pragma else {
            return;
        };
        match self.interner.text(*name) {
            "all" => self.disable_extensions(),
            "cl_khr_fp16" => self.half_enabled = *enable,
            _ => {}
        }
    }

    /// "The initial state of the compiler is as if the directive `#pragma OPENCL EXTENSION all :
    /// disable` was issued." Where an extension was enabled or not makes a difference for `half`
    /// alone, as in clang: sources use what other extensions declare, and `double` in OpenCL C 1.0
    /// and 1.1, without asking. OpenCL C Specification, "Preprocessor Directives for Optional
    /// Extensions".
    fn disable_extensions(&mut self) {
        self.half_enabled = false;
    }

    fn static_assert(&mut self, assert: &ast::StaticAssert) {
        let span = self.ast[assert.condition].span;
        let Some(value) = self.integer_constant(assert.condition) else {
            if !self.diags.has_errors() {
                self.diags.error(
                    span,
                    "static assertion expression is not an integral constant expression",
                );
            }
            return;
        };
        if value == 0 {
            let message = match assert.message.map(|message| &self.ast[message].kind) {
                Some(&ast::ExprKind::Str(text)) => {
                    let text = &self.ast[text];
                    format!("static assertion failed: {}", String::from_utf8_lossy(text))
                }
                _ => "static assertion failed".to_owned(),
            };
            self.diags.error(span, message);
        }
    }

    fn add(&mut self, kind: ExprKind, ty: TypeId, loc: Loc) -> ExprId {
        self.body.function.add(kind, ty, loc)
    }

    fn int_constant(&mut self, value: u64, ty: TypeId, loc: Loc) -> ExprId {
        self.add(ExprKind::Constant(hir::Constant::Int(value)), ty, loc)
    }

    fn kind_of(&self, id: ExprId) -> &ExprKind {
        &self.body.function[id].kind
    }

    fn type_of(&self, id: ExprId) -> TypeId {
        self.body.function[id].ty
    }

    /// The type between quotes.
    fn quote(&self, ty: impl Into<QualType>) -> String {
        let ty = ty.into();
        let name = self.types.name(ty, self.interner);
        match self.types.get(ty.ty) {
            Type::Vector(scalar, lanes) => {
                format!("'{name}' (vector of {lanes} '{}' values)", scalar.name())
            }
            _ => format!("'{name}'"),
        }
    }

    fn text(&self, name: Symbol) -> String {
        self.interner.text(name).to_owned()
    }

    /// Where pointers point that do not say. OpenCL C Specification, "Address Space Name Scope".
    fn default_pointee_space(&self) -> Space {
        if self.has_generic {
            Space::Generic
        } else {
            Space::Private
        }
    }

    fn is_error(&self, ty: TypeId) -> bool {
        ty == Types::ERROR
    }
}

/// What an expression is before it is used.
#[derive(Clone, Copy, Debug)]
struct Operand {
    place: Place,
    ty: QualType,
    span: Span,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Value(ExprId),
    /// An object: its address and what is known of its alignment.
    Object(ExprId, u64),
    /// Some components of a vector in memory.
    Lanes {
        address: ExprId,
        align: u64,
        vector: TypeId,
        lanes: Lanes,
    },
    /// A function, which is called and nothing else.
    Function,
}

/// Where a binary operator (or the `?` between two values) and its operands are: diagnostics have
/// the caret at the operator.
#[derive(Clone, Copy, Debug)]
struct Operator {
    loc: Loc,
    left: Span,
    right: Span,
}

impl Operator {
    fn between(left: Operand, right: Operand, loc: Loc) -> Operator {
        let (left, right) = (left.span, right.span);
        Operator { loc, left, right }
    }
}

/// Components in the order a swizzle names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lanes {
    list: [u8; 16],
    len: u8,
}

impl Lanes {
    fn as_slice(&self) -> &[u8] {
        &self.list[..self.len as usize]
    }
}
