//! Statements.

use super::convert::Goal;
use super::function::{Label, Switch};
use super::{Operand, Sema};
use crate::ast::{self, LoopHints, StmtId};
use crate::hir::{Case, ExprId, ExprKind, LabelId, Stmt, StmtKind};
use crate::symbol::Symbol;
use crate::token::{Loc, Span, Unroll};
use crate::types::Types;

impl Sema<'_> {
    /// A function's outermost block, which shares the parameters' scope.
    pub(super) fn function_body(&mut self, body: StmtId) -> Vec<Stmt> {
        let ast = self.ast;
        let mut into = Vec::new();
        if let ast::StmtKind::Block(all) = &ast[body].kind {
            for &one in all {
                self.stmt(one, &mut into);
            }
        }
        into
    }

    fn stmt(&mut self, id: StmtId, into: &mut Vec<Stmt>) {
        stacker::maybe_grow(128 << 10, 1 << 20, || self.stmt_kind(id, into));
    }

    /// A statement that has a block of its own.
    fn sub(&mut self, id: StmtId) -> Vec<Stmt> {
        let mut all = Vec::new();
        self.scopes.push();
        self.stmt(id, &mut all);
        self.scopes.pop();
        all
    }

    fn new_label(&mut self) -> LabelId {
        let id = LabelId(self.body.function.labels);
        self.body.function.labels += 1;
        id
    }

    fn stmt_kind(&mut self, id: StmtId, into: &mut Vec<Stmt>) {
        let ast = self.ast;
        let stmt = &ast[id];
        let loc = stmt.span.first;
        // "A selection statement is a block", and so is an iteration statement: what types in the
        // condition declare ends with it. C99, "Selection statements".
        let is_block = matches!(
            stmt.kind,
            ast::StmtKind::If { .. }
                | ast::StmtKind::While { .. }
                | ast::StmtKind::DoWhile { .. }
                | ast::StmtKind::Switch { .. }
        );
        if is_block {
            self.scopes.push();
        }
        let kind = match &stmt.kind {
            ast::StmtKind::Empty => return,
            ast::StmtKind::Expr(expr) => {
                let operand = self.expr(*expr);
                self.warn_unused(*expr, operand);
                StmtKind::Expr(self.effects_of(operand))
            }
            ast::StmtKind::Decl { specs, decls } => {
                return self.declarations(*specs, decls, Some(into));
            }
            ast::StmtKind::StaticAssert(assert) => return self.static_assert(assert),
            ast::StmtKind::Block(all) => {
                self.scopes.push();
                let mut inner = Vec::new();
                for &one in all {
                    self.stmt(one, &mut inner);
                }
                self.scopes.pop();
                StmtKind::Block(inner)
            }
            ast::StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let operand = self.expr(*condition);
                let condition = self.condition(operand);
                let then = self.sub(*then);
                let otherwise = otherwise.map_or(Vec::new(), |otherwise| self.sub(otherwise));
                StmtKind::If {
                    condition,
                    then,
                    otherwise,
                }
            }
            ast::StmtKind::While {
                condition,
                body,
                hints,
            } => {
                let operand = self.expr(*condition);
                let condition = Some(self.condition(operand));
                let unroll = self.unroll(hints);
                let body = self.loop_body(*body);
                StmtKind::Loop {
                    condition,
                    step: None,
                    body,
                    test_last: false,
                    unroll,
                }
            }
            ast::StmtKind::DoWhile {
                body,
                condition,
                hints,
            } => {
                let unroll = self.unroll(hints);
                let body = self.loop_body(*body);
                let operand = self.expr(*condition);
                let condition = Some(self.condition(operand));
                StmtKind::Loop {
                    condition,
                    step: None,
                    body,
                    test_last: true,
                    unroll,
                }
            }
            ast::StmtKind::For { .. } => return self.for_stmt(id, into),
            ast::StmtKind::Switch { value, body } => self.switch(*value, *body),
            ast::StmtKind::Case { low, high, body } => {
                return self.case(*low, *high, *body, loc, into);
            }
            ast::StmtKind::Default { body } => return self.default(*body, loc, into),
            ast::StmtKind::Break => {
                if self.body.breakable == 0 {
                    self.diags
                        .error(loc, "'break' statement not in loop or switch statement");
                    return;
                }
                StmtKind::Break
            }
            ast::StmtKind::Continue => {
                if self.body.loops == 0 {
                    self.diags
                        .error(loc, "'continue' statement not in loop statement");
                    return;
                }
                StmtKind::Continue
            }
            ast::StmtKind::Return(value) => self.return_stmt(*value, stmt.span),
            ast::StmtKind::Goto(name, loc) => StmtKind::Goto(self.label(*name, *loc, false)),
            ast::StmtKind::Label { name, body, .. } => {
                let label = self.label(*name, loc, true);
                into.push(Stmt {
                    kind: StmtKind::Label(label),
                    loc,
                });
                return self.stmt(*body, into);
            }
            ast::StmtKind::Pragma(pragma) => return self.pragma(pragma),
        };
        if is_block {
            self.scopes.pop();
        }
        into.push(Stmt { kind, loc });
    }

    fn loop_body(&mut self, body: StmtId) -> Vec<Stmt> {
        self.body.loops += 1;
        self.body.breakable += 1;
        let body = self.sub(body);
        self.body.loops -= 1;
        self.body.breakable -= 1;
        body
    }

    fn unroll(&mut self, hints: &LoopHints) -> Option<Unroll> {
        let Some(count) = hints.unroll_count else {
            return hints.unroll;
        };
        let span = self.ast[count].span;
        match self.integer_constant(count) {
            Some(0) => Some(Unroll::Enable),
            Some(1) => Some(Unroll::Disable),
            Some(count) if (count as i64) > 0 => Some(Unroll::Count(count.min(1 << 20) as u32)),
            _ => {
                self.diags.error(
                    span,
                    "'opencl_unroll_hint' attribute requires a positive integral compile time \
                     constant expression",
                );
                None
            }
        }
    }

    fn for_stmt(&mut self, id: StmtId, into: &mut Vec<Stmt>) {
        let ast = self.ast;
        let ast::StmtKind::For {
            init,
            condition,
            step,
            body,
            hints,
        } = &ast[id].kind
        else {
            return;
        };
        let loc = ast[id].span.first;
        self.scopes.push();
        let mut all = Vec::new();
        if let Some(init) = init {
            self.stmt(*init, &mut all);
        }
        let condition = condition.map(|condition| {
            let operand = self.expr(condition);
            self.condition(operand)
        });
        let step = step.map(|step| {
            let operand = self.expr(step);
            self.effects_of(operand)
        });
        let unroll = self.unroll(hints);
        let body = self.loop_body(*body);
        self.scopes.pop();
        let kind = StmtKind::Loop {
            condition,
            step,
            body,
            test_last: false,
            unroll,
        };
        all.push(Stmt { kind, loc });
        into.push(Stmt {
            kind: StmtKind::Block(all),
            loc,
        });
    }

    fn switch(&mut self, value: ast::ExprId, body: StmtId) -> StmtKind {
        let span = self.ast[value].span;
        let operand = self.expr(value);
        let value = self.rvalue(operand);
        let value = self.promote(value);
        let mut ty = self.type_of(value);
        if !matches!(self.types.as_arithmetic(ty), Some((s, 1)) if s.is_integer()) {
            if !self.is_error(ty) {
                let name = self.quote(ty);
                self.diags.error(
                    span,
                    format!("statement requires expression of integer type ({name} invalid)"),
                );
            }
            ty = Types::INT;
        }
        self.body.switches.push(Switch {
            ty,
            cases: Vec::new(),
            default: None,
        });
        self.body.breakable += 1;
        let body = self.sub(body);
        self.body.breakable -= 1;
        let switch = self.body.switches.pop().expect("pushed above");
        self.check_duplicates(&switch);
        StmtKind::Switch {
            value,
            cases: switch.cases.into_iter().map(|(case, _)| case).collect(),
            default: switch.default,
            body,
        }
    }

    fn check_duplicates(&mut self, switch: &Switch) {
        let signed = matches!(self.types.as_arithmetic(switch.ty), Some((s, _)) if s.is_signed());
        // Signed numbers in order, too.
        let key = |bits: u64| if signed { bits ^ 1 << 63 } else { bits };
        let mut sorted: Vec<&(Case, Loc)> = switch.cases.iter().collect();
        sorted.sort_by_key(|(case, _)| key(case.low));
        for pair in sorted.windows(2) {
            let ((before, first), (after, second)) = (pair[0], pair[1]);
            if key(after.low) <= key(before.high) {
                let value = if signed {
                    (after.low as i64).to_string()
                } else {
                    after.low.to_string()
                };
                self.diags
                    .error(*second, format!("duplicate case value '{value}'"))
                    .note(*first, "previous case defined here");
            }
        }
    }

    fn case_value(&mut self, expr: ast::ExprId) -> Option<u64> {
        let ty = self.body.switches.last()?.ty;
        let span = self.ast[expr].span;
        let operand = self.expr(expr);
        let value = self.rvalue(operand);
        if self.is_error(self.type_of(value)) {
            return None;
        }
        let Some(bits) = self.eval_integer(value) else {
            self.diags
                .error(span, "expression is not an integer constant expression");
            return None;
        };
        let (scalar, _) = self.types.as_arithmetic(ty)?;
        Some(super::consteval::wrap(bits, scalar))
    }

    fn case(
        &mut self,
        low: ast::ExprId,
        high: Option<ast::ExprId>,
        body: StmtId,
        loc: Loc,
        into: &mut Vec<Stmt>,
    ) {
        if self.body.switches.is_empty() {
            self.diags
                .error(loc, "'case' statement not in switch statement");
            return self.stmt(body, into);
        }
        let low = self.case_value(low);
        let high = match high {
            Some(high) => self.case_value(high),
            None => low,
        };
        if let (Some(low), Some(high)) = (low, high) {
            let label = self.new_label();
            let case = Case { low, high, label };
            let switch = self.body.switches.last_mut().expect("checked above");
            switch.cases.push((case, loc));
            into.push(Stmt {
                kind: StmtKind::Label(label),
                loc,
            });
        }
        self.stmt(body, into);
    }

    fn default(&mut self, body: StmtId, loc: Loc, into: &mut Vec<Stmt>) {
        let label = self.new_label();
        match self.body.switches.last_mut() {
            None => {
                self.diags
                    .error(loc, "'default' statement not in switch statement");
            }
            Some(switch) if switch.default.is_some() => {
                self.diags
                    .error(loc, "multiple default labels in one switch");
            }
            Some(switch) => {
                switch.default = Some(label);
                into.push(Stmt {
                    kind: StmtKind::Label(label),
                    loc,
                });
            }
        }
        self.stmt(body, into);
    }

    fn return_stmt(&mut self, value: Option<ast::ExprId>, span: Span) -> StmtKind {
        if self.body.block.is_some() {
            return self.block_return(value, span);
        }
        let result = self.body.result.ty;
        let name = self.text(self.body.function.name);
        match value {
            None => {
                if result != Types::VOID && !self.is_error(result) {
                    self.diags.error(
                        span,
                        format!("non-void function '{name}' should return a value"),
                    );
                }
                StmtKind::Return(None)
            }
            Some(value) => {
                let operand = self.expr(value);
                if result == Types::VOID {
                    let value = self.rvalue(operand);
                    if self.type_of(value) != Types::VOID && !self.is_error(self.type_of(value)) {
                        self.diags.error(
                            operand.span,
                            format!("void function '{name}' should not return a value"),
                        );
                    }
                    return StmtKind::Expr(value);
                }
                StmtKind::Return(Some(self.assignable(operand, result, Goal::Return)))
            }
        }
    }

    /// In a block, whose result may be what the first `return` says.
    fn block_return(&mut self, value: Option<ast::ExprId>, span: Span) -> StmtKind {
        let operand = value.map(|value| self.expr(value));
        let found = match operand {
            Some(operand) => {
                let value = self.rvalue(operand);
                Some((value, self.type_of(value)))
            }
            None => None,
        };
        let ty = found.map_or(Types::VOID, |(_, ty)| ty);
        let declared = self.body.result.ty;
        let block = self.body.block.as_mut().expect("the caller looked");
        let first = !std::mem::replace(&mut block.returned, true);
        if block.deduces && first {
            self.body.result = ty.into();
            self.body.function.result = ty;
        } else if block.deduces && ty != declared && !self.is_error(ty) {
            let (new, old) = (self.quote(ty), self.quote(declared));
            self.diags.error(
                span,
                format!(
                    "return type {new} must match previous return type {old} when block literal \
                     has unspecified explicit return type"
                ),
            );
            return StmtKind::Return(None);
        }
        let result = self.body.result.ty;
        match (found, operand) {
            (Some((value, _)), Some(operand)) if result != Types::VOID => {
                let value = self.assign_value(value, operand.span, result, Goal::Return);
                StmtKind::Return(Some(value))
            }
            (Some((value, ty)), _) => {
                if ty != Types::VOID && !self.is_error(ty) {
                    self.diags
                        .error(span, "void block should not return a value");
                }
                StmtKind::Expr(value)
            }
            (None, _) => {
                if result != Types::VOID && !self.is_error(result) {
                    self.diags
                        .error(span, "non-void block should return a value");
                }
                StmtKind::Return(None)
            }
        }
    }

    fn label(&mut self, name: Symbol, loc: Loc, defines: bool) -> LabelId {
        if let Some(label) = self.body.labels.get_mut(&name) {
            let (id, before, again) = (label.id, label.loc, label.defined && defines);
            label.defined |= defines;
            if again {
                let text = self.text(name);
                self.diags
                    .error(loc, format!("redefinition of label '{text}'"))
                    .note(before, "previous definition is here");
            }
            return id;
        }
        let id = self.new_label();
        let label = Label {
            id,
            defined: defines,
            loc,
        };
        self.body.labels.insert(name, label);
        id
    }

    /// Every label that is used must be there.
    pub(super) fn check_labels(&mut self) {
        let mut missing: Vec<(Loc, Symbol)> = self
            .body
            .labels
            .iter()
            .filter(|(_, label)| !label.defined)
            .map(|(&name, label)| (label.loc, name))
            .collect();
        missing.sort();
        for (loc, name) in missing {
            let text = self.text(name);
            self.diags
                .error(loc, format!("use of undeclared label '{text}'"));
        }
    }

    /// `({ ... })`: the value of the last statement, if that is an expression.
    pub(super) fn statement_expr(&mut self, body: StmtId, span: Span) -> Operand {
        let ast = self.ast;
        let ast::StmtKind::Block(all) = &ast[body].kind else {
            return self.error(span);
        };
        if !self.in_function {
            self.diags
                .error(span, "statement expression not allowed at file scope");
            return self.error(span);
        }
        self.scopes.push();
        let mut into = Vec::new();
        let mut value: Option<ExprId> = None;
        for (at, &one) in all.iter().enumerate() {
            match ast[one].kind {
                ast::StmtKind::Expr(expr) if at + 1 == all.len() => {
                    let operand = self.expr(expr);
                    value = Some(self.rvalue(operand));
                }
                _ => self.stmt(one, &mut into),
            }
        }
        self.scopes.pop();
        let ty = value.map_or(Types::VOID, |value| self.type_of(value));
        let id = self.add(ExprKind::Statements(into, value), ty, span.first);
        self.value(id, span)
    }

    fn warn_unused(&mut self, expr: ast::ExprId, operand: Operand) {
        let ast = self.ast;
        if operand.ty.ty == Types::VOID || self.is_error(operand.ty.ty) {
            return;
        }
        let mut at = expr;
        let mut message = "expression result unused";
        loop {
            match &ast[at].kind {
                ast::ExprKind::Paren(inner) => at = *inner,
                ast::ExprKind::Comma(_, right) => at = *right,
                ast::ExprKind::Binary(op, ..) => {
                    use ast::BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
                    message = match op {
                        Eq => "equality comparison result unused",
                        Ne => "inequality comparison result unused",
                        Lt | Gt | Le | Ge => "relational comparison result unused",
                        _ => message,
                    };
                    break;
                }
                ast::ExprKind::Unary(op, _)
                    if !matches!(
                        op,
                        ast::UnaryOp::PreInc
                            | ast::UnaryOp::PreDec
                            | ast::UnaryOp::PostInc
                            | ast::UnaryOp::PostDec
                            | ast::UnaryOp::Extension
                    ) =>
                {
                    break;
                }
                ast::ExprKind::Name(_)
                | ast::ExprKind::Number(_)
                | ast::ExprKind::Index(..)
                | ast::ExprKind::Member { .. }
                | ast::ExprKind::Cast(..) => break,
                _ => return,
            }
        }
        if !operand.ty.quals.is_volatile {
            self.diags.warning("unused-value", ast[at].span, message);
        }
    }
}

/// Whether control may reach the end of the statements.
pub(super) fn falls_through(all: &[Stmt]) -> bool {
    let mut reachable = true;
    for stmt in all {
        if let StmtKind::Label(_) = stmt.kind {
            reachable = true;
        }
        if reachable {
            reachable = passes(&stmt.kind);
        }
    }
    reachable
}

fn passes(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue => false,
        StmtKind::Block(all) => falls_through(all),
        StmtKind::If {
            then, otherwise, ..
        } => falls_through(then) || falls_through(otherwise),
        StmtKind::Loop {
            condition: None,
            body,
            ..
        } => leaves(body),
        StmtKind::Switch { default, body, .. } => {
            default.is_none() || falls_through(body) || leaves(body)
        }
        _ => true,
    }
}

/// Whether a `break` of the statement around is among these.
fn leaves(all: &[Stmt]) -> bool {
    all.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(all) => leaves(all),
        StmtKind::If {
            then, otherwise, ..
        } => leaves(then) || leaves(otherwise),
        _ => false,
    })
}
