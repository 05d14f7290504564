//! Diagnostics: what every stage reports, and how it is shown.
//!
//! - `mod.rs`: the [`Diagnostics`] that stages report to
//! - `render.rs`: the build log. Its form is clang's, which people and tools read
//! - `similar.rs`: what a misspelled name may mean
//!
//! A stage says `diags.error(place, message)`, and may go on with `.note(place, message)`,
//! `.range(place)` and `.help(message)`. A place is a [`Span`] or [`Loc`] of tokens, or a [`Pos`]
//! of the source for what comes before tokens.

mod render;
mod similar;

use crate::source::{Pos, SourceMap};
use crate::symbol::Interner;
use crate::token::{Loc, Span, Token, TokenStream};

pub use similar::similar;

/// More errors than this are not told.
const MAX_ERRORS: usize = 100;

/// More warnings than this are not told.
const MAX_WARNINGS: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Warning,
    Error,
    /// An error after which there is nothing to go on with.
    Fatal,
}

/// What a diagnostic is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Tokens(Span),
    /// A token that is in no stream yet.
    Token(Token),
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

impl From<Token> for At {
    fn from(token: Token) -> At {
        At::Token(token)
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
    /// Further places that are underlined.
    pub ranges: Vec<At>,
    /// The warning's name, as `-W` would have it.
    pub group: Option<&'static str>,
    pub notes: Vec<(At, String)>,
    /// What may be done about it.
    pub help: Option<String>,
}

/// What becomes of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Ignored,
    Warning,
    Error,
}

/// Everything that stages reported.
#[derive(Debug, Default)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    no_warnings: bool,
    warnings_are_errors: bool,
    /// What `-W` options say of groups, in order.
    groups: Vec<(String, Level)>,
    stopped: bool,
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

    pub fn range(mut self, at: impl Into<At>) -> Self {
        if let Some(diagnostic) = &mut self.0 {
            diagnostic.ranges.push(at.into());
        }
        self
    }

    pub fn help(mut self, message: impl Into<String>) -> Self {
        if let Some(diagnostic) = &mut self.0 {
            diagnostic.help = Some(message.into());
        }
        self
    }
}

impl Diagnostics {
    /// `no_warnings`: `-w`; `warnings_are_errors`: `-Werror`.
    pub fn new(no_warnings: bool, warnings_are_errors: bool) -> Diagnostics {
        Diagnostics {
            no_warnings,
            warnings_are_errors,
            ..Diagnostics::default()
        }
    }

    /// Has `-W` options, written without `-W`: `NAME`, `no-NAME`, `error=NAME`, `no-error=NAME`.
    pub fn with_groups(mut self, options: &[String]) -> Diagnostics {
        for option in options {
            let (level, name) = if let Some(name) = option.strip_prefix("no-error=") {
                (Level::Warning, name)
            } else if let Some(name) = option.strip_prefix("error=") {
                (Level::Error, name)
            } else if let Some(name) = option.strip_prefix("no-") {
                (Level::Ignored, name)
            } else {
                (Level::Warning, option.as_str())
            };
            // A group that is switched on is still an error where all warnings are.
            if level == Level::Warning && self.warnings_are_errors && !option.starts_with("no-") {
                continue;
            }
            self.groups.push((name.to_owned(), level));
        }
        self
    }

