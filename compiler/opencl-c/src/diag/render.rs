//! Diagnostics as text: `kernel.cl:3:5: error: ...`, the line, a caret below it, then notes.
//!
//! A place in a macro's expansion is told where the outermost macro is named; a note for each macro
//! on the way down shows the token in that macro's definition.

use std::fmt::Write;

use super::{At, Diagnostic, Diagnostics, Severity};
use crate::source::{Pos, SourceMap};
use crate::symbol::{Interner, Symbol};
use crate::token::{ExpansionId, Loc, Span, Token, TokenStream};

/// Of longer lines only the part around the caret is shown.
const MAX_SHOWN: usize = 240;

/// Of longer messages (they quote names) only so many bytes are shown.
const MAX_MESSAGE: usize = 1000;

/// Of deeper expansions only the outermost and innermost macros are told.
const MAX_EXPANSIONS: usize = 10;

pub(super) fn render(
    diags: &Diagnostics,
    tokens: &TokenStream,
    map: &SourceMap,
    interner: &Interner,
) -> String {
    let mut renderer = Renderer {
        tokens,
        map,
        interner,
        out: String::new(),
        includer: None,
    };
    for diagnostic in &diags.all {
        renderer.diagnostic(diagnostic);
    }
    let mut out = renderer.out;
    let is_fatal = diags.all.iter().any(|d| d.severity == Severity::Fatal);
    if diags.stopped && !is_fatal {
        out.push_str("fatal error: too many errors emitted, stopping now\n");
    }
    let told = |is_error| {
        let is = |one: &&Diagnostic| (one.severity != Severity::Warning) == is_error;
        diags.all.iter().filter(is).count()
    };
    let counts = [(told(false), "warning"), (told(true), "error")];
    let said: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}{}", if *count > 1 { "s" } else { "" }))
        .collect();
    if !said.is_empty() {
        let _ = writeln!(out, "{} generated.", said.join(" and "));
    }
    out
}

struct Renderer<'a> {
    tokens: &'a TokenStream,
    map: &'a SourceMap,
    interner: &'a Interner,
    out: String,
    /// The `#include` whose file the last diagnostic was in: who includes it was said then.
    includer: Option<Pos>,
}

/// Bytes of one file.
#[derive(Clone, Copy)]
struct Bytes {
    start: Pos,
    end: Pos,
}

