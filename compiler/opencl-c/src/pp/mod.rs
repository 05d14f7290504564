//! The preprocessor: directives carried out, macros expanded, one stream of tokens out.
//!
//! Tokens come from a stack of sources: files, and lists of tokens that expansions made. An
//! expansion's macro is not expanded again until its list is used up, and a name met meanwhile is
//! *painted*: it is never expanded any more (C99 6.10.3.4).
//!
//! - `mod.rs`: the stack, and which token comes next
//! - `directive.rs`: directives; `include.rs`: files; `condition.rs`: the value of `#if`;
//!   `pragma.rs`
//! - `expand.rs`: macros, their arguments, `#` and `##`; `dynamic.rs`: `__LINE__` and kin
//! - `predefined.rs`: the macros that are there from the start
//! - `print.rs`: preprocessed text

mod condition;
mod directive;
mod dynamic;
mod expand;
mod include;
mod pragma;
mod predefined;
pub mod print;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::compile::Input;
use crate::diag::{At, Diagnostics};
use crate::lex::{Fault, Lexer, Raw};
use crate::options::{Define, Device, Options};
use crate::source::{FileId, Pos, SourceMap};
use crate::symbol::{Interner, Symbol};
use crate::token::{Expansion, ExpansionId, Pragma, Token, TokenKind, TokenStream};

/// Files include each other no deeper.
const MAX_DEPTH: usize = 200;

/// A program of more tokens is refused, and so is one whose macros make more.
const MAX_TOKENS: usize = 8 << 20;

/// What the preprocessor leaves behind.
#[derive(Debug)]
pub struct Preprocessed {
    pub tokens: TokenStream,
    pub map: SourceMap,
    pub interner: Interner,
    /// Files on disk whose text went in.
    pub files_read: Vec<PathBuf>,
}

/// Preprocesses a source.
pub fn preprocess(
    input: &Input<'_>,
    options: &Options,
    device: &Device,
    diags: &mut Diagnostics,
) -> Preprocessed {
    let mut pp = Preprocessor {
        input,
        options,
        diags,
        map: SourceMap::default(),
        interner: Interner::new(),
        words: Words::default(),
        macros: FxHashMap::default(),
        stack: Vec::new(),
        depth: 0,
        conditions: Vec::new(),
        expansions: vec![Expansion {
            name: Symbol::default(),
            invoked: Pos::NONE,
            defined: Pos::NONE,
            parent: ExpansionId::NONE,
        }],
        pragmas: Vec::new(),
        extensions: device.extensions.iter().map(String::as_str).collect(),
        files_read: Vec::new(),
        once: FxHashSet::default(),
        counter: 0,
        pack: None,
        pack_stack: Vec::new(),
        made: 0,
        stopped: false,
    };
    pp.words = Words::new(&mut pp.interner);
    pp.predefine(device);
    pp.command_line();
    pp.enter_source();
    let mut tokens = Vec::with_capacity(input.source.len() / 4 + 16);
    loop {
        let token = pp.next().token;
        let at_end = token.kind == TokenKind::Eof;
        tokens.push(token);
        if at_end {
            break;
        }
        if tokens.len() > MAX_TOKENS {
            pp.stop(Pos::NONE, "the program has too many tokens");
        }
    }
    Preprocessed {
        tokens: TokenStream {
            tokens,
            expansions: pp.expansions,
            pragmas: pp.pragmas,
        },
        map: pp.map,
        interner: pp.interner,
        files_read: pp.files_read,
    }
}

/// A token and whether its name is expanded no more.
#[derive(Clone, Copy, Debug)]
struct Tok {
    token: Token,
    painted: bool,
}

/// Words that mean something to the preprocessor.
macro_rules! words {
    ($($name:ident = $text:literal,)*) => {
        #[derive(Default)]
        struct Words {
            $($name: Symbol,)*
        }

        impl Words {
            fn new(interner: &mut Interner) -> Words {
                Words {
                    $($name: interner.intern($text),)*
                }
            }
        }
    };
}

words! {
    defined = "defined",
    va_args = "__VA_ARGS__",
    va_opt = "__VA_OPT__",
    pragma = "_Pragma",
    has_include = "__has_include",
    has_include_next = "__has_include_next",
}

/// A macro's definition.
struct Macro {
    /// `None` for one without parentheses.
    params: Option<Params>,
    body: Rc<[Token]>,
    defined: Pos,
    /// Being expanded: its name is not expanded now.
    disabled: bool,
    dynamic: Option<dynamic::Dynamic>,
    is_predefined: bool,
}

struct Params {
    names: Vec<Symbol>,
    /// The last name stands for all further arguments.
    variadic: bool,
}

/// Where tokens come from.
enum Source {
    File(Box<FileSource>),
    Tokens {
        tokens: Rc<[Tok]>,
        at: usize,
        /// The macro that is enabled again when the list is used up.
        owner: Option<Symbol>,
    },
    /// Nothing below is read until this is taken away.
    Barrier,
}

