//! Scopes: what names mean. Ordinary names and tags have a space each; labels are per function
//! (`stmt.rs`).

use rustc_hash::FxHashMap;

use crate::hir::{GlobalId, LocalId};
use crate::symbol::Symbol;
use crate::token::Loc;
use crate::types::{QualType, Space, TypeId};

/// What an ordinary name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Local(LocalId),
    Global(GlobalId),
    /// Overloads, by index in `Sema::functions`' groups.
    Function(u32),
    Typedef(QualType, Option<Space>),
    Enumerator(u64, TypeId),
    /// Its declaration was wrong: using it says nothing more.
    Error,
}

/// A declared name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub meaning: Meaning,
    pub loc: Loc,
    pub depth: u32,
}

#[derive(Debug, Default)]
pub(super) struct Scopes {
    names: FxHashMap<Symbol, Vec<Entry>>,
    tags: FxHashMap<Symbol, Vec<(TypeId, u32)>>,
    open: Vec<(Vec<Symbol>, Vec<Symbol>)>,
}

impl Scopes {
    /// 0 outside functions.
    pub fn depth(&self) -> u32 {
        self.open.len() as u32
    }

    pub fn push(&mut self) {
        self.open.push(Default::default());
    }

    pub fn pop(&mut self) {
        let (names, tags) = self.open.pop().expect("opened before");
        for name in names {
            self.names.get_mut(&name).and_then(Vec::pop);
        }
        for tag in tags {
            self.tags.get_mut(&tag).and_then(Vec::pop);
        }
    }

    pub fn lookup(&self, name: Symbol) -> Option<Entry> {
        self.names.get(&name)?.last().copied()
    }

    /// As declared in the innermost scope.
    pub fn lookup_here(&self, name: Symbol) -> Option<Entry> {
        self.lookup(name)
            .filter(|entry| entry.depth == self.depth())
    }

    pub fn declare(&mut self, name: Symbol, meaning: Meaning, loc: Loc) {
        let depth = self.depth();
        let entry = Entry {
            meaning,
            loc,
            depth,
        };
        let all = self.names.entry(name).or_default();
        if let Some(last) = all.last_mut().filter(|last| last.depth == depth) {
            *last = entry;
            return;
        }
        all.push(entry);
        if let Some((names, _)) = self.open.last_mut() {
            names.push(name);
        }
    }

    /// Names in scope, for "did you mean".
    pub fn names(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.names
            .iter()
            .filter(|(_, entries)| !entries.is_empty())
            .map(|(&name, _)| name)
    }

    pub fn tag(&self, tag: Symbol) -> Option<TypeId> {
        self.tags.get(&tag)?.last().map(|&(ty, _)| ty)
    }

    pub fn tag_here(&self, tag: Symbol) -> Option<TypeId> {
        let &(ty, depth) = self.tags.get(&tag)?.last()?;
        (depth == self.depth()).then_some(ty)
    }

    pub fn declare_tag(&mut self, tag: Symbol, ty: TypeId) {
        let depth = self.depth();
        self.tags.entry(tag).or_default().push((ty, depth));
        if let Some((_, tags)) = self.open.last_mut() {
            tags.push(tag);
        }
    }
}
