//! Files in one space of positions.
//!
//! Each file that is read, and each text that is made up (predefined macros, the command line),
//! gets a range of positions of its own, one position a byte and one for the end. A position
//! therefore says file, line and column without more. Lines are counted when somebody asks for the
//! first time.

use std::cell::OnceCell;
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
pub(crate) const MAX_POSITIONS: usize = 1 << 28;

#[derive(Debug)]
pub struct File {
    /// As diagnostics call it.
    pub name: Arc<str>,
    pub text: Arc<[u8]>,
    /// The position of its first byte.
    pub start: Pos,
    /// The `#include` that brought it.
    pub included_from: Option<Pos>,
    /// Offsets of the first byte of each line.
    lines: OnceCell<Vec<u32>>,
    /// `#line` directives, in order.
    renumbered: Vec<Renumbered>,
}

/// What a `#line` says of the lines after it.
#[derive(Debug)]
struct Renumbered {
    /// The first line that it holds for, from 0.
    from: u32,
    /// What that line is called.
    line: u32,
    /// What the file is called there, if not by its own name.
    name: Option<Arc<str>>,
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

impl File {
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let text = &self.text;
            let mut lines = vec![0];
            for (at, &byte) in text.iter().enumerate() {
                let ends = match byte {
                    b'\n' => true,
                    b'\r' => text.get(at + 1) != Some(&b'\n'),
                    _ => false,
                };
                if ends {
                    lines.push(at as u32 + 1);
                }
            }
            lines
        })
    }

    /// The line of an offset in the file itself, from 0.
    fn physical_line(&self, offset: u32) -> u32 {
        self.lines().partition_point(|&line| line <= offset) as u32 - 1
    }

    /// The `#line` that holds for a line of the file itself.
    fn renumbered(&self, physical: u32) -> Option<&Renumbered> {
        let after = self.renumbered.partition_point(|d| d.from <= physical);
        after.checked_sub(1).map(|index| &self.renumbered[index])
    }
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
        self.end = end as u32;
        self.files.push(File {
            name: name.into(),
            text,
            start: Pos(start),
            included_from,
            lines: OnceCell::new(),
            renumbered: Vec::new(),
        });
        Some(FileId(self.files.len() as u32 - 1))
    }

    pub fn file(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The file that a position is in.
    pub fn file_of(&self, pos: Pos) -> Option<FileId> {
        let after = self.files.partition_point(|file| file.start <= pos);
        (after > 0).then(|| FileId(after as u32 - 1))
    }

    /// `#line`: the line after the one of `pos` is called `line`, of a file called `name`, or as it
    /// was called.
    pub fn renumber(&mut self, pos: Pos, line: u32, name: Option<&str>) {
        let Some(id) = self.file_of(pos) else { return };
        let file = &mut self.files[id.0 as usize];
        let from = file.physical_line(pos.0 - file.start.0) + 1;
        let name = match name {
            Some(name) => Some(name.into()),
            None => file.renumbered.last().and_then(|last| last.name.clone()),
        };
        file.renumbered.push(Renumbered { from, line, name });
    }

    /// The line in the file itself, from 0.
    pub fn physical_line(&self, pos: Pos) -> Option<(FileId, u32)> {
        let id = self.file_of(pos)?;
        let file = self.file(id);
        Some((id, file.physical_line(pos.0 - file.start.0)))
    }

    /// File, line and column, as `#line` has them.
    pub fn place(&self, pos: Pos) -> Option<Place> {
        let id = self.file_of(pos)?;
        let file = self.file(id);
        let offset = pos.0 - file.start.0;
        let physical = file.physical_line(offset);
        let column = offset - file.lines()[physical as usize] + 1;
        let (line, name) = match file.renumbered(physical) {
            Some(said) => (
                said.line.wrapping_add(physical - said.from),
                said.name.as_ref(),
            ),
            None => (physical + 1, None),
        };
        Some(Place {
            file: name.unwrap_or(&file.name).clone(),
            line,
            column,
        })
    }

    /// The `#include` directives that lead to a position, the nearest first.
    pub fn includers(&self, pos: Pos) -> impl Iterator<Item = Pos> {
        let from = |pos| self.file(self.file_of(pos)?).included_from;
        std::iter::successors(from(pos), move |&pos| from(pos))
    }

    /// The text of the line that a position is in, without its end, and the position of its first
    /// byte.
    pub fn line_text(&self, pos: Pos) -> Option<(&[u8], Pos)> {
        let (id, line) = self.physical_line(pos)?;
        let file = self.file(id);
        let lines = file.lines();
        let start = lines[line as usize];
        let end = lines.get(line as usize + 1);
        let end = end.map_or(file.text.len(), |&end| end as usize);
        let mut text = &file.text[start as usize..end];
        while let [rest @ .., b'\n' | b'\r'] = text {
            text = rest;
        }
        Some((text, Pos(file.start.0 + start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(map: &SourceMap, pos: Pos) -> Option<(String, u32, u32)> {
        map.place(pos)
            .map(|p| (p.file.to_string(), p.line, p.column))
    }

    #[test]
    fn positions_are_lines_and_columns() {
        let mut map = SourceMap::default();
        let one = map.add("a.cl", b"x\nyz\n"[..].into(), None).unwrap();
        let start = map.file(one).start;
        let two = map.add("b.h", b"q"[..].into(), Some(start)).unwrap();
        assert_eq!(said(&map, start), Some(("a.cl".to_owned(), 1, 1)));
        assert_eq!(
            said(&map, Pos(start.0 + 3)),
            Some(("a.cl".to_owned(), 2, 2))
        );
        let header = map.file(two).start;
        assert_eq!(said(&map, header), Some(("b.h".to_owned(), 1, 1)));
        assert_eq!(map.includers(header).collect::<Vec<_>>(), [start]);
        assert_eq!(map.place(Pos::NONE), None);
    }

    #[test]
    fn lines_end_in_every_convention() {
        let mut map = SourceMap::default();
        let text: &[u8] = b"a\r\nb\rc\nd";
        let id = map.add("a.cl", text.into(), None).unwrap();
        let start = map.file(id).start.0;
        let lines = [0, 3, 5, 7].map(|at| {
            let pos = Pos(start + at);
            (map.place(pos).unwrap().line, map.line_text(pos).unwrap().0)
        });
        assert_eq!(
            lines,
            [
                (1, &b"a"[..]),
                (2, &b"b"[..]),
                (3, &b"c"[..]),
                (4, &b"d"[..])
            ]
        );
    }

    #[test]
    fn line_directives_count_from_the_next_line() {
        let mut map = SourceMap::default();
        let text: &[u8] = b"#line 7 \"g\"\nx\n#line 3\ny\n";
        let id = map.add("a.cl", text.into(), None).unwrap();
        let start = map.file(id).start;
        map.renumber(start, 7, Some("g"));
        map.renumber(Pos(start.0 + 14), 3, None);
        assert_eq!(said(&map, start).unwrap().1, 1);
        assert_eq!(said(&map, Pos(start.0 + 12)), Some(("g".to_owned(), 7, 1)));
        assert_eq!(said(&map, Pos(start.0 + 22)), Some(("g".to_owned(), 3, 1)));
    }

    #[test]
    fn too_much_text_is_refused() {
        let mut map = SourceMap::default();
        let text: Arc<[u8]> = vec![b' '; 1 << 20].into();
        let added = (0..300).filter(|_| map.add("h", text.clone(), None).is_some());
        assert!(added.count() < 257);
    }
}
