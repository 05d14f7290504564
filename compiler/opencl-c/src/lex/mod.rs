//! Characters to preprocessing tokens: phases 1 to 3 of C99 5.1.1.2, one token at a time.
//!
//! A line that ends with a backslash goes on with the next; such a splice may stand inside any
//! token, which costs time only there. Comments are white space. Trigraphs are not replaced, as in
//! GNU C. Bytes beyond ASCII are letters.

use std::borrow::Cow;
use std::sync::Arc;

use crate::token::TokenKind;

/// A token by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    pub kind: TokenKind,
    /// Offsets in the text.
    pub start: u32,
    pub end: u32,
    pub space_before: bool,
    pub line_start: bool,
    /// There is a splice in it: [`Lexer::spelling`] takes it out.
    pub spliced: bool,
}

/// What is wrong with a text that tokens can be made of all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    UnterminatedComment(u32),
    UnterminatedLiteral(u32),
    Nul(u32),
}

#[derive(Clone, Debug)]
pub struct Lexer {
    text: Arc<[u8]>,
    at: usize,
    line_start: bool,
    pub faults: Vec<Fault>,
}

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;

/// What each byte may be part of.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => LETTER,
            b'0'..=b'9' => DIGIT,
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => SPACE,
            _ => 0,
        };
        byte += 1;
    }
    class
};

impl Lexer {
    pub fn new(text: Arc<[u8]>) -> Lexer {
        // A byte order mark may come first.
        let at = if text.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        Lexer {
            text,
            at,
            line_start: true,
            faults: Vec::new(),
        }
    }

    /// Where the next token is looked for.
    pub fn offset(&self) -> u32 {
        self.at as u32
    }

    /// The byte at an offset behind splices, and the offset after it; 0 at the end.
    fn peek(&self, mut at: usize) -> (u8, usize) {
        loop {
            match self.text.get(at) {
                None => return (0, at),
                Some(b'\\') => match self.splice(at) {
                    Some(after) => at = after,
                    None => return (b'\\', at + 1),
                },
                Some(&byte) => return (byte, at + 1),
            }
        }
    }

    /// The offset behind a splice that begins here. White space may stand before the line's end, as
    /// GNU C has it.
    fn splice(&self, at: usize) -> Option<usize> {
        let mut after = at + 1;
        while matches!(
            self.text.get(after),
            Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
        ) {
            after += 1;
        }
        (self.text.get(after) == Some(&b'\n')).then_some(after + 1)
    }

    /// Skips white space and comments; whether there was any.
    fn space(&mut self) -> bool {
        let start = self.at;
        loop {
            match self.text.get(self.at) {
                Some(b'\n') => {
                    self.line_start = true;
                    self.at += 1;
                }
                Some(&byte) if CLASS[byte as usize] == SPACE => self.at += 1,
                Some(b'\\') => match self.splice(self.at) {
                    Some(after) => self.at = after,
                    None => break,
                },
                Some(b'/') => match self.peek(self.at + 1) {
                    (b'/', after) => self.line_comment(after),
                    (b'*', after) => self.block_comment(after),
                    _ => break,
                },
                Some(0) => {
                    self.faults.push(Fault::Nul(self.at as u32));
                    self.at += 1;
                }
                _ => break,
            }
        }
        self.at > start
    }

