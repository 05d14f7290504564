//! Directives: C99 6.10, and what GNU C and C23 add.

use super::{Condition, Guard, Preprocessor, Source, Tok};
use crate::diag::{At, similar};
use crate::lex::Raw;
use crate::source::Pos;
use crate::symbol::{Symbol, sym};
use crate::token::{Token, TokenKind};

/// The directives, for what a misspelled one may mean.
const DIRECTIVES: &[&str] = &[
    "define",
    "elif",
    "elifdef",
    "elifndef",
    "else",
    "endif",
    "error",
    "if",
    "ifdef",
    "ifndef",
    "import",
    "include",
    "include_next",
    "line",
    "pragma",
    "undef",
    "warning",
];

impl Preprocessor<'_> {
    /// Carries out the directive whose `#` was read, to the end of its line.
    pub(super) fn directive(&mut self, hash: Raw) {
        let Some(Source::File(file)) = self.stack.last_mut() else {
            return;
        };
        let at = Pos(file.start + hash.start);
        let (id, guard) = (file.id, file.guard);
        let Some(word) = self.next_in_line() else {
            return;
        };
        self.watch_guard(guard, word.token);
        if word.token.kind == TokenKind::Number {
            // `# 12 "file"`, as preprocessed text has it.
            self.line_marker(word, at);
        } else {
            let name = match word.token.kind {
                TokenKind::Ident => word.token.symbol,
                _ => sym::EMPTY,
            };
            self.named_directive(name, word.token);
        }
        // An `#include` has skipped its line, and is now in another file.
        if let Some(Source::File(file)) = self.stack.last()
            && file.id == id
        {
            self.skip_line();
        }
    }

    fn named_directive(&mut self, name: Symbol, word: Token) {
        match name {
            sym::DEFINE => self.define(false),
            sym::UNDEF => self.undef(),
            sym::INCLUDE | sym::INCLUDE_NEXT | sym::IMPORT | sym::PRAGMA if self.collecting > 0 => {
                let name = self.text(word);
                let message = format!(
                    "embedding a #{name} directive within macro arguments is not supported"
                );
                self.diags.error(word, message);
            }
            sym::INCLUDE | sym::INCLUDE_NEXT | sym::IMPORT => self.include(name, word),
            sym::IF => {
                let holds = self.condition(word);
                self.open(word, holds);
            }
            sym::IFDEF | sym::IFNDEF => {
                let defined = self.is_operand_defined(word);
                self.open(word, defined == (name == sym::IFDEF));
            }
            sym::ELIF | sym::ELIFDEF | sym::ELIFNDEF | sym::ELSE => self.other_group(word),
            sym::ENDIF => self.endif(word),
            sym::LINE => self.line(word),
            sym::ERROR | sym::WARNING => self.message(word),
            sym::PRAGMA => self.pragma(word),
            sym::IDENT | sym::SCCS | sym::ASSERT | sym::UNASSERT => {}
            _ => self.unknown_directive(word),
        }
    }

    fn unknown_directive(&mut self, word: Token) {
        let meant = similar(self.text(word), DIRECTIVES.iter().copied());
        let message = match meant {
            Some(meant) => {
                format!("invalid preprocessing directive, did you mean '#{meant}'?")
            }
            None => "invalid preprocessing directive".to_owned(),
        };
        self.diags.error(word, message);
    }

    pub(super) fn skip_line(&mut self) {
        if let Some(Source::File(file)) = self.stack.last_mut() {
            file.lexer.skip_line();
            file.lexer.faults.clear();
        }
    }

    /// Warns of tokens behind a directive's operands.
    pub(super) fn end_of_directive(&mut self, directive: &str) {
        if let Some(tok) = self.next_in_line() {
            let message = format!("extra tokens at end of {directive} directive");
            self.diags.warning("extra-tokens", tok.token, message);
        }
    }

    /// Follows whether the file is within one `#ifndef`. `guard`: what it was before this
    /// directive.
    fn watch_guard(&mut self, guard: Guard, word: Token) {
        let in_outermost = self.open_conditions() == 1;
        let Some(Source::File(file)) = self.stack.last_mut() else {
            return;
        };
        let is = |name| word.kind == TokenKind::Ident && word.symbol == name;
        file.guard = match guard {
            // The name comes when the operand is read.
            Guard::Fresh if is(sym::IFNDEF) => Guard::Fresh,
            Guard::Open(name) if in_outermost && is(sym::ENDIF) => Guard::Closed(name),
            Guard::Open(_)
                if in_outermost
                    && [sym::ELSE, sym::ELIF, sym::ELIFDEF, sym::ELIFNDEF]
                        .map(is)
                        .contains(&true) =>
            {
                Guard::No
            }
            Guard::Open(name) => Guard::Open(name),
            Guard::Fresh | Guard::Closed(_) | Guard::No => Guard::No,
        };
    }

    /// How many conditions are open in the innermost file.
    fn open_conditions(&mut self) -> usize {
        let before = self.file().map_or(0, |file| file.conditions);
        self.conditions.len() - before
    }

    /// Begins a group; skips it if its condition does not hold.
    fn open(&mut self, at: Token, holds: bool) {
        self.conditions.push(Condition {
            at,
            taken: holds,
            has_else: None,
        });
        if !holds {
            self.skip_group();
        }
    }

    /// An `#elif` or `#else` ends the group that was taken, so what follows is skipped.
    fn other_group(&mut self, word: Token) {
        if self.open_conditions() == 0 {
            let message = format!("#{} without #if", self.text(word));
            self.diags.error(word, message);
            return;
        }
        self.note_else(word);
        self.skip_group();
    }

    fn note_else(&mut self, word: Token) {
        let Some(open) = self.conditions.last_mut() else {
            return;
        };
        if let Some(first) = open.has_else {
            let message = format!("#{} after #else", self.interner.text(word.symbol));
            self.diags.error(word, message).note(first, "#else is here");
        } else if word.symbol == sym::ELSE {
            open.has_else = Some(word);
            self.end_of_directive("#else");
        }
    }

    fn endif(&mut self, word: Token) {
        if self.open_conditions() > 0 {
            self.conditions.pop();
            self.end_of_directive("#endif");
        } else {
            self.diags.error(word, "#endif without #if");
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
                self.skip_line();
                continue;
            }
            let guard = file.guard;
            let word = file.lexer.next_in_line();
            let Some(word) = word.filter(|word| word.kind == TokenKind::Ident) else {
                self.skip_line();
                continue;
            };
            match &*file.lexer.spelling(word) {
                b"if" | b"ifdef" | b"ifndef" => depth += 1,
                b"endif" if depth > 0 => depth -= 1,
                b"endif" => {
                    let word = self.cook(word).token;
                    self.watch_guard(guard, word);
                    self.conditions.pop();
                    self.end_of_directive("#endif");
                    return;
                }
                b"else" | b"elif" | b"elifdef" | b"elifndef" if depth == 0 => {
                    let word = self.cook(word).token;
                    self.watch_guard(guard, word);
                    if self.next_group_is_taken(word) {
                        return;
                    }
                }
                _ => {}
            }
            self.skip_line();
        }
    }

    /// Whether the group that this `#elif` or `#else` begins is the one to take.
    fn next_group_is_taken(&mut self, word: Token) -> bool {
        self.note_else(word);
        let holds = match self.conditions.last() {
            Some(open) if open.taken => false,
            _ => match word.symbol {
                sym::ELSE => true,
                sym::ELIF => self.condition(word),
                name => self.is_operand_defined(word) == (name == sym::ELIFDEF),
            },
        };
        if holds && let Some(open) = self.conditions.last_mut() {
            open.taken = true;
        }
        holds
    }

    /// Whether the macro that `#ifdef` and kin ask for is defined.
    fn is_operand_defined(&mut self, word: Token) -> bool {
        let directive = format!("#{}", self.text(word));
        let guard = self.file().map(|file| file.guard);
        match self.next_in_line() {
            Some(tok) if tok.token.kind == TokenKind::Ident => {
                let is_defined = self.is_defined(tok.token.symbol);
                if guard == Some(Guard::Fresh)
                    && let Some(file) = self.file()
                {
                    file.guard = Guard::Open(tok.token.symbol);
                }
                self.end_of_directive(&directive);
                is_defined
            }
            Some(tok) => {
                self.diags
                    .error(tok.token, "macro name must be an identifier");
                false
            }
            None => {
                self.diags.error(word, "macro name missing");
                false
            }
        }
    }

    /// Where the innermost file is read.
    pub(super) fn here(&mut self) -> At {
        match self.file() {
            Some(file) => At::Source(Pos(file.start + file.lexer.offset()), 1),
            None => At::Nowhere,
        }
    }

    /// `#line`, whose operands are expanded.
    fn line(&mut self, word: Token) {
        let rest = self.rest_of_line();
        let rest = self.expand_all(&rest);
        let Some(number) = rest.first() else {
            let message = "#line directive requires a positive integer argument";
            self.diags.error(word, message);
            return;
        };
        self.renumber(word.pos, *number, rest.get(1).copied());
    }

    fn line_marker(&mut self, number: Tok, at: Pos) {
        let name = self.next_in_line();
        self.renumber(at, number, name);
    }

    fn renumber(&mut self, at: Pos, number: Tok, name: Option<Tok>) {
        let digits = self.text(number.token);
        if number.token.kind != TokenKind::Number || !digits.bytes().all(|b| b.is_ascii_digit()) {
            let message = "#line directive requires a positive integer argument";
            self.diags.error(number.token, message);
            return;
        }
        // C99 6.10.4 sets the limit.
        let line = digits.parse().ok().filter(|line| *line <= i32::MAX as u32);
        let Some(line) = line else {
            let message = "#line number is too large";
            self.diags.error(number.token, message);
            return;
        };
        let name = match name {
            None => None,
            Some(tok) if tok.token.kind == TokenKind::Str => {
                let text = self.text(tok.token).trim_matches('"');
                Some(text.replace("\\\\", "\\").replace("\\\"", "\""))
            }
            Some(tok) => {
                let message = "invalid filename for #line directive";
                self.diags.error(tok.token, message);
                return;
            }
        };
        self.map.renumber(at, line, name.as_deref());
    }

    /// `#error` and `#warning`: the rest of the line as it is written.
    fn message(&mut self, word: Token) {
        let Some(Source::File(file)) = self.stack.last_mut() else {
            return;
        };
        let (id, from) = (file.id, file.lexer.offset() as usize);
        // Quotes need not match in it.
        file.lexer.skip_line();
        file.lexer.faults.clear();
        let to = file.lexer.offset() as usize;
        let text = String::from_utf8_lossy(&self.map.file(id).text[from..to]);
        let text = text.trim().replace("\\\n", "");
        if word.symbol == sym::ERROR {
            self.diags.error(word, text);
        } else {
            self.diags.warning("#warnings", word, text);
        }
    }
}
