//! Expressions.

use super::Parser;
use super::names::Meaning;
use crate::ast::{
    BinaryOp, BlockLiteral, Chunk, Declarator, Designator, ExprId, ExprKind, GenericSelection,
    Offsetof, TypeName, TypeNameId, UnaryOp,
};
use crate::symbol::sym;
use crate::token::{Loc, TokenKind};

/// The operator and how strongly it binds.
fn binary(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        TokenKind::Star => (BinaryOp::Mul, 10),
        TokenKind::Slash => (BinaryOp::Div, 10),
        TokenKind::Percent => (BinaryOp::Rem, 10),
        TokenKind::Plus => (BinaryOp::Add, 9),
        TokenKind::Minus => (BinaryOp::Sub, 9),
        TokenKind::Shl => (BinaryOp::Shl, 8),
        TokenKind::Shr => (BinaryOp::Shr, 8),
        TokenKind::Lt => (BinaryOp::Lt, 7),
        TokenKind::Gt => (BinaryOp::Gt, 7),
        TokenKind::LtEq => (BinaryOp::Le, 7),
        TokenKind::GtEq => (BinaryOp::Ge, 7),
        TokenKind::EqEq => (BinaryOp::Eq, 6),
        TokenKind::BangEq => (BinaryOp::Ne, 6),
        TokenKind::Amp => (BinaryOp::And, 5),
        TokenKind::Caret => (BinaryOp::Xor, 4),
        TokenKind::Pipe => (BinaryOp::Or, 3),
        TokenKind::AmpAmp => (BinaryOp::LogicalAnd, 2),
        TokenKind::PipePipe => (BinaryOp::LogicalOr, 1),
        _ => return None,
    })
}

/// The operator of a compound assignment; `None` inside for `=`.
fn assignment(kind: TokenKind) -> Option<Option<BinaryOp>> {
    Some(match kind {
        TokenKind::Eq => None,
        TokenKind::StarEq => Some(BinaryOp::Mul),
        TokenKind::SlashEq => Some(BinaryOp::Div),
        TokenKind::PercentEq => Some(BinaryOp::Rem),
        TokenKind::PlusEq => Some(BinaryOp::Add),
        TokenKind::MinusEq => Some(BinaryOp::Sub),
        TokenKind::ShlEq => Some(BinaryOp::Shl),
        TokenKind::ShrEq => Some(BinaryOp::Shr),
        TokenKind::AmpEq => Some(BinaryOp::And),
        TokenKind::CaretEq => Some(BinaryOp::Xor),
        TokenKind::PipeEq => Some(BinaryOp::Or),
        _ => return None,
    })
}

