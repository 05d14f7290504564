//! Macros whose value depends on where they stand: `__LINE__`, and those that ask, such as
//! `__has_attribute`.

use super::expand::Outcome;
use super::{Preprocessor, Tok, known};
use crate::source::Pos;
use crate::symbol::sym;
use crate::token::{ExpansionId, RoundingMode, Token, TokenKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dynamic {
    Line,
    File,
    FileName,
    BaseFile,
    IncludeLevel,
    Counter,
    /// `__ROUNDING_MODE__` of `cl_khr_select_fprounding_mode`.
    RoundingMode,
    /// `_Pragma`
    Pragma,
    HasInclude,
    HasIncludeNext,
    Asks(Question),
}

/// What is asked of a name, or of a string for `__has_warning`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Attribute,
    /// Attributes of C23 and C++, which there are none of.
    CAttribute,
    Builtin,
    Feature,
    Extension,
    Warning,
    Identifier,
}

impl Preprocessor<'_> {
    pub(super) fn expand_dynamic(&mut self, tok: Tok, dynamic: Dynamic) -> Outcome {
        let made = match dynamic {
            Dynamic::Line => {
                // In a macro's body it is the line where the call ends.
                let is_in_body = tok.token.expansion != ExpansionId::NONE;
                let at = if is_in_body {
                    self.last_read
                } else {
                    tok.token.pos
                };
                let line = self.map.place(at).map_or(0, |place| place.line);
                self.number(tok, u64::from(line))
            }
            Dynamic::File => {
                let at = self.outermost(tok.token);
                let name = self.map.place(at).map(|place| place.file);
                self.string(tok, &name.unwrap_or_default())
            }
            Dynamic::FileName => {
                let at = self.outermost(tok.token);
                let name = self.map.place(at).map(|place| place.file);
                let name = name.unwrap_or_default();
                let last = name.rsplit('/').next().unwrap_or_default();
                self.string(tok, last)
            }
            Dynamic::BaseFile => self.string(tok, self.input.name),
            Dynamic::IncludeLevel => {
                let at = self.outermost(tok.token);
                let level = self.map.includers(at).count();
                self.number(tok, level as u64)
            }
            Dynamic::Counter => {
                self.counter += 1;
                self.number(tok, self.counter - 1)
            }
            Dynamic::RoundingMode => {
                let symbol = self.interner.intern(match self.roundings.current() {
                    None | Some(RoundingMode::ToEven) => "rte",
                    Some(RoundingMode::ToZero) => "rtz",
                    Some(RoundingMode::ToPositive) => "rtp",
                    Some(RoundingMode::ToNegative) => "rtn",
                });
                Tok {
                    token: Token {
                        symbol,
                        ..tok.token
                    },
                    ..tok
                }
            }
            Dynamic::Pragma => return self.pragma_operator(tok),
            Dynamic::HasInclude => self.has_include(tok, false),
            Dynamic::HasIncludeNext => self.has_include(tok, true),
            Dynamic::Asks(question) => {
                let answer = self.answer(tok, question);
                self.number(tok, answer)
            }
        };
        Outcome::Kept(made)
    }

    /// A number in the place of a token.
    pub(super) fn number(&mut self, at: Tok, value: u64) -> Tok {
        self.literal(at, TokenKind::Number, &value.to_string())
    }

    fn string(&mut self, at: Tok, text: &str) -> Tok {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        self.literal(at, TokenKind::Str, &format!("\"{text}\""))
    }

    fn literal(&mut self, at: Tok, kind: TokenKind, text: &str) -> Tok {
        Tok {
            token: Token {
                kind,
                symbol: self.interner.intern(text),
                ..at.token
            },
            painted: false,
        }
    }

    /// Where a token stands in a file.
    pub(super) fn outermost(&self, token: Token) -> Pos {
        let (mut pos, mut id) = (token.pos, token.expansion);
        while let Some(expansion) = self.expansions.get(id.0 as usize).filter(|_| id.0 > 0) {
            pos = expansion.invoked;
            id = expansion.parent;
        }
        pos
    }

    /// The operand in parentheses of what asks, as it is written.
    fn operand(&mut self, at: Tok) -> Option<Vec<Tok>> {
        if !self.opens_parenthesis() {
            let message = format!("missing '(' after '{}'", self.text(at.token));
            self.diags.error(at.token, message);
            return None;
        }
        self.unexpanded();
        let mut tokens = Vec::new();
        let mut depth = 0;
        self.collecting += 1;
        loop {
            let tok = self.unexpanded();
            match tok.token.kind {
                TokenKind::RParen if depth == 0 => break,
                TokenKind::RParen => depth -= 1,
                TokenKind::LParen => depth += 1,
                TokenKind::Eof => {
                    let message = format!("missing ')' after '{}'", self.text(at.token));
                    self.diags.error(at.token, message);
                    break;
                }
                _ => {}
            }
            tokens.push(tok);
        }
        self.collecting -= 1;
        Some(tokens)
    }

    fn has_include(&mut self, at: Tok, next: bool) -> Tok {
        let Some(mut tokens) = self.operand(at) else {
            return self.number(at, 0);
        };
        if tokens
            .first()
            .is_some_and(|tok| tok.token.kind == TokenKind::Ident)
        {
            tokens = self.expand_all(&tokens);
        }
        let Some(header) = self.header_of(&tokens) else {
            let message = "expected \"FILENAME\" or <FILENAME>";
            self.diags.error(at.token, message);
            return self.number(at, 0);
        };
        let yes = self.has_header(&header, next);
        self.number(at, u64::from(yes))
    }

    fn answer(&mut self, at: Tok, question: Question) -> u64 {
        let Some(tokens) = self.operand(at) else {
            return 0;
        };
        let Some(first) = tokens.first() else {
            let message = "builtin feature check macro requires a parenthesized identifier";
            self.diags.error(at.token, message);
            return 0;
        };
        let text = self.text(first.token);
        // `__packed__` asks for `packed`.
        let plain = text
            .strip_prefix("__")
            .and_then(|text| text.strip_suffix("__"))
            .unwrap_or(text);
        let yes = match question {
            Question::Attribute => known::ATTRIBUTES.binary_search(&plain).is_ok(),
            Question::CAttribute => false,
            Question::Builtin => known::is_intrinsic(text),
            Question::Feature => known::FEATURES.binary_search(&plain).is_ok(),
            Question::Extension => {
                let lists = [known::FEATURES, known::EXTENSIONS];
                lists.iter().any(|list| list.binary_search(&plain).is_ok())
            }
            Question::Warning => {
                let name = text.trim_matches('"').strip_prefix("-W");
                name.is_some_and(|name| known::WARNINGS.binary_search(&name).is_ok())
            }
            // Keywords have the first symbols.
            Question::Identifier => {
                first.token.kind == TokenKind::Ident && first.token.symbol > sym::PRETTY_FUNCTION
            }
        };
        u64::from(yes)
    }
}
