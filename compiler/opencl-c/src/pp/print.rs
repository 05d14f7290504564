//! Preprocessed text, as `-E` gives it: tokens on the lines that they come from, and line markers
//! where lines are left out.

use std::fmt::Write;

use super::{Preprocessed, spelled};
use crate::source::Pos;
use crate::token::{ExpansionId, Pragma, RoundingMode, Token, TokenKind, Unroll};

/// So many lines are left out by as many empty ones; more by a line marker.
const MAX_EMPTY: u32 = 8;

/// Writes the text of all tokens, with line markers if wanted.
pub fn print(unit: &Preprocessed, markers: bool) -> String {
    let mut printer = Printer {
        unit,
        markers,
        out: String::new(),
        file: String::new(),
        line: 0,
    };
    let mut last: Option<Token> = None;
    for &token in &unit.tokens.tokens {
        if token.kind == TokenKind::Eof {
            break;
        }
        printer.token(token, last);
        last = Some(token);
    }
    if !printer.out.is_empty() && !printer.out.ends_with('\n') {
        printer.out.push('\n');
    }
    printer.out
}

struct Printer<'a> {
    unit: &'a Preprocessed,
    markers: bool,
    out: String,
    file: String,
    line: u32,
}

impl Printer<'_> {
    fn outermost(&self, token: Token) -> Pos {
        let (mut pos, mut id) = (token.pos, token.expansion);
        while id != ExpansionId::NONE {
            let expansion = &self.unit.tokens.expansions[id.0 as usize];
            pos = expansion.invoked;
            id = expansion.parent;
        }
        pos
    }

    fn token(&mut self, token: Token, last: Option<Token>) {
        let place = self.unit.map.place(self.outermost(token));
        if let Some(place) = place {
            self.go_to(&place.file, place.line);
        }
        if token.kind == TokenKind::Pragma {
            let pragma = &self.unit.tokens.pragmas[token.symbol.0 as usize];
            let text = pragma_text(pragma, self.unit);
            let _ = writeln!(self.out, "#pragma {text}");
            self.line += 1;
            return;
        }
        let text = spelled(&self.unit.interner, token);
        let at_start = self.out.is_empty() || self.out.ends_with('\n');
        let glued = last.is_some_and(|last| would_join(spelled(&self.unit.interner, last), text));
        if !at_start && (token.space_before || token.line_start || glued) {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    fn go_to(&mut self, file: &str, line: u32) {
        if self.file == file && line == self.line {
            return;
        }
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
            self.line += 1;
        }
        let is_near = self.file == file && line >= self.line && line - self.line <= MAX_EMPTY;
        if is_near {
            for _ in self.line..line {
                self.out.push('\n');
            }
        } else if self.markers {
            let _ = writeln!(self.out, "# {line} {file:?}");
        }
        file.clone_into(&mut self.file);
        self.line = line;
    }
}

/// Whether two tokens would be read as something else without a space.
fn would_join(left: &str, right: &str) -> bool {
    let (Some(last), Some(first)) = (left.chars().next_back(), right.chars().next()) else {
        return false;
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    is_word(last) && (is_word(first) || matches!(first, '"' | '\''))
        || last == first && "+-<>=&|#:/".contains(last)
        || matches!(
            (last, first),
            ('-', '>') | ('<', ':' | '%') | ('%', ':' | '>') | (_, '=') | ('/', '*')
        ) && !is_word(last)
        || matches!(last, 'e' | 'E' | 'p' | 'P')
            && left.starts_with(|c: char| c.is_ascii_digit())
            && matches!(first, '+' | '-')
}

fn pragma_text(pragma: &Pragma, unit: &Preprocessed) -> String {
    match pragma {
        Pragma::FpContract(setting) => {
            let setting = match setting {
                Some(true) => "ON",
                Some(false) => "OFF",
                None => "DEFAULT",
            };
            format!("OPENCL FP_CONTRACT {setting}")
        }
        Pragma::Extension { name, enable } => {
            let behavior = if *enable { "enable" } else { "disable" };
            format!(
                "OPENCL EXTENSION {} : {behavior}",
                unit.interner.text(*name)
            )
        }
        Pragma::RoundingMode(mode) => {
            let mode = match mode {
                RoundingMode::ToEven => "rte",
                RoundingMode::ToZero => "rtz",
                RoundingMode::ToPositive => "rtp",
                RoundingMode::ToNegative => "rtn",
            };
            format!("OPENCL SELECT_ROUNDING_MODE {mode}")
        }
        Pragma::Unroll(unroll) => match unroll {
            Unroll::Enable => "unroll".to_owned(),
            Unroll::Disable => "nounroll".to_owned(),
            Unroll::Full => "clang loop unroll(full)".to_owned(),
            Unroll::Count(count) => format!("unroll {count}"),
        },
        Pragma::Pack(None) => "pack()".to_owned(),
        Pragma::Pack(Some(align)) => format!("pack({align})"),
    }
}
