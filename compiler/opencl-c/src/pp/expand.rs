//! Macro expansion: C99 6.10.3, with GNU's variadic forms and C23's `__VA_OPT__`.

use std::rc::Rc;

use super::{MAX_TOKENS, Params, Preprocessor, Source, Tok};
use crate::lex::Lexer;
use crate::symbol::Symbol;
use crate::token::{Expansion, ExpansionId, Token, TokenKind};

/// What came of a name.
pub(super) enum Outcome {
    /// Its expansion is on the stack.
    Expanded,
    /// It is no macro, or is not expanded here.
    Kept(Tok),
}

/// An argument: as written, and fully expanded once that was wanted.
struct Argument {
    raw: Vec<Tok>,
    expanded: Option<Vec<Tok>>,
}

impl Preprocessor<'_> {
    /// Expands the macro that a token names, if it does.
    pub(super) fn expand(&mut self, tok: Tok) -> Outcome {
        let name = tok.token.symbol;
        let Some(definition) = self.macros.get(&name) else {
            if name == self.words.pragma {
                return self.pragma_operator(tok);
            }
            return Outcome::Kept(tok);
        };
        if definition.disabled {
            return Outcome::Kept(Tok {
                painted: true,
                ..tok
            });
        }
        if let Some(dynamic) = definition.dynamic {
            return self.expand_dynamic(tok, dynamic);
        }
        let body = definition.body.clone();
        let defined = definition.defined;
        let args = if definition.params.is_some() {
            match self.call(tok) {
                Some(args) => args,
                None => return Outcome::Kept(tok),
            }
        } else {
            Vec::new()
        };
        let id = ExpansionId(self.expansions.len() as u32);
        self.expansions.push(Expansion {
            name,
            invoked: tok.token.pos,
            defined,
            parent: tok.token.expansion,
        });
        let mut tokens = self.substitute(name, &body, args, id);
        if let Some(first) = tokens.first_mut() {
            first.token.space_before = tok.token.space_before;
            first.token.line_start = tok.token.line_start;
        }
        self.made += tokens.len();
        if self.made > MAX_TOKENS {
            self.stop(tok.token.pos, "macros expand to too many tokens");
            return Outcome::Expanded;
        }
        if let Some(definition) = self.macros.get_mut(&name) {
            definition.disabled = true;
        }
        self.push_tokens(tokens.into(), Some(name));
        Outcome::Expanded
    }

    /// The arguments of a macro with parentheses; `None` if no parenthesis follows its name.
    fn call(&mut self, name: Tok) -> Option<Vec<Argument>> {
        let open = self.unexpanded();
        if open.token.kind != TokenKind::LParen {
            if open.token.kind != TokenKind::Eof {
                self.push_tokens(Rc::new([open]), None);
            }
            return None;
        }
        let definition = self.macros.get(&name.token.symbol)?;
        let params = definition.params.as_ref()?;
        let (count, variadic) = (params.names.len(), params.variadic);
        let mut all = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let mut tok = self.unexpanded();
            match tok.token.kind {
                TokenKind::Eof => {
                    let text = self.interner.text(name.token.symbol).to_owned();
                    let message =
                        format!("unterminated function-like macro invocation of '{text}'");
                    self.diags.error(name.token.pos, message);
                    return None;
                }
                TokenKind::LParen => depth += 1,
                TokenKind::RParen if depth == 0 => break,
                TokenKind::RParen => depth -= 1,
                TokenKind::Comma if depth == 0 && !(variadic && all.len() == count) => {
                    all.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            // A line's end is white space here.
            tok.token.space_before |= tok.token.line_start;
            tok.token.line_start = false;
            if let Some(last) = all.last_mut() {
                last.push(tok);
            }
        }
        if count == 0 && all.len() == 1 && all[0].is_empty() {
            all.clear();
        }
        // The variable part may be missing altogether.
        if variadic && all.len() + 1 == count {
            all.push(Vec::new());
        }
        if all.len() != count {
            self.wrong_count(name, all.len(), count);
            all.resize_with(count, Vec::new);
        }
        let argument = |raw| Argument {
            raw,
            expanded: None,
        };
        Some(all.into_iter().map(argument).collect())
    }

    fn wrong_count(&mut self, name: Tok, given: usize, wanted: usize) {
        let text = self.interner.text(name.token.symbol).to_owned();
        let (defined, pos) = (self.macros[&name.token.symbol].defined, name.token.pos);
        let many = if given > wanted { "many" } else { "few" };
        self.diags
            .error(
                pos,
                format!("too {many} arguments provided to function-like macro invocation"),
            )
            .note(defined, format!("macro '{text}' defined here"));
    }

    /// The body with arguments in place of parameters, `#` and `##` carried out.
    fn substitute(
        &mut self,
        name: Symbol,
        body: &[Token],
        mut args: Vec<Argument>,
        id: ExpansionId,
    ) -> Vec<Tok> {
        let is_function = self.macros[&name].params.is_some();
        self.substitute_part(name, body, &mut args, id, is_function)
    }

    fn parameter(&self, name: Symbol, token: Token) -> Option<(usize, bool)> {
        if token.kind != TokenKind::Ident {
            return None;
        }
        let Params { names, variadic } = self.macros[&name].params.as_ref()?;
        let index = names.iter().position(|&param| param == token.symbol)?;
        Some((index, *variadic && index + 1 == names.len()))
    }

    fn substitute_part(
        &mut self,
        name: Symbol,
        body: &[Token],
        args: &mut [Argument],
        id: ExpansionId,
        is_function: bool,
    ) -> Vec<Tok> {
        let mut out: Vec<Tok> = Vec::with_capacity(body.len());
        // `##` came; the operand before it was empty.
        let (mut paste, mut empty_before) = (false, false);
        let mut at = 0;
        while at < body.len() {
            let token = body[at];
            at += 1;
            if token.kind == TokenKind::HashHash && at > 1 && at < body.len() {
                paste = true;
                continue;
            }
            let raw_wanted = paste
                || body
                    .get(at)
                    .is_some_and(|next| next.kind == TokenKind::HashHash);
            let mut operand = Vec::new();
            if is_function && token.kind == TokenKind::Hash && at < body.len() {
                if let Some((index, _)) = self.parameter(name, body[at]) {
                    at += 1;
                    operand.push(self.stringize(token, &args[index].raw, id));
                } else {
                    operand.push(made(token, id));
                }
            } else if let Some((index, is_rest)) = self.parameter(name, token) {
                let after_comma = paste
                    && is_rest
                    && out
                        .last()
                        .is_some_and(|tok| tok.token.kind == TokenKind::Comma);
                if after_comma {
                    // GNU: the comma goes with the arguments it stands before.
                    paste = false;
                    if args[index].raw.is_empty() {
                        out.pop();
                    }
                    operand = self.expanded(&mut args[index]);
                } else if raw_wanted {
                    operand.clone_from(&args[index].raw);
                } else {
                    operand = self.expanded(&mut args[index]);
                }
                if let Some(first) = operand.first_mut() {
                    first.token.space_before = token.space_before;
                }
            } else if token.kind == TokenKind::Ident && token.symbol == self.words.va_opt {
                let end = closing(body, at);
                if let Some(rest) = args.last_mut()
                    && end > at
                    && !self.expanded(rest).is_empty()
                {
                    let inner = &body[at + 1..end];
                    operand = self.substitute_part(name, inner, args, id, is_function);
                }
                at = end + 1;
            } else {
                operand.push(made(token, id));
            }
            if paste {
                paste = false;
                let Some((&first, rest)) = operand.split_first() else {
                    continue;
                };
                match out.pop() {
                    Some(left) if !empty_before => self.paste(&mut out, left, first),
                    left => {
                        out.extend(left);
                        out.push(first);
                    }
                }
                out.extend_from_slice(rest);
                empty_before = false;
            } else {
                empty_before = operand.is_empty();
                out.append(&mut operand);
            }
        }
        out
    }

    /// An argument with all its macros expanded, as if it were the rest of the file.
    fn expanded(&mut self, arg: &mut Argument) -> Vec<Tok> {
        if let Some(expanded) = &arg.expanded {
            return expanded.clone();
        }
        let may_expand = arg
            .raw
            .iter()
            .any(|tok| tok.token.kind == TokenKind::Ident && !tok.painted);
        let expanded = if may_expand {
            self.expand_all(&arg.raw)
        } else {
            arg.raw.clone()
        };
        arg.expanded = Some(expanded.clone());
        expanded
    }

    /// Expands a list of tokens by itself.
    pub(super) fn expand_all(&mut self, tokens: &[Tok]) -> Vec<Tok> {
        self.stack.push(Source::Barrier);
        self.push_tokens(tokens.into(), None);
        let mut all = Vec::with_capacity(tokens.len());
        loop {
            let tok = stacker::maybe_grow(64 << 10, 1 << 20, || self.next());
            if tok.token.kind == TokenKind::Eof {
                break;
            }
            all.push(tok);
        }
        self.drop_barrier();
        all
    }

    /// Takes the barrier away, which is on top when everything before it was read.
    pub(super) fn drop_barrier(&mut self) {
        if !self.stopped {
            debug_assert!(matches!(self.stack.last(), Some(Source::Barrier)));
            self.stack.pop();
        }
    }

    /// `#`: the spelling of an argument as a string literal. C99 6.10.3.2.
    fn stringize(&mut self, hash: Token, arg: &[Tok], id: ExpansionId) -> Tok {
        let mut text = "\"".to_owned();
        for (index, tok) in arg.iter().enumerate() {
            if index > 0 && tok.token.space_before {
                text.push(' ');
            }
            let spelled = self.text(tok.token);
            if matches!(tok.token.kind, TokenKind::Str | TokenKind::Char) {
                for c in spelled.chars() {
                    if matches!(c, '"' | '\\') {
                        text.push('\\');
                    }
                    text.push(c);
                }
            } else {
                text.push_str(spelled);
            }
        }
        text.push('"');
        let symbol = self.interner.intern(&text);
        let token = Token {
            kind: TokenKind::Str,
            symbol,
            ..hash
        };
        made(token, id)
    }

    /// `##`: two tokens as one. C99 6.10.3.3.
    fn paste(&mut self, out: &mut Vec<Tok>, left: Tok, right: Tok) {
        let text = format!("{}{}", self.text(left.token), self.text(right.token));
        let mut lexer = Lexer::new(text.as_bytes().into());
        let raw = lexer.token();
        let is_one = raw.end as usize == text.len()
            && raw.kind != TokenKind::Eof
            && raw.kind != TokenKind::Unknown;
        if !is_one {
            let at = self.outermost(left.token);
            let message = format!("pasting formed '{text}', an invalid preprocessing token");
            self.diags.error(at, message);
            out.extend([left, right]);
            return;
        }
        out.push(Tok {
            token: Token {
                kind: raw.kind,
                symbol: self.interner.intern(&text),
                ..left.token
            },
            painted: false,
        });
    }

    /// Where a token stands in a file.
    pub(super) fn outermost(&self, token: Token) -> crate::source::Pos {
        let (mut pos, mut id) = (token.pos, token.expansion);
        while id != ExpansionId::NONE {
            let expansion = &self.expansions[id.0 as usize];
            pos = expansion.invoked;
            id = expansion.parent;
        }
        pos
    }
}

/// A token of a macro's body in an expansion of it.
fn made(token: Token, id: ExpansionId) -> Tok {
    Tok {
        token: Token {
            expansion: id,
            line_start: false,
            ..token
        },
        painted: false,
    }
}

/// The parenthesis that closes the one at `open`; `open` itself if there is none.
fn closing(body: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in body.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::LParen => depth += 1,
            TokenKind::RParen => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    open
}