struct FileSource {
    id: FileId,
    lexer: Lexer,
    start: u32,
    /// Directory of a file on disk.
    directory: Option<PathBuf>,
    /// Which of the directories of `-I` it was found in.
    searched: usize,
    /// Conditions that were open when the file began.
    conditions: usize,
}

/// An open `#if`.
struct Condition {
    at: Pos,
    /// One of its groups was taken.
    taken: bool,
    has_else: bool,
}

struct Preprocessor<'a> {
    input: &'a Input<'a>,
    options: &'a Options,
    diags: &'a mut Diagnostics,
    map: SourceMap,
    interner: Interner,
    words: Words,
    macros: FxHashMap<Symbol, Macro>,
    stack: Vec<Source>,
    /// Files on the stack.
    depth: usize,
    conditions: Vec<Condition>,
    expansions: Vec<Expansion>,
    pragmas: Vec<Pragma>,
    extensions: FxHashSet<&'a str>,
    files_read: Vec<PathBuf>,
    /// Names of files that say `#pragma once`.
    once: FxHashSet<Arc<str>>,
    counter: u64,
    /// `#pragma pack` in force, and those that were pushed.
    pack: Option<u32>,
    pack_stack: Vec<Option<u32>>,
    /// Tokens that expansions have made.
    made: usize,
    /// Something went wrong after which there are no more tokens.
    stopped: bool,
}

impl Preprocessor<'_> {
    /// Gives up with an error.
    fn stop(&mut self, at: impl Into<At>, why: &str) {
        if !self.stopped {
            self.diags.error(at, why);
        }
        self.stopped = true;
        self.stack.clear();
        self.conditions.clear();
    }

    /// Macros of `-D` and `-U`, as if `#define` lines came before the source.
    fn command_line(&mut self) {
        let mut text = String::new();
        for define in &self.options.defines {
            match define {
                Define::Undefine(name) => text += &format!("#undef {name}\n"),
                Define::Define(define) => {
                    let line = define.lines().next().unwrap_or_default();
                    match line.split_once('=') {
                        Some((name, value)) => text += &format!("#define {name} {value}\n"),
                        None => text += &format!("#define {line} 1\n"),
                    }
                }
            }
        }
        if !text.is_empty() {
            self.enter_text("<command line>", text.into_bytes().into(), None);
            while self.next().token.kind != TokenKind::Eof {}
        }
    }

    fn enter_source(&mut self) {
        let text: Arc<[u8]> = self.input.source.as_bytes().into();
        self.enter_text(self.input.name, text, None);
    }

    /// Puts a file on the stack.
    fn enter_text(&mut self, name: &str, text: Arc<[u8]>, from: Option<Pos>) -> bool {
        let Some(id) = self.map.add(name, text.clone(), from) else {
            self.stop(Pos::NONE, "the program's files are too large");
            return false;
        };
        let start = self.map.file(id).start.0;
        self.depth += 1;
        self.stack.push(Source::File(Box::new(FileSource {
            id,
            lexer: Lexer::new(text),
            start,
            directory: None,
            searched: 0,
            conditions: self.conditions.len(),
        })));
        true
    }

    /// The innermost file.
    fn file(&mut self) -> Option<&mut FileSource> {
        self.stack.iter_mut().rev().find_map(|source| match source {
            Source::File(file) => Some(&mut **file),
            _ => None,
        })
    }

    /// The next token of the program, macros expanded.
    fn next(&mut self) -> Tok {
        loop {
            let tok = self.unexpanded();
            if tok.token.kind != TokenKind::Ident || tok.painted {
                return tok;
            }
            match self.expand(tok) {
                expand::Outcome::Expanded => {}
                expand::Outcome::Kept(tok) => return tok,
            }
        }
    }

    /// The next token as it stands, directives carried out.
    fn unexpanded(&mut self) -> Tok {
        loop {
            match self.stack.last_mut() {
                None => return self.end(),
                Some(Source::Barrier) => return self.end(),
                Some(Source::Tokens { tokens, at, owner }) => {
                    if let Some(&tok) = tokens.get(*at) {
                        *at += 1;
                        return tok;
                    }
                    let owner = *owner;
                    self.stack.pop();
                    if let Some(name) = owner
                        && let Some(definition) = self.macros.get_mut(&name)
                    {
                        definition.disabled = false;
                    }
                }
                Some(Source::File(file)) => {
                    let raw = file.lexer.token();
                    if !file.lexer.faults.is_empty() {
                        self.tell_faults();
                    }
                    if raw.kind == TokenKind::Hash && raw.line_start {
                        self.directive(raw);
                    } else if raw.kind == TokenKind::Eof {
                        self.leave_file();
                    } else {
                        return self.cook(raw);
                    }
                }
            }
        }
    }

    fn end(&self) -> Tok {
        Tok {
            token: Token {
                kind: TokenKind::Eof,
                space_before: false,
                line_start: true,
                symbol: Symbol::default(),
                pos: Pos(self.map_end()),
                len: 0,
                expansion: ExpansionId::NONE,
            },
            painted: false,
        }
    }

    /// The end of the program's source, for the token that stands for it.
    fn map_end(&self) -> u32 {
        self.map.main_end().0
    }

    fn leave_file(&mut self) {
        let Some(Source::File(file)) = self.stack.pop() else {
            return;
        };
        self.depth -= 1;
        for open in self.conditions.split_off(file.conditions) {
            self.diags
                .error(open.at, "unterminated conditional directive");
        }
    }

    fn tell_faults(&mut self) {
        let Some(file) = self.file() else { return };
        let start = file.start;
        for fault in std::mem::take(&mut file.lexer.faults) {
            match fault {
                Fault::UnterminatedComment(at) => {
                    self.diags.error(Pos(start + at), "unterminated /* comment");
                }
                Fault::UnterminatedLiteral(at) => {
                    let at = Pos(start + at);
                    self.diags.warning(
                        "invalid-pp-token",
                        at,
                        "missing terminating quote character",
                    );
                }
                Fault::Nul(at) => {
                    let at = Pos(start + at);
                    self.diags.error(at, "the source contains a NUL character");
                }
            }
        }
    }

    /// A token of the innermost file with its spelling.
    fn cook(&mut self, raw: Raw) -> Tok {
        let Some(Source::File(file)) = self.stack.last() else {
            unreachable!("raw tokens come from files")
        };
        let start = file.start;
        let symbol = match raw.kind {
            TokenKind::Ident
            | TokenKind::Number
            | TokenKind::Str
            | TokenKind::Char
            | TokenKind::Unknown => {
                let bytes = file.lexer.spelling(raw);
                match std::str::from_utf8(&bytes) {
                    Ok(text) => self.interner.intern(text),
                    Err(_) => {
                        let text = String::from_utf8_lossy(&bytes);
                        let symbol = self.interner.intern(&text);
                        if raw.kind != TokenKind::Str {
                            let at = Pos(start + raw.start);
                            self.diags.error(at, "source file is not valid UTF-8");
                        }
                        symbol
                    }
                }
            }
            _ => Symbol::default(),
        };
        Tok {
            token: Token {
                kind: raw.kind,
                space_before: raw.space_before,
                line_start: raw.line_start,
                symbol,
                pos: Pos(start + raw.start),
                len: raw.end - raw.start,
                expansion: ExpansionId::NONE,
            },
            painted: false,
        }
    }

    /// The tokens that are left on the directive's line.
    fn rest_of_line(&mut self) -> Vec<Tok> {
        let mut all = Vec::new();
        while let Some(tok) = self.next_in_line() {
            all.push(tok);
        }
        all
    }

    fn next_in_line(&mut self) -> Option<Tok> {
        let Some(Source::File(file)) = self.stack.last_mut() else {
            return None;
        };
        let raw = file.lexer.next_in_line()?;
        if !file.lexer.faults.is_empty() {
            self.tell_faults();
        }
        Some(self.cook(raw))
    }

    /// Puts tokens on the stack.
    fn push_tokens(&mut self, tokens: Rc<[Tok]>, owner: Option<Symbol>) {
        self.stack.push(Source::Tokens {
            tokens,
            at: 0,
            owner,
        });
    }

    /// How a token is written.
    fn text(&self, token: Token) -> &str {
        spelled(&self.interner, token)
    }
}

