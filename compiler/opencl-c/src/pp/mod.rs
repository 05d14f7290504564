//! The preprocessor: directives carried out, macros expanded, one stream of tokens out.
//!
//! Tokens come from a stack of sources: files, and lists of tokens that expansions made. An
//! expansion's macro is not expanded again until its list is used up, and a name met meanwhile is
//! *painted*: it is never expanded any more (C99 6.10.3.4).
//!
//! - `mod.rs`: the stack, and which token comes next
//! - `directive.rs`: directives and conditional groups; `condition.rs`: the value of `#if`
//! - `define.rs`: definitions of macros; `include.rs`: files
//! - `pragma.rs`; `rounding.rs`: what `SELECT_ROUNDING_MODE` is for
//! - `expand.rs`: macros, their arguments, `#` and `##`; `dynamic.rs`: `__LINE__` and kin
//! - `predefined.rs`: the macros that are there from the start
//! - `known.rs`: what `__has_attribute` and kin answer
//! - `print.rs`: preprocessed text
//!
//! Time and memory are bounded by the length of the source, but for macros and `#include`: these
//! are bounded by `MAX_MADE` and `MAX_LIVE`, `MAX_INCLUDES` and the space of positions.

mod condition;
mod define;
mod directive;
mod dynamic;
mod expand;
mod include;
mod known;
mod pragma;
mod predefined;
pub mod print;
mod scopes;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::compile::Input;
use crate::diag::{At, Diagnostics};
use crate::lex::{Fault, Lexer, Raw};
use crate::options::{Define, Device, Options};
use crate::source::{FileId, Pos, SourceMap};
use crate::symbol::{Interner, Symbol, sym};
use crate::token::{Expansion, ExpansionId, Loc, Pragma, RoundingMode};
use crate::token::{Token, TokenKind, TokenStream};
pub use include::read as read_file;
pub(crate) use known::is_intrinsic;
use scopes::Scopes;

/// Files include each other no deeper.
const MAX_DEPTH: usize = 200;

/// No more files are included.
const MAX_INCLUDES: usize = 100_000;

/// A program of more tokens is refused.
const MAX_TOKENS: usize = 16 << 20;

/// What macros may cost: tokens of arguments and expansions, and strings that they make.
const MAX_MADE: usize = 32 << 20;

/// Tokens of arguments and expansions that are there at the same time.
const MAX_LIVE: usize = 4 << 20;

/// Files that were looked for on disk, and what they held if they were there.
pub type LookedFor = Vec<(PathBuf, Option<Arc<[u8]>>)>;

/// What the preprocessor leaves behind.
#[derive(Debug)]
pub struct Preprocessed {
    pub tokens: TokenStream,
    pub map: SourceMap,
    pub interner: Interner,
    /// Files on disk whose text went in.
    pub files_read: Vec<PathBuf>,
    pub looked_for: LookedFor,
}

/// Which pragmas become tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pragmas {
    /// Those that mean something to later stages.
    Known,
    /// All, for preprocessed text.
    All,
}

/// Preprocesses a source for the parser.
pub fn preprocess(
    input: &Input<'_>,
    options: &Options,
    device: &Device,
    diags: &mut Diagnostics,
) -> Preprocessed {
    run(Preprocessor::new(
        input,
        options,
        device,
        Pragmas::Known,
        diags,
    ))
}

/// Preprocesses a source for [`mod@print`], which keeps pragmas that mean nothing here.
pub fn preprocess_all(
    input: &Input<'_>,
    options: &Options,
    device: &Device,
    diags: &mut Diagnostics,
) -> Preprocessed {
    run(Preprocessor::new(
        input,
        options,
        device,
        Pragmas::All,
        diags,
    ))
}

