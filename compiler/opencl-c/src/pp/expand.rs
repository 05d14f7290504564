//! Macro expansion: C99 6.10.3, with GNU's variadic forms and C23's `__VA_OPT__`.

use super::{BodyToken, MAX_LIVE, Macro, MacroId, Preprocessor, Role, Source, Tok};
use crate::lex::Lexer;
use crate::symbol::sym;
use crate::token::{Expansion, ExpansionId, Token, TokenKind};

/// What came of a name.
pub(super) enum Outcome {
    /// Its expansion is on the stack.
    Pushed,
    /// It expands to nothing.
    Nothing,
    /// A token stands in its place, perhaps itself.
    Kept(Tok),
}

/// The arguments of a call.
#[derive(Default)]
pub(super) struct Args {
    /// As written, one behind the other.
    raw: Vec<Tok>,
    /// Where each argument ends in `raw`.
    ends: Vec<usize>,
    /// Fully expanded, once that was wanted and makes a difference.
    expanded: Vec<Option<Vec<Tok>>>,
    /// The variable arguments are left out altogether, with the comma before them.
    omitted: bool,
}

impl Args {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn raw(&self, index: usize) -> &[Tok] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.raw[start..self.ends[index]]
    }

    fn end_argument(&mut self) {
        self.ends.push(self.raw.len());
        self.expanded.push(None);
    }
}