/// How a token is written.
pub fn spelled(interner: &Interner, token: Token) -> &str {
    use TokenKind as T;
    match token.kind {
        T::Ident | T::Number | T::Char | T::Str | T::Unknown => interner.text(token.symbol),
        T::Pragma | T::Eof => "",
        T::LParen => "(",
        T::RParen => ")",
        T::LBracket => "[",
        T::RBracket => "]",
        T::LBrace => "{",
        T::RBrace => "}",
        T::Comma => ",",
        T::Semi => ";",
        T::Colon => ":",
        T::Question => "?",
        T::Dot => ".",
        T::Ellipsis => "...",
        T::Arrow => "->",
        T::Plus => "+",
        T::PlusPlus => "++",
        T::PlusEq => "+=",
        T::Minus => "-",
        T::MinusMinus => "--",
        T::MinusEq => "-=",
        T::Star => "*",
        T::StarEq => "*=",
        T::Slash => "/",
        T::SlashEq => "/=",
        T::Percent => "%",
        T::PercentEq => "%=",
        T::Amp => "&",
        T::AmpAmp => "&&",
        T::AmpEq => "&=",
        T::Pipe => "|",
        T::PipePipe => "||",
        T::PipeEq => "|=",
        T::Caret => "^",
        T::CaretEq => "^=",
        T::Tilde => "~",
        T::Bang => "!",
        T::BangEq => "!=",
        T::Eq => "=",
        T::EqEq => "==",
        T::Lt => "<",
        T::LtEq => "<=",
        T::Shl => "<<",
        T::ShlEq => "<<=",
        T::Gt => ">",
        T::GtEq => ">=",
        T::Shr => ">>",
        T::ShrEq => ">>=",
        T::Hash => "#",
        T::HashHash => "##",
    }
}
