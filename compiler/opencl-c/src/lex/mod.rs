//! Characters to preprocessing tokens: phases 1 to 3 of C99 5.1.1.2, one token at a time.
//!
//! A line that ends with a backslash goes on with the next; such a splice, or a trigraph, may stand
//! inside any token, which costs time only there. Comments are white space, and so is, with a fault
//! noted, whatever can be part of no token.

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
    /// There is a splice or a trigraph in it: [`Lexer::spelling`] takes it out.
    pub spliced: bool,
}

/// What is wrong with a text that tokens can be made of all the same, and at which offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    UnterminatedComment(u32),
    /// A literal whose quote is missing at the end.
    UnterminatedLiteral(u32),
    Nul(u32),
    Trigraph(u32),
    /// A character that no token may have outside literals.
    Character(u32, char),
    /// White space of other alphabets, which is taken for white space.
    WideSpace(u32),
    InvalidUtf8(u32),
}

#[derive(Clone, Debug)]
pub struct Lexer {
    text: Arc<[u8]>,
    at: usize,
    line_start: bool,
    /// The token being read has a splice or a trigraph.
    spliced: bool,
    pub faults: Vec<Fault>,
}

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;
/// Part of a character beyond ASCII.
const WIDE: u8 = 8;

/// What each byte may be part of.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => LETTER,
            b'0'..=b'9' => DIGIT,
            b' ' | b'\t' | 0x0b | 0x0c => SPACE,
            0x80.. => WIDE,
            _ => 0,
        };
        byte += 1;
    }
    class
};

fn is_word(byte: u8) -> bool {
    CLASS[byte as usize] & (LETTER | DIGIT) != 0
}

/// Whether an identifier may have a character beyond ASCII.
fn is_wide_letter(char: char) -> bool {
    char.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&char)
}