    fn line_comment(&mut self, mut at: usize) {
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b'\n' => break,
                b'\\' => at = self.splice(at).unwrap_or(at + 1),
                _ => at += 1,
            }
        }
        self.at = at;
    }

    fn block_comment(&mut self, mut at: usize) {
        let start = self.at;
        loop {
            match self.text.get(at) {
                None => {
                    self.faults.push(Fault::UnterminatedComment(start as u32));
                    break;
                }
                Some(b'*') => match self.peek(at + 1) {
                    (b'/', after) => {
                        at = after;
                        break;
                    }
                    _ => at += 1,
                },
                _ => at += 1,
            }
        }
        self.at = at;
    }

    /// The next token, or the end of the text.
    pub fn token(&mut self) -> Raw {
        let space_before = self.space();
        let line_start = std::mem::take(&mut self.line_start);
        let start = self.at;
        let kind = self.scan();
        let spliced = self.text[start..self.at].contains(&b'\n');
        Raw {
            kind,
            start: start as u32,
            end: self.at as u32,
            space_before,
            line_start,
            spliced,
        }
    }

    /// The next token of this line; `None` at its end.
    pub fn next_in_line(&mut self) -> Option<Raw> {
        let (at, line_start, faults) = (self.at, self.line_start, self.faults.len());
        let raw = self.token();
        if raw.line_start || raw.kind == TokenKind::Eof {
            self.at = at;
            self.line_start = line_start;
            self.faults.truncate(faults);
            return None;
        }
        Some(raw)
    }

    /// Skips to the end of the line, as a directive that is not looked at ends.
    pub fn skip_line(&mut self) {
        while self.next_in_line().is_some() {}
    }

    /// The text between two offsets without splices.
    pub fn spelling(&self, raw: Raw) -> Cow<'_, [u8]> {
        let bytes = &self.text[raw.start as usize..raw.end as usize];
        if !raw.spliced {
            return Cow::Borrowed(bytes);
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut at = raw.start as usize;
        while at < raw.end as usize {
            let (byte, after) = self.peek(at);
            if after > raw.end as usize {
                break;
            }
            clean.push(byte);
            at = after;
        }
        Cow::Owned(clean)
    }

    fn scan(&mut self) -> TokenKind {
        let Some(&first) = self.text.get(self.at) else {
            return TokenKind::Eof;
        };
        match CLASS[first as usize] {
            LETTER => self.word(first),
            DIGIT => self.number(),
            _ => match first {
                b'"' => self.literal(self.at + 1, b'"'),
                b'\'' => self.literal(self.at + 1, b'\''),
                b'.' if self.peek(self.at + 1).0.is_ascii_digit() => self.number(),
                b'\\' if matches!(self.peek(self.at + 1).0, b'u' | b'U') => {
                    self.at += 1;
                    self.word(b'u')
                }
                _ => self.punctuator(first),
            },
        }
    }

    fn word(&mut self, first: u8) -> TokenKind {
        let mut at = self.at + 1;
        loop {
            while self
                .text
                .get(at)
                .is_some_and(|&byte| CLASS[byte as usize] & (LETTER | DIGIT) != 0)
            {
                at += 1;
            }
            // A splice, or a character given by its number, may stand here.
            if self.text.get(at) != Some(&b'\\') {
                break;
            }
            let (byte, after) = self.peek(at);
            let is_named = byte == b'\\' && matches!(self.peek(after).0, b'u' | b'U');
            if !is_named && CLASS[byte as usize] & (LETTER | DIGIT) == 0 {
                break;
            }
            at = after;
        }
        // The prefix of a literal.
        if matches!(first, b'L' | b'u' | b'U') && at - self.at <= 2 {
            let prefix = &self.text[self.at..at];
            let quote = self.text.get(at).copied().unwrap_or(0);
            if matches!(prefix, b"L" | b"u" | b"U" | b"u8") && quote == b'"'
                || matches!(prefix, b"L" | b"u" | b"U") && quote == b'\''
            {
                return self.literal(at + 1, quote);
            }
        }
        self.at = at;
        TokenKind::Ident
    }

    fn number(&mut self) -> TokenKind {
        let mut at = self.at;
        let mut last = 0;
        loop {
            let (byte, after) = self.peek(at);
            let goes_on = match byte {
                b'+' | b'-' => matches!(last, b'e' | b'E' | b'p' | b'P'),
                b'.' => true,
                _ => CLASS[byte as usize] & (LETTER | DIGIT) != 0,
            };
            if !goes_on || at >= self.text.len() {
                break;
            }
            last = byte;
            at = after;
        }
        self.at = at;
        TokenKind::Number
    }

    /// A literal whose quote was at `at - 1`. One that does not end on its line ends with the line.
    fn literal(&mut self, mut at: usize, quote: u8) -> TokenKind {
        let start = self.at;
        loop {
            let (byte, after) = self.peek(at);
            match byte {
                0 if at >= self.text.len() => break,
                b'\n' => break,
                b'\\' => {
                    let (escaped, behind) = self.peek(after);
                    at = if escaped == b'\n' { after } else { behind };
                    continue;
                }
                _ => at = after,
            }
            if byte == quote {
                self.at = at;
                return if quote == b'"' {
                    TokenKind::Str
                } else {
                    TokenKind::Char
                };
            }
        }
        // A lone quote is no token of the language; the text behind it is looked at no more.
        self.faults.push(Fault::UnterminatedLiteral(start as u32));
        self.at = at.min(self.text.len()).max(start + 1);
        TokenKind::Unknown
    }

    fn punctuator(&mut self, first: u8) -> TokenKind {
        use TokenKind as T;
        let (second, after2) = self.peek(self.at + 1);
        let (third, after3) = self.peek(after2);
        let one = self.at + 1;
        let (kind, end) = match (first, second, third) {
            (b'.', b'.', b'.') => (T::Ellipsis, after3),
            (b'<', b'<', b'=') => (T::ShlEq, after3),
            (b'>', b'>', b'=') => (T::ShrEq, after3),
            (b'%', b':', b'%') if self.peek(after3).0 == b':' => (T::HashHash, self.peek(after3).1),
            (b'-', b'>', _) => (T::Arrow, after2),
            (b'+', b'+', _) => (T::PlusPlus, after2),
            (b'+', b'=', _) => (T::PlusEq, after2),
            (b'-', b'-', _) => (T::MinusMinus, after2),
            (b'-', b'=', _) => (T::MinusEq, after2),
            (b'*', b'=', _) => (T::StarEq, after2),
            (b'/', b'=', _) => (T::SlashEq, after2),
            (b'%', b'=', _) => (T::PercentEq, after2),
            (b'%', b':', _) => (T::Hash, after2),
            (b'%', b'>', _) => (T::RBrace, after2),
            (b'<', b'%', _) => (T::LBrace, after2),
            (b'<', b':', _) => (T::LBracket, after2),
            (b':', b'>', _) => (T::RBracket, after2),
            (b'&', b'&', _) => (T::AmpAmp, after2),
            (b'&', b'=', _) => (T::AmpEq, after2),
            (b'|', b'|', _) => (T::PipePipe, after2),
            (b'|', b'=', _) => (T::PipeEq, after2),
            (b'^', b'=', _) => (T::CaretEq, after2),
            (b'!', b'=', _) => (T::BangEq, after2),
            (b'=', b'=', _) => (T::EqEq, after2),
            (b'<', b'=', _) => (T::LtEq, after2),
            (b'<', b'<', _) => (T::Shl, after2),
            (b'>', b'=', _) => (T::GtEq, after2),
            (b'>', b'>', _) => (T::Shr, after2),
            (b'#', b'#', _) => (T::HashHash, after2),
            (b'(', ..) => (T::LParen, one),
            (b')', ..) => (T::RParen, one),
            (b'[', ..) => (T::LBracket, one),
            (b']', ..) => (T::RBracket, one),
            (b'{', ..) => (T::LBrace, one),
            (b'}', ..) => (T::RBrace, one),
            (b',', ..) => (T::Comma, one),
            (b';', ..) => (T::Semi, one),
            (b':', ..) => (T::Colon, one),
            (b'?', ..) => (T::Question, one),
            (b'.', ..) => (T::Dot, one),
            (b'+', ..) => (T::Plus, one),
            (b'-', ..) => (T::Minus, one),
            (b'*', ..) => (T::Star, one),
            (b'/', ..) => (T::Slash, one),
            (b'%', ..) => (T::Percent, one),
            (b'&', ..) => (T::Amp, one),
            (b'|', ..) => (T::Pipe, one),
            (b'^', ..) => (T::Caret, one),
            (b'~', ..) => (T::Tilde, one),
            (b'!', ..) => (T::Bang, one),
            (b'=', ..) => (T::Eq, one),
            (b'<', ..) => (T::Lt, one),
            (b'>', ..) => (T::Gt, one),
            (b'#', ..) => (T::Hash, one),
            _ => (T::Unknown, one),
        };
        self.at = end;
        kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TokenKind as T;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(text.as_bytes().into());
        std::iter::from_fn(|| Some(lexer.token().kind).filter(|kind| *kind != T::Eof)).collect()
    }

    fn spellings(text: &str) -> Vec<String> {
        let mut lexer = Lexer::new(text.as_bytes().into());
        let mut all = Vec::new();
        loop {
            let raw = lexer.token();
            if raw.kind == T::Eof {
                return all;
            }
            all.push(String::from_utf8(lexer.spelling(raw).into_owned()).unwrap());
        }
    }

    #[test]
    fn the_longest_token_is_taken() {
        assert_eq!(
            kinds("x+++++y"),
            [T::Ident, T::PlusPlus, T::PlusPlus, T::Plus, T::Ident]
        );
        assert_eq!(
            kinds("a<<=b>>c->d...%:%:"),
            [
                T::Ident,
                T::ShlEq,
                T::Ident,
                T::Shr,
                T::Ident,
                T::Arrow,
                T::Ident,
                T::Ellipsis,
                T::HashHash
            ]
        );
        assert_eq!(spellings("0x1.8p-3f+1"), ["0x1.8p-3f", "+", "1"]);
        assert_eq!(spellings("1e+5.x .5 1..2"), ["1e+5.x", ".5", "1..2"]);
    }

    #[test]
    fn comments_and_splices_separate_or_join() {
        assert_eq!(spellings("a/* b\n */c // d\\\n e\nf"), ["a", "c", "f"]);
        assert_eq!(
            spellings("in\\\nt x\\  \n1;\n+\\\n="),
            ["int", "x1", ";", "+="]
        );
        assert_eq!(spellings("a/\\\n/ b\nc"), ["a", "c"]);
    }

    #[test]
    fn literals_keep_their_quotes_and_escapes() {
        assert_eq!(
            spellings(r#""a\"b" 'x' '\'' L"w" u8"s" u'c' "a//b""#),
            [
                r#""a\"b""#,
                "'x'",
                r"'\''",
                "L\"w\"",
                "u8\"s\"",
                "u'c'",
                "\"a//b\""
            ]
        );
    }

    #[test]
    fn faults_are_noted_and_lexing_goes_on() {
        let mut lexer = Lexer::new(b"a 'b\nc \0 /* d"[..].into());
        while lexer.token().kind != T::Eof {}
        assert_eq!(
            lexer.faults,
            [
                Fault::UnterminatedLiteral(2),
                Fault::Nul(7),
                Fault::UnterminatedComment(9)
            ]
        );
    }

    #[test]
    fn a_line_ends_where_the_next_begins() {
        let mut lexer = Lexer::new(b"# define x \\\n 1 /* \n */ 2\ny"[..].into());
        let mut count = 0;
        while lexer.next_in_line().is_some() {
            count += 1;
        }
        // The first token of a text begins a line.
        assert_eq!(count, 0);
        lexer.token();
        while lexer.next_in_line().is_some() {
            count += 1;
        }
        assert_eq!(count, 4);
        assert!(lexer.token().line_start);
    }
}
