//! The syntax tree as text, for file tests: one item or statement a line, expressions fully
//! bracketed.

use std::fmt::Write;

use super::{
    ArraySize, Ast, Chunk, DeclId, Declarator, Designator, ExprId, ExprKind, FloatSuffix, InitId,
    InitKind, Item, Member, Number, Quals, SpecId, StmtId, StmtKind, TypeNameId, TypeSpec,
};
use crate::symbol::{Interner, Symbol};

/// Writes a translation unit.
pub fn print(ast: &Ast, interner: &Interner) -> String {
    let mut printer = Printer {
        ast,
        interner,
        out: String::new(),
        indent: 0,
    };
    for item in &ast.items {
        printer.item(item);
    }
    printer.out
}

struct Printer<'a> {
    ast: &'a Ast,
    interner: &'a Interner,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn name(&self, symbol: Symbol) -> &str {
        self.interner.text(symbol)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = self.indent * 2);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Declarations { specs, decls } => self.declarations(*specs, decls),
            Item::Function { decl, body } => {
                let decl = self.declaration(*decl);
                self.line(&format!("function {decl}"));
                self.stmt(*body);
            }
            Item::StaticAssert(assert) => {
                let condition = self.expr(assert.condition);
                self.line(&format!("static_assert {condition}"));
            }
            Item::Pragma(pragma, _) => self.line(&format!("pragma {pragma:?}")),
        }
    }

    fn declarations(&mut self, specs: SpecId, decls: &[DeclId]) {
        if decls.is_empty() {
            let specs = self.specs(specs);
            self.line(&format!("declare {specs}"));
        }
        for decl in decls {
            let decl = self.declaration(*decl);
            self.line(&format!("declare {decl}"));
        }
    }

    fn declaration(&self, id: DeclId) -> String {
        let decl = &self.ast[id];
        let mut text = self.declarator(&decl.declarator);
        let _ = write!(text, ": {}", self.specs(decl.specs));
        if let Some(init) = decl.init {
            let _ = write!(text, " = {}", self.init(init));
        }
        text
    }

    /// The name, and what is made of it, from the name outwards.
    fn declarator(&self, declarator: &Declarator) -> String {
        let mut text = match declarator.name {
            Some((name, _)) => self.name(name).to_owned(),
            None => "_".to_owned(),
        };
        for chunk in &declarator.chunks {
            match chunk {
                Chunk::Pointer { quals, .. } => {
                    let _ = write!(text, " *{}", self.quals(quals));
                }
                Chunk::Block { quals, .. } => {
                    let _ = write!(text, " ^{}", self.quals(quals));
                }
                Chunk::Array { size, .. } => match size {
                    ArraySize::Unspecified => text.push_str(" []"),
                    ArraySize::Star => text.push_str(" [*]"),
                    ArraySize::Expr(size) => {
                        let _ = write!(text, " [{}]", self.expr(*size));
                    }
                },
                Chunk::Function {
                    params, variadic, ..
                } => {
                    let mut all: Vec<String> = params
                        .iter()
                        .map(|param| {
                            let name = self.declarator(&param.declarator);
                            format!("{name}: {}", self.specs(param.specs))
                        })
                        .collect();
                    if *variadic {
                        all.push("...".to_owned());
                    }
                    let _ = write!(text, " ({})", all.join(", "));
                }
            }
        }
        text
    }

    fn quals(&self, quals: &Quals) -> String {
        let mut text = String::new();
        if let Some((space, _)) = quals.space {
            let _ = write!(text, "{space:?} ");
        }
        if let Some((access, _)) = quals.access {
            let _ = write!(text, "{access:?} ");
        }
        for (given, name) in [
            (quals.is_const, "const "),
            (quals.is_volatile, "volatile "),
            (quals.is_restrict, "restrict "),
        ] {
            if given.is_some() {
                text.push_str(name);
            }
        }
        text.trim_end().to_owned()
    }

    fn specs(&self, id: SpecId) -> String {
        let specs = &self.ast[id];
        let mut parts = Vec::new();
        if specs.kernel.is_some() {
            parts.push("kernel".to_owned());
        }
        if specs.inline.is_some() {
            parts.push("inline".to_owned());
        }
        for (storage, _) in &specs.storage {
            parts.push(format!("{storage:?}").to_lowercase());
        }
        let quals = self.quals(&specs.quals);
        if !quals.is_empty() {
            parts.push(quals);
        }
        parts.push(self.type_spec(&specs.ty));
        for attribute in &specs.attributes {
            parts.push(format!("@{}", self.name(attribute.name)));
        }
        parts.join(" ")
    }

    fn type_spec(&self, ty: &TypeSpec) -> String {
        match *ty {
            TypeSpec::Missing => "?".to_owned(),
            TypeSpec::Void => "void".to_owned(),
            TypeSpec::Bool => "bool".to_owned(),
            TypeSpec::Auto => "auto".to_owned(),
            TypeSpec::Named(name, _) => self.name(name).to_owned(),
            TypeSpec::Arithmetic(all) => {
                let words = [
                    (all.signed, "signed"),
                    (all.unsigned, "unsigned"),
                    (all.short, "short"),
                    (all.long, "long"),
                    (all.char, "char"),
                    (all.int, "int"),
                    (all.half, "half"),
                    (all.float, "float"),
                    (all.double, "double"),
                    (all.complex, "_Complex"),
                ];
                let words: Vec<&str> = words
                    .iter()
                    .flat_map(|&(count, word)| std::iter::repeat_n(word, count.into()))
                    .collect();
                words.join(" ")
            }
            TypeSpec::Record(id) => self.record(id),
            TypeSpec::Enum(id) => self.enumeration(id),
            TypeSpec::TypeofExpr(expr) => format!("typeof({})", self.expr(expr)),
            TypeSpec::TypeofType(ty) => format!("typeof({})", self.type_name(ty)),
            TypeSpec::Pipe(ty) => format!("pipe {}", self.type_name(ty)),
            TypeSpec::Atomic(ty) => format!("_Atomic({})", self.type_name(ty)),
        }
    }

    fn record(&self, id: super::RecordId) -> String {
        let record = &self.ast[id];
        let mut text = if record.is_union { "union" } else { "struct" }.to_owned();
        if let Some((tag, _)) = record.tag {
            let _ = write!(text, " {}", self.name(tag));
        }
        if let Some(members) = &record.members {
            text.push_str(" {");
            for member in members {
                if let Member::Fields { specs, fields } = member {
                    let specs = self.specs(*specs);
                    let names: Vec<String> = fields
                        .iter()
                        .map(|field| self.declarator(&field.declarator))
                        .collect();
                    let _ = write!(text, " {}: {specs};", names.join(", "));
                }
            }
            text.push_str(" }");
        }
        text
    }

    fn enumeration(&self, id: super::EnumId) -> String {
        let spec = &self.ast[id];
        let mut text = "enum".to_owned();
        if let Some((tag, _)) = spec.tag {
            let _ = write!(text, " {}", self.name(tag));
        }
        if let Some(all) = &spec.enumerators {
            let all: Vec<String> = all
                .iter()
                .map(|one| match one.value {
                    Some(value) => format!("{} = {}", self.name(one.name), self.expr(value)),
                    None => self.name(one.name).to_owned(),
                })
                .collect();
            let _ = write!(text, " {{ {} }}", all.join(", "));
        }
        text
    }

    fn type_name(&self, id: TypeNameId) -> String {
        let ty = &self.ast[id];
        let declarator = self.declarator(&ty.declarator);
        let specs = self.specs(ty.specs);
        match declarator.strip_prefix("_ ") {
            Some(made_of) => format!("{made_of}: {specs}"),
            None => specs,
        }
    }

    fn init(&self, id: InitId) -> String {
        match &self.ast[id].kind {
            InitKind::Expr(value) => self.expr(*value),
            InitKind::List(items) => {
                let items: Vec<String> = items
                    .iter()
                    .map(|item| {
                        let path = self.path(&item.designators);
                        let value = self.init(item.init);
                        if path.is_empty() {
                            value
                        } else {
                            format!("{path} = {value}")
                        }
                    })
                    .collect();
                format!("{{{}}}", items.join(", "))
            }
        }
    }

    fn path(&self, designators: &[Designator]) -> String {
        let mut text = String::new();
        for designator in designators {
            let _ = match *designator {
                Designator::Field(name, _) => write!(text, ".{}", self.name(name)),
                Designator::Index(index) => write!(text, "[{}]", self.expr(index)),
                Designator::Range(low, high) => {
                    write!(text, "[{} ... {}]", self.expr(low), self.expr(high))
                }
            };
        }
        text
    }

    fn exprs(&self, all: &[ExprId]) -> String {
        let all: Vec<String> = all.iter().map(|&expr| self.expr(expr)).collect();
        all.join(", ")
    }

    fn expr(&self, id: ExprId) -> String {
        stacker::maybe_grow(128 << 10, 1 << 20, || self.expr_kind(&self.ast[id].kind))
    }

    fn expr_kind(&self, kind: &ExprKind) -> String {
        match kind {
            ExprKind::Name(name) => self.name(*name).to_owned(),
            ExprKind::Number(number) => self.number(&self.ast[*number]),
            ExprKind::Char(value) => format!("'{value}'"),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Str(bytes) => format!("{:?}", String::from_utf8_lossy(&self.ast[*bytes])),
            ExprKind::FunctionName => "__func__".to_owned(),
            ExprKind::Paren(inner) => self.expr(*inner),
            ExprKind::Unary(op, operand) => format!("({op:?} {})", self.expr(*operand)),
            ExprKind::Binary(op, left, right) => {
                format!("({op:?} {} {})", self.expr(*left), self.expr(*right))
            }
            ExprKind::Assign(op, left, right) => {
                let op = op.map(|op| format!("{op:?}")).unwrap_or_default();
                format!("({op}= {} {})", self.expr(*left), self.expr(*right))
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                let (condition, then) = (self.expr(*condition), self.expr(*then));
                format!("(? {condition} {then} {})", self.expr(*otherwise))
            }
            ExprKind::BinaryConditional(condition, otherwise) => {
                format!("(? {}  {})", self.expr(*condition), self.expr(*otherwise))
            }
            ExprKind::Comma(left, right) => {
                format!("(, {} {})", self.expr(*left), self.expr(*right))
            }
            ExprKind::Cast(ty, operand) => {
                format!("(cast {} {})", self.type_name(*ty), self.expr(*operand))
            }
            ExprKind::CastList(ty, elements) => {
                format!(
                    "(list {} {})",
                    self.type_name(*ty),
                    self.exprs(&self.ast[*elements])
                )
            }
            ExprKind::Compound(ty, init) => {
                format!("(compound {} {})", self.type_name(*ty), self.init(*init))
            }
            ExprKind::Call(callee, args) => {
                format!("{}({})", self.expr(*callee), self.exprs(&self.ast[*args]))
            }
            ExprKind::Index(base, index) => {
                format!("{}[{}]", self.expr(*base), self.expr(*index))
            }
            ExprKind::Member {
                base, name, arrow, ..
            } => {
                let dot = if *arrow { "->" } else { "." };
                format!("{}{dot}{}", self.expr(*base), self.name(*name))
            }
            ExprKind::SizeofExpr(operand) => format!("(sizeof {})", self.expr(*operand)),
            ExprKind::SizeofType(ty) => format!("(sizeof type {})", self.type_name(*ty)),
            ExprKind::AlignofExpr(operand) => format!("(alignof {})", self.expr(*operand)),
            ExprKind::AlignofType(ty) => format!("(alignof type {})", self.type_name(*ty)),
            ExprKind::VecStepExpr(operand) => format!("(vec_step {})", self.expr(*operand)),
            ExprKind::VecStepType(ty) => format!("(vec_step type {})", self.type_name(*ty)),
            ExprKind::Statement(_) => "({...})".to_owned(),
            ExprKind::Generic(selection) => {
                let cases: Vec<String> = selection
                    .cases
                    .iter()
                    .map(|(ty, value)| {
                        let ty = ty.map_or("default".to_owned(), |ty| self.type_name(ty));
                        format!("{ty}: {}", self.expr(*value))
                    })
                    .collect();
                format!(
                    "(generic {} {})",
                    self.expr(selection.selector),
                    cases.join(", ")
                )
            }
            ExprKind::Offsetof(of) => {
                format!(
                    "(offsetof {} {})",
                    self.type_name(of.ty),
                    self.path(&of.path)
                )
            }
            ExprKind::AsType(value, ty) => {
                format!("(astype {} {})", self.expr(*value), self.type_name(*ty))
            }
            ExprKind::ConvertVector(value, ty) => {
                format!(
                    "(convertvector {} {})",
                    self.expr(*value),
                    self.type_name(*ty)
                )
            }
            ExprKind::TypesCompatible(one, other) => {
                format!(
                    "(compatible {} {})",
                    self.type_name(*one),
                    self.type_name(*other)
                )
            }
            ExprKind::ChooseExpr(condition, then, otherwise) => {
                format!("(choose {})", self.exprs(&[*condition, *then, *otherwise]))
            }
            ExprKind::BlockLiteral(id) => {
                let signature = self.ast[*id].signature;
                let signature = signature.map(|ty| self.type_name(ty)).unwrap_or_default();
                format!("(^ {signature})")
            }
            ExprKind::Error => "<error>".to_owned(),
        }
    }

    fn number(&self, number: &Number) -> String {
        match *number {
            Number::Int {
                value,
                unsigned,
                longs,
                ..
            } => {
                let unsigned = if unsigned { "u" } else { "" };
                format!("{value}{unsigned}{}", "l".repeat(longs.into()))
            }
            Number::Float {
                value,
                single,
                half,
                suffix,
            } => match suffix {
                FloatSuffix::None => format!("{value:?}"),
                FloatSuffix::F => format!("{single:?}f"),
                FloatSuffix::H => format!("{:?}h", half::f16::from_bits(half)),
                FloatSuffix::L => format!("{value:?}l"),
            },
        }
    }

    fn stmt(&mut self, id: StmtId) {
        self.indent += 1;
        stacker::maybe_grow(128 << 10, 1 << 20, || self.stmt_kind(id));
        self.indent -= 1;
    }

    fn stmt_kind(&mut self, id: StmtId) {
        let ast = self.ast;
        match &ast[id].kind {
            StmtKind::Empty => self.line(";"),
            StmtKind::Expr(value) => {
                let value = self.expr(*value);
                self.line(&value);
            }
            StmtKind::Decl { specs, decls } => self.declarations(*specs, decls),
            StmtKind::StaticAssert(assert) => {
                let condition = self.expr(assert.condition);
                self.line(&format!("static_assert {condition}"));
            }
            StmtKind::Block(statements) => {
                self.line("block");
                for &statement in statements {
                    self.stmt(statement);
                }
            }
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.expr(*condition);
                self.line(&format!("if {condition}"));
                self.stmt(*then);
                if let Some(otherwise) = otherwise {
                    self.line("else");
                    self.stmt(*otherwise);
                }
            }
            StmtKind::While {
                condition, body, ..
            } => {
                let condition = self.expr(*condition);
                self.line(&format!("while {condition}"));
                self.stmt(*body);
            }
            StmtKind::DoWhile {
                body, condition, ..
            } => {
                let condition = self.expr(*condition);
                self.line(&format!("do while {condition}"));
                self.stmt(*body);
            }
            StmtKind::For {
                init,
                condition,
                step,
                body,
                ..
            } => {
                let text = |part: &Option<ExprId>| part.map(|e| self.expr(e)).unwrap_or_default();
                let head = format!("for ; {}; {}", text(condition), text(step));
                self.line(&head);
                if let Some(init) = init {
                    self.stmt(*init);
                }
                self.stmt(*body);
            }
            StmtKind::Switch { value, body } => {
                let value = self.expr(*value);
                self.line(&format!("switch {value}"));
                self.stmt(*body);
            }
            StmtKind::Case { low, high, body } => {
                let high = high.map(|high| format!(" ... {}", self.expr(high)));
                let low = self.expr(*low);
                self.line(&format!("case {low}{}", high.unwrap_or_default()));
                self.stmt(*body);
            }
            StmtKind::Default { body } => {
                self.line("default");
                self.stmt(*body);
            }
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(value) => {
                let value = value.map(|value| self.expr(value)).unwrap_or_default();
                self.line(format!("return {value}").trim_end());
            }
            StmtKind::Goto(name, _) => self.line(&format!("goto {}", self.name(*name))),
            StmtKind::Label { name, body, .. } => {
                self.line(&format!("label {}", self.name(*name)));
                self.stmt(*body);
            }
            StmtKind::Pragma(pragma) => self.line(&format!("pragma {pragma:?}")),
        }
    }
}
