//! The checked mode: who touched which byte last, so that unordered accesses are found.
//!
//! Two accesses to a byte race when they are of different work-items, at least one writes, they are
//! not both atomic, and no barrier is between them. Barriers order the work-items of one group;
//! nothing orders groups. A byte remembers its last plain write, last plain read and last atomic
//! access, each as a [`Stamp`]; several readers since the last write are one stamp that differs
//! from each of them.

use std::collections::HashMap;

use super::{Error, SegmentId};

/// Who runs: the linear id of the group, the barriers it has passed, the work-item in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub group: u32,
    pub epoch: u32,
    pub item: u32,
}

/// Any work-item, or any group: several did.
const MANY: u32 = u32::MAX;

impl Stamp {
    /// Whether an access by `self` and an earlier one by `other` are in no order.
    fn unordered(self, other: Stamp) -> bool {
        self.group != other.group || self.epoch == other.epoch && self.item != other.item
    }

    /// Both accesses as one stamp.
    fn join(self, other: Option<Stamp>) -> Stamp {
        match other {
            None => self,
            Some(other) if other == self => self,
            Some(other) if other.group != self.group => Stamp {
                group: MANY,
                ..self
            },
            // What an earlier epoch did is ordered before everything to come in this group.
            Some(other) if other.epoch != self.epoch => self,
            Some(_) => Stamp { item: MANY, ..self },
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Byte {
    write: Option<Stamp>,
    read: Option<Stamp>,
    atomic: Option<Stamp>,
}

/// What an access does to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Atomic,
}

/// The shadow of memory that several work-items may touch.
#[derive(Debug)]
pub(super) struct Checks {
    pub enabled: bool,
    /// Who runs now; nobody in a plain function.
    pub now: Option<Stamp>,
    shadow: HashMap<(SegmentId, usize), Byte>,
}

impl Checks {
    pub fn new(enabled: bool) -> Checks {
        Checks {
            enabled,
            now: None,
            shadow: HashMap::new(),
        }
    }

    /// Forgets all accesses: a new launch.
    pub fn reset(&mut self) {
        self.shadow.clear();
    }

    /// Records an access and refuses it if it races.
    pub fn access(
        &mut self,
        what: &str,
        kind: Kind,
        segment: SegmentId,
        offset: usize,
        size: usize,
    ) -> Result<(), Error> {
        let Some(now) = self.now.filter(|_| self.enabled) else {
            return Ok(());
        };
        for at in offset..offset + size {
            let byte = self.shadow.entry((segment, at)).or_default();
            let conflicts: &[Option<Stamp>] = match kind {
                Kind::Read => &[byte.write, byte.atomic],
                Kind::Write => &[byte.write, byte.read, byte.atomic],
                Kind::Atomic => &[byte.write, byte.read],
            };
            if let Some(other) = conflicts.iter().flatten().find(|&&s| now.unordered(s)) {
                return Err(Error::new(format!(
                    "{what} races: work-item {} of group {} with another, {other:?}",
                    now.item, now.group
                )));
            }
            match kind {
                Kind::Read => byte.read = Some(now.join(byte.read)),
                Kind::Write => byte.write = Some(now),
                Kind::Atomic => byte.atomic = Some(now.join(byte.atomic)),
            }
        }
        Ok(())
    }
}