fn run(mut pp: Preprocessor<'_>) -> Preprocessed {
    pp.enter_sources();
    // Few sources have a token for every other character; memory that is not touched costs nothing.
    let mut tokens = Vec::with_capacity(pp.input.source.len() / 2 + 16);
    loop {
        let token = pp.next().token;
        let next = Loc(tokens.len() as u32);
        if pp.puts_in_force(token, next) && pp.keep == Pragmas::Known {
            continue;
        }
        tokens.push(token);
        match token.kind {
            TokenKind::LBrace => {
                pp.roundings.open_brace();
                pp.contractions.open_brace();
            }
            TokenKind::RBrace => {
                pp.roundings.close_brace(Loc(next.0 + 1));
                pp.contractions.close_brace(Loc(next.0 + 1));
            }
            TokenKind::Eof => break,
            _ => {}
        }
        if tokens.len() > MAX_TOKENS {
            pp.stop(token, "the program has too many tokens");
        }
    }
    let looked_for = pp.on_disk.into_iter();
    let mut looked_for: LookedFor = looked_for
        .map(|(path, file)| (path, file.map(|file| file.text)))
        .collect();
    looked_for.sort();
    Preprocessed {
        tokens: TokenStream {
            tokens,
            expansions: pp.expansions,
            pragmas: pp.pragmas,
            roundings: pp.roundings.in_force,
            contractions: pp.contractions.in_force,
            pragma_texts: pp.pragma_texts,
        },
        map: pp.map,
        interner: pp.interner,
        files_read: pp.files_read,
        looked_for,
    }
}

/// A token and whether its name is expanded no more.
#[derive(Clone, Copy, Debug)]
struct Tok {
    token: Token,
    painted: bool,
}

/// Index of a definition in [`Preprocessor::definitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MacroId(u32);

/// A macro's definition.
struct Macro {
    /// `None` for one without parentheses.
    params: Option<Params>,
    body: Rc<[BodyToken]>,
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

#[derive(Clone, Copy, Debug)]
struct BodyToken {
    token: Token,
    role: Role,
}

/// What a token does in a macro's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Plain,
    /// An argument, by number.
    Param(u16),
    /// `#` and the parameter behind it.
    Stringize(u16),
    /// `##`
    Paste,
    /// `##` between a comma and the variable arguments, GNU's way to drop the comma.
    CommaPaste,
    /// `__VA_OPT__( )`, whose inside are the next tokens, so many.
    VaOpt(u32),
    /// `#__VA_OPT__( )`
    StringizeVaOpt(u32),
}

/// Where tokens come from.
enum Source {
    File(Box<FileSource>),
    Tokens {
        tokens: Vec<Tok>,
        at: usize,
        /// The macro that is enabled again when the list is used up.
        owner: Option<MacroId>,
    },
    /// Nothing below is read until this is taken away.
    Barrier,
}

struct FileSource {
    id: FileId,
    lexer: Lexer,
    start: u32,
    /// What the file is known by for `#pragma once`.
    key: Arc<str>,
    /// Directory of a file on disk.
    directory: Option<PathBuf>,
    /// How many of the places that headers are looked for in come before and with the one it was
    /// found in.
    searched: usize,
    /// Conditions that were open when the file began.
    conditions: usize,
    guard: Guard,
}

/// Whether all of a file is within `#ifndef X` and its `#endif`: then it need not be read while `X`
/// is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    /// Nothing was read yet.
    Fresh,
    Open(Symbol),
    Closed(Symbol),
    No,
}

/// An open `#if`.
struct Condition {
    at: Token,
    /// One of its groups was taken.
    taken: bool,
    has_else: Option<Token>,
}

struct Preprocessor<'a> {
    input: &'a Input<'a>,
    options: &'a Options,
    device: &'a Device,
    keep: Pragmas,
    diags: &'a mut Diagnostics,
    map: SourceMap,
    interner: Interner,
    /// What is known of each symbol as a macro: see `define.rs`.
    slots: Vec<u32>,
    definitions: Vec<Macro>,
    stack: Vec<Source>,
    /// Files on the stack.
    depth: usize,
    /// The program's own source.
    main: Option<FileId>,
    /// The last token that came from a file.
    last_read: Pos,
    /// Calls of macros whose arguments are being read.
    collecting: u32,
    conditions: Vec<Condition>,
    expansions: Vec<Expansion>,
    pragmas: Vec<Pragma>,
    pragma_texts: Vec<Symbol>,
    files_read: Vec<PathBuf>,
    /// Files by path, so that each is read once.
    on_disk: FxHashMap<PathBuf, Option<include::OnDisk>>,
    includes: usize,
    /// Files that say `#pragma once`.
    once: FxHashSet<Arc<str>>,
    /// Files that are within a guard.
    guards: FxHashMap<Arc<str>, Symbol>,
    counter: u64,
    /// `#pragma pack` in force, and those that were pushed.
    pack: Option<u32>,
    pack_stack: Vec<Option<u32>>,
    /// `#pragma push_macro`.
    pushed_macros: FxHashMap<Symbol, Vec<u32>>,
    roundings: Scopes<RoundingMode>,
    contractions: Scopes<bool>,
    /// What expansions have cost.
    made: usize,
    /// Tokens in lists on the stack and in arguments.
    live: usize,
    /// Something went wrong after which there are no more tokens.
    stopped: bool,
    /// Lists and arguments to use again.
    spare_lists: Vec<Vec<Tok>>,
    spare_args: Vec<expand::Args>,
    scratch: String,
}

