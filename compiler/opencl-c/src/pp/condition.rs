//! The value of `#if`: C99 6.10.1. Integers have 64 bits; names that are no macros are 0.

use super::expand::Outcome;
use super::{Preprocessor, Source, Tok};
use crate::symbol::sym;
use crate::token::{Token, TokenKind};

/// Operators and parentheses nest no deeper.
const MAX_NESTING: u32 = 1000;

/// A value of `intmax_t` or `uintmax_t`.
#[derive(Clone, Copy, Debug)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn of(bool: bool) -> Value {
        Value {
            bits: u64::from(bool),
            unsigned: false,
        }
    }
}

impl Preprocessor<'_> {
    /// Whether the condition on the rest of the line holds.
    pub(super) fn condition(&mut self, word: Token) -> bool {
        let line = self.rest_of_line();
        if line.is_empty() {
            self.diags.error(word, "expected value in expression");
            return false;
        }
        let tokens = self.expanded_condition(line);
        if self.stopped {
            return false;
        }
        let mut evaluator = Evaluator {
            pp: self,
            tokens: &tokens,
            at: 0,
            error: None,
            nesting: 0,
        };
        let value = evaluator.comma(true);
        let rest = tokens.get(evaluator.at).map(|tok| tok.token);
        if let Some((token, message)) = evaluator.error {
            self.diags.error(token.unwrap_or(word), message);
            return false;
        }
        if let Some(rest) = rest {
            let message = "token is not a valid binary operator in a preprocessor subexpression";
            self.diags.error(rest, message);
            return false;
        }
        value.bits != 0
    }

    /// Macros expanded, and what asks for macros answered: 0 or 1 in its place.
    fn expanded_condition(&mut self, line: Vec<Tok>) -> Vec<Tok> {
        self.stack.push(Source::Barrier);
        self.push_tokens(line, None);
        let mut all = Vec::new();
        loop {
            let tok = self.unexpanded();
            if tok.token.kind == TokenKind::Eof {
                break;
            }
            if tok.token.kind != TokenKind::Ident || tok.painted {
                all.push(tok);
                continue;
            }
            let name = tok.token.symbol;
            if name == sym::DEFINED {
                let answer = self.defined_operator(tok);
                all.push(answer);
            } else if let Some(id) = self.lookup(name) {
                if let Outcome::Kept(tok) = self.expand(tok, id) {
                    all.push(tok);
                }
            } else {
                all.push(tok);
            }
        }
        self.drop_barrier();
        all
    }

    /// `defined X` and `defined(X)`.
    fn defined_operator(&mut self, at: Tok) -> Tok {
        let mut tok = self.unexpanded();
        let in_parentheses = tok.token.kind == TokenKind::LParen;
        if in_parentheses {
            tok = self.unexpanded();
        }
        if tok.token.kind != TokenKind::Ident {
            self.diags.error(at.token, "macro name missing");
            return self.number(at, 0);
        }
        let yes = self.is_defined(tok.token.symbol);
        if in_parentheses && self.unexpanded().token.kind != TokenKind::RParen {
            self.diags.error(at.token, "missing ')' after 'defined'");
        }
        self.number(at, u64::from(yes))
    }
}

struct Evaluator<'p, 'a, 't> {
    pp: &'p Preprocessor<'a>,
    tokens: &'t [Tok],
    at: usize,
    error: Option<(Option<Token>, String)>,
    nesting: u32,
}

/// How strongly binary operators bind.
fn strength(kind: TokenKind) -> Option<u8> {
    use TokenKind as T;
    Some(match kind {
        T::Star | T::Slash | T::Percent => 10,
        T::Plus | T::Minus => 9,
        T::Shl | T::Shr => 8,
        T::Lt | T::Gt | T::LtEq | T::GtEq => 7,
        T::EqEq | T::BangEq => 6,
        T::Amp => 5,
        T::Caret => 4,
        T::Pipe => 3,
        T::AmpAmp => 2,
        T::PipePipe => 1,
        _ => return None,
    })
}

