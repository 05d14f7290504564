//! Directives: C99 6.10, and what GNU C adds.

use super::{Condition, Macro, Params, Preprocessor, Source, Tok};
use crate::diag::At;
use crate::lex::Raw;
use crate::source::Pos;
use crate::symbol::Symbol;
use crate::token::TokenKind;

impl Preprocessor<'_> {
    /// Carries out the directive whose `#` was read, to the end of its line.
    pub(super) fn directive(&mut self, hash: Raw) {
        let at = match self.stack.last() {
            Some(Source::File(file)) => Pos(file.start + hash.start),
            _ => Pos::NONE,
        };
        let Some(word) = self.next_in_line() else {
            return;
        };
        if word.token.kind == TokenKind::Number {
            // `# 12 "file"`, as preprocessed text has it.
            self.line_marker(word, at);
            self.skip_line();
            return;
        }
        let name = self.text(word.token).to_owned();
        match name.as_str() {
            "define" => self.define(),
            "undef" => self.undef(),
            "include" => self.include(at, false),
            "include_next" => self.include(at, true),
            "import" => {
                self.include(at, false);
                self.pragma_once();
                return;
            }
            "if" => {
                let value = self.condition(at);
                self.open(at, value);
            }
            "ifdef" | "ifndef" => {
                let defined = self.is_defined_operand(&name);
                self.open(at, defined == (name == "ifdef"));
            }
            "elif" | "elifdef" | "elifndef" | "else" => self.other_group(&name, at),
            "endif" => self.endif(at),
            "line" => self.line(at),
            "error" | "warning" => self.message(&name, at),
            "pragma" => self.pragma(at),
            "ident" | "sccs" | "assert" | "unassert" => {}
            _ => {
                self.diags
                    .error(word.token.pos, "invalid preprocessing directive");
            }
        }
        self.skip_line();
    }

    pub(super) fn skip_line(&mut self) {
        if let Some(Source::File(file)) = self.stack.last_mut() {
            file.lexer.skip_line();
        }
    }

    /// Begins a group; skips it if its condition does not hold.
    fn open(&mut self, at: Pos, holds: bool) {
        self.conditions.push(Condition {
            at,
            taken: holds,
            has_else: false,
        });
        if !holds {
            self.skip_group();
        }
    }

    /// An `#elif` or `#else` ends the group that was taken, so what follows is skipped.
    fn other_group(&mut self, name: &str, at: Pos) {
        if !self.in_condition() {
            self.diags.error(at, format!("#{name} without #if"));
            return;
        }
        self.note_else(name, at);
        self.skip_group();
    }

    /// Whether the innermost file has a condition open.
    fn in_condition(&mut self) -> bool {
        let before = self.file().map_or(0, |file| file.conditions);
        self.conditions.len() > before
    }

    fn note_else(&mut self, name: &str, at: Pos) {
        let Some(open) = self.conditions.last_mut() else {
            return;
        };
        if open.has_else {
            let first = open.at;
            self.diags
                .error(at, format!("#{name} after #else"))
                .note(first, "the condition begins here");
        } else if name == "else" {
            open.has_else = true;
        }
    }

    fn endif(&mut self, at: Pos) {
        if self.in_condition() {
            self.conditions.pop();
        } else {
            self.diags.error(at, "#endif without #if");
        }
    }

    /// Skips lines to the group that is taken next, or behind `#endif`.
    fn skip_group(&mut self) {
        self.skip_line();
        let mut depth = 0u32;
        loop {
            let Some(Source::File(file)) = self.stack.last_mut() else {
                return;
            };
            let raw = file.lexer.token();
            // What is skipped need not be made of tokens.
            file.lexer.faults.clear();
            if raw.kind == TokenKind::Eof {
                // The end is found again by whoever reads on.
                return;
            }
            if raw.kind != TokenKind::Hash || !raw.line_start {
                file.lexer.skip_line();
                file.lexer.faults.clear();
                continue;
            }
            let at = Pos(file.start + raw.start);
            let Some(word) = self.next_in_line() else {
                continue;
            };
            let name = self.text(word.token).to_owned();
            match name.as_str() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth == 0 => {
                    self.conditions.pop();
                    self.skip_line();
                    return;
                }
                "endif" => depth -= 1,
                "else" | "elif" | "elifdef" | "elifndef" if depth == 0 => {
                    self.note_else(&name, at);
                    let taken = self.conditions.last().is_none_or(|open| open.taken);
                    let holds = !taken
                        && match name.as_str() {
                            "else" => true,
                            "elif" => self.condition(at),
                            _ => self.is_defined_operand(&name) == (name == "elifdef"),
                        };
                    if holds {
                        if let Some(open) = self.conditions.last_mut() {
                            open.taken = true;
                        }
                        self.skip_line();
                        return;
                    }
                }
                _ => {}
            }
            self.skip_line();
        }
    }

    /// The operand of `#ifdef`.
    fn is_defined_operand(&mut self, directive: &str) -> bool {
        let at = self.here();
        match self.next_in_line() {
            Some(tok) if tok.token.kind == TokenKind::Ident => self.is_defined(tok.token.symbol),
            _ => {
                self.diags
                    .error(at, format!("macro name missing in #{directive}"));
                false
            }
        }
    }

    pub(super) fn is_defined(&self, name: Symbol) -> bool {
        self.macros.contains_key(&name)
            || name == self.words.has_include
            || name == self.words.has_include_next
    }

    /// Where the innermost file is read.
    pub(super) fn here(&mut self) -> At {
        match self.file() {
            Some(file) => At::Source(Pos(file.start + file.lexer.offset()), 1),
            None => At::Nowhere,
        }
    }

    fn define(&mut self) {
        let at = self.here();
        let Some(name) = self.next_in_line() else {
            self.diags.error(at, "macro name missing");
            return;
        };
        if name.token.kind != TokenKind::Ident {
            self.diags
                .error(name.token.pos, "macro name must be an identifier");
            return;
        }
        let symbol = name.token.symbol;
        if symbol == self.words.defined {
            self.diags
                .error(name.token.pos, "'defined' cannot be used as a macro name");
            return;
        }
        let mut rest = self.rest_of_line();
        let has_params = rest
            .first()
            .is_some_and(|tok| tok.token.kind == TokenKind::LParen && !tok.token.space_before);
        let params = if has_params {
            let Some((params, used)) = self.macro_params(&rest) else {
                return;
            };
            rest.drain(..used);
            Some(params)
        } else {
            None
        };
        self.check_body(&rest, params.as_ref());
        let body: Vec<_> = rest.iter().map(|tok| tok.token).collect();
        let definition = Macro {
            params,
            body: body.into(),
            defined: name.token.pos,
            disabled: false,
            dynamic: None,
            is_predefined: false,
        };
        self.tell_redefinition(symbol, &definition);
        self.macros.insert(symbol, definition);
    }

    /// `(a, b, ...)` at the start of the tokens: the parameters and how many tokens they take.
    fn macro_params(&mut self, tokens: &[Tok]) -> Option<(Params, usize)> {
        let mut params = Params {
            names: Vec::new(),
            variadic: false,
        };
        let mut at = 1;
        let kind = |at: usize| tokens.get(at).map(|tok| tok.token.kind);
        if kind(1) == Some(TokenKind::RParen) {
            return Some((params, 2));
        }
        loop {
            match kind(at) {
                Some(TokenKind::Ident) => {
                    let token = tokens[at].token;
                    if params.names.contains(&token.symbol) {
                        let name = self.text(token).to_owned();
                        self.diags.error(
                            token.pos,
                            format!("duplicate macro parameter name '{name}'"),
                        );
                        return None;
                    }
                    params.names.push(token.symbol);
                    if kind(at + 1) == Some(TokenKind::Ellipsis) {
                        params.variadic = true;
                        at += 1;
                    }
                }
                Some(TokenKind::Ellipsis) => {
                    params.names.push(self.words.va_args);
                    params.variadic = true;
                }
                _ => {
                    let pos = tokens[at.min(tokens.len() - 1)].token.pos;
                    self.diags
                        .error(pos, "expected identifier in macro parameter list");
                    return None;
                }
            }
            match kind(at + 1) {
                Some(TokenKind::Comma) if !params.variadic => at += 2,
                Some(TokenKind::RParen) => return Some((params, at + 2)),
                _ => {
                    let pos = tokens[(at + 1).min(tokens.len() - 1)].token.pos;
                    let what = if params.variadic { "')'" } else { "',' or ')'" };
                    self.diags
                        .error(pos, format!("expected {what} in macro parameter list"));
                    return None;
                }
            }
        }
    }

    /// C99 6.10.3.2 and 6.10.3.3: where `#` and `##` may stand.
    fn check_body(&mut self, body: &[Tok], params: Option<&Params>) {
        if let (Some(first), Some(last)) = (body.first(), body.last()) {
            for (tok, end) in [(first, "start"), (last, "end")] {
                if tok.token.kind == TokenKind::HashHash {
                    self.diags.error(
                        tok.token.pos,
                        format!("'##' cannot appear at {end} of macro expansion"),
                    );
                }
            }
        }
        let Some(params) = params else { return };
        for (at, tok) in body.iter().enumerate() {
            let next = body.get(at + 1);
            let stringizes = next.is_some_and(|next| params.names.contains(&next.token.symbol));
            if tok.token.kind == TokenKind::Hash && !stringizes {
                self.diags
                    .error(tok.token.pos, "'#' is not followed by a macro parameter");
            }
        }
    }

    fn tell_redefinition(&mut self, name: Symbol, new: &Macro) {
        let Some(old) = self.macros.get(&name) else {
            return;
        };
        let same_params = match (&old.params, &new.params) {
            (None, None) => true,
            (Some(a), Some(b)) => a.names == b.names && a.variadic == b.variadic,
            _ => false,
        };
        let same_body = old.body.len() == new.body.len()
            && old
                .body
                .iter()
                .zip(&*new.body)
                .enumerate()
                .all(|(at, (a, b))| {
                    a.kind == b.kind
                        && a.symbol == b.symbol
                        && (at == 0 || a.space_before == b.space_before)
                });
        if (same_params && same_body) || old.is_predefined {
            return;
        }
        let (text, defined) = (self.interner.text(name).to_owned(), old.defined);
        self.diags
            .warning(
                "macro-redefined",
                new.defined,
                format!("'{text}' macro redefined"),
            )
            .note(defined, "previous definition is here");
    }

    fn undef(&mut self) {
        let at = self.here();
        match self.next_in_line() {
            Some(tok) if tok.token.kind == TokenKind::Ident => {
                self.macros.remove(&tok.token.symbol);
            }
            _ => {
                self.diags.error(at, "macro name missing in #undef");
            }
        }
    }

    /// `#line`, whose operands are expanded.
    fn line(&mut self, at: Pos) {
        let rest = self.rest_of_line();
        let rest = self.expand_all(&rest);
        let Some(number) = rest.first() else {
            self.diags
                .error(at, "#line directive requires a positive integer argument");
            return;
        };
        self.renumber(at, *number, rest.get(1).copied());
    }

    fn line_marker(&mut self, number: Tok, at: Pos) {
        let name = self.next_in_line();
        self.renumber(at, number, name);
    }

    fn renumber(&mut self, at: Pos, number: Tok, name: Option<Tok>) {
        let digits = self.text(number.token).to_owned();
        let Ok(line) = digits.parse::<u32>() else {
            self.diags.error(
                number.token.pos,
                "#line directive requires a simple digit sequence",
            );
            return;
        };
        let name = name.map(|tok| {
            let text = self.text(tok.token);
            text.trim_matches('"').to_owned()
        });
        self.map.renumber(at, line, name.as_deref());
    }

    /// `#error` and `#warning`: the rest of the line as it is written.
    fn message(&mut self, name: &str, at: Pos) {
        let rest = self.rest_of_line();
        let mut text = String::new();
        for (index, tok) in rest.iter().enumerate() {
            if index > 0 && tok.token.space_before {
                text.push(' ');
            }
            text.push_str(self.text(tok.token));
        }
        if name == "error" {
            self.diags.error(At::Source(at, 1), text);
        } else {
            self.diags.warning("#warnings", At::Source(at, 1), text);
        }
    }
}
