//! Calls: of functions, of overloads, of built-in functions.

use std::rc::Rc;

use super::convert::Goal;
use super::scope::Meaning;
use super::{Operand, Place, Sema};
use crate::ast;
use crate::builtins::{self, Argument, Environment, Lowering, Resolved, Unresolved};
use crate::hir::{ExprId, ExprKind};
use crate::symbol::Symbol;
use crate::token::{Loc, Span};
use crate::types::{Type, TypeId, Types};

/// Calls of one built-in function with other types of arguments that are remembered.
const MAX_KNOWN: usize = 32;

impl Sema<'_> {
    pub(super) fn call(
        &mut self,
        callee: ast::ExprId,
        args: &[ast::ExprId],
        span: Span,
        loc: Loc,
    ) -> Operand {
        let ast = self.ast;
        let mut named = callee;
        while let ast::ExprKind::Paren(inner) = ast[named].kind {
            named = inner;
        }
        let ast::ExprKind::Name(name) = ast[named].kind else {
            return self.call_value(callee, args, span, loc);
        };
        match self.scopes.lookup(name).map(|entry| entry.meaning) {
            Some(Meaning::Function(group)) => self.call_group(group, name, args, span, loc),
            Some(Meaning::Error) => {
                self.arguments(args);
                self.error(span)
            }
            Some(_) => self.call_value(callee, args, span, loc),
            None => {
                let text = self.text(name);
                if let Some(operand) = self.intrinsic(&text, args, span) {
                    return operand;
                }
                let operands = self.arguments(args);
                self.call_builtin(name, operands, ast[callee].span, span)
            }
        }
    }

    /// What is called is a value: a block, or nothing that can be called.
    fn call_value(
        &mut self,
        callee: ast::ExprId,
        args: &[ast::ExprId],
        span: Span,
        loc: Loc,
    ) -> Operand {
        let operand = self.expr(callee);
        if self.block_type(operand.ty.ty).is_some() {
            return self.call_block(operand, args, span, loc);
        }
        self.arguments(args);
        if !self.is_error(operand.ty.ty) {
            self.not_callable(operand);
        }
        self.error(span)
    }

    /// A call of a built-in function by its name.
    pub(super) fn call_plain(&mut self, name: Symbol, args: &[ast::ExprId], span: Span) -> Operand {
        let operands = self.arguments(args);
        self.call_builtin(name, operands, Span::at(span.first), span)
    }

    pub(super) fn call_plain_operands(
        &mut self,
        name: Symbol,
        operands: Vec<Operand>,
        span: Span,
    ) -> Operand {
        self.call_builtin(name, operands, Span::at(span.first), span)
    }

    fn not_callable(&mut self, operand: Operand) {
        let ty = self.quote(operand.ty);
        self.diags.error(
            operand.span,
            format!("called object type {ty} is not a function or function pointer"),
        );
    }

    pub(super) fn arguments(&mut self, args: &[ast::ExprId]) -> Vec<Operand> {
        args.iter()
            .map(|&arg| {
                let operand = self.expr(arg);
                let value = self.rvalue(operand);
                self.value(value, operand.span)
            })
            .collect()
    }

    fn call_group(
        &mut self,
        group: u32,
        name: Symbol,
        args: &[ast::ExprId],
        span: Span,
        loc: Loc,
    ) -> Operand {
        let operands = self.arguments(args);
        let members = self.groups[group as usize].members.clone();
        let overloadable = self.prototypes[members[0] as usize].overloadable;
        if !overloadable {
            return self.call_function(members[0], operands, span, loc);
        }
        if operands.iter().any(|operand| self.is_error(operand.ty.ty)) {
            return self.error(span);
        }
        let mut best: Option<(u32, u32, bool)> = None;
        for &index in &members {
            let Some(cost) = self.match_cost(index, &operands) else {
                continue;
            };
            best = match best {
                Some((_, least, _)) if cost > least => best,
                Some((index, least, _)) if cost == least => Some((index, least, true)),
                _ => Some((index, cost, false)),
            };
        }
        match best {
            Some((index, _, false)) => self.call_function(index, operands, span, loc),
            Some((.., true)) => {
                let text = self.text(name);
                self.diags
                    .error(span, format!("call to '{text}' is ambiguous"));
                self.error(span)
            }
            // The program may add overloads to a built-in function.
            None => self.call_builtin(name, operands, Span::at(span.first), span),
        }
    }

    /// How far the arguments are from the parameters; `None` if they do not fit.
    fn match_cost(&self, index: u32, operands: &[Operand]) -> Option<u32> {
        let ty = &self.prototypes[index as usize].ty;
        if ty.params.len() != operands.len() {
            return None;
        }
        let mut cost = 0;
        for (&param, operand) in ty.params.iter().zip(operands) {
            let is_null = match operand.place {
                Place::Value(id) => self.is_null_constant(id),
                _ => false,
            };
            cost += match self.distance(operand.ty.ty, param) {
                None if is_null && self.takes_null(param) => 100,
                distance => distance?,
            };
        }
        Some(cost)
    }

    fn takes_null(&self, ty: TypeId) -> bool {
        matches!(
            self.types.get(ty),
            Type::Pointer { .. } | Type::Event | Type::ClkEvent | Type::Queue | Type::ReserveId
        )
    }

    fn distance(&self, from: TypeId, to: TypeId) -> Option<u32> {
        use super::convert::{converts, promoted};
        if from == to {
            return Some(0);
        }
        match (self.types.as_arithmetic(from), self.types.as_arithmetic(to)) {
            (Some((a, 1)), Some((b, 1))) => {
                // `long long` is `long` for one that has overloads of OpenCL C's types alone.
                let is_same = promoted(a) == b || a.native() == b.native();
                return Some(if is_same { 1 } else { 100 });
            }
            (Some((_, 1)), Some(_)) => return Some(10_000),
            _ => {}
        }
        match (self.types.get(from), self.types.get(to)) {
            (
                Type::Pointer {
                    pointee: p,
                    space: s,
                },
                Type::Pointer {
                    pointee: q,
                    space: t,
                },
            ) if converts(*s, *t) => {
                let space = u32::from(s != t) * 2;
                if self.compatible_pointees(p.ty, q.ty) {
                    Some(1 + space)
                } else if q.ty == Types::VOID {
                    Some(100 + space)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    fn call_function(
        &mut self,
        index: u32,
        operands: Vec<Operand>,
        span: Span,
        loc: Loc,
    ) -> Operand {
        let prototype = &self.prototypes[index as usize];
        let (ty, declared, name) = (prototype.ty.clone(), prototype.loc, prototype.name);
        let first_param = prototype.param_names.first().copied();
        if !ty.unspecified && operands.len() != ty.params.len() {
            let text = self.text(name);
            let single = ty.params.len() == 1;
            let param = first_param.map_or(String::new(), |name| self.text(name));
            let (few, have, want) = (
                operands.len() < ty.params.len(),
                operands.len(),
                ty.params.len(),
            );
            let message = match (few, single) {
                (true, true) => format!(
                    "too few arguments to function call, single argument '{param}' was not \
                     specified"
                ),
                (true, false) => {
                    format!("too few arguments to function call, expected {want}, have {have}")
                }
                (false, true) => format!(
                    "too many arguments to function call, expected single argument '{param}', \
                     have {have} arguments"
                ),
                (false, false) => {
                    format!("too many arguments to function call, expected {want}, have {have}")
                }
            };
            self.diags
                .error(span, message)
                .note(declared, format!("'{text}' declared here"));
            return self.error(span);
        }
        let values: Vec<ExprId> = operands
            .into_iter()
            .zip(&ty.params)
            .map(|(operand, &param)| self.assignable(operand, param, Goal::Pass))
            .collect();
        if !self.in_function || self.unevaluated > 0 {
            let id = self.add(ExprKind::Undefined, ty.result.ty, loc);
            return self.value(id, span);
        }
        let function = self.function_id(index);
        if let Some(caller) = self.body.id {
            self.calls.push((caller, function, loc));
        }
        let id = self.add(ExprKind::Call(function, values), ty.result.ty, loc);
        self.value(id, span)
    }

    fn call_builtin(
        &mut self,
        name: Symbol,
        operands: Vec<Operand>,
        name_span: Span,
        span: Span,
    ) -> Operand {
        let text = self.text(name);
        let args: Vec<Argument> = operands
            .iter()
            .map(|operand| Argument {
                ty: operand.ty.ty,
                is_null_constant: match operand.place {
                    Place::Value(id) => self.is_null_constant(id),
                    _ => false,
                },
            })
            .collect();
        let wrong = operands.iter().any(|operand| self.is_error(operand.ty.ty));
        match self.resolve(name, &text, args) {
            Err(Unresolved::Unknown) if crate::pp::is_intrinsic(&text) => {
                let message = format!("wrong number of arguments to function '{text}'");
                self.diags.error(name_span, message);
                self.error(span)
            }
            Err(Unresolved::Unknown) => {
                let more = self.did_you_mean(&text, |sema| {
                    let declared = sema.scopes.names().map(|name| sema.text(name));
                    let builtins = builtins::names().map(str::to_owned);
                    builtins.chain(declared).collect()
                });
                let message = format!("use of undeclared identifier '{text}'{more}");
                self.diags.error(name_span, message);
                self.error(span)
            }
            Err(Unresolved::Unavailable(what)) => {
                self.diags.error(
                    name_span,
                    format!("use of undeclared identifier '{text}': {what}"),
                );
                self.error(span)
            }
            // The wrong argument was told already.
            Err(_) if wrong => self.error(span),
            Err(Unresolved::NoMatch(candidates)) => {
                self.no_match(
                    format!("no matching function for call to '{text}'"),
                    candidates,
                    name_span,
                );
                self.error(span)
            }
            Err(Unresolved::Ambiguous(candidates)) => {
                self.no_match(
                    format!("call to '{text}' is ambiguous"),
                    candidates,
                    name_span,
                );
                self.error(span)
            }
            Ok(resolved) => {
                if text == "printf" {
                    self.check_printf(&operands);
                }
                let Some(blocks) = self.block_arguments(resolved.lowering, &operands, span) else {
                    return self.error(span);
                };
                let mut values = Vec::new();
                for (at, operand) in operands.into_iter().enumerate() {
                    values.push(match resolved.params.get(at) {
                        Some(&param) => self.assignable(operand, param, Goal::Pass),
                        None => self.extra_argument(resolved.lowering, operand),
                    });
                }
                let call = builtins::Call {
                    lowering: resolved.lowering,
                    blocks,
                };
                let kind = ExprKind::Builtin(Box::new(call), values);
                let id = self.add(kind, resolved.result, span.first);
                self.value(id, span)
            }
        }
    }

    /// Which built-in function a call means; what was found once is not looked for again.
    fn resolve(
        &mut self,
        name: Symbol,
        text: &str,
        args: Vec<Argument>,
    ) -> Result<Rc<Resolved>, Unresolved> {
        let size = self.size_type();
        let known = self.resolved.entry(name).or_default();
        if let Some((_, resolved)) = known.iter().find(|(for_args, _)| *for_args == args) {
            return Ok(resolved.clone());
        }
        let environment = Environment {
            std: self.options.std,
            device: self.device,
        };
        let mut resolved = builtins::resolve(text, &args, &mut self.types, &environment)?;
        // What work-item functions give is of this type; no other of theirs has 64 bits.
        let is_place = matches!(
            resolved.lowering,
            Lowering::WorkItem { .. } | Lowering::Variable(_)
        );
        if is_place && resolved.result == Types::ULONG {
            resolved.result = size;
        }
        let resolved = Rc::new(resolved);
        if known.len() < MAX_KNOWN {
            known.push((args, resolved.clone()));
        }
        Ok(resolved)
    }

    fn no_match(&mut self, message: String, candidates: Vec<String>, at: Span) {
        let mut reported = self.diags.error(at, message);
        for candidate in candidates.into_iter().take(8) {
            reported = reported.note(at, format!("candidate function: {candidate}"));
        }
    }

    /// Default argument promotions, of `printf`'s arguments: `float` to `double` where there is
    /// that.
    pub(super) fn variadic(&mut self, operand: Operand) -> ExprId {
        use crate::types::Scalar;
        let value = self.rvalue(operand);
        match self.arithmetic_of(value) {
            Some((Scalar::Half | Scalar::Float, 1)) if self.has_fp64 => {
                self.arithmetic_as(value, Scalar::Double)
            }
            Some((Scalar::Half, 1)) => self.arithmetic_as(value, Scalar::Float),
            Some((_, 1)) => self.promote(value),
            _ => value,
        }
    }
}
