//! Built-in functions as functions: a module that exports those that others import.
//!
//! A compiler leaves a call of a built-in function that it knows no instruction for to the linker:
//! the module imports the function by its linked name (`_Z9mem_fencej`), for some purposes by a
//! name of the compiler's own (`__to_local`). What a name means is what a call with arguments of
//! its types means, by the table of built-in functions.

use rustc_hash::FxHashSet;

use crate::builtins::{Argument, Call, Environment, Resolved, resolve};
use crate::diag::Diagnostics;
use crate::emit;
use crate::hir::{
    Access, Conversion, ExprId, ExprKind, Function, Linkage, Local, LocalId, Module, Stmt, StmtKind,
};
use crate::mangle::{Demangled, demangle};
use crate::options::{Device, Options, Std};
use crate::symbol::{Interner, Symbol, sym};
use crate::token::Loc;
use crate::types::{QualType, Space, Type, TypeId, Types};

#[cfg(test)]
mod tests;

/// A SPIR-V module that exports the functions of these linked names. Names that mean no function
/// of the device's, or one that nothing can be linked to (`printf`), are left out; `None` if there
/// are no others.
pub fn library(names: &[&str], device: &Device) -> Option<Vec<u32>> {
    // The newest version has the functions of all.
    let std = Std::C31;
    let env = Environment { std, device };
    let mut module = Module::default();
    let mut interner = Interner::new();
    let mut seen = FxHashSet::default();
    for linked in names {
        let symbol = interner.intern(linked);
        if !seen.insert(symbol) {
            continue;
        }
        let function = meaning(linked, &mut module.types, &env)
            .and_then(|meaning| meaning.function(symbol, &mut module.types));
        module.functions.extend(function);
    }
    if module.functions.is_empty() {
        return None;
    }
    let options = Options {
        std,
        ..Options::default()
    };
    let mut diags = Diagnostics::new(true, false);
    let words = emit::emit(module, &interner, None, (&options, device), &mut diags);
    (!diags.has_errors()).then_some(words)
}

/// What a linked name names, as source would: `max(float4, float4)`.
pub fn describe(linked: &str) -> Option<String> {
    let mut types = Types::new();
    let Demangled { name, params } = demangle(linked, &mut types)?;
    let interner = Interner::new();
    let name_of = |&param: &TypeId| types.name(param.into(), &interner);
    let params: Vec<String> = params.iter().map(name_of).collect();
    Some(format!("{name}({})", params.join(", ")))
}

/// A built-in function, and the types of arguments that it is imported with.
struct Meaning {
    params: Vec<TypeId>,
    resolved: Resolved,
}

fn meaning(linked: &str, types: &mut Types, env: &Environment<'_>) -> Option<Meaning> {
    let Demangled { name, params } = match own_name(linked) {
        Some(name) => {
            let pointer = types.pointer(Types::VOID.into(), Space::Generic);
            let params = vec![pointer];
            Demangled { name, params }
        }
        None => demangle(linked, types)?,
    };
    let argument = |&ty| Argument {
        ty,
        is_null_constant: false,
    };
    let args: Vec<Argument> = params.iter().map(argument).collect();
    let resolved = resolve(name, &args, types, env).ok()?;
    Some(Meaning { params, resolved })
}

/// The functions that clang calls by other names: OpenCL C Specification, "Address Space Qualifier
/// Functions".
fn own_name(linked: &str) -> Option<&'static str> {
    Some(match linked {
        "__to_global" => "to_global",
        "__to_local" => "to_local",
        "__to_private" => "to_private",
        _ => return None,
    })
}

