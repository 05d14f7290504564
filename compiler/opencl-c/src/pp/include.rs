//! `#include`: embedded headers first, then files on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{MAX_DEPTH, Preprocessor, Source, Tok};
use crate::source::Pos;
use crate::token::TokenKind;

/// What an `#include` names.
struct Header {
    name: String,
    /// `"..."`: looked for beside the including file first.
    is_quoted: bool,
}

/// A file that was found.
struct Found {
    name: String,
    text: Arc<[u8]>,
    directory: Option<PathBuf>,
    searched: usize,
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, at: Pos, next: bool) {
        let Some(header) = self.header_name() else {
            self.diags.error(at, "expected \"FILENAME\" or <FILENAME>");
            return;
        };
        self.skip_line();
        if self.depth >= MAX_DEPTH {
            self.stop(at, "#include nested too deeply");
            return;
        }
        let Some(found) = self.find(&header, next) else {
            self.diags
                .error(at, format!("'{}' file not found", header.name));
            return;
        };
        if self.once.contains(found.name.as_str()) {
            return;
        }
        if self.enter_text(&found.name, found.text, Some(at))
            && let Some(Source::File(file)) = self.stack.last_mut()
        {
            file.directory = found.directory;
            file.searched = found.searched;
        }
    }

    /// The header named by the rest of the line: as it is, or what macros make of it.
    fn header_name(&mut self) -> Option<Header> {
        let Some(Source::File(file)) = self.stack.last() else {
            return None;
        };
        let id = file.id;
        let offset = file.lexer.offset() as usize;
        let text = self.map.file(id).text.clone();
        let line = &text[offset..];
        let end = line.iter().position(|&b| b == b'\n').unwrap_or(line.len());
        let line = String::from_utf8_lossy(&line[..end]);
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix('<') {
            let (name, _) = rest.split_once('>')?;
            return Some(Header {
                name: name.to_owned(),
                is_quoted: false,
            });
        }
        if let Some(rest) = line.strip_prefix('"') {
            let (name, _) = rest.split_once('"')?;
            return Some(Header {
                name: name.to_owned(),
                is_quoted: true,
            });
        }
        let rest = self.rest_of_line();
        let rest = self.expand_all(&rest);
        self.header_of(&rest)
    }

    /// The header that expanded tokens name.
    pub(super) fn header_of_tokens(&self, tokens: &[Tok]) -> Option<(String, bool)> {
        self.header_of(tokens)
            .map(|header| (header.name, header.is_quoted))
    }

    fn header_of(&self, tokens: &[Tok]) -> Option<Header> {
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
    pub(super) fn has_header(&mut self, name: String, is_quoted: bool, next: bool) -> bool {
        let read = self.files_read.len();
        let found = self.find(&Header { name, is_quoted }, next).is_some();
        self.files_read.truncate(read);
        found
    }

    fn find(&mut self, header: &Header, next: bool) -> Option<Found> {
        let (directory, searched) = match self.file() {
            Some(file) => (file.directory.clone(), file.searched),
            None => (None, 0),
        };
        if !next {
            if let Some(found) = self.embedded(&header.name) {
                return Some(found);
            }
            if Path::new(&header.name).is_absolute() {
                return self.read(Path::new(""), &header.name, 0);
            }
            if let Some(directory) = directory.filter(|_| header.is_quoted)
                && let Some(found) = self.read(&directory, &header.name, 0)
            {
                return Some(found);
            }
        }
        let first = if next { searched } else { 0 };
        let directories = self.options.include_dirs.clone();
        for (index, directory) in directories.iter().enumerate().skip(first) {
            if let Some(found) = self.read(Path::new(directory), &header.name, index + 1) {
                return Some(found);
            }
        }
        // As clang reads from standard input: relative to the working directory.
        if header.is_quoted && !next && self.depth == 1 {
            return self.read(Path::new(""), &header.name, 0);
        }
        None
    }

    fn embedded(&self, name: &str) -> Option<Found> {
        let plain = |name: &str| name.trim_start_matches("./").to_owned();
        let (_, text) = self
            .input
            .headers
            .iter()
            .find(|(known, _)| plain(known) == plain(name))?;
        Some(Found {
            name: name.to_owned(),
            text: text.as_bytes().into(),
            directory: None,
            searched: 0,
        })
    }

    fn read(&mut self, directory: &Path, name: &str, searched: usize) -> Option<Found> {
        let path = directory.join(name);
        // A device or a pipe may never end.
        if !std::fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let text = std::fs::read(&path).ok()?;
        self.files_read.push(path.clone());
        Some(Found {
            name: path.to_string_lossy().into_owned(),
            text: text.into(),
            directory: path.parent().map(Path::to_path_buf),
            searched,
        })
    }

    /// `#pragma once` in the innermost file.
    pub(super) fn pragma_once(&mut self) {
        if let Some(id) = self.file().map(|file| file.id) {
            let name = self.map.file(id).name.clone();
            self.once.insert(name);
        }
    }
}
