//! Definitions of macros: C99 6.10.3.
//!
//! Each symbol has a slot that says what it is as a macro. A name is looked for in the table of
//! predefined macros when it is met for the first time, so that what a program does not use costs
//! it nothing.

use super::dynamic::Dynamic;
use super::predefined::{self, Predefined};
use super::{BodyToken, Macro, MacroId, Params, Preprocessor, Role, Source, Tok};
use crate::symbol::{Symbol, sym};
use crate::token::TokenKind;

/// Slots: the name was not looked for yet; it is no macro; from here on, the index of its
/// definition.
const UNASKED: u32 = 0;
const NO_MACRO: u32 = 1;
const FIRST: u32 = 2;

/// Macros have no more parameters.
const MAX_PARAMS: usize = u16::MAX as usize;

impl Preprocessor<'_> {
    /// The macro of this name.
    pub(super) fn lookup(&mut self, name: Symbol) -> Option<MacroId> {
        match self.slot(name) {
            NO_MACRO => None,
            slot => Some(MacroId(slot - FIRST)),
        }
    }

    pub(super) fn is_defined(&mut self, name: Symbol) -> bool {
        self.lookup(name).is_some()
    }

    /// What a name is as a macro, to be put back by [`Self::set_slot`].
    pub(super) fn slot(&mut self, name: Symbol) -> u32 {
        let index = name.0 as usize;
        if index >= self.slots.len() {
            self.slots
                .resize(self.interner.len().max(index + 1), UNASKED);
        }
        if self.slots[index] == UNASKED {
            self.slots[index] = NO_MACRO;
            self.predefine(name);
        }
        self.slots[index]
    }

    pub(super) fn set_slot(&mut self, name: Symbol, slot: u32) {
        self.slot(name);
        self.slots[name.0 as usize] = slot;
    }

    /// Defines a name if it is that of a predefined macro.
    fn predefine(&mut self, name: Symbol) {
        let text = self.interner.text(name);
        let line = match predefined::find(text, self.options, self.device) {
            None => return,
            Some(Predefined::Object(body)) => format!("{text} {body}"),
            Some(Predefined::Function(body)) => format!("{text}{body}"),
            Some(Predefined::Dynamic(dynamic)) => return self.define_dynamic(name, dynamic),
        };
        self.define_builtin(&line);
    }

    /// Carries out a `#define` that stands nowhere.
    fn define_builtin(&mut self, text: &str) {
        let last_read = self.last_read;
        let line = format!("#define {text}\n");
        if self
            .enter_text("<built-in>", line.into_bytes().into(), None)
            .is_none()
        {
            return;
        }
        if let Some(Source::File(file)) = self.stack.last_mut() {
            file.lexer.token();
            file.lexer.next_in_line();
        }
        self.define(true);
        self.stack.pop();
        self.depth -= 1;
        self.last_read = last_read;
    }

    fn define_dynamic(&mut self, name: Symbol, dynamic: Dynamic) {
        self.add_macro(
            name,
            Macro {
                params: None,
                body: [].into(),
                defined: crate::source::Pos::NONE,
                disabled: false,
                dynamic: Some(dynamic),
                is_predefined: true,
            },
        );
    }

    fn add_macro(&mut self, name: Symbol, definition: Macro) {
        let slot = self.definitions.len() as u32 + FIRST;
        self.definitions.push(definition);
        self.set_slot(name, slot);
    }

    /// The rest of a `#define`.
    pub(super) fn define(&mut self, is_predefined: bool) {
        let Some(name) = self.macro_name("#define") else {
            return;
        };
        let symbol = name.token.symbol;
        let rest = self.rest_of_line();
        let has_params = rest
            .first()
            .is_some_and(|tok| tok.token.kind == TokenKind::LParen && !tok.token.space_before);
        let (params, used) = if has_params {
            match self.macro_params(&rest) {
                Some((params, used)) => (Some(params), used),
                None => return,
            }
        } else {
            if let Some(first) = rest.first()
                && !first.token.space_before
            {
                self.diags.warning(
                    "c99-extensions",
                    first.token,
                    "ISO C99 requires whitespace after the macro name",
                );
            }
            (None, 0)
        };
        let Some(body) = self.macro_body(&rest[used..], params.as_ref()) else {
            return;
        };
        self.give_back(rest);
        let definition = Macro {
            params,
            body: body.into(),
            defined: name.token.pos,
            disabled: false,
            dynamic: None,
            is_predefined,
        };
        if !is_predefined {
            self.tell_redefinition(name, &definition);
        }
        self.add_macro(symbol, definition);
    }

    /// The name that a directive defines or makes undefined.
    fn macro_name(&mut self, directive: &str) -> Option<Tok> {
        let Some(name) = self.next_in_line() else {
            let at = self.here();
            self.diags.error(at, "macro name missing");
            return None;
        };
        if name.token.kind != TokenKind::Ident {
            self.diags
                .error(name.token, "macro name must be an identifier");
            return None;
        }
        let symbol = name.token.symbol;
        if symbol == sym::DEFINED {
            let message = "'defined' cannot be used as a macro name";
            self.diags.error(name.token, message);
            return None;
        }
        if let Some(id) = self.lookup(symbol)
            && self.definitions[id.0 as usize].dynamic.is_some()
        {
            let what = if directive == "#undef" {
                "undefining"
            } else {
                "redefining"
            };
            let message = format!("{what} builtin macro");
            self.diags
                .warning("builtin-macro-redefined", name.token, message);
        }
        Some(name)
    }

    /// `(a, b, ...)` at the start of the tokens: the parameters and how many tokens they take.
    fn macro_params(&mut self, tokens: &[Tok]) -> Option<(Params, usize)> {
        let mut params = Params {
            names: Vec::new(),
            variadic: false,
        };
        let mut seen = rustc_hash::FxHashSet::default();
        let mut at = 1;
        let kind = |at: usize| tokens.get(at).map(|tok| tok.token.kind);
        let place = |at: usize| tokens[at.min(tokens.len() - 1)].token;
        if kind(1) == Some(TokenKind::RParen) {
            return Some((params, 2));
        }
        loop {
            match kind(at) {
                Some(TokenKind::Ident) => {
                    let token = tokens[at].token;
                    if token.symbol == sym::VA_ARGS {
                        self.diags.warning(
                            "pedantic",
                            token,
                            "__VA_ARGS__ can only appear in the expansion of a C99 variadic macro",
                        );
                    }
                    if !seen.insert(token.symbol) {
                        let name = self.text(token);
                        let message = format!("duplicate macro parameter name '{name}'");
                        self.diags.error(token, message);
                        return None;
                    }
                    params.names.push(token.symbol);
                    if kind(at + 1) == Some(TokenKind::Ellipsis) {
                        params.variadic = true;
                        at += 1;
                    }
                }
                Some(TokenKind::Ellipsis) => {
                    params.names.push(sym::VA_ARGS);
                    params.variadic = true;
                }
                None => {
                    let message = "missing ')' in macro parameter list";
                    self.diags.error(place(at), message);
                    return None;
                }
                _ => {
                    let message = "invalid token in macro parameter list";
                    self.diags.error(place(at), message);
                    return None;
                }
            }
            if params.names.len() > MAX_PARAMS {
                self.diags.error(place(at), "too many macro parameters");
                return None;
            }
            match kind(at + 1) {
                Some(TokenKind::Comma) if !params.variadic => at += 2,
                Some(TokenKind::RParen) => return Some((params, at + 2)),
                None => {
                    let message = "missing ')' in macro parameter list";
                    self.diags.error(place(at + 1), message);
                    return None;
                }
                _ => {
                    let message = "expected comma in macro parameter list";
                    self.diags.error(place(at + 1), message);
                    return None;
                }
            }
        }
    }

    /// A macro's body with what each token does. C99 6.10.3.2 and 6.10.3.3 say where `#` and `##`
    /// may stand.
    fn macro_body(&mut self, rest: &[Tok], params: Option<&Params>) -> Option<Vec<BodyToken>> {
        let is_paste = |tok: Option<&Tok>| {
            tok.is_some_and(|tok| tok.token.kind == TokenKind::HashHash && !tok.painted)
        };
        for (tok, end) in [(rest.first(), "start"), (rest.last(), "end")] {
            if is_paste(tok) {
                let message = format!("'##' cannot appear at {end} of macro expansion");
                self.diags.error(tok?.token, message);
                return None;
            }
        }
        let by_name: rustc_hash::FxHashMap<Symbol, u16> = params
            .map(|params| params.names.as_slice())
            .unwrap_or_default()
            .iter()
            .zip(0..)
            .map(|(&name, index)| (name, index))
            .collect();
        let variadic = params.filter(|params| params.variadic);
        let param = |tok: Option<&Tok>| {
            let tok = tok.filter(|tok| tok.token.kind == TokenKind::Ident)?;
            by_name.get(&tok.token.symbol).copied()
        };
        let is_opt = |tok: Option<&Tok>| {
            variadic.is_some()
                && tok.is_some_and(|tok| {
                    tok.token.kind == TokenKind::Ident && tok.token.symbol == sym::VA_OPT
                })
        };
        let mut body = Vec::with_capacity(rest.len());
        // `__VA_OPT__` that is open: the index of its token in `body`, and of its closing
        // parenthesis in `rest`.
        let mut open: Option<(usize, usize)> = None;
        let mut at = 0;
        while at < rest.len() {
            let token = rest[at].token;
            let next = rest.get(at + 1);
            let mut role = Role::Plain;
            let mut used = 1;
            if let Some((index, end)) = open
                && end == at
            {
                let inside = (body.len() - index - 1) as u32;
                let BodyToken { role, .. } = &mut body[index];
                *role = match role {
                    Role::StringizeVaOpt(_) => Role::StringizeVaOpt(inside),
                    _ => Role::VaOpt(inside),
                };
                open = None;
                at += 1;
                continue;
            }
            let hash = token.kind == TokenKind::Hash && params.is_some();
            if hash && let Some(index) = param(next) {
                role = Role::Stringize(index);
                used = 2;
            } else if is_opt(Some(&rest[at])) || hash && is_opt(next) {
                used = 2 + usize::from(hash);
                if open.is_some() {
                    let message = "__VA_OPT__ cannot be nested within its own replacement tokens";
                    self.diags.error(token, message);
                    return None;
                }
                let Some(end) = closing(rest, at + used - 1) else {
                    let message = "missing '(' or ')' of __VA_OPT__";
                    self.diags.error(token, message);
                    return None;
                };
                open = Some((body.len(), end));
                role = if hash {
                    Role::StringizeVaOpt(0)
                } else {
                    Role::VaOpt(0)
                };
            } else if hash {
                let message = "'#' is not followed by a macro parameter";
                self.diags.error(token, message);
                return None;
            } else if token.kind == TokenKind::HashHash {
                let after_comma = body.last().is_some_and(|last: &BodyToken| {
                    last.role == Role::Plain && last.token.kind == TokenKind::Comma
                });
                let rest_index = variadic.map(|params| params.names.len() as u16 - 1);
                role = if after_comma && rest_index.is_some() && param(next) == rest_index {
                    Role::CommaPaste
                } else {
                    Role::Paste
                };
            } else if let Some(index) = param(Some(&rest[at])) {
                role = Role::Param(index);
            } else if token.kind == TokenKind::Ident
                && token.symbol == sym::VA_ARGS
                && variadic.is_none()
            {
                self.diags.warning(
                    "pedantic",
                    token,
                    "__VA_ARGS__ can only appear in the expansion of a C99 variadic macro",
                );
            }
            body.push(BodyToken { token, role });
            at += used;
        }
        Some(body)
    }

    /// C99 6.10.3: a macro is defined again only in the same way.
    fn tell_redefinition(&mut self, name: Tok, new: &Macro) {
        let Some(id) = self.lookup(name.token.symbol) else {
            return;
        };
        let old = &self.definitions[id.0 as usize];
        let same_params = match (&old.params, &new.params) {
            (None, None) => true,
            (Some(a), Some(b)) => a.names == b.names && a.variadic == b.variadic,
            _ => false,
        };
        let same = |(at, (a, b)): (usize, (&BodyToken, &BodyToken))| {
            a.role == b.role
                && a.token.kind == b.token.kind
                && a.token.symbol == b.token.symbol
                && (at == 0 || a.token.space_before == b.token.space_before)
        };
        let same_body = old.body.len() == new.body.len()
            && old.body.iter().zip(&*new.body).enumerate().all(same);
        if (same_params && same_body) || old.is_predefined {
            return;
        }
        let message = format!("'{}' macro redefined", self.text(name.token));
        self.diags
            .warning("macro-redefined", name.token, message)
            .note(old.defined, "previous definition is here");
    }

    pub(super) fn undef(&mut self) {
        if let Some(name) = self.macro_name("#undef") {
            self.set_slot(name.token.symbol, NO_MACRO);
            self.end_of_directive("#undef");
        }
    }
}

/// The parenthesis that closes the one at `open`, if there is one.
fn closing(tokens: &[Tok], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, tok) in tokens.iter().enumerate().skip(open) {
        match tok.token.kind {
            TokenKind::LParen => depth += 1,
            TokenKind::RParen => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > open).then_some(at);
        }
    }
    None
}
