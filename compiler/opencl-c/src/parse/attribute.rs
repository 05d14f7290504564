//! `__attribute__((...))` and `asm` labels.

use super::Parser;
use crate::ast::{Attribute, AttributeArg};
use crate::symbol::sym;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Takes all attribute lists that come.
    pub(super) fn attributes(&mut self) -> Vec<Attribute> {
        let mut all = Vec::new();
        while matches!(self.word(), sym::ATTRIBUTE | sym::ATTRIBUTE_GNU) {
            self.bump();
            let Some(outer) = self.expect(TokenKind::LParen, "'(' after 'attribute'") else {
                break;
            };
            let Some(inner) = self.expect(TokenKind::LParen, "'(' after '('") else {
                break;
            };
            loop {
                if let Some(attribute) = self.attribute() {
                    all.push(attribute);
                }
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            self.expect_close(TokenKind::RParen, ")", inner);
            self.expect_close(TokenKind::RParen, ")", outer);
        }
        all
    }

    /// One attribute; an attribute list may have empty places.
    fn attribute(&mut self) -> Option<Attribute> {
        let first = self.loc();
        let word = self.word();
        if word == sym::EMPTY {
            return None;
        }
        self.bump();
        // `__name__` is `name`: macros may have taken the plain one.
        let text = self.interner.text(word);
        let plain = text
            .strip_prefix("__")
            .and_then(|rest| rest.strip_suffix("__"))
            .filter(|plain| !plain.is_empty())
            .map(str::to_owned);
        let name = match plain {
            Some(plain) => self.interner.intern(&plain),
            None => word,
        };
        let mut args = Vec::new();
        if let Some(open) = self.eat(TokenKind::LParen) {
            while !matches!(self.kind(), TokenKind::RParen | TokenKind::Eof) {
                let arg = if self.type_name_at(0) {
                    AttributeArg::Type(self.type_name())
                } else {
                    AttributeArg::Expr(self.nested(Self::assignment_expr))
                };
                args.push(arg);
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            self.expect_close(TokenKind::RParen, ")", open);
        }
        Some(Attribute {
            name,
            args,
            span: self.span_from(first),
        })
    }

    /// Takes `asm("name")` behind a declarator, which names the symbol elsewhere: there is no
    /// elsewhere.
    pub(super) fn asm_label(&mut self) {
        if matches!(self.word(), sym::ASM_GNU | sym::ASM_GNU2) {
            let loc = self.bump();
            self.diags.error(loc, "'asm' is not supported in OpenCL C");
            if let Some(open) = self.eat(TokenKind::LParen) {
                self.skip_to(&[TokenKind::RParen]);
                self.expect_close(TokenKind::RParen, ")", open);
            }
        }
    }
}
