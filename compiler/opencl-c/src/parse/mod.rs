//! Tokens in, a syntax tree out.
//!
//! C's grammar asks of a name only whether it is a type's (`names.rs`); everything else about names
//! is left to `sema`. Recursive descent, with binary operators by precedence. An error is told
//! once, tokens are skipped to where a statement or declaration may begin, and parsing goes on.
//!
//! - `mod.rs`: the parser and its way through the tokens
//! - `names.rs`: which names are types
//! - `expr.rs`, `stmt.rs`, `decl.rs` (declarations), `specs.rs` (their specifiers), `attribute.rs`
//! - `literal.rs`: the values of constants and strings
//!
//! Open `decl.rs` first: a translation unit is a list of declarations.

mod attribute;
mod decl;
mod expr;
mod literal;
mod names;
mod specs;
mod stmt;
#[cfg(test)]
mod tests;

use crate::ast::{Ast, Expr, ExprId, ExprKind};
use crate::diag::Diagnostics;
use crate::options::{Options, Std};
use crate::symbol::{Interner, Symbol, sym};
use crate::token::{Loc, Pragma, Span, Token, TokenKind, TokenStream};
pub(crate) use names::is_language_type;

/// Brackets and blocks nest no deeper: clang's default (`-fbracket-depth`), which sources are
/// written for.
const MAX_NESTING: u32 = 256;

/// Reads a translation unit.
pub fn parse(
    tokens: &TokenStream,
    interner: &mut Interner,
    options: &Options,
    diags: &mut Diagnostics,
) -> Ast {
    let mut parser = Parser {
        tokens: &tokens.tokens,
        pragmas: &tokens.pragmas,
        at: 0,
        ast: Ast::for_tokens(tokens.tokens.len()),
        names: names::Names::new(interner, options.std),
        std: options.std,
        interner,
        diags,
        nesting: 0,
        pack: None,
        given_up: false,
    };
    parser.translation_unit();
    parser.ast
}

struct Parser<'a> {
    tokens: &'a [Token],
    pragmas: &'a [Pragma],
    /// Index of the next token; never beyond the last, which is the end of file.
    at: usize,
    ast: Ast,
    names: names::Names,
    std: Std,
    interner: &'a mut Interner,
    diags: &'a mut Diagnostics,
    nesting: u32,
    /// `#pragma pack` in force.
    pack: Option<u32>,
    /// An error after which nothing that follows would make sense: the rest is skipped.
    given_up: bool,
}

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of the token `n` after the next.
    fn kind_after(&self, n: usize) -> TokenKind {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)].kind
    }

    /// The next token's identifier; the empty symbol, which is nobody's name, for other tokens.
    fn word(&self) -> Symbol {
        self.word_after(0)
    }

    fn word_after(&self, n: usize) -> Symbol {
        let token = self.tokens[(self.at + n).min(self.tokens.len() - 1)];
        if token.kind == TokenKind::Ident {
            token.symbol
        } else {
            sym::EMPTY
        }
    }

    fn loc(&self) -> Loc {
        Loc(self.at as u32)
    }

    /// The token before the next.
    fn last(&self) -> Loc {
        Loc(self.at.saturating_sub(1) as u32)
    }

    /// From a token to the one before the next.
    fn span_from(&self, first: Loc) -> Span {
        Span {
            first,
            last: self.last().max(first),
        }
    }

    /// Takes the next token.
    fn bump(&mut self) -> Loc {
        let loc = self.loc();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        loc
    }

    fn is(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// Takes the next token if it is of this kind.
    fn eat(&mut self, kind: TokenKind) -> Option<Loc> {
        self.is(kind).then(|| self.bump())
    }

    /// Takes the next token if it is this word.
    fn eat_word(&mut self, word: Symbol) -> Option<Loc> {
        (self.word() == word).then(|| self.bump())
    }

    /// Takes a token that must come; `what` is how the source writes it.
    fn expect(&mut self, kind: TokenKind, what: &str) -> Option<Loc> {
        let found = self.eat(kind);
        if found.is_none() {
            self.error_expected(what);
        }
        found
    }

    /// Takes the bracket that closes the one at `open`, or skips to it.
    fn expect_close(&mut self, kind: TokenKind, what: &str, open: Loc) {
        if self.eat(kind).is_some() {
            return;
        }
        let at = self.after_last();
        self.diags
            .error(at, format!("expected '{what}'"))
            .note(open, "to match this bracket");
        self.skip_to(&[kind, TokenKind::Semi]);
        self.eat(kind);
    }

    /// Where something is missing: the token before, if the next is on another line.
    fn after_last(&self) -> Loc {
        if self.token().line_start && self.at > 0 {
            self.last()
        } else {
            self.loc()
        }
    }

    fn error_expected(&mut self, what: &str) {
        let at = self.after_last();
        self.diags.error(at, format!("expected {what}"));
    }

    /// Takes the semicolon that ends a declaration or statement.
    fn expect_semi(&mut self, after: &str) {
        if self.eat(TokenKind::Semi).is_some() {
            return;
        }
        let at = self.last();
        self.diags.error(at, format!("expected ';' {after}"));
        if !self.token().line_start {
            self.skip_to(&[TokenKind::Semi]);
            self.eat(TokenKind::Semi);
        }
    }

    /// Skips to one of these tokens outside brackets, or to a closing bracket that was opened
    /// before.
    fn skip_to(&mut self, kinds: &[TokenKind]) {
        let mut depth = 0u32;
        loop {
            let kind = self.kind();
            if kind == TokenKind::Eof || (depth == 0 && kinds.contains(&kind)) {
                return;
            }
            match kind {
                TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => depth += 1,
                TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                    if depth == 0 {
                        return;
                    }
                    depth -= 1;
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Runs `parse` one level of brackets deeper. Too deep ends the parse: nothing sensible would
    /// follow.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> T {
        self.nesting += 1;
        if self.nesting > MAX_NESTING && !self.given_up {
            let loc = self.loc();
            self.diags.error(
                loc,
                format!("bracket nesting level exceeded maximum of {MAX_NESTING}"),
            );
            self.given_up = true;
            self.at = self.tokens.len() - 1;
        }
        let result = stacker::maybe_grow(128 << 10, 1 << 20, || parse(self));
        self.nesting -= 1;
        result
    }

    /// Adds an expression that ends before the next token.
    fn expr(&mut self, kind: ExprKind, first: Loc, loc: Loc) -> ExprId {
        let span = self.span_from(first);
        self.ast.add_expr(Expr { kind, span, loc })
    }

    fn error_expr(&mut self) -> ExprId {
        let loc = self.loc();
        self.ast.add_expr(Expr {
            kind: ExprKind::Error,
            span: Span::at(loc),
            loc,
        })
    }

    /// The text of the next token, for messages.
    fn spelled(&self, symbol: Symbol) -> String {
        self.interner.text(symbol).to_owned()
    }
}

/// The value of an integer constant and whether its type is unsigned, for `#if`.
pub fn integer_constant(text: &str) -> Result<(u64, bool), String> {
    match literal::parse_number(text)? {
        crate::ast::Number::Int {
            value, unsigned, ..
        } => Ok((value, unsigned)),
        crate::ast::Number::Float { .. } => {
            Err("floating point literal in preprocessor expression".to_owned())
        }
    }
}

/// The text of a string literal with its quotes, escapes resolved.
pub fn string_text(text: &str) -> String {
    literal::string_text(text)
}

/// The value of a character constant with its quotes.
pub fn character_constant(text: &str) -> Option<i32> {
    literal::character(text).ok()
}