    pub fn error(&mut self, at: impl Into<At>, message: impl Into<String>) -> Reported<'_> {
        self.add(Severity::Error, at.into(), message.into(), None)
    }

    /// Reports an error after which nothing that follows would make sense: no more is told.
    pub fn fatal(&mut self, at: impl Into<At>, message: impl Into<String>) {
        self.add(Severity::Fatal, at.into(), message.into(), None);
        self.stopped = true;
    }

    pub fn warning(
        &mut self,
        group: &'static str,
        at: impl Into<At>,
        message: impl Into<String>,
    ) -> Reported<'_> {
        let severity = match self.level(group) {
            Level::Ignored => return Reported(None),
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        };
        self.add(severity, at.into(), message.into(), Some(group))
    }

    fn level(&self, group: &str) -> Level {
        if self.no_warnings {
            return Level::Ignored;
        }
        let said = self.groups.iter().rev().find(|(name, _)| name == group);
        match said {
            Some((_, level)) => *level,
            None if self.warnings_are_errors => Level::Error,
            None => Level::Warning,
        }
    }

    fn add(
        &mut self,
        severity: Severity,
        at: At,
        message: String,
        group: Option<&'static str>,
    ) -> Reported<'_> {
        let (count, most) = match severity {
            Severity::Warning => (&mut self.warnings, MAX_WARNINGS),
            Severity::Error | Severity::Fatal => (&mut self.errors, MAX_ERRORS),
        };
        if self.stopped || *count > most {
            return Reported(None);
        }
        *count += 1;
        if *count > most {
            self.stopped = severity != Severity::Warning;
            return Reported(None);
        }
        self.all.push(Diagnostic {
            severity,
            message,
            at,
            ranges: Vec::new(),
            group,
            notes: Vec::new(),
            help: None,
        });
        Reported(self.all.last_mut())
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// There was something fatal, or so many errors that looking for more is of no use.
    pub fn too_many(&self) -> bool {
        self.stopped
    }

    pub fn all(&self) -> &[Diagnostic] {
        &self.all
    }

    /// The build log.
    pub fn render(&self, tokens: &TokenStream, map: &SourceMap, interner: &Interner) -> String {
        render::render(self, tokens, map, interner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(options: &[&str], werror: bool) -> Vec<(Option<Severity>, &'static str)> {
        let options: Vec<String> = options.iter().map(|&one| one.to_owned()).collect();
        let mut diags = Diagnostics::new(false, werror).with_groups(&options);
        let groups = ["unused-value", "macro-redefined"];
        for group in groups {
            diags.warning(group, At::Nowhere, "it is so");
        }
        let of = |group| diags.all().iter().find(|d| d.group == Some(group));
        groups
            .map(|group| (of(group).map(|d| d.severity), group))
            .to_vec()
    }

    #[test]
    fn options_decide_what_becomes_of_warnings() {
        let (warning, error) = (Some(Severity::Warning), Some(Severity::Error));
        let of = |options: &[&str], werror| -> Vec<Option<Severity>> {
            levels(options, werror).into_iter().map(|l| l.0).collect()
        };
        assert_eq!(of(&[], false), [warning, warning]);
        assert_eq!(of(&[], true), [error, error]);
        assert_eq!(of(&["no-unused-value"], false), [None, warning]);
        assert_eq!(of(&["error=unused-value"], false), [error, warning]);
        assert_eq!(of(&["no-error=unused-value"], true), [warning, error]);
        assert_eq!(
            of(&["no-unused-value", "unused-value"], false),
            [warning; 2]
        );
    }

    #[test]
    fn errors_are_told_to_a_limit() {
        let mut diags = Diagnostics::default();
        for _ in 0..MAX_ERRORS {
            diags.error(At::Nowhere, "wrong");
        }
        assert!(!diags.too_many());
        diags.error(At::Nowhere, "wrong").note(At::Nowhere, "here");
        assert!(diags.too_many());
        assert_eq!(diags.all().len(), MAX_ERRORS);
        let log = diags.render(
            &TokenStream::default(),
            &SourceMap::default(),
            &Interner::new(),
        );
        assert!(log.ends_with(
            "error: wrong\nfatal error: too many errors emitted, stopping now\n\
             100 errors generated.\n"
        ));
    }

    #[test]
    fn nothing_is_told_after_a_fatal_error() {
        let mut diags = Diagnostics::default();
        diags.fatal(At::Nowhere, "'a.h' file not found");
        diags.error(At::Nowhere, "no such type");
        assert_eq!(diags.all().len(), 1);
        assert_eq!(diags.all()[0].severity, Severity::Fatal);
    }
}