impl<'a> Preprocessor<'a> {
    fn new(
        input: &'a Input<'a>,
        options: &'a Options,
        device: &'a Device,
        keep: Pragmas,
        diags: &'a mut Diagnostics,
    ) -> Preprocessor<'a> {
        Preprocessor {
            input,
            options,
            device,
            keep,
            diags,
            map: SourceMap::default(),
            interner: Interner::new(),
            slots: Vec::new(),
            definitions: Vec::new(),
            stack: Vec::new(),
            depth: 0,
            main: None,
            last_read: Pos::NONE,
            collecting: 0,
            conditions: Vec::new(),
            expansions: vec![Expansion {
                name: sym::EMPTY,
                invoked: Pos::NONE,
                defined: Pos::NONE,
                parent: ExpansionId::NONE,
            }],
            pragmas: Vec::new(),
            pragma_texts: Vec::new(),
            files_read: Vec::new(),
            on_disk: FxHashMap::default(),
            includes: 0,
            once: FxHashSet::default(),
            guards: FxHashMap::default(),
            counter: 0,
            pack: None,
            pack_stack: Vec::new(),
            pushed_macros: FxHashMap::default(),
            roundings: Scopes::default(),
            contractions: Scopes::default(),
            made: 0,
            live: 0,
            stopped: false,
            spare_lists: Vec::new(),
            spare_args: Vec::new(),
            scratch: String::new(),
        }
    }

    /// Gives up with an error.
    fn stop(&mut self, at: impl Into<At>, why: impl Into<String>) {
        if !self.stopped {
            self.diags.fatal(at, why);
        }
        self.stopped = true;
        self.stack.clear();
        self.conditions.clear();
    }

    /// Counts what an expansion cost, whose list is `held` tokens long so far.
    fn spend(&mut self, cost: usize, held: usize, at: Token) {
        self.made += cost;
        if self.made > MAX_MADE || self.live + held > MAX_LIVE {
            self.stop(at, "macros expand to too many tokens");
        }
    }

    /// The source, and above it what the command line has: macros and headers, as if their lines
    /// came before.
    fn enter_sources(&mut self) {
        let source = self.input.source.as_bytes();
        self.main = self.enter_text(self.input.name, source.into(), None);
        if let Some(Source::File(file)) = self.stack.last_mut() {
            file.directory = Path::new(self.input.name).parent().map(PathBuf::from);
        }
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
        for header in &self.options.includes {
            text += &format!("#include \"{header}\"\n");
        }
        if !text.is_empty() {
            self.enter_text("<command line>", text.into_bytes().into(), None);
        }
    }

    /// Puts a file on the stack.
    fn enter_text(&mut self, name: &str, text: Arc<[u8]>, from: Option<Pos>) -> Option<FileId> {
        let Some(id) = self.map.add(name, text.clone(), from) else {
            self.stop(
                from.map_or(At::Nowhere, At::from),
                "the program's files are too large",
            );
            return None;
        };
        let file = self.map.file(id);
        self.depth += 1;
        self.stack.push(Source::File(Box::new(FileSource {
            id,
            lexer: Lexer::new(text),
            start: file.start.0,
            key: file.name.clone(),
            directory: None,
            searched: 0,
            conditions: self.conditions.len(),
            guard: Guard::Fresh,
        })));
        Some(id)
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
        // White space before macros that expand to nothing.
        let (mut space_before, mut line_start) = (false, false);
        loop {
            let mut tok = self.unexpanded();
            tok.token.space_before |= space_before;
            tok.token.line_start |= line_start;
            if tok.token.kind != TokenKind::Ident || tok.painted {
                return tok;
            }
            let Some(id) = self.lookup(tok.token.symbol) else {
                return tok;
            };
            match self.expand(tok, id) {
                expand::Outcome::Kept(tok) => return tok,
                expand::Outcome::Pushed => (space_before, line_start) = (false, false),
                expand::Outcome::Nothing => {
                    space_before |= tok.token.space_before;
                    line_start |= tok.token.line_start;
                }
            }
        }
    }

    /// The next token as it stands, directives carried out.
    fn unexpanded(&mut self) -> Tok {
        loop {
            match self.stack.last_mut() {
                None | Some(Source::Barrier) => return self.end(),
                Some(Source::Tokens { tokens, at, .. }) => {
                    if let Some(&tok) = tokens.get(*at) {
                        *at += 1;
                        return tok;
                    }
                    self.drop_list();
                }
                Some(Source::File(file)) => {
                    let raw = file.lexer.token();
                    if !file.lexer.faults.is_empty() {
                        self.tell_faults();
                    }
                    if raw.kind == TokenKind::Hash && raw.line_start {
                        self.directive(raw);
                    } else if raw.kind != TokenKind::Eof {
                        return self.cook(raw);
                    } else if self.collecting > 0 {
                        return self.end();
                    } else {
                        self.leave_file();
                    }
                }
            }
        }
    }

    /// Takes a list that is used up off the stack; its macro may be expanded again.
    fn drop_list(&mut self) {
        if let Some(Source::Tokens { tokens, owner, .. }) = self.stack.pop() {
            self.live = self.live.saturating_sub(tokens.len());
            if let Some(owner) = owner {
                self.definitions[owner.0 as usize].disabled = false;
            }
            self.give_back(tokens);
        }
    }

    /// An empty list, perhaps used before.
    fn list(&mut self) -> Vec<Tok> {
        self.spare_lists.pop().unwrap_or_default()
    }

    fn give_back(&mut self, mut list: Vec<Tok>) {
        if self.spare_lists.len() < 64 && list.capacity() < 4096 {
            list.clear();
            self.spare_lists.push(list);
        }
    }

    fn end(&self) -> Tok {
        let main = self.main.map(|id| self.map.file(id));
        Tok {
            token: Token {
                kind: TokenKind::Eof,
                space_before: false,
                line_start: true,
                symbol: sym::EMPTY,
                pos: main.map_or(Pos::NONE, |file| Pos(file.start.0 + file.text.len() as u32)),
                len: 0,
                expansion: ExpansionId::NONE,
            },
            painted: false,
        }
    }

    fn leave_file(&mut self) {
        let Some(Source::File(file)) = self.stack.pop() else {
            return;
        };
        self.depth -= 1;
        for open in self.conditions.drain(file.conditions..) {
            self.diags
                .error(open.at, "unterminated conditional directive");
        }
        if let Guard::Closed(name) = file.guard {
            self.guards.insert(file.key, name);
        }
    }

    fn tell_faults(&mut self) {
        let Some(Source::File(file)) = self.stack.last_mut() else {
            return;
        };
        let start = file.start;
        for fault in std::mem::take(&mut file.lexer.faults) {
            let at = |offset: u32| Pos(start + offset);
            let diags = &mut *self.diags;
            match fault {
                Fault::UnterminatedComment(offset) => {
                    diags.error(at(offset), "unterminated /* comment");
                }
                Fault::UnterminatedLiteral(offset) => {
                    let text = self.map.line_text(at(offset));
                    let is_string = text.is_some_and(|(text, start)| {
                        let rest = &text[(at(offset).0 - start.0) as usize..];
                        rest.iter().find(|byte| matches!(byte, b'\'' | b'"')) == Some(&b'"')
                    });
                    let quote = if is_string { "'\"'" } else { "'" };
                    let message = format!("missing terminating {quote} character");
                    diags.warning("invalid-pp-token", at(offset), message);
                }
                Fault::Nul(offset) => {
                    diags.warning("null-character", at(offset), "null character ignored");
                }
                Fault::Trigraph(offset) => {
                    let message = "trigraph converted to the character it stands for";
                    diags.warning("trigraphs", At::Source(at(offset), 3), message);
                }
                // What stands for bytes that were no characters.
                Fault::InvalidUtf8(offset) | Fault::Character(offset, '\u{fffd}') => {
                    diags.error(at(offset), "source file is not valid UTF-8");
                }
                Fault::Character(offset, char) => {
                    let message = format!("unexpected character <U+{:04X}>", char as u32);
                    diags.error(at(offset), message);
                }
                Fault::WideSpace(offset) => {
                    let message = "treating Unicode character as whitespace";
                    diags.warning("unicode-whitespace", at(offset), message);
                }
            }
        }
    }

    /// A token of the innermost file with its spelling.
    fn cook(&mut self, raw: Raw) -> Tok {
        let Some(Source::File(file)) = self.stack.last_mut() else {
            unreachable!("raw tokens come from files")
        };
        if matches!(file.guard, Guard::Fresh | Guard::Closed(_)) {
            file.guard = Guard::No;
        }
        let pos = Pos(file.start + raw.start);
        self.last_read = pos;
        use TokenKind as T;
        let symbol = match raw.kind {
            T::Ident | T::Number | T::Str | T::Char | T::Unknown => {
                let bytes = file.lexer.spelling(raw);
                match std::str::from_utf8(&bytes) {
                    Ok(text) if raw.kind == T::Ident && text.contains('\\') => {
                        self.interner.intern(&without_names(text))
                    }
                    Ok(text) => self.interner.intern(text),
                    Err(_) => {
                        self.diags.warning(
                            "invalid-source-encoding",
                            pos,
                            "illegal character encoding in literal",
                        );
                        self.interner.intern(&with_escapes(&bytes))
                    }
                }
            }
            // These have digraphs, which `#` spells as they are.
            T::LBracket | T::RBracket | T::LBrace | T::RBrace | T::Hash | T::HashHash => {
                let usual = 1 + u32::from(raw.kind == T::HashHash);
                match &*file.lexer.spelling(raw) {
                    digraph if digraph.len() as u32 == usual * 2 => {
                        self.interner.intern(&String::from_utf8_lossy(digraph))
                    }
                    _ => sym::EMPTY,
                }
            }
            _ => sym::EMPTY,
        };
        Tok {
            token: Token {
                kind: raw.kind,
                space_before: raw.space_before,
                line_start: raw.line_start,
                symbol,
                pos,
                len: raw.end - raw.start,
                expansion: ExpansionId::NONE,
            },
            painted: false,
        }
    }

    /// The tokens that are left on the directive's line.
    fn rest_of_line(&mut self) -> Vec<Tok> {
        let mut all = self.list();
        while let Some(tok) = self.next_in_line() {
            all.push(tok);
        }
        all
    }

    fn next_in_line(&mut self) -> Option<Tok> {
        let Some(Source::File(file)) = self.stack.last_mut() else {
            return None;
        };
        let raw = file.lexer.next_in_line();
        if !file.lexer.faults.is_empty() {
            self.tell_faults();
        }
        raw.map(|raw| self.cook(raw))
    }

    /// Puts tokens on the stack.
    fn push_tokens(&mut self, tokens: Vec<Tok>, owner: Option<MacroId>) {
        self.live += tokens.len();
        self.stack.push(Source::Tokens {
            tokens,
            at: 0,
            owner,
        });
    }

    /// If a token is a pragma that puts something in force for the tokens from `next` on, does so.
    /// Returns whether the pragma may stand between any two tokens.
    fn puts_in_force(&mut self, token: Token, next: Loc) -> bool {
        if token.kind != TokenKind::Pragma {
            return false;
        }
        match self.pragmas[token.symbol.0 as usize] {
            Pragma::RoundingMode(mode) => {
                self.roundings.select(mode, next);
                true
            }
            Pragma::FpContract(setting) => {
                self.contractions.select(setting, next);
                false
            }
            _ => false,
        }
    }

    /// How a token is written.
    fn text(&self, token: Token) -> &str {
        spelled(&self.interner, token)
    }
}

/// An identifier with the characters that are given by number.
fn without_names(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let digits = if rest[at..].starts_with("\\U") { 8 } else { 4 };
        let (number, behind) = rest[at + 2..].split_at(digits);
        let number = u32::from_str_radix(number, 16).ok();
        out.push(number.and_then(char::from_u32).unwrap_or('_'));
        rest = behind;
    }
    out + rest
}

/// A literal whose bytes that are no characters are written as octal escapes.
fn with_escapes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\{byte:03o}"));
        }
    }
    out
}

/// How a token is written.
pub fn spelled(interner: &Interner, token: Token) -> &str {
    use TokenKind as T;
    match token.kind {
        T::LBracket | T::RBracket | T::LBrace | T::RBrace | T::Hash | T::HashHash
            if token.symbol != sym::EMPTY =>
        {
            interner.text(token.symbol)
        }
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