impl Renderer<'_> {
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let severity = match diagnostic.severity {
            Severity::Fatal => "fatal error",
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let group = match (diagnostic.group, diagnostic.severity) {
            (Some(group), Severity::Warning) => format!(" [-W{group}]"),
            (Some(group), _) => format!(" [-Werror,-W{group}]"),
            (None, _) => String::new(),
        };
        let message = format!("{}{group}", diagnostic.message);
        let ranges: Vec<Bytes> = diagnostic
            .ranges
            .iter()
            .filter_map(|&range| self.bytes(range))
            .collect();
        self.part(severity, &message, diagnostic.at, &ranges);
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(self.out, "help: {help}");
        }
        for (at, message) in &diagnostic.notes {
            self.part("note", message, *at, &[]);
        }
    }

    fn part(&mut self, severity: &str, message: &str, at: At, ranges: &[Bytes]) {
        let shortened;
        let message = if message.len() > MAX_MESSAGE {
            shortened = format!(
                "{}...",
                &message[..message.floor_char_boundary(MAX_MESSAGE)]
            );
            &shortened
        } else {
            message
        };
        let Some(bytes) = self.bytes(at) else {
            let _ = writeln!(self.out, "{severity}: {message}");
            return;
        };
        self.told_includers(bytes.start);
        self.shown(severity, message, bytes, ranges);
        self.expansions(at);
    }

    fn token(&self, loc: Loc) -> Option<Token> {
        self.tokens.tokens.get(loc.0 as usize).copied()
    }

    /// Where a token stands in the program: for one that a macro made, the name of the outermost
    /// macro.
    fn outermost(&self, token: Token) -> Bytes {
        let (mut start, mut len) = (token.pos, token.len.max(1));
        let mut id = token.expansion;
        while id != ExpansionId::NONE {
            let expansion = &self.tokens.expansions[id.0 as usize];
            start = expansion.invoked;
            len = self.interner.text(expansion.name).len() as u32;
            id = expansion.parent;
        }
        Bytes {
            start,
            end: Pos(start.0 + len),
        }
    }

    fn bytes(&self, at: At) -> Option<Bytes> {
        let bytes = match at {
            At::Nowhere => return None,
            At::Source(start, len) => Bytes {
                start,
                end: Pos(start.0 + len),
            },
            At::Token(token) => self.outermost(token),
            At::Tokens(Span { first, last }) => {
                let start = self.outermost(self.token(first)?);
                let end = self.token(last).map(|last| self.outermost(last).end);
                // Both ends in one file, one after the other.
                let in_order = |end: &Pos| {
                    *end >= start.end && self.map.file_of(*end) == self.map.file_of(start.start)
                };
                Bytes {
                    start: start.start,
                    end: end.filter(in_order).unwrap_or(start.end),
                }
            }
        };
        self.map.file_of(bytes.start).map(|_| bytes)
    }

    fn told_includers(&mut self, pos: Pos) {
        let from: Vec<Pos> = self.map.includers(pos).collect();
        if self.includer == from.first().copied() {
            return;
        }
        self.includer = from.first().copied();
        for place in from.iter().rev().filter_map(|&pos| self.map.place(pos)) {
            let _ = writeln!(
                self.out,
                "In file included from {}:{}:",
                place.file, place.line
            );
        }
    }

    fn shown(&mut self, severity: &str, message: &str, at: Bytes, ranges: &[Bytes]) {
        let Some(place) = self.map.place(at.start) else {
            return;
        };
        let (file, line, column) = (&place.file, place.line, place.column);
        let _ = writeln!(self.out, "{file}:{line}:{column}: {severity}: {message}");
        let Some((text, start)) = self.map.line_text(at.start) else {
            return;
        };
        let within = |pos: Pos| (pos.0.saturating_sub(start.0) as usize).min(text.len());
        let caret = within(at.start);
        // A position at the line's end has the caret behind it.
        let mut marks = vec![b' '; text.len() + 1];
        for range in ranges.iter().chain([&at]) {
            marks[within(range.start)..within(range.end)].fill(b'~');
        }
        marks[caret] = b'^';
        let (from, to) = window(text, caret);
        let mut source = String::new();
        let mut below = String::new();
        if from > 0 {
            source.push_str("...");
            below.push_str("   ");
        }
        let mut offset = from;
        for chunk in text[from..to].utf8_chunks() {
            for char in chunk.valid().chars() {
                let mark = marks[offset] as char;
                offset += char.len_utf8();
                match char {
                    // Tabs stay, so that the caret stands below what it means.
                    '\t' => {
                        source.push('\t');
                        below.push(if mark == ' ' { '\t' } else { mark });
                    }
                    char if char.is_control() => {
                        let _ = write!(source, "<{:02X}>", char as u32);
                        below.push(mark);
                        below.push_str(&" ".repeat(3 + usize::from(char as u32 > 0xff)));
                    }
                    char => {
                        source.push(char);
                        below.push(mark);
                    }
                }
            }
            for byte in chunk.invalid() {
                let _ = write!(source, "<{byte:02X}>");
                below.push(marks[offset] as char);
                below.push_str("   ");
                offset += 1;
            }
        }
        if to < text.len() {
            source.push_str("...");
        } else {
            below.push(marks[text.len()] as char);
        }
        let _ = writeln!(self.out, "{source}\n{}", below.trim_end());
    }

    /// The macros that made a token, outermost first.
    fn expansions(&mut self, at: At) {
        let token = match at {
            At::Tokens(span) => self.token(span.first),
            At::Token(token) => Some(token),
            At::Source(..) | At::Nowhere => None,
        };
        let Some(token) = token else { return };
        let mut all: Vec<(Symbol, Pos, u32)> = Vec::new();
        let (mut pos, mut len) = (token.pos, token.len);
        let mut id = token.expansion;
        while id != ExpansionId::NONE {
            let expansion = &self.tokens.expansions[id.0 as usize];
            all.push((expansion.name, pos, len));
            pos = expansion.invoked;
            len = self.interner.text(expansion.name).len() as u32;
            id = expansion.parent;
        }
        let count = all.len();
        for (index, (name, pos, len)) in all.into_iter().rev().enumerate() {
            let skipped = count.saturating_sub(MAX_EXPANSIONS);
            let kept = MAX_EXPANSIONS / 2;
            if skipped > 0 && (kept..kept + skipped).contains(&index) {
                if index == kept {
                    let _ = writeln!(
                        self.out,
                        "note: (skipping {skipped} expansions in backtrace)"
                    );
                }
                continue;
            }
            if self.map.file_of(pos).is_none() {
                continue;
            }
            let message = format!("expanded from macro '{}'", self.interner.text(name));
            let at = Bytes {
                start: pos,
                end: Pos(pos.0 + len),
            };
            self.shown("note", &message, at, &[]);
        }
    }
}

