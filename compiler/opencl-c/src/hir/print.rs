//! The typed tree as text, for tests: expressions in prefix form, statements by indentation.

use std::fmt::Write;

use super::{ExprId, ExprKind, Function, Module, Stmt, StmtKind};
use crate::symbol::Interner;
use crate::types::{Type, TypeId};

/// The module as text.
pub fn print(module: &Module, interner: &Interner) -> String {
    let mut out = String::new();
    for (at, global) in module.globals.iter().enumerate() {
        let _ = writeln!(
            out,
            "@{at} {} {:?} {}: {:?} {:?} align {}",
            interner.text(global.name),
            global.space,
            module.types.name(global.ty.into(), interner),
            global.linkage,
            global.init,
            global.align,
        );
    }
    for (at, function) in module.functions.iter().enumerate() {
        let mut printer = Printer {
            module,
            function,
            interner,
            out: &mut out,
        };
        printer.function(at);
    }
    out
}

struct Printer<'a> {
    module: &'a Module,
    function: &'a Function,
    interner: &'a Interner,
    out: &'a mut String,
}

impl Printer<'_> {
    fn name(&self, ty: TypeId) -> String {
        self.module.types.name(ty.into(), self.interner)
    }

    fn function(&mut self, at: usize) {
        let function = self.function;
        let word = if function.kernel.is_some() {
            "kernel"
        } else {
            "function"
        };
        let _ = write!(
            self.out,
            "{word} f{at} {} {:?}: {}",
            self.interner.text(function.name),
            function.linkage,
            self.name(function.result),
        );
        for (at, local) in function.locals.iter().enumerate() {
            let word = if at < function.params as usize {
                "param"
            } else {
                "local"
            };
            let _ = write!(
                self.out,
                "\n  {word} %{at} {}: {}",
                self.interner.text(local.name),
                self.name(local.ty)
            );
            if local.is_mutable {
                self.out.push_str(" mutable");
            }
        }
        for arg in function.kernel.iter().flat_map(|kernel| &kernel.args) {
            let _ = write!(self.out, "\n  arg {}: {}", arg.type_name, arg.qualifiers);
        }
        if let Some(Type::Record(record)) = function.block.map(|ty| self.module.types.get(ty)) {
            let record = &self.module.types.records[record.0 as usize];
            let fields = record.fields.iter().flatten();
            let fields: Vec<String> = fields
                .map(|field| format!("{}@{}", self.name(field.ty.ty), field.offset))
                .collect();
            let _ = write!(self.out, "\n  captures {}", fields.join(", "));
        }
        self.out.push('\n');
        if let Some(body) = &function.body {
            self.stmts(body, 1);
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", depth * 2);
    }

    fn stmts(&mut self, all: &[Stmt], depth: usize) {
        for stmt in all {
            self.stmt(stmt, depth);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) {
        match &stmt.kind {
            StmtKind::Expr(id) => {
                let text = self.expr(*id);
                self.line(depth, &text);
            }
            StmtKind::Declare(local) => self.line(depth, &format!("declare %{}", local.0)),
            StmtKind::Block(all) => {
                self.line(depth, "block");
                self.stmts(all, depth + 1);
            }
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.expr(*condition);
                self.line(depth, &format!("if {condition}"));
                self.stmts(then, depth + 1);
                if !otherwise.is_empty() {
                    self.line(depth, "else");
                    self.stmts(otherwise, depth + 1);
                }
            }
            StmtKind::Loop {
                condition,
                step,
                body,
                test_last,
                unroll,
            } => {
                let word = if *test_last { "loop last" } else { "loop" };
                let condition = condition.map_or("true".into(), |id| self.expr(id));
                let step = step.map_or(String::new(), |id| format!(" step {}", self.expr(id)));
                let unroll = unroll.map_or(String::new(), |unroll| format!(" {unroll:?}"));
                self.line(depth, &format!("{word} {condition}{step}{unroll}"));
                self.stmts(body, depth + 1);
            }
            StmtKind::Switch {
                value,
                cases,
                default,
                body,
            } => {
                let mut text = format!("switch {}", self.expr(*value));
                for case in cases {
                    let _ = match case.low == case.high {
                        true => write!(text, " {}->L{}", case.low as i64, case.label.0),
                        false => write!(
                            text,
                            " {}..={}->L{}",
                            case.low as i64, case.high as i64, case.label.0
                        ),
                    };
                }
                if let Some(default) = default {
                    let _ = write!(text, " default->L{}", default.0);
                }
                self.line(depth, &text);
                self.stmts(body, depth + 1);
            }
            StmtKind::Label(label) => self.line(depth, &format!("L{}:", label.0)),
            StmtKind::Goto(label) => self.line(depth, &format!("goto L{}", label.0)),
            StmtKind::Break => self.line(depth, "break"),
            StmtKind::Continue => self.line(depth, "continue"),
            StmtKind::Return(value) => {
                let value = value.map_or(String::new(), |id| format!(" {}", self.expr(id)));
                self.line(depth, &format!("return{value}"));
            }
        }
    }

    fn expr(&self, id: ExprId) -> String {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.expr_kind(id))
    }

    fn list(&self, word: &str, all: &[ExprId]) -> String {
        let mut text = format!("({word}");
        for &one in all {
            text.push(' ');
            text.push_str(&self.expr(one));
        }
        text.push(')');
        text
    }

    fn expr_kind(&self, id: ExprId) -> String {
        let expr = &self.function[id];
        let ty = || self.name(expr.ty);
        match &expr.kind {
            ExprKind::Constant(constant) => format!("{constant:?}:{}", ty()),
            ExprKind::Undefined => format!("undefined:{}", ty()),
            ExprKind::Local(local) => format!("%{}", local.0),
            ExprKind::Global(global) => format!("@{}", global.0),
            ExprKind::Temp(temp) => format!("${}", temp.0),
            ExprKind::Bind(temp, value) => format!("(${} = {})", temp.0, self.expr(*value)),
            ExprKind::Sequence(all) => self.list("seq", all),
            ExprKind::Statements(all, value) => {
                let mut inner = String::new();
                let mut printer = Printer {
                    out: &mut inner,
                    ..*self
                };
                printer.stmts(all, 0);
                let value = value.map_or(String::new(), |value| self.expr(value));
                format!("({{ {}; {value} }})", inner.trim_end().replace('\n', "; "))
            }
            ExprKind::Load { pointer, .. } => format!("(load {})", self.expr(*pointer)),
            ExprKind::Store { pointer, value, .. } => self.list("store", &[*pointer, *value]),
            ExprKind::Copy { to, from, size, .. } => {
                self.list(&format!("copy {size}"), &[*to, *from])
            }
            ExprKind::FieldAddr(base, field) => format!("(field& {} {field})", self.expr(*base)),
            ExprKind::ElementAddr(base, index) => self.list("element&", &[*base, *index]),
            ExprKind::ComponentAddr(base, lane) => {
                format!("(component& {} {lane})", self.expr(*base))
            }
            ExprKind::PtrAdd(base, index) => self.list("ptradd", &[*base, *index]),
            ExprKind::PtrDiff(a, b) => self.list("ptrdiff", &[*a, *b]),
            ExprKind::Field(base, field) => format!("(field {} {field})", self.expr(*base)),
            ExprKind::MakeRecord(all) => self.list("record", all),
            ExprKind::MakeVector(all) => self.list(&ty(), all),
            ExprKind::Splat(value) => self.list(&format!("splat:{}", ty()), &[*value]),
            ExprKind::Shuffle(a, b, lanes) => {
                let lanes: Vec<String> = lanes
                    .iter()
                    .map(|lane| lane.map_or("_".into(), |lane| lane.to_string()))
                    .collect();
                let operands: Vec<ExprId> = [Some(*a), *b].into_iter().flatten().collect();
                self.list(&format!("shuffle[{}]", lanes.join(",")), &operands)
            }
            ExprKind::Extract(vector, index) => self.list("extract", &[*vector, *index]),
            ExprKind::Insert(vector, value, index) => {
                self.list("insert", &[*vector, *value, *index])
            }
            ExprKind::Unary(op, value) => self.list(&format!("{op:?}:{}", ty()), &[*value]),
            ExprKind::Binary(op, a, b) => self.list(&format!("{op:?}:{}", ty()), &[*a, *b]),
            ExprKind::Compare(op, a, b) => self.list(&format!("{op:?}?"), &[*a, *b]),
            ExprKind::Negate(value) => self.list("not", &[*value]),
            ExprKind::And(a, b) => self.list("and", &[*a, *b]),
            ExprKind::Or(a, b) => self.list("or", &[*a, *b]),
            ExprKind::Conditional(c, a, b) => self.list("if", &[*c, *a, *b]),
            ExprKind::Select(c, a, b) => self.list("select", &[*c, *a, *b]),
            ExprKind::Convert(conversion, value) => {
                let word = match conversion {
                    super::Conversion::Arithmetic { .. } => "convert".to_owned(),
                    other => format!("{other:?}"),
                };
                self.list(&format!("{word}:{}", ty()), &[*value])
            }
            ExprKind::Call(function, args) => self.list(&format!("call f{}", function.0), args),
            ExprKind::Builtin(call, args) => {
                let blocks: String = call
                    .blocks
                    .iter()
                    .map(|block| format!("[{}: f{}]", block.argument, block.function.0))
                    .collect();
                self.list(&format!("builtin{blocks}:{}", ty()), args)
            }
            ExprKind::Block {
                function, captures, ..
            } => self.list(&format!("^f{}", function.0), captures),
            ExprKind::CallBlock {
                function,
                block,
                args,
            } => {
                let all: Vec<ExprId> = std::iter::once(*block).chain(args.clone()).collect();
                self.list(&format!("call^ f{}", function.0), &all)
            }
        }
    }
}