impl Meaning {
    /// The function, which does nothing but call the built-in one.
    fn function(&self, name: Symbol, types: &mut Types) -> Option<Function> {
        let Resolved {
            params,
            variadic,
            result,
            lowering,
        } = &self.resolved;
        if *variadic {
            return None;
        }
        let mut function = Function::new(name, linked_result(*result));
        function.linkage = Linkage::Export;
        let target = (*result == Types::ND_RANGE).then(|| {
            let to_result = types.pointer((*result).into(), Space::Private);
            function.result = Types::VOID;
            parameter(&mut function, to_result, types)
        });
        let mut args = Vec::new();
        for (&given, &wanted) in self.params.iter().zip(params) {
            let value = parameter(&mut function, given, types);
            args.push(converted(&mut function, value, wanted, types)?);
        }
        let call = Call {
            lowering: *lowering,
            blocks: Vec::new(),
        };
        let call = ExprKind::Builtin(Box::new(call), args);
        let value = function.add(call, *result, Loc::default());
        let statements = match (target, *result) {
            (Some(pointer), _) => {
                let align = types.layout(*result).map_or(1, |(_, align)| align);
                let access = access(align);
                let store = ExprKind::Store {
                    pointer,
                    value,
                    access,
                };
                vec![StmtKind::Expr(function.add(
                    store,
                    Types::VOID,
                    Loc::default(),
                ))]
            }
            (None, Types::VOID) => vec![StmtKind::Expr(value)],
            (None, Types::BOOL) => {
                let truth = ExprKind::Convert(Conversion::ToTruth, value);
                let truth = function.add(truth, Types::TRUTH, Loc::default());
                vec![StmtKind::Return(Some(truth))]
            }
            (None, _) => vec![StmtKind::Return(Some(value))],
        };
        let loc = Loc::default();
        let statement = |kind| Stmt { kind, loc };
        function.body = Some(statements.into_iter().map(statement).collect());
        Some(function)
    }
}

/// What is `bool` in the source is a Boolean in a module.
fn linked_result(result: TypeId) -> TypeId {
    match result {
        Types::BOOL => Types::TRUTH,
        other => other,
    }
}

fn access(align: u64) -> Access {
    Access {
        is_volatile: false,
        nontemporal: false,
        align,
    }
}

/// Adds a parameter; its value.
fn parameter(function: &mut Function, ty: TypeId, types: &mut Types) -> ExprId {
    let loc = Loc::default();
    let align = types.layout(ty).map_or(1, |(_, align)| align);
    let local = LocalId(function.params);
    function.params += 1;
    function.locals.push(Local {
        name: sym::EMPTY,
        ty,
        align,
        is_volatile: false,
        is_mutable: false,
        is_restrict: false,
        is_const: false,
        loc,
    });
    let to_param = types.pointer(ty.into(), Space::Private);
    let pointer = function.add(ExprKind::Local(local), to_param, loc);
    let access = access(align);
    function.add(ExprKind::Load { pointer, access }, ty, loc)
}

/// The value as the built-in function takes it; `None` where that is not the same: the name is of a
/// function that there is not.
fn converted(
    function: &mut Function,
    value: ExprId,
    wanted: TypeId,
    types: &Types,
) -> Option<ExprId> {
    let given = function[value].ty;
    if given == wanted {
        return Some(value);
    }
    let conversion = match (types.get(given), types.get(wanted)) {
        (
            &Type::Pointer { pointee, space },
            &Type::Pointer {
                pointee: other,
                space: into,
            },
        ) if space == into && same_object(pointee, other) => Conversion::Pointer,
        // An enumeration, which is linked as `int`.
        (Type::Scalar(a), Type::Scalar(b))
            if a.is_integer() && b.is_integer() && a.bits() == b.bits() =>
        {
            return Some(value);
        }
        _ => return None,
    };
    let conversion = ExprKind::Convert(conversion, value);
    Some(function.add(conversion, wanted, Loc::default()))
}

/// Whether a pointer to the one may be one to the other, which is qualified in another way.
fn same_object(given: QualType, wanted: QualType) -> bool {
    given.ty == wanted.ty && (wanted.quals.is_const || !given.quals.is_const)
}
