//! Which subobject an item of a list is for: the one that its designators name, or the next one.

use std::collections::BTreeMap;

use super::{Cursor, Node};
use crate::ast::{self, Designator};
use crate::sema::Sema;
use crate::token::Span;
use crate::types::{Type, TypeId};

/// Ranges of more elements than this are refused.
const MAX_RANGE: u64 = 1 << 20;

impl Sema<'_> {
    /// How many parts an aggregate has that an initialiser fills in order.
    pub(super) fn part_count(&self, ty: TypeId) -> u64 {
        match self.types.get(ty) {
            Type::Array { len, .. } => len.unwrap_or(0),
            Type::Record(record) => {
                let record = &self.types.records[record.0 as usize];
                let count = record.fields.as_ref().map_or(0, Vec::len) as u64;
                if record.is_union { count.min(1) } else { count }
            }
            _ => 0,
        }
    }

    pub(super) fn part_type(&self, ty: TypeId, at: u64) -> Option<TypeId> {
        match self.types.get(ty) {
            Type::Array { element, .. } => Some(element.ty),
            Type::Record(record) => {
                let fields = self.types.records[record.0 as usize].fields.as_ref()?;
                Some(fields.get(at as usize)?.ty.ty)
            }
            _ => None,
        }
    }

    /// Gives an aggregate's parts their items. Without braces of its own it takes no designators
    /// and no more than it has parts.
    pub(super) fn fill(
        &mut self,
        ty: TypeId,
        parts: &mut BTreeMap<u64, Node>,
        cursor: &mut Cursor<'_>,
        braced: bool,
        span: Span,
    ) -> Option<()> {
        self.fill_from(ty, 0, parts, cursor, braced, span)
    }

    /// The same, from a part on.
    fn fill_from(
        &mut self,
        ty: TypeId,
        mut at: u64,
        parts: &mut BTreeMap<u64, Node>,
        cursor: &mut Cursor<'_>,
        braced: bool,
        span: Span,
    ) -> Option<()> {
        let count = self.part_count(ty);
        while let Some(item) = cursor.items.first() {
            if let Some(designator) = item.designators.first() {
                if !braced {
                    return Some(());
                }
                at = self.designated(ty, parts, *designator, cursor, span)?;
                continue;
            }
            if at >= count {
                return Some(());
            }
            let part = self.part_type(ty, at)?;
            let node = self.next(part, cursor, span)?;
            parts.insert(at, node);
            at += 1;
        }
        Some(())
    }

    /// The first item, which has designators, and those that go on behind what it names inside of
    /// the part (C99, "Initialization": "initialization continues forward in order, beginning with
    /// the next subobject after that described by the designator"). The number of the part after
    /// it.
    fn designated(
        &mut self,
        ty: TypeId,
        parts: &mut BTreeMap<u64, Node>,
        first: Designator,
        cursor: &mut Cursor<'_>,
        span: Span,
    ) -> Option<u64> {
        let item = &cursor.items[0];
        cursor.items = &cursor.items[1..];
        let (low, high, path) = self.designator(ty, first, span)?;
        let mut way = vec![low];
        way.extend(path.iter().map(|&field| u64::from(field)));
        let mut inner = self.part_type(ty, low)?;
        for &field in &path {
            inner = self.part_type(inner, field.into())?;
        }
        // Deeper designators go on from there.
        for designator in &item.designators[1..] {
            let (low, _, path) = self.designator(inner, *designator, span)?;
            way.push(low);
            inner = self.part_type(inner, low)?;
            for field in path {
                way.push(field.into());
                inner = self.part_type(inner, field.into())?;
            }
        }
        let node = self.node(inner, item.init)?;
        for at in low..=high {
            way[0] = at;
            // What follows goes on behind the last of a range.
            let mut rest = Cursor {
                items: if at == high { cursor.items } else { &[] },
                operand: None,
            };
            self.place(ty, parts, &way, node.clone(), true, &mut rest, span)?;
            if at == high {
                *cursor = rest;
            }
        }
        Some(high + 1)
    }

    /// Puts a node where a way of parts leads, and goes on filling from there, level by level.
    #[allow(clippy::too_many_arguments)]
    fn place(
        &mut self,
        ty: TypeId,
        parts: &mut BTreeMap<u64, Node>,
        way: &[u64],
        node: Node,
        outermost: bool,
        cursor: &mut Cursor<'_>,
        span: Span,
    ) -> Option<()> {
        let (&step, deeper) = way.split_first().expect("a designator names a part");
        if self.is_union(ty) {
            parts.retain(|&field, _| field == step && !deeper.is_empty());
        }
        if deeper.is_empty() {
            parts.insert(step, node);
        } else {
            let inner = self.part_type(ty, step)?;
            let slot = parts
                .entry(step)
                .or_insert_with(|| Node::Parts(BTreeMap::new()));
            if let Node::Value(_) = slot {
                *slot = Node::Parts(BTreeMap::new());
            }
            let Node::Parts(next) = slot else {
                return None;
            };
            self.place(inner, next, deeper, node, false, cursor, span)?;
        }
        if outermost {
            return Some(());
        }
        self.fill_from(ty, step + 1, parts, cursor, false, span)
    }

    fn is_union(&self, ty: TypeId) -> bool {
        matches!(self.types.get(ty), Type::Record(record)
 if self.types.records[record.0 as usize].is_union)
    }

    /// The parts a designator names, and the way through anonymous members behind the first.
    fn designator(
        &mut self,
        ty: TypeId,
        designator: Designator,
        span: Span,
    ) -> Option<(u64, u64, Vec<u32>)> {
        match (designator, self.types.get(ty).clone()) {
            (Designator::Field(name, loc), Type::Record(record)) => {
                let Some(path) = self.find_field(record, name) else {
                    let (ty, text) = (self.quote(ty), self.text(name));
                    self.diags.error(
                        loc,
                        format!(
                            "field designator '{text}' does not refer to any field in type {ty}"
                        ),
                    );
                    return None;
                };
                Some((path[0].into(), path[0].into(), path[1..].to_vec()))
            }
            (Designator::Index(index), Type::Array { len, .. }) => {
                let index = self.array_index(index, len)?;
                Some((index, index, Vec::new()))
            }
            (Designator::Range(low, high), Type::Array { len, .. }) => {
                let (low, high) = (self.array_index(low, len)?, self.array_index(high, len)?);
                if low > high || high - low > MAX_RANGE {
                    let word = if low > high { "empty" } else { "too long" };
                    self.diags
                        .error(span, format!("array designator range is {word}"));
                    return None;
                }
                Some((low, high, Vec::new()))
            }
            _ => {
                let ty = self.quote(ty);
                self.diags.error(
                    span,
                    format!("designator in initializer for type {ty} does not fit"),
                );
                None
            }
        }
    }

    fn array_index(&mut self, index: ast::ExprId, len: Option<u64>) -> Option<u64> {
        let span = self.ast[index].span;
        let Some(value) = self.integer_constant(index) else {
            self.diags
                .error(span, "expression is not an integer constant expression");
            return None;
        };
        if (value as i64) < 0 {
            self.diags.error(
                span,
                format!("array designator value '{}' is negative", value as i64),
            );
            return None;
        }
        if len.is_some_and(|len| value >= len) {
            self.diags.error(
                span,
                format!(
                    "array designator index ({value}) exceeds array bounds ({})",
                    len.unwrap_or(0)
                ),
            );
            return None;
        }
        Some(value)
    }
}
