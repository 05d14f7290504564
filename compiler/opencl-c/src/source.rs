//! Files in one space of positions.
//!
//! Each file that is read, and each text that is made up (predefined macros, `-D` options, tokens
//! pasted with `##`), gets a range of positions of its own, one position a byte and one for the
//! end. A position therefore says file, line and column without more.

use std::sync::Arc;

/// A byte of some file; see [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos(pub u32);

impl Pos {
    /// In no file: of the build options, say.
    pub const NONE: Pos = Pos(0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId(pub u32);

/// All positions together; files beyond this are refused.
const MAX_POSITIONS: usize = 1 << 31;

#[derive(Debug)]
pub struct File {
    /// As diagnostics call it.
    pub name: Arc<str>,
    pub text: Arc<[u8]>,
    /// The position of its first byte.
    pub start: Pos,
    /// The `#include` that brought it.
    pub included_from: Option<Pos>,
    /// Positions of the first byte of each line, relative to `start`.
    lines: Vec<u32>,
    /// `#line` directives: from which (physical) line on, what that line is called, and the file's
    /// name there.
    renumbered: Vec<(u32, u32, Option<Arc<str>>)>,
}

/// Where a position is, as a person counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
}

/// Every file of a compilation.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<File>,
    end: u32,
}

impl SourceMap {
    /// Adds a file. `None` if there is too much text altogether.
    pub fn add(
        &mut self,
        name: &str,
        text: Arc<[u8]>,
        included_from: Option<Pos>,
    ) -> Option<FileId> {
        let start = self.end.max(1);
        let end = start as usize + text.len() + 1;
        if end > MAX_POSITIONS {
            return None;
        }
        let mut lines = vec![0];
        let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        lines.extend(breaks.map(|(at, _)| at as u32 + 1));
        self.end = end as u32;
        self.files.push(File {
            name: name.into(),
            text,
            start: Pos(start),
            included_from,
            lines,
            renumbered: Vec::new(),
        });
        Some(FileId(self.files.len() as u32 - 1))
    }

    pub fn file(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    /// The end of the last file that nothing includes: the program's source.
    pub fn main_end(&self) -> Pos {
        let main = self
            .files
            .iter()
            .rev()
            .find(|file| file.included_from.is_none());
        main.map_or(Pos::NONE, |file| Pos(file.start.0 + file.text.len() as u32))
    }

    /// The file that a position is in.
    pub fn file_of(&self, pos: Pos) -> Option<FileId> {
        let after = self.files.partition_point(|file| file.start <= pos);
        (after > 0).then(|| FileId(after as u32 - 1))
    }

    /// `#line`: the line after the one of `pos` is called `line`, of a file called `name`.
    pub fn renumber(&mut self, pos: Pos, line: u32, name: Option<&str>) {
        let Some(id) = self.file_of(pos) else { return };
        let physical = self.physical_line(id, pos) + 1;
        let file = &mut self.files[id.0 as usize];
        let name = match name {
            Some(name) => Some(name.into()),
            None => file.renumbered.last().and_then(|(.., name)| name.clone()),
        };
        file.renumbered.push((physical, line, name));
    }

    /// The line in the file itself, from 0.
    fn physical_line(&self, id: FileId, pos: Pos) -> u32 {
        let file = self.file(id);
        let at = pos.0 - file.start.0;
        file.lines.partition_point(|&line| line <= at) as u32 - 1
    }

    /// File, line and column, as `#line` has them.
    pub fn place(&self, pos: Pos) -> Option<Place> {
        let id = self.file_of(pos)?;
        let file = self.file(id);
        let physical = self.physical_line(id, pos);
        let column = pos.0 - file.start.0 - file.lines[physical as usize] + 1;
        let directive = file.renumbered.iter().rev().find(|d| d.0 <= physical);
        let (line, name) = match directive {
            Some((from, line, name)) => (line + (physical - from), name.as_ref()),
            None => (physical + 1, None),
        };
        Some(Place {
            file: name.unwrap_or(&file.name).clone(),
            line,
            column,
        })
    }

    /// The text of the line that a position is in, without its end, and the position of its first
    /// byte.
    pub fn line_text(&self, pos: Pos) -> Option<(&[u8], Pos)> {
        let id = self.file_of(pos)?;
        let file = self.file(id);
        let start = file.lines[self.physical_line(id, pos) as usize];
        let text = &file.text[start as usize..];
        let end = text
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(text.len());
        Some((&text[..end], Pos(file.start.0 + start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_lines_and_columns() {
        let mut map = SourceMap::default();
        let one = map.add("a.cl", b"x\nyz\n"[..].into(), None).unwrap();
        let start = map.file(one).start;
        let two = map.add("b.h", b"q"[..].into(), Some(start)).unwrap();
        let place = |pos| {
            map.place(pos)
                .map(|p| (p.file.to_string(), p.line, p.column))
        };
        assert_eq!(place(start), Some(("a.cl".to_owned(), 1, 1)));
        assert_eq!(place(Pos(start.0 + 3)), Some(("a.cl".to_owned(), 2, 2)));
        assert_eq!(place(map.file(two).start), Some(("b.h".to_owned(), 1, 1)));
        assert_eq!(place(Pos::NONE), None);
    }

    #[test]
    fn line_directives_count_from_the_next_line() {
        let mut map = SourceMap::default();
        let id = map
            .add("a.cl", b"#line 7 \"g\"\nx\ny\n"[..].into(), None)
            .unwrap();
        let start = map.file(id).start;
        map.renumber(start, 7, Some("g"));
        let place = map.place(Pos(start.0 + 14)).unwrap();
        assert_eq!((&*place.file, place.line), ("g", 8));
    }
}