impl Evaluator<'_, '_, '_> {
    fn kind(&self) -> TokenKind {
        self.tokens
            .get(self.at)
            .map_or(TokenKind::Eof, |tok| tok.token.kind)
    }

    fn fail(&mut self, message: impl Into<String>) -> Value {
        if self.error.is_none() {
            let token = self.tokens.get(self.at).or(self.tokens.last());
            self.error = Some((token.map(|tok| tok.token), message.into()));
        }
        self.at = self.tokens.len();
        Value::of(false)
    }

    /// Expressions separated by commas: the last counts.
    fn comma(&mut self, used: bool) -> Value {
        let mut value = self.conditional(used);
        while self.kind() == TokenKind::Comma {
            self.at += 1;
            value = self.conditional(used);
        }
        value
    }

    /// `used`: whether the value counts, so that a division by zero is an error.
    fn conditional(&mut self, used: bool) -> Value {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.fail("expression nests too deeply");
        }
        let condition = self.binary(1, used);
        if self.kind() != TokenKind::Question {
            self.nesting -= 1;
            return condition;
        }
        self.at += 1;
        let holds = condition.bits != 0;
        let then = self.comma(used && holds);
        if self.kind() != TokenKind::Colon {
            return self.fail("expected ':' in preprocessor expression");
        }
        self.at += 1;
        let otherwise = self.conditional(used && !holds);
        self.nesting = self.nesting.saturating_sub(1);
        Value {
            bits: if holds { then.bits } else { otherwise.bits },
            unsigned: then.unsigned || otherwise.unsigned,
        }
    }

    fn binary(&mut self, least: u8, used: bool) -> Value {
        let mut left = self.unary(used);
        while let Some(binding) = strength(self.kind()).filter(|&binding| binding >= least) {
            let (kind, operator) = (self.kind(), self.at);
            self.at += 1;
            let used = used
                && match kind {
                    TokenKind::AmpAmp => left.bits != 0,
                    TokenKind::PipePipe => left.bits == 0,
                    _ => true,
                };
            let right = self.binary(binding + 1, used);
            if used && right.bits == 0 && matches!(kind, TokenKind::Slash | TokenKind::Percent) {
                self.at = operator;
                return self.fail("division by zero in preprocessor expression");
            }
            left = apply(kind, left, right);
        }
        left
    }

    fn unary(&mut self, used: bool) -> Value {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.fail("expression nests too deeply");
        }
        let kind = self.kind();
        self.at += 1;
        let value = match kind {
            TokenKind::Plus => self.unary(used),
            TokenKind::Minus => {
                let value = self.unary(used);
                Value {
                    bits: value.bits.wrapping_neg(),
                    ..value
                }
            }
            TokenKind::Tilde => {
                let value = self.unary(used);
                Value {
                    bits: !value.bits,
                    ..value
                }
            }
            TokenKind::Bang => Value::of(self.unary(used).bits == 0),
            TokenKind::LParen => {
                let value = self.comma(used);
                if self.kind() != TokenKind::RParen {
                    return self.fail("expected ')' in preprocessor expression");
                }
                self.at += 1;
                value
            }
            _ => {
                self.at -= 1;
                self.primary()
            }
        };
        self.nesting -= 1;
        value
    }

    fn primary(&mut self) -> Value {
        let Some(tok) = self.tokens.get(self.at).copied() else {
            return self.fail("expected value in expression");
        };
        if tok.token.kind == TokenKind::Ident && tok.token.symbol == sym::TRUE {
            self.at += 1;
            return Value::of(true);
        }
        let text = self.pp.text(tok.token);
        let value = match tok.token.kind {
            TokenKind::Number => match crate::parse::integer_constant(text) {
                Ok((bits, unsigned)) => Value {
                    bits,
                    unsigned: unsigned || bits > i64::MAX as u64,
                },
                Err(why) => return self.fail(why),
            },
            TokenKind::Char => {
                let value = crate::parse::character_constant(text).unwrap_or(0);
                // Wide characters are unsigned bytes or more; plain ones are `char`.
                let value = match text.starts_with('\'') {
                    true => i64::from(value),
                    false => i64::from(value as u32 & 0xff),
                };
                Value {
                    bits: value as u64,
                    unsigned: false,
                }
            }
            TokenKind::Ident => {
                let called = self.tokens.get(self.at + 1);
                if called.is_some_and(|next| next.token.kind == TokenKind::LParen) {
                    let message = format!("function-like macro '{text}' is not defined");
                    return self.fail(message);
                }
                Value::of(false)
            }
            _ => return self.fail("invalid token at start of a preprocessor expression"),
        };
        self.at += 1;
        value
    }
}

/// The value of a binary operation; of a division by zero, which does not count, 0.
fn apply(kind: TokenKind, left: Value, right: Value) -> Value {
    use TokenKind as T;
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (sa, sb) = (a as i64, b as i64);
    let number = |bits: u64| Value { bits, unsigned };
    let less = |x: Value, y: Value| {
        if unsigned {
            x.bits < y.bits
        } else {
            (x.bits as i64) < y.bits as i64
        }
    };
    match kind {
        T::Slash | T::Percent if b == 0 => number(0),
        T::Star => number(a.wrapping_mul(b)),
        T::Slash if unsigned => number(a / b),
        T::Slash => number(sa.wrapping_div(sb) as u64),
        T::Percent if unsigned => number(a % b),
        T::Percent => number(sa.wrapping_rem(sb) as u64),
        T::Plus => number(a.wrapping_add(b)),
        T::Minus => number(a.wrapping_sub(b)),
        T::Shl | T::Shr => shift(kind == T::Shl, left, right),
        T::Lt => Value::of(less(left, right)),
        T::Gt => Value::of(less(right, left)),
        T::LtEq => Value::of(!less(right, left)),
        T::GtEq => Value::of(!less(left, right)),
        T::EqEq => Value::of(a == b),
        T::BangEq => Value::of(a != b),
        T::Amp => number(a & b),
        T::Caret => number(a ^ b),
        T::Pipe => number(a | b),
        T::AmpAmp => Value::of(a != 0 && b != 0),
        _ => Value::of(a != 0 || b != 0),
    }
}

/// Shifts by any number; by a negative one the other way.
fn shift(to_left: bool, left: Value, right: Value) -> Value {
    let backwards = !right.unsigned && (right.bits as i64) < 0;
    let amount = if backwards {
        right.bits.wrapping_neg()
    } else {
        right.bits
    };
    let bits = match (to_left != backwards, left.unsigned) {
        (true, _) => left.bits.checked_shl(amount.min(64) as u32).unwrap_or(0),
        (false, true) => left.bits.checked_shr(amount.min(64) as u32).unwrap_or(0),
        (false, false) => ((left.bits as i64) >> amount.min(63)) as u64,
    };
    Value {
        bits,
        unsigned: left.unsigned,
    }
}
