//! `#include`: embedded headers first, then files on disk.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{MAX_DEPTH, MAX_INCLUDES, Preprocessor, Source, Tok};
use crate::source::{MAX_POSITIONS, Pos};
use crate::symbol::{Symbol, sym};
use crate::token::{Token, TokenKind};

/// What an `#include` names.
pub(super) struct Header {
    pub(super) name: String,
    /// `"..."`: looked for beside the including file first.
    pub(super) is_quoted: bool,
}

/// A file of the disk.
#[derive(Clone)]
pub(super) struct OnDisk {
    pub(super) text: Arc<[u8]>,
    /// The one path of the file, however it is reached.
    key: Arc<str>,
}

/// A file that was found.
struct Found {
    name: String,
    text: Arc<[u8]>,
    key: Arc<str>,
    directory: Option<PathBuf>,
    searched: usize,
    path: Option<PathBuf>,
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, directive: Symbol, word: Token) {
        let at = match self.file() {
            Some(file) => Pos(file.start + file.lexer.offset()),
            None => Pos::NONE,
        };
        let Some(header) = self.header_name() else {
            self.diags
                .error(word, "expected \"FILENAME\" or <FILENAME>");
            return;
        };
        let name = self.interner.text(directive);
        let directive_name = format!("#{name}");
        self.end_of_directive(&directive_name);
        self.skip_line();
        if header.name.is_empty() {
            self.diags.error(word, "empty filename");
            return;
        }
        self.includes += 1;
        if self.depth > MAX_DEPTH || self.includes > MAX_INCLUDES {
            self.stop(word, "#include nested too deeply");
            return;
        }
        let Some(found) = self.find(&header, directive == sym::INCLUDE_NEXT) else {
            let at = self.map.line_text(at).map_or(at, |(text, start)| {
                let offset = (at.0 - start.0) as usize;
                let space = text
                    .iter()
                    .skip(offset)
                    .take_while(|b| b.is_ascii_whitespace());
                Pos(at.0 + space.count() as u32)
            });
            self.stop(at, format!("'{}' file not found", header.name));
            return;
        };
        let is_guarded = self.guards.get(&found.key).copied();
        if self.once.contains(&found.key) || is_guarded.is_some_and(|guard| self.is_defined(guard))
        {
            return;
        }
        if directive == sym::IMPORT {
            self.once.insert(found.key.clone());
        }
        if let Some(path) = found.path
            && !self.files_read.contains(&path)
        {
            self.files_read.push(path);
        }
        if self
            .enter_text(&found.name, found.text, Some(word.pos))
            .is_some()
            && let Some(Source::File(file)) = self.stack.last_mut()
        {
            file.key = found.key;
            file.directory = found.directory;
            file.searched = found.searched;
        }
    }

    /// The header named by the rest of the line: as it is, or what macros make of it.
    fn header_name(&mut self) -> Option<Header> {
        let Some(Source::File(file)) = self.stack.last_mut() else {
            return None;
        };
        let offset = file.lexer.offset() as usize;
        let text = &self.map.file(file.id).text[offset..];
        let end = text.iter().position(|b| matches!(b, b'\n' | b'\r'));
        let line = &text[..end.unwrap_or(text.len())];
        let start = line.iter().position(|b| !b.is_ascii_whitespace())?;
        let close = match line[start] {
            b'<' => Some(b'>'),
            b'"' => Some(b'"'),
            _ => None,
        };
        if let Some(close) = close {
            let inside = &line[start + 1..];
            let len = inside.iter().position(|&b| b == close)?;
            file.lexer.seek((offset + start + len + 2) as u32);
            return Some(Header {
                name: String::from_utf8_lossy(&inside[..len]).into_owned(),
                is_quoted: close == b'"',
            });
        }
        let rest = self.rest_of_line();
        let rest = self.expand_all(&rest);
        self.header_of(&rest)
    }

    /// The header that expanded tokens name.
    pub(super) fn header_of(&self, tokens: &[Tok]) -> Option<Header> {
        let first = tokens.first()?;
        match first.token.kind {
            TokenKind::Str => {
                let text = self.text(first.token);
                Some(Header {
                    name: text.trim_matches('"').to_owned(),
                    is_quoted: true,
                })
            }
            TokenKind::Lt => {
                let end = tokens.iter().position(|t| t.token.kind == TokenKind::Gt)?;
                let mut name = String::new();
                for (index, tok) in tokens[1..end].iter().enumerate() {
                    if index > 0 && tok.token.space_before {
                        name.push(' ');
                    }
                    name.push_str(self.text(tok.token));
                }
                Some(Header {
                    name,
                    is_quoted: false,
                })
            }
            _ => None,
        }
    }

    /// Whether a header could be included.
    pub(super) fn has_header(&mut self, header: &Header, next: bool) -> bool {
        self.find(header, next).is_some()
    }

    /// Looks for a header. The places are numbered: 0 is what is embedded, and the directories of
    /// `-I` follow.
    fn find(&mut self, header: &Header, next: bool) -> Option<Found> {
        let (beside, directory, searched) = match self.file() {
            Some(file) => (file.key.clone(), file.directory.clone(), file.searched),
            None => return None,
        };
        let first = if next { searched } else { 0 };
        if first == 0 {
            let beside = header.is_quoted.then_some(&*beside);
            if let Some(found) = self.embedded(&header.name, beside) {
                return Some(found);
            }
            if Path::new(&header.name).is_absolute() {
                return self.read(Path::new(""), &header.name, 0);
            }
        }
        if header.is_quoted && !next {
            // A source that is no file is beside the working directory.
            let directory = directory.unwrap_or_default();
            if let Some(found) = self.read(&directory, &header.name, 0) {
                return Some(found);
            }
        }
        let options = self.options;
        for (index, directory) in options.include_dirs.iter().enumerate() {
            let place = index + 1;
            if place >= first
                && let Some(found) = self.read(Path::new(directory), &header.name, place + 1)
            {
                return Some(found);
            }
        }
        None
    }

    /// A header of the input: by the name it has there, or beside the embedded header that includes
    /// it.
    fn embedded(&self, name: &str, beside: Option<&str>) -> Option<Found> {
        let directory = beside
            .and_then(|key| key.strip_prefix(EMBEDDED))
            .and_then(|key| key.rsplit_once('/'))
            .map(|(directory, _)| directory);
        let near = directory.map(|directory| plain(&format!("{directory}/{name}")));
        [near, Some(plain(name))]
            .into_iter()
            .flatten()
            .find_map(|wanted| {
                let (known, text) = self
                    .input
                    .headers
                    .iter()
                    .find(|(known, _)| plain(known) == wanted)?;
                Some(Found {
                    name: known.clone(),
                    text: text.as_bytes().into(),
                    key: format!("{EMBEDDED}{wanted}").into(),
                    directory: None,
                    searched: 1,
                    path: None,
                })
            })
    }

    fn read(&mut self, directory: &Path, name: &str, searched: usize) -> Option<Found> {
        let path = directory.join(name);
        let file = match self.on_disk.get(&path) {
            Some(file) => file.clone(),
            None => {
                let file = on_disk(&path);
                self.on_disk.insert(path.clone(), file.clone());
                file
            }
        }?;
        Some(Found {
            name: path.to_string_lossy().into_owned(),
            text: file.text,
            key: file.key,
            directory: path.parent().map(Path::to_path_buf),
            searched,
            path: Some(path),
        })
    }

    /// `#pragma once` in the innermost file.
    pub(super) fn pragma_once(&mut self, at: Token) {
        if self.depth == 1 {
            let message = "#pragma once in main file";
            self.diags
                .warning("pragma-once-outside-header", at, message);
        } else if let Some(key) = self.file().map(|file| file.key.clone()) {
            self.once.insert(key);
        }
    }
}

/// Begins the keys of embedded headers; no path begins so.
const EMBEDDED: &str = "\0";

/// A header's name without `.` and `..`.
fn plain(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Reads a plain file. A device or a pipe may never end, and one that is too long is cut so that it
/// is refused.
pub fn read(path: &Path) -> Option<Vec<u8>> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = std::fs::File::open(path).ok()?;
    let mut text = Vec::new();
    file.take(MAX_POSITIONS as u64)
        .read_to_end(&mut text)
        .ok()?;
    Some(text)
}

fn on_disk(path: &Path) -> Option<OnDisk> {
    let text = read(path)?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    Some(OnDisk {
        text: text.into(),
        key: whole.to_string_lossy().into(),
    })
}
