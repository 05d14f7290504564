//! Diagnostics: what every stage reports, and how it is shown.
//!
//! The text is clang's form, which people and tools read: `kernel.cl:3:5: error: ...`, the line, a
//! caret, and what macros the place came from.

use std::fmt::Write;

use crate::source::{Pos, SourceMap};
use crate::symbol::Interner;
use crate::token::{ExpansionId, Loc, Span, Token, TokenStream};

/// More errors than this are not told.
const MAX_ERRORS: usize = 100;

/// Lines of source longer than this are not shown.
const MAX_SHOWN: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

/// What a diagnostic is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Tokens(Span),
    /// Bytes of source, for stages before tokens: first, and how many.
    Source(Pos, u32),
    Nowhere,
}

impl From<Span> for At {
    fn from(span: Span) -> At {
        At::Tokens(span)
    }
}

impl From<Loc> for At {
    fn from(loc: Loc) -> At {
        At::Tokens(Span::at(loc))
    }
}

impl From<Pos> for At {
    fn from(pos: Pos) -> At {
        At::Source(pos, 1)
    }
}

#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    pub at: At,
    /// The warning's name, as `-W` would have it.
    pub group: Option<&'static str>,
    pub notes: Vec<(At, String)>,
}

/// Everything that stages reported.
#[derive(Debug, Default)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
    errors: usize,
    no_warnings: bool,
    warnings_are_errors: bool,
}

/// Adds to the diagnostic just reported.
pub struct Reported<'a>(Option<&'a mut Diagnostic>);

impl Reported<'_> {
    pub fn note(mut self, at: impl Into<At>, message: impl Into<String>) -> Self {
        if let Some(diagnostic) = &mut self.0 {
            diagnostic.notes.push((at.into(), message.into()));
        }
        self
    }
}

impl Diagnostics {
    pub fn new(no_warnings: bool, warnings_are_errors: bool) -> Diagnostics {
        Diagnostics {
            no_warnings,
            warnings_are_errors,
            ..Diagnostics::default()
        }
    }

    pub fn error(&mut self, at: impl Into<At>, message: impl Into<String>) -> Reported<'_> {
        self.errors += 1;
        if self.errors > MAX_ERRORS {
            return Reported(None);
        }
        self.add(Severity::Error, at.into(), message.into(), None)
    }

    pub fn warning(
        &mut self,
        group: &'static str,
        at: impl Into<At>,
        message: impl Into<String>,
    ) -> Reported<'_> {
        if self.no_warnings {
            return Reported(None);
        }
        if self.warnings_are_errors {
            self.errors += 1;
            let at = at.into();
            return self.add(Severity::Error, at, message.into(), Some(group));
        }
        self.add(Severity::Warning, at.into(), message.into(), Some(group))
    }

    fn add(
        &mut self,
        severity: Severity,
        at: At,
        message: String,
        group: Option<&'static str>,
    ) -> Reported<'_> {
        self.all.push(Diagnostic {
            severity,
            message,
            at,
            group,
            notes: Vec::new(),
        });
        Reported(self.all.last_mut())
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// So many that looking for more is of no use.
    pub fn too_many(&self) -> bool {
        self.errors > MAX_ERRORS
    }

    pub fn all(&self) -> &[Diagnostic] {
        &self.all
    }

    /// The build log.
    pub fn render(&self, tokens: &TokenStream, map: &SourceMap, interner: &Interner) -> String {
        let renderer = Renderer {
            tokens,
            map,
            interner,
        };
        let mut out = String::new();
        for diagnostic in &self.all {
            renderer.diagnostic(&mut out, diagnostic, self.warnings_are_errors);
        }
        if self.errors > MAX_ERRORS {
            out.push_str("fatal error: too many errors emitted, stopping now\n");
        }
        let warnings = self.all.iter().filter(|d| d.severity == Severity::Warning);
        let counts = [(warnings.count(), "warning"), (self.errors, "error")];
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
}

struct Renderer<'a> {
    tokens: &'a TokenStream,
    map: &'a SourceMap,
    interner: &'a Interner,
}