impl Preprocessor<'_> {
    /// Expands the macro that a token names.
    pub(super) fn expand(&mut self, tok: Tok, macro_id: MacroId) -> Outcome {
        let definition = &self.definitions[macro_id.0 as usize];
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
        let mut args = None;
        if definition.params.is_some() {
            if !self.opens_parenthesis() {
                return Outcome::Kept(tok);
            }
            args = self.call(tok, macro_id);
            if self.stopped {
                return Outcome::Nothing;
            }
            if args.is_none() {
                return Outcome::Kept(tok);
            }
        }
        if body.is_empty() {
            self.recycle(args);
            return Outcome::Nothing;
        }
        let id = ExpansionId(self.expansions.len() as u32);
        self.expansions.push(Expansion {
            name: tok.token.symbol,
            invoked: tok.token.pos,
            defined,
            parent: tok.token.expansion,
        });
        let mut tokens = self.list();
        match &mut args {
            // Nothing but `##` can need more than a copy.
            None if body.iter().all(|one| one.role == Role::Plain) => {
                tokens.extend(body.iter().map(|one| made(one.token, id)));
            }
            args => {
                let mut none = Args::default();
                let args = args.as_mut().unwrap_or(&mut none);
                self.substitute(&body, args, id, &mut tokens);
            }
        }
        self.recycle(args);
        self.spend(tokens.len() + 1, tokens.len(), tok.token);
        if self.stopped {
            return Outcome::Nothing;
        }
        let Some(first) = tokens.first_mut() else {
            self.give_back(tokens);
            return Outcome::Nothing;
        };
        first.token.space_before = tok.token.space_before;
        first.token.line_start = tok.token.line_start;
        self.definitions[macro_id.0 as usize].disabled = true;
        self.push_tokens(tokens, Some(macro_id));
        Outcome::Pushed
    }

    fn recycle(&mut self, args: Option<Args>) {
        let Some(mut args) = args else { return };
        let expanded = args.expanded.iter().flatten();
        let held = args.raw.len() + expanded.map(Vec::len).sum::<usize>();
        self.live = self.live.saturating_sub(held);
        if self.spare_args.len() < 64 && args.raw.capacity() < 4096 {
            for list in args.expanded.drain(..).flatten() {
                self.give_back(list);
            }
            args.raw.clear();
            args.ends.clear();
            args.omitted = false;
            self.spare_args.push(args);
        }
    }

    /// Whether the next token is `(`. Lists that are used up are left alone: their macros stay
    /// disabled if it is not.
    pub(super) fn opens_parenthesis(&self) -> bool {
        for source in self.stack.iter().rev() {
            match source {
                Source::Barrier => return false,
                Source::File(file) => return file.lexer.opens_parenthesis(),
                Source::Tokens { tokens, at, .. } => {
                    if let Some(next) = tokens.get(*at) {
                        return next.token.kind == TokenKind::LParen;
                    }
                }
            }
        }
        false
    }

    /// Reads the arguments of a macro whose name is followed by a parenthesis; `None` if they are
    /// wrong.
    fn call(&mut self, name: Tok, macro_id: MacroId) -> Option<Args> {
        self.unexpanded();
        let Macro { params, .. } = &self.definitions[macro_id.0 as usize];
        let params = params.as_ref()?;
        let (count, variadic) = (params.names.len(), params.variadic);
        let mut args = self.spare_args.pop().unwrap_or_default();
        let mut depth = 0;
        self.collecting += 1;
        loop {
            let mut tok = self.unexpanded();
            match tok.token.kind {
                TokenKind::Eof => {
                    self.collecting -= 1;
                    let message = format!(
                        "unterminated function-like macro invocation of '{}'",
                        self.text(name.token)
                    );
                    self.diags.error(name.token, message);
                    return None;
                }
                TokenKind::LParen => depth += 1,
                TokenKind::RParen if depth == 0 => break,
                TokenKind::RParen => depth -= 1,
                // Commas of the variable arguments are part of them.
                TokenKind::Comma if depth == 0 && !(variadic && args.len() + 1 == count) => {
                    args.end_argument();
                    continue;
                }
                // The name of a macro being expanded is painted also where it is not looked at
                // again before the expansion's end.
                TokenKind::Ident if !tok.painted => {
                    tok.painted = self
                        .lookup(tok.token.symbol)
                        .is_some_and(|id| self.definitions[id.0 as usize].disabled);
                }
                _ => {}
            }
            // A line's end is white space here.
            tok.token.space_before |= tok.token.line_start;
            tok.token.line_start = false;
            args.raw.push(tok);
            if args.raw.len() > MAX_LIVE {
                self.spend(0, args.raw.len(), name.token);
            }
        }
        self.collecting -= 1;
        args.end_argument();
        self.live += args.raw.len();
        self.spend(args.raw.len(), 0, name.token);
        let is_empty = args.raw.is_empty();
        if count == 0 && args.len() == 1 && is_empty {
            args.ends.clear();
            args.expanded.clear();
        }
        args.omitted = count == 1 && args.len() == 1 && is_empty;
        // The variable part may be missing altogether.
        if variadic && args.len() + 1 == count {
            args.end_argument();
            args.omitted = true;
        }
        if args.len() != count {
            let many = if args.len() > count { "many" } else { "few" };
            let message =
                format!("too {many} arguments provided to function-like macro invocation");
            let defined = self.definitions[macro_id.0 as usize].defined;
            let note = format!("macro '{}' defined here", self.text(name.token));
            self.diags.error(name.token, message).note(defined, note);
            return None;
        }
        Some(args)
    }

    /// Appends a body to `out` with arguments in place of parameters, `#` and `##` carried out.
    fn substitute(
        &mut self,
        body: &[BodyToken],
        args: &mut Args,
        id: ExpansionId,
        out: &mut Vec<Tok>,
    ) {
        // `##` came; the operand before it was empty.
        let (mut pastes, mut empty_before, mut after_comma) = (false, false, false);
        // Whether white space stands before the first operand of a row of `##`, or before one that
        // was empty.
        let (mut space_before, mut space_left) = (false, false);
        let begin = out.len();
        let mut at = 0;
        while at < body.len() {
            let BodyToken { token, role } = body[at];
            at += 1;
            let start = out.len();
            let before_paste = body.get(at).is_some_and(|next| next.role == Role::Paste);
            match role {
                Role::Paste => {
                    pastes = true;
                    continue;
                }
                Role::CommaPaste => {
                    // The comma goes if the arguments are left out. With no other parameter it
                    // stays, as GNU's dialect alone has that, and OpenCL C is not of it.
                    if args.omitted && args.len() > 1 {
                        out.pop();
                    }
                    after_comma = true;
                    continue;
                }
                Role::Plain => out.push(made(token, id)),
                Role::Stringize(index) => {
                    let made = self.stringize(token, args.raw(index.into()), id);
                    out.push(made);
                }
                Role::Param(index) => {
                    let as_written = pastes || before_paste && !after_comma;
                    self.argument(args, index.into(), as_written, out);
                }
                Role::VaOpt(len) | Role::StringizeVaOpt(len) => {
                    let inside = &body[at..at + len as usize];
                    at += len as usize;
                    let mut list = self.list();
                    if self.has_rest(args) {
                        self.substitute(inside, args, id, &mut list);
                    }
                    if let Role::StringizeVaOpt(_) = role {
                        let made = self.stringize(token, &list, id);
                        out.push(made);
                    } else {
                        out.extend_from_slice(&list);
                    }
                    self.give_back(list);
                }
            }
            let is_empty = out.len() == start;
            if !pastes {
                space_before = token.space_before || space_left;
            }
            if !pastes || empty_before {
                if let Some(first) = out.get_mut(start) {
                    first.token.space_before = space_before && !after_comma;
                }
                space_left = is_empty && space_before && !after_comma;
            }
            if pastes && !empty_before && !is_empty && start > begin {
                self.paste(out, start);
            } else if !pastes || empty_before {
                empty_before = is_empty;
            }
            (pastes, after_comma) = (false, false);
        }
    }

    /// Whether there are variable arguments, as `__VA_OPT__` asks.
    fn has_rest(&mut self, args: &mut Args) -> bool {
        let Some(last) = args.len().checked_sub(1) else {
            return false;
        };
        let mut list = self.list();
        self.argument(args, last, false, &mut list);
        let is_there = !list.is_empty();
        self.give_back(list);
        is_there
    }

    /// Appends an argument, as it is written or with all its macros expanded as if it were the rest
    /// of the file.
    fn argument(&mut self, args: &mut Args, index: usize, as_written: bool, out: &mut Vec<Tok>) {
        if !as_written && args.expanded[index].is_none() && self.may_expand(args.raw(index)) {
            let expanded = self.expand_all(args.raw(index));
            self.live += expanded.len();
            args.expanded[index] = Some(expanded);
        }
        match &args.expanded[index] {
            Some(expanded) if !as_written => out.extend_from_slice(expanded),
            _ => out.extend_from_slice(args.raw(index)),
        }
        if let Some(&last) = out.last() {
            self.spend(0, out.len(), last.token);
            if self.stopped {
                out.clear();
            }
        }
    }

    fn may_expand(&mut self, tokens: &[Tok]) -> bool {
        tokens.iter().any(|tok| {
            tok.token.kind == TokenKind::Ident
                && !tok.painted
                && self.lookup(tok.token.symbol).is_some()
        })
    }

    /// Expands a list of tokens by itself.
    pub(super) fn expand_all(&mut self, tokens: &[Tok]) -> Vec<Tok> {
        if self.stopped {
            return Vec::new();
        }
        let mut list = self.list();
        list.extend_from_slice(tokens);
        self.stack.push(Source::Barrier);
        self.push_tokens(list, None);
        let mut all = self.list();
        // Arguments of calls in arguments nest as deep as the source likes.
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            loop {
                let tok = self.next();
                if tok.token.kind == TokenKind::Eof {
                    break;
                }
                all.push(tok);
                if all.len() > MAX_LIVE {
                    self.spend(0, all.len(), tok.token);
                }
            }
        });
        self.drop_barrier();
        all
    }

    /// Takes the barrier away, which is on top when everything above it was read.
    pub(super) fn drop_barrier(&mut self) {
        if !self.stopped {
            debug_assert!(matches!(self.stack.last(), Some(Source::Barrier)));
            self.stack.pop();
        }
    }

    /// `#`: the spelling of an argument as a string literal. C99 6.10.3.2.
    fn stringize(&mut self, hash: Token, arg: &[Tok], id: ExpansionId) -> Tok {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        text.push('"');
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
        // A lone backslash at the end would take the quote with it.
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            text.pop();
            let message = "invalid string literal, ignoring final '\\'";
            self.diags.warning("invalid-pp-token", hash, message);
        }
        text.push('"');
        let symbol = self.interner.intern(&text);
        self.spend(text.len() / 2, 0, hash);
        self.scratch = text;
        let token = Token {
            kind: TokenKind::Str,
            symbol,
            ..hash
        };
        made(token, id)
    }

    /// `##`: makes one token of the one at `at` and the one before it. C99 6.10.3.3.
    fn paste(&mut self, out: &mut Vec<Tok>, at: usize) {
        use TokenKind as T;
        let (left, right) = (out[at - 1].token, out[at].token);
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        text.push_str(self.text(left));
        text.push_str(self.text(right));
        let goes_on = match right.kind {
            T::Ident => true,
            T::Number => !text[self.text(left).len()..].contains(['.', '+', '-']),
            _ => false,
        };
        let kind = if left.kind == T::Ident && goes_on {
            Some(T::Ident)
        } else {
            let mut lexer = Lexer::new(text.as_bytes().into());
            let raw = lexer.token();
            let is_one = raw.end as usize == text.len()
                && raw.start == 0
                && !matches!(raw.kind, T::Eof | T::Unknown);
            is_one.then_some(raw.kind)
        };
        match kind {
            Some(kind) => {
                let has_text = matches!(kind, T::Ident | T::Number | T::Str | T::Char)
                    || text.starts_with(['%', ':'])
                    || matches!(&*text, "<:" | "<%");
                let symbol = if has_text {
                    self.interner.intern(&text)
                } else {
                    sym::EMPTY
                };
                out[at - 1] = Tok {
                    token: Token {
                        kind,
                        symbol,
                        ..left
                    },
                    painted: false,
                };
                out.remove(at);
            }
            None => {
                let message = format!("pasting formed '{text}', an invalid preprocessing token");
                self.diags.error(left, message);
            }
        }
        self.spend(text.len() / 2, 0, left);
        self.scratch = text;
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