impl Parser<'_> {
    /// With commas.
    pub(super) fn expression(&mut self) -> ExprId {
        let first = self.loc();
        let mut left = self.assignment_expr();
        while let Some(loc) = self.eat(TokenKind::Comma) {
            let right = self.assignment_expr();
            left = self.expr(ExprKind::Comma(left, right), first, loc);
        }
        left
    }

    /// Assignments group from the right, in chains of any length.
    pub(super) fn assignment_expr(&mut self) -> ExprId {
        let mut pending = Vec::new();
        let mut value;
        loop {
            let first = self.loc();
            value = self.conditional_expr();
            let Some(op) = assignment(self.kind()) else {
                break;
            };
            let loc = self.bump();
            pending.push((op, value, first, loc));
        }
        for (op, target, first, loc) in pending.into_iter().rev() {
            value = self.expr(ExprKind::Assign(op, target, value), first, loc);
        }
        value
    }

    /// `a ? b : c ? d : e` in a loop, put together from its end.
    pub(super) fn conditional_expr(&mut self) -> ExprId {
        let mut pending = Vec::new();
        let mut value;
        loop {
            let first = self.loc();
            value = self.binary_expr(1);
            let Some(loc) = self.eat(TokenKind::Question) else {
                break;
            };
            let then = match self.kind() {
                TokenKind::Colon => None,
                _ => Some(self.nested(|parser| parser.expression())),
            };
            if self.expect(TokenKind::Colon, "':'").is_none() {
                return self.error_expr();
            }
            pending.push((value, then, first, loc));
        }
        for (condition, then, first, loc) in pending.into_iter().rev() {
            let kind = match then {
                Some(then) => ExprKind::Conditional(condition, then, value),
                None => ExprKind::BinaryConditional(condition, value),
            };
            value = self.expr(kind, first, loc);
        }
        value
    }

    /// Operators that bind at least as strongly as `least`.
    fn binary_expr(&mut self, least: u8) -> ExprId {
        let first = self.loc();
        let mut left = self.cast_expr();
        while let Some((op, strength)) = binary(self.kind()) {
            if strength < least {
                break;
            }
            let loc = self.bump();
            let right = self.binary_expr(strength + 1);
            left = self.expr(ExprKind::Binary(op, left, right), first, loc);
        }
        left
    }

    /// Casts, compound and vector literals, and unary expressions.
    fn cast_expr(&mut self) -> ExprId {
        if self.is(TokenKind::LParen) && self.type_name_at(1) {
            return self.nested(|parser| parser.parenthesised_type());
        }
        self.unary_expr()
    }

    fn parenthesised_type(&mut self) -> ExprId {
        let first = self.bump();
        let ty = self.type_name();
        self.expect_close(TokenKind::RParen, ")", first);
        if self.is(TokenKind::LBrace) {
            let init = self.init_list();
            let value = self.expr(ExprKind::Compound(ty, init), first, first);
            return self.postfix_expr(value, first);
        }
        if self.is(TokenKind::LParen) && !self.type_name_at(1) && !self.is_statement_expr() {
            return self.cast_of_parenthesised(ty, first);
        }
        let operand = self.cast_expr();
        self.expr(ExprKind::Cast(ty, operand), first, first)
    }

    fn is_statement_expr(&self) -> bool {
        self.is(TokenKind::LParen) && self.kind_after(1) == TokenKind::LBrace
    }

    /// `(T)(a, b)`: the elements of a vector, or a comma expression. OpenCL C Specification,
    /// "Vector Literals". What follows the literal, a swizzle say, belongs to it; what follows a
    /// cast's operand belongs to the operand.
    fn cast_of_parenthesised(&mut self, ty: TypeNameId, first: Loc) -> ExprId {
        let open = self.loc();
        let mut elements = Vec::new();
        let start = self.at;
        self.bump();
        loop {
            elements.push(self.assignment_expr());
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        if elements.len() == 1 && !self.names_vector(ty) {
            // An ordinary operand in parentheses, which goes on: `(int)(a)[1]`.
            let inner = elements[0];
            self.expect_close(TokenKind::RParen, ")", open);
            debug_assert!(self.at > start);
            let paren = self.expr(ExprKind::Paren(inner), open, open);
            let operand = self.postfix_expr(paren, open);
            return self.expr(ExprKind::Cast(ty, operand), first, first);
        }
        self.expect_close(TokenKind::RParen, ")", open);
        let value = match elements.as_slice() {
            [only] => {
                let paren = self.expr(ExprKind::Paren(*only), open, open);
                ExprKind::Cast(ty, paren)
            }
            _ => ExprKind::CastList(ty, self.ast.add_list(&elements)),
        };
        let value = self.expr(value, first, first);
        self.postfix_expr(value, first)
    }

    /// Whether a literal of one element may follow, and behind that a swizzle: `(float4)(0).x`.
    fn names_vector(&self, ty: TypeNameId) -> bool {
        let name = &self.ast[ty];
        self.is_vector(name.specs, &name.declarator)
    }

    fn unary_expr(&mut self) -> ExprId {
        let first = self.loc();
        let op = match self.kind() {
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::Tilde => UnaryOp::BitNot,
            TokenKind::Star => UnaryOp::Deref,
            TokenKind::Amp => UnaryOp::AddressOf,
            TokenKind::PlusPlus => UnaryOp::PreInc,
            TokenKind::MinusMinus => UnaryOp::PreDec,
            TokenKind::Ident => return self.word_expr(),
            _ => {
                let value = self.primary_expr();
                return self.postfix_expr(value, first);
            }
        };
        self.bump();
        let operand = self.nested_unary();
        self.expr(ExprKind::Unary(op, operand), first, first)
    }

    /// The operand of a prefix operator. Such operators may stand in a row without any bracket.
    fn nested_unary(&mut self) -> ExprId {
        stacker::maybe_grow(128 << 10, 1 << 20, || self.cast_expr())
    }

    /// Operators that are words, and everything that begins with an identifier.
    fn word_expr(&mut self) -> ExprId {
        let first = self.loc();
        match self.word() {
            sym::SIZEOF => self.size_operator(ExprKind::SizeofExpr, ExprKind::SizeofType),
            sym::ALIGNOF | sym::ALIGNOF_GNU | sym::ALIGNOF_GNU2 => {
                self.size_operator(ExprKind::AlignofExpr, ExprKind::AlignofType)
            }
            sym::VEC_STEP => self.size_operator(ExprKind::VecStepExpr, ExprKind::VecStepType),
            sym::EXTENSION_GNU => {
                self.bump();
                let operand = self.nested_unary();
                self.expr(ExprKind::Unary(UnaryOp::Extension, operand), first, first)
            }
            _ => {
                let value = self.primary_expr();
                self.postfix_expr(value, first)
            }
        }
    }

    /// `sizeof` and kin, of a type in parentheses or of an expression.
    fn size_operator(
        &mut self,
        of_expr: fn(ExprId) -> ExprKind,
        of_type: fn(TypeNameId) -> ExprKind,
    ) -> ExprId {
        let first = self.bump();
        if self.is(TokenKind::LParen) && self.type_name_at(1) {
            let open = self.bump();
            let ty = self.type_name();
            self.expect_close(TokenKind::RParen, ")", open);
            if self.is(TokenKind::LBrace) {
                let init = self.init_list();
                let literal = self.expr(ExprKind::Compound(ty, init), open, open);
                let operand = self.postfix_expr(literal, open);
                return self.expr(of_expr(operand), first, first);
            }
            return self.expr(of_type(ty), first, first);
        }
        let operand = stacker::maybe_grow(128 << 10, 1 << 20, || self.unary_expr());
        self.expr(of_expr(operand), first, first)
    }

    /// Calls, subscripts, members, `++` and `--` behind a value.
    fn postfix_expr(&mut self, mut value: ExprId, first: Loc) -> ExprId {
        loop {
            let loc = self.loc();
            let kind = match self.kind() {
                TokenKind::LParen => {
                    let args = self.nested(|parser| parser.arguments());
                    ExprKind::Call(value, self.ast.add_list(&args))
                }
                TokenKind::LBracket => {
                    let open = self.bump();
                    let index = self.nested(|parser| parser.expression());
                    self.expect_close(TokenKind::RBracket, "]", open);
                    ExprKind::Index(value, index)
                }
                TokenKind::Dot | TokenKind::Arrow => {
                    let arrow = self.is(TokenKind::Arrow);
                    self.bump();
                    let name = self.word();
                    if name == sym::EMPTY {
                        self.error_expected("identifier");
                        return self.error_expr();
                    }
                    let name_loc = self.bump();
                    ExprKind::Member {
                        base: value,
                        name,
                        name_loc,
                        arrow,
                    }
                }
                TokenKind::PlusPlus => {
                    self.bump();
                    ExprKind::Unary(UnaryOp::PostInc, value)
                }
                TokenKind::MinusMinus => {
                    self.bump();
                    ExprKind::Unary(UnaryOp::PostDec, value)
                }
                _ => return value,
            };
            value = self.expr(kind, first, loc);
        }
    }

    fn arguments(&mut self) -> Vec<ExprId> {
        let open = self.bump();
        let mut args = Vec::new();
        if !self.is(TokenKind::RParen) {
            loop {
                args.push(self.assignment_expr());
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
        }
        self.expect_close(TokenKind::RParen, ")", open);
        args
    }

    fn primary_expr(&mut self) -> ExprId {
        let first = self.loc();
        match self.kind() {
            TokenKind::Number => {
                let number = self.number();
                self.bump();
                match number {
                    Some(number) => {
                        let number = self.ast.add_number(number);
                        self.expr(ExprKind::Number(number), first, first)
                    }
                    None => self.error_expr(),
                }
            }
            TokenKind::Char => {
                let value = self.character();
                self.bump();
                self.expr(ExprKind::Char(value), first, first)
            }
            TokenKind::Str => {
                let bytes = self.strings();
                let text = self.ast.add_string(bytes);
                self.expr(ExprKind::Str(text), first, first)
            }
            TokenKind::LParen if self.is_statement_expr() => {
                let open = self.bump();
                let body = self.block();
                self.expect_close(TokenKind::RParen, ")", open);
                self.expr(ExprKind::Statement(body), first, first)
            }
            TokenKind::LParen => {
                let open = self.bump();
                let inner = self.nested(|parser| parser.expression());
                self.expect_close(TokenKind::RParen, ")", open);
                self.expr(ExprKind::Paren(inner), first, first)
            }
            TokenKind::Caret => self.block_literal(),
            TokenKind::Ident => self.name_expr(),
            _ => self.no_expression(),
        }
    }

    fn no_expression(&mut self) -> ExprId {
        let loc = self.loc();
        self.diags.error(loc, "expected expression");
        let result = self.error_expr();
        // What cannot go on an expression is left to whoever waits for it; a stray token is
        // skipped.
        if matches!(
            self.kind(),
            TokenKind::Unknown | TokenKind::Hash | TokenKind::HashHash | TokenKind::Ellipsis
        ) {
            self.bump();
        }
        result
    }

    fn name_expr(&mut self) -> ExprId {
        let (first, word) = (self.loc(), self.word());
        match word {
            sym::FUNC | sym::FUNCTION | sym::PRETTY_FUNCTION => {
                self.bump();
                self.expr(ExprKind::FunctionName, first, first)
            }
            sym::GENERIC_C11 => self.generic_selection(),
            sym::BUILTIN_OFFSETOF => self.offsetof(),
            sym::BUILTIN_ASTYPE => self.expr_and_type("__builtin_astype", ExprKind::AsType),
            sym::BUILTIN_CONVERTVECTOR => {
                self.expr_and_type("__builtin_convertvector", ExprKind::ConvertVector)
            }
            sym::BUILTIN_TYPES_COMPATIBLE => self.types_compatible(),
            sym::BUILTIN_CHOOSE_EXPR => self.choose_expr(),
            _ if super::specs::is_keyword(word) => self.no_expression(),
            _ if self.names.is_type(word) => {
                let name = self.spelled(word);
                self.diags.error(
                    first,
                    format!("unexpected type name '{name}': expected expression"),
                );
                self.bump();
                self.error_expr()
            }
            _ => {
                self.bump();
                self.expr(ExprKind::Name(word), first, first)
            }
        }
    }

    fn generic_selection(&mut self) -> ExprId {
        let first = self.bump();
        let Some(open) = self.expect(TokenKind::LParen, "'(' after '_Generic'") else {
            return self.error_expr();
        };
        let selector = self.nested(Self::assignment_expr);
        let mut cases = Vec::new();
        while self.eat(TokenKind::Comma).is_some() {
            let ty = match self.eat_word(sym::DEFAULT) {
                Some(_) => None,
                None => Some(self.type_name()),
            };
            self.expect(TokenKind::Colon, "':'");
            let value = self.nested(Self::assignment_expr);
            cases.push((ty, value));
        }
        self.expect_close(TokenKind::RParen, ")", open);
        let selection = Box::new(GenericSelection { selector, cases });
        let value = self.expr(ExprKind::Generic(selection), first, first);
        self.postfix_expr(value, first)
    }

    fn offsetof(&mut self) -> ExprId {
        let first = self.bump();
        let Some(open) = self.expect(TokenKind::LParen, "'(' after '__builtin_offsetof'") else {
            return self.error_expr();
        };
        let ty = self.type_name();
        self.expect(TokenKind::Comma, "','");
        let mut path = Vec::new();
        if self.word() != sym::EMPTY {
            let (name, loc) = (self.word(), self.bump());
            path.push(Designator::Field(name, loc));
        } else {
            self.error_expected("identifier");
        }
        loop {
            if self.eat(TokenKind::Dot).is_some() && self.word() != sym::EMPTY {
                let (name, loc) = (self.word(), self.bump());
                path.push(Designator::Field(name, loc));
            } else if self.is(TokenKind::LBracket) {
                let index = self.index_designator();
                path.push(index);
            } else {
                break;
            }
        }
        self.expect_close(TokenKind::RParen, ")", open);
        let of = Box::new(Offsetof { ty, path });
        self.expr(ExprKind::Offsetof(of), first, first)
    }

    /// `name(expression, type)`
    fn expr_and_type(&mut self, name: &str, make: fn(ExprId, TypeNameId) -> ExprKind) -> ExprId {
        let first = self.bump();
        let Some(open) = self.expect(TokenKind::LParen, &format!("'(' after '{name}'")) else {
            return self.error_expr();
        };
        let value = self.nested(Self::assignment_expr);
        self.expect(TokenKind::Comma, "','");
        let ty = self.type_name();
        self.expect_close(TokenKind::RParen, ")", open);
        let value = self.expr(make(value, ty), first, first);
        self.postfix_expr(value, first)
    }

    fn types_compatible(&mut self) -> ExprId {
        let first = self.bump();
        let name = "'(' after '__builtin_types_compatible_p'";
        let Some(open) = self.expect(TokenKind::LParen, name) else {
            return self.error_expr();
        };
        let one = self.type_name();
        self.expect(TokenKind::Comma, "','");
        let other = self.type_name();
        self.expect_close(TokenKind::RParen, ")", open);
        self.expr(ExprKind::TypesCompatible(one, other), first, first)
    }

    fn choose_expr(&mut self) -> ExprId {
        let first = self.bump();
        let name = "'(' after '__builtin_choose_expr'";
        let Some(open) = self.expect(TokenKind::LParen, name) else {
            return self.error_expr();
        };
        let condition = self.nested(Self::assignment_expr);
        self.expect(TokenKind::Comma, "','");
        let then = self.nested(Self::assignment_expr);
        self.expect(TokenKind::Comma, "','");
        let otherwise = self.nested(Self::assignment_expr);
        self.expect_close(TokenKind::RParen, ")", open);
        let value = self.expr(
            ExprKind::ChooseExpr(condition, then, otherwise),
            first,
            first,
        );
        self.postfix_expr(value, first)
    }

    /// `^ {...}`, `^(params) {...}`, `^ T (params) {...}`.
    fn block_literal(&mut self) -> ExprId {
        let first = self.bump();
        self.names.open();
        let signature = if self.is(TokenKind::LBrace) {
            None
        } else {
            Some(self.block_signature())
        };
        if let Some(ty) = signature {
            let params: Vec<_> = self.ast[ty]
                .declarator
                .function()
                .into_iter()
                .flatten()
                .filter_map(|param| param.declarator.name)
                .collect();
            for (name, _) in params {
                self.names.declare(name, Meaning::Value);
            }
        }
        let body = self.block();
        self.names.close();
        let block = self.ast.add_block(BlockLiteral {
            signature,
            body,
            loc: first,
        });
        let value = self.expr(ExprKind::BlockLiteral(block), first, first);
        self.postfix_expr(value, first)
    }

    /// The result, if it is given, and the parameters. Without a result specifiers stay missing.
    fn block_signature(&mut self) -> TypeNameId {
        let first = self.loc();
        let specs = self.specifiers();
        let declarator = self.declarator();
        let span = self.span_from(first);
        let has_params = declarator.function().is_some();
        let declarator = if has_params {
            declarator
        } else {
            // A result alone: no parameters.
            let mut chunks = vec![Chunk::Function {
                params: Vec::new(),
                variadic: false,
                unspecified: false,
                loc: first,
            }];
            chunks.extend(declarator.chunks);
            Declarator {
                chunks,
                ..declarator
            }
        };
        self.ast.add_type_name(TypeName {
            specs,
            declarator,
            span,
        })
    }
}
