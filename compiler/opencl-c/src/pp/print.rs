//! Preprocessed text, as `-E` writes it: every line where it was, with line markers where the text
//! jumps.

use std::fmt::Write;

use super::{Preprocessed, spelled};
use crate::source::{FileId, Pos, SourceMap};
use crate::token::{ExpansionId, Token, TokenKind};

/// Jumps over so many lines are written as empty lines.
const MAX_EMPTY: u32 = 8;

/// The tokens as text. `markers`: with `# 12 "file"` lines, so that what reads the text knows where
/// it is from.
pub fn print(preprocessed: &Preprocessed, markers: bool) -> String {
    let tokens = &preprocessed.tokens.tokens;
    let mut printer = Printer {
        preprocessed,
        markers,
        out: String::with_capacity(tokens.len() * 4),
        file: None,
        name: String::new(),
        line: 1,
        at_start: true,
    };
    let mut last: Option<Token> = None;
    for &token in tokens {
        match token.kind {
            TokenKind::Eof => break,
            TokenKind::Pragma => {
                printer.move_to(token);
                let text = preprocessed.tokens.pragma_texts[token.symbol.0 as usize];
                printer.out.push_str("#pragma ");
                printer.out.push_str(preprocessed.interner.text(text));
                printer.end_line();
                last = None;
                continue;
            }
            _ if token.line_start || printer.at_start => printer.move_to(token),
            _ => {
                let glues = |last| printer.would_join(last, token);
                if token.space_before || last.is_some_and(glues) {
                    printer.out.push(' ');
                }
            }
        }
        printer.out.push_str(spelled(&preprocessed.interner, token));
        printer.at_start = false;
        last = Some(token);
    }
    printer.end_line();
    printer.out
}

struct Printer<'a> {
    preprocessed: &'a Preprocessed,
    markers: bool,
    out: String,
    file: Option<FileId>,
    /// What the file is called, which `#line` changes.
    name: String,
    /// The line that is being written, as the file counts.
    line: u32,
    /// Nothing is on the line yet.
    at_start: bool,
}

impl Printer<'_> {
    fn map(&self) -> &SourceMap {
        &self.preprocessed.map
    }

    fn end_line(&mut self) {
        if !self.at_start {
            self.at_start = true;
            self.out.push('\n');
            self.line += 1;
        } else if self.out.ends_with(|c| c != '\n') {
            self.out.push('\n');
            self.line += 1;
        }
    }

    /// Begins a line for a token, with its indentation.
    fn move_to(&mut self, token: Token) {
        self.end_line();
        let pos = self.outermost(token);
        let Some(place) = self.map().place(pos) else {
            return;
        };
        let file = self.map().file_of(pos);
        let jumps = file != self.file
            || self.name != *place.file
            || place.line < self.line
            || place.line - self.line > MAX_EMPTY;
        if !self.markers {
            self.line = place.line;
        } else if jumps {
            let flag = self.flag(file);
            let name = place.file.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(self.out, "# {} \"{name}\"{flag}", place.line);
        } else {
            let empty = (place.line - self.line) as usize;
            self.out.extend(std::iter::repeat_n('\n', empty));
        }
        self.file = file;
        self.name = place.file.to_string();
        self.line = place.line;
        let indentation = place.column as usize - 1;
        if token.expansion == ExpansionId::NONE && token.kind != TokenKind::Pragma {
            self.out
                .extend(std::iter::repeat_n(' ', indentation.min(200)));
        }
    }

    /// What a line marker says: 1 that a file begins, 2 that another is gone back to.
    fn flag(&self, file: Option<FileId>) -> &'static str {
        let (Some(new), Some(old)) = (file, self.file) else {
            return "";
        };
        let leads_to = |from: FileId, to: FileId| {
            let mut includers = self.map().includers(self.map().file(to).start);
            includers.any(|pos| self.map().file_of(pos) == Some(from))
        };
        if leads_to(old, new) {
            " 1"
        } else if leads_to(new, old) {
            " 2"
        } else {
            ""
        }
    }

    /// Where a token stands in a file.
    fn outermost(&self, token: Token) -> Pos {
        let (mut pos, mut id) = (token.pos, token.expansion);
        while id != ExpansionId::NONE {
            let expansion = &self.preprocessed.tokens.expansions[id.0 as usize];
            pos = expansion.invoked;
            id = expansion.parent;
        }
        pos
    }

    /// Whether two tokens written without a space between them would be read as something else.
    fn would_join(&self, left: Token, right: Token) -> bool {
        // They are like this in the source.
        if left.expansion == right.expansion && left.pos.0 + left.len == right.pos.0 {
            return false;
        }
        let text = |token| spelled(&self.preprocessed.interner, token).as_bytes();
        let (left, right) = (text(left), text(right));
        let (Some(&last), Some(&first)) = (left.last(), right.first()) else {
            return false;
        };
        let is_word =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
        let begins_number = left[0].is_ascii_digit() || left[0] == b'.';
        match (last, first) {
            (last, first) if is_word(last) && is_word(first) => true,
            // The prefix of a literal.
            (last, b'"' | b'\'') if is_word(last) => true,
            (_, b'.' | b'+' | b'-') if begins_number => true,
            (b'.', first) if first.is_ascii_digit() || first == b'.' => true,
            (last, first) if last == first => matches!(
                first,
                b'+' | b'-' | b'&' | b'|' | b'<' | b'>' | b'=' | b'#' | b'/'
            ),
            (last, b'=') => matches!(
                last,
                b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'!' | b'<' | b'>'
            ),
            (b'-', b'>') | (b'/', b'*') | (b'<', b':' | b'%') | (b'%', b':' | b'>') => true,
            (b':', b'>') => true,
            _ => false,
        }
    }
}