impl Renderer<'_> {
    fn diagnostic(&self, out: &mut String, diagnostic: &Diagnostic, as_errors: bool) {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let group = match diagnostic.group {
            Some(group) if as_errors => format!(" [-Werror,-W{group}]"),
            Some(group) => format!(" [-W{group}]"),
            None => String::new(),
        };
        self.part(
            out,
            severity,
            &format!("{}{group}", diagnostic.message),
            diagnostic.at,
        );
        for (at, message) in &diagnostic.notes {
            self.part(out, "note", message, *at);
        }
    }

    fn token(&self, loc: Loc) -> Option<Token> {
        self.tokens.tokens.get(loc.0 as usize).copied()
    }

    /// Where a token stands in the program: for one that a macro made, where the outermost macro is
    /// named.
    fn outermost(&self, token: Token) -> Pos {
        let mut pos = token.pos;
        let mut id = token.expansion;
        while id != ExpansionId::NONE {
            let expansion = &self.tokens.expansions[id.0 as usize];
            pos = expansion.invoked;
            id = expansion.parent;
        }
        pos
    }

    fn part(&self, out: &mut String, severity: &str, message: &str, at: At) {
        let (pos, length, expansion) = match at {
            At::Nowhere => {
                let _ = writeln!(out, "{severity}: {message}");
                return;
            }
            At::Source(pos, length) => (pos, length, ExpansionId::NONE),
            At::Tokens(span) => {
                let Some(first) = self.token(span.first) else {
                    let _ = writeln!(out, "{severity}: {message}");
                    return;
                };
                (
                    self.outermost(first),
                    self.length(span, first),
                    first.expansion,
                )
            }
        };
        self.includers(out, pos);
        self.shown(out, severity, message, pos, length);
        self.expansions(out, expansion);
    }

    /// Bytes from the first token to the end of the last, if both stand in the text one after the
    /// other.
    fn length(&self, span: Span, first: Token) -> u32 {
        if first.expansion != ExpansionId::NONE {
            return 1;
        }
        match self.token(span.last) {
            Some(last) if last.expansion == ExpansionId::NONE && last.pos >= first.pos => {
                last.pos.0 + last.len - first.pos.0
            }
            _ => first.len.max(1),
        }
    }

    fn includers(&self, out: &mut String, pos: Pos) {
        let mut from = Vec::new();
        let mut pos = pos;
        while let Some(id) = self.map.file_of(pos)
            && let Some(includer) = self.map.file(id).included_from
        {
            from.extend(self.map.place(includer));
            pos = includer;
        }
        for place in from.iter().rev() {
            let _ = writeln!(out, "In file included from {}:{}:", place.file, place.line);
        }
    }

    fn shown(&self, out: &mut String, severity: &str, message: &str, pos: Pos, length: u32) {
        let Some(place) = self.map.place(pos) else {
            let _ = writeln!(out, "{severity}: {message}");
            return;
        };
        let (file, line, column) = (&place.file, place.line, place.column);
        let _ = writeln!(out, "{file}:{line}:{column}: {severity}: {message}");
        let Some((text, start)) = self.map.line_text(pos) else {
            return;
        };
        if text.len() > MAX_SHOWN {
            return;
        }
        let shown = String::from_utf8_lossy(text);
        let _ = writeln!(out, "{}", shown.replace('\0', " "));
        let before = (pos.0 - start.0) as usize;
        // Tabs stay, so that the caret stands below what it means.
        let before = String::from_utf8_lossy(&text[..before.min(text.len())]);
        let margin: String = before
            .chars()
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let rest = text.len().saturating_sub((pos.0 - start.0) as usize);
        let tildes = (length as usize).min(rest).saturating_sub(1);
        let _ = writeln!(out, "{margin}^{}", "~".repeat(tildes));
    }

    /// The macros that made a token, outermost last, as clang tells them.
    fn expansions(&self, out: &mut String, mut id: ExpansionId) {
        while id != ExpansionId::NONE {
            let expansion = &self.tokens.expansions[id.0 as usize];
            let name = self.interner.text(expansion.name);
            if self.map.file_of(expansion.defined).is_some() {
                let message = format!("expanded from macro '{name}'");
                self.shown(out, "note", &message, expansion.defined, name.len() as u32);
            }
            id = expansion.parent;
        }
    }
}

/// The candidate that a misspelled name most likely means: at most a third of its letters are
/// wrong.
pub fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = name.len().div_ceil(3);
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= most)
        .map(|candidate| (distance(name.as_bytes(), candidate.as_bytes()), candidate))
        .filter(|(distance, _)| *distance <= most && *distance > 0)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}
