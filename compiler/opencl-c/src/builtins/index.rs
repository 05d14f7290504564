//! The rows of the table by name.
//!
//! The index is a constant of the library: making it would be a good part of what the first short
//! program of a process takes.

use super::table::{GROUPS, Group, Row};

/// Places of the hash table, a power of two: no more than half are taken.
const PLACES: usize = 4096;

/// The end of a list, or a free place.
const NONE: u16 = u16::MAX;

/// Where a row is in [`GROUPS`], and the next one of the same name.
#[derive(Clone, Copy)]
struct Entry {
    family: u16,
    group: u16,
    row: u16,
    next: u16,
}

struct Index {
    /// By hash of the name, or the next free place: the first entry of a name.
    places: [u16; PLACES],
    /// In the table's order.
    entries: [Entry; COUNT],
}

const COUNT: usize = {
    let (mut count, mut family) = (0, 0);
    while family < GROUPS.len() {
        let mut group = 0;
        while group < GROUPS[family].len() {
            count += GROUPS[family][group].rows.len();
            group += 1;
        }
        family += 1;
    }
    count
};

const _: () = assert!(COUNT < PLACES / 2 && COUNT < NONE as usize);

static INDEX: Index = Index::new();

const fn hash(name: &str) -> usize {
    let (bytes, mut at, mut hash) = (name.as_bytes(), 0, 0xcbf2_9ce4_8422_2325u64);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    (hash ^ hash >> 32) as usize % PLACES
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b, mut at) = (a.as_bytes(), b.as_bytes(), 0);
    if a.len() != b.len() {
        return false;
    }
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

impl Entry {
    const fn row(self) -> &'static Row {
        &GROUPS[self.family as usize][self.group as usize].rows[self.row as usize]
    }

    fn group(self) -> &'static Group {
        &GROUPS[self.family as usize][self.group as usize]
    }
}

impl Index {
    const fn new() -> Index {
        let free = Entry {
            family: 0,
            group: 0,
            row: 0,
            next: NONE,
        };
        let mut index = Index {
            places: [NONE; PLACES],
            entries: [free; COUNT],
        };
        let (mut len, mut family) = (0, 0);
        while family < GROUPS.len() {
            let mut group = 0;
            while group < GROUPS[family].len() {
                let mut row = 0;
                while row < GROUPS[family][group].rows.len() {
                    index.entries[len] = Entry {
                        family: family as u16,
                        group: group as u16,
                        row: row as u16,
                        next: NONE,
                    };
                    index.link(len as u16);
                    len += 1;
                    row += 1;
                }
                group += 1;
            }
            family += 1;
        }
        index
    }

    /// Puts an entry at the end of the list of its name.
    const fn link(&mut self, new: u16) {
        let name = self.entries[new as usize].row().name;
        let place = self.place(name);
        let mut last = self.places[place];
        if last == NONE {
            self.places[place] = new;
            return;
        }
        while self.entries[last as usize].next != NONE {
            last = self.entries[last as usize].next;
        }
        self.entries[last as usize].next = new;
    }

    /// The place of a name: that of its first entry, or where it would be.
    const fn place(&self, name: &str) -> usize {
        let mut place = hash(name);
        loop {
            let first = self.places[place];
            if first == NONE || same(self.entries[first as usize].row().name, name) {
                return place;
            }
            place = (place + 1) % PLACES;
        }
    }
}

fn entry(at: u16) -> Option<Entry> {
    INDEX.entries.get(usize::from(at)).copied()
}

/// The rows of a name, in the table's order; `None` if there are none.
pub(super) fn rows(
    name: &str,
) -> Option<impl Iterator<Item = (&'static Group, &'static Row)> + use<>> {
    let first = entry(INDEX.places[INDEX.place(name)])?;
    let all = std::iter::successors(Some(first), |one| entry(one.next));
    Some(all.map(|one| (one.group(), one.row())))
}

/// Names of all functions that are rows of the table, for spelling suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    let firsts = INDEX.places.iter().filter_map(|&first| entry(first));
    firsts.map(|first| first.row().name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name_and_in_order() {
        let groups = || GROUPS.iter().copied().flatten();
        let all = || groups().flat_map(|group| group.rows.iter());
        assert_eq!(all().count(), COUNT);
        for row in all() {
            let of_name = all().filter(|other| other.name == row.name);
            let of_name: Vec<_> = of_name.map(|row| (row.signature, row.lowering)).collect();
            let found = rows(row.name).expect(row.name);
            let found: Vec<_> = found
                .map(|(_, row)| (row.signature, row.lowering))
                .collect();
            assert_eq!(found, of_name, "{}", row.name);
        }
        assert!(rows("no_such_function").is_none());
        assert!(rows("").is_none());
        let mut named: Vec<&str> = names().collect();
        named.sort_unstable();
        assert!(named.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
