//! Statements.

use super::Parser;
use crate::ast::{Attribute, AttributeArg, LoopHints, Stmt, StmtId, StmtKind};
use crate::symbol::sym;
use crate::token::{Loc, Pragma, Span, TokenKind, Unroll};

impl Parser<'_> {
    fn stmt(&mut self, kind: StmtKind, first: Loc) -> StmtId {
        let span = self.span_from(first);
        self.ast.add_stmt(Stmt { kind, span })
    }

    /// `{ ... }` with a scope of its own.
    pub(super) fn block(&mut self) -> StmtId {
        let first = self.loc();
        let Some(open) = self.expect(TokenKind::LBrace, "'{'") else {
            return self.stmt(StmtKind::Block(Vec::new()), first);
        };
        self.names.open();
        let pack = self.pack;
        let statements = self.nested(|parser| parser.block_items());
        self.pack = pack;
        self.names.close();
        self.expect_close(TokenKind::RBrace, "}", open);
        self.stmt(StmtKind::Block(statements), first)
    }

    fn block_items(&mut self) -> Vec<StmtId> {
        let mut all = Vec::new();
        while let Some(pragma) = self.contraction_pragma() {
            all.push(pragma);
        }
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) {
            let before = self.at;
            let item = self.statement();
            all.push(item);
            if self.at == before {
                self.bump();
            }
        }
        all
    }

    /// A declaration or a statement.
    fn statement(&mut self) -> StmtId {
        if self.at_declaration() {
            return self.declaration_stmt();
        }
        let first = self.loc();
        match self.kind() {
            TokenKind::LBrace => self.block(),
            TokenKind::Semi => {
                self.bump();
                self.stmt(StmtKind::Empty, first)
            }
            TokenKind::Pragma => self.pragma_stmt(),
            TokenKind::Ident => self.keyword_statement(),
            _ => self.expression_stmt(),
        }
    }

    fn declaration_stmt(&mut self) -> StmtId {
        let first = self.loc();
        let kind = match self.local_declarations() {
            Some((specs, decls)) => StmtKind::Decl { specs, decls },
            None => StmtKind::Empty,
        };
        self.stmt(kind, first)
    }

    fn expression_stmt(&mut self) -> StmtId {
        let first = self.loc();
        let value = self.expression();
        self.expect_semi("after expression");
        self.stmt(StmtKind::Expr(value), first)
    }

    fn keyword_statement(&mut self) -> StmtId {
        let first = self.loc();
        match self.word() {
            sym::IF => self.if_stmt(),
            sym::WHILE | sym::DO | sym::FOR => self.loop_stmt(LoopHints::default()),
            sym::SWITCH => self.switch_stmt(),
            sym::CASE => self.case_stmt(),
            sym::DEFAULT => {
                self.bump();
                self.expect(TokenKind::Colon, "':' after 'default'");
                let body = self.labelled();
                self.stmt(StmtKind::Default { body }, first)
            }
            sym::BREAK => self.jump(StmtKind::Break, "after break statement"),
            sym::CONTINUE => self.jump(StmtKind::Continue, "after continue statement"),
            sym::RETURN => {
                self.bump();
                let value = if self.is(TokenKind::Semi) {
                    None
                } else {
                    Some(self.expression())
                };
                self.expect_semi("after return statement");
                self.stmt(StmtKind::Return(value), first)
            }
            sym::GOTO => self.goto_stmt(),
            sym::STATIC_ASSERT => {
                let assert = self.static_assert();
                self.stmt(StmtKind::StaticAssert(assert), first)
            }
            sym::ELSE => {
                self.diags.error(first, "expected expression");
                self.bump();
                self.stmt(StmtKind::Empty, first)
            }
            sym::ATTRIBUTE | sym::ATTRIBUTE_GNU => self.attributed_stmt(),
            sym::ASM | sym::ASM_GNU | sym::ASM_GNU2 => {
                self.diags
                    .error(first, "'asm' is not supported in OpenCL C");
                self.skip_to(&[TokenKind::Semi]);
                self.eat(TokenKind::Semi);
                self.stmt(StmtKind::Empty, first)
            }
            name if self.kind_after(1) == TokenKind::Colon && !super::specs::is_keyword(name) => {
                self.bump();
                self.bump();
                let attributes = self.attributes();
                let body = self.labelled();
                self.stmt(
                    StmtKind::Label {
                        name,
                        attributes,
                        body,
                    },
                    first,
                )
            }
            _ => self.expression_stmt(),
        }
    }

    fn jump(&mut self, kind: StmtKind, after: &str) -> StmtId {
        let first = self.bump();
        self.expect_semi(after);
        self.stmt(kind, first)
    }

    fn goto_stmt(&mut self) -> StmtId {
        let first = self.bump();
        let (name, loc) = (self.word(), self.loc());
        if name == sym::EMPTY {
            self.error_expected("identifier");
            self.skip_to(&[TokenKind::Semi]);
        } else {
            self.bump();
        }
        self.expect_semi("after goto statement");
        self.stmt(StmtKind::Goto(name, loc), first)
    }

    /// The statement behind a label, which may be missing at the end of a block.
    fn labelled(&mut self) -> StmtId {
        if self.is(TokenKind::RBrace) {
            let first = self.loc();
            return self.ast.add_stmt(Stmt {
                kind: StmtKind::Empty,
                span: Span::at(first),
            });
        }
        self.nested(|parser| parser.statement())
    }

    /// A statement that another one holds: a scope of its own, no declaration.
    fn substatement(&mut self) -> StmtId {
        if self.at_declaration() {
            let loc = self.loc();
            self.diags.error(loc, "expected expression");
        }
        self.names.open();
        let body = self.nested(|parser| parser.statement());
        self.names.close();
        body
    }

    fn parenthesised(&mut self, after: &str) -> crate::ast::ExprId {
        match self.eat(TokenKind::LParen) {
            Some(open) => {
                let value = self.nested(|parser| parser.expression());
                self.expect_close(TokenKind::RParen, ")", open);
                value
            }
            None => {
                self.error_expected(&format!("'(' after '{after}'"));
                self.error_expr()
            }
        }
    }

    /// A chain of `else if` is as long as the program likes, so it is read in a loop and put
    /// together from its end.
    fn if_stmt(&mut self) -> StmtId {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let first = self.bump();
            let condition = self.parenthesised("if");
            let then = self.substatement();
            arms.push((first, condition, then));
            if self.eat_word(sym::ELSE).is_none() {
                break;
            }
            if self.word() != sym::IF {
                otherwise = Some(self.substatement());
                break;
            }
        }
        for (first, condition, then) in arms.into_iter().rev() {
            let arm = self.stmt(
                StmtKind::If {
                    condition,
                    then,
                    otherwise,
                },
                first,
            );
            otherwise = Some(arm);
        }
        otherwise.expect("there is at least one arm")
    }

    fn switch_stmt(&mut self) -> StmtId {
        let first = self.bump();
        let value = self.parenthesised("switch");
        let body = self.substatement();
        self.stmt(StmtKind::Switch { value, body }, first)
    }

    /// A run of cases is read in a loop, as there may be thousands.
    fn case_stmt(&mut self) -> StmtId {
        let mut labels = Vec::new();
        while self.word() == sym::CASE {
            let first = self.bump();
            let low = self.conditional_expr();
            let high = self
                .eat(TokenKind::Ellipsis)
                .map(|_| self.conditional_expr());
            self.expect(TokenKind::Colon, "':' after 'case'");
            labels.push((first, low, high));
        }
        let mut body = self.labelled();
        for (first, low, high) in labels.into_iter().rev() {
            body = self.stmt(StmtKind::Case { low, high, body }, first);
        }
        body
    }

    fn loop_stmt(&mut self, hints: LoopHints) -> StmtId {
        match self.word() {
            sym::WHILE => {
                let first = self.bump();
                let condition = self.parenthesised("while");
                let body = self.substatement();
                self.stmt(
                    StmtKind::While {
                        condition,
                        body,
                        hints,
                    },
                    first,
                )
            }
            sym::DO => {
                let first = self.bump();
                let body = self.substatement();
                if self.eat_word(sym::WHILE).is_none() {
                    self.error_expected("'while' in do/while loop");
                }
                let condition = self.parenthesised("while");
                self.expect_semi("after do/while statement");
                self.stmt(
                    StmtKind::DoWhile {
                        body,
                        condition,
                        hints,
                    },
                    first,
                )
            }
            _ => self.for_stmt(hints),
        }
    }

    fn for_stmt(&mut self, hints: LoopHints) -> StmtId {
        let first = self.bump();
        let Some(open) = self.expect(TokenKind::LParen, "'(' after 'for'") else {
            return self.stmt(StmtKind::Empty, first);
        };
        self.names.open();
        let init = if self.eat(TokenKind::Semi).is_some() {
            None
        } else if self.at_declaration() {
            Some(self.declaration_stmt())
        } else {
            let start = self.loc();
            let value = self.expression();
            self.expect_semi("in 'for' statement specifier");
            Some(self.stmt(StmtKind::Expr(value), start))
        };
        let condition = match self.kind() {
            TokenKind::Semi => None,
            _ => Some(self.expression()),
        };
        self.expect_semi("in 'for' statement specifier");
        let step = match self.kind() {
            TokenKind::RParen => None,
            _ => Some(self.expression()),
        };
        self.expect_close(TokenKind::RParen, ")", open);
        let body = self.substatement();
        self.names.close();
        self.stmt(
            StmtKind::For {
                init,
                condition,
                step,
                body,
                hints,
            },
            first,
        )
    }

    /// `__attribute__((...))` before a statement: a loop's hints, a declaration's attributes, or
    /// nothing we know.
    fn attributed_stmt(&mut self) -> StmtId {
        let first = self.at;
        let attributes = self.attributes();
        if matches!(self.word(), sym::FOR | sym::WHILE | sym::DO) {
            let hints = self.loop_hints(&attributes);
            return self.loop_stmt(hints);
        }
        if self.at_declaration() {
            // The specifiers take them again.
            self.at = first;
            return self.declaration_stmt();
        }
        if let Some(attribute) = attributes
            .iter()
            .find(|a| self.interner.text(a.name) == "opencl_unroll_hint")
        {
            let span = attribute.span;
            self.diags.error(
                span,
                "'opencl_unroll_hint' attribute only applies to 'for', 'while', and 'do' statements",
            );
        }
        self.statement()
    }

    fn loop_hints(&mut self, attributes: &[Attribute]) -> LoopHints {
        let mut hints = LoopHints::default();
        for attribute in attributes {
            if self.interner.text(attribute.name) != "opencl_unroll_hint" {
                continue;
            }
            match attribute.args.as_slice() {
                [] => hints.unroll = Some(Unroll::Enable),
                [AttributeArg::Expr(count)] => hints.unroll_count = Some(*count),
                _ => {
                    let span = attribute.span;
                    self.diags.error(
                        span,
                        "'opencl_unroll_hint' attribute takes no more than 1 argument",
                    );
                }
            }
        }
        hints
    }

    /// Takes `FP_CONTRACT`.
    fn contraction_pragma(&mut self) -> Option<StmtId> {
        let is_pragma = self.is(TokenKind::Pragma);
        let next = is_pragma.then(|| &self.pragmas[self.token().symbol.0 as usize]);
        if !matches!(next, Some(Pragma::FpContract(_))) {
            return None;
        }
        let first = self.loc();
        let pragma = self.pragma();
        Some(self.stmt(StmtKind::Pragma(pragma), first))
    }

    fn pragma_stmt(&mut self) -> StmtId {
        let first = self.loc();
        // OpenCL C Specification, "Preprocessor Directives and Macros": "either outside external
        // declarations or preceding all explicit declarations and statements inside a compound
        // statement".
        if let Some(pragma) = self.contraction_pragma() {
            self.diags.error(
                first,
                "'#pragma fp_contract' can only appear at file scope or at the start of a \
                 compound statement",
            );
            return pragma;
        }
        let pragma = self.pragma();
        let Pragma::Unroll(unroll) = pragma else {
            return self.stmt(StmtKind::Pragma(pragma), first);
        };
        let mut hints = LoopHints {
            unroll: Some(unroll),
            unroll_count: None,
        };
        let attributes = self.attributes();
        if matches!(self.word(), sym::FOR | sym::WHILE | sym::DO) {
            let more = self.loop_hints(&attributes);
            hints.unroll_count = more.unroll_count;
            return self.loop_stmt(hints);
        }
        if self.is(TokenKind::Pragma) {
            // Several pragmas before one loop: the last that unrolls counts.
            return self.pragma_stmt();
        }
        self.diags.error(
            first,
            "expected a for, while, or do-while loop to follow '#pragma unroll'",
        );
        self.stmt(StmtKind::Empty, first)
    }
}