/// The part of a line that is shown: whole, or so much on both sides of the caret, at characters'
/// boundaries.
fn window(text: &[u8], caret: usize) -> (usize, usize) {
    if text.len() <= MAX_SHOWN {
        return (0, text.len());
    }
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut from = caret.saturating_sub(MAX_SHOWN / 2);
    let mut to = (from + MAX_SHOWN).min(text.len());
    for _ in 0..3 {
        from += usize::from(is_inside(from) && from < caret);
        to -= usize::from(is_inside(to) && to > caret);
    }
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::symbol::Symbol;
    use crate::token::{Expansion, ExpansionId, TokenKind};

    fn log(text: &[u8], report: impl FnOnce(&mut Diagnostics, u32)) -> String {
        let mut map = SourceMap::default();
        let id = map.add("k.cl", text.into(), None).unwrap();
        let mut diags = Diagnostics::default();
        report(&mut diags, map.file(id).start.0);
        diags.render(&TokenStream::default(), &map, &Interner::new())
    }

    #[test]
    fn the_line_is_shown_with_caret_and_ranges() {
        let log = log(b"int x;\n\tint y = a + b;\n", |diags, start| {
            diags
                .error(Pos(start + 18), "no such sum")
                .range(At::Source(Pos(start + 16), 1))
                .range(At::Source(Pos(start + 20), 1))
                .note(Pos(start + 4), "x is here")
                .help("do not add");
        });
        assert_eq!(
            log,
            "k.cl:2:12: error: no such sum\n\tint y = a + b;\n\t        ~ ^ ~\nhelp: do not add\n\
             k.cl:1:5: note: x is here\nint x;\n    ^\n1 error generated.\n"
        );
    }

    #[test]
    fn bytes_that_are_no_characters_are_shown_by_number() {
        let log = log(b"a\xff\x01 b", |diags, start| {
            diags.warning("w", Pos(start + 4), "odd");
        });
        assert_eq!(
            log,
            "k.cl:1:5: warning: odd [-Ww]\na<FF><01> b\n          ^\n1 warning generated.\n"
        );
    }

    #[test]
    fn long_messages_are_cut() {
        let log = log(b"x", |diags, start| {
            diags.error(Pos(start), "\u{e9}".repeat(5000));
        });
        let line = log.lines().next().unwrap();
        assert!(line.ends_with("\u{e9}...") && line.len() < 1100, "{line}");
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let mut text = vec![b' '; 5000];
        text[2500] = b'?';
        let log = log(&text, |diags, start| {
            diags.error(Pos(start + 2500), "what");
        });
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines[0], "k.cl:1:2501: error: what");
        assert!(lines[1].len() < 300 && lines[1].starts_with("..."));
        assert_eq!(lines[1].find('?'), lines[2].find('^'));
    }

    #[test]
    fn macros_are_told_from_the_outermost_in() {
        let mut map = SourceMap::default();
        let text: &[u8] = b"#define IN foo\n#define OUT IN\nOUT\n";
        let id = map.add("k.cl", text.into(), None).unwrap();
        let at = |offset| Pos(map.file(id).start.0 + offset);
        let mut interner = Interner::new();
        let expansion = |name, invoked, parent| Expansion {
            name,
            invoked,
            defined: Pos::NONE,
            parent: ExpansionId(parent),
        };
        let (outer, inner) = (interner.intern("OUT"), interner.intern("IN"));
        let tokens = TokenStream {
            tokens: vec![Token {
                kind: TokenKind::Ident,
                space_before: false,
                line_start: true,
                symbol: interner.intern("foo"),
                pos: at(11),
                len: 3,
                expansion: ExpansionId(2),
            }],
            expansions: vec![
                expansion(Symbol::default(), Pos::NONE, 0),
                expansion(outer, at(30), 0),
                expansion(inner, at(27), 1),
            ],
            ..TokenStream::default()
        };
        let mut diags = Diagnostics::default();
        diags.error(Loc(0), "unknown 'foo'");
        assert_eq!(
            diags.render(&tokens, &map, &interner),
            "k.cl:3:1: error: unknown 'foo'\nOUT\n^~~\n\
             k.cl:2:13: note: expanded from macro 'OUT'\n#define OUT IN\n            ^~\n\
             k.cl:1:12: note: expanded from macro 'IN'\n#define IN foo\n           ^~~\n\
             1 error generated.\n"
        );
    }
}