/// C99 5.2.1.1: the character that `??` and this one stand for.
fn trigraph(third: u8) -> Option<u8> {
    Some(match third {
        b'=' => b'#',
        b'(' => b'[',
        b'/' => b'\\',
        b')' => b']',
        b'\'' => b'^',
        b'<' => b'{',
        b'!' => b'|',
        b'>' => b'}',
        b'-' => b'~',
        _ => return None,
    })
}

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
            spliced: false,
            faults: Vec::new(),
        }
    }

    /// Where the next token is looked for.
    pub fn offset(&self) -> u32 {
        self.at as u32
    }

    /// Goes on at an offset of the line being read.
    pub fn seek(&mut self, offset: u32) {
        self.at = offset as usize;
    }

    /// The character at an offset behind splices, and the offset after it; 0 at the end.
    fn peek(&self, at: usize) -> (u8, usize) {
        match self.text.get(at) {
            None => (0, at),
            Some(b'\\' | b'?') => self.peek_slowly(at),
            Some(&byte) => (byte, at + 1),
        }
    }

    fn peek_slowly(&self, mut at: usize) -> (u8, usize) {
        loop {
            let (byte, after) = match &self.text[at..] {
                [] => return (0, at),
                [b'?', b'?', third, ..] => match trigraph(*third) {
                    Some(byte) => (byte, at + 3),
                    None => return (b'?', at + 1),
                },
                [byte, ..] => (*byte, at + 1),
            };
            match byte {
                b'\\' => match self.splice(after) {
                    Some(after) => at = after,
                    None => return (byte, after),
                },
                _ => return (byte, after),
            }
        }
    }

    /// The offset behind a splice whose backslash ends here. White space may stand before the
    /// line's end, as GNU C has it.
    fn splice(&self, mut after: usize) -> Option<usize> {
        while let Some(&byte) = self.text.get(after)
            && CLASS[byte as usize] == SPACE
        {
            after += 1;
        }
        self.line_end(after)
    }

    /// The offset behind the line's end, if it is here: `\n`, `\r\n` or `\r`.
    fn line_end(&self, at: usize) -> Option<usize> {
        match self.text.get(at)? {
            b'\n' => Some(at + 1),
            b'\r' if self.text.get(at + 1) == Some(&b'\n') => Some(at + 2),
            b'\r' => Some(at + 1),
            _ => None,
        }
    }

    /// Skips white space and comments, to the end of the line only if `in_line`; whether there was
    /// any.
    fn space(&mut self, in_line: bool) -> bool {
        let start = self.at;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                _ if CLASS[byte as usize] == SPACE => self.at += 1,
                b'\n' | b'\r' => {
                    if in_line {
                        break;
                    }
                    self.line_start = true;
                    self.at += 1;
                }
                b'/' => match self.peek(self.at + 1) {
                    (b'/', after) => self.line_comment(after),
                    (b'*', after) => self.block_comment(after),
                    _ => break,
                },
                b'\\' | b'?' => {
                    // A splice between tokens.
                    let backslash = if byte == b'\\' {
                        self.at + 1
                    } else if self.text[self.at..].starts_with(b"??/") {
                        self.at + 3
                    } else {
                        break;
                    };
                    match self.splice(backslash) {
                        Some(after) => self.at = after,
                        None => break,
                    }
                }
                0 => {
                    self.faults.push(Fault::Nul(self.at as u32));
                    self.at += 1;
                }
                0x80.. => {
                    if !self.wide_space() {
                        break;
                    }
                }
                _ => break,
            }
        }
        self.at > start
    }

    /// Skips what begins with a byte beyond ASCII and is no letter; `false` if it is one.
    fn wide_space(&mut self) -> bool {
        let at = self.at as u32;
        let (fault, len) = match self.wide(self.at) {
            Some(char) if is_wide_letter(char) => return false,
            // Zero-width space and no-break space, too.
            Some(char) if char.is_whitespace() || matches!(char, '\u{200b}' | '\u{feff}') => {
                (Fault::WideSpace(at), char.len_utf8())
            }
            Some(char) => (Fault::Character(at, char), char.len_utf8()),
            None => (Fault::InvalidUtf8(at), 1),
        };
        self.at += len;
        self.faults.push(fault);
        true
    }

    /// The character at an offset, if its encoding is right.
    fn wide(&self, at: usize) -> Option<char> {
        let bytes = &self.text[at..self.text.len().min(at + 4)];
        bytes.utf8_chunks().next()?.valid().chars().next()
    }

    fn line_comment(&mut self, mut at: usize) {
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b'\n' | b'\r' => break,
                b'\\' => at = self.splice(at + 1).unwrap_or(at + 1),
                b'?' if self.text[at..].starts_with(b"??/") => {
                    at = self.splice(at + 3).unwrap_or(at + 3);
                }
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
        let space_before = self.space(false);
        let line_start = std::mem::take(&mut self.line_start);
        self.read(space_before, line_start)
    }

    /// The next token of this line; `None` at its end, which is not passed.
    pub fn next_in_line(&mut self) -> Option<Raw> {
        let space_before = self.space(true);
        if self.at >= self.text.len() || self.line_end(self.at).is_some() {
            return None;
        }
        Some(self.read(space_before, false))
    }

    fn read(&mut self, space_before: bool, line_start: bool) -> Raw {
        let start = self.at;
        self.spliced = false;
        let kind = self.scan();
        Raw {
            kind,
            start: start as u32,
            end: self.at as u32,
            space_before,
            line_start,
            spliced: self.spliced,
        }
    }

    /// Skips to the end of the line, as a directive that is not looked at ends.
    pub fn skip_line(&mut self) {
        while self.next_in_line().is_some() {}
    }

    /// Whether the next token is `(`, on whatever line; not at the end of the text.
    pub fn opens_parenthesis(&self) -> bool {
        // Most often it stands right here.
        match self.text.get(self.at) {
            Some(b'(') => return true,
            Some(b' ' | b'\t' | b'\n' | b'\r' | b'/' | b'\\' | b'?' | 0x0b | 0x0c) => {}
            _ => return false,
        }
        let mut ahead = self.clone();
        ahead.space(false);
        ahead.text.get(ahead.at) == Some(&b'(')
    }

    /// The characters of a token, without splices and trigraphs.
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
            LETTER | WIDE => self.word(first),
            DIGIT => self.number(),
            _ => match first {
                b'"' => self.literal(self.at + 1, b'"'),
                b'\'' => self.literal(self.at + 1, b'\''),
                b'.' if self.peek(self.at + 1).0.is_ascii_digit() => self.number(),
                b'\\' if self.named_character(self.at).is_some() => self.word(first),
                _ => self.punctuator(),
            },
        }
    }

    /// The offset behind a universal character name that begins here: `\u` and four digits or `\U`
    /// and eight.
    fn named_character(&self, at: usize) -> Option<usize> {
        let (b'\\', after) = self.peek(at) else {
            return None;
        };
        let (letter, mut after) = self.peek(after);
        let digits = match letter {
            b'u' => 4,
            b'U' => 8,
            _ => return None,
        };
        for _ in 0..digits {
            let (digit, behind) = self.peek(after);
            if !digit.is_ascii_hexdigit() {
                return None;
            }
            after = behind;
        }
        Some(after)
    }

    fn word(&mut self, first: u8) -> TokenKind {
        let mut at = self.at;
        loop {
            while let Some(&byte) = self.text.get(at)
                && is_word(byte)
            {
                at += 1;
            }
            if self.text.get(at).is_some_and(|&byte| byte >= 0x80) {
                match self.wide(at).filter(|&char| is_wide_letter(char)) {
                    Some(char) => at += char.len_utf8(),
                    None => break,
                }
                continue;
            }
            // A splice, or a character given by its number, may stand here.
            if !matches!(self.text.get(at), Some(b'\\' | b'?')) {
                break;
            }
            let (byte, after) = self.peek(at);
            if is_word(byte) {
                self.spliced = true;
                at = after;
            } else if let Some(after) = self.named_character(at) {
                let behind = &self.text[at + 1..after];
                self.spliced |= behind.iter().any(|byte| matches!(byte, b'\\' | b'?'));
                at = after;
            } else {
                break;
            }
        }
        // The prefix of a literal.
        if matches!(first, b'L' | b'u' | b'U') && at - self.at <= 2 {
            let prefix = &self.text[self.at..at];
            let quote = self.text.get(at).copied().unwrap_or(0);
            let is_prefix = matches!(prefix, b"L" | b"u" | b"U" | b"u8");
            if is_prefix && (quote == b'"' || quote == b'\'' && prefix != b"u8") {
                return self.literal(at + 1, quote);
            }
        }
        self.at = at;
        TokenKind::Ident
    }

    fn number(&mut self) -> TokenKind {
        let mut at = self.at;
        let mut last = 0;
        while at < self.text.len() {
            let (byte, after) = self.peek(at);
            let goes_on = match byte {
                b'+' | b'-' => matches!(last, b'e' | b'E' | b'p' | b'P'),
                b'.' => true,
                _ => is_word(byte),
            };
            if !goes_on {
                break;
            }
            self.spliced |= after != at + 1;
            last = byte;
            at = after;
        }
        self.at = at;
        TokenKind::Number
    }

    /// A literal whose quote was at `at - 1`. One that does not end on its line ends with the line.
    fn literal(&mut self, mut at: usize, quote: u8) -> TokenKind {
        let start = self.at;
        while at < self.text.len() {
            let (byte, after) = self.peek(at);
            self.spliced |= after != at + 1;
            match byte {
                b'\n' | b'\r' => break,
                b'\\' => {
                    let (escaped, behind) = self.peek(after);
                    let is_line_end = matches!(escaped, b'\n' | b'\r');
                    self.spliced |= behind != after + 1;
                    at = if is_line_end { after } else { behind };
                }
                _ if byte == quote => {
                    self.at = after;
                    return if quote == b'"' {
                        TokenKind::Str
                    } else {
                        TokenKind::Char
                    };
                }
                _ => at = after,
            }
        }
        // Such a quote is no token of the language; what the line has behind it belongs to it.
        self.faults.push(Fault::UnterminatedLiteral(start as u32));
        self.at = at.min(self.text.len());
        TokenKind::Unknown
    }

    fn punctuator(&mut self) -> TokenKind {
        use TokenKind as T;
        let (first, one) = self.peek(self.at);
        if one != self.at + 1 {
            self.faults.push(Fault::Trigraph(self.at as u32));
        }
        let (second, after2) = self.peek(one);
        let (third, after3) = self.peek(after2);
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
        let bytes = &self.text[self.at..end];
        self.spliced = bytes.len() > 1 && (bytes.contains(&b'\\') || bytes.contains(&b'?'));
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
    fn trigraphs_are_the_characters_they_stand_for() {
        assert_eq!(
            kinds("??=??(??)??<??>??!??'??-"),
            [
                T::Hash,
                T::LBracket,
                T::RBracket,
                T::LBrace,
                T::RBrace,
                T::Pipe,
                T::Caret,
                T::Tilde
            ]
        );
        assert_eq!(
            spellings("\"a??/\"b??)\" x??/\ny ? ?\\?"),
            ["\"a\\\"b]\"", "xy", "?", "?", "\\", "?"]
        );
        assert_eq!(
            kinds("a???b"),
            [T::Ident, T::Question, T::Question, T::Question, T::Ident]
        );
    }

    #[test]
    fn universal_character_names_are_letters() {
        assert_eq!(
            spellings("a\\u00e9b \\U0001F600 \\u12"),
            ["a\\u00e9b", "\\U0001F600", "\\", "u12"]
        );
    }

    #[test]
    fn letters_of_other_alphabets_are_letters() {
        assert_eq!(
            spellings("größe π x\u{a0}y a→b"),
            ["größe", "π", "x", "y", "a", "b"]
        );
        let mut lexer = Lexer::new("x\u{a0}y →"[..].as_bytes().into());
        while lexer.token().kind != T::Eof {}
        assert_eq!(
            lexer.faults,
            [Fault::WideSpace(1), Fault::Character(5, '→')]
        );
        let mut lexer = Lexer::new(b"x\xffy"[..].into());
        assert_eq!([lexer.token().end, lexer.token().start], [1, 2]);
        assert_eq!(lexer.faults, [Fault::InvalidUtf8(1)]);
    }

    #[test]
    fn an_open_parenthesis_is_seen_behind_white_space() {
        let opens = |text: &str| {
            let mut lexer = Lexer::new(text.as_bytes().into());
            lexer.token();
            lexer.opens_parenthesis()
        };
        assert!(opens("f(") && opens("f /* c */ \n\\\n (") && opens("f//\n("));
        assert!(!opens("f") && !opens("f )") && !opens("f\n#("));
    }

    #[test]
    fn a_line_ends_where_the_next_begins() {
        let mut lexer = Lexer::new(b"# define x \\\n 1 /* \n */ 2\r\ny\rz"[..].into());
        let mut count = 0;
        while lexer.next_in_line().is_some() {
            count += 1;
        }
        assert_eq!(count, 5);
        for _ in 0..2 {
            let raw = lexer.token();
            assert!(raw.line_start && raw.kind == T::Ident);
        }
    }
}
